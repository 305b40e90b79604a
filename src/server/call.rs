//! One call of a command: its arguments, and the reply to it.

use super::api::Api;
use crate::command::{Error, Reply};
use redis_module::raw::{self, RedisModuleCtx, RedisModuleString};
use slidewin_core::Id;
use std::ffi::{c_int, c_long, CStr};

/// A command that the server is running. Valid until its handler returns.
pub struct Call<'a> {
    /// The server's functions.
    pub(super) api: &'static Api,
    /// The server's context of the call.
    pub(super) ctx: *mut RedisModuleCtx,
    argv: &'a [*mut RedisModuleString],
}

impl<'a> Call<'a> {
    /// Takes what a handler was given; `None` for no arguments, which no server passes.
    ///
    /// # Safety
    /// The three arguments are those of a command handler, and the call does not outlive it.
    pub(super) unsafe fn new(
        api: &'static Api,
        ctx: *mut RedisModuleCtx,
        argv: *mut *mut RedisModuleString,
        argc: c_int,
    ) -> Option<Self> {
        let argc = usize::try_from(argc).ok().filter(|&argc| argc > 0 && !argv.is_null())?;
        // SAFETY: the server passes `argc` strings at `argv`, which live as long as the handler runs.
        Some(Call { api, ctx, argv: unsafe { std::slice::from_raw_parts(argv, argc) } })
    }

    /// The name of the key, which the arity of each command assures.
    pub(super) fn key(&self) -> Result<*mut RedisModuleString, Error> {
        self.argument(1)
    }

    /// The argument at this position; the name of the command is at 0.
    pub(super) fn argument(&self, position: usize) -> Result<*mut RedisModuleString, Error> {
        self.argv.get(position).copied().ok_or(Error::Arity)
    }

    /// The bytes of the name of the key. They live as long as the call.
    pub fn key_bytes(&self) -> Result<&'a [u8], Error> {
        // SAFETY: an argument lives as long as the handler runs.
        self.key().map(|key| unsafe { self.bytes(key) })
    }

    /// The arguments from `position` on; the name of the command is at 0.
    pub fn arguments_from(&self, position: usize) -> impl Iterator<Item = &'a [u8]> + '_ {
        self.argv.iter().skip(position).map(|&arg| {
            // SAFETY: an argument lives as long as the handler runs.
            unsafe { self.bytes(arg) }
        })
    }

    /// The bytes of a string.
    ///
    /// # Safety
    /// `text` is a string of the server that is neither changed nor freed while the bytes are in use.
    pub(super) unsafe fn bytes<'b>(&self, text: *const RedisModuleString) -> &'b [u8] {
        let mut length = 0;
        // SAFETY: `text` is valid; the server answers with its bytes and writes their number.
        unsafe {
            let start = (self.api.string_ptr_len)(text, &mut length);
            std::slice::from_raw_parts(start.cast(), length)
        }
    }

    /// Publishes a keyspace event of the module class for the key of the call. No key may be open: subscribers run
    /// at once, and may delete it. Costs a comparison where nobody has enabled that class.
    pub fn notify(&self, event: &CStr) {
        if let Ok(key) = self.key() {
            self.notify_of(key, event);
        }
    }

    /// The same for a key among the arguments.
    pub(super) fn notify_of(&self, key: *mut RedisModuleString, event: &CStr) {
        // SAFETY: context and name are those of the running call; the server copies the event.
        unsafe { (self.api.notify)(self.ctx, raw::REDISMODULE_NOTIFY_MODULE, event.as_ptr(), key) };
    }

    /// Answers the caller.
    pub(super) fn reply(&self, result: Result<Reply, Error>) -> c_int {
        let (api, ctx) = (self.api, self.ctx);
        let integer = |value| {
            // SAFETY: `ctx` is that of the running handler.
            unsafe { (api.reply_integer)(ctx, value) };
        };
        let array = |length: usize| {
            // SAFETY: as above; whoever calls this sends as many items.
            unsafe { (api.reply_array)(ctx, length as c_long) };
        };
        let bytes = |bytes: &[u8]| {
            // SAFETY: as above; the server copies the bytes.
            unsafe { (api.reply_bytes)(ctx, bytes.as_ptr().cast(), bytes.len()) };
        };
        match result.map_err(Error::text) {
            Ok(Reply::Integer(value)) => integer(value),
            Ok(Reply::Standings(admitted, standings)) => {
                array(standings.len().saturating_mul(5).saturating_add(1));
                integer(admitted);
                for standing in standings {
                    integer(standing.limit as i64);
                    integer(standing.remaining as i64);
                    integer(standing.retry_after_ms.unwrap_or(-1));
                    integer(standing.reset_after_ms);
                    integer(standing.oldest_after_ms);
                }
            }
            Ok(Reply::Place(receipt, wait_ms)) => {
                array(2);
                integer(receipt);
                integer(wait_ms);
            }
            Ok(Reply::Log(admissions)) => {
                array(admissions.len());
                for admission in admissions {
                    array(4);
                    integer(admission.time_us);
                    integer(i64::try_from(admission.units).unwrap_or(i64::MAX));
                    integer(admission.receipt.unwrap_or(0));
                    bytes(admission.id.as_ref().map_or(b"", Id::token));
                }
            }
            Ok(Reply::Offenders(offenders)) => {
                array(offenders.len());
                for offender in offenders {
                    array(3);
                    bytes(&offender.key);
                    integer(offender.count as i64);
                    integer(offender.error as i64);
                }
            }
            Err(Some(text)) => {
                // SAFETY: as above; the text ends in NUL and is copied.
                unsafe { (api.reply_error)(ctx, text.as_ptr()) };
            }
            Err(None) => {
                // SAFETY: as above.
                unsafe { (api.wrong_arity)(ctx) };
            }
        }
        raw::REDISMODULE_OK as c_int
    }
}
