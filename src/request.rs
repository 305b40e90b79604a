//! The arguments of a command, from bytes to checked values. Imports nothing of the server.

use crate::entry::number;
use crate::offenders::TRACKED;
use std::ffi::CStr;

/// The most pairs of window and limit in one call.
pub const MAX_WINDOWS: usize = 8;
/// The largest limit, cost and receipt: integers up to here are exact in a double.
const MAX_UNITS: u64 = (1 << 53) - 1;
const MIN_WINDOW_US: i64 = 1_000;
/// The longest window, 3650 days.
pub const MAX_WINDOW_US: i64 = 3650 * 86_400 * 1_000_000;

/// What is wrong with a call. The texts are part of the contract; none repeats the caller's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    Arity,
    Window,
    Limit,
    Cost,
    Resolution,
    Receipt,
    TooManyWindows,
    UnknownCheckOption,
    UnknownPeekOption,
    UnknownRefundOption,
    RepeatedOption,
    ResolutionWithReceipt,
    RefundTooDeep,
    Count,
    UnknownOffendersOption,
    WrongType,
    Internal,
}

impl Error {
    /// The whole error reply, or `None` for arity, which the server words itself.
    pub fn text(self) -> Option<&'static CStr> {
        Some(match self {
            Error::Arity => return None,
            Error::Window => c"ERR window must be a duration from 1ms to 3650d, such as 60, 0.5, 250ms, 5m or 24h",
            Error::Limit => c"ERR limit must be an integer from 0 to 9007199254740991",
            Error::Cost => c"ERR cost must be an integer from 1 to 9007199254740991",
            Error::Resolution => c"ERR resolution must be a duration from 1ms to the shortest window",
            Error::Receipt => c"ERR receipt must be a positive integer",
            Error::TooManyWindows => c"ERR at most 8 windows in one call",
            Error::UnknownCheckOption => {
                c"ERR unknown option, expected COST, RESOLUTION, FORCE, RECEIPT or WITHQUOTA after the windows"
            }
            Error::UnknownPeekOption => c"ERR unknown option, expected COST or WITHQUOTA after the windows",
            Error::UnknownRefundOption => c"ERR unknown option, expected COST after the receipt",
            Error::RepeatedOption => c"ERR an option may be given only once",
            Error::ResolutionWithReceipt => c"ERR RESOLUTION and RECEIPT exclude each other",
            Error::RefundTooDeep => c"ERR more than 1000 entries lie on both sides of the receipt, nothing was refunded",
            Error::Count => c"ERR count must be an integer from 1 to 256",
            Error::UnknownOffendersOption => c"ERR unknown option, expected COUNT or RESET",
            Error::WrongType => c"WRONGTYPE Operation against a key holding the wrong kind of value",
            Error::Internal => c"ERR slidewin internal error, nothing was decided; the server log says more",
        })
    }
}

/// One limit: so many units in any interval of this length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Length of the interval.
    pub length_us: i64,
    /// Units admitted in any interval of that length.
    pub limit: u64,
}

/// One to eight windows, on the stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Windows {
    pairs: [Window; MAX_WINDOWS],
    count: usize,
}

impl Windows {
    /// Adds a window, or says that there is no room.
    pub fn push(&mut self, window: Window) -> Result<(), Error> {
        let place = self.pairs.get_mut(self.count).ok_or(Error::TooManyWindows)?;
        *place = window;
        self.count = self.count.saturating_add(1);
        Ok(())
    }

    /// The windows in the order of the call.
    pub fn as_slice(&self) -> &[Window] {
        self.pairs.get(..self.count).unwrap_or_default()
    }

    /// The length of the longest window.
    pub fn longest_us(&self) -> i64 {
        self.as_slice().iter().map(|window| window.length_us).max().unwrap_or(MAX_WINDOW_US)
    }

    /// The length of the shortest window.
    pub fn shortest_us(&self) -> i64 {
        self.as_slice().iter().map(|window| window.length_us).min().unwrap_or(MIN_WINDOW_US)
    }
}

/// What CHECK and PEEK are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// All must hold.
    pub windows: Windows,
    /// Units that this call takes.
    pub cost: u64,
    /// Admissions of one slot of this length share an entry.
    pub resolution_us: Option<i64>,
    /// Admit whatever the limits say.
    pub force: bool,
    /// Answer with the receipt in place of 1.
    pub receipt: bool,
    /// Answer with the array.
    pub quota: bool,
}

/// What REFUND is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refund {
    /// The score of the entry.
    pub receipt: i64,
    /// Units to give back; `None`: all that is left of it.
    pub units: Option<u64>,
}

/// What OFFENDERS is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offenders {
    /// How many keys to list.
    pub count: usize,
    /// Whether to forget all of them afterwards.
    pub reset: bool,
}

/// Parses what follows the key of a CHECK.
pub fn check<'a>(args: impl Iterator<Item = &'a [u8]>) -> Result<Request, Error> {
    windowed(args, true)
}

/// Parses what follows the key of a PEEK.
pub fn peek<'a>(args: impl Iterator<Item = &'a [u8]>) -> Result<Request, Error> {
    windowed(args, false)
}

/// Parses what follows the key of a REFUND.
pub fn refund<'a>(mut args: impl Iterator<Item = &'a [u8]>) -> Result<Refund, Error> {
    let receipt =
        args.next().ok_or(Error::Arity).and_then(integer::<1, { i64::MAX as u64 }>(Error::Receipt))?;
    let mut units = None;
    while let Some(option) = args.next() {
        if !option.eq_ignore_ascii_case(b"COST") {
            return Err(Error::UnknownRefundOption);
        }
        once(&mut units, cost(args.next())?)?;
    }
    Ok(Refund { receipt: receipt as i64, units })
}

/// Parses the arguments of OFFENDERS.
pub fn offenders<'a>(mut args: impl Iterator<Item = &'a [u8]>) -> Result<Offenders, Error> {
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
    Ok(Offenders { count: count.unwrap_or(10), reset: reset.is_some() })
}

fn windowed<'a>(args: impl Iterator<Item = &'a [u8]>, check: bool) -> Result<Request, Error> {
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
    let (mut force, mut receipt, mut quota) = (None, None, None);
    while let Some(option) = args.next() {
        let is = |name: &[u8]| option.eq_ignore_ascii_case(name);
        if is(b"COST") {
            once(&mut units, cost(args.next())?)?;
        } else if is(b"WITHQUOTA") {
            once(&mut quota, ())?;
        } else if !check {
            return Err(Error::UnknownPeekOption);
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
    Ok(Request {
        windows,
        cost: units.unwrap_or(1),
        resolution_us,
        force: force.is_some(),
        receipt: receipt.is_some(),
        quota: quota.is_some(),
    })
}

fn once<T>(place: &mut Option<T>, value: T) -> Result<(), Error> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(Error::RepeatedOption),
    }
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

/// A duration in µs: `60`, `0.5`, `250ms`, `1.5h`. `None` for anything that is not exactly that, is finer
/// than 1 µs, or lies outside 1ms to 3650d.
fn duration_us(text: &[u8]) -> Option<i64> {
    let (whole, mut suffix) = number(text)?;
    let mut fraction: Option<&[u8]> = None;
    if let Some(after) = suffix.strip_prefix(b".") {
        let digits = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
        (fraction, suffix) = (after.get(..digits), after.get(digits..)?);
    }
    let unit_us: u64 = match suffix {
        b"ms" => 1_000,
        b"" | b"s" => 1_000_000,
        b"m" => 60_000_000,
        b"h" => 3_600_000_000,
        b"d" => 86_400_000_000,
        _ => return None,
    };
    let mut length_us = whole.checked_mul(unit_us)?;
    if let Some(digits) = fraction {
        length_us = length_us.checked_add(fraction_us(digits, unit_us)?)?;
    }
    i64::try_from(length_us).ok().filter(|length_us| (MIN_WINDOW_US..=MAX_WINDOW_US).contains(length_us))
}

/// What `0.digits` of a unit are in µs, where that is a whole number.
fn fraction_us(digits: &[u8], unit_us: u64) -> Option<u64> {
    let last = digits.iter().rposition(|&digit| digit != b'0').unwrap_or(0);
    let significant = digits.get(..=last)?;
    let scaled = significant
        .iter()
        .try_fold(0_u128, |value, digit| value.checked_mul(10)?.checked_add(u128::from(digit & 0x0f)))?;
    let scale = 10_u128.checked_pow(u32::try_from(significant.len()).ok()?)?;
    let us = scaled.checked_mul(u128::from(unit_us))?;
    let is_whole = us.checked_rem(scale)? == 0;
    is_whole.then(|| u64::try_from(us.checked_div(scale)?).ok()).flatten()
}

#[cfg(test)]
mod tests;
