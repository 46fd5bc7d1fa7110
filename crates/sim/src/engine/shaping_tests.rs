//! A queue that shapes, before a link.

use std::collections::VecDeque;

use ackclock_core::qdisc::{Backlog, Dequeued, Outcomes, Packet, Scheduler};
use ackclock_core::rng::Generator;
use ackclock_core::units::{Duration, Instant, Moment};

use super::simulation::Simulation;
use crate::scenario::Document;
use crate::trace::{Recording, Traces};

/// Lets a packet leave every [`INTERVAL`].
#[derive(Debug, Default)]
struct Metronome {
    waiting: VecDeque<Packet>,
    backlog: Backlog,
    next: Instant,
    /// Whether a packet has arrived while others were held back.
    early: bool,
}

const INTERVAL: Duration = Duration::from_millis(7);

impl Scheduler for Metronome {
    fn enqueue(&mut self, now: Moment, packet: Packet, _random: &mut Generator, _outcomes: &mut Outcomes) {
        self.early |= now.at < self.next && !self.waiting.is_empty();
        self.backlog = self.backlog.with(packet.size);
        self.waiting.push_back(packet);
    }

    fn dequeue(&mut self, now: Moment, _random: &mut Generator, _outcomes: &mut Outcomes) -> Dequeued {
        let Some(&packet) = self.waiting.front() else { return Dequeued::Empty };
        if now.at < self.next {
            return Dequeued::NotBefore(self.next);
        }
        self.waiting.pop_front();
        self.backlog = self.backlog.without(packet.size);
        self.next = now.at + INTERVAL;
        Dequeued::Send(packet)
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("early", f64::from(u8::from(self.early)));
    }
}

#[test]
fn a_packet_leaves_no_sooner_than_its_queue_allows() {
    // Twenty datagrams of 1 ms, one every 2 ms, before a link that takes 1 ms for each, and a second one behind it.
    let text = "duration = '300 ms'\nrecord = ['sojourn', 'delivered', 'discipline']\n\
                topology = { kind = 'chain', links = [{ rate = '8 Mbit/s', delay = '10 ms' }, { rate = '80 Mbit/s', delay = '5 ms' }] }\n\
                [[flow]]\npacket_size = '972 B'\nstop = '39 ms'\napplication = { kind = 'cbr', rate = '4 Mbit/s' }";
    let scenario = Document::from_toml(text, "").and_then(|document| document.scenario()).unwrap_or_else(|error| panic!("{error}"));
    let recording = Recording { traces: Traces::new(&scenario.record), capture: None };
    let mut simulation = Simulation::new(&scenario, recording).unwrap();
    simulation.set_scheduler(0, Box::new(Metronome::default()));
    simulation.advance(Instant::MAX, &mut || false).unwrap();
    let (result, Recording { mut traces, .. }) = simulation.finish();
    traces.sort();
    let flow = &result.flows[0];
    assert_eq!((flow.sent_packets, flow.delivered_packets), (20, 20));
    let sojourn = traces.sojourn.unwrap();
    let left: Vec<u64> = sojourn.time.iter().zip(&sojourn.link).filter(|(_, link)| **link == 0).map(|(time, _)| *time).collect();
    assert_eq!(left, (0..20).map(|packet| 7_000_000 * packet).collect::<Vec<u64>>());
    // 1 ms and 10 ms on the first link, 0.1 ms and 5 ms on the second.
    let expected: Vec<u64> = left.iter().map(|time| time + 16_100_000).collect();
    assert_eq!(traces.delivered.unwrap().time, expected);
    let link = &result.links[0];
    assert!((link.utilisation - 20.0 / 300.0).abs() < 1e-9 && link.queue_max > 5, "{link:?}");
    assert!(traces.discipline.unwrap().value.contains(&1.0), "no packet arrived while one was held back");
    // A datagram is sent, served for and delivered; while the link sends and while it is held back, it waits for one event.
    assert!(result.events <= 5 * 20, "{} events", result.events);
}
