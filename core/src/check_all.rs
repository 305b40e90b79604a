//! The decision over several logs: whether all of them have room, and what is recorded in each if so.

use crate::check::{check, has_room, repair, repeat, standings};
use crate::ends::Ends;
use crate::log::{Log, Record};
use crate::outcome::{Outcome, Outcomes};
use crate::{refund, Admitted, Error, Refund, Request};

/// Several logs, of which one is open at a time: in a server a write to one may set off what changes another.
pub trait Logs {
    /// One of them.
    type Log: Record;

    /// Opens a log, to be read only, and closes it after `look`. [`Error::WrongType`] where it cannot take entries.
    fn read<T>(&mut self, nth: usize, look: impl FnOnce(&mut Self::Log) -> T) -> Result<T, Error>;
    /// Opens a log, to be written, and closes it after `change`. [`Error::WrongType`] where it cannot take entries.
    fn write<T>(&mut self, nth: usize, change: impl FnOnce(&mut Self::Log) -> T) -> Result<T, Error>;
}

/// Admits a call to all logs and records it in each, or refuses it and records it in none. There is one request for each
/// log, in the order of the logs; a resolution is not looked at.
///
/// A log that remembers the ID of its request is neither asked for room nor charged; where that is a place in line, the
/// call is refused until it has come. Each other log that is ahead of a clock which has stepped back is repaired, whatever
/// is decided. All logs are read before the first is written, so that [`Error::WrongType`] leaves them as they were.
pub fn check_all<L: Logs + ?Sized>(
    logs: &mut L,
    now_us: i64,
    requests: &[Request],
    random: impl Fn() -> u64,
) -> Result<Outcomes, Error> {
    let mut each = vec![Outcome::default(); requests.len()];
    let (mut full, mut ahead) = (Vec::new(), Vec::new());
    for (nth, (request, outcome)) in requests.iter().zip(&mut each).enumerate() {
        let (passes, is_ahead) = logs.read(nth, |log| look(log, now_us, request, outcome))?;
        full.extend((!passes).then_some(nth));
        ahead.push(is_ahead);
    }
    if full.is_empty() {
        full.extend(record(logs, now_us, requests, &random, &mut each)?);
    }
    if !full.is_empty() {
        for (nth, (request, outcome)) in requests.iter().zip(&mut each).enumerate() {
            // A log that remembers the call has told how it stands, and is not repaired.
            if outcome.is_repeat {
                continue;
            }
            if ahead.get(nth) == Some(&true) {
                logs.write(nth, |log| {
                    let mut ends = Ends::read(log);
                    repair(log, &mut ends, now_us, request, &random, outcome)
                })??;
            }
            if request.with_standings {
                logs.read(nth, |log| stand(log, now_us, request, outcome))?;
            }
        }
    }
    Ok(Outcomes { each, full })
}

/// Whether a log lets the call pass, because it has room or remembers an admission; and whether it has to be repaired, which
/// does not change its number of units.
fn look<L: Log>(log: &mut L, now_us: i64, request: &Request, outcome: &mut Outcome) -> (bool, bool) {
    let mut ends = Ends::read(log);
    if repeat(log, ends.as_ref(), now_us, request, outcome) {
        return (outcome.receipt.is_some(), false);
    }
    let is_ahead = ends.as_ref().is_some_and(|ends| ends.is_ahead(now_us, request));
    let passes = request.force || has_room(log, &mut ends, now_us, request, &mut outcome.summed);
    (passes, is_ahead)
}

/// Records the call in each log that does not remember it. What a write sets off may take the room in the next log, or
/// put something else in its place: then the call is taken back from the logs before it. Answers the log without room.
fn record<L: Logs + ?Sized>(
    logs: &mut L,
    now_us: i64,
    requests: &[Request],
    random: &impl Fn() -> u64,
    each: &mut [Outcome],
) -> Result<Option<usize>, Error> {
    for (nth, request) in requests.iter().enumerate() {
        let Some(outcome) = each.get_mut(nth).filter(|outcome| !outcome.is_repeat) else { continue };
        let alone = Request { resolution_us: None, ..*request };
        let failed = match logs.write(nth, |log| check(log, now_us, &alone, random)) {
            Ok(Ok(checked)) if checked.receipt.is_some() => {
                *outcome = checked;
                continue;
            }
            Ok(Ok(_)) => Ok(Some(nth)),
            Ok(Err(error)) | Err(error) => Err(error),
        };
        for (before, outcome) in each.iter_mut().enumerate().take(nth) {
            if let Some(receipt) = outcome.receipt.take_if(|_| !outcome.is_repeat) {
                let refunded = Refund { of: Admitted::Receipt(receipt), units: None };
                let _ = logs.write(before, |log| refund(log, &refunded));
            }
        }
        return failed;
    }
    Ok(None)
}

/// Says how each window stands, where the request asks.
fn stand<L: Log>(log: &mut L, now_us: i64, request: &Request, outcome: &mut Outcome) {
    let ends = Ends::read(log);
    outcome.standings = standings(log, ends.as_ref(), now_us, request, &mut outcome.summed);
}
