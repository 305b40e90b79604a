//! `SLIDEWIN.REFUND key receipt [COST units]` and `SLIDEWIN.REFUND key ID token [COST units]`

use super::{arguments, Error, Reply};
use crate::operator;
use crate::server::{Call, Key, Mode};

/// Gives back what one admission took, all that is left of it or some units. Answers the units given back.
pub fn refund(call: &Call) -> Result<Reply, Error> {
    let request = arguments::refund(call.arguments_from(2))?;
    let mut key = Key::open(call, Mode::Write)?;
    let units = slidewin_core::refund(&mut key, &request)?;
    key.close();
    if units > 0 {
        call.notify(c"slidewin.refunded");
        operator::refunded(units);
    }
    Ok(Reply::Integer(units as i64))
}
