//! Two endpoints of noq in virtual time: the client connects, and the server sends a stream.

mod common;
mod path;
mod plain;

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use noq_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, Endpoint, EndpointConfig, Event, FourTuple, PathId,
    ServerConfig, StreamId, TransportConfig, VarInt,
};

use common::Digest;
pub(crate) use common::Outcome;
pub(crate) use path::Path;
use path::{Link, Packet};
use plain::{Counted, Plain};

/// Longest run.
const LIMIT: Duration = Duration::from_secs(600);

/// One side.
struct Side {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    address: std::net::SocketAddr,
}

fn transport(change: impl FnOnce(&mut TransportConfig)) -> Arc<TransportConfig> {
    let mut transport = TransportConfig::default();
    transport.mtu_discovery_config(None);
    change(&mut transport);
    Arc::new(transport)
}

/// Sends `bytes` from the server to the client; `begin`: the start of the run. `transport` chooses the server's control, and `watch` is called
/// after each step with the time.
pub(crate) fn transfer(
    path: Path,
    bytes: u64,
    begin: Instant,
    server: impl FnOnce(&mut TransportConfig),
    mut watch: impl FnMut(Duration),
) -> Outcome {
    let counter = Arc::new(AtomicU64::new(0));
    let endpoint = |number: u8, server: Option<ServerConfig>| {
        let mut config = EndpointConfig::new(Arc::new(Plain));
        let counted = Counted(number, Arc::clone(&counter));
        config.rng_seed(Some([number; 32])).cid_generator(Arc::new(move || Box::new(counted.clone())));
        Endpoint::new(Arc::new(config), server.map(Arc::new), true)
    };
    let mut config = ServerConfig::new(Arc::new(Plain), Arc::new(Plain));
    config.time_source(Arc::new(Plain)).transport_config(transport(server));
    let address = |port| ([127, 0, 0, 1], port).into();
    let mut sides = [
        Side { endpoint: endpoint(0, Some(config)), connection: None, address: address(1) },
        Side { endpoint: endpoint(1, None), connection: None, address: address(2) },
    ];
    let mut client = ClientConfig::new(Arc::new(Plain));
    let provider = Counted(2, Arc::clone(&counter));
    client.transport_config(transport(|_| ()));
    client.initial_dst_cid_provider(Arc::new(move || noq_proto::ConnectionIdGenerator::generate_cid(&mut provider.clone())));
    sides[1].connection = Some(sides[1].endpoint.connect(begin, client, address(1), "server").expect("a client connects"));

    let mut run = Run { link: Link::new(path), begin, left: bytes, stream: None, received: 0, done: false, digest: Digest::default() };
    let mut now = Duration::ZERO;
    let mut buffer = Vec::new();
    while !run.done && now < LIMIT {
        for index in 0..2 {
            run.serve(&mut sides, index, now, &mut buffer);
        }
        watch(now);
        let timers = sides.iter_mut().filter_map(|side| side.connection.as_mut()?.1.poll_timeout());
        let next = timers.map(|at| at.saturating_duration_since(begin)).chain(run.link.next()).min();
        let Some(next) = next else { break };
        now = now.max(next);
        for side in &mut sides {
            if let Some((_, connection)) = &mut side.connection
                && connection.poll_timeout().is_some_and(|at| at <= begin + now)
            {
                connection.handle_timeout(begin + now);
            }
        }
        while let Some(arrival) = run.link.arrive(now) {
            run.deliver(&mut sides, arrival, now, &mut buffer);
        }
    }
    assert!(run.done, "a transfer ends: {} of {bytes} B after {now:?}", run.received);
    let stats = sides[0].connection.as_mut().and_then(|(_, connection)| connection.path_stats(PathId::ZERO)).expect("a server has a path");
    Outcome { time: now, sent: stats.sent_packets, lost: stats.lost_packets, dropped: run.link.dropped, digest: run.digest }
}

/// The state of a transfer.
struct Run {
    link: Link,
    begin: Instant,
    left: u64,
    stream: Option<StreamId>,
    received: u64,
    done: bool,
    digest: Digest,
}

impl Run {
    /// Lets a side read, write and send all that it can.
    fn serve(&mut self, sides: &mut [Side; 2], index: usize, now: Duration, buffer: &mut Vec<u8>) {
        let Side { endpoint, connection, .. } = &mut sides[index];
        let Some((handle, connection)) = connection else { return };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        while let Some(event) = connection.poll() {
            match event {
                Event::Connected if index == 0 => self.stream = connection.streams().open(Dir::Uni),
                Event::ConnectionLost { reason } => panic!("the connection is lost: {reason}"),
                _ => {}
            }
        }
        if index == 0 {
            self.write(connection);
        } else {
            self.read(connection);
        }
        loop {
            buffer.clear();
            let Some(transmit) = connection.poll_transmit(self.begin + now, NonZeroUsize::MIN, buffer) else { break };
            self.digest.add(now, &buffer[..transmit.size]);
            let ecn = transmit.ecn.map_or(0, |ecn| ecn as u8);
            self.link.send(now, 1 - index, Packet { bytes: buffer[..transmit.size].to_vec(), ecn });
        }
    }

    fn write(&mut self, connection: &mut Connection) {
        let Some(id) = self.stream else { return };
        let mut stream = connection.send_stream(id);
        let zeros = [0; 1 << 14];
        while self.left > 0 {
            let Ok(written) = stream.write(&zeros[..self.left.min(1 << 14) as usize]) else { break };
            self.left -= written as u64;
            if self.left == 0 {
                stream.finish().expect("a stream ends once");
            }
        }
    }

    fn read(&mut self, connection: &mut Connection) {
        if self.stream.is_none() {
            return;
        }
        let id = self.stream.unwrap_or(StreamId::from(VarInt::from_u32(0)));
        connection.streams().accept(Dir::Uni);
        let mut stream = connection.recv_stream(id);
        let Ok(mut chunks) = stream.read(true) else { return };
        loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => self.received += chunk.bytes.len() as u64,
                Ok(None) => {
                    self.done = true;
                    break;
                }
                Err(_) => break,
            }
        }
        let _ = chunks.finalize();
    }

    fn deliver(&mut self, sides: &mut [Side; 2], (to, packet): (usize, Packet), now: Duration, buffer: &mut Vec<u8>) {
        let from = FourTuple::from_remote(sides[1 - to].address);
        let Side { endpoint, connection, .. } = &mut sides[to];
        buffer.clear();
        let Packet { bytes, ecn } = packet;
        let ecn = EcnCodepoint::from_bits(ecn);
        match endpoint.handle(self.begin + now, from, ecn, BytesMut::from(Bytes::from(bytes)), buffer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                let accepted = endpoint.accept(incoming, self.begin + now, buffer, None);
                *connection = Some(accepted.unwrap_or_else(|_| panic!("a server accepts")));
            }
            _ => {}
        }
    }
}
