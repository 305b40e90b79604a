//! A command that was renamed away cannot be replicated: one line in the log, and everything else goes on.

use crate::harness::{Clock, Server};
use crate::replication::everything;

#[test]
fn is_logged_once_and_never_a_crash() {
    for command in ["ZADD", "ZREM", "ZREMRANGEBYRANK", "ZREMRANGEBYSCORE", "PEXPIREAT", "UNLINK"] {
        let clock = Clock::frozen();
        let renamed =
            |builder: crate::harness::Builder| builder.args("--rename-command").arg(command).arg("");
        let server = renamed(Server::builder().clock(&clock).args("--appendonly yes")).start();
        let mut con = server.connect();
        let error = con.error(&format!("{command} k"));
        assert!(error.starts_with("ERR unknown command"), "{command} is still there: {error}");
        // Asserts every answer, too.
        everything(&mut con, &clock);
        for _ in 0..5 {
            everything(&mut con, &clock);
            con.call::<()>("FLUSHALL");
        }
        assert_eq!(con.check("k 60 1"), 1);
        assert_eq!(con.check("k 60 1"), 0);
        let log = server.log_text();
        let lines: Vec<&str> = log.lines().filter(|line| line.contains("cannot be replicated")).collect();
        assert_eq!(lines.len(), 1, "{command}: {log}");
        assert!(lines[0].contains(&format!("{command} cannot")), "{command}: {lines:?}");
        assert_eq!(con.info("process_id"), i64::from(server.pid()));
    }
}

#[test]
fn no_line_where_nothing_was_renamed() {
    let clock = Clock::frozen();
    let server = Server::builder().clock(&clock).args("--appendonly yes").start();
    everything(&mut server.connect(), &clock);
    assert!(!server.log_text().contains("cannot be replicated"), "{}", server.log_text());
}
