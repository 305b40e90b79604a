//! What the arguments may be. Whatever is wrong with them is said in one line, and nothing has changed.

use crate::harness::Server;

const WINDOW: &str = "ERR window must be a duration from 1ms to 3650d, such as 60, 0.5, 250ms, 5m or 24h";
const LIMIT: &str = "ERR limit must be an integer from 0 to 9007199254740991";
const COST: &str = "ERR cost must be an integer from 1 to 9007199254740991";
const RESOLUTION: &str = "ERR resolution must be a duration from 1ms to the shortest window";
const RECEIPT: &str = "ERR receipt must be a positive integer";

const NO_DURATION: &[&str] = &[
    "0",
    "-1",
    "abc",
    "nan",
    "inf",
    "-inf",
    "infinity",
    "",
    " ",
    "1e308",
    "1e3",
    "0x10",
    "+60",
    " 60",
    "60 ",
    "60,5",
    "0.5.5",
    "1..5",
    ".5",
    ".",
    "ms",
    "s",
    "-0.5",
    "60S",
    "60M",
    "60MS",
    "60 s",
    "60sec",
    "1h30m",
    "1w",
    "1us",
    "0ms",
    "0.5ms",
    "0.0009",
    "0.000999499999999999999",
    "0.0000005",
    "3651d",
    "87601h",
    "315360001",
    "3650.1d",
    "315360000.000001",
    "315360000.0000005",
    "9223372036854775807",
    "18446744073709551616",
    "99999999999999999999999999999999d",
    "60\n",
    "6\u{663}",
];
const NO_INTEGER: &[&str] = &[
    "-1",
    "1.5",
    "9223372036854775808",
    "9007199254740992",
    "18446744073709551617",
    "",
    " ",
    "abc",
    "nan",
    "inf",
    "+5",
    "05",
    "00",
    " 5",
    "5 ",
    "5.0",
    "1e3",
    "0x5",
    "-0",
    "5\n",
];

/// Sends each text as the last word of a command that ends in `...`.
fn assert_all_refused(command: &str, texts: &[&str], error: &str) {
    let (_server, mut con) = Server::start();
    for text in texts {
        let words = command.split(' ').map(|word| if word == "..." { text } else { word }.as_bytes());
        let words: Vec<&[u8]> = words.collect();
        assert_eq!(con.raw(&words), Err(error.to_owned()), "{command} with {text:?}");
    }
    assert_eq!(con.call::<i64>("DBSIZE"), 0, "{command}");
}

#[test]
fn what_is_no_window() {
    for command in ["SLIDEWIN.CHECK k ... 5", "SLIDEWIN.PEEK k ... 5"] {
        assert_all_refused(command, NO_DURATION, WINDOW);
    }
    // In the place of a second window a word would be an option.
    let numbers: Vec<&str> =
        NO_DURATION.iter().filter(|text| !text.starts_with(char::is_alphabetic)).copied().collect();
    assert_all_refused("SLIDEWIN.CHECK k 60 5 ... 5", &numbers, WINDOW);
}

#[test]
fn what_is_no_limit() {
    for command in ["SLIDEWIN.CHECK k 60 ...", "SLIDEWIN.PEEK k 60 ...", "SLIDEWIN.CHECK k 60 5 1 ... COST 1"]
    {
        assert_all_refused(command, NO_INTEGER, LIMIT);
    }
}

#[test]
fn what_is_no_cost() {
    for command in
        ["SLIDEWIN.CHECK k 60 5 COST ...", "SLIDEWIN.PEEK k 60 5 COST ...", "SLIDEWIN.REFUND k 1 COST ..."]
    {
        assert_all_refused(command, NO_INTEGER, COST);
        assert_all_refused(command, &["0"], COST);
    }
}

#[test]
fn what_is_no_resolution() {
    assert_all_refused("SLIDEWIN.CHECK k 60 5 RESOLUTION ...", NO_DURATION, RESOLUTION);
    assert_all_refused("SLIDEWIN.CHECK k 60 5 RESOLUTION ...", &["60.000001", "61", "2m"], RESOLUTION);
    assert_all_refused("SLIDEWIN.CHECK k 60 5 1 5 24h 5 RESOLUTION ...", &["1.1", "60"], RESOLUTION);
}

#[test]
fn what_is_no_receipt() {
    let too_large = ["9223372036854775808", "18446744073709551617"];
    let texts = NO_INTEGER.iter().filter(|text| **text != "9007199254740992" && !too_large.contains(text));
    let texts: Vec<&str> = texts.copied().chain(too_large).chain(["0"]).collect();
    assert_all_refused("SLIDEWIN.REFUND k ...", &texts, RECEIPT);
}

#[test]
fn what_is_no_count() {
    let texts: Vec<&str> = NO_INTEGER.iter().copied().chain(["0", "1001"]).collect();
    let error = "ERR count must be an integer from 1 to 1000";
    assert_all_refused("SLIDEWIN.LOG k COUNT ...", &texts, error);
}

#[test]
fn every_other_error() {
    let (_server, mut con) = Server::start();
    let arity = |command| format!("ERR wrong number of arguments for '{command}' command");
    let (check, peek, refund) = (arity("slidewin.check"), arity("slidewin.peek"), arity("slidewin.refund"));
    let log = arity("slidewin.log");
    let nine = "1 1 ".repeat(9);
    // The command without `slidewin.`, and how its error begins.
    let table: &[(&str, &str)] = &[
        ("check", &check),
        ("check k", &check),
        ("check k 60", &check),
        ("check k 60 5 60", &check),
        ("check k 60 5 COST", &check),
        ("check k 60 5 RESOLUTION", &check),
        ("check k 60 5 FORCE COST", &check),
        ("peek", &peek),
        ("peek k", &peek),
        ("peek k 60", &peek),
        ("peek k 60 5 24h", &peek),
        ("peek k 60 5 COST", &peek),
        ("refund", &refund),
        ("refund k", &refund),
        ("refund k 5 COST", &refund),
        ("log", &log),
        ("log k COUNT", &log),
        ("log k COUNT 5 COUNT", &log),
        ("log k 5", "ERR unknown option, expected COUNT after the key"),
        ("log k COUNT 5 RESET", "ERR unknown option"),
        ("log k COUNT 5 COUNT 5", "ERR an option may be given only once"),
        ("refund k ID", &refund),
        ("check k 60 5 ID", &check),
        ("check k 60 5 ID a ID a", "ERR an option may be given only once"),
        ("refund k ID a ID b", "ERR unknown option"),
        ("peek k 60 5 ID a", "ERR unknown option"),
        ("check k 60 5 RESOLUTION 1 ID a", "ERR RESOLUTION and ID"),
        ("check k 60 5 EXTRA", "ERR unknown option"),
        ("check k 60 5 WITHQUOTA 7", "ERR unknown option"),
        ("check k 60 5 COST 1 7 8", "ERR unknown option"),
        ("peek k 60 5 FORCE", "ERR unknown option"),
        ("peek k 60 5 RECEIPT", "ERR unknown option"),
        ("peek k 60 5 RESOLUTION 1", "ERR unknown option"),
        ("refund k 5 7", "ERR unknown option"),
        ("refund k 5 WITHQUOTA", "ERR unknown option"),
        ("check k 60 5 FORCE force", "ERR an option may be given only once"),
        ("check k 60 5 COST 1 COST 1", "ERR an option may be given only once"),
        ("check k 60 5 RECEIPT RECEIPT", "ERR an option may be given only once"),
        ("check k 60 5 WITHQUOTA WITHQUOTA", "ERR an option may be given only once"),
        ("check k 60 5 RESOLUTION 1 RESOLUTION 1", "ERR an option may be given only once"),
        ("refund k 5 COST 1 COST 1", "ERR an option may be given only once"),
        ("check k 60 5 RESOLUTION 1 RECEIPT", "ERR RESOLUTION and RECEIPT"),
        ("check k 60 5 RECEIPT RESOLUTION 1", "ERR RESOLUTION and RECEIPT"),
        (&format!("check k {nine}"), "ERR at most 8 windows"),
        (&format!("peek k {nine}"), "ERR at most 8 windows"),
    ];
    for (command, begins) in table {
        let error = con.error(&format!("slidewin.{command}"));
        assert!(error.starts_with(begins), "{command}: {error}");
        assert!(!error.contains(['\r', '\n']), "{command}: {error:?}");
    }
    assert_eq!(con.call::<i64>("DBSIZE"), 0);
}

#[test]
fn no_error_repeats_what_the_caller_wrote() {
    let (_server, mut con) = Server::start();
    con.call::<()>("SET k hello");
    for command in [
        "CHECK k Zq7 5",
        "CHECK k 60 Zq7",
        "CHECK k 60 5 Zq7",
        "CHECK k 60 5 COST Zq7",
        "CHECK k 60 5 RESOLUTION Zq7",
        "CHECK Zq7k",
        "PEEK k 60 5 Zq7",
        "RESERVE k Zq7 60 5",
        "RESERVE k 1 60 Zq7",
        "RESERVE k 1 60 5 Zq7",
        "REFUND k Zq7",
        "REFUND k 5 Zq7",
        "REFUND k 5 COST Zq7",
        "LOG k Zq7",
        "LOG k COUNT Zq7",
        "REFUND k ID a COST Zq7",
    ] {
        let error = con.error(&format!("SLIDEWIN.{command}"));
        assert!(!error.contains("Zq7"), "{command}: {error}");
    }
}

#[test]
fn arguments_are_judged_before_the_key() {
    let (_server, mut con) = Server::start();
    con.call::<()>("SET k hello");
    assert_eq!(con.error("SLIDEWIN.CHECK k 0 5"), WINDOW);
    assert_eq!(con.error("SLIDEWIN.PEEK k 60 x"), LIMIT);
    assert_eq!(con.error("SLIDEWIN.REFUND k 0"), RECEIPT);
    assert!(con.error("SLIDEWIN.RESERVE k x 60 5").starts_with("ERR max-wait must be"));
    assert!(con.error("SLIDEWIN.LOG k COUNT 0").starts_with("ERR count must be"));
}

#[test]
fn every_way_to_write_a_duration() {
    let (_server, mut con, _clock) = Server::frozen();
    // What is written, and how many ms until the window is empty again.
    for (window, ms) in [
        ("1ms", 1),
        ("0.001", 1),
        ("0.001s", 1),
        ("1.5ms", 2),
        ("0.001001", 2),
        ("250ms", 250),
        ("0.25", 250),
        ("0.5", 500),
        ("1", 1_000),
        ("1.000", 1_000),
        ("0.10000000000000001", 100), // Lua's 0.1
        ("0.30000000000000004", 300), // JavaScript's 0.1 + 0.2
        ("0.999999ms", 1),
        ("1.0000004ms", 1),
        ("1.0005ms", 2),
        ("315360000.00000049", 315_360_000_000),
        ("1.0000000000", 1_000),
        ("60", 60_000),
        ("60s", 60_000),
        ("1m", 60_000),
        ("0.5m", 30_000),
        ("5m", 300_000),
        ("1.5h", 5_400_000),
        ("24h", 86_400_000),
        ("7d", 604_800_000),
        ("0.5d", 43_200_000),
        ("3650d", 315_360_000_000),
        ("315360000", 315_360_000_000),
        ("87600h", 315_360_000_000),
    ] {
        con.call::<()>("FLUSHALL");
        assert_eq!(con.quota(&format!("k {window} 5")), [1, 5, 4, 0, ms, ms], "{window}");
    }
}

#[test]
fn a_duration_as_a_language_prints_it() {
    let (_server, mut con, clock) = Server::frozen();
    for ms in 1_i64..=1_000 {
        // C's and Lua's `%.17g`: 17 significant digits, without the zeros at the end.
        let decimals = [19, 18, 17, 16][ms.ilog10() as usize];
        let text = format!("{:.decimals$}", ms as f64 / 1_000.0);
        let text = text.trim_end_matches('0').trim_end_matches('.');
        // Another ms at each call, and a key of its own: nothing else is counted.
        clock.advance_ms(1);
        assert_eq!(con.quota(&format!("k{ms} {text} 5")), [1, 5, 4, 0, ms, ms], "{text}");
        assert_eq!(con.check(&format!("shared{ms} 1 5 RESOLUTION {text}")), 1, "{text}");
    }
    assert_eq!(con.error("SLIDEWIN.CHECK k 0.1 5 RESOLUTION 0.1000005"), RESOLUTION);
    assert_eq!(con.check("k 0.1 5 RESOLUTION 0.10000000000000001"), 1);
}

#[test]
fn a_number_of_lua_is_a_duration() {
    let (_server, mut con, _clock) = Server::frozen();
    // How Lua's number becomes text depends on the server: 6.2 and 7.0 print 17 digits.
    let script = b"local resets = {}
        for ms = 1, 1000 do
            local answer = redis.call('SLIDEWIN.CHECK', 'k' .. ms, ms / 1000, 5, 'RESOLUTION', ms / 1000, 'WITHQUOTA')
            resets[ms] = answer[5]
        end
        return resets";
    let resets: Vec<i64> = redis::from_redis_value(con.raw(&[b"EVAL", script, b"0"]).unwrap()).unwrap();
    assert!(resets.into_iter().eq(1..=1_000));
}

#[test]
fn options_come_in_any_order_and_any_case() {
    let (_server, mut con, clock) = Server::frozen();
    for options in [
        "COST 2 FORCE RECEIPT WITHQUOTA",
        "withquota receipt force cost 2",
        "WithQuota COST 2 Force rEcEiPt",
        "RECEIPT cost 2 WITHQUOTA FORCE",
    ] {
        con.call::<()>("FLUSHALL");
        let answer: Vec<i64> = con.call(&format!("SLIDEWIN.CHECK k 60 5 {options}"));
        assert_eq!(answer, [clock.now_us(), 5, 3, 0, 60_000, 60_000], "{options}");
    }
    assert_eq!(con.check("other 60 5 resolution 1 Cost 2"), 1);
}

#[test]
fn the_largest_numbers() {
    const MOST: i64 = 9_007_199_254_740_991;
    let (_server, mut con, clock) = Server::frozen();
    assert_eq!(con.quota(&format!("k 60 {MOST} COST {MOST}")), [1, MOST, 0, 60_000, 60_000, 60_000]);
    clock.advance_ms(1_000);
    assert_eq!(con.quota(&format!("k 60 {MOST}")), [0, MOST, 0, 59_000, 59_000, 59_000]);
    for nth in 1..=2_000 {
        clock.advance_us(1);
        let answer = con.quota(&format!("k 60 {MOST} COST {MOST} FORCE"));
        assert_eq!(answer[..3], [1, MOST, 0], "the {nth}th of them: the sum passes 2^63");
        assert_eq!(con.check(&format!("k 60 {MOST}")), 0, "after the {nth}th of them");
    }
    let eight = "3650d 9007199254740991 ".repeat(8);
    let answer = con.quota(&format!("eight {eight}"));
    assert_eq!(answer[0], 1);
    assert_eq!(
        answer[1..].chunks(5).collect::<Vec<_>>(),
        [[MOST, MOST - 1, 0, 315_360_000_000, 315_360_000_000]; 8]
    );
}
