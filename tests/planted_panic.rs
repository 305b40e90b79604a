//! A bug in a command is one error reply and one line in the log; the server lives.

use crate::harness::{packed, Client, Server};
use redis::{ConnectionLike, Value};

const ERROR: &str = "ERR slidewin internal error, nothing was decided; the server log says more";

fn assert_works(con: &mut Client) {
    con.call::<i64>("DEL k");
    assert_eq!(con.check("k 60 1"), 1);
    assert_eq!(con.check("k 60 1"), 0);
}

#[test]
fn is_one_error_reply_and_one_log_line() {
    let server = Server::builder().debug_module().start();
    let mut con = server.connect();
    let lines = [
        "SLIDEWIN.CHECK slidewin:panic 60 5",
        "SLIDEWIN.PEEK slidewin:panic 60 5 WITHQUOTA",
        "SLIDEWIN.REFUND slidewin:panic 5",
        "SLIDEWIN.OFFENDERS slidewin:panic",
    ];
    let logged = || server.log_text().lines().filter(|line| line.contains("internal error")).count();
    for (nth, line) in (1..).zip(lines) {
        assert_eq!(con.error(line), ERROR, "{line}");
        assert_eq!(logged(), nth, "{line}: {}", server.log_text());
        assert_eq!(con.info("slidewin_internal_errors"), nth as i64);
        assert_works(&mut con);
    }

    con.call::<()>("MULTI");
    for line in ["SLIDEWIN.CHECK a 60 1", lines[0], "SLIDEWIN.CHECK b 60 1"] {
        con.call::<String>(line);
    }
    // An error inside is no error of the whole.
    let replies = con.0.req_packed_command(&packed("EXEC")).unwrap();
    let Value::Array(replies) = replies else { panic!("{replies:?}") };
    assert!(matches!(&replies[..], [Value::Int(1), Value::ServerError(_), Value::Int(1)]), "{replies:?}");
    let script: &[u8] = b"return redis.pcall('SLIDEWIN.CHECK', KEYS[1], 60, 5)";
    let error = con.raw(&[b"EVAL", script, b"1", b"slidewin:panic"]).unwrap_err();
    assert!(error.contains("internal error"), "{error}");
    assert_eq!(logged(), lines.len() + 2);
    assert_eq!(con.call::<i64>("EXISTS slidewin:panic"), 0);
    assert_works(&mut con);
    assert_eq!(con.info("process_id"), i64::from(server.pid()), "it is the same process");
}

#[test]
fn is_not_in_a_release_build() {
    let (_server, mut con) = Server::start();
    assert_eq!(con.check("slidewin:panic 60 5"), 1);
}
