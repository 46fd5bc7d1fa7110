//! GK: the virtual queue of Gibbens and Kelly.
//! ## What it does
//! Simulates a virtual queue whose service rate and room are a share of the link's rate and the real queue's capacity. Departing packets
//! are marked from an overflow of the virtual queue until it is empty. Packets that do not support ECN are never dropped early: without
//! ECN, GK is a drop-tail queue.
//! ## References
//! Gibbens & Kelly, *Distributed connection acceptance control for a connectionless network*, ITC 16, 1999; ns-2.35, `GK`, whose defaults
//! are used.
//! ## Differs from the document
//! As in ns-2, packets already in the queue at the overflow are marked too. The clock of the virtual queue stops while it is empty.
//! ## Parameters
//! `limit`: capacity, including the arriving packet; 50 packets.
//! `share`: rate and room of the virtual queue, as a share of the real ones; 95 % (ns-2: `ecnlim_`).
//! `mean_packet`: average packet size, which converts the rate to packets per second; 1000 B.

use crate::entry::{Entry, quantity};
use crate::params::{Default, Kind, Param};
use crate::qdisc::droptail::DropTail;
use crate::qdisc::params::{limit, mean_packet};
use crate::qdisc::{Backlog, Dequeued, Discipline, Ecn, Fifo, Outcome, Outcomes, Outlet, Packet, Reason, Scheduler};
use crate::rng::Generator;
use crate::units::{Instant, Limit, Moment};

/// This part in the registry.
pub static ENTRY: Entry<Discipline> = Entry {
    name: "gk",
    summary: "virtual queue of Gibbens and Kelly: marks when a slower link would overflow",
    reference: "Gibbens & Kelly 1999; ns-2.35 GK",
    params: &[
        limit("limit", 50, "capacity, including the arriving packet"),
        Param {
            name: "share",
            kind: Kind::Probability { min: 0.0, max: 1.0 },
            default: Default::Number(0.95),
            doc: "rate and room of the virtual queue, as a share of the real ones",
        },
        mean_packet(1000.0, "average packet size, which converts the rate to packets per second"),
    ],
    quantities: &[quantity("virtual_queue", "packets", "length of the virtual queue")],
    build: |params| {
        Ok(Discipline::scheduled(Gk {
            queue: Fifo::new(DropTail { limit: params.limit("limit") }),
            share: params.number("share"),
            mean_packet: params.number("mean_packet"),
            capacity: 0.0,
            virtual_queue: 0.0,
            last: Instant::ZERO,
            marking: false,
        }))
    },
};

/// A queue and its virtual queue.
#[derive(Debug)]
pub struct Gk {
    queue: Fifo<DropTail>,
    share: f64,
    mean_packet: f64,
    /// Service rate of the virtual queue in packets per second.
    capacity: f64,
    virtual_queue: f64,
    last: Instant,
    /// Whether the virtual queue has overflowed and not been empty since.
    marking: bool,
}

impl Gk {
    /// Serves the virtual queue up to `now`. Marking ends when the virtual queue is empty.
    ///
    /// As in ns-2, the clock of an empty virtual queue stops, so its first packet after a pause may be served at once.
    fn serve_virtual_queue(&mut self, now: Instant) {
        if self.virtual_queue > 0.0 {
            let elapsed = now.since(self.last).as_secs_f64();
            self.last = now;
            self.virtual_queue = (self.virtual_queue - self.capacity * elapsed).max(0.0);
            self.marking &= self.virtual_queue > 0.0;
        }
    }

    /// Room of the virtual queue in packets.
    fn room(&self) -> f64 {
        match self.queue.admission().limit {
            Limit::Packets(packets) => self.share * packets as f64,
            Limit::Bytes(bytes) => self.share * bytes as f64 / self.mean_packet,
        }
    }
}

impl Scheduler for Gk {
    fn attach(&mut self, outlet: &Outlet) {
        self.capacity = self.share * outlet.rate.as_bits_per_sec() as f64 / (8.0 * self.mean_packet);
    }

    fn enqueue(&mut self, now: Moment, packet: Packet, random: &mut Generator, outcomes: &mut Outcomes) {
        self.serve_virtual_queue(now.at);
        if self.virtual_queue + 1.0 > self.room() {
            self.marking = true;
        } else {
            self.virtual_queue += 1.0;
        }
        self.queue.enqueue(now, packet, random, outcomes);
    }

    fn dequeue(&mut self, now: Moment, random: &mut Generator, outcomes: &mut Outcomes) -> Dequeued {
        self.serve_virtual_queue(now.at);
        let Dequeued::Send(mut packet) = self.queue.dequeue(now, random, outcomes) else { return Dequeued::Empty };
        if self.marking && matches!(packet.ecn, Ecn::Ect0 | Ecn::Ect1) {
            packet.ecn = Ecn::Ce;
            outcomes.push((packet, Outcome::Marked(Reason::Virtual)));
        }
        Dequeued::Send(packet)
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("virtual_queue", self.virtual_queue);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{Bench, OVERFLOW, assert_close, capable, packet};

    /// A virtual queue with room for five packets and a service time of 2 ms.
    fn bench() -> Bench {
        Bench::new(&ENTRY, &[("limit", Value::Limit(Limit::Packets(10))), ("share", Value::Number(0.5))])
    }

    #[test]
    fn marks_are_given_from_overflow_until_empty() {
        let mut bench = bench();
        let mut arrive = |handle| bench.arrive(0, capable(handle, 0, 1000));
        assert!((0..5).all(&mut arrive));
        assert_eq!(bench.depart(0).unwrap().ecn, Ecn::Ect0, "five packets fit");
        // The sixth packet overflows; the packets before it are marked too.
        bench.arrive(0, capable(5, 0, 1000));
        assert_close(bench.internal("virtual_queue"), 5.0, 0.0);
        assert_eq!(bench.depart(1000).unwrap(), Packet { ecn: Ecn::Ce, ..capable(1, 0, 1000) });
        assert_close(bench.internal("virtual_queue"), 4.5, 1e-12);
        assert_eq!(bench.depart(9999).unwrap().ecn, Ecn::Ce);
        assert_eq!(bench.depart(10_001).unwrap().ecn, Ecn::Ect0, "the virtual queue is empty");
        assert_eq!(bench.outcomes(), [(1, Outcome::Marked(Reason::Virtual)), (2, Outcome::Marked(Reason::Virtual))]);
    }

    #[test]
    fn packets_that_cannot_be_marked_are_dropped_by_a_full_queue_only() {
        let mut bench = bench();
        assert_eq!(bench.fill(0, 1000), 9);
        assert_eq!(bench.outcomes(), [(9, OVERFLOW)]);
        assert_eq!(bench.depart(0), Some(packet(0, 0, 1000)));
        assert_eq!(bench.outcomes(), []);
    }

    #[test]
    fn the_clock_of_an_empty_virtual_queue_stands_still() {
        let mut bench = bench();
        bench.arrive(0, packet(0, 0, 1000));
        bench.depart(5000);
        // The service time counts from 5 ms on, the end of the last service.
        bench.arrive(20_000, packet(1, 0, 1000));
        bench.depart(20_001);
        assert_close(bench.internal("virtual_queue"), 0.0, 0.0);
        bench.arrive(20_001, packet(2, 0, 1000));
        bench.depart(21_001);
        assert_close(bench.internal("virtual_queue"), 0.5, 1e-12);
    }
}
