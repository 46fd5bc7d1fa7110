//! "A column is one declaration, a trace is in one file": follows CONTRIBUTING.md in a copy of the crates, with the examples printed there.

#[path = "../../core/tests/example/mod.rs"]
mod example;

use example::Copied;

/// Runs the copy and checks that the column and the trace appear in everything derived from declarations.
const DRIVER: &str = r#"
use ackclock_sim::columns::Cell;
use ackclock_sim::engine::{FlowResult, run, tables_json};
use ackclock_sim::scenario::{Document, ModernHost, TraceKind, schema};
use ackclock_sim::trace::Values;
use ackclock_host::setting::Kernel;
use ackclock_tcp::modern::SETTINGS;

const TEXT: &str = "duration = '20 s'\nrecord = ['resent', 'sequence']\ntopology = { kind = 'chain', bottleneck = { loss = '2 %' } }\n[flow]\n";

#[test]
fn the_new_column_and_trace_are_everywhere() {
    let scenario = Document::from_toml(TEXT, "t.toml").unwrap().scenario().unwrap();
    let result = run(&scenario, &mut || false).unwrap();
    let flow = &result.flows[0];
    let column = FlowResult::COLUMNS.iter().find(|column| column.name == "dropped_share").expect("it is declared");
    let share = flow.dropped_packets as f64 / flow.sent_packets as f64;
    assert!(share > 0.0);
    assert_eq!(column.cell(&scenario, 0, flow), Cell::Number(share));
    let resent = result.traces.resent.as_ref().expect("it was recorded");
    assert_eq!(resent.seq.len() as u64, flow.retransmitted_packets);
    let columns = result.traces.columns(TraceKind::Resent).unwrap();
    assert_eq!(columns.iter().map(|column| column.name).collect::<Vec<_>>(), ["time", "flow", "seq"]);
    assert!(matches!(columns[2].values, Values::Short(found) if found == resent.seq));
    let listed = tables_json().to_string();
    assert!(listed.contains("dropped_share") && listed.contains("trace resent"));
    assert!(schema().to_string().contains("\"resent\""));
    let mut other = result.clone();
    other.traces.resent.as_mut().unwrap().seq[0] += 1;
    assert_ne!(other.digest(), result.digest());
}

#[test]
fn flows_have_the_new_recovery_and_the_new_profile() {
    let text = "duration = '20 s'\ntopology = { kind = 'chain', bottleneck = { loss = '2 %' } }\n\
        [[flow]]\nrecovery = 'go_back'\n[[flow]]\nprofile = { kind = 'stop_and_wait', timeout = '500 ms' }\nsize = '100 packets'\n";
    let scenario = Document::from_toml(text, "t.toml").unwrap().scenario().unwrap();
    let result = run(&scenario, &mut || false).unwrap();
    let [back, wait] = &result.flows[..] else { panic!("two flows") };
    assert!(back.retransmitted_packets > 0 && back.delivered_packets > 100, "{back:?}");
    assert_eq!(scenario.flows[1].host.recovery(), "stop_and_wait");
    assert_eq!(wait.delivered_packets, 100, "{wait:?}");
    assert!(wait.completion_time.is_some() && wait.retransmitted_packets == wait.sent_packets - 100, "{wait:?}");
    let frozen = Document::from_toml(text, "t.toml").unwrap().frozen().unwrap();
    assert!(frozen.contains("stop_and_wait") && frozen.contains("0.5 s") || frozen.contains("500 ms"), "{frozen}");
}

#[test]
fn the_new_setting_is_a_key_a_field_and_a_parameter_of_the_kernel() {
    let read = |text: &str| Document::from_toml(&format!("duration = '1 s'\n[flow]\nhost = 'linux'\nmodern.dup_thresh = {text}\n"), "t.toml").unwrap();
    let scenario = read("5").scenario().unwrap();
    let host = scenario.flows[0].host.as_modern().unwrap();
    assert_eq!((host.dup_thresh, ModernHost::default().dup_thresh), (5, 3));
    let frozen = read("5").frozen().unwrap();
    assert!(frozen.contains("dup_thresh = 5"), "{frozen}");
    let message = read("101").scenario().unwrap_err().to_string();
    assert!(message.contains("flow.0.modern.dup_thresh: must be a whole number from 0 to 100, but is 101"), "{message}");
    assert!(schema().to_string().contains("Number of duplicate ACKs that show a loss"));
    let setting = SETTINGS.iter().find(|setting| setting.key == "dup_thresh").expect("it is listed");
    let Kernel::By([(name, value)]) = setting.kernel else { panic!("{setting:?}") };
    assert_eq!((*name, value(host)), ("ipv4/tcp_reordering", Some("5".to_owned())));
}
"#;

#[test]
fn the_examples_of_contributing_work() {
    let copied = Copied::new("one_declaration", &["core", "models", "host", "wire", "tcp", "sim"]);
    let traces = "crates/sim/src/columns/traces.rs";
    copied.insert("column", "crates/sim/src/engine/result.rs", "pub struct FlowResult of Scenario {\n");
    copied.insert("trace", traces, "// Every trace, with its table and its listener.\n\n");
    copied.insert_line("trace line", traces, "\ntraces! {\n");
    copied.write("crates/tcp/src/ns2/recovery/go_back.rs", copied.example("recovery"));
    copied.insert_line("recovery line", "crates/tcp/src/ns2/recovery/mod.rs", "entries! { Entry<dyn Policy>:\n");
    copied.write("crates/tcp/src/profile/stop_and_wait.rs", copied.example("profile"));
    copied.insert_line("profile line", "crates/tcp/src/profile/mod.rs", "entries! { Entry<Profile>:\n");
    copied.insert("setting", "crates/tcp/src/modern/settings.rs", "\nsettings! {\n");
    copied.write("crates/sim/tests/driver.rs", DRIVER);
    copied.test(
        &["-p", "ackclock-sim", "--test", "driver"],
        &[
            "the_new_column_and_trace_are_everywhere",
            "flows_have_the_new_recovery_and_the_new_profile",
            "the_new_setting_is_a_key_a_field_and_a_parameter_of_the_kernel",
        ],
    );
}
