//! Memory that this process shares with another, in which both take turns.

use std::ffi::{CStr, c_int};
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::time::Duration;

use crate::result::check;

/// Memory behind a file descriptor, which another process maps too. Its content is zero at first.
///
/// Bytes are read and written as they are; who may do so when is for the two processes to agree on, by words that are atomic.
#[derive(Debug)]
pub struct Shared {
    start: NonNull<u8>,
    length: usize,
    file: OwnedFd,
}

// SAFETY: the mapping belongs to this value alone, and every access is atomic or copies bytes.
unsafe impl Send for Shared {}

impl Shared {
    /// Memory of `length` bytes, rounded up to whole pages. Only pages that are used take memory.
    ///
    /// # Errors
    /// Those of the kernel.
    pub fn new(name: &CStr, length: usize) -> io::Result<Self> {
        // SAFETY: the name is a string; the new descriptor belongs to the result alone.
        let file = unsafe { OwnedFd::from_raw_fd(check(libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC))?) };
        // SAFETY: without pointers.
        check(unsafe { libc::ftruncate(file.as_raw_fd(), length as libc::off_t) })?;
        // SAFETY: a new mapping at an address of the kernel's choice.
        let start =
            unsafe { libc::mmap(ptr::null_mut(), length, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED, file.as_raw_fd(), 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or_else(io::Error::last_os_error)?;
        Ok(Self { start, length, file })
    }

    /// Panics unless `length` bytes at `offset` are inside, aligned to `align`.
    fn at(&self, offset: usize, length: usize, align: usize) -> *mut u8 {
        let inside = offset.checked_add(length).is_some_and(|end| end <= self.length);
        assert!(inside && offset.is_multiple_of(align), "{length} bytes at {offset} are not inside the {} shared bytes", self.length);
        // SAFETY: inside the mapping.
        unsafe { self.start.as_ptr().add(offset) }
    }

    /// The word of four bytes at `offset`.
    ///
    /// # Panics
    /// If it is not inside, or not aligned.
    pub fn word(&self, offset: usize) -> &AtomicU32 {
        // SAFETY: the pointer is inside the mapping and aligned, and the mapping outlives the reference.
        unsafe { AtomicU32::from_ptr(self.at(offset, 4, 4).cast()) }
    }

    /// The word of eight bytes at `offset`.
    ///
    /// # Panics
    /// If it is not inside, or not aligned.
    pub fn long(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: the pointer is inside the mapping and aligned, and the mapping outlives the reference.
        unsafe { AtomicU64::from_ptr(self.at(offset, 8, 8).cast()) }
    }

    /// Copies the bytes at `offset` into `bytes`.
    ///
    /// # Panics
    /// If they are not inside.
    pub fn read(&self, offset: usize, bytes: &mut [u8]) {
        // SAFETY: the source is inside the mapping, and the target, which this process owns, has the same length.
        unsafe { ptr::copy_nonoverlapping(self.at(offset, bytes.len(), 1), bytes.as_mut_ptr(), bytes.len()) };
    }

    /// Copies `bytes` to `offset`.
    ///
    /// # Panics
    /// If they do not fit.
    pub fn write(&mut self, offset: usize, bytes: &[u8]) {
        // SAFETY: the target is inside the mapping, and the source, which this process owns, has the same length.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.at(offset, bytes.len(), 1), bytes.len()) };
    }

    /// Wakes a process that waits for the word at `offset` to change.
    pub fn wake(&self, offset: usize) {
        // SAFETY: the pointer is inside the mapping; the call ignores the others.
        unsafe { libc::syscall(libc::SYS_futex, self.at(offset, 4, 4), libc::FUTEX_WAKE, 1, 0_usize, 0_usize, 0) };
    }

    /// Waits until the word at `offset` is no longer `value`, at most for `time`; it can also end early.
    pub fn wait(&self, offset: usize, value: u32, time: Duration) {
        let limit = libc::timespec { tv_sec: time.as_secs() as libc::time_t, tv_nsec: time.subsec_nanos().into() };
        // SAFETY: the pointer is inside the mapping, and the time outlives the call.
        unsafe { libc::syscall(libc::SYS_futex, self.at(offset, 4, 4), libc::FUTEX_WAIT, value, &raw const limit, 0_usize, 0) };
    }
}

impl AsFd for Shared {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own, and nothing refers to it any more.
        let result: c_int = unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
        debug_assert_eq!(result, 0, "the mapping is whole");
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;

    #[test]
    fn both_sides_see_words_and_bytes() {
        let mut shared = Shared::new(c"test", 8192).unwrap();
        shared.word(4).store(7, Ordering::Release);
        shared.long(8).store(9, Ordering::Release);
        shared.write(4096, b"hello");
        let mut bytes = [0; 5];
        shared.read(4096, &mut bytes);
        assert_eq!((&bytes, shared.word(4).load(Ordering::Acquire), shared.long(8).load(Ordering::Acquire)), (b"hello", 7, 9));
        // The word has another value: the call returns at once.
        shared.wait(4, 8, Duration::from_secs(1000));
        shared.wake(4);
    }

    #[test]
    #[should_panic(expected = "not inside")]
    fn nothing_outside_is_read() {
        Shared::new(c"test", 4096).unwrap().read(4090, &mut [0; 8]);
    }
}
