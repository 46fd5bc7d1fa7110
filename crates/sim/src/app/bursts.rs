//! On–off traffic: bursts of data, each followed by a pause that begins when the burst has arrived.

use ackclock_core::distribution::Distribution;
use ackclock_core::rng::Generator;
use ackclock_core::units::{Duration, Instant};

use super::event::{Action, Event};
use super::rows::Transfer;
use crate::scenario::{ApplicationSpec, OnOff, whole_packets};

/// The state of an on–off application. A pause begins when the whole burst has arrived, so a slow path slows the application down.
#[derive(Debug)]
pub(crate) struct Bursts {
    size: (Distribution, Generator),
    pause: (Distribution, Generator),
    /// Data in a packet.
    packet: u64,
    stop: Option<Instant>,
    next: Option<Instant>,
    /// Bytes offered so far.
    offered: u64,
    transfers: Vec<Transfer>,
}

impl Bursts {
    pub(super) fn new(spec: &ApplicationSpec, kind: &OnOff, seed: u64) -> Self {
        let generator = |of| Generator::derived(seed, &format!("flow/{}/{of}", spec.name));
        Self {
            size: (kind.burst.clone(), generator("burst")),
            pause: (kind.pause.clone(), generator("pause")),
            packet: kind.packet.0,
            stop: spec.stop,
            next: Some(spec.start),
            offered: 0,
            transfers: Vec::new(),
        }
    }

    pub(super) fn handle(&mut self, now: Instant, event: Event, actions: &mut Vec<Action>) {
        match event {
            Event::Wake => self.begin(now, actions),
            Event::Delivered { total, .. } => self.deliver(now, total),
        }
    }

    fn begin(&mut self, now: Instant, actions: &mut Vec<Action>) {
        if self.next.take_if(|next| *next <= now).is_none() {
            return;
        }
        let (size, generator) = &mut self.size;
        let packets = whole_packets(size.draw(generator), self.packet) as u64;
        let bytes = packets * self.packet;
        self.offered += bytes;
        let page = self.transfers.len() as u32;
        let (queued, requested) = (now, Some(now));
        self.transfers.push(Transfer { page, object: 0, connection: Some(0), bytes, queued, requested, first_byte: None, completed: None });
        actions.push(Action::Offer(packets));
    }

    fn deliver(&mut self, now: Instant, total: u64) {
        let Some(burst) = self.transfers.last_mut().filter(|burst| burst.completed.is_none()) else { return };
        if total > self.offered - burst.bytes {
            burst.first_byte.get_or_insert(now);
        }
        if total >= self.offered {
            burst.completed = Some(now);
            let (pause, generator) = &mut self.pause;
            let next = now + Duration::from_secs_f64(pause.draw(generator));
            self.next = Some(next).filter(|next| self.stop.is_none_or(|stop| *next < stop));
        }
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.next
    }

    pub(super) fn into_transfers(self) -> Vec<Transfer> {
        self.transfers
    }
}

#[cfg(test)]
mod tests {
    use ackclock_core::units::Bytes;

    use ackclock_host::{Side, StreamId};

    use super::*;
    use crate::scenario::ApplicationKind;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn delivered(total: u64) -> Event {
        Event::Delivered { connection: 0, stream: StreamId::FIRST, side: Side::Receiver, total }
    }

    #[test]
    fn a_pause_begins_when_a_burst_has_arrived() {
        let (burst, pause) = (Distribution::Fixed { mean: 2500.0 }, Distribution::Fixed { mean: 0.1 });
        let kind = OnOff { burst, pause, packet: Bytes(1000) };
        let (name, start, stop) = ("a".to_owned(), at(5), Some(at(200)));
        let spec = ApplicationSpec { name, start, stop, flows: 0..1, kind: ApplicationKind::OnOff(kind.clone()) };
        let mut bursts = Bursts::new(&spec, &kind, 1);
        let mut actions = Vec::new();
        assert_eq!(bursts.poll_timeout(), Some(at(5)));
        bursts.handle(at(5), Event::Wake, &mut actions);
        assert_eq!((actions.as_slice(), bursts.poll_timeout()), (&[Action::Offer(3)][..], None), "2500 bytes are three packets");
        bursts.handle(at(20), delivered(1000), &mut actions);
        bursts.handle(at(30), delivered(3000), &mut actions);
        assert_eq!(bursts.poll_timeout(), Some(at(130)));
        bursts.handle(at(130), Event::Wake, &mut actions);
        bursts.handle(at(140), delivered(6000), &mut actions);
        assert_eq!((actions.len(), bursts.poll_timeout()), (2, None), "none begins after the stop");
        let times: Vec<_> = bursts.into_transfers().iter().map(|it| (it.page, it.bytes, it.queued, it.first_byte, it.completed)).collect();
        let first = (0, 3000, at(5), Some(at(20)), Some(at(30)));
        assert_eq!(times, [first, (1, 3000, at(130), Some(at(140)), Some(at(140)))]);
    }
}
