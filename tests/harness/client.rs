//! A connection that takes commands as they are written in the documents.

use redis::{Connection, ConnectionLike, FromRedisValue, Value};

/// A connection. Whatever a test does not expect fails it.
pub struct Client(pub Connection);

/// A command as it goes over the wire: words between blanks.
pub fn packed(line: &str) -> Vec<u8> {
    command(&words(line)).get_packed_command()
}

fn words(line: &str) -> Vec<&[u8]> {
    line.split_ascii_whitespace().map(str::as_bytes).collect()
}

fn command(words: &[&[u8]]) -> redis::Cmd {
    let mut command = redis::Cmd::new();
    for word in words {
        command.arg(word);
    }
    command
}

impl Client {
    /// Keys that have expired stay until a call meets them. At its very ms of expiry a key is there for a call, and Redis 8
    /// may remove it in the background meanwhile.
    pub fn keep_expired(&mut self) {
        self.call::<()>("DEBUG SET-ACTIVE-EXPIRE 0");
    }

    /// Runs a command of any bytes: its reply, or the text of its error.
    pub fn raw(&mut self, words: &[&[u8]]) -> Result<Value, String> {
        let shown = || String::from_utf8_lossy(&words.join(&b' ')).chars().take(200).collect::<String>();
        match self.0.req_command(&command(words)).and_then(Value::extract_error) {
            Ok(value) => Ok(value),
            Err(error) => match error.code() {
                Some(code) => {
                    Err(format!("{code} {}", error.detail().unwrap_or_default()).trim_end().to_owned())
                }
                None => panic!("{}: {error}", shown()),
            },
        }
    }

    /// Runs the command that this line spells.
    pub fn call<T: FromRedisValue>(&mut self, line: &str) -> T {
        let value = self.raw(&words(line)).unwrap_or_else(|error| panic!("{line}: {error}"));
        T::from_redis_value_ref(&value).unwrap_or_else(|_| panic!("{line}: {value:?}"))
    }

    /// Runs the command that this line spells, which must be refused: the text of the error.
    pub fn error(&mut self, line: &str) -> String {
        self.raw(&words(line)).err().unwrap_or_else(|| panic!("{line}: no error"))
    }

    /// `SLIDEWIN.CHECK`, without WITHQUOTA.
    pub fn check(&mut self, line: &str) -> i64 {
        self.call(&format!("SLIDEWIN.CHECK {line}"))
    }

    /// `SLIDEWIN.CHECK ... WITHQUOTA`.
    pub fn quota(&mut self, line: &str) -> Vec<i64> {
        self.call(&format!("SLIDEWIN.CHECK {line} WITHQUOTA"))
    }

    /// `SLIDEWIN.PEEK ... WITHQUOTA`.
    pub fn peek(&mut self, line: &str) -> Vec<i64> {
        self.call(&format!("SLIDEWIN.PEEK {line} WITHQUOTA"))
    }

    /// `SLIDEWIN.REFUND`.
    pub fn refund(&mut self, line: &str) -> i64 {
        self.call(&format!("SLIDEWIN.REFUND {line}"))
    }

    /// Runs a command so many times, in one script so that it is quick: the sum of its integer replies.
    pub fn times(&mut self, count: usize, line: &str) -> i64 {
        let script = b"local sum = 0
            for i = 1, table.remove(ARGV) do sum = sum + redis.call(unpack(ARGV)) end
            return sum";
        let (count, words) = (count.to_string(), words(line));
        let arguments = [&[b"EVAL" as &[u8], script, b"0"], &words[..], &[count.as_bytes()]].concat();
        let sum = self.raw(&arguments).unwrap_or_else(|error| panic!("{line}: {error}"));
        i64::from_redis_value_ref(&sum).unwrap()
    }

    /// The number after `field:` in INFO.
    pub fn info(&mut self, field: &str) -> i64 {
        let text = self.info_text(field);
        text.parse().unwrap_or_else(|_| panic!("{field}:{text}"))
    }

    /// What follows `field:` in INFO.
    pub fn info_text(&mut self, field: &str) -> String {
        let info: String = self.call("INFO everything");
        let value = info.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
        value.unwrap_or_else(|| panic!("INFO has no {field}")).to_owned()
    }

    /// The elements of a log: member and score in µs.
    pub fn log(&mut self, key: &str) -> Vec<(String, i64)> {
        let elements: Vec<(String, f64)> = self.call(&format!("ZRANGE {key} 0 -1 WITHSCORES"));
        elements.into_iter().map(|(member, score)| (member, score as i64)).collect()
    }
}
