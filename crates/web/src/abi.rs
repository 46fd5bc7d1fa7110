//! The exports of the WebAssembly module. Its only unsafe code is their names; the page reads and writes the memory.
#![allow(unsafe_code)]

use std::cell::RefCell;

use crate::Laboratory;

/// A laboratory, and the buffers that it shares with the page.
#[derive(Default)]
struct Exchange {
    laboratory: Laboratory,
    request: Vec<u8>,
    answer: Vec<u8>,
}

thread_local! {
    static EXCHANGE: RefCell<Exchange> = RefCell::default();
    /// The message of the panic that lost the instance.
    static FAILURE: RefCell<String> = RefCell::default();
}

/// The address of memory for a request of `length` bytes.
// SAFETY: the linker finds no other function of this name, because the module has no other exports and imports nothing.
#[unsafe(no_mangle)]
pub extern "C" fn allocate(length: usize) -> *mut u8 {
    std::panic::set_hook(Box::new(|info| FAILURE.with_borrow_mut(|failure| *failure = info.to_string())));
    EXCHANGE.with_borrow_mut(|exchange| {
        exchange.request.clear();
        exchange.request.resize(length, 0);
        exchange.request.as_mut_ptr()
    })
}

/// Answers the request that was written. Returns the address of the frame.
// SAFETY: as for `allocate`.
#[unsafe(no_mangle)]
pub extern "C" fn handle() -> *const u8 {
    EXCHANGE.with_borrow_mut(|exchange| {
        // A page that writes other bytes than UTF-8 gets an error about them.
        exchange.answer = exchange.laboratory.handle(&String::from_utf8_lossy(&exchange.request));
        exchange.request = Vec::new();
        exchange.answer.as_ptr()
    })
}

/// The length of the frame.
// SAFETY: as for `allocate`.
#[unsafe(no_mangle)]
pub extern "C" fn result_length() -> usize {
    EXCHANGE.with_borrow(|exchange| exchange.answer.len())
}

/// Frees the frame.
// SAFETY: as for `allocate`.
#[unsafe(no_mangle)]
pub extern "C" fn release() {
    EXCHANGE.with_borrow_mut(|exchange| exchange.answer = Vec::new());
}

/// After a trap: the address of the message.
// SAFETY: as for `allocate`.
#[unsafe(no_mangle)]
pub extern "C" fn failure() -> *const u8 {
    FAILURE.with_borrow(|failure| failure.as_ptr())
}

/// The length of the message.
// SAFETY: as for `allocate`.
#[unsafe(no_mangle)]
pub extern "C" fn failure_length() -> usize {
    FAILURE.with_borrow(String::len)
}
