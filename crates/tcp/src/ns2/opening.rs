//! The initial window at the sender: what the control is told of the handshake, pacing of the first flight, and what connections to the same
//! peer learn of each other. ns-2.35 has only the first; without pacing and learning the sender is ns-2's.

use ackclock_core::events::Established;
use ackclock_core::units::{Bytes, Instant, Segments};

use super::{Permit, Sender, State};
use crate::bulk::Bulk;
use crate::first_flight::FirstFlight;

impl Sender {
    /// Earlier connections to the peer have arrived at the initial window `learned`. Nothing changes once the SYN is sent.
    pub(super) fn recall(&mut self, learned: Segments) {
        if self.state.snd_max == 0 {
            self.state.learned = Some(learned);
        }
    }

    /// Whether [`Sender::settle`] has something to tell.
    pub(super) fn is_first_flight_over(&self) -> bool {
        self.state.first.as_ref().is_some_and(|first| first.is_over())
    }

    /// The first flight is over: what the next connection to the peer shall know, if it shall know something new. `learned`: what it knows
    /// by now. To be asked once.
    pub(super) fn settle(&mut self, learned: Option<Segments>) -> Option<Segments> {
        let first = self.state.first.take()?;
        self.state.control.settle(&first.outcome(learned))
    }
}

impl State {
    /// Opens the initial window.
    pub(super) fn establish(&mut self, now: Instant) {
        // With Vegas' recovery the first data packet is acknowledged by now.
        let sent = u64::from(self.snd_una.saturating_sub(1));
        let event = Established {
            now,
            smss: self.smss,
            lost_syns: self.lost_syns,
            rtt: self.min_rtt,
            rwnd: Some(f64::from(self.rwnd)),
            available: self.bulk.amount().map(|packets| packets.saturating_sub(sent) as f64),
            learned: self.learned,
            selective: self.selective,
            header: Bytes(u64::from(self.data_size) - self.smss.0),
            seed: self.seed,
        };
        self.control.on_established(&event);
        self.first = FirstFlight::new(&event, &*self.control, (u64::from(self.snd_una), 1), self.initial_pacing).map(Box::new);
        self.hold_first_flight();
        self.read_window();
    }

    /// What an application has offered is what the first flight has to spread.
    pub(super) fn hold_first_flight(&mut self) {
        if let Bulk { grows: true, packets: Some(packets), .. } = self.bulk
            && let Some(first) = &mut self.first
        {
            first.hold(packets + 1);
        }
    }

    /// When the first of its timers expires: the retransmission timer, those of pacing, or the control's.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        let first = self.first.as_ref().and_then(|first| first.next());
        if first.is_none() && self.held.is_none() && self.timer.is_none() {
            return self.deadline;
        }
        [self.deadline, first, self.held, self.timer].into_iter().flatten().min()
    }

    /// Lets what the pacer has held back go, by `permit`, or calls the control, if it is for that that a timer has expired.
    pub(super) fn wakes(&mut self, now: Instant, permit: Permit) -> bool {
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            return false;
        }
        let held = self.held.take_if(|at| *at <= now).is_some();
        let called = self.timer.take_if(|at| *at <= now).is_some();
        if called {
            self.control.on_timer(now);
            self.read_window();
        }
        if held || called {
            self.permit = permit;
        }
        held || called
    }

    /// Lets the next segment of a paced first flight go, if it is for that that a timer has expired.
    pub(super) fn paces(&mut self, now: Instant) -> bool {
        let Some(first) = self.first.as_mut().filter(|first| first.next().is_some_and(|at| at <= now)) else { return false };
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            return false;
        }
        first.release(now);
        self.permit = Permit::Window(u32::MAX);
        true
    }
}
