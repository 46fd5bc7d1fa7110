//! Drop notices: a queue has dropped a segment, and a retransmission timer expires at once.
//!
//! The rules of RFC 6298 §5 and RFC 5681 §3.1 for an expired timer apply: `ssthresh` is half the window in force, the window one segment,
//! and the timeout doubles. This happens once per congestion episode: a dropped segment that was sent before the episode was detected is
//! only retransmitted. A dropped retransmission counts as a repeated timeout (RFC 5681 §3.1): the window is one segment, the timeout
//! doubles, `ssthresh` stays.

use ackclock_core::events::Cause;
use ackclock_core::qdisc::Notice;
use ackclock_core::units::Instant;
use ackclock_host::DropNotice;

use super::Sender;
use super::state::{Permit, State};

impl Sender {
    /// A queue has dropped a segment. [`Sender::poll_transmit`] then returns the segments to send.
    pub(in super::super) fn handle_notice(&mut self, now: Instant, dropped: &DropNotice) {
        let state = &mut self.state;
        state.permit = Permit::None;
        if !state.awaits(dropped) {
            return;
        }
        // The SYN is the only outstanding segment, so its timer is the connection's.
        let connection = dropped.notice == Notice::Connection || dropped.key == 0;
        let reduced = dropped.key > 0 && dropped.key < state.episode.recovery_point();
        let expires = !reduced || connection || state.resent.contains_key(&dropped.key);
        if connection {
            state.lose_all(now);
        } else {
            state.lose(now, dropped.key);
        }
        if expires {
            self.policy.on_timeout(state, now);
            state.expire_on_notice(now, reduced);
        }
        if connection {
            state.go_back();
        } else {
            state.retransmit = Some(dropped.key);
            // Karn: the ACK of the timed segment may now wait for the retransmission.
            state.timing.forget();
        }
    }
}

impl State {
    /// Whether the drop hit the latest transmission of an outstanding segment that is not already due for retransmission.
    fn awaits(&self, dropped: &DropNotice) -> bool {
        let outstanding = (self.window.una()..self.window.nxt()).contains(&dropped.key);
        outstanding && self.resent.get(&dropped.key).is_none_or(|last| *last == dropped.sent)
    }

    /// Lets the timer expire. `reduced`: the sender has reduced its window since the first transmission of the dropped segment.
    fn expire_on_notice(&mut self, now: Instant, reduced: bool) {
        self.lost_syns += u32::from(self.window.una() == 0);
        if reduced {
            self.restart_window();
            self.episode.begin(Cause::Timeout, self.window.max());
        } else {
            self.reduce(now, Cause::Timeout, true);
        }
        self.back_off(now);
    }
}

#[cfg(test)]
mod tests {
    use ackclock_core::cc::{Composed, avoidance, initial_window, slow_start};
    use ackclock_core::params::{Params, Value};
    use ackclock_core::units::{Bytes, Duration};

    use super::super::super::{Config, Recovery, SackBlocks};
    use super::super::Acknowledgement;
    use super::*;
    use ackclock_host::Bulk;

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(1_000_000 * millis)
    }

    /// A sender of 1000-byte segments with an initial window of ten segments, which starts at once.
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

    /// The segments sent after an ACK.
    fn acknowledge(sender: &mut Sender, millis: u64, seq: u32) -> Vec<u32> {
        let ack = Acknowledgement { seq, echo: at(millis - 100), sack: SackBlocks::default(), ecn_echo: false };
        sender.handle_ack(at(millis), &ack, None);
        sent(sender, millis)
    }

    /// The segments sent after a notice that `seq`, sent at `sent_at`, was dropped.
    fn notify(sender: &mut Sender, millis: u64, (seq, sent_at): (u32, u64), notice: Notice) -> Vec<u32> {
        sender.handle_notice(at(millis), &DropNotice { key: seq, sent: at(sent_at), notice });
        sent(sender, millis)
    }

    const RECOVERIES: [&str; 4] = ["tahoe", "reno", "newreno", "sack"];
    const NONE: [u32; 0] = [];

    #[test]
    fn a_notice_is_a_timeout_of_one_segment() {
        for recovery in RECOVERIES {
            let (mut sender, timeout) = opened(recovery);
            let notify = |sender: &mut Sender, now, dropped| notify(sender, now, dropped, Notice::Segment);
            let state = |sender: &Sender| (sender.window().cwnd, sender.window().ssthresh, sender.timing().1);
            assert_eq!(notify(&mut sender, 150, (5, 100)), [5], "{recovery}");
            // RFC 5681 §3.1: half of ten, and one segment. RFC 6298 §5.5.
            assert_eq!(state(&sender), (1.0, 5.0, timeout * 2.0), "{recovery}");
            assert_eq!(sender.poll_timeout(), Some(at(150) + timeout * 2.0), "{recovery}");
            // The same congestion episode: no second reduction. A notice of the first transmission has no effect after a retransmission.
            assert_eq!(notify(&mut sender, 155, (7, 100)), [7], "{recovery}");
            assert_eq!(notify(&mut sender, 156, (5, 100)), NONE, "{recovery}");
            assert_eq!((state(&sender), sender.counters().reductions), ((1.0, 5.0, timeout * 2.0), 1), "{recovery}");
            // A dropped retransmission counts as a repeated timeout.
            assert_eq!(notify(&mut sender, 160, (5, 150)), [5], "{recovery}");
            assert_eq!(state(&sender), (1.0, 5.0, timeout * 4.0), "{recovery}");
            // ACKs of segments 1 to 4: slow start from one to five, but 5 to 10 are outstanding, so nothing leaves. Segments 6, 8, 9 and 10
            // cause duplicate ACKs, which report a loss that the sender already knows.
            let acks = [2, 3, 4, 5, 5, 5, 5, 5];
            let released: Vec<u32> = (200..).zip(acks).flat_map(|(now, seq)| acknowledge(&mut sender, now, seq)).collect();
            assert_eq!((released.as_slice(), sender.window().cwnd), (&NONE[..], 5.0), "{recovery}");
            // Both retransmissions have arrived. Congestion avoidance.
            assert_eq!(acknowledge(&mut sender, 260, 11), [11, 12, 13, 14, 15], "{recovery}");
            assert_eq!((sender.window().cwnd, sender.counters().reductions), (5.2, 2), "{recovery}");
            assert_eq!(notify(&mut sender, 261, (7, 155)), NONE, "{recovery}: acknowledged");
            // A drop of a later segment is a new congestion episode: half of five, in whole segments.
            assert_eq!(notify(&mut sender, 300, (12, 260)), [12], "{recovery}");
            assert_eq!((sender.window().cwnd, sender.window().ssthresh), (1.0, 2.0), "{recovery}");
            assert_eq!((sender.counters().timeouts, sender.counters().retransmitted), (0, 4), "{recovery}");
        }
    }

    #[test]
    fn the_connection_timer_goes_back_to_the_first_unacknowledged_segment() {
        for recovery in RECOVERIES {
            let (mut sender, timeout) = opened(recovery);
            // RFC 6298 §5.4: the first unacknowledged segment, then all later ones as the window opens.
            assert_eq!(notify(&mut sender, 150, (5, 100), Notice::Connection), [1], "{recovery}");
            assert_eq!((sender.window().cwnd, sender.window().ssthresh), (1.0, 5.0), "{recovery}");
            assert_eq!(sender.timing().1, timeout * 2.0, "{recovery}");
            assert_eq!(notify(&mut sender, 155, (7, 100), Notice::Connection), NONE, "{recovery}: already due for retransmission");
            assert_eq!(acknowledge(&mut sender, 200, 2), [2, 3], "{recovery}");
            assert_eq!(acknowledge(&mut sender, 201, 3), [4, 5], "{recovery}");
            assert_eq!(sender.counters().reductions, 1, "{recovery}");
        }
    }

    #[test]
    fn a_dropped_syn_is_retransmitted_at_once() {
        let (mut sender, _) = opened("newreno");
        assert_eq!(notify(&mut sender, 150, (0, 0), Notice::Segment), NONE, "already acknowledged");
        let mut sender = self::sender("newreno");
        sender.handle_timeout(at(0));
        assert_eq!(sent(&mut sender, 0), [0]);
        assert_eq!(notify(&mut sender, 30, (0, 0), Notice::Segment), [0]);
        assert_eq!(sender.counters().retransmitted, 1);
    }
}
