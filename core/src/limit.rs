//! What is asked of the limiter: windows with their limits, and the cost of a call.

use crate::{Error, Id, Log};

/// The most windows in one request.
pub const MAX_WINDOWS: usize = 8;
/// The largest limit and the largest cost. Integers up to here are exact in a double, which is what many clients
/// make of a reply.
pub const MAX_UNITS: u64 = (1 << 53) - 1;
/// The shortest window, 1 ms: keys expire by the millisecond.
pub const MIN_WINDOW_US: i64 = 1_000;
/// The longest window, 3650 days.
pub const MAX_WINDOW_US: i64 = 3650 * 86_400 * 1_000_000;

/// One limit: so many units in any interval of this length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// The length of the interval in µs, from [`MIN_WINDOW_US`] to [`MAX_WINDOW_US`].
    pub length_us: i64,
    /// The units admitted in any interval of that length, at most [`MAX_UNITS`]. 0 refuses everything.
    pub limit: u64,
}

/// One to [`MAX_WINDOWS`] windows, on the stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Windows {
    pairs: [Window; MAX_WINDOWS],
    count: usize,
}

impl Windows {
    /// Adds a window. [`Error::WindowCount`] where there is no room for it.
    pub fn push(&mut self, window: Window) -> Result<(), Error> {
        let place = self.pairs.get_mut(self.count).ok_or(Error::WindowCount)?;
        *place = window;
        self.count = self.count.saturating_add(1);
        Ok(())
    }

    /// The windows in the order of the call.
    pub fn as_slice(&self) -> &[Window] {
        self.pairs.get(..self.count).unwrap_or_default()
    }

    /// The length of the longest window in µs.
    pub fn longest_us(&self) -> i64 {
        self.as_slice().iter().map(|window| window.length_us).max().unwrap_or(MAX_WINDOW_US)
    }

    /// The length of the shortest window in µs.
    pub fn shortest_us(&self) -> i64 {
        self.as_slice().iter().map(|window| window.length_us).min().unwrap_or(MIN_WINDOW_US)
    }
}

/// What [`crate::check`] and [`crate::peek`] are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The windows. All of them must have room.
    pub windows: Windows,
    /// The units that this call takes, from 1 to [`MAX_UNITS`].
    pub cost: u64,
    /// Admissions within one slot of this length, in µs, share an entry. At most the shortest window.
    pub resolution_us: Option<i64>,
    /// Whether to admit and record whatever the limits say.
    pub force: bool,
    /// What the caller calls this request. An ID that is remembered is admitted again, and takes nothing. Not together
    /// with a resolution: a shared entry has no receipt.
    pub id: Option<Id>,
    /// Whether the outcome tells how each window stands.
    pub with_standings: bool,
}

impl Request {
    /// A request of one unit without options. [`Error::WindowCount`] for no window or too many.
    pub fn new(windows: &[Window]) -> Result<Self, Error> {
        let mut request = Request {
            windows: Windows::default(),
            cost: 1,
            resolution_us: None,
            force: false,
            id: None,
            with_standings: false,
        };
        windows.iter().try_for_each(|&window| request.windows.push(window))?;
        if windows.is_empty() {
            return Err(Error::WindowCount);
        }
        Ok(request)
    }

    /// The member that marks its admission.
    pub(crate) fn mark(&self) -> Option<&[u8]> {
        self.id.as_ref().map(Id::mark)
    }

    /// The receipt of the admission that this request is a repeat of: its ID is remembered for as long as that admission
    /// counts in the longest window.
    pub(crate) fn repeated(&self, log: &mut impl Log, now_us: i64) -> Option<i64> {
        let since_us = now_us.saturating_sub(self.windows.longest_us());
        self.id.as_ref().and_then(|id| id.admitted_after(log, since_us))
    }
}
