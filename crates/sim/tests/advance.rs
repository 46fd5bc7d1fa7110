//! A run can advance to any times and continue. Its result equals that of a single run.

use ackclock_core::rng::Generator;
use ackclock_core::units::{Duration, Instant};
use ackclock_sim::engine::{Prepared, RunError, run};
use ackclock_sim::scenario::{Document, Scenario};

/// Seconds of each run.
const SECONDS: f64 = 3.0;

/// Flows over a bottleneck with this queue, with all traces.
fn scenario(queue: &str, flows: &str) -> Scenario {
    let text = format!(
        "duration = '{SECONDS} s'\n\
         record = ['cwnd', 'delivered', 'queue', 'drops', 'marks', 'sojourn', 'discipline', 'sequence', 'rtt', 'internals']\n\
         topology.bottleneck = {{ rate = '3 Mbit/s', delay = '5 ms', loss = '0.5 %', queue = {queue} }}\n{flows}"
    );
    Document::from_toml(&text, "").and_then(|document| document.scenario()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn scenarios() -> Vec<Scenario> {
    let modern = "[[flow]]\nprofile = 'modern'\nmodern.timestamps = false\n";
    let web = format!("{modern}application = {{ kind = 'request-response', response = '40 kB', exchanges = 9, think = '100 ms' }}");
    let datagrams = "[[flow]]\napplication = { kind = 'cbr', rate = '500 kbit/s', on = '50 ms', off = '30 ms' }";
    vec![
        scenario("'15 packets'", "[[flow]]\ncount = 3\nrecovery = 'sack'\ndelayed_ack = true"),
        scenario("'red'", &format!("[[flow]]\nrecovery = 'newreno'\necn = true\n{modern}\n{datagrams}")),
        scenario("'fq_codel'", &web),
        scenario("{ kind = 'tbf', rate = '2 Mbit/s', burst = '10 kB' }", &web),
        scenario("'sfq'", &format!("[[flow]]\nrecovery = 'tahoe'\n{datagrams}")),
        scenario("'red_notify'", "[[flow]]\ncount = 2"),
    ]
}

#[test]
fn however_a_run_is_divided_its_result_is_the_same() {
    let mut random = Generator::derived(1, "steps");
    for (index, scenario) in scenarios().iter().enumerate() {
        let whole = run(scenario, &mut || false).unwrap();
        assert!(whole.flows.iter().all(|flow| flow.delivered_packets > 10), "scenario {index}: {:?}", whole.flows);
        for steps in [3, 200] {
            let mut parts = Prepared::new(scenario).unwrap();
            for _ in 0..steps {
                // Times in the past, and times after the end, change nothing.
                let until = Instant::ZERO + Duration::from_secs_f64(1.1 * SECONDS * random.uniform());
                parts.advance(until, &mut || false).unwrap();
            }
            assert_eq!(parts.run(&mut || false).unwrap().digest(), whole.digest(), "scenario {index}, {steps} steps");
        }
        let mut steady = Prepared::new(scenario).unwrap();
        for step in 0..1000 {
            steady.advance(Instant::from_nanos(3_000_000 * step), &mut || false).unwrap();
        }
        assert_eq!(steady.run(&mut || false).unwrap().digest(), whole.digest(), "scenario {index}, step by step");
    }
}

#[test]
fn a_run_that_is_advanced_can_be_interrupted() {
    let scenario = scenario("'15 packets'", "[flow]");
    let mut prepared = Prepared::new(&scenario).unwrap();
    assert!(matches!(prepared.advance(Instant::MAX, &mut || true), Err(RunError::Interrupted)));
}
