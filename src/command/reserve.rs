//! `SLIDEWIN.RESERVE key max-wait window limit [window limit ...] [COST units] [ID token]`

use super::{arguments, Error, Reply};
use crate::operator;
use crate::server::{clock, random, Call, Key, Mode};

/// Takes a place in line: the earliest time from now on at which every window has room, after all places taken before.
///
/// Answers the receipt and the ms to wait. Where they are more than max-wait it records nothing, and answers 0 and the ms,
/// -1 for never.
pub fn reserve(call: &Call) -> Result<Reply, Error> {
    let (request, max_wait_us) = arguments::reserve(call.arguments_from(2))?;
    let now_us = clock::now_us();

    let mut key = Key::open(call, Mode::Write)?;
    let random = || random::bits(now_us);
    let reservation = slidewin_core::reserve(&mut key, now_us, &request, max_wait_us, random)?;
    key.close();

    let outcome = &reservation.outcome;
    if !outcome.is_repeat {
        call.notify(if outcome.receipt.is_some() { c"slidewin.reserved" } else { c"slidewin.refused" });
    }
    operator::reserved(call.key_bytes()?, now_us, request.cost, outcome);
    Ok(Reply::Place(outcome.receipt.unwrap_or(0), reservation.wait_ms.unwrap_or(-1)))
}
