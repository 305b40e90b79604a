//! A program that limits in its own process, by the rules of `SLIDEWIN.CHECK`: three calls per second for each user.
//!
//! ```sh
//! cargo run --example in_process --features memory
//! ```

use slidewin_core::{check, MemoryLog, Request, Window};
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

fn now_us() -> i64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_epoch.as_micros()).unwrap_or(i64::MAX)
}

fn main() -> Result<(), slidewin_core::Error> {
    let mut request = Request::new(&[Window { length_us: 1_000_000, limit: 3 }])?;
    request.with_standings = true;
    let mut logs: HashMap<&str, MemoryLog> = HashMap::new();

    for user in ["ann", "ann", "ann", "bob", "ann"] {
        let now_us = now_us();
        let log = logs.entry(user).or_default();
        log.pass(now_us);
        // Each hasher of the standard library has random keys, which is enough to spread expiries.
        let random = RandomState::new().hash_one(now_us);
        let outcome = check(log, now_us, &request, random)?;
        let Some(standing) = outcome.standings.first() else { continue };
        match (outcome.receipt, standing.retry_after_ms) {
            (Some(_), _) => println!("{user}: admitted, {} left", standing.remaining),
            (None, Some(wait_ms)) => {
                println!("{user}: refused, waits {wait_ms} ms");
                sleep(Duration::from_millis(wait_ms.unsigned_abs()));
            }
            (None, None) => println!("{user}: refused, for ever"),
        }
    }

    // What has expired needs no memory.
    let now_us = now_us();
    logs.values_mut().for_each(|log| log.pass(now_us));
    logs.retain(|_, log| !log.is_empty());
    println!("{} users have admissions", logs.len());
    Ok(())
}
