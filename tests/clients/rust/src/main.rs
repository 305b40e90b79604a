//! Rust's redis crate. Run by test_programs.py.

mod table;

use redis::cluster::{ClusterClient, ClusterConnection};
use redis::{Connection, ConnectionLike, ErrorKind, ProtocolVersion, RedisError, RedisResult, Value};

type Replies = Vec<RedisResult<Value>>;

// snippet:start
fn check(con: &mut redis::Connection, user: &str) -> redis::RedisResult<(i64, i64, i64, i64, i64)> {
    // (admitted, limit, remaining, retry_after_ms, reset_after_ms)
    redis::cmd("SLIDEWIN.CHECK").arg(user).arg("1m").arg(100).arg("WITHQUOTA").query(con)
}
// snippet:end

/// As redis://127.0.0.1:6379.
fn url() -> String {
    std::env::var("REDIS_URL").expect("REDIS_URL")
}

/// The nodes of the cluster, likewise.
fn nodes() -> Vec<String> {
    let addresses = std::env::var("REDIS_CLUSTER").expect("REDIS_CLUSTER");
    addresses.split(',').map(|address| format!("redis://{address}")).collect()
}

#[test]
fn the_snippet() {
    let answer = check(&mut connect(&url(), 2).unwrap(), "user:42").unwrap();
    let (admitted, limit, remaining, retry_after_ms, reset_after_ms) = answer;
    assert_eq!((admitted, limit, remaining, retry_after_ms), (1, 100, 99, 0));
    assert!(reset_after_ms > 50_000, "{reset_after_ms}");
}

#[test]
fn raw() {
    for resp in [2, 3] {
        let mut one = connect(&url(), resp).unwrap();
        table::test_all(&format!("RESP{resp} raw"), |commands| one_by_one(&mut one, commands));
    }
}

#[test]
fn pipeline() {
    for resp in [2, 3] {
        let mut one = connect(&url(), resp).unwrap();
        table::test_all(&format!("RESP{resp} pipeline"), |commands| {
            together(&mut one, redis::pipe(), commands)
        });
    }
}

#[test]
fn transaction() {
    for resp in [2, 3] {
        let mut one = connect(&url(), resp).unwrap();
        table::test_all(&format!("RESP{resp} transaction"), |commands| {
            together(&mut one, redis::pipe().atomic().clone(), commands)
        });
    }
}

/// The blocking cluster connection of this crate has no transactions.
#[test]
fn cluster() {
    for (resp, protocol) in [(2, ProtocolVersion::RESP2), (3, ProtocolVersion::RESP3)] {
        let client = ClusterClient::builder(nodes()).use_protocol(protocol).build().unwrap();
        let mut cluster = client.get_connection().unwrap();
        let before = moved(&nodes()).unwrap();
        table::test_all(&format!("RESP{resp} cluster raw"), |commands| one_by_one(&mut cluster, commands));
        table::test_all_errors_alone(&format!("RESP{resp} cluster pipeline"), |commands| {
            cluster_pipeline(&mut cluster, commands)
        });
        assert_eq!(moved(&nodes()).unwrap(), before, "the client does not go straight to the right node");
    }
}

fn connect(url: &str, resp: u8) -> RedisResult<Connection> {
    redis::Client::open(format!("{url}/?protocol=resp{resp}"))?.get_connection()
}

fn command(words: &[String]) -> redis::Cmd {
    let mut command = redis::Cmd::new();
    command.arg(words);
    command
}

fn one_by_one(con: &mut impl ConnectionLike, commands: &[Vec<String>]) -> Replies {
    commands.iter().map(|words| command(words).query(con)).collect()
}

/// As a pipeline, or as a transaction where it is `atomic`.
fn together(
    con: &mut impl ConnectionLike,
    mut pipeline: redis::Pipeline,
    commands: &[Vec<String>],
) -> Replies {
    for words in commands {
        pipeline.add_command(command(words));
    }
    pipeline.ignore_errors().query(con).unwrap_or_else(|error| vec![Err(error)])
}

/// A cluster's pipeline answers the first error in place of the replies, so those that follow it are not seen.
fn cluster_pipeline(cluster: &mut ClusterConnection, commands: &[Vec<String>]) -> Replies {
    let mut pipeline = redis::cluster::cluster_pipe();
    for words in commands {
        pipeline.cmd(&words[0]).arg(&words[1..]);
    }
    match pipeline.query::<Vec<Value>>(cluster) {
        Ok(replies) => replies.into_iter().map(Ok).collect(),
        Err(error) => vec![Err(error)],
    }
}

/// How many times the nodes of a cluster have sent a client elsewhere.
fn moved(nodes: &[String]) -> RedisResult<u64> {
    let mut count = 0;
    for node in nodes {
        let info: String = redis::cmd("INFO").arg("errorstats").query(&mut connect(node, 2)?)?;
        let line = info.lines().find_map(|line| line.strip_prefix("errorstat_MOVED:count="));
        count += line.map_or(Ok(0), str::parse).map_err(|_| RedisError::from((ErrorKind::Parse, "INFO")))?;
    }
    Ok(count)
}
