//! slidewin: exact sliding-window rate limiting as one native Redis command.
//!
//! The log of a key is an ordinary sorted set (`entry`, `log`); counting in it is pure (`window`, `admit`,
//! `refund`); the server side opens the key (`zset`), writes and replicates (`effects`). `commands` reads from
//! argument to reply.
// A test may panic: that is how it fails. The build without tests denies it.
#![cfg_attr(test, allow(clippy::arithmetic_side_effects))]

mod admit;
mod api;
mod call;
mod clock;
mod commands;
mod docs;
mod effects;
mod entry;
mod guard;
mod info;
mod load;
mod log;
mod offenders;
mod random;
mod refund;
mod request;
mod stats;
mod table;
#[cfg(test)]
mod tests;
mod warn;
mod window;
mod zset;

/// The server's own, so that it counts what the module uses. Tests have no server whose allocator could be asked.
#[cfg(not(test))]
#[global_allocator]
static ALLOCATOR: redis_module::alloc::RedisAlloc = redis_module::alloc::RedisAlloc;
