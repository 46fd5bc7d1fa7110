//! Links with models of rate, delay and loss, against closed forms.

use ackclock_core::qdisc::Reason;
use ackclock_sim::engine::{RunResult, run};
use ackclock_sim::scenario::Document;

fn checked(text: &str) -> Result<RunResult, String> {
    let scenario = Document::from_toml(text, "paths.toml").and_then(|document| document.scenario()).map_err(|error| error.to_string())?;
    Ok(run(&scenario, &mut || false).unwrap_or_else(|error| panic!("{error}\n{text}")))
}

fn result(text: &str) -> RunResult {
    checked(text).unwrap_or_else(|error| panic!("{error}"))
}

/// Datagrams with 1000 bytes on the wire at `rate` for 100 s over one link with `keys`.
fn datagrams(rate: &str, keys: &str) -> RunResult {
    result(&format!(
        "duration = '101 s'\nrecord = ['delivered', 'drops']\ntopology = {{ kind = 'chain', links = [{{ {keys} }}] }}\n\
         [flow]\nstop = '100 s'\npacket_size = '972 B'\napplication = {{ kind = 'cbr', rate = '{rate}' }}"
    ))
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

/// Delays of the packets that a flow of one packet in each 10 ms sends over a link with `delay`, in seconds: with less jitter than that,
/// no packet meets another.
fn delays(delay: &str) -> Vec<f64> {
    let result = datagrams("800 kbit/s", &format!("rate = '1 Gbit/s', queue = 'unlimited', delay = {delay}"));
    let delivered = result.traces.delivered.unwrap();
    let sent = |index: usize| index as f64 * 0.01 + 8e-6;
    delivered.time.iter().enumerate().map(|(index, time)| *time as f64 / 1e9 - sent(index)).collect()
}

#[test]
fn jitter_has_the_mean_and_the_variance_of_its_distribution() {
    let cases = [("uniform", 0.02, 0.004 * 0.004 / 3.0, 1.8), ("exponential", 0.021, 1e-6, 9.0)];
    for (distribution, expected, variance, kurtosis) in cases {
        let jitter = if distribution == "uniform" { "4 ms" } else { "1 ms" };
        let delays = delays(&format!("{{ kind = 'jitter', delay = '20 ms', jitter = '{jitter}', distribution = '{distribution}' }}"));
        assert_eq!(delays.len(), 10_000);
        let centre = mean(&delays);
        let found = mean(&delays.iter().map(|delay| (delay - centre) * (delay - centre)).collect::<Vec<_>>());
        let error = |square: f64| 4.0 * (square / 10_000.0).sqrt();
        assert!((centre - expected).abs() < error(variance), "{distribution}: mean {centre} instead of {expected}");
        assert!((found - variance).abs() < error(variance * variance * (kurtosis - 1.0)), "{distribution}: {found} instead of {variance}");
    }
}

#[test]
fn a_schedule_delivers_the_integral_of_its_rate() {
    // More packets arrive than leave. 8, 0 and 2 Mbit/s for 1, 2 and 3 s: 14 Mbit in each 6 s, and 8 Mbit in the last 4 s before 100 s.
    let keys = "delay = '0 s', queue = 'unlimited', \
                rate = { kind = 'schedule', steps = [['0 s', '8 Mbit/s'], ['1 s', '0 bit/s'], ['3 s', '2 Mbit/s']], period = '6 s' }";
    let result = datagrams("10 Mbit/s", keys);
    let delivered = result.traces.delivered.unwrap();
    for (second, bits) in
        [(1, 8.0), (2, 8.0), (3, 8.0), (4, 10.0), (6, 14.0), (7, 22.0), (60, 140.0), (99, 16.0 * 14.0 + 8.0), (100, 234.0)]
    {
        let packets = delivered.time.partition_point(|time| *time <= second * 1_000_000_000);
        let expected = bits * 1e6 / 8000.0;
        assert!((packets as f64 - expected).abs() <= 1.0, "{packets} packets after {second} s instead of {expected}");
    }
    let (flow, link) = (&result.flows[0], &result.links[0]);
    assert_eq!(flow.path_bps, Some(2_333_333), "the mean of a cycle");
    assert!(link.utilisation > 0.999, "{}", link.utilisation);
}

/// What a document in a folder with the files `files` describes, its frozen form, and its result.
fn with_files(files: &[(&str, &str)], keys: &str) -> Result<(String, RunResult), String> {
    let folder = std::env::temp_dir().join(format!("ackclock-paths-{}-{}", std::process::id(), keys.len()));
    std::fs::create_dir_all(&folder).unwrap();
    for (name, text) in files {
        std::fs::write(folder.join(name), text).unwrap();
    }
    let text = format!(
        "duration = '20 s'\ntopology = {{ kind = 'chain', links = [{{ queue = 'unlimited', {keys}, reverse = {{ rate = '1 Gbit/s', delay = '1 ms' }} }}] }}\n\
         [flow]\npacket_size = '1472 B'\napplication = {{ kind = 'cbr', rate = '20 Mbit/s' }}"
    );
    let document = Document::from_toml(&text, folder.join("t.toml").to_str().unwrap()).map_err(|error| error.to_string())?;
    let scenario = document.scenario().map_err(|error| error.to_string());
    let frozen = document.frozen().map_err(|error| error.to_string());
    std::fs::remove_dir_all(&folder).unwrap();
    let (scenario, frozen) = (scenario?, frozen?);
    Ok((frozen, run(&scenario, &mut || false).unwrap()))
}

#[test]
fn a_mahimahi_trace_carries_its_opportunities() {
    // Three packets of 1500 bytes in each 7 ms; more arrive.
    let (frozen, result) = with_files(&[("x.down", "2\n2\n7\n")], "rate = { kind = 'mahimahi', file = 'x.down' }, delay = '1 ms'").unwrap();
    assert!(frozen.contains("opportunities = [2.0, 2.0, 7.0]") && !frozen.contains("file"), "{frozen}");
    let delivered = result.flows[0].delivered_packets;
    assert!(delivered.abs_diff(20_000 * 3 / 7) <= 3, "{delivered}");
    assert!(result.links[0].utilisation > 0.999, "{}", result.links[0].utilisation);
    // The file is gone: the frozen scenario has all of it.
    let again = self::result(&frozen);
    assert_eq!(again.flows[0].delivered_after, result.flows[0].delivered_after);
}

#[test]
fn rates_and_delays_are_read_from_a_table() {
    let table = "time,rate,delay\n0 s,8 Mbit/s,5 ms\n1 s,2 Mbit/s,9 ms\n";
    let files = [("x.csv", table)];
    let (frozen, result) =
        with_files(&files, "rate = { kind = 'schedule', file = 'x.csv' }, delay = { kind = 'steps', file = 'x.csv' }").unwrap();
    assert!(frozen.contains("[\"1 s\", \"2 Mbit/s\"]") && frozen.contains("[\"1 s\", \"9 ms\"]"), "{frozen}");
    assert!(result.flows[0].delivered_packets.abs_diff((8e6 + 19.0 * 2e6) as u64 / 12_000) <= 3);
    let error = |keys: &str| with_files(&files, keys).unwrap_err();
    let both = error("rate = { kind = 'schedule', file = 'x.csv', steps = [['0 s', '1 Mbit/s']] }");
    assert!(both.contains("topology.links.0.rate.file: cannot be combined with steps, which it replaces"), "{both}");
    let form = error("rate = { kind = 'mahimahi', file = 'x.csv' }, delay = '5 ms'");
    assert!(form.contains("rate.file: ") && form.contains("x.csv: line 1: is not a whole number of milliseconds"), "{form}");
    let missing = error("delay = { kind = 'steps', file = 'none.csv' }");
    assert!(missing.contains("delay.file: cannot read "), "{missing}");
    let other = error("delay = { kind = 'jitter', file = 'x.csv' }");
    assert!(other.contains("has no parameter \"file\""), "{other}");
}

#[test]
fn one_table_gives_rate_delay_and_loss() {
    // 8 Mbit/s and 2 Mbit/s in turn, of which 0 % and 20 % are lost. More packets arrive than leave.
    let table = "time (s),rate (Mbit/s),delay (ms),loss (%),note\n0,8,5,0,\n5,2,9,20,train\n";
    let link = |name: &str, key: &str| format!("{key} = {{ kind = '{name}', file = 'x.csv', period = '10 s' }}");
    let keys = [link("schedule", "rate"), link("steps", "delay"), link("schedule", "loss")].join(", ");
    let folder = std::env::temp_dir().join(format!("ackclock-one-table-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("x.csv"), table).unwrap();
    let text = format!(
        "duration = '40 s'\nrecord = ['delivered', 'drops']\ntopology = {{ kind = 'chain', links = [{{ queue = 'unlimited', {keys}, reverse = {{ rate = '1 Gbit/s', \
         delay = '1 ms' }} }}] }}\n[flow]\npacket_size = '972 B'\napplication = {{ kind = 'cbr', rate = '20 Mbit/s' }}"
    );
    let scenario = Document::from_toml(&text, folder.join("t.toml").to_str().unwrap()).unwrap().scenario().unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let result = run(&scenario, &mut || false).unwrap();
    let (delivered, drops) = (result.traces.delivered.unwrap().time, result.traces.drops.unwrap().time);
    let within = |times: &[u64], begin: u64, end: u64| {
        times.iter().filter(|time| (begin * 1_000_000_000..end * 1_000_000_000).contains(time)).count()
    };
    for cycle in 0..4 {
        let begin = 10 * cycle;
        // 5000 packets of 8000 bits leave in the first 5 s, and 1250 in the others, apart from those on the wire at a change.
        let (first, second) = (within(&delivered, begin, begin + 5), within(&delivered, begin + 5, begin + 10));
        assert!(first.abs_diff(5000) <= 6, "{first}");
        let lost = within(&drops, begin + 5, begin + 10);
        // Five standard deviations of a binomial: 5·√(1250·0.2·0.8) ≈ 71.
        assert!(lost.abs_diff(250) <= 71, "{lost}");
        // One that leaves at the change itself.
        assert!(within(&drops, begin, begin + 5) <= 1, "cycle {cycle}");
        assert!((second + lost).abs_diff(1250) <= 9, "{second} + {lost}");
    }
    // The first packet leaves after 1 ms and takes 5 ms.
    assert!(delivered[0].abs_diff(6_400_000) <= 400_000, "{}", delivered[0]);
}

#[test]
fn a_wrong_table_is_named_with_its_line() {
    let error = |table: &str| {
        let keys = format!("rate = '1 Mbit/s', delay = '1 ms', loss = {{ kind = 'schedule', file = 'x.csv' }} # {}", table.len());
        with_files(&[("x.csv", table)], keys.split(" #").next().unwrap()).unwrap_err()
    };
    for (table, expected) in [
        ("time (s),loss (%)\n0,1\n2,101\n", "x.csv: line 3: its value must be from 0 to 100 %"),
        ("time (s),loss (%)\n0,1\n\n2,much\n", "x.csv: line 4: its value "),
        ("time (s),loss (%)\n0,1\n0,1\n", "x.csv: line 3: must be later than the step before it"),
        ("time (s),loss (%)\n1,1\n", "x.csv: must begin at \"0 s\""),
        ("time,loss\n", "x.csv: must have at least one step"),
        ("time,loss\n0 s,1 %,2\n", "x.csv: line 2 has 3 cells; the first line has 2"),
        ("time,rate\n0 s,1 %\n", "x.csv: has no column \"loss\" in its first line"),
    ] {
        let found = error(table);
        assert!(found.contains("loss.file: ") && found.contains(expected), "{found}");
    }
}

#[test]
fn utilisation_counts_bits() {
    // Half of 8 Mbit/s for a second, then all of 2 Mbit/s and more: 4 + 2 of 10 Mbit in the first two seconds.
    let text = "duration = '2 s'\ntopology = { kind = 'chain', links = [{ delay = '0 s', queue = 'unlimited', \
                rate = { kind = 'schedule', steps = [['0 s', '8 Mbit/s'], ['1 s', '2 Mbit/s']] } }] }\n\
                [flow]\npacket_size = '972 B'\napplication = { kind = 'cbr', rate = '4 Mbit/s' }";
    let utilisation = result(text).links[0].utilisation;
    assert!((utilisation - 0.6).abs() < 0.001, "{utilisation}");
}

#[test]
fn a_schedule_of_one_rate_is_a_constant() {
    let flow = "[flow]\nsize = '2000 packets'\nrwnd = '200 packets'";
    let run = |rate: &str| {
        let text = format!("duration = '20 s'\ntopology.bottleneck = {{ rate = {rate}, queue = '1 BDP', loss = '0.1 %' }}\n{flow}");
        result(&text).flows.remove(0)
    };
    let (constant, schedule) = (run("'10 Mbit/s'"), run("{ kind = 'schedule', steps = [['0 s', '10 Mbit/s']] }"));
    assert_eq!(schedule.completion_time.unwrap().as_nanos(), constant.completion_time.unwrap().as_nanos());
    assert_eq!((schedule.bdp_packets.to_bits(), schedule.queue_packets), (constant.bdp_packets.to_bits(), constant.queue_packets));
    assert_eq!(run("{ kind = 'constant', rate = '10 Mbit/s' }"), constant);
}

#[test]
fn delays_in_a_list_add_up() {
    let swing = "{ kind = 'oscillation', delay = '3 ms', amplitude = '2 ms', period = '80 ms', shape = 'triangle' }";
    let jump = "{ kind = 'steps', steps = [['0 s', '0 s'], ['50 s', '4 ms']] }";
    let found = delays(&format!("['7 ms', {swing}, {jump}]"));
    // Packets come every 10 ms: eight of them in a swing.
    let wave = [0.0, 1.0, 2.0, 1.0, 0.0, -1.0, -2.0, -1.0];
    for (index, delay) in found.iter().enumerate() {
        let expected = 0.010 + wave[index % 8] * 1e-3 + if index >= 5000 { 4e-3 } else { 0.0 };
        // A packet ends 8 µs after its time.
        assert!((delay - expected).abs() < 1e-6, "packet {index}: {delay} instead of {expected}");
    }
    let mean = |delay: &str| datagrams("800 kbit/s", &format!("delay = {delay}, reverse = {{ delay = '0 s' }}")).flows[0].path_rtt;
    assert_eq!(mean(&format!("['7 ms', {swing}, {jump}]")), mean("'12 ms'"));
    assert_eq!(mean("['5 ms', '7 ms']"), mean("'12 ms'"));
}

#[test]
fn a_list_keeps_the_order_unless_one_of_its_delays_reorders() {
    let overtaken = |more: &str| {
        let delay = format!("['5 ms', {{ kind = 'jitter', delay = '20 ms', jitter = '4 ms' }}{more}]");
        let keys = format!("rate = '1 Gbit/s', queue = 'unlimited', delay = {delay}, reverse = {{ delay = '1 ms' }}");
        let text = format!(
            "duration = '20 s'\ntopology = {{ kind = 'chain', links = [{{ {keys} }}] }}\n\
             [flow]\nsize = '5000 packets'\nrwnd = '100 packets'\npacket_size = '1000 B'"
        );
        result(&text).flows[0].retransmitted_packets
    };
    assert_eq!((overtaken(""), overtaken(", { kind = 'batches' }")), (0, 0));
    assert!(overtaken(", { kind = 'reordering', delay = '5 ms', share = '5 %' }") > 100);
}

/// Numbers of the packets that `loss` loses of 10,000, counted from 0.
fn lost(loss: &str) -> Vec<u64> {
    let result = datagrams("800 kbit/s", &format!("rate = '1 Gbit/s', delay = '0 s', queue = 'unlimited', loss = {loss}"));
    let drops = result.traces.drops.unwrap();
    assert!(drops.reason.iter().all(|reason| *reason == Reason::Random));
    drops.time.iter().map(|time| (*time as f64 / 1e7).round() as u64).collect()
}

#[test]
fn gilbert_elliott_has_the_stationary_loss_and_the_bursts_of_its_chain() {
    let (p, r) = (0.02_f64, 0.25_f64);
    let lost = lost("{ kind = 'gilbert_elliott', p = '2 %', r = '25 %' }");
    let (share, stationary) = (lost.len() as f64 / 10_000.0, p / (p + r));
    let deviation = (stationary * (1.0 - stationary) * (2.0 - p - r) / (p + r) / 10_000.0).sqrt();
    assert!((share - stationary).abs() < 4.0 * deviation, "{share} instead of {stationary}");
    let bursts: Vec<f64> = lost.chunk_by(|one, next| next - one == 1).map(|burst| burst.len() as f64).collect();
    let deviation = (1.0 - r).sqrt() / r / (bursts.len() as f64).sqrt();
    assert!((mean(&bursts) - 1.0 / r).abs() < 4.0 * deviation, "{} instead of {}", mean(&bursts), 1.0 / r);
}

#[test]
fn the_reverse_direction_loses_by_models_of_its_own() {
    let lost = |loss: &str| {
        let text = format!(
            "duration = '60 s'\ntopology.bottleneck = {{ queue = 'unlimited', reverse = {{ loss = {loss} }} }}\n[flow]\nsize = '2000 packets'"
        );
        let run = result(&text);
        assert_eq!(run.flows[0].delivered_packets, 2000, "{loss}");
        run.links.iter().map(|link| link.losses).sum::<u64>()
    };
    // ACKs of 40 bytes: 3.2 % of them have a wrong bit.
    let wrong = lost("{ kind = 'bit_errors', rate = '0.01 %' }") as f64;
    assert!((wrong - 0.0315 * 2000.0).abs() < 40.0, "{wrong}");
    assert!((15..25).contains(&lost("{ kind = 'periodic', packets = 100 }")));
    assert!((20..200).contains(&lost("{ kind = 'bursts', rate = '2 %' }")));
}

#[test]
fn an_outage_loses_all_packets_of_its_time() {
    assert_eq!(lost("{ kind = 'outage', start = '4.995 s', length = '30 ms', period = '50 s' }"), [500, 501, 502, 5500, 5501, 5502]);
}

#[test]
fn losses_in_a_list_decide_one_after_the_other() {
    assert_eq!(lost("[{ kind = 'listed', packets = [2, 5] }, { kind = 'listed', packets = [1, 3] }]"), [0, 1, 3, 4]);
    assert_eq!(lost("[]"), [0; 0]);
}

#[test]
fn copies_are_packets_of_their_own() {
    for position in ["before", "after"] {
        let keys = format!("delay = '1 ms', queue = 'unlimited', loss = {{ kind = 'duplicate', rate = '25 %', position = '{position}' }}");
        let result = datagrams("800 kbit/s", &keys);
        let (flow, link) = (&result.flows[0], &result.links[0]);
        assert!(link.duplicated.abs_diff(2500) < 220, "five standard deviations: {}", link.duplicated);
        assert_eq!((link.delivered, link.losses), (10_000 + link.duplicated, 0));
        assert_eq!(link.arrivals, 10_000 + if position == "before" { link.duplicated } else { 0 });
        assert_eq!(flow.sent_packets, 10_000);
    }
    // Of two copies, the next model loses one: the packet arrives all the same.
    let keys = "loss = [{ kind = 'duplicate', rate = '100 %' }, { kind = 'listed', packets = [1, 3, 5, 6] }]";
    let (flow, link) = (&datagrams("800 kbit/s", keys).flows[0], &datagrams("800 kbit/s", keys).links[0]);
    assert_eq!((link.duplicated, link.losses, link.delivered), (10_000, 4, 19_996));
    assert_eq!(flow.dropped_packets, 4);
}

#[test]
fn every_host_survives_copies_and_reordering() {
    let link = "rate = '5 Mbit/s', loss = { kind = 'duplicate', rate = '10 %' }, \
                delay = { kind = 'jitter', delay = '10 ms', jitter = '8 ms', order = 'free' }";
    for host in ["profile = 'ns2'", "profile = 'modern'", "host = 'linux'", "host = 'windows_xp'"] {
        let text = format!(
            "duration = '600 s'\ntopology = {{ kind = 'chain', links = [{{ {link}, reverse = {{ {link} }} }}, {{ {link}, reverse = {{ {link} }} }}] }}\n\
             [flow]\n{host}\nsize = '1000 packets'"
        );
        let flow = result(&text).flows.remove(0);
        assert_eq!(flow.delivered_packets, 1000, "{host}: {flow:?}");
        assert!(flow.completion_time.is_some(), "{host}");
    }
}

#[test]
fn in_order_jitter_never_reorders_and_free_jitter_does() {
    let overtaken = |order: &str| {
        // Six packets in each millisecond, so that a jitter of 4 ms reorders most of them.
        let keys = format!(
            "rate = '1 Gbit/s', queue = 'unlimited', delay = {{ kind = 'jitter', delay = '20 ms', jitter = '4 ms', order = '{order}' }}"
        );
        let text = format!(
            "duration = '20 s'\nrecord = ['rtt']\ntopology = {{ kind = 'chain', links = [{{ {keys}, reverse = {{ delay = '1 ms' }} }}] }}\n\
             [flow]\nsize = '5000 packets'\nrwnd = '100 packets'\npacket_size = '1000 B'"
        );
        result(&text).flows[0].retransmitted_packets
    };
    assert_eq!(overtaken("kept"), 0);
    assert!(overtaken("free") > 100);
}

#[test]
fn mistakes_in_models_name_the_nearest_right_thing() {
    let error = |keys: &str| checked(&format!("duration = '1 s'\ntopology.bottleneck = {{ {keys} }}\n[flow]")).unwrap_err();
    assert!(error("rate = 'shedule'").contains("did you mean \"schedule\"?"), "{}", error("rate = 'shedule'"));
    let unit = error("rate = { kind = 'schedule', steps = [['0 s', 10]] }");
    assert!(unit.contains("topology.bottleneck.rate.steps: step 0: its value a rate needs a unit; did you mean \"10 Mbit/s\"?"), "{unit}");
    let bounds = error("rate = { kind = 'schedule', steps = [['0 s', '1e16 bit/s']] }");
    assert!(bounds.contains("must be from 0 to 1e15 bit/s"), "{bounds}");
    let period = error("rate = { kind = 'schedule', period = '500 ms' }");
    assert!(period.contains("topology.bottleneck.rate: period must be later than the last step, which is at 1 s"), "{period}");
    let jitter = error("delay = { kind = 'jitter', delay = '1 ms', jitter = '2 ms' }");
    assert!(jitter.contains("topology.bottleneck.delay: jitter must not be above delay"), "{jitter}");
    let many = error("loss = ['1 %', '1 %', '1 %', '1 %', '1 %', '1 %', '1 %', '1 %', '1 %']");
    assert!(many.contains("topology.bottleneck.loss: has 9 entries; the limit is 8"), "{many}");
    let none = error("delay = []");
    assert!(none.contains("topology.bottleneck.delay: needs at least one delay model"), "{none}");
    let item = error("loss = ['1 %', { kind = 'gilbert', p = '1 %' }]");
    assert!(item.contains("topology.bottleneck.loss.1.kind: there is no loss model \"gilbert\""), "{item}");
}
