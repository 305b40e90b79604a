//! Grows a log by calls of one unit at evenly spread times, and prints its elements, oldest first: score and member.
//! The benchmark fills keys with them, since a log with admissions of any age cannot be had by calling a server.
//!
//! ```sh
//! cargo run --release --example grow --features memory -- COUNT FROM_US TO_US BASE
//! ```
//!
//! `COUNT` calls from `FROM_US` up to `TO_US`, not included. `BASE` is the total that the log starts from.

use slidewin_core::{check, MemoryLog, Request, Window, MAX_UNITS, MAX_WINDOW_US};
use std::io::{BufWriter, Write};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let numbers: Result<Vec<i64>, _> = std::env::args().skip(1).map(|argument| argument.parse()).collect();
    let [count, from_us, to_us, base] = numbers?.try_into().map_err(|_| "COUNT FROM_US TO_US BASE")?;
    let request = Request::new(&[Window { length_us: MAX_WINDOW_US, limit: MAX_UNITS }])?;
    let mut log = MemoryLog::default();
    for call in 0..i128::from(count) {
        let passed_us =
            i128::from(to_us.saturating_sub(from_us)).saturating_mul(call).checked_div(count.into());
        let now_us = from_us.saturating_add(i64::try_from(passed_us.unwrap_or(0))?);
        check(&mut log, now_us, &request, || base as u64)?;
    }
    let mut out = BufWriter::new(std::io::stdout());
    for (score_us, member) in log.elements() {
        write!(out, "{score_us} ")?;
        out.write_all(member)?;
        writeln!(out)?;
    }
    Ok(())
}
