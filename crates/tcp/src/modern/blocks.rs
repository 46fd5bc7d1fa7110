//! Packets of the data that waits to be sent, the blocks of segments in which a host hands them to its network device, and the segments that
//! carry PSH.
//!
//! A write fills packets of at most 64 KiB and half of the peer's largest window. The packet at its end is marked for PSH, and so is a full
//! one when half of that window has been written since the last mark. A device with segmentation offload sends a block of several segments;
//! its last segment carries PSH. A block is the first packet or a part of it. If the windows allow more, data of the second packet joins the
//! first one. A block is deferred if the window allows only a small one and the next ACK is near.
//!
//! ## References
//! Linux Documentation/networking/ip-sysctl, `tcp_min_tso_segs` and `tcp_tso_win_divisor`; RFC 9293 §3.9.1.2 (push); measured with Linux
//! 6.18 and 7.2 (the numbers of the tests below).

use std::collections::VecDeque;

use ackclock_core::cc::Window;
use ackclock_core::units::Duration;
use ackclock_host::Limit;

use super::config::Offload;

/// Largest packet that a device splits, in bytes, less room for its headers, as built for a network without wireless devices and tunnels.
const LARGEST: u64 = 65_536 - 193;
/// A block may hold the data of this part of a second at the sender's rate.
const SHARE: f64 = 1.0 / 1024.0;
/// Minimum round-trip time for which a block may be half as large.
const HALVING: Duration = Duration::from_nanos(512_000);
/// A sender waits for at most 1 ms for the ACK of its first segment, and only if it has sent within that time.
const NEAR: Duration = Duration::from_nanos(1_000_000);
/// Rounding error of sums of times.
const ROUNDING: Duration = Duration::from_nanos(1);

/// Data of a full packet that the application fills; `window`: the peer's largest.
pub(super) fn packet(window: u64, smss: u64) -> u64 {
    (LARGEST.min(half(window).max(1)) / smss).max(1) * smss
}

/// Half of the peer's largest window, unless that is tiny.
fn half(window: u64) -> u64 {
    if window > 536 { window / 2 } else { window }
}

/// The rate of a sender as the latest ACK left it: segments in a round trip. A window that changes later, as by idle time, leaves it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    segments: f64,
    srtt: Option<Duration>,
}

impl Pace {
    /// The rate of a window, of which `outstanding` segments are outstanding: twice as many segments in slow start, 1.2 times later.
    pub(super) fn new(window: Window, outstanding: usize, srtt: Option<Duration>) -> Self {
        let gain = if window.cwnd < (window.ssthresh / 2.0).floor() { 2.0 } else { 1.2 };
        Self { segments: gain * window.cwnd.max(outstanding as f64), srtt }
    }

    /// A rate of the control's own, in segments per second.
    pub(super) const fn paced(segments: f64) -> Self {
        Self { segments, srtt: Some(Duration::from_millis(1000)) }
    }
}

/// The segments of a block that a rate and a minimum round-trip time suggest.
pub(super) fn suggested(rate: Pace, min_rtt: Option<Duration>, smss: u64) -> u64 {
    // Before a round-trip time is known, nothing limits the rate.
    let Some(srtt) = rate.srtt else { return LARGEST / smss };
    let rate = rate.segments * smss as f64 / srtt.max(Duration::NANOSECOND).as_secs_f64();
    let halvings = min_rtt.map_or(0.0, |rtt| rtt.as_secs_f64() / HALVING.as_secs_f64()) as u32;
    let near = LARGEST.checked_shr(halvings).unwrap_or(0);
    (((rate * SHARE) as u64 + near).min(LARGEST) / smss).max(1)
}

/// A packet that has not left, or not as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Waiting {
    /// Position of its end.
    end: u64,
    /// Whether its last segment carries PSH.
    push: bool,
    /// Whether it ends a record: later data begins another packet.
    record: bool,
}

/// What leaves before a write continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// No write is under way, or all that the windows allow.
    All,
    /// One block, which is not deferred.
    One,
    /// Nothing.
    Nothing,
}

/// The packets and blocks of a sender.
#[derive(Debug)]
pub(super) struct Blocks {
    /// Smallest size of a block that is not limited by data or window, in segments.
    least: u64,
    /// This share of the window leaves at once: 1/`divisor`.
    divisor: u64,
    /// The packets that wait; the first one begins with the next byte to send.
    queue: VecDeque<Waiting>,
    /// Segments that the present block still lacks.
    left: u64,
    /// Whether the present block has several segments.
    several: bool,
    /// Whether the present block is a packet marked for PSH.
    marked: bool,
    /// Position of the last mark.
    pushed: u64,
    step: Step,
    /// Retransmissions that the present block of them still lacks, and where the next one begins.
    repaired: (u64, u64),
    /// Number of the present block, and of the one of which a segment has left last.
    number: u32,
    sent: u32,
    rate: Pace,
    /// What a deferred block waits for. Only what the sender learns or does can change that, not the time.
    deferred: Option<Limit>,
}

/// What the windows and the path allow a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// Data of a full segment.
    pub(super) smss: u64,
    /// Position of the next byte to send.
    pub(super) nxt: u64,
    /// Congestion window in segments.
    pub(super) cwnd: u64,
    /// Segments in flight.
    pub(super) pipe: u64,
    /// Bytes that the peer's window still allows.
    pub(super) offered: u64,
    /// Window of the peer, in bytes.
    pub(super) rwnd: u64,
    /// The smallest round-trip time.
    pub(super) min_rtt: Option<Duration>,
    /// Whether the sender recovers from losses.
    pub(super) recovering: bool,
    /// Time since the last packet, even an ACK alone.
    pub(super) idle: Duration,
    /// Age of the first outstanding segment, and the smoothed round-trip time; `None`: nothing is outstanding.
    pub(super) head: Option<(Duration, Duration)>,
    /// Whether the stream is closed, so that the block could end with a FIN.
    pub(super) closed: bool,
    /// Whether a small segment has to wait (the Nagle algorithm).
    pub(super) holds_small: bool,
}

impl Blocks {
    /// The blocks of a host with these settings.
    pub(super) fn new(offload: Offload) -> Self {
        Self {
            least: u64::from(offload.min_segments),
            divisor: u64::from(offload.window_divisor),
            queue: VecDeque::new(),
            left: 0,
            several: false,
            marked: false,
            pushed: 1,
            step: Step::All,
            repaired: (0, 0),
            number: 0,
            sent: 0,
            rate: Pace { segments: 0.0, srtt: None },
            deferred: None,
        }
    }

    /// Bytes of the last packet that have not left, if there is one; all data below `nxt` has left.
    pub(super) fn tail(&self, nxt: u64) -> Option<u64> {
        let start = self.queue.len().checked_sub(2).map_or(nxt, |before| self.queue[before].end);
        self.queue.back().map(|last| last.end - start)
    }

    /// Number of packets that have not left as a whole.
    pub(super) fn packets(&self) -> usize {
        self.queue.len()
    }

    /// The application writes the data from `start` to `end` at once; all data below `nxt` has been sent. `most`: the peer's largest window.
    /// `room`: bytes that the windows allow now, and that leave during the write.
    pub(super) fn write(&mut self, (mut start, end): (u64, u64), (mut nxt, mut room): (u64, u64), smss: u64, most: u64) {
        let size = packet(most, smss);
        room = room / smss * smss;
        while start < end {
            let tail = self.tail(nxt).unwrap_or(0);
            let begins = tail == 0 || tail >= size || self.ends_record();
            let part = (end - start).min(if begins { size } else { size - tail });
            start += part;
            self.fill(start, begins);
            let all = start == end || start > self.pushed + half(most);
            if all {
                self.mark();
            }
            if start < end && self.queue.len() == 1 {
                // What leaves makes room in the packet for as much again: half of the window at first, then all.
                let most = if all { room } else { (room / smss).div_ceil(2) * smss };
                let leaving = most.min(start - nxt);
                (nxt, room) = (nxt + leaving, room - leaving);
            }
        }
    }

    /// The application writes a part of a packet that ends at `end`: a further one if `begins`, and the `first` or `last` of its write.
    /// `most`: the peer's largest window. After the last one, and after half of that window, all blocks leave that the windows allow; otherwise one, if it
    /// belongs to this packet, before the write continues.
    pub(super) fn write_packet(&mut self, end: u64, begins: bool, (first, last): (bool, bool), most: u64) {
        if let Some(packet) = self.queue.back_mut().filter(|_| first) {
            // Another write continues the packet, which then ends later.
            packet.push &= begins;
        }
        self.fill(end, begins);
        self.step = if last || end > self.pushed + half(most) {
            self.mark();
            Step::All
        } else if self.queue.len() == 1 {
            Step::One
        } else {
            Step::Nothing
        };
    }

    /// A write ends for lack of room.
    pub(super) fn end_write(&mut self) {
        self.step = Step::All;
        self.mark();
    }

    fn fill(&mut self, end: u64, begins: bool) {
        match self.queue.back_mut() {
            Some(last) if !begins => last.end = end,
            _ => self.queue.push_back(Waiting { end, push: false, record: false }),
        }
    }

    /// Whether later data begins another packet, because the last one ends a record.
    pub(super) fn ends_record(&self) -> bool {
        self.queue.back().is_some_and(|last| last.record)
    }

    /// More data will follow `end`, so that it carries no mark.
    pub(super) fn unmark(&mut self, end: u64) {
        if let Some(last) = self.queue.back_mut().filter(|last| last.end == end) {
            last.push = false;
        }
    }

    /// The data written so far ends a record.
    pub(super) fn end_record(&mut self) {
        if let Some(last) = self.queue.back_mut() {
            last.record = true;
        }
    }

    /// The last packet is marked for PSH.
    fn mark(&mut self) {
        if let Some(last) = self.queue.back_mut() {
            (last.push, self.pushed) = (true, last.end);
        }
    }

    /// Whether a write continues before a further block leaves.
    pub(super) fn continues_write(&self) -> bool {
        self.left == 0 && self.step == Step::Nothing
    }

    /// Whether no block is under way.
    pub(super) fn is_complete(&self) -> bool {
        self.left == 0
    }

    /// Whether a segment of the present block has left, and another follows.
    pub(super) fn is_under_way(&self) -> bool {
        self.left > 0 && self.sent == self.number
    }

    /// An ACK, a timer or the application may change what a deferred block waits for.
    pub(super) fn wake(&mut self) {
        self.deferred = None;
    }

    /// An ACK leaves the sender with this rate.
    pub(super) fn set_rate(&mut self, rate: Pace) {
        self.rate = rate;
    }

    /// Most segments of a block.
    pub(super) fn most(&self, min_rtt: Option<Duration>, smss: u64) -> u64 {
        suggested(self.rate, min_rtt, smss).max(self.least)
    }

    /// Begins a block; returns what it waits for if it is deferred.
    pub(super) fn begin(&mut self, room: &Room) -> Option<Limit> {
        if self.deferred.is_some() {
            return self.deferred;
        }
        let most = self.most(room.min_rtt, room.smss);
        let free = room.cwnd.saturating_sub(room.pipe);
        let quota = Self::quota(room.cwnd, free, most);
        self.join(room.nxt + quota * room.smss);
        let Some(&Waiting { end, push, record }) = self.queue.front() else {
            (self.left, self.several, self.marked) = (1, false, false);
            self.number += 1;
            return None;
        };
        // Nothing is added to a packet that ends a record.
        let (length, single) = (end - room.nxt, self.queue.len() == 1 && !record);
        if length > room.smss && self.step != Step::One {
            self.deferred = self.defer(room, most * room.smss, free * room.smss, (length, single));
        }
        if self.deferred.is_some() {
            return self.deferred;
        }
        let bytes = Self::allowed(room, quota * room.smss, (length, single));
        self.left = bytes.div_ceil(room.smss).max(1);
        self.several = self.left > 1;
        self.marked = push && bytes == length;
        self.number += 1;
        None
    }

    /// Segments of a block that the congestion window allows, of which `free` segments are free; at most `most`.
    fn quota(cwnd: u64, free: u64, most: u64) -> u64 {
        (cwnd / 2).min(free).min(most).max(1)
    }

    /// The peer's window keeps back the first packet, which data of the second one joins all the same. Of the window of `cwnd` segments, `free`
    /// are free.
    pub(super) fn keep(&mut self, (nxt, smss): (u64, u64), (cwnd, free): (u64, u64), min_rtt: Option<Duration>) {
        if self.queue.len() > 1 && self.left == 0 && self.deferred.is_none() {
            let quota = Self::quota(cwnd, free, self.most(min_rtt, smss));
            self.join(nxt + quota * smss);
        }
    }

    /// Data of the second packet joins the first one up to `end`.
    fn join(&mut self, end: u64) {
        if self.queue.len() < 2 || self.queue[0].end >= end || self.queue[0].record {
            return;
        }
        let next = self.queue[1];
        self.queue[0].end = end.min(next.end);
        if end >= next.end {
            self.queue[0].push |= next.push;
            self.queue[0].record = next.record;
            self.queue.remove(1);
        }
    }

    /// The bytes of a block, at most `most`, of a first packet of `length` bytes; `single`: there is no other.
    fn allowed(room: &Room, most: u64, (length, single): (u64, bool)) -> u64 {
        if length <= room.smss || most <= room.offered && !single {
            return length.min(most);
        }
        let needed = length.min(room.offered);
        let part = needed % room.smss;
        if most <= needed {
            most
        } else if part > 0 && room.holds_small {
            needed - part
        } else {
            needed
        }
    }

    /// What the block waits for if it is better to wait for the next ACK than to send a small block of the first packet, which has `length`
    /// bytes; `single`: there is no other. `most`: bytes of a full block; `free`: those that the congestion window allows.
    fn defer(&self, room: &Room, most: u64, free: u64, (length, single): (u64, bool)) -> Option<Limit> {
        let limit = room.offered.min(free);
        let fraction = room.rwnd.min(room.cwnd * room.smss).checked_div(self.divisor).unwrap_or(2 * room.smss);
        if room.recovering || room.idle > NEAR + ROUNDING || limit >= most || !single && limit >= length || limit >= fraction {
            return None;
        }
        let (age, srtt) = room.head?;
        let (half, left) = (srtt * 0.5, srtt.as_secs_f64() - age.as_secs_f64());
        if left > (if half < NEAR { half } else { NEAR } + ROUNDING).as_secs_f64() {
            return None;
        }
        if free < room.offered && free <= length {
            Some(Limit::CongestionWindow)
        } else if free >= room.offered && room.offered <= length {
            Some(Limit::ReceiveWindow)
        } else {
            // A packet that gets no more data does not wait for it.
            (!(room.closed && single)).then_some(Limit::Application)
        }
    }

    /// A new segment that ends at `end` leaves; returns whether it carries PSH by itself, whether it ends a block of several, and the
    /// number of its block.
    pub(super) fn send(&mut self, end: u64) -> (bool, bool, u32) {
        if self.left == 0 {
            // A probe is a block of its own.
            self.number += 1;
            self.several = false;
            self.marked = self.queue.front().is_some_and(|packet| packet.push && packet.end == end);
        }
        (self.left, self.sent) = (self.left.saturating_sub(1), self.number);
        while self.queue.front().is_some_and(|packet| packet.end <= end) {
            self.queue.pop_front();
        }
        if self.left == 0 && self.step == Step::One {
            self.step = Step::Nothing;
        }
        (self.left == 0 && self.marked, self.left == 0 && self.several, self.number)
    }

    /// The sender stops: the present block ends.
    pub(super) fn stop(&mut self) {
        (self.left, self.several, self.marked, self.repaired) = (0, false, false, (0, 0));
    }

    /// Whether the segment that begins at `start` continues a block of retransmissions.
    pub(super) fn continues(&self, start: u64) -> bool {
        self.repaired.0 > 0 && self.repaired.1 == start
    }

    /// A segment that ends at `end` is sent again as the first of `count` of its block, unless it continues a block; returns whether it ends
    /// a block of several.
    pub(super) fn resend(&mut self, (start, end): (u64, u64), count: u64) -> bool {
        if self.continues(start) {
            self.repaired = (self.repaired.0 - 1, end);
            return self.repaired.0 == 0;
        }
        self.repaired = (count.saturating_sub(1), end);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of a slow sender: the smallest ones.
    fn blocks() -> Blocks {
        let mut blocks = Blocks::new(Offload { min_segments: 2, window_divisor: 3 });
        blocks.set_rate(fast(1.0));
        blocks
    }

    const ROOM: Room = Room {
        smss: 1000,
        nxt: 1,
        cwnd: 10,
        pipe: 0,
        offered: 32_000,
        rwnd: 32_000,
        min_rtt: Some(Duration::from_millis(100)),
        recovering: false,
        idle: Duration::ZERO,
        head: Some((Duration::from_millis(100), Duration::from_millis(100))),
        closed: false,
        holds_small: false,
    };

    /// A rate that suggests blocks of so many segments.
    fn fast(segments: f64) -> Pace {
        Pace { segments: 1024.0 * (segments + 0.1), srtt: Some(Duration::from_millis(1000)) }
    }

    fn ends(blocks: &Blocks) -> Vec<(u64, bool)> {
        blocks.queue.iter().map(|packet| (packet.end, packet.push)).collect()
    }

    #[test]
    fn packets_join_while_the_peers_window_keeps_them_back() {
        let mut blocks = blocks();
        // A window of 20,000 bytes fills packets of 10,000.
        blocks.write((1, 20_001), (1, 0), 1000, 20_000);
        blocks.set_rate(Pace { segments: 1e6, srtt: Some(Duration::from_millis(100)) });
        assert_eq!((blocks.packets(), blocks.tail(1)), (2, Some(10_000)));
        blocks.keep((1, 1000), (40, 12), None);
        assert_eq!((blocks.packets(), blocks.tail(1)), (2, Some(8000)), "the congestion window allows 12,000 bytes");
        blocks.keep((1, 1000), (40, 20), None);
        assert_eq!((blocks.packets(), blocks.tail(1)), (1, Some(20_000)));
    }

    #[test]
    fn a_write_marks_its_end_and_every_half_window() {
        let mut blocks = blocks();
        // Linux 6.18, a window of 32896 bytes, segments of 1000: packets of 16000 bytes.
        blocks.write((1, 100_001), (1, 10_000), 1000, 32_896);
        let packets = [26_001, 42_001, 58_001, 74_001, 90_001, 100_001];
        assert_eq!(ends(&blocks), packets.map(|end| (end, [26_001, 42_001, 74_001, 100_001].contains(&end))));
        // The next write continues the last packet.
        blocks.write((100_001, 105_001), (10_001, 0), 1000, 32_896);
        assert_eq!(ends(&blocks).last(), Some(&(105_001, true)));
        // All data has left: the next write begins a packet.
        blocks.queue.clear();
        blocks.write((105_001, 106_001), (105_001, 10_000), 1000, 32_896);
        assert_eq!(ends(&blocks), [(106_001, true)]);
    }

    #[test]
    fn a_write_into_a_limited_buffer_stops_for_the_blocks_that_leave() {
        let mut blocks = blocks();
        blocks.write_packet(16_001, true, (true, false), 65_160);
        blocks.set_rate(fast(12.0));
        assert!(!blocks.continues_write() && blocks.begin(&Room { head: None, ..ROOM }).is_none());
        let sent: Vec<_> = (1..=5).map(|number| blocks.send(1 + 1000 * number)).collect();
        assert_eq!((sent[3], sent[4]), ((false, false, 1), (false, true, 1)), "half of the window");
        assert!(blocks.continues_write());
        assert_eq!((blocks.tail(5001), blocks.packets()), (Some(11_000), 1));
        blocks.write_packet(21_001, false, (false, false), 65_160);
        assert!(!blocks.continues_write(), "the first packet: another block leaves");
        blocks.write_packet(37_001, true, (false, false), 65_160);
        assert_eq!((ends(&blocks), blocks.step), (vec![(21_001, false), (37_001, true)], Step::All), "half of the peer's window");
        blocks.write_packet(40_001, true, (false, false), 65_160);
        assert!(blocks.continues_write(), "behind other packets nothing leaves");
        blocks.end_write();
        assert_eq!(ends(&blocks).last(), Some(&(40_001, true)));
    }

    #[test]
    fn the_last_segment_of_a_block_of_several_carries_psh() {
        let mut blocks = blocks();
        blocks.write((1, 20_001), (1, 0), 1000, 65_160);
        assert_eq!(blocks.begin(&ROOM), None);
        assert_eq!([blocks.send(1001), blocks.send(2001)], [(false, false, 1), (false, true, 1)]);
        // Room for one segment only.
        assert!(blocks.is_complete() && blocks.begin(&Room { nxt: 2001, pipe: 9, idle: Duration::from_millis(2), ..ROOM }).is_none());
        assert_eq!(blocks.send(3001), (false, false, 2));
        blocks.stop();
        assert_eq!(blocks.send(4001), (false, false, 3), "a probe is a block of its own");
        assert_eq!(blocks.begin(&Room { nxt: 19_001, ..ROOM }), None);
        assert_eq!(blocks.send(20_001), (true, false, 4), "the end of the write");
        assert!(!blocks.resend((1, 1001), 2) && blocks.resend((1001, 2001), 9), "a block again");
        assert!(!blocks.resend((5001, 6001), 1), "a part of a block alone");
    }

    #[test]
    fn a_block_takes_from_the_second_packet_what_the_first_lacks() {
        let mut blocks = blocks();
        blocks.queue.extend([
            Waiting { end: 3001, push: true, record: false },
            Waiting { end: 9001, push: true, record: false },
            Waiting { end: 10_001, push: false, record: false },
        ]);
        blocks.set_rate(fast(5.0));
        let room = ROOM;
        assert_eq!(blocks.begin(&room), None);
        assert_eq!((blocks.left, ends(&blocks)), (5, vec![(5001, true), (9001, true), (10_001, false)]));
        blocks.stop();
        assert_eq!(blocks.begin(&Room { nxt: 6001, ..room }), None);
        assert_eq!((blocks.left, ends(&blocks)), (3, vec![(9001, true), (10_001, false)]), "and nothing of the third");
    }

    #[test]
    fn a_small_block_waits_for_the_next_ack() {
        let blocks = || {
            let mut blocks = blocks();
            blocks.write((1, 20_001), (1, 0), 1000, 65_160);
            blocks
        };
        // Linux 6.18: the second SACK within 1 ms releases nothing, after 2 ms it releases a segment.
        let one = Room { pipe: 9, ..ROOM };
        assert_eq!(blocks().begin(&one), Some(Limit::CongestionWindow));
        let leaves = [
            Room { idle: Duration::from_millis(2), ..one },
            Room { recovering: true, ..one },
            Room { pipe: 8, ..one },
            Room { cwnd: 3, pipe: 2, ..one },
            Room { head: Some((Duration::from_millis(40), Duration::from_millis(100))), ..one },
            // Linux 6.18, the peer's window full: an ACK after 78.5 ms of 80.2 ms releases two segments of three, one after 79.9 ms waits.
            Room { head: Some((Duration::from_nanos(78_500_000), Duration::from_nanos(80_200_000))), ..one },
            Room { head: None, ..one },
        ];
        assert!(leaves.iter().all(|room| blocks().begin(room).is_none()));
        let near = Room { head: Some((Duration::from_nanos(79_900_000), Duration::from_nanos(80_100_000))), ..one };
        assert_eq!(blocks().begin(&near), Some(Limit::CongestionWindow));
        assert_eq!(blocks().begin(&Room { pipe: 0, offered: 1000, ..near }), Some(Limit::ReceiveWindow), "the peer's window is smaller");
        // Linux 7.2: a first packet that fits as a whole leaves, since nothing is added to it.
        let mut two = blocks();
        two.set_rate(fast(9.0));
        let room = Room { cwnd: 30, pipe: 25, ..ROOM };
        assert_eq!(two.begin(&room), Some(Limit::CongestionWindow));
        assert_eq!(
            two.begin(&Room { idle: Duration::from_millis(2), ..room }),
            Some(Limit::CongestionWindow),
            "time alone changes nothing"
        );
        two.wake();
        two.queue.push_front(Waiting { end: 2001, push: false, record: false });
        assert_eq!(two.begin(&room), None);
    }

    #[test]
    fn a_fast_sender_fills_larger_blocks() {
        let millis = Duration::from_millis;
        assert_eq!(suggested(Pace { segments: 10.0, srtt: None }, None, 1000), 65, "nothing is measured yet");
        let segments = |cwnd, rtt| suggested(Pace { segments: 1.2 * cwnd, srtt: Some(rtt) }, Some(rtt), 1000);
        assert_eq!([segments(10.0, millis(100)), segments(600.0, millis(100)), segments(1e4, millis(100))], [1, 7, 65]);
        assert_eq!(segments(1.0, Duration::from_nanos(500_000)), 65, "the peer is near");
    }
}
