//! VQ: the adaptive virtual queue (AVQ).
//! ## What it does
//! Simulates a virtual queue with a service rate, the virtual capacity, below the link's. An arriving packet that would overflow the
//! virtual queue is dropped or marked. The virtual capacity adapts so that packets arrive at `gamma` times the link's capacity.
//! ## References
//! Kunniyur & Srikant, *Analysis and design of an adaptive virtual queue (AVQ) algorithm for active queue management*, SIGCOMM 2001;
//! ns-2.35, `Vq`, whose defaults are used.
//! ## Differs from the document
//! As in ns-2, a packet dropped by the virtual queue does not reduce the virtual capacity, but a packet dropped by the full real queue
//! does.
//! ## Parameters
//! `limit`: capacity; in mode `bytes` a packet counts as `mean_packet` bytes; 50 packets.
//! `mode`: unit of both queues, bytes or packets; bytes.
//! `mean_packet`: average packet size; 1000 B.
//! `initial_capacity`: initial virtual capacity, as a share of the link's; 80 % (ns-2: `ecnlim_`).
//! `gamma`: target utilisation; 98 %.
//! `alpha`: adaptation speed of the virtual capacity; 0.15.
//! `virtual_limit`: capacity of the virtual queue, as a share of `limit`; 100 % (ns-2: `buflim_`).
//! `ecn`: marks packets that support ECN instead of dropping them; true. In ns-2, `markpkts_` is false and all are dropped.
//! `drop_incapable`: with `ecn`, drops packets that do not support ECN; true. ns-2 lets them pass.

use crate::entry::{Entry, quantity};
use crate::params::{Default, Kind, Param};
use crate::qdisc::contract::{Admission, Arrival, Backlog, Discipline, Ecn, Outlet, Reason, Verdict};
use crate::qdisc::params::{ECN, Measure, mean_packet, mode};
use crate::rng::Generator;
use crate::units::{Instant, Limit};

/// This part in the registry.
pub static ENTRY: Entry<Discipline> = Entry {
    name: "vq",
    summary: "adaptive virtual queue: drops packets for which a slower link would have no room",
    reference: "Kunniyur & Srikant 2001; ns-2.35 Vq",
    params: &[
        Param {
            name: "limit",
            kind: Kind::ByteLimit { min: 1.0, max: 1e15 },
            default: Default::Limit(Limit::Packets(50)),
            doc: "capacity",
        },
        mode("unit of both queues"),
        mean_packet(1000.0, "average packet size"),
        Param {
            name: "initial_capacity",
            kind: Kind::Probability { min: 0.0, max: 1.0 },
            default: Default::Number(0.8),
            doc: "initial virtual capacity, as a share of the link's",
        },
        Param { name: "gamma", kind: Kind::Probability { min: 0.0, max: 1.0 }, default: Default::Number(0.98), doc: "target utilisation" },
        Param {
            name: "alpha",
            kind: Kind::Number { min: 0.0, max: 1e3 },
            default: Default::Number(0.15),
            doc: "adaptation speed of the virtual capacity",
        },
        Param {
            name: "virtual_limit",
            kind: Kind::Probability { min: 0.0, max: 1.0 },
            default: Default::Number(1.0),
            doc: "capacity of the virtual queue, as a share of limit",
        },
        ECN,
        Param {
            name: "drop_incapable",
            kind: Kind::Bool,
            default: Default::Bool(true),
            doc: "with ecn, drops packets that do not support ECN",
        },
    ],
    quantities: &[
        quantity("virtual_capacity", "", "service rate of the virtual queue, as a share of the link's"),
        quantity("virtual_queue", "bytes or packets, by `mode`", "length of the virtual queue"),
    ],
    build: |params| {
        let measure = Measure::new(params);
        let limit = measure.limit(params.limit("limit"));
        Ok(Discipline::fifo(Vq {
            measure,
            limit,
            virtual_limit: params.number("virtual_limit") * limit,
            share: params.number("initial_capacity"),
            gamma: params.number("gamma"),
            alpha: params.number("alpha"),
            ecn: params.flag("ecn"),
            drop_incapable: params.flag("drop_incapable"),
            capacity: 0.0,
            virtual_capacity: 0.0,
            virtual_queue: 0.0,
            served: None,
            adapted: None,
        }))
    },
};

/// An adaptive virtual queue.
#[derive(Debug)]
pub struct Vq {
    measure: Measure,
    /// Capacity in bytes or packets, like the fields that follow.
    limit: f64,
    virtual_limit: f64,
    share: f64,
    gamma: f64,
    alpha: f64,
    ecn: bool,
    drop_incapable: bool,
    /// Link rate per second.
    capacity: f64,
    virtual_capacity: f64,
    virtual_queue: f64,
    /// Last update of the virtual queue; `adapted` is that of the virtual capacity.
    served: Option<Instant>,
    adapted: Option<Instant>,
}

impl Admission for Vq {
    fn attach(&mut self, outlet: &Outlet) {
        let bits = if self.measure.unit().is_some() { 8.0 } else { 8.0 * self.measure.mean_packet };
        self.capacity = outlet.rate.as_bits_per_sec() as f64 / bits;
        self.virtual_capacity = self.share * self.capacity;
    }

    fn admit(&mut self, arrival: &Arrival, backlog: Backlog, _random: &mut Generator) -> Verdict {
        let size = self.measure.packet(arrival.size);
        // Both clocks start with the first packet.
        let since = |last: Option<Instant>| arrival.now.since(last.unwrap_or(arrival.now)).as_secs_f64();
        self.virtual_queue = (self.virtual_queue - self.virtual_capacity * since(self.served)).max(0.0);
        self.served = Some(arrival.now);
        self.adapted.get_or_insert(arrival.now);
        let mut verdict = Verdict::Accept;
        if self.virtual_queue + size > self.virtual_limit {
            let passes = self.ecn && !self.drop_incapable && arrival.ecn == Ecn::NotEct;
            verdict = if passes { Verdict::Accept } else { arrival.signal(self.ecn, Reason::Virtual) };
        } else {
            self.virtual_queue += size;
        }
        if !matches!(verdict, Verdict::Drop(_)) {
            // Kunniyur & Srikant, figure 1: the virtual capacity follows the spare capacity.
            let room = self.alpha * self.gamma * self.capacity * since(self.adapted);
            self.virtual_capacity = (self.virtual_capacity + room - self.alpha * size).clamp(0.0, self.capacity);
            self.adapted = Some(arrival.now);
        }
        let length = self.measure.backlog(backlog.with(arrival.size));
        if length > self.limit { Verdict::Drop(Reason::Overflow) } else { verdict }
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("virtual_capacity", self.virtual_capacity / self.capacity);
        out("virtual_queue", self.virtual_queue);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{admission, arrival, assert_close, internal};
    use crate::units::Duration;

    /// A queue with room for 4000 B before a link of 1 MB/s.
    fn vq(set: &[(&str, Value)]) -> Box<dyn Admission> {
        let base = [("limit", Value::Limit(Limit::Bytes(4000))), ("alpha", Value::Number(0.5)), ("gamma", Value::Number(0.9))];
        admission(&ENTRY, &[&base, set].concat())
    }

    /// The verdict on a packet that arrives `millis` into the run at an empty queue.
    fn admit(vq: &mut Box<dyn Admission>, ecn: Ecn, millis: f64, size: u64) -> Verdict {
        vq.admit(
            &Arrival { ecn, now: Instant::ZERO + Duration::from_secs_f64(millis / 1000.0), ..arrival(0, size) },
            Backlog::default(),
            &mut Generator::derived(1, ""),
        )
    }

    /// Checks the virtual queue in bytes, and the virtual capacity in bytes per second.
    #[track_caller]
    fn assert_state(vq: &dyn Admission, queue: f64, capacity: f64) {
        assert_close(internal(|out| vq.internals(out), "virtual_queue"), queue, 1e-6);
        assert_close(internal(|out| vq.internals(out), "virtual_capacity"), capacity / 1e6, 1e-12);
    }

    #[test]
    fn the_recursion_by_hand() {
        let mut vq = vq(&[]);
        let lost = Verdict::Drop(Reason::Virtual);
        for (millis, size, ecn, verdict, queue, capacity) in [
            // The clocks start with the first packet, which subtracts half of its size from 800 kB/s.
            (5.0, 1000, Ecn::NotEct, Verdict::Accept, 1000.0, 799_500.0),
            // A millisecond serves 799.5 B and adds 0.5·0.9·1000 B.
            (6.0, 1000, Ecn::NotEct, Verdict::Accept, 1200.5, 799_450.0),
            (6.0, 1000, Ecn::NotEct, Verdict::Accept, 2200.5, 798_950.0),
            (6.0, 1000, Ecn::NotEct, Verdict::Accept, 3200.5, 798_450.0),
            // 2801.275 B and 1500 B are too many. The capacity keeps its value and the time of its last update.
            (6.5, 1500, Ecn::NotEct, lost, 2801.275, 798_450.0),
            (7.0, 1000, Ecn::Ect0, Verdict::Accept, 3402.05, 798_400.0),
            // A mark reduces the capacity, although the packet does not join the virtual queue.
            (7.0, 1000, Ecn::Ect0, Verdict::Mark(Reason::Virtual), 3402.05, 797_900.0),
            (7.0, 597, Ecn::NotEct, Verdict::Accept, 3999.05, 797_601.5),
        ] {
            assert_eq!(admit(&mut vq, ecn, millis, size), verdict, "at {millis} ms");
            assert_state(&*vq, queue, capacity);
        }
        // A second adds more than the link's capacity, and empties the virtual queue.
        admit(&mut vq, Ecn::NotEct, 1007.0, 100);
        assert_state(&*vq, 100.0, 1e6);
    }

    #[test]
    fn packets_without_ecn_pass_if_drop_incapable_is_off() {
        let verdict = |ecn, off| {
            let set = [("virtual_limit", Value::Number(0.5)), (off, Value::Bool(false))];
            admit(&mut vq(&set), ecn, 0.0, 2001)
        };
        assert_eq!(verdict(Ecn::NotEct, "drop_incapable"), Verdict::Accept);
        assert_eq!(verdict(Ecn::Ect0, "drop_incapable"), Verdict::Mark(Reason::Virtual));
        assert_eq!(verdict(Ecn::Ect0, "ecn"), Verdict::Drop(Reason::Virtual));
    }

    #[test]
    fn both_queues_have_limits() {
        let mut random = Generator::derived(1, "");
        let mut at = |bytes| vq(&[]).admit(&arrival(0, 1000), Backlog { packets: 1, bytes }, &mut random);
        assert_eq!((at(3000), at(3001)), (Verdict::Accept, Verdict::Drop(Reason::Overflow)));
        let half = [("virtual_limit", Value::Number(0.5))];
        assert_eq!([2000, 2001].map(|size| admit(&mut vq(&half), Ecn::Ect0, 0.0, size)), [Verdict::Accept, Verdict::Mark(Reason::Virtual)]);
        // In mode packets, 4000 B mean four packets of 1000 B, whatever the actual size.
        let mut packets = vq(&[("mode", Value::Word("packets".to_owned()))]);
        let verdicts = [(); 5].map(|()| admit(&mut packets, Ecn::Ect0, 0.0, 100));
        assert_eq!((verdicts[3], verdicts[4]), (Verdict::Accept, Verdict::Mark(Reason::Virtual)));
    }
}
