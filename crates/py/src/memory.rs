//! Heap memory of each thread, for the memory budget of runs.

#![expect(unsafe_code, reason = "an allocator is unsafe by nature; this one only counts and calls the system's")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// Bytes allocated minus bytes freed on this thread, modulo the range of the type: a thread can free memory of others.
    static HELD: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, with a count for each thread.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The heap memory of this thread at some point.
#[derive(Clone, Copy)]
pub(crate) struct Mark(usize);

impl Mark {
    pub(crate) fn now() -> Self {
        Self(HELD.get())
    }

    /// Bytes that this thread has allocated since then and not freed.
    pub(crate) fn grown(self) -> u64 {
        HELD.get().wrapping_sub(self.0).cast_signed().max(0) as u64
    }
}

fn add(bytes: usize) {
    HELD.set(HELD.get().wrapping_add(bytes));
}

// SAFETY: every method passes its arguments to the system's allocator, whose contract is the same. The count allocates nothing: it is a
// thread-local without destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        add(layout.size().wrapping_neg());
        // SAFETY: as above.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        add(size.wrapping_sub(layout.size()));
        // SAFETY: as above.
        unsafe { System.realloc(place, layout, size) }
    }
}
