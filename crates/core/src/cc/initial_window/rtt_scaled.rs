//! Initial window from the handshake: what a slow path would deliver in the round-trip time just measured, paced over it.
//! ## What it does
//! The window is `rate` times the handshake's round-trip time, in whole segments, from `least` to `most`, and no more than the application
//! has to send or the receiver accepts. A window of more than `least` segments is spread evenly over the round trip, so it leaves at
//! `rate`: a path that carries this rate needs no buffer for it. Without a round-trip time the window is `least`; after a lost SYN it is one
//! segment.
//! ## References
//! Ours: the mended rule of `papers/repaired`, after Aniemeka 2018 (the paper `icw`), whose best window grows with rate and round-trip time
//! but whose sender knows neither rate nor buffer. draft-allman-tcpm-no-initwin-00, 2015, as reported there (windows above ten segments are
//! paced); RFC 6928 (ten segments); RFC 5681 §3.1 (one segment after a lost SYN); M-Lab NDT, October 2025, for the rate.
//! ## Differs from the document
//! The paper chooses one window for all paths. Here the round-trip time, the amount of data and the receiver's window decide, all of which a
//! sender knows when it sends the first segment; the rate is a choice made once, from measurements of many paths.
//! ## Parameters
//! `rate`: 5 Mbit/s, about the rate that nine of ten downloads exceed (M-Lab NDT, October 2025: 0.6 to 9.1 Mbit/s in ten countries, median
//! 4.7). `least`: 10 segments, from RFC 6928. `most`: 100 segments, the largest window in the paper.

use crate::cc::contract::InitialWindow;
use crate::entry::Entry;
use crate::events::Established;
use crate::params::{Default, Kind, Param, Params};
use crate::units::Segments;

const fn segments(name: &'static str, default: f64, doc: &'static str) -> Param {
    Param { name, kind: Kind::Segments { min: 1.0, max: 1e6 }, default: Default::Number(default), doc }
}

/// This part in the registry.
pub static ENTRY: Entry<dyn InitialWindow> = Entry {
    name: "rtt_scaled",
    summary: "a rate that most paths have times the handshake's round-trip time, paced over it",
    reference: "papers/repaired; after Aniemeka 2018",
    params: &[
        Param {
            name: "rate",
            kind: Kind::Rate { min: 1e3, max: 1e12 },
            default: Default::Number(5e6),
            doc: "rate at which the first window leaves (about the slowest tenth of downloads of M-Lab NDT, October 2025)",
        },
        segments("least", 10.0, "smallest initial window, which is not paced (RFC 6928: 10)"),
        segments("most", 100.0, "largest initial window (the largest in Aniemeka 2018)"),
    ],
    quantities: &[],
    build,
};

fn build(params: &Params) -> Result<Box<dyn InitialWindow>, String> {
    let [rate, least, most] = ["rate", "least", "most"].map(|name| params.number(name));
    if least > most {
        return Err(format!("least is {least} segments but most is {most}: least must not exceed most"));
    }
    Ok(Box::new(RttScaled { rate, least, most }))
}

/// An initial window in proportion to the handshake's round-trip time.
#[derive(Clone, Debug)]
pub struct RttScaled {
    /// Bits per second, headers included.
    rate: f64,
    least: Segments,
    most: Segments,
}

impl InitialWindow for RttScaled {
    fn segments(&self, event: &Established) -> Segments {
        if event.syn_lost() {
            return 1.0;
        }
        let packet = 8.0 * (event.smss.0 + event.header.0).max(1) as f64;
        let carried = event.rtt.map_or(0.0, |rtt| libm::floor(self.rate * rtt.as_secs_f64() / packet));
        let offered = event.available.unwrap_or(Segments::INFINITY).ceil().max(1.0);
        carried.clamp(self.least, self.most).min(offered).min(event.rwnd.unwrap_or(Segments::INFINITY))
    }

    fn paces(&self, segments: Segments) -> bool {
        segments > self.least
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{build, established};
    use crate::units::Duration;

    fn part(set: &[(&str, f64)]) -> Result<Box<dyn InitialWindow>, String> {
        let set: Vec<(&str, Value)> = set.iter().map(|&(name, value)| (name, Value::Number(value))).collect();
        build(&ENTRY, &set)
    }

    fn after(millis: u64) -> Established {
        Established { rtt: Some(Duration::from_millis(millis)), ..established(1250) }
    }

    #[test]
    fn the_window_is_the_rate_times_the_round_trip_time() {
        let part = part(&[]).unwrap();
        // 5 Mbit/s are 500 packets of 1250 bytes a second.
        let windows = [10, 20, 50, 100, 199, 200, 600].map(|millis| part.segments(&after(millis)));
        assert_eq!(windows, [10.0, 10.0, 25.0, 50.0, 99.0, 100.0, 100.0]);
        let fast = super::build(&{
            let mut params = Params::defaults(ENTRY.params);
            params.set("rate", Value::Number(20e6));
            params
        });
        assert_eq!(fast.unwrap().segments(&after(20)), 40.0);
    }

    #[test]
    fn data_and_the_receivers_window_bound_it() {
        let part = part(&[]).unwrap();
        assert_eq!(part.segments(&Established { available: Some(30.2), ..after(100) }), 31.0, "the last segment is short");
        assert_eq!(part.segments(&Established { available: Some(3.0), ..after(100) }), 3.0);
        assert_eq!(part.segments(&Established { rwnd: Some(44.0), ..after(100) }), 44.0);
    }

    #[test]
    fn ten_segments_without_a_round_trip_time_and_one_after_a_lost_syn() {
        let part = part(&[]).unwrap();
        assert_eq!(part.segments(&established(1250)), 10.0);
        assert_eq!(part.segments(&Established { lost_syns: 1, ..after(100) }), 1.0);
    }

    #[test]
    fn only_more_than_the_least_is_paced() {
        let part = part(&[("least", 12.0)]).unwrap();
        assert_eq!([12.0, 13.0].map(|window| part.paces(window)), [false, true]);
    }

    #[test]
    fn contradictory_bounds_are_refused() {
        let refused = part(&[("least", 20.0), ("most", 15.0)]).unwrap_err();
        assert_eq!(refused, "least is 20 segments but most is 15: least must not exceed most");
    }
}
