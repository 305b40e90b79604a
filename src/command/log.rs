//! `SLIDEWIN.LOG key [COUNT n]`

use super::{arguments, Error, Reply};
use crate::server::{Call, Key, Mode};

/// Lists the newest admissions of a key, newest first. Never writes.
pub fn log(call: &Call) -> Result<Reply, Error> {
    let count = arguments::log(call.arguments_from(2))?;
    Ok(Reply::Log(slidewin_core::newest(&mut Key::open(call, Mode::Read)?, count)))
}
