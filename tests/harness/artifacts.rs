//! What a test needs built: the module, and the library that gives a server an exact clock.

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
                let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
                let mut build = Command::new(cargo);
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
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut build = Command::new(cargo);
        build.args(["build", "--quiet", "--locked", "--target-dir"]).arg(target_dir());
        run(build.current_dir(env!("CARGO_MANIFEST_DIR")));
        target_dir().join("debug/libslidewin.so")
    })
}

/// A debug build of the module that bundles at every chance, absolute.
pub fn tiny_bundles_module() -> &'static Path {
    static MODULE: OnceLock<PathBuf> = OnceLock::new();
    MODULE.get_or_init(|| {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut build = Command::new(cargo);
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
    PRELOAD.get_or_init(|| {
        let library = target_dir().join("slidewin-clock.so");
        // Another test process may do the same: what is renamed is whole.
        let unfinished = library.with_extension(std::process::id().to_string());
        let mut compile = Command::new("cc");
        compile.args(["-O2", "-shared", "-fPIC", "-o"]).arg(&unfinished);
        run(compile.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clock/preload.c")).arg("-ldl"));
        std::fs::rename(&unfinished, &library).unwrap();
        library
    })
}

/// Where cargo put this test: target/debug/deps/server-0123456789abcdef.
fn target_dir() -> PathBuf {
    std::env::current_exe().unwrap().ancestors().nth(3).unwrap().to_owned()
}

fn run(command: &mut Command) {
    let status = command.status().unwrap_or_else(|error| panic!("{command:?} cannot be run: {error}"));
    assert!(status.success(), "{command:?}: {status}");
}
