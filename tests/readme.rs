//! What the documents say: their sessions, their commands, their errors, their links.

use crate::harness::{Clock, Server};
use std::path::Path;
use std::process::Command;

const PROMPT: &str = "127.0.0.1:6379> ";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn documents() -> Vec<(String, String)> {
    let mut names = vec!["README.md".to_owned(), "README.zh-CN.md".to_owned()];
    for entry in std::fs::read_dir(root().join("docs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".md") {
            names.push(format!("docs/{name}"));
        }
    }
    names.into_iter().map(|name| (name.clone(), read(&name))).collect()
}

/// The texts between backquotes on one line.
fn code_spans(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.starts_with("```")).flat_map(|line| line.split('`').skip(1).step_by(2))
}

/// What redis-cli prints to a terminal.
fn redis_cli(port: u16, line: &str) -> String {
    let words = line.split_ascii_whitespace();
    let output = Command::new("redis-cli").args(["--no-raw", "-p", &port.to_string()]).args(words).output();
    String::from_utf8(output.expect("redis-cli").stdout).unwrap()
}

#[test]
fn the_sessions_are_what_a_server_answers() {
    for name in ["README.md", "README.zh-CN.md"] {
        let text = read(name);
        let clock = Clock::frozen();
        let server = Server::builder().clock(&clock).start();
        let mut commands = 0;
        // The blocks of a page are one session.
        let blocks = text.split("```").skip(1).step_by(2);
        for step in blocks.flat_map(|block| block.split(PROMPT).skip(1)) {
            let (command, answer) = step.split_once('\n').unwrap();
            assert_eq!(redis_cli(server.port(), command).trim_end(), answer.trim_end(), "{name}: {command}");
            clock.advance_ms(6_000);
            commands += 1;
        }
        assert_eq!(commands, 5, "{name}: one command every six seconds");
    }
}

#[test]
fn snippets_are_those_of_the_tests() {
    let files = ["redis_py.py", "node_redis.mjs", "ioredis.mjs", "rust/src/main.rs"];
    for file in files.map(|file| format!("tests/clients/{file}")) {
        let text = read(&file);
        let lines = text.lines().skip_while(|line| !line.ends_with("snippet:start")).skip(1);
        let snippet: Vec<&str> = lines.take_while(|line| !line.ends_with("snippet:end")).collect();
        assert!(snippet.len() > 2, "{file}");
        // The READMEs show the first one, the page of recipes shows all.
        let documents = ["docs/recipes.md", "README.md", "README.zh-CN.md"];
        for document in &documents[..if file.ends_with(".py") { 3 } else { 1 }] {
            assert!(read(document).contains(&format!("\n{}\n```", snippet.join("\n"))), "{document}: {file}");
        }
    }
}

#[test]
fn every_command_shown_is_one() {
    let (_server, mut con) = Server::start();
    let mut ran = 0;
    for (name, text) in documents() {
        for command in code_spans(&text).filter(|span| span.starts_with("SLIDEWIN.")) {
            if command.contains('[') || !command.contains(' ') {
                continue; // the form of a command, or its name
            }
            let command = command.replace("<receipt>", "1").replace("<count>", "1");
            let words: Vec<&[u8]> = command.split(' ').map(str::as_bytes).collect();
            con.raw(&words).unwrap_or_else(|error| panic!("{name}: {command}: {error}"));
            ran += 1;
        }
    }
    assert!(ran >= 15, "{ran}");
}

#[test]
fn the_errors_are_listed_with_their_own_words() {
    let reference = read("docs/reference.md");
    let source = read("src/command/error.rs");
    let texts: Vec<&str> =
        source.split("c\"ERR ").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert!(texts.len() >= 12, "{texts:?}");
    for text in texts {
        assert!(reference.contains(&format!("ERR {text}\n")), "docs/reference.md lacks: {text}");
    }
    let listed = reference.lines().filter(|line| line.starts_with("ERR ") && !line.contains("wrong number"));
    for line in listed {
        assert!(source.contains(&format!("c\"{line}\"")), "docs/reference.md invents: {line}");
    }
    for document in ["README.md", "README.zh-CN.md"] {
        let text = read(document);
        let shown: Vec<&str> = code_spans(&text).filter(|span| span.starts_with("ERR ")).collect();
        assert!(!shown.is_empty(), "{document} shows no error");
        for span in shown {
            assert!(source.contains(&format!("c\"{span}\"")), "{document} invents: {span}");
        }
    }
}

#[test]
fn the_figures_are_those_of_the_last_benchmark() {
    let results = read("bench/results/table.md");
    let median = |workload: &str, contestant: &str| {
        let table = results.lines().skip_while(|line| !line.starts_with(&format!("| {workload} |")));
        let mut rows = table.take_while(|line| line.starts_with('|'));
        let row = rows.find(|row| row.starts_with(&format!("| {contestant} |")));
        // | contestant | 2.33 (2.27-2.94) | ...
        row.map_or("", |row| row.split(" | ").nth(1).unwrap().split(' ').next().unwrap())
    };
    let text = read("docs/measured.md");
    let mut table = text.lines().skip_while(|line| !line.starts_with("| | CHECK |")).skip(2);
    for workload in ["sparse", "dense", "refused", "hot"] {
        let row = table.next().unwrap_or_else(|| panic!("docs/measured.md lacks {workload}"));
        let figures: Vec<&str> = row.split('|').map(str::trim).skip(2).take(4).collect();
        let expected =
            ["CHECK", "script", "CL.THROTTLE", "ZADD + PEXPIRE"].map(|name| median(workload, name));
        assert_eq!(figures, expected, "{workload}");
        assert!(!figures[0].is_empty() && !figures[1].is_empty(), "{workload}");
    }
}

#[test]
fn links_lead_somewhere() {
    let mut followed = 0;
    for (name, text) in documents() {
        let base = root().join(&name).parent().unwrap().to_path_buf();
        for link in text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            if link.starts_with("http") {
                continue;
            }
            let target = if file.is_empty() { text.clone() } else { String::new() };
            assert!(file.is_empty() || base.join(file).exists(), "{name}: {link}");
            if !heading.is_empty() {
                let target =
                    if file.is_empty() { target } else { std::fs::read_to_string(base.join(file)).unwrap() };
                let slug = |line: &str| line.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
                let found = target.lines().any(|line| line.starts_with('#') && slug(line) == heading);
                assert!(found, "{name}: {link}");
            }
            followed += 1;
        }
    }
    assert!(followed >= 8, "{followed}");
}
