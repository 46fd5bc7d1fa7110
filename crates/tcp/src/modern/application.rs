//! What an application does with an end of a connection, and what it sees of it.
//!
//! ## References
//! RFC 9293 §3.9.1; tcp(7).

use ackclock_core::units::Instant;

use super::endpoint::Endpoint;
use super::handshake::Agreed;
use super::info::{AgreedOptions, EcnBytes, Info};
use super::ranges::Range;
use super::segment::to_position;

impl Endpoint {
    /// The application writes `bytes`.
    pub fn write(&mut self, bytes: u64) {
        self.sender.write(bytes, false, false);
    }

    /// The application writes `bytes`. `more`: it announces more data, for which a small segment waits until the next ACK or timer
    /// (`MSG_MORE`); `record`: they end a record, which no segment joins with later data (`MSG_EOR`).
    pub fn write_part(&mut self, bytes: u64, more: bool, record: bool) {
        self.sender.write(bytes, more, record);
    }

    /// Sets whether the application holds back small segments (`TCP_CORK`).
    pub fn set_cork(&mut self, cork: bool) {
        self.sender.set_cork(cork);
    }

    /// Data that fits a packet of the network device, and the bytes that the windows allow to leave now.
    pub fn room(&self) -> (u64, u64) {
        self.sender.packet_and_room()
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
