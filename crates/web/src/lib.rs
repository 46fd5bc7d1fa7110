//! The laboratory behind a page: a request is text, the answer is a *frame* of bytes. The same code answers in a browser, as WebAssembly,
//! and behind `ackclock serve` and in notebooks, natively. It has no clock, no threads, and reads no files.
//!
//! This page is the description of the protocol.
//!
//! # Frames
//!
//! A frame is: the length of its header in bytes (`u32`), the header (JSON, UTF-8), zeros up to a multiple of 8, and the columns, each
//! padded with zeros to a multiple of 8. Numbers are little-endian. A header names its columns with a type (`f64`, `u32` or `u8`) and an
//! `offset` in bytes from the first column; the number of rows gives the length.
//!
//! # Errors
//!
//! The header of an error is
//! `{"error": {"problems": [{"line", "column", "setting", "key", "message"}], "text"}}`. `text` is the whole message, as the command line shows
//! it. `line` and `column` count from 1 and concern the scenario's text; `setting` is the setting that is wrong, as `--set seed=x`; `key`
//! is the dotted path of the key, empty for the text as a whole. Missing members are null. An error changes nothing, except that a run that
//! fails is closed.
//!
//! A fault of the engine itself (a panic) is an error whose text begins with `internal error`, and closes the run. In WebAssembly, such a
//! fault traps: the instance is then lost with all its runs, and the page makes a new one ([the
//! exports](#exports-of-the-webassembly-module)).
//!
//! # Requests
//!
//! A request is a JSON object. Its member `do` names the request; unknown members are errors.
//!
//! | request | members | header of the answer |
//! |---|---|---|
//! | `describe` | | `version`; `build`, the processor for which the engine was compiled; `schema`, the JSON Schema of scenarios; `parts`, a list for each axis, as `ackclock list --json`; `hosts`; `relations`, how axes and keys relate, for menus; `traces` and `tables`: for each name, `row`, the meaning of a row, and `columns` with `name`, `unit`, `kind` and `doc` |
//! | `check` | a [scenario](#scenarios) | `scenario`; `values`, what is written in the text, as JSON; `frozen`, the scenario as TOML with every default; `hash` |
//! | `edit` | `text`; `set`, a list of pairs of a dotted path and a TOML value, or null to remove the key | `text`, with comments and layout as before. The result is TOML, but is not checked as a scenario |
//! | `open` | a scenario; `record`, names of traces instead of the scenario's | `run`, the number of the run; `scenario` |
//! | `advance` | `run`; `until`, seconds, or null or absent for the end; `events`, the most events to process | [rows](#rows) |
//! | `path` | `run` | [path](#path) |
//! | `finish` | `run` | `summary`, what `ackclock run --json` prints, without `cpu_seconds`; `digest`, equal for equal runs on any machine |
//! | `close` | `run` | empty |
//! | `packets` | a scenario; `from` and `to`, seconds; `most`, the most rows (default 20 000); `events`, the most events of the run | [packets](#packets) |
//!
//! # Scenarios
//!
//! The members of a scenario are `text`, TOML; `name`, a file name for messages, from which a scenario without `name` gets its name
//! (default `scenario.toml`); and `settings`, a list of pairs of a dotted path and a value, as of `--set`. `[sweep]` is checked, but a run
//! is of the scenario without it. A key that names a file (`har`) is an error, also where the engine could read files.
//!
//! `scenario` in an answer has `name`, `duration` (seconds), `seed`, `flows` (names), `links` (each with `name`, `from`, `to`, `rate` in
//! bit/s, `delay` in seconds, and `queue`, the name of its discipline or null), `bottleneck` (the name of the slowest link of the first
//! flow) and `record`. `open` answers the traces that it records.
//!
//! # Rows
//!
//! `advance` processes the events before `until`, at most `events` of them, and answers with `run`, `time` (all events before it are
//! processed), `duration`, `events` (processed so far), `done`, and `tables`: for each trace, `rows` and `columns` with the rows that the
//! run has recorded since the last answer. No division into calls changes a run or the order of its rows.
//!
//! Rows are in the order in which the engine records them. Rows of one link, and of one flow, are in the order of time, but links write
//! theirs ahead of time: a row can be later than `time`. Rows of different links and flows are not sorted. A stable sort by time gives the
//! trace of the finished run.
//!
//! | values | type |
//! |---|---|
//! | times in seconds, exact to the nanosecond when rounded; numbers; bytes and packets | `f64`; NaN where there is none |
//! | flows, links | `u32`, indices into the scenario's; the column has the member `names`, `"flows"` or `"links"` |
//! | whole numbers of 32 bits | `u32` |
//! | words | `u8`, indices into the column's member `words`, which only grows from answer to answer |
//!
//! # Path
//!
//! `path` answers with `run` and `tables`, which holds `path` (`rows` and `columns`): what the models of the bottleneck, and of the link in the other direction,
//! do over the time of the run if the link always has a packet to send. It is what `ackclock plot` draws of a scenario. Each link has 300
//! rows, for equal parts of the time, with `time` (the begin of the part, in seconds) and `link`. The other columns are there if the
//! quantity is no constant on at least one of the two links: `rate` in bit/s; `delay`, the mean, `least` and `largest` in seconds; and
//! `loss`, the share of the packets. Without any of them there are no rows. NaN stands for a part in which no transmission ends.
//!
//! # Packets
//!
//! `packets` runs the scenario from its begin until the packets of a part of it have left their queues, and forgets the run. The answer has
//! `scenario`, `from`, `to`, `packets` (`rows` and `columns`) and `missing_from`: null, or, if there were more than `most` rows, the time
//! before which the rows are complete. A row is a packet on one link that is there, in its queue or on its way, between `from` and `to`.
//! Rows are in the order in which packets entered links.
//!
//! | column | type | meaning |
//! |---|---|---|
//! | `link`, `flow` | `u32` | indices into the scenario's |
//! | `kind` | `u8` | `data` (also SYN and FIN) or `ack` |
//! | `source` | `u8` | the end of the flow that sent it: `sender` or `receiver` |
//! | `number` | `u32` | number of the segment, from 1 (0 is the SYN); for an ACK, the number of the segment that it expects |
//! | `size` | `u32` | bytes, with headers |
//! | `retransmission` | `u8` | whether the sender sent this segment again: `no` or `yes` |
//! | `ecn` | `u8` | ECN field behind the queue: `incapable`, `capable` or `marked` |
//! | `entered` | `f64` | seconds: arrival at the queue |
//! | `left` | `f64` | start of the transmission; NaN: lost before it, or still waiting at the end of the run |
//! | `arrived` | `f64` | arrival at the other end, which can be after the end of the run; NaN: lost, or still waiting |
//! | `dropped` | `f64` | loss by the queue or the loss model; NaN: none |
//! | `reason` | `u8` | reason of the loss, as in the trace `drops`; empty: none |
//!
//! # Runs
//!
//! A run takes memory until it is closed, by `finish` or `close`: that of its network and of all its rows. At most [`MOST_RUNS`] runs can
//! be open. `finish` runs what is left of the scenario. To stop a run, a page bounds the work of each `advance` by `events`, and closes the
//! run.
//!
//! # Exports of the WebAssembly module
//!
//! The module imports nothing. `allocate(length)` gives the address of memory for a request of this length; `handle()` answers it and gives
//! the address of the frame, and `result_length()` its length. The frame is valid until the next call; `release()` frees it. After a trap,
//! `failure()` and `failure_length()` give the message.
#![deny(unsafe_code)]

#[cfg(target_family = "wasm")]
pub mod abi;
mod answers;
mod edit;
mod error;
mod frame;
mod laboratory;
mod packets;
mod path;
mod request;
mod run;

pub use laboratory::{Laboratory, MOST_RUNS};
