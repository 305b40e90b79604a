//! `SLIDEWIN.CHECK key window limit [window limit ...] [COST units] [RESOLUTION duration] [FORCE] [ID token]
//! [RECEIPT] [WITHQUOTA]`

use super::{arguments, Error, Reply};
use crate::operator;
use crate::server::{clock, random, Call, Key, Mode};

/// Admits a call if every sliding window has room for it, and records it; or refuses it and changes nothing.
///
/// Answers 1 or, with RECEIPT, the receipt of the admission; 0 if the call is refused; with WITHQUOTA the array. A call
/// whose ID is remembered is answered as the first one was, and nothing else happens.
pub fn check(call: &Call) -> Result<Reply, Error> {
    let (request, wants_receipt) = arguments::check(call.arguments_from(2))?;
    let now_us = clock::now_us();

    let mut key = Key::open(call, Mode::Write)?;
    let outcome = slidewin_core::check(&mut key, now_us, &request, || random::bits(now_us))?;
    key.close();

    if !outcome.is_repeat {
        call.notify(if outcome.receipt.is_some() { c"slidewin.admitted" } else { c"slidewin.refused" });
    }
    operator::checked(call.key_bytes()?, now_us, request.cost, &outcome);
    let admitted = outcome.receipt.map_or(0, |receipt| if wants_receipt { receipt } else { 1 });
    Ok(Reply::decision(admitted, request.with_standings, outcome.standings))
}
