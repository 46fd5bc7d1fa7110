//! Adaptive initial window: learned over the connections to a peer, by additive increase and multiplicative decrease.
//! ## What it does
//! The first connection to a peer starts with `first` segments. A first window that was used up and lost nothing makes the next connection
//! start with `increase` segments more; one that saw a loss or a mark makes it start with `decrease` times as many. The window stays within
//! `least` and `most`. After a lost SYN a connection starts with one segment, and nothing is learned.
//! ## References
//! Touch, *Automating the initial window in TCP*, draft-touch-tcpm-automatic-iw-03, 2012, as Aniemeka 2018 (the paper `icw`) reports it: slow
//! additive increase over a long term, and multiplicative decrease when the window is found to be too large; RFC 9040 §4 (what connections
//! to one peer share); RFC 5681 §3.1 (one segment after a lost SYN); RFC 3168 §5 (a mark is answered like a loss).
//! ## Differs from the document
//! The draft adapts one window of a whole host by the share of many connections that saw a loss; here each pair of end hosts has its own
//! window, and every connection counts, so that a run of some dozens of connections shows the adaptation. A first window that the
//! application did not fill says nothing about a larger one, and changes nothing (the idea of RFC 7661). Connections side by side count as
//! one: they raise the window once, and a raise does not undo the decrease of another. A loss that turns out to be spurious still counts.
//! ## Parameters
//! `first`: 10 segments, RFC 6928's window. `increase`: 1 segment, and `decrease`: 0.5, those of congestion avoidance (RFC 5681 §3.1).
//! `least`: 1 segment, as after a lost SYN. `most`: 100 segments, the largest window that the paper tries.

use crate::cc::contract::InitialWindow;
use crate::entry::Entry;
use crate::events::{Established, FirstWindow};
use crate::params::{Default, Kind, Param, Params};
use crate::units::Segments;

const fn segments(name: &'static str, default: f64, doc: &'static str) -> Param {
    Param { name, kind: Kind::Segments { min: 1.0, max: 1e6 }, default: Default::Number(default), doc }
}

/// This part in the registry.
pub static ENTRY: Entry<dyn InitialWindow> = Entry {
    name: "adaptive",
    summary: "learned over connections to a peer: additive increase, multiplicative decrease",
    reference: "Aniemeka 2018; draft-touch-tcpm-automatic-iw-03",
    params: &[
        segments("first", 10.0, "initial window of the first connection to a peer; RFC 6928's"),
        Param {
            name: "increase",
            kind: Kind::Segments { min: 0.0, max: 1e6 },
            default: Default::Number(1.0),
            doc: "added after a first window without loss; RFC 5681's increase per round trip",
        },
        Param {
            name: "decrease",
            kind: Kind::Number { min: 0.0, max: 1.0 },
            default: Default::Number(0.5),
            doc: "factor after a first window with a loss; RFC 5681's",
        },
        segments("least", 1.0, "smallest initial window; that after a lost SYN"),
        segments("most", 100.0, "largest initial window; the largest that Aniemeka 2018 tries"),
    ],
    quantities: &[],
    build,
};

fn build(params: &Params) -> Result<Box<dyn InitialWindow>, String> {
    let [first, least, most] = ["first", "least", "most"].map(|name| params.number(name));
    if least > most {
        return Err("least must not be above most".to_owned());
    }
    if !(least..=most).contains(&first) {
        return Err("first must be from least to most".to_owned());
    }
    Ok(Box::new(Adaptive { first, increase: params.number("increase"), decrease: params.number("decrease"), least, most }))
}

/// An initial window that connections learn from each other.
#[derive(Clone, Debug)]
pub struct Adaptive {
    first: Segments,
    increase: Segments,
    decrease: f64,
    least: Segments,
    most: Segments,
}

impl InitialWindow for Adaptive {
    fn segments(&self, event: &Established) -> Segments {
        if event.syn_lost() {
            return 1.0;
        }
        // What was learned may come from a flow with other bounds.
        event.learned.unwrap_or(self.first).clamp(self.least, self.most)
    }

    fn settle(&self, first: &FirstWindow) -> Option<Segments> {
        // A connection beside this one may have learned already.
        let known = first.learned;
        if first.congested {
            let window = (first.window * self.decrease).max(self.least);
            return Some(known.map_or(window, |known| known.min(window)));
        }
        let raised = (first.window + self.increase).min(self.most);
        let reduced = known.is_some_and(|known| known < first.window);
        (first.filled && !reduced).then(|| known.map_or(raised, |known| known.max(raised)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{build, established};

    const DONE: FirstWindow = FirstWindow { window: 10.0, filled: true, congested: false, learned: None };

    fn part(set: &[(&str, f64)]) -> Result<Box<dyn InitialWindow>, String> {
        let set: Vec<(&str, Value)> = set.iter().map(|&(name, value)| (name, Value::Number(value))).collect();
        build(&ENTRY, &set)
    }

    #[test]
    fn a_connection_starts_where_the_last_one_arrived() {
        let part = part(&[]).unwrap();
        let window = |learned| part.segments(&Established { learned, ..established(1460) });
        assert_eq!([None, Some(11.0), Some(0.5), Some(1e4)].map(window), [10.0, 11.0, 1.0, 100.0]);
        assert_eq!(part.segments(&Established { lost_syns: 1, learned: Some(11.0), ..established(1460) }), 1.0);
    }

    #[test]
    fn additive_increase_and_multiplicative_decrease() {
        let part = part(&[("increase", 2.0), ("decrease", 0.25), ("least", 3.0), ("most", 15.0)]).unwrap();
        let settle = |window, congested| part.settle(&FirstWindow { window, congested, learned: Some(window), ..DONE });
        assert_eq!(settle(10.0, false), Some(12.0));
        assert_eq!(settle(14.0, false), Some(15.0), "the most");
        assert_eq!(settle(14.0, true), Some(3.5));
        assert_eq!(settle(10.0, true), Some(3.0), "the least");
        assert_eq!(part.settle(&DONE), Some(12.0), "the first connection to a peer");
    }

    #[test]
    fn a_window_that_was_not_filled_teaches_nothing_unless_it_lost() {
        let part = part(&[]).unwrap();
        let short = FirstWindow { filled: false, ..DONE };
        assert_eq!(part.settle(&short), None);
        assert_eq!(part.settle(&FirstWindow { congested: true, ..short }), Some(5.0));
    }

    #[test]
    fn connections_side_by_side_count_as_one() {
        let part = part(&[]).unwrap();
        let settle = |congested, learned| part.settle(&FirstWindow { congested, learned: Some(learned), ..DONE });
        assert_eq!(settle(false, 11.0), Some(11.0), "another that began with 10 has raised it");
        assert_eq!(settle(true, 5.0), Some(5.0), "another has seen a loss as well");
        assert_eq!(settle(false, 5.0), None, "the decrease of another stays");
        assert_eq!(settle(true, 11.0), Some(5.0));
    }

    #[test]
    fn bounds_that_exclude_each_other_are_refused() {
        assert_eq!(part(&[("least", 20.0), ("most", 15.0)]).unwrap_err(), "least must not be above most");
        assert_eq!(part(&[("first", 20.0), ("most", 15.0)]).unwrap_err(), "first must be from least to most");
    }
}
