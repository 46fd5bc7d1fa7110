//! Vegas' recovery.
//!
//! ## What it does
//! A duplicate ACK retransmits the first unacknowledged segment if the segment is older than a timeout of fine grain, and the third one does
//! in any case. The fine timeout comes from round-trip times that no clock's tick coarsens. The first two ACKs of new data after a
//! retransmission check the next segment alike. The window is cut only for segments that were sent after the last cut and after the last
//! timeout; duplicate ACKs inflate the window itself.
//!
//! ## References
//! Brakmo & Peterson, *TCP Vegas: end to end congestion avoidance on a global Internet*, 1995, §3.1; ns-2.35's Vegas, read off its runs.
//!
//! ## Differs from the document
//! By ns-2.35's rules, all of which docs/concepts/host-ns2.md lists.
//!
//! ## Parameters
//! None.

use ackclock_core::entry::Entry;
use ackclock_core::events::Cause;
use ackclock_core::units::{Duration, Instant, Segments};

use super::Policy;
use crate::ns2::{Ack, DUP_THRESH, Permit, State};

/// The registry's entry.
pub(crate) static ENTRY: Entry<dyn Policy> = Entry {
    name: "vegas",
    summary: "Timeouts of fine grain for each segment",
    reference: "Brakmo and Peterson 1995",
    params: &[],
    quantities: &[],
    build: |_| Ok(Box::new(Vegas::default())),
};

/// Window after a timeout.
const LOSS_WINDOW: Segments = 2.0;
/// ACKs of new data after a retransmission on which the next segment's age is looked at.
const WATCHED: u8 = 2;

/// What is kept of a segment under way; ns-2 has so many places as the receiver's window has packets.
#[derive(Clone, Copy, Debug)]
struct Slot {
    sent: Instant,
    /// How often it was sent; zero: never, or acknowledged.
    times: u32,
}

const FREE: Slot = Slot { sent: Instant::ZERO, times: 0 };

/// State of Vegas' recovery.
#[derive(Debug)]
struct Vegas {
    slots: Vec<Slot>,
    /// Most slots: segments so far apart share one.
    rwnd: u32,
    /// Smoothed round-trip time and its mean deviation, in seconds.
    srtt: f64,
    rttvar: f64,
    /// The timeout of fine grain, in seconds; infinite before the first round-trip time.
    timeout: f64,
    /// How many ACKs of new data are still watched.
    watched: u8,
    /// When the SYN was sent last. ns-2's Vegas measures its times from there.
    epoch: Instant,
    /// When the window was cut last or the retransmission timer expired, since `epoch` as it was then.
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
        if ack.seq > state.snd_una {
            self.new_data(state, now, ack);
            state.permit = Permit::Window(u32::MAX);
        } else if ack.seq == state.snd_una {
            self.duplicate(state, now, ack);
            if state.dupacks >= DUP_THRESH {
                state.permit = Permit::Window(u32::MAX);
            }
        }
    }

    /// The retransmission timer has expired.
    fn on_timeout(&mut self, state: &mut State, now: Instant) {
        self.last_cut = now.since(self.epoch);
        self.target = 0.0;
        state.dupacks = 0;
    }

    /// A segment was sent.
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
        let before = state.snd_una;
        if state.dupacks > DUP_THRESH {
            self.leave(state, now);
        }
        let ack = Ack { rtt: self.measure(now, ack.seq - 1), ..*ack };
        state.acknowledge(now, &ack);
        if before == 1 {
            // The first data opens the initial window, and a lost SYN takes nothing from it. If an ACK covers SYN and data, nothing opens it.
            state.lost_syns = 0;
            state.establish(now);
        }
        if before == 0 && state.lost_syns == 0 {
            // There is no window yet that could grow.
            state.observe(now, ack.seq, &ack);
        } else {
            state.grow(now, ack.seq - before, &ack);
        }
        self.free(before, ack.seq);
        if self.watched > 0 {
            self.watched -= 1;
            let missing = state.snd_una;
            if !self.is_overdue(now, missing) {
                self.watched = 0;
            } else if missing < state.snd_max || state.is_available(now) {
                state.dupacks = DUP_THRESH;
                state.retransmit = Some(missing);
            }
        }
    }

    /// Ends a recovery that inflated the window.
    fn leave(&mut self, state: &mut State, now: Instant) {
        if self.target == 0.0 {
            // No loss since the last timeout has set a window.
            state.control.close();
        } else {
            state.control.deflate((state.window.cwnd - self.target).max(0.0));
        }
        state.control.on_recovery_end(now);
        state.read_window();
        state.last_cause = state.last_cause.filter(|cause| *cause != Cause::DupAck);
    }

    /// The round-trip time of segment `seq`, unless it was sent again, and the timeout that follows from it.
    fn measure(&mut self, now: Instant, seq: u32) -> Option<Duration> {
        let slot = *self.slot(seq);
        // The SYN's is measured even if it was sent again; not so what left together with it after its loss.
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

    /// Forgets the segments from `from` on below `to`. As in ns-2 not where their slots go round.
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

    /// The time since a segment was sent, as ns-2 rounds it: the difference of two times since the SYN.
    fn age(&self, now: Instant, slot: Slot) -> Duration {
        now.since(self.epoch) - slot.sent.since(self.epoch)
    }

    fn duplicate(&mut self, state: &mut State, now: Instant, ack: &Ack<'_>) {
        state.dupacks += 1;
        state.observe(now, 0, ack);
        let overdue = self.is_overdue(now, state.snd_una);
        if overdue || state.dupacks == DUP_THRESH {
            // Only once what was sent before a timeout is acknowledged.
            if state.snd_una > state.recovery_point {
                self.retransmit(state, now);
            }
        } else if state.dupacks > DUP_THRESH {
            inflate(state, 1);
        }
    }

    fn retransmit(&mut self, state: &mut State, now: Instant) {
        let slot = *self.slot(state.snd_una);
        let resent = slot.times > 1;
        let cut = slot.sent.since(self.epoch) > self.last_cut;
        if cut {
            let recovery_point = state.recovery_point;
            state.tell_congestion(now, Cause::DupAck, false, resent);
            // Only a timeout forbids retransmissions of what was sent before.
            state.recovery_point = recovery_point;
            self.target = state.window.cwnd;
            self.last_cut = now.since(self.epoch);
        }
        self.watched = WATCHED;
        self.timeout *= if resent { 2.0 } else { 9.0 / 8.0 };
        state.rto.back_off();
        state.reset_timer(now);
        if state.snd_una < state.snd_max || state.is_available(now) {
            state.retransmit = Some(state.snd_una);
        }
        if cut {
            inflate(state, state.dupacks);
        }
        if !resent {
            state.dupacks = state.dupacks.max(DUP_THRESH);
        }
    }
}

fn inflate(state: &mut State, by: u32) {
    state.control.inflate(f64::from(by));
    state.read_window();
}
