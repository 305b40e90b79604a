//! SLIDEWIN.LOG lists admissions, however they are kept.

use crate::harness::{caught_up, Client, Server};
use redis::Value;

/// Time, units, receipt or 0, ID or empty.
type Row = (i64, u64, i64, String);

fn row(time_us: i64, units: u64) -> Row {
    (time_us, units, time_us, String::new())
}

fn listed(con: &mut Client, line: &str) -> Vec<Row> {
    con.call(&format!("SLIDEWIN.LOG {line}"))
}

#[test]
fn the_newest_come_first_and_ten_of_them_unless_it_is_told() {
    let (_server, mut con, clock) = Server::frozen();
    assert_eq!(con.call::<Value>("SLIDEWIN.LOG missing"), Value::Array(vec![]));
    let mut rows: Vec<Row> = Vec::new();
    for nth in 0..1_100 {
        clock.advance_us(nth % 7);
        let cost = if nth % 100 == 50 { 3 } else { 1 };
        rows.insert(0, row(con.check(&format!("k 60 10000 COST {cost} RECEIPT")), cost));
    }
    assert!(con.call::<usize>("ZCARD k") < 550, "most of them are in bundles");
    assert_eq!(listed(&mut con, "k"), rows[..10]);
    for count in [1, 9, 10, 11, 100, 999, 1_000] {
        assert_eq!(listed(&mut con, &format!("k COUNT {count}")), rows[..count], "{count}");
    }
    // What it lists is what REFUND takes.
    for row in [&rows[500], &rows[3], &rows[1_049]] {
        assert_eq!(con.refund(&format!("k {}", row.2)), row.1 as i64);
    }
    assert_eq!(con.call::<Value>("DEL k"), Value::Int(1));
    assert_eq!(con.call::<Value>("SLIDEWIN.LOG k COUNT 5"), Value::Array(vec![]));
}

#[test]
fn what_several_share_has_no_receipt_and_members_of_somebody_else_are_left_out() {
    let (server, mut con, clock) = Server::frozen();
    let first = clock.now_us();
    assert_eq!(con.check("k 60 100 COST 2"), 1);
    clock.advance_ms(10);
    con.call::<()>(&format!("ZADD k {} somebody {} 7:0 inf last", clock.now_us() - 1, clock.now_us() + 1));
    con.call::<()>("ZREM k last");
    clock.advance_ms(10);
    for _ in 0..3 {
        assert_eq!(con.check("k 60 100 RESOLUTION 1"), 1);
    }
    let shared = (clock.now_us(), 3, 0, String::new());
    let expected = [shared, row(first, 2)];
    assert_eq!(listed(&mut con, "k"), expected);
    let mut resp3 = server.connect_resp3();
    assert_eq!(listed(&mut resp3, "k"), expected);
    // A thousand of them and more hide what is older.
    for nth in 0..1_001 {
        con.call::<()>(&format!("ZADD k {} x{nth}", clock.now_us() + 1));
    }
    assert_eq!(listed(&mut con, "k"), []);
}

#[test]
fn it_writes_nothing_and_works_on_a_replica() {
    let (server, mut con) = Server::start();
    let replica = Server::builder().start_replica_of(&server);
    let mut on_replica = replica.connect();
    let receipts: Vec<i64> = (0..50).map(|_| con.check("k 1h 100 RECEIPT")).collect();
    let rows: Vec<Row> = receipts.iter().rev().map(|receipt| row(*receipt, 1)).collect();
    let before = (con.log("k"), con.info("rdb_changes_since_last_save"));
    assert_eq!(listed(&mut con, "k COUNT 100"), rows);
    assert_eq!((con.log("k"), con.info("rdb_changes_since_last_save")), before);
    caught_up(&mut con, &mut on_replica);
    assert_eq!(listed(&mut on_replica, "k COUNT 100"), rows);
    con.call::<()>("SET text t");
    assert!(con.error("SLIDEWIN.LOG text").starts_with("WRONGTYPE "));
}
