use super::*;
use crate::params::Value;
use crate::testing::{assert_close, established, internal};
use crate::units::Instant;
use proptest::prelude::*;

const SMSS: u64 = 1000;

fn copa(set: &[(&str, Value)]) -> Copa {
    let mut params = Params::defaults(PARAMS);
    for (name, value) in set {
        params.set(name, value.clone());
    }
    let mut control = Copa::new(&params);
    control.on_established(&Established { rtt: Some(Duration::from_millis(100)), ..established(SMSS) });
    control
}

fn variant(word: &str) -> (&'static str, Value) {
    ("variant", Value::Word(word.to_owned()))
}

/// Flows over a link that sends a segment per millisecond, 100 ms away, with a queue without bound.
struct Link {
    now: f64,
    /// When the link has sent all that is in the queue.
    busy: f64,
    /// Delay that other flows in the queue cause.
    others: f64,
    flows: Vec<Flow>,
    /// For each segment on its way: when its ACK arrives, when it was sent, and its flow.
    sent: std::collections::VecDeque<(f64, f64, usize)>,
}

struct Flow {
    control: Copa,
    srtt: f64,
    una: u64,
    nxt: u64,
    /// When the pacer permits the next segment.
    due: f64,
    queued: Mean,
}

/// Mean over time, least and largest of a number.
struct Mean {
    area: f64,
    since: f64,
    at: f64,
    least: f64,
    most: f64,
}

impl Mean {
    fn restart(now: f64) -> Self {
        Self { area: 0.0, since: now, at: now, least: f64::INFINITY, most: 0.0 }
    }

    fn add(&mut self, now: f64, value: f64) {
        self.area += value * (now - self.at);
        (self.at, self.least, self.most) = (now, self.least.min(value), self.most.max(value));
    }

    fn get(&self) -> f64 {
        self.area / (self.at - self.since)
    }
}

impl Link {
    fn new(controls: Vec<Copa>) -> Self {
        let flow =
            |(index, control)| Flow { control, srtt: 0.1, una: 0, nxt: 0, due: 0.1 + 0.0137 * index as f64, queued: Mean::restart(0.0) };
        let flows = controls.into_iter().enumerate().map(flow).collect();
        Self { now: 0.1, busy: 0.0, others: 0.0, flows, sent: std::collections::VecDeque::new() }
    }

    fn alone(control: Copa) -> Self {
        Self::new(vec![control])
    }

    fn control(&mut self) -> &mut Copa {
        &mut self.flows[0].control
    }

    /// The next event: a segment leaves, or an ACK arrives.
    fn step(&mut self) {
        let ready = |flow: &Flow| ((flow.nxt - flow.una) as f64 + 1.0 <= flow.control.cwnd).then_some(flow.due);
        let next = (0..self.flows.len()).filter_map(|index| Some((ready(&self.flows[index])?.max(self.now), index)));
        let send = next.min_by(|a, b| a.0.total_cmp(&b.0));
        let arrival = self.sent.front().map_or(f64::INFINITY, |sent| sent.0);
        match send {
            Some((at, index)) if at <= arrival => self.send(at, index),
            _ => self.ack(),
        }
    }

    fn send(&mut self, at: f64, index: usize) {
        self.now = at;
        self.busy = self.busy.max(at) + 0.001;
        self.sent.push_back((self.busy + self.others + 0.1, at, index));
        let flow = &mut self.flows[index];
        flow.nxt += 1;
        flow.due = at + 8.0 * SMSS as f64 / flow.control.pacing_rate().unwrap().as_bits_per_sec() as f64;
    }

    fn ack(&mut self) {
        let (at, sent, index) = self.sent.pop_front().unwrap();
        self.now = at;
        let flow = &mut self.flows[index];
        flow.una += 1;
        let rtt = at - sent;
        flow.srtt += (rtt - flow.srtt) / 8.0;
        flow.control.on_ack(&Ack {
            rtt: Some(Duration::from_secs_f64(rtt)),
            srtt: Some(Duration::from_secs_f64(flow.srtt)),
            snd_una: flow.una * SMSS,
            snd_nxt: flow.nxt * SMSS,
            ..Ack::new(Instant::ZERO + Duration::from_secs_f64(at), 1, Bytes(SMSS))
        });
        // The last that left the queue of a flow did so 100 ms before its ACK.
        let queued = self.sent.iter().filter(|(arrival, _, of)| *of == index && *arrival - 0.1 > at).count();
        flow.queued.add(at, queued as f64);
    }

    fn run(&mut self, seconds: f64) {
        let until = self.now + seconds;
        for flow in &mut self.flows {
            flow.queued = Mean::restart(self.now);
        }
        while self.now < until {
            self.step();
        }
    }
}

#[test]
fn slow_start_doubles_until_the_rate_exceeds_the_target_and_is_paced_at_two_windows() {
    let mut link = Link::alone(copa(&[]));
    let rate = link.control().pacing_rate().unwrap().as_bits_per_sec();
    assert_eq!((link.control().cwnd, rate), (10.0, 1_600_000), "2 · 10 kB in 100 ms");
    for (una, cwnd) in [(10, 20.0), (30, 40.0), (70, 80.0)] {
        while link.flows[0].una < una {
            link.step();
        }
        assert_close(link.control().cwnd, cwnd, 0.0);
    }
    while link.control().slow_start {
        link.step();
    }
    // The target has 2 segments in the queue; the window has grown for up to a round trip since the queue began.
    assert!((102.0..=210.0).contains(&link.control().cwnd), "{}", link.control().cwnd);
}

#[test]
fn flows_keep_1_over_delta_packets_each_in_the_queue_and_empty_it() {
    for (delta, flows) in [(0.5, 1), (0.1, 1), (0.5, 2), (0.5, 4)] {
        let settings = [("delta", Value::Number(delta)), ("competitive", Value::Bool(flows == 1))];
        let mut link = Link::new(vec![copa(&settings); flows]);
        link.run(30.0);
        link.run(30.0);
        for Flow { queued, una, control, .. } in &link.flows {
            let [mean, least, most] = [queued.get(), queued.least, queued.most].map(|packets| packets * delta);
            assert!((0.85..1.4).contains(&mean) && least < 0.05, "δ {delta}, {flows}: a mean of {mean}/δ, at least {least}/δ");
            assert!((2.0..6.6).contains(&most), "δ {delta}, {flows}: at most {most}/δ");
            let share = *una as f64 * flows as f64 / 60_000.0;
            assert!((0.9..1.1).contains(&share) && !control.competing, "δ {delta}, {flows}: {share}");
        }
    }
}

#[test]
fn an_ack_moves_the_window_by_velocity_over_delta_and_window() {
    let mut control = copa(&[]);
    (control.slow_start, control.cwnd, control.velocity, control.up) = (false, 50.0, 4.0, true);
    control.move_window(1.0, true, true);
    assert_close(control.cwnd, 50.0 + 4.0 / (0.5 * 50.0), 1e-12);
    control.move_window(1.0, true, false);
    assert_close(control.cwnd, 50.16, 1e-12);
    control.move_window(1.0, false, false);
    assert_close(control.cwnd, 50.16 - 1.0 / (0.5 * 50.16), 1e-12);
    assert_eq!((control.velocity, control.up), (1.0, false), "the direction has changed");
}

/// The velocities after rounds in one direction, and after one in the other.
fn velocities(word: &str) -> Vec<f64> {
    let mut control = copa(&[variant(word)]);
    (control.slow_start, control.cwnd, control.began_with, control.up) = (false, 1000.0, 1000.0, false);
    let mut found = Vec::new();
    for _ in 0..7 {
        control.cwnd += 1.0;
        control.end_round();
        found.push(control.velocity);
    }
    control.cwnd -= 2.0;
    control.end_round();
    found.push(control.velocity);
    found
}

#[test]
fn the_velocity_doubles_after_three_rounds_in_one_direction() {
    // The first round changes the direction.
    assert_eq!(velocities("paper"), [1.0, 1.0, 1.0, 2.0, 4.0, 8.0, 16.0, 1.0]);
    assert_eq!(velocities("mvfst"), [1.0, 1.0, 1.0, 1.0, 2.0, 4.0, 8.0, 1.0]);
    let generic = velocities("genericcc");
    assert_eq!(generic[..3], [1.0, 1.005, 2.01]);
    assert_eq!(generic[7], 1.0);
    let mut control = copa(&[variant("genericcc")]);
    (control.cwnd, control.velocity) = (20.0, 64.0);
    control.move_window(1.0, true, true);
    assert_close(control.velocity, 8.0, 0.0);
}

#[test]
fn in_the_competitive_mode_1_over_delta_grows_each_round_and_halves_at_a_loss() {
    let mut link = Link::alone(copa(&[]));
    link.run(5.0);
    assert!(!link.control().competing);
    // Another flow keeps 50 segments in the queue.
    link.others = 0.05;
    link.run(1.5);
    let control = link.control();
    assert!(control.competing);
    let inverse = 1.0 / control.delta;
    assert!((4.0..=10.0).contains(&inverse), "{inverse}");
    control.on_congestion(&CongestionEvent::new(Instant::ZERO, Cause::DupAck, 100.0));
    let before = control.delta;
    control.end_round();
    assert_close(control.delta, 2.0 * before, 1e-12);
    control.end_round();
    assert_close(1.0 / control.delta, 0.5 / before + 1.0, 1e-9);
    // The other flow has left.
    link.others = 0.0;
    link.run(5.0);
    assert!(!link.control().competing && link.control().delta == 0.5);
    let mut without = Link::alone(copa(&[("competitive", Value::Bool(false))]));
    without.run(5.0);
    without.others = 0.05;
    without.run(5.0);
    assert!(!without.control().competing);
}

#[test]
fn variants_differ_in_delta_slow_start_and_losses() {
    let mut mvfst = copa(&[variant("mvfst")]);
    assert_close(mvfst.delta, 0.05, 0.0);
    assert!(!mvfst.competes && copa(&[variant("genericcc")]).competes);
    assert_close(copa(&[variant("mvfst"), ("delta", Value::Number(0.2))]).delta, 0.2, 0.0);
    let ack = |millis: u64| Ack {
        rtt: Some(Duration::from_millis(100)),
        srtt: Some(Duration::from_millis(100)),
        ..Ack::new(Instant::ZERO + Duration::from_millis(millis), 1, Bytes(SMSS))
    };
    let seen = [100, 150, 201, 250, 302].map(|millis| {
        mvfst.on_ack(&ack(millis));
        mvfst.cwnd
    });
    assert_eq!(seen, [10.0, 10.0, 20.0, 20.0, 40.0]);
    let after_loss = |word| {
        let mut control = copa(&[variant(word)]);
        control.on_congestion(&CongestionEvent::new(Instant::ZERO, Cause::DupAck, 10.0));
        control.cwnd
    };
    assert_eq!(["paper", "genericcc", "mvfst"].map(after_loss), [10.0, 7.0, 10.0]);
}

#[test]
fn a_timeout_restarts_slow_start_from_the_loss_window() {
    let mut control = copa(&[]);
    control.slow_start = false;
    control.on_congestion(&CongestionEvent::new(Instant::ZERO, Cause::Timeout, 10.0));
    assert!(control.slow_start && control.window().cwnd == 1.0);
}

#[test]
fn the_quantities_are_declared() {
    let mut link = Link::alone(copa(&[]));
    link.run(2.0);
    while link.flows[0].control.times.unwrap().queueing() == 0.0 {
        link.step();
    }
    for declared in ENTRY.quantities {
        assert!(internal(|out| link.control().internals(out), declared.name).is_finite());
    }
}

proptest! {
    #[test]
    fn a_flow_alone_uses_the_link_and_never_queues_more_than_after_slow_start(delta in 0.05..0.5_f64, seconds in 10.0..30.0_f64) {
        let mut link = Link::alone(copa(&[("delta", Value::Number(delta)), ("competitive", Value::Bool(false))]));
        link.run(seconds);
        let before = link.flows[0].una;
        link.run(10.0);
        let (most, sent) = (link.flows[0].queued.most, link.flows[0].una - before);
        // A velocity at its bound doubles the window in a round trip, so a queue can be as long as after slow start.
        prop_assert!(most < 300.0 && sent > 7_500, "{most}, {sent}");
    }
}
