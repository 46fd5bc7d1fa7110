//! Programs behind the path of a scenario: a flow of the scenario becomes their packets.

use std::ffi::OsString;

use ackclock_core::units::Instant;
use ackclock_host::Side;
use ackclock_sim::scenario::{HostSpec, Scenario, Traffic};

use crate::route::{address, address_v6};

/// Names of the environment variables with a program's own address and the other end's, in IPv4 and in IPv6.
pub const VARIABLES: [&str; 4] = ["ACKCLOCK_ADDRESS", "ACKCLOCK_PEER", "ACKCLOCK_ADDRESS6", "ACKCLOCK_PEER6"];
/// Flows among which the program's connections are spread, so that queues that serve flows in turn tell them apart.
pub const SPREAD: usize = 64;

/// What runs where.
#[derive(Debug, Clone)]
pub struct Programs {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// The end of the flow at which it runs.
    pub at: Side,
    /// A line of the shell that runs at the other end; it starts before the command and ends with it.
    pub peer: Option<String>,
    /// The flow whose path the programs use; by default the first that is no stream of datagrams.
    pub flow: Option<String>,
}

/// The values of [`VARIABLES`] at an end.
pub fn values(side: Side) -> [String; 4] {
    let (own, peer) = (side, side.peer());
    [address(0, own).to_string(), address(0, peer).to_string(), address_v6(0, own).to_string(), address_v6(0, peer).to_string()]
}

/// Says that the peer has ended too early, with this exit code.
pub fn ended_early(code: i32) -> String {
    let hint = if code == 0 { "; a server has to stay in the foreground" } else { "" };
    format!("--peer ended with exit code {code} before it opened a socket{hint}")
}

/// Puts a program's packets in the place of a flow: flows 0 to [`SPREAD`] − 1 are the program's. All others are simulated, except the
/// connections of the same application. `name`: the flow; by default the first that is no stream of datagrams. Nothing is recorded.
///
/// # Errors
/// If there is no such flow.
pub fn behind(mut scenario: Scenario, name: Option<&str>) -> Result<Scenario, String> {
    let chosen = choose(&scenario, name)?;
    let spec = &scenario.flows[chosen];
    let mut program = spec.clone();
    (program.start, program.stop, program.packets, program.traffic) = (Instant::ZERO, None, None, Traffic::Bulk);
    let application = scenario.applications.iter().position(|application| application.flows.contains(&chosen));
    let gone = match application {
        Some(index) => scenario.applications.remove(index).flows,
        None => chosen..chosen + 1,
    };
    for application in &mut scenario.applications {
        let removed = if application.flows.start > gone.start { gone.len() } else { 0 };
        let place = |flow: usize| flow - removed + SPREAD;
        application.flows = place(application.flows.start)..place(application.flows.end);
    }
    scenario.flows.drain(gone);
    let copies = (1..=SPREAD).map(|number| {
        let mut copy = program.clone();
        copy.name = format!("program {number}");
        copy
    });
    scenario.flows.splice(0..0, copies);
    scenario.record = Vec::new();
    Ok(scenario)
}

fn choose(scenario: &Scenario, name: Option<&str>) -> Result<usize, String> {
    let flows = &scenario.flows;
    let names = || flows.iter().take(10).map(|flow| flow.name.as_str()).collect::<Vec<_>>().join(", ");
    match name {
        Some(name) => flows.iter().position(|flow| flow.name == name).ok_or_else(|| {
            let more = if flows.len() > 10 { ", …" } else { "" };
            format!("--flow {name}: {} has no such flow; its flows: {}{more}", scenario.name, names())
        }),
        None => flows.iter().position(|flow| !matches!(flow.host, HostSpec::Datagrams(_))).ok_or_else(|| {
            format!("{} has only flows of datagrams; --flow NAME chooses the one whose path the command gets: {}", scenario.name, names())
        }),
    }
}

#[cfg(test)]
mod tests {
    use ackclock_sim::scenario::Document;

    use super::*;

    fn scenario(flows: &str) -> Scenario {
        let text = format!(
            "duration = \"1 s\"\nrecord = [\"cwnd\"]\n[topology]\nkind = \"chain\"\n\
             bottleneck = {{ rate = \"1 Mbit/s\", delay = \"1 ms\" }}\n{flows}"
        );
        Document::from_toml(&text, "test.toml").and_then(|document| document.scenario()).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    const FLOWS: &str = "
        [[flow]]
        name = \"noise\"
        application = { kind = \"cbr\", rate = \"100 kbit/s\" }
        [[flow]]
        name = \"bulk\"
        size = \"10 packets\"
        [[flow]]
        name = \"bursts\"
        application = { kind = \"on-off\", burst = \"10 kB\", pause = \"1 s\" }
    ";

    fn names(scenario: &Scenario) -> Vec<&str> {
        scenario.flows[SPREAD..].iter().map(|flow| flow.name.as_str()).collect()
    }

    /// The names of an application and of its flows.
    fn applications(scenario: &Scenario) -> Vec<(&str, Vec<&str>)> {
        let flows = |range: &std::ops::Range<usize>| scenario.flows[range.clone()].iter().map(|flow| flow.name.as_str()).collect();
        scenario.applications.iter().map(|application| (application.name.as_str(), flows(&application.flows))).collect()
    }

    #[test]
    fn the_variables_of_both_ends_mirror_one_another() {
        let [near, far] = Side::ALL.map(values);
        assert_eq!(near, ["10.0.1.1", "10.0.1.2", "fd00::1:1", "fd00::1:2"]);
        assert_eq!([&far[1], &far[0], &far[3], &far[2]], [&near[0], &near[1], &near[2], &near[3]]);
    }

    #[test]
    fn the_first_connection_makes_place() {
        let behind = behind(scenario(FLOWS), None).unwrap();
        assert_eq!(names(&behind), ["noise", "bursts"]);
        assert_eq!(applications(&behind), [("noise", vec!["noise"]), ("bursts", vec!["bursts"])]);
        let program = &behind.flows[0];
        assert_eq!((program.packets, program.start), (None, Instant::ZERO));
        assert!(behind.record.is_empty());
    }

    #[test]
    fn an_application_makes_place_whole() {
        let behind = behind(scenario(FLOWS), Some("noise")).unwrap();
        assert_eq!(names(&behind), ["bulk", "bursts"]);
        assert_eq!(applications(&behind), [("bursts", vec!["bursts"])]);
    }

    #[test]
    fn a_wrong_name_lists_the_flows() {
        let refused = behind(scenario(FLOWS), Some("bulc")).unwrap_err();
        assert!(refused.starts_with("--flow bulc: ") && refused.ends_with("its flows: noise, bulk, bursts"), "{refused}");
        let only = FLOWS.split("[[flow]]").nth(1).unwrap();
        let refused = behind(scenario(&format!("[[flow]]{only}")), None).unwrap_err();
        assert!(refused.contains("only flows of datagrams") && refused.ends_with(": noise"), "{refused}");
    }
}
