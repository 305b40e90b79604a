//! `SLIDEWIN.OFFENDERS [COUNT n] [RESET]`

use super::{arguments, Error, Reply};
use crate::operator::Offenders;
use crate::server::{clock, Call};

/// Lists the keys that were refused most often lately, on this node.
pub fn offenders(call: &Call) -> Result<Reply, Error> {
    let (count, reset) = arguments::offenders(call.arguments_from(1))?;
    let mut offenders = Offenders::here();
    let heaviest = offenders.heaviest(count, clock::now_us());
    if reset {
        offenders.reset();
    }
    Ok(Reply::Offenders(heaviest))
}
