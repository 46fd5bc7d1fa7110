//! The emulator between sockets of this machine's kernel. The tests pass without having run where the rights for them are missing.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd as _;

use ackclock_core::qdisc::Ecn;
use ackclock_linux::socket;
use ackclock_sim::engine::{FrameConnection, RunResult};
use ackclock_sim::scenario::{Document, Scenario};
use ackclock_tcp::Side;

use super::*;
use crate::space::{Route, Space, Terminal, address};

fn scenario(text: &str) -> Scenario {
    Document::from_toml(text, "").and_then(|document| document.scenario()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Namespaces for the ends of `flows`; `None`: this machine or user cannot.
fn space(flows: usize, route: Route) -> Option<Space> {
    let ends = (0..flows).flat_map(|flow| Side::ALL.map(|side| (flow, side)));
    let terminals: Vec<Terminal> = ends.map(|(flow, side)| Terminal { node: side.index(), flow, side, route }).collect();
    Space::new(&terminals).map_err(|reason| eprintln!("skipped: {reason}")).ok()
}

fn live(scenario: Scenario, ports: &Ports) -> Live {
    let connection = |flow, spec: &ackclock_sim::scenario::FlowSpec| {
        let [sender, receiver] = Side::ALL.map(|side| ports.port(flow, side));
        Some(Box::new(Passage::new([sender?, receiver?], spec.start)) as FrameConnection)
    };
    Live::new(scenario, &[], &mut { connection }).unwrap()
}
