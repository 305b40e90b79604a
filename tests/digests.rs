//! Thousands of random commands with all options: the replica has the same, and so does every way to start again.

use crate::harness::{caught_up, sized, wait_until, Client, Clock, Server};
use crate::persistence::commands_of_aof;
use crate::replication::state;
use rand::{rngs::SmallRng, RngExt, SeedableRng};
use std::fmt::Write;

const KEYS: usize = 24;
const WINDOWS: &[&str] =
    &["1ms 3", "50ms 5", "0.5 20", "1 30", "1.5 0", "10 100", "60 1000", "1h 9000", "24h 4"];
/// What the module writes, and what a server adds of its own.
const PLAIN: &[&str] = &[
    "ZADD",
    "ZREM",
    "ZREMRANGEBYRANK",
    "ZREMRANGEBYSCORE",
    "PEXPIREAT",
    "UNLINK",
    "SELECT",
    "MULTI",
    "EXEC",
    "DEL",
    // By the caller of this test.
    "PERSIST",
    "PEXPIRE",
];

/// Somebody who uses some keys in every way that there is.
pub struct Caller {
    random: SmallRng,
    receipts: Vec<(usize, i64)>,
}

impl Caller {
    pub fn new(seed: u64) -> Self {
        Caller { random: SmallRng::seed_from_u64(seed), receipts: Vec::new() }
    }

    fn one_of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.random.random_range(0..words.len())]
    }

    /// The key and windows of a CHECK or PEEK, and perhaps its cost.
    fn windows(&mut self, key: usize) -> String {
        let mut line = format!("k{key}");
        for _ in 0..self.random.random_range(1..=3) {
            write!(line, " {}", self.one_of(WINDOWS)).unwrap();
        }
        if self.random.random_bool(0.4) {
            write!(line, " COST {}", self.random.random_range(1..=12)).unwrap();
        }
        line
    }

    pub fn call(&mut self, con: &mut Client, clock: &Clock) {
        let key = self.random.random_range(0..KEYS);
        match self.random.random_range(0..100) {
            0..55 => {
                let mut line = format!("SLIDEWIN.CHECK {}", self.windows(key));
                line += self.one_of(&["", "", " FORCE"]);
                line += self.one_of(&["", " WITHQUOTA"]);
                // Keys of their own, so that logs grow which only share entries.
                line += if key % 4 == 0 { " RESOLUTION 1ms" } else { " RECEIPT" };
                let receipt = match con.call(&line) {
                    redis::Value::Int(admitted) => admitted,
                    quota => redis::from_redis_value::<Vec<i64>>(quota).unwrap()[0],
                };
                if receipt > 1 {
                    self.receipts.push((key, receipt));
                }
            }
            55..65 if !self.receipts.is_empty() => {
                // Mostly a young one, since only those are still there.
                let from =
                    self.receipts.len().saturating_sub(self.one_of(&["8", "8", "100"]).parse().unwrap());
                let (key, receipt) = self.receipts[self.random.random_range(from..self.receipts.len())];
                let cost = self.one_of(&["", " COST 1", " COST 3"]);
                con.refund(&format!("k{key} {receipt}{cost}"));
            }
            65..75 => _ = con.peek(&self.windows(key)),
            75 => _ = con.call::<i64>(&format!("PERSIST k{key}")),
            76 => _ = con.call::<i64>(&format!("PEXPIRE k{key} 90000")),
            77 => _ = con.call::<i64>(&format!("DEL k{key}")),
            78 => {
                let score = clock.now_us() + self.random.random_range(-60_000_000..60_000_000);
                let member = self.one_of(&["foreign", "7", "7:3", "9~4", "18446744073709551615", "a:1"]);
                con.call::<i64>(&format!("ZADD k{key} {score} {member}"));
            }
            79 => clock.advance_us(-self.random.random_range(0..200_000)),
            80 => {
                clock.advance_ms(self.one_of(&["-2000", "-70000", "1000", "11000", "66000"]).parse().unwrap())
            }
            _ => clock.advance_us(self.random.random_range(0..30_000)),
        }
    }
}

/// Everything that can be seen of the data; with the module also what it answers.
fn seen(con: &mut Client, with_module: bool) -> String {
    let mut seen = format!("{:#?}", state(con));
    for key in (0..KEYS).filter(|_| with_module) {
        writeln!(seen, "k{key} {:?}", con.peek(&format!("k{key} 50ms 5 1 30 10 100 1h 9000"))).unwrap();
    }
    seen
}

#[test]
fn after_thousands_of_random_commands() {
    for seed in 0..sized(2, 20) as u64 {
        let clock = Clock::frozen();
        let options = "--appendonly yes --appendfsync no --aof-use-rdb-preamble no";
        let primary = Server::builder().clock(&clock).args(options).start();
        let replica = Server::builder().clock(&clock).start_replica_of(&primary);
        let (mut con, mut on_replica) = (primary.connect(), replica.connect());
        let mut caller = Caller::new(seed);
        for _ in 0..sized(4_000, 20_000) {
            caller.call(&mut con, &clock);
        }
        assert!(caller.receipts.len() > 500, "{}", caller.receipts.len());
        let before = state(&mut con);
        assert!(before.len() > KEYS / 3, "seed {seed}: {before:?}");
        let is_used = |written| con.info(written) > 0;
        assert!(
            ["refunds", "clock_step_backs", "entries_trimmed", "logs_restarted"]
                .map(|counter| format!("slidewin_{counter}"))
                .iter()
                .map(String::as_str)
                .all(is_used),
            "seed {seed}: not everything has happened"
        );
        caught_up(&mut con, &mut on_replica);
        assert_eq!(state(&mut on_replica), before, "seed {seed}");
        let expected = [false, true].map(|with_module| seen(&mut con, with_module));
        drop(replica);

        for name in commands_of_aof(primary.dir()) {
            assert!(PLAIN.contains(&name.as_str()), "seed {seed}: {name} in the AOF");
        }
        let check = |server: &Server, with_module: bool, what: &str| {
            let seen = seen(&mut server.connect(), with_module);
            assert!(seen == expected[usize::from(with_module)], "seed {seed}, {what}: {seen}");
        };
        let set_up = |options: &str| Server::builder().clock(&clock).args(options);
        let server = primary.restart(|_| set_up(options).without_module());
        check(&server, false, "AOF, without the module");
        let server = server.restart(|_| set_up(options));
        check(&server, true, "AOF");

        let mut con = server.connect();
        con.call::<()>("SAVE");
        con.call::<()>("BGREWRITEAOF");
        wait_until("the AOF is rewritten", || {
            con.info("aof_rewrite_in_progress") + con.info("aof_rewrite_scheduled") == 0
        });
        assert_eq!(con.info_text("aof_last_bgrewrite_status"), "ok");
        let server = server.restart(|_| set_up(options).without_module());
        check(&server, false, "rewritten AOF, without the module");
        let server = server.restart(|_| set_up(options));
        check(&server, true, "rewritten AOF");

        let server = server.restart(|_| set_up("").without_module());
        check(&server, false, "RDB, without the module");
        check(&server.restart(|_| set_up("")), true, "RDB");
    }
}
