//! What a call costs the server: time on the CPU, which a busy machine does not make longer.

use super::{wait_for, Server};

impl Server {
    /// The µs that the server's main thread computes for what `call` makes it do, from reading the request to
    /// sleeping again. What it leaves to other threads does not stall anybody, and is not in.
    pub fn cpu_us(&self, call: impl FnOnce()) -> u64 {
        let before = self.computed_ns();
        call();
        (self.computed_ns() - before) / 1_000
    }

    fn computed_ns(&self) -> u64 {
        let thread = format!("/proc/{0}/task/{0}", self.pid());
        // The kernel accounts for a thread when it goes to sleep.
        wait_for("the server sleeps", || {
            let stat = std::fs::read_to_string(format!("{thread}/stat")).unwrap();
            stat.rsplit(") ").next().unwrap().starts_with('S').then_some(())
        });
        let schedstat = std::fs::read_to_string(format!("{thread}/schedstat")).unwrap();
        schedstat.split(' ').next().unwrap().parse().unwrap()
    }
}
