//! `kill -9` under load, everything synced: what was answered is there, and every key expires.

use crate::harness::{packed, sized, Server};
use redis::ConnectionLike;
use std::collections::HashSet;
use std::sync::Mutex;
use std::time::Duration;

#[test]
fn no_answered_admission_is_missing_and_no_key_is_without_ttl() {
    let options = "--appendonly yes --appendfsync always --aof-use-rdb-preamble no --hz 100";
    let mut server = Server::builder().args(options).start();
    let mut answered = 0;
    for round in 0..sized(4, 30) {
        let records = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for caller in 0..8 {
                let (mut con, records) = (server.connect(), &records);
                scope.spawn(move || {
                    for nth in 0.. {
                        let key = format!("{round}:{}", (nth * 8 + caller) % 20);
                        let line = format!("SLIDEWIN.CHECK {key} 1h 1000000 RECEIPT");
                        // Until the server is gone.
                        let Ok(reply) = con.0.req_packed_command(&packed(&line)) else { break };
                        let receipt: i64 = redis::from_redis_value(reply).unwrap();
                        records.lock().unwrap().push((key, receipt));
                        // Logs that are born, replaced, refunded and trimmed while the server dies.
                        let others = [
                            format!("SLIDEWIN.CHECK short:{caller}:{nth} 2m 5"),
                            format!("SLIDEWIN.CHECK shared:{caller} 1h 1000000 RESOLUTION 1"),
                            format!("SLIDEWIN.CHECK trimmed:{caller} 1ms 10000"),
                            format!("SLIDEWIN.REFUND refunded:{caller} {receipt}"),
                        ];
                        for line in others {
                            let _ = con.0.req_packed_command(&packed(&line));
                        }
                    }
                });
            }
            std::thread::sleep(Duration::from_millis(150 + 37 * round as u64 % 100));
            server.kill();
        });
        server = server.start_again(|builder| builder);
        let mut con = server.connect();
        for key in con.call::<Vec<String>>("KEYS *") {
            let pttl: i64 = con.call(&format!("PTTL {key}"));
            // -2: it has expired since.
            assert!(
                pttl > 0 || (pttl == -2 && key.starts_with("trimmed")),
                "round {round}: {key} has PTTL {pttl}"
            );
        }
        let records = records.into_inner().unwrap();
        for nth in 0..20 {
            let key = format!("{round}:{nth}");
            let log = HashSet::<i64>::from_iter(con.times_us(&key));
            let missing = records.iter().filter(|(of, receipt)| *of == key && !log.contains(receipt)).count();
            assert_eq!(missing, 0, "round {round}: admissions missing in {key}");
            assert_eq!(con.peek(&format!("{key} 1h 1000000"))[2], 1_000_000 - log.len() as i64);
            // It goes on from there, by the same rules.
            assert_eq!(con.check(&format!("{key} 1h 1000000")), 1);
        }
        answered += records.len();
    }
    assert!(answered > 200, "too little load to say anything: {answered}");
}
