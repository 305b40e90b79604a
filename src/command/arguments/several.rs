//! The arguments of MCHECK: keys with their windows.

use super::{cost, id, integer, once};
use crate::command::Error;
use slidewin_core::{duration_us, Request, Window, Windows, MAX_UNITS};

/// The most triples of key, window and limit.
const MAX_TRIPLES: u64 = 16;

/// What an MCHECK asks.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Several {
    /// For each key, where it is first named in the call; the name of the command is at 0.
    pub positions: Vec<usize>,
    /// The request for each of these keys, with all its windows.
    pub requests: Vec<Request>,
    /// For each triple, which of these keys it names, and which of its windows.
    pub triples: Vec<(usize, usize)>,
}

/// Parses the arguments of an MCHECK.
pub fn mcheck<'a>(mut args: impl Iterator<Item = &'a [u8]>) -> Result<Several, Error> {
    let count = args.next().ok_or(Error::Arity).and_then(integer::<1, MAX_TRIPLES>(Error::KeyCount))?;
    let mut keys: Vec<(&[u8], Windows)> = Vec::new();
    let mut several = Several::default();
    for triple in 0..count as usize {
        let key = args.next().ok_or(Error::Arity)?;
        let length_us = duration_us(args.next().ok_or(Error::Arity)?).ok_or(Error::Window)?;
        let limit = args.next().ok_or(Error::Arity).and_then(integer::<0, MAX_UNITS>(Error::Limit))?;
        let known = keys.iter().position(|(known, _)| *known == key);
        let nth = known.unwrap_or(keys.len());
        if known.is_none() {
            keys.push((key, Windows::default()));
            several.positions.push(triple.saturating_mul(3).saturating_add(2));
        }
        if let Some((_, windows)) = keys.get_mut(nth) {
            several.triples.push((nth, windows.as_slice().len()));
            windows.push(Window { length_us, limit })?;
        }
    }
    let (mut units, mut force, mut token, mut quota) = (None, None, None, None);
    while let Some(option) = args.next() {
        let is = |name: &[u8]| option.eq_ignore_ascii_case(name);
        if is(b"COST") {
            once(&mut units, cost(args.next())?)?;
        } else if is(b"FORCE") {
            once(&mut force, ())?;
        } else if is(b"ID") {
            once(&mut token, id(args.next())?)?;
        } else if is(b"WITHQUOTA") {
            once(&mut quota, ())?;
        } else {
            return Err(Error::UnknownMcheckOption);
        }
    }
    let request = |windows| Request {
        windows,
        cost: units.unwrap_or(1),
        resolution_us: None,
        force: force.is_some(),
        id: token,
        with_standings: quota.is_some(),
    };
    several.requests = keys.into_iter().map(|(_, windows)| request(windows)).collect();
    Ok(several)
}
