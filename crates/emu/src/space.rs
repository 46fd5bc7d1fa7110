//! Network namespaces with TUN devices for the end nodes of a scenario.
//!
//! Every end node has a namespace with one interface. Every flow has an [`address`] pair of its own. Nothing else is reachable from the
//! namespaces, and they vanish with the [`Space`] or with the process.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io;
use std::path::Path;

use ackclock_host::Side;
use ackclock_kernel::{MOST_FLOWS, Route, Terminal, address, address_v6};
use ackclock_linux::Namespace;
use ackclock_linux::command::run;
use ackclock_linux::tun::{self, Frames};

/// Interface of every namespace.
const INTERFACE: &str = "tun0";
/// Packets that the kernel may keep in front of the interface; the emulator empties it at once.
const QUEUE: u32 = 10_000;
/// Parameters of every namespace: no neighbour discovery, no memory of windows of earlier connections, and an end of closed sockets with
/// unsent data about 10 s after the path has vanished. By default they would keep their memory for minutes.
const PARAMETERS: [(&str, &str); 3] =
    [("ipv6/conf/all/disable_ipv6", "1"), ("ipv4/tcp_no_metrics_save", "1"), ("ipv4/tcp_orphan_retries", "4")];

/// Parameters of a namespace with IPv6: only the addresses that it is given.
const V6: [(&str, &str); 3] =
    [("ipv6/conf/tun0/addr_gen_mode", "1"), ("ipv6/conf/tun0/accept_ra", "0"), ("ipv6/conf/all/disable_ipv6", "0")];

/// The namespace of an end node.
#[derive(Debug)]
pub struct Node {
    /// Index of the scenario's node.
    pub index: usize,
    /// The interface: reads give the packets that the kernel sends; writes deliver packets to it. Never blocks.
    pub tun: File,
    /// The flows with an end here.
    pub terminals: Vec<(usize, Side)>,
    namespace: Namespace,
}

/// The namespaces of a run, in the order of the nodes.
#[derive(Debug)]
pub struct Space {
    /// Every end node.
    pub nodes: Vec<Node>,
}

/// What is missing, in the words of the user.
pub(crate) fn missing(what: impl std::fmt::Display) -> String {
    format!("cannot run on the kernel: {what}; `ackclock kernel check` says what is missing")
}

impl Space {
    /// Makes a namespace for every node among `terminals`.
    ///
    /// # Errors
    /// If rights, the TUN device or a command are missing: says which.
    pub fn new(terminals: &[Terminal]) -> Result<Self, String> {
        if let Some(terminal) = terminals.iter().find(|terminal| terminal.flow >= MOST_FLOWS) {
            return Err(format!("a run on the kernel has at most {MOST_FLOWS} flows, not {}", terminal.flow + 1));
        }
        let mut nodes: Vec<usize> = terminals.iter().map(|terminal| terminal.node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let lay_out = |node: usize| Node::new(node, terminals.iter().filter(|terminal| terminal.node == node));
        Ok(Self { nodes: nodes.into_iter().map(lay_out).collect::<Result<_, _>>()? })
    }

    /// Gives both ends of every flow an IPv6 address too, without neighbour discovery and without packets of the kernel's own. False if the
    /// kernel has no IPv6.
    ///
    /// # Errors
    /// As [`Space::new`].
    pub fn add_v6(&self) -> Result<bool, String> {
        if !Path::new("/proc/sys/net/ipv6").exists() {
            return Ok(false);
        }
        self.nodes.iter().try_for_each(Node::add_v6)?;
        Ok(true)
    }

    /// The namespace with an end of a flow.
    pub fn node(&self, flow: usize, side: Side) -> Option<&Node> {
        self.nodes.iter().find(|node| node.terminals.contains(&(flow, side)))
    }
}

impl Node {
    fn new<'a>(index: usize, terminals: impl Iterator<Item = &'a Terminal> + Clone + Send) -> Result<Self, String> {
        let namespace = Namespace::new().map_err(|error| missing(format_args!("no new network namespace: {error}")))?;
        let here = terminals.clone().map(|terminal| (terminal.flow, terminal.side)).collect();
        let enter = |error: io::Error| missing(format_args!("a network namespace cannot be entered: {error}"));
        let tun = namespace.run(|| prepare(terminals)).map_err(enter)??;
        Ok(Self { index, tun, terminals: here, namespace })
    }

    /// The namespace.
    pub fn namespace(&self) -> &Namespace {
        &self.namespace
    }

    fn add_v6(&self) -> Result<(), String> {
        self.set(&V6)?;
        let mut commands = String::new();
        for &(flow, side) in &self.terminals {
            let (own, peer) = (address_v6(flow, side), address_v6(flow, side.peer()));
            let _ = writeln!(commands, "addr add {own}/128 dev {INTERFACE} nodad");
            let _ = writeln!(commands, "route add {peer}/128 dev {INTERFACE} src {own}");
        }
        let ran = self.inside(|| run("ip", &["-6", "-batch", "-"], &commands));
        ran.unwrap_or_else(|error| Err(format!("a network namespace cannot be entered: {error}"))).map_err(missing)
    }

    /// Runs `work`, such as making a socket, in the namespace and in a thread of its own.
    ///
    /// # Errors
    /// If the namespace cannot be entered.
    pub fn inside<T: Send>(&self, work: impl FnOnce() -> T + Send) -> io::Result<T> {
        self.namespace.run(work)
    }

    /// Sets parameters of the namespace, such as `("ipv4/tcp_sack", "0")`.
    ///
    /// # Errors
    /// If the kernel refuses one: names it.
    pub fn set(&self, parameters: &[(&str, &str)]) -> Result<(), String> {
        let write = || {
            parameters.iter().try_for_each(|(name, value)| {
                let file = format!("/proc/sys/net/{name}");
                fs::write(&file, value).map_err(|error| missing(format_args!("{file} does not take {value:?}: {error}")))
            })
        };
        self.inside(write).map_err(|error| missing(format_args!("a network namespace cannot be entered: {error}")))?
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // Closed sockets end at once; an error leaves them the time above.
        self.set(&[("ipv4/tcp_orphan_retries", "1")]).ok();
    }
}

/// The attributes of a route, as `ip route` wants them.
fn attributes(route: &Route) -> String {
    let mut text = format!("mtu lock {}", route.mtu);
    for (name, value) in [("initcwnd", route.initial_window), ("initrwnd", route.initial_receive_window)] {
        if let Some(value) = value {
            let _ = write!(text, " {name} {value}");
        }
    }
    if route.ecn {
        text.push_str(" features ecn");
    }
    text
}

/// Makes the interface, its addresses and its routes in the namespace of the calling thread.
fn prepare<'a>(terminals: impl Iterator<Item = &'a Terminal> + Clone) -> Result<File, String> {
    let tun = tun::open(c"tun0", Frames::Packets).map_err(missing)?;
    for (name, value) in PARAMETERS {
        match fs::write(format!("/proc/sys/net/{name}"), value) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(missing(format_args!("{name} does not change: {error}"))),
            _ => {}
        }
    }
    let mtu = terminals.clone().map(|terminal| terminal.route.mtu).max().unwrap_or(1500);
    let mut commands = format!("link set lo up\nlink set {INTERFACE} txqueuelen {QUEUE} mtu {mtu} up\n");
    for Terminal { flow, side, route, .. } in terminals {
        let (own, peer) = (address(*flow, *side), address(*flow, side.peer()));
        let _ = writeln!(commands, "addr add {own}/32 dev {INTERFACE}");
        let _ = writeln!(commands, "route add {peer}/32 dev {INTERFACE} src {own} {}", attributes(route));
    }
    run("ip", &["-4", "-batch", "-"], &commands).map_err(missing)?;
    // A plain queue: the default of the machine may drop, mark or pace.
    run("tc", &["qdisc", "replace", "dev", INTERFACE, "root", "pfifo", "limit", &QUEUE.to_string()], "").map_err(missing)?;
    Ok(tun)
}

#[cfg(test)]
#[path = "space_tests.rs"]
mod tests;
