//! The table of commands, and their registration.

use crate::commands::{check, peek, refund};
use crate::guard;
use redis_module::raw::{self, RedisModuleCtx, RedisModuleString};
use std::ffi::{c_int, CStr};

type Handler = unsafe extern "C" fn(*mut RedisModuleCtx, *mut *mut RedisModuleString, c_int) -> c_int;

/// One command, as the server is told of it.
pub struct Entry {
    /// Its name.
    pub name: &'static CStr,
    handler: Handler,
    flags: &'static CStr,
    /// ACL categories, where the server takes them: 7.2 and later.
    categories: &'static CStr,
}

macro_rules! handler {
    ($command:expr) => {{
        unsafe extern "C" fn handler(
            ctx: *mut RedisModuleCtx,
            argv: *mut *mut RedisModuleString,
            argc: c_int,
        ) -> c_int {
            // SAFETY: the server calls this as a command handler.
            unsafe { guard::run($command, ctx, argv, argc) }
        }
        handler
    }};
}

/// All commands. Each has its key at position 1.
pub const COMMANDS: &[Entry] = &[
    Entry {
        name: c"slidewin.check",
        handler: handler!(check),
        flags: c"write fast deny-oom",
        categories: c"write fast sortedset",
    },
    Entry {
        name: c"slidewin.peek",
        handler: handler!(peek),
        flags: c"readonly fast",
        categories: c"read fast sortedset",
    },
    Entry {
        name: c"slidewin.refund",
        handler: handler!(refund),
        flags: c"write",
        categories: c"write sortedset",
    },
];

/// Registers every command; the name of one that the server refuses is the error.
///
/// # Safety
/// `ctx` is that of the module's OnLoad.
pub unsafe fn register(ctx: *mut RedisModuleCtx) -> Result<(), &'static CStr> {
    for command in COMMANDS {
        // SAFETY: RedisModule_Init has set the statics; the strings live for ever.
        let created = unsafe {
            raw::RedisModule_CreateCommand.map(|create| {
                create(ctx, command.name.as_ptr(), Some(command.handler), command.flags.as_ptr(), 1, 1, 1)
            })
        };
        if created != Some(raw::REDISMODULE_OK as c_int) {
            return Err(command.name);
        }
        // SAFETY: as above; the command exists.
        unsafe {
            if let (Some(get), Some(set)) =
                (raw::RedisModule_GetCommand, raw::RedisModule_SetCommandACLCategories)
            {
                set(get(ctx, command.name.as_ptr()), command.categories.as_ptr());
            }
        }
    }
    Ok(())
}
