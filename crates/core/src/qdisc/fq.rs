//! FQ: fair queueing by finish times.
//! ## What it does
//! Gives every flow a queue of its own. The first packet of each queue has a finish time: when its transmission would end if the link were
//! shared evenly by the flows that are active when it gets there. The packet with the smallest one is sent next.
//! ## References
//! Demers, Keshav & Shenker, *Analysis and simulation of a fair queueing algorithm*, SIGCOMM 1989; ns-2.35, `FQ`.
//! ## Differs from the document
//! As in ns-2: real time stands for the virtual time, a finish time is fixed when its packet becomes the first of its flow, and that packet
//! does not count for the flow's limit.
//! ## Parameters
//! `flow_limit`: capacity of each flow's queue, the arriving packet included; 50 packets.

use crate::qdisc::bands::Bands;
use crate::qdisc::{Backlog, Discipline, Limit, Outcome, Outcomes, Outlet, Packet, Reason, Scheduler};
use crate::registry::{Default, Entry, Kind, Param};
use crate::rng::Generator;
use crate::units::Instant;

/// This part in the registry.
pub static ENTRY: Entry<Discipline> = Entry {
    name: "fq",
    summary: "fair queueing: a queue for each flow, the earliest finish time first",
    reference: "Demers, Keshav & Shenker 1989; ns-2.35 FQ",
    params: &[Param {
        name: "flow_limit",
        kind: Kind::Limit,
        default: Default::Limit(Limit::Packets(50)),
        bounds: (1.0, 1e15),
        doc: "capacity of each flow's queue, the arriving packet included",
    }],
    build: |params| {
        Ok(Discipline::scheduled(Fq {
            flow_limit: params.limit("flow_limit"),
            bands: Bands::new(0),
            finish: Vec::new(),
            active: 0,
            seconds_per_byte: 0.0,
        }))
    },
};

/// A fair queue.
#[derive(Debug)]
pub struct Fq {
    flow_limit: Limit,
    bands: Bands,
    /// Finish time of the first packet of each queue, or of the last one sent.
    finish: Vec<f64>,
    /// Queues that are not empty.
    active: usize,
    seconds_per_byte: f64,
}

impl Fq {
    /// The first packet of queue `index` has got there at `now`.
    fn set_finish(&mut self, index: usize, size: u64, now: Instant) {
        self.active += 1;
        let start = self.finish[index].max(now.as_secs_f64());
        self.finish[index] = start + size as f64 * self.seconds_per_byte * self.active as f64;
    }
}

impl Scheduler for Fq {
    fn attach(&mut self, outlet: &Outlet) {
        self.seconds_per_byte = 8.0 / outlet.rate.as_bits_per_sec() as f64;
    }

    fn enqueue(&mut self, packet: Packet, _random: &mut Generator, outcomes: &mut Outcomes) {
        let index = packet.flow as usize;
        if index >= self.finish.len() {
            self.finish.resize(index + 1, 0.0);
        }
        let band = self.bands.band(index);
        if let Some(first) = band.front() {
            if self.flow_limit.is_reached(band.backlog.without(first.size).with(packet.size)) {
                return outcomes.push((packet, Outcome::Dropped(Reason::Overflow)));
            }
        } else {
            self.set_finish(index, packet.size.0, packet.arrived);
        }
        self.bands.push(index, packet);
    }

    fn dequeue(&mut self, now: Instant, _random: &mut Generator, _outcomes: &mut Outcomes) -> Option<Packet> {
        let finish = &self.finish;
        let earlier = |a: &usize, b: &usize| finish[*a].total_cmp(&finish[*b]).then(a.cmp(b));
        let index = self.bands.round().map(|(index, _)| index).min_by(earlier)?;
        let packet = self.bands.pop(index);
        self.active -= 1;
        self.bands.leave_if_empty(index);
        if let Some(size) = self.bands.band(index).front().map(|next| next.size.0) {
            self.set_finish(index, size, now);
        }
        packet
    }

    fn backlog(&self) -> Backlog {
        self.bands.total()
    }
}
