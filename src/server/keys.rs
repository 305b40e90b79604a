//! Several keys of one call, of which one is open at a time: a write to one may set off what changes another.

use super::api::Api;
use super::call::Call;
use super::docs::KeyUse;
use super::key::{Key, Mode};
use crate::command::Error;
use redis_module::raw::{self, RedisModuleCtx, RedisModuleString};
use slidewin_core::entry::number;
use slidewin_core::Logs;
use std::ffi::{c_int, CStr};

/// The keys that a call names.
pub struct Keys<'a> {
    call: &'a Call<'a>,
    names: Vec<*mut RedisModuleString>,
}

impl<'a> Keys<'a> {
    /// The keys at these positions of the arguments; the name of the command is at 0.
    pub fn new(call: &'a Call<'a>, positions: &[usize]) -> Result<Self, Error> {
        let names = positions.iter().map(|&position| call.argument(position)).collect::<Result<_, _>>()?;
        Ok(Keys { call, names })
    }

    /// The bytes of the name of a key. They live as long as the call.
    pub fn bytes(&self, nth: usize) -> Option<&'a [u8]> {
        // SAFETY: an argument lives as long as the handler runs.
        self.names.get(nth).map(|&name| unsafe { self.call.bytes(name) })
    }

    /// Publishes a keyspace event of the module class for a key.
    pub fn notify(&self, nth: usize, event: &CStr) {
        if let Some(&name) = self.names.get(nth) {
            self.call.notify_of(name, event);
        }
    }

    fn with<T>(
        &self,
        nth: usize,
        mode: Mode,
        run: impl FnOnce(&mut Key<'a>) -> T,
    ) -> Result<T, slidewin_core::Error> {
        let name = self.names.get(nth).ok_or(slidewin_core::Error::WrongType)?;
        let mut key = Key::open_named(self.call, *name, mode)?;
        let answer = run(&mut key);
        key.close();
        Ok(answer)
    }
}

impl<'a> Logs for Keys<'a> {
    type Log = Key<'a>;

    fn read<T>(
        &mut self,
        nth: usize,
        look: impl FnOnce(&mut Key<'a>) -> T,
    ) -> Result<T, slidewin_core::Error> {
        self.with(nth, Mode::Read, look)
    }

    fn write<T>(
        &mut self,
        nth: usize,
        change: impl FnOnce(&mut Key<'a>) -> T,
    ) -> Result<T, slidewin_core::Error> {
        self.with(nth, Mode::Write, change)
    }
}

/// Where the server only asks which of the arguments are keys: tells it, each third one behind their number. Answers
/// whether it was asked.
///
/// # Safety
/// The arguments are those of a command handler.
pub unsafe fn tell_positions(
    ctx: *mut RedisModuleCtx,
    argv: *mut *mut RedisModuleString,
    argc: c_int,
) -> bool {
    // SAFETY: RedisModule_Init has set the statics; the arguments are as this function's.
    unsafe {
        if raw::RedisModule_IsKeysPositionRequest.is_none_or(|is_asked| is_asked(ctx) == 0) {
            return false;
        }
        if let Some(call) = Api::get().and_then(|api| Call::new(api, ctx, argv, argc)) {
            let count = call.arguments_from(1).next().and_then(number).map_or(0, |(count, _)| count);
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            for position in (2..argc).step_by(3).take(count) {
                // 6.2 knows no flags.
                if let Some(tell) = raw::RedisModule_KeyAtPosWithFlags {
                    tell(ctx, position, KeyUse::ReadWrite.flags() as c_int);
                } else if let Some(tell) = raw::RedisModule_KeyAtPos {
                    tell(ctx, position);
                }
            }
        }
        true
    }
}
