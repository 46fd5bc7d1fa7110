//! CUBIC's mean window with periodic loss: RFC 9438 §5.

use ackclock_core::cc::{Avoidance, Window, avoidance};
use ackclock_core::events::{Ack, Cause, CongestionEvent};
use ackclock_core::params::{Params, Value};
use ackclock_core::units::{Bytes, Duration, Instant, Segments};

/// An ACK of one segment.
const ACK: Ack = Ack::new(Instant::ZERO, 1, Bytes(1000));

/// CUBIC with the options `off` disabled.
fn cubic(off: &[&str]) -> Box<dyn Avoidance> {
    let mut params = Params::defaults(avoidance::cubic::ENTRY.params);
    for name in off {
        params.set(name, Value::Bool(false));
    }
    (avoidance::cubic::ENTRY.build)(&params).unwrap()
}

fn instant(secs: f64) -> Instant {
    Instant::ZERO + Duration::from_secs_f64(secs)
}

/// A window in congestion avoidance.
fn window(cwnd: Segments) -> Window {
    Window { cwnd, ssthresh: 2.0 }
}

/// The mean window in the 40th cycle of periodic loss, one after every `acks` ACKs, from a first peak of `start`. An ACK takes `rtt`/cwnd.
fn mean_window(part: &mut dyn Avoidance, acks: u32, rtt: f64, start: Segments) -> Segments {
    let (mut clock, mut cwnd, mut began) = (0.0, start, 0.0);
    let srtt = Some(Duration::from_secs_f64(rtt));
    for _ in 0..40 {
        let event = CongestionEvent::new(instant(clock), Cause::DupAck, cwnd);
        let reduced = part.respond(&event, &window(cwnd));
        part.on_reduction(&event, &reduced);
        cwnd = reduced.cwnd;
        began = clock;
        for _ in 0..acks {
            clock += rtt / cwnd;
            let ack = ACK.with(|ack| {
                ack.now = instant(clock);
                ack.srtt = srtt;
            });
            part.observe(&ack, &window(cwnd));
            cwnd = part.on_ack(&ack, &window(cwnd));
        }
    }
    f64::from(acks) * rtt / (clock - began)
}

/// §5: the mean window of a cycle is (3 + β)/4 of its peak. The cycle must start at this peak: from another one it converges slowly,
/// because the function is flat around it.
const PEAK: f64 = 4.0 / 3.7;

#[test]
fn the_mean_window_of_section_5() {
    for (acks, rtt) in [(10_000, 0.1), (100_000, 0.1), (20_000, 0.2), (100_000, 0.02)] {
        // (C·(3 + β)/(4·(1 − β)))^¼ · (RTT/p)^¾
        let expected = (0.4 * 3.7_f64 / 1.2).powf(0.25) * (rtt * f64::from(acks)).powf(0.75);
        let mean = mean_window(&mut *cubic(&["reno_friendly", "fast_convergence"]), acks, rtt, PEAK * expected);
        assert!((mean / expected - 1.0).abs() < 0.001, "{acks} {rtt}: {mean} instead of {expected}");
    }
}

#[test]
fn the_tables_of_section_5() {
    // Tables 1 and 2, C = 0.4: 1/p, RTT, mean window. If Reno's window is the larger, the tables have 1.2/√p; the exact √(1.5/p) is 2 %
    // more. If both functions are close, at 1000 and 0.1 s, the larger of the two has a larger mean than either.
    for (acks, rtt, table) in [
        (100, 0.1, 12.0),
        (1000, 0.1, 38.0),
        (10_000, 0.1, 187.0),
        (100_000, 0.1, 1054.0),
        (100, 0.01, 12.0),
        (1000, 0.01, 38.0),
        (10_000, 0.01, 120.0),
        (100_000, 0.01, 379.0),
    ] {
        let mean = mean_window(&mut *cubic(&["fast_convergence"]), acks, rtt, PEAK * table);
        assert!((0.999..1.055).contains(&(mean / table)), "{acks} {rtt}: {mean}");
    }
}
