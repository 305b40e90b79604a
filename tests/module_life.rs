//! Loading twice or with arguments, unloading and loading again: the keys stay, and so do the counts.

use crate::harness::{is_valkey, module, version, Builder, Client, Server};
use std::path::PathBuf;
use tempfile::TempDir;

pub fn builder() -> Builder {
    // Older servers always allow it.
    Server::builder().args(if version() >= (7, 0, 0) { "--enable-module-command yes" } else { "" })
}

const LOADED_ALREADY: &str = "slidewin cannot load: it is loaded already. Look for a second loadmodule line";
const NO_ARGUMENTS: &str = "slidewin cannot load: it takes no arguments";

/// The module once more, as a file of its own.
fn copy(dir: &TempDir) -> PathBuf {
    let path = dir.path().join("another.so");
    std::fs::copy(module(), &path).unwrap();
    path
}

fn load(con: &mut Client) -> Result<redis::Value, String> {
    con.raw(&[b"MODULE", b"LOAD", module().to_str().unwrap().as_bytes()])
}

#[test]
fn a_second_load_is_refused_and_the_first_goes_on() {
    let server = builder().start();
    let mut con = server.connect();
    assert_eq!(con.check("k 60 2"), 1);
    for _ in 0..3 {
        let error = load(&mut con).unwrap_err();
        assert!(error.starts_with("ERR Error loading the extension"), "{error}");
    }
    let modules: String = con.call("INFO modules");
    assert_eq!(modules.matches("module:name=slidewin,").count(), 1, "{modules}");
    assert_eq!(con.quota("k 60 2")[..3], [1, 2, 0]);
    assert_eq!(con.check("k 60 2"), 0);
    assert_eq!(con.call::<Vec<(Vec<u8>, i64, i64)>>("SLIDEWIN.OFFENDERS")[0].1, 1);
    assert_eq!(con.info("slidewin_checks_admitted"), 2);
}

#[test]
fn a_second_loadmodule_line_ends_the_server_and_its_log_says_why() {
    let dir = TempDir::new().unwrap();
    for path in [module(), &copy(&dir)] {
        let log = builder().also_load(path, "").start_in_vain();
        assert_eq!(log.matches(LOADED_ALREADY).count(), 1, "{}: {log}", path.display());
        assert_eq!(log.matches("slidewin cannot load").count(), 1, "{log}");
    }
}

#[test]
fn a_second_module_load_says_why_it_is_refused() {
    let dir = TempDir::new().unwrap();
    let server = builder().start();
    let mut con = server.connect();
    for (nth, path) in (1..).zip([module(), &copy(&dir), module()]) {
        assert!(con.raw(&[b"MODULE", b"LOAD", path.to_str().unwrap().as_bytes()]).is_err());
        assert_eq!(server.log_text().matches(LOADED_ALREADY).count(), nth, "{}", server.log_text());
        assert_eq!(con.check("k 60 3"), 1);
    }
}

#[test]
fn arguments_of_the_module_are_an_error() {
    let log = builder().without_module().also_load(module(), "max-windows 9").start_in_vain();
    assert_eq!(log.matches(NO_ARGUMENTS).count(), 1, "{log}");

    let server = builder().without_module().start();
    let mut con = server.connect();
    let path = module().to_str().unwrap().as_bytes();
    assert!(con.raw(&[b"MODULE", b"LOAD", path, b""]).is_err());
    assert_eq!(server.log_text().matches(NO_ARGUMENTS).count(), 1, "{}", server.log_text());
    load(&mut con).unwrap();
    assert_eq!(con.check("k 60 1"), 1);
}

#[test]
fn unloaded_and_loaded_again_the_counts_are_kept() {
    let server = builder().start();
    let mut con = server.connect();
    let receipt = con.check("k 1h 4 COST 2 RECEIPT");
    assert_eq!(con.check("full 1h 1"), 1);
    for _ in 0..20 {
        assert_eq!(con.check("full 1h 1"), 0);
        con.call::<()>("MODULE UNLOAD slidewin");
        assert!(con.error("SLIDEWIN.CHECK k 1h 4").starts_with("ERR unknown command"));
        assert_eq!(con.call::<i64>("ZCARD k"), 1);
        assert!(con.call::<i64>("PTTL k") > 3_590_000);
        load(&mut con).unwrap();
    }
    assert_eq!(con.quota("k 1h 4")[..3], [1, 4, 1]);
    assert_eq!(con.refund(&format!("k {receipt}")), 2);
    assert_eq!(con.peek("k 1h 4")[2], 3);
}

#[test]
fn unloaded_under_load_no_caller_gets_more_than_an_error() {
    if !is_valkey() && version() >= (8, 0, 0) {
        println!(
            "not run: Redis {:?} itself crashes when a connection repeats a command of an unloaded module, \
             see redis/redis#10259",
            version()
        );
        return;
    }
    let server = builder().start();
    let admitted: i64 = std::thread::scope(|scope| {
        let callers: Vec<_> = (0..8)
            .map(|_| {
                let mut con = server.connect();
                scope.spawn(move || {
                    let (mut admitted, mut unknown) = (0, 0);
                    while unknown < 100 || admitted == 0 {
                        match con.raw(&[b"SLIDEWIN.CHECK", b"k", b"1h", b"1000000"]) {
                            Ok(reply) => admitted += redis::from_redis_value::<i64>(reply).unwrap(),
                            Err(error) => {
                                assert!(error.starts_with("ERR unknown command"), "{error}");
                                unknown += 1;
                            }
                        }
                    }
                    admitted
                })
            })
            .collect();
        let mut con = server.connect();
        while !callers.iter().all(|caller| caller.is_finished()) {
            std::thread::sleep(std::time::Duration::from_millis(5));
            con.call::<()>("MODULE UNLOAD slidewin");
            std::thread::sleep(std::time::Duration::from_millis(5));
            load(&mut con).unwrap();
        }
        callers.into_iter().map(|caller| caller.join().unwrap()).sum()
    });
    let mut con = server.connect();
    assert_eq!(con.times_us("k").len() as i64, admitted);
    assert_eq!(con.peek("k 1h 1000000")[2], 1_000_000 - admitted);
}

#[test]
fn a_module_that_is_no_module_does_not_hurt() {
    let server = builder().start();
    let mut con = server.connect();
    assert!(con.raw(&[b"MODULE", b"LOAD", b"/nowhere/libslidewin.so"]).is_err());
    assert_eq!(con.check("k 60 1"), 1);
}
