//! The table of commands, and their registration.

use super::docs::{describe, Arg, Docs, KeyUse};
use super::guard;
use super::keys::tell_positions;
use crate::command::{check, log, mcheck, offenders, peek, refund, reserve};
use redis_module::raw::{self, RedisModuleCtx, RedisModuleString};
use std::ffi::{c_int, CStr};

type Handler = unsafe extern "C" fn(*mut RedisModuleCtx, *mut *mut RedisModuleString, c_int) -> c_int;

/// One command, as the server is told of it.
struct Command {
    name: &'static CStr,
    handler: Handler,
    flags: &'static CStr,
    /// ACL categories, where the server takes them: 7.2 and later.
    categories: &'static CStr,
    docs: Docs,
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

/// Servers ask this handler also which of the arguments are keys.
unsafe extern "C" fn mcheck_handler(
    ctx: *mut RedisModuleCtx,
    argv: *mut *mut RedisModuleString,
    argc: c_int,
) -> c_int {
    // SAFETY: the server calls this as a command handler.
    unsafe {
        if tell_positions(ctx, argv, argc) {
            return raw::REDISMODULE_OK as c_int;
        }
        guard::run(mcheck, ctx, argv, argc)
    }
}

const WINDOWS: Arg = Arg::group(c"windows", &[Arg::text(c"window"), Arg::integer(c"limit")]);
const COST: Arg = Arg::integer(c"units").behind(c"COST");
const ID: Arg = Arg::text(c"token").behind(c"ID");
const WITHQUOTA: Arg = Arg::option(c"withquota", c"WITHQUOTA");

const COMMANDS: &[Command] = &[
    Command {
        name: c"slidewin.check",
        handler: handler!(check),
        flags: c"write fast deny-oom",
        categories: c"write fast sortedset",
        docs: Docs {
            summary: c"Admits a call if every sliding window has room for it, and records it; or refuses it and changes nothing.",
            complexity: c"O(log N) for N entries in the log, whatever the cost and however many have expired.",
            arity: -4,
            key: Some(KeyUse::ReadWrite),
            args: &[
                Arg::KEY,
                WINDOWS,
                COST,
                Arg::text(c"duration").behind(c"RESOLUTION"),
                Arg::option(c"force", c"FORCE"),
                ID,
                Arg::option(c"receipt", c"RECEIPT"),
                WITHQUOTA,
            ],
        },
    },
    Command {
        name: c"slidewin.mcheck",
        handler: mcheck_handler,
        flags: c"write deny-oom getkeys-api",
        categories: c"write sortedset",
        docs: Docs {
            summary: c"Admits a call if every sliding window of every key has room for it, and records it in each key; or refuses it and records it in none.",
            complexity: c"O(K log N) for K keys with N entries in the log, whatever the cost and however many have expired.",
            arity: -5,
            key: Some(KeyUse::ReadWriteSeveral),
            args: &[
                Arg::integer(c"numkeys"),
                Arg::group(c"keys", &[Arg::KEY, Arg::text(c"window"), Arg::integer(c"limit")]),
                COST,
                Arg::option(c"force", c"FORCE"),
                ID,
                WITHQUOTA,
            ],
        },
    },
    Command {
        name: c"slidewin.peek",
        handler: handler!(peek),
        flags: c"readonly fast",
        categories: c"read fast sortedset",
        docs: Docs {
            summary: c"Answers what SLIDEWIN.CHECK would decide. Never writes.",
            complexity: c"O(log N) for N entries in the log.",
            arity: -4,
            key: Some(KeyUse::Read),
            args: &[Arg::KEY, WINDOWS, COST, WITHQUOTA],
        },
    },
    Command {
        name: c"slidewin.reserve",
        handler: handler!(reserve),
        flags: c"write fast deny-oom",
        categories: c"write fast sortedset",
        docs: Docs {
            summary: c"Takes a place in line: the earliest time at which every sliding window has room, after all places taken before. Answers its receipt and the ms to wait.",
            complexity: c"O(log N) for N entries in the log, whatever the cost and however many have expired.",
            arity: -5,
            key: Some(KeyUse::ReadWrite),
            args: &[Arg::KEY, Arg::text(c"max-wait"), WINDOWS, COST, ID],
        },
    },
    Command {
        name: c"slidewin.refund",
        handler: handler!(refund),
        flags: c"write",
        categories: c"write sortedset",
        docs: Docs {
            summary: c"Gives back what one admission took, all that is left of it or some units. Answers the units given back.",
            complexity: c"O(M log N) for N entries in the log, M of them on the shorter side of the receipt, at most 1000.",
            arity: -3,
            key: Some(KeyUse::ReadWrite),
            args: &[
                Arg::KEY,
                Arg::one_of(c"admission", &[Arg::integer(c"receipt"), Arg::text(c"token").after(c"ID")]),
                COST,
            ],
        },
    },
    Command {
        name: c"slidewin.log",
        handler: handler!(log),
        flags: c"readonly",
        categories: c"read sortedset",
        docs: Docs {
            summary: c"Lists the newest admissions of a key, newest first: time, units, receipt and ID. Never writes.",
            complexity: c"O(log N + M) for N entries in the log, M of them listed, at most 1000.",
            arity: -2,
            key: Some(KeyUse::Read),
            args: &[Arg::KEY, Arg::integer(c"n").behind(c"COUNT")],
        },
    },
    Command {
        name: c"slidewin.offenders",
        handler: handler!(offenders),
        flags: c"readonly admin",
        categories: c"admin dangerous",
        docs: Docs {
            summary: c"Lists the keys that were refused most often lately, on this node: key, count, and by how much the count may be too high.",
            complexity: c"O(1): at most 256 keys are tracked.",
            arity: -1,
            key: None,
            args: &[Arg::integer(c"n").behind(c"COUNT"), Arg::option(c"reset", c"RESET")],
        },
    },
];

/// Registers every command; the name of one that the server refuses is the error.
///
/// # Safety
/// `ctx` is that of the module's OnLoad.
pub unsafe fn register(ctx: *mut RedisModuleCtx) -> Result<(), &'static CStr> {
    for command in COMMANDS {
        let has_several = matches!(command.docs.key, Some(KeyUse::ReadWriteSeveral));
        let key_position = c_int::from(command.docs.key.is_some() && !has_several);
        // SAFETY: RedisModule_Init has set the statics; the strings live for ever.
        unsafe {
            let create = raw::RedisModule_CreateCommand.ok_or(command.name)?;
            let (name, flags) = (command.name.as_ptr(), command.flags.as_ptr());
            let handler = Some(command.handler);
            if create(ctx, name, handler, flags, key_position, key_position, key_position)
                != raw::REDISMODULE_OK as c_int
            {
                return Err(command.name);
            }
            // Missing from 6.2: it has neither docs nor categories for modules.
            let Some(get) = raw::RedisModule_GetCommand else { continue };
            let created = get(ctx, name);
            describe(created, &command.docs);
            if let Some(set_categories) = raw::RedisModule_SetCommandACLCategories {
                set_categories(created, command.categories.as_ptr());
            }
        }
    }
    Ok(())
}
