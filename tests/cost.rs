//! COST and FORCE: who is charged what, and that nobody is charged for a refusal.

use crate::harness::Server;

#[test]
fn refusals_are_not_counted() {
    let (_server, mut con, clock) = Server::frozen();
    let mut admitted_at = Vec::new();
    for second in 0..12 {
        clock.at_ms(second * 1_000);
        if con.check("k 4 2") == 1 {
            admitted_at.push(second);
        }
    }
    assert_eq!(admitted_at, [0, 1, 4, 5, 8, 9]);
}

#[test]
fn a_cost_is_taken_whole_or_not_at_all() {
    let (_server, mut con, clock) = Server::frozen();
    // One call each 10 ms, and the first two fields and `remaining` of its answer.
    for (nth, (cost, admitted, remaining)) in
        (0..).zip([(4, 1, 6), (4, 1, 2), (3, 0, 2), (4, 0, 2), (2, 1, 0), (1, 0, 0)])
    {
        clock.at_ms(nth * 10);
        let answer = con.quota(&format!("k 60 10 COST {cost}"));
        assert_eq!(answer[..3], [admitted, 10, remaining], "COST {cost}");
    }
}

#[test]
fn a_cost_above_the_limit_is_never_admitted_and_makes_no_key() {
    let (_server, mut con, clock) = Server::frozen();
    assert_eq!(con.quota("k 60 10 COST 11"), [0, 10, 10, -1, 0, 0]);
    assert_eq!(con.quota("k 60 0"), [0, 0, 0, -1, 0, 0]);
    assert_eq!(con.call::<i64>("EXISTS k"), 0);
    assert_eq!(con.check("k 60 10"), 1);
    clock.advance_ms(1_000);
    assert_eq!(con.quota("k 60 10 COST 11"), [0, 10, 9, -1, 59_000, 59_000]);
    assert_eq!(con.quota("k 60 10 COST 10"), [0, 10, 9, 59_000, 59_000, 59_000]);
}

#[test]
fn a_large_cost_is_one_entry() {
    let (_server, mut con, clock) = Server::frozen();
    for nth in 1..=1_000 {
        clock.advance_us(500);
        let answer = con.quota("k 60 1000000 COST 1000");
        assert_eq!(answer[..3], [1, 1_000_000, 1_000_000 - 1_000 * nth]);
    }
    assert_eq!(con.call::<i64>("ZCARD k"), 1_000);
    // Half of the units must go: until the 500th entry, of 250 ms, leaves. It is 500 ms now.
    assert_eq!(con.quota("k 60 1000000 COST 500000"), [0, 1_000_000, 0, 59_750, 60_000, 59_501]);
}

#[test]
fn force_records_what_is_spent_already() {
    let (_server, mut con, clock) = Server::frozen();
    // When, ms; the call; its answer.
    let table: &[(i64, &str, &[i64])] = &[
        (0, "tokens 60 100 COST 80", &[1, 100, 20, 60_000, 60_000, 60_000]),
        (1_000, "tokens 60 100 COST 50 FORCE", &[1, 100, 0, 59_000, 60_000, 59_000]), // 130 of 100
        (2_000, "tokens 60 100", &[0, 100, 0, 58_000, 59_000, 58_000]),
        (2_000, "tokens 60 100 COST 500 FORCE", &[1, 100, 0, -1, 60_000, 58_000]),
        (60_000, "tokens 60 100", &[0, 100, 0, 2_000, 2_000, 1_000]),
        (62_000, "tokens 60 100", &[1, 100, 99, 0, 60_000, 60_000]),
        // Only failed logins count: asked with PEEK, recorded when one has failed.
        (100_000, "login 60 2 FORCE", &[1, 2, 1, 0, 60_000, 60_000]),
        (101_000, "login 60 2 FORCE", &[1, 2, 0, 59_000, 60_000, 59_000]),
        (102_000, "login 60 2 FORCE", &[1, 2, 0, 59_000, 60_000, 58_000]), // both older ones must go
    ];
    for &(at_ms, call, answer) in table {
        clock.at_ms(at_ms);
        assert_eq!(con.quota(call), answer, "{call} at {at_ms} ms");
    }
    assert_eq!(con.peek("login 60 2"), [0, 2, 0, 59_000, 60_000, 58_000]);
}
