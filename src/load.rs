//! What happens when the server loads the module.

use crate::api::Api;
use crate::{info, table, warn};
use redis_module::{raw, Context, RedisString, Status};

/// 0.1.0 as the number that MODULE LIST shows: major * 10000 + minor * 100 + patch.
pub const VERSION: i32 = 100;

/// Probes the server and registers the commands. Refuses to load only where no call could work.
pub fn on_load(ctx: &Context, _args: &[RedisString]) -> Status {
    std::panic::set_hook(Box::new(warn::panicked));
    if let Err(function) = Api::load() {
        ctx.log_warning(&format!("slidewin cannot load: the server has no {function}"));
        return Status::Err;
    }
    // SAFETY: the context is that of OnLoad; RedisModule_Init has set the statics.
    unsafe {
        if let Err(command) = table::register(ctx.ctx) {
            ctx.log_warning(&format!("slidewin cannot load: {} is refused", command.to_string_lossy()));
            return Status::Err;
        }
        info::register(ctx.ctx);
        // Closing a key that was opened for writing would signal it modified, also where a call was refused.
        if let Some(set_options) = raw::RedisModule_SetModuleOptions {
            set_options(ctx.ctx, raw::REDISMODULE_OPTION_NO_IMPLICIT_SIGNAL_MODIFIED as i32);
        }
    }
    ctx.log_notice("slidewin 0.1.0 loaded");
    Status::Ok
}
