//! The border to C: no panic crosses it, since one that did would end the server.

use super::api::Api;
use super::call::Call;
use crate::command::{Error, Reply};
use crate::operator::counters;
use redis_module::raw::{RedisModuleCtx, RedisModuleString, REDISMODULE_ERR};
use std::ffi::c_int;
use std::panic::{catch_unwind, AssertUnwindSafe};

/// Runs `command` and sends its reply. A panic becomes an error reply, and a line in the log.
///
/// # Safety
/// The last three arguments are those of a command handler.
pub unsafe fn run(
    command: fn(&Call) -> Result<Reply, Error>,
    ctx: *mut RedisModuleCtx,
    argv: *mut *mut RedisModuleString,
    argc: c_int,
) -> c_int {
    let Some(api) = Api::get() else { return REDISMODULE_ERR as c_int };
    // SAFETY: as this function's; the call ends here.
    let Some(call) = (unsafe { Call::new(api, ctx, argv, argc) }) else { return REDISMODULE_ERR as c_int };
    // Nothing that a panic leaves half done is used again: the key is closed, the reply was not begun.
    let result = catch_unwind(AssertUnwindSafe(|| {
        plant(&call);
        command(&call)
    }))
    .unwrap_or_else(|_| {
        counters::INTERNAL_ERRORS.add(1);
        Err(Error::Internal)
    });
    if !matches!(result, Ok(_) | Err(Error::Internal)) {
        counters::ARGUMENT_ERRORS.add(1);
    }
    call.reply(result)
}

/// In a debug build the key `slidewin:panic` panics: the test of this border needs a bug.
fn plant(call: &Call) {
    if cfg!(debug_assertions) {
        assert!(call.arguments_from(1).next() != Some(b"slidewin:panic"), "planted");
    }
}
