//! A host of `modern` endpoints as a [`Stack`]: sockets, listening, resets for packets that belong to no connection.

mod connection;
mod info;
mod options;
mod segments;
mod settings;

use std::collections::VecDeque;
use std::net::SocketAddr;

use ackclock_core::units::{Duration, Instant};
use ackclock_tcp::modern::{Config, Endpoint, PacketMemory};

use self::connection::Connection;
use self::options::SocketOptions;
use crate::errno::Errno;
use crate::host::{ControlParameters, Host};
use crate::network::Network;
use crate::packet::Packet;
use crate::script::Flags;
use crate::stack::{Answer, Ends, Info, Refusal, Socket, Stack, Status, Value};

/// A socket of the host.
#[derive(Debug)]
enum Slot {
    /// Neither listening nor connected.
    Fresh(SocketOptions),
    /// Waits for connections at an address.
    Listening(SocketAddr, SocketOptions),
    /// A connection.
    Connected(Box<Connection>),
    /// Closed, and over.
    Free,
}

/// A host of `modern` endpoints.
#[derive(Debug)]
pub struct Modern {
    host: Host,
    ecn: settings::Ecn,
    /// Kernel parameters of the congestion control.
    control: ControlParameters,
    slots: Vec<Slot>,
    /// Resets to send.
    resets: VecDeque<Packet>,
}

impl Modern {
    /// A host without connections in `network`.
    pub fn new(host: &Host, network: &Network) -> Self {
        let mss = host.config.mss.min(network.mtu - network.headers());
        // The world of the scripts has segmentation offload, with Linux's settings.
        let offload = host.config.offload.or(host.config.whole_segments.then_some(settings::OFFLOAD));
        // packetdrill's device is TUN.
        let packet_memory = PacketMemory::PowerOfTwo;
        let host = Host { config: Config { mss, offload, packet_memory, ..host.config.clone() }, ..host.clone() };
        let ecn = settings::Ecn { offers: host.config.ecn, accepts: host.config.ecn };
        Self { host, ecn, control: ControlParameters::new(), slots: Vec::new(), resets: VecDeque::new() }
    }

    /// Stores a socket in the first free slot, so that their number stays that of open sockets.
    fn add(&mut self, slot: Slot) -> Socket {
        let index = self.slots.iter().position(|slot| matches!(slot, Slot::Free)).unwrap_or(self.slots.len());
        if index == self.slots.len() {
            self.slots.push(Slot::Free);
        }
        self.slots[index] = slot;
        index as Socket
    }

    fn slot(&mut self, socket: Socket) -> Answer<&mut Slot> {
        Ok(self.slots.get_mut(socket as usize).ok_or(Errno::EBADF)?)
    }

    /// The connection of a socket; `error`: the answer if it has none.
    fn connection(&mut self, socket: Socket, error: Errno) -> Answer<&mut Connection> {
        match self.slot(socket)? {
            Slot::Connected(connection) => Ok(connection),
            _ => Err(error.into()),
        }
    }

    fn connections(&mut self) -> impl Iterator<Item = &mut Connection> {
        self.slots.iter_mut().filter_map(|slot| if let Slot::Connected(connection) = slot { Some(&mut **connection) } else { None })
    }

    /// An endpoint with the options of its socket.
    fn endpoint(&self, options: &SocketOptions, active: bool) -> Answer<Endpoint> {
        let mut config = options.applied(&self.host.config);
        config.ecn = if active { self.ecn.offers } else { self.ecn.accepts };
        let mut parameters = self.control.clone();
        if let Some(control) = &options.control {
            parameters.insert("tcp_congestion_control".to_owned(), control.clone());
        }
        let control = (self.host.controls)(&parameters).map_err(Refusal::Unsupported)?;
        Ok(if active { Endpoint::open(&config, control) } else { Endpoint::listen(&config, control) })
    }

    /// RFC 9293 §3.10.7.1: the answer to a packet for which there is no connection.
    fn refuse(&mut self, packet: &Packet) {
        if packet.has(Flags::RST) {
            return;
        }
        let reset = if packet.has(Flags::ACK) {
            Packet { flags: Flags::RST, seq: packet.ack, ack: 0, ..packet.clone() }
        } else {
            Packet { flags: Flags::RST | Flags::ACK, seq: 0, ack: packet.seq.wrapping_add(packet.length()), ..packet.clone() }
        };
        let (source, target) = (packet.target, packet.source);
        self.resets.push_back(Packet {
            source,
            target,
            tos: 0,
            ttl: 64,
            window: 0,
            urgent: 0,
            options: Vec::new(),
            payload: Vec::new(),
            ..reset
        });
    }

    /// Forgets connections that are over.
    fn tidy(&mut self) {
        for slot in &mut self.slots {
            if matches!(slot, Slot::Connected(connection) if connection.is_over()) {
                *slot = Slot::Free;
            }
        }
    }
}

impl Stack for Modern {
    fn handle(&mut self, now: Instant, bytes: &[u8]) {
        let Ok(packet) = Packet::decode(bytes) else { return };
        let ends = Ends { local: packet.target, remote: packet.source };
        let known = self.connections().find(|connection| connection.ends == ends).map(|connection| connection.handle(now, &packet));
        if known.is_some() {
            return self.tidy();
        }
        let opens = packet.has(Flags::SYN) && !packet.has(Flags::ACK) && !packet.has(Flags::RST);
        let listener = self.slots.iter().position(|slot| matches!(slot, Slot::Listening(local, _) if *local == ends.local));
        let Some(listener) = listener.filter(|_| opens) else { return self.refuse(&packet) };
        let Slot::Listening(_, options) = &self.slots[listener] else { return };
        let options = options.clone();
        // `listen` has checked that the endpoint can be made.
        let Ok(endpoint) = self.endpoint(&options, false) else { return };
        let mut connection = Connection::new(endpoint, ends, options, Some(listener as Socket));
        connection.handle(now, &packet);
        self.add(Slot::Connected(Box::new(connection)));
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Vec<u8>> {
        let packet = self.resets.pop_front().or_else(|| self.connections().find_map(|connection| connection.poll_transmit(now)))?;
        self.tidy();
        // A segment of the host fits a packet.
        packet.encode().ok()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let deadlines = self.slots.iter().filter_map(|slot| if let Slot::Connected(it) = slot { it.endpoint.poll_timeout() } else { None });
        deadlines.reduce(Instant::min)
    }

    fn handle_timeout(&mut self, now: Instant) {
        // Deadlines may be a rounding error later than the time of a script.
        let late = now + Duration::NANOSECOND;
        for connection in self.connections() {
            if connection.endpoint.poll_timeout().is_some_and(|due| due <= late) {
                connection.endpoint.handle_timeout(now);
            }
        }
    }

    fn socket(&mut self) -> Answer<Socket> {
        Ok(self.add(Slot::Fresh(SocketOptions::default())))
    }

    fn listen(&mut self, socket: Socket, local: SocketAddr) -> Answer<()> {
        if self.slots.iter().any(|slot| matches!(slot, Slot::Listening(other, _) if *other == local)) {
            return Err(Errno::EADDRINUSE.into());
        }
        let slot = self.slot(socket)?;
        let Slot::Fresh(options) = slot else { return Err(Errno::EINVAL.into()) };
        let options = options.clone();
        *slot = Slot::Listening(local, options.clone());
        self.endpoint(&options, false).map(drop)
    }

    fn accept(&mut self, _now: Instant, listener: Socket) -> Answer<Option<Socket>> {
        let Slot::Listening(..) = self.slot(listener)? else { return Err(Errno::EINVAL.into()) };
        let waits = |slot: &Slot| matches!(slot, Slot::Connected(it) if it.listener == Some(listener) && it.is_open());
        let Some(index) = self.slots.iter().position(waits) else { return Ok(None) };
        if let Slot::Connected(connection) = &mut self.slots[index] {
            connection.listener = None;
        }
        Ok(Some(index as Socket))
    }

    fn connect(&mut self, _now: Instant, socket: Socket, ends: Ends) -> Answer<()> {
        let options = match self.slot(socket)? {
            Slot::Fresh(options) => options.clone(),
            _ => return Err(Errno::EISCONN.into()),
        };
        let endpoint = self.endpoint(&options, true)?;
        *self.slot(socket)? = Slot::Connected(Box::new(Connection::new(endpoint, ends, options, None)));
        Ok(())
    }

    fn write(&mut self, _now: Instant, socket: Socket, bytes: u64, more: bool) -> Answer<u64> {
        if more {
            return Err(Refusal::Unsupported("`modern` does not model MSG_MORE".to_owned()));
        }
        self.connection(socket, Errno::EPIPE)?.write(bytes)
    }

    fn read(&mut self, now: Instant, socket: Socket, most: u64) -> Answer<Option<u64>> {
        self.connection(socket, Errno::ENOTCONN)?.read(now, most)
    }

    fn shutdown(&mut self, _now: Instant, socket: Socket, read: bool, write: bool) -> Answer<()> {
        self.connection(socket, Errno::ENOTCONN)?.shutdown(read, write)
    }

    fn close(&mut self, now: Instant, socket: Socket) -> Answer<()> {
        let slot = self.slot(socket)?;
        match slot {
            Slot::Connected(connection) => connection.close(now),
            Slot::Listening(..) => {
                // Connections that nobody has accepted are reset.
                *slot = Slot::Free;
                self.connections().filter(|it| it.listener == Some(socket)).for_each(|connection| {
                    connection.closed = true;
                    connection.abort(now);
                });
            }
            _ => *slot = Slot::Free,
        }
        Ok(())
    }

    fn set_option(&mut self, _now: Instant, socket: Socket, name: &str, value: &Value) -> Answer<()> {
        if let ("TCP_CONGESTION", Value::Text(control)) = (name, value) {
            let parameters = ControlParameters::from([("tcp_congestion_control".to_owned(), control.clone())]);
            (self.host.controls)(&parameters).map_err(Refusal::Unsupported)?;
        }
        let nagle = self.host.config.nagle;
        match self.slot(socket)? {
            Slot::Fresh(options) | Slot::Listening(_, options) => options.set(name, value),
            Slot::Connected(connection) => match name {
                "TCP_CONGESTION" | "TCP_MAXSEG" | "SO_RCVBUF" => {
                    Err(Refusal::Unsupported(format!("`modern` does not change {name} of an open connection")))
                }
                _ => {
                    connection.options.set(name, value)?;
                    connection.endpoint.set_nagle(nagle && !connection.options.nodelay);
                    Ok(())
                }
            },
            Slot::Free => Err(Errno::EBADF.into()),
        }
    }

    fn option(&mut self, _now: Instant, socket: Socket, name: &str) -> Answer<Value> {
        match self.slot(socket)? {
            Slot::Fresh(options) | Slot::Listening(_, options) => options.get(name),
            Slot::Connected(connection) => match name {
                "SO_ERROR" => Ok(Value::Integer(connection.error.take().map_or(0, |error| i64::from(error.0)))),
                "TCP_MAXSEG" => Ok(Value::Integer(i64::from(connection.endpoint.smss()))),
                _ => connection.options.get(name),
            },
            Slot::Free => Err(Errno::EBADF.into()),
        }
    }

    fn queued(&mut self, socket: Socket) -> Answer<(u64, u64)> {
        let endpoint = &self.connection(socket, Errno::EINVAL)?.endpoint;
        Ok((endpoint.readable(), endpoint.unacknowledged() + endpoint.unsent()))
    }

    fn status(&self, socket: Socket) -> Status {
        match self.slots.get(socket as usize) {
            Some(Slot::Connected(connection)) => connection.status(),
            Some(Slot::Listening(..)) => {
                let ready = |slot: &Slot| matches!(slot, Slot::Connected(it) if it.listener == Some(socket) && it.is_open());
                Status { readable: self.slots.iter().any(ready), ..Status::default() }
            }
            _ => Status { writable: true, hung_up: true, ..Status::default() },
        }
    }

    fn info(&self, now: Instant, socket: Socket) -> Info {
        match self.slots.get(socket as usize) {
            Some(Slot::Connected(connection)) => info::fields(now, &connection.endpoint),
            _ => Info::new(),
        }
    }

    fn configure(&mut self, name: &str, value: &str) -> Answer<()> {
        if settings::OF_CONTROL.iter().any(|prefix| name.starts_with(prefix)) {
            self.control.insert(name.to_owned(), value.to_owned());
            // The parts say at once what they do not model.
            return (self.host.controls)(&self.control).map(drop).map_err(Refusal::Unsupported);
        }
        if name == "tcp_ecn" {
            self.ecn = settings::ecn(value)?;
            return Ok(());
        }
        settings::apply(&mut self.host.config, name, value)
    }
}
