//! What a test needs built: the module, the library that gives a server an exact clock, and a module that subscribes.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The server's program, as `REDIS_SERVER` spells it: what a server is may depend on the name it is run by.
pub fn server() -> PathBuf {
    std::env::var_os("REDIS_SERVER").map_or_else(|| "redis-server".into(), PathBuf::from)
}

/// The module, absolute.
pub fn module() -> &'static Path {
    static MODULE: OnceLock<PathBuf> = OnceLock::new();
    MODULE.get_or_init(|| {
        let module = match std::env::var_os("SLIDEWIN_MODULE") {
            Some(path) => std::path::absolute(path).unwrap(),
            None => {
                let mut build = Command::new(cargo());
                build.args(["build", "--release", "--quiet", "--target-dir"]).arg(target_dir());
                run(build.current_dir(env!("CARGO_MANIFEST_DIR")));
                target_dir().join("release/libslidewin.so")
            }
        };
        assert!(module.exists(), "no module at {}", module.display());
        module
    })
}

/// A debug build of the module, absolute.
pub fn debug_module() -> &'static Path {
    static MODULE: OnceLock<PathBuf> = OnceLock::new();
    MODULE.get_or_init(|| {
        let mut build = Command::new(cargo());
        build.args(["build", "--quiet", "--locked", "--target-dir"]).arg(target_dir());
        run(build.current_dir(env!("CARGO_MANIFEST_DIR")));
        target_dir().join("debug/libslidewin.so")
    })
}

/// A debug build of the module that bundles at every chance, absolute.
pub fn tiny_bundles_module() -> &'static Path {
    static MODULE: OnceLock<PathBuf> = OnceLock::new();
    MODULE.get_or_init(|| {
        let mut build = Command::new(cargo());
        let target_dir = target_dir().join("tiny-bundles");
        build.args(["build", "--quiet", "--locked", "--features", "tiny-bundles", "--target-dir"]);
        run(build.arg(&target_dir).current_dir(env!("CARGO_MANIFEST_DIR")));
        target_dir.join("debug/libslidewin.so")
    })
}

/// The redis-cli that came with the server under test, or else the one on PATH.
pub fn cli() -> PathBuf {
    let beside = server().with_file_name("cli");
    if beside.exists() {
        beside
    } else {
        "redis-cli".into()
    }
}

/// tests/clock/preload.c, compiled.
pub fn preload() -> &'static Path {
    static PRELOAD: OnceLock<PathBuf> = OnceLock::new();
    PRELOAD.get_or_init(|| compiled("tests/clock/preload.c", "slidewin-clock.so", &[OsStr::new("-ldl")]))
}

/// tests/events/subscriber.c, compiled.
pub fn subscriber() -> &'static Path {
    static SUBSCRIBER: OnceLock<PathBuf> = OnceLock::new();
    SUBSCRIBER.get_or_init(|| {
        let header = redis_module_crate().join("src/include");
        compiled("tests/events/subscriber.c", "events-subscriber.so", &[OsStr::new("-I"), header.as_os_str()])
    })
}

/// A shared library of one C file, in the target directory.
fn compiled(source: &str, name: &str, options: &[&OsStr]) -> PathBuf {
    let library = target_dir().join(name);
    // Another test process may do the same: what is renamed is whole.
    let unfinished = library.with_extension(std::process::id().to_string());
    let mut compile = Command::new("cc");
    compile.args(["-O2", "-shared", "-fPIC", "-o"]).arg(&unfinished);
    run(compile.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(source)).args(options));
    std::fs::rename(&unfinished, &library).unwrap();
    library
}

/// Where the crate redis-module is, which brings redismodule.h. Without a platform cargo would ask for the crates of all.
fn redis_module_crate() -> PathBuf {
    let version = output_of(&["-vV"]);
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let metadata =
        output_of(&["metadata", "--format-version=1", "--offline", "--locked", "--filter-platform", host]);
    let manifests = metadata.split("\"manifest_path\":\"").filter_map(|rest| rest.split('"').next());
    let mut crates = manifests.filter_map(|manifest| Path::new(manifest).parent());
    let found = crates.find(|one| one.join("src/include/redismodule.h").exists());
    found.expect("cargo metadata names the crate redis-module").to_owned()
}

/// What cargo prints.
fn output_of(arguments: &[&str]) -> String {
    let mut command = Command::new(cargo());
    let output = command.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Where cargo put this test: target/debug/deps/server-0123456789abcdef.
fn target_dir() -> PathBuf {
    std::env::current_exe().unwrap().ancestors().nth(3).unwrap().to_owned()
}

fn run(command: &mut Command) {
    let status = command.status().unwrap_or_else(|error| panic!("{command:?} cannot be run: {error}"));
    assert!(status.success(), "{command:?}: {status}");
}
