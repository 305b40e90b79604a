//! `SLIDEWIN.PEEK key window limit [window limit ...] [COST units] [WITHQUOTA]`

use super::{arguments, Error, Reply};
use crate::operator;
use crate::server::{clock, Call, Key, Mode};

/// Answers what CHECK would decide: 1 or 0, with WITHQUOTA the array. Never writes.
pub fn peek(call: &Call) -> Result<Reply, Error> {
    let request = arguments::peek(call.arguments_from(2))?;
    let now_us = clock::now_us();
    let forecast = slidewin_core::peek(&mut Key::open(call, Mode::Read)?, now_us, &request);
    operator::peeked(&forecast);
    Ok(Reply::decision(i64::from(forecast.has_room), request.with_standings, forecast.standings))
}
