//! Exact sliding-window rate limiting: so many units in *any* interval of a given length.
//!
//! This crate is the limiter of slidewin without a server. It knows neither Redis nor a clock: a [`Log`] holds the
//! admissions, the time is an argument, and random numbers are an argument too. There is one function for each
//! command: [`check`], [`check_all`], [`peek`], [`reserve()`], [`refund`] and [`newest`]. Each reads the log, decides,
//! records, and answers with everything that happened.
//!
//! Start with [`check`]. What an element of the log says is in [`entry`], how units are counted in `count`.
//!
//! ```
//! use slidewin_core::{check, MemoryLog, Request, Window};
//!
//! let three_a_second = Request::new(&[Window { length_us: 1_000_000, limit: 3 }])?;
//! let mut log = MemoryLog::default();
//! for now_us in [0, 100, 200] {
//!     assert!(check(&mut log, now_us, &three_a_second, || 0)?.receipt.is_some());
//! }
//! let refused = check(&mut log, 300, &Request { with_standings: true, ..three_a_second }, || 0)?;
//! assert_eq!(refused.receipt, None);
//! assert_eq!(refused.standings[0].retry_after_ms, Some(1_000));
//! # Ok::<(), slidewin_core::Error>(())
//! ```
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod admit;
mod bundle;
mod check;
mod check_all;
mod count;
mod duration;
mod ends;
pub mod entry;
mod error;
mod horizon;
mod id;
mod limit;
mod log;
#[cfg(feature = "memory")]
mod memory;
mod newest;
mod outcome;
mod refund;
mod repair;
mod reserve;
mod standing;

pub use check::{check, peek};
pub use check_all::{check_all, Logs};
pub use duration::duration_us;
pub use error::Error;
pub use id::Id;
pub use limit::{Request, Window, Windows, MAX_UNITS, MAX_WINDOWS, MAX_WINDOW_US, MIN_WINDOW_US};
pub use log::{Element, Log, Record, Scored};
#[cfg(feature = "memory")]
pub use memory::MemoryLog;
pub use newest::{newest, Admission};
pub use outcome::{Forecast, Outcome, Outcomes};
pub use refund::{refund, Admitted, Refund, MAX_ENTRIES_ON_A_SIDE};
pub use reserve::{reserve, Reservation};
pub use standing::Standing;
