//! Links that share a medium.

use ackclock_core::path::medium::Attempt;
use ackclock_core::units::{Instant, Moment};

use super::events::{Key, Subject};
use super::simulation::Simulation;
use crate::net::link::{Link, Queue};
use crate::net::packet::Packet;
use crate::net::port::Entering;
use crate::trace::Recorder;

impl<R: Recorder> Simulation<'_, R> {
    /// Offers a packet to a link on a medium.
    #[cold]
    pub(super) fn share(&mut self, link: usize, packet: Packet, now: Moment) {
        let ends = self.ends(&packet);
        let Link { port, queue: Queue::Shared(station) } = &mut self.links[link] else { return };
        let entering = Entering { now, packet };
        if let Some(crossing) = port.before(&entering, &mut self.recorder) {
            return self.crossed(link, packet, now, crossing);
        }
        station.join(port, (&entering, ends), &mut self.lost, &mut self.recorder);
        self.drop_all();
        self.ask(link, now.at);
    }

    /// The queue of a link on a medium releases a packet, unless that has changed.
    #[cold]
    pub(super) fn release(&mut self, key: Key, link: usize) {
        let Queue::Shared(station) = &self.links[link].queue else { return };
        if let Some(due) = station.due().filter(|&due| self.subjects.key(due, Subject::Link(link)) == key) {
            self.ask(link, due.at);
        }
    }

    /// Asks for the medium of a link that has something to send.
    fn ask(&mut self, link: usize, now: Instant) {
        let Queue::Shared(station) = &mut self.links[link].queue else { return };
        if station.asked || !station.has_more() {
            return;
        }
        station.asked = true;
        let (medium, number) = (station.medium, station.number);
        self.media[medium].request(now, number);
        self.plan(medium, now);
    }

    fn plan(&mut self, medium: usize, now: Instant) {
        if let Some(due) = self.media[medium].plan(now) {
            self.schedule(due, Subject::Medium(medium));
        }
    }

    /// Stations send on a medium, unless others have come before.
    #[cold]
    pub(super) fn medium_event(&mut self, key: Key, number: usize) {
        let medium = &mut self.media[number];
        let Some(due) = medium.due.filter(|&due| self.subjects.key(due, Subject::Medium(number)) == key) else { return };
        medium.due = None;
        let (mut senders, mut attempts) = (std::mem::take(&mut medium.senders), std::mem::take(&mut medium.attempts));
        medium.model.senders(&mut senders);
        let mut end = due.at;
        for station in senders.drain(..) {
            if let Some(last) = self.send(number, station, due) {
                end = end.max(last);
                attempts.push(Attempt { station, received: false, more: false });
            }
        }
        let alone = attempts.len() == 1;
        for attempt in &mut attempts {
            self.conclude(number, attempt, alone.then_some((due.at, end)));
        }
        let medium = &mut self.media[number];
        if !attempts.is_empty() {
            medium.model.occupy(end, &attempts, &mut medium.random);
        }
        attempts.clear();
        (medium.senders, medium.attempts) = (senders, attempts);
        self.plan(number, due.at);
    }

    /// A station sends what it has. Returns the end of that; `None`: its queue has released nothing.
    fn send(&mut self, medium: usize, station: usize, now: Moment) -> Option<Instant> {
        let medium = &mut self.media[medium];
        let link = medium.links[station];
        let Link { port, queue: Queue::Shared(sender) } = &mut self.links[link] else { return None };
        let (any, next) = sender.gather(port, (&medium.frames, now), &mut self.lost, &mut self.recorder);
        let kind = &mut self.lanes.kinds[port.kind as usize];
        let end = any.then(|| sender.send((port, kind), &medium.frames, now.at));
        if end.is_none() {
            sender.asked = false;
            medium.model.withdraw(station);
        }
        self.drop_all();
        if let Some(next) = next {
            self.schedule(next, Subject::Link(link));
        }
        end
    }

    /// Determines what becomes of a transmission, which has this start and end if it did not collide.
    fn conclude(&mut self, medium: usize, attempt: &mut Attempt, sent: Option<(Instant, Instant)>) {
        let medium = &mut self.media[medium];
        let link = medium.links[attempt.station];
        let Queue::Shared(station) = &mut self.links[link].queue else { return };
        attempt.received = sent.is_some() && station.succeed(medium.frames.error, &mut medium.random);
        while let Some(times) = sent
            && let Link { port, queue: Queue::Shared(station) } = &mut self.links[link]
            && let Some(entering) = station.pass()
        {
            let crossing = port.receive(&self.lanes.kinds[port.kind as usize], &entering, times, &mut self.recorder);
            self.crossed(link, entering.packet, Moment::default(), crossing);
        }
        let Queue::Shared(station) = &mut self.links[link].queue else { return };
        attempt.more = station.has_more();
        station.asked = attempt.more;
    }
}
