//! Vegas' recovery.
//!
//! ## What it does
//! A duplicate ACK retransmits the first unacknowledged segment if the segment is older than a fine-grained timeout; the third one always
//! does. The fine timeout uses round-trip times that are not rounded to clock ticks. The first two ACKs of new data after a retransmission
//! apply the same check to the next segment. Only the loss of a segment sent after the last reduction and the last timeout reduces the
//! window. Duplicate ACKs inflate `cwnd` itself.
//!
//! ## References
//! Brakmo & Peterson, *TCP Vegas: end to end congestion avoidance on a global Internet*, 1995, §3.1; ns-2.35's Vegas, inferred from its
//! runs.
//!
//! ## Differs from the document
//! It follows ns-2.35's rules, which docs/concepts/host-ns2.md lists.
//!
//! ## Parameters
//! None.

use ackclock_core::entry::Entry;
use ackclock_core::events::Cause;
use ackclock_core::units::{Duration, Instant, Segments};

use super::Policy;
use crate::ns2::packets::Ack;
use crate::ns2::sender::{DUP_THRESH, Permit, State};

/// The registry's entry.
pub(crate) static ENTRY: Entry<dyn Policy> = Entry {
    name: "vegas",
    summary: "A fine-grained timeout for each segment",
    reference: "Brakmo and Peterson 1995",
    params: &[],
    quantities: &[],
    build: |_| Ok(Box::new(Vegas::default())),
};

/// Window after a timeout.
const LOSS_WINDOW: Segments = 2.0;
/// Number of ACKs of new data after a retransmission that check the next segment's age.
const WATCHED: u8 = 2;

/// The record of an outstanding segment. As in ns-2, the number of slots is the receiver's window in packets.
#[derive(Clone, Copy, Debug)]
struct Slot {
    sent: Instant,
    /// Number of transmissions; zero: never sent, or acknowledged.
    times: u32,
}

const FREE: Slot = Slot { sent: Instant::ZERO, times: 0 };

/// Vegas' recovery.
#[derive(Debug)]
struct Vegas {
    slots: Vec<Slot>,
    /// Maximum number of slots: segments that far apart share a slot.
    rwnd: u32,
    /// Smoothed round-trip time, in seconds.
    srtt: f64,
    /// Mean deviation of the round-trip time, in seconds.
    rttvar: f64,
    /// The fine-grained timeout, in seconds; infinite before the first round-trip time.
    timeout: f64,
    /// Number of ACKs of new data that still check the next segment's age.
    watched: u8,
    /// When the SYN was last sent. ns-2's Vegas measures its times from there.
    epoch: Instant,
    /// Time from `epoch` to the last reduction or timeout; a later change of `epoch` does not adjust it.
    last_cut: Duration,
    /// The window to which recovery deflates.
    target: Segments,
}

impl Default for Vegas {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            rwnd: 0,
            srtt: 0.0,
            rttvar: 0.0,
            timeout: f64::INFINITY,
            watched: 0,
            epoch: Instant::ZERO,
            last_cut: Duration::ZERO,
            target: 0.0,
        }
    }
}

impl Policy for Vegas {
    fn begin(&mut self, rwnd: u32) {
        self.rwnd = rwnd;
    }

    fn handle_ack(&mut self, state: &mut State, now: Instant, ack: &Ack<'_>) {
        if ack.seq > state.una() {
            self.new_data(state, now, ack);
            state.permit(Permit::Window(u32::MAX));
        } else if ack.seq == state.una() {
            self.duplicate(state, now, ack);
            if state.dupacks() >= DUP_THRESH {
                state.permit(Permit::Window(u32::MAX));
            }
        }
    }

    fn on_timeout(&mut self, state: &mut State, now: Instant) {
        self.last_cut = now.since(self.epoch);
        self.target = 0.0;
        state.set_dupacks(0);
    }

    fn on_sent(&mut self, now: Instant, seq: u32) {
        if seq == 0 {
            self.epoch = now;
        }
        let slot = self.slot(seq);
        slot.sent = now;
        slot.times += 1;
    }

    fn loss_window(&self) -> Segments {
        LOSS_WINDOW
    }

    fn expires_when_idle(&self) -> bool {
        true
    }
}

impl Vegas {
    fn slot(&mut self, seq: u32) -> &mut Slot {
        let index = (seq % self.rwnd.max(1)) as usize;
        if index >= self.slots.len() {
            self.slots.resize(index + 1, FREE);
        }
        &mut self.slots[index]
    }

    fn new_data(&mut self, state: &mut State, now: Instant, ack: &Ack<'_>) {
        let before = state.una();
        // Copies that a control sends ahead make duplicate ACKs, too, without any congestion.
        if state.dupacks() > DUP_THRESH && state.seat().reductions() > 0 {
            self.leave(state, now);
        }
        let ack = Ack { rtt: self.measure(now, ack.seq - 1), ..*ack };
        state.acknowledge(now, &ack);
        if before == 1 {
            // The ACK of segment 1 opens the initial window, and a lost SYN does not reduce it. If one ACK covers SYN and data, nothing
            // opens the initial window.
            state.forgive_lost_syns();
            state.establish(now);
        }
        if before == 0 && state.lost_syns() == 0 {
            // The initial window is not open yet, so nothing can grow.
            state.observe(now, ack.seq, &ack);
        } else {
            state.grow(now, ack.seq - before, &ack);
        }
        self.free(before, ack.seq);
        if self.watched > 0 {
            self.watched -= 1;
            let missing = state.una();
            if !self.is_overdue(now, missing) {
                self.watched = 0;
            } else if missing < state.max() || state.is_available(now) {
                state.set_dupacks(DUP_THRESH);
                state.lose(now, missing);
                state.retransmit(missing);
            }
        }
    }

    /// Ends a recovery that inflated the window.
    fn leave(&mut self, state: &mut State, now: Instant) {
        if self.target == 0.0 {
            // No reduction since the last timeout has set a window.
            state.seat().close();
        } else {
            let seat = state.seat();
            seat.deflate((seat.window().cwnd - self.target).max(0.0));
        }
        state.seat().end_recovery(now);
        state.end_loss();
    }

    /// Measures the round-trip time of segment `seq`, unless the segment was retransmitted, and updates the fine timeout.
    fn measure(&mut self, now: Instant, seq: u32) -> Option<Duration> {
        let slot = *self.slot(seq);
        // A retransmitted SYN is a sample all the same. A data segment that left together with the retransmitted SYN is no sample.
        if seq > 0 && (slot.times != 1 || slot.sent == self.epoch) {
            return None;
        }
        let measured = self.age(now, slot);
        let rtt = measured.as_secs_f64();
        if self.srtt > 0.0 {
            let deviation = rtt - self.srtt;
            self.srtt += deviation / 8.0;
            self.rttvar += (deviation.abs() - self.rttvar) / 4.0;
        } else {
            (self.srtt, self.rttvar) = (rtt, rtt / 4.0);
        }
        self.timeout = (self.srtt + 2.0 * self.rttvar) * (17.0 / 16.0);
        Some(measured)
    }

    /// Frees the slots of the segments from `from` to `to` - 1. As in ns-2, nothing is freed if the slots wrap around.
    fn free(&mut self, from: u32, to: u32) {
        let (first, last) = (from % self.rwnd.max(1), (to - 1) % self.rwnd.max(1));
        if first <= last {
            for seq in first..=last {
                *self.slot(seq) = FREE;
            }
        }
    }

    fn is_overdue(&mut self, now: Instant, seq: u32) -> bool {
        let slot = *self.slot(seq);
        slot.times == 0 || self.age(now, slot).as_secs_f64() > self.timeout
    }

    /// The age of a segment, rounded as in ns-2: the difference of two times since the SYN.
    fn age(&self, now: Instant, slot: Slot) -> Duration {
        now.since(self.epoch) - slot.sent.since(self.epoch)
    }

    fn duplicate(&mut self, state: &mut State, now: Instant, ack: &Ack<'_>) {
        state.count_duplicate();
        state.observe(now, 0, ack);
        let overdue = self.is_overdue(now, state.una());
        if overdue || state.dupacks() == DUP_THRESH {
            // No retransmission until all segments sent before the last timeout are acknowledged.
            if state.una() > state.recovery_point() {
                self.retransmit(state, now);
            }
        } else if state.dupacks() > DUP_THRESH {
            inflate(state, 1);
        }
    }

    fn retransmit(&mut self, state: &mut State, now: Instant) {
        let slot = *self.slot(state.una());
        let resent = slot.times > 1;
        let cut = slot.sent.since(self.epoch) > self.last_cut;
        state.lose(now, state.una());
        if cut {
            // Not a new episode: only a timeout blocks retransmissions of earlier segments.
            state.notify_congestion(now, Cause::DupAck, false, resent);
            self.target = state.seat().window().cwnd;
            self.last_cut = now.since(self.epoch);
        }
        self.watched = WATCHED;
        self.timeout *= if resent { 2.0 } else { 9.0 / 8.0 };
        state.back_off_timeout();
        state.reset_timer(now);
        if state.una() < state.max() || state.is_available(now) {
            state.retransmit(state.una());
        }
        if cut {
            inflate(state, state.dupacks());
        }
        if !resent {
            state.set_dupacks(state.dupacks().max(DUP_THRESH));
        }
    }
}

fn inflate(state: &mut State, by: u32) {
    state.seat().inflate(f64::from(by));
}
