//! Properties of every run, and runs with an outcome known from a formula.

use std::fmt::Write;

use ackclock_core::cc::{avoidance, initial_window, loss_response, slow_start};
use ackclock_core::entry::{Description, Entry};
use ackclock_core::params::{Axis, Default, Kind, Param};
use ackclock_core::path::{delay, loss, medium, rate};
use ackclock_core::qdisc;
use ackclock_core::units::Limit;
use ackclock_sim::engine::{RunResult, run};
use ackclock_sim::scenario::{Document, LinkSpec, LossPosition, Scenario};
use ackclock_sim::trace::SequenceKind;
use proptest::prelude::*;

fn scenario(text: &str) -> Scenario {
    let document = Document::from_toml(text, "random.toml").unwrap_or_else(|error| panic!("{error}\n{text}"));
    document.scenario().unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn result(text: &str) -> RunResult {
    run(&scenario(text), &mut || false).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A scenario without its duration and traces.
#[derive(Clone, Debug)]
struct Random {
    topology: String,
    flows: Vec<String>,
    lossless: bool,
}

impl Random {
    fn text(&self, millis: u64, record: &str) -> String {
        format!("duration = \"{millis} ms\"\nrecord = [{record}]\n{}\n{}", self.topology, self.flows.join("\n"))
    }
}

/// Every kind of trace.
const TRACES: &str = "'cwnd', 'delivered', 'queue', 'drops', 'marks', 'sojourn', 'discipline', 'sequence', 'rtt', 'internals'";

/// Names of all parts of an axis.
fn names<P: ?Sized>(entries: &[&'static Entry<P>]) -> Vec<&'static str> {
    entries.iter().map(|entry| entry.name).collect()
}

fn any_rate() -> impl Strategy<Value = String> {
    // From 10 kbit/s to 20 Mbit/s, evenly distributed on a logarithmic scale.
    (4.0..7.3_f64).prop_map(|exponent| format!("{} bit/s", 10_f64.powf(exponent) as u64))
}

/// A constant rate, a schedule, which ends or begins again with a rate above zero, or another model.
fn any_rate_model() -> impl Strategy<Value = String> {
    let rates = prop::collection::vec(prop_oneof![2 => any_rate(), 1 => Just("0 bit/s".to_owned())], 0..3);
    let schedule =
        (rates, any_rate(), prop::collection::vec(200..500_u32, 3), any::<bool>()).prop_map(|(mut rates, last, millis, repeats)| {
            rates.push(last);
            let ends: Vec<u32> = millis
                .iter()
                .scan(0, |end, millis| {
                    *end += millis;
                    Some(*end)
                })
                .collect();
            let starts = std::iter::once(0).chain(ends.iter().copied());
            let steps: Vec<String> = starts.zip(&rates).map(|(start, rate)| format!("['{start} ms', '{rate}']")).collect();
            let period = if repeats { format!("{} ms", ends[rates.len() - 1]) } else { "auto".to_owned() };
            format!("{{ kind = 'schedule', steps = [{}], period = '{period}' }}", steps.join(", "))
        });
    let model = any_part("rate", &rate::AXIS).prop_map(|keys| format!("{{ {keys} }}"));
    prop_oneof![4 => any_rate().prop_map(|rate| format!("'{rate}'")), 1 => schedule, 2 => model]
}

/// The text of a random value of `kind`: a number within a factor of 4 of `usual`, another word, or the other truth value. `None`: it stays.
fn any_value(kind: &Kind, usual: Option<f64>) -> Option<BoxedStrategy<String>> {
    let unit = match kind {
        Kind::Bool => return Some(any::<bool>().prop_map(|it| it.to_string()).boxed()),
        Kind::Word(words) => return Some(prop::sample::select(words.to_vec()).prop_map(|word| format!("'{word}'")).boxed()),
        Kind::Number { .. } | Kind::Integer { .. } => "",
        Kind::Segments { .. } => " segments",
        Kind::Duration { .. } => " s",
        Kind::Size { .. } | Kind::ByteLimit { .. } | Kind::WireSize { .. } => " B",
        Kind::Rate { .. } => " bit/s",
        Kind::Probability { .. } => " %",
        Kind::Limit { .. } => " packets",
        _ => return None,
    };
    let ((least, most), usual) = (kind.bounds()?, usual?);
    // A slower link would not end within any run.
    let least = if matches!(kind, Kind::Rate { .. }) { least.max(1e4) } else { least };
    let whole = matches!(unit, " B" | " bit/s" | " packets") || matches!(kind, Kind::Integer { .. });
    let kind_is_number = unit.is_empty();
    let percent = if unit == " %" { 100.0 } else { 1.0 };
    let value = prop_oneof![6 => (-2.0..2.0_f64).prop_map(move |power| usual * power.exp2()), 1 => Just(least.max(0.0)), 1 => Just(usual)];
    let text = value.prop_map(move |value| {
        let value = value.clamp(least, most);
        let value = if whole { value.round().clamp(least.ceil(), most.floor()) } else { value } * percent;
        if kind_is_number { format!("{value}") } else { format!("'{value}{unit}'") }
    });
    Some(text.boxed())
}

/// The number that a parameter has by default.
fn usual(param: &Param) -> Option<f64> {
    match param.default {
        Default::Number(number) => Some(number),
        Default::Limit(Limit::Packets(number) | Limit::Bytes(number)) => Some(number as f64),
        _ => None,
    }
}

/// A part of the axis of a link's key, with random values for some of its parameters. If they do not fit together, all have their defaults.
/// Parts that need more than their defaults are left out.
fn any_part(key: &'static str, axis: &'static Axis) -> impl Strategy<Value = String> + Clone {
    let values = |part: &Description| {
        let params = part.params.iter().filter_map(|param| {
            let (name, value) = (param.name, any_value(&param.kind, usual(param))?);
            Some(prop::option::weighted(0.4, value.prop_map(move |value| format!(", {name} = {value}"))))
        });
        params.collect::<Vec<_>>()
    };
    let parts = (axis.list)().iter().filter(|part| part.name != "qdisc" && fits(key, &format!("kind = '{}'", part.name)));
    prop::sample::select(parts.collect::<Vec<_>>()).prop_flat_map(move |part| {
        values(part).prop_map(move |values| {
            let keys = format!("kind = '{}'{}", part.name, values.into_iter().flatten().collect::<String>());
            if fits(key, &keys) { keys } else { format!("kind = '{}'", part.name) }
        })
    })
}

/// Whether a link may have a part with these keys.
fn fits(key: &str, part: &str) -> bool {
    let usual = [("rate", "'1 Mbit/s'"), ("delay", "'1 ms'"), ("queue", "'unlimited'"), ("loss", "'none'"), ("medium", "'own'")];
    let keys = usual.map(|(name, value)| if name == key { format!("{name} = {{ {part} }}") } else { format!("{name} = {value}") });
    let text = format!("duration = '1 s'\ntopology = {{ kind = 'chain', links = [{{ {} }}] }}\n[[flow]]\n", keys.join(", "));
    Document::from_toml(&text, "part.toml").and_then(|document| document.scenario()).is_ok()
}

/// A constant delay, a model, or several of both, which add up.
fn any_delay() -> impl Strategy<Value = String> {
    let model = || any_part("delay", &delay::AXIS).prop_map(|keys| format!("{{ {keys} }}"));
    let constant = || (0..80_000_u64).prop_map(|delay| format!("'{delay} us'"));
    let several = prop::collection::vec(prop_oneof![constant().boxed(), model().boxed()], 1..4);
    prop_oneof![3 => constant(), 2 => model(), 1 => several.prop_map(|delays| format!("[{}]", delays.join(", ")))]
}

fn any_queue() -> impl Strategy<Value = String> {
    let limit = prop_oneof![(1..60_u64).prop_map(|n| format!("{n} packets")), (40..60_000_u64).prop_map(|n| format!("{n} B"))];
    let limit = prop_oneof![4 => limit, 1 => (1..30_u64).prop_map(|tenths| format!("{} BDP", tenths as f64 / 10.0))];
    prop_oneof![
        1 => Just("'unlimited'".to_owned()),
        3 => limit.prop_map(|limit| format!("'{limit}'")),
        3 => any_part("queue", &qdisc::AXIS).prop_map(|keys| format!("{{ {keys} }}")),
    ]
}

fn any_loss() -> impl Strategy<Value = String> {
    let rate = prop_oneof![1 => Just(0.0), 1 => Just(100.0), 8 => 0.0..40.0_f64];
    let bernoulli = rate.prop_map(|rate| format!("kind = 'bernoulli', rate = '{rate} %'"));
    let listed = prop::collection::vec(1..60_u32, 0..4).prop_map(|packets| format!("kind = 'listed', packets = {packets:?}"));
    let kind = prop_oneof![2 => bernoulli, 6 => any_part("loss", &loss::AXIS), 1 => listed];
    let loss = (kind, any::<bool>(), any::<bool>()).prop_map(|(kind, before, mrg)| {
        let (position, generator) = (if before { "before" } else { "after" }, if mrg { "mrg32k3a" } else { "default" });
        format!("{{ {kind}, position = '{position}', generator = '{generator}' }}")
    });
    prop::collection::vec(loss, 1..4).prop_map(|losses| match &losses[..] {
        [alone] => alone.clone(),
        several => format!("[{}]", several.join(", ")),
    })
}

/// The keys of a link. Without `faults` the link has no losses and an unlimited queue.
fn any_link(faults: bool) -> impl Strategy<Value = String> {
    (any_rate_model(), any_delay(), any_queue(), prop::option::weighted(0.3, any_loss())).prop_map(move |(rate, delay, queue, loss)| {
        let queue = if faults { queue } else { "'unlimited'".to_owned() };
        let loss = loss.filter(|_| faults).unwrap_or_else(|| "'none'".to_owned());
        format!("rate = {rate}, delay = {delay}, queue = {queue}, loss = {loss}")
    })
}

/// The keys of a medium that all links may share.
fn any_air() -> impl Strategy<Value = String> {
    any_part("medium", &medium::AXIS).prop_map(|keys| format!(", medium = {{ {keys}, channel = 'air' }}"))
}

/// The key of a link's medium: its own, one of both directions, or `air`.
fn any_medium(air: String) -> impl Strategy<Value = String> + Clone {
    let both = any_part("medium", &medium::AXIS).prop_map(|keys| format!(", medium = {{ {keys} }}"));
    prop_oneof![8 => Just(String::new()), 1 => both, 1 => Just(air)]
}

fn any_topology(faults: bool) -> impl Strategy<Value = String> {
    any_air().prop_flat_map(move |air| any_topology_with(faults, air)).boxed()
}

/// A topology in which any link may share the medium `air`.
fn any_topology_with(faults: bool, air: String) -> impl Strategy<Value = String> {
    let medium = any_medium(air);
    let link = move || (any_link(faults), medium.clone()).prop_map(|(link, medium)| format!("{link}{medium}")).boxed();
    let two_way = || (link(), any_link(faults)).prop_map(|(link, reverse)| format!("{{ {link}, reverse = {{ {reverse} }} }}")).boxed();
    prop_oneof![
        prop::collection::vec(two_way(), 1..5).prop_map(|links| format!("kind = 'chain', links = [{}]", links.join(", "))),
        (two_way(), two_way(), prop::collection::vec(0..50_u64, 0..3)).prop_map(|(access, bottleneck, delays)| {
            let delays: Vec<String> = delays.iter().map(|delay| format!("'{delay} ms'")).collect();
            format!("kind = 'dumbbell', access = {access}, bottleneck = {bottleneck}, access_delays = [{}]", delays.join(", "))
        }),
        (1..4_u32, two_way(), two_way()).prop_map(|(hops, access, bottleneck)| format!(
            "kind = 'parking-lot', hops = {hops}, access = {access}, bottleneck = {bottleneck}"
        )),
        prop::collection::vec(link(), 3).prop_map(|links| {
            let ends = [("a", "b"), ("b", "c"), ("c", "a")];
            let links =
                ends.iter().zip(links).map(|((from, to), link)| format!("{{ from = '{from}', to = '{to}', {link}, reverse = 'none' }}"));
            format!("kind = 'explicit', node = ['a', 'b', 'c'], link = [{}]", links.collect::<Vec<_>>().join(", "))
        }),
    ]
    .prop_map(|keys| format!("topology = {{ {keys} }}"))
    .boxed()
}

fn any_parts() -> impl Strategy<Value = String> {
    let responses = names(loss_response::ENTRIES).into_iter().chain(["own"]).collect::<Vec<_>>();
    (
        prop::sample::select(names(initial_window::ENTRIES)),
        prop::sample::select(names(slow_start::ENTRIES)),
        prop::sample::select(names(avoidance::ENTRIES)),
        prop::sample::select(responses),
        prop::sample::select(vec!["none", "rtt"]),
    )
        .prop_map(|(initial_window, slow_start, avoidance, loss_response, pacing)| {
            format!(
                "initial_window = '{initial_window}'\ninitial_pacing = '{pacing}'\nslow_start = '{slow_start}'\navoidance = '{avoidance}'\nloss_response = '{loss_response}'"
            )
        })
}

fn any_flow() -> impl Strategy<Value = String> {
    (
        any_parts(),
        prop::sample::select(vec!["tahoe", "reno", "newreno", "sack", "vegas"]),
        (any::<bool>(), any::<bool>(), any::<bool>(), 100..3000_u32, 1..300_u32),
        (1..3_u32, 0..500_u32, prop::option::of(600..2000_u32), prop::option::of(1..300_u32)),
    )
        .prop_map(|(parts, recovery, (delayed, limited, ecn, packet, rwnd), (count, start, stop, size))| {
            let mut flow = format!(
                "[[flow]]\n{parts}\nrecovery = '{recovery}'\ndelayed_ack = {delayed}\necn = {ecn}\nlimited_transmit = {limited}\n\
                 packet_size = '{packet} B'\nrwnd = '{rwnd} packets'\ncount = {count}\nstart = '{start} ms'\n"
            );
            if let Some(stop) = stop {
                let _ = writeln!(flow, "stop = '{stop} ms'");
            }
            if let Some(size) = size {
                let _ = writeln!(flow, "size = '{size} packets'");
            }
            flow
        })
}

fn any_scenario() -> impl Strategy<Value = Random> {
    (prop::bool::weighted(0.8))
        .prop_flat_map(|faults| (any_topology(faults), prop::collection::vec(any_flow(), 1..3), Just(!faults)))
        .prop_map(|(topology, flows, lossless)| Random { topology, flows, lossless })
}

/// The constant rate of a link in bits per second; infinite if its rate changes.
fn fastest(link: &LinkSpec) -> f64 {
    if link.rate.models().is_empty() { link.rate.mean().as_bits_per_sec() as f64 } else { f64::INFINITY }
}

/// Whether packets may overtake on a link, or be duplicated.
fn reorders(link: &LinkSpec) -> bool {
    let overtake = link.delay.models().iter().any(|model| delay::PARTS.build(model).unwrap().reorders());
    overtake || link.losses.iter().any(|loss| loss.model.name == "duplicate")
}

/// Checks the properties of one run.
fn assert_sound(scenario: &Scenario, result: &RunResult, lossless: bool) {
    for (spec, flow) in scenario.flows.iter().zip(&result.flows) {
        assert!(flow.retransmitted_packets <= flow.sent_packets);
        let once = flow.sent_packets - flow.retransmitted_packets;
        assert!(flow.delivered_packets <= once.saturating_sub(1), "{} delivered what was never sent", spec.name);
        assert!(spec.packets.is_none_or(|packets| once <= packets + 1), "{} sent more than it has", spec.name);
        let wire = spec.host.packet_size().0 + 40;
        let syn = if flow.delivered_bytes > 0 { 40 } else { 0 };
        assert_eq!(flow.delivered_bytes, flow.delivered_packets * wire + syn, "{}", spec.name);
        assert_eq!(flow.completion_time.is_some(), spec.packets == Some(flow.delivered_packets), "{}", spec.name);
        assert!(flow.cwnd_max.is_finite() && flow.cwnd_max >= flow.cwnd_final && flow.cwnd_final >= 0.0, "{}", spec.name);
        // ns-2's Vegas closes the window if a timeout has come since the last reduction.
        assert!(flow.cwnd_final > 0.0 || spec.host.recovery() == "vegas" && flow.timeouts > 0, "{}", spec.name);
        // As in ns-2, a reduction can leave less than a segment.
        assert!(flow.window_reductions > 0 || flow.cwnd_final >= 1.0, "{}", spec.name);
        // After a mark, a packet can cause two reductions: the halving, and the return to one segment, which ns-2 counts too.
        // With reordering or copies, the timer of Vegas can expire again and again although everything has arrived. Halfback sends copies.
        let copies = scenario.links.iter().any(reorders) || format!("{:?}", spec.control).contains("\"halfback\"");
        if spec.host.recovery() != "vegas" || !copies {
            assert!(flow.window_reductions <= 2 * flow.sent_packets, "{}: reductions without a packet in between", spec.name);
            assert!(flow.timeouts <= flow.window_reductions && flow.timeouts <= flow.sent_packets, "{}: {flow:?}", spec.name);
        }
        if lossless {
            assert_eq!(flow.dropped_packets, 0, "{}", spec.name);
        }
    }
    for (spec, link) in scenario.links.iter().zip(&result.links) {
        let [before, after] =
            [LossPosition::BeforeQueue, LossPosition::AfterLink].map(|position| spec.losses.iter().any(|loss| loss.position == position));
        let (entered, left) = match (before, after) {
            (_, false) => (link.arrivals, link.delivered + link.drops),
            (false, true) => (link.arrivals + link.duplicated, link.delivered + link.drops + link.losses),
            // The counts do not tell where packets were lost and copied.
            (true, true) => (link.arrivals + link.duplicated, link.delivered + link.drops),
        };
        // A packet lost behind the link after the end of the run is not counted.
        let missing = if after { entered } else { 0 };
        assert!((0..=missing).contains(&entered.wrapping_sub(left)), "{}: {link:?}", spec.name);
        assert!(!spec.losses.is_empty() || link.losses + link.duplicated == 0, "{}: {link:?}", spec.name);
        assert!((0.0..=1.0).contains(&link.utilisation), "{}: {link:?}", spec.name);
        assert!(link.queue_mean >= 0.0 && link.queue_mean <= link.queue_max as f64, "{}: {link:?}", spec.name);
        assert!(spec.queue.is_some() || link.drops == 0, "{}: {link:?}", spec.name);
        assert_eq!(link.first_drop.is_some(), link.drops > 0, "{}", spec.name);
    }
    let (by_flow, by_link): (u64, u64) =
        (result.flows.iter().map(|flow| flow.dropped_packets).sum(), result.links.iter().map(|link| link.drops + link.losses).sum());
    assert_eq!(by_flow, by_link, "flows and links disagree on how much was lost");
    // Every packet sent from a node has entered a link, unless it was lost before the queue.
    for node in 0..scenario.nodes.len() {
        let flows = scenario.flows.iter().zip(&result.flows);
        let sent: u64 = flows.filter(|(spec, _)| spec.from == node).map(|(_, flow)| flow.sent_packets).sum();
        let links = scenario.links.iter().zip(&result.links).filter(|(spec, _)| spec.from == node);
        let entered: u64 = links.map(|(_, link)| link.arrivals + link.losses).sum();
        assert!(sent <= entered, "node {}: {sent} packets sent, {entered} entered a link", scenario.nodes[node]);
    }
}

/// Checks that traces agree with the counts.
fn assert_traced(result: &RunResult) {
    let traces = &result.traces;
    let drops = traces.drops.as_ref().unwrap();
    for (index, link) in result.links.iter().enumerate() {
        let of_link = drops.link.iter().filter(|link| **link as usize == index).count() as u64;
        assert_eq!(of_link, link.drops + link.losses, "link {index}");
        assert_eq!(link.drops_by_reason.iter().sum::<u64>(), link.drops, "link {index}");
        let marks = traces.marks.as_ref().unwrap();
        assert_eq!(marks.link.iter().filter(|link| **link as usize == index).count() as u64, link.marks, "link {index}");
        let sojourn = traces.sojourn.as_ref().unwrap();
        let sojourns = sojourn.link.iter().zip(&sojourn.sojourn).filter(|(link, _)| **link as usize == index);
        let longest = sojourns.map(|(_, sojourn)| *sojourn).max().unwrap_or(0);
        assert_eq!(longest, link.sojourn_max.as_nanos(), "link {index}");
    }
    let sequence = traces.sequence.as_ref().unwrap();
    let delivered = traces.delivered.as_ref().unwrap();
    for (index, flow) in result.flows.iter().enumerate() {
        let of_flow = |wanted: SequenceKind| {
            let rows = sequence.flow.iter().zip(&sequence.kind);
            rows.filter(|(flow, kind)| **flow as usize == index && **kind == wanted).count() as u64
        };
        assert_eq!(of_flow(SequenceKind::Retransmit), flow.retransmitted_packets);
        assert_eq!(of_flow(SequenceKind::Send) + of_flow(SequenceKind::Retransmit), flow.sent_packets);
        let last = delivered.flow.iter().rposition(|flow| *flow as usize == index);
        assert_eq!(last.map_or(0, |row| delivered.bytes[row]), flow.delivered_bytes);
    }
    for times in [&drops.time, &sequence.time, &delivered.time] {
        assert!(times.is_sorted());
    }
}

/// `usual` cases of a property, or as many as the environment variable `PROPTEST_CASES` says.
fn cases(usual: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { default.cases } else { usual };
    ProptestConfig { cases, failure_persistence: None, ..default }
}

/// A distribution of sizes.
fn any_size() -> impl Strategy<Value = String> {
    let amount = || prop_oneof![(1..200_000_u64).prop_map(|n| format!("'{n} B'")), (1..100_u64).prop_map(|n| format!("'{n} packets'"))];
    let weighted = prop::collection::vec((amount(), 0.001..5.0_f64), 1..4).prop_map(|items| {
        let (sizes, weights): (Vec<String>, Vec<f64>) = items.into_iter().unzip();
        format!("{{ kind = 'empirical', sizes = [{}], weights = {weights:?} }}", sizes.join(", "))
    });
    prop_oneof![
        amount(),
        amount().prop_map(|mean| format!("{{ mean = {mean} }}")),
        (amount(), 1.01..9.0_f64).prop_map(|(mean, shape)| format!("{{ kind = 'pareto', mean = {mean}, shape = {shape} }}")),
        (amount(), 0.0..3.0_f64).prop_map(|(mean, sigma)| format!("{{ kind = 'lognormal', mean = {mean}, sigma = {sigma} }}")),
        weighted,
    ]
}

/// The keys of a flow with random arrivals or an application, to which every host can be added.
fn any_traffic() -> impl Strategy<Value = String> {
    let mean = prop_oneof![
        (0.001..30.0_f64).prop_map(|rate| format!("rate = '{rate} per s'")),
        (0.01..90.0_f64).prop_map(|load| format!("load = '{load} %'"))
    ];
    let arrivals = (mean, any_size(), prop::option::of(1000..4000_u32), 1..4_u32).prop_map(|(mean, size, until, count)| {
        let until = until.map(|until| format!(", until = '{until} ms'")).unwrap_or_default();
        format!("count = {count}\narrivals = {{ {mean}, size = {size}{until} }}")
    });
    let bursts = (any_size(), 1..900_u32)
        .prop_map(|(burst, pause)| format!("application = {{ kind = 'on-off', burst = {burst}, pause.mean = '{pause} ms' }}"));
    let pages = (any_size(), any_size(), 0..9_u32, 1..4_u32, any::<bool>()).prop_map(|(root, object, objects, hosts, persistent)| {
        format!(
            "profile = 'modern'\napplication = {{ kind = 'web', root = {root}, objects = {objects}, object = {object}, hosts = {hosts}, \
             persistent = {persistent} }}"
        )
    });
    let exchanges = (any_size(), prop::option::of(1..9_u32)).prop_map(|(response, exchanges)| {
        let exchanges = exchanges.map(|exchanges| format!(", exchanges = {exchanges}")).unwrap_or_default();
        format!("profile = 'modern'\napplication = {{ kind = 'request-response', response = {response}{exchanges} }}")
    });
    let jitter =
        (1..900_u32, 1..900_u32).prop_map(|(jitter, spread)| format!("start_jitter = '{jitter} us'\nstart_spread = '{spread} ms'"));
    let hosts = prop::sample::select(vec!["linux", "windows_11", "freebsd", "macos", "windows_xp", "solaris_10"]);
    let host = hosts.prop_map(|host| format!("host = '{host}'"));
    (prop_oneof![3 => arrivals, 1 => bursts, 1 => pages, 1 => exchanges, 1 => jitter, 1 => host], prop::option::of(0..99_u32)).prop_map(
        |(keys, name)| {
            let name = name.map(|name| format!("name = 'of{name}'\n")).unwrap_or_default();
            format!("[[flow]]\n{name}{keys}\n")
        },
    )
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn any_scenario_runs_soundly(random in any_scenario(), millis in 1..4000_u64) {
        let text = random.text(millis, "");
        let (scenario, result) = (scenario(&text), result(&text));
        assert_sound(&scenario, &result, random.lossless);
        let other = std::thread::scope(|scope| scope.spawn(|| run(&scenario, &mut || false).unwrap().digest()).join().unwrap());
        prop_assert_eq!(other, result.digest(), "the same scenario gave different results on another thread");

        let traced = self::result(&random.text(millis, TRACES));
        prop_assert_eq!(&traced.flows, &result.flows, "recording changes the flows");
        prop_assert_eq!(&traced.links, &result.links, "recording changes the links");
        assert_traced(&traced);

        let longer = self::result(&random.text(2 * millis, ""));
        for (short, long) in result.flows.iter().zip(&longer.flows) {
            prop_assert!(short.delivered_bytes <= long.delivered_bytes && short.sent_packets <= long.sent_packets);
            let later = short.delivered_after.iter().zip(&long.delivered_after);
            prop_assert!(later.clone().all(|(short, long)| short.is_none() || short == long), "the future changes the past");
        }
    }

    #[test]
    fn without_losses_everything_arrives(topology in any_topology(false), flows in prop::collection::vec((any_flow(), 1..200_u32), 1..3)) {
        // The flow can already have `stop` and `size`. The test gives every flow a size and no stop.
        let own = |(flow, size): &(String, u32)| {
            let lines = flow.lines().filter(|line| !line.starts_with("size") && !line.starts_with("stop"));
            format!("{}\nsize = '{size} packets'", lines.collect::<Vec<_>>().join("\n"))
        };
        let random = Random { topology, flows: flows.iter().map(own).collect(), lossless: true };
        let text = random.text(100_000_000, "");
        let (scenario, result) = (scenario(&text), result(&text));
        assert_sound(&scenario, &result, true);
        for (spec, flow) in scenario.flows.iter().zip(&result.flows) {
            prop_assert_eq!(Some(flow.delivered_packets), spec.packets, "{} is not complete", &spec.name);
            let fastest = scenario.links.iter().map(fastest).fold(0.0, f64::max);
            let bits = 8.0 * flow.delivered_bytes as f64;
            prop_assert!(flow.completion_time.unwrap().as_secs_f64() >= bits / fastest, "{} is faster than the links", &spec.name);
        }
    }
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn a_frozen_scenario_is_frozen_and_runs_alike(
        random in any_scenario(),
        traffic in prop::collection::vec(any_traffic(), 0..3),
        (millis, offset, seed) in (1..1500_u64, 0..100_000_u64, any::<u32>()),
    ) {
        let text = format!("seed = {seed}\nstart_offset = '{offset} us'\n{}\n{}", random.text(millis, "'cwnd'"), traffic.join(""));
        let document = Document::from_toml(&text, "random.toml").unwrap();
        match document.frozen() {
            Ok(frozen) => assert_frozen(&document, &frozen),
            // A flow can stop before its start, and two can have one name.
            Err(error) => {
                let known = ["must be later than", "there is already a flow"];
                let problems = error.problems.iter().filter(|problem| !known.iter().any(|known| problem.message.contains(known)));
                prop_assert_eq!(problems.count(), 0, "{}\n{}", error, text);
            }
        }
    }
}

/// Checks that `frozen`, the frozen `document`, describes the same run.
fn assert_frozen(document: &Document, frozen: &str) {
    let again = Document::from_toml(frozen, "frozen.toml").unwrap_or_else(|error| panic!("{error}\n{frozen}"));
    assert_eq!(again.frozen().unwrap_or_else(|error| panic!("{error}\n{frozen}")), frozen);
    assert_eq!(again.expanded().unwrap(), document.expanded().unwrap());
    let [one, other] = [document, &again].map(|document| run(&document.scenario().unwrap(), &mut || false).unwrap().digest());
    assert_eq!(one, other, "{frozen}");
}

#[test]
fn every_example_can_be_frozen_and_runs_alike() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = ["papers", "scenarios", "python/ackclock/data/paths", "docs/validation/scenarios"].map(|folder| root.join(folder));
    let (mut folders, mut count) = (folders.to_vec(), 0);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = if path.extension().is_some_and(|name| name == "toml") { std::fs::read_to_string(&path).unwrap() } else { continue };
            if !text.lines().any(|line| line.starts_with("duration")) {
                continue;
            }
            let mut document = Document::from_toml(&text, &path.to_string_lossy()).unwrap();
            // Short runs suffice to compare; flows that the whole run would have stay as they are.
            if document.set("duration", "300 ms").is_ok()
                && let Ok(frozen) = document.frozen()
            {
                assert_frozen(&document, &frozen);
                count += 1;
            }
        }
    }
    assert!(count >= 40, "{count} scenarios");
}

#[test]
fn duplicate_acks_of_all_data_send_nothing() {
    // The timer of this flow expires early. All retransmitted segments are acknowledged twice, and by then nothing is outstanding.
    let reverse = "reverse = { rate = '10000 bit/s', delay = '0 s'";
    let text = format!(
        "duration = '3 s'\ntopology = {{ kind = 'chain', links = [\
         {{ rate = '430374 bit/s', delay = '0 s', queue = 'unlimited', {reverse}, \
         loss = {{ kind = 'bernoulli', rate = '34.770322352007284 %', generator = 'mrg32k3a' }} }} }}, \
         {{ rate = '154209 bit/s', delay = '0 s', queue = 'codel', {reverse} }} }}] }}\n\
         [[flow]]\ninitial_window = '9 segments'\nloss_response = 'westwood'\nrecovery = 'reno'\ndelayed_ack = true\necn = true\n\
         limited_transmit = false\npacket_size = '1891 B'\nrwnd = '6 packets'\ncount = 2\nsize = '6 packets'\n"
    );
    let flow = &result(&text).flows[1];
    assert_eq!((flow.sent_packets - flow.retransmitted_packets, flow.delivered_packets), (7, 6), "SYN and data, once each");
    assert!(flow.retransmitted_packets >= 3, "there are duplicates: {flow:?}");
}

/// Three links of 100, `bottleneck` and 100 Mbit/s with 10 ms each.
fn chain(seconds: u32, record: &str, bottleneck: &str, flow: &str) -> RunResult {
    result(&format!("duration = '{seconds} s'\nrecord = [{record}]\ntopology.bottleneck = {{ {bottleneck} }}\n[flow]\n{flow}"))
}

/// Round-trip time on [`chain`] at 10 Mbit/s, in nanoseconds: six delays, and 1040 B out and 40 B back over each link.
const RTT: u64 = 60_000_000 + (83_200 + 832_000 + 83_200) + (3_200 + 32_000 + 3_200);

#[test]
fn a_window_limited_flow_sends_its_window_every_round_trip() {
    for rwnd in [1, 2, 7, 20, 64] {
        let flow = format!("rwnd = '{rwnd} packets'\npacket_size = '1000 B'");
        let result = chain(20, "'delivered'", "rate = '10 Mbit/s', queue = '100 packets'", &flow);
        let delivered = result.traces.delivered.unwrap();
        // After five seconds, slow start is long over. Each packet follows the packet one window earlier by one round trip.
        let steady = delivered.time.partition_point(|time| *time < 5_000_000_000);
        let times = &delivered.time[steady..];
        assert!(times.len() >= 200);
        assert!(times.iter().zip(&times[rwnd..]).all(|(before, after)| (after - before).abs_diff(RTT) <= 1), "rwnd {rwnd}");
        let flow = &result.flows[0];
        assert_eq!(flow.min_rtt.unwrap().as_nanos(), RTT - (83_200 + 832_000 + 83_200) + (3_200 + 32_000 + 3_200), "of the SYN");
        let expected = 8.0 * 1000.0 * rwnd as f64 / (RTT as f64 / 1e9);
        assert!((flow.goodput_bps / expected - 1.0).abs() < 0.03, "rwnd {rwnd}: {} instead of {expected} bit/s", flow.goodput_bps);
    }
}

/// Smallest window of a flow with `keys` on a link with random marks or losses, and whether data arrived in the last half.
fn smallest_window(seed: u32, queue: &str, loss: u32, keys: &str) -> (f64, bool) {
    let text = format!(
        "seed = {seed}\nduration = '60 s'\nrecord = ['cwnd', 'delivered']\n\
         topology.bottleneck = {{ rate = '1 Mbit/s', queue = '{queue}', loss = '{loss} %' }}\n[flow]\n{keys}"
    );
    let traces = result(&text).traces;
    let smallest = traces.cwnd.unwrap().cwnd.into_iter().fold(f64::INFINITY, f64::min);
    (smallest, traces.delivered.unwrap().time.last().is_some_and(|time| *time > 30_000_000_000))
}

#[test]
fn the_vegas_of_ns2_closes_its_window_and_continues() {
    // ns-2.35 on a link with these settings: the smallest `cwnd_` is 0 in six of six runs of 60 s.
    let vegas = "recovery = 'vegas'\nslow_start = 'vegas'\navoidance = 'vegas'\nheader = '0 B'";
    let found: Vec<(f64, bool)> = (1..=6).map(|seed| smallest_window(seed, "50 packets", 10, vegas)).collect();
    assert!(found.iter().all(|(_, continues)| *continues) && found.iter().any(|(smallest, _)| *smallest == 0.0), "{found:?}");
}

#[test]
fn a_modern_window_is_below_one_segment_only_after_marks() {
    let smallest = |avoidance: &str, ecn: bool, packet: u32| {
        let keys = format!("host = 'windows_xp'\navoidance = '{avoidance}'\necn = {ecn}\npacket_size = '{packet} B'\ncount = 8");
        let found = (1..=4).map(|seed| smallest_window(seed, "red", 2, &keys));
        found.fold(f64::INFINITY, |least, (window, continues)| if continues { least.min(window) } else { 0.0 })
    };
    // The receiver's window of 17,520 B holds less than one packet of 30,000 B.
    for packet in [1460, 30_000] {
        for avoidance in ["vegas", "reno"] {
            assert!((smallest(avoidance, false, packet) - 1.0).abs() < 1e-12, "{avoidance}, {packet} B");
        }
    }
    // A mark also halves a window of one segment or less (RFC 3168 §6.1.2).
    let found = smallest("reno", true, 30_000);
    assert!(0.0 < found && found < 1.0, "{found}");
}

/// Sizes of a flow's bursts, which are one round trip apart.
fn rounds(slow_start: &str) -> Vec<usize> {
    let flow = format!("initial_window = '1 segment'\nslow_start = {slow_start}\nrwnd = '100000 packets'");
    let text = "duration = '600 ms'\nrecord = ['sequence']\n\
                topology.access.rate = '100 Gbit/s'\ntopology.bottleneck = { rate = '100 Gbit/s', queue = 'unlimited' }\n[flow]\n";
    let sequence = result(&format!("{text}{flow}")).traces.sequence.unwrap();
    let sends = sequence.time.iter().zip(&sequence.kind).filter(|(_, kind)| **kind == SequenceKind::Send);
    let sends: Vec<u64> = sends.map(|(time, _)| *time).collect();
    sends.chunk_by(|a, b| b - a < 30_000_000).map(<[u64]>::len).collect()
}

#[test]
fn slow_start_doubles_every_round() {
    // The SYN, then 1, 2, 4, 8, …
    assert_eq!(rounds("'standard'"), [1, 1, 2, 4, 8, 16, 32, 64, 128, 256]);
    // Limited slow start: standard up to 100, then at most 50 a round.
    let limited = rounds("'limited'");
    assert_eq!(limited[..8], [1, 1, 2, 4, 8, 16, 32, 64]);
    assert!(limited[9..].windows(2).all(|round| round[1] > round[0] && round[1] <= round[0] + 50), "{limited:?}");
    // Advanced Slow Start multiplies by four while it adds three segments per ACK: 1, 4, 16, …
    assert_eq!(rounds("'staged'")[..4], [1, 1, 4, 16]);
}

#[test]
fn a_saturated_droptail_queue_keeps_its_link_busy() {
    // The queue is larger than the bandwidth-delay product of 73 packets, so halving the window does not empty it.
    let delivered = |seconds| {
        let bottleneck = "rate = '10 Mbit/s', queue = '150 packets'";
        chain(seconds, "", bottleneck, "rwnd = '1000 packets'").flows[0].delivered_bytes as f64
    };
    let rate = 8.0 * (delivered(100) - delivered(20)) / 80.0;
    // Retransmitted segments, and segments waiting for a hole to be filled, reduce the rate below the line's.
    assert!((9.95e6..=10.01e6).contains(&rate), "{rate} bit/s");
}

#[test]
fn reno_follows_the_square_root_law() {
    // Mathis et al. 1997: W = √(3/2)/√p for periodic losses and an ACK for each packet, 12.2 packets at 1 %. For random losses they
    // measured constants of 0.9 to 1.3. Timeouts of small windows reduce the constant further.
    let run = |seed: u32| {
        let text = format!(
            "seed = {seed}\nduration = '600 s'\n\
             topology.bottleneck = {{ rate = '100 Mbit/s', queue = 'unlimited', loss = '1 %' }}\n[flow]\nrwnd = '10000 packets'"
        );
        result(&text).flows[0].goodput_bps
    };
    let goodput = (1..=5).map(run).sum::<f64>() / 5.0;
    let round_trip = 0.06 + 3.0 * (83.2e-6 + 3.2e-6);
    let constant = goodput * round_trip / 8000.0 * 0.01_f64.sqrt();
    assert!((0.9..=1.3).contains(&constant), "constant {constant}");
}
