use super::losses::inflight_at_loss;
use super::state::AckPhase;
use super::*;
use crate::cc::bbr_model::{Aggregation, ExtraAcked, FullPipe, MaxBandwidth};
use crate::events::Cause;
use crate::params::{Params, Value};
use crate::testing::rounds::{BDP, RATE, RTT, SMSS, Script, at};
use crate::testing::{assert_close, established, internal};

fn bbr(set: &[(&str, Value)]) -> Bbr {
    let mut params = Params::defaults(PARAMS);
    for (name, value) in set {
        params.set(name, value.clone());
    }
    let mut control = Bbr::new(&params);
    let handshake = Established { rtt: Some(Duration::from_millis(RTT)), selective: true, ..established(SMSS) };
    control.on_established(&handshake);
    control
}

fn linux() -> Bbr {
    bbr(&[("variant", Value::Word("linux".to_owned()))])
}

impl Script<Bbr> {
    /// Runs Startup to its end, with a plateau from the first round on, and drains the queue.
    fn into_probe_bw(mut self) -> Self {
        for _ in 0..4 {
            self.round(0);
        }
        self.inflight = BDP / 2;
        self.round(0);
        assert!(self.control.state.is_probe_bw(), "{:?}", self.control.state);
        self
    }

    /// Runs rounds until the control is in `state`. Returns their number.
    fn until(&mut self, state: State) -> u64 {
        for rounds in 0..100 {
            if self.control.state == state {
                return rounds;
            }
            self.round(0);
        }
        panic!("no {state:?}, but {:?}", self.control.state)
    }
}

#[test]
fn the_pipe_is_full_after_three_rounds_without_growth_by_a_quarter() {
    let mut full = FullPipe::default();
    let rates = [100.0, 125.0, 156.25, 195.3, 190.0, 190.0];
    let seen = rates.map(|rate| {
        full.check(rate);
        full.now
    });
    assert_eq!(seen, [false, false, false, false, false, true], "195.3 is less than 1.25 · 156.25");
    full.restart(190.0);
    assert!(full.reached && !full.now, "the pipe has been full");
}

#[test]
fn the_bandwidth_is_the_largest_of_two_cycles() {
    let mut filter = MaxBandwidth::default();
    filter.update(10.0);
    filter.advance();
    filter.update(4.0);
    assert_close(filter.get(), 10.0, 0.0);
    filter.advance();
    assert_close(filter.get(), 4.0, 0.0);
    filter.advance();
    assert_close(filter.get(), 4.0, 0.0);
}

#[test]
fn an_excess_of_acks_is_stored_for_ten_rounds_and_in_linux_for_five_to_ten() {
    let acked = |bytes, cap| Acked { bytes, bw: RATE, cap };
    let expires_in = |window: Aggregation| {
        let mut extra = ExtraAcked::default();
        extra.restart(at(0));
        // 30 kB at once; the bandwidth explains 1 kB.
        extra.update((at(1), 0), acked(30_000.0, 1e9), window);
        assert_close(extra.max, 30_000.0, 0.0);
        (1..100).find(|round| {
            extra.update((at(1 + 100 * round), *round), acked(0.0, 1e9), window);
            extra.max < 30_000.0
        })
    };
    assert_eq!(expires_in(Aggregation { slots: 10, rounds: 1 }), Some(10));
    assert_eq!(expires_in(Aggregation { slots: 2, rounds: 5 }), Some(10));
    assert_eq!(expires_in(Aggregation { slots: 1, rounds: 1 }), Some(1));
    let mut capped = ExtraAcked::default();
    capped.update((at(1), 0), acked(30_000.0, 5000.0), Aggregation { slots: 1, rounds: 1 });
    assert_close(capped.max, 5000.0, 0.0);
}

#[test]
fn steady_acks_have_no_excess() {
    let mut extra = ExtraAcked::default();
    for number in 1..1000 {
        // One segment per millisecond, as the bandwidth explains: never more than one ahead.
        extra.update((at(number), number / 100), Acked { bytes: 1000.0, bw: RATE, cap: 1e9 }, Aggregation { slots: 10, rounds: 1 });
    }
    assert_close(extra.max, 1000.0, 1e-6);
}

#[test]
fn the_flight_at_which_the_loss_rate_passes_the_threshold() {
    // The draft's example: 1 of 100 in flight was lost, and the threshold is 2 %: (1 + x) / (100 + x) = 0.02.
    let level = inflight_at_loss(100.0, 1.0, 0.02);
    assert_close(level, 101.02, 0.001);
    assert_close((1.0 + level - 100.0) / level, 0.02, 1e-12);
    assert_close(inflight_at_loss(100.0, 9.0, 0.02), 100.0, 0.0);
}

#[test]
fn the_window_opens_with_rfc_6928_and_paces_at_2_77_windows_per_round_trip() {
    let control = bbr(&[]);
    assert_close(control.window().cwnd, 10.0, 0.0);
    assert_eq!(control.pacing_rate().map(Rate::as_bits_per_sec), Some(2_216_000), "2.77 · 10 kB in 100 ms");
    assert_eq!(linux().pacing_rate().map(Rate::as_bits_per_sec), Some(2_219_125));
    assert_close(bbr(&[("initial_window", Value::Number(32.0))]).window().cwnd, 32.0, 0.0);
    let mut unknown = bbr(&[]);
    unknown.on_established(&established(SMSS));
    assert_eq!(unknown.pacing_rate().map(Rate::as_bits_per_sec), Some(221_600_000), "with the nominal round-trip time of 1 ms");
    // The rate includes headers.
    unknown.on_established(&Established { header: Bytes(40), ..established(SMSS) });
    assert_eq!(unknown.pacing_rate().map(Rate::as_bits_per_sec), Some(230_464_000));
}

#[test]
fn startup_ends_three_rounds_into_the_plateau_and_drain_when_the_queue_is_empty() {
    let mut script = Script::new(bbr(&[]));
    for doubled in 0..4 {
        (script.inflight, script.rate) = (10 << doubled, RATE / f64::from(8 >> doubled));
        script.round(0);
        assert_eq!(script.control.state, State::Startup);
    }
    script.inflight = 250;
    for plateau in 1..=3 {
        assert_eq!(script.control.state, State::Startup, "after {} rounds on the plateau", plateau - 1);
        script.round(0);
    }
    assert_eq!(script.control.state, State::Drain);
    assert_eq!(script.control.window().ssthresh, 100.0);
    assert_close(script.control.pacing_rate, 0.5 * RATE * 0.99, 1e-6);
    script.round(0);
    assert_eq!(script.control.state, State::Drain);
    script.inflight = BDP;
    script.round(0);
    assert_eq!(script.control.state, State::Cruise, "the queue is empty");
}

#[test]
fn drain_ends_after_three_rounds_with_any_flight() {
    let mut script = Script::new(bbr(&[]));
    script.inflight = 500;
    for _ in 0..4 {
        script.round(0);
    }
    assert_eq!(script.control.state, State::Drain);
    let rounds = script.until(State::Down);
    assert_eq!(rounds, 4, "three full rounds after the one in which Drain began");
}

#[test]
fn an_application_limit_is_no_plateau() {
    let mut script = Script::new(bbr(&[]));
    script.app_limited = true;
    for _ in 0..20 {
        script.round(0);
    }
    assert_eq!(script.control.state, State::Startup);
}

#[test]
fn heavy_losses_in_a_round_of_recovery_end_startup() {
    let startup = |lost: u64, set: &[(&str, Value)]| {
        let mut script = Script::new(bbr(set));
        script.inflight = 500;
        script.round(0);
        // The rate still grows by more than a quarter each round.
        script.rate *= 1.5;
        script.control.snd_nxt = u64::MAX;
        script.control.on_congestion(&CongestionEvent::new(at(script.now), Cause::DupAck, 200.0));
        script.round(lost);
        assert_eq!(script.control.state, State::Startup, "recovery has not lasted for a round");
        script.rate *= 1.5;
        script.round(lost);
        script.control
    };
    let control = startup(11, &[]);
    assert_eq!(control.state, State::Drain, "11 of 500 exceed 2 %");
    assert_close(control.bounds.inflight_longterm, 500e3, 0.0);
    assert_eq!(startup(10, &[]).state, State::Startup, "2 % does not exceed the threshold");
    let any = [("loss_thresh", Value::Number(0.0))];
    // The ranges of both rounds count.
    assert_eq!(startup(3, &any).state, State::Drain, "six ranges");
    assert_eq!(startup(2, &any).state, State::Startup, "four ranges");
    let [any] = any;
    assert_eq!(startup(3, &[any, ("startup_full_loss_cnt", Value::Number(8.0))]).state, State::Startup);
}

#[test]
fn without_sack_any_loss_ends_startup() {
    let mut script = Script::new(bbr(&[]));
    script.inflight = 200;
    script.control.selective = false;
    script.round(0);
    assert_eq!(script.control.state, State::Startup);
    script.control.snd_nxt = u64::MAX;
    script.control.on_congestion(&CongestionEvent::new(at(0), Cause::DupAck, 10.0));
    script.round(0);
    assert_eq!(script.control.state, State::Drain);
}

#[test]
fn the_cycle_cruises_refills_for_one_round_probes_and_goes_down_on_a_plateau() {
    let mut script = Script::new(bbr(&[])).into_probe_bw();
    script.until(State::Cruise);
    assert_close(script.control.pacing_rate, 0.99 * RATE, 1e-6);
    let waited = script.until(State::Refill);
    assert!((18..=32).contains(&waited), "two to three seconds are 20 to 30 rounds, not {waited}");
    assert_eq!(script.until(State::Up), 1, "Refill lasts one round");
    assert_close(script.control.pacing_rate, 1.25 * 0.99 * RATE, 1e-6);
    assert!(script.control.cycle.samples_probe);
    let probed = script.until(State::Down);
    assert_eq!(probed, 3, "the bandwidth does not grow");
    assert_close(script.control.pacing_rate, 0.9 * 0.99 * RATE, 1e-6);
}

#[test]
fn linux_drains_and_goes_down_at_other_rates() {
    let mut script = Script::new(linux());
    script.inflight = 200;
    for _ in 0..4 {
        script.round(0);
    }
    assert_close(script.control.pacing_rate, 0.99 * RATE / 2.885, 1e-3);
    script.inflight = 50;
    script.until(State::Down);
    assert_close(script.control.pacing_rate, 0.91 * 0.99 * RATE, 1e-6);
}

#[test]
fn a_flight_that_loses_more_than_2_percent_bounds_the_data_in_flight() {
    let probe = |lost: u64| {
        let mut script = Script::new(bbr(&[])).into_probe_bw();
        script.until(State::Up);
        script.inflight = 200;
        script.round(0);
        script.round(lost);
        script.control
    };
    let control = probe(4);
    assert_eq!(control.state, State::Up, "2 % does not exceed the threshold");
    assert!(control.bounds.inflight_longterm.is_infinite());
    let control = probe(5);
    assert_eq!(control.state, State::Down);
    // 199 were in flight before the last one, and four lost: the threshold was passed before it.
    assert_close(control.bounds.inflight_longterm, 199.0e3, 1.0);
    assert!(control.cycle.too_high && !control.cycle.samples_probe);
}

#[test]
fn probing_up_adds_1_2_4_and_8_segments_in_successive_rounds() {
    let mut script = Script::new(bbr(&[])).into_probe_bw();
    script.control.bounds.inflight_longterm = 100e3;
    script.until(State::Up);
    let mut added = Vec::new();
    for _ in 0..4 {
        // The long-term bound limits the window, and all of it is in flight.
        script.inflight = (script.control.cwnd / 1000.0) as u64;
        let before = script.control.bounds.inflight_longterm;
        script.round(0);
        // A real round has many ACKs: at this one the window has reached the bound again.
        script.ack(0, None);
        added.push(((script.control.bounds.inflight_longterm - before) / 1000.0).round() as u64);
    }
    assert_eq!(added, [1, 2, 4, 8]);
}

#[test]
fn an_ack_without_a_sample_does_not_lower_the_baseline_of_a_probe() {
    let mut script = Script::new(bbr(&[])).into_probe_bw();
    script.control.bounds.inflight_longterm = 100e3;
    script.until(State::Up);
    script.inflight = (script.control.cwnd / 1000.0) as u64;
    script.ack(0, None);
    // Now the window is far from the bound, and the rounds count.
    script.control.bounds.inflight_longterm = f64::INFINITY;
    assert_eq!(script.until(State::Down), 3);
}

#[test]
fn a_probe_after_a_loss_stops_at_the_bound_and_continues_if_nothing_is_lost() {
    let mut script = Script::new(bbr(&[])).into_probe_bw();
    script.until(State::Up);
    script.inflight = 200;
    script.round(5);
    assert_eq!(script.control.state, State::Down);
    let bound = script.control.bounds.inflight_longterm;
    script.inflight = 50;
    script.until(State::Up);
    script.inflight = (bound / 1000.0) as u64 + 1;
    script.round(0);
    assert_eq!(script.control.state, State::Down, "the flight is as large as the one that lost too much");
    assert_eq!(script.control.cycle.ack_phase, AckPhase::ProbeStopping);
    script.round(0);
    assert_eq!(script.control.state, State::Refill, "nothing was lost, so the next probe starts at once");
}

#[test]
fn losses_while_cruising_multiply_the_short_term_bounds_by_0_7_each_round() {
    let mut script = Script::new(bbr(&[])).into_probe_bw();
    script.until(State::Cruise);
    script.inflight = 20;
    script.rate = 0.2 * RATE;
    script.round(0);
    script.round(1);
    let bounds = script.control.bounds;
    assert!(bounds.bw_shortterm.is_infinite(), "the loss round is not over");
    let cwnd = script.control.cwnd;
    script.round(0);
    assert_close(script.control.bounds.bw_shortterm, 0.7 * RATE, 1e-6);
    assert_close(script.control.bounds.inflight_shortterm, 0.7 * cwnd, 1e-6);
    assert_close(script.control.bw(), 0.7 * RATE, 1e-6);
    script.until(State::Refill);
    assert_eq!(script.control.bounds.without_longterm(), Bounds::NONE);
}

impl Bounds {
    /// The bounds without the long-term one.
    fn without_longterm(self) -> Self {
        Self { inflight_longterm: f64::INFINITY, ..self }
    }
}

#[test]
fn probe_rtt_starts_after_five_seconds_and_lasts_200_ms_and_a_round() {
    let mut script = Script::new(bbr(&[])).into_probe_bw();
    // Round trips are longer from now on, so that the smallest one expires.
    script.rtt = RTT + 10;
    let began = script.now;
    script.until(State::ProbeRtt);
    assert!((script.now as f64 - began as f64 - 5000.0).abs() <= 700.0, "{began} {}", script.now);
    assert!(script.control.holds_back());
    assert_close(script.control.window().cwnd, 50.0, 1.0);
    script.inflight = 50;
    let entered = script.now;
    script.until(State::Cruise);
    let lasted = script.now - entered;
    assert!((200..=550).contains(&lasted), "{lasted} ms");
    // ProbeRTT has restored the window.
    assert!(script.control.window().cwnd >= 100.0);
    let ended = script.now;
    script.inflight = 100;
    script.until(State::ProbeRtt);
    let since = script.now - ended;
    assert!((5000..=5200).contains(&since), "{since} ms");
}

#[test]
fn probe_rtt_in_startup_returns_to_startup() {
    let mut script = Script::new(bbr(&[]));
    script.app_limited = true;
    script.rtt = RTT + 10;
    script.until(State::ProbeRtt);
    script.inflight = 4;
    script.until(State::Startup);
    assert!(!script.control.full.reached);
}

#[test]
fn a_restart_from_idle_skips_probe_rtt_and_paces_at_the_bandwidth() {
    let mut script = Script::new(bbr(&[])).into_probe_bw();
    script.until(State::Down);
    script.now += 6000;
    script.app_limited = true;
    script.control.on_sent(&Sent {
        now: at(script.now),
        size: SMSS,
        flight_size: 1,
        inflight: SMSS,
        snd_nxt: script.total.delivered + SMSS,
        total: script.total,
        retransmission: false,
        app_limited: true,
    });
    assert!(script.control.idle_restart);
    assert_close(script.control.pacing_rate, 0.99 * RATE, 1e-6);
    script.rtt = RTT + 10;
    script.round(0);
    assert_ne!(script.control.state, State::ProbeRtt);
    assert!(!script.control.idle_restart, "data was delivered");
}

#[test]
fn at_least_four_packets_are_in_flight() {
    let mut script = Script::new(bbr(&[]));
    // One segment per round trip.
    (script.rate, script.inflight) = (10e3, 4);
    for _ in 0..200 {
        script.round(0);
        assert!(script.control.window().cwnd >= 4.0);
    }
    assert_ne!(script.control.state, State::Startup);
}

#[test]
fn a_timeout_leaves_the_data_in_flight_and_recovery_restores_the_window() {
    let mut script = Script::new(bbr(&[])).into_probe_bw();
    let before = script.control.window().cwnd;
    let event = CongestionEvent { inflight: 3000, ..CongestionEvent::new(at(script.now), Cause::Timeout, before) };
    script.control.on_congestion(&event);
    assert_close(script.control.window().cwnd, 4.0, 0.0);
    script.control.on_recovery_end(at(script.now));
    assert_close(script.control.window().cwnd, before, 0.0);
}

#[test]
fn an_undo_restores_state_and_bounds() {
    // In Startup: back to Startup.
    let mut script = Script::new(bbr(&[]));
    script.inflight = 500;
    script.round(0);
    script.control.recovery = Recovery::Fast(u64::MAX);
    for _ in 0..2 {
        script.rate *= 1.5;
        script.round(12);
    }
    assert_eq!(script.control.state, State::Drain);
    script.control.on_spurious(at(script.now));
    assert_eq!((script.control.state, script.control.full.reached), (State::Startup, false));
    assert!(script.control.bounds.inflight_longterm.is_infinite());
    // In a probe: a new probe.
    let mut script = Script::new(bbr(&[])).into_probe_bw();
    script.until(State::Up);
    script.inflight = 200;
    script.round(5);
    assert_eq!(script.control.state, State::Down);
    script.control.on_spurious(at(script.now));
    assert_eq!(script.control.state, State::Refill);
    assert!(script.control.bounds.inflight_longterm.is_infinite());
    // Without a loss nothing is restored.
    let mut script = Script::new(bbr(&[])).into_probe_bw();
    script.control.on_spurious(at(script.now));
    assert!(script.control.state.is_probe_bw());
}

#[test]
fn the_send_quantum_is_a_millisecond_of_the_rate() {
    let mut control = bbr(&[]);
    control.pacing_rate = 12.5e6;
    assert_eq!(control.burst(), Bytes(12_500));
    control.pacing_rate = 1e5;
    assert_eq!(control.burst(), Bytes(2000), "two segments");
    control.pacing_rate = 1e10;
    assert_eq!(control.burst(), Bytes(65_536));
    let mut control = linux();
    control.pacing_rate = 1.024e6;
    control.min_rtt.min = Some(Duration::from_nanos(1_100_000));
    assert_eq!(control.burst(), Bytes(1000 + 16_384), "64 kB halved twice in 1.1 ms");
}

#[test]
fn each_connection_draws_its_own_waits() {
    let wait = |seed| {
        let mut control = bbr(&[]);
        control.on_established(&Established { seed, ..established(SMSS) });
        control.random.uniform().to_bits()
    };
    assert_ne!(wait(0), wait(2));
    assert_eq!(wait(2), wait(2));
}

#[test]
fn a_small_flight_of_reno_advances_the_next_probe() {
    // A flight of ten segments: Reno would take ten rounds, which are shorter than two seconds.
    let mut script = Script::new(bbr(&[]));
    (script.rate, script.rtt) = (0.1 * RATE, RTT);
    let mut script = script.into_probe_bw();
    script.inflight = 10;
    script.until(State::Cruise);
    let waited = script.until(State::Refill);
    assert!((8..=10).contains(&waited), "{waited} rounds");
}

#[test]
fn quantities_have_the_declared_units() {
    let script = Script::new(bbr(&[])).into_probe_bw();
    let quantity = |name| internal(|out| script.control.internals(out), name);
    assert_close(quantity("max_bw"), 8.0 * RATE, 1e-6);
    assert_close(quantity("min_rtt"), 0.1, 1e-12);
    assert_close(quantity("state"), f64::from(script.control.state as u8), 0.0);
}

#[test]
fn variants_are_rows_of_one_table() {
    let of = |word: &str| bbr(&[("variant", Value::Word(word.to_owned()))]).settings;
    let gains = |word| [State::Startup, State::Drain, State::Down].map(|state| (1000.0 * of(word).pacing_gain(state)).round());
    assert_eq!(gains("draft"), [2770.0, 500.0, 900.0]);
    assert_eq!(gains("linux"), [2774.0, 347.0, 910.0]);
    assert_eq!(gains("quiche"), [2885.0, 347.0, 910.0]);
    assert_eq!(gains("cloudflare"), [2773.0, 347.0, 900.0]);
    assert_eq!([gains("s2n"), gains("picoquic")], [gains("draft"); 2]);
    let numbers = |word| {
        let settings = of(word);
        (settings.loss_thresh, settings.startup_full_loss_cnt, settings.rules.probe_loss_cnt, settings.probe_rtt_interval.as_secs_f64())
    };
    assert_eq!(["draft", "linux", "picoquic"].map(numbers), [(0.02, 6, 1, 5.0); 3]);
    assert_eq!(["quiche", "cloudflare", "s2n"].map(numbers), [(0.02, 8, 2, 10.0), (0.015, 8, 2, 10.0), (0.02, 8, 2, 5.0)]);
    let given = bbr(&[("variant", Value::Word("cloudflare".to_owned())), ("loss_thresh", Value::Number(0.1))]).settings;
    assert_close(given.loss_thresh, 0.1, 0.0);
}

#[test]
fn a_probe_ends_at_losses_in_two_ranges_where_the_variant_asks_for_them() {
    let ends = |word: &str, lost: u64| {
        let mut script = Script::new(bbr(&[("variant", Value::Word(word.to_owned()))])).into_probe_bw();
        script.inflight = BDP;
        script.until(State::Up);
        script.inflight = 20;
        let packet = script.packet();
        for segment in 0..lost {
            script.declare_lost(packet, segment * 2);
        }
        script.control.state == State::Down
    };
    assert_eq!([ends("draft", 1), ends("s2n", 1), ends("s2n", 2)], [true, false, true]);
}

#[test]
fn without_precaution_a_probe_goes_on_at_the_flight_that_lost_too_much() {
    let stops = |word: &str| {
        let mut script = Script::new(bbr(&[("variant", Value::Word(word.to_owned()))])).into_probe_bw();
        script.inflight = BDP;
        script.until(State::Up);
        script.control.cycle.too_high = true;
        script.control.bounds.inflight_longterm = (BDP / 2 * SMSS) as f64;
        script.round(0);
        script.control.cycle.precautionary
    };
    assert_eq!([stops("draft"), stops("picoquic")], [true, false]);
}
