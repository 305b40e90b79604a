//! A log of 1,000,000 entries, and then 1,100 forced calls of the largest cost: no call that comes after them takes a
//! millisecond, and none of them 5. Their units add up to more than 2^63.

use crate::harness::{Clock, Server};

const MOST_US: i64 = 1_000;
/// One of the forced calls leaves a million entries to a thread that frees them. Where both share the allocator of libc
/// (Valkey 8.1: 1 to 3 ms), the call waits for that thread.
const MOST_FORCED_US: i64 = 5_000;
const ADMIT: &[u8] =
    b"for _ = 1, 10000 do redis.call('SLIDEWIN.CHECK', KEYS[1], '10h', 10000000, 'COST', 2) end";
const FORCED: &str = "SLIDEWIN.CHECK k 10h 1000 COST 9007199254740991 FORCE";
const AFTER: [&str; 6] = [
    "SLIDEWIN.CHECK k 10h 1000",
    "SLIDEWIN.CHECK k 10h 9007199254740991",
    "SLIDEWIN.PEEK k 10h 1000",
    "SLIDEWIN.PEEK k 10h 9007199254740991 WITHQUOTA",
    "SLIDEWIN.CHECK k 10h 9007199254740991 COST 9007199254740991 WITHQUOTA",
    "SLIDEWIN.CHECK k 10h 9007199254740991 FORCE WITHQUOTA",
];

fn most_us(call: &str) -> i64 {
    if call == FORCED {
        MOST_FORCED_US
    } else {
        MOST_US
    }
}

#[test]
fn calls_of_the_largest_cost_stall_nobody() {
    // The clock runs, or else no call takes any time: the server measures by it.
    let server = Server::builder()
        .clock(&Clock::running())
        .args("--slowlog-log-slower-than 0 --slowlog-max-len 2000")
        .start();
    let mut con = server.connect();
    for _ in 0..100 {
        con.raw(&[b"EVAL", ADMIT, b"1", b"log"]).unwrap();
    }
    assert_eq!(con.call::<i64>("ZCARD log"), 1_000_000);
    let calls: Vec<&str> = std::iter::repeat_n(FORCED, 1_100).chain(AFTER).collect();
    let mut least = vec![i64::MAX; calls.len()];
    // What is slow because of the log is slow each time; what the machine delays is not.
    for _ in 0..10 {
        assert_eq!(con.call::<i64>("COPY log k REPLACE"), 1);
        con.call::<()>("SLOWLOG RESET");
        for call in &calls {
            con.call::<redis::Value>(call);
        }
        assert_eq!(con.peek("k 10h 9007199254740991")[2], 0, "the window is full");
        let slowlog: Vec<Vec<redis::Value>> = con.call("SLOWLOG GET 2000");
        // The newest first: PEEK, the calls, SLOWLOG RESET.
        for (nth, entry) in slowlog[1..=calls.len()].iter().rev().enumerate() {
            let command: Vec<String> = redis::from_redis_value_ref(&entry[3]).unwrap();
            assert_eq!(command.join(" "), calls[nth]);
            least[nth] = least[nth].min(redis::from_redis_value_ref(&entry[2]).unwrap());
        }
        if least.iter().zip(&calls).all(|(us, call)| *us < most_us(call)) {
            break;
        }
    }
    for (us, call) in least.into_iter().zip(calls) {
        assert!(us < most_us(call), "{us} us: {call}");
    }
    assert_eq!(con.info("slidewin_foreign_sums"), 0);
}
