//! The keys of a flow's traffic: random arrivals, applications, and the distributions of sizes and times.

use crate::scenario::keys::{DELAY, Fallback, Key, Kind, POINT, RATE, Variant, above, from, key};
use crate::scenario::unit;

const fn mean() -> Key {
    key(
        "mean",
        Kind::Quantity(&unit::AMOUNT, from("1 B", "1e15 B")),
        Fallback::Required("\"100 kB\""),
        "Mean size. A size drawn is rounded up to whole packets, or to whole bytes if the application counts bytes.",
    )
}

const fn mean_time() -> Key {
    key("mean", DELAY, Fallback::Required("\"1 s\""), "Mean time.")
}

const fn shape() -> Key {
    key("shape", Kind::Number(1.01, 100.0), Fallback::Number(1.2), "Tail index. The variance is infinite up to 2.")
}

const fn sigma() -> Key {
    key("sigma", Kind::Number(0.0, 10.0), Fallback::Number(1.0), "Standard deviation of the natural logarithm.")
}

const EXPONENTIAL: &str = "Exponential distribution.";
const PARETO: &str = "P(X > x) falls as x to the power of -shape. A few large values make up most of the sum.";
const LOGNORMAL: &str = "Lognormal distribution: the logarithm is normally distributed.";

/// Distributions of sizes.
static SIZES: &[Variant] = &[
    Variant { kind: "exponential", doc: EXPONENTIAL, keys: &[mean()] },
    Variant { kind: "fixed", doc: "Every size is the mean.", keys: &[mean()] },
    Variant { kind: "pareto", doc: PARETO, keys: &[mean(), shape()] },
    Variant { kind: "lognormal", doc: LOGNORMAL, keys: &[mean(), sigma()] },
    Variant {
        kind: "empirical",
        doc: "Sizes from a list, drawn by weight.",
        keys: &[
            key(
                "sizes",
                Kind::List(&Kind::Quantity(&unit::AMOUNT, from("1 B", "1e15 B"))),
                Fallback::Required("[\"10 kB\", \"1 MB\"]"),
                "The sizes. Bytes are rounded up to packets.",
            ),
            key("weights", Kind::List(&Kind::Number(0.0, 1e15)), Fallback::Absent("equal weights"), "Weight of each size in the draw."),
        ],
    },
];

/// Distributions of times.
static TIMES: &[Variant] = &[
    Variant { kind: "exponential", doc: EXPONENTIAL, keys: &[mean_time()] },
    Variant { kind: "fixed", doc: "Every time is the mean.", keys: &[mean_time()] },
    Variant { kind: "pareto", doc: PARETO, keys: &[mean_time(), shape()] },
    Variant { kind: "lognormal", doc: LOGNORMAL, keys: &[mean_time(), sigma()] },
];

const BYTES: Kind = Kind::Quantity(&unit::SIZE, from("1 B", "1e15 B"));
/// Largest number of pages, of exchanges, and of objects of a page.
const MANY: u64 = 1_000_000;

const fn request() -> Key {
    key("request", BYTES, Fallback::Text("400 B"), "Size of a request.")
}

const fn persistent() -> Key {
    key(
        "persistent",
        Kind::Bool,
        Fallback::Bool(true),
        "Whether a connection carries several responses in turn (HTTP/1.1) or closes after one (HTTP/1.0).",
    )
}

const fn server_delay() -> Key {
    key("server_delay", DELAY, Fallback::Text("0 s"), "Time from the last byte of a request at the server to the response.")
}

/// The objects of a page, listed one by one.
static CONTENTS: &[Key] = &[
    key("response", BYTES, Fallback::Required("\"30 kB\""), "Size of the response, its header included."),
    request(),
    key(
        "host",
        Kind::Integer(0, 999),
        Fallback::Integer(0),
        "Number of the host that holds the object. Each host has connections of its own.",
    ),
];

/// How a player chooses bitrates.
static ABR: &[Variant] = &[
    Variant {
        kind: "throughput",
        doc: "The highest bitrate up to a share of the harmonic mean of the last segments' throughputs.",
        keys: &[
            key("samples", Kind::Integer(1, 1000), Fallback::Integer(20), "Number of segments in the mean."),
            key("safety", Kind::Number(0.01, 10.0), Fallback::Number(0.85), "Largest bitrate, as a share of the mean."),
        ],
    },
    Variant {
        kind: "buffer",
        doc: "BBA-0: the lowest bitrate up to the reservoir, the highest above reservoir and cushion, and a line between them.",
        keys: &[
            key("reservoir", Kind::Number(0.0, 1.0), Fallback::Number(0.375), "Share of the buffer with the lowest bitrate."),
            key("cushion", Kind::Number(0.01, 1.0), Fallback::Number(0.525), "Share of the buffer over which the bitrate rises."),
        ],
    },
];

/// Applications.
pub(super) static APPLICATIONS: &[Variant] = &[
    Variant { kind: "bulk", doc: "Unlimited data, or data up to the flow's size or stop.", keys: &[] },
    Variant {
        kind: "on-off",
        doc: "Bursts of data with pauses between them. A pause begins when the burst before it has arrived.",
        keys: &[
            key("burst", Kind::Drawn(SIZES), Fallback::Required("\"100 kB\""), "Size of a burst."),
            key("pause", Kind::Drawn(TIMES), Fallback::Required("\"1 s\""), "Time from the arrival of a burst to the next burst."),
        ],
    },
    Variant {
        kind: "request-response",
        doc: "Repeated requests of the receiver and responses of the sender, all on one connection or each on a new one. The profile must carry data both ways, as modern does.",
        keys: &[
            key("response", Kind::Drawn(SIZES), Fallback::Required("\"100 kB\""), "Size of a response."),
            request(),
            key(
                "exchanges",
                Kind::Integer(1, MANY),
                Fallback::Absent("until the end of the run"),
                "Number of requests with their responses.",
            ),
            key("think", Kind::Drawn(TIMES), Fallback::Text("0 s"), "Time from the arrival of a response to the next request."),
            server_delay(),
            persistent(),
        ],
    },
    Variant {
        kind: "web",
        doc: "Pages that the receiver loads over several connections: the root, then the objects that the root names. The profile must carry data both ways, as modern does.",
        keys: &[
            key("root", Kind::Drawn(SIZES), Fallback::Absent("given by contents or har"), "Size of the root's response."),
            key("objects", Kind::Integer(0, MANY), Fallback::Integer(0), "Number of objects besides the root."),
            key("object", Kind::Drawn(SIZES), Fallback::Absent("no objects"), "Size of an object's response."),
            request(),
            key(
                "hosts",
                Kind::Integer(1, 1000),
                Fallback::Integer(1),
                "Number of hosts that hold the objects in turn. The first host holds the root.",
            ),
            key("contents", Kind::Tables(CONTENTS), Fallback::Absent("given by root and objects"), "Objects of the page, the root first."),
            key(
                "har",
                Kind::Text,
                Fallback::Absent("given by root and objects"),
                "File in HTTP Archive format. The client loads its first page.",
            ),
            key("pages", Kind::Integer(1, MANY), Fallback::Integer(1), "Number of pages to load, one after the other."),
            key("think", Kind::Drawn(TIMES), Fallback::Text("0 s"), "Time from a page's last byte to the next page."),
            key("connections", Kind::Integer(1, 1000), Fallback::Integer(6), "Largest number of open connections to a host."),
            persistent(),
            key(
                "multiplexed",
                Kind::Bool,
                Fallback::Bool(false),
                "Whether one connection to each host carries all responses at once, each on a stream of its own (HTTP/3). The profile must carry several streams.",
            ),
            key("parse", DELAY, Fallback::Text("0 s"), "Time from the root's last byte to the requests for the objects."),
            server_delay(),
        ],
    },
    Variant {
        kind: "player",
        doc: "A player that requests the segments of a video one after the other, each at a bitrate of a ladder. The profile must carry data both ways, as modern does.",
        keys: &[
            key(
                "bitrates",
                Kind::List(&RATE),
                Fallback::Required("[\"400 kbit/s\", \"1 Mbit/s\", \"2.5 Mbit/s\", \"5 Mbit/s\"]"),
                "The ladder of bitrates, in rising order.",
            ),
            key("segment", Kind::Quantity(&unit::TIME, from("1 ms", "1e6 s")), Fallback::Text("4 s"), "Length of a segment."),
            key(
                "segments",
                Kind::Integer(1, MANY),
                Fallback::Absent("until stop or the end of the run"),
                "Number of segments of the video.",
            ),
            key(
                "start",
                DELAY,
                Fallback::Absent("one segment"),
                "Media in the buffer at which playback begins, and begins again after a stall. A full buffer always suffices.",
            ),
            key("buffer", DELAY, Fallback::Absent("ten segments"), "Media that the buffer can hold. It must hold a segment."),
            key("abr", Kind::Variants(ABR), Fallback::Table, "Choice of the bitrate of each segment."),
            request(),
            server_delay(),
        ],
    },
    Variant {
        kind: "frames",
        doc: "Frames of live video over TCP, at a rate that adapts to the backlog of the sender.",
        keys: &[
            key("fps", Kind::Number(0.1, 1000.0), Fallback::Number(30.0), "Frames per second."),
            key("min_rate", RATE, Fallback::Text("150 kbit/s"), "Smallest target rate."),
            key("max_rate", RATE, Fallback::Text("1.5 Mbit/s"), "Largest target rate."),
            key("rate", RATE, Fallback::Absent("min_rate"), "First target rate."),
            key("key_interval", Kind::Integer(1, MANY), Fallback::Integer(60), "Frames from a key frame to the next."),
            key("key_factor", Kind::Number(1.0, 1000.0), Fallback::Number(3.0), "Size of a key frame over that of another frame."),
            key(
                "variation",
                Kind::Number(0.0, 1.0),
                Fallback::Number(0.15),
                "Scale of the Laplacian deviations of sizes, as a share. They end at four scales, and at the whole size.",
            ),
            key("reaction", DELAY, Fallback::Text("200 ms"), "Shortest time between changes of the target rate."),
            key(
                "backlog",
                DELAY,
                Fallback::Text("100 ms"),
                "Age of the oldest incomplete frame, less the smallest delay of a frame, above which the target rate falls. Up to half of it, the rate grows.",
            ),
            key("decrease", Kind::Number(0.01, 1.0), Fallback::Number(0.85), "Target rate after a fall, over the rate of arrivals."),
            key("increase", Kind::Number(0.0, 10.0), Fallback::Number(0.05), "Growth of the target rate at each change, as a share."),
            key("deadline", DELAY, Fallback::Text("150 ms"), "Delay above which a frame is late."),
        ],
    },
    Variant {
        kind: "cbr",
        doc: "Cross traffic: datagrams at a constant rate, without TCP.",
        keys: &[
            key(
                "rate",
                RATE,
                Fallback::Required("\"1 Mbit/s\""),
                "Rate on the wire. A datagram has packet_size bytes and 28 bytes of headers.",
            ),
            key("on", Kind::Drawn(TIMES), Fallback::Absent("no pauses"), "Length of a period with datagrams."),
            key("off", Kind::Drawn(TIMES), Fallback::Absent("no pauses"), "Length of a pause between such periods."),
        ],
    },
];

/// How flows arrive.
pub(super) static ARRIVALS: &[Variant] = &[Variant {
    kind: "poisson",
    doc: "Poisson process: independent arrivals at a mean rate.",
    keys: &[
        key(
            "load",
            Kind::Quantity(&unit::SHARE, above("0 %", "1000 %")),
            Fallback::Absent("given by rate"),
            "Mean rate of the arriving data with headers, as a share of a link's rate.",
        ),
        key(
            "of",
            Kind::Text,
            Fallback::Absent("the slowest link on the first flow's path"),
            "The link that load refers to, such as \"n1>n2\".",
        ),
        key(
            "rate",
            Kind::Quantity(&unit::FREQUENCY, above("0 per s", "1e9 per s")),
            Fallback::Absent("given by load"),
            "Mean number of arrivals per second.",
        ),
        key("until", POINT, Fallback::Absent("the end of the run"), "End of the arrivals, which begin at the flow's start."),
        key("size", Kind::Drawn(SIZES), Fallback::Required("{ mean = \"100 kB\" }"), "Size of a flow."),
        key(
            "pairs",
            Kind::List(&Kind::List(&Kind::Text)),
            Fallback::Absent("the flow's from and to, or the topology's pairs"),
            "Pairs of sender and receiver that the arriving flows use in turn.",
        ),
        key(
            "stream",
            Kind::Text,
            Fallback::Absent("the flow's name or, without one, its place, such as \"flow.0\""),
            "Name of the random numbers: with the scenario's seed, it determines all arrivals and sizes.",
        ),
    ],
}];
