//! The hosts of a flow, whichever stack they are.

use std::fmt::Debug;
use std::marker::PhantomData;

use ackclock_core::cc::CongestionControl;
use ackclock_core::events::Established;
use ackclock_core::params::Params;
use ackclock_core::units::{Bytes, Instant};
use ackclock_host::{Capabilities, Connection, Flow, Host, PacketSizes, SharedSeat, Side, StackSeat, Streams, Traffic};

use crate::control::{Control, Own};
use crate::pair::Pair;
use crate::settings::{HEADERS, Settings};
use crate::stack::Stack;
use crate::watch::{Sight, Watch};

/// Hosts with the stack `S`.
#[derive(Debug)]
pub(crate) struct Hosts<S> {
    /// `None`: the flow's control.
    own: Option<Own>,
    settings: Settings,
    stack: PhantomData<fn() -> S>,
}

impl<S> Hosts<S> {
    /// Reads the parameters of a profile.
    pub(crate) fn new(params: &Params) -> Self {
        Self { own: Own::chosen(params), settings: Settings::new(params), stack: PhantomData }
    }

    /// The control of an end, and its seat if it is one of the contract.
    fn control(&self, control: Option<Box<dyn CongestionControl>>, known: &Established) -> (Control, Option<SharedSeat>) {
        match (self.own, control) {
            (None, Some(control)) => {
                let seat = SharedSeat::new(StackSeat::new(control, known));
                (Control::Seat(seat.clone()), Some(seat))
            }
            // The receiver of a bulk transfer sends no data that its control could hold back.
            (own, _) => (Control::Own(own.unwrap_or(Own::Cubic)), None),
        }
    }
}

impl<S: Stack + 'static> Host for Hosts<S> {
    fn connect(&self, flow: Flow) -> Box<dyn Connection<Payload = Vec<u8>>> {
        let Flow { control: sending, mut traffic, packet_size: Bytes(packet), ecn, seed, .. } = flow;
        // The sender of a bulk transfer starts by itself; an application asks at the receiver.
        let (client, answering) = match &mut traffic {
            Traffic::Bulk(_) => (Side::Sender, None),
            Traffic::Dialogue { control } => (Side::Receiver, control.take()),
        };
        let mut controls = [sending, answering];
        let mut sight = Sight::default();
        let ends = Side::ALL.map(|side| {
            let seed = seed ^ side.index() as u64;
            let known = Established::new(Instant::ZERO, Bytes(packet)).with(|known| (known.header, known.seed) = (Bytes(HEADERS), seed));
            let (control, seat) = self.control(controls[side.index()].take(), &known);
            let watch = Watch::default();
            if side == Side::Sender {
                sight = Sight { watch: watch.clone(), seat };
            }
            S::new((side == client, control), packet as u16, &self.settings, watch, seed)
        });
        Box::new(Pair::new(ends, ecn, &traffic, (packet, self.settings.gso), sight))
    }

    fn header(&self) -> Bytes {
        Bytes(HEADERS)
    }

    fn packet_sizes(&self) -> PacketSizes {
        S::PACKETS
    }

    fn own_control(&self) -> Option<&'static str> {
        self.own.map(|own| S::OWN[own as usize])
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { supply: true, both_ways: true, streams: Streams::Many, ..Capabilities::default() }
    }
}
