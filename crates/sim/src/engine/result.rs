//! What a run gives: one row for each flow and each link, and the traces that were asked for.

use ackclock_core::qdisc::Reason;
use ackclock_core::units::{Duration, Instant, Segments};
use sha2::{Digest, Sha256};

use super::hash::{TableHash, hexadecimal};
use crate::app::{Page, Transfer};
use crate::columns::traces::TraceKind;
use crate::columns::{Value, table};
use crate::scenario::{ComposedSpec, ControlSpec, FlowSpec, Scenario, Traffic};
use crate::trace::{Capture, Traces};
use ackclock_tcp::ExitReason;

table! {
    /// One flow.
    #[derive(Clone, Debug, PartialEq)]
    pub struct FlowResult of Scenario {
        name: String => |scenario, index, _| scenario.flows[index].name.clone(), "", "the flow's name";
        from: String => |scenario, index, _| scenario.nodes[scenario.flows[index].from].clone(), "", "the sender's node";
        to: String => |scenario, index, _| scenario.nodes[scenario.flows[index].to].clone(), "", "the receiver's node";
        control: String => |scenario, index, _| control(&scenario.flows[index]), "", "initial window + slow start + avoidance + loss response, or `python`; `none` for datagrams";
        recovery: &'static str => |scenario, index, _| scenario.flows[index].host.recovery(), "", "`tahoe`, `reno`, `newreno`, `sack` or `vegas`; with profile `modern` `rack`, `sack` or `newreno`; `none` for datagrams";
        start_s: Option<Instant> [started], "s", "when the application started, spread and jitter included; of a client's connection, when the client opened it, and null if it did not";
        size_packets: Option<u64> => |scenario, index, _| scenario.flows[index].packets, "packets", "data packets of a bulk transfer; null: without end, or another application";
        delivered_bytes: u64 [delivered_bytes], "bytes", "what reached the receiver in order, headers and the SYN included: 40 + 1040 · packets for packets of 1000 bytes. This is what ns-2's sink counts. With profile `modern`: data alone";
        delivered_packets: u64 [delivered_packets], "packets", "data packets that reached the receiver in order; the SYN does not count";
        goodput_bps: f64 [goodput_bps], "bit/s", "payload of the delivered packets, without headers, per second from the flow's start to its completion, or to the end of the run";
        sent_packets: u64 [sent_packets], "packets", "all that the sender sent: data, retransmissions and the SYN";
        retransmitted_packets: u64 [retransmitted_packets], "packets", "those sent again";
        timeouts: u64 [timeouts], "", "expired retransmission timers; those that a notice made expire are not counted";
        window_reductions: u64 [window_reductions], "", "cuts of the window, by duplicate ACKs, timeouts or notices; as in ns-2 also its return to one segment after marks have left less";
        dropped_packets: u64 [dropped_packets], "packets", "packets of the flow lost anywhere, by queues or loss models, ACKs included";
        notices: u64 [notices], "", "notices of drops that reached the sender (queue `red_notify`), those included that it had no use for";
        cwnd_max: Segments [cwnd_max], "segments", "largest congestion window. ns-2 lets it grow beyond the receiver's window, which limits sending all the same. Datagrams have no window";
        cwnd_final: Segments [cwnd_final], "segments", "congestion window at the end";
        ssthresh_final: Segments [ssthresh_final], "segments", "slow start threshold at the end; infinite if there is none";
        min_rtt: Option<Duration> [min_rtt], "s", "smallest round-trip time that an ACK showed, queues included";
        slow_start_exit_reason: Option<&'static str> = |flow| flow.slow_start_exit.map(|(reason, _, _)| reason.name()), "", "how the first slow start ended: `loss` (duplicate ACKs), `timeout`, `mark` (ECN), `threshold` (the window reached ssthresh), `algorithm` (the slow start lowered ssthresh itself); null if it did not end";
        slow_start_exit_time: Option<Instant> = |flow| flow.slow_start_exit.map(|(_, at, _)| at), "s", "when the first slow start ended";
        slow_start_exit_cwnd: Option<Segments> = |flow| flow.slow_start_exit.map(|(_, _, cwnd)| cwnd), "segments", "with which window, before it was cut";
        slow_start_exit_ratio: Option<f64> = |flow| Some(flow.slow_start_exit?.2 / (flow.bdp_packets + flow.queue_packets?)), "", "that window over what path and queue hold, `bdp_packets` + `queue_packets`; null for an unlimited queue. Above 1 it overshot";
        bdp_packets: f64 [bdp_packets], "packets", "bandwidth-delay product: lowest rate on the way × round-trip time without queues (propagation, and transmission of a packet and its ACK on every link) / packet size with headers";
        queue_packets: Option<f64> [queue_packets], "packets", "limit of the queue before the slowest link (a limit in bytes divided by the packet size with headers); null: unlimited";
        first_overshoot_losses: u64 [first_overshoot_losses], "packets", "different data packets lost among those sent until the first loss was noticed: what the first overshoot cost. A lost SYN is no data and does not count";
        delivered_1s: Option<u64> = |flow| flow.delivered_after[0], "bytes", "`delivered_bytes` one second after the flow's start; null if the run ends before";
        delivered_2s: Option<u64> = |flow| flow.delivered_after[1], "bytes", "the same after two seconds";
        delivered_5s: Option<u64> = |flow| flow.delivered_after[2], "bytes", "the same after five";
        delivered_10s: Option<u64> = |flow| flow.delivered_after[3], "bytes", "the same after ten";
        completion_time: Option<Duration> [completion_time], "s", "from the flow's start to the delivery of its last packet; null for a flow without end, or one that was not done";
    } besides {
        /// How the first slow start ended: reason, time, and `cwnd` before any reduction.
        slow_start_exit: Option<(ExitReason, Instant, Segments)>,
        /// Bytes delivered in the first 1, 2, 5 and 10 s of the flow; `None` where the run is shorter.
        delivered_after: [Option<u64>; 4],
    }
}

table! {
    /// One direction of a link.
    #[derive(Clone, Debug, PartialEq)]
    pub struct LinkResult of Scenario {
        name: String => |scenario, index, _| scenario.links[index].name.clone(), "", "names of its nodes, as in `n1>n2`";
        rate_bps: u64 => |scenario, index, _| scenario.links[index].rate.as_bits_per_sec(), "bit/s", "transmission rate";
        delay_s: Duration => |scenario, index, _| scenario.links[index].delay, "s", "propagation delay";
        queue: &'static str => |scenario, index, _| scenario.links[index].queue.as_ref().map_or("unlimited", |queue| queue.discipline.name), "", "the queue discipline; `unlimited` for none";
        arrivals: u64 [arrivals], "packets", "packets that arrived at the queue; those a loss model took before it do not count";
        delivered_packets: u64 [delivered], "packets", "packets that left for the far end and were not lost; those that wait or are on their way at the end count";
        drops: u64 [drops], "packets", "those that the queue dropped, for whatever reason: the sum of the next five";
        drops_overflow: u64 = |link| link.dropped(Reason::Overflow), "packets", "the queue was full";
        drops_early: u64 = |link| link.dropped(Reason::Early), "packets", "drawn with a probability that depends on the queue";
        drops_forced: u64 = |link| link.dropped(Reason::Forced), "packets", "the average queue was above the range in which chance decides (`red`)";
        drops_virtual: u64 = |link| link.dropped(Reason::Virtual), "packets", "a virtual queue was full (`vq`, `gk`)";
        drops_sojourn: u64 = |link| link.dropped(Reason::Sojourn), "packets", "they had waited too long";
        marks: u64 [marks], "packets", "those that the queue marked instead of dropping them (ECN); they are delivered";
        losses: u64 [losses], "packets", "those that the loss model took; one that would have arrived after the end counts nowhere";
        utilisation: f64 [utilisation], "", "share of the whole run in which the link transmitted";
        queue_mean: f64 [queue_mean], "packets", "packets waiting, averaged over time";
        queue_max: u64 [queue_max], "packets", "most that waited at once";
        sojourn_mean: Duration [sojourn_mean], "s", "time from a packet's arrival at the queue to the start of its transmission, averaged over the packets that were sent, those that did not wait included";
        sojourn_max: Duration [sojourn_max], "s", "longest such time of a packet whose transmission began within the run";
        first_drop_time: Option<Instant> [first_drop], "s", "when the queue first dropped a packet; null: never";
    } besides {
        /// Drops by reason, in the order of [`Reason::ALL`].
        drops_by_reason: [u64; Reason::ALL.len()],
    }
}

impl LinkResult {
    /// Packets that the queue dropped for `reason`.
    pub const fn dropped(&self, reason: Reason) -> u64 {
        self.drops_by_reason[reason as usize]
    }
}

/// The parts of a flow's control in a few words.
fn control(flow: &FlowSpec) -> String {
    if let Traffic::Datagrams(_) = flow.traffic {
        return "none".to_owned();
    }
    match &flow.control {
        ControlSpec::Composed(ComposedSpec { initial_window, slow_start, avoidance, loss_response }) => {
            let response = loss_response.as_ref().map_or("own", |part| part.name);
            [initial_window.name, slow_start.name(), avoidance.name, response].join(" + ")
        }
        ControlSpec::Whole(part) => part.name.to_owned(),
        ControlSpec::Custom(_) => "python".to_owned(),
    }
}

/// A whole run.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// In the order of the scenario's flows.
    pub flows: Vec<FlowResult>,
    /// In the order of the scenario's links.
    pub links: Vec<LinkResult>,
    /// What was recorded.
    pub traces: Traces,
    /// Packets that were captured, if places were named.
    pub capture: Option<Capture>,
    /// What each application did, in the order of the scenario's applications.
    pub applications: Vec<ApplicationResult>,
    /// Events processed.
    pub events: u64,
}

/// What an application did.
#[derive(Clone, Debug, PartialEq)]
pub struct ApplicationResult {
    /// Its responses or bursts, in the order in which they were needed.
    pub transfers: Vec<Transfer>,
    /// The pages that it began to load, or its exchanges.
    pub pages: Vec<Page>,
}

impl RunResult {
    /// The flows with their indices, as tables have them.
    pub fn flow_rows(&self) -> impl Iterator<Item = (usize, &FlowResult)> {
        self.flows.iter().enumerate()
    }

    /// The links with their indices.
    pub fn link_rows(&self) -> impl Iterator<Item = (usize, &LinkResult)> {
        self.links.iter().enumerate()
    }

    /// The transfers of all applications, each with its application's index.
    pub fn transfer_rows(&self) -> impl Iterator<Item = (usize, &Transfer)> {
        let applications = self.applications.iter().enumerate();
        applications.flat_map(|(index, result)| result.transfers.iter().map(move |transfer| (index, transfer)))
    }

    /// The pages of all applications, each with its application's index.
    pub fn page_rows(&self) -> impl Iterator<Item = (usize, &Page)> {
        let applications = self.applications.iter().enumerate();
        applications.flat_map(|(index, result)| result.pages.iter().map(move |page| (index, page)))
    }

    /// A digest of all that was counted and recorded: names and values of every column that is not given by the scenario, and the number
    /// of events. Equal digests, equal runs. A capture changes nothing in a run and is no part of it.
    pub fn digest(&self) -> String {
        let mut hash = TableHash::default();
        hash.rows("flows", FlowResult::COLUMNS, &self.flows);
        hash.rows("links", LinkResult::COLUMNS, &self.links);
        for application in &self.applications {
            hash.rows("transfers", Transfer::COLUMNS, &application.transfers);
            hash.rows("pages", Page::COLUMNS, &application.pages);
            // The column has a name instead, which the scenario gives.
            application.transfers.iter().for_each(|transfer| hash.cell(&transfer.connection.cell()));
        }
        for (name, kind) in TraceKind::ALL {
            if let Some(columns) = self.traces.columns(kind) {
                hash.trace(name, &columns);
            }
        }
        hash.number(self.events);
        hash.finish()
    }
}

/// SHA-256 of `text`, in hexadecimal.
pub fn digest(text: &str) -> String {
    hexadecimal(Sha256::new_with_prefix(text))
}
