//! noq as a [`Stack`].

mod crypto;
mod watched;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;
use std::marker::PhantomData;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{self, Duration as Span, SystemTime};

use ackclock_core::qdisc::Ecn;
use ackclock_core::rng::Xoshiro256;
use ackclock_core::units::{Duration, Instant};
use ackclock_host::{PacketSizes, SharedSeat};
use ackclock_noq::Adapter;
use bytes::BytesMut;
use noq_proto::congestion::{Controller, ControllerFactory, CubicConfig, NewRenoConfig};
use noq_proto::{
    AckFrequencyConfig, ClientConfig, Connection, ConnectionHandle, ConnectionId, ConnectionIdGenerator, DatagramEvent, Dir, EcnCodepoint,
    Endpoint, EndpointConfig, Event as Report, FourTuple, MtuDiscoveryConfig, PathId, ServerConfig, StreamEvent, StreamId, TimeSource,
    TransportConfig, VarInt,
};

use crate::clock::{ORIGIN, clock, simulated, span};
use crate::control::{Control, Own};
use crate::cryptography::Cryptography;
use crate::frames::CONNECTION_ID;
use crate::settings::{PACKETS, Settings};
use crate::stack::{self, ADDRESSES, Burst, Event, Stack, zeros};
use crate::watch::Watch;
pub(crate) use crypto::Plaintext;
use watched::Factory;

fn factory(control: Control, watch: Watch) -> Arc<dyn ControllerFactory + Send + Sync> {
    let seated = matches!(control, Control::Seat(_));
    let inner: Arc<dyn ControllerFactory + Send + Sync> = match control {
        Control::Own(Own::Cubic) => Arc::new(CubicConfig::default()),
        Control::Own(Own::NewReno) => Arc::new(NewRenoConfig::default()),
        Control::Seat(seat) => Arc::new(Seated(seat)),
    };
    Arc::new(Factory { inner, watch, seated })
}

/// Makes the controller of one connection.
struct Seated(SharedSeat);

impl ControllerFactory for Seated {
    fn build(self: Arc<Self>, _: time::Instant, _: u16) -> Box<dyn Controller> {
        Box::new(Adapter::new(self.0.clone(), *ORIGIN))
    }
}

/// One end, with the cryptography `C`.
pub(crate) struct Noq<C> {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    /// The configuration with which a client connects.
    client: Option<ClientConfig>,
    gso: NonZeroUsize,
    readable: VecDeque<u64>,
    /// Datagrams that the endpoint answers by itself.
    answers: VecDeque<Vec<u8>>,
    cryptography: PhantomData<fn() -> C>,
}

impl<C> fmt::Debug for Noq<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Noq").field("connection", &self.connection.as_ref().map(|(handle, _)| handle)).finish_non_exhaustive()
    }
}

impl<C> Noq<C> {
    /// Passes events between endpoint and connection.
    fn exchange(&mut self) {
        let Some((handle, connection)) = &mut self.connection else { return };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(answer) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(answer);
            }
        }
    }
}

fn transport(datagram: u16, settings: &Settings, factory: Arc<dyn ControllerFactory + Send + Sync>) -> TransportConfig {
    let mut config = TransportConfig::default();
    config
        .max_idle_timeout(None)
        .initial_mtu(datagram)
        .min_mtu(datagram)
        .mtu_discovery_config(settings.discovery.then(MtuDiscoveryConfig::default))
        .stream_receive_window(VarInt::from_u32(settings.stream_window))
        .send_window(settings.send_window)
        .max_concurrent_bidi_streams(VarInt::from_u32(settings.streams))
        .packet_threshold(settings.packet_threshold)
        .time_threshold(settings.time_threshold)
        .ack_frequency_config(settings.ack_every.map(|threshold| {
            let mut config = AckFrequencyConfig::default();
            config.ack_eliciting_threshold(VarInt::from_u32(threshold));
            config
        }))
        .congestion_controller_factory(factory);
    config
}

impl<C: Cryptography<dyn noq_proto::crypto::ClientConfig, dyn noq_proto::crypto::ServerConfig>> Stack for Noq<C> {
    const OWN: [&'static str; 2] = ["cubic of noq", "newreno of noq"];
    const PACKETS: PacketSizes = PACKETS;

    fn new((client, control): (bool, Control), datagram: u16, settings: &Settings, watch: Watch, seed: u64) -> Self {
        let mut random = Xoshiro256::new(seed);
        let transport = Arc::new(transport(datagram, settings, factory(control, watch)));
        let mut endpoint = EndpointConfig::new(Arc::new(Plaintext));
        let identifiers = random.next_u64();
        endpoint
            .cid_generator(Arc::new(move || Box::new(Identifiers(Xoshiro256::new(identifiers)))))
            .rng_seed(Some(std::array::from_fn(|_| random.next_u64() as u8)))
            .max_udp_payload_size(datagram.max(stack::PAYLOAD))
            .expect("the datagram has at least 1200 bytes");
        let initial = random.next_u64();
        let (server, client) = if client {
            let mut config = ClientConfig::new(C::client());
            config.transport_config(transport).initial_dst_cid_provider(Arc::new(move || ConnectionId::new(&initial.to_be_bytes())));
            (None, Some(config))
        } else {
            let mut config = ServerConfig::new(C::server(), Arc::new(Plaintext));
            config.transport_config(transport).time_source(Arc::new(Epoch));
            (Some(Arc::new(config)), None)
        };
        Self {
            endpoint: Endpoint::new(Arc::new(endpoint), server, settings.discovery),
            connection: None,
            client,
            gso: NonZeroUsize::new(settings.gso).unwrap_or(NonZeroUsize::MIN),
            readable: VecDeque::new(),
            answers: VecDeque::new(),
            cryptography: PhantomData,
        }
    }

    fn connect(&mut self, now: Instant) {
        if let Some(config) = self.client.take() {
            let connected = self.endpoint.connect(clock(now), config, ADDRESSES[1], "server");
            self.connection = Some(connected.expect("version and address are valid"));
        }
    }

    fn unprotected(datagram: &[u8]) -> Cow<'_, [u8]> {
        C::unprotected(datagram)
    }

    fn receive(&mut self, now: Instant, ecn: Ecn, datagram: &[u8]) {
        let mut answer = Vec::new();
        let from = ADDRESSES[usize::from(self.endpoint_is_client())];
        let ecn = EcnCodepoint::from_bits(ecn as u8);
        match self.endpoint.handle(clock(now), FourTuple::from_remote(from), ecn, BytesMut::from(datagram), &mut answer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => match self.endpoint.accept(incoming, clock(now), &mut answer, None) {
                Ok(accepted) => self.connection = Some(accepted),
                Err(error) => self.answers.extend(error.response.map(|_| std::mem::take(&mut answer))),
            },
            Some(DatagramEvent::Response(_)) => self.answers.push_back(answer),
            None => {}
        }
        self.exchange();
    }

    fn transmit(&mut self, now: Instant, buffer: &mut Vec<u8>) -> Option<Burst> {
        if let Some(answer) = self.answers.pop_front() {
            buffer.extend_from_slice(&answer);
            return Some(Burst { segment: answer.len(), ecn: Ecn::NotEct });
        }
        let (_, connection) = self.connection.as_mut()?;
        let sent = connection.poll_transmit(clock(now), self.gso, buffer)?;
        self.exchange();
        let ecn = sent.ecn.map_or(Ecn::NotEct, |codepoint| stack::ecn(codepoint as u8));
        Some(Burst { segment: sent.segment_size.unwrap_or(sent.size), ecn })
    }

    fn timeout(&mut self) -> Option<Instant> {
        self.connection.as_mut()?.1.poll_timeout().map(simulated)
    }

    fn expire(&mut self, now: Instant) {
        if let Some((_, connection)) = &mut self.connection {
            connection.handle_timeout(clock(now));
            self.exchange();
        }
    }

    fn event(&mut self) -> Option<Event> {
        let (_, connection) = self.connection.as_mut()?;
        loop {
            if let Some(stream) = self.readable.pop_front() {
                return Some(Event::Readable(stream));
            }
            match connection.poll()? {
                Report::Connected => return Some(Event::Connected),
                Report::ConnectionLost { reason } => return Some(Event::Lost(reason.to_string())),
                Report::Stream(StreamEvent::Opened { dir }) => {
                    while let Some(stream) = connection.streams().accept(dir) {
                        self.readable.push_back(stream.into());
                    }
                }
                Report::Stream(StreamEvent::Readable { id }) => self.readable.push_back(id.into()),
                _ => {}
            }
        }
    }

    fn open(&mut self) -> Option<u64> {
        self.connection.as_mut()?.1.streams().open(Dir::Bi).map(u64::from)
    }

    fn write(&mut self, stream: u64, bytes: u64) -> u64 {
        let Some((_, connection)) = &mut self.connection else { return 0 };
        // Blocked by the send window, or stopped by the peer.
        connection.send_stream(identifier(stream)).write_chunks(&mut &mut [zeros(bytes)][..]).map_or(0, |written| written as u64)
    }

    fn finish(&mut self, stream: u64) {
        if let Some((_, connection)) = &mut self.connection {
            // A stream that the peer has stopped is over already.
            let _ = connection.send_stream(identifier(stream)).finish();
        }
    }

    fn read(&mut self, stream: u64) -> u64 {
        let Some((_, connection)) = &mut self.connection else { return 0 };
        let mut stream = connection.recv_stream(identifier(stream));
        let Ok(mut chunks) = stream.read(true) else { return 0 };
        let mut read = 0;
        while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
            read += chunk.bytes.len() as u64;
        }
        // The caller polls for transmissions anyway.
        let _ = chunks.finalize();
        read
    }

    fn srtt(&self) -> Option<Duration> {
        let (_, connection) = self.connection.as_ref()?;
        connection.rtt(PathId::ZERO).filter(|_| !connection.is_handshaking()).map(span)
    }
}

impl<C> Noq<C> {
    fn endpoint_is_client(&self) -> bool {
        self.connection.as_ref().is_some_and(|(_, connection)| connection.side().is_client())
    }
}

fn identifier(stream: u64) -> StreamId {
    StreamId::from(VarInt::from_u64(stream).expect("a stream of the stack"))
}

/// Connection identifiers from a seed.
struct Identifiers(Xoshiro256);

impl ConnectionIdGenerator for Identifiers {
    fn generate_cid(&mut self) -> ConnectionId {
        ConnectionId::new(&self.0.next_u64().to_be_bytes())
    }

    fn cid_len(&self) -> usize {
        CONNECTION_ID
    }

    fn cid_lifetime(&self) -> Option<Span> {
        None
    }
}

/// A clock that stands still, for the age of tokens.
struct Epoch;

impl TimeSource for Epoch {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }
}
