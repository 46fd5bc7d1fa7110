//! Queue disciplines of a guest's kernel as queues of the engine's links.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use ackclock_core::qdisc::{Ecn, Packet};
use ackclock_core::units::Bytes;
use ackclock_sim::engine::Passed;
use ackclock_sim::scenario::Scenario;
use ackclock_wire::frame::{self, Endpoint};

use crate::execute::{Ending, execute};
use crate::guest::{Access, Guest, GuestError, Hear};
use crate::joint::{DEVICES, Joint};
use crate::setup::Commands;

/// The smallest MTU of a queue's interface, that of Ethernet: some disciplines hold more than a packet of this size before they drop one.
const MTU: u64 = 1500;
/// The smallest packet: IPv4 and UDP headers.
const LEAST: u64 = 28;
/// Ports of the flows: from the first on, in turn.
const PORTS: [u32; 2] = [1024, 60_000];
const SERVER: u16 = 5001;
/// Where `tc` may be.
const PATH: &str = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// The option of `netem` by which it releases packets twice, which no link can send; `tc` takes any beginning of it.
const DUPLICATES: &str = "duplicate";
/// Longest name of a discipline (`IFNAMSIZ` without its end).
const NAME: usize = 15;

/// A link whose queue is the kernel's.
#[derive(Clone, Debug)]
pub(crate) struct QueuePlan {
    /// Index of the link.
    pub(crate) link: usize,
    /// Its name.
    name: String,
    /// Number of the interface.
    device: u32,
    /// What `tc` takes, line by line.
    command: String,
    mtu: u64,
}

/// The name of the discipline in a command that may give it a number first: `handle 1: htb`.
fn kind(command: &str) -> &str {
    let mut words = command.split_whitespace();
    match words.next() {
        Some("handle") => words.nth(1),
        other => other,
    }
    .unwrap_or_default()
}

impl QueuePlan {
    /// The queues of `scenario`. Their interfaces have the last numbers.
    ///
    /// # Errors
    /// If a link cannot send what a discipline gives.
    pub(crate) fn all(scenario: &Scenario) -> Result<Vec<Self>, String> {
        let largest = scenario.flows.iter().map(|flow| flow.host.wire_size().0).max().unwrap_or_default();
        let links = scenario.links.iter().enumerate();
        let named = links.filter_map(|(link, spec)| Some((link, &spec.name, spec.queue.as_ref()?.command()?)));
        named
            .enumerate()
            .map(|(index, (link, name, command))| {
                let refused = |why: &str| Err(format!("link {name}: queue.command = {command:?}: {why}"));
                let kind = kind(command);
                let is_name = kind.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
                if kind.len() > NAME || !is_name {
                    return refused("it must begin with the name of a queue discipline, such as fq_codel");
                }
                if command.split_whitespace().any(|word| word.len() > 1 && DUPLICATES.starts_with(word)) {
                    return refused("a link sends no packet twice; use the losses of the link instead");
                }
                let device = DEVICES.saturating_sub(1 + index) as u32;
                Ok(Self { link, name: name.clone(), device, command: command.to_owned(), mtu: largest.max(MTU) })
            })
            .collect()
    }

    /// Whether the programs of this machine are needed to set the discipline up: `tc` reads its options.
    pub(crate) fn needs_tc(&self) -> bool {
        self.command.contains(char::is_whitespace)
    }

    /// Makes the interface and its discipline.
    fn set_up(&self, guest: &mut Guest, heard: &Heard) -> Result<(), String> {
        let text = |error: GuestError| error.to_string();
        let mut commands = Commands::new(guest);
        commands.add(&format!("queue {} {}", self.device, self.mtu)).and_then(|()| commands.finish()).map_err(text)?;
        let refused = |why: &str| format!("link {}: the kernel has no queue {:?}: {why}", self.name, self.command);
        if !self.needs_tc() {
            let answer = guest.ask(&format!("qdisc {}", self.command)).map_err(text)?;
            return if answer == "ok" { Ok(()) } else { Err(refused(answer.rsplit(": ").next().unwrap_or(&answer))) };
        }
        let mut lines = self.command.lines().filter(|line| !line.trim().is_empty());
        let root = lines.next().unwrap_or_default().split_whitespace();
        self.tc(guest, heard, "qdisc add dev eth0 root".split(' ').chain(root)).map_err(|why| refused(&why))?;
        for line in lines {
            // `class add …`: the interface comes after the two words that say what to do.
            let mut words = line.split_whitespace();
            let first: Vec<&str> = words.by_ref().take(2).collect();
            let whole = first.into_iter().chain(["dev", "eth0"]).chain(words);
            self.tc(guest, heard, whole).map_err(|why| format!("link {}: queue.command: {:?}: {why}", self.name, line.trim()))?;
        }
        Ok(())
    }

    /// Runs `tc` with these words.
    fn tc<'a>(&self, guest: &mut Guest, heard: &Heard, words: impl Iterator<Item = &'a str>) -> Result<(), String> {
        heard.take();
        match execute(guest, self.device, std::iter::once("tc").chain(words), PATH)? {
            Ending::Code(0) => Ok(()),
            Ending::Code(_) => Err(shortened(&heard.take())),
            Ending::Missing => Err("the program tc of this machine reads its options, but there is none; install iproute2".to_owned()),
        }
    }
}

/// What `tc` says, without its usage.
fn shortened(said: &str) -> String {
    let lines: Vec<&str> =
        said.lines().map(str::trim).take_while(|line| !line.starts_with("Usage")).filter(|line| !line.is_empty()).collect();
    if lines.is_empty() { "tc fails".to_owned() } else { lines.join("; ") }
}

/// What `tc` has said.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heard(Arc<Mutex<Vec<u8>>>);

impl Heard {
    /// What a guest with these queues needs.
    pub(crate) fn access(&self, queues: &[QueuePlan]) -> Option<Access> {
        let said = self.0.clone();
        let hear = move |_, bytes: &[u8]| -> io::Result<()> {
            said.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
            Ok(())
        };
        queues.iter().any(QueuePlan::needs_tc).then(|| Access { writable: Vec::new(), hear: Hear::new(hear) })
    }

    fn take(&self) -> String {
        let said = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        String::from_utf8_lossy(&said).into_owned()
    }
}

/// Makes the interfaces of all queues.
///
/// # Errors
/// If the kernel or `tc` refuses one.
pub(crate) fn set_up(guest: &mut Guest, queues: &[QueuePlan], heard: &Heard) -> Result<(), String> {
    if queues.iter().any(QueuePlan::needs_tc) {
        guest.set_up("files").map_err(|error| error.to_string())?;
    }
    queues.iter().try_for_each(|queue| queue.set_up(guest, heard))
}

/// The queues of a guest while it runs.
#[derive(Debug, Default)]
pub(crate) struct Queues {
    /// Interfaces, by the links.
    devices: BTreeMap<usize, u32>,
    /// What the queue of each interface has done and nobody has asked for yet.
    passed: BTreeMap<u32, VecDeque<Passed>>,
    headers: Vec<u8>,
}

impl Queues {
    pub(crate) fn new(plans: &[QueuePlan]) -> Self {
        Self {
            devices: plans.iter().map(|plan| (plan.link, plan.device)).collect(),
            passed: plans.iter().map(|plan| (plan.device, VecDeque::new())).collect(),
            headers: Vec::new(),
        }
    }

    /// A packet arrives at a queue.
    pub(crate) fn enqueue(&mut self, joint: &mut Joint, link: usize, packet: &Packet) {
        let &Packet { handle, flow, ends: (from, to), size, ecn, .. } = packet;
        let size = size.0.max(LEAST);
        let port = (PORTS[0] + flow % PORTS[1]) as u16;
        self.headers.clear();
        let ends = (Endpoint::new(from as usize, port), Endpoint::new(to as usize, SERVER));
        frame::datagram(&mut self.headers, (Bytes(size), ecn), ends, 0);
        joint.enqueue(self.devices[&link], handle + 1, &self.headers, size);
    }

    /// A link is free.
    pub(crate) fn dequeue(&mut self, joint: &mut Joint, link: usize) {
        joint.free(self.devices[&link]);
    }

    /// A packet leaves an interface; whether this is a queue.
    pub(crate) fn leave(&mut self, device: u32, number: u32, frame: &[u8]) -> bool {
        self.note(device, Passed::Left(number.wrapping_sub(1), Ecn::of(frame.get(1).copied().unwrap_or_default())))
    }

    /// A queue has dropped a packet.
    pub(crate) fn drop(&mut self, device: u32, number: u32) {
        self.note(device, Passed::Dropped(number.wrapping_sub(1)));
    }

    fn note(&mut self, device: u32, passed: Passed) -> bool {
        self.passed.get_mut(&device).map(|list| list.push_back(passed)).is_some()
    }

    /// What the queue of `link` has done next.
    pub(crate) fn passed(&mut self, link: usize) -> Option<Passed> {
        self.passed.get_mut(self.devices.get(&link)?)?.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_discipline_may_have_a_number() {
        assert_eq!(kind("fq_codel target 5ms"), "fq_codel");
        assert_eq!(kind("handle 1: htb default 2\nclass add parent 1: classid 1:1 htb rate 2mbit"), "htb");
        assert_eq!(kind("handle 1:"), "");
    }

    #[test]
    fn what_tc_says_ends_before_its_usage() {
        assert_eq!(shortened("What is \"fast\"?\nUsage: ... fq_codel\n  [ limit PACKETS ]\n"), "What is \"fast\"?");
        assert_eq!(shortened("Illegal \"limit\"\n\nError: no such thing.\n"), "Illegal \"limit\"; Error: no such thing.");
        assert_eq!(shortened(""), "tc fails");
    }
}
