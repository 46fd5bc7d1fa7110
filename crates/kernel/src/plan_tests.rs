use ackclock_sim::scenario::Document;

use super::*;

/// A kernel with these controls that runs no program.
const OFFER: Offer<'_> = Offer { names: &["reno", "cubic", "bbr"], programs: None, seats: crate::Seats::Never, instead: None };

/// A scenario with these flows between two nodes.
fn scenario(flows: &[&str]) -> Scenario {
    let link = "duration = '1 s'\n[topology]\nkind = 'chain'\nbottleneck = { rate = '1 Mbit/s', delay = '1 ms' }\n";
    let text = flows.iter().fold(link.to_owned(), |text, keys| text + "[[flow]]\n" + keys + "\n");
    Document::from_toml(&text, "test.toml").and_then(|document| document.scenario()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn plan(flows: &[&str]) -> Plan {
    Plan::new(&scenario(flows), Chosen::All, &OFFER).unwrap()
}

/// The only flow.
fn flow(keys: &str) -> FlowPlan {
    plan(&[keys]).flows.remove(0).unwrap()
}

fn warnings(flows: &[&str]) -> Vec<(&'static str, String)> {
    let warnings = plan(flows).warnings(&scenario(flows));
    warnings.into_iter().map(|warning| (warning.name, warning.text)).collect()
}

const RENO: &str = "host = 'linux'\nslow_start = 'standard'\navoidance = 'reno'\n";

#[test]
fn the_preset_linux_is_followed_in_everything() {
    let made = flow("host = 'linux'\npacket_size = '1448 B'");
    assert_eq!(made.own, [""; 0]);
    assert_eq!(made.control, KernelControl::Own("cubic"));
    assert_eq!((made.route.mtu, made.route.initial_window, made.route.initial_receive_window), (1500, Some(10), None));
    assert_eq!((made.segment, made.no_delay, made.paced, made.window), (1448, false, false, None));
    for expected in [("ipv4/tcp_rmem", "4096 131072 33554432"), ("ipv4/tcp_timestamps", "1"), ("ipv4/tcp_comp_sack_delay_ns", "1000000")] {
        assert!(made.parameters.contains(&(expected.0, expected.1.to_owned())), "{expected:?} in {:?}", made.parameters);
    }
    assert!(made.parameters.iter().all(|(name, _)| !name.contains("_rto_")), "the kernel's own timers: {:?}", made.parameters);
    assert!(warnings(&["host = 'linux'"]).is_empty());
}

#[test]
fn settings_become_routes_options_and_parameters() {
    let keys = "ecn = true\npacket_size = '1000 B'\ninitial_window = '50 segments'\nstop = '0.5 s'\n[flow.modern]\ntimestamps = false\n\
                nagle = false\npacing = 'window'\nrecovery = 'newreno'\nmin_rto = '20 ms'\ntlp = false";
    let made = flow(&format!("{RENO}{keys}"));
    assert_eq!((made.route.mtu, made.route.initial_window, made.route.ecn), (1040, Some(50), true));
    assert_eq!((made.no_delay, made.paced, made.control), (true, true, KernelControl::Own("reno")));
    let set = [("tcp_timestamps", "0"), ("tcp_sack", "0"), ("tcp_recovery", "0"), ("tcp_rto_min_us", "20000"), ("tcp_early_retrans", "0")];
    for (name, value) in set {
        let found = made.parameters.iter().find(|(known, _)| known.strip_prefix("ipv4/") == Some(name));
        assert_eq!(found.map(|(_, value)| value.as_str()), Some(value), "{name}");
    }
    assert_eq!(flow(&format!("{RENO}initial_window = '100 segments'\npacket_size = '1448 B'")).route.initial_receive_window, Some(100));
}

#[test]
fn feedback_of_ecn_is_that_of_the_route_or_of_the_namespace() {
    let set = |keys: &str| {
        let made = flow(&format!("{RENO}{keys}"));
        let find = |name| made.parameters.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone());
        (made.route.ecn, find("ipv4/tcp_ecn").unwrap(), find("ipv4/tcp_ecn_option"), made.own)
    };
    let is = |value: &str| value.to_owned();
    assert_eq!(set(""), (false, is("2"), None, vec![]));
    assert_eq!(set("ecn = true"), (true, is("2"), None, vec![]));
    assert_eq!(set("ecn = 'accurate'"), (false, is("3"), Some(is("2")), vec![]));
    assert_eq!(set("ecn = 'accurate'\nmodern.ecn_option = false"), (false, is("3"), Some(is("0")), vec![]));
    assert_eq!(set("ecn = 'dctcp'"), (false, is("2"), None, vec![is("ecn")]));
}

#[test]
fn dctcp_negotiates_its_feedback_by_itself() {
    let offer = Offer { names: &["dctcp"], instead: Some("dctcp"), ..OFFER };
    let own = |keys: &str| {
        let made = Plan::new(&scenario(&[&format!("{RENO}{keys}")]), Chosen::All, &offer).unwrap().flows.remove(0).unwrap();
        (made.control.at_receiver(), made.own)
    };
    assert_eq!(own("ecn = 'dctcp'"), ("dctcp", vec![]));
    assert_eq!(own(""), ("dctcp", vec!["ecn".to_owned()]));
    assert_eq!(flow(RENO).control.at_receiver(), "reno");
}

#[test]
fn settings_that_the_kernel_does_not_follow_are_named() {
    let keys = [&format!("name = 'a'\n{RENO}[flow.modern]\nprr = false\ndelayed_ack = '100 ms'"), RENO];
    let expected = "a: the kernel follows its own rules instead of flow.modern.delayed_ack, flow.modern.prr";
    assert_eq!(warnings(&keys.map(AsRef::as_ref)), [("kernel_settings", expected.to_owned())]);
    let learning = flow(&format!("{RENO}initial_window = 'adaptive'"));
    assert_eq!((learning.own, learning.route.initial_window), (vec!["initial_window".to_owned()], None));
    let ns2 = flow("rwnd = '20 packets'\npacket_size = '500 B'\nslow_start = 'standard'\navoidance = 'reno'");
    assert_eq!((ns2.own, ns2.route.mtu, ns2.window), (vec!["profile".to_owned()], 540, Some(10_000)));
}

#[test]
fn flows_of_a_node_share_its_parameters() {
    let other = format!("name = 'b'\n{RENO}[flow.modern]\ntimestamps = false");
    let found = warnings(&[RENO, &other]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, "kernel_shared");
    assert!(found[0].1.starts_with("b: ipv4/tcp_timestamps have"), "{found:?}");
}

#[test]
fn datagrams_stay_simulated() {
    let stream = "application = { kind = 'cbr', rate = '100 kbit/s' }";
    let made = plan(&[stream, RENO]);
    assert!(made.flows[0].is_none() && made.flows[1].is_some());
    assert_eq!(made.terminals(&scenario(&[stream, RENO])).len(), 2);
    assert_eq!(made.controls(), [None, Some("reno".to_owned())]);
    let refused = Plan::new(&scenario(&[stream]), Chosen::All, &OFFER).unwrap_err();
    assert_eq!(refused, "test: has no TCP flow, so that nothing runs on the kernel");
}

#[test]
fn a_control_that_the_kernel_lacks_is_refused_with_the_flow() {
    let veno = "name = 'b'\nhost = 'linux'\nslow_start = 'standard'\navoidance = 'veno'";
    let refused = Plan::new(&scenario(&[RENO, veno]), Chosen::All, &OFFER).unwrap_err();
    assert!(refused.starts_with("test: flow b cannot run on the kernel: ") && refused.contains("veno"), "{refused}");
}

#[test]
fn data_leaves_as_the_traffic_says() {
    let sized = flow(&format!("{RENO}size = '10 packets'")).bulk.unwrap();
    assert_eq!((sized.packets, sized.amount()), (Some(10), Some(10)));
    let bursts = flow(&format!("{RENO}application = {{ kind = 'on-off', burst = '10 kB', pause = '1 s' }}")).bulk.unwrap();
    assert!(bursts.grows && bursts.packets == Some(0));
    assert!(flow(&format!("{RENO}application = {{ kind = 'web', root = '30 kB' }}")).bulk.is_none(), "the client opens the connection");
}

#[test]
fn the_first_flow_of_a_node_sets_its_parameters() {
    let stream = "application = { kind = 'cbr', rate = '100 kbit/s' }";
    let other = format!("{RENO}[flow.modern]\ntimestamps = false");
    let (scenario, plan) = (scenario(&[stream, &other, RENO]), plan(&[stream, &other, RENO]));
    for node in [scenario.flows[0].from, scenario.flows[0].to] {
        assert!(plan.parameters(&scenario, node).unwrap().contains(&("ipv4/tcp_timestamps", "0".to_owned())));
    }
    assert!(plan.parameters(&scenario, scenario.flows[0].from.max(scenario.flows[0].to) + 1).is_none());
}

#[test]
fn all_flows_share_one_switch_of_hystart() {
    const WITHOUT: &str = "host = 'linux'\nslow_start = 'standard'";
    let without = plan(&[RENO, WITHOUT]);
    assert_eq!(without.controls(), [Some("reno".to_owned()), Some("cubic without HyStart".to_owned())]);
    assert_eq!([without.hystart(), plan(&["host = 'linux'"]).hystart(), plan(&[RENO]).hystart()], [Some(false), Some(true), None]);
    let refused = Plan::new(&scenario(&[WITHOUT, "name = 'b'\nhost = 'linux'"]), Chosen::All, &OFFER).unwrap_err();
    assert!(refused.ends_with("it needs HyStart off and flow b needs it on; the kernel has one switch for all"), "{refused}");
}

#[test]
fn a_threshold_of_the_scenario_needs_a_program() {
    const BOUNDED: &str = "host = 'linux'\nslow_start = 'standard'\ninitial_ssthresh = '50 segments'";
    let warnings = warnings(&[BOUNDED]);
    assert!(warnings.iter().any(|(_, text)| text.contains("flow.initial_ssthresh")), "{warnings:?}");
    assert!(flow(BOUNDED).threshold.is_infinite());
}

#[test]
fn only_flows_that_name_the_kernel_run_on_it() {
    let mixed = scenario(&["name = 'a'\nprofile = 'kernel'", "name = 'b'\nhost = 'linux'"]);
    let plan = Plan::new(&mixed, Chosen::Named, &OFFER).unwrap();
    assert_eq!(plan.controls(), [Some("cubic".to_owned()), None]);
    assert_eq!(plan.terminals(&mixed).len(), 2);
    assert_eq!(Plan::new(&mixed, Chosen::All, &OFFER).unwrap().controls(), [Some("cubic".to_owned()), Some("cubic".to_owned())]);
    assert!(Plan::new(&scenario(&[RENO]), Chosen::Named, &OFFER).unwrap().flows[0].is_none());
}

#[test]
fn a_kernel_has_the_settings_of_the_preset() {
    let (named, preset) = (flow("profile = 'kernel'"), flow("host = 'linux'"));
    assert_eq!(format!("{named:?}"), format!("{preset:?}"));
}

#[test]
fn a_flow_names_a_control_of_the_kernel() {
    let named = |name: &str| scenario(&[&format!("profile = 'kernel'\nkernel = {{ control = '{name}' }}")]);
    assert_eq!(Plan::new(&named("bbr"), Chosen::Named, &OFFER).unwrap().controls(), [Some("bbr".to_owned())]);
    let refused = Plan::new(&named("bbrr"), Chosen::Named, &OFFER).unwrap_err();
    let expected = "this kernel has no congestion control `bbrr`; did you mean `bbr`? It has `reno`, `cubic`, `bbr`";
    assert_eq!(refused, format!("test.toml:7: flow.0.kernel.control: {expected}"));
    // One for all flows comes first.
    let instead = Offer { instead: Some("reno"), ..OFFER };
    assert_eq!(Plan::new(&named("bbrr"), Chosen::All, &instead).unwrap().controls(), [Some("reno".to_owned())]);
}

#[test]
fn parameters_of_a_node_are_those_that_any_of_its_flows_names() {
    let with = |name: &str, sysctl: &str| {
        format!("name = '{name}'\nprofile = 'kernel'\nkernel.sysctl = {{ {sysctl} }}\nkernel.module.tcp_cubic.beta = 5")
    };
    let (a, b) = (with("a", ""), with("b", "'net.ipv4.tcp_sack' = 0, 'net.ipv4.tcp_frto' = 1"));
    let c = with("c", "net.ipv4.tcp_sack = 1, net.ipv4.tcp_frto = true");
    let mixed = scenario(&[&a, &b, &c, "name = 'd'\nhost = 'linux'"]);
    let plan = Plan::new(&mixed, Chosen::Named, &OFFER).unwrap();
    let texts = |named: Vec<(&str, &Given)>| named.into_iter().map(|(name, given)| format!("{name}={}", given.value)).collect::<Vec<_>>();
    for node in [mixed.flows[0].from, mixed.flows[0].to] {
        assert_eq!(texts(plan.sysctls(&mixed, node)), ["net.ipv4.tcp_sack=0", "net.ipv4.tcp_frto=1"]);
    }
    let others = (0..mixed.nodes.len()).filter(|node| ![mixed.flows[0].from, mixed.flows[0].to].contains(node));
    assert!(others.into_iter().all(|node| plan.sysctls(&mixed, node).is_empty()));
    assert_eq!(texts(plan.modules(&mixed)), ["tcp_cubic.beta=5"]);
    let found: Vec<String> = plan.warnings(&mixed).into_iter().map(|warning| warning.text).collect();
    let why = "of another flow at the node applies too, because all flows of a node share them";
    assert_eq!(found, [format!("a: net.ipv4.tcp_frto = 1, net.ipv4.tcp_sack = 0 {why}"), format!("c: net.ipv4.tcp_sack = 0 {why}")]);
}
