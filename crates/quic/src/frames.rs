//! What a datagram carries: its frames, read from its bytes, because the handshake protects nothing.
//!
//! ## References
//! RFC 9000 §16 (integers of variable length), §17.3 (short header), §19 (frames); draft-ietf-quic-ack-frequency (two more frames).

use std::collections::BTreeMap;

use ackclock_host::Transmission;

use crate::plaintext::TAG;

/// Length of the connection identifiers of both ends, in bytes.
pub(crate) const CONNECTION_ID: usize = 8;

/// What the frames of a datagram say about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// Acknowledgements, or the end of the connection.
    Answer,
    /// Data, or something else that asks for an acknowledgement.
    Eliciting,
}

/// Reads the frames of a datagram, and calls `stream` with number, offset and length of the data of each stream.
pub(crate) fn read(datagram: &[u8], mut stream: impl FnMut(u64, u64, u64)) -> Content {
    // Packets with a long header belong to the handshake; one of application data may follow them in the datagram.
    let Some(first) = datagram.first().filter(|first| *first & 0x80 == 0) else { return Content::Eliciting };
    let header = 1 + CONNECTION_ID + usize::from(first & 3) + 1;
    let mut rest = Reader(datagram.get(header..datagram.len().saturating_sub(TAG)).unwrap_or_default());
    let mut content = Content::Answer;
    while let Some(frame) = rest.integer() {
        if !matches!(frame, 0x00 | 0x02 | 0x03 | 0x1c | 0x1d) {
            content = Content::Eliciting;
        }
        let whole = match frame {
            // PADDING, PING, HANDSHAKE_DONE, IMMEDIATE_ACK.
            0x00 | 0x01 | 0x1e | 0x1f => Some(()),
            0x02 | 0x03 => rest.ack(frame == 0x03),
            0x06 => rest.integers(1).and_then(|()| rest.bytes()),
            0x07 => rest.bytes(),
            0x08..=0x0f => rest.stream(frame).map(|(number, offset, length)| stream(number, offset, length)),
            0x10 | 0x12..=0x14 | 0x16 | 0x17 | 0x19 => rest.integers(1),
            0x05 | 0x11 | 0x15 => rest.integers(2),
            0x04 => rest.integers(3),
            // NEW_CONNECTION_ID.
            0x18 => rest.integers(2).and_then(|()| rest.skip_short()).and_then(|()| rest.skip(16)),
            // PATH_CHALLENGE, PATH_RESPONSE.
            0x1a | 0x1b => rest.skip(8),
            // ACK_FREQUENCY.
            0xaf => rest.integers(4),
            // The end of the connection, or a frame of an extension, whose length is not known.
            _ => None,
        };
        if whole.is_none() {
            break;
        }
    }
    content
}

/// The stream data that an end has sent.
#[derive(Debug, Default)]
pub(crate) struct SentData {
    /// For each stream: the first byte that was not sent yet.
    ends: BTreeMap<u64, u64>,
    /// Bytes of data sent for the first time, on all streams.
    fresh: u64,
}

impl SentData {
    /// Bytes of stream data that were sent at least once.
    pub(crate) fn fresh(&self) -> u64 {
        self.fresh
    }

    /// The kind of transmission that `datagram` is: a retransmission if it carries stream data that was sent before, an ACK if it asks for
    /// no acknowledgement.
    pub(crate) fn classify(&mut self, datagram: &[u8]) -> Transmission {
        let mut repeats = false;
        let content = read(datagram, |stream, offset, length| {
            let end = self.ends.entry(stream).or_default();
            repeats |= offset < *end && length > 0;
            let fresh = (offset + length).saturating_sub(*end);
            *end += fresh;
            self.fresh += fresh;
        });
        match content {
            _ if repeats => Transmission::Retransmission,
            Content::Eliciting => Transmission::New,
            Content::Answer => Transmission::Ack,
        }
    }
}

/// Reads the fields of frames. A method returns `None` if the payload ends before the field.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn skip(&mut self, bytes: usize) -> Option<()> {
        self.0 = self.0.get(bytes..)?;
        Some(())
    }

    /// An integer of variable length (RFC 9000 §16).
    fn integer(&mut self) -> Option<u64> {
        let first = *self.0.first()?;
        let length = 1 << (first >> 6);
        let bytes = self.0.get(..length)?;
        let number = bytes[1..].iter().fold(u64::from(first & 0x3f), |number, byte| number << 8 | u64::from(*byte));
        self.skip(length)?;
        Some(number)
    }

    fn integers(&mut self, count: u64) -> Option<()> {
        (0..count).try_for_each(|_| self.integer().map(drop))
    }

    /// A length, and as many bytes.
    fn bytes(&mut self) -> Option<()> {
        let length = self.integer()?;
        self.skip(usize::try_from(length).ok()?)
    }

    /// A length of one byte, and as many bytes.
    fn skip_short(&mut self) -> Option<()> {
        let length = usize::from(*self.0.first()?);
        self.skip(1 + length)
    }

    /// RFC 9000 §19.3.
    fn ack(&mut self, counts: bool) -> Option<()> {
        self.integers(2)?;
        let ranges = self.integer()?;
        self.integers(1 + 2 * ranges + if counts { 3 } else { 0 })
    }

    /// Stream, offset and length of a STREAM frame (RFC 9000 §19.8).
    fn stream(&mut self, frame: u64) -> Option<(u64, u64, u64)> {
        let stream = self.integer()?;
        let offset = if frame & 4 != 0 { self.integer()? } else { 0 };
        let length = if frame & 2 != 0 { self.integer()? } else { self.0.len() as u64 };
        self.skip(usize::try_from(length).ok()?)?;
        Some((stream, offset, length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet with a short header and a packet number of one byte.
    fn packet(frames: &[u8]) -> Vec<u8> {
        [&[0x40], &[7; CONNECTION_ID][..], &[9], frames, &[0; TAG]].concat()
    }

    #[test]
    fn integers_are_those_of_rfc_9000() {
        // Appendix A.1 of RFC 9000.
        let cases: [(&[u8], u64); 5] = [
            (&[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c], 151_288_809_941_952_652),
            (&[0x9d, 0x7f, 0x3e, 0x7d], 494_878_333),
            (&[0x7b, 0xbd], 15_293),
            (&[0x25], 37),
            (&[0x40, 0x25], 37),
        ];
        for (bytes, number) in cases {
            assert_eq!(Reader(bytes).integer(), Some(number));
            assert_eq!(Reader(&bytes[..bytes.len() - 1]).integer(), None);
        }
    }

    #[test]
    fn data_that_was_sent_before_is_a_retransmission() {
        let mut sent = SentData::default();
        // STREAM with offset and length: stream 4, offset 0 and 3, 3 bytes; then the last byte again with a new one.
        assert_eq!(sent.classify(&packet(&[0x0e, 4, 0, 3, 1, 2, 3])), Transmission::New);
        assert_eq!(sent.classify(&packet(&[0x0e, 4, 3, 3, 1, 2, 3])), Transmission::New);
        assert_eq!(sent.classify(&packet(&[0x0e, 4, 5, 2, 1, 2])), Transmission::Retransmission);
        assert_eq!(sent.fresh(), 7);
        // Another stream, whose data reaches to the end of the packet.
        assert_eq!(sent.classify(&packet(&[0x08, 8, 1, 2])), Transmission::New);
        assert_eq!(sent.classify(&packet(&[0x08, 8, 1, 2])), Transmission::Retransmission);
        // The end of a stream repeats no data.
        assert_eq!(sent.classify(&packet(&[0x0f, 4, 7, 0])), Transmission::New);
        assert_eq!(sent.classify(&packet(&[0x0f, 4, 7, 0])), Transmission::New);
    }

    #[test]
    fn acks_are_what_asks_for_no_acknowledgement() {
        let mut sent = SentData::default();
        // ACK of two ranges; ACK_ECN; padding before and after.
        assert_eq!(sent.classify(&packet(&[0, 0x02, 9, 1, 1, 2, 0, 3, 0])), Transmission::Ack);
        assert_eq!(sent.classify(&packet(&[0x03, 9, 1, 0, 2, 5, 6, 7])), Transmission::Ack);
        // MAX_DATA, PING, NEW_CONNECTION_ID, PATH_CHALLENGE and ACK_FREQUENCY after an ACK ask for one.
        let identifier = [&[0x18, 1, 0, 8][..], &[1; 8], &[2; 16]].concat();
        for frame in [&[0x10, 1][..], &[0x01], &identifier, &[0x1a, 1, 2, 3, 4, 5, 6, 7, 8], &[0x40, 0xaf, 1, 2, 3, 4]] {
            let frames = [&[0x02, 9, 1, 0, 2], frame].concat();
            assert_eq!(sent.classify(&packet(&frames)), Transmission::New, "{frame:?}");
        }
        // A long header belongs to the handshake.
        assert_eq!(sent.classify(&[0xc0; 1200]), Transmission::New);
    }
}
