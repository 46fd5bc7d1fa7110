//! quinn: the QUIC stack quinn with its own congestion control, as deployed.
//!
//! ## What it does
//! Both ends are quinn-proto 0.11.19, the protocol of the library quinn without its sockets. Every datagram of the simulation is one that
//! the stack has written, with its packet numbers, frames, acknowledgements, loss detection, pacing and flow control.
//!
//! - `packet_size` is the UDP payload of a full datagram, by default the 1200 bytes with which quinn starts; a packet of a bulk transfer is
//!   as many bytes of stream data.
//! - The sender of a bulk transfer is the client: it connects, and its data leaves after one round trip. An application's client is the
//!   receiver, and its requests are streams of one connection.
//! - A retransmission is a datagram with stream data that was sent before. QUIC itself never sends a packet again.
//! ## References
//! RFC 9000, RFC 9001, RFC 9002; quinn-proto 0.11.19.
//! ## Differs from the document
//! - The handshake is in plaintext: messages in the order of TLS 1.3 with nothing in them but transport parameters. Packets have the size
//!   that encryption gives them.
//! - Connections have no idle timeout, and close silently.
//! - quinn's experimental BBR is missing, because it draws random numbers from the operating system, so that runs would differ.
//! - The stack does not tell its retransmission timeout, its latest round-trip time, expired timers other than persistent congestion, or what
//!   limits the sender.
//! ## Parameters
//! `control`: `cubic` or `newreno`; cubic, as in quinn. Windows have quinn's defaults.

use ackclock_core::entry::Entry;
use ackclock_core::params::{Default, Kind, Param, Params};
use ackclock_core::units::Bytes;
use ackclock_host::{Capabilities, Connection, Flow, Host, PacketSizes, Profile, Side};

use crate::pair::Pair;
use crate::profile::{capabilities, client};
use crate::quinn::{Own, Quinn};
use crate::settings::{HEADERS, PACKETS, Settings, declared};
use crate::watch::{Sight, Watch};

/// The registry's entry.
pub static ENTRY: Entry<Profile> = Entry {
    name: "quinn",
    summary: "The QUIC stack quinn, with its own congestion control",
    reference: "RFC 9000, quinn-proto 0.11.19",
    params: &declared(
        Param {
            name: "control",
            kind: Kind::Word(&["cubic", "newreno"]),
            default: Default::Word("cubic"),
            doc: "congestion control of quinn",
        },
        1.25e6,
        1e7,
    ),
    quantities: &[],
    build: |params| Ok(Box::new(Profile::Other(Box::new(Deployed::new(params))))),
};

#[derive(Debug)]
struct Deployed {
    own: Own,
    settings: Settings,
}

impl Deployed {
    fn new(params: &Params) -> Self {
        let own = if params.word("control") == "newreno" { Own::NewReno } else { Own::Cubic };
        Self { own, settings: Settings::new(params) }
    }
}

impl Host for Deployed {
    fn connect(&self, flow: Flow) -> Box<dyn Connection<Payload = Vec<u8>>> {
        let packet = flow.packet_size.0;
        let sight = Sight::default();
        let client = client(&flow.traffic);
        let ends = Side::ALL.map(|side| {
            let watch = if side == Side::Sender { sight.watch.clone() } else { Watch::default() };
            Quinn::new((side == client, self.own), packet as u16, &self.settings, watch, flow.seed ^ side.index() as u64)
        });
        Box::new(Pair::new(ends, flow.ecn, &flow.traffic, (packet, self.settings.gso), sight))
    }

    fn header(&self) -> Bytes {
        Bytes(HEADERS)
    }

    fn packet_sizes(&self) -> PacketSizes {
        PACKETS
    }

    fn own_control(&self) -> Option<&'static str> {
        Some(match self.own {
            Own::Cubic => "cubic of quinn",
            Own::NewReno => "newreno of quinn",
        })
    }

    fn capabilities(&self) -> Capabilities {
        capabilities()
    }
}
