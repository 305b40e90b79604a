#![no_main]

// The module's own sources: what is parsed here needs no server, and so no libclang.
#[path = "../../src/command"]
mod command {
    pub mod arguments;
    #[allow(dead_code)] // the errors of keys, and all texts
    mod error;
    pub use error::Error;
}

#[allow(dead_code)] // all but the limit of COUNT
#[path = "../../src/operator"]
mod operator {
    mod offenders;
    pub use offenders::TRACKED;
}

#[path = "../properties/arguments.rs"]
mod property;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| property::holds(bytes));
