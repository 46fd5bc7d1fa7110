//! Data in the SYN.
//!
//! The host decides which SYN carries data and which data is accepted: it has the cookies. A SYN that is sent again carries none.
//!
//! ## References
//! RFC 7413 §4.2.1 (client), §4.2.2 (server).

use ackclock_core::units::Instant;

use super::endpoint::Endpoint;
use super::handshake::Stage;
use super::receiver::Arrival;
use super::segment::{Flags, Segment, to_position};

impl Endpoint {
    /// Lets the first SYN carry `bytes` of the data written.
    pub fn open_with_data(&mut self, bytes: u64) {
        self.handshake.syn_data = bytes;
    }

    /// Lets this end, which waits for the peer, accept the data of the SYN, and send before the peer has acknowledged the SYN-ACK.
    pub fn accept_early(&mut self) {
        self.handshake.early = true;
    }

    /// Whether the first SYN carried data.
    pub fn carried_data(&self) -> bool {
        self.handshake.syn_data > 0
    }

    /// Whether the application may write and read although the peer has not acknowledged the SYN-ACK.
    pub fn is_early(&self) -> bool {
        self.handshake.early && self.handshake.stage == Stage::SynReceived
    }

    /// Whether the data of a SYN was accepted, or that of this end's own SYN acknowledged.
    pub fn took_syn_data(&self) -> bool {
        self.handshake.took_syn_data
    }

    /// The position that a segment without SYN but with this acknowledgement number confirms, if it acknowledges the SYN of this end and
    /// no more than the data that it carried.
    pub(super) fn confirmed(&self, segment: &Segment) -> Option<u64> {
        let position = to_position(segment.ack, self.handshake.iss, 1)?;
        (segment.flags.has(Flags::ACK) && (1..=1 + self.handshake.syn_data).contains(&position)).then_some(position)
    }

    /// Takes the data that arrives with a SYN.
    pub(super) fn take_syn_data(&mut self, now: Instant, segment: &Segment) {
        let fin = segment.flags.has(Flags::FIN);
        let end = 1 + u64::from(segment.payload) + u64::from(fin);
        let arrival =
            Arrival { range: (1, end), fin, push: segment.flags.has(Flags::PSH), size: segment.wire_size(), ecn: segment.ecn, cwr: false };
        self.receiver.receive_with_syn(now, &arrival);
        self.handshake.took_syn_data |= segment.payload > 0;
    }
}
