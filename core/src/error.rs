//! What can stop a decision.

/// Why nothing was decided. Whatever the error, the log is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// A request has no window, or more than [`crate::MAX_WINDOWS`].
    WindowCount,
    /// The log cannot take entries: its key holds a value of another type.
    WrongType,
    /// More than [`crate::MAX_ENTRIES_ON_A_SIDE`] entries lie on both sides of the receipt.
    RefundTooDeep,
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(match self {
            Error::WindowCount => "a request has one to eight windows",
            Error::WrongType => "the key holds a value of another type",
            Error::RefundTooDeep => "more than 1000 entries lie on both sides of the receipt",
        })
    }
}

impl std::error::Error for Error {}
