//! The handshake in plaintext changes no run: with TLS 1.3, every packet has the same size and time.
//!
//! rustls does the handshake and protects all packets, with ring, whose keys are new in each run. The certificate is one of Ed25519, whose
//! signatures all have 64 bytes. A ledger knows what each packet was before it was protected, by its tag, because a profile looks into the frames
//! of what it sends.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use ackclock_core::entry::{Description, Entry};
use ackclock_host::{Profile, Profiles};
use ackclock_quic::Cryptography;
use ackclock_quic::profile::{quic, quinn};
use ackclock_sim::engine::{RunResult, run};
use ackclock_sim::scenario::{Document, PROFILES};
use rustls::crypto::cipher::{AeadKey, Iv};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, UnixTime};
use rustls::quic::{Algorithm, HeaderProtectionKey, PacketKey, Tag};
use rustls::time_provider::TimeProvider;
use rustls::{CipherSuiteCommon, ClientConfig, Error, RootCertStore, ServerConfig, SupportedCipherSuite, Tls13CipherSuite};

/// Bytes of a tag of `TLS_AES_128_GCM_SHA256`.
const TAG: usize = 16;

thread_local! {
    /// Packets before they were protected, by their tags.
    static LEDGER: RefCell<BTreeMap<[u8; TAG], Vec<u8>>> = const { RefCell::new(BTreeMap::new()) };
}

/// `TLS_AES_128_GCM_SHA256`, whose packets the ledger notes.
static SUITE: LazyLock<Tls13CipherSuite> = LazyLock::new(|| {
    let SupportedCipherSuite::Tls13(suite) = ring::cipher_suite::TLS13_AES_128_GCM_SHA256;
    let CipherSuiteCommon { suite: name, hash_provider, confidentiality_limit } = suite.common;
    Tls13CipherSuite {
        common: CipherSuiteCommon { suite: name, hash_provider, confidentiality_limit },
        hkdf_provider: suite.hkdf_provider,
        aead_alg: suite.aead_alg,
        quic: Some(Box::leak(Box::new(Noted(suite.quic.expect("the suite protects packets of QUIC"))))),
    }
});

struct Noted(&'static dyn Algorithm);

impl Algorithm for Noted {
    fn packet_key(&self, key: AeadKey, iv: Iv) -> Box<dyn PacketKey> {
        Box::new(NotedKey(self.0.packet_key(key, iv)))
    }

    fn header_protection_key(&self, key: AeadKey) -> Box<dyn HeaderProtectionKey> {
        self.0.header_protection_key(key)
    }

    fn aead_key_len(&self) -> usize {
        self.0.aead_key_len()
    }
}

struct NotedKey(Box<dyn PacketKey>);

impl NotedKey {
    fn note(header: &[u8], payload: &mut [u8], protect: impl FnOnce(&mut [u8]) -> Result<Tag, Error>) -> Result<Tag, Error> {
        let clear = [header, &*payload].concat();
        let tag = protect(payload)?;
        assert!(!clear.ends_with(payload), "a protected packet is another");
        let number: [u8; TAG] = tag.as_ref().try_into().expect("a tag of 16 bytes");
        LEDGER.with_borrow_mut(|ledger| ledger.insert(number, [clear, number.to_vec()].concat()));
        Ok(tag)
    }
}

impl PacketKey for NotedKey {
    fn encrypt_in_place(&self, number: u64, header: &[u8], payload: &mut [u8]) -> Result<Tag, Error> {
        Self::note(header, payload, |payload| self.0.encrypt_in_place(number, header, payload))
    }

    fn encrypt_in_place_for_path(&self, path: u32, number: u64, header: &[u8], payload: &mut [u8]) -> Result<Tag, Error> {
        Self::note(header, payload, |payload| self.0.encrypt_in_place_for_path(path, number, header, payload))
    }

    fn decrypt_in_place<'a>(&self, number: u64, header: &[u8], payload: &'a mut [u8]) -> Result<&'a [u8], Error> {
        self.0.decrypt_in_place(number, header, payload)
    }

    fn decrypt_in_place_for_path<'a>(&self, path: u32, number: u64, header: &[u8], payload: &'a mut [u8]) -> Result<&'a [u8], Error> {
        self.0.decrypt_in_place_for_path(path, number, header, payload)
    }

    fn tag_len(&self) -> usize {
        self.0.tag_len()
    }

    fn confidentiality_limit(&self) -> u64 {
        self.0.confidentiality_limit()
    }

    fn integrity_limit(&self) -> u64 {
        self.0.integrity_limit()
    }
}

/// In 2030, when the certificate is valid.
#[derive(Debug)]
struct Epoch;

impl TimeProvider for Epoch {
    fn current_time(&self) -> Option<UnixTime> {
        Some(UnixTime::since_unix_epoch(Duration::from_secs(60 * 365 * 86_400)))
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(CryptoProvider { cipher_suites: vec![SupportedCipherSuite::Tls13(&SUITE)], ..ring::default_provider() })
}

/// The certificate of `server`, valid from 2026 to 2126, which has signed itself. Its key is no secret: the bytes 0 to 31.
fn certificate() -> CertificateDer<'static> {
    CertificateDer::from(&include_bytes!("tls/certificate.der")[..])
}

fn client() -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add(certificate()).expect("a certificate");
    let builder = ClientConfig::builder_with_details(provider(), Arc::new(Epoch)).with_protocol_versions(&[&rustls::version::TLS13]);
    builder.expect("a suite of TLS 1.3").with_root_certificates(roots).with_no_client_auth()
}

fn server() -> ServerConfig {
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(&include_bytes!("tls/key.der")[..]));
    let builder = ServerConfig::builder_with_details(provider(), Arc::new(Epoch)).with_protocol_versions(&[&rustls::version::TLS13]);
    let mut config =
        builder.expect("a suite of TLS 1.3").with_no_client_auth().with_single_cert(vec![certificate()], key).expect("its key");
    // A ticket would be one more frame after the handshake.
    config.send_tls13_tickets = 0;
    config
}

/// TLS 1.3.
struct Tls;

fn unprotected(datagram: &[u8]) -> Cow<'_, [u8]> {
    let Some((_, tag)) = datagram.split_last_chunk::<TAG>() else { return Cow::Borrowed(datagram) };
    // With a long header, the first packet is of the handshake, and the tag that of the last one.
    if datagram[0] & 0x80 != 0 {
        return Cow::Borrowed(datagram);
    }
    LEDGER.with_borrow(|ledger| ledger.get(tag).map_or(Cow::Borrowed(datagram), |clear| Cow::Owned(clear.clone())))
}

impl Cryptography<dyn noq_proto::crypto::ClientConfig, dyn noq_proto::crypto::ServerConfig> for Tls {
    fn client() -> Arc<dyn noq_proto::crypto::ClientConfig> {
        Arc::new(noq_proto::crypto::rustls::QuicClientConfig::try_from(client()).expect("a suite for the first packets"))
    }

    fn server() -> Arc<dyn noq_proto::crypto::ServerConfig> {
        Arc::new(noq_proto::crypto::rustls::QuicServerConfig::try_from(server()).expect("a suite for the first packets"))
    }

    fn unprotected(datagram: &[u8]) -> Cow<'_, [u8]> {
        unprotected(datagram)
    }
}

impl Cryptography<dyn quinn_proto::crypto::ClientConfig, dyn quinn_proto::crypto::ServerConfig> for Tls {
    fn client() -> Arc<dyn quinn_proto::crypto::ClientConfig> {
        Arc::new(quinn_proto::crypto::rustls::QuicClientConfig::try_from(client()).expect("a suite for the first packets"))
    }

    fn server() -> Arc<dyn quinn_proto::crypto::ServerConfig> {
        Arc::new(quinn_proto::crypto::rustls::QuicServerConfig::try_from(server()).expect("a suite for the first packets"))
    }

    fn unprotected(datagram: &[u8]) -> Cow<'_, [u8]> {
        unprotected(datagram)
    }
}

static QUIC: Entry<Profile> = Entry { name: "quic_tls", build: |params| Ok(Box::new(quic::with::<Tls>(params))), ..quic::ENTRY };
static QUINN: Entry<Profile> = Entry { name: "quinn_tls", build: |params| Ok(Box::new(quinn::with::<Tls>(params))), ..quinn::ENTRY };
static DESCRIPTIONS: [Description; 2] = [QUIC.describe(include_str!("tls.rs")), QUINN.describe(include_str!("tls.rs"))];

/// The profiles with TLS.
const WITH_TLS: Profiles = Profiles { entries: &[&QUIC, &QUINN], descriptions: &DESCRIPTIONS };
/// The profiles in plaintext, and the same with TLS.
const STACKS: [(&str, &str); 2] = [("quic", "quic_tls"), ("quinn", "quinn_tls")];

/// A flow, and the bottleneck of 10 Mbit/s.
const CASES: [(&str, &str); 10] = [
    ("size = '3 MB'\navoidance = 'cubic'", "delay = '20 ms', queue = '50 packets'"),
    ("size = '3 MB'\navoidance = 'reno'", "delay = '20 ms', queue = '50 packets', loss = '1 %', reverse = { loss = '1 %' }"),
    ("size = '100 packets'\navoidance = 'reno'", "delay = '20 ms', queue = '50 packets', loss = '30 %', reverse = { loss = '30 %' }"),
    ("size = '3 MB'\ncongestion_control = 'bbr'\necn = true", "delay = '20 ms', queue = { kind = 'codel', ecn = true }"),
    ("size = '3 MB'\navoidance = 'prague'\necn = true", "delay = '20 ms', queue = { kind = 'bernoulli', mark_probability = '1 %' }"),
    (
        "size = '3 MB'\nslow_start = 'search'\npacket_size = '1400 B'",
        "queue = '20 packets', delay = { kind = 'reordering', delay = '20 ms', share = '1 %', chosen = 'late', extra = '10 ms' }",
    ),
    ("application = { kind = 'request-response', request = '300 B', response = '30 kB' }", "delay = '20 ms', queue = '50 packets'"),
    ("application = { kind = 'on-off', burst = '100 kB', pause = '700 ms' }", "delay = '20 ms', queue = '20 packets'"),
    ("application = { kind = 'web', root = '20 kB', objects = 8, object = '10 kB' }", "delay = '20 ms', queue = '9 packets', loss = '1 %'"),
    (
        "application = { kind = 'web', root = '20 kB', objects = 8, object = '10 kB', multiplexed = true }",
        "delay = '20 ms', queue = '9 packets', loss = '1 %'",
    ),
];

/// A run with all packets that the sender has sent and received; `settings`: of the stack. The trace of bytes in flight is left out, because a
/// server counts those of its handshake's packets, which are shorter in plaintext than their padded datagrams.
fn simulate(profile: &str, settings: &str, (flow, bottleneck): (&str, &str)) -> RunResult {
    PROFILES.join(ackclock_quic::PROFILES).unwrap();
    PROFILES.join(WITH_TLS).unwrap();
    let text = format!(
        "duration = '20 s'\nrecord = ['sequence', 'cwnd', 'delivered', 'lost', 'queue']\n[topology]\nkind = 'dumbbell'\n\
         access = {{ rate = '10 Gbit/s', delay = '0 s' }}\nbottleneck = {{ rate = '10 Mbit/s', {bottleneck} }}\n\
         [[flow]]\n{flow}\nprofile = {{ kind = '{profile}', control = 'flow'{settings} }}\n"
    );
    let scenario = Document::from_toml(&text, "tls.toml").and_then(|it| it.scenario()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    run(&scenario, &mut || false).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn all_packets_have_the_times_and_sizes_that_they_have_with_tls() {
    for (plain, tls) in STACKS {
        for settings in ["", ", ack_every = 10, mtu_discovery = true", ", gso = 8"] {
            for case in CASES {
                let clear = simulate(plain, settings, case);
                assert!(LEDGER.with_borrow(BTreeMap::is_empty));
                let ledgers = [(); 2].map(|()| {
                    let result = simulate(tls, settings, case);
                    assert_eq!(result.digest(), clear.digest(), "{tls}{settings}, {case:?}");
                    LEDGER.take()
                });
                let [one, other] = &ledgers;
                assert!(one.len() as u64 > clear.flows[0].sent_packets, "{tls}: both ends protect their packets");
                // The keys of the first packets follow from the connection's identifier (RFC 9001 §5.2); the others are new.
                let same = one.keys().filter(|tag| other.contains_key(*tag)).count();
                assert!(same < 10 && same < one.len() / 4, "{tls}{settings}, {case:?}: {same} of {} packets are the same", one.len());
            }
        }
    }
}
