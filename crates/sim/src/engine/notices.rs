//! Notices: what queues tell the senders of packets that they dropped.
//!
//! A notice needs no bandwidth, is never lost, and takes the propagation delays of the links that the packet had crossed; but no less than
//! the link behind the queue takes for a packet like the dropped one, since until then nothing has left the queue that could make room. So
//! what is measured is the most that telling can gain; a message of its own on the way back would wait in queues and could be dropped in turn. Only
//! segments that have a retransmission timer are told of: pure ACKs and datagrams have none.

use std::collections::BTreeMap;

use ackclock_core::units::{Duration, Instant, Moment};

use super::events::Subject;
use super::flow::Hosts;
use super::simulation::Simulation;
use crate::net::packet::Packet;
use crate::tcp::packet::DropNotice;
use crate::trace::Recorder;

/// A notice on its way to one end of a flow.
#[derive(Clone, Copy, Debug)]
struct Pending {
    flow: usize,
    side: usize,
    dropped: DropNotice,
}

/// The notices on their way, by their arrival; of equal times in the order of the drops.
#[derive(Debug, Default)]
pub(super) struct Notices {
    pending: BTreeMap<(Instant, u64), Pending>,
    count: u64,
}

impl<R: Recorder> Simulation<'_, R> {
    /// Sends a notice of `packet`, dropped at `dropped_at`, back to its sender.
    pub(super) fn notify(&mut self, packet: &Packet, dropped_at: Instant, dropped: DropNotice) {
        let (crossed, ahead) = self.routes.hops(packet.route()).split_at(usize::from(packet.hop));
        let link = |link: u32| &self.scenario.links[link as usize];
        let back = crossed.iter().fold(Duration::ZERO, |sum, &crossed| sum + link(crossed).delay);
        let slot = ahead.first().map_or(Duration::ZERO, |&next| link(next).rate.transmission(packet.size()));
        let at = dropped_at + back.max(slot.max(Duration::NANOSECOND));
        if at < self.end {
            let (flow, side) = (packet.flow(), usize::from(packet.is_ack()));
            self.notices.count += 1;
            self.notices.pending.insert((at, self.notices.count), Pending { flow, side, dropped });
            self.schedule(Moment { at, since: dropped_at }, Subject::Notice);
        }
    }

    /// A notice arrives.
    pub(super) fn notice_event(&mut self, now: Instant) {
        let Some((_, Pending { flow, side, dropped })) = self.notices.pending.pop_first() else { return };
        let here = Moment::now(now);
        let state = &mut self.flows[flow];
        state.notices += 1;
        match &mut state.hosts {
            Hosts::Ns2 { sender, .. } => {
                sender.handle_notice(now, &dropped);
                if R::ON {
                    self.recorder.window(now, flow as u32, sender.window());
                }
                self.transmit(here, flow);
            }
            Hosts::Modern(connection) => {
                connection.handle_notice(now, side, &dropped);
                if R::ON && side == 0 {
                    self.recorder.window(now, flow as u32, connection.sender().window());
                }
                self.transmit_segments(here, flow, side);
            }
            Hosts::Datagrams(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use ackclock_core::qdisc::Notice;

    use super::super::flow::Flow;
    use super::*;
    use crate::scenario::Document;
    use crate::tcp::ns2::Sender;
    use crate::tcp::packet::SackBlocks;

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(1_000_000 * millis)
    }

    /// An `ns2` sender that has sent segments 1 to 10 at 100 ms, and its timeout.
    fn opened(recovery: &str) -> (Sender, Duration) {
        let text = format!(
            "duration = '1 s'\n[flow]\nrecovery = '{recovery}'\nlimited_transmit = false\nrwnd = '1000 packets'\n\
             initial_window = {{ kind = 'fixed', segments = '10 segments' }}"
        );
        let scenario = Document::from_toml(&text, "").and_then(|document| document.scenario()).unwrap();
        let Hosts::Ns2 { mut sender, .. } = Flow::new(0, &scenario.flows[0], 1).unwrap().hosts else { panic!("{text}") };
        sender.handle_timeout(at(0));
        assert_eq!(sent(&mut sender, 0), [0]);
        assert_eq!(acknowledge(&mut sender, 100, 1), (1..=10).collect::<Vec<_>>());
        let timeout = sender.timing().1;
        (sender, timeout)
    }

    fn sent(sender: &mut Sender, millis: u64) -> Vec<u32> {
        std::iter::from_fn(|| sender.poll_transmit(at(millis))).map(|packet| packet.seq).collect()
    }

    /// What it sends at an ACK.
    fn acknowledge(sender: &mut Sender, millis: u64, seq: u32) -> Vec<u32> {
        sender.handle_segment(at(millis), &Packet::ack(0, seq, 0, None, at(millis - 100)), &SackBlocks::default());
        sent(sender, millis)
    }

    /// What it sends when it is told that `seq`, sent at `sent_at`, was dropped.
    fn tell(sender: &mut Sender, millis: u64, (seq, sent_at): (u32, u64), notice: Notice) -> Vec<u32> {
        sender.handle_notice(at(millis), &DropNotice { seq, sent: at(sent_at), notice });
        sent(sender, millis)
    }

    const RECOVERIES: [&str; 4] = ["tahoe", "reno", "newreno", "sack"];
    const NONE: [u32; 0] = [];

    #[test]
    fn a_notice_is_a_timeout_of_one_segment() {
        for recovery in RECOVERIES {
            let (mut sender, timeout) = opened(recovery);
            let tell = |sender: &mut Sender, now, dropped| tell(sender, now, dropped, Notice::Segment);
            let state = |sender: &Sender| (sender.window().cwnd, sender.window().ssthresh, sender.timing().1);
            assert_eq!(tell(&mut sender, 150, (5, 100)), [5], "{recovery}");
            // RFC 5681 §3.1: half of ten, and one segment. RFC 6298 §5.5.
            assert_eq!(state(&sender), (1.0, 5.0, timeout * 2.0), "{recovery}");
            assert_eq!(sender.poll_timeout(), Some(at(150) + timeout * 2.0), "{recovery}");
            // The same congestion: no second reduction. And what was sent again since is awaited.
            assert_eq!(tell(&mut sender, 155, (7, 100)), [7], "{recovery}");
            assert_eq!(tell(&mut sender, 156, (5, 100)), NONE, "{recovery}");
            assert_eq!((state(&sender), sender.counters().reductions), ((1.0, 5.0, timeout * 2.0), 1), "{recovery}");
            // A dropped retransmission is a timer that expires again.
            assert_eq!(tell(&mut sender, 160, (5, 150)), [5], "{recovery}");
            assert_eq!(state(&sender), (1.0, 5.0, timeout * 4.0), "{recovery}");
            // Slow start from one to five with ACKs of segments 1 to 4; with 5 to 10 outstanding that lets nothing go. The ACKs of 6, 8, 9
            // and 10 are duplicates of what the sender knows to be lost.
            let acks = [2, 3, 4, 5, 5, 5, 5, 5];
            let released: Vec<u32> = (200..).zip(acks).flat_map(|(now, seq)| acknowledge(&mut sender, now, seq)).collect();
            assert_eq!((released.as_slice(), sender.window().cwnd), (&NONE[..], 5.0), "{recovery}");
            // Both retransmissions have arrived. Congestion avoidance.
            assert_eq!(acknowledge(&mut sender, 260, 11), [11, 12, 13, 14, 15], "{recovery}");
            assert_eq!((sender.window().cwnd, sender.counters().reductions), (5.2, 2), "{recovery}");
            assert_eq!(tell(&mut sender, 261, (7, 155)), NONE, "{recovery}: acknowledged");
            // What was sent since is congestion of its own: half of five, in whole segments.
            assert_eq!(tell(&mut sender, 300, (12, 260)), [12], "{recovery}");
            assert_eq!((sender.window().cwnd, sender.window().ssthresh), (1.0, 2.0), "{recovery}");
            assert_eq!((sender.counters().timeouts, sender.counters().retransmitted), (0, 4), "{recovery}");
        }
    }

    #[test]
    fn the_connections_timer_sends_what_waits_in_the_queue_again() {
        for recovery in RECOVERIES {
            let (mut sender, timeout) = opened(recovery);
            // RFC 6298 §5.4: the first unacknowledged segment, and from there on all, as the window opens.
            assert_eq!(tell(&mut sender, 150, (5, 100), Notice::Connection), [1], "{recovery}");
            assert_eq!((sender.window().cwnd, sender.window().ssthresh), (1.0, 5.0), "{recovery}");
            assert_eq!(sender.timing().1, timeout * 2.0, "{recovery}");
            assert_eq!(tell(&mut sender, 155, (7, 100), Notice::Connection), NONE, "{recovery}: it is sent again anyway");
            assert_eq!(acknowledge(&mut sender, 200, 2), [2, 3], "{recovery}");
            assert_eq!(acknowledge(&mut sender, 201, 3), [4, 5], "{recovery}");
            assert_eq!(sender.counters().reductions, 1, "{recovery}");
        }
    }

    #[test]
    fn a_dropped_syn_is_sent_again_at_once() {
        let (mut sender, _) = opened("newreno");
        assert_eq!(tell(&mut sender, 150, (0, 0), Notice::Segment), NONE, "it has been answered");
        let scenario = Document::from_toml("duration = '1 s'\n[flow]", "").and_then(|document| document.scenario()).unwrap();
        let Hosts::Ns2 { mut sender, .. } = Flow::new(0, &scenario.flows[0], 1).unwrap().hosts else { panic!() };
        sender.handle_timeout(at(0));
        assert_eq!(sent(&mut sender, 0), [0]);
        assert_eq!(tell(&mut sender, 30, (0, 0), Notice::Segment), [0]);
        assert_eq!(sender.counters().retransmitted, 1);
    }
}
