//! What scripts/test-valgrind.sh runs, with `REDIS_SERVER` a server under valgrind that it then reads the log of.

use crate::fuzz::fuzz;
use crate::harness::Server;
use crate::memory::{mixed, run};

#[test]
#[ignore = "slow, and says nothing outside of valgrind: scripts/test-valgrind.sh"]
fn some_thousand_calls_of_every_command_and_error() {
    let mut server = Server::builder().start();
    let mut con = server.connect();
    run(&mut con, 8_000, mixed);
    for nth in 0..200 {
        let receipt = con.check("receipts 1h 1000000 RECEIPT COST 4");
        assert_eq!(con.refund(&format!("receipts {receipt} COST {}", nth % 4 + 1)), nth % 4 + 1);
        con.quota("receipts 1ms 3 1s 5000 RESOLUTION 1ms COST 3");
        con.peek("receipts 1ms 3 1s 5 1h 300 COST 3");
    }
    // More than fit into a compact set, trimmed, and begun anew.
    con.times(1_000, "SLIDEWIN.CHECK large 1s 1000000");
    con.times(300, "SLIDEWIN.CHECK large 100ms 1000000");
    con.call::<()>("PERSIST large");
    // Ahead of the clock: repaired.
    con.call::<()>("ZADD large 4102444800000000 foreign 4102444800000001 7:3");
    assert_eq!(con.check("large 100ms 1000000"), 1);
    for nth in 0..600 {
        assert_eq!(con.check(&format!("offender:{nth} 60 0")), 0);
    }
    con.call::<redis::Value>("SLIDEWIN.OFFENDERS COUNT 256");
    con.call::<redis::Value>("SLIDEWIN.OFFENDERS RESET");
    con.info("slidewin_checks_admitted");
    con.call::<()>("CONFIG SET maxmemory 1");
    assert!(con.error("SLIDEWIN.CHECK k 60 5").starts_with("OOM"));
    con.call::<()>("CONFIG SET maxmemory 0");
    fuzz(&server, 6_000, 1);
    assert!(server.stop().success());
}

#[test]
#[ignore = "as above"]
fn events_that_another_module_answers() {
    crate::subscribers::each_event_answered_by_each_command();
}
