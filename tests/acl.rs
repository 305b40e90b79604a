//! Rights: an application checks its own keys and nothing else, a monitor reads, and only an admin sees who is refused.

use crate::harness::{has, version, Client, Server};

/// A connection as a user with these rules and no others.
fn user(server: &Server, rules: &str) -> Client {
    let mut con = server.connect();
    con.call::<()>(&format!("ACL SETUSER u reset on >p {rules}"));
    con.call::<()>("AUTH u p");
    con
}

/// Whether the user may. What is allowed must also work.
fn may(con: &mut Client, line: &str) -> bool {
    let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
    match con.raw(&words) {
        Ok(_) => true,
        Err(error) => {
            assert!(error.starts_with("NOPERM "), "{line}: {error}");
            false
        }
    }
}

fn table(rules: &str, lines: &[(&str, bool)]) {
    let (server, mut con) = Server::start();
    con.call::<()>("SET text t");
    let mut user = user(&server, rules);
    for &(line, allowed) in lines {
        assert_eq!(may(&mut user, line), allowed, "{rules}: {line}");
    }
}

#[test]
fn an_application_checks_its_own_prefix_and_nothing_else() {
    let rules = "-@all +slidewin.check ~rl:*";
    table(
        rules,
        &[
            ("SLIDEWIN.CHECK rl:ip:192.0.2.7 60 5", true),
            ("SLIDEWIN.CHECK rl: 60 5 3600 100 COST 2 RECEIPT WITHQUOTA", true),
            ("slidewin.check rl:1 60 0 FORCE", true),
            ("SLIDEWIN.CHECK other 60 5", false),
            ("SLIDEWIN.CHECK r 60 5", false),
            // Only the key is a key.
            ("SLIDEWIN.CHECK rl:1 60 5 COST 3", true),
            ("SLIDEWIN.PEEK rl:1 60 5", false),
            ("SLIDEWIN.RESERVE rl:1 0 60 5", false),
            ("SLIDEWIN.REFUND rl:1 17", false),
            ("SLIDEWIN.LOG rl:1", false),
            ("SLIDEWIN.OFFENDERS", false),
            ("SLIDEWIN.OFFENDERS RESET", false),
            ("ZRANGE rl:1 0 -1", false),
            ("DEL rl:1", false),
            ("INFO slidewin_stats", false),
        ],
    );
    // The admissions above wrote by ZADD and PEXPIREAT, for which this user needs no right.
    let (server, mut con) = Server::start();
    assert!(may(&mut user(&server, rules), "SLIDEWIN.CHECK rl:1 60 5"));
    assert_eq!(con.call::<i64>("ZCARD rl:1"), 1);
    assert!(con.call::<i64>("PTTL rl:1") > 0);
}

#[test]
fn read_rights_allow_peek_and_log_alone() {
    if !has("%R~", (7, 0, 0)) {
        return;
    }
    let commands = "+slidewin.check +slidewin.peek +slidewin.refund +slidewin.log";
    let reads_only = [
        ("SLIDEWIN.LOG rl:1 COUNT 5", true),
        ("SLIDEWIN.LOG other", false),
        ("SLIDEWIN.PEEK rl:1 60 5", true),
        ("SLIDEWIN.PEEK rl:1 60 5 3600 9 COST 2 WITHQUOTA", true),
        ("SLIDEWIN.CHECK rl:1 60 5", false),
        ("SLIDEWIN.REFUND rl:1 17", false),
        ("SLIDEWIN.PEEK other 60 5", false),
    ];
    table(&format!("-@all {commands} %R~rl:*"), &reads_only);
    table(&format!("-@all {commands} %W~rl:*"), &reads_only.map(|(line, _)| (line, false)));
    let all_of_rl = reads_only.map(|(line, _)| (line, line.contains(" rl:")));
    table(&format!("-@all {commands} %RW~rl:*"), &all_of_rl);
    table(&format!("-@all {commands} ~rl:*"), &all_of_rl);
    table(&format!("-@all {commands} %R~rl:* %W~rl:*"), &all_of_rl);
}

#[test]
fn one_user_may_check_its_prefix_and_peek_everywhere() {
    if !has("selectors", (7, 0, 0)) {
        return;
    }
    let (server, _con) = Server::start();
    let mut con = server.connect();
    let rules: [&[u8]; 9] = [
        b"ACL",
        b"SETUSER",
        b"u",
        b"on",
        b">p",
        b"-@all",
        b"+slidewin.check",
        b"~rl:*",
        b"(+slidewin.peek %R~*)",
    ];
    con.raw(&rules).unwrap();
    con.call::<()>("AUTH u p");
    for (line, allowed) in [
        ("SLIDEWIN.CHECK rl:1 60 5", true),
        ("SLIDEWIN.PEEK rl:1 60 5", true),
        ("SLIDEWIN.PEEK other 60 5", true),
        ("SLIDEWIN.CHECK other 60 5", false),
    ] {
        assert_eq!(may(&mut con, line), allowed, "{line}");
    }
}

#[test]
fn each_key_of_an_mcheck_needs_the_right() {
    table(
        "-@all +slidewin.mcheck ~rl:*",
        &[
            ("SLIDEWIN.MCHECK 1 rl:a 60 5", true),
            ("SLIDEWIN.MCHECK 3 rl:a 60 5 rl:b 60 5 rl:a 1 1 COST 1 ID other", true),
            ("SLIDEWIN.MCHECK 2 rl:a 60 5 other 60 5", false),
            ("SLIDEWIN.MCHECK 2 other 60 5 rl:a 60 5", false),
            ("SLIDEWIN.MCHECK 3 rl:a 60 5 rl:b 60 5 other 60 5", false),
        ],
    );
}

#[test]
fn a_monitor_peeks_by_name() {
    let keys = if version() >= (7, 0, 0) { "%R~*" } else { "~*" };
    table(
        &format!("-@all +slidewin.peek {keys}"),
        &[
            ("SLIDEWIN.PEEK k 60 5", true),
            ("SLIDEWIN.PEEK k 60 5 WITHQUOTA", true),
            ("SLIDEWIN.CHECK k 60 5", false),
            ("SLIDEWIN.REFUND k 17", false),
            ("SLIDEWIN.OFFENDERS", false),
        ],
    );
}

#[test]
fn a_monitor_peeks_by_category() {
    if !has("categories of modules", (7, 2, 0)) {
        return;
    }
    let allowed = |check, peek, refund, log, offenders| {
        [
            ("SLIDEWIN.CHECK k 60 5", check),
            ("SLIDEWIN.RESERVE k 0 60 5", check),
            ("SLIDEWIN.PEEK k 60 5", peek),
            ("SLIDEWIN.REFUND k 17", refund),
            ("SLIDEWIN.LOG k", log),
            ("SLIDEWIN.OFFENDERS", offenders),
        ]
    };
    table("-@all +@read %R~*", &allowed(false, true, false, true, false));
    table("-@all +@read ~*", &allowed(false, true, false, true, false));
    table("-@all +@write ~*", &allowed(true, false, true, false, false));
    table("-@all +@fast ~*", &allowed(true, true, false, false, false));
    table("-@all +@sortedset ~*", &allowed(true, true, true, true, false));
    table("-@all +@admin ~*", &allowed(false, false, false, false, true));
    table("+@all -@dangerous ~*", &allowed(true, true, true, true, false));
    table("+@all -@write ~*", &allowed(false, true, false, true, true));
}

#[test]
fn offenders_is_reached_by_its_name_alone() {
    let others =
        "+@read +@write +@fast +@slow +@sortedset +@keyspace +@string +@connection +@pubsub +@scripting";
    for rules in [
        format!("-@all {others} ~*"),
        format!("-@all {others} allkeys allchannels"),
        "-@all +slidewin.check +slidewin.peek +slidewin.refund ~*".to_owned(),
    ] {
        table(&rules, &[("SLIDEWIN.OFFENDERS", false), ("SLIDEWIN.OFFENDERS COUNT 1 RESET", false)]);
    }
    let offenders_only = [
        ("SLIDEWIN.OFFENDERS", true),
        ("SLIDEWIN.OFFENDERS COUNT 1 RESET", true),
        ("SLIDEWIN.CHECK k 60 0", false),
    ];
    table("-@all +slidewin.offenders", &offenders_only);
}
