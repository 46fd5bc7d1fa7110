//! What a run gives: one row for each flow and each link, and the traces that were asked for.

use std::fmt::Write;

use ackclock_core::qdisc::Reason;
use ackclock_core::units::{Duration, Instant, Segments};
use sha2::{Digest, Sha256};

use crate::app::{Page, Transfer};
use crate::trace::{Capture, Traces};
use ackclock_tcp::ExitReason;

/// One flow.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowResult {
    /// When it started; `None`: a connection that its client did not open.
    pub started: Option<Instant>,
    /// Bytes delivered in order, headers and the SYN included, as ns-2's sink counts them; of a flow with `modern` hosts data alone.
    pub delivered_bytes: u64,
    /// Data packets delivered in order.
    pub delivered_packets: u64,
    /// Payload delivered in order, in bits per second from the flow's start to its completion or the end of the run.
    pub goodput_bps: f64,
    /// Packets sent, the SYN and retransmissions included.
    pub sent_packets: u64,
    /// Packets sent again.
    pub retransmitted_packets: u64,
    /// Expired retransmission timers.
    pub timeouts: u64,
    /// Reductions of the window; as in ns-2 also its return to one segment after marks have left less.
    pub window_reductions: u64,
    /// Packets of the flow lost anywhere, ACKs included.
    pub dropped_packets: u64,
    /// Notices of drops that reached the sender, those included that it had no use for.
    pub notices: u64,
    /// Largest congestion window in segments; NaN, as those at the end, for datagrams, which have none.
    pub cwnd_max: Segments,
    /// Congestion window at the end.
    pub cwnd_final: Segments,
    /// Slow start threshold at the end; infinite: none.
    pub ssthresh_final: Segments,
    /// How the first slow start ended: reason, time, and `cwnd` before any reduction.
    pub slow_start_exit: Option<(ExitReason, Instant, Segments)>,
    /// Bandwidth-delay product of the path in packets of the flow: the lowest rate times the round-trip time without queues.
    pub bdp_packets: f64,
    /// Packets that the queue before the slowest link holds; `None`: without limit.
    pub queue_packets: Option<f64>,
    /// Segments lost among those sent until the first loss was noticed.
    pub first_overshoot_losses: u64,
    /// Bytes delivered in the first 1, 2, 5 and 10 s of the flow; `None` where the run is shorter.
    pub delivered_after: [Option<u64>; 4],
    /// Time from the start to the delivery of the last packet, for a flow of limited size that was delivered whole.
    pub completion_time: Option<Duration>,
    /// Smallest round-trip time.
    pub min_rtt: Option<Duration>,
}

/// One direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkResult {
    /// Packets that arrived at the queue.
    pub arrivals: u64,
    /// Packets that reached the far end, those included that the end of the run finds on their way. What the loss model would take from
    /// these is in no counter but `arrivals`.
    pub delivered: u64,
    /// Packets that the queue dropped.
    pub drops: u64,
    /// The same by reason, in the order of [`Reason::ALL`].
    pub drops_by_reason: [u64; Reason::ALL.len()],
    /// Packets that the queue marked (ECN).
    pub marks: u64,
    /// Packets that the loss model took.
    pub losses: u64,
    /// Share of the run in which the link transmitted.
    pub utilisation: f64,
    /// Packets waiting, on average over the run.
    pub queue_mean: f64,
    /// Most packets that waited at once.
    pub queue_max: u64,
    /// Time that a packet spent waiting, on average over those that were sent.
    pub sojourn_mean: Duration,
    /// Longest time that a packet spent waiting.
    pub sojourn_max: Duration,
    /// When the queue first dropped a packet.
    pub first_drop: Option<Instant>,
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
    /// A digest of all that was counted and recorded: equal digests, equal runs. A capture changes nothing in a run and is no part of it.
    pub fn digest(&self) -> String {
        let Self { flows, links, traces, applications, events, capture: _ } = self;
        let mut hasher = Sha256Writer(Sha256::new());
        // Writing into a hash cannot fail.
        let _ = write!(hasher, "RunResult {{ flows: {flows:?}, links: {links:?}, traces: {traces:?}, events: {events} }}");
        if !applications.is_empty() {
            let _ = write!(hasher, "{applications:?}");
        }
        hasher.finish()
    }
}

/// SHA-256 of `text`, in hexadecimal.
pub fn digest(text: &str) -> String {
    Sha256Writer(Sha256::new_with_prefix(text)).finish()
}

struct Sha256Writer(Sha256);

impl Sha256Writer {
    fn finish(self) -> String {
        self.0.finalize().iter().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }
}

impl Write for Sha256Writer {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0.update(text);
        Ok(())
    }
}
