//! What an application does with an end of a connection, and what it sees of it.
//!
//! ## References
//! RFC 9293 §3.9.1; tcp(7).

use ackclock_core::units::Instant;

use super::endpoint::Endpoint;
use super::handshake::Agreed;
use super::info::{AgreedOptions, EcnBytes, Info};
use super::segment::{Segment, to_position};
use super::send_buffer::WriteFlags;
use crate::ranges::Range;

impl Endpoint {
    /// The application writes `bytes`.
    pub fn write(&mut self, bytes: u64) {
        self.sender.write(bytes);
    }

    /// The application writes up to `bytes` into a limited send buffer; returns how many. Before each further packet, all segments leave that
    /// the windows allow; `sent` gets them.
    pub fn write_into_buffer(&mut self, now: Instant, bytes: u64, flags: WriteFlags, sent: &mut impl Extend<Segment>) -> u64 {
        let mut taken = 0;
        while taken < bytes {
            let part = self.sender.write_packet(bytes - taken, taken == 0, flags);
            taken += part;
            if part == 0 {
                break;
            }
            while taken < bytes
                && self.is_sending()
                && !self.continues_write()
                && let Some(segment) = self.poll_transmit(now)
            {
                sent.extend([segment]);
            }
        }
        taken
    }

    /// Whether data may leave.
    fn is_sending(&self) -> bool {
        self.is_established() || self.is_early()
    }

    /// Whether the send buffer has enough room for an application that waits for it (`POLLOUT`).
    pub fn is_writeable(&self) -> bool {
        self.sender.is_writeable()
    }

    /// Nothing can be sent now: whether the send buffer has enough room for another write. Otherwise the application waits for room.
    pub fn finds_room(&mut self, now: Instant) -> bool {
        self.sender.finds_room(now)
    }

    /// Whether the application waits for room in the send buffer.
    pub fn waits_for_room(&self) -> bool {
        self.sender.waits_for_room()
    }

    /// Size of the send buffer, if it is limited.
    pub fn send_buffer(&self) -> Option<u64> {
        self.sender.buffer_size()
    }

    /// Sets the size of a limited send buffer, which Linux doubles (`SO_SNDBUF`).
    pub fn fix_send_buffer(&mut self, bytes: u64) {
        if let Some(buffer) = self.sender.buffer() {
            buffer.fix(bytes);
        }
    }

    /// No further packet begins in a limited send buffer unless fewer than `most` bytes are unsent (`TCP_NOTSENT_LOWAT`).
    pub fn limit_unsent(&mut self, most: u64) {
        if let Some(buffer) = self.sender.buffer() {
            buffer.limit_unsent(most);
        }
    }

    /// Sets whether the application holds back small segments (`TCP_CORK`).
    pub fn set_cork(&mut self, cork: bool) {
        self.sender.set_cork(cork);
    }

    /// Whether only the peer's window holds back the data.
    pub fn waits_for_window(&self) -> bool {
        self.sender.waits_for_window()
    }

    /// Sets whether a small segment waits while another small one is outstanding (Nagle's algorithm; `TCP_NODELAY` turns it off).
    pub fn set_nagle(&mut self, nagle: bool) {
        self.sender.set_nagle(nagle);
    }

    /// The application closes the stream.
    pub fn close(&mut self) {
        self.sender.close();
    }

    /// Bytes available to the application.
    pub fn readable(&self) -> u64 {
        self.receiver.readable()
    }

    /// The application reads up to `most` bytes. Returns their range in the stream, whose first byte has position 1.
    /// [`Endpoint::poll_transmit`] may then return a window update.
    pub fn read(&mut self, now: Instant, most: u64) -> Range {
        self.acknowledge_before_application(now);
        self.receiver.read(now, most)
    }

    /// Bytes written and not yet sent.
    pub fn unsent(&self) -> u64 {
        self.sender.unsent()
    }

    /// Bytes sent and not yet acknowledged, including a FIN.
    pub fn unacknowledged(&self) -> u64 {
        let window = self.sender.window();
        window.nxt() - window.una()
    }

    /// Next position of the stream to send; the first byte has position 1.
    pub fn stream_position(&self) -> u64 {
        self.sender.window().nxt().max(1)
    }

    /// Largest payload that the end sends.
    pub fn smss(&self) -> u16 {
        self.handshake.agreed.smss
    }

    /// The state of the connection as Linux shows it to an application (`TCP_INFO`).
    pub fn info(&self, now: Instant) -> Info {
        let info = self.sender.info(now);
        let (received_ce, received) = self.receiver.echo.arrived();
        Info {
            total_retrans: info.total_retrans + self.handshake.lost_syns(),
            bytes_received: self.receiver.rcv_nxt().saturating_sub(1 + u64::from(self.receiver.is_finished())),
            snd_wscale: self.handshake.agreed.peer_scale,
            rcv_mss: self.receiver.segment() as u32,
            advmss: u32::from(self.mss),
            agreed: self.agreed_options(),
            received_bytes: EcnBytes::of(received),
            received_ce,
            rcv_wscale: self.receiver.window.scale(),
            ..info
        }
    }

    fn agreed_options(&self) -> AgreedOptions {
        let Agreed { timestamps, sack, scaling, ecn, .. } = self.handshake.agreed;
        AgreedOptions { timestamps, sack, scaling, ecn: ecn.is_some(), syn_data: self.took_syn_data() }
    }

    /// Sends a segment that causes an ACK: that of a window probe (RFC 9293 §3.8.4).
    pub fn probe(&mut self) {
        self.sender.probe();
    }

    /// Whether the number `seq` is sent and not acknowledged, as a message about a segment must quote (RFC 5927 §4).
    pub fn is_outstanding(&self, seq: u32) -> bool {
        let window = self.sender.window();
        let position = to_position(seq, self.handshake.iss, window.una());
        position.is_some_and(|position| window.una() <= position && position <= window.nxt())
    }

    /// Whether the peer's FIN and all data before it have arrived.
    pub fn has_heard_fin(&self) -> bool {
        self.receiver.is_finished()
    }
}
