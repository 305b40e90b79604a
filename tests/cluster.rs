//! A real cluster: three primaries, a replica each.

use crate::harness::{cli, is_valkey, packed, version, wait_for, wait_until, within_limit, Client, Server};
use redis::{ConnectionLike, Value};
use std::collections::HashSet;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::Mutex;
use std::time::{Duration, Instant};

struct Cluster(Vec<Server>);

impl Cluster {
    fn start() -> Self {
        let options = "--cluster-enabled yes --cluster-node-timeout 2000 --repl-diskless-sync no";
        let cluster = Cluster((0..6).map(|_| Server::builder().args(options).start()).collect());
        let mut create = Command::new(cli());
        create.args(["--cluster", "create"]);
        create.args(cluster.0.iter().map(|node| format!("127.0.0.1:{}", node.port())));
        let output = create.args(["--cluster-replicas", "1", "--cluster-yes"]).output().unwrap();
        assert!(output.status.success(), "{create:?}: {}", String::from_utf8_lossy(&output.stdout));
        for node in &cluster.0 {
            let mut con = node.connect();
            wait_until("the node sees a whole cluster", || {
                let info: String = con.call("CLUSTER INFO");
                let slots: Vec<Vec<Value>> = con.call("CLUSTER SLOTS");
                // From, to, a primary and its replica.
                info.contains("cluster_state:ok") && slots.iter().map(Vec::len).eq([4; 3])
            });
            if con.info_text("role") == "slave" {
                wait_until("the replica's link is up", || con.info_text("master_link_status") == "up");
            }
        }
        cluster
    }

    fn connect(&self, port: u16) -> Client {
        self.node(port).connect()
    }

    fn node(&self, port: u16) -> &Server {
        self.0.iter().find(|node| node.port() == port).unwrap()
    }

    fn primaries(&self) -> Vec<u16> {
        self.0
            .iter()
            .map(Server::port)
            .filter(|&port| self.connect(port).info_text("role") == "master")
            .collect()
    }

    /// The primary that has this slot, as `port` sees it, and its replica.
    fn owners(&self, port: u16, slot: i64) -> (u16, u16) {
        let slots: Vec<Value> = self.connect(port).call("CLUSTER SLOTS");
        for range in slots {
            let range: Vec<Value> = redis::from_redis_value(range).unwrap();
            let bound = |nth: usize| redis::from_redis_value_ref::<i64>(&range[nth]).unwrap();
            if (bound(0)..=bound(1)).contains(&slot) {
                let port = |nth: usize| {
                    let node: Vec<Value> = redis::from_redis_value_ref(&range[nth]).unwrap();
                    redis::from_redis_value_ref(&node[1]).unwrap()
                };
                return (port(2), range.get(3).map_or(0, |_| port(3)));
            }
        }
        panic!("nobody has slot {slot}");
    }

    fn id(&self, port: u16) -> String {
        self.connect(port).call("CLUSTER MYID")
    }
}

/// A caller that follows MOVED and ASK, as every cluster client does.
struct Caller<'a> {
    cluster: &'a Cluster,
    port: u16,
    con: Client,
    redirected: usize,
}

impl<'a> Caller<'a> {
    fn new(cluster: &'a Cluster) -> Self {
        let port = cluster.0[0].port();
        Caller { cluster, port, con: cluster.connect(port), redirected: 0 }
    }

    fn call(&mut self, line: &str) -> i64 {
        let deadline = Instant::now() + Duration::from_secs(20);
        let mut asked: Option<Client> = None;
        loop {
            let con = asked.as_mut().unwrap_or(&mut self.con);
            let reply = con.0.req_packed_command(&packed(line)).and_then(Value::extract_error);
            asked = None;
            let error = match reply {
                Ok(reply) => return redis::from_redis_value(reply).unwrap(),
                Err(error) => error,
            };
            assert!(Instant::now() < deadline, "{line}: {error}");
            match (error.code(), error.redirect_node()) {
                (Some("MOVED"), Some((address, _))) => {
                    self.redirected += 1;
                    self.port = port_of(address);
                    self.con = self.cluster.connect(self.port);
                }
                (Some("ASK"), Some((address, _))) => {
                    self.redirected += 1;
                    let mut con = self.cluster.connect(port_of(address));
                    con.call::<()>("ASKING");
                    asked = Some(con);
                }
                (Some("TRYAGAIN" | "CLUSTERDOWN"), _) => std::thread::sleep(Duration::from_millis(5)),
                _ => panic!("{line}: {error}"),
            }
        }
    }
}

fn port_of(address: &str) -> u16 {
    address.rsplit_once(':').unwrap().1.parse().unwrap()
}

/// Eight callers use `key` all the time while `meanwhile` runs: the receipts of what was admitted.
fn under_load(cluster: &Cluster, call: &str, meanwhile: impl FnOnce(&dyn Fn() -> usize)) -> Vec<i64> {
    let (receipts, is_over) = (Mutex::new(Vec::new()), AtomicBool::new(false));
    let redirected: usize = std::thread::scope(|scope| {
        let callers: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    let mut caller = Caller::new(cluster);
                    while !is_over.load(Relaxed) {
                        let receipt = caller.call(&format!("SLIDEWIN.CHECK {call} RECEIPT"));
                        if receipt > 0 {
                            receipts.lock().unwrap().push(receipt);
                        }
                        std::thread::sleep(Duration::from_millis(1));
                    }
                    caller.redirected
                })
            })
            .collect();
        let admitted = || receipts.lock().unwrap().len();
        // What goes wrong in there must end the callers, too.
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| meanwhile(&admitted)));
        is_over.store(true, Relaxed);
        let redirected = callers.into_iter().map(|caller| caller.join().unwrap()).sum();
        result.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        redirected
    });
    assert!(redirected > 0, "nobody was redirected");
    receipts.into_inner().unwrap()
}

fn sorted(mut receipts: Vec<i64>) -> Vec<i64> {
    receipts.sort_unstable();
    receipts
}

#[test]
fn routing_and_hash_tags() {
    let cluster = Cluster::start();
    let ports = cluster.primaries();
    let mut con = cluster.connect(ports[0]);
    for line in [
        "SLIDEWIN.CHECK key 60 5 1h 100 COST 2 RECEIPT",
        "SLIDEWIN.PEEK key 60 5 1h 100 WITHQUOTA",
        "SLIDEWIN.REFUND key 1 COST 2",
    ] {
        assert_eq!(con.call::<Vec<String>>(&format!("COMMAND GETKEYS {line}")), ["key"], "{line}");
    }

    let mut served = HashSet::new();
    for nth in 0..200 {
        let key = format!("ip:{nth}");
        let slot: i64 = con.call(&format!("CLUSTER KEYSLOT {key}"));
        let (owner, replica) = cluster.owners(ports[0], slot);
        served.insert(owner);
        for &port in &ports {
            let mut con = cluster.connect(port);
            let moved = format!("MOVED {slot} 127.0.0.1:{owner}");
            for command in ["CHECK", "PEEK"] {
                let line = format!("SLIDEWIN.{command} {key} 60 1");
                if port == owner {
                    assert_eq!(con.call::<i64>(&line), i64::from(command == "CHECK"), "{line}");
                } else {
                    assert_eq!(con.error(&line), moved, "{line}");
                }
            }
            if port != owner {
                assert_eq!(con.error(&format!("SLIDEWIN.REFUND {key} 5")), moved);
            }
        }
        if nth % 20 == 0 {
            let mut con = cluster.connect(replica);
            assert!(con.error(&format!("SLIDEWIN.PEEK {key} 60 1")).starts_with("MOVED"));
            con.call::<()>("READONLY");
            wait_until("the replica has the admission", || {
                con.call::<i64>(&format!("SLIDEWIN.PEEK {key} 60 1")) == 0
            });
            assert!(con.error(&format!("SLIDEWIN.CHECK {key} 60 1")).starts_with("MOVED"));
        }
    }
    assert_eq!(served.len(), 3, "every primary has some of the keys");

    // Keys of one hash tag: one slot, hence one transaction and one script.
    let (api, login) = ("{user:42}:api", "{user:42}:login");
    let slot: i64 = con.call("CLUSTER KEYSLOT user:42");
    for key in [api, login] {
        assert_eq!(con.call::<i64>(&format!("CLUSTER KEYSLOT {key}")), slot);
    }
    let mut con = cluster.connect(cluster.owners(ports[0], slot).0);
    con.call::<()>("MULTI");
    for key in [api, login, api] {
        con.call::<String>(&format!("SLIDEWIN.CHECK {key} 60 1"));
    }
    assert_eq!(con.call::<Vec<i64>>("EXEC"), [1, 1, 0]);
    let script: &[u8] =
        b"return redis.call('SLIDEWIN.CHECK', KEYS[1], 60, 2) + redis.call('SLIDEWIN.CHECK', KEYS[2], 60, 1)";
    let [api, login] = [api, login].map(str::as_bytes);
    assert_eq!(con.raw(&[b"EVAL", script, b"2", api, login]), Ok(Value::Int(1)));
}

#[test]
fn a_slot_that_moves_under_load_takes_its_counts_along() {
    let cluster = Cluster::start();
    let mut ports = cluster.primaries();
    let slot: i64 = cluster.connect(ports[0]).call("CLUSTER KEYSLOT k");
    let owner = cluster.owners(ports[0], slot).0;
    // To each of the others, and back.
    ports.retain(|&port| port != owner);
    ports.push(owner);
    // The second window keeps every entry until the end.
    let receipts = under_load(&cluster, "k 500ms 60 1h 1000000", |admitted| {
        let mut from = owner;
        for &to in &ports {
            let before = admitted();
            wait_until("some are admitted before the move", || admitted() > before + 80);
            let (mut source, mut target) = (cluster.connect(from), cluster.connect(to));
            target.call::<()>(&format!("CLUSTER SETSLOT {slot} IMPORTING {}", cluster.id(from)));
            source.call::<()>(&format!("CLUSTER SETSLOT {slot} MIGRATING {}", cluster.id(to)));
            std::thread::sleep(Duration::from_millis(50));
            assert_eq!(source.call::<String>(&format!("MIGRATE 127.0.0.1 {to} k 0 5000")), "OK");
            std::thread::sleep(Duration::from_millis(50)); // the callers are asked to ask
            for con in [&mut target, &mut source] {
                con.call::<()>(&format!("CLUSTER SETSLOT {slot} NODE {}", cluster.id(to)));
            }
            from = to;
        }
        let before = admitted();
        wait_until("some are admitted after the moves", || admitted() > before + 80);
    });
    within_limit(receipts.clone(), 500_000, 60);
    let mut con = cluster.connect(owner);
    let units = receipts.len() as i64;
    assert_eq!(con.times_us("k"), sorted(receipts));
    assert_eq!(con.peek("k 1h 1000000")[2], 1_000_000 - units);
    let pttl: i64 = con.call("PTTL k");
    assert!((3_590_000..=4_050_002).contains(&pttl), "{pttl}");
}

#[test]
fn a_failover_in_mid_window() {
    let mut cluster = Cluster::start();
    let ports = cluster.primaries();
    let slot: i64 = cluster.connect(ports[0]).call("CLUSTER KEYSLOT k");
    let (primary, replica) = cluster.owners(ports[0], slot);

    // An operator's failover loses nothing: exact, also under load.
    let receipts = under_load(&cluster, "k 500ms 60 1h 1000000", |admitted| {
        wait_until("some are admitted before", || admitted() > 80);
        cluster.connect(replica).call::<()>("CLUSTER FAILOVER");
        let mut con = cluster.connect(replica);
        wait_until("the replica has taken over", || con.info_text("role") == "master");
        let before = admitted();
        wait_until("some are admitted afterwards", || admitted() > before + 80);
    });
    within_limit(receipts.clone(), 500_000, 60);
    assert_eq!(cluster.connect(replica).times_us("k"), sorted(receipts));

    // A primary that dies: what was waited for counts.
    let mut con = cluster.connect(replica);
    let mut other = cluster.connect(primary);
    wait_until("the former primary follows", || {
        other.info_text("role") == "slave" && other.info_text("master_link_status") == "up"
    });
    for _ in 0..4 {
        assert_eq!(con.check("{k}full 1h 4"), 1);
        assert_eq!(con.check("{k}half 1h 8"), 1);
    }
    assert_eq!(con.call::<i64>("WAIT 1 20000"), 1);
    cluster.0.iter_mut().find(|node| node.port() == replica).unwrap().kill();
    let started = Instant::now();
    wait_for("the other one has taken over", || (other.info_text("role") == "master").then_some(()));
    eprintln!("failover after {} ms", started.elapsed().as_millis());
    wait_until("the cluster is whole", || other.call::<String>("CLUSTER INFO").contains("cluster_state:ok"));
    assert_eq!(other.check("{k}full 1h 4"), 0);
    assert_eq!(other.quota("{k}half 1h 8")[..3], [1, 8, 3]);
    let mut survivors = cluster.0.iter().filter(|node| node.port() != replica);
    let mut asked = survivors.find(|node| node.port() != primary).unwrap().connect();
    wait_until("the others know", || {
        asked.error("SLIDEWIN.PEEK {k}full 1h 4").ends_with(&format!(":{primary}"))
    });
}

/// Valkey 9 moves a slot as a stream of commands. Older servers, and Redis up to 8.2, cannot.
#[test]
fn a_slot_moved_as_a_stream() {
    if !is_valkey() || version() < (9, 0, 0) {
        println!("not run: {:?} has no CLUSTER MIGRATESLOTS, which is of Valkey 9.0", version());
        return;
    }
    let cluster = Cluster::start();
    let ports = cluster.primaries();
    let slot: i64 = cluster.connect(ports[0]).call("CLUSTER KEYSLOT k");
    let owner = cluster.owners(ports[0], slot).0;
    let to = *ports.iter().find(|&&port| port != owner).unwrap();
    let receipts = under_load(&cluster, "k 500ms 60 1h 1000000", |admitted| {
        wait_until("some are admitted before the move", || admitted() > 80);
        let id = cluster.id(to);
        cluster
            .connect(owner)
            .call::<()>(&format!("CLUSTER MIGRATESLOTS SLOTSRANGE {slot} {slot} NODE {id}"));
        wait_until("the slot has moved", || cluster.owners(to, slot).0 == to);
        let before = admitted();
        wait_until("some are admitted after the move", || admitted() > before + 80);
    });
    within_limit(receipts.clone(), 500_000, 60);
    assert_eq!(cluster.connect(to).times_us("k"), sorted(receipts));
}
