//! Real servers for tests: one process each on a free port, in a directory of its own, gone when dropped.
//!
//! ```text
//! REDIS_SERVER=path     the server under test; without it `redis-server` on PATH
//! SLIDEWIN_MODULE=path  the module under test; without it `cargo build --release` makes it, once
//! SLIDEWIN_LONG=1       what takes long runs in full, not in its shorter form
//! ```
//!
//! What cannot be started fails the test: no test passes because it did not run.

mod artifacts;
mod client;
mod clock;
mod cpu;
mod exact;
mod log;
mod server;

pub use artifacts::{cli, module, subscriber};
pub use client::{packed, Client};
pub use clock::Clock;
pub use exact::within_limit;
pub use log::{decode, spelled, Admission};
pub use server::{is_valkey, version, Builder, Server};

use std::time::{Duration, Instant};

/// How much of what takes long: the shorter form, or the full one.
pub fn sized(short: usize, full: usize) -> usize {
    if std::env::var_os("SLIDEWIN_LONG").is_some_and(|value| value == "1") {
        full
    } else {
        short
    }
}

/// Whether the server has what came with that version. Says so where it has not: `scripts/test.sh` counts the test as
/// skipped, so call it once in a test, and return if it has not.
pub fn has(what: &str, since: (u32, u32, u32)) -> bool {
    let has = version() >= since;
    if !has {
        println!("not run: {what} came with {since:?}, the server is {:?}", version());
    }
    has
}

/// Asks again until `ask` answers, at most 20 seconds. Fails with `what` otherwise.
pub fn wait_for<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < deadline, "waited 20 s in vain: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// As [`wait_for`], until the condition holds.
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    wait_for(what, || holds().then_some(()));
}

/// Waits until the replica has all that the primary has written.
pub fn caught_up(primary: &mut Client, replica: &mut Client) {
    let offset = primary.info("master_repl_offset");
    wait_until("the replica has caught up", || replica.info("slave_repl_offset") >= offset);
}
