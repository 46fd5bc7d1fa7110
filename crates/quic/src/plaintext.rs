//! A handshake without cryptography: the messages of TLS 1.3 in their order, with the transport parameters and nothing else.
//!
//! Times and sizes of all packets are those with TLS 1.3 (`tests/tls.rs`), if the server's certificates fit into its first datagram: packets
//! have a tag of 16 bytes that says nothing, and a processor's time for cryptography is not simulated.
//!
//! ## References
//! RFC 9001 §4.1 (which message travels in which packet number space); RFC 8446 §2 (the messages).

/// Length of the tag of `AEAD_AES_128_GCM` (RFC 9001 §5.3).
pub(crate) const TAG: usize = 16;
/// Bytes of a packet that protect its header (RFC 9001 §5.4.2).
pub(crate) const SAMPLE: usize = 16;
/// Limits of `AEAD_AES_128_GCM` (RFC 9001 §6.6).
pub(crate) const CONFIDENTIALITY: u64 = 1 << 23;
/// See [`CONFIDENTIALITY`].
pub(crate) const INTEGRITY: u64 = 1 << 52;

/// Length of a signature, from which tokens of stateless resets are made.
pub(crate) const SIGNATURE: usize = 32;

/// Signs `data`, without a secret.
pub(crate) fn sign(data: &[u8], signature: &mut [u8]) {
    for (index, byte) in signature.iter_mut().enumerate() {
        *byte = data.get(index % data.len().max(1)).copied().unwrap_or_default() ^ index as u8;
    }
}

/// Length of the client's last message after its two bytes of length. Together they are as long as the Finished of TLS with SHA-256 (RFC 8446
/// §4.4.4), which takes its place from data in the same datagram. All others travel in datagrams that are padded (RFC 9000 §14.1).
const FINISHED: usize = 34;

/// What an end does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The client sends its hello.
    Start,
    /// An end waits for the hello of the peer.
    Hello,
    /// The hello of the peer has arrived: the server answers it, and handshake keys are ready.
    Keys,
    /// The server sends its parameters; the client waits for them.
    Parameters,
    /// The parameters have arrived: the client finishes. The server waits for that.
    Finish,
    /// The handshake is over.
    Done,
}

/// One end's handshake.
#[derive(Debug)]
pub(crate) struct Exchange {
    client: bool,
    step: Step,
    /// The own transport parameters, as bytes.
    own: Vec<u8>,
    /// Those of the peer.
    peer: Option<Vec<u8>>,
    /// Handshake data that is not a whole message yet.
    received: Vec<u8>,
}

impl Exchange {
    /// The handshake of an end with these transport parameters.
    pub(crate) fn new(client: bool, own: Vec<u8>) -> Self {
        Self { client, step: if client { Step::Start } else { Step::Hello }, own, peer: None, received: Vec::new() }
    }

    /// Whether the handshake goes on.
    pub(crate) fn is_handshaking(&self) -> bool {
        self.step != Step::Done
    }

    /// The transport parameters of the peer, once they have arrived.
    pub(crate) fn peer(&self) -> Option<&[u8]> {
        self.peer.as_deref()
    }

    /// Reads handshake data; returns whether the peer's parameters have arrived with it.
    pub(crate) fn read(&mut self, data: &[u8]) -> bool {
        self.received.extend_from_slice(data);
        let before = self.peer.is_some();
        while let Some((length, rest)) = self.received.split_first_chunk::<2>() {
            let length = usize::from(u16::from_be_bytes(*length));
            if rest.len() < length {
                break;
            }
            let message: Vec<u8> = self.received.drain(..2 + length).skip(2).collect();
            match (self.client, self.step) {
                (false, Step::Hello) => (self.step, self.peer) = (Step::Keys, Some(message)),
                (true, Step::Hello) => self.step = Step::Keys,
                (true, Step::Parameters) => (self.step, self.peer) = (Step::Finish, Some(message)),
                (false, Step::Finish) => self.step = Step::Done,
                // A message that comes twice says nothing new.
                _ => {}
            }
        }
        !before && self.peer.is_some()
    }

    /// Writes the next message, if one is due; returns whether keys of the next packet number space are ready.
    pub(crate) fn write(&mut self, buffer: &mut Vec<u8>) -> bool {
        let (message, next, keys): (Option<&[u8]>, Step, bool) = match (self.client, self.step) {
            (true, Step::Start) => (Some(&self.own), Step::Hello, false),
            (true, Step::Keys) => (None, Step::Parameters, true),
            (true, Step::Finish) => (Some(&[0; FINISHED]), Step::Done, true),
            (false, Step::Keys) => (Some(&[]), Step::Parameters, true),
            (false, Step::Parameters) => (Some(&self.own), Step::Finish, true),
            _ => return false,
        };
        if let Some(message) = message {
            let length = u16::try_from(message.len()).expect("transport parameters are short");
            buffer.extend_from_slice(&length.to_be_bytes());
            buffer.extend_from_slice(message);
        }
        self.step = next;
        keys
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What an end writes, and whether keys are ready with it.
    fn written(end: &mut Exchange) -> (Vec<u8>, bool) {
        let mut buffer = Vec::new();
        let keys = end.write(&mut buffer);
        (buffer, keys)
    }

    #[test]
    fn the_messages_follow_the_order_of_tls() {
        let (mut client, mut server) = (Exchange::new(true, b"client".to_vec()), Exchange::new(false, b"server".to_vec()));
        assert_eq!(written(&mut server), (vec![], false), "the client speaks first");
        let (hello, keys) = written(&mut client);
        assert!(!keys && written(&mut client) == (vec![], false), "a hello leaves once");
        // Handshake data may arrive in parts.
        assert!(!server.read(&hello[..3]) && server.read(&hello[3..]));
        assert_eq!(server.peer(), Some(&b"client"[..]));
        let (answer, keys) = written(&mut server);
        assert!(keys, "handshake keys");
        let (parameters, keys) = written(&mut server);
        assert!(keys && server.is_handshaking(), "1-RTT keys come before the client has finished (RFC 9001 section 4.1.2)");
        assert!(!client.read(&answer));
        assert_eq!(written(&mut client), (vec![], true), "handshake keys");
        assert!(client.read(&parameters) && client.peer() == Some(b"server"));
        let (finished, keys) = written(&mut client);
        assert!(keys && !client.is_handshaking());
        assert!(!server.read(&finished) && !server.is_handshaking());
    }
}
