//! The send buffer: the memory of the data that the application has written and the peer has not acknowledged.
//!
//! The buffer counts the memory of packets, each of which takes a descriptor and a head beyond its data. Unsent data lies in packets of at most 64 KiB
//! and half of the peer's largest window, sent data in the blocks in which it has left. A write ends at a packet once the memory reaches the
//! size of the buffer, or unsent data its limit (`TCP_NOTSENT_LOWAT`). The application writes again as soon as a third of the buffer is free,
//! and less than half of the unsent data that the limit allows waits.
//!
//! The size follows the congestion window: twice its segments, each with the memory of a packet of its own. It grows at an ACK if the
//! application waits for room in the buffer and the window has room for more, after each block too, and never shrinks. An application that
//! sets the size (`SO_SNDBUF`) fixes it.
//!
//! ## References
//! tcp(7), socket(7); Linux Documentation/networking/ip-sysctl, `tcp_wmem`; measured with Linux 7.2 (the numbers of the tests below).

use super::config::SendBufferSize;

/// Memory of a packet's descriptor.
const DESCRIPTOR: u64 = 256;
/// Memory that lies behind the room for a packet's headers and holds a list of its data.
const LIST: u64 = 320;
/// A head of packets has a size of its own, so that it is no power of two.
const STEP: u64 = 64;
/// Windows for which the buffer has room, and the smallest of them.
const WINDOWS: u64 = 2;
const LEAST: u64 = 10;
/// Smallest size that an application sets.
const LEAST_SIZE: u64 = 4608;

/// A send buffer.
#[derive(Debug)]
pub(super) struct SendBuffer {
    size: u64,
    max: u64,
    /// Memory of the head of a packet.
    head: u64,
    /// Fewer unsent bytes let a further packet begin.
    unsent: u64,
    /// Whether the application waits for room.
    waiting: bool,
    /// Whether an ACK has arrived or a block has left since the last look for room.
    acknowledged: bool,
}

/// What an application says of the data that it writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteFlags {
    /// It announces more data, for which a small segment waits until the next ACK or timer (`MSG_MORE`).
    pub more: bool,
    /// The data ends a record, which no segment joins with later data (`MSG_EOR`).
    pub record: bool,
}

/// What lies in a send buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Content {
    /// Bytes written and not acknowledged.
    pub(super) bytes: u64,
    /// Those of them that are not sent.
    pub(super) unsent: u64,
    /// Packets: those that wait, and the blocks that are outstanding.
    pub(super) packets: u64,
    /// Unsent bytes of the last packet; zero if all of it has left.
    pub(super) tail: u64,
    /// Size of a full packet.
    pub(super) full: u64,
}

impl SendBuffer {
    /// An empty buffer.
    pub(super) const fn new(size: SendBufferSize) -> Self {
        Self { size: size.initial, max: size.max, head: size.headers + LIST, unsent: u64::MAX, waiting: false, acknowledged: false }
    }

    /// The application sets the size; Linux doubles it.
    pub(super) fn fix(&mut self, bytes: u64) {
        self.size = bytes.saturating_mul(2).max(LEAST_SIZE);
        self.max = self.size;
    }

    /// Its size.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// A further packet begins only with fewer than `most` unsent bytes.
    pub(super) fn limit_unsent(&mut self, most: u64) {
        self.unsent = most;
    }

    /// Grows for a window of `segments` of a peer that announces `mss` bytes.
    pub(super) fn grow(&mut self, segments: u64, mss: u64) {
        let segment = (mss + self.head).next_power_of_two() + DESCRIPTOR;
        let wanted = WINDOWS * segments.max(LEAST) * segment;
        self.size = self.size.max(wanted.min(self.max));
    }

    /// An ACK has arrived, or a block has left.
    pub(super) fn acknowledge(&mut self) {
        self.acknowledged = true;
    }

    /// Whether the size may grow: an ACK has arrived or a block has left, and the application waits for room.
    pub(super) fn may_grow(&mut self) -> bool {
        std::mem::take(&mut self.acknowledged) && self.waiting
    }

    fn memory(&self, content: &Content) -> u64 {
        let head = if self.head.is_power_of_two() { self.head + STEP } else { self.head };
        content.bytes + content.packets * (DESCRIPTOR + head)
    }

    /// Whether an application that waits for room writes again.
    pub(super) fn is_writeable(&self, content: &Content) -> bool {
        let memory = self.memory(content);
        self.size.saturating_sub(memory) >= memory / 2 && memory < self.size && content.unsent.saturating_mul(2) < self.unsent
    }

    /// Whether an application writes again; otherwise it waits for room.
    pub(super) fn look_for_room(&mut self, content: &Content) -> bool {
        self.waiting = !self.is_writeable(content);
        !self.waiting
    }

    /// Whether the application waits for room.
    pub(super) fn is_waiting(&self) -> bool {
        self.waiting
    }

    /// The bytes that a write adds at once, and whether they begin a packet; otherwise they fill the last one. None: the application waits
    /// for room.
    pub(super) fn room(&mut self, content: &Content) -> (u64, bool) {
        if content.tail > 0 && content.tail < content.full {
            return (content.full - content.tail, false);
        }
        if self.memory(content) >= self.size || content.unsent >= self.unsent {
            self.waiting = true;
            return (0, false);
        }
        (content.full, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: SendBufferSize = SendBufferSize { initial: 16_384, max: 4 << 20, headers: SendBufferSize::HEADERS };

    fn buffer() -> SendBuffer {
        SendBuffer::new(SIZE)
    }

    /// Nothing is sent.
    fn unsent(bytes: u64) -> Content {
        Content { bytes, unsent: bytes, packets: bytes.div_ceil(10_000), tail: bytes % 10_000, full: 10_000 }
    }

    #[test]
    fn it_grows_with_the_window_up_to_the_maximum() {
        let size = |headers, cwnd, mss| {
            let mut buffer = SendBuffer::new(SendBufferSize { headers, ..SIZE });
            buffer.grow(cwnd, mss);
            buffer.size
        };
        let [few, more] = [SendBufferSize::HEADERS, SendBufferSize::MORE_HEADERS];
        assert_eq!([1, 10, 100, 1000].map(|cwnd| size(few, cwnd, 1460)), [46_080, 46_080, 460_800, 4 << 20]);
        assert_eq!(size(few, 10, 8960), 332_800, "8960 B take 16 KiB");
        assert_eq!(size(more, 10, 1460), 87_040, "1460 B take 4 KiB");
    }

    #[test]
    fn a_write_ends_at_the_packet_that_fills_the_buffer() {
        let mut buffer = buffer();
        assert!(buffer.look_for_room(&unsent(0)));
        assert_eq!(buffer.room(&unsent(0)), (10_000, true));
        assert_eq!(buffer.room(&unsent(4000)), (6000, false), "the packet is not full");
        assert_eq!(buffer.room(&unsent(10_000)), (10_000, true), "there is room for another one");
        assert_eq!((buffer.room(&unsent(20_000)), buffer.is_waiting()), ((0, false), true));
        let sent = |bytes| Content { packets: 4, unsent: 0, tail: 0, ..unsent(bytes) };
        assert!(!buffer.look_for_room(&sent(8000)), "11328 of 16384 B: less than a third is free");
        assert!(buffer.is_waiting());
        assert!(buffer.look_for_room(&sent(7594)));
        assert!(!buffer.is_waiting());
    }

    #[test]
    fn it_grows_if_the_application_waits_at_an_ack() {
        let mut buffer = buffer();
        buffer.acknowledge();
        assert!(!buffer.may_grow());
        assert_eq!(buffer.room(&unsent(30_000)).0, 0);
        assert!(!buffer.may_grow(), "no ACK has arrived since");
        buffer.acknowledge();
        assert!(buffer.may_grow() && !buffer.may_grow());
    }

    #[test]
    fn unsent_data_may_be_limited() {
        let mut buffer = SendBuffer::new(SendBufferSize { initial: 1 << 20, ..SIZE });
        buffer.limit_unsent(10_000);
        assert_eq!(buffer.room(&unsent(0)).0, 10_000);
        assert_eq!(buffer.room(&unsent(10_000)).0, 0);
        assert!(!buffer.is_writeable(&Content { unsent: 5000, ..unsent(20_000) }));
        assert!(buffer.is_writeable(&Content { unsent: 4999, ..unsent(20_000) }));
    }

    #[test]
    fn an_application_fixes_the_size() {
        let mut buffer = buffer();
        for (bytes, size) in [(0, 4608), (30_000, 60_000)] {
            buffer.fix(bytes);
            buffer.grow(1000, 1460);
            assert_eq!(buffer.size(), size);
        }
    }
}
