//! The keys of a flow that say what traffic there is: random arrivals, applications, and the distributions of what they draw.

use crate::scenario::keys::{DELAY, Fallback, Key, Kind, POINT, RATE, Variant, above, from, key};
use crate::scenario::unit;

const fn mean() -> Key {
    key(
        "mean",
        Kind::Quantity(&unit::AMOUNT, from("1 B", "1e15 B")),
        Fallback::Required("\"100 kB\""),
        "Mean size; what is drawn is rounded up to whole packets, or to bytes where the application counts those.",
    )
}

const fn mean_time() -> Key {
    key("mean", DELAY, Fallback::Required("\"1 s\""), "Mean time.")
}

const fn shape() -> Key {
    key("shape", Kind::Number(1.01, 100.0), Fallback::Number(1.2), "Tail index; up to 2 the variance is infinite.")
}

const fn sigma() -> Key {
    key("sigma", Kind::Number(0.0, 10.0), Fallback::Number(1.0), "Standard deviation of the natural logarithm.")
}

const EXPONENTIAL: &str = "Exponentially distributed.";
const PARETO: &str = "P(X > x) falls as x to the power of -shape: few large values make most of the sum.";
const LOGNORMAL: &str = "The logarithm is normally distributed.";

/// Distributions of sizes.
static SIZES: &[Variant] = &[
    Variant { kind: "exponential", doc: EXPONENTIAL, keys: &[mean()] },
    Variant { kind: "fixed", doc: "All of the mean size.", keys: &[mean()] },
    Variant { kind: "pareto", doc: PARETO, keys: &[mean(), shape()] },
    Variant { kind: "lognormal", doc: LOGNORMAL, keys: &[mean(), sigma()] },
    Variant {
        kind: "empirical",
        doc: "One of a list, drawn by weight.",
        keys: &[
            key(
                "sizes",
                Kind::List(&Kind::Quantity(&unit::AMOUNT, from("1 B", "1e15 B"))),
                Fallback::Required("[\"10 kB\", \"1 MB\"]"),
                "The sizes; bytes are rounded up to packets.",
            ),
            key("weights", Kind::List(&Kind::Number(0.0, 1e15)), Fallback::Absent("all alike"), "How often each is drawn, as a weight."),
        ],
    },
];

/// Distributions of times.
static TIMES: &[Variant] = &[
    Variant { kind: "exponential", doc: EXPONENTIAL, keys: &[mean_time()] },
    Variant { kind: "fixed", doc: "Always the mean.", keys: &[mean_time()] },
    Variant { kind: "pareto", doc: PARETO, keys: &[mean_time(), shape()] },
    Variant { kind: "lognormal", doc: LOGNORMAL, keys: &[mean_time(), sigma()] },
];

const BYTES: Kind = Kind::Quantity(&unit::SIZE, from("1 B", "1e15 B"));
/// Most pages, exchanges, or objects of a page.
const MANY: u64 = 1_000_000;

const fn request() -> Key {
    key("request", BYTES, Fallback::Text("400 B"), "Size of a request.")
}

const fn persistent() -> Key {
    key(
        "persistent",
        Kind::Bool,
        Fallback::Bool(true),
        "Whether a connection carries one response after the other (HTTP/1.1), or closes after each (HTTP/1.0).",
    )
}

const fn server_delay() -> Key {
    key("server_delay", DELAY, Fallback::Text("0 s"), "Time from the last byte of a request at the server to the response.")
}

/// The objects of a page, listed one by one.
static CONTENTS: &[Key] = &[
    key("response", BYTES, Fallback::Required("\"30 kB\""), "Size of the response, its header included."),
    request(),
    key("host", Kind::Integer(0, 999), Fallback::Integer(0), "Number of the host that has it: each has connections of its own."),
];

/// Applications.
pub(super) static APPLICATIONS: &[Variant] = &[
    Variant { kind: "bulk", doc: "Data without end, or up to the flow's size or stop.", keys: &[] },
    Variant {
        kind: "on-off",
        doc: "Bursts of data, each after a pause that begins when the one before has arrived.",
        keys: &[
            key("burst", Kind::Drawn(SIZES), Fallback::Required("\"100 kB\""), "Size of a burst."),
            key("pause", Kind::Drawn(TIMES), Fallback::Required("\"1 s\""), "Time from the arrival of a burst to the next."),
        ],
    },
    Variant {
        kind: "request-response",
        doc: "The receiver asks, the sender answers, again and again on one connection or on one after the other (profile modern).",
        keys: &[
            key("response", Kind::Drawn(SIZES), Fallback::Required("\"100 kB\""), "Size of a response."),
            request(),
            key("exchanges", Kind::Integer(1, MANY), Fallback::Absent("until the end of the run"), "How many."),
            key("think", Kind::Drawn(TIMES), Fallback::Text("0 s"), "Time from the arrival of a response to the next request."),
            server_delay(),
            persistent(),
        ],
    },
    Variant {
        kind: "web",
        doc: "The receiver loads pages: the root, then the objects that it names, over several connections (profile modern).",
        keys: &[
            key("root", Kind::Drawn(SIZES), Fallback::Absent("given by contents or har"), "Size of the root's response."),
            key("objects", Kind::Integer(0, MANY), Fallback::Integer(0), "Objects besides the root."),
            key("object", Kind::Drawn(SIZES), Fallback::Absent("there are no objects"), "Size of an object's response."),
            request(),
            key("hosts", Kind::Integer(1, 1000), Fallback::Integer(1), "Hosts that hold the objects in turn; the first holds the root."),
            key("contents", Kind::Tables(CONTENTS), Fallback::Absent("root and objects"), "The page, object by object, the root first."),
            key("har", Kind::Text, Fallback::Absent("root and objects"), "A file in HTTP Archive format whose first page is loaded."),
            key("pages", Kind::Integer(1, MANY), Fallback::Integer(1), "How many pages are loaded, one after the other."),
            key("think", Kind::Drawn(TIMES), Fallback::Text("0 s"), "Time from a page's last byte to the next page."),
            key("connections", Kind::Integer(1, 1000), Fallback::Integer(6), "Most connections open to a host at once."),
            persistent(),
            key("parse", DELAY, Fallback::Text("0 s"), "Time from the root's last byte to the requests for the objects."),
            server_delay(),
        ],
    },
    Variant {
        kind: "cbr",
        doc: "Datagrams at a constant rate, without TCP: cross traffic.",
        keys: &[
            key("rate", RATE, Fallback::Required("\"1 Mbit/s\""), "Rate on the wire; a datagram has packet_size bytes and 28 of headers."),
            key("on", Kind::Drawn(TIMES), Fallback::Absent("it always sends"), "How long it sends at a time."),
            key("off", Kind::Drawn(TIMES), Fallback::Absent("it always sends"), "How long it is silent in between."),
        ],
    },
];

/// How flows arrive.
pub(super) static ARRIVALS: &[Variant] = &[Variant {
    kind: "poisson",
    doc: "A Poisson process: independent arrivals at a mean rate.",
    keys: &[
        key(
            "load",
            Kind::Quantity(&unit::SHARE, above("0 %", "1000 %")),
            Fallback::Absent("given by rate"),
            "Mean rate of the data with its headers, as a share of a link's rate.",
        ),
        key("of", Kind::Text, Fallback::Absent("the slowest link on the way of the first flow"), "The link of load, as in \"n1>n2\"."),
        key(
            "rate",
            Kind::Quantity(&unit::FREQUENCY, above("0 per s", "1e9 per s")),
            Fallback::Absent("given by load"),
            "Mean number of arrivals per second.",
        ),
        key(
            "until",
            POINT,
            Fallback::Absent("the end of the run"),
            "No flow arrives from then on; the first may from the flow's start on.",
        ),
        key("size", Kind::Drawn(SIZES), Fallback::Required("{ mean = \"100 kB\" }"), "How large the flows are."),
    ],
}];
