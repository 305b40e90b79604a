//! Random argument vectors over a raw socket, on hostile contents: an answer to each, and the server lives.

use crate::harness::{sized, Server};
use rand::{rngs::SmallRng, RngExt, SeedableRng};
use redis::Value;
use std::io::{BufReader, Write};
use std::net::TcpStream;

const BATCH: usize = 100;
const COMMANDS: &[&str] = &[
    "SLIDEWIN.CHECK",
    "SLIDEWIN.CHECK",
    "slidewin.check",
    "SLIDEWIN.MCHECK",
    "SLIDEWIN.PEEK",
    "SLIDEWIN.RESERVE",
    "SLIDEWIN.REFUND",
    "SLIDEWIN.LOG",
    "SLIDEWIN.OFFENDERS",
];
const KEYS: &[&str] =
    &["log", "log", "log", "foreign", "foreign", "string", "list", "hash", "set", "stream", "missing"];
const WORDS: &[&str] = &[
    "60",
    "1",
    "1ms",
    "24h",
    "0.5",
    "3650d",
    "5",
    "100000",
    "0",
    "9007199254740991",
    "9007199254740992",
    "18446744073709551616",
    "COST",
    "COST",
    "cost",
    "RESOLUTION",
    "FORCE",
    "Force",
    "RECEIPT",
    "WITHQUOTA",
    "WITHQUOTA",
    "COUNT",
    "RESET",
    "-1",
    "+5",
    "05",
    "nan",
    "inf",
    "1e308",
    "-0",
    "0x10",
    "1.0000001",
    " 1",
    "1 ",
    "\u{221e}",
    "%s%n",
    "*3\r\n$3\r\nDEL\r\n",
    "60\0",
];
const MEMBERS: &[&str] = &[
    "5",
    "6:2",
    "7~3",
    "0",
    "18446744073709551615",
    "18446744073709551615:18446744073709551615",
    "0~18446744073709551615",
    "9223372036854775808:2",
    "9:4;o0aa0o",
    "18446744073709551615:2;oooooooooo",
    "70:3;0100",
    "70:64;00",
    "foreign",
    "",
    "01",
    "1:1",
    "1:0",
    "-1",
    "1:2:3",
    "\u{1f600}",
];
const SCORES: &[&str] =
    &["0", "-1", "1.5", "inf", "-inf", "1e300", "9007199254740993", "-9223372036854775809"];

/// A caller with a socket and nothing else.
struct Socket {
    stream: BufReader<TcpStream>,
    parser: redis::Parser,
    random: SmallRng,
}

impl Socket {
    fn one_of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.random.random_range(0..words.len())]
    }

    fn bytes(&mut self, most: usize) -> Vec<u8> {
        (0..self.random.random_range(0..=most)).map(|_| self.random.random()).collect()
    }

    fn word(&mut self) -> Vec<u8> {
        match self.random.random_range(0..20) {
            0 => self.bytes(30),
            1 => self.random.random::<i64>().to_string().into_bytes(),
            2 => {
                format!("{}{}", self.random.random_range(0..100_000), self.one_of(&["", "ms", "s", "d", "x"]))
                    .into_bytes()
            }
            3 => vec![self.random.random_range(b'0'..=b'z'); self.random.random_range(0..3_000)],
            _ => self.one_of(WORDS).into(),
        }
    }

    /// A command line that is right, or was before one or two of its words were replaced, or none at all.
    fn vector(&mut self) -> Vec<Vec<u8>> {
        let command = self.one_of(COMMANDS);
        let key = if self.random.random_ratio(1, 20) { self.bytes(40) } else { self.one_of(KEYS).into() };
        let mut vector = vec![command.into(), key];
        if command.ends_with("OFFENDERS") {
            vector.pop();
        } else if command.ends_with("MCHECK") {
            vector.insert(1, b"2".into());
        }
        if self.random.random_ratio(1, 5) {
            vector.extend((0..self.random.random_range(0..8)).map(|_| self.word()));
            return vector;
        }
        let right = match command {
            "SLIDEWIN.MCHECK" => self.one_of(&[
                "60 5 log 1 3",
                "1 9 log 60 9007199254740991 COST 9007199254740991 FORCE WITHQUOTA",
                "60 5 foreign 3650d 100000 ID a WITHQUOTA",
                "60 5 string 1 3 ID a",
            ]),
            "SLIDEWIN.REFUND" => {
                self.one_of(&["1700000000000000", "5", "5 COST 1", "9007199254740991 cost 9"])
            }
            "SLIDEWIN.RESERVE" => self.one_of(&[
                "60 60 5",
                "0 60 5 1 3 COST 2 ID a",
                "3650d 3650d 100000 1ms 7",
                "1h 1h 9007199254740991 id b cost 9007199254740991",
            ]),
            "SLIDEWIN.LOG" => self.one_of(&["", "COUNT 5", "count 1000"]),
            "SLIDEWIN.OFFENDERS" => self.one_of(&["", "COUNT 5", "RESET", "reset count 256"]),
            "SLIDEWIN.PEEK" => {
                self.one_of(&["60 5", "60 5 1 3 COST 2 WITHQUOTA", "3650d 9007199254740991 WITHQUOTA"])
            }
            _ => self.one_of(&[
                "60 5",
                "60 5 1 3 WITHQUOTA",
                "1 9007199254740991 COST 9007199254740991 WITHQUOTA",
                "3650d 100000 1ms 7 RECEIPT",
                "60 1000 RESOLUTION 1ms",
                "24h 1000000 RESOLUTION 1h COST 70000 FORCE WITHQUOTA",
                "10 0 FORCE RECEIPT",
                "1 9 2 9 3 9 4 9 5 9 6 9 7 9 8 9 COST 3 WITHQUOTA",
            ]),
        };
        vector.extend(right.split_ascii_whitespace().map(Into::into));
        for _ in 0..self.random.random_range(0..3) {
            let place = self.random.random_range(1..=vector.len());
            match self.random.random_range(0..3) {
                0 => vector.insert(place, self.word()),
                1 => vector.truncate(place),
                _ => {
                    vector.truncate(vector.len().max(place + 1) - 1);
                    vector.push(self.word());
                }
            }
        }
        if self.random.random_ratio(1, 500) {
            vector.extend(vec![self.word(); 2_000]);
        }
        vector
    }

    /// What the keys hold, anew.
    fn contents(&mut self) -> Vec<Vec<Vec<u8>>> {
        let mut commands: Vec<Vec<Vec<u8>>> = Vec::new();
        let mut add = |line: &[&str]| commands.push(line.iter().map(|word| (*word).into()).collect());
        add(&["FLUSHALL"]);
        add(&["SET", "string", "hello"]);
        add(&["RPUSH", "list", "5"]);
        add(&["HSET", "hash", "5", "6"]);
        add(&["SADD", "set", "5"]);
        add(&["XADD", "stream", "*", "5", "6"]);
        let now_us =
            std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_micros() as i64;
        for key in ["log", "foreign"] {
            for _ in 0..self.random.random_range(0..12) {
                let near = now_us + self.random.random_range(-70_000_000..2_000_000);
                let score = if self.random.random_bool(0.2) {
                    self.one_of(SCORES).to_owned()
                } else {
                    near.to_string()
                };
                let member = if key == "log" {
                    self.random.random_range(0..5_000_000_u64).to_string().into_bytes()
                } else if self.random.random_bool(0.2) {
                    self.bytes(60)
                } else {
                    self.one_of(MEMBERS).into()
                };
                commands.push(vec![b"ZADD".to_vec(), key.into(), score.into_bytes(), member]);
            }
            if self.random.random_bool(0.5) {
                let ttl = self.one_of(&["1", "1000", "60000", "315360000000", "99999999999999"]);
                commands.push(vec![b"PEXPIRE".to_vec(), key.into(), ttl.into()]);
            }
        }
        commands
    }

    /// Sends them at once: their replies.
    fn send(&mut self, vectors: &[Vec<Vec<u8>>]) -> Vec<Value> {
        let mut bytes = Vec::new();
        for vector in vectors {
            write!(bytes, "*{}\r\n", vector.len()).unwrap();
            for word in vector {
                write!(bytes, "${}\r\n", word.len()).unwrap();
                bytes.extend_from_slice(word);
                bytes.extend_from_slice(b"\r\n");
            }
        }
        self.stream.get_mut().write_all(&bytes).unwrap();
        vectors.iter().map(|_| self.parser.parse_value(&mut self.stream).unwrap()).collect()
    }
}

/// Runs so many vectors: how many were answered by something else than an error.
pub fn fuzz(server: &Server, vectors: usize, seed: u64) -> usize {
    let stream = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    stream.set_read_timeout(Some(std::time::Duration::from_secs(60))).unwrap();
    let mut socket = Socket {
        stream: BufReader::new(stream),
        parser: redis::Parser::new(),
        random: SmallRng::seed_from_u64(seed),
    };
    let mut answered = 0;
    for _ in 0..vectors / BATCH {
        let contents = socket.contents();
        socket.send(&contents);
        let mut batch: Vec<_> = (0..BATCH).map(|_| socket.vector()).collect();
        batch.push(vec![b"PING".to_vec()]);
        let mut replies = socket.send(&batch);
        assert_eq!(replies.pop(), Some(Value::SimpleString("PONG".into())), "seed {seed}");
        for (reply, vector) in replies.into_iter().zip(&batch) {
            let shown = || String::from_utf8_lossy(&vector.join(&b' ')).chars().take(300).collect::<String>();
            match reply {
                Value::ServerError(error) => {
                    let text = format!("{} {}", error.code(), error.details().unwrap_or_default());
                    let is_known = ["ERR ", "WRONGTYPE "].iter().any(|code| text.starts_with(code));
                    assert!(is_known && !text.contains("internal error"), "seed {seed}, {}: {text}", shown());
                }
                Value::Int(_) | Value::Array(_) => answered += 1,
                reply => panic!("seed {seed}, {}: {reply:?}", shown()),
            }
        }
    }
    answered
}

#[test]
fn a_hundred_thousand_argument_vectors() {
    let (server, mut con) = Server::start();
    let vectors = sized(100_000, 2_000_000);
    let seed = rand::rngs::SmallRng::seed_from_u64(u64::from(server.pid())).random();
    let answered = fuzz(&server, vectors, seed);
    println!("seed {seed}: {answered} of {vectors} were no error");
    assert!((vectors / 5..vectors * 4 / 5).contains(&answered), "seed {seed}: {answered} of {vectors}");
    assert_eq!(con.info("process_id"), i64::from(server.pid()), "it is the same process");
    assert_eq!(con.info("slidewin_internal_errors"), 0);
    assert!(con.info("slidewin_foreign_sums") > 0 && con.info("slidewin_clock_step_backs") > 0);
}
