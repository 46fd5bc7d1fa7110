//! Slow starts, end to end, on both host profiles: the exit of SEARCH, and the effect of pacing on the first rounds.

use std::sync::Arc;

use ackclock_core::cc::{SlowStart, Step, Window};
use ackclock_core::events::{Ack, Established};
use ackclock_core::units::Instant;
use ackclock_sim::ExitReason;
use ackclock_sim::engine::{FlowResult, RunResult, run};
use ackclock_sim::scenario::{ControlFactory, Document, Makers, SlowStartFactory};
use ackclock_sim::trace::SequenceKind;

fn simulate(text: &str) -> RunResult {
    let scenario = Document::from_toml(text, "starts.toml").and_then(|document| document.scenario());
    run(&scenario.unwrap_or_else(|error| panic!("{error}\n{text}")), &mut || false).unwrap()
}

/// Flow settings of each profile, with an initial window of ten segments.
const PROFILES: [&str; 2] =
    ["profile = \"ns2\"\nrwnd = \"100000 packets\"\npacket_size = \"1448 B\"", "profile = \"modern\"\npacket_size = \"1448 B\""];

/// The same with receivers whose window does not limit a flow.
const WIDE: [&str; 2] =
    [PROFILES[0], "profile = \"modern\"\npacket_size = \"1448 B\"\nmodern.receive_buffer = \"8 MB\"\nmodern.receive_buffer_max = \"8 MB\""];

/// One flow over a bottleneck of 50 Mbit/s with a one-way delay of `delay` ms. The access link is twenty times as fast.
fn one_flow(delay: u32, queue: &str, seconds: u32, profile: &str, slow_start: &str) -> RunResult {
    simulate(&format!(
        "duration = \"{seconds} s\"
        record = [\"cwnd\", \"sequence\", \"queue\"]
        [topology]
        kind = \"chain\"
        access = {{ rate = \"1 Gbit/s\", delay = \"0 ms\" }}
        bottleneck = {{ rate = \"50 Mbit/s\", delay = \"{delay} ms\", queue = \"{queue}\" }}
        [flow]
        {profile}
        initial_window = \"rfc6928\"
        initial_ssthresh = \"unlimited\"
        slow_start = {slow_start}"
    ))
}

/// Fluid model of slow start. Times are in round trips without queues, data in bandwidth-delay products; deliveries reach the capacity at
/// time 0.
struct Fluid;

impl Fluid {
    fn delivered(at: f64) -> f64 {
        (if at < 0.0 { at.exp2() } else { 1.0 + at * std::f64::consts::LN_2 }) / std::f64::consts::LN_2
    }

    /// Data sent by a time: twice the data delivered.
    fn sent(at: f64) -> f64 {
        2.0 * Self::delivered(at)
    }

    /// The time at which the data delivered at `at` was sent.
    fn sent_at(at: f64) -> f64 {
        let half = Self::delivered(at) / 2.0 * std::f64::consts::LN_2;
        if half < 1.0 { half.log2() } else { (half - 1.0) / std::f64::consts::LN_2 }
    }

    /// The window at which SEARCH finds a share of 0.26 missing, for bins of zero width. SEARCH looks back by a round trip, which grows
    /// with the queue. The exit is therefore long after that of a fluid with a constant round trip.
    fn window_at_exit() -> f64 {
        let missing = |at: f64| {
            let (then, window) = (Self::sent_at(at), 3.5);
            let sent = Self::sent(then) - Self::sent(then - window);
            1.0 - (Self::delivered(at) - Self::delivered(at - window)) / sent
        };
        let at = (0..100_000).map(|step| f64::from(step) / 1e4).find(|at| missing(*at) >= 0.26).unwrap();
        Self::sent(at) - Self::delivered(at)
    }
}

/// Window at the end of slow start and the first threshold after it, in bandwidth-delay products.
fn exit(result: &RunResult) -> (f64, f64) {
    let flow: &FlowResult = &result.flows[0];
    let (reason, _, window) = flow.slow_start_exit.unwrap();
    assert_eq!((reason, flow.first_overshoot_losses, flow.retransmitted_packets), (ExitReason::Algorithm, 0, 0), "{flow:?}");
    let trace = result.traces.cwnd.as_ref().unwrap();
    let threshold = trace.ssthresh.iter().find(|threshold| threshold.is_finite()).unwrap();
    (window / flow.bdp_packets, threshold / flow.bdp_packets)
}

#[test]
fn search_leaves_without_loss_when_deliveries_fall_behind() {
    let least = Fluid::window_at_exit();
    assert!((least - 5.32).abs() < 0.01, "{least}");
    // The window grows by a bandwidth-delay product per round trip. Ten bins detect the share at the end of a bin, at most 0.35 round trips
    // later. Linear interpolation between bins can delay the detection by one more bin.
    let bounds = least..least + 0.7;
    for profile in PROFILES {
        for delay in [10, 50, 150] {
            let (window, threshold) = exit(&one_flow(delay, "6 BDP", 8, profile, "{ kind = \"search\", exit = \"keep\" }"));
            assert!(bounds.contains(&window), "{profile}, {delay} ms: {window}");
            assert!((threshold - window).abs() < 1e-9, "{threshold}");
        }
        let leave = |way: &str| exit(&one_flow(50, "6 BDP", 8, profile, &format!("{{ kind = \"search\", exit = \"{way}\" }}")));
        let ((window, back), (_, drained)) = (leave("roll_back"), leave("drain"));
        // At the capacity, two round trips deliver two products, and one round trip delivers one.
        assert!((window - back - 2.0).abs() < 0.01, "{window} {back}");
        assert!((drained - 1.0).abs() < 0.01, "{drained}");
    }
}

#[test]
fn search_is_too_late_for_a_short_queue() {
    // A queue of one product is full at a window of two products, long before the bins detect a missing share.
    for profile in PROFILES {
        let result = one_flow(50, "1 BDP", 8, profile, "\"search\"");
        let (reason, _, window) = result.flows[0].slow_start_exit.unwrap();
        assert_eq!(reason, ExitReason::Loss);
        assert!(window / result.flows[0].bdp_packets > 2.0, "{window}");
    }
}

/// Times in nanoseconds at which the first data segments left.
fn departures(result: &RunResult, count: usize) -> Vec<u64> {
    let trace = result.traces.sequence.as_ref().unwrap();
    let sent = (0..trace.time.len()).filter(|&row| trace.kind[row] == SequenceKind::Send && trace.seq[row] > 0);
    sent.map(|row| trace.time[row]).take(count).collect()
}

/// Largest number of packets waiting at the bottleneck in each of the first five round trips of data, 100 ms each.
fn peaks(result: &RunResult) -> [u64; 5] {
    let trace = result.traces.queue.as_ref().unwrap();
    let round = |row: usize| (trace.time[row] / 100_000_000) as usize;
    std::array::from_fn(|index| {
        (0..trace.time.len()).filter(|&row| round(row) == index + 1).map(|row| trace.packets[row]).max().unwrap_or(0)
    })
}

#[test]
fn a_paced_window_leaves_evenly_and_never_waits() {
    for profile in PROFILES {
        let [burst, paced] = ["\"standard\"", "\"paced\""].map(|start| one_flow(50, "1000 packets", 1, profile, start));
        let times = departures(&paced, 10);
        // The first segment leaves at the end of the handshake's round trip. Two windows of ten leave in one round trip. A rate is a whole
        // number of bits per second.
        let gap = times[0] as f64 / (2.0 * 10.0);
        for pair in times.windows(2) {
            assert!((pair[1] as f64 - pair[0] as f64 - gap).abs() < 4.0, "{profile}: {times:?}");
        }
        let at_once = departures(&burst, 10);
        assert!(at_once.iter().all(|&time| time == times[0]), "{at_once:?}");
        // A burst of ten leaves nine waiting. Then the ACKs of a window of w arrive at the bottleneck's rate. Each ACK releases two
        // segments, of which one waits, so w segments wait in the end. With ACKs for two segments there can be one more.
        let waiting = peaks(&burst);
        for (peak, expected) in waiting.iter().zip([9, 10, 20, 40, 80]) {
            assert!((expected..=expected + 1).contains(peak), "{profile}: {waiting:?}");
        }
        assert_eq!(peaks(&paced), [0; 5], "{profile}: two windows a round trip are less than the bottleneck's rate");
    }
}

#[test]
fn a_paced_first_flight_and_a_paced_slow_start_go_together() {
    for profile in PROFILES {
        let result = one_flow(50, "1000 packets", 1, &format!("{profile}\ninitial_pacing = \"rtt\""), "\"paced\"");
        let times = departures(&result, 10);
        // The slower of the two rates: ten segments in a round trip.
        let gap = times[0] as f64 / 10.0;
        assert!(times.windows(2).all(|pair| (pair[1] as f64 - pair[0] as f64 - gap).abs() < 2.0), "{profile}: {times:?}");
    }
}

#[test]
fn pacing_leaves_the_growth_per_ack_as_it_is() {
    for profile in PROFILES {
        let windows = ["\"standard\"", "\"paced\""].map(|start| {
            let result = one_flow(50, "1000 packets", 1, profile, start);
            let trace = result.traces.cwnd.unwrap();
            trace.cwnd.into_iter().take(150).collect::<Vec<_>>()
        });
        assert!(windows[0].len() == 150 && windows[0] == windows[1], "{profile}: {windows:?}");
    }
}

/// After the handshake, requests a timer at the start of the run, and grows to fifty segments when it expires.
#[derive(Clone, Debug)]
struct Late {
    timer: Option<Instant>,
    woken: Option<Instant>,
}

impl SlowStart for Late {
    fn on_ack(&mut self, _ack: &Ack, _window: &Window) -> Step {
        Step::Grow(0.0)
    }
    fn on_established(&mut self, _event: &Established, _window: &Window) {
        self.timer = Some(Instant::ZERO);
    }
    fn paces(&self) -> bool {
        true
    }
    fn timer(&self) -> Option<Instant> {
        self.timer
    }
    fn on_timer(&mut self, now: Instant, window: &Window) -> Step {
        (self.timer, self.woken) = (None, Some(now));
        Step::Grow(50.0 - window.cwnd)
    }
    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("woken", self.woken.map_or(-1.0, Instant::as_secs_f64));
    }
}

/// Makes [`Late`] the slow start of every flow that asks for an external one.
struct LateMakers;

impl Makers for LateMakers {
    fn control(&self, _flow: usize) -> Option<ControlFactory> {
        None
    }
    fn slow_start(&self, _flow: usize) -> Option<SlowStartFactory> {
        Some(Arc::new(|| Box::new(Late { timer: None, woken: None })))
    }
}

#[test]
fn a_timer_in_the_past_is_due_at_once() {
    for profile in ["ns2", "modern"] {
        let flow =
            format!("{{\"profile\": \"{profile}\", \"congestion_control\": \"python_slow_start\", \"initial_ssthresh\": \"unlimited\"}}");
        let text = format!("{{\"duration\": \"1 s\", \"record\": [\"internals\"], \"flow\": [{flow}]}}");
        let scenario = Document::from_json(&text, "late").and_then(|document| document.scenario_with(&LateMakers)).unwrap();
        let result = run(&scenario, &mut || false).unwrap();
        let trace = result.traces.internals.as_ref().unwrap();
        // The handshake takes 60 ms. Its ACK is recorded before the timer expires.
        assert!(trace.value[1..].iter().all(|woken| (0.06..0.07).contains(woken)), "{profile}: {:?}", &trace.value[..3]);
        assert!((result.flows[0].cwnd_max - 50.0).abs() < 1e-9);
    }
}

/// The first flow over a path that never limits it, with a round trip of 100 ms. Each segment is acknowledged.
fn boundless(packets: u32, window: u32, slow_start: &str) -> RunResult {
    simulate(&format!(
        "duration = \"5 s\"
        record = [\"sequence\"]
        [topology]
        kind = \"chain\"
        links = [{{ rate = \"100 Gbit/s\", delay = \"50 ms\", queue = \"unlimited\" }}]
        [flow]
        {}
        size = \"{packets} packets\"
        initial_window = \"{window} segments\"
        initial_ssthresh = \"unlimited\"
        slow_start = {slow_start}",
        PROFILES[0]
    ))
}

/// The round trip, counted from 1, in which the last of so many segments leaves.
fn rounds(packets: u32, window: u32, slow_start: &str) -> u64 {
    let result = boundless(packets, window, slow_start);
    let times = departures(&result, packets as usize);
    assert_eq!(times.len(), packets as usize, "{slow_start}");
    // The first segment leaves at the end of the handshake's round trip.
    (times[times.len() - 1] - times[0]) / times[0] + 1
}

#[test]
fn rounds_to_send_so_many_segments_are_those_of_the_closed_forms() {
    // Doubling: 10(2ⁿ − 1) segments in n rounds; tripling: 5(3ⁿ − 1), or 10(3ⁿ − 1) from 20 on; SUSS: 10 + 40 + 160 + 640, then doubling.
    for (slow_start, window, expected) in [
        ("standard", 10, [4, 7, 10]),
        ("hystart", 10, [4, 7, 10]),
        ("hystart_pp", 10, [4, 7, 10]),
        // It doubles as well, but spreads each round over the next, so that the last segments leave a round later.
        ("bbr_startup", 10, [4, 8, 11]),
        ("rapid_start", 10, [3, 5, 7]),
        ("rapid_start", 20, [3, 5, 7]),
        ("suss", 10, [3, 5, 8]),
        ("jump_start", 10, [1, 1, 1]),
    ] {
        let measured = [100, 1000, 10_000].map(|packets| rounds(packets, window, &format!("\"{slow_start}\"")));
        assert_eq!(measured, expected, "{slow_start} from {window}");
    }
}

#[test]
fn suss_saves_a_fifth_of_a_short_transfer() {
    // 1 MB over 50 Mbit/s and 100 ms: the paper reports more than 20 % for less than 5 MB and round trips above 50 ms.
    for profile in WIDE {
        let took = |start: &str| {
            let result = one_flow(50, "1 BDP", 8, &format!("{profile}\nsize = \"691 packets\""), start);
            result.flows[0].completion_time.unwrap().as_secs_f64()
        };
        let (usual, suss) = (took("\"hystart\""), took("\"suss\""));
        assert!(suss < 0.8 * usual, "{profile}: {suss} s, {usual} s without SUSS");
    }
}

#[test]
fn suss_spreads_the_packets_that_it_adds() {
    for profile in PROFILES {
        let result = one_flow(50, "10000 packets", 1, profile, "\"suss\"");
        // Forty segments in the second round: twenty at the ACKs, and twenty over half of it, so that none waits for more than two.
        let times = departures(&result, 50);
        let second = &times[10..];
        let gaps = second[20..].windows(2).map(|pair| pair[1] - pair[0]);
        let gap = times[0] as f64 / 2.0 / 20.0;
        assert!(gaps.clone().all(|one| (one as f64 - gap).abs() < 0.1 * gap), "{profile}: {gap} {:?}", gaps.collect::<Vec<_>>());
        assert!(peaks(&result)[1] <= 21, "{profile}: {:?}", peaks(&result));
    }
}

/// The window after the first loss recovery, in bandwidth-delay products.
fn after_recovery(slow_start: &str) -> f64 {
    let result = one_flow(50, "1 BDP", 4, PROFILES[1], slow_start);
    let trace = result.traces.cwnd.as_ref().unwrap();
    let first = trace.ssthresh.iter().position(|threshold| threshold.is_finite()).unwrap();
    let lowest = trace.cwnd[first..first + 1000].iter().copied().fold(f64::INFINITY, f64::min);
    lowest / result.flows[0].bdp_packets
}

#[test]
fn rapid_start_leaves_the_window_at_half_of_what_the_path_carries() {
    // Two products fit into path and queue. Halving leaves half of the overshoot, too.
    let (rapid, usual) = (after_recovery("\"rapid_start\""), after_recovery("{ kind = \"rapid_start\", response = \"usual\" }"));
    assert!((0.8..1.2).contains(&rapid), "{rapid} {usual}");
    assert!(usual > 1.3, "{rapid} {usual}");
}

#[test]
fn bbrs_startup_leaves_the_product_without_loss() {
    for profile in [
        "profile = \"modern\"\npacket_size = \"1448 B\"",
        "profile = \"ns2\"\nrecovery = \"sack\"\nrwnd = \"100000 packets\"\npacket_size = \"1448 B\"",
    ] {
        let (window, threshold) = exit(&one_flow(50, "4 BDP", 8, profile, "\"bbr_startup\""));
        assert!((0.95..1.1).contains(&threshold), "{profile}: {window} {threshold}");
    }
}

/// Two transfers between the same hosts, one after the other, over a bottleneck of 50 Mbit/s and a round trip of 200 ms.
fn two_transfers(profile: &str, second: &str, queue: &str) -> RunResult {
    let first = "slow_start = { kind = \"careful_resume\", slow_start = \"hystart\" }";
    let flow = format!("{profile}\ninitial_window = \"rfc6928\"\ninitial_ssthresh = \"unlimited\"");
    simulate(&format!(
        "duration = \"30 s\"
        record = [\"cwnd\", \"internals\"]
        [topology]
        kind = \"chain\"
        access = {{ rate = \"1 Gbit/s\", delay = \"0 ms\" }}
        bottleneck = {{ rate = \"50 Mbit/s\", delay = \"100 ms\", queue = \"{queue}\" }}
        [[flow]]
        {flow}
        {first}
        size = \"20000 packets\"
        [[flow]]
        {flow}
        start = \"15 s\"
        size = \"3000 packets\"
        slow_start = {second}"
    ))
}

#[test]
fn careful_resume_reaches_the_window_of_an_earlier_connection() {
    for profile in WIDE {
        let took = |slow_start: &str| {
            let result = two_transfers(profile, slow_start, "2 BDP");
            assert!(result.flows[0].completion_time.is_some(), "{profile}");
            (result.flows[1].completion_time.unwrap().as_secs_f64(), result.flows[1].retransmitted_packets)
        };
        let (usual, resumed) = (took("\"hystart\""), took("{ kind = \"careful_resume\", slow_start = \"hystart\" }"));
        assert!(resumed.0 < 0.8 * usual.0 && resumed.1 == 0, "{profile}: {resumed:?}, {usual:?}");
        let stale = took("{ kind = \"careful_resume\", slow_start = \"hystart\", lifetime = \"1 ms\" }");
        assert_eq!(stale, usual, "{profile}: too old to count");
    }
}

#[test]
fn careful_resume_retreats_from_a_window_that_the_path_does_not_carry() {
    for profile in PROFILES {
        // Ten times what path and queue hold.
        let start = "{ kind = \"careful_resume\", saved_cwnd = \"20000 segments\", saved_rtt = \"200 ms\" }";
        let result = two_transfers(profile, start, "0.1 BDP");
        let trace = result.traces.cwnd.as_ref().unwrap();
        let rows: Vec<usize> = (0..trace.time.len()).filter(|&row| trace.flow[row] == 1).collect();
        let jumped = rows.iter().copied().find(|&row| (trace.cwnd[row] - 10_000.0).abs() < 1e-6).unwrap();
        let after = rows.iter().copied().find(|&row| row > jumped && trace.ssthresh[row].is_finite()).unwrap();
        assert!(trace.cwnd[after] < result.flows[1].bdp_packets, "{profile}: {}", trace.cwnd[after]);
    }
}

#[test]
fn jump_start_fits_or_loses_what_the_path_does_not_carry() {
    // The window of the handshake of ns2 holds all data. 400 segments in a round trip of 100 ms are 46 Mbit/s, 800 are 93 Mbit/s.
    let run = |packets: u32| {
        let flow = format!("{}\nsize = \"{packets} packets\"", PROFILES[0]);
        let result = one_flow(50, "20 packets", 8, &flow, "\"jump_start\"");
        (result.flows[0].completion_time.is_some(), result.flows[0].retransmitted_packets)
    };
    assert_eq!(run(400), (true, 0));
    assert!(run(800).0 && run(800).1 > 100, "{:?}", run(800));
}

/// Retransmissions and completion time of a flow of 40 segments with this start, over a bottleneck of 50 Mbit/s and a round trip of 100 ms that
/// drops the packets with these numbers.
fn short_flow(profile: &str, slow_start: &str, dropped: &str) -> (u64, f64) {
    let result = simulate(&format!(
        "duration = \"8 s\"
        [topology]
        kind = \"chain\"
        access = {{ rate = \"1 Gbit/s\", delay = \"0 ms\" }}
        bottleneck = {{ rate = \"50 Mbit/s\", delay = \"50 ms\", queue = \"100 packets\", loss = {{ kind = \"listed\", packets = [{dropped}] }} }}
        [flow]
        {profile}
        size = \"40 packets\"
        initial_ssthresh = \"unlimited\"
        slow_start = \"{slow_start}\""
    ));
    (result.flows[0].retransmitted_packets, result.flows[0].completion_time.unwrap().as_secs_f64())
}

#[test]
fn halfback_sends_the_second_half_of_a_flight_twice() {
    let modern = format!("{}\nmodern = {{ quick_acks = 1000 }}", PROFILES[1]);
    for profile in [PROFILES[0], &modern] {
        // The copies of the segments 40 to 21 leave at the ACKs of the segments 1 to 20.
        assert_eq!(short_flow(profile, "halfback", "").0, 20, "{profile}");
        // The last nine segments are lost. Their copies leave in the second round trip, after the handshake's.
        let lost = "33, 34, 35, 36, 37, 38, 39, 40, 41";
        let (halfback, jump) = (short_flow(profile, "halfback", lost), short_flow(profile, "jump_start", lost));
        assert!(halfback.1 < 0.3 && jump.1 > 0.8, "{profile}: {halfback:?} {jump:?}");
    }
    // ACKs of two segments meet the copies after a third of the flight.
    assert_eq!(short_flow(&format!("{}\ndelayed_ack = true", PROFILES[0]), "halfback", "").0, 13);
}

/// A flow of 40 segments with Quick-Start over 50 Mbit/s and a round trip of 100 ms, whose last link has these keys.
fn quick(profile: &str, last: &str) -> RunResult {
    simulate(&format!(
        "duration = \"2 s\"
        record = [\"cwnd\", \"sequence\"]
        [topology]
        kind = \"chain\"
        links = [
          {{ rate = \"1 Gbit/s\", delay = \"0 ms\", quick_start = \"500 Mbit/s\" }},
          {{ rate = \"50 Mbit/s\", delay = \"50 ms\", queue = \"1 BDP\"{last} }},
        ]
        [flow]
        {profile}
        size = \"40 packets\"
        initial_window = \"rfc6928\"
        initial_ssthresh = \"unlimited\"
        slow_start = \"quick_start\""
    ))
}

#[test]
fn quick_start_sends_at_the_rate_that_all_routers_approve() {
    for profile in PROFILES {
        // 6 Mbit/s are 5.12 Mbit/s in the encoding: 43 segments with headers in a round trip.
        let result = quick(profile, ", quick_start = \"6 Mbit/s\"");
        let times = departures(&result, 40);
        let gaps: Vec<f64> = times.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1e9).collect();
        let gap = 8.0 * 1500.0 / 5.12e6;
        assert!(gaps.iter().all(|one| (one - gap).abs() < 0.02 * gap), "{profile}: {gap} {gaps:?}");
        let first = |result: &RunResult| result.traces.cwnd.as_ref().unwrap().cwnd.iter().copied().find(|cwnd| *cwnd > 1.0).unwrap();
        assert!((42.0..44.0).contains(&first(&result)), "{profile}: {}", first(&result));
        let denied = quick(profile, "");
        assert!((first(&denied) - 10.0).abs() < 1e-9 && denied.flows[0].completion_time > result.flows[0].completion_time, "{profile}");
    }
}

#[test]
fn paced_start_finds_the_product_without_losses() {
    // A host of Linux sends in bursts.
    for profile in [WIDE[0], WIDE[1], "host = \"linux\"\npacket_size = \"1448 B\""] {
        // The fastest train has up to half of its packets in the queue. Linux' CUBIC fills the queue after two more seconds.
        let result = one_flow(50, "200 packets", 2, profile, "\"paced_start\"");
        let trace = result.traces.cwnd.as_ref().unwrap();
        let found = trace.ssthresh.iter().copied().find(|threshold| threshold.is_finite()).unwrap();
        let bdp = result.flows[0].bdp_packets;
        assert!((found - bdp).abs() < 0.1 * bdp, "{profile}: {found} {bdp}");
        assert_eq!(result.flows[0].retransmitted_packets, 0, "{profile}");
    }
}
