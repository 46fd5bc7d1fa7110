//! A queue discipline of a Linux kernel in virtual time.
//! ## What it does
//! Every packet that arrives at the link enters a queue discipline of the kernel, whatever host has sent it, and the link transmits what the
//! discipline gives it. A packet that the kernel drops has the reason `kernel`. The kernel sees packets of the right size with addresses and
//! ports of their flow and its ECN field, so that disciplines that tell flows apart do so.
//! ## References
//! tc(8), and the manual page of each discipline, such as tc-fq_codel(8).
//! ## Differs from the document
//! The interface has no host, so no socket of the kernel waits for room in this queue (TCP small queues). Packets arrive one by one, never as
//! the blocks of segments that a host gives its own interface. Links of the simulator count packets from the IP header on, so the
//! discipline does too.
//! ## Parameters
//! `command`: what `tc qdisc add dev DEV root` takes, such as `fq_codel target 5ms`. A discipline alone, such as "dualpi2", needs no `tc`;
//! options are read by the `tc` of this machine. Further lines are further commands of `tc`, without `dev DEV`, which add classes, filters and
//! the disciplines of classes: `handle 1: prio`, then `filter add parent 1: protocol ip u32 match ip sport 1024 0xffff flowid 1:1`.

use crate::entry::Description;
use crate::params::{Default, Kind, Param};
use crate::qdisc::contract::Reason;

/// Its name in a scenario.
pub const NAME: &str = "qdisc";
/// Its parameter: what `tc` takes.
pub const COMMAND: &str = "command";
/// Why its packets are dropped or marked.
pub const REASONS: &[Reason] = &[Reason::Kernel];

const SOURCE: &str = include_str!("qdisc.rs");
static HEADER: [u8; crate::entry::header_length(SOURCE)] = crate::entry::start(SOURCE);

/// This part in listings. It has no entry, because only a kernel can build it.
pub const DESCRIPTION: Description = Description {
    name: NAME,
    summary: "a queue discipline of a Linux kernel",
    reference: "tc(8)",
    params: &[Param {
        name: COMMAND,
        kind: Kind::Text,
        default: Default::Word("fq_codel"),
        doc: "the discipline and its options, as `tc` reads them; further lines add classes and filters",
    }],
    quantities: &[],
    header: match std::str::from_utf8(&HEADER) {
        Ok(header) => header,
        Err(_) => "",
    },
};
