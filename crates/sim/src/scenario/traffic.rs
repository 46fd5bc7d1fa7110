//! The keys of a flow that say what traffic there is: random arrivals and their sizes.

use crate::scenario::spec::{Fallback, Key, Kind, POINT, Variant, above, from, key};
use crate::scenario::unit;

const fn mean() -> Key {
    key(
        "mean",
        Kind::Quantity(&unit::AMOUNT, from("1 B", "1e15 B")),
        Fallback::Required("\"100 kB\""),
        "Mean size; a size that is drawn is rounded up to whole packets.",
    )
}

/// Distributions of sizes.
static SIZES: &[Variant] = &[
    Variant { kind: "exponential", doc: "Exponentially distributed.", keys: &[mean()] },
    Variant { kind: "fixed", doc: "All of the mean size.", keys: &[mean()] },
    Variant {
        kind: "pareto",
        doc: "P(X > x) falls as x to the power of -shape: few large flows carry most of the data.",
        keys: &[mean(), key("shape", Kind::Number(1.01, 100.0), Fallback::Number(1.2), "Tail index; up to 2 the variance is infinite.")],
    },
    Variant {
        kind: "lognormal",
        doc: "The logarithm is normally distributed.",
        keys: &[mean(), key("sigma", Kind::Number(0.0, 10.0), Fallback::Number(1.0), "Standard deviation of the natural logarithm.")],
    },
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
        key("size", Kind::Variants(SIZES), Fallback::Required("{ mean = \"100 kB\" }"), "How large the flows are."),
    ],
}];
