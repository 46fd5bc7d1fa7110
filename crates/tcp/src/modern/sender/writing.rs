//! Writes into a limited send buffer.

use ackclock_core::units::Instant;
use ackclock_host::Limit;

use super::super::blocks::packet;
use super::super::segment::BASE_HEADER;
use super::super::send_buffer::{Content, SendBuffer, WriteFlags};
use super::Sender;

impl Sender {
    /// What lies in the send buffer.
    fn content(&self) -> Content {
        let (una, nxt, written) = (self.window.una().max(1), self.window.nxt().max(1), self.stream.written());
        let sent = if self.blocks.is_some() { self.board.packets() } else { self.board.segments() as u64 };
        let (unsent, full) = (written.saturating_sub(nxt), packet(self.window.largest(), self.seat.smss()));
        let (waiting, tail) = match &self.blocks {
            Some(blocks) => (blocks.packets() as u64, blocks.tail(nxt).filter(|_| !blocks.ends_record())),
            None => (unsent.div_ceil(full), Some(unsent % full).filter(|tail| *tail > 0)),
        };
        Content { bytes: written.saturating_sub(una), unsent, packets: sent + waiting, tail: tail.unwrap_or(0), full }
    }

    /// Segments for which the send buffer should have room: the window in force, or more if segments arrive far out of order.
    pub(super) fn room_wanted(&self) -> u64 {
        (self.cwnd() / self.seat.unit()).max(u64::from(self.rack.extent()) + 1)
    }

    /// Segment size that the peer announces.
    pub(super) fn mss(&self) -> u64 {
        self.seat.smss() + self.header - u64::from(BASE_HEADER)
    }

    /// The send buffer, if it is limited.
    pub(in super::super) fn buffer(&mut self) -> Option<&mut SendBuffer> {
        self.buffer.as_deref_mut()
    }

    /// Whether the send buffer has enough room for an application that waits for it.
    pub(in super::super) fn is_writeable(&self) -> bool {
        self.buffer.as_ref().is_none_or(|buffer| buffer.is_writeable(&self.content()))
    }

    /// Whether the application waits for room.
    pub(in super::super) fn waits_for_room(&self) -> bool {
        self.buffer.as_ref().is_some_and(|buffer| buffer.is_waiting())
    }

    /// Size of the send buffer, if it is limited.
    pub(in super::super) fn buffer_size(&self) -> Option<u64> {
        self.buffer.as_ref().map(|buffer| buffer.size())
    }

    /// Nothing can be sent now: whether the send buffer has enough room for another write. Otherwise it limits a sender that has sent all.
    pub(in super::super) fn finds_room(&mut self, now: Instant) -> bool {
        let writeable = self.look_for_room();
        if !writeable && self.unsent() == 0 && self.pipe() < self.cwnd() {
            self.limits.note(now, Limit::SendBuffer);
        }
        writeable
    }

    /// New data has left: after a block, the send buffer may grow for an application that waits for room.
    pub(super) fn make_room(&mut self) {
        let completes = self.blocks.as_ref().is_none_or(|blocks| blocks.is_complete());
        if let Some(buffer) = self.buffer.as_mut().filter(|buffer| completes && buffer.is_waiting()) {
            buffer.acknowledge();
            self.look_for_room();
        }
    }

    /// Whether the send buffer has enough room for another write, after it has grown if it may.
    fn look_for_room(&mut self) -> bool {
        let Some(mut buffer) = self.buffer.take() else { return true };
        if buffer.may_grow() && self.pipe() < self.cwnd() {
            buffer.grow(self.room_wanted(), self.mss());
        }
        let writeable = buffer.look_for_room(&self.content());
        self.buffer = Some(buffer);
        writeable
    }

    /// Whether a block of the packet that the application fills has left, and its write continues.
    pub(in super::super) fn continues_write(&self) -> bool {
        self.blocks.as_ref().is_some_and(|blocks| blocks.continues_write())
    }

    /// The application writes up to `most` bytes, at most as many as fill a packet; `first`: it begins a write. Returns how many.
    pub(in super::super) fn write_packet(&mut self, most: u64, first: bool, flags: WriteFlags) -> u64 {
        let content = self.content();
        let Some(buffer) = &mut self.buffer else { return 0 };
        let (room, begins) = buffer.room(&content);
        let bytes = room.min(most);
        let last = bytes == most;
        let (more, record) = (flags.more && last, flags.record && last);
        self.stream.write(bytes);
        self.hold.write(more);
        self.hold.fill(!last);
        self.wake();
        if record {
            self.stream.end_record();
        }
        if let Some(blocks) = &mut self.blocks {
            let end = self.stream.written();
            if bytes > 0 {
                blocks.write_packet(end, begins, (first, last), self.window.largest());
            } else {
                blocks.end_write();
            }
            if more {
                blocks.unmark(end);
            }
            if record {
                blocks.end_record();
            }
        }
        self.supply_first_flight();
        bytes
    }
}
