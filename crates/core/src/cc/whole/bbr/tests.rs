use super::losses::inflight_at_loss;
use super::model::{ExtraAcked, FullPipe, MaxBandwidth};
use super::phases::AckPhase;
use super::settings::Aggregation;
use super::*;
use crate::events::{Cause, RateSample, Snapshot, Totals};
use crate::params::Value;
use crate::testing::{assert_close, established, internal};

const SMSS: u64 = 1000;
/// A bandwidth-delay product of 100 segments: 1 MB/s and 100 ms.
const RATE: f64 = 1e6;
const RTT: u64 = 100;
const BDP: u64 = 100;

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

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
    bbr(&[("constants", Value::Word("linux".to_owned()))])
}

/// A sender whose every round is one ACK of all that was in flight, in segments.
struct Script {
    control: Bbr,
    now: u64,
    total: Totals,
    /// In flight during the round, and what the path delivers in a second.
    inflight: u64,
    rate: f64,
    /// Round-trip time in milliseconds.
    rtt: u64,
    app_limited: bool,
}

impl Script {
    fn new(control: Bbr) -> Self {
        Self { control, now: 0, total: Totals::default(), inflight: 10, rate: RATE, rtt: RTT, app_limited: false }
    }

    /// The snapshot of a packet sent now.
    fn packet(&self) -> Snapshot {
        Snapshot {
            sent_at: at(self.now),
            delivered: self.total.delivered,
            delivered_at: at(self.now),
            first_sent: at(self.now),
            lost: self.total.lost,
            inflight: self.inflight * SMSS,
            app_limited: self.app_limited,
        }
    }

    /// A round trip: all that is in flight is delivered, but for `lost` segments lost at every second place, and as much is sent.
    fn round(&mut self, lost: u64) {
        let packet = self.packet();
        self.now += self.rtt;
        let delivered = (self.inflight - lost) * SMSS;
        self.total.delivered += delivered;
        for segment in 0..lost {
            self.lose(packet, segment * 2);
        }
        let interval = Duration::from_millis(self.rtt);
        let sample = RateSample { packet, delivered, interval, rate: Rate::from_bits_per_sec((8.0 * self.rate) as u64) };
        self.ack(delivered, Some(sample));
    }

    fn lose(&mut self, packet: Snapshot, segment: u64) {
        self.total.lost += SMSS;
        let start = self.total.delivered + segment * SMSS;
        let inflight = self.inflight * SMSS;
        self.control.on_lost(&Lost { now: at(self.now), start, end: start + SMSS, packet, inflight, total: self.total });
    }

    fn ack(&mut self, delivered: u64, sample: Option<RateSample>) {
        self.control.on_ack(&Ack {
            delivered,
            inflight_before: self.inflight * SMSS,
            inflight: self.inflight * SMSS,
            snd_una: self.total.delivered,
            snd_nxt: self.total.delivered + self.inflight * SMSS,
            total: self.total,
            sample,
            rtt: Some(Duration::from_millis(self.rtt)),
            ..Ack::new(at(self.now), (delivered / SMSS) as u32, Bytes(SMSS))
        });
    }

    /// Start-up to its end, with a plateau from the first round on, and the queue drained.
    fn into_probe_bw(mut self) -> Self {
        for _ in 0..4 {
            self.round(0);
        }
        self.inflight = BDP / 2;
        self.round(0);
        assert!(self.control.state.is_probe_bw(), "{:?}", self.control.state);
        self
    }

    /// Rounds until the control is in `state`; tells how many.
    fn until(&mut self, state: State) -> u64 {
        for rounds in 0..100 {
            if self.control.state == state {
                return rounds;
            }
            self.round(0);
        }
        panic!("{state:?} does not come, but {:?}", self.control.state)
    }
}

#[test]
fn the_pipe_is_full_after_three_rounds_without_a_quarter_more() {
    let mut full = FullPipe::default();
    let rates = [100.0, 125.0, 156.25, 195.3, 190.0, 190.0];
    let seen = rates.map(|rate| {
        full.check(rate);
        full.now
    });
    assert_eq!(seen, [false, false, false, false, false, true], "195.3 is less than 1.25 · 156.25");
    full.restart(190.0);
    assert!(full.reached && !full.now, "it has been full");
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
fn an_excess_of_acks_is_remembered_for_ten_rounds_and_in_linux_for_five_to_ten() {
    let acked = |bytes, cap| Acked { bytes, bw: RATE, cap };
    let forgotten = |window: Aggregation| {
        let mut extra = ExtraAcked::default();
        extra.restart(at(0));
        // 30 kB at once, where 1 kB was expected.
        extra.update((at(1), 0), acked(30_000.0, 1e9), window);
        assert_close(extra.max, 30_000.0, 0.0);
        (1..100).find(|round| {
            extra.update((at(1 + 100 * round), *round), acked(0.0, 1e9), window);
            extra.max < 30_000.0
        })
    };
    assert_eq!(forgotten(Aggregation { slots: 10, rounds: 1 }), Some(10));
    assert_eq!(forgotten(Aggregation { slots: 2, rounds: 5 }), Some(10));
    assert_eq!(forgotten(Aggregation { slots: 1, rounds: 1 }), Some(1));
    let mut capped = ExtraAcked::default();
    capped.update((at(1), 0), acked(30_000.0, 5000.0), Aggregation { slots: 1, rounds: 1 });
    assert_close(capped.max, 5000.0, 0.0);
}

#[test]
fn steady_acks_have_no_excess() {
    let mut extra = ExtraAcked::default();
    for number in 1..1000 {
        // A segment in each millisecond, as the bandwidth has it: never more than one ahead.
        extra.update((at(number), number / 100), Acked { bytes: 1000.0, bw: RATE, cap: 1e9 }, Aggregation { slots: 10, rounds: 1 });
    }
    assert_close(extra.max, 1000.0, 1e-6);
}

#[test]
fn the_flight_at_which_losses_became_too_many() {
    // The draft's example: of 100 in flight 1 was lost, and 2 % are too many: (1 + x) / (100 + x) = 0.02.
    let level = inflight_at_loss(100.0, 1.0, 0.02);
    assert_close(level, 101.02, 0.001);
    assert_close((1.0 + level - 100.0) / level, 0.02, 1e-12);
    assert_close(inflight_at_loss(100.0, 9.0, 0.02), 100.0, 0.0);
}

#[test]
fn the_window_opens_with_rfc_6928_and_paces_at_2_77_windows_a_round_trip() {
    let control = bbr(&[]);
    assert_close(control.window().cwnd, 10.0, 0.0);
    assert_eq!(control.pacing_rate().map(Rate::as_bits_per_sec), Some(2_216_000), "2.77 · 10 kB in 100 ms");
    assert_eq!(linux().pacing_rate().map(Rate::as_bits_per_sec), Some(2_219_125));
    assert_close(bbr(&[("initial_window", Value::Number(32.0))]).window().cwnd, 32.0, 0.0);
    let mut unknown = bbr(&[]);
    unknown.on_established(&established(SMSS));
    assert_eq!(unknown.pacing_rate().map(Rate::as_bits_per_sec), Some(221_600_000), "in the nominal millisecond");
    // Headers travel at the same pace.
    unknown.on_established(&Established { header: Bytes(40), ..established(SMSS) });
    assert_eq!(unknown.pacing_rate().map(Rate::as_bits_per_sec), Some(230_464_000));
}

#[test]
fn start_up_ends_three_rounds_after_the_plateau_and_drain_when_the_queue_is_gone() {
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
    assert_eq!(script.control.state, State::Cruise, "there is nothing left to drain");
}

#[test]
fn drain_ends_after_three_rounds_whatever_is_in_flight() {
    let mut script = Script::new(bbr(&[]));
    script.inflight = 500;
    for _ in 0..4 {
        script.round(0);
    }
    assert_eq!(script.control.state, State::Drain);
    let rounds = script.until(State::Down);
    assert_eq!(rounds, 4, "it counts three full rounds after the one in which it began");
}

#[test]
fn an_application_that_limits_does_not_make_a_plateau() {
    let mut script = Script::new(bbr(&[]));
    script.app_limited = true;
    for _ in 0..20 {
        script.round(0);
    }
    assert_eq!(script.control.state, State::Startup);
}

#[test]
fn heavy_losses_of_a_round_of_recovery_end_start_up() {
    let startup = |lost: u64, set: &[(&str, Value)]| {
        let mut script = Script::new(bbr(set));
        script.inflight = 500;
        script.round(0);
        // Still growing by a quarter each round.
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
    assert_eq!(control.state, State::Drain, "11 of 500 are more than 2 %");
    assert_close(control.bounds.inflight_longterm, 500e3, 0.0);
    assert_eq!(startup(10, &[]).state, State::Startup, "2 % are not too many");
    let any = [("loss_thresh", Value::Number(0.0))];
    // Of both rounds.
    assert_eq!(startup(3, &any).state, State::Drain, "six ranges");
    assert_eq!(startup(2, &any).state, State::Startup, "four ranges");
    let [any] = any;
    assert_eq!(startup(3, &[any, ("startup_full_loss_cnt", Value::Number(8.0))]).state, State::Startup);
}

#[test]
fn without_sack_any_loss_ends_start_up() {
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
fn the_cycle_cruises_refills_for_a_round_probes_and_goes_down_on_a_plateau() {
    let mut script = Script::new(bbr(&[])).into_probe_bw();
    script.until(State::Cruise);
    assert_close(script.control.pacing_rate, 0.99 * RATE, 1e-6);
    let waited = script.until(State::Refill);
    assert!((18..=32).contains(&waited), "two to three seconds are 20 to 30 rounds, not {waited}");
    assert_eq!(script.until(State::Up), 1, "refills for a round");
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
fn a_flight_that_loses_more_than_2_percent_bounds_what_is_in_flight() {
    let probe = |lost: u64| {
        let mut script = Script::new(bbr(&[])).into_probe_bw();
        script.until(State::Up);
        script.inflight = 200;
        script.round(0);
        script.round(lost);
        script.control
    };
    let control = probe(4);
    assert_eq!(control.state, State::Up, "2 % are not too many");
    assert!(control.bounds.inflight_longterm.is_infinite());
    let control = probe(5);
    assert_eq!(control.state, State::Down);
    // 199 were in flight before the last of them, and four lost: nothing of the last is below the threshold.
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
        // The window is bounded by the long-term bound, and all of it in flight.
        script.inflight = (script.control.cwnd / 1000.0) as u64;
        let before = script.control.bounds.inflight_longterm;
        script.round(0);
        // In reality a round has many ACKs: at this one the window has reached the bound again.
        script.ack(0, None);
        added.push(((script.control.bounds.inflight_longterm - before) / 1000.0).round() as u64);
    }
    assert_eq!(added, [1, 2, 4, 8]);
}

#[test]
fn an_ack_without_a_sample_does_not_lower_what_a_probe_has_to_beat() {
    let mut script = Script::new(bbr(&[])).into_probe_bw();
    script.control.bounds.inflight_longterm = 100e3;
    script.until(State::Up);
    script.inflight = (script.control.cwnd / 1000.0) as u64;
    script.ack(0, None);
    // Now the window is far away, and the rounds tell.
    script.control.bounds.inflight_longterm = f64::INFINITY;
    assert_eq!(script.until(State::Down), 3);
}

#[test]
fn a_probe_after_one_that_lost_stops_at_its_bound_and_goes_on_if_nothing_is_lost() {
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
    assert_eq!(script.control.state, State::Down, "what was too much before is in flight");
    assert_eq!(script.control.cycle.ack_phase, AckPhase::ProbeStopping);
    script.round(0);
    assert_eq!(script.control.state, State::Refill, "nothing was lost, so that the next probe is at once");
}

#[test]
fn losses_while_cruising_take_0_7_of_the_short_term_bounds_each_round() {
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
    assert_eq!(script.control.bounds.reset_after(), Bounds::NONE);
}

impl Bounds {
    /// What is left when the long-term bound is forgotten too.
    fn reset_after(self) -> Self {
        Self { inflight_longterm: f64::INFINITY, ..self }
    }
}

#[test]
fn probe_rtt_comes_after_five_seconds_and_lasts_200_ms_and_a_round() {
    let mut script = Script::new(bbr(&[])).into_probe_bw();
    // Longer round trips from now on, so that the smallest grows old.
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
    // The window is as before.
    assert!(script.control.window().cwnd >= 100.0);
    let ended = script.now;
    script.inflight = 100;
    script.until(State::ProbeRtt);
    let since = script.now - ended;
    assert!((5000..=5200).contains(&since), "{since} ms");
}

#[test]
fn probe_rtt_in_start_up_returns_to_it() {
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
    // A segment in a round trip.
    (script.rate, script.inflight) = (10e3, 4);
    for _ in 0..200 {
        script.round(0);
        assert!(script.control.window().cwnd >= 4.0);
    }
    assert_ne!(script.control.state, State::Startup);
}

#[test]
fn a_timeout_leaves_what_is_in_flight_and_recovery_returns_to_the_window() {
    let mut script = Script::new(bbr(&[])).into_probe_bw();
    let before = script.control.window().cwnd;
    let event = CongestionEvent { inflight: 3000, ..CongestionEvent::new(at(script.now), Cause::Timeout, before) };
    script.control.on_congestion(&event);
    assert_close(script.control.window().cwnd, 4.0, 0.0);
    script.control.on_recovery_end(at(script.now));
    assert_close(script.control.window().cwnd, before, 0.0);
}

#[test]
fn spurious_losses_give_back_state_and_bounds() {
    // In start-up: back to it.
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
    // In a probe: to another.
    let mut script = Script::new(bbr(&[])).into_probe_bw();
    script.until(State::Up);
    script.inflight = 200;
    script.round(5);
    assert_eq!(script.control.state, State::Down);
    script.control.on_spurious(at(script.now));
    assert_eq!(script.control.state, State::Refill);
    assert!(script.control.bounds.inflight_longterm.is_infinite());
    // Without a loss there is nothing to return to.
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
fn connections_draw_waits_of_their_own() {
    let wait = |seed| {
        let mut control = bbr(&[]);
        control.on_established(&Established { seed, ..established(SMSS) });
        control.random.uniform().to_bits()
    };
    assert_ne!(wait(0), wait(2));
    assert_eq!(wait(2), wait(2));
}

#[test]
fn the_short_rounds_of_reno_bring_the_next_probe_earlier() {
    // A flight of ten segments: Reno would take ten rounds, which is less than two seconds.
    let mut script = Script::new(bbr(&[]));
    (script.rate, script.rtt) = (0.1 * RATE, RTT);
    let mut script = script.into_probe_bw();
    script.inflight = 10;
    script.until(State::Cruise);
    let waited = script.until(State::Refill);
    assert!((8..=10).contains(&waited), "{waited} rounds");
}

#[test]
fn quantities_are_in_the_units_of_the_header() {
    let script = Script::new(bbr(&[])).into_probe_bw();
    let quantity = |name| internal(|out| script.control.internals(out), name);
    assert_close(quantity("max_bw"), 8.0 * RATE, 1e-6);
    assert_close(quantity("min_rtt"), 0.1, 1e-12);
    assert_close(quantity("state"), f64::from(script.control.state as u8), 0.0);
}
