//! The result of a run: one row for each flow and each link, and the requested traces.

use ackclock_core::qdisc::Reason;
use ackclock_core::units::{Duration, Instant, Segments};
use ackclock_host::{ExitReason, LimitedTimes};
use sha2::{Digest, Sha256};

use super::hash::{TableHash, hexadecimal};
use crate::app::{Media, Page, Transfer};
use crate::columns::traces::TraceKind;
use crate::columns::{Cell, Column, Kind, Source, Value, table};
use crate::scenario::{ComposedSpec, ControlSpec, FlowSpec, Scenario, Traffic};
use crate::trace::{Capture, Traces};

table! {
    /// One flow.
    #[derive(Clone, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct FlowResult of Scenario {
        name: String => |scenario, index, _| scenario.flows[index].name.clone(), "", "name of the flow";
        from: String => |scenario, index, _| scenario.nodes[scenario.flows[index].from].clone(), "", "node of the sender";
        to: String => |scenario, index, _| scenario.nodes[scenario.flows[index].to].clone(), "", "node of the receiver";
        control: String => |scenario, index, _| control(&scenario.flows[index]), "", "initial window + slow start + avoidance + loss response, or the name of a whole control; `python` for a control in Python; `none` for datagrams";
        recovery: &'static str => |scenario, index, _| scenario.flows[index].host.recovery(), "", "loss recovery: `tahoe`, `reno`, `newreno`, `sack` or `vegas`; `rack`, `sack` or `newreno` with profile `modern`; `none` for datagrams";
        start_s: Option<Instant> [started], "s", "time at which the application started, with spread and jitter; for a client's connection, time at which the client opened it, or null if it did not";
        size_packets: Option<u64> => |scenario, index, _| scenario.flows[index].packets, "packets", "data packets of a bulk transfer; null if unlimited, or for another application";
        delivered_bytes: u64 [delivered_bytes], "bytes", "bytes that reached the receiver in order, with headers and the SYN: 40 + 1040 · packets for packets of 1000 bytes, as ns-2's sink counts. With profile `modern`: data only";
        delivered_packets: u64 [delivered_packets], "packets", "data packets that reached the receiver in order, without the SYN";
        goodput_bps: f64 [goodput_bps], "bit/s", "payload of the delivered packets per second, without headers, from the flow's start to its completion or the end of the run";
        sent_packets: u64 [sent_packets], "packets", "all packets of the sender: data, retransmissions and the SYN";
        retransmitted_packets: u64 [retransmitted_packets], "packets", "packets that the sender sent again";
        timeouts: u64 [timeouts], "", "expirations of the retransmission timer, without those caused by notices";
        window_reductions: u64 [window_reductions], "", "window reductions after duplicate ACKs, timeouts or notices; as in ns-2, also the return to one segment after marks reduced the window below it";
        dropped_packets: u64 [dropped_packets], "packets", "packets of the flow dropped by queues or loss models, ACKs included";
        notices: u64 [notices], "", "notices of drops that reached the sender (queue `red_notify`), including those without effect";
        application_limited_share: Option<f64> = |flow| flow.limited?.share(|times| times.application), "", "share of the flow's active time during which the application limited sending: all its data was sent, and the windows had room. Active time lasts from the end of the handshake to the last ACK of the application's data or the end of the run. The flow is active while its application pauses. Null without active time, for datagrams, and for profiles other than `ns2` and `modern`";
        sndbuf_limited_share: Option<f64> = |flow| flow.limited?.share(|times| times.send_buffer), "", "share of the flow's active time during which the send buffer limited sending: all its data was sent, the windows had room, and the application waited for room in the buffer. Without a limit of the buffer, 0";
        rwnd_limited_share: Option<f64> = |flow| flow.limited?.share(|times| times.receive_window), "", "share of the flow's active time during which the receiver's window limited sending: it was full, and the congestion window was no smaller (`ns2`) or had not stopped the sender first (`modern`)";
        cwnd_limited_share: Option<f64> = |flow| flow.limited?.share(|times| times.congestion_window), "", "share of the flow's active time during which the congestion window or pacing limited sending, loss recovery included. The four shares add up to 1";
        cwnd_initial: Option<Segments> [cwnd_initial], "segments", "congestion window at the end of the handshake; null if the handshake did not end";
        cwnd_max: Segments [cwnd_max], "segments", "largest congestion window. In ns-2 it can exceed the receiver's window, which still limits sending. Datagrams have no window";
        cwnd_final: Segments [cwnd_final], "segments", "congestion window at the end of the run";
        ssthresh_final: Segments [ssthresh_final], "segments", "slow start threshold at the end of the run; infinite if there is none";
        min_rtt: Option<Duration> [min_rtt], "s", "smallest round-trip time measured from an ACK, with queueing";
        slow_start_exit_reason: Option<&'static str> = |flow| flow.slow_start_exit.map(|(reason, _, _)| reason.name()), "", "reason for the end of the first slow start: `loss` (duplicate ACKs), `timeout`, `mark` (ECN), `threshold` (the window reached ssthresh), `algorithm` (the slow start itself lowered ssthresh); null if it did not end";
        slow_start_exit_time: Option<Instant> = |flow| flow.slow_start_exit.map(|(_, at, _)| at), "s", "time at which the first slow start ended";
        slow_start_exit_cwnd: Option<Segments> = |flow| flow.slow_start_exit.map(|(_, _, cwnd)| cwnd), "segments", "congestion window at the end of the first slow start, before any reduction";
        slow_start_exit_ratio: Option<f64> = |flow| Some(flow.slow_start_exit?.2 / (flow.bdp_packets + flow.queue_packets?)), "", "`slow_start_exit_cwnd` over the capacity of path and queue, `bdp_packets` + `queue_packets`; null for an unlimited queue. A ratio above 1 is an overshoot";
        path_rtt: Duration [path_rtt], "s", "round-trip time of the path without queues: propagation, and transmission of a packet and its ACK on every link, with the means of links that have models";
        path_bps: Option<u64> [path_bps], "bit/s", "lowest transmission rate on the path, or mean rate of a rate model; null for a path without links";
        bdp_packets: f64 [bdp_packets], "packets", "bandwidth-delay product: `path_bps` × `path_rtt` / packet size with headers";
        queue_packets: Option<f64> [queue_packets], "packets", "limit of the queue before the slowest link (a limit in bytes is divided by the packet size with headers); null if unlimited";
        first_overshoot_losses: u64 [first_overshoot_losses], "packets", "cost of the first overshoot: distinct data packets lost among those sent before the first loss was detected. A lost SYN does not count";
        delivered_1s: Option<u64> = |flow| flow.delivered_after[0], "bytes", "`delivered_bytes` one second after the flow's start; null if the run ends before";
        delivered_2s: Option<u64> = |flow| flow.delivered_after[1], "bytes", "`delivered_bytes` two seconds after the flow's start; null if the run ends before";
        delivered_5s: Option<u64> = |flow| flow.delivered_after[2], "bytes", "`delivered_bytes` five seconds after the flow's start; null if the run ends before";
        delivered_10s: Option<u64> = |flow| flow.delivered_after[3], "bytes", "`delivered_bytes` ten seconds after the flow's start; null if the run ends before";
        completion_time: Option<Duration> [completion_time], "s", "time from the flow's start to the delivery of its last packet; null for an unlimited or unfinished flow";
    } besides {
        /// Payload bytes delivered in order.
        payload: u64,
        /// How long each limit held back the sender.
        limited: Option<LimitedTimes>,
        /// End of the first slow start: reason, time, and `cwnd` before any reduction.
        slow_start_exit: Option<(ExitReason, Instant, Segments)>,
        /// Bytes delivered in the first 1, 2, 5 and 10 s of the flow; `None` if the run is shorter.
        delivered_after: [Option<u64>; 4],
        /// When and why an end gave up the connection, if it did.
        failure: Option<(Instant, String)>,
    }
}

table! {
    /// One direction of a link.
    #[derive(Clone, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct LinkResult of Scenario {
        name: String => |scenario, index, _| scenario.links[index].name.clone(), "", "names of its nodes, such as `n1>n2`";
        rate_bps: u64 => |scenario, index, _| scenario.links[index].rate.mean().as_bits_per_sec(), "bit/s", "transmission rate; of a model, its mean";
        delay_s: Duration => |scenario, index, _| scenario.links[index].delay.mean(), "s", "propagation delay; of a model, its mean";
        queue: &'static str => |scenario, index, _| scenario.links[index].queue.as_ref().map_or("unlimited", |queue| queue.discipline.name), "", "queue discipline; `unlimited` if there is none";
        arrivals: u64 [arrivals], "packets", "packets that arrived at the queue, without those dropped before it by a loss model";
        delivered_packets: u64 [delivered], "packets", "packets not lost, with copies, including those that wait or are in flight at the end of the run";
        drops: u64 [drops], "packets", "packets dropped by the queue: the sum of the columns `drops_…`";
        marks: u64 [marks], "packets", "packets that the queue marked instead of dropping (ECN); they are delivered";
        losses: u64 [losses], "packets", "packets dropped by loss models, without those that would have arrived after the end of the run";
        duplicated: u64 => |_, _, link| link.duplicated, "packets", "copies that loss models made";
        utilisation: f64 [utilisation], "", "share of the run during which the link transmitted; with a rate model, share of the bits that the link could carry during the run";
        queue_mean: f64 [queue_mean], "packets", "mean number of waiting packets, over time";
        queue_max: u64 [queue_max], "packets", "largest number of waiting packets";
        sojourn_mean: Duration [sojourn_mean], "s", "mean waiting time from a packet's arrival at the queue to the start of its transmission, over all packets sent, including those that did not wait";
        sojourn_max: Duration [sojourn_max], "s", "longest waiting time of a packet whose transmission began within the run";
        first_drop_time: Option<Instant> [first_drop], "s", "time of the queue's first drop; null if there is none";
    } besides {
        /// Copies that loss models made.
        duplicated: u64,
        /// Packets that a full queue dropped at the moment when the next departure made room.
        tied_drops: u64,
        /// Drops by reason, in the order of [`Reason::ALL`].
        drops_by_reason: [u64; Reason::COUNT],
    }
}

impl LinkResult {
    /// The columns of a table whose queues have these reasons of drops besides the usual ones.
    pub fn columns(further: &[Reason]) -> Vec<Column<Scenario, Self>> {
        let drops = |reason: &Reason| Column {
            name: reason.column(),
            unit: "packets",
            doc: reason.about(),
            kind: Kind::Whole,
            optional: false,
            source: Source::Counted(|link: &Self, reason| Cell::Whole(link.drops_by_reason[reason]), *reason as usize),
        };
        let mut columns = Self::COLUMNS.to_vec();
        let place = 1 + columns.iter().position(|column| column.name == "drops").unwrap_or_default();
        let shown = Reason::ALL.iter().filter(|reason| reason.is_usual() || further.contains(reason));
        columns.splice(place..place, shown.map(drops));
        columns
    }

    /// Packets that the queue dropped for `reason`.
    pub const fn dropped(&self, reason: Reason) -> u64 {
        self.drops_by_reason[reason as usize]
    }
}

/// The names of the parts of a flow's control.
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
        ControlSpec::Own(name) => (*name).to_owned(),
    }
}

/// The result of a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RunResult {
    /// Flows, in the order of the scenario.
    pub flows: Vec<FlowResult>,
    /// Links, in the order of the scenario.
    pub links: Vec<LinkResult>,
    /// Index of the slowest link on the first flow's data path; the first one, if several are equally slow. `None`: the path has no link.
    pub bottleneck: Option<usize>,
    /// Recorded traces.
    pub traces: Traces,
    /// Captured packets, if places were named.
    pub capture: Option<Capture>,
    /// Results of the applications, in the order of the scenario.
    pub applications: Vec<ApplicationResult>,
    /// Events processed.
    pub events: u64,
}

/// The result of an application.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ApplicationResult {
    /// Its responses, bursts or segments, in the order in which they were queued.
    pub transfers: Vec<Transfer>,
    /// The pages that it began to load, or its exchanges.
    pub pages: Vec<Page>,
    /// The measures of its media, if it plays any.
    pub media: Option<Media>,
}

impl RunResult {
    /// The flows with their indices, for tables.
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

    /// The media of all applications that have any, each with its application's index.
    pub fn media_rows(&self) -> impl Iterator<Item = (usize, &Media)> {
        self.applications.iter().enumerate().filter_map(|(index, result)| Some((index, result.media.as_ref()?)))
    }

    /// A digest of everything counted and recorded: names and values of every column except those given by the scenario, and the number
    /// of events. Equal digests mean equal runs. A capture does not affect a run and is not part of the digest.
    pub fn digest(&self) -> String {
        let mut hash = TableHash::default();
        hash.rows("flows", FlowResult::COLUMNS, &self.flows);
        let dropped = |reason: &&Reason| self.links.iter().any(|link| link.dropped(**reason) > 0);
        let further: Vec<Reason> = Reason::further().iter().filter(dropped).copied().collect();
        hash.rows("links", &LinkResult::columns(&further), &self.links);
        // Only links that make copies count them here: runs without copies keep the digests that they have always had.
        self.links.iter().filter(|link| link.duplicated > 0).for_each(|link| hash.number(link.duplicated));
        for application in &self.applications {
            hash.rows("transfers", Transfer::COLUMNS, &application.transfers);
            hash.rows("pages", Page::COLUMNS, &application.pages);
            // The column shows a name given by the scenario instead of this index.
            application.transfers.iter().for_each(|transfer| hash.cell(&transfer.connection.cell()));
            // Only applications with media count here: other runs keep the digests that they have always had.
            application.media.iter().for_each(|media| hash.rows("media", Media::COLUMNS, std::slice::from_ref(media)));
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
