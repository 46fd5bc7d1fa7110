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
//! - The handshake is in plaintext: messages in the order of TLS 1.3 with nothing in them but transport parameters. Packets have the size
//!   that encryption gives them.
//! - Connections have no idle timeout, and close silently.
//! - docs/concepts/quic-controls.md lists what the stack does not tell a control. Packets are ECT(0), whatever the control asks for.
//! - noq's experimental BBR is missing, because it draws random numbers from the operating system, so that runs would differ.
//! - The stack does not tell its retransmission timeout, expired timers other than persistent congestion, or what limits the sender.
//! ## Parameters
//! `control`: `flow`, or noq's own `cubic` or `newreno`; flow. Flow control has large windows, so that it is the congestion control that
//! decides; noq's own are 1.25 MB and 10 MB.

use ackclock_core::cc::CongestionControl;
use ackclock_core::entry::Entry;
use ackclock_core::events::Established;
use ackclock_core::params::{Default, Kind, Param, Params};
use ackclock_core::units::{Bytes, Instant};
use ackclock_host::{Capabilities, Connection, Flow, Host, PacketSizes, Profile, SharedSeat, Side, StackSeat, Traffic};

use crate::noq::{Control, Noq};
use crate::pair::Pair;
use crate::profile::{capabilities, client};
use crate::settings::{HEADERS, PACKETS, Settings, declared};
use crate::watch::{Sight, Watch};

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
    build: |params| Ok(Box::new(Profile::Other(Box::new(Quic::new(params))))),
};

/// A control of the stack.
#[derive(Clone, Copy, Debug)]
enum Own {
    Cubic,
    NewReno,
}

#[derive(Debug)]
struct Quic {
    /// `None`: the flow's control.
    own: Option<Own>,
    settings: Settings,
}

impl Quic {
    fn new(params: &Params) -> Self {
        let own = match params.word("control") {
            "cubic" => Some(Own::Cubic),
            "newreno" => Some(Own::NewReno),
            _ => None,
        };
        Self { own, settings: Settings::new(params) }
    }

    /// The control of an end, and its seat if it is one of the contract.
    fn control(&self, control: Option<Box<dyn CongestionControl>>, known: &Established) -> (Control, Option<SharedSeat>) {
        match (self.own, control) {
            (Some(Own::NewReno), _) => (Control::NewReno, None),
            (None, Some(control)) => {
                let seat = SharedSeat::new(StackSeat::new(control, known));
                (Control::Seat(seat.clone()), Some(seat))
            }
            // The receiver of a bulk transfer sends no data that its control could hold back.
            (Some(Own::Cubic), _) | (None, None) => (Control::Cubic, None),
        }
    }
}

impl Host for Quic {
    fn connect(&self, flow: Flow) -> Box<dyn Connection<Payload = Vec<u8>>> {
        let Flow { control, mut traffic, packet_size: Bytes(packet), ecn, seed, .. } = flow;
        let mut answering = match &mut traffic {
            Traffic::Bulk(_) => None,
            Traffic::Dialogue { control } => control.take(),
        };
        let (mut sending, mut sight) = (control, Sight::default());
        let client = client(&traffic);
        let ends = Side::ALL.map(|side| {
            let seed = seed ^ side.index() as u64;
            let known = Established::new(Instant::ZERO, Bytes(packet)).with(|known| (known.header, known.seed) = (Bytes(HEADERS), seed));
            let control = if side == Side::Sender { sending.take() } else { answering.take() };
            let (control, seat) = self.control(control, &known);
            let watch = Watch::default();
            if side == Side::Sender {
                sight = Sight { watch: watch.clone(), seat };
            }
            Noq::new((side == client, control), packet as u16, &self.settings, watch, seed)
        });
        Box::new(Pair::new(ends, ecn, &traffic, (packet, self.settings.gso), sight))
    }

    fn header(&self) -> Bytes {
        Bytes(HEADERS)
    }

    fn packet_sizes(&self) -> PacketSizes {
        PACKETS
    }

    fn own_control(&self) -> Option<&'static str> {
        self.own.map(|own| match own {
            Own::Cubic => "cubic of noq",
            Own::NewReno => "newreno of noq",
        })
    }

    fn capabilities(&self) -> Capabilities {
        capabilities()
    }
}
