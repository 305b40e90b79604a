//! The module's section of INFO: `INFO slidewin_stats`.

use crate::operator::counters;
use redis_module::raw::{self, RedisModuleCtx, RedisModuleInfoCtx};
use std::ffi::c_int;

/// Has the server ask for the section.
///
/// # Safety
/// `ctx` is that of the module's OnLoad.
pub unsafe fn register(ctx: *mut RedisModuleCtx) {
    // SAFETY: RedisModule_Init has set the statics.
    unsafe {
        if let Some(register) = raw::RedisModule_RegisterInfoFunc {
            register(ctx, Some(section));
        }
    }
}

/// Writes the counters: plain calls without anything that could panic.
unsafe extern "C" fn section(ctx: *mut RedisModuleInfoCtx, _for_crash_report: c_int) {
    // SAFETY: the context is that of the running INFO; the server copies the names.
    unsafe {
        let (Some(add_section), Some(add_field)) =
            (raw::RedisModule_InfoAddSection, raw::RedisModule_InfoAddFieldULongLong)
        else {
            return;
        };
        if add_section(ctx, c"stats".as_ptr()) == raw::REDISMODULE_OK as c_int {
            for (name, counter) in counters::ALL {
                add_field(ctx, name.as_ptr(), counter.get());
            }
        }
    }
}
