//! What is on disk are ordinary commands and sorted sets: they load without the module.

use crate::harness::{Client, Clock, Server};
use crate::replication::everything;
use redis::Value;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;

/// The names of the commands in the AOF.
pub fn commands_of_aof(dir: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for entry in std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            names.append(&mut commands_of_aof(&entry));
        } else if entry.extension().is_some_and(|extension| extension == "aof") {
            let (mut file, mut parser) = (File::open(&entry).unwrap(), redis::Parser::new());
            loop {
                let command: Vec<Value> = match parser.parse_value(&mut file) {
                    Ok(command) => redis::from_redis_value(command).unwrap(),
                    Err(error) if error.is_io_error() => break, // the end of the file
                    Err(error) => panic!("{}: {error}", entry.display()),
                };
                names.insert(redis::from_redis_value_ref::<String>(&command[0]).unwrap().to_uppercase());
            }
        }
    }
    names
}

type Contents = Vec<(String, Vec<(String, i64)>, i64)>;

fn contents(con: &mut Client) -> Contents {
    let mut keys: Vec<String> = con.call("KEYS *");
    keys.sort();
    keys.into_iter()
        .map(|key| {
            let (log, pttl) = (con.log(&key), con.call(&format!("PTTL {key}")));
            (key, log, pttl)
        })
        .collect()
}

#[test]
fn the_aof_holds_plain_commands_only_and_loads_without_the_module() {
    let clock = Clock::frozen();
    let options = "--appendonly yes --appendfsync always --aof-use-rdb-preamble no";
    let server = Server::builder().clock(&clock).args(options).start();
    let mut con = server.connect();
    everything(&mut con, &clock);
    let before = contents(&mut con);
    let quotas = |con: &mut Client| ["log 10 1000", "two 1 5 8 20", "full 60 3"].map(|line| con.peek(line));
    let quotas_before = quotas(&mut con);
    assert!(before.len() >= 5 && before.iter().all(|(.., pttl)| *pttl > 0), "{before:?}");

    let commands = commands_of_aof(server.dir());
    let written = ["PEXPIREAT", "UNLINK", "ZADD", "ZREM", "ZREMRANGEBYRANK", "ZREMRANGEBYSCORE"];
    let others = ["SELECT", "MULTI", "EXEC", "DEL"];
    for name in &commands {
        assert!(written.contains(&name.as_str()) || others.contains(&name.as_str()), "{name} in the AOF");
    }
    for name in written {
        assert!(commands.contains(name), "this test was to make the module write {name}: {commands:?}");
    }

    let server = server.restart(|builder| builder.without_module());
    let mut con = server.connect();
    assert!(con.error("SLIDEWIN.PEEK log 10 1000").starts_with("ERR unknown command"));
    assert_eq!(contents(&mut con), before);

    let server = server.restart(|_| Server::builder().clock(&clock).args(options));
    let mut con = server.connect();
    assert_eq!(contents(&mut con), before);
    assert_eq!(quotas(&mut con), quotas_before);
}

#[test]
fn an_rdb_file_loads_without_the_module() {
    let clock = Clock::frozen();
    let server = Server::builder().clock(&clock).start();
    let mut con = server.connect();
    everything(&mut con, &clock);
    let before = contents(&mut con);
    con.call::<()>("SAVE");
    let server = server.restart(|builder| builder.without_module());
    assert_eq!(contents(&mut server.connect()), before);
}

#[test]
fn a_rewritten_aof_loads_too() {
    let clock = Clock::frozen();
    let server = Server::builder().clock(&clock).args("--appendonly yes --aof-use-rdb-preamble no").start();
    let mut con = server.connect();
    everything(&mut con, &clock);
    let before = contents(&mut con);
    con.call::<()>("BGREWRITEAOF");
    crate::harness::wait_until("the AOF is rewritten", || {
        con.info("aof_rewrite_in_progress") + con.info("aof_rewrite_scheduled") == 0
    });
    assert_eq!(con.info_text("aof_last_bgrewrite_status"), "ok");
    let server = server.restart(|builder| builder.without_module());
    assert_eq!(contents(&mut server.connect()), before);
}
