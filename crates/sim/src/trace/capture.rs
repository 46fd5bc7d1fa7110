//! Captures of packets, at the entrance of links and at hosts.
//!
//! A link captures packets at its entrance, before its loss model and its queue. A host captures packets when it sends them and when they
//! arrive. A comment notes a later loss on the link.

use ackclock_core::qdisc::Reason;
use ackclock_core::units::{Duration, Instant};
use ackclock_host::Side;
use ackclock_wire::frame::{Endpoint, MOST_HEADERS, datagram, frame_headers, headers};
use ackclock_wire::pcapng::{self, Direction, Writer};
use ackclock_wire::segment::Segment;

use super::ns2_wire::Ns2Wire;
use super::{Entering, Point};
use crate::net::packet::{Packet, Payloads};
use crate::scenario::text::unknown;
use crate::scenario::{HostSpec, Scenario, Traffic};

/// Port of the end that waits for a connection.
const SERVER_PORT: u16 = 5001;
/// First port of the ends that open connections, and the number of such ports.
const CLIENT_PORT: usize = 1024;
const CLIENT_PORTS: usize = 64_512;

/// A place where packets are captured.
#[derive(Clone, Debug)]
struct Place {
    name: String,
    description: String,
    /// Rate of a link, in bits per second.
    speed: Option<u64>,
}

/// A flow as a connection.
#[derive(Clone, Debug)]
struct Conversation {
    name: String,
    /// Indices of the nodes of sender and receiver.
    nodes: [usize; 2],
    ends: [Endpoint; 2],
    /// Conversion of `ns2` packets to segments.
    ns2: Option<Ns2Wire>,
    /// Whether it is a stream of datagrams instead of a connection.
    datagrams: bool,
    /// Whether its packets are frames, which have headers already.
    frames: bool,
    /// Time of the first data of an `ns2` host. An ACK of a packet sent earlier acknowledges the SYN.
    first_data: Option<Instant>,
}

/// A captured packet. Its headers are in the common buffer `bytes`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) at: u64,
    headers: usize,
    pub(super) length: u16,
    pub(super) place: u16,
    pub(super) direction: Direction,
    pub(super) flow: u32,
    pub(super) from: Side,
    /// Number of the packet in the simulation.
    seq: u32,
}

/// The loss of a packet: time of entering the link, place, flow and number (the sort key), then reason and time of the loss.
type Fate = ((u64, u16, u32, u32), (Reason, u64));

/// The captured packets of a run.
#[derive(Clone, Debug)]
pub struct Capture {
    end: Instant,
    places: Vec<Place>,
    /// The place that captures a link or a node, by index.
    links: Vec<Option<u16>>,
    nodes: Vec<Option<u16>>,
    conversations: Vec<Conversation>,
    seen: Vec<Seen>,
    bytes: Vec<u8>,
    /// Most bytes of headers; frames may have more than simulated packets.
    most: u32,
    fates: Vec<Fate>,
}

impl Capture {
    /// A capture of the links and nodes called `names`.
    ///
    /// # Errors
    /// A message: there is no such link or host, or packets are too small for headers.
    pub(crate) fn new(scenario: &Scenario, names: &[String]) -> Result<Self, String> {
        let conversations = conversations(scenario)?;
        let end = Instant::ZERO + scenario.duration;
        let (links, nodes) = (vec![None; scenario.links.len()], vec![None; scenario.nodes.len()]);
        let (seen, bytes, fates) = (Vec::new(), Vec::new(), Vec::new());
        let (places, most) = (Vec::new(), MOST_HEADERS);
        let mut capture = Self { end, places, links, nodes, conversations, seen, bytes, most, fates };
        for name in names {
            capture.add(scenario, name)?;
        }
        Ok(capture)
    }

    /// Adds the place called `name` unless it exists.
    fn add(&mut self, scenario: &Scenario, name: &str) -> Result<(), String> {
        if self.places.iter().any(|place| place.name == name) {
            return Ok(());
        }
        let index = u16::try_from(self.places.len()).map_err(|_| "capture: more than 65536 places".to_owned())?;
        let hosts: Vec<usize> = self.conversations.iter().flat_map(|conversation| conversation.nodes).collect();
        let (description, speed) = if let Some(link) = scenario.links.iter().position(|link| link.name == name) {
            self.links[link] = Some(index);
            ("link, as packets arrive at its queue", Some(scenario.links[link].rate.mean().as_bits_per_sec()))
        } else if let Some(&host) = hosts.iter().find(|&&node| scenario.nodes[node] == name) {
            self.nodes[host] = Some(index);
            ("host, as packets are sent and arrive", None)
        } else if scenario.nodes.iter().any(|node| node == name) {
            return Err(format!(
                "capture: no flow begins or ends at node \"{name}\"; capture at one of its links instead, such as those of `links`"
            ));
        } else {
            let known = scenario.links.iter().map(|link| &link.name).chain(hosts.iter().map(|&node| &scenario.nodes[node]));
            let mut known: Vec<&str> = known.map(String::as_str).collect();
            let mut listed = std::collections::BTreeSet::new();
            known.retain(|name| listed.insert(*name));
            return Err(format!("capture: {}", unknown("link or host", name, &known)));
        };
        self.places.push(Place { name: name.to_owned(), description: description.to_owned(), speed });
        Ok(())
    }

    /// The packets of `flow` are frames: bytes that begin with an IP header.
    pub(crate) fn set_frames(&mut self, flow: usize) {
        self.conversations[flow].frames = true;
    }

    /// Names of the places that were captured.
    pub fn places(&self) -> impl Iterator<Item = &str> {
        self.places.iter().map(|place| place.name.as_str())
    }

    /// A packet is at `point`.
    pub(super) fn passed(&mut self, at: Instant, point: Point, packet: &Packet, payloads: &Payloads) {
        if at >= self.end {
            return;
        }
        let conversation = &mut self.conversations[packet.flow()];
        if matches!(point, Point::Sent) && packet.from() == Side::Sender && packet.seq > 0 {
            conversation.first_data.get_or_insert(packet.sent);
        }
        let [sender, receiver] = [packet.from().index(), packet.from().peer().index()];
        let (place, direction) = match point {
            Point::Link(link) => (self.links[link as usize], Direction::Unknown),
            Point::Sent => (self.nodes[conversation.nodes[sender]], Direction::Outbound),
            Point::Received => (self.nodes[conversation.nodes[receiver]], Direction::Inbound),
        };
        let Some(place) = place else { return };
        let ends = (conversation.ends[sender], conversation.ends[receiver]);
        // Hops are forwarding nodes: a packet that has arrived has been forwarded once less than the number of links that it crossed.
        let hops = if direction == Direction::Inbound { packet.hop.saturating_sub(1) } else { packet.hop };
        let start = self.bytes.len();
        let length = if conversation.frames {
            payloads.bytes.get(packet.payload).map(|frame| frame_headers(&mut self.bytes, frame, packet.ecn()))
        } else if let Some(segment) = segment(conversation, packet, payloads) {
            Some(headers(&mut self.bytes, &segment, ends, hops))
        } else {
            conversation.datagrams.then(|| datagram(&mut self.bytes, (packet.size(), packet.ecn()), ends, hops))
        };
        let Some(length) = length else { return };
        self.most = self.most.max((self.bytes.len() - start) as u32);
        let (flow, seq, length) = (packet.flow() as u32, packet.seq, length as u16);
        let (at, from) = (at.as_nanos(), packet.from());
        self.seen.push(Seen { at, headers: start, length, place, direction, flow, from, seq });
    }

    /// A packet that entered `link` is dropped at `at`.
    pub(super) fn dropped(&mut self, at: Instant, link: u32, entering: &Entering, reason: Reason) {
        if let Some(place) = self.links[link as usize] {
            let Entering { now, packet } = *entering;
            self.fates.push(((now.at.as_nanos(), place, packet.flow() as u32, packet.seq), (reason, at.as_nanos())));
        }
    }

    /// The capture as a pcapng file in the order of time, with at most `snaplen` bytes of each packet; `None`: its headers. If `chosen` is
    /// given, the file contains only these places; places that were not captured contribute nothing.
    pub fn pcapng(&self, program: &str, chosen: Option<&[String]>, snaplen: Option<u32>) -> Vec<u8> {
        let mut writer = Writer::new(program);
        let mut interfaces = Vec::with_capacity(self.places.len());
        let mut count = 0;
        for place in &self.places {
            let wanted = chosen.is_none_or(|names| names.contains(&place.name));
            interfaces.push(wanted.then_some(count));
            if wanted {
                count += 1;
                writer.interface(&place.name, &place.description, place.speed, snaplen.unwrap_or(self.most));
            }
        }
        let mut fates = self.fates.clone();
        fates.sort_unstable_by_key(|&(key, _)| key);
        for index in self.order() {
            let seen = &self.seen[index];
            let Some(interface) = interfaces[usize::from(seen.place)] else { continue };
            let bytes = self.headers(index);
            let comment = comment(&fates, seen);
            writer.packet(&pcapng::Packet {
                interface,
                at: seen.at,
                headers: bytes,
                length: u32::from(seen.length),
                snaplen: snaplen.unwrap_or(bytes.len() as u32),
                direction: seen.direction,
                comment: comment.as_deref(),
            });
        }
        writer.finish()
    }

    /// The packets in the order of time.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.seen.len()).collect();
        order.sort_by_key(|&index| self.seen[index].at);
        order
    }

    /// The TCP segments of IPv4 in the order of time.
    pub(super) fn segments(&self) -> impl Iterator<Item = (&Seen, Segment)> {
        self.order().into_iter().filter_map(|index| Some((&self.seen[index], Segment::of_headers(self.headers(index))?)))
    }

    /// The name of a place.
    pub(super) fn place(&self, index: u16) -> &str {
        &self.places[usize::from(index)].name
    }

    /// The name of a flow.
    pub(super) fn flow(&self, index: usize) -> &str {
        &self.conversations[index].name
    }

    /// The headers of a packet.
    fn headers(&self, index: usize) -> &[u8] {
        let end = self.seen.get(index + 1).map_or(self.bytes.len(), |next| next.headers);
        &self.bytes[self.seen[index].headers..end]
    }
}

/// The flows as connections.
fn conversations(scenario: &Scenario) -> Result<Vec<Conversation>, String> {
    let flows = scenario.flows.iter().enumerate();
    let conversation = |(index, flow): (usize, &crate::scenario::FlowSpec)| {
        let small = || format!("capture: packets of {} are too small for the 40 bytes of IPv4 and TCP headers and data", flow.name);
        let (ns2, datagrams) = match &flow.host {
            HostSpec::Ns2(host) => (Some(Ns2Wire::new(host).ok_or_else(small)?), false),
            HostSpec::Modern(_) => (None, false),
            HostSpec::Datagrams(_) | HostSpec::Other(_) => (None, true),
        };
        let port = (CLIENT_PORT + index % CLIENT_PORTS) as u16;
        let server = SERVER_PORT + (index / CLIENT_PORTS) as u16;
        let ports = if let Traffic::Connection(_) = flow.traffic { [server, port] } else { [port, server] };
        let ends = [Endpoint::new(flow.from, ports[0]), Endpoint::new(flow.to, ports[1])];
        Ok(Conversation { name: flow.name.clone(), nodes: [flow.from, flow.to], ends, ns2, datagrams, frames: false, first_data: None })
    };
    flows.map(conversation).collect()
}

/// The segment represented by a packet.
fn segment(conversation: &Conversation, packet: &Packet, payloads: &Payloads) -> Option<Segment> {
    let Some(wire) = conversation.ns2 else {
        return payloads.segments.get(packet.payload).map(|segment| Segment { ecn: packet.ecn(), ..*segment });
    };
    if packet.from() == Side::Sender {
        return Some(wire.data(packet));
    }
    let of_syn = packet.seq == 1 && conversation.first_data.is_none_or(|first| packet.sent < first);
    let sack = payloads.ack_options.get(packet.payload).map(|options| options.sack).unwrap_or_default();
    Some(wire.ack(packet, &sack, of_syn))
}

/// The comment on a lost packet: the reason and, unless it was lost at once, the delay.
fn comment(fates: &[Fate], seen: &Seen) -> Option<String> {
    if seen.direction != Direction::Unknown {
        return None;
    }
    let key = (seen.at, seen.place, seen.flow, seen.seq);
    let (_, (reason, at)) = fates[fates.binary_search_by_key(&key, |&(key, _)| key).ok()?];
    let later = if at > seen.at { format!(" {} s later", Duration::from_nanos(at - seen.at).as_secs_f64()) } else { String::new() };
    Some(match reason {
        Reason::Random => format!("dropped by the loss model{later}"),
        reason => format!("dropped by the queue ({}){later}", reason.name()),
    })
}
