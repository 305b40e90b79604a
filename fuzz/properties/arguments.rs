//! What holds for any arguments, one a line. The fuzz target looks for lines where it does not, and the tests of
//! src/command/arguments.rs run it on the corpus.

use crate::command::{arguments, Error};
use slidewin_core::{Admitted, Request, MAX_UNITS, MAX_WINDOWS, MAX_WINDOW_US, MIN_WINDOW_US};

/// No parser panics, what is accepted is in its range, and PEEK takes nothing that CHECK would not.
pub fn holds(bytes: &[u8]) {
    let lines = || bytes.split(|byte| *byte == b'\n');
    let checked = arguments::check(lines());
    if let Ok((request, with_receipt)) = checked {
        in_range(&request);
        assert!(
            !(request.id.is_some() && request.resolution_us.is_some()),
            "a shared entry is nobody's: {request:?}"
        );
        assert!(
            !(with_receipt && request.resolution_us.is_some()),
            "a shared entry has no receipt: {request:?}"
        );
    }
    match arguments::peek(lines()) {
        Ok(request) => assert_eq!(checked, Ok((request, false))),
        Err(Error::UnknownPeekOption) => {}
        Err(error) => assert_eq!(checked, Err(error)),
    }
    if let Ok((request, max_wait_us)) = arguments::reserve(lines()) {
        in_range(&request);
        assert!((0..=request.windows.longest_us()).contains(&max_wait_us), "{max_wait_us}");
        assert!(!request.force && !request.with_standings && request.resolution_us.is_none(), "{request:?}");
    }
    if let Ok(refund) = arguments::refund(lines()) {
        assert!(!matches!(refund.of, Admitted::Receipt(i64::MIN..=0)), "{refund:?}");
        assert!(refund.units.is_none_or(|units| (1..=MAX_UNITS).contains(&units)), "{refund:?}");
    }
    if let Ok(several) = arguments::mcheck(lines()) {
        assert!((1..=16).contains(&several.triples.len()), "{several:?}");
        several.requests.iter().for_each(in_range);
        assert_eq!(several.positions.len(), several.requests.len(), "{several:?}");
        let names: Vec<_> = several.positions.iter().map(|at| lines().nth(at - 1).unwrap()).collect();
        for (nth, &(key, window)) in several.triples.iter().enumerate() {
            assert_eq!(lines().nth(1 + 3 * nth), Some(names[key]), "{several:?}");
            assert!(window < several.requests[key].windows.as_slice().len(), "{several:?}");
        }
        let windows = several.requests.iter().map(|request| request.windows.as_slice().len());
        assert_eq!(windows.sum::<usize>(), several.triples.len(), "{several:?}");
    }
    if let Ok((count, _)) = arguments::offenders(lines()) {
        assert!((1..=256).contains(&count), "{count}");
    }
}

fn in_range(request: &Request) {
    let windows = request.windows.as_slice();
    assert!((1..=MAX_WINDOWS).contains(&windows.len()), "{request:?}");
    for window in windows {
        assert!((MIN_WINDOW_US..=MAX_WINDOW_US).contains(&window.length_us), "{request:?}");
        assert!(window.limit <= MAX_UNITS, "{request:?}");
    }
    assert!((1..=MAX_UNITS).contains(&request.cost), "{request:?}");
    let resolutions = MIN_WINDOW_US..=request.windows.shortest_us();
    assert!(
        request.resolution_us.is_none_or(|resolution_us| resolutions.contains(&resolution_us)),
        "{request:?}"
    );
}
