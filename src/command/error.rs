//! The error replies. Their texts are part of the contract; none repeats the caller's bytes.

use std::ffi::CStr;

/// What is wrong with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// Too few arguments, or an option without its value.
    Arity,
    /// A window is not a duration in its range.
    Window,
    /// A limit is not an integer in its range.
    Limit,
    /// A cost is not an integer in its range.
    Cost,
    /// A resolution is not a duration, or longer than the shortest window.
    Resolution,
    /// A longest wait is neither 0 nor a duration, or longer than the longest window.
    MaxWait,
    /// A receipt is not a positive integer.
    Receipt,
    /// A token is empty or too long.
    Id,
    /// The number of keys is not an integer in its range.
    KeyCount,
    /// More than eight windows.
    TooManyWindows,
    /// CHECK does not know an option.
    UnknownCheckOption,
    /// MCHECK does not know an option.
    UnknownMcheckOption,
    /// PEEK does not know an option.
    UnknownPeekOption,
    /// RESERVE does not know an option.
    UnknownReserveOption,
    /// REFUND does not know an option.
    UnknownRefundOption,
    /// An option was given twice.
    RepeatedOption,
    /// RESOLUTION and RECEIPT in one call: a shared entry has no receipt.
    ResolutionWithReceipt,
    /// RESOLUTION and ID in one call: a shared entry is nobody's.
    ResolutionWithId,
    /// Too many entries lie on both sides of a receipt.
    RefundTooDeep,
    /// The count of OFFENDERS is not an integer in its range.
    Count,
    /// The count of LOG is not an integer in its range.
    LogCount,
    /// LOG does not know an option.
    UnknownLogOption,
    /// OFFENDERS does not know an option.
    UnknownOffendersOption,
    /// The key holds a value of another type.
    WrongType,
    /// A panic was caught.
    Internal,
}

impl Error {
    /// The whole error reply, or `None` for arity, which the server words itself.
    pub fn text(self) -> Option<&'static CStr> {
        Some(match self {
            Error::Arity => return None,
            Error::Window => c"ERR window must be a duration from 1ms to 3650d, such as 60, 0.5, 250ms, 5m or 24h",
            Error::Limit => c"ERR limit must be an integer from 0 to 9007199254740991",
            Error::Cost => c"ERR cost must be an integer from 1 to 9007199254740991",
            Error::Resolution => c"ERR resolution must be a duration from 1ms to the shortest window",
            Error::MaxWait => c"ERR max-wait must be 0 or a duration from 1ms to the longest window",
            Error::Receipt => c"ERR receipt must be a positive integer",
            Error::Id => c"ERR ID must be 1 to 63 bytes",
            Error::KeyCount => c"ERR numkeys must be an integer from 1 to 16",
            Error::TooManyWindows => c"ERR at most 8 windows in one call",
            Error::UnknownCheckOption => {
                c"ERR unknown option, expected COST, RESOLUTION, FORCE, ID, RECEIPT or WITHQUOTA after the windows"
            }
            Error::UnknownMcheckOption => {
                c"ERR unknown option, expected COST, FORCE, ID or WITHQUOTA after the windows of numkeys keys"
            }
            Error::UnknownPeekOption => c"ERR unknown option, expected COST or WITHQUOTA after the windows",
            Error::UnknownReserveOption => c"ERR unknown option, expected COST or ID after the windows",
            Error::UnknownRefundOption => c"ERR unknown option, expected COST after the receipt or the ID",
            Error::RepeatedOption => c"ERR an option may be given only once",
            Error::ResolutionWithReceipt => c"ERR RESOLUTION and RECEIPT exclude each other",
            Error::ResolutionWithId => c"ERR RESOLUTION and ID exclude each other",
            Error::RefundTooDeep => c"ERR more than 1000 entries lie on both sides of the receipt, nothing was refunded",
            Error::Count => c"ERR count must be an integer from 1 to 256",
            Error::LogCount => c"ERR count must be an integer from 1 to 1000",
            Error::UnknownLogOption => c"ERR unknown option, expected COUNT after the key",
            Error::UnknownOffendersOption => c"ERR unknown option, expected COUNT or RESET",
            Error::WrongType => c"WRONGTYPE Operation against a key holding the wrong kind of value",
            Error::Internal => c"ERR slidewin internal error, nothing was decided; the server log says more",
        })
    }
}

impl From<slidewin_core::Error> for Error {
    fn from(error: slidewin_core::Error) -> Self {
        match error {
            slidewin_core::Error::WindowCount => Error::TooManyWindows,
            slidewin_core::Error::WrongType => Error::WrongType,
            slidewin_core::Error::RefundTooDeep => Error::RefundTooDeep,
        }
    }
}
