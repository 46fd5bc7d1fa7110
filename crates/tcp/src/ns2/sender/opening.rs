//! The initial window at the sender: the handshake's facts for the control, pacing of the first flight, and learned windows. Pacing and
//! learning are additions to ns-2.35; without them the sender behaves as in ns-2.

use ackclock_core::events::{Established, Learned, MarkCount};
use ackclock_core::units::{Bytes, Instant, Segments};
use ackclock_host::Bulk;

use super::Sender;
use super::state::{Permit, State};

impl Sender {
    /// Sets what earlier connections to the peer have `learned`. The call has no effect once the SYN is sent.
    pub(in super::super) fn set_learned(&mut self, learned: Learned) {
        if self.state.window.max() == 0 {
            self.state.seat.set_learned(learned);
        }
    }

    /// Whether the first flight is over, so that [`Sender::finish_first_flight`] can be called.
    pub(in super::super) fn is_first_flight_over(&self) -> bool {
        self.state.seat.is_first_flight_over()
    }

    /// The initial window for the next connection to the peer, if the first flight changes it; called once, after that flight. `learned`:
    /// the window stored for the peer so far.
    pub(in super::super) fn finish_first_flight(&mut self, learned: Option<Segments>) -> Option<Segments> {
        self.state.seat.finish_first_flight(learned)
    }
}

impl State {
    /// Opens the initial window.
    pub(in super::super) fn establish(&mut self, now: Instant) {
        // With Vegas' recovery, the first data packet is already acknowledged here.
        let sent = u64::from(self.window.una().saturating_sub(1));
        let event = Established::new(now, self.setup.smss).with(|event| {
            event.lost_syns = self.lost_syns;
            event.rtt = self.timing.least();
            event.rwnd = Some(f64::from(self.window.rwnd()));
            event.available = self.bulk.amount().map(|packets| packets.saturating_sub(sent) as f64);
            event.selective = self.setup.selective;
            event.header = Bytes(u64::from(self.setup.data_size) - self.setup.smss.0);
            event.seed = self.setup.seed;
            event.marks = self.ecn.capable.then_some(MarkCount::AtMost);
        });
        self.seat.establish(&event, (u64::from(self.window.una()), 1));
        self.supply_first_flight();
        self.limits.begin(now);
    }

    /// Spreads the data that an application has supplied over the first flight.
    pub(super) fn supply_first_flight(&mut self) {
        if let Bulk { grows: true, packets: Some(packets), .. } = self.bulk {
            self.seat.supply_first_flight(packets + 1);
        }
    }

    /// The earliest deadline of the retransmission timer, the pacing timers and the control's timer.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        let (first, timer) = (self.seat.next_of_first_flight(), self.seat.timer());
        if first.is_none() && self.held.is_none() && timer == Instant::MAX {
            return self.timing.deadline();
        }
        [self.timing.deadline(), first, self.held, Some(timer)].into_iter().flatten().min().filter(|at| *at < Instant::MAX)
    }

    /// Handles the pacer's and the control's timers: `permit` releases the waiting segments. Returns whether one of the two has expired,
    /// and not the retransmission timer.
    pub(super) fn handle_pacing_timer(&mut self, now: Instant, permit: Permit) -> bool {
        if self.timing.is_due(now) {
            return false;
        }
        let held = self.held.take_if(|at| *at <= now).is_some();
        let called = self.seat.handle_timeout(now);
        if held || called {
            self.permit = permit;
        }
        held || called
    }

    /// Handles the timer of a paced first flight: releases its next segment. Returns whether this timer has expired, and not the
    /// retransmission timer.
    pub(super) fn handle_first_flight_timer(&mut self, now: Instant) -> bool {
        let due = self.seat.next_of_first_flight().is_some_and(|at| at <= now);
        if !due || self.timing.is_due(now) {
            return false;
        }
        self.seat.release_first_flight(now);
        self.permit = Permit::Window(u32::MAX);
        true
    }
}
