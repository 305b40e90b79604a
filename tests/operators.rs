//! What an operator sees: the counters of INFO, and the lines in the server's log.

mod command_docs;
mod events;

use crate::harness::{version, Client, Server};
use std::collections::BTreeMap;

/// The fields of `INFO slidewin_stats`, without their common prefix.
fn counters(con: &mut Client) -> BTreeMap<String, i64> {
    let info: String = con.call("INFO slidewin_stats");
    let fields = info.lines().filter_map(|line| line.strip_prefix("slidewin_")?.split_once(':'));
    fields.map(|(field, value)| (field.to_owned(), value.trim().parse().unwrap())).collect()
}

/// Those that are not zero, as `field+value`.
fn moved(before: &BTreeMap<String, i64>, after: &BTreeMap<String, i64>) -> String {
    assert!(before.keys().eq(after.keys()), "{before:?} {after:?}");
    let moved: Vec<String> = after
        .iter()
        .map(|(field, value)| (field, value - before[field]))
        .filter(|(_, more)| *more != 0)
        .map(|(field, more)| format!("{field}{more:+}"))
        .collect();
    moved.join(" ")
}

/// Runs a command, whatever it answers: the counters that it moved.
fn moves(con: &mut Client, line: &str) -> String {
    let before = counters(con);
    let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
    let _ = con.raw(&words);
    moved(&before, &counters(con))
}

#[test]
fn info_shows_exactly_what_was_called() {
    let (_server, mut con) = Server::start();
    let all_zero = counters(&mut con);
    assert_eq!(
        all_zero.into_iter().collect::<Vec<_>>(),
        [
            "argument_errors",
            "checks_admitted",
            "checks_refused",
            "clock_step_backs",
            "entries_trimmed",
            "foreign_sums",
            "internal_errors",
            "logs_restarted",
            "peeks",
            "refunds",
            "repeats",
            "reservations",
            "reservations_refused",
            "units_admitted",
            "units_refunded"
        ]
        .map(|field| (field.to_owned(), 0))
    );
    let before = counters(&mut con);
    let answers: Vec<i64> = (0..10).map(|_| con.check("ip:192.0.2.7 60 7")).collect();
    assert_eq!(answers, [1, 1, 1, 1, 1, 1, 1, 0, 0, 0]);
    con.error("SLIDEWIN.CHECK ip:192.0.2.7 60 seven");
    for _ in 0..2 {
        con.call::<i64>("SLIDEWIN.PEEK ip:192.0.2.7 60 7");
    }
    assert_eq!(
        moved(&before, &counters(&mut con)),
        "argument_errors+1 checks_admitted+7 checks_refused+3 peeks+2 units_admitted+7"
    );
    let commandstats: String = con.call("INFO commandstats");
    let line = commandstats.lines().find(|line| line.starts_with("cmdstat_slidewin.check:")).unwrap();
    assert!(line.contains("calls=11,") && line.ends_with("rejected_calls=0,failed_calls=1"), "{line}");
}

#[test]
fn each_counter_moves_exactly_when_it_should() {
    const HOUR_MS: i64 = 3_600_000;
    let (_server, mut con, clock) = Server::frozen();
    // When, ms; the command; what it moves.
    let table: &[(i64, &str, &str)] = &[
        (0, "SLIDEWIN.CHECK k 10 3 COST 2", "checks_admitted+1 units_admitted+2"),
        (0, "SLIDEWIN.CHECK k 10 3 COST 2", "checks_refused+1"),
        (0, "SLIDEWIN.CHECK k 10 3 COST 5 FORCE", "checks_admitted+1 units_admitted+5"),
        (0, "SLIDEWIN.CHECK k 10 3 60 9 WITHQUOTA", "checks_refused+1"),
        (0, "SLIDEWIN.CHECK zero 10 0", "checks_refused+1"),
        (0, "SLIDEWIN.PEEK k 10 3", "peeks+1"),
        (0, "SLIDEWIN.PEEK k 10 9 WITHQUOTA", "peeks+1"),
        (0, "SLIDEWIN.PEEK missing 10 9", "peeks+1"),
        // The second adds to the entry of the first, which was also the oldest.
        (0, "SLIDEWIN.CHECK shared 10 9 RESOLUTION 1 WITHQUOTA", "checks_admitted+1 units_admitted+1"),
        (0, "SLIDEWIN.CHECK shared 10 9 RESOLUTION 1 WITHQUOTA", "checks_admitted+1 units_admitted+1"),
        (0, "SLIDEWIN.CHECK ids 10 3 COST 2 ID a", "checks_admitted+1 units_admitted+2"),
        (0, "SLIDEWIN.CHECK ids 10 3 COST 2 ID a", "repeats+1"),
        (0, "SLIDEWIN.CHECK ids 10 3 COST 2 ID b", "checks_refused+1"),
        (0, "SLIDEWIN.REFUND ids ID a COST 1", "refunds+1 units_refunded+1"),
        (0, "SLIDEWIN.RESERVE line 10 10 3 COST 2", "reservations+1 units_admitted+2"),
        (0, "SLIDEWIN.RESERVE line 10 10 3 COST 3 ID a", "reservations+1 units_admitted+3"),
        (0, "SLIDEWIN.RESERVE line 0 10 3 COST 2 ID a", "repeats+1"),
        (0, "SLIDEWIN.CHECK line 10 3 ID a", "repeats+1"),
        (0, "SLIDEWIN.RESERVE line 9 10 3", "reservations_refused+1"),
        (0, "SLIDEWIN.RESERVE line 11 10 3", "argument_errors+1"),
        (0, "SLIDEWIN.CHECK ids 10 3 ID", "argument_errors+1"),
        (0, "SLIDEWIN.REFUND k 1", ""),
        (0, "SLIDEWIN.REFUND missing 1", ""),
        (0, "SLIDEWIN.LOG k", ""),
        (0, "SLIDEWIN.OFFENDERS", ""),
        // Errors.
        (0, "SLIDEWIN.CHECK k 10 x", "argument_errors+1"),
        (0, "SLIDEWIN.CHECK k 10 3 60", "argument_errors+1"),
        (0, "SLIDEWIN.CHECK k 10 3 COST 0", "argument_errors+1"),
        (0, "SLIDEWIN.PEEK k x 3", "argument_errors+1"),
        (0, "SLIDEWIN.REFUND k x", "argument_errors+1"),
        (0, "SLIDEWIN.OFFENDERS COUNT 0", "argument_errors+1"),
        (0, "SET text t", ""),
        (0, "SLIDEWIN.CHECK text 10 3", "argument_errors+1"),
        (0, "SLIDEWIN.PEEK text 10 3", "argument_errors+1"),
        (0, "SLIDEWIN.REFUND text 1", "argument_errors+1"),
        (0, "SLIDEWIN.LOG text", "argument_errors+1"),
        (0, "SLIDEWIN.LOG k COUNT 0", "argument_errors+1"),
        // Two entries of `k` expire one after the other, and are trimmed by the next admission only.
        (5_000, "SLIDEWIN.CHECK k 10 99", "checks_admitted+1 units_admitted+1"),
        (10_100, "SLIDEWIN.PEEK k 10 99", "peeks+1"),
        (10_100, "SLIDEWIN.CHECK k 10 1", "checks_refused+1"),
        (10_100, "SLIDEWIN.CHECK k 10 99", "checks_admitted+1 entries_trimmed+2 units_admitted+1"),
        (10_100, "SLIDEWIN.CHECK k 10 99", "checks_admitted+1 units_admitted+1"),
        // Expired whole, with its TTL still to come; then with it gone.
        (20_200, "SLIDEWIN.CHECK k 10 0", "checks_refused+1"),
        (20_200, "SLIDEWIN.CHECK k 10 99", "checks_admitted+1 logs_restarted+1 units_admitted+1"),
        (40_000, "SLIDEWIN.CHECK k 10 99", "checks_admitted+1 units_admitted+1"),
        // Back by an eighth of the window and no more; by an hour, which CHECK repairs once and PEEK does not.
        (38_750, "SLIDEWIN.CHECK k 10 0", "checks_refused+1"),
        (40_000 - HOUR_MS, "SLIDEWIN.PEEK k 10 99", "peeks+1"),
        (40_000 - HOUR_MS, "SLIDEWIN.CHECK k 10 0", "checks_refused+1 clock_step_backs+1"),
        (40_000 - HOUR_MS, "SLIDEWIN.CHECK k 10 9", "checks_admitted+1 units_admitted+1"),
        (
            40_000 - 2 * HOUR_MS,
            "SLIDEWIN.CHECK k 10 9",
            "checks_admitted+1 clock_step_backs+1 units_admitted+1",
        ),
    ];
    for &(at_ms, line, expected) in table {
        clock.at_ms(at_ms);
        assert_eq!(moves(&mut con, line), expected, "{line} at {at_ms} ms");
    }

    // Too few arguments are the server's to refuse, where it knows how many: the call does not get to us.
    let expected = if version() < (7, 0, 0) { "argument_errors+1" } else { "" };
    assert_eq!(moves(&mut con, "SLIDEWIN.CHECK k 10"), expected);

    let receipt = con.check("refunded 10 9 COST 7 RECEIPT");
    for (cost, expected) in
        [("COST 3", "refunds+1 units_refunded+3"), ("COST 9", "refunds+1 units_refunded+4"), ("", "")]
    {
        let line = format!("SLIDEWIN.REFUND refunded {receipt} {cost}");
        assert_eq!(moves(&mut con, line.trim_end()), expected, "{line}");
    }
}

#[test]
fn a_sum_over_an_edited_log_is_counted() {
    let (_server, mut con, clock) = Server::frozen();
    let now_us = clock.now_us();
    // Totals that fall from 100 to 5 are impossible: each member counts by itself, 1 + 3 units.
    con.call::<i64>(&format!("ZADD edited {now_us} 100 {} 5:3", now_us + 1));
    for (line, expected) in [
        ("SLIDEWIN.CHECK edited 10 4", "checks_refused+1 foreign_sums+1"),
        ("SLIDEWIN.PEEK edited 10 4", "foreign_sums+1 peeks+1"),
        ("SLIDEWIN.CHECK edited 10 5", "checks_admitted+1 foreign_sums+1 units_admitted+1"),
    ] {
        assert_eq!(moves(&mut con, line), expected, "{line}");
    }
    // A name that is no entry of ours counts as one unit, without a sum.
    con.call::<i64>(&format!("ZADD foreign {now_us} somebody"));
    assert_eq!(moves(&mut con, "SLIDEWIN.CHECK foreign 10 1"), "checks_refused+1");
}

#[test]
fn counters_never_go_down_and_are_those_of_the_node() {
    let (server, mut con) = Server::start();
    let replica = Server::builder().start_replica_of(&server);
    let mut before = counters(&mut con);
    for line in [
        "SLIDEWIN.CHECK k 60 1",
        "SLIDEWIN.CHECK k 60 1",
        "SLIDEWIN.REFUND k 1",
        "DEL k",
        "SLIDEWIN.CHECK k 60 1",
        "CONFIG RESETSTAT",
        "SLIDEWIN.OFFENDERS RESET",
        "FLUSHALL",
        "SLIDEWIN.CHECK k 60 1",
        "SLIDEWIN.PEEK k 60 1",
    ] {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        con.raw(&words).unwrap();
        let after = counters(&mut con);
        assert!(after.iter().all(|(field, value)| *value >= before[field]), "{line}: {before:?} {after:?}");
        before = after;
    }
    assert_eq!((before["checks_admitted"], before["checks_refused"]), (3, 1));
    // What is replicated is ordinary commands: the replica has decided nothing.
    con.call::<i64>("WAIT 1 10000");
    let mut on_replica = replica.connect();
    assert!(counters(&mut on_replica).values().all(|&value| value == 0));
    assert_eq!(on_replica.call::<i64>("SLIDEWIN.PEEK k 60 1"), 0);
    assert_eq!(counters(&mut on_replica)["peeks"], 1);
}

#[test]
fn calls_in_a_transaction_and_in_a_script_are_counted() {
    let (_server, mut con) = Server::start();
    let before = counters(&mut con);
    con.call::<String>("MULTI");
    con.call::<String>("SLIDEWIN.CHECK k 60 2");
    con.call::<String>("SLIDEWIN.CHECK k 60 2");
    con.call::<Vec<i64>>("EXEC");
    let script = b"return redis.call('SLIDEWIN.CHECK', KEYS[1], 60, 2)";
    con.raw(&[b"EVAL", script, b"1", b"k"]).unwrap();
    assert_eq!(moved(&before, &counters(&mut con)), "checks_admitted+2 checks_refused+1 units_admitted+2");
}

/// The lines of the server's log that contain `text`.
fn log_lines(server: &Server, text: &str) -> usize {
    let log = std::fs::read_to_string(server.dir().join("log")).unwrap();
    log.lines().filter(|line| line.contains(text)).count()
}

#[test]
fn loading_is_one_line_in_the_log_and_calls_are_none() {
    let (server, mut con) = Server::start();
    let features = match version() {
        (6, ..) => "no COMMAND DOCS and key specs and no ACL categories on this server",
        (7, 0, _) => "no ACL categories on this server",
        _ => "all features",
    };
    assert_eq!(log_lines(&server, concat!("slidewin ", env!("CARGO_PKG_VERSION"), " loaded")), 1);
    assert_eq!(log_lines(&server, &format!(" loaded, with {features}")), 1);
    let lines = log_lines(&server, "");
    for line in ["CHECK k 60 1", "CHECK k 60 1", "PEEK k 60 1", "REFUND k 1", "LOG k", "OFFENDERS"] {
        con.call::<redis::Value>(&format!("SLIDEWIN.{line}"));
    }
    con.error("SLIDEWIN.CHECK k 60 x");
    assert_eq!(log_lines(&server, ""), lines);
}

#[test]
fn a_step_back_is_one_line_in_the_log_and_the_next_within_a_minute_is_none() {
    let (server, mut con, clock) = Server::frozen();
    let mut step_back = |key: &str, ms: i64| {
        clock.advance_ms(3_600_000);
        assert_eq!(con.check(&format!("{key} 10 5")), 1);
        clock.advance_ms(-3_600_000 + ms);
        assert_eq!(con.check(&format!("{key} 10 5")), 1);
        (con.info("slidewin_clock_step_backs"), log_lines(&server, "the clock has stepped back"))
    };
    assert_eq!(step_back("a", 0), (1, 1));
    assert_eq!(step_back("b", 0), (2, 1));
    assert_eq!(step_back("c", 59_999), (3, 1));
    assert_eq!(step_back("d", 1), (4, 2));
    assert_eq!(log_lines(&server, "a log was 3600000 ms ahead of it"), 1);
    assert_eq!(log_lines(&server, "a log was 3599999 ms ahead of it"), 1);
}
