//! The log in a sorted set of the server: an open key, and the seeks in it.

use super::call::Call;
use super::{clock, remembered};
use crate::command::Error;
use redis_module::raw::{self, RedisModuleKey, RedisModuleString};
use slidewin_core::{Element, Log};
use std::ffi::c_int;

/// From here on doubles skip integers: no score of ours is as high until 2255.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// What a key is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Nothing is written, also on a replica.
    Read,
    /// Entries may be written.
    Write,
}

/// An open key; closed on drop.
pub struct Key<'a> {
    /// The call that opened it.
    pub(super) call: &'a Call<'a>,
    /// Its name.
    pub(super) name: *mut RedisModuleString,
    /// Null where the key was opened for reading and is missing.
    pub(super) handle: *mut RedisModuleKey,
    /// Whether it holds a sorted set now: without one the server's calls on the value may crash
    /// (8.2.3: GetAbsExpire), so that none is made.
    pub(super) is_zset: bool,
    /// Whether something was written.
    pub(super) is_changed: bool,
}

impl<'a> Key<'a> {
    /// Opens the key that the call names. [`Error::WrongType`] where it holds something else.
    pub fn open(call: &'a Call<'a>, mode: Mode) -> Result<Self, Error> {
        Ok(Self::open_named(call, call.key()?, mode)?)
    }

    /// The same for a key among the arguments.
    pub(super) fn open_named(
        call: &'a Call<'a>,
        name: *mut RedisModuleString,
        mode: Mode,
    ) -> Result<Self, slidewin_core::Error> {
        let flags = match mode {
            Mode::Read => raw::REDISMODULE_READ,
            Mode::Write => raw::REDISMODULE_READ | raw::REDISMODULE_WRITE,
        };
        // SAFETY: context and name are those of the running call.
        let handle = unsafe { (call.api.open_key)(call.ctx, name, flags as c_int) };
        let mut key = Key { call, name, handle, is_zset: false, is_changed: false };
        match key.type_number() {
            raw::REDISMODULE_KEYTYPE_ZSET => key.is_zset = true,
            // What is there, and has a type that the server cannot name, reads as empty too.
            raw::REDISMODULE_KEYTYPE_EMPTY if mode == Mode::Write || handle.is_null() => {}
            _ => return Err(slidewin_core::Error::WrongType),
        }
        Ok(key)
    }

    /// Closes it, and tells watchers and client caches where something was written.
    pub fn close(self) {
        let (call, name, is_changed) = (self.call, self.name, self.is_changed);
        drop(self);
        if is_changed {
            // SAFETY: context and name are those of the running call.
            unsafe { (call.api.signal_modified)(call.ctx, name) };
        }
    }

    /// Whether the key holds a sorted set now.
    pub(super) fn holds_zset(&self) -> bool {
        self.type_number() == raw::REDISMODULE_KEYTYPE_ZSET
    }

    /// As a number: redis-module's own call panics on the types of newer servers.
    fn type_number(&self) -> isize {
        // SAFETY: an open key, or null, which reads as empty.
        unsafe { (self.call.api.key_type)(self.handle) as isize }
    }

    /// The member that the last seek found, and its score.
    fn current(&self) -> Option<(OwnedString<'a>, f64)> {
        let mut score = 0.0;
        // SAFETY: the handle is an open sorted set; the server answers null where there is no element.
        let member = unsafe { (self.call.api.current_element)(self.handle, &mut score) };
        (!member.is_null()).then(|| (OwnedString { call: self.call, text: member }, score))
    }

    /// Goes to the oldest element from `min` to `max`, where it then is.
    pub(super) fn seek_first(
        &mut self,
        min: f64,
        max: f64,
        exclusive_min: bool,
    ) -> Option<(OwnedString<'a>, f64)> {
        // SAFETY: the handle is an open sorted set.
        unsafe { (self.call.api.first_in_range)(self.handle, min, max, c_int::from(exclusive_min), 0) };
        self.current()
    }

    /// Goes to the next element of the walk, where there is one.
    pub(super) fn step(&mut self) -> Option<(OwnedString<'a>, f64)> {
        // SAFETY: follows a seek that found something.
        (unsafe { (self.call.api.range_next)(self.handle) } != 0).then(|| self.current()).flatten()
    }

    /// The score of this member, where the sorted set has it.
    fn score(&self, member: &OwnedString) -> Option<f64> {
        let mut score = 0.0;
        // SAFETY: the handle is an open sorted set; a string of ours.
        let status = unsafe { (self.call.api.zset_score)(self.handle, member.text, &mut score) };
        (status == raw::REDISMODULE_OK as c_int).then_some(score)
    }

    /// A score that is no whole number is none of ours.
    fn element((member, score): (OwnedString<'a>, f64)) -> Element<OwnedString<'a>> {
        let score_us = score as i64;
        if score_us as f64 == score && score.abs() < EXACT {
            Element::new(score_us, member)
        } else {
            Element::foreign(score_us.saturating_add(i64::from(score > 0.0)), member)
        }
    }
}

impl<'a> Log for Key<'a> {
    type Member = OwnedString<'a>;

    fn first_after(&mut self, score_us: i64) -> Option<Element<OwnedString<'a>>> {
        if !self.is_zset {
            return None;
        }
        // The lowest score there is belongs to no entry, but somebody may have written it.
        let min = if score_us == i64::MIN { f64::NEG_INFINITY } else { score_us as f64 };
        self.seek_first(min, f64::INFINITY, score_us != i64::MIN).map(Self::element)
    }

    fn next(&mut self) -> Option<Element<OwnedString<'a>>> {
        self.step().map(Self::element)
    }

    fn last_up_to(&mut self, score_us: i64) -> Option<Element<OwnedString<'a>>> {
        if !self.is_zset {
            return None;
        }
        let max = if score_us == i64::MAX { f64::INFINITY } else { score_us as f64 };
        // SAFETY: the handle is an open sorted set.
        unsafe { (self.call.api.last_in_range)(self.handle, f64::NEG_INFINITY, max, 0, 0) };
        self.current().map(Self::element)
    }

    fn prev(&mut self) -> Option<Element<OwnedString<'a>>> {
        // SAFETY: follows a seek that found something.
        (unsafe { (self.call.api.range_prev)(self.handle) } != 0)
            .then(|| self.current())
            .flatten()
            .map(Self::element)
    }

    fn len(&mut self) -> u64 {
        // SAFETY: an open key, or null, which has no length.
        unsafe { (self.call.api.value_length)(self.handle) as u64 }
    }

    fn score_of(&mut self, member: &[u8]) -> Option<i64> {
        if !self.is_zset {
            return None;
        }
        self.score(&OwnedString::new(self.call, member)).map(|score| score as i64)
    }

    fn expiry_ms(&mut self) -> Option<i64> {
        if !self.is_zset {
            return None;
        }
        let api = self.call.api;
        let never = i64::from(raw::REDISMODULE_NO_EXPIRE);
        // SAFETY: the handle is an open key with a value.
        let get = |get: unsafe extern "C" fn(*mut RedisModuleKey) -> i64| unsafe { get(self.handle) };
        if let Some(get_abs_expire) = api.get_abs_expire {
            return Some(get(get_abs_expire)).filter(|&at_ms| at_ms != never);
        }
        let (in_ms, now_ms) = clock::within_one_ms(|_| get(api.get_expire));
        (in_ms != never).then(|| now_ms.saturating_add(in_ms))
    }

    fn remember(&mut self, element: &Element<OwnedString<'a>>) {
        let &Element { score_us, entry, is_mark, ref member } = element;
        let element = Element { score_us, entry, is_mark, member: member.text };
        // SAFETY: this call runs; name and member are strings of the server.
        unsafe { remembered::put(self.call.api, self.call.bytes(self.name), element) };
    }

    fn remembered(&mut self) -> Option<Element<OwnedString<'a>>> {
        if !self.is_zset {
            return None;
        }
        // SAFETY: this call runs, and the name lives as long as it.
        let Element { score_us, entry, is_mark, member } =
            unsafe { remembered::get(self.call.bytes(self.name)) }?;
        // SAFETY: a string that the table keeps alive. Here it gets a second owner.
        unsafe { (self.call.api.retain_string)(std::ptr::null_mut(), member) };
        let member = OwnedString { call: self.call, text: member };
        let is_there = self.score(&member) == Some(score_us as f64);
        is_there.then_some(Element { score_us, entry, is_mark, member })
    }
}

impl Drop for Key<'_> {
    fn drop(&mut self) {
        // SAFETY: open, or null, which the server takes as well; not used afterwards.
        unsafe { (self.call.api.close_key)(self.handle) };
    }
}

/// A string of the server that is ours; freed on drop.
pub struct OwnedString<'a> {
    call: &'a Call<'a>,
    /// The string.
    pub(super) text: *mut RedisModuleString,
}

impl<'a> OwnedString<'a> {
    /// A copy of `bytes`.
    pub fn new(call: &'a Call<'a>, bytes: &[u8]) -> Self {
        // SAFETY: the server copies the bytes.
        let text = unsafe { (call.api.create_string)(call.ctx, bytes.as_ptr().cast(), bytes.len()) };
        OwnedString { call, text }
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the string lives as long as `self`, and nobody changes it.
        unsafe { self.call.bytes(self.text) }
    }
}

impl AsRef<[u8]> for OwnedString<'_> {
    fn as_ref(&self) -> &[u8] {
        self.bytes()
    }
}

impl Drop for OwnedString<'_> {
    fn drop(&mut self) {
        // SAFETY: ours, and not used afterwards.
        unsafe { (self.call.api.free_string)(self.call.ctx, self.text) };
    }
}
