//! One flow: its end hosts, what is counted about it, and the row it gives.

use ackclock_core::cc::{self, Composed, CongestionControl, Window};
use ackclock_core::entry::{self, Entry};
use ackclock_core::params::Value;
use ackclock_core::units::{Bytes, Duration, Instant, Limit, Moment, Segments};

use super::error::RunError;
use super::result::FlowResult;
use super::stream::Stream;
use crate::app::Bulk;
use crate::net::packet::{HEADER, Packet};
use crate::net::route::Routes;
use crate::scenario::{ComposedSpec, ControlSpec, FlowSpec, LinkSpec, PartSpec, Recovery, Scenario, SlowStartSpec, Traffic};
use crate::tcp::checkpoints::CHECKPOINTS;
use crate::tcp::modern::connection::Connection;
use crate::tcp::ns2::{Counters, ExitReason, Sender};
use crate::tcp::receiver::Receiver;

/// The end hosts of a flow.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "the large one is the usual one, and the one that has to be fast")]
pub(super) enum Hosts {
    /// Profile `ns2`.
    Ns2 {
        /// Sends data.
        sender: Sender,
        /// Sends ACKs.
        receiver: Receiver,
    },
    /// Profile `modern`.
    Modern(Box<Connection>),
    /// No TCP at all.
    Datagrams(Box<Stream>),
}

/// One flow's end hosts, and what is counted of them.
#[derive(Debug)]
pub(super) struct Flow {
    pub(super) hosts: Hosts,
    /// The application that hears of what is delivered.
    pub(super) application: Option<usize>,
    /// When it started; `None`: it is one of a client's connections, and has not been opened.
    pub(super) started: Option<Instant>,
    /// Time of the timer event of sender and receiver that is in the event queue.
    pub(super) armed: [Option<Instant>; 2],
    /// When these timers are due; they were determined when they were set.
    pub(super) due: [Option<Moment>; 2],
    dropped: u64,
    /// Notices of drops that reached the sender.
    pub(super) notices: u64,
    /// Data segments lost that were sent before the first loss was noticed.
    first_overshoot_losses: u64,
}

impl Flow {
    /// The flow of `spec`, with the hosts not yet started.
    pub(super) fn new(index: u32, spec: &FlowSpec) -> Result<Self, RunError> {
        let host = &spec.host;
        let grows = matches!(spec.traffic, Traffic::Bursts(_));
        let packets = if grows { Some(0) } else { spec.packets };
        let bulk = Bulk { start: spec.start, stop: spec.stop, packets, grows };
        let control = || -> Result<Box<dyn CongestionControl>, RunError> {
            Ok(match &spec.control {
                ControlSpec::Composed(parts) => Box::new(compose(parts, host.initial_ssthresh)?),
                ControlSpec::Custom(factory) => factory(),
            })
        };
        let hosts = if let Traffic::Datagrams(_) = spec.traffic {
            Hosts::Datagrams(Box::new(Stream::new(spec.start, host.packet_size.0)))
        } else if let Some(modern) = &spec.modern {
            let connection = if let Traffic::Connection(_) = spec.traffic {
                Connection::dormant(modern, [control()?, control()?], host.packet_size.0)
            } else {
                Connection::bulk(modern, control()?, bulk, host.packet_size.0)
            };
            Hosts::Modern(Box::new(connection))
        } else {
            let sack = host.recovery == Recovery::Sack;
            let delay = host.delayed_ack.then_some(host.delayed_ack_timeout);
            let receiver = Receiver::new(sack, delay, (host.syn_size(), host.wire_size()), spec.start);
            Hosts::Ns2 { sender: Sender::new(index, host, control()?, bulk), receiver }
        };
        let started = if let Traffic::Connection(_) = spec.traffic { None } else { Some(spec.start) };
        let (armed, due) = ([None; 2], [None; 2]);
        let application = spec.traffic.application();
        Ok(Self { hosts, application, started, armed, due, dropped: 0, notices: 0, first_overshoot_losses: 0 })
    }

    /// When the timer of the host `side` is due.
    pub(super) fn poll_timeout(&self, side: usize) -> Option<Instant> {
        match &self.hosts {
            Hosts::Ns2 { sender, .. } if side == 0 => sender.poll_timeout(),
            Hosts::Ns2 { receiver, .. } => receiver.poll_timeout(),
            Hosts::Modern(connection) => connection.poll_timeout(side),
            Hosts::Datagrams(_) => None,
        }
    }

    /// Counts a packet that the network lost.
    pub(super) fn lose(&mut self, packet: &Packet) {
        self.dropped += 1;
        let exit = match &self.hosts {
            Hosts::Ns2 { sender, .. } => sender.slow_start_exit(),
            Hosts::Modern(connection) => connection.slow_start_exit(),
            Hosts::Datagrams(_) => return,
        };
        // The SYN, ACKs, and what is sent after the first loss was noticed are no part of the first overshoot.
        if !packet.is_ack() && packet.seq > 0 && exit.first_loss().is_none_or(|noticed| packet.sent < noticed) {
            self.first_overshoot_losses += 1;
        }
    }

    /// The flow's row, for a run that ended at `end`.
    pub(super) fn result(&mut self, spec: &FlowSpec, path: &Path, end: Instant) -> FlowResult {
        let counted = match &mut self.hosts {
            Hosts::Ns2 { sender, receiver } => Counted::of_ns2(sender, receiver, spec, end),
            Hosts::Modern(connection) => Counted::of_modern(connection, end),
            Hosts::Datagrams(stream) => Counted::of_datagrams(stream, end),
        };
        let Counted { counters, window, .. } = counted;
        let complete = spec.packets.is_some_and(|packets| counted.delivered_packets >= packets);
        let until = if complete { counted.delivered_at } else { end };
        let seconds = self.started.map_or(0.0, |started| until.since(started).as_secs_f64());
        FlowResult {
            started: self.started,
            delivered_bytes: counted.delivered_bytes,
            delivered_packets: counted.delivered_packets,
            goodput_bps: if seconds > 0.0 { 8.0 * counted.payload / seconds } else { 0.0 },
            sent_packets: counters.sent,
            retransmitted_packets: counters.retransmitted,
            timeouts: counters.timeouts,
            window_reductions: counters.reductions,
            dropped_packets: self.dropped,
            notices: self.notices,
            cwnd_max: counters.cwnd_max,
            cwnd_final: window.cwnd,
            ssthresh_final: window.ssthresh,
            slow_start_exit: counted.slow_start_exit,
            bdp_packets: path.bdp_packets,
            queue_packets: path.queue_packets,
            first_overshoot_losses: self.first_overshoot_losses,
            delivered_after: counted.delivered_after,
            completion_time: complete.then(|| counted.delivered_at.since(spec.start)),
            min_rtt: counted.min_rtt,
        }
    }
}

/// What the hosts of a flow have counted.
struct Counted {
    counters: Counters,
    window: Window,
    delivered_bytes: u64,
    delivered_packets: u64,
    /// Bytes of data delivered, without headers.
    payload: f64,
    delivered_at: Instant,
    delivered_after: [Option<u64>; CHECKPOINTS.len()],
    slow_start_exit: Option<(ExitReason, Instant, Segments)>,
    min_rtt: Option<Duration>,
}

impl Counted {
    fn of_ns2(sender: &Sender, receiver: &mut Receiver, spec: &FlowSpec, end: Instant) -> Self {
        let delivered_packets = receiver.delivered_packets();
        Self {
            counters: sender.counters(),
            window: sender.window(),
            delivered_bytes: receiver.delivered_bytes,
            delivered_packets,
            payload: delivered_packets as f64 * spec.host.packet_size.0 as f64,
            delivered_at: receiver.delivered_at,
            delivered_after: receiver.checkpoints(end),
            slow_start_exit: sender.slow_start_exit().get(),
            min_rtt: sender.min_rtt(),
        }
    }

    fn of_modern(connection: &mut Connection, end: Instant) -> Self {
        let counters = connection.sender().counters();
        let (_, min_rtt, _) = connection.sender().timing();
        Self {
            counters: Counters {
                sent: counters.sent,
                retransmitted: counters.retransmitted,
                timeouts: counters.timeouts,
                reductions: counters.reductions,
                cwnd_max: counters.cwnd_max,
            },
            window: connection.sender().window(),
            delivered_bytes: connection.delivered_bytes,
            delivered_packets: connection.delivered_segments(),
            payload: connection.delivered_bytes as f64,
            delivered_at: connection.delivered_at,
            delivered_after: connection.checkpoints(end),
            slow_start_exit: connection.slow_start_exit().get(),
            min_rtt,
        }
    }

    fn of_datagrams(stream: &mut Stream, end: Instant) -> Self {
        let delivered_bytes = stream.delivered_bytes();
        Self {
            counters: Counters { sent: stream.sent, cwnd_max: f64::NAN, ..Counters::default() },
            window: Window { cwnd: f64::NAN, ssthresh: f64::NAN },
            delivered_bytes,
            delivered_packets: stream.delivered,
            payload: delivered_bytes as f64,
            delivered_at: stream.delivered_at,
            delivered_after: stream.checkpoints.finish(end, delivered_bytes),
            slow_start_exit: None,
            min_rtt: None,
        }
    }
}

/// What a flow's route can hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path {
    /// Bandwidth-delay product in packets of the flow: the lowest rate times the round-trip time without queues.
    bdp_packets: f64,
    /// Packets that the queue before the slowest link holds; `None`: without limit.
    queue_packets: Option<f64>,
}

impl Path {
    /// The path of flow `index`.
    pub(super) fn new(scenario: &Scenario, routes: &Routes, index: usize) -> Self {
        let wire = scenario.flows[index].wire_size();
        let links = |route| routes.hops(route).iter().map(|&link| &scenario.links[link as usize]);
        let unloaded = |route, size| {
            let crossing = |link: &LinkSpec| link.delay + link.rate.transmission(size);
            links(route).fold(Duration::ZERO, |sum, link| sum + crossing(link))
        };
        let round_trip = unloaded(2 * index, wire) + unloaded(2 * index + 1, Bytes(u64::from(HEADER)));
        let Some(slowest) = links(2 * index).min_by_key(|link| link.rate) else {
            return Self { bdp_packets: 0.0, queue_packets: None };
        };
        let limit = slowest.queue.as_ref().and_then(|queue| queue.discipline.params.0.iter().find(|(name, _)| *name == "limit"));
        let queue_packets = limit.and_then(|(_, value)| match value {
            Value::Limit(Limit::Packets(packets)) => Some(*packets as f64),
            Value::Limit(Limit::Bytes(bytes)) => Some(*bytes as f64 / wire.0 as f64),
            _ => None,
        });
        Self { bdp_packets: slowest.rate.bytes_in(round_trip) / wire.0 as f64, queue_packets }
    }
}

/// Composes a congestion control from the registry.
fn compose(parts: &ComposedSpec, initial_ssthresh: f64) -> Result<Composed, RunError> {
    let loss_response = parts.loss_response.as_ref().map(|part| build(cc::loss_response::ENTRIES, part)).transpose()?;
    Ok(Composed::new(
        build(cc::initial_window::ENTRIES, &parts.initial_window)?,
        match &parts.slow_start {
            SlowStartSpec::Part(part) => build(cc::slow_start::ENTRIES, part)?,
            SlowStartSpec::Custom(factory) => factory(),
        },
        build(cc::avoidance::ENTRIES, &parts.avoidance)?,
        loss_response,
        initial_ssthresh,
    ))
}

fn build<P: ?Sized>(entries: &'static [&'static Entry<P>], part: &PartSpec) -> Result<Box<P>, RunError> {
    let entry = entry::find(entries, part.name).ok_or_else(|| RunError::Part(format!("there is no part {}", part.name)))?;
    (entry.build)(&part.params).map_err(|reason| RunError::Part(format!("{}: {reason}", part.name)))
}
