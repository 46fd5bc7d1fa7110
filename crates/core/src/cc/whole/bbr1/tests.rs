use super::*;
use crate::params::Value;
use crate::testing::rounds::{BDP, RATE, RTT, SMSS, Script, at};
use crate::testing::{assert_close, established, internal};
use proptest::prelude::*;

fn bbr1(set: &[(&str, Value)]) -> Bbr1 {
    let mut params = Params::defaults(PARAMS);
    for (name, value) in set {
        params.set(name, value.clone());
    }
    let mut control = Bbr1::new(&params);
    let handshake = Established { rtt: Some(Duration::from_millis(RTT)), selective: true, ..established(SMSS) };
    control.on_established(&handshake);
    control
}

impl Script<Bbr1> {
    /// Runs Startup to its end, with a plateau from the first round on, and drains the queue.
    fn into_probe_bw(mut self) -> Self {
        for _ in 0..4 {
            self.round(0);
        }
        self.inflight = BDP / 2;
        self.round(0);
        assert_eq!(self.control.state, State::ProbeBw);
        self
    }

    /// Runs rounds until the control is in `state`. Returns their number.
    fn until(&mut self, state: State) -> u64 {
        for rounds in 0..300 {
            if self.control.state == state {
                return rounds;
            }
            self.round(0);
        }
        panic!("no {state:?}, but {:?}", self.control.state)
    }

    /// The flight becomes the window, as far as the pacing rate allows it, and the rate that of the path.
    fn greedy_round(&mut self) {
        let paced = self.control.pacing_rate * (self.rtt as f64 / 1e3) / SMSS as f64;
        self.inflight = self.control.window().cwnd.min(paced) as u64;
        self.rate = RATE.min(self.inflight as f64 * SMSS as f64 * 1e3 / self.rtt as f64);
        self.round(0);
    }
}

#[test]
fn the_window_opens_with_rfc_6928_and_paces_at_2_887_windows_per_round_trip() {
    let control = bbr1(&[]);
    assert_close(control.window().cwnd, 10.0, 0.0);
    // 739/256 · 0.99 · 10 kB in 100 ms.
    assert_eq!(control.pacing_rate().map(Rate::as_bits_per_sec), Some(2_286_282));
    assert_close(bbr1(&[("initial_window", Value::Number(32.0))]).window().cwnd, 32.0, 0.0);
    let mut unknown = bbr1(&[]);
    unknown.on_established(&Established { header: Bytes(40), ..established(SMSS) });
    assert_eq!(unknown.pacing_rate().map(Rate::as_bits_per_sec), Some(237_773_250), "1 ms, and headers of 4 %");
}

#[test]
fn startup_ends_after_the_doublings_to_the_bandwidth_delay_product_and_three_rounds() {
    // log2(100 / 10) = 3.3: the fourth round is the first that fills the path.
    let mut script = Script::new(bbr1(&[("aggregation", Value::Bool(false))]));
    let mut rounds = 0;
    while script.control.state == State::Startup {
        script.greedy_round();
        rounds += 1;
        assert!(rounds < 20);
    }
    assert!((7..=9).contains(&rounds), "{rounds} rounds");
    // The window of Startup leaves up to 1.89 bandwidth-delay products in the queue, three bursts of two, and one for an even number.
    let queue = script.control.window().cwnd - BDP as f64;
    assert_close(queue, 189.0 + 6.0 + 1.0, 0.0);
    assert_close(script.control.pacing_rate, 0.99 * RATE * 88.0 / 256.0, 1e-6);
    assert_close(script.control.window().ssthresh, 106.0, 0.0);
}

#[test]
fn drain_ends_when_the_queue_is_empty() {
    let mut script = Script::new(bbr1(&[]));
    script.inflight = 250;
    for _ in 0..4 {
        script.round(0);
    }
    assert_eq!(script.control.state, State::Drain);
    script.round(0);
    assert_eq!(script.control.state, State::Drain);
    script.inflight = BDP;
    script.round(0);
    assert_eq!(script.control.state, State::ProbeBw, "the queue is empty");
}

#[test]
fn an_application_limit_is_no_plateau() {
    let mut script = Script::new(bbr1(&[]));
    script.app_limited = true;
    for _ in 0..20 {
        script.round(0);
    }
    assert_eq!(script.control.state, State::Startup);
}

#[test]
fn the_cycle_has_eight_phases_whose_mean_gain_is_1() {
    assert_close(CYCLE.iter().sum::<f64>() / 8.0, 1.0, 0.0);
    let mut script = Script::new(bbr1(&[])).into_probe_bw();
    script.inflight = 2 * BDP;
    // A phase ends at the first ACK after a round-trip time.
    script.rtt = RTT + 1;
    while script.control.phase != 0 {
        script.round(0);
    }
    let mut gains = Vec::new();
    for _ in 0..16 {
        gains.push(script.control.pacing_gain);
        script.round(0);
    }
    assert_eq!(gains, [CYCLE, CYCLE].concat());
}

#[test]
fn a_probe_lasts_until_the_flight_is_1_25_bandwidth_delay_products_or_a_loss() {
    let probing = || {
        let mut script = Script::new(bbr1(&[])).into_probe_bw();
        script.rtt = RTT + 1;
        while script.control.phase != 0 {
            script.round(0);
        }
        script
    };
    let mut script = probing();
    for _ in 0..5 {
        script.round(0);
    }
    assert_eq!(script.control.phase, 0, "half the product is too little");
    script.inflight = 140;
    script.round(0);
    assert_eq!(script.control.phase, 1);
    let mut script = probing();
    script.round(1);
    assert_eq!(script.control.phase, 1, "a loss ends the probe");
    // The draining phase ends with the flight, before a round trip.
    script.inflight = BDP;
    script.rtt = RTT / 2;
    script.round(0);
    assert_eq!(script.control.phase, 2);
}

#[test]
fn no_start_of_the_cycle_drains() {
    let starts: std::collections::BTreeSet<usize> = (0..200)
        .map(|seed| {
            let mut control = bbr1(&[]);
            control.on_established(&Established { seed, ..established(SMSS) });
            control.start_probe_bw(at(0));
            control.phase
        })
        .collect();
    assert_eq!(starts.into_iter().collect::<Vec<_>>(), [0, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn a_bandwidth_is_forgotten_after_ten_rounds() {
    let mut script = Script::new(bbr1(&[])).into_probe_bw();
    script.rate = RATE / 2.0;
    let rounds = (1..30).find(|_| {
        script.round(0);
        script.control.max_bw.get() < RATE
    });
    assert_eq!(rounds, Some(11));
    assert_close(script.control.bw(), RATE / 2.0, 1e-6);
}

#[test]
fn probe_rtt_comes_after_ten_seconds_and_lasts_200_ms_and_a_round() {
    let mut script = Script::new(bbr1(&[])).into_probe_bw();
    script.rtt = RTT + 10;
    let began = script.now;
    script.until(State::ProbeRtt);
    assert!((9400..=10_200).contains(&(script.now - began)), "{began} {}", script.now);
    assert!(script.control.holds_back());
    assert_close(script.control.window().cwnd, 4.0, 0.0);
    script.inflight = 4;
    let entered = script.now;
    script.until(State::ProbeBw);
    let lasted = script.now - entered;
    assert!((200..=450).contains(&lasted), "{lasted} ms");
    assert!(script.control.window().cwnd >= 100.0, "the window is back");
    let ended = script.now;
    script.inflight = 100;
    script.until(State::ProbeRtt);
    assert!((10_000..=10_200).contains(&(script.now - ended)), "{} ms", script.now - ended);
}

#[test]
fn probe_rtt_in_startup_returns_to_startup() {
    let mut script = Script::new(bbr1(&[]));
    script.app_limited = true;
    script.rtt = RTT + 10;
    script.until(State::ProbeRtt);
    script.inflight = 4;
    script.until(State::Startup);
    assert!(!script.control.full.reached);
}

#[test]
fn a_restart_from_idle_skips_probe_rtt_and_paces_at_the_bandwidth() {
    let mut script = Script::new(bbr1(&[])).into_probe_bw();
    script.now += 11_000;
    script.app_limited = true;
    let sent = Sent::new(at(script.now), SMSS).with(|sent| sent.app_limited = true);
    script.control.on_sent(&sent);
    assert!(script.control.idle_restart);
    assert_close(script.control.pacing_rate, 0.99 * RATE, 1e-6);
    script.rtt = RTT + 10;
    script.round(0);
    assert_eq!(script.control.state, State::ProbeBw);
    assert!(!script.control.idle_restart, "data was delivered");
}

#[test]
fn recovery_conserves_packets_for_a_round_and_then_grows_to_the_old_window() {
    let mut script = Script::new(bbr1(&[])).into_probe_bw();
    script.inflight = 100;
    for _ in 0..3 {
        script.round(0);
    }
    let before = script.control.window().cwnd;
    script.control.snd_nxt = u64::MAX;
    script.control.on_congestion(&CongestionEvent::new(at(script.now), Cause::DupAck, before));
    assert_close(script.control.window().cwnd, before, 0.0);
    // The first ACK: in flight, and what it delivers.
    script.inflight = 60;
    script.ack(2 * SMSS, None);
    assert_close(script.control.window().cwnd, 62.0, 0.0);
    script.ack(SMSS, None);
    assert_close(script.control.window().cwnd, 62.0, 0.0);
    // A round later, all that is delivered lets the window grow.
    script.round(0);
    assert_close(script.control.window().cwnd, 122.0, 0.0);
    script.control.on_recovery_end(at(script.now));
    assert_close(script.control.window().cwnd, before.max(122.0), 0.0);
}

#[test]
fn a_timeout_leaves_the_hosts_window_and_recovery_restores_the_old_one() {
    let mut script = Script::new(bbr1(&[])).into_probe_bw();
    let before = script.control.window().cwnd;
    let event = CongestionEvent { loss_window: 4.0, ..CongestionEvent::new(at(script.now), Cause::Timeout, before) };
    script.control.on_congestion(&event);
    assert_close(script.control.window().cwnd, 4.0, 0.0);
    script.control.on_recovery_end(at(script.now));
    assert_close(script.control.window().cwnd, before, 0.0);
}

#[test]
fn losses_do_not_change_the_rate() {
    let mut script = Script::new(bbr1(&[("policer", Value::Bool(false))])).into_probe_bw();
    script.inflight = 100;
    for _ in 0..50 {
        script.round(15);
        assert_close(script.control.bw(), RATE, 1e-6);
    }
}

/// A policer lets half of what is sent pass, in rounds of 100 segments.
fn policed(set: &[(&str, Value)]) -> Script<Bbr1> {
    let mut script = Script::new(bbr1(set)).into_probe_bw();
    script.inflight = 100;
    script.rtt = RTT + 1;
    script
}

#[test]
fn two_intervals_of_heavy_losses_at_one_rate_show_a_policer_for_48_rounds() {
    let mut script = policed(&[]);
    let found = (1..30).find(|_| {
        script.round(50);
        script.control.policer.rate().is_some()
    });
    // The first interval begins with the first round's loss; each lasts for four rounds.
    assert_eq!(found, Some(8));
    let rate = 50.0 * SMSS as f64 / 0.101;
    assert_close(script.control.bw(), rate, 1e-6);
    assert_close(script.control.pacing_rate, 0.99 * rate, 1e-6);
    let used = (1..100).find(|_| {
        script.round(50);
        script.control.policer.rate().is_none()
    });
    assert_eq!(used, Some(48));
    assert_close(script.control.bw(), RATE, 1e-6);
    let mut off = policed(&[("policer", Value::Bool(false))]);
    for _ in 0..30 {
        off.round(50);
    }
    assert_close(off.control.bw(), RATE, 1e-6);
}

#[test]
fn light_losses_different_rates_and_an_application_limit_show_no_policer() {
    let mut light = policed(&[]);
    let mut different = policed(&[]);
    let mut limited = policed(&[]);
    limited.app_limited = true;
    for round in 0..60_u64 {
        // 16 of 84 delivered are less than 50/256.
        light.round(16);
        // Rates that differ by more than an eighth from one interval to the next.
        different.inflight = 60 + 40 * (round / 4 % 2);
        different.round(30);
        limited.round(50);
        for script in [&light, &different, &limited] {
            assert_eq!(script.control.policer.rate(), None, "{round}");
        }
    }
    let mut heavier = policed(&[]);
    for _ in 0..8 {
        heavier.round(17);
    }
    assert!(heavier.control.policer.rate().is_some(), "17 of 83 are more than 50/256");
}

#[test]
fn the_excess_of_acks_enlarges_the_window_up_to_100_ms_of_the_bandwidth() {
    let window = |set: &[(&str, Value)]| {
        let mut script = Script::new(bbr1(set)).into_probe_bw();
        script.inflight = 300;
        for _ in 0..12 {
            script.round(0);
        }
        script.control.window().cwnd
    };
    // Each round's data arrives at once: the excess is the whole flight, but 100 ms of the bandwidth are 100 segments.
    let (with, without) = (window(&[]), window(&[("aggregation", Value::Bool(false))]));
    assert_close(with - without, 100.0, 2.0);
}

#[test]
fn quantities_have_the_declared_units() {
    let script = Script::new(bbr1(&[])).into_probe_bw();
    let quantity = |name| internal(|out| script.control.internals(out), name);
    assert_close(quantity("max_bw"), 8.0 * RATE, 1e-6);
    assert_close(quantity("min_rtt"), 0.1, 1e-12);
    assert_close(quantity("state"), 2.0, 0.0);
}

proptest! {
    #[test]
    fn the_window_is_at_least_four_segments_outside_conservation(
        rounds in prop::collection::vec((1..400_u64, 0..100_u64, 0.01..4.0_f64, any::<bool>()), 1..80),
    ) {
        let mut script = Script::new(bbr1(&[]));
        for (inflight, lost, rate, app_limited) in rounds {
            (script.inflight, script.rate, script.app_limited) = (inflight, rate * RATE, app_limited);
            script.round(lost.min(inflight - 1));
            prop_assert!(script.control.conserves || script.control.window().cwnd >= 4.0);
            prop_assert!(script.control.pacing_rate.is_finite() && script.control.pacing_rate > 0.0);
            prop_assert!(script.control.bw() <= 4.0 * RATE * 1.001);
        }
    }
}
