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
mod atomic;
mod clock;
mod cost;
mod differential;
mod harness;
mod hostile;
mod key_life;
mod offenders;
mod operators;
mod parameters;
mod peek;
mod persistence;
mod refund;
mod refused;
mod replication;
mod resolution;
mod several_windows;
mod sharing;
mod stalls;
