//! An AOF that ends at any byte, as after a power failure: what is loaded is what the calls up to there have made.

use crate::harness::{sized, Client, Clock, Server};
use std::path::{Path, PathBuf};

const OPTIONS: &str = "--appendonly yes --appendfsync always --aof-use-rdb-preamble no";
/// Keys, and the windows in µs that their units are kept for.
const KEYS: [(&str, &[i64]); 4] = [
    ("weights", &[50_000, 100_000, 3_600_000_000]),
    ("bundles", &[50_000, 100_000, 3_600_000_000]),
    ("given-back", &[50_000, 100_000, 3_600_000_000]),
    ("short", &[5_000, 20_000]),
];

/// Every unit for ever: key, time, units.
type Units = Vec<(&'static str, i64, i64)>;

/// The file that commands are appended to.
fn aof(dir: &Path) -> PathBuf {
    let mut folders = vec![dir.to_owned(), dir.join("appendonlydir")];
    folders.retain(|folder| folder.exists());
    let entries = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let files = entries.map(|entry| entry.unwrap().path());
    // Redis 6.2 has a single file, later ones an incremental one.
    let is_it = |file: &PathBuf| {
        let name = file.file_name().unwrap().to_string_lossy();
        name == "appendonly.aof" || name.ends_with(".incr.aof")
    };
    files.into_iter().find(is_it).unwrap()
}

/// Calls of every kind, and what is there after each: the length of the file, and the units.
fn written(con: &mut Client, clock: &Clock, dir: &Path, calls: i64) -> Vec<(u64, Units)> {
    let (mut units, mut states) = (Units::new(), Vec::new());
    let mut receipts = Vec::new();
    for nth in 0..calls {
        clock.advance_us(1_500 + nth % 7 * 211);
        let (key, words, cost) = match nth % 8 {
            0 => ("weights", "1h 1000000 COST 3", 3),
            1 => ("given-back", "1h 1000000 COST 4", 4),
            2 => ("short", "20ms 1000000", 1),
            _ => ("bundles", "1h 1000000", 1),
        };
        let receipt = con.check(&format!("{key} {words} RECEIPT"));
        units.push((key, receipt, cost));
        states.push((std::fs::metadata(aof(dir)).unwrap().len(), units.clone()));
        if key == "given-back" {
            receipts.push(receipt);
        }
        if nth % 24 == 17 {
            let receipt = receipts[receipts.len() / 2];
            let given = con.refund(&format!("given-back {receipt} COST 3"));
            let unit = units.iter_mut().find(|(_, time_us, _)| *time_us == receipt).unwrap();
            unit.2 -= given;
            states.push((std::fs::metadata(aof(dir)).unwrap().len(), units.clone()));
        }
    }
    states
}

/// Total and units of a member.
fn spelled(member: &str) -> (u64, u64) {
    let head = member.split(';').next().unwrap();
    let (total, weight) = head.split_once([':', '~']).unwrap_or((head, "1"));
    (total.parse().unwrap(), weight.parse().unwrap())
}

/// Each total is the one before it and the units; each count is that of the model; each key expires.
fn is_as_after(con: &mut Client, now_us: i64, units: &Units, story: &str) {
    for (key, windows_us) in KEYS {
        let log = con.log(key);
        for pair in log.windows(2) {
            let ((before, _), (total, weight)) = (spelled(&pair[0].0), spelled(&pair[1].0));
            assert_eq!(total, before + weight, "{story}: {log:?}");
        }
        for window_us in windows_us {
            let is_live = |unit: &&(&str, i64, i64)| unit.0 == key && unit.1 > now_us - window_us;
            let used: i64 = units.iter().filter(is_live).map(|unit| unit.2).sum();
            let window_ms = window_us / 1_000;
            assert_eq!(
                con.peek(&format!("{key} {window_ms}ms 1000000"))[2],
                1_000_000 - used,
                "{story}: {key}"
            );
        }
        let pttl: i64 = con.call(&format!("PTTL {key}"));
        assert!(pttl > 0 || log.is_empty(), "{story}: {key} has PTTL {pttl}");
    }
}

#[test]
fn an_aof_cut_at_any_byte_is_as_the_calls_up_to_there_left_it() {
    let clock = Clock::frozen();
    let mut server = Server::builder().clock(&clock).args(OPTIONS).start();
    let states = {
        let mut con = server.connect();
        assert_eq!(con.call::<i64>("DBSIZE"), 0);
        written(&mut con, &clock, server.dir(), 120)
    };
    server.kill();
    let file = aof(server.dir());
    let whole = std::fs::read(&file).unwrap();
    assert_eq!(whole.len() as u64, states.last().unwrap().0);
    // All bytes of the longest write, which is a transaction, and others spread over the file.
    let lengths: Vec<u64> = states.iter().map(|(length, _)| *length).collect();
    let longest = lengths.windows(2).max_by_key(|pair| pair[1] - pair[0]).unwrap();
    let spread = (1..=whole.len()).step_by(sized(997, 1));
    let inside = (longest[0] as usize..=longest[1] as usize).step_by(sized(53, 1));
    let at_its_end = longest[1] as usize - 1;
    for cut in spread.chain(inside).chain([at_its_end, whole.len()]) {
        let nothing = Units::new();
        let units = states
            .iter()
            .rev()
            .find(|(length, _)| *length <= cut as u64)
            .map_or(&nothing, |(_, units)| units);
        // The time at which it was cut.
        clock.freeze(units.last().map_or(Clock::START_US, |unit| unit.1));
        std::fs::write(&file, &whole[..cut]).unwrap();
        server = server.start_again(|builder| builder);
        let mut con = server.connect();
        is_as_after(&mut con, clock.now_us(), units, &format!("cut at byte {cut} of {}", whole.len()));
        // A server keeps what it finds of a transaction without its end. What it writes next is then queued behind that at
        // the next start, whatever commands they are.
        let left = std::fs::read(&file).unwrap();
        let last = |word: &[u8]| left.windows(word.len()).rposition(|window| window == word);
        let is_open = last(b"\r\nMULTI\r\n") > last(b"\r\nEXEC\r\n");
        if is_open || cut % sized(1, 16) != 0 {
            server.kill();
            continue;
        }
        // It goes on from there, and so does the file.
        let mut units = units.clone();
        units.push(("bundles", con.check("bundles 1h 1000000 RECEIPT"), 1));
        server.kill();
        server = server.start_again(|builder| builder);
        is_as_after(
            &mut server.connect(),
            clock.now_us(),
            &units,
            &format!("cut at byte {cut}, and gone on"),
        );
        server.kill();
    }
}
