//! Every host profile keeps its contract with the control, sentence by sentence: a witness runs on random paths with losses in both
//! directions, marks, timeouts, idle times and applications. (`modern` also meets it on reordering paths with changing segment sizes, in
//! its own tests.)

mod selective;
mod witnessed;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use ackclock_core::cc::{Testimony, Wants};
use ackclock_core::params::Params;
use ackclock_sim::engine::run;
use ackclock_sim::scenario::{self, ControlSpec, Document};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use witnessed::{control, witnessed};

/// The keys of a flow on any host profile, with random settings.
fn any_host() -> impl Strategy<Value = String> {
    scenario::PROFILES.join(selective::PROFILES).unwrap();
    for name in scenario::profiles() {
        assert!(["ns2", "modern", "selective"].contains(&name), "give the profile {name} random settings below");
    }
    let recoveries: Vec<&str> = ackclock_tcp::ns2::RECOVERY.parts().iter().map(|part| part.name).collect();
    let ns2 = (prop::sample::select(recoveries), any::<bool>(), any::<bool>(), 2..200_u32);
    let ns2 = ns2.prop_map(|(recovery, delayed, limited, rwnd)| {
        format!("recovery = '{recovery}'\ndelayed_ack = {delayed}\nlimited_transmit = {limited}\nrwnd = '{rwnd} packets'")
    });
    let modern = (prop::sample::select(vec!["rack", "sack", "newreno"]), any::<[bool; 7]>());
    let modern = modern.prop_map(|(recovery, [timestamps, prr, frto, undo, gradual, again, nagle])| {
        format!(
            "profile = 'modern'\nmodern = {{ recovery = '{recovery}', tlp = {}, timestamps = {timestamps}, prr = {prr}, frto = {frto}, \
             undo = {undo}, gradual_marks = {gradual}, recover_again = {again}, nagle = {nagle} }}",
            recovery == "rack"
        )
    });
    let preset =
        prop::sample::select(vec!["linux", "freebsd", "macos", "windows_11", "windows_xp"]).prop_map(|name| format!("host = '{name}'"));
    prop_oneof![3 => ns2, 3 => modern, 2 => preset, 2 => Just("profile = 'selective'".to_owned())]
}

/// A scenario with one flow to record, over a path with losses in both directions.
fn any_scenario() -> impl Strategy<Value = String> {
    let queue = prop::sample::select(vec!["'4 packets'", "'30 packets'", "'unlimited'", "'codel'", "'red'"]);
    let loss = prop_oneof![2 => Just(0.0), 2 => 0.0..3.0_f64, 1 => 3.0..40.0_f64];
    let path = (1..40_u32, 1..60_u32, queue, loss.clone(), loss).prop_map(|(rate, delay, queue, loss, back)| {
        format!(
            "access = {{ delay = '1 ms' }}, bottleneck = {{ rate = '{rate} Mbit/s', delay = '{delay} ms', queue = {queue}, \
             loss = '{loss} %', reverse = {{ loss = '{back} %' }} }}"
        )
    });
    let application = prop::sample::select(vec![
        "",
        "",
        "size = '20 packets'",
        "application = { kind = 'on-off', burst = '100 kB', pause = '700 ms' }",
        "application = { kind = 'request-response', request = '300 B', response = '30 kB', think = '500 ms' }",
    ]);
    let feedback = prop::sample::select(vec!["false", "true", "'accurate'", "'dctcp'"]);
    (path, any_host(), application, feedback, 0..1000_u32).prop_map(|(path, host, application, feedback, seed)| {
        let profile = host.contains("profile") || host.contains("host");
        let ecn = if profile && !host.contains("selective") { feedback } else { ["false", "true"][usize::from(feedback != "false")] };
        let application = if application.contains("request") && !profile { "" } else { application };
        format!(
            "duration = '8 s'\nseed = {seed}\n[topology]\nkind = 'dumbbell'\n{}\n[[flow]]\necn = {ecn}\n{host}\n{application}\n[[flow]]\nstart = '1 s'\n",
            path.replace("}, bottleneck", "}\nbottleneck")
        )
    })
}

/// Whether the host of the first flow declares that it can tell which segments a duplicate ACK stands for.
fn identifies(text: &str) -> bool {
    let name = ["selective", "modern", "host ="].into_iter().find(|name| text.contains(name)).map_or("ns2", |name| match name {
        "host =" => "modern",
        name => name,
    });
    let entries = ackclock_tcp::profile::PROFILES.entries.iter().chain(selective::PROFILES.entries);
    let entry = entries.copied().find(|entry| entry.name == name).unwrap();
    (entry.build)(&Params::defaults(entry.params)).unwrap().capabilities().identifies
}

/// What a witness before the control `name` says of the first flow.
fn testimony(text: &str, name: &'static str, wants: Wants) -> Testimony {
    let (_, mut testimony) = witnessed(text, move || control(name), wants, identifies(text));
    if text.contains("'vegas'") {
        // ns-2's Vegas: an ACK that covers SYN and data opens no window (`ns2/recovery/vegas.rs`).
        testimony.broken.remove("ACKs follow the handshake");
    }
    testimony
}

fn wants([samples, deliveries, one_way_delay, timing]: [bool; 4]) -> Wants {
    Wants::NOTHING.with(|wants| {
        (wants.samples, wants.deliveries, wants.one_way_delay, wants.timing) = (samples, deliveries, one_way_delay, timing);
    })
}

fn any_control() -> impl Strategy<Value = (&'static str, Wants)> {
    let wants = any::<[bool; 4]>().prop_map(wants);
    (prop::sample::select(vec!["reno", "steady", "bbr", "vegas", "cubic_linux", "ledbat", "halfback"]), wants)
}

/// A transfer over a path that marks and that loses ACKs: the scenario, and the bytes of a packet.
fn any_marking_path() -> impl Strategy<Value = String> {
    let queue = prop_oneof![
        (0.1..60.0_f64).prop_map(|percent| format!("{{ kind = 'bernoulli', mark_probability = '{percent} %' }}")),
        prop::sample::select(vec!["'codel'", "'red'", "'pie'", "'fq_codel'"]).prop_map(str::to_owned),
    ];
    let loss = prop_oneof![1 => Just(0.0), 2 => 0.0..60.0_f64];
    let host = (prop::sample::select(vec!["rack", "sack"]), any::<bool>(), any::<bool>(), 1..200_u32, 0..40_u32);
    let host = host.prop_map(|(recovery, timestamps, option, delay, quick)| {
        format!(
            "modern = {{ recovery = '{recovery}', tlp = {}, timestamps = {timestamps}, ecn_option = {option}, delayed_ack = '{delay} ms', \
             quick_acks = {quick} }}",
            recovery == "rack"
        )
    });
    let feedback = prop::sample::select(vec!["accurate", "accurate", "dctcp"]);
    (queue, loss, host, feedback, 2..60_u32, 1..60_u32, 1..2000_u32, 0..1000_u32).prop_map(
        |(queue, loss, host, feedback, rate, delay, size, seed)| {
            format!(
                "duration = '120 s'\nseed = {seed}\n[topology]\nkind = 'dumbbell'\n[topology.bottleneck]\nrate = '{rate} Mbit/s'\n\
                 delay = '{delay} ms'\nqueue = {queue}\nreverse = {{ loss = '{loss} %' }}\n[[flow]]\nprofile = 'modern'\n\
                 ecn = '{feedback}'\nsize = '{size} packets'\n{host}\n"
            )
        },
    )
}

proptest! {
    #[test]
    fn counts_of_marks_are_what_the_network_marked(text in any_marking_path()) {
        let document = Document::from_toml(&text, "contract.toml").unwrap();
        let scenario = document.scenario().unwrap();
        let result = run(&scenario, &mut || false).unwrap();
        // Each marked packet arrives, because only the other direction loses packets.
        let arrived = result.links.iter().map(|link| link.marks).sum::<u64>() * scenario.flows[0].host.packet_size().0;
        let told = testimony(&text, "reno", Wants::NOTHING);
        prop_assert!(told.broken.is_empty(), "{text}\n{:#?}", told.broken);
        // A FIN may count as a byte.
        let (least, most) = (arrived, arrived + 1);
        let lossless = text.contains("loss = '0 %'");
        if result.flows[0].completion_time.is_none() {
            // The last marks may not have been reported.
        } else if told.exact || lossless && text.contains("'dctcp'") {
            prop_assert!((least..=most).contains(&told.marked), "{text}\n{} told, {arrived} arrived", told.marked);
        } else if told.at_most {
            prop_assert!(told.marked >= least, "{text}\n{} told, {arrived} arrived", told.marked);
        }
    }

    #[test]
    fn hosts_keep_the_contract(text in any_scenario(), (name, wants) in any_control()) {
        let testimony = testimony(&text, name, wants);
        prop_assert!(testimony.broken.is_empty(), "{name}, {wants:?}\n{text}\n{:#?}", testimony.broken);
        let (_, delay) = text.split_once("Mbit/s', delay = '").unwrap();
        let propagation = 2.0 + delay.split_once(' ').unwrap().0.parse::<f64>().unwrap();
        let tick = if text.contains("modern") || text.contains("host =") { 1.0 } else { 0.0 };
        for (delay, _) in &testimony.delays {
            prop_assert!(delay.as_secs_f64() * 1e3 >= propagation - tick, "{delay:?}\n{text}");
        }
    }
}

#[test]
fn the_paths_reach_every_event() {
    let mut runner = TestRunner::deterministic();
    let mut events: BTreeMap<&str, [u64; 3]> = BTreeMap::new();
    for _ in 0..300 {
        let (text, (name, wants)) = (any_scenario(), any_control()).new_tree(&mut runner).unwrap().current();
        let profile = if text.contains("selective") { 2 } else { usize::from(text.contains("modern") || text.contains("host =")) };
        for (event, count) in testimony(&text, name, wants).events {
            events.entry(event).or_default()[profile] += count;
        }
    }
    let all =
        ["established", "transmission", "retransmission", "ack", "duplicate", "loss", "fast retransmit", "timeout", "end of recovery"];
    let marks = ["echo", "mark", "timer", "first window", "delivery", "idle"];
    for event in all.into_iter().chain(marks) {
        assert!(events.get(event).is_some_and(|counts| counts.iter().all(|count| *count > 0)), "{event}: {events:?}");
    }
    assert!(events["undo"][1] > 0 && events["repaired tail"][1] > 0, "{events:?}");
}

/// Each profile, with the tick of its timestamps in seconds, and the size of its largest ACK in bytes.
const PROFILES: [(&str, f64, f64); 4] = [
    ("recovery = 'sack'", 0.0, 64.0),
    ("recovery = 'newreno'", 0.0, 40.0),
    ("profile = 'modern'\nmodern = { delayed_ack = '1 us' }", 1e-3, 80.0),
    ("profile = 'selective'", 0.0, 28.0 + 17.0 + 32.0 * 16.0),
];
/// A path of 22 ms one way, on which ACKs do not wait.
const PATH: &str = "duration = '20 s'\n[topology]\nkind = 'dumbbell'\naccess = { delay = '1 ms' }\n\
                    bottleneck = { rate = '8 Mbit/s', delay = '20 ms', queue = '60 packets' }\n[[flow]]\n";

/// The times of an ACK of at most `size` bytes on that path. The other links have at least 100 Mbit/s.
fn way_back(size: f64) -> RangeInclusive<f64> {
    0.022 - 1e-9..=0.022 + 8.0 * size * (1.0 / 8e6 + 2.0 / 1e8) + 1e-9
}

#[test]
fn a_one_way_delay_and_the_way_back_are_a_round_trip() {
    scenario::PROFILES.join(selective::PROFILES).unwrap();
    for (host, tick, size) in PROFILES {
        let told = testimony(&format!("{PATH}{host}\n"), "reno", wants([false, false, true, false]));
        assert!(told.broken.is_empty(), "{host}: {:#?}", told.broken);
        let known: Vec<(f64, f64)> =
            told.delays.iter().filter_map(|(delay, rtt)| Some((delay.as_secs_f64(), (*rtt)?.as_secs_f64()))).collect();
        let queued = known.iter().filter(|(delay, _)| *delay > 0.06).count();
        assert!(queued > 1000, "{host}: {queued} of {} with a queue", known.len());
        let (least, most) = way_back(size).into_inner();
        for (delay, rtt) in known {
            assert!((least - tick..=most + tick).contains(&(rtt - delay)), "{host}: {delay} of {rtt}");
        }
    }
}

#[test]
fn delays_need_timestamps_and_a_control_that_wants_them() {
    let delays =
        |host: &str, one_way_delay| testimony(&format!("{PATH}{host}\n"), "reno", wants([true, true, one_way_delay, true])).delays.len();
    for (host, ..) in PROFILES {
        assert!(delays(host, true) > 0 && delays(host, false) == 0, "{host}");
    }
    assert_eq!(delays("profile = 'modern'\nmodern = { timestamps = false }", true), 0);
}

#[test]
fn an_idle_time_lasts_from_the_last_ack_to_the_next_burst() {
    scenario::PROFILES.join(selective::PROFILES).unwrap();
    for (host, _, size) in PROFILES {
        let text = format!("{PATH}{host}\napplication = {{ kind = 'on-off', burst = '100 kB', pause = '700 ms' }}\n");
        let scenario = Document::from_toml(&text, "contract.toml").unwrap().scenario().unwrap();
        let result = run(&scenario, &mut || false).unwrap();
        let bursts = result.transfer_rows().filter(|(_, burst)| burst.completed.is_some()).count();
        let told = testimony(&text, "reno", Wants::NOTHING);
        assert!(told.broken.is_empty(), "{host}: {:#?}", told.broken);
        assert!(bursts > 10 && (bursts - 1..=bursts).contains(&told.idle.len()), "{host}: {} after {bursts} bursts", told.idle.len());
        for idle in told.idle {
            // The pause begins when the burst has arrived, the idle time when its last ACK has.
            assert!(way_back(size).contains(&(0.7 - idle.duration().as_secs_f64())), "{host}: {idle:?}");
            // RFC 5681 §4.1: longer than the timeout. `ns2` has no such rule.
            assert_eq!(idle.restart_window, host.contains("modern").then_some(10.0), "{host}");
        }
    }
}

#[test]
fn a_lost_segment_is_reported_when_it_is_detected() {
    let path = "duration = '3 s'\n[topology]\nkind = 'dumbbell'\n[topology.bottleneck]\nqueue = '10 packets'\n[[flow]]\n";
    for host in
        ["recovery = 'tahoe'", "recovery = 'reno'", "recovery = 'newreno'", "recovery = 'sack'", "recovery = 'vegas'", "profile = 'modern'"]
    {
        let events = testimony(&format!("{path}{host}\n"), "reno", Wants::NOTHING).events;
        assert!(events["loss"] >= events["fast retransmit"] && events["fast retransmit"] > 0, "{host}: {events:?}");
    }
}

#[test]
fn a_window_below_one_segment_spreads_segments_over_several_round_trips() {
    let sent = |recipe: &'static str| {
        let path = "duration = '10 s'\n[topology]\nkind = 'dumbbell'\n[[flow]]\nprofile = 'modern'\nmodern = { pacing = 'window' }\n";
        let mut scenario = Document::from_toml(path, "contract.toml").unwrap().scenario().unwrap();
        scenario.flows[0].control = ControlSpec::Custom(Arc::new(move || control(recipe)));
        run(&scenario, &mut || false).unwrap().flows[0].delivered_packets as f64
    };
    // The pacer sends 1.2 windows per round trip; ACKs of single segments may be delayed.
    let ratio = sent("constant 1") / sent("constant 0.25");
    assert!((2.5..5.0).contains(&ratio), "{ratio}");
}

#[test]
fn copies_that_a_control_sends_ahead_begin_no_recovery_of_vegas() {
    let text = "duration = '8 s'\n[topology]\nkind = 'dumbbell'\naccess = { delay = '1 ms' }\n\
        bottleneck = { rate = '5 Mbit/s', delay = '44 ms', queue = '30 packets' }\n[[flow]]\nrecovery = 'vegas'\ndelayed_ack = true\n\
        rwnd = '63 packets'\napplication = { kind = 'on-off', burst = '100 kB', pause = '700 ms' }\n";
    let testimony = testimony(text, "halfback", Wants::NOTHING);
    assert!(testimony.broken.is_empty(), "{:#?}", testimony.broken);
}
