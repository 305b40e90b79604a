//! What holds for any member of a log. The fuzz target looks for bytes where it does not, and core/tests runs it on
//! the corpus.

use slidewin_core::entry::Entry;

/// What decodes is spelled the same again, and has a weight that we write.
pub fn holds(bytes: &[u8]) {
    if let Some(entry) = Entry::decode(bytes) {
        assert_eq!(entry.encode().as_bytes(), bytes, "{entry:?}");
        assert!((1..=slidewin_core::entry::MAX_WEIGHT).contains(&entry.weight), "{entry:?}");
    }
}
