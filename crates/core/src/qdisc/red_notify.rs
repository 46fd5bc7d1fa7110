//! RED that tells: random early detection whose drops are told to the sender.
//! ## What it does
//! Decides as `red`. When it drops a data packet, the packet's sender is told, one path delay later, that a retransmission timer is to expire at
//! once: the sender does what it does after a timeout, without having waited for it. A marked packet arrives, so its sender is told nothing.
//! ## References
//! Aniemeka, *Transmission Control Protocol's initial congestion window for web latency reduction and speedy flows*, World Wide Journal of
//! Multidisciplinary Research and Development 4(11), 2018, §1 and §3 ("non-TCP congestion control"); Floyd & Jacobson 1993; RFC 6298 §5.
//! ## Differs from the document
//! The paper says that "the moment there is a packet drop the Router algorithm should cause the retransmission timer to expire
//! immediately", and not how: there is no message, and no word on which timer where several segments are outstanding. Its steps 5 to 7
//! look at drops between the thresholds only, its text at any; `notify` has both. It also says that the probability to "notify
//! connections to reset" their timers is proportional to their share of the link: that is RED's of being dropped, and no rule of its own.
//! How hosts take a notice is theirs: `docs/concepts/red-notify.md`.
//! ## Parameters
//! `notify`: `all` drops are told, as the paper's text has it, or only `early` ones, which chance decided, as its steps 5 to 7 have
//! it; all, since a drop that fills the queue costs its sender as much as any other.
//! `timer`: what expires: the timer of the dropped `segment`, so that this segment is sent again, or the `connection`'s only one, so that
//! the first unacknowledged one is (RFC 6298 §5.4), which most often is still waiting in the queue; segment, since the paper says that "whenever
//! a packet is sent out, TCP starts a timer" and that this timer stands for that packet.
//! `limit`, `mode`, `mean_packet`, `min_threshold`, `max_threshold`, `target_delay`, `weight`, `max_p`, `gentle`, `wait`, `ecn`, `mark_below`,
//! `adaptive`, `interval`, `increase`, `decrease`, `top`, `bottom`: as those of `red`, with the same defaults.

use crate::entry::Entry;
use crate::params::{Default, Kind, Param};
use crate::qdisc::contract::{Admission, Arrival, Backlog, Discipline, Notice, Outlet, Reason, Verdict};
use crate::qdisc::red::{self, QUANTITIES, Red};
use crate::rng::Generator;

const OWN: [Param; 2] = [
    Param {
        name: "notify",
        kind: Kind::Word(&["all", "early"]),
        default: Default::Word("all"),
        doc: "which drops are told to the sender: all, or those that chance decided",
    },
    Param {
        name: "timer",
        kind: Kind::Word(&["segment", "connection"]),
        default: Default::Word("segment"),
        doc: "what expires: the timer of the dropped segment, or that of the first unacknowledged one",
    },
];

/// Its own parameters, then those of RED.
const PARAMS: [Param; OWN.len() + red::PARAMS.len()] = {
    let mut params = [OWN[0]; OWN.len() + red::PARAMS.len()];
    let mut index = 1;
    while index < params.len() {
        params[index] = if index < OWN.len() { OWN[index] } else { red::PARAMS[index - OWN.len()] };
        index += 1;
    }
    params
};

/// This part in the registry.
pub static ENTRY: Entry<Discipline> = Entry {
    name: "red_notify",
    summary: "random early detection that tells a sender of its drops: the retransmission timer expires at once",
    reference: "Aniemeka 2018 §3",
    params: &PARAMS,
    quantities: &QUANTITIES,
    build: |params| {
        let notice = if params.word("timer") == "segment" { Notice::Segment } else { Notice::Connection };
        Ok(Discipline::fifo(RedNotify { red: Red::new(params)?, notice, all: params.word("notify") == "all" }))
    },
};

/// A RED queue that tells senders of its drops.
#[derive(Debug)]
pub struct RedNotify {
    red: Red,
    notice: Notice,
    all: bool,
}

impl Admission for RedNotify {
    fn attach(&mut self, outlet: &Outlet) {
        self.red.attach(outlet);
    }

    fn admit(&mut self, arrival: &Arrival, backlog: Backlog, random: &mut Generator) -> Verdict {
        self.red.admit(arrival, backlog, random)
    }

    fn notice(&self, reason: Reason) -> Option<Notice> {
        (self.all || reason == Reason::Early).then_some(self.notice)
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.red.internals(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::qdisc::contract::{Outcome, Outcomes, Packet, Scheduler};
    use crate::testing::{build, packet};
    use crate::units::{Duration, Instant, Moment, Rate};

    fn scheduler(entry: &Entry<Discipline>, set: &[(&str, &str)]) -> Box<dyn Scheduler> {
        let set: Vec<(&str, Value)> = set.iter().map(|(name, word)| (*name, Value::Word((*word).to_owned()))).collect();
        let mut scheduler = build(entry, &set).unwrap().into_scheduler();
        scheduler.attach(&Outlet { rate: Rate::from_bits_per_sec(1_500_000).unwrap(), delay: Duration::from_millis(40) });
        scheduler
    }

    #[test]
    fn which_drops_are_told_and_what() {
        let notices = |set: &[(&str, &str)]| {
            let scheduler = scheduler(&ENTRY, set);
            [Reason::Early, Reason::Forced, Reason::Overflow].map(|reason| scheduler.notice(reason))
        };
        let (segment, connection) = (Some(Notice::Segment), Some(Notice::Connection));
        assert_eq!(notices(&[]), [segment; 3]);
        assert_eq!(notices(&[("timer", "connection")]), [connection; 3]);
        assert_eq!(notices(&[("notify", "early")]), [segment, None, None]);
    }

    #[test]
    fn red_itself_tells_nothing() {
        let red = scheduler(&red::ENTRY, &[]);
        assert!(Reason::ALL.iter().all(|&reason| red.notice(reason).is_none()));
    }

    #[test]
    fn it_drops_what_red_drops() {
        // A packet of 500 B comes every 2 ms, and four leave while five come: the queue grows by 0.2 packets each time, to full.
        let fates = |entry| {
            let mut scheduler = scheduler(entry, &[]);
            let (mut random, mut outcomes) = (Generator::derived(1, ""), Outcomes::new());
            for index in 0..3000 {
                let arrived = Instant::from_nanos(2_000_000 * u64::from(index));
                if index % 5 != 0 {
                    scheduler.dequeue(Moment::now(arrived), &mut random, &mut outcomes);
                }
                scheduler.enqueue(Moment::now(arrived), Packet { arrived, ..packet(index, 0, 500) }, &mut random, &mut outcomes);
            }
            outcomes
        };
        let told = fates(&ENTRY);
        assert_eq!(told, fates(&red::ENTRY));
        let reasons: Vec<Reason> = told
            .iter()
            .map(|(_, outcome)| match outcome {
                Outcome::Dropped(reason) | Outcome::Marked(reason) => *reason,
            })
            .collect();
        assert!(reasons.contains(&Reason::Early), "chance decided nothing: {reasons:?}");
    }
}
