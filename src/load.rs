//! What happens when the server loads the module.

use crate::api::Api;
use crate::offenders::Offenders;
use crate::{info, table, warn};
use redis_module::{raw, Context, RedisString, Status};

/// The version as the number that MODULE LIST shows: 1.2.3 is 10203.
pub fn version() -> i32 {
    let parts = env!("CARGO_PKG_VERSION").split('.').filter_map(|part| part.parse::<i32>().ok());
    parts.fold(0, |version, part| version.saturating_mul(100).saturating_add(part))
}

/// Probes the server and registers the commands. Refuses to load only where no call could work.
pub fn on_load(ctx: &Context, _args: &[RedisString]) -> Status {
    std::panic::set_hook(Box::new(warn::panicked));
    let api = match Api::load() {
        Ok(api) => api,
        Err(function) => return refuse(ctx, &format!("the server has no {function}")),
    };
    // SAFETY: the context is that of OnLoad; RedisModule_Init has set the statics.
    unsafe {
        if let Err(command) = table::register(ctx.ctx) {
            return refuse(
                ctx,
                &format!("the server does not take the command {}", command.to_string_lossy()),
            );
        }
        info::register(ctx.ctx);
        // Closing a key that was opened for writing would signal it modified, also where a call was refused.
        if let Some(set_options) = raw::RedisModule_SetModuleOptions {
            set_options(ctx.ctx, raw::REDISMODULE_OPTION_NO_IMPLICIT_SIGNAL_MODIFIED as i32);
        }
    }
    ctx.log_notice(&format!("slidewin {} loaded, with {}", env!("CARGO_PKG_VERSION"), what_is_missing(api)));
    Status::Ok
}

/// Gives the memory back; the keys stay as they are.
pub fn on_unload(_ctx: &Context) -> Status {
    Offenders::here().reset();
    drop(std::panic::take_hook());
    Status::Ok
}

fn refuse(ctx: &Context, why: &str) -> Status {
    ctx.log_warning(&format!("slidewin cannot load: {why}"));
    Status::Err
}

/// What this server lacks: everything else works.
fn what_is_missing(api: &Api) -> String {
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
