//! The wall clock of a server, in the hands of a test. See tests/clock/preload.c.

use std::cell::Cell;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};
use tempfile::NamedTempFile;

/// A clock that servers share: frozen until it is moved, or the real one plus an offset.
pub struct Clock {
    file: NamedTempFile,
    frozen_us: Cell<i64>,
    offset_us: Cell<i64>,
}

impl Clock {
    /// Where a frozen clock starts: 2023-11-15 00:00 UTC, where a slot of any RESOLUTION begins that divides a day.
    pub const START_US: i64 = 1_700_006_400_000_000;

    /// A clock that stands still at [`Clock::START_US`].
    pub fn frozen() -> Self {
        Self::new(Self::START_US)
    }

    /// A clock that runs, and can be put ahead.
    pub fn running() -> Self {
        Self::new(0)
    }

    fn new(frozen_us: i64) -> Self {
        let file = NamedTempFile::new().unwrap();
        let clock = Clock { file, frozen_us: Cell::new(frozen_us), offset_us: Cell::new(0) };
        clock.write();
        clock
    }

    /// What a frozen clock reads.
    pub fn now_us(&self) -> i64 {
        assert_ne!(self.frozen_us.get(), 0, "this clock runs");
        self.frozen_us.get()
    }

    /// Lets a frozen clock run: it is the real one.
    pub fn run(&self) {
        self.offset_us.set(0);
        self.freeze(0);
    }

    /// Stops a clock that runs.
    pub fn stop(&self) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        self.freeze(now.as_micros() as i64 + self.offset_us.get());
    }

    /// Sets a frozen clock.
    pub fn freeze(&self, us: i64) {
        self.frozen_us.set(us);
        self.write();
    }

    /// Moves the clock, frozen or running; back where it is negative.
    pub fn advance_us(&self, us: i64) {
        let moved = if self.frozen_us.get() == 0 { &self.offset_us } else { &self.frozen_us };
        moved.set(moved.get() + us);
        self.write();
    }

    /// As [`Clock::advance_us`].
    pub fn advance_ms(&self, ms: i64) {
        self.advance_us(ms * 1_000);
    }

    /// Sets a frozen clock to so many ms after [`Clock::START_US`].
    pub fn at_ms(&self, ms: i64) {
        self.freeze(Self::START_US + ms * 1_000);
    }

    /// The file that the servers read.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    fn write(&self) {
        let file: &File = self.file.as_file();
        let (frozen_us, offset_us) = (self.frozen_us.get(), self.offset_us.get());
        file.write_all_at(&[frozen_us.to_le_bytes(), offset_us.to_le_bytes()].concat(), 0).unwrap();
    }
}
