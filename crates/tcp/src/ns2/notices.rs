//! Notices of drops: a queue has dropped a segment, and a retransmission timer is to expire at once.
//!
//! What of RFC 6298 §5 and RFC 5681 §3.1 applies to an expired timer applies here: `ssthresh` is half of what was in flight, the window
//! one segment, the timeout doubles. But once in a recovery period: drops of segments that were sent before the sender noticed congestion
//! tell of the same congestion, and are only repaired. A dropped retransmission is a timer that expires again (RFC 5681 §3.1): the window is
//! one segment and the timeout doubles, `ssthresh` stays.

use ackclock_core::events::Cause;
use ackclock_core::qdisc::Notice;
use ackclock_core::units::Instant;

use super::{Permit, Sender, State};
use crate::connection::DropNotice;

impl Sender {
    /// A queue has dropped a segment. Then [`Sender::poll_transmit`] gives what to send.
    pub(super) fn handle_notice(&mut self, now: Instant, dropped: &DropNotice) {
        let state = &mut self.state;
        state.permit = Permit::None;
        if !state.awaits(dropped) {
            return;
        }
        // A SYN is alone, so that its timer is the connection's.
        let connection = dropped.notice == Notice::Connection || dropped.key == 0;
        let told = dropped.key > 0 && dropped.key < state.recovery_point;
        let snd_nxt = state.snd_nxt;
        if !told || connection || state.resent.contains_key(&dropped.key) {
            self.policy.on_timeout(state, now);
            state.expire_on_notice(now, told);
        }
        if !connection {
            state.snd_nxt = snd_nxt;
            state.retransmit = Some(dropped.key);
            // Karn: what is timed may now wait for the segment that is sent again.
            state.timed = None;
        }
    }
}

impl State {
    /// Whether what was dropped is the last transmission of a segment that is outstanding, and is not going to be sent again anyway.
    fn awaits(&self, dropped: &DropNotice) -> bool {
        let outstanding = (self.snd_una..self.snd_nxt).contains(&dropped.key);
        outstanding && self.resent.get(&dropped.key).is_none_or(|last| *last == dropped.sent)
    }

    /// The timer expires. `told`: the sender has reduced its window since the dropped segment was first sent.
    fn expire_on_notice(&mut self, now: Instant, told: bool) {
        self.lost_syns += u32::from(self.snd_una == 0);
        if told {
            self.restart_window();
            self.last_cause = Some(Cause::Timeout);
            self.recovery_point = self.snd_max;
        } else {
            self.reduce(now, Cause::Timeout, true);
        }
        self.start_over(now);
    }
}

#[cfg(test)]
mod tests {
    use ackclock_core::cc::{Composed, avoidance, initial_window, slow_start};
    use ackclock_core::params::{Params, Value};
    use ackclock_core::units::{Bytes, Duration};

    use super::super::{Config, Recovery, SackBlocks};
    use super::*;
    use crate::bulk::Bulk;
    use crate::ns2::receiver::Acknowledgement;

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(1_000_000 * millis)
    }

    /// A sender of segments of 1000 bytes with an initial window of ten, which starts at once.
    fn sender(recovery: &str) -> Sender {
        let host = Config {
            recovery: Recovery::find(recovery).unwrap(),
            packet_size: Bytes(1000),
            header: Bytes(40),
            rwnd: 1000,
            delayed_ack: false,
            delayed_ack_timeout: Duration::from_millis(100),
            ecn: false,
            limited_transmit: false,
            initial_pacing: false,
            clock_granularity: Duration::from_millis(10),
            clock_phase: Duration::ZERO,
            min_rto: Duration::from_millis(200),
            initial_rto: Duration::from_millis(3000),
            max_rto: Duration::from_millis(60_000),
        };
        let mut ten = Params::defaults(initial_window::fixed::ENTRY.params);
        ten.set("segments", Value::Number(10.0));
        let none = Params(Vec::new());
        let control = Composed::new(
            (initial_window::fixed::ENTRY.build)(&ten).unwrap(),
            (slow_start::standard::ENTRY.build)(&none).unwrap(),
            (avoidance::reno::ENTRY.build)(&none).unwrap(),
            None,
            1000.0,
        );
        let bulk = Bulk { start: Instant::ZERO, stop: None, packets: None, grows: false };
        Sender::new(&host, Box::new(control), bulk, 1)
    }

    /// A sender that has sent segments 1 to 10 at 100 ms, and its timeout.
    fn opened(recovery: &str) -> (Sender, Duration) {
        let mut sender = sender(recovery);
        sender.handle_timeout(at(0));
        assert_eq!(sent(&mut sender, 0), [0]);
        assert_eq!(acknowledge(&mut sender, 100, 1), (1..=10).collect::<Vec<_>>());
        let timeout = sender.timing().1;
        (sender, timeout)
    }

    fn sent(sender: &mut Sender, millis: u64) -> Vec<u32> {
        std::iter::from_fn(|| sender.poll_transmit(at(millis))).map(|(segment, _)| segment.seq).collect()
    }

    /// What it sends at an ACK.
    fn acknowledge(sender: &mut Sender, millis: u64, seq: u32) -> Vec<u32> {
        let ack = Acknowledgement { seq, echo: at(millis - 100), sack: SackBlocks::default(), ecn_echo: false };
        sender.handle_ack(at(millis), &ack);
        sent(sender, millis)
    }

    /// What it sends when it is told that `seq`, sent at `sent_at`, was dropped.
    fn tell(sender: &mut Sender, millis: u64, (seq, sent_at): (u32, u64), notice: Notice) -> Vec<u32> {
        sender.handle_notice(at(millis), &DropNotice { key: seq, sent: at(sent_at), notice });
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
        let mut sender = self::sender("newreno");
        sender.handle_timeout(at(0));
        assert_eq!(sent(&mut sender, 0), [0]);
        assert_eq!(tell(&mut sender, 30, (0, 0), Notice::Segment), [0]);
        assert_eq!(sender.counters().retransmitted, 1);
    }
}
