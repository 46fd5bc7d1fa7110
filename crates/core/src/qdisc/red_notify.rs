//! RED with notices: random early detection that notifies senders of its drops.
//! ## What it does
//! Drops and marks as `red` does. When it drops a data packet, the engine notifies the packet's sender one path delay later. The sender's
//! retransmission timer then expires at once, so the sender responds without waiting for the timeout. A marked packet causes no notice.
//! ## References
//! Aniemeka, *Transmission Control Protocol's initial congestion window for web latency reduction and speedy flows*, World Wide Journal of
//! Multidisciplinary Research and Development 4(11), 2018, §1 and §3 ("non-TCP congestion control"); Floyd & Jacobson 1993; RFC 6298 §5.
//! ## Differs from the document
//! The paper says that "the moment there is a packet drop the Router algorithm should cause the retransmission timer to expire
//! immediately". It defines no message, and does not say which timer expires if several segments are outstanding. Its steps 5 to 7 treat
//! drops between the thresholds only, its text treats all drops; `notify` offers both. It also says that the probability to "notify
//! connections to reset" their timers is proportional to their share of the link. RED's drop probability already has this property, so no
//! further rule is needed. `docs/concepts/red-notify.md` describes how hosts respond to a notice.
//! ## Parameters
//! `notify`: the drops that cause a notice: `all`, as in the paper's text, or only `early` (random) ones, as in its steps 5 to 7. The
//! default is all, since a drop by a full queue costs its sender as much as any other.
//! `timer`: the timer that expires: that of the dropped `segment`, which is retransmitted, or the `connection`'s single timer, which
//! retransmits the first unacknowledged segment (RFC 6298 §5.4). That segment is usually still in the queue. The default is segment, since
//! the paper says that "whenever a packet is sent out, TCP starts a timer" and that this timer stands for that packet.
//! `limit`, `mode`, `mean_packet`, `min_threshold`, `max_threshold`, `target_delay`, `weight`, `max_p`, `gentle`, `wait`, `ecn`,
//! `mark_below`,
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
        doc: "drops that cause a notice to the sender: all, or early (random) ones",
    },
    Param {
        name: "timer",
        kind: Kind::Word(&["segment", "connection"]),
        default: Default::Word("segment"),
        doc: "timer that expires: the dropped segment's, or the connection's, which retransmits the first unacknowledged segment",
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
    summary: "random early detection that notifies senders of drops: the retransmission timer expires at once",
    reference: "Aniemeka 2018 §3",
    params: &PARAMS,
    quantities: &QUANTITIES,
    build: |params| {
        let notice = if params.word("timer") == "segment" { Notice::Segment } else { Notice::Connection };
        Ok(Discipline::fifo(RedNotify { red: Red::new(params)?, notice, all: params.word("notify") == "all" }))
    },
};

/// A RED queue that notifies senders of its drops.
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
    fn the_parameters_select_drops_and_timer() {
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
    fn red_itself_sends_no_notice() {
        let red = scheduler(&red::ENTRY, &[]);
        assert!(Reason::ALL.iter().all(|&reason| red.notice(reason).is_none()));
    }

    #[test]
    fn it_drops_what_red_drops() {
        // A packet of 500 B arrives every 2 ms, and four leave while five arrive: the queue grows by 0.2 packets per arrival until it is
        // full.
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
        assert!(reasons.contains(&Reason::Early), "no early drops: {reasons:?}");
    }
}
