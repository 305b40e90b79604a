//! Replies that are lost: a proxy drops each fifth one, after the server has done the call, and the clients send again.

use crate::harness::{packed, Client, Server};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

const CLIENTS: usize = 4;
const CALLS: usize = 10_000;

/// Passes calls on to the server, and all replies but each fifth back. Where it drops one it hangs up.
fn pass_on(from_client: TcpStream, port: u16, replies: &AtomicUsize) {
    let mut to_client = from_client.try_clone().unwrap();
    let mut to_server = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let mut from_server = BufReader::new(to_server.try_clone().unwrap());
    let mut from_client = BufReader::new(from_client);
    loop {
        let call = from_client.fill_buf().unwrap().to_vec();
        from_client.consume(call.len());
        if call.is_empty() {
            return;
        }
        to_server.write_all(&call).unwrap();
        let mut reply = Vec::new();
        // Each is an integer.
        from_server.read_until(b'\n', &mut reply).unwrap();
        if replies.fetch_add(1, Relaxed) % 5 == 4 {
            return;
        }
        to_client.write_all(&reply).unwrap();
    }
}

/// Makes each call until it has a reply, which must be 1.
fn make_calls(proxy: u16, calls: impl Iterator<Item = String>) {
    let connect = || {
        let stream = TcpStream::connect(("127.0.0.1", proxy)).unwrap();
        BufReader::new(stream)
    };
    let mut connection = connect();
    for line in calls {
        let call = packed(&line);
        loop {
            let mut reply = String::new();
            // A reply that is dropped is the end of the connection.
            let sent = connection.get_mut().write_all(&call);
            if sent.is_ok() && connection.read_line(&mut reply).is_ok() && !reply.is_empty() {
                assert_eq!(reply, ":1\r\n", "{line}");
                break;
            }
            connection = connect();
        }
    }
}

/// The units that so many calls take, and how many replies were dropped.
fn units_taken(server: &Server, con: &mut Client, call: fn(usize) -> String) -> (i64, usize) {
    con.call::<()>("FLUSHALL");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let proxy = listener.local_addr().unwrap().port();
    let replies = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let replies = &replies;
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| scope.spawn(move || make_calls(proxy, (client..CALLS).step_by(CLIENTS).map(call))))
            .collect();
        scope.spawn(move || {
            for stream in listener.incoming() {
                let stream = stream.unwrap();
                let port = server.port();
                if stream.peek(&mut [0]).unwrap() == 0 {
                    return; // who connects and says nothing ends it
                }
                scope.spawn(move || pass_on(stream, port, replies));
            }
        });
        let ended: Vec<_> = clients.into_iter().map(|client| client.join()).collect();
        drop(TcpStream::connect(("127.0.0.1", proxy)).unwrap());
        assert!(ended.iter().all(Result::is_ok));
    });
    let replies = replies.into_inner();
    (1_000_000 - con.peek("k 1h 1000000")[2], replies - CALLS)
}

#[test]
fn calls_with_an_id_are_charged_once() {
    let (server, mut con) = Server::start();
    let with_id = |nth| format!("SLIDEWIN.CHECK k 1h 1000000 ID {nth}");
    assert_eq!(units_taken(&server, &mut con, with_id), (10_000, 2_499));
    assert_eq!(con.info("slidewin_repeats"), 2_499);
    let several = |nth| format!("SLIDEWIN.MCHECK 2 k 1h 1000000 other 1h 1000000 ID {nth}");
    assert_eq!(units_taken(&server, &mut con, several), (10_000, 2_499));
    assert_eq!(con.peek("other 1h 1000000")[2], 990_000);
    // Without an ID a quarter more is taken.
    let plain = |_| "SLIDEWIN.CHECK k 1h 1000000".to_owned();
    assert_eq!(units_taken(&server, &mut con, plain), (12_499, 2_499));
}
