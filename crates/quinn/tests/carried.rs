//! What an interface of a stack carries, and what it costs that it does not carry more: the table of docs/concepts/quic-controls.md.
//!
//! `ACKCLOCK_WRITE=1 cargo test -p ackclock-quinn --test carried` writes it.
#![expect(clippy::duplicate_mod, reason = "both stacks have the same path, each as a module of its own")]
#![expect(clippy::disallowed_methods, reason = "virtual time counts from a point of the clock, which has no other points")]

mod endpoints;
// Its copy of the path is another type than that of `endpoints`.
#[path = "../../noq/tests/endpoints/mod.rs"]
mod noq;

use std::fmt::Write;
use std::sync::Arc;
use std::time::Instant;

use ackclock_sim::engine::run;
use ackclock_sim::scenario::Document;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/concepts/quic-controls.md");

/// Bytes of a packet on the wire.
const WIRE: u64 = 1228;

/// What a transfer took, and how many packets were lost.
#[derive(Clone, Copy, Debug)]
struct Cost {
    seconds: f64,
    lost: u64,
}

/// 10 Mbit/s, 40 ms, 50 packets: 10 MB; or 1 Gbit/s, one packet in 100 marked: 100 MB.
#[derive(Clone, Copy)]
enum Case {
    Usual,
    Marks,
}

impl Case {
    fn bytes(self) -> u64 {
        match self {
            Self::Usual => 10_000_000,
            Self::Marks => 100_000_000,
        }
    }
}

macro_rules! stack {
    ($name:ident, $endpoints:ident, $adapter:ident) => {
        fn $name(recipe: &str, case: Case) -> Cost {
            let path = match case {
                Case::Usual => $endpoints::Path::USUAL,
                Case::Marks => $endpoints::Path { rate: 1_000_000_000, queue: 100_000, mark: Some(100), ..$endpoints::Path::USUAL },
            };
            let factory = Arc::new($adapter::Factory::parse(recipe).unwrap());
            let outcome = $endpoints::transfer(
                path,
                case.bytes(),
                Instant::now(),
                |transport| {
                    // Neither the window of a stream nor that of the connection shall limit.
                    transport.congestion_controller_factory(factory);
                    transport.send_window(100_000_000);
                },
                |_| (),
            );
            Cost { seconds: outcome.time.as_secs_f64(), lost: outcome.lost }
        }
    };
}

stack!(with_quinn, endpoints, ackclock_quinn);
stack!(with_noq, noq, ackclock_noq);

/// The same packets between hosts of profile `modern`, which carry the whole contract.
fn with_contract(recipe: &str, case: Case) -> Cost {
    let (rate, queue, ecn) = match case {
        Case::Usual => ("10 Mbit/s", "'50 packets'", ""),
        Case::Marks => {
            ("1 Gbit/s", "{ kind = 'bernoulli', mark_probability = '1 %', spacing = 'even', limit = '100000 packets' }", "ecn = 'accurate'")
        }
    };
    // Of 1200 bytes of QUIC, 1167 are the stream's.
    let packets = case.bytes() / 1167;
    // What a recipe does not choose, a scenario would choose otherwise.
    let usual = [("initial_window", "rfc6928"), ("slow_start", "standard"), ("avoidance", "cubic")];
    let (axis, name) = recipe.split_once(" = ").expect("one setting");
    let usual = usual.iter().filter(|(other, _)| *other != axis && axis != "congestion_control");
    let control = usual.chain([&(axis, name)]).map(|(axis, name)| [axis, " = '", name, "'\n"].concat()).collect::<String>();
    let text = format!(
        "duration = '120 s'
        [topology]
        kind = 'dumbbell'
        access = {{ rate = '10 Gbit/s', delay = '0 ms' }}
        bottleneck = {{ rate = '{rate}', delay = '20 ms', queue = {queue} }}
        [[flow]]
        profile = 'modern'
        size = '{packets} packets'
        packet_size = '{} B'
        {ecn}
        modern = {{ receive_buffer = '100 MB', receive_buffer_max = '100 MB', pacing = 'window', pacing_slow_start = 1.25, pacing_avoidance = 1.25 }}
        {control}",
        WIRE - 52
    );
    let scenario = Document::from_toml(&text, "carried.toml").and_then(|document| document.scenario());
    let result = run(&scenario.unwrap_or_else(|error| panic!("{error}\n{text}")), &mut || false).unwrap();
    let flow = &result.flows[0];
    let seconds = flow.completion_time.unwrap_or_else(|| panic!("{recipe}: {flow:?}")).as_secs_f64();
    Cost { seconds, lost: flow.retransmitted_packets }
}

const USUAL: &[&str] = &[
    "avoidance = reno",
    "avoidance = cubic",
    "avoidance = vegas",
    "avoidance = westwood_plus",
    "avoidance = nv",
    "congestion_control = bbr",
    "congestion_control = bbr1",
    "congestion_control = copa",
    "congestion_control = vivace",
    "slow_start = hystart_pp",
    "slow_start = search",
    "slow_start = suss",
    "slow_start = rapid_start",
    "slow_start = paced_start",
];

const MARKS: &[&str] = &["avoidance = dctcp", "avoidance = prague"];

fn table(recipes: &[&str], case: Case) -> (String, Vec<[Cost; 3]>) {
    let mut text = String::from("| control | quinn | noq | whole contract |\n|---|---|---|---|\n");
    let mut costs = Vec::new();
    for recipe in recipes {
        let row = [with_quinn(recipe, case), with_noq(recipe, case), with_contract(recipe, case)];
        let cells = row.map(|cost| match case {
            Case::Usual => format!("{:.2} s, {} lost", cost.seconds, cost.lost),
            Case::Marks => format!("{:.2} s", cost.seconds),
        });
        writeln!(text, "| `{recipe}` | {} |", cells.join(" | ")).expect("a string takes all");
        costs.push(row);
    }
    (text, costs)
}

#[test]
fn the_page_has_what_the_interfaces_cost() {
    let (usual, costs) = table(USUAL, Case::Usual);
    let (marks, marked) = table(MARKS, Case::Marks);
    println!("{usual}\n{marks}");
    let row = |name: &str| costs[USUAL.iter().position(|recipe| recipe.ends_with(name)).expect("a row")];
    let [quinn, noq, contract] = row(" bbr");
    assert!(quinn.lost > 0 && noq.lost == 0 && contract.lost == 0, "only quinn does not pace: {quinn:?} {noq:?} {contract:?}");
    for [quinn, noq, contract] in [row("reno"), row("cubic")] {
        // Loss is carried whole.
        assert!((quinn.seconds / contract.seconds - 1.0).abs() < 0.02 && (noq.seconds / contract.seconds - 1.0).abs() < 0.02);
    }
    for [quinn, noq, contract] in marked {
        // quinn's receiver acknowledges a marked packet at once, and so alone or with one other; noq's does not.
        assert!(
            (1.0..1.2).contains(&(quinn.seconds / contract.seconds)) && noq.seconds > 1.3 * contract.seconds,
            "{quinn:?} {noq:?} {contract:?}"
        );
    }
    let page = std::fs::read_to_string(PAGE).expect("the page");
    let mut parts = page.split("\n\n").map(str::to_owned).collect::<Vec<_>>();
    let mut tables = [usual, marks].into_iter();
    for part in parts.iter_mut().filter(|part| part.starts_with("| control |")) {
        tables.next().expect("two tables").trim_end().clone_into(part);
    }
    let fresh = parts.join("\n\n");
    if std::env::var_os("ACKCLOCK_WRITE").is_some() {
        std::fs::write(PAGE, &fresh).expect("the page can be written");
    } else {
        assert!(page == fresh, "the page has other tables; ACKCLOCK_WRITE=1 writes these");
    }
}
