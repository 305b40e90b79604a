//! The entries that left no room lately, by key: most refusals follow one another, and what left no room for the last
//! call leaves none for the next.
//!
//! It is a guess and proves nothing by itself: the server is asked whether the set has the member now, at that score.
//! So nobody has to tell this table of a write, two keys may share a slot, and a slot may outlive its key.

use super::api::Api;
use crate::hash::hash;
use redis_module::raw::RedisModuleString;
use slidewin_core::Element;
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr::null_mut;

/// How many there are at most: 230 KB, and a string of some 100 bytes for each.
const SLOTS: usize = 4096;

/// An element whose member is the table's.
pub type Kept = Element<*mut RedisModuleString>;

struct Table {
    /// Some bits of the hash of the key whose element this is; 0: there is none. By themselves they stay in the processor's
    /// fastest cache, so that a call for another key costs nothing.
    tags: [u8; SLOTS],
    elements: [MaybeUninit<Kept>; SLOTS],
}

struct Shared(UnsafeCell<Table>);

// SAFETY: the server runs one call at a time, and none of these functions calls anything that could run another.
unsafe impl Sync for Shared {}

static TABLE: Shared =
    Shared(UnsafeCell::new(Table { tags: [0; SLOTS], elements: [const { MaybeUninit::uninit() }; SLOTS] }));

/// The slot of a key, and its tag.
fn place(key: &[u8]) -> (usize, u8) {
    let hash = hash(key);
    (hash as usize % SLOTS, (hash >> 12) as u8 | 1)
}

/// What was put for this key last, unless another key has taken its place; or what was put for another key.
///
/// # Safety
/// The server runs a call, on this thread.
pub unsafe fn get(key: &[u8]) -> Option<Kept> {
    let (slot, tag) = place(key);
    // SAFETY: as this function's. Where there is a tag, there is an element.
    unsafe {
        let table = &*TABLE.0.get();
        let element = table.elements.get(slot).filter(|_| table.tags.get(slot) == Some(&tag))?;
        Some(element.assume_init_ref().clone())
    }
}

/// Keeps an element for this key.
///
/// # Safety
/// The server runs a call, on this thread; the member is a string of it.
pub unsafe fn put(api: &Api, key: &[u8], element: Kept) {
    let (slot, tag) = place(key);
    // SAFETY: as this function's. The string is the table's until the table frees it.
    unsafe {
        let table = &mut *TABLE.0.get();
        if let (Some(of), Some(kept)) = (table.tags.get_mut(slot), table.elements.get_mut(slot)) {
            (api.retain_string)(null_mut(), element.member);
            free(api, of, kept);
            *of = tag;
            kept.write(element);
        }
    }
}

/// Gives all strings back.
///
/// # Safety
/// The server runs nothing else of the module.
pub unsafe fn clear(api: &Api) {
    // SAFETY: as this function's.
    unsafe {
        let table = &mut *TABLE.0.get();
        table.tags.iter_mut().zip(&table.elements).for_each(|(tag, kept)| free(api, tag, kept));
    }
}

/// Gives back what a slot holds.
///
/// # Safety
/// Both are of one slot of the table.
unsafe fn free(api: &Api, tag: &mut u8, kept: &MaybeUninit<Kept>) {
    if std::mem::take(tag) != 0 {
        // SAFETY: there was a tag, so there was an element. Its string belongs to no call's context.
        unsafe { (api.free_string)(null_mut(), kept.assume_init_ref().member) };
    }
}
