//! A link that always has a packet to send: what its models do over time, without flows.

use ackclock_core::qdisc::Ecn;
use ackclock_core::units::{Bytes, Duration, Instant};
use ackclock_host::{Datagram, Side};

use super::models::{Copies, Models};
use super::packet::{Packet, Payloads};
use crate::scenario::{LinkSpec, LossPosition};

/// Bytes of a packet, and the most bytes that a link transmits at once if so many packets would take too long.
const SIZE: u64 = 1500;
const LARGEST: u64 = 60_000;
/// Packets of [`SIZE`] that are sent one by one.
const MOST: f64 = 4e5;

/// What a busy link does in a part of the time. Delays and losses are NaN in a part in which no transmission ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BusyPart {
    /// Bits transmitted, per second.
    pub rate: f64,
    /// Mean of the delays from the end of the transmission to the far end, in seconds.
    pub delay: f64,
    /// The least of these delays.
    pub least: f64,
    /// The largest of these delays.
    pub largest: f64,
    /// Share of the packets that were lost.
    pub loss: f64,
}

/// The sums over a part of the time of a busy link.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Span {
    /// Bits transmitted in it.
    bits: f64,
    /// Packets whose transmission ended in it, and those among them that were lost.
    packets: u64,
    lost: u64,
    /// Sum of the delays, in seconds, and the least and the largest.
    delays: f64,
    least: f64,
    largest: f64,
}

impl Span {
    /// What a part of `width` seconds shows.
    fn shown(self, width: f64) -> BusyPart {
        let Self { bits, packets, lost, delays, least, largest } = self;
        let seen = |value: f64| if packets > 0 { value } else { f64::NAN };
        BusyPart {
            rate: bits / width,
            delay: seen(delays / packets as f64),
            least: seen(least),
            largest: seen(largest),
            loss: seen(lost as f64 / packets as f64),
        }
    }
}

const EMPTY: Span = Span { bits: 0.0, packets: 0, lost: 0, delays: 0.0, least: f64::INFINITY, largest: 0.0 };

/// Sends packets of 1500 bytes over the link of `spec` without a pause until `end`, and divides the time into `count` parts. Links that
/// carry many packets transmit several at once. `Err` is the registry's message about a part's parameters.
pub(crate) fn busy(spec: &LinkSpec, seed: u64, end: Duration, count: usize) -> Result<Vec<BusyPart>, String> {
    let width = end.as_secs_f64() / count as f64;
    Ok(sums(spec, seed, end, count)?.into_iter().map(|span| span.shown(width)).collect())
}

/// The sums over each part.
fn sums(spec: &LinkSpec, seed: u64, end: Duration, count: usize) -> Result<Vec<Span>, String> {
    let mut models = Models::new(spec, seed)?;
    let (rate, delay) = (spec.rate.mean(), spec.delay.mean());
    let wanted = rate.bytes_in(end) / SIZE as f64;
    let size = Bytes(((SIZE as f64 * wanted / MOST) as u64).clamp(SIZE, LARGEST));
    let time = rate.transmission(size);
    let mut spans = vec![EMPTY; count];
    let width = end.as_secs_f64() / count as f64;
    let place = |at: Instant| ((at.as_secs_f64() / width) as usize).min(count - 1);
    let last = Instant::ZERO + end;
    let (mut now, mut number, mut payloads) = (Instant::ZERO, 0_u32, Payloads::default());
    while now < last {
        number = number.wrapping_add(1);
        // Losses are those of a packet, whatever the link transmits at once: some depend on its size.
        let datagram = Datagram::<Vec<u8>> { number, size: SIZE as u16, sent: now, ecn: Ecn::NotEct, echo: false, payload: None };
        let packet = Packet::new((0, Side::Sender), datagram, &mut payloads);
        let before = judge(models.as_deref_mut(), LossPosition::BeforeQueue, &packet, now);
        let (done, arrival) = match &mut models {
            Some(models) => models.send(size, now, [time, delay, time + delay]),
            None => (now + time, now + time + delay),
        };
        spread(&mut spans, (now, done.min(last)), 8.0 * size.0 as f64 * share((now, done), last), width);
        if done < last {
            let after = judge(models.as_deref_mut(), LossPosition::AfterLink, &packet, done);
            let span = &mut spans[place(done)];
            span.packets += 1;
            span.lost += u64::from(before.passed == 0 || after.passed == 0);
            let delay = arrival.since(done).as_secs_f64();
            span.delays += delay;
            (span.least, span.largest) = (span.least.min(delay), span.largest.max(delay));
        }
        now = done;
    }
    Ok(spans)
}

fn judge(models: Option<&mut Models>, position: LossPosition, packet: &Packet, now: Instant) -> Copies {
    models.map_or(Copies::ONE, |models| models.judge(position, packet, now))
}

/// Share of the time from start to end that is before `last`.
fn share((start, end): (Instant, Instant), last: Instant) -> f64 {
    if end <= last { 1.0 } else { last.since(start).as_secs_f64() / end.since(start).as_secs_f64() }
}

/// Adds `bits`, sent evenly from start to end, to the parts of the time.
fn spread(spans: &mut [Span], (start, end): (Instant, Instant), bits: f64, width: f64) {
    let (start, end) = (start.as_secs_f64(), end.as_secs_f64());
    let mut at = (start / width) as usize;
    while at < spans.len() && at as f64 * width < end {
        let within = end.min((at + 1) as f64 * width) - start.max(at as f64 * width);
        spans[at].bits += if end > start { bits * within.max(0.0) / (end - start) } else { bits };
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Document;

    /// The spans of the bottleneck with the keys `link`, over 10 s in ten parts.
    fn spans(link: &str) -> Vec<Span> {
        let text = format!("duration = \"10 s\"\n[topology]\nlinks = [{{ {link} }}]\n[flow]\n");
        let scenario = Document::from_toml(&text, "t.toml").unwrap().scenario().unwrap();
        sums(&scenario.links[0], 3, scenario.duration, 10).unwrap()
    }

    fn close(one: f64, other: f64, within: f64) {
        assert!((one - other).abs() <= within, "{one} is not {other} ± {within}");
    }

    #[test]
    fn a_constant_link_has_its_own_numbers() {
        for rate in [64e3, 1e6, 1e9, 1e11] {
            let spans = spans(&format!("rate = \"{rate} bit/s\", delay = \"7 ms\""));
            for span in &spans {
                close(span.bits / rate, 1.0, 1e-6);
                assert_eq!((span.lost, span.packets > 0), (0, true));
                close(span.least, 0.007, 1e-9);
                close(span.largest, 0.007, 1e-9);
                close(span.delays / span.packets as f64, 0.007, 1e-9);
            }
        }
    }

    #[test]
    fn a_schedule_is_carried_where_it_applies() {
        let steps = "steps = [[\"0 s\", \"10 Mbit/s\"], [\"2 s\", \"0 bit/s\"], [\"3 s\", \"30 Mbit/s\"]]";
        let spans = spans(&format!("rate = {{ kind = \"schedule\", {steps} }}"));
        // A packet that waits for the outage to end is spread over it.
        for (second, (span, rate)) in spans.iter().zip([10e6, 10e6, 0.0, 30e6, 30e6, 30e6, 30e6, 30e6, 30e6, 30e6]).enumerate() {
            close(span.bits, rate, 8.0 * SIZE as f64);
            assert_eq!(span.packets > 0, rate > 0.0, "second {second}");
        }
    }

    #[test]
    fn losses_and_delays_are_those_of_the_models() {
        let spans = spans(
            "rate = \"12 Mbit/s\", loss = \"10 %\", delay = { kind = \"jitter\", delay = \"20 ms\", jitter = \"5 ms\", order = \"free\" }",
        );
        let sum = |of: fn(&Span) -> f64| spans.iter().map(of).sum::<f64>();
        let packets = sum(|span| span.packets as f64);
        close(packets, 10_000.0, 1.0);
        // Four standard deviations.
        close(sum(|span| span.lost as f64) / packets, 0.1, 4.0 * (0.1 * 0.9 / packets).sqrt());
        close(sum(|span| span.delays) / packets, 0.02, 4.0 * 0.005 / (3.0 * packets).sqrt());
        for span in &spans {
            assert!((0.015..0.0152).contains(&span.least) && (0.0248..=0.025).contains(&span.largest), "{span:?}");
        }
    }

    #[test]
    fn losses_by_size_are_those_of_a_packet_at_every_rate() {
        for rate in [50e6, 10e9] {
            let spans = spans(&format!("rate = \"{rate} bit/s\", loss = {{ kind = \"bit_errors\", rate = \"0.001 %\" }}"));
            let (lost, packets) = spans.iter().fold((0, 0), |(lost, packets), span| (lost + span.lost, packets + span.packets));
            let expected = 1.0 - (1.0 - 1e-5_f64).powi(8 * SIZE as i32);
            close(lost as f64 / packets as f64, expected, 4.0 * (expected / packets as f64).sqrt());
        }
    }

    #[test]
    fn a_part_without_packets_has_a_rate_and_nothing_else() {
        let full = Span { bits: 4e6, packets: 4, lost: 1, delays: 0.1, least: 0.02, largest: 0.03 }.shown(2.0);
        assert_eq!(full, BusyPart { rate: 2e6, delay: 0.025, least: 0.02, largest: 0.03, loss: 0.25 });
        let BusyPart { rate, delay, least, largest, loss } = Span { bits: 1e6, ..EMPTY }.shown(2.0);
        close(rate, 5e5, 0.0);
        assert!([delay, least, largest, loss].iter().all(|value| value.is_nan()));
    }

    #[test]
    fn a_link_that_never_sends_again_ends() {
        let spans = spans("rate = { kind = \"schedule\", steps = [[\"0 s\", \"10 Mbit/s\"], [\"2 s\", \"0 bit/s\"]] }");
        assert_eq!(spans[5].packets, 0);
    }
}
