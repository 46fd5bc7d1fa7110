//! Paced slow start: any slow start, with each window spread over the round trip from the first packet on.
//! ## What it does
//! Grows like the slow start inside, and sends at a rate of `gain` windows per round trip instead of in bursts. The handshake's round-trip time
//! paces the first round trip, so that the initial window is spread as well. Without a round-trip time there is no pacing.
//! ## References
//! Aggarwal, Savage & Anderson, *Understanding the performance of TCP pacing*, 2000; RFC 9002 §7.7.
//! ## Differs from the document
//! - Aggarwal et al. spread one window over one round trip (`gain` 1), which keeps growth below a doubling. RFC 9002 recommends 1.25 for a
//!   whole connection.
//! - The rate includes headers, because a host's pacer counts them: the window's data then leaves in the intended time.
//! - The rate replaces that of a slow start inside that paces by itself.
//! ## Parameters
//! `gain`: 2 windows per round trip, the smallest whole number that lets the window double; Linux uses the same value in slow start.
//! `slow_start`: the slow start inside, which decides on growth and exit; standard.

use crate::cc::contract::{SlowStart, Step, Window};
use crate::cc::slow_start::{INNER, inner};
use crate::entry::{Entry, quantity};
use crate::events::{Ack, Established};
use crate::params::{Default, Kind, Param};
use crate::units::{Bytes, Duration, Rate};

/// This part in the registry.
pub static ENTRY: Entry<dyn SlowStart> = Entry {
    name: "paced",
    summary: "any slow start, with the window spread over the round trip",
    reference: "Aggarwal, Savage & Anderson 2000; RFC 9002 §7.7",
    params: &[
        Param {
            name: "gain",
            kind: Kind::Number { min: 0.1, max: 1e3 },
            default: Default::Number(2.0),
            doc: "windows sent per round trip (N in RFC 9002 §7.7)",
        },
        INNER,
    ],
    quantities: &[quantity("pacing_rate", "bit/s", "pacing rate").on("rate")],
    build: |params| {
        let (gain, inner) = (params.number("gain"), inner(params)?);
        Ok(Box::new(Paced { gain, smss: Bytes(0), header: Bytes(0), rtt: None, rate: None, inner }))
    },
};

/// Slow start with pacing.
#[derive(Clone, Debug)]
pub struct Paced {
    gain: f64,
    smss: Bytes,
    header: Bytes,
    /// The smoothed round-trip time; before the first, that of the handshake.
    rtt: Option<Duration>,
    /// The rate at the last ACK, for traces.
    rate: Option<Rate>,
    inner: Box<dyn SlowStart>,
}

impl SlowStart for Paced {
    fn inner(&self) -> Option<&dyn SlowStart> {
        Some(&*self.inner)
    }

    fn inner_mut(&mut self) -> Option<&mut dyn SlowStart> {
        Some(&mut *self.inner)
    }

    fn on_established(&mut self, event: &Established, window: &Window) {
        (self.smss, self.header, self.rtt) = (event.smss, event.header, event.rtt);
        self.inner.on_established(event, window);
    }

    fn observe(&mut self, ack: &Ack, window: &Window) {
        self.rtt = ack.srtt.or(self.rtt);
        self.rate = self.pacing_rate(window);
        self.inner.observe(ack, window);
    }

    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Step {
        self.inner.on_ack(ack, window)
    }

    fn paces(&self) -> bool {
        true
    }

    fn pacing_rate(&self, window: &Window) -> Option<Rate> {
        let seconds = self.rtt?.max(Duration::NANOSECOND).as_secs_f64();
        // RFC 9002 §7.7: rate = N · congestion_window / smoothed_rtt. The host's pacer counts headers too.
        Rate::from_bits_per_sec((self.gain * window.cwnd * (self.smss.0 + self.header.0) as f64 * 8.0 / seconds) as u64)
    }

    fn on_mss(&mut self, smss: Bytes) {
        self.smss = smss;
        self.inner.on_mss(smss);
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        if let Some(rate) = self.rate {
            out("pacing_rate", rate.as_bits_per_sec() as f64);
        }
        self.inner.internals(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::slow_start::AXIS;
    use crate::params::Value;
    use crate::testing::{ACK, build, established, internal, window};

    fn rate(part: &dyn SlowStart, cwnd: f64) -> Option<u64> {
        part.pacing_rate(&window(cwnd)).map(Rate::as_bits_per_sec)
    }

    #[test]
    fn two_windows_per_round_trip() {
        let mut part = build(&ENTRY, &[]).unwrap();
        part.on_established(&established(1000), &window(10.0));
        assert_eq!(rate(&*part, 10.0), None, "no round-trip time is known");
        part.on_established(&Established { rtt: Some(Duration::from_millis(100)), ..established(1000) }, &window(10.0));
        // 2 · 10 · 8000 bits in 0.1 s.
        assert_eq!(rate(&*part, 10.0), Some(1_600_000), "with the handshake's round-trip time");
        part.observe(&Ack { srtt: Some(Duration::from_millis(200)), ..ACK }, &window(20.0));
        assert_eq!(rate(&*part, 20.0), Some(1_600_000), "with the smoothed round-trip time");
        assert_eq!(internal(|out| part.internals(out), "pacing_rate"), 1_600_000.0);
        part.observe(&ACK, &window(20.0));
        assert_eq!(rate(&*part, 40.0), Some(3_200_000), "which applies until the next measurement");
        part.on_mss(Bytes(500));
        assert_eq!(rate(&*part, 40.0), Some(1_600_000));
    }

    #[test]
    fn gain_sets_the_windows_per_round_trip() {
        let mut part = build(&ENTRY, &[("gain", Value::Number(1.0))]).unwrap();
        part.on_established(&Established { rtt: Some(Duration::from_millis(100)), ..established(1000) }, &window(10.0));
        assert_eq!(rate(&*part, 10.0), Some(800_000));
    }

    #[test]
    fn it_grows_like_standard_slow_start() {
        let mut part = build(&ENTRY, &[]).unwrap();
        assert_eq!(part.on_ack(&ACK, &window(1.0)), Step::Grow(1.0));
        assert_eq!(part.on_ack(&Ack { counted: 2.0, ..ACK }, &window(1e6)), Step::Grow(2.0), "byte counting");
    }

    #[test]
    fn the_slow_start_inside_decides_on_growth_and_exit() {
        let limited = Value::Part(AXIS.spec("limited_ns2"));
        let mut part = build(&ENTRY, &[("slow_start", limited)]).unwrap();
        let mut plain = build(&crate::cc::slow_start::limited_ns2::ENTRY, &[]).unwrap();
        assert_eq!((part.initial_ssthresh(), part.floor(&window(200.0))), (100.0, plain.floor(&window(200.0))));
        assert_eq!(part.on_ack(&ACK, &window(200.0)), plain.on_ack(&ACK, &window(200.0)));
        let hystart = build(&ENTRY, &[("slow_start", Value::Part(AXIS.spec("hystart")))]).unwrap();
        assert!(hystart.wants().timing && hystart.paces(), "what the wrapper does not decide, the part inside does");
    }
}
