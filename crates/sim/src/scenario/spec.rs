//! The keys of a scenario file, declared once: reading, defaults, suggestions, schema and documentation are made from these tables.

use crate::scenario::hosts;
use crate::scenario::keys::{Bounds, DELAY, Fallback, Key, Kind, MAX_FLOWS, POINT, RATE, TIMER, Variant, above, from, key};
use crate::scenario::model::TraceKind;
use crate::scenario::traffic::{APPLICATIONS, ARRIVALS};
use crate::scenario::unit;

/// The names of all traces.
const TRACES: [&str; TraceKind::ALL.len()] = {
    let mut names = [""; TraceKind::ALL.len()];
    let mut index = 0;
    while index < names.len() {
        names[index] = TraceKind::ALL[index].0;
        index += 1;
    }
    names
};

/// The file.
pub(crate) static ROOT: &[Key] = &[
    key("name", Kind::Text, Fallback::Absent("the file's name without its ending"), "What tables and plots call the scenario."),
    key(
        "duration",
        Kind::Quantity(&unit::TIME, above("0 s", "1e9 s")),
        Fallback::Required("\"30 s\""),
        "The run ends here; what happens at this very time is no longer simulated.",
    ),
    key("seed", Kind::Integer(0, u64::MAX), Fallback::Integer(1), "Seeds every random number generator of the run."),
    key("record", Kind::List(&Kind::Word(&TRACES)), Fallback::Empty, "Which traces to record, each a table of its own."),
    key("topology", Kind::Variants(TOPOLOGIES), Fallback::Table, "The network: nodes and links."),
    key(
        "flow",
        Kind::Tables(FLOW),
        Fallback::Required("[[flow]]"),
        "The flows: each a TCP connection, or the connections of an application.",
    ),
    key("sweep", Kind::Sweep, Fallback::Absent("one run"), "Varies keys: every combination of the axes' values is a run."),
];

const QUEUE_DOC: &str = "Queue in front of the link: a limit alone is a droptail queue with it.";
const LOSS_DOC: &str = "Packets lost for other reasons than the queue: a probability alone is independent loss with it.";

const fn link(rate: &'static str, queue: &'static str) -> [Key; 5] {
    [
        key("rate", RATE, Fallback::Text(rate), "Transmission rate."),
        key("delay", DELAY, Fallback::Text("10 ms"), "Propagation delay."),
        key("queue", Kind::Part("queue", GENERATOR), Fallback::Text(queue), QUEUE_DOC),
        key("loss", Kind::Part("loss", LOSS), Fallback::Text("none"), LOSS_DOC),
        key(
            "reverse",
            Kind::Table(REVERSE),
            Fallback::Table,
            "The other direction, where it differs: without this it has the same rate and delay, an unlimited queue and no loss.",
        ),
    ]
}

static ACCESS: [Key; 5] = link("100 Mbit/s", "unlimited");
static BOTTLENECK: [Key; 5] = link("10 Mbit/s", "50 packets");

static REVERSE: &[Key] = &[
    key("rate", RATE, Fallback::Absent("as in the other direction"), "Transmission rate."),
    key("delay", DELAY, Fallback::Absent("as in the other direction"), "Propagation delay."),
    key("queue", Kind::Part("queue", GENERATOR), Fallback::Text("unlimited"), QUEUE_DOC),
    key("loss", Kind::Part("loss", LOSS), Fallback::Text("none"), LOSS_DOC),
];

/// Where the random numbers of a link's queue come from.
static GENERATOR: &[Key] = &[generator(), generator_seed(), generator_stream(), generator_skip()];

const fn generator() -> Key {
    key(
        "generator",
        Kind::Word(&["default", "mrg32k3a"]),
        Fallback::Text("default"),
        "default: derived from the scenario's seed and the link's name; mrg32k3a: ns-2's, to draw the same numbers as ns-2.",
    )
}

const fn generator_seed() -> Key {
    key("seed", Kind::Integer(1, 4_294_944_442), Fallback::Integer(1), "All six words of the state of mrg32k3a.")
}

const fn generator_stream() -> Key {
    key("stream", Kind::Integer(0, u32::MAX as u64), Fallback::Integer(1), "Stream of mrg32k3a: jumps of 2^127 numbers.")
}

const fn generator_skip() -> Key {
    key("skip", Kind::Integer(0, 1_000_000_000), Fallback::Integer(0), "Numbers of mrg32k3a that others have drawn before.")
}

static LOSS: &[Key] = &[
    key(
        "position",
        Kind::Word(&["after", "before"]),
        Fallback::Text("after"),
        "after: a lost packet has used queue and link, as with ns-2's link-lossmodel; before: it never enters the queue.",
    ),
    generator(),
    generator_seed(),
    generator_stream(),
    generator_skip(),
];

static EXPLICIT_LINK: &[Key] = &[
    key("from", Kind::Text, Fallback::Required("a node's name"), "The node it leaves."),
    key("to", Kind::Text, Fallback::Required("a node's name"), "The node it reaches."),
    key("rate", RATE, Fallback::Text("10 Mbit/s"), "Transmission rate."),
    key("delay", DELAY, Fallback::Text("10 ms"), "Propagation delay."),
    key("queue", Kind::Part("queue", GENERATOR), Fallback::Text("50 packets"), QUEUE_DOC),
    key("loss", Kind::Part("loss", LOSS), Fallback::Text("none"), LOSS_DOC),
    key(
        "reverse",
        Kind::WordOrTable("none", REVERSE),
        Fallback::Table,
        "The other direction, where it differs; \"none\" for a link in one direction only.",
    ),
];

const ACCESS_DOC: &str = "The links between hosts and routers, data's direction first.";
const BOTTLENECK_DOC: &str = "The links between routers, data's direction first.";

const fn access() -> Key {
    key("access", Kind::Table(&ACCESS), Fallback::Table, ACCESS_DOC)
}

const fn bottleneck() -> Key {
    key("bottleneck", Kind::Table(&BOTTLENECK), Fallback::Table, BOTTLENECK_DOC)
}

static TOPOLOGIES: &[Variant] = &[
    Variant {
        kind: "chain",
        doc: "Nodes n0, n1, … in a row: access, bottleneck, access; or any number of links.",
        keys: &[
            access(),
            bottleneck(),
            key(
                "links",
                Kind::Tables(&BOTTLENECK),
                Fallback::Absent("access, bottleneck, access"),
                "The links of a chain of any length, instead of access and bottleneck.",
            ),
        ],
    },
    Variant {
        kind: "dumbbell",
        doc: "Senders s0, s1, … and receivers d0, d1, … around the bottleneck between the routers r1 and r2.",
        keys: &[
            key("pairs", Kind::Integer(1, MAX_FLOWS), Fallback::Absent("the number of flows"), "Pairs of sender and receiver."),
            access(),
            bottleneck(),
            key(
                "access_delays",
                Kind::List(&DELAY),
                Fallback::Absent("the access links' delay"),
                "Delay of each pair's access links, instead of access.delay; repeated if there are more pairs.",
            ),
        ],
    },
    Variant {
        kind: "parking-lot",
        doc: "Routers r0, r1, … in a row; s0 to d0 crosses all hops, s1 to d1 the first hop, s2 to d2 the second, and so on.",
        keys: &[key("hops", Kind::Integer(1, MAX_FLOWS), Fallback::Integer(2), "Bottlenecks in a row."), access(), bottleneck()],
    },
    Variant {
        kind: "explicit",
        doc: "Nodes and links as they are listed.",
        keys: &[
            key("node", Kind::List(&Kind::Text), Fallback::Required("[\"a\", \"b\"]"), "The nodes' names."),
            key("link", Kind::Tables(EXPLICIT_LINK), Fallback::Required("[[topology.link]]"), "The links."),
        ],
    },
];

/// Keys of a flow that say nothing to a `modern` host.
pub(crate) const NS2_KEYS: [&str; 11] = [
    "recovery",
    "header",
    "rwnd",
    "delayed_ack",
    "delayed_ack_timeout",
    "limited_transmit",
    "clock_granularity",
    "clock_phase",
    "min_rto",
    "initial_rto",
    "max_rto",
];

/// Of a receiver.
const BUFFER: Bounds = from("1 B", "1 GB");

static MODERN: &[Key] = &[
    key(
        "recovery",
        Kind::Word(&["rack", "sack", "newreno"]),
        Fallback::Text("rack"),
        "Loss recovery: RFC 8985; RFC 6675; RFC 6582 without SACK.",
    ),
    key("timestamps", Kind::Bool, Fallback::Bool(true), "Whether segments carry timestamps (RFC 7323), which take 12 bytes."),
    key("window_scaling", Kind::Bool, Fallback::Bool(true), "Whether windows above 65535 bytes can be offered (RFC 7323)."),
    key("receive_buffer", Kind::Quantity(&unit::SIZE, BUFFER), Fallback::Text("64 KiB"), "The receiver's buffer at the start."),
    key(
        "receive_buffer_max",
        Kind::Quantity(&unit::SIZE, BUFFER),
        Fallback::Text("6 MiB"),
        "It grows up to this with the rate at which the application reads; if it is no larger, the buffer stays as it is.",
    ),
    key("delayed_ack", TIMER, Fallback::Text("40 ms"), "Longest delay of an ACK (RFC 5681)."),
    key(
        "quick_acks",
        Kind::Integer(0, 1_000_000),
        Fallback::Integer(16),
        "So many segments at the start are acknowledged at once; afterwards every second full one, or after the delay.",
    ),
    key("limited_transmit", Kind::Bool, Fallback::Bool(true), "Whether the first duplicate ACKs release new data (RFC 3042)."),
    key("prr", Kind::Bool, Fallback::Bool(true), "Whether recovery with SACK follows Proportional Rate Reduction (RFC 9937)."),
    key("tlp", Kind::Bool, Fallback::Bool(true), "Whether tail loss probes are sent (RFC 8985), with recovery rack."),
    key("frto", Kind::Bool, Fallback::Bool(true), "Whether timeouts are checked by F-RTO (RFC 5682)."),
    key("undo", Kind::Bool, Fallback::Bool(true), "Whether a recovery that timestamps or D-SACK show to be spurious is undone (RFC 4015)."),
    key("idle_restart", Kind::Bool, Fallback::Bool(true), "Whether the window starts over after an idle timeout (RFC 5681 §4.1)."),
    key(
        "abc_limit",
        Kind::Integer(1, 1_000_000),
        Fallback::Integer(2),
        "Most segments for which an ACK counts in slow start (RFC 3465, L).",
    ),
    key(
        "pacing",
        Kind::Word(&["control", "window"]),
        Fallback::Text("control"),
        "window: pacing at 2 cwnd/srtt in slow start and 1.2 cwnd/srtt in congestion avoidance. control: pacing is left to the \
         congestion control; no part and no control in Python can set a rate yet, so that nothing is paced.",
    ),
    key("min_rto", DELAY, Fallback::Text("200 ms"), "Smallest retransmission timeout."),
    key("initial_rto", TIMER, Fallback::Text("1 s"), "Retransmission timeout before the first measurement (RFC 6298)."),
    key("max_rto", TIMER, Fallback::Text("60 s"), "Largest retransmission timeout."),
    key("rto_margin", DELAY, Fallback::Text("200 ms"), "Least distance of the timeout from srtt (RFC 6298 §2.3: G)."),
];

static FLOW: &[Key] = &[
    key("name", Kind::Text, Fallback::Absent("flow0, flow1, …"), "What tables and plots call the flow; with `count` its number is added."),
    key(
        "count",
        Kind::Integer(1, MAX_FLOWS),
        Fallback::Integer(1),
        "So many like flows; with `arrivals`, so many pairs of nodes that its flows take in turn.",
    ),
    key("from", Kind::Text, Fallback::Absent("the topology's sender for this flow"), "The sender's node."),
    key("to", Kind::Text, Fallback::Absent("the topology's receiver for this flow"), "The receiver's node."),
    key("start", POINT, Fallback::Text("0 s"), "When the application starts."),
    key("start_spread", POINT, Fallback::Text("0 s"), "Like flow i of `count` n starts later by i/n of this."),
    key(
        "start_jitter",
        POINT,
        Fallback::Text("0 s"),
        "Starts later by a random time below this, drawn from the scenario's seed and the flow's name.",
    ),
    key(
        "arrivals",
        Kind::Variants(ARRIVALS),
        Fallback::Absent("one flow, or `count`"),
        "Flows that arrive at random, each with a size of its own, drawn from the scenario's seed and the flow's name.",
    ),
    key(
        "application",
        Kind::Variants(APPLICATIONS),
        Fallback::Absent("a bulk transfer, which size and stop may end"),
        "What hands data to the sender.",
    ),
    key("stop", POINT, Fallback::Absent("never"), "When the application stops handing over data; what is outstanding is still delivered."),
    key(
        "size",
        Kind::Quantity(&unit::AMOUNT, from("1 packet", "1e15 packets")),
        Fallback::Absent("without end"),
        "How much data the application sends; bytes are rounded up to packets.",
    ),
    key(
        "profile",
        Kind::Part("profile", &[]),
        Fallback::Text("ns2"),
        "The end hosts: ns2 is the packet-counting one-way TCP of ns-2.35; modern is a byte-stream TCP as today's systems have it.",
    ),
    key(
        "host",
        Kind::Word(hosts::NAMES),
        Fallback::Absent("the profile's own settings"),
        "A preset of profile modern: the end hosts of a system as it is shipped; the flow's other keys override it.",
    ),
    key(
        "recovery",
        Kind::Part("recovery", &[]),
        Fallback::Text("sack"),
        "Loss recovery: fast retransmit only; RFC 2581; RFC 6582; RFC 3517 as ns-2's Sack1; timeouts of fine grain as ns-2's Vegas.",
    ),
    key(
        "packet_size",
        Kind::Quantity(&unit::SIZE, from("1 B", "65495 B")),
        Fallback::Text("1000 B"),
        "Data in a packet, without the headers.",
    ),
    key(
        "header",
        Kind::Quantity(&unit::SIZE, from("0 B", "40 B")),
        Fallback::Text("40 B"),
        "Headers in a data packet; the SYN is nothing else or, without any, as large as a data packet. ns-2's Vegas has 0 B.",
    ),
    key(
        "rwnd",
        Kind::Quantity(&unit::PACKETS, from("1 packet", "1e9 packets")),
        Fallback::Text("1000 packets"),
        "Receiver's window; ns-2's own default is 20 packets.",
    ),
    key(
        "initial_ssthresh",
        Kind::Quantity(&unit::THRESHOLD, from("1 segment", "1e9 segments")),
        Fallback::Text("rwnd"),
        "First slow start threshold; rwnd is ns-2's choice.",
    ),
    key("delayed_ack", Kind::Bool, Fallback::Bool(false), "Whether the receiver delays ACKs: every second packet, or after the timeout."),
    key("delayed_ack_timeout", TIMER, Fallback::Text("100 ms"), "Longest delay of an ACK."),
    key("ecn", Kind::Bool, Fallback::Bool(false), "Whether sender and receiver use Explicit Congestion Notification (RFC 3168)."),
    key("limited_transmit", Kind::Bool, Fallback::Bool(true), "Whether the first two duplicate ACKs release a new packet each (RFC 3042)."),
    key("clock_granularity", TIMER, Fallback::Text("10 ms"), "Tick of the clock that measures round-trip times."),
    key(
        "clock_phase",
        DELAY,
        Fallback::Text("0 s"),
        "Phase of that clock, below its granularity: it ticks at multiples of the granularity less this.",
    ),
    key("min_rto", DELAY, Fallback::Text("200 ms"), "Smallest retransmission timeout."),
    key("initial_rto", TIMER, Fallback::Text("3 s"), "Retransmission timeout before the first measurement."),
    key("max_rto", TIMER, Fallback::Text("60 s"), "Largest retransmission timeout."),
    key(
        "initial_window",
        Kind::Part("initial_window", &[]),
        Fallback::Text("ns2_table"),
        "The window with which the connection starts; segments alone are a fixed one.",
    ),
    key(
        "initial_pacing",
        Kind::Word(&["none", "rtt"]),
        Fallback::Text("none"),
        "rtt: what the initial window lets go is spread evenly over the round-trip time of the handshake. The initial window unlimited \
         spreads what is above ten segments in any case.",
    ),
    key("slow_start", Kind::Part("slow_start", &[]), Fallback::Text("standard"), "Growth below ssthresh."),
    key("avoidance", Kind::Part("avoidance", &[]), Fallback::Text("reno"), "Growth from ssthresh on."),
    key("loss_response", Kind::Part("loss_response", &[]), Fallback::Text("own"), "Reduction at congestion; own is the avoidance's."),
    key(
        "congestion_control",
        Kind::Part("congestion_control", &[]),
        Fallback::Text("composed"),
        "A control with window, rate and recovery of its own, instead of the four parts above; composed: of these. The Python API sets \
         python if a Python object is the control, python_slow_start if it is its slow start alone.",
    ),
    key("modern", Kind::Table(MODERN), Fallback::Table, "Settings of the end hosts, if the profile is modern."),
];
