//! The commands, one file for each: from arguments to reply.

mod arguments;
mod check;
mod error;
mod log;
mod mcheck;
mod offenders;
mod peek;
mod refund;
mod reserve;

pub use check::check;
pub use error::Error;
pub use log::log;
pub use mcheck::mcheck;
pub use offenders::offenders;
pub use peek::peek;
pub use refund::refund;
pub use reserve::reserve;

use crate::operator::Offender;
use slidewin_core::{Admission, Standing};

/// What a command answers.
#[derive(Debug)]
pub enum Reply {
    /// An integer.
    Integer(i64),
    /// The array of WITHQUOTA: `admitted`, then five integers for each window.
    Standings(i64, Vec<Standing>),
    /// An array of two integers: the receipt of a place or 0, and the ms to wait for it.
    Place(i64, i64),
    /// An array of arrays: time, units, receipt or 0, the ID or an empty string.
    Log(Vec<Admission>),
    /// An array of arrays: key, count, error.
    Offenders(Vec<Offender>),
}

impl Reply {
    /// `admitted` alone, or with how each window stands where the call asked for it.
    fn decision(admitted: i64, with_standings: bool, standings: Vec<Standing>) -> Self {
        if with_standings {
            Reply::Standings(admitted, standings)
        } else {
            Reply::Integer(admitted)
        }
    }
}
