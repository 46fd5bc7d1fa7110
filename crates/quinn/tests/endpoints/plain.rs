//! A session without secrets: both sides exchange transport parameters, and packets stay readable. What is random elsewhere is counted here, so
//! that every run sends the same bytes.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::BytesMut;
use quinn_proto::crypto::{
    AeadKey, ClientConfig, CryptoError, ExportKeyingMaterialError, HandshakeTokenKey, HeaderKey, HmacKey, KeyPair, Keys, PacketKey,
    ServerConfig, Session, UnsupportedVersion,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, ConnectionIdGenerator, Side, TimeSource, TransportError};

const TAG: usize = 16;

/// Keys that hide nothing, and everything else that wants a secret.
pub(crate) struct Plain;

impl PacketKey for Plain {
    fn encrypt(&self, _packet: u64, _buf: &mut [u8], _header: usize) {}
    fn decrypt(&self, _packet: u64, _header: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        let length = payload.len().checked_sub(TAG).ok_or(CryptoError)?;
        payload.truncate(length);
        Ok(())
    }
    fn tag_len(&self) -> usize {
        TAG
    }
    fn confidentiality_limit(&self) -> u64 {
        u64::MAX
    }
    fn integrity_limit(&self) -> u64 {
        u64::MAX
    }
}

impl HeaderKey for Plain {
    fn decrypt(&self, _offset: usize, _packet: &mut [u8]) {}
    fn encrypt(&self, _offset: usize, _packet: &mut [u8]) {}
    fn sample_size(&self) -> usize {
        TAG
    }
}

impl HmacKey for Plain {
    fn sign(&self, data: &[u8], out: &mut [u8]) {
        out.fill(data.iter().fold(0, |sum: u8, byte| sum.wrapping_mul(31).wrapping_add(*byte)));
    }
    fn signature_len(&self) -> usize {
        32
    }
    fn verify(&self, _data: &[u8], _signature: &[u8]) -> Result<(), CryptoError> {
        Ok(())
    }
}

impl HandshakeTokenKey for Plain {
    fn aead_from_hkdf(&self, _random: &[u8]) -> Box<dyn AeadKey> {
        Box::new(Plain)
    }
}

impl AeadKey for Plain {
    fn seal(&self, _data: &mut Vec<u8>, _additional: &[u8]) -> Result<(), CryptoError> {
        Ok(())
    }
    fn open<'a>(&self, data: &'a mut [u8], _additional: &[u8]) -> Result<&'a mut [u8], CryptoError> {
        Ok(data)
    }
}

impl TimeSource for Plain {
    fn now(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_000_000_000)
    }
}

fn pair<T: ?Sized>(make: impl Fn() -> Box<T>) -> KeyPair<Box<T>> {
    KeyPair { local: make(), remote: make() }
}

fn keys() -> Keys {
    Keys { header: pair(|| Box::new(Plain) as Box<dyn HeaderKey>), packet: pair(|| Box::new(Plain) as Box<dyn PacketKey>) }
}

/// One side. Each sends its parameters: the client in the first flight, the server in its own of the handshake, which the client confirms with
/// a byte.
struct Handshake {
    side: Side,
    own: TransportParameters,
    peer: Option<TransportParameters>,
    read: Vec<u8>,
    /// Flights written: in the initial and in the handshake space.
    written: u8,
    confirmed: bool,
}

impl Handshake {
    fn new(side: Side, own: &TransportParameters) -> Self {
        Self { side, own: *own, peer: None, read: Vec::new(), written: 0, confirmed: false }
    }

    fn write_own(&self, buf: &mut Vec<u8>) {
        let mut own = Vec::new();
        self.own.write(&mut own);
        buf.extend((own.len() as u16).to_be_bytes());
        buf.extend(own);
    }
}

impl Session for Handshake {
    fn initial_keys(&self, _cid: &ConnectionId, _side: Side) -> Keys {
        keys()
    }
    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        None
    }
    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }
    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        None
    }
    fn early_data_accepted(&self) -> Option<bool> {
        None
    }
    fn is_handshaking(&self) -> bool {
        !self.confirmed
    }
    fn read_handshake(&mut self, buf: &[u8]) -> Result<bool, TransportError> {
        self.read.extend(buf);
        if self.peer.is_none()
            && let Some((length, rest)) = self.read.split_first_chunk()
        {
            let length = usize::from(u16::from_be_bytes(*length));
            if let Some(mut parameters) = rest.get(..length) {
                let peer = TransportParameters::read(self.side, &mut parameters);
                self.peer = Some(peer.expect("both ends write parameters that the other reads"));
                self.read.drain(..2 + length);
                return Ok(true);
            }
        } else if self.side.is_server() && !self.read.is_empty() {
            self.confirmed = true;
        }
        Ok(false)
    }
    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        Ok(self.peer)
    }
    fn write_handshake(&mut self, buf: &mut Vec<u8>) -> Option<Keys> {
        let step = (self.side, self.written, self.peer.is_some());
        match step {
            // The client's parameters, in the initial space.
            (Side::Client, 0, _) => {
                self.written = 1;
                self.write_own(buf);
                None
            }
            // The server's first flight is one byte, which brings the client's keys for the handshake.
            (Side::Server, 0, true) => {
                self.written = 1;
                self.write_own(buf);
                Some(keys())
            }
            (Side::Client, 1, true) => {
                self.written = 2;
                Some(keys())
            }
            (Side::Client, 2, _) => {
                (self.written, self.confirmed) = (3, true);
                buf.push(1);
                Some(keys())
            }
            (Side::Server, 1, _) => {
                self.written = 2;
                buf.push(1);
                Some(keys())
            }
            _ => None,
        }
    }
    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        Some(pair(|| Box::new(Plain) as Box<dyn PacketKey>))
    }
    fn is_valid_retry(&self, _cid: &ConnectionId, _header: &[u8], _payload: &[u8]) -> bool {
        true
    }
    fn export_keying_material(&self, output: &mut [u8], _label: &[u8], _context: &[u8]) -> Result<(), ExportKeyingMaterialError> {
        output.fill(0);
        Ok(())
    }
}

impl ClientConfig for Plain {
    fn start_session(self: Arc<Self>, _version: u32, _name: &str, own: &TransportParameters) -> Result<Box<dyn Session>, ConnectError> {
        Ok(Box::new(Handshake::new(Side::Client, own)))
    }
}

impl ServerConfig for Plain {
    fn initial_keys(&self, _version: u32, _cid: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(keys())
    }
    fn retry_tag(&self, _version: u32, _cid: &ConnectionId, _packet: &[u8]) -> [u8; 16] {
        [0; 16]
    }
    fn start_session(self: Arc<Self>, _version: u32, own: &TransportParameters) -> Box<dyn Session> {
        Box::new(Handshake::new(Side::Server, own))
    }
}

/// Connection identifiers that count.
#[derive(Clone)]
pub(crate) struct Counted(pub(crate) u8, pub(crate) Arc<AtomicU64>);

impl ConnectionIdGenerator for Counted {
    fn generate_cid(&mut self) -> ConnectionId {
        let number = self.1.fetch_add(1, Ordering::Relaxed);
        ConnectionId::new(&[&[self.0], &number.to_be_bytes()[1..]].concat())
    }
    fn cid_len(&self) -> usize {
        8
    }
    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}
