//! Every control of the registry in both stacks: it completes, keeps the contract, repeats, and decides.

mod recipes;
#[path = "../../sim/tests/witnessed/mod.rs"]
mod witnessed;

use std::collections::BTreeSet;

use ackclock_core::cc::{Testimony, Wants, avoidance, slow_start, whole};
use ackclock_host::ExitReason;
use ackclock_sim::engine::{RunResult, run};
use ackclock_sim::scenario::{Document, PROFILES};
use recipes::keys;
use witnessed::{control, witnessed};

const STACKS: [&str; 2] = ["quic", "quinn"];
/// The stack's settings, the flow's keys, and the bottleneck of 10 Mbit/s.
const USUAL: (&str, &str, &str) = ("control = 'flow'", "size = '2 MB'", "delay = '20 ms', queue = '50 packets'");
/// Bytes of a datagram, and of data in it: 11 are of the short header, 6 of the frame, 16 of the tag.
const DATAGRAM: u64 = 1200;
const DATA: f64 = 1167.0;

/// A scenario of one flow.
fn scenario(stack: &str, (settings, flow, bottleneck): (&str, &str, &str)) -> String {
    PROFILES.join(ackclock_quic::PROFILES).unwrap();
    format!(
        "duration = '100 s'\nrecord = ['cwnd', 'flight']\n[topology]\nkind = 'dumbbell'\naccess = {{ rate = '10 Gbit/s', delay = '0 s' }}\n\
         bottleneck = {{ rate = '10 Mbit/s', {bottleneck} }}\n[[flow]]\nprofile = {{ kind = '{stack}', {settings} }}\n{flow}\n"
    )
}

/// A run of a scenario as a user writes it.
fn plain(stack: &str, case: (&str, &str, &str)) -> RunResult {
    let text = scenario(stack, case);
    let scenario =
        Document::from_toml(&text, "controls.toml").and_then(|it| it.scenario()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    run(&scenario, &mut || false).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The same with a witness before the control of a recipe, which keeps the contract.
fn told(stack: &str, recipe: &str, case: (&str, &str, &str)) -> (RunResult, Testimony) {
    let name = recipe.to_owned();
    let (result, told) = witnessed(&scenario(stack, case), move || control(&name), Wants::NOTHING, true);
    assert!(told.broken.is_empty(), "{stack}, {recipe}: {:#?}", told.broken);
    (result, told)
}

/// The whole controls, the avoidances after standard slow start, and the slow starts before CUBIC.
fn all_recipes() -> Vec<String> {
    let wholes = whole::ENTRIES.iter().map(|entry| format!("congestion_control = {}", entry.name));
    let avoidances = avoidance::ENTRIES.iter().map(|entry| format!("avoidance = {}", entry.name));
    let starts = slow_start::ENTRIES.iter().map(|entry| format!("slow_start = {}", entry.name));
    wholes.chain(avoidances).chain(starts).collect()
}

#[test]
fn every_control_completes_keeps_the_contract_and_repeats() {
    for stack in STACKS {
        let (settings, flow, bottleneck) = USUAL;
        let mut digests = BTreeSet::new();
        let recipes = all_recipes();
        for recipe in &recipes {
            let (result, told) = told(stack, recipe, USUAL);
            let row = &result.flows[0];
            assert!(told.events["ack"] > 100 && told.events["established"] == 1, "{stack}, {recipe}: {:?}", told.events);
            assert_eq!(row.dropped_packets > 0, told.events.contains_key("loss"), "{stack}, {recipe}: {row:?}");
            // 1.7 s of data, and 0.1 s to begin; some leave much of the path unused, and TCP-LP yields to the receiver's delays of ACKs.
            let most = if recipe.ends_with("= lp") { 60.0 } else { 6.0 };
            let time = row.completion_time.unwrap_or_else(|| panic!("{stack}, {recipe}")).as_secs_f64();
            assert!((1.7..most).contains(&time), "{stack}, {recipe}: {time}");
            let windows = result.traces.cwnd.as_ref().unwrap();
            assert!(windows.cwnd.iter().all(|cwnd| cwnd.is_finite() && *cwnd >= 1.0), "{stack}, {recipe}");
            assert!(windows.ssthresh.iter().all(|ssthresh| *ssthresh >= 2.0), "{stack}, {recipe}");
            let again = plain(stack, (settings, &format!("{flow}\n{}", keys(recipe)), bottleneck));
            assert_eq!(result.digest(), again.digest(), "{stack}, {recipe}: a witness changes nothing");
            digests.insert(result.digest());
        }
        // Some are the same on such a path: without marks DCTCP is Reno, and without a saved path Careful Resume is standard slow start.
        assert!(digests.len() * 10 > recipes.len() * 8, "{stack}: {} of {}", digests.len(), recipes.len());
    }
}

#[test]
fn the_controls_window_decides() {
    for stack in STACKS {
        for cwnd in [4_u64, 10, 20, 30] {
            let (result, told) = witnessed(&scenario(stack, USUAL), move || control(&format!("constant {cwnd}")), Wants::NOTHING, true);
            assert!(told.broken.is_empty(), "{stack}, {cwnd}: {:#?}", told.broken);
            let flight = result.traces.flight.as_ref().unwrap();
            assert_eq!(flight.bytes.iter().max(), Some(&(cwnd * DATAGRAM)), "{stack}: the window is filled, and never exceeded");
            // A window per round trip, which includes the time of sending two packets and of delaying some ACKs.
            let time = result.flows[0].completion_time.unwrap().as_secs_f64();
            let round_trip = time * cwnd as f64 * DATA / 2e6;
            assert!((0.041..0.050).contains(&round_trip), "{stack}, {cwnd}: {round_trip} s");
        }
    }
}

#[test]
fn the_same_algorithm_does_what_the_stacks_own_does() {
    let (_, _, bottleneck) = USUAL;
    for stack in STACKS {
        for (own, ours) in [("cubic", "avoidance = cubic"), ("newreno", "avoidance = reno")] {
            let theirs = plain(stack, (&format!("control = '{own}'"), "size = '10 MB'", bottleneck));
            let ours = plain(stack, ("control = 'flow'", &format!("size = '10 MB'\n{}", keys(ours)), bottleneck));
            let [theirs, ours] = [&theirs.flows[0], &ours.flows[0]];
            let [time, other] = [ours, theirs].map(|flow| flow.completion_time.unwrap().as_secs_f64());
            assert!((0.99..1.01).contains(&(time / other)), "{stack}, {own}: {time} of {other}");
            let [lost, other] = [ours, theirs].map(|flow| flow.dropped_packets);
            assert!(lost.abs_diff(other) * 10 <= other, "{stack}, {own}: {lost} of {other}");
        }
    }
}

#[test]
fn a_loss_ends_slow_start() {
    for stack in STACKS {
        let (result, _) = told(stack, "avoidance = reno", USUAL);
        let flow = &result.flows[0];
        assert!(flow.dropped_packets > 0 && flow.window_reductions > 0 && flow.cwnd_initial == Some(10.0), "{stack}: {flow:?}");
        let (reason, at, cwnd) = flow.slow_start_exit.expect("a loss ends slow start");
        assert_eq!(reason, ExitReason::Loss, "{stack}");
        // 42 packets on the path and 50 in the queue, and one round trip until the loss is known.
        assert!((0.2..1.0).contains(&at.as_secs_f64()) && (92.0..200.0).contains(&cwnd), "{stack}: {at:?} {cwnd}");
    }
}

#[test]
fn only_noq_paces_at_the_rate_of_bbr() {
    let (settings, _, bottleneck) = USUAL;
    for stack in STACKS {
        let (result, _) = told(stack, "congestion_control = bbr", (settings, "size = '10 MB'", bottleneck));
        let flow = &result.flows[0];
        let rate = *result.traces.flight.as_ref().unwrap().pacing.last().unwrap() / 1e6;
        // Between probing down and up.
        assert!((8.5..12.6).contains(&rate), "{stack}: {rate}");
        // quinn takes the window only.
        assert_eq!(flow.dropped_packets == 0, stack == "quic", "{stack}: {flow:?}");
        assert!(flow.dropped_packets < 50, "{stack}: {flow:?}");
    }
}

#[test]
fn marks_reach_a_control() {
    let queue = "delay = '20 ms', queue = { kind = 'bernoulli', mark_probability = '0.25 %', spacing = 'even' }";
    for stack in STACKS {
        for recipe in ["avoidance = reno", "avoidance = cubic", "avoidance = dctcp", "avoidance = prague", "congestion_control = bbr"] {
            let (result, told) = told(stack, recipe, ("control = 'flow'", "size = '2 MB'\necn = true", queue));
            let flow = &result.flows[0];
            assert!(told.marked > 0 && flow.window_reductions > 0, "{stack}, {recipe}: {:?}", told.events);
            assert_eq!((flow.dropped_packets, flow.retransmitted_packets), (0, 0), "{stack}, {recipe}");
        }
    }
}

#[test]
fn a_mark_counts_for_all_packets_of_its_ack() {
    for stack in STACKS {
        // Every second packet is acknowledged, and a marked one at once: of random marks, half are alone in their ACKs. After the ACK of a mark, the
        // hundredth packet is the second of a pair.
        for (spacing, packets) in [("random", 1.35..1.65), ("even", 1.95..2.0)] {
            let queue = format!("delay = '20 ms', queue = {{ kind = 'bernoulli', mark_probability = '1 %', spacing = '{spacing}' }}");
            let (result, told) = told(stack, "avoidance = dctcp", ("control = 'flow'", "size = '20 MB'\necn = true", &queue));
            let marks: u64 = result.links.iter().map(|link| link.marks).sum();
            let counted = told.marked as f64 / (marks * DATAGRAM) as f64;
            assert!(marks > 100 && packets.contains(&counted), "{stack}, {spacing}: {counted} packets for each of {marks} marks");
        }
    }
}

#[test]
fn a_stack_that_tells_spurious_losses_gets_its_window_back() {
    let late = "queue = 'unlimited', \
                delay = { kind = 'reordering', delay = '20 ms', share = '100 %', gap = 1000, chosen = 'late', extra = '10 ms' }";
    for stack in STACKS {
        let (result, told) = told(stack, "avoidance = reno", ("control = 'flow'", "size = '4 MB'", late));
        let flow = &result.flows[0];
        let undone = told.events.get("undo").copied().unwrap_or(0);
        assert!(flow.dropped_packets == 0 && flow.window_reductions >= 2, "{stack}: {flow:?}");
        assert_eq!(undone, if stack == "quic" { flow.window_reductions } else { 0 }, "{stack}: {:?}", told.events);
    }
}

#[test]
fn larger_datagrams_are_told_to_the_control() {
    let (_, flow, bottleneck) = USUAL;
    for stack in STACKS {
        let (result, told) = told(stack, "avoidance = reno", ("control = 'flow', mtu_discovery = true", flow, bottleneck));
        let smss = *result.traces.flight.as_ref().unwrap().smss.last().unwrap();
        assert!((1400..=1452).contains(&smss), "{stack}: {smss}");
        assert!(told.events.contains_key("segment size"), "{stack}: {:?}", told.events);
    }
}
