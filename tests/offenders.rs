//! SLIDEWIN.OFFENDERS: who was refused most lately, on this node.

use crate::harness::{packed, wait_until, Client, Server};
use rand::{rngs::SmallRng, RngExt, SeedableRng};
use redis::ConnectionLike;

type Offenders = Vec<(Vec<u8>, u64, u64)>;

/// Key, count, possible error.
fn offenders(con: &mut Client, options: &str) -> Offenders {
    con.call(&format!("SLIDEWIN.OFFENDERS {options}"))
}

/// As text, `key count error` each.
fn listed(con: &mut Client, options: &str) -> Vec<String> {
    let text = |(key, count, error)| format!("{} {count} {error}", String::from_utf8(key).unwrap());
    offenders(con, options).into_iter().map(text).collect()
}

fn refuse(con: &mut Client, key: &[u8], times: usize) {
    for _ in 0..times {
        assert_eq!(con.raw(&[b"SLIDEWIN.CHECK", key, b"60", b"0"]), Ok(redis::Value::Int(0)));
    }
}

#[test]
fn only_refusals_count_and_the_heaviest_comes_first() {
    let (_server, mut con) = Server::start();
    assert_eq!(listed(&mut con, ""), [""; 0]);
    for (key, times) in [(&b"two"[..], 2), (b"three", 3), (b"one", 1), (b"and one", 1)] {
        refuse(&mut con, key, times);
    }
    // Admitted, admitted past the limit, only asked, and wrong.
    assert_eq!(con.check("other 60 1"), 1);
    assert_eq!(con.check("other 60 1 FORCE"), 1);
    assert_eq!(con.peek("other 60 1")[0], 0);
    con.error("SLIDEWIN.CHECK other 60 x");
    assert_eq!(listed(&mut con, ""), ["three 3 0", "two 2 0", "and one 1 0", "one 1 0"]);
    assert_eq!(con.check("other 60 1"), 0);
    assert_eq!(listed(&mut con, "")[2..], ["and one 1 0", "one 1 0", "other 1 0"]);
    // The log may go, the refusals were.
    con.call::<()>("FLUSHALL");
    assert_eq!(listed(&mut con, "COUNT 2"), ["three 3 0", "two 2 0"]);
}

#[test]
fn count_is_ten_unless_it_is_given() {
    let (_server, mut con) = Server::start();
    for nth in 1..=300 {
        refuse(&mut con, format!("k{nth}").as_bytes(), 1);
    }
    for (options, length) in
        [("", 10), ("COUNT 1", 1), ("count 11", 11), ("COUNT 256", 256), ("COUNT 3 RESET", 3), ("", 0)]
    {
        assert_eq!(offenders(&mut con, options).len(), length, "{options}");
    }
    for options in ["COUNT 0", "COUNT 257", "COUNT -1", "COUNT x", "COUNT 01"] {
        let error = con.error(&format!("SLIDEWIN.OFFENDERS {options}"));
        assert_eq!(error, "ERR count must be an integer from 1 to 256", "{options}");
    }
    for (options, error) in [
        ("10", "ERR unknown option, expected COUNT or RESET"),
        ("RESET RESET", "ERR an option may be given only once"),
        ("COUNT 1 COUNT 1", "ERR an option may be given only once"),
        ("COUNT", "ERR wrong number of arguments for 'slidewin.offenders' command"),
    ] {
        assert_eq!(con.error(&format!("slidewin.offenders {options}")), error, "{options}");
    }
}

#[test]
fn reset_answers_a_last_time_and_forgets() {
    let (_server, mut con) = Server::start();
    refuse(&mut con, b"before", 5);
    con.error("SLIDEWIN.OFFENDERS RESET COUNT 0");
    assert_eq!(listed(&mut con, "RESET"), ["before 5 0"]);
    assert_eq!(listed(&mut con, ""), [""; 0]);
    refuse(&mut con, b"after", 1);
    assert_eq!(listed(&mut con, "RESET COUNT 1"), ["after 1 0"]);
    assert_eq!(listed(&mut con, ""), [""; 0]);
}

#[test]
fn counts_halve_every_minute() {
    let (_server, mut con, clock) = Server::frozen();
    refuse(&mut con, b"k", 9);
    clock.advance_ms(59_999);
    refuse(&mut con, b"late", 3);
    assert_eq!(listed(&mut con, ""), ["k 9 0", "late 3 0"]);
    // Ms on; what is listed then.
    let table: &[(i64, &[&str])] =
        &[(1, &["k 4 0", "late 1 0"]), (59_999, &["k 4 0", "late 1 0"]), (1, &["k 2 0"]), (120_000, &[])];
    for &(ms, expected) in table {
        clock.advance_ms(ms);
        assert_eq!(listed(&mut con, ""), expected, "{ms} ms on");
    }
    refuse(&mut con, b"k", 1);
    assert_eq!(listed(&mut con, ""), ["k 1 0"]);
    clock.advance_ms(1_000 * 86_400_000);
    assert_eq!(listed(&mut con, ""), [""; 0]);
}

#[test]
fn a_key_is_any_bytes_and_a_long_one_counts_by_its_first_256() {
    let (_server, mut con) = Server::start();
    let prefix = [b"\xff\0 \r\n", &[b'x'; 251][..]].concat();
    assert_eq!(prefix.len(), 256);
    refuse(&mut con, &prefix[..255], 1);
    refuse(&mut con, &prefix, 2);
    refuse(&mut con, &[&prefix[..], b"a"].concat(), 3);
    refuse(&mut con, &[&prefix[..], &[b'b'; 100_000]].concat(), 4);
    refuse(&mut con, b"", 5);
    assert_eq!(
        offenders(&mut con, ""),
        [(prefix.clone(), 9, 0), (Vec::new(), 5, 0), (prefix[..255].to_vec(), 1, 0)]
    );
}

#[test]
fn each_node_knows_its_own() {
    let (server, mut con) = Server::start();
    let replica = Server::builder().start_replica_of(&server);
    refuse(&mut con, b"k", 3);
    con.check("written 60 1");
    con.call::<i64>("WAIT 1 10000");
    assert_eq!(listed(&mut replica.connect(), ""), [""; 0]);
    assert_eq!(listed(&mut con, ""), ["k 3 0"]);
    let server = server.restart(|builder| builder);
    assert_eq!(listed(&mut server.connect(), ""), [""; 0]);
}

/// Memory of the server while nobody but `con` is connected.
fn used_memory(con: &mut Client) -> i64 {
    wait_until("the others have left", || con.info("connected_clients") == 1);
    con.info("used_memory")
}

/// Refuses these keys in pipelines, over a connection of its own.
fn refuse_all(server: &Server, keys: impl Iterator<Item = String>) {
    const PIPELINE: usize = 5_000;
    let mut con = server.connect();
    let calls: Vec<Vec<u8>> = keys.map(|key| packed(&format!("SLIDEWIN.CHECK {key} 60 0"))).collect();
    for pipeline in calls.chunks(PIPELINE) {
        let replies = con.0.req_packed_commands(&pipeline.concat(), 0, pipeline.len()).unwrap();
        assert!(replies.iter().all(|reply| *reply == redis::Value::Int(0)));
    }
}

#[test]
fn the_ten_heaviest_of_100_000_keys_are_the_first_ten() {
    const KEYS: usize = 100_000;
    const REFUSALS: usize = 1_000_000;
    // Zipf: the key of rank n is refused in proportion to 1/n.
    let mut cumulated: Vec<f64> = Vec::with_capacity(KEYS);
    for rank in 1..=KEYS {
        cumulated.push(cumulated.last().copied().unwrap_or_default() + 1.0 / rank as f64);
    }
    let mut random = SmallRng::seed_from_u64(10);
    let mut counts = vec![0_u64; KEYS];
    let mut keys = Vec::with_capacity(REFUSALS);
    for _ in 0..REFUSALS {
        let at = random.random::<f64>() * cumulated[KEYS - 1];
        let rank = cumulated.partition_point(|&up_to| up_to < at).min(KEYS - 1);
        counts[rank] += 1;
        keys.push(rank);
    }
    let mut heaviest: Vec<usize> = (0..KEYS).collect();
    heaviest.sort_by_key(|&rank| std::cmp::Reverse(counts[rank]));
    heaviest.truncate(10);

    // On a clock that stands still nothing is halved, however slow the machine.
    let (server, mut con, _clock) = Server::frozen();
    refuse_all(&server, (0..5_000).map(|nth| format!("warm:{nth}")));
    assert_eq!(offenders(&mut con, "RESET").len(), 10);
    let before = used_memory(&mut con);
    refuse_all(&server, keys.into_iter().map(|rank| format!("ip:{rank}")));
    let memory = used_memory(&mut con) - before;

    let found = offenders(&mut con, "COUNT 256");
    assert_eq!(found.len(), 256);
    let first_ten: Vec<String> =
        found[..10].iter().map(|(key, ..)| String::from_utf8_lossy(key).into_owned()).collect();
    let expected: Vec<String> = heaviest.iter().map(|rank| format!("ip:{rank}")).collect();
    assert_eq!(first_ten, expected);
    for (key, count, error) in &found {
        let key = String::from_utf8_lossy(key);
        let refusals = counts[key.strip_prefix("ip:").unwrap().parse::<usize>().unwrap()];
        assert!(count - error <= refusals && refusals <= *count, "{key}: {refusals}, not {count} - {error}");
    }
    println!("memory of the summary: {memory} bytes");
    assert!(memory < 100_000, "{memory} bytes");
    assert_eq!(con.call::<i64>("DBSIZE"), 0);
}

#[test]
fn the_longest_keys_take_less_than_110_kb() {
    let (server, mut con) = Server::start();
    let long = "x".repeat(300);
    // What the server allocates for a command that is called for the first time is not ours.
    refuse(&mut con, b"warm", 1);
    listed(&mut con, "RESET");
    let before = used_memory(&mut con);
    refuse_all(&server, (0..3_000).map(|nth| format!("{nth}:{long}")));
    let memory = used_memory(&mut con) - before;
    println!("memory of the summary: {memory} bytes");
    assert!((256 * 256..110_000).contains(&memory), "{memory} bytes");
}
