#![no_main]

#[path = "../properties/member.rs"]
mod member;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| member::holds(bytes));
