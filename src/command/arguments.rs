//! The arguments of each command, from bytes to checked values. Everything is parsed before a key is opened.

mod several;

pub use several::mcheck;

use super::Error;
use crate::operator::TRACKED;
use slidewin_core::entry::number;
use slidewin_core::{duration_us, Admitted, Id, Refund, Request, Window, Windows, MAX_UNITS};

/// The most admissions that LOG lists.
const MAX_LISTED: u64 = 1_000;

/// Parses what follows the key of a CHECK: the request, and whether it is answered with the receipt.
pub fn check<'a>(args: impl Iterator<Item = &'a [u8]>) -> Result<(Request, bool), Error> {
    windowed(args, Command::Check)
}

/// Parses what follows the key of a PEEK.
pub fn peek<'a>(args: impl Iterator<Item = &'a [u8]>) -> Result<Request, Error> {
    windowed(args, Command::Peek).map(|(request, _)| request)
}

/// Parses what follows the key of a RESERVE: the request, and how long the caller waits at most, in µs.
pub fn reserve<'a>(mut args: impl Iterator<Item = &'a [u8]>) -> Result<(Request, i64), Error> {
    let max_wait = args.next().ok_or(Error::Arity)?;
    let (request, _) = windowed(args, Command::Reserve)?;
    let max_wait_us = if max_wait == b"0" { Some(0) } else { duration_us(max_wait) };
    let is_in_range = |max_wait_us: &i64| *max_wait_us <= request.windows.longest_us();
    Ok((request, max_wait_us.filter(is_in_range).ok_or(Error::MaxWait)?))
}

/// Parses what follows the key of a REFUND.
pub fn refund<'a>(mut args: impl Iterator<Item = &'a [u8]>) -> Result<Refund, Error> {
    let first = args.next().ok_or(Error::Arity)?;
    let of = if first.eq_ignore_ascii_case(b"ID") {
        Admitted::Id(id(args.next())?)
    } else {
        Admitted::Receipt(integer::<1, { i64::MAX as u64 }>(Error::Receipt)(first)? as i64)
    };
    let mut units = None;
    while let Some(option) = args.next() {
        if !option.eq_ignore_ascii_case(b"COST") {
            return Err(Error::UnknownRefundOption);
        }
        once(&mut units, cost(args.next())?)?;
    }
    Ok(Refund { of, units })
}

/// Parses what follows the key of a LOG: how many admissions to list.
pub fn log<'a>(mut args: impl Iterator<Item = &'a [u8]>) -> Result<usize, Error> {
    let mut count = None;
    while let Some(option) = args.next() {
        if !option.eq_ignore_ascii_case(b"COUNT") {
            return Err(Error::UnknownLogOption);
        }
        let listed = args.next().ok_or(Error::Arity).and_then(integer::<1, MAX_LISTED>(Error::LogCount))?;
        once(&mut count, listed as usize)?;
    }
    Ok(count.unwrap_or(10))
}

/// Parses the arguments of OFFENDERS: how many keys to list, and whether to forget all of them afterwards.
pub fn offenders<'a>(mut args: impl Iterator<Item = &'a [u8]>) -> Result<(usize, bool), Error> {
    let (mut count, mut reset) = (None, None);
    while let Some(option) = args.next() {
        if option.eq_ignore_ascii_case(b"COUNT") {
            let listed =
                args.next().ok_or(Error::Arity).and_then(integer::<1, { TRACKED as u64 }>(Error::Count))?;
            once(&mut count, listed as usize)?;
        } else if option.eq_ignore_ascii_case(b"RESET") {
            once(&mut reset, ())?;
        } else {
            return Err(Error::UnknownOffendersOption);
        }
    }
    Ok((count.unwrap_or(10), reset.is_some()))
}

/// Whose options follow the windows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Command {
    Check,
    Peek,
    Reserve,
}

fn windowed<'a>(args: impl Iterator<Item = &'a [u8]>, command: Command) -> Result<(Request, bool), Error> {
    let mut args = args.peekable();
    let mut windows = Windows::default();
    loop {
        let length_us = duration_us(args.next().ok_or(Error::Arity)?).ok_or(Error::Window)?;
        let limit = args.next().ok_or(Error::Arity).and_then(integer::<0, MAX_UNITS>(Error::Limit))?;
        windows.push(Window { length_us, limit })?;
        // A window starts with a digit and an option with a letter, so the two cannot be confused.
        if args.peek().is_none_or(|next| next.first().is_some_and(u8::is_ascii_alphabetic)) {
            break;
        }
    }

    let (mut units, mut resolution_us) = (None, None);
    let (mut force, mut token, mut receipt, mut quota) = (None, None, None, None);
    while let Some(option) = args.next() {
        let is = |name: &[u8]| option.eq_ignore_ascii_case(name);
        if is(b"COST") {
            once(&mut units, cost(args.next())?)?;
        } else if is(b"WITHQUOTA") && command != Command::Reserve {
            once(&mut quota, ())?;
        } else if is(b"ID") && command != Command::Peek {
            once(&mut token, id(args.next())?)?;
        } else if command == Command::Peek {
            return Err(Error::UnknownPeekOption);
        } else if command == Command::Reserve {
            return Err(Error::UnknownReserveOption);
        } else if is(b"RESOLUTION") {
            let length = duration_us(args.next().ok_or(Error::Arity)?).ok_or(Error::Resolution)?;
            once(&mut resolution_us, length)?;
        } else if is(b"FORCE") {
            once(&mut force, ())?;
        } else if is(b"RECEIPT") {
            once(&mut receipt, ())?;
        } else {
            return Err(Error::UnknownCheckOption);
        }
    }
    if resolution_us.is_some_and(|length| length > windows.shortest_us()) {
        return Err(Error::Resolution);
    }
    if resolution_us.is_some() && receipt.is_some() {
        return Err(Error::ResolutionWithReceipt);
    }
    if resolution_us.is_some() && token.is_some() {
        return Err(Error::ResolutionWithId);
    }
    let request = Request {
        windows,
        cost: units.unwrap_or(1),
        resolution_us,
        force: force.is_some(),
        id: token,
        with_standings: quota.is_some(),
    };
    Ok((request, receipt.is_some()))
}

fn once<T>(place: &mut Option<T>, value: T) -> Result<(), Error> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(Error::RepeatedOption),
    }
}

fn id(arg: Option<&[u8]>) -> Result<Id, Error> {
    arg.ok_or(Error::Arity).and_then(|token| Id::new(token).ok_or(Error::Id))
}

fn cost(arg: Option<&[u8]>) -> Result<u64, Error> {
    arg.ok_or(Error::Arity).and_then(integer::<1, MAX_UNITS>(Error::Cost))
}

/// A parser of what Redis takes as an integer (no sign, no leading zero, no blank), within bounds.
fn integer<const MIN: u64, const MAX: u64>(error: Error) -> impl Fn(&[u8]) -> Result<u64, Error> {
    move |arg| match number(arg) {
        Some((value, b"")) if (MIN..=MAX).contains(&value) => Ok(value),
        _ => Err(error),
    }
}

#[cfg(test)]
mod tests;
