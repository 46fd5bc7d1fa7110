//! Adaptive initial window: additive increase and multiplicative decrease over the connections to a peer.
//! ## What it does
//! The first connection to a peer starts with `first` segments. A full first window without congestion adds `increase` segments for the
//! next connection; a loss or a mark multiplies the window by `decrease`. The initial window stays between `least` and `most`; after a lost
//! SYN it is one segment, and nothing is learned.
//! ## References
//! Touch, *Automating the initial window in TCP*, draft-touch-tcpm-automatic-iw-03, 2012, as reported by Aniemeka 2018 (the paper `icw`):
//! slow additive increase over a long term, multiplicative decrease when the window proves too large; RFC 9040 §4 (state shared between
//! connections to one peer); RFC 5681 §3.1 (one segment after a lost SYN); RFC 3168 §5 (a mark counts as a loss).
//! ## Differs from the document
//! - The draft adapts one window per host, from the share of many connections that saw a loss. Here each pair of end hosts has its own
//!   window, and every connection counts: a run with a few dozen connections then shows the adaptation.
//! - A first window that the application did not fill changes nothing: it is no evidence for a larger one (the idea of RFC 7661).
//! - Parallel connections count as one: together they raise the window once, and a raise does not undo another connection's decrease.
//! - A loss that proves spurious still counts.
//! ## Parameters
//! `first`: 10 segments, from RFC 6928. `increase`: 1 segment, and `decrease`: 0.5, from congestion avoidance (RFC 5681 §3.1). `least`: 1
//! segment, as after a lost SYN. `most`: 100 segments, the largest initial window in the paper.

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
    summary: "additive increase and multiplicative decrease over the connections to a peer",
    reference: "Aniemeka 2018; draft-touch-tcpm-automatic-iw-03",
    params: &[
        segments("first", 10.0, "initial window of the first connection to a peer (RFC 6928: 10)"),
        Param {
            name: "increase",
            kind: Kind::Segments { min: 0.0, max: 1e6 },
            default: Default::Number(1.0),
            doc: "increase after a full first window without congestion (RFC 5681: 1 per round trip)",
        },
        Param {
            name: "decrease",
            kind: Kind::Number { min: 0.0, max: 1.0 },
            default: Default::Number(0.5),
            doc: "factor after a first window with a loss or a mark (RFC 5681: 1/2)",
        },
        segments("least", 1.0, "smallest initial window (as after a lost SYN)"),
        segments("most", 100.0, "largest initial window (the largest in Aniemeka 2018)"),
    ],
    quantities: &[],
    build,
};

fn build(params: &Params) -> Result<Box<dyn InitialWindow>, String> {
    let [first, least, most] = ["first", "least", "most"].map(|name| params.number(name));
    if least > most {
        return Err(format!("least is {least} segments but most is {most}: least must not exceed most"));
    }
    if !(least..=most).contains(&first) {
        return Err(format!("first is {first} segments: it must lie between least ({least}) and most ({most})"));
    }
    Ok(Box::new(Adaptive { first, increase: params.number("increase"), decrease: params.number("decrease"), least, most }))
}

/// An initial window learned from earlier connections.
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
        // The learned window may come from a flow with other bounds.
        event.learned.unwrap_or(self.first).clamp(self.least, self.most)
    }

    fn on_first_window(&self, first: &FirstWindow) -> Option<Segments> {
        // A parallel connection may already have changed the learned window.
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
    fn a_connection_starts_with_the_learned_window() {
        let part = part(&[]).unwrap();
        let window = |learned| part.segments(&Established { learned, ..established(1460) });
        assert_eq!([None, Some(11.0), Some(0.5), Some(1e4)].map(window), [10.0, 11.0, 1.0, 100.0]);
        assert_eq!(part.segments(&Established { lost_syns: 1, learned: Some(11.0), ..established(1460) }), 1.0);
    }

    #[test]
    fn additive_increase_and_multiplicative_decrease() {
        let part = part(&[("increase", 2.0), ("decrease", 0.25), ("least", 3.0), ("most", 15.0)]).unwrap();
        let next = |window, congested| part.on_first_window(&FirstWindow { window, congested, learned: Some(window), ..DONE });
        assert_eq!(next(10.0, false), Some(12.0));
        assert_eq!(next(14.0, false), Some(15.0), "at most 15");
        assert_eq!(next(14.0, true), Some(3.5));
        assert_eq!(next(10.0, true), Some(3.0), "at least 3");
        assert_eq!(part.on_first_window(&DONE), Some(12.0), "the first connection to a peer");
    }

    #[test]
    fn an_unfilled_window_changes_nothing_unless_it_saw_a_loss() {
        let part = part(&[]).unwrap();
        let short = FirstWindow { filled: false, ..DONE };
        assert_eq!(part.on_first_window(&short), None);
        assert_eq!(part.on_first_window(&FirstWindow { congested: true, ..short }), Some(5.0));
    }

    #[test]
    fn parallel_connections_count_as_one() {
        let part = part(&[]).unwrap();
        let next = |congested, learned| part.on_first_window(&FirstWindow { congested, learned: Some(learned), ..DONE });
        assert_eq!(next(false, 11.0), Some(11.0), "another connection that started with 10 has raised the window");
        assert_eq!(next(true, 5.0), Some(5.0), "another connection saw a loss too");
        assert_eq!(next(false, 5.0), None, "another connection's decrease stays");
        assert_eq!(next(true, 11.0), Some(5.0));
    }

    #[test]
    fn contradictory_bounds_are_refused() {
        assert_eq!(
            part(&[("least", 20.0), ("most", 15.0)]).unwrap_err(),
            "least is 20 segments but most is 15: least must not exceed most"
        );
        assert_eq!(
            part(&[("first", 20.0), ("most", 15.0)]).unwrap_err(),
            "first is 20 segments: it must lie between least (1) and most (15)"
        );
    }
}
