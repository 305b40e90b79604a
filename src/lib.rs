//! slidewin: exact sliding-window rate limiting as one native Redis command.
//!
//! Whether a call is admitted is decided by `slidewin-core`, which knows no server. Here are the commands
//! (`command`: arguments, replies and error texts, one file for each), the server that they run in (`server`: the only
//! place that calls C), and what an operator sees of them (`operator`: counters, offenders, log lines).
//! Start with `command/check.rs`.
// A test may panic: that is how it fails. The build without tests denies it.
#![cfg_attr(test, allow(clippy::arithmetic_side_effects))]

mod command;
mod hash;
mod operator;
mod server;

/// The server's allocator, so that the server counts what the module uses. Tests have no server that could be asked.
#[cfg(not(test))]
#[global_allocator]
static ALLOCATOR: server::ServerAlloc = server::ServerAlloc;
