//! The keys of a scenario file. Reader, defaults, suggestions, schema and documentation all derive from these tables.

use ackclock_core::cc::{avoidance, initial_window, loss_response, slow_start, whole};
use ackclock_core::path::{delay, loss, medium, rate};
use ackclock_core::qdisc;
use ackclock_tcp::ns2;

use crate::scenario::host_keys;
use crate::scenario::kernel_keys;
use crate::scenario::keys::{DELAY, Fallback, KERNEL, Key, Kind, MAX_FLOWS, POINT, RATE, Variant, above, from, key};
use crate::scenario::model::TraceKind;
use crate::scenario::preset::LINKS;
use crate::scenario::profiles;
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
    key("name", Kind::Text, Fallback::Absent("the file's name without its extension"), "Name of the scenario in tables and plots."),
    key(
        "duration",
        Kind::Quantity(&unit::TIME, above("0 s", "1e9 s")),
        Fallback::Required("\"30 s\""),
        "End of the run. Events at exactly this time are not simulated.",
    ),
    key("seed", Kind::Integer(0, u64::MAX), Fallback::Integer(1), "Seeds every random number generator of the run."),
    key(
        "start_offset",
        POINT,
        Fallback::Text("0 s"),
        "Time added to the start of every flow and application. `stop` and `arrivals.until` do not change.",
    ),
    key("record", Kind::List(&Kind::Word(&TRACES)), Fallback::Empty, "Traces to record. Each trace is a table of its own."),
    key("topology", Kind::Variants(TOPOLOGIES), Fallback::Table, "The network: nodes and links."),
    key(
        "flow",
        Kind::Tables(FLOW),
        Fallback::Required("[[flow]]"),
        "The flows. Each is a TCP connection, or the connections of an application.",
    ),
    key("sweep", Kind::Sweep, Fallback::Absent("one run"), "Keys to vary. Every combination of the axes' values is a run."),
];

const QUEUE_DOC: &str = "Queue in front of the link. A limit alone means a droptail queue of this size.";
const RATE_DOC: &str = "Transmission rate: a constant, or a model.";
const DELAY_DOC: &str = "Propagation delay: a constant, or a model. The delays of a list add up.";
const LOSS_DOC: &str = "Packet loss that the queue does not cause, and duplication. A probability alone means independent losses. In a list, \
                        each model decides on the packets that the one before it has left.";

/// The keys of one direction of a link, with `$first` before and `$last` after them. The defaults of rate, delay and queue are given.
macro_rules! direction {
    ([$($first:expr),*], $rate:expr, $delay:expr, $queue:expr, [$($last:expr),*]) => {
        &[
            $($first,)*
            key("rate", Kind::Part(&rate::AXIS, &[]), $rate, RATE_DOC),
            key("delay", Kind::Parts(&delay::AXIS, &[]), $delay, DELAY_DOC),
            key("queue", Kind::Part(&qdisc::AXIS, GENERATOR), Fallback::Text($queue), QUEUE_DOC),
            key("loss", Kind::Parts(&loss::AXIS, LOSS), Fallback::Text("none"), LOSS_DOC),
            key("quick_start", RATE, Fallback::Absent("the router does not take part"), QUICK_START_DOC),
            $($last,)*
        ]
    };
}

const QUICK_START_DOC: &str =
    "Rate that the router at the link's start approves of a Quick-Start request (RFC 4782; slow start quick_start).";

/// The key that both directions of a link have in common.
const fn medium() -> Key {
    key("medium", Kind::Part(&medium::AXIS, MEDIUM), Fallback::Text("own"), MEDIUM_DOC)
}

const MEDIUM_DOC: &str = "own: each direction sends when it likes. Otherwise both directions share a medium, on which one sends at a time.";

static MEDIUM: &[Key] = &[key(
    "channel",
    Kind::Text,
    Fallback::Absent("the link's own channel"),
    "Name of the channel. All links with the same channel share it, and have the same medium.",
)];

const SAME_RATE: Fallback = Fallback::Absent("the forward direction's rate");
const SAME_DELAY: Fallback = Fallback::Absent("the forward direction's delay");

static REVERSE: &[Key] = direction!([], SAME_RATE, SAME_DELAY, "unlimited", []);

const REVERSE_DOC: &str = "Settings of the reverse direction. By default it has the same rate and delay, an unlimited queue and no loss.";

const fn reverse() -> Key {
    key("reverse", Kind::Table(REVERSE), Fallback::Table, REVERSE_DOC)
}

const fn preset() -> Key {
    key(
        "preset",
        Kind::Preset(&LINKS),
        Fallback::Absent("the keys' own defaults"),
        "Preset of the link, such as \"dsl\": its keys in both directions. The link's other keys override the preset.",
    )
}

static ACCESS: &[Key] = direction!([preset()], Fallback::Text("100 Mbit/s"), Fallback::Text("10 ms"), "unlimited", [medium(), reverse()]);
static BOTTLENECK: &[Key] =
    direction!([preset()], Fallback::Text("10 Mbit/s"), Fallback::Text("10 ms"), "50 packets", [medium(), reverse()]);

/// Keys of the random number generator of a link's queue.
static GENERATOR: &[Key] = &[generator(), generator_seed(), generator_stream(), generator_skip()];

const fn generator() -> Key {
    key(
        "generator",
        Kind::Word(&["default", "mrg32k3a"]),
        Fallback::Text("default"),
        "default: a generator seeded by the scenario's seed and the link's name. mrg32k3a: ns-2's generator, which draws the same numbers as ns-2.",
    )
}

const fn generator_seed() -> Key {
    key("seed", Kind::Integer(1, 4_294_944_442), Fallback::Integer(1), "Seed of mrg32k3a: the value of all six words of its state.")
}

const fn generator_stream() -> Key {
    key("stream", Kind::Integer(0, u32::MAX as u64), Fallback::Integer(1), "Stream of mrg32k3a. Streams are 2^127 numbers apart.")
}

const fn generator_skip() -> Key {
    key(
        "skip",
        Kind::Integer(0, 1_000_000_000),
        Fallback::Integer(0),
        "Numbers of the mrg32k3a stream to skip because other components drew them.",
    )
}

static LOSS: &[Key] = &[
    key(
        "position",
        Kind::Word(&["after", "before"]),
        Fallback::Text("after"),
        "after: a lost packet has passed queue and link, as with ns-2's link-lossmodel. before: a lost packet never enters the queue.",
    ),
    generator(),
    generator_seed(),
    generator_stream(),
    generator_skip(),
];

static EXPLICIT_LINK: &[Key] = direction!(
    [
        key("from", Kind::Text, Fallback::Required("a node's name"), "The node where the link starts."),
        key("to", Kind::Text, Fallback::Required("a node's name"), "The node where the link ends."),
        preset()
    ],
    Fallback::Text("10 Mbit/s"),
    Fallback::Text("10 ms"),
    "50 packets",
    [
        medium(),
        key(
            "reverse",
            Kind::WordOrTable("none", REVERSE),
            Fallback::Table,
            "Settings of the reverse direction. \"none\" makes the link one-way.",
        )
    ]
);

const ACCESS_DOC: &str = "The links between hosts and routers. Their keys describe the data's direction; reverse describes the other.";
const BOTTLENECK_DOC: &str = "The links between routers. Their keys describe the data's direction; reverse describes the other.";

const fn path() -> Key {
    key(
        "path",
        Kind::Preset(&LINKS),
        Fallback::Absent("the links' own keys"),
        "Preset of the whole path, such as \"leo\": the bottleneck has this preset, and the access links neither limit nor delay. Keys of the \
         links override it.",
    )
}

const fn access() -> Key {
    key("access", Kind::Table(ACCESS), Fallback::Table, ACCESS_DOC)
}

const fn bottleneck() -> Key {
    key("bottleneck", Kind::Table(BOTTLENECK), Fallback::Table, BOTTLENECK_DOC)
}

static TOPOLOGIES: &[Variant] = &[
    Variant {
        kind: "chain",
        doc: "Nodes n0, n1, … in a row, joined by access link, bottleneck and access link, or by any number of links.",
        keys: &[
            path(),
            access(),
            bottleneck(),
            key(
                "links",
                Kind::Tables(BOTTLENECK),
                Fallback::Absent("access, bottleneck, access"),
                "Links of a chain of any length, instead of access and bottleneck.",
            ),
        ],
    },
    Variant {
        kind: "dumbbell",
        doc: "Senders s0, s1, … and receivers d0, d1, … around the bottleneck between the routers r1 and r2.",
        keys: &[
            key("pairs", Kind::Integer(1, MAX_FLOWS), Fallback::Absent("the number of flows"), "Number of pairs of sender and receiver."),
            path(),
            access(),
            bottleneck(),
            key(
                "access_delays",
                Kind::List(&DELAY),
                Fallback::Absent("access.delay for every pair"),
                "Delay of each pair's access links, instead of access.delay. The list repeats if there are more pairs.",
            ),
        ],
    },
    Variant {
        kind: "parking-lot",
        doc: "Routers r0, r1, … in a row. The path from s0 to d0 crosses all hops, s1 to d1 the first hop, s2 to d2 the second, and so on.",
        keys: &[
            key("hops", Kind::Integer(1, MAX_FLOWS), Fallback::Integer(2), "Number of bottlenecks in a row."),
            path(),
            access(),
            bottleneck(),
        ],
    },
    Variant {
        kind: "explicit",
        doc: "Nodes and links, listed one by one.",
        keys: &[
            key("node", Kind::List(&Kind::Text), Fallback::Required("[\"a\", \"b\"]"), "Names of the nodes."),
            key("link", Kind::Tables(EXPLICIT_LINK), Fallback::Required("[[topology.link]]"), "The links."),
        ],
    },
];

/// The keys of a flow that apply only to hosts of `profile`.
pub(crate) fn keys_of(profile: &str) -> impl Iterator<Item = &'static str> {
    FLOW.iter().filter(move |key| key.profile == Some(profile)).map(|key| key.name)
}

/// Keys of a chain that its `links` replaces.
pub(crate) const LISTED_BY_LINKS: [&str; 3] = ["path", "access", "bottleneck"];

/// The keys of a flow.
pub(crate) static FLOW: &[Key] = &host_keys::with_ns2::<{ OF_EVERY_FLOW.len() + ns2::SETTINGS.len() }>(OF_EVERY_FLOW);

/// The keys of a flow besides the settings of `ns2`.
const OF_EVERY_FLOW: &[Key] = &[
    key(
        "name",
        Kind::Text,
        Fallback::Absent("flow0, flow1, …"),
        "Name of the flow in tables and plots. With `count`, the flow's number is appended.",
    ),
    key(
        "count",
        Kind::Integer(1, MAX_FLOWS),
        Fallback::Integer(1),
        "Number of identical flows. With `arrivals`: number of node pairs that the arriving flows use in turn.",
    ),
    key("from", Kind::Text, Fallback::Absent("the topology's sender for this flow"), "Node of the sender."),
    key("to", Kind::Text, Fallback::Absent("the topology's receiver for this flow"), "Node of the receiver."),
    key("start", POINT, Fallback::Text("0 s"), "Time at which the application starts."),
    key(
        "start_spread",
        POINT,
        Fallback::Text("0 s"),
        "Spread of the starts. Of n identical flows (`count`), flow i starts later by i/n of this time.",
    ),
    key(
        "start_jitter",
        POINT,
        Fallback::Text("0 s"),
        "Upper bound of a random start delay, drawn from the scenario's seed and the flow's name.",
    ),
    key(
        "arrivals",
        Kind::Variants(ARRIVALS),
        Fallback::Absent("one flow, or `count` flows"),
        "Random arrivals of flows, each with a size of its own, drawn from the scenario's seed and the flow's name.",
    ),
    key(
        "application",
        Kind::Variants(APPLICATIONS),
        Fallback::Absent("a bulk transfer, which size and stop can end"),
        "Application that hands data to the sender.",
    ),
    key(
        "stop",
        POINT,
        Fallback::Absent("never"),
        "Time at which the application stops handing over data. Outstanding data is still delivered.",
    ),
    key(
        "size",
        Kind::Quantity(&unit::AMOUNT, from("1 packet", "1e15 packets")),
        Fallback::Absent("unlimited"),
        "Amount of data that the application sends. Bytes are rounded up to packets.",
    ),
    key(
        "profile",
        Kind::Part(&profiles::AXIS, &[]),
        Fallback::Text("ns2"),
        "Profile of the end hosts. ns2: the packet-counting one-way TCP of ns-2.35. modern: a byte-stream TCP as in today's systems. kernel: a Linux kernel in virtual time, beside the simulated hosts of other flows; \
         its settings are those of modern, by default of host = \"linux\".",
    ),
    key(
        "host",
        Kind::Host,
        Fallback::Absent("the profile's own settings"),
        "Preset of profile modern: the TCP settings with which an operating system ships; of linux also a version, as in { kind = \"linux\", version = \"4.10\" }. The flow's other keys override the preset.",
    ).of("modern"),
    key(
        "recovery",
        Kind::Part(&ns2::RECOVERY, &[]),
        Fallback::Text("sack"),
        "Loss recovery. tahoe: fast retransmit only. reno: RFC 2581. newreno: RFC 6582. sack: RFC 3517, as in ns-2's Sack1. vegas: fine-grained timeouts, as in ns-2's Vegas.",
    ).of("ns2"),
    key("packet_size", Kind::Quantity(&unit::SIZE, from("1 B", "65495 B")), Fallback::Text("1000 B"), "Data in a packet, without headers."),
    key(
        "initial_ssthresh",
        Kind::Quantity(&unit::THRESHOLD, from("1 segment", "1e9 segments")),
        Fallback::Text("rwnd"),
        "Initial slow start threshold. rwnd: the receiver's window, as in ns-2.",
    ),
    key(
        "ecn",
        Kind::Switch(&["classic", "accurate", "dctcp"]),
        Fallback::Bool(false),
        "Whether sender and receiver use Explicit Congestion Notification, and how the receiver reports marks; true is classic. classic: it repeats \
         an echo until the sender responds (RFC 3168). accurate: it counts marked packets and bytes (AccECN, RFC 9768), on modern hosts. dctcp: it \
         echoes the mark of each packet (RFC 8257), on modern hosts.",
    ),
    key(
        "initial_window",
        Kind::Part(&initial_window::AXIS, &[]),
        Fallback::Text("ns2_table"),
        "Initial congestion window. A number of segments alone means a fixed window.",
    ),
    key(
        "initial_pacing",
        Kind::Word(&["none", "rtt"]),
        Fallback::Text("none"),
        "rtt: the initial window is spread evenly over the round-trip time of the handshake. If the initial \
         window is unlimited, a first flight of more than ten segments is always spread.",
    ),
    key("slow_start", Kind::Part(&slow_start::AXIS, &[]), Fallback::Text("standard"), "Window growth below ssthresh."),
    key("avoidance", Kind::Part(&avoidance::AXIS, &[]), Fallback::Text("reno"), "Window growth from ssthresh on."),
    key(
        "loss_response",
        Kind::Part(&loss_response::AXIS, &[]),
        Fallback::Text("own"),
        "Window reduction at congestion. own: the reduction of the avoidance.",
    ),
    key(
        "congestion_control",
        Kind::Part(&whole::AXIS, &[]),
        Fallback::Text("composed"),
        "Whole congestion control with its own window, rate and recovery, instead of the four parts above. composed: these four \
         parts. python and python_slow_start: a control or a slow start that is a Python object; only the Python API sets these.",
    ),
    key("modern", Kind::Table(host_keys::MODERN), Fallback::Table, "Settings of end hosts of profile modern.").of("modern"),
    key("kernel", Kind::Table(kernel_keys::KERNEL), Fallback::Table, "The kernel of hosts of profile kernel.").of(KERNEL),
];
