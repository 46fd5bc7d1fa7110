//! TLS without authorities: the server makes a certificate, and the client trusts anyone. Only for experiments.

use std::error::Error;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, ServerConfig, SignatureScheme, version};

/// The name of the protocol (ALPN).
const PROTOCOL: &[u8] = b"ackclock-transfer";
/// The name of the server.
pub(crate) const NAME: &str = "transfer";

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

pub(crate) fn server() -> Result<ServerConfig, Box<dyn Error>> {
    let made = rcgen::generate_simple_self_signed(vec![NAME.to_owned()])?;
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let builder = ServerConfig::builder_with_provider(provider()).with_protocol_versions(&[&version::TLS13])?;
    let mut config = builder.with_no_client_auth().with_single_cert(vec![made.cert.into()], key.into())?;
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    Ok(config)
}

pub(crate) fn client() -> Result<ClientConfig, Box<dyn Error>> {
    let builder = ClientConfig::builder_with_provider(provider()).with_protocol_versions(&[&version::TLS13])?;
    let anyone = Anyone(provider().signature_verification_algorithms);
    let mut config = builder.dangerous().with_custom_certificate_verifier(Arc::new(anyone)).with_no_client_auth();
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    Ok(config)
}

/// Accepts every certificate.
#[derive(Debug)]
struct Anyone(WebPkiSupportedAlgorithms);

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _certificate: &CertificateDer<'_>,
        _others: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.0)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.0)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
    }
}
