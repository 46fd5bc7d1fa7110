//! What the tests of both stacks share: what a transfer comes to.

use std::time::Duration;

/// What a transfer has come to.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Outcome {
    /// When the client had all.
    pub(crate) time: Duration,
    /// Packets that the server has sent, and those that counted as lost.
    pub(crate) sent: u64,
    pub(crate) lost: u64,
    /// Datagrams that found the queue full.
    pub(crate) dropped: u64,
    /// Of all datagrams with their times.
    pub(crate) digest: Digest,
}

/// A digest of the datagrams of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Digest(u64);

impl Digest {
    pub(crate) fn add(&mut self, now: Duration, bytes: &[u8]) {
        for byte in now.as_nanos().to_be_bytes().iter().chain(bytes) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
}
