//! COMMAND DOCS and key specs: what redis-cli hints, and what ACL rules such as `%R~key` are checked against.
//! Servers before 7.0 have neither; everything else works there.

use redis_module::raw::{self, RedisModuleCommand, RedisModuleCommandArg, RedisModuleCommandArgType};
use std::ffi::{c_int, CStr};
use std::ptr;

/// What is told of a command.
pub struct Docs {
    /// One sentence.
    pub summary: &'static CStr,
    /// Cost of a call.
    pub complexity: &'static CStr,
    /// Fewest arguments, the name of the command included, as a negative number; positive: exactly so many.
    pub arity: c_int,
    /// How the key at position 1 is used; `None`: the command has no key.
    pub key: Option<KeyUse>,
    /// The arguments, the key included.
    pub args: &'static [Arg],
}

/// How a command uses its key.
#[derive(Clone, Copy)]
pub enum KeyUse {
    /// Its content is read and answered from.
    Read,
    /// It is read and changed.
    ReadWrite,
    /// Several are: their number is at position 1, and each third argument behind it is one.
    ReadWriteSeveral,
}

impl KeyUse {
    /// The flags of the key spec.
    pub fn flags(self) -> u32 {
        match self {
            KeyUse::Read => raw::REDISMODULE_CMD_KEY_RO | raw::REDISMODULE_CMD_KEY_ACCESS,
            KeyUse::ReadWrite => {
                raw::REDISMODULE_CMD_KEY_RW
                    | raw::REDISMODULE_CMD_KEY_ACCESS
                    | raw::REDISMODULE_CMD_KEY_UPDATE
            }
            // Servers from 7.0 on miss keys where the step is not 1, until redis/redis#14659 and Valkey 9.1. With this
            // flag all of them ask the handler, see `keys`.
            KeyUse::ReadWriteSeveral => KeyUse::ReadWrite.flags() | raw::REDISMODULE_CMD_KEY_INCOMPLETE,
        }
    }
}

/// One argument of a command.
pub struct Arg {
    name: &'static CStr,
    token: Option<&'static CStr>,
    kind: RedisModuleCommandArgType,
    flags: u32,
    parts: &'static [Arg],
}

impl Arg {
    /// The key.
    pub const KEY: Arg = Arg::new(c"key", raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_KEY);

    const fn new(name: &'static CStr, kind: RedisModuleCommandArgType) -> Arg {
        Arg { name, token: None, kind, flags: 0, parts: &[] }
    }

    /// A value that is no number.
    pub const fn text(name: &'static CStr) -> Arg {
        Arg::new(name, raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_STRING)
    }

    /// A number.
    pub const fn integer(name: &'static CStr) -> Arg {
        Arg::new(name, raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_INTEGER)
    }

    /// Arguments that come together, once or more.
    pub const fn group(name: &'static CStr, parts: &'static [Arg]) -> Arg {
        Arg {
            parts,
            flags: raw::REDISMODULE_CMD_ARG_MULTIPLE,
            ..Arg::new(name, raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_BLOCK)
        }
    }

    /// One of these.
    pub const fn one_of(name: &'static CStr, parts: &'static [Arg]) -> Arg {
        Arg { parts, ..Arg::new(name, raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_ONEOF) }
    }

    /// A word that may be given.
    pub const fn option(name: &'static CStr, token: &'static CStr) -> Arg {
        Arg::new(name, raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_PURE_TOKEN).behind(token)
    }

    /// The same, behind a word.
    pub const fn after(self, token: &'static CStr) -> Arg {
        Arg { token: Some(token), ..self }
    }

    /// The same, optional and behind a word.
    pub const fn behind(self, token: &'static CStr) -> Arg {
        Arg { flags: raw::REDISMODULE_CMD_ARG_OPTIONAL, ..self.after(token) }
    }
}

/// Tells the server. A server that refuses leaves the command as it is, without docs.
///
/// # Safety
/// `command` is one of the module's, during OnLoad.
pub unsafe fn describe(command: *mut RedisModuleCommand, docs: &Docs) {
    // SAFETY: RedisModule_Init has set the statics.
    let Some(set_info) = (unsafe { raw::RedisModule_SetCommandInfo }) else { return };
    let version = raw::RedisModuleCommandInfoVersion {
        version: 1,
        sizeof_historyentry: size_of::<raw::RedisModuleCommandHistoryEntry>(),
        sizeof_keyspec: size_of::<raw::RedisModuleCommandKeySpec>(),
        sizeof_arg: size_of::<RedisModuleCommandArg>(),
    };
    // SAFETY: plain C structs in which zero means absent, and ends a list.
    let end_of_specs: raw::RedisModuleCommandKeySpec = unsafe { std::mem::zeroed() };
    let mut specs = Vec::new();
    if let Some(key) = docs.key {
        let mut spec = end_of_specs;
        spec.flags = u64::from(key.flags());
        spec.begin_search_type = raw::RedisModuleKeySpecBeginSearchType_REDISMODULE_KSPEC_BS_INDEX;
        spec.bs.index.pos = 1;
        if let KeyUse::ReadWriteSeveral = key {
            spec.find_keys_type = raw::RedisModuleKeySpecFindKeysType_REDISMODULE_KSPEC_FK_KEYNUM;
            spec.fk.keynum.firstkey = 1;
            spec.fk.keynum.keystep = 3;
        } else {
            spec.find_keys_type = raw::RedisModuleKeySpecFindKeysType_REDISMODULE_KSPEC_FK_RANGE;
            spec.fk.range.keystep = 1;
        }
        specs.push(spec);
    }
    specs.push(end_of_specs);
    let mut parts = Vec::new();
    let mut args = list(docs.args, &mut parts);
    let info = raw::RedisModuleCommandInfo {
        version: &version,
        summary: docs.summary.as_ptr(),
        complexity: docs.complexity.as_ptr(),
        since: c"0.1.0".as_ptr(),
        history: ptr::null_mut(),
        tips: ptr::null(),
        arity: docs.arity,
        key_specs: specs.as_mut_ptr(),
        args: args.as_mut_ptr(),
    };
    // SAFETY: every list ends in a zero, and outlives the call, which copies it.
    unsafe { set_info(command, &info) };
}

/// The arguments as a C list. Lists of parts are kept in `parts`, to which the result points.
fn list(args: &[Arg], parts: &mut Vec<Vec<RedisModuleCommandArg>>) -> Vec<RedisModuleCommandArg> {
    let mut list = Vec::new();
    for arg in args {
        let mut subargs = ptr::null_mut();
        if !arg.parts.is_empty() {
            // The list's own memory does not move when `parts` grows.
            let mut of_arg = self::list(arg.parts, parts);
            subargs = of_arg.as_mut_ptr();
            parts.push(of_arg);
        }
        let is_key = arg.kind == raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_KEY;
        list.push(RedisModuleCommandArg {
            name: arg.name.as_ptr(),
            type_: arg.kind,
            key_spec_index: if is_key { 0 } else { -1 },
            token: arg.token.map_or(ptr::null(), CStr::as_ptr),
            summary: ptr::null(),
            since: ptr::null(),
            flags: arg.flags as c_int,
            deprecated_since: ptr::null(),
            subargs,
            display_text: ptr::null(),
        });
    }
    // SAFETY: a plain C struct in which zero ends the list.
    list.push(unsafe { std::mem::zeroed() });
    list
}
