//! What it costs that an interface of a stack does not carry the whole contract: the tables of docs/concepts/quic-controls.md.
//!
//! `ACKCLOCK_WRITE=1 cargo test -p ackclock-quic --test carried` writes them.

mod recipes;

use std::fmt::Write;

use ackclock_sim::engine::run;
use ackclock_sim::scenario::{Document, PROFILES};
use recipes::keys;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/concepts/quic-controls.md");

/// The columns: each of these hosts fills packets of 1228 bytes on the wire, and paces at 1.25 windows per round trip unless its control has a rate.
/// The last carries the whole contract.
const HOSTS: [Host; 3] = [
    Host {
        keys: "profile = { kind = 'quinn', control = 'flow', stream_window = '1 GB', send_window = '1 GB' }",
        data: 1200,
        marks: "true",
    },
    Host { keys: "profile = { kind = 'quic', control = 'flow', stream_window = '1 GB', send_window = '1 GB' }", data: 1200, marks: "true" },
    // Of 1200 bytes of QUIC, 1167 are the stream's.
    Host {
        keys: "profile = 'modern'\npacket_size = '1176 B'\nmodern = { receive_buffer = '1 GB', receive_buffer_max = '1 GB', \
               pacing = 'window', pacing_slow_start = 1.25, pacing_avoidance = 1.25 }",
        data: 1167,
        marks: "'accurate'",
    },
];

/// The hosts of a column.
struct Host {
    keys: &'static str,
    /// Bytes of the transfer in a packet of the scenario.
    data: u64,
    /// Feedback about marks.
    marks: &'static str,
}

/// What a transfer took, and how many packets the queue dropped.
#[derive(Clone, Copy, Debug)]
struct Cost {
    seconds: f64,
    lost: u64,
}

/// 10 Mbit/s, 40 ms, 50 packets: 10 MB; or 1 Gbit/s, one packet in 100 marked, at random or at even distances: 100 MB.
#[derive(Clone, Copy)]
enum Case {
    Usual,
    Marks(&'static str),
}

impl Case {
    fn cost(self, recipe: &str, host: &Host) -> Cost {
        PROFILES.join(ackclock_quic::PROFILES).unwrap();
        let (bytes, rate, queue, marks) = match self {
            Self::Usual => (10_000_000, "10 Mbit/s", "'50 packets'".to_owned(), "false"),
            Self::Marks(spacing) => {
                let queue = format!("{{ kind = 'bernoulli', mark_probability = '1 %', spacing = '{spacing}', limit = '100000 packets' }}");
                (100_000_000, "1 Gbit/s", queue, host.marks)
            }
        };
        let text = format!(
            "duration = '120 s'\n[topology]\nkind = 'dumbbell'\naccess = {{ rate = '10 Gbit/s', delay = '0 ms' }}\n\
             bottleneck = {{ rate = '{rate}', delay = '20 ms', queue = {queue} }}\n\
             [[flow]]\nsize = '{} packets'\necn = {marks}\n{}\n{}",
            bytes / host.data,
            host.keys,
            keys(recipe)
        );
        let scenario = Document::from_toml(&text, "carried.toml").and_then(|document| document.scenario());
        let result = run(&scenario.unwrap_or_else(|error| panic!("{error}\n{text}")), &mut || false).unwrap();
        let flow = &result.flows[0];
        let seconds = flow.completion_time.unwrap_or_else(|| panic!("{recipe}: {flow:?}")).as_secs_f64();
        Cost { seconds, lost: flow.dropped_packets }
    }
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

const MARKS: [(&str, &str); 4] =
    [("avoidance = dctcp", "random"), ("avoidance = dctcp", "even"), ("avoidance = prague", "random"), ("avoidance = prague", "even")];

/// The row of a recipe: the costs in each column, and the cells.
fn row(recipe: &str, case: Case) -> ([Cost; 3], String) {
    let costs = HOSTS.each_ref().map(|host| case.cost(recipe, host));
    let cells = costs.map(|cost| match case {
        Case::Usual => format!("{:.2} s, {} lost", cost.seconds, cost.lost),
        Case::Marks(_) => format!("{:.2} s", cost.seconds),
    });
    (costs, cells.join(" | "))
}

#[test]
fn the_page_has_what_the_interfaces_cost() {
    let mut usual = String::from("| control | quinn | noq | whole contract |\n|---|---|---|---|");
    for recipe in USUAL {
        let ([quinn, noq, contract], cells) = row(recipe, Case::Usual);
        write!(usual, "\n| `{recipe}` | {cells} |").expect("a string takes all");
        match *recipe {
            // Loss is carried whole.
            "avoidance = reno" | "avoidance = cubic" => {
                for stack in [quinn, noq] {
                    assert!((stack.seconds / contract.seconds - 1.0).abs() < 0.01, "{recipe}: {stack:?} {contract:?}");
                    assert!(stack.lost.abs_diff(contract.lost) < 5, "{recipe}: {stack:?} {contract:?}");
                }
            }
            "congestion_control = bbr" => {
                assert!(quinn.lost > 0 && noq.lost == 0 && contract.lost == 0, "only quinn does not pace: {quinn:?} {noq:?} {contract:?}");
            }
            _ => {}
        }
    }
    let mut marks = String::from("| control | marks | quinn | noq | whole contract |\n|---|---|---|---|---|");
    for (recipe, spacing) in MARKS {
        let ([quinn, noq, contract], cells) = row(recipe, Case::Marks(spacing));
        write!(marks, "\n| `{recipe}` | {spacing} | {cells} |").expect("a string takes all");
        for stack in [quinn, noq] {
            // All marks count double at even distances, half of them at random ones.
            let ratio = stack.seconds / contract.seconds;
            let expected = if spacing == "even" { 1.4..1.7 } else { 1.05..1.25 };
            assert!(expected.contains(&ratio), "{recipe}, {spacing}: {stack:?} {contract:?}");
        }
    }
    println!("{usual}\n\n{marks}");
    let page = std::fs::read_to_string(PAGE).expect("the page");
    let mut parts = page.split("\n\n").map(str::to_owned).collect::<Vec<_>>();
    let mut tables = [usual, marks].into_iter();
    for part in parts.iter_mut().filter(|part| part.starts_with("| control |")) {
        *part = tables.next().expect("two tables");
    }
    assert!(tables.next().is_none(), "the page has two tables");
    let fresh = parts.join("\n\n");
    if std::env::var_os("ACKCLOCK_WRITE").is_some() {
        std::fs::write(PAGE, &fresh).expect("the page can be written");
    } else {
        assert!(page == fresh, "the page has other tables; ACKCLOCK_WRITE=1 writes these");
    }
}
