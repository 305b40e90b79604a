//! Two hundred callers at once, with io-threads: no window holds more than its limit, by the log and by their records.

use crate::harness::{packed, sized, within_limit, Server};
use redis::ConnectionLike;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Barrier;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const CALLERS: usize = 200;
const WINDOW_US: i64 = 250_000;
const LIMIT: usize = 100;
/// Fewer refusals are no load. A busy machine takes longer for them.
const LEAST_REFUSED: usize = 1_000;
const PATIENCE: Duration = Duration::from_secs(60);

/// One admission as its caller saw it: sent, answered, and the receipt, which is the time of the admission.
#[derive(Clone, Copy)]
struct Record {
    sent_us: i64,
    answered_us: i64,
    receipt: i64,
}

fn now_us() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros() as i64
}

/// What two hundred callers get out of a key, each with so many calls at a time.
fn records(server: &Server, key: &str, pipelined: usize) -> (Vec<Record>, usize) {
    let start = Barrier::new(CALLERS);
    let refused_by_all = AtomicUsize::new(0);
    let runs = Duration::from_millis(sized(1_500, 20_000) as u64);
    // The second window keeps all entries.
    let line = format!("SLIDEWIN.CHECK {key} 250ms {LIMIT} 1h 1000000 RECEIPT");
    let calls = packed(&line).repeat(pipelined);
    std::thread::scope(|scope| {
        let callers: Vec<_> = (0..CALLERS)
            .map(|_| {
                let (start, calls, refused_by_all) = (&start, &calls, &refused_by_all);
                scope.spawn(move || {
                    let mut con = server.connect();
                    let (mut records, mut refused) = (Vec::new(), 0);
                    start.wait();
                    let began = Instant::now();
                    let is_load = || refused_by_all.load(Ordering::Relaxed) >= LEAST_REFUSED;
                    while began.elapsed() < runs || (!is_load() && began.elapsed() < PATIENCE) {
                        let sent_us = now_us();
                        let replies = con.0.req_packed_commands(calls, 0, pipelined).unwrap();
                        let answered_us = now_us();
                        for reply in replies {
                            match redis::from_redis_value(reply).unwrap() {
                                0 => {
                                    refused += 1;
                                    refused_by_all.fetch_add(1, Ordering::Relaxed);
                                }
                                receipt => records.push(Record { sent_us, answered_us, receipt }),
                            }
                        }
                    }
                    (records, refused)
                })
            })
            .collect();
        let mut all = (Vec::new(), 0);
        for caller in callers {
            let (records, refused) = caller.join().unwrap();
            all.0.extend(records);
            all.1 += refused;
        }
        all
    })
}

/// By the callers' own clock: how many of them can only have been admitted within one window.
fn most_within_a_window(records: &[Record]) -> usize {
    let within = |from_us| {
        let is_within =
            |record: &&Record| record.sent_us >= from_us && record.answered_us < from_us + WINDOW_US;
        records.iter().filter(is_within).count()
    };
    records.iter().map(|record| within(record.sent_us)).max().unwrap_or(0)
}

#[test]
fn two_hundred_connections_and_no_window_above_its_limit() {
    let server = Server::builder().args("--io-threads 4 --maxclients 1000").start();
    let mut con = server.connect();
    for pipelined in [1, 25] {
        let key = format!("pipelined:{pipelined}");
        let (records, refused) = records(&server, &key, pipelined);
        assert!(refused >= LEAST_REFUSED, "too little load: {} admitted, {refused} refused", records.len());
        assert!(records.len() >= 3 * LIMIT, "too few windows: {}", records.len());

        let receipts: Vec<i64> = records.iter().map(|record| record.receipt).collect();
        within_limit(receipts.clone(), WINDOW_US, LIMIT);
        for record in &records {
            // A µs for each admission of the same instant.
            let latest_us = record.answered_us + LIMIT as i64;
            assert!(
                (record.sent_us..=latest_us).contains(&record.receipt),
                "a receipt is the time of the admission"
            );
        }
        let mut sorted = receipts;
        sorted.sort_unstable();
        assert_eq!(con.times_us(&key), sorted, "the log and the records of the callers");
        assert!(most_within_a_window(&records) <= LIMIT);
        println!("pipelined by {pipelined}: {} admitted, {refused} refused", sorted.len());
    }
}
