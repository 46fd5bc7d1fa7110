//! quinn's traits of cryptography for the handshake in plaintext.

use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;

use bytes::BytesMut;
use quinn_proto::crypto::{
    AeadKey, ClientConfig, CryptoError, ExportKeyingMaterialError, HandshakeTokenKey, HeaderKey, HmacKey, KeyPair, Keys, PacketKey,
    ServerConfig, Session, UnsupportedVersion,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, Side, TransportError};

use crate::cryptography::Cryptography;
use crate::plaintext::{self, Exchange, TAG};

/// All keys and configurations.
#[derive(Debug)]
pub(crate) struct Plaintext;

fn keys() -> Keys {
    Keys {
        header: KeyPair { local: Box::new(Plaintext), remote: Box::new(Plaintext) },
        packet: KeyPair { local: Box::new(Plaintext), remote: Box::new(Plaintext) },
    }
}

fn session(client: bool, parameters: &TransportParameters) -> Box<dyn Session> {
    let mut own = Vec::new();
    parameters.write(&mut own);
    Box::new(Handshake { exchange: Exchange::new(client, own), client })
}

impl Cryptography<dyn ClientConfig, dyn ServerConfig> for Plaintext {
    fn client() -> Arc<dyn ClientConfig> {
        Arc::new(Self)
    }

    fn server() -> Arc<dyn ServerConfig> {
        Arc::new(Self)
    }

    fn unprotected(datagram: &[u8]) -> Cow<'_, [u8]> {
        Cow::Borrowed(datagram)
    }
}

impl ClientConfig for Plaintext {
    fn start_session(self: Arc<Self>, _: u32, _: &str, parameters: &TransportParameters) -> Result<Box<dyn Session>, ConnectError> {
        Ok(session(true, parameters))
    }
}

impl ServerConfig for Plaintext {
    fn initial_keys(&self, _: u32, _: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(keys())
    }

    fn retry_tag(&self, _: u32, _: &ConnectionId, _: &[u8]) -> [u8; 16] {
        [0; 16]
    }

    fn start_session(self: Arc<Self>, _: u32, parameters: &TransportParameters) -> Box<dyn Session> {
        session(false, parameters)
    }
}

/// A handshake.
struct Handshake {
    exchange: Exchange,
    client: bool,
}

impl Session for Handshake {
    fn initial_keys(&self, _: &ConnectionId, _: Side) -> Keys {
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
        self.exchange.is_handshaking()
    }

    fn read_handshake(&mut self, data: &[u8]) -> Result<bool, TransportError> {
        Ok(self.exchange.read(data))
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        let side = if self.client { Side::Client } else { Side::Server };
        Ok(self.exchange.peer().map(|mut peer| TransportParameters::read(side, &mut peer)).transpose()?)
    }

    fn write_handshake(&mut self, buffer: &mut Vec<u8>) -> Option<Keys> {
        self.exchange.write(buffer).then(keys)
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        Some(keys().packet)
    }

    fn is_valid_retry(&self, _: &ConnectionId, _: &[u8], _: &[u8]) -> bool {
        false
    }

    fn export_keying_material(&self, _: &mut [u8], _: &[u8], _: &[u8]) -> Result<(), ExportKeyingMaterialError> {
        Err(ExportKeyingMaterialError)
    }
}

impl PacketKey for Plaintext {
    fn encrypt(&self, _: u64, _: &mut [u8], _: usize) {}

    fn decrypt(&self, _: u64, _: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        let length = payload.len().checked_sub(TAG).ok_or(CryptoError)?;
        payload.truncate(length);
        Ok(())
    }

    fn tag_len(&self) -> usize {
        TAG
    }

    fn confidentiality_limit(&self) -> u64 {
        plaintext::CONFIDENTIALITY
    }

    fn integrity_limit(&self) -> u64 {
        plaintext::INTEGRITY
    }
}

impl HeaderKey for Plaintext {
    fn decrypt(&self, _: usize, _: &mut [u8]) {}

    fn encrypt(&self, _: usize, _: &mut [u8]) {}

    fn sample_size(&self) -> usize {
        plaintext::SAMPLE
    }
}

impl HmacKey for Plaintext {
    fn sign(&self, data: &[u8], signature: &mut [u8]) {
        plaintext::sign(data, signature);
    }

    fn signature_len(&self) -> usize {
        plaintext::SIGNATURE
    }

    fn verify(&self, data: &[u8], signature: &[u8]) -> Result<(), CryptoError> {
        let mut expected = [0; plaintext::SIGNATURE];
        plaintext::sign(data, &mut expected);
        if signature == expected { Ok(()) } else { Err(CryptoError) }
    }
}

impl HandshakeTokenKey for Plaintext {
    fn aead_from_hkdf(&self, _: &[u8]) -> Box<dyn AeadKey> {
        Box::new(Self)
    }
}

impl AeadKey for Plaintext {
    fn seal(&self, data: &mut Vec<u8>, _: &[u8]) -> Result<(), CryptoError> {
        data.extend_from_slice(&[0; TAG]);
        Ok(())
    }

    fn open<'a>(&self, data: &'a mut [u8], _: &[u8]) -> Result<&'a mut [u8], CryptoError> {
        let length = data.len().checked_sub(TAG).ok_or(CryptoError)?;
        Ok(&mut data[..length])
    }
}
