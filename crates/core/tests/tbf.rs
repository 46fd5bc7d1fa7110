//! TBF against two references: the departures measured with Linux' TBF, and the definition of a token bucket, evaluated for every packet.

use ackclock_core::params::{Params, Value};
use ackclock_core::qdisc::{Dequeued, Ecn, Outcomes, Packet, Scheduler, tbf};
use ackclock_core::rng::Generator;
use ackclock_core::units::{Bytes, Duration, Instant, Limit, Moment};
use proptest::prelude::*;

/// A bucket: its rate in bits per second and its size in bytes.
type Bucket = (f64, u64);
/// An arriving packet: its time in seconds and its size in bytes.
type Arriving = (f64, u64);

fn queue(buckets: &[Bucket], limit: Option<u64>, latency: Option<f64>) -> Box<dyn Scheduler> {
    let mut params = Params::defaults(tbf::ENTRY.params);
    for ((rate, burst), (size, bucket)) in [("rate", "burst"), ("peakrate", "minburst")].into_iter().zip(buckets) {
        params.set(rate, Value::Number(*size));
        params.set(burst, Value::Number(*bucket as f64));
    }
    if let Some(limit) = limit {
        params.set("limit", Value::Limit(Limit::Bytes(limit)));
    }
    if let Some(latency) = latency {
        params.set("latency", Value::Number(latency));
    }
    (tbf::ENTRY.build)(&params).unwrap().into_scheduler()
}

/// The departure time of each packet in seconds, by a link that needs `per_byte` seconds per byte; `None` for dropped packets.
fn departures(mut queue: Box<dyn Scheduler>, packets: &[Arriving], per_byte: f64) -> Vec<Option<f64>> {
    let (mut random, mut outcomes) = (Generator::derived(1, "tbf"), Outcomes::new());
    let mut left = vec![None; packets.len()];
    // When the link polls the queue next, and whether it sends until then.
    let (mut due, mut sending) = (None::<Instant>, false);
    let mut serve = |queue: &mut dyn Scheduler, random: &mut Generator, at: Instant| {
        let mut ignored = Outcomes::new();
        match queue.dequeue(Moment::now(at), random, &mut ignored) {
            Dequeued::Send(packet) => {
                left[packet.handle as usize] = Some(at.as_secs_f64());
                (Some(at + Duration::from_secs_f64(per_byte * packet.size.0 as f64)), true)
            }
            Dequeued::NotBefore(time) => {
                assert!(time > at, "at {at:?} the queue names a time that has passed, {time:?}");
                (Some(time), false)
            }
            Dequeued::Empty => (None, false),
        }
    };
    for (handle, &(at, size)) in (0..).zip(packets) {
        let arrived = Instant::ZERO + Duration::from_secs_f64(at);
        while let Some(time) = due.filter(|time| *time <= arrived) {
            (due, sending) = serve(&mut *queue, &mut random, time);
        }
        let packet = Packet { handle, flow: 0, ends: (0, 1), size: Bytes(size), ecn: Ecn::NotEct, arrived };
        queue.enqueue(Moment::now(arrived), packet, &mut random, &mut outcomes);
        if !sending {
            (due, sending) = serve(&mut *queue, &mut random, arrived);
        }
    }
    while let Some(time) = due {
        (due, _) = serve(&mut *queue, &mut random, time);
    }
    left
}

/// A configuration of `benches/linux/tbf.py`.
struct Measured {
    name: &'static str,
    buckets: &'static [Bucket],
    limit: Option<u64>,
    latency: Option<f64>,
}

const MEASURED: [Measured; 4] = [
    Measured { name: "burst", buckets: &[(1e6, 5000)], limit: Some(20_000), latency: None },
    Measured { name: "example", buckets: &[(5e5, 5120), (1e6, 1540)], limit: None, latency: Some(0.07) },
    Measured { name: "pauses", buckets: &[(2e6, 4000)], limit: Some(30_000), latency: None },
    Measured { name: "large", buckets: &[(1e6, 1000)], limit: Some(20_000), latency: None },
];

/// Upper bound of the time from a packet's departure to its time stamp in Linux, timers included; 114 µs were measured.
const LINUX_DELAY: f64 = 150e-6;

#[test]
fn packets_leave_at_the_times_measured_in_linux() {
    let rows: Vec<Vec<&str>> = include_str!("data/tbf_linux.csv").lines().skip(1).map(|line| line.split(',').collect()).collect();
    let mut compared = 0;
    for Measured { name, buckets, limit, latency } in MEASURED {
        let own: Vec<&Vec<&str>> = rows.iter().filter(|row| row[0] == name).collect();
        let packets: Vec<Arriving> = own.iter().map(|row| (row[3].parse().unwrap(), row[2].parse().unwrap())).collect();
        let left = departures(queue(buckets, limit, latency), &packets, 0.0);
        for (row, left) in own.iter().zip(left) {
            let arrived: Option<f64> = row[4].parse().ok();
            assert_eq!(arrived.is_some(), left.is_some(), "{name}, packet {}: {arrived:?} in Linux, {left:?} here", row[1]);
            let late = arrived.unwrap_or_default() - left.unwrap_or_default();
            assert!((0.0..LINUX_DELAY).contains(&late), "{name}, packet {}: Linux is {late} s later", row[1]);
            compared += 1;
        }
    }
    assert_eq!(compared, 94);
}

/// The departure times by definition: a packet leaves as soon as it has arrived and the previous one has been sent, within the buckets.
/// Every run of consecutive packets has at most `burst` + `rate` · t bytes; all runs are checked.
fn by_definition(buckets: &[Bucket], packets: &[Arriving], per_byte: f64) -> Vec<f64> {
    let mut left: Vec<f64> = Vec::new();
    for (last, &(arrived, size)) in packets.iter().enumerate() {
        let free = if last == 0 { 0.0 } else { left[last - 1] + per_byte * packets[last - 1].1 as f64 };
        let mut at = arrived.max(free);
        for &(rate, burst) in buckets {
            let mut bytes = size;
            for first in (0..last).rev() {
                bytes += packets[first].1;
                at = at.max(left[first] + 8.0 * (bytes as f64 - burst as f64) / rate);
            }
        }
        left.push(at);
    }
    left
}

fn any_packets() -> impl Strategy<Value = Vec<Arriving>> {
    let gap = prop_oneof![Just(0.0), 0.0..0.005, 0.0..0.2];
    prop::collection::vec((gap, 40..1500_u64), 1..200).prop_map(|packets| {
        let mut now = 0.0;
        packets
            .into_iter()
            .map(|(gap, size)| {
                (
                    {
                        now += gap;
                        now
                    },
                    size,
                )
            })
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn packets_leave_as_soon_as_tokens_allow_and_no_sooner(
        packets in any_packets(),
        (rate, burst) in (1e4..1e8_f64, 1500..50_000_u64),
        peak in prop::option::of((1.01..20.0_f64, 1500..5000_u64)),
        per_byte in prop_oneof![Just(0.0), Just(1e-6), Just(1e-4)],
    ) {
        let mut buckets = vec![(rate, burst)];
        buckets.extend(peak.map(|(times, size)| (rate * times, size)));
        let left = departures(queue(&buckets, Some(1_000_000_000), None), &packets, per_byte);
        let expected = by_definition(&buckets, &packets, per_byte);
        for (number, (left, expected)) in left.iter().zip(&expected).enumerate() {
            let left = left.unwrap();
            prop_assert!((left - expected).abs() <= 1e-9 * expected.max(1.0), "packet {number}: {left} instead of {expected}");
        }
    }
}
