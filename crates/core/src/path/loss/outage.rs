//! Outage: all packets are lost for a time.
//! ## What it does
//! Loses every packet that is at the link from `start` on for `length`, and again after each `period`. A rate of 0 bit/s in a `schedule` is
//! the other outage, which holds packets and sends them afterwards.
//! ## References
//! Mohan et al., *A multifaceted look at Starlink performance*, 2024 (steps and losses every 15 s, when satellites change); Mahimahi's
//! `mm-onoff`, whose outages have exponential lengths: here `gilbert_elliott` with `clock` "time".
//! ## Differs from the document
//! Nothing.
//! ## Parameters
//! `start`: 1 s, an arbitrary choice.
//! `length`: 100 ms, an arbitrary choice.
//! `period`: time from one outage to the next. auto: there is only one.

use crate::entry::Entry;
use crate::params::{Default, Kind, Param};
use crate::path::loss::{Arrival, Fate, LossModel};
use crate::rng::Generator;
use crate::units::{Duration, Instant};

/// This part in the registry.
pub static ENTRY: Entry<dyn LossModel> = Entry {
    name: "outage",
    summary: "all packets are lost for a time, once or periodically",
    reference: "Mohan et al. 2024",
    params: &[
        Param {
            name: "start",
            kind: Kind::Duration { min: 0.0, max: 1e9 },
            default: Default::Number(1.0),
            doc: "begin of the first outage",
        },
        Param {
            name: "length",
            kind: Kind::Duration { min: 0.0, max: 1e9 },
            default: Default::Number(0.1),
            doc: "time for which packets are lost",
        },
        Param {
            name: "period",
            kind: Kind::Duration { min: 1e-6, max: 1e9 },
            default: Default::Auto,
            doc: "time from the begin of one outage to the begin of the next; auto: there is only one",
        },
    ],
    quantities: &[],
    build: |params| {
        let [start, length] = ["start", "length"].map(|name| params.number(name));
        let period = params.number_or_auto("period").unwrap_or(f64::INFINITY);
        if length >= period {
            return Err("length must be below period: otherwise no packet passes".to_owned());
        }
        Ok(Box::new(Outage { start: Instant::ZERO + Duration::from_secs_f64(start), length, period }))
    },
};

/// Times without a link.
#[derive(Debug)]
pub struct Outage {
    start: Instant,
    /// Seconds.
    length: f64,
    period: f64,
}

impl LossModel for Outage {
    fn fate(&mut self, arrival: &Arrival, _random: &mut Generator) -> Fate {
        // The remainder of an infinite period is the time itself.
        let within = || arrival.now.since(self.start).as_secs_f64() % self.period;
        Fate::lost_if(arrival.now >= self.start && within() < self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{build, fates};

    /// The milliseconds at which packets are lost.
    fn lost(period: Value) -> Vec<u64> {
        let set = [("start", Value::Number(0.0105)), ("length", Value::Number(0.002)), ("period", period)];
        let mut model = build(&ENTRY, &set).unwrap();
        (1..).zip(fates(&mut *model, 30)).filter(|(_, fate)| *fate == Fate::Lose).map(|(number, _)| number).collect()
    }

    #[test]
    fn packets_are_lost_within_outages_only() {
        assert_eq!(lost(Value::Auto), [11, 12]);
        assert_eq!(lost(Value::Number(0.008)), [11, 12, 19, 20, 27, 28]);
    }

    #[test]
    fn an_outage_without_end_is_refused() {
        let error = build(&ENTRY, &[("length", Value::Number(2.0)), ("period", Value::Number(2.0))]).unwrap_err();
        assert_eq!(error, "length must be below period: otherwise no packet passes");
    }
}
