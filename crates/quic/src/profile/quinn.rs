//! quinn: the QUIC stack quinn with its own congestion control, as it is deployed.
//!
//! ## What it does
//! Both ends are quinn-proto 0.11.19, the protocol of the library quinn without its sockets. Every datagram of the simulation is one that
//! the stack has written, with its packet numbers, frames, acknowledgements, loss detection, pacing and flow control.
//!
//! - `packet_size` is the UDP payload of a full datagram, by default the 1200 bytes with which quinn starts, and at most 6000: quinn's
//!   initial window of 12,000 bytes must hold two. A packet of a bulk transfer is as many bytes of stream data.
//! - The sender of a bulk transfer is the client: it connects, and its data leaves after one round trip. An application's client is the
//!   receiver, and its requests are streams of one connection.
//! - A retransmission is a datagram with stream data that was sent before. QUIC itself never sends a packet again.
//! ## References
//! RFC 9000, RFC 9001, RFC 9002; quinn-proto 0.11.19.
//! ## Differs from the document
//! - The handshake is in plaintext: messages in the order of TLS 1.3 with nothing in them but transport parameters. All packets have the sizes
//!   and times that they have with TLS 1.3 and a certificate that fits into one datagram. A longer chain takes the server more datagrams, and
//!   one more round trip if they are more than three times what the client has sent (RFC 9000 §8.1).
//! - Connections have no idle timeout, and close silently.
//! - quinn's experimental BBR is missing, because it draws random numbers from the operating system, so that runs would differ.
//! - The stack does not tell its retransmission timeout, its latest round-trip time, expired timers other than persistent congestion, or what
//!   limits the sender.
//! ## Parameters
//! `control`: quinn's own `cubic` or `newreno`, or `flow` for the flow's, which learns what quinn tells a control; cubic, as in quinn. Windows of
//! flow control have quinn's defaults.

use ackclock_core::entry::Entry;
use ackclock_core::params::{Default, Kind, Param, Params};
use ackclock_host::Profile;
use quinn_proto::crypto::{ClientConfig, ServerConfig};

use crate::cryptography::Cryptography;
use crate::hosts::Hosts;
use crate::quinn::{Plaintext, Quinn};
use crate::settings::declared;

/// The registry's entry.
pub static ENTRY: Entry<Profile> = Entry {
    name: "quinn",
    summary: "The QUIC stack quinn, with its own congestion control",
    reference: "RFC 9000, quinn-proto 0.11.19",
    params: &declared(
        Param {
            name: "control",
            kind: Kind::Word(&["cubic", "newreno", "flow"]),
            default: Default::Word("cubic"),
            doc: "congestion control: quinn's own, or the flow's",
        },
        1.25e6,
        1e7,
    ),
    quantities: &[],
    build: |params| Ok(Box::new(with::<Plaintext>(params))),
};

/// The profile with these parameters, whose packets `C` protects.
pub fn with<C: Cryptography<dyn ClientConfig, dyn ServerConfig>>(params: &Params) -> Profile {
    Profile::Other(Box::new(Hosts::<Quinn<C>>::new(params)))
}
