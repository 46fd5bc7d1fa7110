//! Parameters that several queue disciplines share.

use crate::entry::{Quantity, quantity};
use crate::params::{Default, Kind, Param, Params};
use crate::qdisc::contract::{Backlog, Ecn};
use crate::units::{Bytes, Duration, Limit};

/// Whether the discipline marks packets.
pub(crate) const ECN: Param = flag("ecn", true, "marks packets that support ECN instead of dropping them");

/// The drop or mark probability, which the plots of drops show.
pub(crate) const PROBABILITY: Quantity = quantity("probability", "", "probability that an arriving packet is dropped or marked");

/// The rules in force where Linux departs from the document.
pub(crate) const VARIANT: Param = Param {
    name: "variant",
    kind: Kind::Word(&["rfc", "linux"]),
    default: Default::Word("rfc"),
    doc: "the document's rules, or those of Linux where it departs from them",
};

/// A boolean parameter.
pub(crate) const fn flag(name: &'static str, default: bool, doc: &'static str) -> Param {
    Param { name, kind: Kind::Bool, default: Default::Bool(default), doc }
}

/// A capacity in packets or bytes with a default of `packets`.
pub(crate) const fn limit(name: &'static str, packets: u64, doc: &'static str) -> Param {
    Param { name, kind: Kind::Limit { min: 1.0, max: 1e15 }, default: Default::Limit(Limit::Packets(packets)), doc }
}

/// The average packet size with a default of `bytes`.
pub(crate) const fn mean_packet(bytes: f64, doc: &'static str) -> Param {
    Param { name: "mean_packet", kind: Kind::Size { min: 1.0, max: 65_535.0 }, default: Default::Number(bytes), doc }
}

/// The unit of a [`Measure`].
pub(crate) const fn mode(doc: &'static str) -> Param {
    Param { name: "mode", kind: Kind::Word(&["bytes", "packets"]), default: Default::Word("bytes"), doc }
}

/// The waiting time above which packets are marked, whatever else the discipline decides.
pub(crate) const CE_THRESHOLD: Param = Param {
    name: "ce_threshold",
    kind: Kind::Duration { min: 0.0, max: 1e3 },
    default: Default::Auto,
    doc: "waiting time above which every packet that supports ECN is marked; auto: no threshold",
};

/// The packets to which [`CE_THRESHOLD`] applies.
pub(crate) const CE_THRESHOLD_ECN: Param = Param {
    name: "ce_threshold_ecn",
    kind: Kind::Word(&["any", "ect1"]),
    default: Default::Word("any"),
    doc: "packets to which ce_threshold applies: any that supports ECN, or those with ECT(1)",
};

/// The decision of [`CE_THRESHOLD`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CeThreshold {
    above: Option<Duration>,
    only_ect1: bool,
}

impl CeThreshold {
    /// No threshold.
    pub(crate) const NONE: Self = Self { above: None, only_ect1: false };

    /// Reads [`CE_THRESHOLD`] and [`CE_THRESHOLD_ECN`].
    pub(crate) fn new(params: &Params) -> Self {
        Self {
            above: params.number_or_auto("ce_threshold").map(Duration::from_secs_f64),
            only_ect1: params.word("ce_threshold_ecn") == "ect1",
        }
    }

    /// Whether a packet that has waited for `sojourn` must be marked and is not yet.
    pub(crate) fn marks(&self, sojourn: Duration, ecn: Ecn) -> bool {
        // One nanosecond of tolerance: the sojourn time is the difference of two rounded sums.
        self.above.is_some_and(|above| sojourn > above + Duration::NANOSECOND) && (ecn == Ecn::Ect1 || ecn == Ecn::Ect0 && !self.only_ect1)
    }
}

/// Reports the quantities of a queue inside another one, which has reported its `own` under the same names.
pub(crate) fn below<'a>(out: &'a mut dyn FnMut(&'static str, f64), own: &'a [Quantity]) -> impl FnMut(&'static str, f64) + 'a {
    move |name, value| {
        if own.iter().all(|quantity| quantity.name != name) {
            out(name, value);
        }
    }
}

/// The unit in which a discipline counts: bytes or packets. With bytes, a limit in packets counts packets of average size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measure {
    bytes: bool,
    /// Average packet size in bytes.
    pub(crate) mean_packet: f64,
}

impl Measure {
    /// Reads the parameters `mode` and `mean_packet`.
    pub(crate) fn new(params: &Params) -> Self {
        Self { bytes: params.word("mode") == "bytes", mean_packet: params.number("mean_packet") }
    }

    /// Average packet size, if bytes are counted.
    pub(crate) fn unit(&self) -> Option<f64> {
        self.bytes.then_some(self.mean_packet)
    }

    /// A limit in this unit; at least one packet if packets are counted.
    pub(crate) fn limit(&self, limit: Limit) -> f64 {
        match (limit, self.unit()) {
            (Limit::Packets(packets), unit) => packets as f64 * unit.unwrap_or(1.0),
            (Limit::Bytes(bytes), Some(_)) => bytes as f64,
            (Limit::Bytes(bytes), None) => (bytes as f64 / self.mean_packet).max(1.0),
        }
    }

    /// A packet of `size` in this unit.
    pub(crate) fn packet(&self, size: Bytes) -> f64 {
        if self.bytes { size.0 as f64 } else { 1.0 }
    }

    /// A backlog in this unit.
    pub(crate) fn backlog(&self, backlog: Backlog) -> f64 {
        if self.bytes { backlog.bytes as f64 } else { backlog.packets as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;

    #[test]
    fn a_threshold_marks_what_it_selects() {
        let threshold = |above, which: &str| {
            CeThreshold::new(&Params(vec![("ce_threshold", above), ("ce_threshold_ecn", Value::Word(which.to_owned()))]))
        };
        let marked = |above, which, millis| {
            let threshold = threshold(above, which);
            Ecn::ALL.map(|ecn| threshold.marks(Duration::from_millis(millis), ecn))
        };
        let one = || Value::Number(0.001);
        // Not-ECT, ECT(1), ECT(0), CE.
        assert_eq!(marked(one(), "any", 2), [false, true, true, false]);
        assert_eq!(marked(one(), "ect1", 2), [false, true, false, false]);
        assert_eq!(marked(one(), "any", 1), [false; 4], "at the threshold");
        assert_eq!(marked(Value::Auto, "any", 1000), [false; 4]);
    }

    #[test]
    fn limits_are_converted_to_the_unit() {
        let measure =
            |mode: &str| Measure::new(&Params(vec![("mode", Value::Word(mode.to_owned())), ("mean_packet", Value::Number(500.0))]));
        let limits = [Limit::Packets(50), Limit::Bytes(2000), Limit::Bytes(100)];
        assert_eq!(limits.map(|limit| measure("bytes").limit(limit)), [25_000.0, 2000.0, 100.0]);
        assert_eq!(limits.map(|limit| measure("packets").limit(limit)), [50.0, 4.0, 1.0]);
    }
}
