//! BBRv3: sends at the measured bandwidth and keeps in flight the data that the path needs for it.
//! ## What it does
//! Models the path by its largest delivery rate and its smallest round-trip time. Pacing rate and window are multiples of both that depend
//! on the state. BBR paces itself, and its own rules replace the host's in loss recovery.
//!
//! - Startup doubles the rate each round until the bandwidth stops growing for three rounds, or losses are heavy.
//! - Drain empties the queue that Startup built.
//! - ProbeBW cruises, and every two to three seconds probes for more bandwidth until a flight loses more than 2 %. The size of that flight
//!   bounds the data in flight from then on (`inflight_longterm`). Losses while cruising reduce short-term bounds by a factor of 0.7.
//! - ProbeRTT halves the data in flight for 200 ms every five seconds, to measure the round-trip time of the empty path.
//! ## References
//! draft-ietf-ccwg-bbr (August 2026, after -06). Cardwell, Cheng, Gunn, Yeganeh & Jacobson, *BBR: congestion-based congestion control*, ACM
//! Queue 14(5), 2016. Constants of Linux: google/bbr, branch v3.
//! ## Differs from the document
//! The draft's pseudocode cannot be meant as printed in these points:
//! - The number of rounds in which Reno would reclaim its flight is the volume divided by SMSS, at most 63.
//! - The draft calls `Inflight()` and `BDPMultiple()` both with and without the bandwidth; here they use `bw`, the bandwidth in force.
//! - The gains depend on the state, as in the draft's table; the `Start…()` functions do not set them.
//! - The pacing rate uses the state's gain; the text names a gain of the connection.
//! - The loss rate of a round in Startup is that of the flight of the packet whose ACK ends the round, application-limited or not.
//! - The headroom while cruising is 0.15 of `inflight_longterm`, as in the text; -02 printed 0.85.
//!
//! Other differences:
//! - The window limits the sender (`C.is_cwnd_limited`) only if the host says so and less than a send quantum of the window was free before
//!   the ACK. A host alone would also count the wait for the pacer as use of the window.
//! - A precautionary stop compares `inflight_longterm` with the flight before the ACK plus one segment, because a flight consists of whole
//!   segments.
//! - `InflightAtLoss` is at least the flight before the packet, even if losses from before the probe already exceed the threshold.
//! - A probing cycle without any sample does not advance the bandwidth filter.
//! - A sample with too short an interval counts in no full-pipe test.
//! - Round-trip times are compared to the nanosecond.
//! - Rates count data without headers. The pacing rate that the host reads is larger by the share of the headers.
//! - As in Linux, `ssthresh` becomes the bandwidth-delay product at the end of Startup, for traces only.
//! - A mark has no effect, because the draft has no response to ECN. A BBR flow should not negotiate ECN.
//!
//! With `variant = "linux"`:
//! - Startup paces at 2.77 + 1/256, Drain at 1/2.885, and `ProbeBW_DOWN` at 0.91.
//! - In Startup the window also grows while it is below two initial windows.
//! - The bandwidth-delay product is rounded up to segments.
//! - The excess of ACKs is stored in two buckets of five rounds, and is at most the data delivered in 100 ms.
//! - The send quantum is rate/1024 plus 64 kB, the latter halved for every 512 µs of the smallest round-trip time.
//!
//! Not modelled from Linux:
//! - the response to ECN, which needs a host that counts marks exactly (AccECN) instead of repeating an echo for a round trip;
//! - the fixed-point rounding of rates;
//! - the repair by a tail loss probe, which is a congestion event of the host here, not a loss of the probe.
//!
//! The QUIC stacks differ from the draft as follows; the numbers are theirs as of 2026, and no run of them was compared:
//! - `quiche` (Google): Startup paces at 2.885, Drain at 1/2.885 and `ProbeBW_DOWN` at 0.91. Startup ends at losses in 8 ranges, a probe only at
//!   losses in 2; ProbeRTT comes every 10 s, and the pacing rate has no margin. The numbers of ranges, the 10 s and the margin are not confirmed,
//!   and connection options change some of them.
//! - `cloudflare`: Startup paces at 2.773 and Drain at 1/2.885. The loss threshold is 1.5 %, with 8 and 2 ranges as above, and ProbeRTT comes every
//!   10 s. That a probe also ends after two rounds with a queue is not modelled.
//! - `s2n`: 8 and 2 ranges as above, and no precautionary stop of a probe.
//! - `picoquic`: no precautionary stop. The smaller gains of a resumed connection and the 5 % by which a round-trip time may exceed the smallest are
//!   not modelled.
//!
//! What s2n-quic and picoquic do with ECN is not modelled either. The shares by which a probe's losses count are those of the draft in all.
//! ## Parameters
//! `variant`: draft; the others as above. `initial_window`: RFC 6928's. `loss_thresh`: 2 %, `startup_full_loss_cnt`: 6, and `probe_rtt_interval`:
//! 5 s, unless the variant has others. `beta`: 0.7 and `headroom`: 0.15.

mod control;
mod losses;
mod phases;
mod settings;
mod state;
#[cfg(test)]
mod tests;

use crate::cc::bbr_model::{Acked, Bounds, MinRtt, NOMINAL_RTT, Recovery, Sample};
use crate::cc::contract::{CongestionControl, InitialWindow, Phase, Wants, Window};
use crate::cc::initial_window::rfc6928::Rfc6928;
use crate::entry::{Entry, quantity};
use crate::events::{Ack, CongestionEvent, Established, Lost, Sent};
use crate::rng::Generator;
use crate::units::{Bytes, Duration, Instant, Rate};

pub use control::Bbr;
use settings::PARAMS;
use state::State;

/// This control in the registry.
pub static ENTRY: Entry<dyn CongestionControl> = Entry {
    name: "bbr",
    summary: "BBRv3: paces at the measured bandwidth, and probes for more until a flight loses more than 2 %",
    reference: "draft-ietf-ccwg-bbr",
    params: PARAMS,
    quantities: &[
        quantity("state", "", "0: Startup, 1: Drain, 2: DOWN, 3: CRUISE, 4: REFILL, 5: UP, 6: ProbeRTT"),
        quantity("max_bw", "bit/s", "largest delivery rate in this and the last cycle").on("rate"),
        quantity("bw", "bit/s", "bandwidth in force").on("rate"),
        quantity("pacing_rate", "bit/s", "pacing rate of data, without headers").on("rate"),
        quantity("round_count", "", "round trips counted by deliveries"),
        quantity("extra_acked", "segments", "largest amount acknowledged beyond the bandwidth").on("inflight"),
        quantity("min_rtt", "s", "smallest round-trip time of the last ten seconds"),
        quantity("bw_shortterm", "bit/s", "short-term bound after recent losses, if any").on("rate"),
        quantity("inflight_shortterm", "segments", "short-term bound after recent losses, if any").on("inflight"),
        quantity("inflight_longterm", "segments", "long-term bound: largest flight that lost at most 2 %, once known").on("inflight"),
    ],
    build: |params| Ok(Box::new(Bbr::new(params))),
};

impl Bbr {
    /// Draft, `BBRUpdateModelAndState`.
    fn update_model(&mut self, ack: &Ack, sample: &Sample) {
        self.rounds.start = false;
        self.signals.round_start = false;
        if sample.present {
            self.signals.update(sample.prior_delivered, self.delivered, sample.rate, sample.delivered);
            self.rounds.update(sample.prior_delivered, self.delivered);
            self.cycle.rounds_since_probe += u64::from(self.rounds.start);
            if sample.rate > 0.0 && (sample.rate >= self.max_bw.get() || !sample.app_limited) {
                self.max_bw.update(sample.rate);
            }
        }
        self.adapt_lower_bounds();
        self.update_extra_acked(ack);
        if self.rounds.start && !sample.app_limited && sample.rate > 0.0 {
            self.full.check(sample.rate);
        }
        self.check_startup_done(sample);
        if sample.present && self.signals.round_start {
            self.signals.ranges = 0;
        }
        self.check_drain_done(ack);
        self.update_cycle(ack, sample);
        self.min_rtt.update(ack.now, ack.rtt, self.settings.probe_rtt_interval);
        self.check_probe_rtt(ack);
        self.signals.advance(sample.rate, sample.delivered);
    }

    fn update_extra_acked(&mut self, ack: &Ack) {
        let bw = self.bw();
        // Linux: at most the data delivered in 100 ms.
        let cap = if self.settings.rules.linux { self.cwnd.min(0.1 * bw) } else { self.cwnd };
        let window = self.settings.aggregation(self.full.reached);
        self.extra_acked.update((ack.now, self.rounds.count), Acked { bytes: ack.delivered as f64, bw, cap }, window);
    }
}

impl CongestionControl for Bbr {
    fn on_established(&mut self, event: &Established) {
        self.random = Generator::derived(event.seed, "bbr");
        (self.smss, self.header) = (event.smss.0 as f64, event.header.0 as f64);
        self.selective = event.selective;
        self.initial_cwnd = self.settings.initial_window.unwrap_or_else(|| Rfc6928.segments(event)) * self.smss;
        self.cwnd = self.initial_cwnd;
        self.min_rtt = MinRtt::new(event.now, event.rtt);
        self.extra_acked.restart(event.now);
        let rtt = event.rtt.unwrap_or(NOMINAL_RTT).max(Duration::NANOSECOND);
        self.pacing_rate = self.settings.pacing_gain(State::Startup) * self.initial_cwnd / rtt.as_secs_f64();
    }

    fn on_sent(&mut self, sent: &Sent) {
        self.snd_nxt = sent.snd_nxt;
        // Draft, `BBRHandleRestartFromIdle`.
        if sent.inflight > sent.size || !sent.app_limited {
            return;
        }
        self.idle_restart = true;
        self.extra_acked.restart(sent.now);
        if self.state.is_probe_bw() {
            self.set_pacing_rate(1.0);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(sent.now);
        }
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.delivered = ack.total.delivered;
        self.snd_nxt = ack.snd_nxt;
        if self.recovery.ends_at(ack.snd_una) {
            self.end_recovery();
        }
        self.update_model(ack, &Sample::of(ack));
        self.set_pacing_rate(self.settings.pacing_gain(self.state));
        self.set_cwnd(ack);
    }

    fn on_lost(&mut self, lost: &Lost) {
        self.handle_lost(lost);
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.begin_recovery(event);
    }

    fn on_restart(&mut self) {
        self.save_cwnd();
        self.recovery = Recovery::Timeout(self.snd_nxt);
        self.cwnd = self.smss;
    }

    fn on_recovery_end(&mut self, _now: Instant) {
        self.end_recovery();
    }

    fn on_spurious(&mut self, _now: Instant) {
        self.undo_losses();
    }

    fn on_mss(&mut self, smss: Bytes) {
        // Amounts are in bytes, so they do not change.
        self.smss = (smss.0 as f64).max(1.0);
    }

    fn window(&self) -> Window {
        Window { cwnd: (self.cwnd / self.smss).max(1.0), ssthresh: (self.ssthresh / self.smss).max(2.0) }
    }

    fn paces(&self) -> bool {
        true
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Rate::from_bits_per_sec(libm::ceil(8.0 * self.pacing_rate * (self.smss + self.header) / self.smss) as u64)
    }

    fn burst(&self) -> Bytes {
        Bytes(self.send_quantum() as u64)
    }

    fn owns_recovery(&self) -> bool {
        true
    }

    fn holds_back(&self) -> bool {
        self.state == State::ProbeRtt
    }

    fn wants(&self) -> Wants {
        Wants::SAMPLES
    }

    fn phase(&self) -> Phase {
        if self.state == State::Startup { Phase::SlowStart } else { Phase::Avoidance }
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        let segments = |bytes: f64| bytes / self.smss;
        out("state", f64::from(self.state as u8));
        out("max_bw", 8.0 * self.max_bw.get());
        out("bw", 8.0 * self.bw());
        out("pacing_rate", 8.0 * self.pacing_rate);
        out("round_count", self.rounds.count as f64);
        out("extra_acked", segments(self.extra_acked.max));
        if let Some(rtt) = self.min_rtt.min {
            out("min_rtt", rtt.as_secs_f64());
        }
        let Bounds { bw_shortterm, inflight_shortterm, inflight_longterm } = self.bounds;
        let bounds = [
            ("bw_shortterm", 8.0 * bw_shortterm),
            ("inflight_shortterm", segments(inflight_shortterm)),
            ("inflight_longterm", segments(inflight_longterm)),
        ];
        for (name, bound) in bounds.into_iter().filter(|(_, bound)| bound.is_finite()) {
            out(name, bound);
        }
    }
}
