//! What a decision says: the answer, and everything that happened on the way to it.

use crate::standing::Standing;

/// What [`crate::check`] decided and did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The time at which the admission is recorded, in µs: its receipt. `None`: the call is refused.
    pub receipt: Option<i64>,
    /// Whether the ID was remembered: the receipt is that of the first call, and nothing was recorded.
    pub is_repeat: bool,
    /// How each window stands after the call, in the order of the request; empty unless the request asks.
    pub standings: Vec<Standing>,
    /// By how many µs the log was ahead of a clock that had stepped back, where that led to a repair.
    pub stepped_back_us: Option<i64>,
    /// Expired elements that the admission removed.
    pub trimmed: usize,
    /// Whether the whole log had expired and was begun anew.
    pub restarted: bool,
    /// How often the units of a window were summed one by one, because somebody had edited the set.
    pub summed: u64,
}

/// What [`crate::check_all`] decided and did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcomes {
    /// What happened in each log, in the order of the requests.
    pub each: Vec<Outcome>,
    /// The logs without room: where there is one the call is refused.
    pub full: Vec<usize>,
}

/// What [`crate::peek`] foresees.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forecast {
    /// Whether every window has room for the call.
    pub has_room: bool,
    /// How each window stands, in the order of the request; empty unless the request asks.
    pub standings: Vec<Standing>,
    /// How often the units of a window were summed one by one, because somebody had edited the set.
    pub summed: u64,
}
