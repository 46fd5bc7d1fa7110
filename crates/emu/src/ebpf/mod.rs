//! Congestion controls as programs of the kernel (eBPF `struct_ops`).
//!
//! One object contains every part. Variables of its read-only data choose parts and parameters, and the kernel's verifier removes the
//! rest. The comment of `bpf/record.h` describes the variables and the ring buffer. The object is compiled once (`make ebpf`) and part of
//! this crate; a machine that runs it needs no compiler.
//!
//! The feature `ebpf` adds the loader. Without it, compositions that need a program are refused.

mod parameters;
#[cfg_attr(not(feature = "ebpf"), allow(dead_code, reason = "only the loader reads records"))]
mod record;
#[cfg(test)]
mod testing;
#[cfg(feature = "ebpf")]
mod variables;

#[cfg(not(feature = "ebpf"))]
mod absent;
#[cfg(feature = "ebpf")]
mod loader;
#[cfg(feature = "ebpf")]
mod reader;

#[cfg(not(feature = "ebpf"))]
pub(crate) use absent::check;
#[cfg(not(feature = "ebpf"))]
pub use absent::{Loaded, load, probe};
#[cfg(feature = "ebpf")]
pub(crate) use loader::check;
#[cfg(feature = "ebpf")]
pub use loader::{Loaded, load, probe};
pub(crate) use parameters::assignments;
pub(crate) use record::quantities;
pub use record::{Event, Record, per_ack};
