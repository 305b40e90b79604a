//! What happens when the server loads and unloads the module.
//!
//! The `redis_module!` macro would do as much, and leave a context of 17 KB behind for each unload.

use super::api::Api;
use super::{info, remembered, table};
use crate::operator::{log_lines, Offenders};
use redis_module::raw::{self, RedisModuleCtx, RedisModuleString};
use redis_module::Context;
use std::ffi::{c_int, CStr};
use std::panic::catch_unwind;

/// Valkey 9: slots may be moved as a stream while the module is loaded. What it keeps is plain data, and what
/// it replicates are plain commands. Other servers know no such bit.
const HANDLES_ATOMIC_SLOT_MIGRATION: u32 = 1 << 5;

const LOADED_ALREADY: &CStr =
    c"slidewin cannot load: it is loaded already. Look for a second loadmodule line, or for \
    the modules folder of the server's image, and keep one of the two";
const ARGUMENTS: &CStr =
    c"slidewin cannot load: it takes no arguments. Remove what follows the path in the loadmodule line";

/// The version as the number that MODULE LIST shows: 1.2.3 is 10203.
fn version() -> c_int {
    let parts = env!("CARGO_PKG_VERSION").split('.').filter_map(|part| part.parse::<c_int>().ok());
    parts.fold(0, |version, part| version.saturating_mul(100).saturating_add(part))
}

/// What the server calls first.
///
/// # Safety
/// The server passes a context that is valid during the call.
#[no_mangle]
#[allow(non_snake_case)]
pub unsafe extern "C" fn RedisModule_OnLoad(
    ctx: *mut RedisModuleCtx,
    _argv: *mut *mut RedisModuleString,
    argc: c_int,
) -> c_int {
    let api_version = raw::REDISMODULE_APIVER_1 as c_int;
    // SAFETY: the first call there is: it sets the server's functions, the allocator's among them.
    let initialised =
        unsafe { raw::Export_RedisModule_Init(ctx, c"slidewin".as_ptr(), version(), api_version) };
    let refused = if initialised != raw::REDISMODULE_OK as c_int {
        // The only thing that it checks is that the name is free.
        Some(LOADED_ALREADY)
    } else {
        (argc > 0).then_some(ARGUMENTS)
    };
    if let Some(why) = refused {
        // SAFETY: the context of OnLoad. The log is probed, and given a text without a placeholder.
        unsafe {
            if let Some(log) = raw::RedisModule_Log {
                log(ctx, c"warning".as_ptr(), why.as_ptr());
            }
        }
        return raw::REDISMODULE_ERR as c_int;
    }
    std::panic::set_hook(Box::new(log_lines::panicked));
    // SAFETY: the context of OnLoad, with the functions set.
    let loaded = catch_unwind(|| unsafe { load(ctx) });
    match loaded.unwrap_or_else(|_| Err("of an internal error".into())) {
        Ok(missing) => {
            Context::new(ctx)
                .log_notice(&format!("slidewin {} loaded, with {missing}", env!("CARGO_PKG_VERSION")));
            raw::REDISMODULE_OK as c_int
        }
        Err(why) => {
            Context::new(ctx).log_warning(&format!("slidewin cannot load: {why}"));
            raw::REDISMODULE_ERR as c_int
        }
    }
}

/// What the server calls last: gives the memory back. The keys stay as they are.
#[no_mangle]
#[allow(non_snake_case)]
pub extern "C" fn RedisModule_OnUnload(_ctx: *mut RedisModuleCtx) -> c_int {
    Offenders::here().reset();
    if let Some(api) = Api::get() {
        // SAFETY: the server unloads a module while none of its commands runs.
        unsafe { remembered::clear(api) };
    }
    drop(std::panic::take_hook());
    raw::REDISMODULE_OK as c_int
}

/// Probes the server and registers the commands; answers what works. An error only where no call could work.
///
/// # Safety
/// `ctx` is that of OnLoad, and RedisModule_Init has set the statics.
unsafe fn load(ctx: *mut RedisModuleCtx) -> Result<String, String> {
    let api = Api::load().map_err(|function| format!("the server has no {function}"))?;
    // SAFETY: as this function's.
    unsafe {
        table::register(ctx)
            .map_err(|command| format!("the server does not take {}", command.to_string_lossy()))?;
        info::register(ctx);
        if let Some(set_options) = raw::RedisModule_SetModuleOptions {
            // Closing a key that was opened for writing would signal it modified, also where a call was refused.
            let options = raw::REDISMODULE_OPTION_NO_IMPLICIT_SIGNAL_MODIFIED
                | raw::REDISMODULE_OPTIONS_HANDLE_REPL_ASYNC_LOAD
                | HANDLES_ATOMIC_SLOT_MIGRATION;
            set_options(ctx, options as c_int);
        }
    }
    Ok(features(api))
}

/// All features, or those that this server lacks: everything else works.
fn features(api: &Api) -> String {
    // SAFETY: RedisModule_Init has set the statics, and nothing writes them afterwards.
    let (set_info, set_categories) =
        unsafe { (raw::RedisModule_SetCommandInfo, raw::RedisModule_SetCommandACLCategories) };
    let features = [
        (set_info.is_some(), "COMMAND DOCS and key specs"),
        (set_categories.is_some(), "ACL categories"),
        (api.get_abs_expire.is_some() && api.set_abs_expire.is_some(), "exact expiry"),
    ];
    let missing: Vec<_> = features.iter().filter(|(has, _)| !has).map(|(_, feature)| *feature).collect();
    if missing.is_empty() {
        return "all features".into();
    }
    format!("no {} on this server", missing.join(" and no "))
}
