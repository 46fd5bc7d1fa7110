//! `DropTail`: a first-in, first-out queue that drops arriving packets when it is full.
//! ## What it does
//! Packets leave in order of arrival. A packet that would make the queue reach its limit is dropped. The limit counts packets, or
//! bytes with headers: with 40 001 B it is the `bfifo` of 40 000 B of Linux, as it is the `pfifo` of 50 packets with 51.
//! ## References
//! ns-2.35, `DropTail`.
//! ## Differs from the document
//! Nothing. As in ns-2, the limit counts the arriving packet but not the packet in transmission. A limit of L packets therefore lets L − 1
//! packets wait, and a limit of 1 drops everything.
//! ## Parameters
//! `limit`: capacity in packets, bytes or multiples of the bandwidth-delay product; 50 packets, ns-2's default.

use crate::entry::Entry;
use crate::qdisc::contract::{Admission, Arrival, Backlog, Discipline, Reason, Verdict};
use crate::qdisc::params::limit;
use crate::rng::Generator;
use crate::units::Limit;

/// This part in the registry.
pub static ENTRY: Entry<Discipline> = Entry {
    name: "droptail",
    summary: "first in, first out; drops arriving packets when full",
    reference: "ns-2.35 DropTail",
    params: &[limit("limit", 50, "capacity, including the arriving packet; ns-2's default")],
    quantities: &[],
    build: |params| Ok(Discipline::fifo(DropTail { limit: params.limit("limit") })),
};

/// A `DropTail` queue.
#[derive(Debug)]
pub struct DropTail {
    pub(super) limit: Limit,
}

impl Admission for DropTail {
    fn admit(&mut self, arrival: &Arrival, backlog: Backlog, _random: &mut Generator) -> Verdict {
        if backlog.with(arrival.size).reaches(self.limit) { Verdict::Drop(Reason::Overflow) } else { Verdict::Accept }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::arrival;

    fn admits(limit: Limit, backlog: Backlog) -> bool {
        DropTail { limit }.admit(&arrival(0, 1040), backlog, &mut Generator::derived(1, "")) == Verdict::Accept
    }

    #[test]
    fn a_limit_of_five_packets_lets_four_wait() {
        let waiting = |packets| Backlog { packets, bytes: packets * 1040 };
        assert!(admits(Limit::Packets(5), waiting(3)));
        assert!(!admits(Limit::Packets(5), waiting(4)));
    }

    #[test]
    fn a_limit_of_one_packet_drops_everything() {
        assert!(!admits(Limit::Packets(1), Backlog::default()));
    }

    #[test]
    fn a_limit_in_bytes_counts_the_arriving_packet() {
        assert!(admits(Limit::Bytes(2081), Backlog { packets: 1, bytes: 1040 }));
        assert!(!admits(Limit::Bytes(2080), Backlog { packets: 1, bytes: 1040 }));
    }
}
