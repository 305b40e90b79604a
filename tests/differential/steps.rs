//! The steps of a random sequence.

use proptest::prelude::*;
use proptest::sample::Index;
use slidewin_core::{Request, Window};

/// Lengths by their spelling: some within an eighth of each other, some far apart, some no whole ms.
pub const LENGTHS: [(&str, i64); 8] = [
    ("1ms", 1_000),
    ("1.5ms", 1_500),
    ("10ms", 10_000),
    ("0.25", 250_000),
    ("1", 1_000_000),
    ("1.1", 1_100_000),
    ("9.9999", 9_999_900),
    ("1m", 60_000_000),
];
pub const KEYS: usize = 2;

#[derive(Clone, Debug)]
pub enum Step {
    Advance {
        us: i64,
    },
    /// To the moment at which the nth unit of a window is gone, or 1 µs before or after.
    Boundary {
        key: usize,
        nth: Index,
        length: usize,
        off_us: i64,
    },
    Back {
        us: i64,
    },
    /// To the time of an admission, or 1 µs before or after.
    BackInto {
        key: usize,
        nth: Index,
        off_us: i64,
    },
    Check {
        key: usize,
        call: Call,
        resolution: Option<usize>,
        force: bool,
        receipt: bool,
    },
    /// So many calls of one unit, so far apart: enough for bundles.
    Burst {
        key: usize,
        calls: usize,
        every_us: i64,
        call: Call,
    },
    Peek {
        key: usize,
        call: Call,
    },
    Refund {
        key: usize,
        nth: Index,
        cost: Option<u64>,
    },
    Delete {
        key: usize,
    },
}

/// What CHECK and PEEK are asked.
#[derive(Clone, Debug)]
pub struct Call {
    /// The place in [`LENGTHS`], and the limit.
    windows: Vec<(usize, u64)>,
    cost: Option<u64>,
    pub quota: bool,
}

impl Call {
    pub fn words(&self) -> String {
        let pairs = self.windows.iter().map(|(length, limit)| format!("{} {limit}", LENGTHS[*length].0));
        let cost = self.cost.map(|cost| format!("COST {cost}"));
        pairs.chain(cost).collect::<Vec<String>>().join(" ")
    }

    pub fn request(&self) -> Request {
        let window = |(length, limit): &(usize, u64)| Window { length_us: LENGTHS[*length].1, limit: *limit };
        let windows: Vec<Window> = self.windows.iter().map(window).collect();
        Request { cost: self.cost.unwrap_or(1), with_standings: true, ..Request::new(&windows).unwrap() }
    }
}

pub fn step() -> impl Strategy<Value = Step> {
    let key = 0..KEYS;
    let us = prop_oneof![
        0..3_i64,
        0..2_000_i64,
        0..20_000_i64,
        0..500_000_i64,
        0..5_000_000_i64,
        0..80_000_000_i64
    ];
    let back = prop_oneof![1..3_i64, 1..2_000_i64, 1..200_000_i64, 1..2_000_000_i64, 1..100_000_000_i64];
    let limit = prop_oneof![
        8 => 1..6_u64, 4 => 5..30_u64, 4 => 30..300_u64, 1 => Just(0), 1 => Just((1 << 53) - 1)
    ];
    let windows = prop_oneof![
        4 => prop::collection::vec((0..LENGTHS.len(), limit.clone()), 1),
        1 => prop::collection::vec((0..LENGTHS.len(), limit.clone()), 2),
        1 => prop::collection::vec((0..LENGTHS.len(), limit), 1..=8),
    ];
    let cost = prop_oneof![3 => Just(None), 2 => (1..4_u64).prop_map(Some), 1 => (1..40_u64).prop_map(Some)];
    let call = (windows, cost.clone(), prop::bool::weighted(0.8)).prop_map(|(windows, cost, quota)| Call {
        windows,
        cost,
        quota,
    });
    // A burst fills a long window, and perhaps a short one as well.
    let dense = (4..LENGTHS.len(), 30..300_u64, prop::option::weighted(0.3, (0..5_usize, 5..300_u64)))
        .prop_map(|(length, limit, other)| {
            let windows = [(length, limit)].into_iter().chain(other).collect();
            Call { windows, cost: None, quota: true }
        });
    let every_us = prop_oneof![0..3_i64, 0..200_i64, 0..10_000_i64, Just(30_000_i64)];
    let resolution = prop_oneof![2 => Just(None), 1 => (0..5_usize).prop_map(Some)];
    prop_oneof![
        8 => us.prop_map(|us| Step::Advance { us }),
        6 => (key.clone(), any::<Index>(), 0..LENGTHS.len(), -1..=1_i64)
            .prop_map(|(key, nth, length, off_us)| Step::Boundary { key, nth, length, off_us }),
        2 => back.prop_map(|us| Step::Back { us }),
        1 => (key.clone(), any::<Index>(), -1..=1_i64)
            .prop_map(|(key, nth, off_us)| Step::BackInto { key, nth, off_us }),
        24 => (key.clone(), call.clone(), resolution, prop::bool::weighted(0.2), any::<bool>())
            .prop_map(|(key, call, resolution, force, receipt)|
                Step::Check { key, call, resolution, force, receipt }),
        3 => (key.clone(), 8..80_usize, every_us, dense)
            .prop_map(|(key, calls, every_us, call)| Step::Burst { key, calls, every_us, call }),
        8 => (key.clone(), call).prop_map(|(key, call)| Step::Peek { key, call }),
        9 => (key.clone(), any::<Index>(), cost).prop_map(|(key, nth, cost)| Step::Refund { key, nth, cost }),
        1 => key.prop_map(|key| Step::Delete { key }),
    ]
}
