//! The module in real servers: one file a topic.
// A test may panic: that is how it fails.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

mod acl;
mod answers;
mod aof_cut;
mod atomic;
mod clock;
mod cluster;
mod concurrency;
mod cost;
mod dates;
mod differential;
mod differential_lines;
mod digests;
mod exceptions;
mod expiry;
mod failover;
mod forced;
mod fuzz;
mod harness;
mod hostile;
mod ids;
mod key_life;
mod killed;
mod log;
mod lost_replies;
mod mcheck;
mod memory;
mod module_life;
#[path = "../core/tests/limiter/naive.rs"]
mod naive;
mod offenders;
mod operators;
mod parameters;
mod peek;
mod persistence;
mod planted_panic;
mod readme;
mod refund;
mod refused;
mod remembered;
mod renamed;
mod replication;
mod reservations;
mod resolution;
mod several_keys;
mod several_windows;
mod sharing;
mod slowest_call;
mod soak;
mod stalls;
mod step_back;
mod subscribers;
mod valgrind;
