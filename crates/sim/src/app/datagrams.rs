//! Cross traffic: datagrams at a constant rate, without congestion control. With `on` and `off` periods it is ns-2's exponential or Pareto
//! source.

use ackclock_core::distribution::Distribution;
use ackclock_core::rng::Generator;
use ackclock_core::units::{Bytes, Duration, Instant, Rate};

use super::event::Action;
use crate::scenario::{ApplicationSpec, Stream};

/// The state of a source of datagrams.
#[derive(Debug)]
pub(crate) struct Datagrams {
    rate: Rate,
    /// A datagram with its headers.
    size: Bytes,
    /// Lengths of the sending and silent periods, with their generators.
    periods: Option<[(Distribution, Generator); 2]>,
    stop: Option<Instant>,
    next: Option<Instant>,
    /// Start and end of the current period, and datagrams sent in it.
    began: Instant,
    ends: Instant,
    sent: u64,
}

impl Datagrams {
    pub(super) fn new(spec: &ApplicationSpec, kind: &Stream, seed: u64) -> Self {
        let generator = |of| Generator::derived(seed, &format!("flow/{}/{of}", spec.name));
        let mut periods = kind.periods.clone().map(|[on, off]| [(on, generator("on")), (off, generator("off"))]);
        let ends = periods.as_mut().map_or(Instant::MAX, |[on, _]| spec.start + draw(on));
        let next = Some(spec.start).filter(|start| spec.stop.is_none_or(|stop| *start < stop));
        Self { rate: kind.rate, size: kind.size, periods, stop: spec.stop, next, began: spec.start, ends, sent: 0 }
    }

    pub(super) fn handle(&mut self, now: Instant, actions: &mut Vec<Action>) {
        if self.next.is_none_or(|next| next > now) {
            return;
        }
        actions.push(Action::Offer(1));
        self.sent += 1;
        let mut next = self.regular();
        if next >= self.ends
            && let Some([on, off]) = &mut self.periods
        {
            // Even a short period sends one datagram, and never before the previous datagram has been transmitted at the rate.
            next = next.max(now + Duration::NANOSECOND).max(self.ends + draw(off));
            (self.began, self.ends, self.sent) = (next, next + draw(on), 0);
        }
        self.next = Some(next).filter(|next| self.stop.is_none_or(|stop| *next < stop));
    }

    /// Time of this period's next datagram, computed from the start of the period so that rounding errors do not add up.
    fn regular(&self) -> Instant {
        self.began + self.time(self.sent)
    }

    /// Transmission time of this many datagrams at the rate.
    fn time(&self, datagrams: u64) -> Duration {
        self.rate.transmission(Bytes(datagrams * self.size.0))
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.next
    }
}

fn draw((distribution, generator): &mut (Distribution, Generator)) -> Duration {
    Duration::from_secs_f64(distribution.draw(generator))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::ApplicationKind;

    /// Milliseconds at which 1000-byte datagrams of 1 Mbit/s are sent, 8 ms apart.
    fn times(periods: Option<[Distribution; 2]>, stop: u64) -> Vec<f64> {
        let kind = Stream { rate: Rate::from_bits_per_sec(1_000_000).unwrap(), size: Bytes(1000), periods };
        let start = Instant::ZERO + Duration::from_millis(100);
        let stop = Some(Instant::ZERO + Duration::from_millis(stop));
        let spec = ApplicationSpec { name: "a".to_owned(), start, stop, flows: 0..1, kind: ApplicationKind::Datagrams(kind.clone()) };
        let mut source = Datagrams::new(&spec, &kind, 1);
        let (mut times, mut actions) = (Vec::new(), Vec::new());
        while let Some(next) = source.poll_timeout() {
            times.push(next.as_nanos() as f64 / 1e6);
            source.handle(next, &mut actions);
        }
        assert_eq!(actions.len(), times.len());
        times
    }

    #[test]
    fn datagrams_keep_their_distance() {
        assert_eq!(times(None, 130), [100.0, 108.0, 116.0, 124.0]);
    }

    #[test]
    fn periods_take_turns() {
        let fixed = |millis: f64| Distribution::Fixed { mean: millis / 1000.0 };
        assert_eq!(times(Some([fixed(20.0), fixed(50.0)]), 200), [100.0, 108.0, 116.0, 170.0, 178.0, 186.0]);
        assert_eq!(times(Some([fixed(1.0), fixed(50.0)]), 200), [100.0, 151.0], "one datagram in a short period");
        assert_eq!(times(Some([fixed(0.0), fixed(0.0)]), 130), [100.0, 108.0, 116.0, 124.0], "periods without length");
    }
}
