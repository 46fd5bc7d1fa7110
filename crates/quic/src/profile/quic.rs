//! quic: a QUIC stack with any congestion control of the registry.
//!
//! ## What it does
//! Both ends are noq-proto 1.4.0, a stack that grew from quinn and tells its control of each packet. The control is that of the flow, in the
//! same contract as in the simulated TCP; `control` chooses one of the stack's own instead. Every datagram of the simulation is one that the
//! stack has written, with its packet numbers, frames, acknowledgements, loss detection and flow control.
//!
//! - `packet_size` is the UDP payload of a full datagram; a packet of a bulk transfer is as many bytes of stream data. Windows count such
//!   datagrams.
//! - The sender of a bulk transfer is the client: it connects, and its data leaves after one round trip. An application's client is the
//!   receiver, and its requests are streams of one connection.
//! - A retransmission is a datagram with stream data that was sent before. QUIC itself never sends a packet again.
//! ## References
//! RFC 9000, RFC 9001, RFC 9002; noq-proto 1.4.0.
//! ## Differs from the document
//! - The handshake is in plaintext: messages in the order of TLS 1.3 with nothing in them but transport parameters. All packets have the sizes
//!   and times that they have with TLS 1.3 and a certificate that fits into one datagram. A longer chain takes the server more datagrams, and
//!   one more round trip if they are more than three times what the client has sent (RFC 9000 §8.1).
//! - Connections have no idle timeout, and close silently.
//! - docs/concepts/quic-controls.md lists what the stack does not tell a control. Packets are ECT(0), whatever the control asks for.
//! - noq's experimental BBR is missing, because it draws random numbers from the operating system, so that runs would differ.
//! - The stack does not tell its retransmission timeout, expired timers other than persistent congestion, or what limits the sender.
//! ## Parameters
//! `control`: `flow`, or noq's own `cubic` or `newreno`; flow. Flow control has large windows, so that it is the congestion control that
//! decides; noq's own are 1.25 MB and 10 MB.

use ackclock_core::entry::Entry;
use ackclock_core::params::{Default, Kind, Param, Params};
use ackclock_host::Profile;
use noq_proto::crypto::{ClientConfig, ServerConfig};

use crate::cryptography::Cryptography;
use crate::hosts::Hosts;
use crate::noq::{Noq, Plaintext};
use crate::settings::declared;

/// The registry's entry.
pub static ENTRY: Entry<Profile> = Entry {
    name: "quic",
    summary: "The QUIC stack noq, with the flow's congestion control",
    reference: "RFC 9000, noq-proto 1.4.0",
    params: &declared(
        Param {
            name: "control",
            kind: Kind::Word(&["flow", "cubic", "newreno"]),
            default: Default::Word("flow"),
            doc: "congestion control: the flow's, or one of noq's own",
        },
        6.4e7,
        1.28e8,
    ),
    quantities: &[],
    build: |params| Ok(Box::new(with::<Plaintext>(params))),
};

/// The profile with these parameters, whose packets `C` protects.
pub fn with<C: Cryptography<dyn ClientConfig, dyn ServerConfig>>(params: &Params) -> Profile {
    Profile::Other(Box::new(Hosts::<Noq<C>>::new(params)))
}
