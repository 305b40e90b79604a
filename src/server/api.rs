//! The server's functions that a call needs, probed once when the module is loaded.
//!
//! redis-module offers these only as `Option<fn>`. What is optional here is missing from some server that we
//! support; without one of the others the module refuses to load.

use redis_module::raw::{self, RedisModuleCtx, RedisModuleKey, RedisModuleString};
use std::ffi::{c_char, c_double, c_int, c_longlong};
use std::sync::OnceLock;

static API: OnceLock<Api> = OnceLock::new();

macro_rules! api {
    ($($(#[$doc:meta])* $field:ident = $function:ident $(or $none:ident)?: $kind:ty;)*) => {
        /// The functions, by the names of `redismodule.h`.
        pub struct Api {
            $($(#[$doc])* pub $field: $kind,)*
        }

        impl Api {
            fn probe() -> Result<Self, &'static str> {
                // SAFETY: RedisModule_Init has set these statics, and nothing writes them afterwards.
                unsafe { Ok(Api { $($field: api!(@get $function $($none)?),)* }) }
            }
        }
    };
    (@get $function:ident) => { raw::$function.ok_or(stringify!($function))? };
    (@get $function:ident optional) => { raw::$function };
}

type Ctx = *mut RedisModuleCtx;
type Key = *mut RedisModuleKey;
type Text = *mut RedisModuleString;

api! {
    open_key = RedisModule_OpenKey: unsafe extern "C" fn(Ctx, Text, c_int) -> Key;
    close_key = RedisModule_CloseKey: unsafe extern "C" fn(Key);
    key_type = RedisModule_KeyType: unsafe extern "C" fn(Key) -> c_int;
    zset_add = RedisModule_ZsetAdd: unsafe extern "C" fn(Key, c_double, Text, *mut c_int) -> c_int;
    zset_score = RedisModule_ZsetScore: unsafe extern "C" fn(Key, Text, *mut c_double) -> c_int;
    value_length = RedisModule_ValueLength: unsafe extern "C" fn(Key) -> usize;
    zset_rem = RedisModule_ZsetRem: unsafe extern "C" fn(Key, Text, *mut c_int) -> c_int;
    first_in_range = RedisModule_ZsetFirstInScoreRange:
        unsafe extern "C" fn(Key, c_double, c_double, c_int, c_int) -> c_int;
    last_in_range = RedisModule_ZsetLastInScoreRange:
        unsafe extern "C" fn(Key, c_double, c_double, c_int, c_int) -> c_int;
    current_element = RedisModule_ZsetRangeCurrentElement: unsafe extern "C" fn(Key, *mut c_double) -> Text;
    range_next = RedisModule_ZsetRangeNext: unsafe extern "C" fn(Key) -> c_int;
    range_prev = RedisModule_ZsetRangePrev: unsafe extern "C" fn(Key) -> c_int;
    unlink_key = RedisModule_UnlinkKey: unsafe extern "C" fn(Key) -> c_int;
    /// Missing from 6.2.0 to 6.2.7 and from 7.0.0 to 7.0.4.
    get_abs_expire = RedisModule_GetAbsExpire or optional:
        Option<unsafe extern "C" fn(Key) -> raw::mstime_t>;
    /// Missing where `get_abs_expire` is.
    set_abs_expire = RedisModule_SetAbsExpire or optional:
        Option<unsafe extern "C" fn(Key, raw::mstime_t) -> c_int>;
    get_expire = RedisModule_GetExpire: unsafe extern "C" fn(Key) -> raw::mstime_t;
    set_expire = RedisModule_SetExpire: unsafe extern "C" fn(Key, raw::mstime_t) -> c_int;
    replicate = RedisModule_Replicate: unsafe extern "C" fn(Ctx, *const c_char, *const c_char, ...) -> c_int;
    signal_modified = RedisModule_SignalModifiedKey: unsafe extern "C" fn(Ctx, Text) -> c_int;
    notify = RedisModule_NotifyKeyspaceEvent: unsafe extern "C" fn(Ctx, c_int, *const c_char, Text) -> c_int;
    create_string = RedisModule_CreateString: unsafe extern "C" fn(Ctx, *const c_char, usize) -> Text;
    free_string = RedisModule_FreeString: unsafe extern "C" fn(Ctx, Text);
    retain_string = RedisModule_RetainString: unsafe extern "C" fn(Ctx, Text);
    string_ptr_len =
        RedisModule_StringPtrLen: unsafe extern "C" fn(*const RedisModuleString, *mut usize) -> *const c_char;
    reply_integer = RedisModule_ReplyWithLongLong: unsafe extern "C" fn(Ctx, c_longlong) -> c_int;
    reply_array = RedisModule_ReplyWithArray: unsafe extern "C" fn(Ctx, std::ffi::c_long) -> c_int;
    reply_bytes = RedisModule_ReplyWithStringBuffer: unsafe extern "C" fn(Ctx, *const c_char, usize) -> c_int;
    reply_error = RedisModule_ReplyWithError: unsafe extern "C" fn(Ctx, *const c_char) -> c_int;
    wrong_arity = RedisModule_WrongArity: unsafe extern "C" fn(Ctx) -> c_int;
}

impl Api {
    /// Probes the server. The error is the name of a function that it lacks.
    pub fn load() -> Result<&'static Self, &'static str> {
        let mut api = Self::probe()?;
        plant(&mut api);
        Ok(API.get_or_init(|| api))
    }

    /// The functions, once the module is loaded.
    pub fn get() -> Option<&'static Self> {
        API.get()
    }
}

/// In a debug build this variable of the environment takes away what older servers lack: the test of what is done
/// without it needs no such server.
fn plant(api: &mut Api) {
    if cfg!(debug_assertions) && std::env::var_os("SLIDEWIN_PLANT_NO_ABS_EXPIRE").is_some() {
        (api.get_abs_expire, api.set_abs_expire) = (None, None);
    }
}
