//! A server process.

use super::{artifacts, packed, wait_until, Client, Clock};
use redis::ConnectionLike;
use std::ffi::OsString;
use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, OnceLock};
use tempfile::TempDir;

/// How a server is started.
#[derive(Clone)]
pub struct Builder {
    args: Vec<OsString>,
    clock: Option<OsString>,
    module: Option<fn() -> &'static Path>,
    variables: Vec<&'static str>,
}

impl Builder {
    /// One more argument as it is, be it empty.
    pub fn arg(mut self, arg: &str) -> Self {
        self.args.push(arg.into());
        self
    }

    /// More arguments of the server, words between blanks. A later one wins.
    pub fn args(mut self, line: &str) -> Self {
        self.args.extend(line.split_ascii_whitespace().map(OsString::from));
        self
    }

    /// Lives by this clock.
    pub fn clock(mut self, clock: &Clock) -> Self {
        self.clock = Some(clock.path().into());
        self
    }

    /// Does not load the module.
    pub fn without_module(mut self) -> Self {
        self.module = None;
        self
    }

    /// Loads a debug build of the module.
    pub fn debug_module(mut self) -> Self {
        self.module = Some(artifacts::debug_module);
        self
    }

    /// Loads a build of the module that bundles at every chance.
    pub fn tiny_bundles(mut self) -> Self {
        self.module = Some(artifacts::tiny_bundles_module);
        self
    }

    /// Loads one more module behind that one, perhaps with arguments.
    pub fn also_load(self, module: &Path, arguments: &str) -> Self {
        self.arg("--loadmodule").arg(module.to_str().unwrap()).args(arguments)
    }

    /// Sets this variable of the environment.
    pub fn variable(mut self, name: &'static str) -> Self {
        self.variables.push(name);
        self
    }

    /// Starts what is not to start: what it logged until it ended.
    pub fn start_in_vain(self) -> String {
        let dir = TempDir::new().unwrap();
        let port = free_port();
        let mut process = self.spawn(dir.path(), port);
        let is_up = is_up(&mut process, port);
        let _ = process.kill();
        process.wait().unwrap();
        assert!(!is_up, "it has started:\n{}", log_tail(dir.path()));
        log_of(dir.path())
    }

    /// Starts it, and answers when it can be used.
    pub fn start(self) -> Server {
        self.start_in(Arc::new(TempDir::new().unwrap()))
    }

    /// As [`Builder::start`], and answers when it has the data of `primary`.
    pub fn start_replica_of(self, primary: &Server) -> Server {
        let replica = self.args(&format!("--replicaof 127.0.0.1 {}", primary.port)).start();
        let mut client = replica.connect();
        wait_until("the replica's link is up", || client.info_text("master_link_status") == "up");
        replica
    }

    fn start_in(self, dir: Arc<TempDir>) -> Server {
        // Between the choice of a port and its use another process may take it.
        for _ in 0..5 {
            let port = free_port();
            let mut process = self.spawn(dir.path(), port);
            if is_up(&mut process, port) {
                return Server { builder: self, process, port, dir };
            }
            if !log_of(dir.path()).contains("already in use") {
                break;
            }
        }
        panic!("{} does not start:\n{}", artifacts::server().display(), log_tail(dir.path()));
    }

    fn spawn(&self, dir: &Path, port: u16) -> Child {
        let log = File::create(dir.join("log")).unwrap();
        let mut command = Command::new(artifacts::server());
        command.args([
            "--bind",
            "127.0.0.1",
            "--port",
            &port.to_string(),
            "--save",
            "",
            "--appendonly",
            "no",
        ]);
        command.args(["--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0", "--dir"]).arg(dir);
        if version() >= (7, 0, 0) {
            command.args(["--enable-debug-command", "yes"]);
        }
        if let Some(module) = self.module {
            command.arg("--loadmodule").arg(module());
        }
        if let Some(clock) = &self.clock {
            command.env("SLIDEWIN_CLOCK", clock).env("LD_PRELOAD", artifacts::preload());
        }
        command.envs(self.variables.iter().map(|name| (name, "1")));
        command.args(&self.args).stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        command.spawn().unwrap_or_else(|error| {
            let server = artifacts::server();
            panic!("no server at {}: {error}. Set REDIS_SERVER, see scripts/servers.sh", server.display())
        })
    }
}

/// A running server; killed on drop.
pub struct Server {
    builder: Builder,
    process: Child,
    port: u16,
    dir: Arc<TempDir>,
}

impl Server {
    /// A server with the module, on the real clock, without persistence.
    pub fn builder() -> Builder {
        Builder { args: Vec::new(), clock: None, module: Some(artifacts::module), variables: Vec::new() }
    }

    /// A server as [`Server::builder`] has it, and a connection to it.
    pub fn start() -> (Self, Client) {
        let server = Self::builder().start();
        let client = server.connect();
        (server, client)
    }

    /// A server on a frozen clock, a connection to it, and the clock.
    pub fn frozen() -> (Self, Client, Clock) {
        let clock = Clock::frozen();
        let server = Self::builder().clock(&clock).start();
        let client = server.connect();
        (server, client, clock)
    }

    /// A new connection.
    pub fn connect(&self) -> Client {
        self.connect_by("")
    }

    /// A new connection that speaks RESP3.
    pub fn connect_resp3(&self) -> Client {
        self.connect_by("?protocol=resp3")
    }

    fn connect_by(&self, protocol: &str) -> Client {
        Client(
            connection(self.port, protocol).unwrap_or_else(|error| panic!("{error}:\n{}", self.log_tail())),
        )
    }

    /// Its directory.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// What it has logged since it was started.
    pub fn log_text(&self) -> String {
        log_of(self.dir.path())
    }

    /// Shuts it down as an operator does, without saving: how it ended.
    pub fn stop(&mut self) -> ExitStatus {
        // The server's answer is that it hangs up.
        let _ = self.connect().0.req_packed_command(&packed("SHUTDOWN NOSAVE"));
        self.process.wait().unwrap()
    }

    /// Kills it without a warning, from where the caller is.
    pub fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Starts a server that has ended in the same directory with another `change`d set-up.
    pub fn start_again(self, change: impl FnOnce(Builder) -> Builder) -> Self {
        change(self.builder.clone()).start_in(self.dir.clone())
    }

    /// Shuts it down as an operator does and starts it in the same directory with another `change`d set-up.
    pub fn restart(mut self, change: impl FnOnce(Builder) -> Builder) -> Self {
        self.stop();
        self.start_again(change)
    }

    fn log_tail(&self) -> String {
        log_tail(self.dir.path())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if std::thread::panicking() && self.process.try_wait().is_ok_and(|status| status.is_some()) {
            eprintln!("the server has died:\n{}", self.log_tail());
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Major, minor and patch of the server under test. Valkey counts on from Redis 7.2.
pub fn version() -> (u32, u32, u32) {
    let text = version_text();
    let numbers = text.split(" v=").nth(1).and_then(|rest| rest.split(' ').next());
    let mut numbers = numbers.unwrap_or_else(|| panic!("no version in {text:?}")).split('.');
    let mut next = || numbers.next().and_then(|number| number.parse().ok()).unwrap_or(0);
    (next(), next(), next())
}

/// Whether the server under test is Valkey, not Redis.
pub fn is_valkey() -> bool {
    version_text().starts_with("Valkey ")
}

fn version_text() -> &'static str {
    static VERSION: OnceLock<String> = OnceLock::new();
    VERSION.get_or_init(|| {
        let server = artifacts::server();
        let output = Command::new(&server).arg("--version").output();
        let output = output.unwrap_or_else(|error| {
            panic!("no server at {}: {error}. Set REDIS_SERVER, see scripts/servers.sh", server.display())
        });
        String::from_utf8_lossy(&output.stdout).into_owned()
    })
}

/// Free, and so is the one 10,000 higher, where a node of a cluster listens for its like.
fn free_port() -> u16 {
    let is_free = |port| std::net::TcpListener::bind(("127.0.0.1", port)).is_ok();
    loop {
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        if port.checked_add(10_000).is_some_and(is_free) {
            return port;
        }
    }
}

fn connection(port: u16, protocol: &str) -> redis::RedisResult<redis::Connection> {
    redis::Client::open(format!("redis://127.0.0.1:{port}/{protocol}"))?.get_connection()
}

/// Waits for this process, and no other on that port, to answer. False: it has ended.
fn is_up(process: &mut Child, port: u16) -> bool {
    let mut is_up = false;
    wait_until("the server answers", || {
        let server =
            connection(port, "").and_then(|mut con| redis::cmd("INFO").arg("server").query(&mut con));
        let loaded = connection(port, "").and_then(|mut con| redis::cmd("DBSIZE").query::<i64>(&mut con));
        let ours = format!("process_id:{}\r", process.id());
        is_up = loaded.is_ok() && server.is_ok_and(|info: String| info.contains(&ours));
        is_up || process.try_wait().unwrap().is_some()
    });
    is_up
}

fn log_of(dir: &Path) -> String {
    let bytes = std::fs::read(dir.join("log")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn log_tail(dir: &Path) -> String {
    let log = log_of(dir);
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(30)..].join("\n")
}
