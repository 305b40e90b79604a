//! The server's allocator, so that the server counts what the module uses; each block aligned by ourselves.
//!
//! The server's malloc may align a block to 8 bytes only: where the C library cannot tell the size of a block (musl), the
//! server keeps it in 8 bytes in front. Rust asks for no more for the exception that a panic throws, but the unwinder
//! writes to it by instructions that need 16, whatever the layout says. So each block is aligned to 16.

use redis_module::raw;
use std::alloc::{GlobalAlloc, Layout};

/// What every block is aligned to at least.
const ALIGN: usize = 16;

/// The server's allocator, aligned. It gives null before the server has set its functions: `RedisModule_Init` does.
pub struct ServerAlloc;

// SAFETY: each block is at an address that `place` finds inside a larger one of the server's, aligned as the layout says
// and disjoint from the place where the larger one is remembered. It never unwinds.
unsafe impl GlobalAlloc for ServerAlloc {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: only OnLoad writes these statics, before anything else runs.
        let (Some(alloc), Some(size)) = (unsafe { raw::RedisModule_Alloc }, padded(layout)) else {
            return std::ptr::null_mut();
        };
        // SAFETY: the server answers with a block of that size or null, or ends itself.
        unsafe { place(alloc(size).cast(), layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, _layout: Layout) {
        // SAFETY: as in `alloc`, which gave this block out; so it was placed.
        unsafe {
            if let Some(free) = raw::RedisModule_Free {
                free(placed(block).cast());
            }
        }
    }
}

/// The size of a block of the server's in which one of this layout can be placed. `None` where no number is as large.
fn padded(layout: Layout) -> Option<usize> {
    layout.size().checked_add(layout.align().max(ALIGN))
}

/// The address inside `whole` at which a block of this layout is. In front of it it says where `whole` begins.
///
/// # Safety
/// `whole` is null or a writable block of the size that `padded` says, aligned for a pointer, as each of a malloc is.
unsafe fn place(whole: *mut u8, layout: Layout) -> *mut u8 {
    if whole.is_null() {
        return whole;
    }
    let align = layout.align().max(ALIGN);
    // The next multiple behind `whole`: at least a pointer's size away, at most `align`.
    let skipped = align.wrapping_sub(whole.addr() & align.wrapping_sub(1));
    // SAFETY: `align` more bytes were asked for than the layout has, and what is skipped has room for a pointer.
    unsafe {
        let block = whole.add(skipped);
        block.cast::<*mut u8>().sub(1).write(whole);
        block
    }
}

/// The block of the server's in which `place` placed this one.
///
/// # Safety
/// `block` was answered by `place`, and was not null.
unsafe fn placed(block: *mut u8) -> *mut u8 {
    // SAFETY: `place` has written it there.
    unsafe { block.cast::<*mut u8>().sub(1).read() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layout_at_every_address_that_malloc_may_give() {
        let mut memory = vec![0_u64; 4_096];
        let first = memory.as_mut_ptr().cast::<u8>();
        for align in [1, 2, 4, 8, 16, 32, 64, 4_096] {
            for size in [0, 1, 7, 8, 9, 15, 16, 17, 56, 4_097] {
                let layout = Layout::from_size_align(size, align).unwrap();
                let asked = padded(layout).unwrap();
                for start in (0..8_192).step_by(size_of::<*mut u8>()) {
                    // SAFETY: `memory` is larger than start and what is asked for together.
                    unsafe {
                        let whole = first.add(start);
                        let block = place(whole, layout);
                        assert_eq!(block.addr() % align.max(16), 0, "{layout:?}");
                        assert!(block.addr() >= whole.addr() + size_of::<*mut u8>(), "{layout:?}");
                        assert!(block.addr() + size <= whole.addr() + asked, "{layout:?}");
                        block.write_bytes(0xff, size);
                        assert_eq!(placed(block), whole, "{layout:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_cannot_be_had_is_null() {
        let largest = Layout::from_size_align(isize::MAX as usize, 1).unwrap();
        assert!(padded(largest).is_some_and(|asked| asked > largest.size()));
        // SAFETY: null is allowed.
        assert!(unsafe { place(std::ptr::null_mut(), largest) }.is_null());
        // SAFETY: not zero in size. The test has no server.
        assert!(unsafe { ServerAlloc.alloc(Layout::new::<u64>()) }.is_null());
    }
}
