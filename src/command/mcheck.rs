//! `SLIDEWIN.MCHECK numkeys key window limit [key window limit ...] [COST units] [FORCE] [ID token] [WITHQUOTA]`

use super::{arguments, Error, Reply};
use crate::operator;
use crate::server::{clock, random, Call, Keys};

/// Admits a call if every sliding window of every key has room for it, and records it in each key; or refuses it and
/// records it in none.
///
/// Answers 1 or 0; with WITHQUOTA the array, with the windows in the order of the call. A key that remembers the ID is
/// neither asked nor charged.
pub fn mcheck(call: &Call) -> Result<Reply, Error> {
    let several = arguments::mcheck(call.arguments_from(1))?;
    let now_us = clock::now_us();

    let mut keys = Keys::new(call, &several.positions)?;
    let random = || random::bits(now_us);
    let outcomes = slidewin_core::check_all(&mut keys, now_us, &several.requests, random)?;

    for (nth, outcome) in outcomes.each.iter().enumerate() {
        if outcome.is_repeat {
            continue;
        }
        if outcomes.full.contains(&nth) {
            keys.notify(nth, c"slidewin.refused");
        } else if outcomes.full.is_empty() {
            keys.notify(nth, c"slidewin.admitted");
        }
    }
    // Who asks for a place in line that has not come is not refused.
    let is_repeat = |nth: usize| outcomes.each.get(nth).is_some_and(|outcome| outcome.is_repeat);
    let full = outcomes.full.iter().filter(|&&nth| !is_repeat(nth)).filter_map(|&nth| keys.bytes(nth));
    operator::checked_all(
        full,
        now_us,
        several.requests.first().map_or(1, |request| request.cost),
        &outcomes,
    );
    let standings = several.triples.iter().filter_map(|&(key, window)| {
        outcomes.each.get(key).and_then(|outcome| outcome.standings.get(window)).copied()
    });
    let with_standings = several.requests.iter().any(|request| request.with_standings);
    Ok(Reply::decision(i64::from(outcomes.full.is_empty()), with_standings, standings.collect()))
}
