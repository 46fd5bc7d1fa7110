//! The send buffer: the memory of the data that the application has written and the peer has not acknowledged.
//!
//! The buffer counts the memory of packets, each of which takes [`OVERHEAD`] beyond its data. Unsent data lies in packets of at most 64 KiB
//! and half of the peer's largest window, sent data in the blocks in which it has left. A write ends at a packet once the memory reaches the
//! size of the buffer. The application writes again as soon as a third of the buffer is free.
//!
//! The size follows the congestion window: twice its segments, each with the memory of a packet of its own. It grows at an ACK if the
//! application waits for room in the buffer and the window has room for more, after each block too, and never shrinks.
//!
//! ## References
//! Linux Documentation/networking/ip-sysctl, `tcp_wmem`; measured with Linux 7.2 (the numbers of the tests below), as built for a network
//! without wireless devices and tunnels.

use ackclock_core::units::Segments;

use super::config::SendBufferSize;

/// Memory of a packet beyond its data.
const OVERHEAD: u64 = 832;
/// Room for headers in the memory of a packet of one segment, and what that takes beyond its power of two.
const HEADROOM: u64 = 512;
const DESCRIPTOR: u64 = 256;
/// Windows for which the buffer has room, and the smallest of them.
const WINDOWS: u64 = 2;
const LEAST: u64 = 10;

/// A send buffer.
#[derive(Debug)]
pub(super) struct SendBuffer {
    size: u64,
    max: u64,
    /// Most unsent bytes with which a further packet is begun.
    unsent: u64,
    /// Whether the application waits for room.
    waiting: bool,
    /// Whether an ACK has arrived or a block has left since the last look for room.
    acknowledged: bool,
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

impl Content {
    fn memory(&self) -> u64 {
        self.bytes + OVERHEAD * self.packets
    }
}

impl SendBuffer {
    /// An empty buffer.
    pub(super) const fn new(size: SendBufferSize) -> Self {
        Self { size: size.initial, max: size.max, unsent: u64::MAX, waiting: false, acknowledged: false }
    }

    /// A further packet begins only with fewer than `most` unsent bytes.
    pub(super) fn limit_unsent(&mut self, most: u64) {
        self.unsent = most;
    }

    /// Grows for a window of `cwnd` segments of a peer that announces `mss` bytes.
    pub(super) fn grow(&mut self, cwnd: Segments, mss: u64) {
        let segment = (mss + HEADROOM).next_power_of_two() + DESCRIPTOR;
        let wanted = WINDOWS * (cwnd as u64).max(LEAST) * segment;
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

    /// Whether an application writes again; otherwise it waits for room.
    pub(super) fn is_writeable(&mut self, content: &Content) -> bool {
        let memory = content.memory();
        let writeable = 2 * self.size.saturating_sub(memory) >= memory && self.has_room(memory, content);
        self.waiting = !writeable;
        writeable
    }

    fn has_room(&self, memory: u64, content: &Content) -> bool {
        memory < self.size && content.unsent < self.unsent
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
        if !self.has_room(content.memory(), content) {
            self.waiting = true;
            return (0, false);
        }
        (content.full, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer() -> SendBuffer {
        SendBuffer::new(SendBufferSize { initial: 16_384, max: 4 << 20 })
    }

    /// Nothing is sent.
    fn unsent(bytes: u64) -> Content {
        Content { bytes, unsent: bytes, packets: bytes.div_ceil(10_000), tail: bytes % 10_000, full: 10_000 }
    }

    #[test]
    fn it_grows_with_the_window_up_to_the_maximum() {
        let size = |cwnd, mss| {
            let mut buffer = buffer();
            buffer.grow(cwnd, mss);
            buffer.size
        };
        assert_eq!([1.0, 10.0, 100.0, 1000.0].map(|cwnd| size(cwnd, 1460)), [46_080, 46_080, 460_800, 4 << 20]);
        assert_eq!(size(10.0, 8960), 332_800, "8960 B take 16 KiB");
    }

    #[test]
    fn a_write_ends_at_the_packet_that_fills_the_buffer() {
        let mut buffer = buffer();
        assert!(buffer.is_writeable(&unsent(0)));
        assert_eq!(buffer.room(&unsent(0)), (10_000, true));
        assert_eq!(buffer.room(&unsent(4000)), (6000, false), "the packet is not full");
        assert_eq!(buffer.room(&unsent(10_000)), (10_000, true), "there is room for another one");
        assert_eq!((buffer.room(&unsent(20_000)), buffer.is_waiting()), ((0, false), true));
        let sent = |bytes| Content { packets: 4, unsent: 0, tail: 0, ..unsent(bytes) };
        assert!(!buffer.is_writeable(&sent(8000)), "11328 of 16384 B: less than a third is free");
        assert!(buffer.is_waiting());
        assert!(buffer.is_writeable(&sent(7594)));
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
        let mut buffer = SendBuffer::new(SendBufferSize { initial: 1 << 20, max: 1 << 20 });
        buffer.limit_unsent(10_000);
        assert_eq!(buffer.room(&unsent(0)).0, 10_000);
        assert_eq!(buffer.room(&unsent(10_000)).0, 0);
        assert!(buffer.is_writeable(&Content { unsent: 9999, ..unsent(20_000) }));
    }
}
