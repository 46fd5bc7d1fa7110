//! One flow: its end hosts, its counters, and its row in the results.

use ackclock_core::cc::{self, Composed, CongestionControl, Window};
use ackclock_core::entry::Parts;
use ackclock_core::params::Value;
use ackclock_core::units::{Bytes, Duration, Instant, Limit, Moment, Rate};
use ackclock_host::{self as host, Bulk, Profile, Side};
use ackclock_tcp::{HEADER, modern, ns2};

use super::error::RunError;
use super::hosts::Hosts;
use super::result::FlowResult;
use super::stream::Stream;
use crate::net::packet::Packet;
use crate::net::route::Routes;
use crate::scenario::profiles::{Need, PROFILES};
use crate::scenario::{ComposedSpec, ControlSpec, FlowSpec, HostSpec, LinkSpec, OtherHost, PartSpec, Scenario, SlowStartSpec, Traffic};

/// The end hosts and counters of a flow.
#[derive(Debug)]
pub(super) struct Flow {
    pub(super) hosts: Hosts,
    /// The application that is notified of deliveries.
    pub(super) application: Option<usize>,
    /// Start time; `None` for a client's connection that has not been opened.
    pub(super) started: Option<Instant>,
    /// Whether nothing has begun the connection yet: its opening, or the sender's first timer.
    pub(super) unopened: bool,
    /// Times of the sender's and receiver's timer events in the event queue.
    pub(super) armed: [Option<Instant>; 2],
    /// Deadlines of these timers, which were determined when the timers were set.
    pub(super) due: [Option<Moment>; 2],
    dropped: u64,
    /// Notices of drops that reached the sender.
    pub(super) notices: u64,
    /// Lost data segments that were sent before the first loss was detected.
    first_overshoot_losses: u64,
}

impl Flow {
    /// Flow `index` of `scenario`, with the hosts not yet started.
    pub(super) fn new(scenario: &Scenario, index: usize) -> Result<Self, RunError> {
        let spec = &scenario.flows[index];
        Ok(Self::between(hosts(scenario, index)?, spec))
    }

    /// The flow of `spec` between these hosts.
    pub(super) fn between(hosts: Hosts, spec: &FlowSpec) -> Self {
        let started = if let Traffic::Connection(_) = spec.traffic { None } else { Some(spec.start) };
        let (armed, due) = ([None; 2], [None; 2]);
        let application = spec.traffic.application();
        Self { hosts, application, started, unopened: true, armed, due, dropped: 0, notices: 0, first_overshoot_losses: 0 }
    }

    /// Counts a packet that the network lost.
    pub(super) fn count_drop(&mut self, packet: &Packet) {
        self.dropped += 1;
        let Some(exit) = self.hosts.slow_start_exit() else { return };
        // The first overshoot excludes the SYN, ACKs, and segments sent after the first loss was detected.
        let data = packet.from() == Side::Sender && packet.seq > 0;
        if data && exit.first_loss().is_none_or(|noticed| packet.sent < noticed) {
            self.first_overshoot_losses += 1;
        }
    }

    /// Counts copies of a packet that the network made and lost.
    pub(super) const fn count_lost_copies(&mut self, copies: u32) {
        self.dropped += copies as u64;
    }

    /// The flow's row, for a run that ended at `end`.
    pub(super) fn result(&mut self, spec: &FlowSpec, path: &Path, end: Instant) -> FlowResult {
        let tally = self.hosts.tally(end);
        let (counters, delivered_packets, delivered_at) = (tally.counters, tally.delivered_packets, tally.delivered_at);
        let window = tally.window.unwrap_or(Window { cwnd: f64::NAN, ssthresh: f64::NAN });
        let complete = spec.packets.is_some_and(|packets| delivered_packets >= packets);
        let until = if complete { delivered_at } else { end };
        let seconds = self.started.map_or(0.0, |started| until.since(started).as_secs_f64());
        FlowResult {
            started: self.started,
            delivered_bytes: tally.delivered_bytes,
            delivered_packets,
            goodput_bps: if seconds > 0.0 { 8.0 * tally.payload as f64 / seconds } else { 0.0 },
            sent_packets: counters.sent,
            retransmitted_packets: counters.retransmitted,
            timeouts: counters.timeouts,
            window_reductions: counters.reductions,
            dropped_packets: self.dropped,
            notices: self.notices,
            payload: tally.payload,
            limited: tally.limited,
            cwnd_initial: tally.initial_window,
            cwnd_max: counters.cwnd_max,
            cwnd_final: window.cwnd,
            ssthresh_final: window.ssthresh,
            slow_start_exit: tally.slow_start_exit,
            path_rtt: path.rtt,
            path_bps: path.rate.map(Rate::as_bits_per_sec),
            bdp_packets: path.bdp_packets,
            queue_packets: path.queue_packets,
            first_overshoot_losses: self.first_overshoot_losses,
            delivered_after: tally.delivered_after,
            completion_time: complete.then(|| delivered_at.since(spec.start)),
            min_rtt: tally.min_rtt,
            failure: tally.failure,
        }
    }
}

/// The hosts of flow `index`, not yet started.
fn hosts(scenario: &Scenario, index: usize) -> Result<Hosts, RunError> {
    let spec = &scenario.flows[index];
    if let Some(what) = spec.needs_kernel() {
        return Err(RunError::Kernel(what));
    }
    // The two ends of a connection differ in the last bit; runs with adjacent seeds differ in the upper half.
    let seed = scenario.seed.rotate_left(32) ^ (2 * index as u64);
    let grows = matches!(spec.traffic, Traffic::Bursts(_));
    let packets = if grows { Some(0) } else { spec.packets };
    let bulk = Bulk { start: spec.start, stop: spec.stop, packets, grows };
    let control = || control(&spec.control, spec.initial_ssthresh);
    let unless_own = || if matches!(spec.control, ControlSpec::Own(_)) { Ok(None) } else { control().map(Some) };
    let mut needs = Need::of_traffic(spec.traffic, &scenario.applications);
    if let Some(complaint) = needs.find_map(|need| need.complaint(spec.host.profile())) {
        return Err(RunError::Part(format!("the application of flow {} {complaint}", spec.name)));
    }
    Ok(match &spec.host {
        HostSpec::Ns2(host) => Hosts::Ns2(ns2::Connection::new(host, control()?, bulk, seed)),
        HostSpec::Modern(host) => Hosts::Modern(Box::new(match spec.traffic {
            Traffic::Connection(_) => modern::Connection::dormant(host, [control()?, control()?], seed),
            _ => modern::Connection::bulk(host, control()?, bulk, seed),
        })),
        HostSpec::Other(other) => {
            let Profile::Other(host) = *build(&PROFILES, &other.profile)? else {
                return Err(RunError::Part(format!("{} has settings of its own", other.profile.name)));
            };
            let OtherHost { packet_size, ecn, initial_pacing, .. } = *other;
            let traffic = match spec.traffic {
                Traffic::Connection(_) => host::Traffic::Dialogue { control: unless_own()? },
                _ => host::Traffic::Bulk(bulk),
            };
            Hosts::Other(host.connect(host::Flow { control: unless_own()?, traffic, packet_size, ecn, initial_pacing, seed }))
        }
        HostSpec::Datagrams(payload) => Hosts::Other(Box::new(Stream::new(spec.start, *payload, spec.host.wire_size().0 as u16))),
    })
}

/// The capacity of a flow's path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path {
    /// Round-trip time without queues; of a link with models, with its mean rate and delay.
    rtt: Duration,
    /// Lowest mean rate; `None` if the path has no link.
    rate: Option<Rate>,
    /// Bandwidth-delay product in packets of the flow: the lowest rate times the round-trip time without queues.
    bdp_packets: f64,
    /// Limit of the queue before the slowest link, in packets; `None`: unlimited.
    queue_packets: Option<f64>,
}

impl Path {
    /// The path of flow `index`.
    pub(super) fn new(scenario: &Scenario, routes: &Routes, index: usize) -> Self {
        let wire = scenario.flows[index].host.wire_size();
        let links = |route| routes.hops(route).iter().map(|hop| &scenario.links[hop.link as usize]);
        let unloaded = |route, size| {
            let crossing = |link: &LinkSpec| link.delay.mean() + link.rate.mean().transmission(size);
            links(route).fold(Duration::ZERO, |sum, link| sum + crossing(link))
        };
        let round_trip = unloaded(2 * index, wire) + unloaded(2 * index + 1, Bytes(u64::from(HEADER)));
        let Some(slowest) = links(2 * index).min_by_key(|link| link.rate.mean()) else {
            return Self { rtt: round_trip, rate: None, bdp_packets: 0.0, queue_packets: None };
        };
        let limit = slowest.queue.as_ref().and_then(|queue| queue.discipline.params.0.iter().find(|(name, _)| *name == "limit"));
        let queue_packets = limit.and_then(|(_, value)| match value {
            Value::Limit(Limit::Packets(packets)) => Some(*packets as f64),
            Value::Limit(Limit::Bytes(bytes)) => Some(*bytes as f64 / wire.0 as f64),
            _ => None,
        });
        let rate = slowest.rate.mean();
        let bdp_packets = rate.bytes_in(round_trip) / wire.0 as f64;
        Self { rtt: round_trip, rate: Some(rate), bdp_packets, queue_packets }
    }
}

/// Builds a congestion control with this first threshold in segments (infinite: none).
///
/// # Errors
/// If a part is unknown, or does not take its parameters.
pub fn control(spec: &ControlSpec, initial_ssthresh: f64) -> Result<Box<dyn CongestionControl>, RunError> {
    Ok(match spec {
        ControlSpec::Composed(parts) => Box::new(compose(parts, initial_ssthresh)?),
        ControlSpec::Whole(part) => build(&cc::whole::PARTS, part)?,
        ControlSpec::Custom(factory) => factory(),
        ControlSpec::Own(name) => return Err(RunError::Part(format!("{name} belongs to hosts of another profile"))),
    })
}

fn compose(parts: &ComposedSpec, initial_ssthresh: f64) -> Result<Composed, RunError> {
    let loss_response = parts.loss_response.as_ref().map(|part| build(&cc::loss_response::PARTS, part)).transpose()?;
    Ok(Composed::new(
        build(&cc::initial_window::PARTS, &parts.initial_window)?,
        match &parts.slow_start {
            SlowStartSpec::Part(part) => build(&cc::slow_start::PARTS, part)?,
            SlowStartSpec::Custom(factory) => factory(),
        },
        build(&cc::avoidance::PARTS, &parts.avoidance)?,
        loss_response,
        initial_ssthresh,
    ))
}

fn build<P: ?Sized>(parts: &Parts<P>, part: &PartSpec) -> Result<Box<P>, RunError> {
    parts.build(part).map_err(RunError::Part)
}
