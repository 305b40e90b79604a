//! Keyspace events: who is refused, as it happens.

use crate::harness::{wait_until, Client, Server};
use redis::PubSub;
use std::collections::BTreeMap;
use std::time::Duration;

const REFUSED: &str = "__keyevent@0__:slidewin.refused";

/// What a subscriber gets next: channel, payload.
fn next(subscriber: &mut PubSub) -> (String, Vec<u8>) {
    let message = subscriber.get_message().unwrap();
    (message.get_channel_name().to_owned(), message.get_payload_bytes().to_vec())
}

fn subscriber<'a>(client: &'a mut Client, pattern: &str) -> PubSub<'a> {
    client.0.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut subscriber = client.0.as_pubsub();
    subscriber.psubscribe(pattern).unwrap();
    subscriber.subscribe("end").unwrap();
    subscriber
}

#[test]
fn each_decision_is_an_event_of_its_key() {
    let (server, mut con) = Server::start();
    con.call::<()>("CONFIG SET notify-keyspace-events Ed");
    let mut listening = server.connect();
    let mut events = subscriber(&mut listening, "__key*__:*");
    let receipt = con.check("ip:192.0.2.7 60 1 RECEIPT");
    assert_eq!(con.check("ip:192.0.2.7 60 1"), 0);
    con.call::<i64>("SLIDEWIN.PEEK ip:192.0.2.7 60 1");
    con.error("SLIDEWIN.CHECK ip:192.0.2.7 60 x");
    con.raw(&[b"SLIDEWIN.CHECK", b"\xff\0 \r\n", b"60", b"0"]).unwrap();
    assert_eq!(con.refund(&format!("ip:192.0.2.7 {receipt}")), 1);
    assert_eq!(con.refund(&format!("ip:192.0.2.7 {receipt}")), 0);
    con.call::<()>("SELECT 3");
    assert_eq!(con.check("other 60 0"), 0);
    con.call::<i64>("PUBLISH end .");
    for (channel, key) in [
        ("__keyevent@0__:slidewin.admitted", &b"ip:192.0.2.7"[..]),
        (REFUSED, b"ip:192.0.2.7"),
        (REFUSED, b"\xff\0 \r\n"),
        ("__keyevent@0__:slidewin.refunded", b"ip:192.0.2.7"),
        ("__keyevent@3__:slidewin.refused", b"other"),
        ("end", b"."),
    ] {
        assert_eq!(next(&mut events), (channel.to_owned(), key.to_vec()));
    }
}

#[test]
fn nothing_is_sent_where_the_module_class_is_not_enabled() {
    // Every class but ours; and none.
    for classes in ["KEg$lshzxetm", ""] {
        let (server, mut con) = Server::start();
        con.raw(&[b"CONFIG", b"SET", b"notify-keyspace-events", classes.as_bytes()]).unwrap();
        let mut listening = server.connect();
        let mut events = subscriber(&mut listening, "__key*__:slidewin.*");
        assert_eq!([con.check("k 60 1"), con.check("k 60 1")], [1, 0]);
        con.call::<i64>("PUBLISH end .");
        assert_eq!(next(&mut events).0, "end", "{classes:?}");
    }
}

/// The recipe: three refusals within ten seconds, and an IP is banned for an hour.
fn ban_crawlers(mut con: Client, mut listening: Client) {
    let mut events = subscriber(&mut listening, REFUSED);
    loop {
        let (channel, key) = next(&mut events);
        let Some(ip) = key.strip_prefix(b"ip:").filter(|_| channel == REFUSED) else {
            // Our own refusals are events, too.
            if channel == "end" {
                return;
            }
            continue;
        };
        let ip = std::str::from_utf8(ip).unwrap();
        if con.check(&format!("refusals:{ip} 10 2")) == 0 {
            con.call::<()>(&format!("SET banned:{ip} 1 EX 3600"));
        }
    }
}

#[test]
fn a_subscriber_bans_a_crawler() {
    let (server, mut con) = Server::start();
    con.call::<()>("CONFIG SET notify-keyspace-events Ed");
    let (banning, listening) = (server.connect(), server.connect());
    let subscriber = std::thread::spawn(move || ban_crawlers(banning, listening));
    wait_until("somebody listens", || con.call::<BTreeMap<String, i64>>("PUBSUB NUMSUB end")["end"] == 1);

    let served = |con: &mut Client, ip: &str| {
        con.call::<i64>(&format!("EXISTS banned:{ip}")) == 0 && con.check(&format!("ip:{ip} 60 5")) == 1
    };
    // Two refusals are a hurry, three are a crawler.
    assert_eq!((0..7).filter(|_| served(&mut con, "192.0.2.1")).count(), 5);
    assert_eq!((0..8).filter(|_| served(&mut con, "192.0.2.7")).count(), 5);
    wait_until("the crawler is banned", || con.call::<i64>("EXISTS banned:192.0.2.7") == 1);
    assert!((3_590..=3_600).contains(&con.call::<i64>("TTL banned:192.0.2.7")));
    con.call::<i64>("PUBLISH end .");
    subscriber.join().unwrap();
    assert_eq!(con.call::<i64>("EXISTS banned:192.0.2.1"), 0, "all events are handled, and it is not banned");
    let refused = con.info("slidewin_checks_refused");
    assert!(!served(&mut con, "192.0.2.7"));
    assert_eq!(con.info("slidewin_checks_refused"), refused, "a banned caller is not even asked about");
}
