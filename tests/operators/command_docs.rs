//! COMMAND DOCS and COMMAND INFO: what redis-cli completes and hints, and what ACL rules are checked against.

use crate::harness::{has, version, Client, Server};
use redis::Value;

fn text(value: &Value) -> String {
    match value {
        Value::BulkString(bytes) => String::from_utf8(bytes.clone()).unwrap(),
        Value::SimpleString(text) => text.clone(),
        Value::Int(number) => number.to_string(),
        Value::Array(items) | Value::Set(items) => items.iter().map(text).collect::<Vec<_>>().join(" "),
        other => panic!("{other:?}"),
    }
}

fn items(value: &Value) -> &[Value] {
    match value {
        Value::Array(items) => items,
        other => panic!("{other:?}"),
    }
}

/// What follows `name` in a list of names and values.
fn field<'a>(map: &'a Value, name: &str) -> Option<&'a Value> {
    items(map).chunks_exact(2).find(|pair| text(&pair[0]) == name).map(|pair| &pair[1])
}

/// Arguments as redis-cli hints them.
fn hints(args: &Value) -> String {
    items(args).iter().map(hint).collect::<Vec<_>>().join(" ")
}

fn hint(arg: &Value) -> String {
    let flags = field(arg, "flags").map(text).unwrap_or_default();
    let name = text(field(arg, "name").unwrap());
    let value = match &*text(field(arg, "type").unwrap()) {
        "block" => hints(field(arg, "arguments").unwrap()),
        "oneof" => items(field(arg, "arguments").unwrap()).iter().map(hint).collect::<Vec<_>>().join("|"),
        "pure-token" => String::new(),
        _ => name,
    };
    let token = field(arg, "token").map(text).unwrap_or_default();
    let mut hint = format!("{token} {value}").trim().to_owned();
    if flags.contains("multiple") {
        hint = format!("{hint} [{hint} ...]");
    }
    if flags.contains("optional") {
        hint = format!("[{hint}]");
    }
    hint
}

struct Command {
    name: &'static str,
    hint: &'static str,
    summary: &'static str,
    complexity: &'static str,
    arity: &'static str,
    flags: &'static [&'static str],
    categories: &'static [&'static str],
    /// First key, last key, step.
    keys: [&'static str; 3],
    key_flags: &'static [&'static str],
}

const COMMANDS: &[Command] = &[
    Command {
        name: "slidewin.check",
        hint: "key window limit [window limit ...] [COST units] [RESOLUTION duration] [FORCE] [ID token] [RECEIPT] [WITHQUOTA]",
        summary: "Admits a call if every sliding window has room for it, and records it",
        complexity: "O(log N)",
        arity: "-4",
        flags: &["write", "denyoom", "fast", "module"],
        categories: &["@write", "@fast", "@sortedset"],
        keys: ["1", "1", "1"],
        key_flags: &["RW", "access", "update"],
    },
    Command {
        name: "slidewin.mcheck",
        hint: "numkeys key window limit [key window limit ...] [COST units] [FORCE] [ID token] [WITHQUOTA]",
        summary: "Admits a call if every sliding window of every key has room for it, and records it in each key",
        complexity: "O(K log N)",
        arity: "-5",
        flags: &["write", "denyoom", "movablekeys", "module"],
        categories: &["@write", "@sortedset"],
        keys: ["0", "0", "0"],
        key_flags: &["RW", "access", "update", "incomplete"],
    },
    Command {
        name: "slidewin.peek",
        hint: "key window limit [window limit ...] [COST units] [WITHQUOTA]",
        summary: "Answers what SLIDEWIN.CHECK would decide. Never writes.",
        complexity: "O(log N)",
        arity: "-4",
        flags: &["readonly", "fast", "module"],
        categories: &["@read", "@fast", "@sortedset"],
        keys: ["1", "1", "1"],
        key_flags: &["RO", "access"],
    },
    Command {
        name: "slidewin.reserve",
        hint: "key max-wait window limit [window limit ...] [COST units] [ID token]",
        summary: "Takes a place in line",
        complexity: "O(log N)",
        arity: "-5",
        flags: &["write", "denyoom", "fast", "module"],
        categories: &["@write", "@fast", "@sortedset"],
        keys: ["1", "1", "1"],
        key_flags: &["RW", "access", "update"],
    },
    Command {
        name: "slidewin.refund",
        hint: "key receipt|ID token [COST units]",
        summary: "Gives back what one admission took",
        complexity: "O(M log N)",
        arity: "-3",
        flags: &["write", "module"],
        categories: &["@write", "@sortedset"],
        keys: ["1", "1", "1"],
        key_flags: &["RW", "access", "update"],
    },
    Command {
        name: "slidewin.log",
        hint: "key [COUNT n]",
        summary: "Lists the newest admissions of a key, newest first",
        complexity: "O(log N + M)",
        arity: "-2",
        flags: &["readonly", "module"],
        categories: &["@read", "@sortedset"],
        keys: ["1", "1", "1"],
        key_flags: &["RO", "access"],
    },
    Command {
        name: "slidewin.offenders",
        hint: "[COUNT n] [RESET]",
        summary: "Lists the keys that were refused most often lately",
        complexity: "O(1)",
        arity: "-1",
        flags: &["readonly", "admin", "module"],
        categories: &["@admin", "@dangerous"],
        keys: ["0", "0", "0"],
        key_flags: &[],
    },
];

fn info_of(con: &mut Client, name: &str) -> Vec<Value> {
    let info: Value = con.call(&format!("COMMAND INFO {name}"));
    items(&items(&info)[0]).to_vec()
}

fn same_words(found: &Value, expected: &[&str], what: &str) {
    let found = text(found);
    let mut found: Vec<&str> = found.split_whitespace().collect();
    let mut expected = expected.to_vec();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected, "{what}");
}

#[test]
fn command_docs_are_what_redis_cli_hints() {
    if !has("COMMAND DOCS", (7, 0, 0)) {
        return;
    }
    let (_server, mut con) = Server::start();
    for command in COMMANDS {
        let name = command.name;
        let docs: Value = con.call(&format!("COMMAND DOCS {name}"));
        let docs = field(&docs, name).unwrap_or_else(|| panic!("no docs of {name}"));
        let told =
            |field_name| text(field(docs, field_name).unwrap_or_else(|| panic!("{name}: {field_name}")));
        assert!(told("summary").starts_with(command.summary), "{}", told("summary"));
        assert!(told("complexity").starts_with(command.complexity), "{}", told("complexity"));
        assert_eq!(
            (told("since"), told("group"), told("module")),
            ("0.1.0".into(), "module".into(), "slidewin".into())
        );
        let arguments = field(docs, "arguments").unwrap();
        assert_eq!(hints(arguments), command.hint, "{name}");
        let first = &items(arguments)[0];
        let is_key = text(field(first, "type").unwrap()) == "key";
        assert_eq!(is_key, command.keys[0] == "1", "{name}");
        assert_eq!(field(first, "key_spec_index").map(text), is_key.then(|| "0".to_owned()), "{name}");
    }
}

#[test]
fn command_info_is_what_clients_and_acl_go_by() {
    let (_server, mut con) = Server::start();
    for command in COMMANDS {
        let name = command.name;
        let info = info_of(&mut con, name);
        // Before 7.0 a module cannot tell it, and refuses by itself.
        let arity = if version() < (7, 0, 0) { "-1" } else { command.arity };
        assert_eq!([text(&info[0]), text(&info[1])], [name, arity]);
        // Before 7.0 the server does not tell that a command is a module's.
        let told = |flag: &&str| *flag != "module" || version() >= (7, 0, 0);
        let flags: Vec<&str> = command.flags.iter().copied().filter(told).collect();
        same_words(&info[2], &flags, name);
        assert_eq!([&info[3], &info[4], &info[5]].map(text), command.keys, "{name}");
    }
}

#[test]
fn the_categories_are_those_of_the_reference() {
    if !has("categories of modules", (7, 2, 0)) {
        return;
    }
    let (_server, mut con) = Server::start();
    for command in COMMANDS {
        same_words(&info_of(&mut con, command.name)[6], command.categories, command.name);
    }
}

#[test]
fn the_key_specs_name_the_keys_and_what_is_done_with_it() {
    if !has("key specs", (7, 0, 0)) {
        return;
    }
    let (_server, mut con) = Server::start();
    for command in COMMANDS {
        let name = command.name;
        let info = info_of(&mut con, name);
        let specs = items(&info[8]);
        assert_eq!(specs.len(), usize::from(!command.key_flags.is_empty()), "{name}");
        for spec in specs {
            same_words(field(spec, "flags").unwrap(), command.key_flags, name);
            let begin = field(spec, "begin_search").unwrap();
            assert_eq!(text(begin), "type index spec index 1", "{name}");
            let find = field(spec, "find_keys").unwrap();
            let expected = match command.keys[0] {
                "1" => "type range spec lastkey 0 keystep 1 limit 0",
                _ => "type keynum spec keynumidx 0 firstkey 1 keystep 3",
            };
            assert_eq!(text(find), expected, "{name}");
        }
    }
}

#[test]
fn the_server_finds_the_key_of_each_command() {
    let (_server, mut con) = Server::start();
    for line in [
        "SLIDEWIN.CHECK k 60 5 3600 100 COST 2",
        "SLIDEWIN.PEEK k 60 5 3600 100",
        "SLIDEWIN.REFUND k 17 COST 2",
        "SLIDEWIN.LOG k COUNT 5",
        "SLIDEWIN.CHECK k 60 5 ID token",
        "SLIDEWIN.REFUND k ID token",
        "SLIDEWIN.RESERVE k 5 60 5 3600 100 COST 2",
    ] {
        assert_eq!(con.call::<Vec<String>>(&format!("COMMAND GETKEYS {line}")), ["k"], "{line}");
    }
    for (line, keys) in [
        ("1 a 60 5", &["a"][..]),
        ("2 a 60 5 b 1h 9 COST 2 ID c", &["a", "b"]),
        ("4 a 60 5 b 1h 9 a 1 1 d 5 5", &["a", "b", "a", "d"]),
    ] {
        let line = format!("COMMAND GETKEYS SLIDEWIN.MCHECK {line}");
        assert_eq!(con.call::<Vec<String>>(&line), keys, "{line}");
    }
    assert!(con.error("COMMAND GETKEYS SLIDEWIN.OFFENDERS COUNT 3").starts_with("ERR "));
}
