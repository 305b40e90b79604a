//! Everything that a call writes: each write is made, and is replicated as the same ordinary command.

use super::clock;
use super::key::{Key, OwnedString};
use crate::operator::log_lines;
use redis_module::raw::{RedisModuleCtx, RedisModuleKey, RedisModuleString, REDISMODULE_OK};
use slidewin_core::{Error, Record, Scored};
use std::ffi::{c_char, c_int, c_longlong, CStr};

/// How many members a removal without bound holds at a time.
const REMOVE_AT_ONCE: usize = 1_000;

impl<'a> Record for Key<'a> {
    fn add(&mut self, score_us: i64, member: &[u8], mark: Option<&[u8]>) -> Result<(), Error> {
        let member = OwnedString::new(self.call, member);
        self.zadd(score_us, &member)?;
        if let Some(mark) = mark {
            let mark = OwnedString::new(self.call, mark);
            // The key has just taken the entry.
            let _ = self.zadd(score_us, &mark);
            // SAFETY: `slsls`: a string, and an integer and a string twice, alive during the call.
            self.replicate(c"ZADD", |ctx, replicate, command| unsafe {
                let (score, types) = (score_us as c_longlong, c"slsls".as_ptr());
                replicate(ctx, command, types, self.name, score, mark.text, score, member.text)
            });
            return Ok(());
        }
        // SAFETY: `sls`: a string, an integer, a string, alive during the call.
        self.replicate(c"ZADD", |ctx, replicate, command| unsafe {
            replicate(ctx, command, c"sls".as_ptr(), self.name, score_us as c_longlong, member.text)
        });
        Ok(())
    }

    fn replace(&mut self, new: &[Scored], gone: &[Vec<u8>]) {
        self.zadd_list(new);
        let removed: Vec<_> = gone.iter().map(|member| OwnedString::new(self.call, member)).collect();
        for member in &removed {
            self.zrem(member);
        }
        self.replicate_list(c"ZREM", &removed);
    }

    fn bundle(&mut self, singles: &[Scored], bundles: &[Scored]) {
        for (_, member) in singles {
            self.zrem(&OwnedString::new(self.call, member));
        }
        if let (Some((from_us, _)), Some((to_us, _))) = (singles.first(), singles.last()) {
            // SAFETY: `sll`: a string and two integers.
            self.replicate(c"ZREMRANGEBYSCORE", |ctx, replicate, command| unsafe {
                replicate(
                    ctx,
                    command,
                    c"sll".as_ptr(),
                    self.name,
                    *from_us as c_longlong,
                    *to_us as c_longlong,
                )
            });
        }
        self.zadd_list(bundles);
    }

    fn trim(&mut self, up_to_us: i64, at_most: usize) -> usize {
        let removed = self.remove_first(f64::NEG_INFINITY, false, up_to_us as f64, at_most);
        if let Some(last_rank) = removed.checked_sub(1) {
            self.replicate_trim(last_rank);
        }
        removed
    }

    fn trim_one(&mut self, oldest: &OwnedString<'a>) {
        self.zrem(oldest);
        self.replicate_trim(0);
    }

    fn remove_after(&mut self, score_us: i64) {
        while self.remove_first(score_us as f64, true, f64::INFINITY, REMOVE_AT_ONCE) == REMOVE_AT_ONCE {}
        let above = format!("({score_us}");
        // SAFETY: `sbc`: a string, bytes with their length, a C string, alive during the call.
        self.replicate(c"ZREMRANGEBYSCORE", |ctx, replicate, command| unsafe {
            let inf = c"+inf".as_ptr();
            replicate(ctx, command, c"sbc".as_ptr(), self.name, above.as_ptr(), above.len(), inf)
        });
    }

    fn unlink(&mut self) {
        // SAFETY: an open key. The server frees a large value in another thread.
        unsafe { (self.call.api.unlink_key)(self.handle) };
        self.is_zset = false;
        // SAFETY: `s`: a string.
        self.replicate(c"UNLINK", |ctx, replicate, command| unsafe {
            replicate(ctx, command, c"s".as_ptr(), self.name)
        });
    }

    fn expire_at(&mut self, at_ms: i64) {
        let api = self.call.api;
        // SAFETY: an open key with a value.
        let set = |set: unsafe extern "C" fn(*mut RedisModuleKey, i64) -> c_int, ms| unsafe {
            set(self.handle, ms)
        };
        match api.set_abs_expire {
            Some(set_abs_expire) => _ = set(set_abs_expire, at_ms),
            None => {
                _ = clock::within_one_ms(|now_ms| set(api.set_expire, at_ms.saturating_sub(now_ms).max(0)))
            }
        }
        // SAFETY: `sl`: a string and an integer.
        self.replicate(c"PEXPIREAT", |ctx, replicate, command| unsafe {
            replicate(ctx, command, c"sl".as_ptr(), self.name, at_ms as c_longlong)
        });
    }
}

type Replicate = unsafe extern "C" fn(*mut RedisModuleCtx, *const c_char, *const c_char, ...) -> c_int;

impl Key<'_> {
    fn zadd(&mut self, score_us: i64, member: &OwnedString) -> Result<(), Error> {
        let mut flags = 0;
        // SAFETY: an open key and a string of ours. The server refuses where the key is no sorted set: a type
        // that it cannot name reads as empty.
        let status =
            unsafe { (self.call.api.zset_add)(self.handle, score_us as f64, member.text, &mut flags) };
        if status != REDISMODULE_OK as c_int {
            return Err(Error::WrongType);
        }
        (self.is_zset, self.is_changed) = (true, true);
        Ok(())
    }

    fn zrem(&mut self, member: &OwnedString) {
        // SAFETY: an open sorted set and a string of ours; null for the flag that we do not read.
        unsafe { (self.call.api.zset_rem)(self.handle, member.text, std::ptr::null_mut()) };
        // The server deletes a set with its last element.
        self.is_zset = self.holds_zset();
        self.is_changed = true;
    }

    /// Removes the first elements in a range of scores: how many there were. A removal ends the walk, so the
    /// walk comes first.
    fn remove_first(&mut self, min: f64, exclusive_min: bool, max: f64, at_most: usize) -> usize {
        let mut members = Vec::new();
        let mut at = self.is_zset.then(|| self.seek_first(min, max, exclusive_min)).flatten();
        while let Some((member, _)) = at {
            members.push(member);
            at = if members.len() < at_most { self.step() } else { None };
        }
        for member in &members {
            self.zrem(member);
        }
        members.len()
    }

    /// Adds members to a set that holds others, and replicates it as one command.
    fn zadd_list(&mut self, new: &[Scored]) {
        let mut added = Vec::with_capacity(new.len().saturating_mul(2));
        for (score_us, member) in new {
            let member = OwnedString::new(self.call, member);
            // The key holds other members, so it is a sorted set and takes this one.
            let _ = self.zadd(*score_us, &member);
            added.push(OwnedString::new(self.call, score_us.to_string().as_bytes()));
            added.push(member);
        }
        self.replicate_list(c"ZADD", &added);
    }

    /// Replicates that the oldest elements were removed, up to that rank.
    fn replicate_trim(&self, last_rank: usize) {
        // SAFETY: `sll`: a string and two integers.
        self.replicate(c"ZREMRANGEBYRANK", |ctx, replicate, command| unsafe {
            replicate(ctx, command, c"sll".as_ptr(), self.name, 0 as c_longlong, last_rank as c_longlong)
        });
    }

    /// Replicates a command with these arguments behind the key.
    fn replicate_list(&self, command: &CStr, arguments: &[OwnedString]) {
        let texts: Vec<*mut RedisModuleString> = arguments.iter().map(|argument| argument.text).collect();
        if !texts.is_empty() {
            // SAFETY: `sv`: a string, and strings with their number, alive during the call.
            self.replicate(command, |ctx, replicate, command| unsafe {
                replicate(ctx, command, c"sv".as_ptr(), self.name, texts.as_ptr(), texts.len())
            });
        }
    }

    /// Replicates a command through `run`, which passes its arguments. Where the command was renamed away
    /// neither replicas nor the AOF can follow: the write stands, and the log says so, once.
    fn replicate(
        &self,
        command: &CStr,
        run: impl FnOnce(*mut RedisModuleCtx, Replicate, *const c_char) -> c_int,
    ) {
        if run(self.call.ctx, self.call.api.replicate, command.as_ptr()) != REDISMODULE_OK as c_int {
            log_lines::not_replicated(command);
        }
    }
}
