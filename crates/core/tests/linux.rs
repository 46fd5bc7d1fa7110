//! `hystart` and `cubic_linux` against the congestion control of Linux 6.18.
//!
//! A program played the receiver of a kernel's socket over a TUN device (HZ 250, segments of 1460 B, no timestamps) and read `TCP_INFO` after
//! every ACK. `data/linux_6_18` has these ACKs. Here the same ACKs go to the composed control, whose window and threshold must be the
//! kernel's after each of them. In recovery, the kernel's window is that of PRR, which is the host's part and not compared.

use std::path::Path;

use ackclock_core::cc::{Composed, CongestionControl, avoidance, initial_window, slow_start};
use ackclock_core::entry::Entry;
use ackclock_core::events::{Ack, Cause, CongestionEvent, Established, Sent, Timing, Totals};
use ackclock_core::params::{Params, Value};
use ackclock_core::units::{Bytes, Duration, Instant, Segments};

const SMSS: u64 = 1460;
/// States of recovery in `TCP_INFO`.
const RECOVERY: u64 = 3;
const LOSS: u64 = 4;

fn build<P: ?Sized>(entry: &Entry<P>, set: &[(&str, Value)]) -> Box<P> {
    let mut params = Params::defaults(entry.params);
    for (name, value) in set {
        params.set(name, value.clone());
    }
    (entry.build)(&params).unwrap()
}

/// An instant in a trace; the tick before the first ACK is at 1 s.
fn at(micros: u64) -> Instant {
    Instant::from_nanos(1_000_000_000 + 1000 * micros)
}

fn sent(micros: u64, inflight: u64) -> Sent {
    Sent::new(at(micros), SMSS).with(|sent| {
        sent.flight_size = (inflight / SMSS) as u32;
        sent.inflight = inflight;
        sent.snd_nxt = 0;
        sent.total = Totals::default();
    })
}

/// An ACK of a trace and the state after it.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    now: u64,
    rtt: u64,
    snd_una: u64,
    sacked: u64,
    outstanding: u64,
    cwnd: Segments,
    ssthresh: Segments,
    state: u64,
}

fn read(name: &str) -> Vec<Row> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/linux_6_18").join(name).with_extension("csv");
    let text = std::fs::read_to_string(path).unwrap();
    let mut last = Row::default();
    let row = |line: &str| {
        let cells: Vec<u64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        (last.now, last.rtt, last.snd_una, last.sacked, last.outstanding) =
            (last.now + cells[0], cells[1], last.snd_una + cells[2], cells[3], cells[4]);
        if let [cwnd, ssthresh, state] = cells[5..] {
            last.ssthresh = if ssthresh == 0 { Segments::INFINITY } else { ssthresh as Segments };
            (last.cwnd, last.state) = (cwnd as Segments, state);
        }
        last
    };
    text.lines().filter(|line| !line.starts_with('#')).map(row).collect()
}

/// Sends the ACKs of the trace `name` to the control. `tick`: the clock of CUBIC. Returns the number of ACKs compared, and of those after
/// which window or threshold differ.
fn replay(name: &str, set: &[(&str, Value)]) -> (usize, usize) {
    let rows = read(name);
    let (mut compared, mut differing) = (0, 0);
    // The first ACK adds one segment for each that it acknowledges.
    let initial = rows[0].cwnd - rows[0].snd_una as Segments;
    let mut control = Composed::new(
        build(&initial_window::fixed::ENTRY, &[("segments", Value::Number(initial))]),
        build(&slow_start::hystart::ENTRY, &[]),
        build(&avoidance::cubic_linux::ENTRY, set),
        None,
        Segments::INFINITY,
    );
    let opened = at(rows[0].now.saturating_sub(rows[0].rtt));
    control.on_established(&Established::new(opened, Bytes(SMSS)).with(|event| event.whole_segments = true));
    let mut last = Row { cwnd: initial, outstanding: 1, ..Row::default() };
    for row in rows {
        let now = at(row.now);
        if last.outstanding == 0 {
            // The first segment after an idle time.
            control.on_sent(&sent(last.now - last.rtt, 9 * SMSS));
            control.on_sent(&sent(row.now - row.rtt, SMSS));
        }
        let window = control.window();
        let again = row.state == LOSS && row.ssthresh < last.ssthresh;
        let cause = match (last.state, row.state) {
            (0..RECOVERY, RECOVERY) => Some(Cause::DupAck),
            (0..LOSS, LOSS) => Some(Cause::Timeout),
            (LOSS, LOSS) if again => Some(Cause::Timeout),
            _ => None,
        };
        let rtt = Duration::from_nanos(1000 * row.rtt);
        let snd_nxt = row.snd_una + row.outstanding;
        control.on_rtt(
            &Timing::new(now, rtt).with(|timing| {
                timing.srtt = Some(rtt);
                timing.snd_una = row.snd_una;
                timing.snd_nxt = snd_nxt;
            }),
            last.cwnd,
        );
        if let Some(cause) = cause {
            control.on_congestion(&CongestionEvent::new(now, cause, last.cwnd));
        } else if row.ssthresh > window.ssthresh {
            control.on_spurious(now);
        }
        let acked = row.snd_una - last.snd_una;
        control.on_ack(&Ack::new(now, acked as u32, Bytes(SMSS)).with(|ack| {
            ack.rtt = Some(rtt);
            ack.srtt = Some(rtt);
            ack.counted = (row.snd_una + row.sacked - last.snd_una - last.sacked) as Segments;
            ack.may_grow = acked > 0 && row.state != RECOVERY;
            ack.snd_una = row.snd_una;
            ack.snd_nxt = snd_nxt;
        }));
        if row.state != RECOVERY {
            compared += 1;
            let window = control.window();
            differing += usize::from((window.cwnd, window.ssthresh) != (row.cwnd, row.ssthresh));
        }
        last = row;
    }
    (compared, differing)
}

#[test]
fn slow_start_ends_at_the_same_ack() {
    for name in ["hy_train", "hy_2ack", "hy_iw32", "hy_small", "hy_short", "hy_delay"] {
        let (compared, differing) = replay(name, &[]);
        assert!(compared >= 200 && differing == 0, "{name}: {differing} of {compared} ACKs differ");
    }
}

#[test]
fn the_window_is_the_same_after_every_ack() {
    for name in ["ca_reno", "random", "timeout", "undo", "idle"] {
        let (compared, differing) = replay(name, &[]);
        assert!(compared >= 400 && differing == 0, "{name}: {differing} of {compared} ACKs differ");
    }
}

#[test]
fn the_traces_depend_on_the_clock_and_on_every_switch() {
    for set in [("tick", Value::Number(0.0)), ("fast_convergence", Value::Bool(false)), ("reno_friendly", Value::Bool(false))] {
        let (_, differing) = replay("random", std::slice::from_ref(&set));
        assert!(differing > 0, "{set:?}");
    }
}
