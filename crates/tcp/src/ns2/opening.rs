//! The initial window at the sender: the handshake's facts for the control, pacing of the first flight, and learned windows. Pacing and
//! learning are additions to ns-2.35; without them the sender behaves as in ns-2.

use ackclock_core::events::Established;
use ackclock_core::units::{Bytes, Instant, Segments};
use ackclock_host::{Bulk, FirstFlight};

use super::{Permit, Sender, State};

impl Sender {
    /// Sets the initial window that earlier connections to the peer have `learned`. The call has no effect once the SYN is sent.
    pub(super) fn set_learned(&mut self, learned: Segments) {
        if self.state.snd_max == 0 {
            self.state.learned = Some(learned);
        }
    }

    /// Whether the first flight is over, so that [`Sender::finish_first_flight`] can be called.
    pub(super) fn is_first_flight_over(&self) -> bool {
        self.state.first.as_ref().is_some_and(|first| first.is_over())
    }

    /// The initial window for the next connection to the peer, if the first flight changes it; called once, after that flight. `learned`:
    /// the window stored for the peer so far.
    pub(super) fn finish_first_flight(&mut self, learned: Option<Segments>) -> Option<Segments> {
        let first = self.state.first.take()?;
        self.state.control.on_first_window(&first.outcome(learned))
    }
}

impl State {
    /// Opens the initial window.
    pub(super) fn establish(&mut self, now: Instant) {
        // With Vegas' recovery, the first data packet is already acknowledged here.
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
            paced: self.paces,
            seed: self.seed,
            whole_segments: false,
        };
        self.control.on_established(&event);
        self.first = FirstFlight::new(&event, &*self.control, (u64::from(self.snd_una), 1), self.initial_pacing).map(Box::new);
        self.supply_first_flight();
        self.read_window();
        self.initial_cwnd = Some(self.window.cwnd);
        self.limits.begin(now);
    }

    /// Spreads the data that an application has supplied over the first flight.
    pub(super) fn supply_first_flight(&mut self) {
        if let Bulk { grows: true, packets: Some(packets), .. } = self.bulk
            && let Some(first) = &mut self.first
        {
            first.supply(packets + 1);
        }
    }

    /// The earliest deadline of the retransmission timer, the pacing timers and the control's timer.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        let first = self.first.as_ref().and_then(|first| first.next());
        if first.is_none() && self.held.is_none() && self.timer.is_none() {
            return self.deadline;
        }
        [self.deadline, first, self.held, self.timer].into_iter().flatten().min()
    }

    /// Handles the pacer's and the control's timers: `permit` releases the waiting segments. Returns whether one of the two has expired,
    /// and not the retransmission timer.
    pub(super) fn handle_pacing_timer(&mut self, now: Instant, permit: Permit) -> bool {
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

    /// Handles the timer of a paced first flight: releases its next segment. Returns whether this timer has expired, and not the
    /// retransmission timer.
    pub(super) fn handle_first_flight_timer(&mut self, now: Instant) -> bool {
        let Some(first) = self.first.as_mut().filter(|first| first.next().is_some_and(|at| at <= now)) else { return false };
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            return false;
        }
        first.release(now);
        self.permit = Permit::Window(u32::MAX);
        true
    }
}
