//! Blocks of segments that a host hands to its network device at once, and the segments that carry PSH.
//!
//! A write fills packets of at most 64 KiB and half of the peer's largest window. Its last segment carries PSH, and so does the last segment
//! of a packet when half of that window has been written since the last mark. A device with segmentation offload sends a block of several
//! segments; the last one carries PSH. A block is deferred if the window allows only a small one and the next ACK is near.
//!
//! ## References
//! Linux Documentation/networking/ip-sysctl, `tcp_min_tso_segs` and `tcp_tso_win_divisor`; RFC 9293 §3.9.1.2 (push); measured with Linux
//! 6.18 (the numbers of the tests below).

use std::collections::VecDeque;

use ackclock_core::units::Duration;

use super::config::Offload;

/// Largest packet that a device splits, in bytes, less its headers.
const LARGEST: u64 = 65_536 - 320;
/// A block may hold the data of this part of a second at the sender's rate.
const SHARE: f64 = 1.0 / 1024.0;
/// Minimum round-trip time for which a block may be half as large.
const HALVING: Duration = Duration::from_nanos(512_000);
/// A sender waits for at most 1 ms for the ACK of its first segment.
const NEAR: Duration = Duration::from_nanos(1_000_000);
/// Only a sender that sent within 1 ms, or a little more, defers.
const RECENT: Duration = Duration::from_nanos(1_001_000);

/// The blocks of a sender.
#[derive(Debug)]
pub(super) struct Blocks {
    /// Smallest size of a block that is not limited by data or window, in segments.
    least: u64,
    /// This share of the window leaves at once: 1/`divisor`.
    divisor: u64,
    /// Segments that the present block still lacks.
    left: u64,
    /// Whether the present block has several segments.
    several: bool,
    /// Positions at which a segment that ends there carries PSH.
    marks: VecDeque<u64>,
    /// Where the last packet of the written data begins.
    packet: u64,
    /// Position of the last mark.
    pushed: u64,
    /// End of the last record; 0: there is none.
    record: u64,
    /// Retransmissions that the present block of them still lacks, and where the next one begins.
    repaired: (u64, u64),
    /// Number of the present block.
    number: u32,
}

/// The segments of a block that a rate of `cwnd` segments per `srtt`, times `gain`, and a minimum round-trip time suggest.
pub(super) fn suggested(cwnd: f64, gain: f64, srtt: Duration, min_rtt: Option<Duration>, smss: u64) -> u64 {
    let rate = gain * cwnd * smss as f64 / srtt.max(Duration::NANOSECOND).as_secs_f64();
    let halvings = min_rtt.map_or(0.0, |rtt| rtt.as_secs_f64() / HALVING.as_secs_f64()) as u32;
    let near = LARGEST.checked_shr(halvings).unwrap_or(0);
    (((rate * SHARE) as u64 + near).min(LARGEST) / smss).max(1)
}

/// Half of the peer's largest window, unless that is tiny.
fn half(most: u64) -> u64 {
    if most > 536 { most / 2 } else { most }
}

/// What the windows and the path allow a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// Congestion window in segments.
    pub(super) cwnd: u64,
    /// Segments in flight.
    pub(super) pipe: u64,
    /// Segments that the peer's window and the data allow.
    pub(super) available: u64,
    /// Segments that the peer's window allows.
    pub(super) offered: u64,
    /// Window of the peer, in segments.
    pub(super) rwnd: u64,
    /// Segments that the sender's rate and the distance to the peer suggest.
    pub(super) suggested: u64,
    /// Whether the sender recovers from losses.
    pub(super) recovering: bool,
    /// Time since the last transmission.
    pub(super) idle: Duration,
    /// Age of the first outstanding segment, and the smoothed round-trip time; `None`: nothing is outstanding.
    pub(super) head: Option<(Duration, Duration)>,
    /// Whether the stream is closed, so that the block could end with a FIN.
    pub(super) closed: bool,
}

impl Blocks {
    /// The blocks of a host with these settings.
    pub(super) fn new(offload: Offload) -> Self {
        Self {
            least: u64::from(offload.min_segments),
            divisor: u64::from(offload.window_divisor),
            left: 0,
            several: false,
            marks: VecDeque::new(),
            packet: 1,
            pushed: 1,
            record: 0,
            repaired: (0, 0),
            number: 0,
        }
    }

    /// Data that fits a packet of a write; `most`: the peer's largest window.
    pub(super) fn packet(smss: u64, most: u64) -> u64 {
        (LARGEST.min(half(most).max(1)) / smss).max(1) * smss
    }

    /// The application writes the data from `start` to `end`; all data below `nxt` has been sent. `most`: the peer's largest window. `room`:
    /// bytes that the windows allow now.
    pub(super) fn write(&mut self, (start, end): (u64, u64), (nxt, room): (u64, u64), smss: u64, most: u64) {
        let half = half(most);
        let size = Self::packet(smss, most);
        if self.record == start {
            self.packet = start;
        } else if nxt >= start {
            self.packet = start;
            let leaving = room / smss * smss;
            if start + size < end && leaving < size {
                // What leaves when the first packet is full makes room in it for as much again.
                self.pushed = start + size;
                self.packet = self.pushed + leaving;
                self.marks.extend((leaving > 0 && self.packet < end).then_some(self.packet));
            }
        } else if start < self.packet + size && self.marks.back() == Some(&start) {
            // The write continues the last packet, whose mark moves.
            self.marks.pop_back();
        }
        while self.packet + size < end {
            self.packet += size;
            if self.packet > self.pushed + half {
                self.marks.push_back(self.packet);
                self.pushed = self.packet;
            }
        }
        self.marks.push_back(end);
        self.pushed = end;
    }

    /// More data will follow `end`, so that it carries no mark.
    pub(super) fn unmark(&mut self, end: u64) {
        if self.marks.back() == Some(&end) {
            self.marks.pop_back();
        }
    }

    /// The data written so far ends a record: later data begins another packet.
    pub(super) fn end_record(&mut self) {
        self.record = self.pushed;
    }

    /// Whether no block is under way.
    pub(super) fn is_complete(&self) -> bool {
        self.left == 0
    }

    /// Begins a block; returns whether it leaves now instead of being deferred.
    pub(super) fn begin(&mut self, room: &Room) -> bool {
        let most = room.suggested.max(self.least);
        if self.defers(room, most) {
            return false;
        }
        let quota = (room.cwnd / 2).max(1).min(room.cwnd.saturating_sub(room.pipe)).max(1);
        self.left = most.min(quota).min(room.available).max(1);
        self.several = self.left > 1;
        self.number += 1;
        true
    }

    /// Whether it is better to wait for the next ACK than to send a small block.
    fn defers(&self, room: &Room, most: u64) -> bool {
        let limit = room.offered.min(room.cwnd.saturating_sub(room.pipe));
        if room.available < 2 && limit >= room.available || room.recovering || room.idle > RECENT || limit >= most {
            return false;
        }
        let Some((age, srtt)) = room.head else { return false };
        let waits = room.closed && limit >= room.available;
        limit * self.divisor < room.rwnd.min(room.cwnd) && age >= srtt * 0.5 && age + NEAR >= srtt && !waits
    }

    /// A new segment that ends at `end` leaves; returns whether it carries PSH by itself, whether it ends a block of several, and the
    /// number of its block. `record`: it ends a record, and so its block.
    pub(super) fn send(&mut self, end: u64, record: bool) -> (bool, bool, u32) {
        if self.left == 0 {
            self.number += 1;
        }
        self.left = if record { 0 } else { self.left.saturating_sub(1) };
        let ends = self.several && self.left == 0;
        let mut marked = false;
        while let Some(&mark) = self.marks.front().filter(|mark| **mark <= end) {
            marked |= mark == end;
            self.marks.pop_front();
        }
        // A block ends with PSH anyway.
        (marked && self.left == 0, ends, self.number)
    }

    /// The sender stops: the present block ends.
    pub(super) fn stop(&mut self) {
        (self.left, self.several, self.repaired) = (0, false, (0, 0));
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

    fn blocks() -> Blocks {
        Blocks::new(Offload { min_segments: 2, window_divisor: 3 })
    }

    const ROOM: Room = Room {
        cwnd: 10,
        pipe: 0,
        available: 20,
        offered: 32,
        rwnd: 32,
        suggested: 1,
        recovering: false,
        idle: Duration::ZERO,
        head: Some((Duration::from_millis(100), Duration::from_millis(100))),
        closed: false,
    };

    #[test]
    fn a_write_marks_its_end_and_every_half_window() {
        let mut blocks = blocks();
        // Linux 6.18, a window of 32896 bytes, segments of 1000: packets of 16000 bytes.
        blocks.write((1, 100_001), (1, 10_000), 1000, 32_896);
        assert_eq!(blocks.marks, [26_001, 42_001, 74_001, 100_001], "the first ten segments leave when the first packet is full");
        // The next write continues the last packet.
        blocks.write((100_001, 105_001), (10_001, 0), 1000, 32_896);
        assert_eq!(blocks.marks, [26_001, 42_001, 74_001, 105_001]);
        // All data has left: the next write begins a packet.
        blocks.marks.clear();
        blocks.write((105_001, 106_001), (105_001, 10_000), 1000, 32_896);
        assert_eq!((blocks.marks[0], blocks.packet), (106_001, 105_001));
    }

    #[test]
    fn the_last_segment_of_a_block_of_several_carries_psh() {
        let mut blocks = blocks();
        assert!(blocks.begin(&ROOM));
        assert_eq!([blocks.send(1001, false), blocks.send(2001, false)], [(false, false, 1), (false, true, 1)]);
        // Room for one segment only.
        assert!(blocks.is_complete() && blocks.begin(&Room { pipe: 9, idle: Duration::from_millis(2), ..ROOM }));
        assert_eq!(blocks.send(3001, false), (false, false, 2));
        blocks.stop();
        assert_eq!(blocks.send(4001, false), (false, false, 3), "a probe is a block of its own");
        blocks.write((4001, 100_001), (4001, 10_000), 1000, 32_896);
        assert!(blocks.begin(&ROOM), "the mark of the first packet falls into a block");
        assert_eq!([blocks.send(30_001, false), blocks.send(31_001, false)], [(false, false, 4), (false, true, 4)]);
        assert!(!blocks.resend((1, 1001), 2) && blocks.resend((1001, 2001), 9), "a block again");
        assert!(!blocks.resend((5001, 6001), 1), "a part of a block alone");
    }

    #[test]
    fn a_small_block_waits_for_the_next_ack() {
        // Linux 6.18: the second SACK within 1 ms releases nothing, after 2 ms it releases a segment.
        let one = Room { pipe: 9, ..ROOM };
        assert!(!blocks().begin(&one));
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
        assert!(leaves.iter().all(|room| blocks().begin(room)));
        let near = Room { head: Some((Duration::from_nanos(79_900_000), Duration::from_nanos(80_100_000))), ..one };
        assert!(!blocks().begin(&near));
    }

    #[test]
    fn a_fast_sender_fills_larger_blocks() {
        let millis = Duration::from_millis;
        let segments = |cwnd, rtt| suggested(cwnd, 1.2, rtt, Some(rtt), 1000);
        assert_eq!([segments(10.0, millis(100)), segments(600.0, millis(100)), segments(1e4, millis(100))], [1, 7, 65]);
        assert_eq!(segments(1.0, Duration::from_nanos(500_000)), 65, "the peer is near");
    }
}
