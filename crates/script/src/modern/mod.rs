//! A host of `modern` endpoints as a [`Stack`]: sockets, listening, resets for packets that belong to no connection.

mod connection;
mod fast_open;
mod icmp;
mod info;
mod keep_alive;
mod limits;
mod options;
mod segments;
mod settings;
mod syn_cookies;
mod zero_copy;

use std::collections::VecDeque;
use std::net::SocketAddr;

use ackclock_core::units::{Duration, Instant};
use ackclock_tcp::modern::{Config, Endpoint, PacketMemory, State};

use self::connection::{Connection, Patience};
use self::fast_open::{FastOpen, Request};
use self::icmp::Meaning;
use self::options::SocketOptions;
use crate::errno::Errno;
use crate::host::{ControlParameters, Host};
use crate::network::Network;
use crate::packet::Packet;
use crate::play::constants;
use crate::script::Flags;
use crate::stack::{Answer, Control, Ends, Info, Opening, Refusal, Socket, Stack, Status, Value, Writing};
use ackclock_wire::icmp::Message;

/// Smallest segment of a link, in bytes.
const LEAST_MSS: u16 = 48;

/// A socket of the host.
#[derive(Debug)]
enum Slot {
    /// Neither listening nor connected.
    Fresh(SocketOptions),
    /// Waits for connections at an address; the last number is the length of the queue.
    Listening(SocketAddr, SocketOptions, i64),
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
    network: Network,
    fast_open: FastOpen,
    send: settings::Send,
    /// Whether listening sockets always use SYN cookies (`tcp_syncookies` = 2).
    syn_cookies: bool,
}

impl Modern {
    /// A host without connections in `network`.
    pub fn new(host: &Host, network: &Network) -> Self {
        let mss = host.config.mss.min(network.mtu - network.headers());
        // The world of the scripts has segmentation offload, with Linux's settings.
        let offload = host.config.offload.or(host.config.whole_segments.then_some(settings::OFFLOAD));
        // packetdrill's device is TUN.
        let packet_memory = PacketMemory::PowerOfTwo;
        let send_buffer = Some(settings::SEND_BUFFER);
        let host = Host { config: Config { mss, offload, packet_memory, send_buffer, ..host.config.clone() }, ..host.clone() };
        let ecn = settings::Ecn { offers: host.config.ecn, accepts: host.config.ecn };
        Self {
            host,
            ecn,
            control: ControlParameters::new(),
            slots: Vec::new(),
            resets: VecDeque::new(),
            network: *network,
            fast_open: FastOpen::new(network),
            send: settings::Send::default(),
            syn_cookies: false,
        }
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

    /// A connection with the options of its socket.
    fn connect_endpoint(&self, now: Instant, options: SocketOptions, ends: Ends, active: bool) -> Answer<Connection> {
        let mut endpoint = self.endpoint(&options, active)?;
        endpoint.set_cork(options.is_set("TCP_CORK"));
        options.limit(&mut endpoint, self.send.lowat);
        Ok(Connection::new(now, endpoint, ends, options))
    }

    /// The options of a socket that neither listens nor is connected.
    fn fresh(&mut self, socket: Socket) -> Answer<SocketOptions> {
        match self.slot(socket)? {
            Slot::Fresh(options) => Ok(options.clone()),
            Slot::Connected(connection) if !connection.is_usable() => Err(Errno::EALREADY.into()),
            _ => Err(Errno::EISCONN.into()),
        }
    }

    /// How to open a connection of a socket with `options`.
    fn request(&self, options: &SocketOptions, remote: SocketAddr) -> Request {
        let mss = options.segment(self.host.config.mss);
        self.fast_open.request(remote.ip(), options.is_set("TCP_FASTOPEN_NO_COOKIE"), mss)
    }

    /// Whether a listening socket takes another connection whose SYN brings data.
    fn takes_early(&self, listener: Socket, options: &SocketOptions, backlog: i64) -> bool {
        let most = options.fast_open_queue.or(self.fast_open.enables_all().then_some(backlog)).unwrap_or(0);
        let waits = |slot: &&Slot| matches!(slot, Slot::Connected(it) if it.listener == Some(listener) && it.endpoint.is_early());
        i64::try_from(self.slots.iter().filter(waits).count()).is_ok_and(|count| count < most)
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
        let known = self.slots.iter_mut().find_map(|slot| match slot {
            Slot::Connected(connection) if connection.ends == ends && !connection.is_gone() => Some(connection),
            _ => None,
        });
        if let Some(connection) = known {
            let opening = connection.endpoint.state() == State::SynSent;
            connection.handle(now, &packet);
            let answered = opening && packet.has(Flags::SYN | Flags::ACK) && connection.is_open();
            let carried = connection.endpoint.carried_data();
            let repeated = connection.endpoint.info(now).total_retrans > 0;
            if let Some(asked) = connection.asked.take_if(|_| answered) {
                self.fast_open.note_answer(&packet, &asked, repeated, carried);
            }
            return self.tidy();
        }
        let opens = packet.has(Flags::SYN) && !packet.has(Flags::ACK) && !packet.has(Flags::RST);
        let listener = self.slots.iter().position(|slot| matches!(slot, Slot::Listening(local, ..) if *local == ends.local));
        let Some(listener) = listener.filter(|_| opens) else { return self.resets.extend(segments::refusal(&packet)) };
        let Slot::Listening(_, options, backlog) = &self.slots[listener] else { return };
        let (options, backlog, listener) = (options.clone(), *backlog, listener as Socket);
        let reply = self.fast_open.reply(&packet, ends, options.fast_open_key, self.takes_early(listener, &options, backlog));
        // `listen` has checked that the endpoint can be made.
        let Ok(mut connection) = self.connect_endpoint(now, options, ends, false) else { return };
        (connection.listener, connection.cookie) = (Some(listener), reply.cookie);
        if reply.accepts {
            connection.endpoint.accept_early();
        }
        connection.handle(now, &packet);
        let mss = segments::mss(&packet);
        connection.cookie_segment = mss.filter(|_| self.syn_cookies).map(|mss| syn_cookies::segment(ends.local.is_ipv4(), mss));
        self.add(Slot::Connected(Box::new(connection)));
    }

    fn reads_icmp(&self) -> bool {
        true
    }

    fn handle_icmp(&mut self, _now: Instant, message: &Message) -> Answer<()> {
        let ends = Ends { local: message.source, remote: message.target };
        let Some(connection) = self.connections().find(|connection| connection.ends == ends) else { return Ok(()) };
        if !connection.endpoint.is_outstanding(message.seq) {
            return Ok(());
        }
        match icmp::meaning(message) {
            Meaning::Unreachable(error) => connection.note_unreachable(error),
            Meaning::TooLarge => return Err(Refusal::Unsupported("`modern` does not model messages about the path's MTU".to_owned())),
            Meaning::Nothing => {}
        }
        self.tidy();
        Ok(())
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Vec<u8>> {
        let packet = self.resets.pop_front().or_else(|| self.connections().find_map(|connection| connection.poll_transmit(now)))?;
        self.tidy();
        // A segment of the host fits a packet.
        packet.encode().ok()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let deadlines = self.slots.iter().filter_map(|slot| if let Slot::Connected(it) = slot { it.poll_timeout() } else { None });
        deadlines.reduce(Instant::min)
    }

    fn handle_timeout(&mut self, now: Instant) {
        // Deadlines may be a rounding error later than the time of a script.
        let late = now + Duration::NANOSECOND;
        let Config { syn_linear_timeouts: linear, rto, .. } = self.host.config;
        let patience = Patience { syn_retries: self.send.syn_retries, linear, timeout: rto.initial };
        for connection in self.connections() {
            if connection.poll_timeout().is_some_and(|due| due <= late) {
                connection.handle_timeout(now, &patience);
            }
        }
        self.tidy();
    }

    fn socket(&mut self) -> Answer<Socket> {
        Ok(self.add(Slot::Fresh(SocketOptions::default())))
    }

    fn listen(&mut self, socket: Socket, local: SocketAddr, backlog: i64) -> Answer<()> {
        if self.slots.iter().any(|slot| matches!(slot, Slot::Listening(other, ..) if *other == local)) {
            return Err(Errno::EADDRINUSE.into());
        }
        let slot = self.slot(socket)?;
        let Slot::Fresh(options) = slot else { return Err(Errno::EINVAL.into()) };
        let options = options.clone();
        *slot = Slot::Listening(local, options.clone(), backlog);
        self.endpoint(&options, false).map(drop)
    }

    fn accept(&mut self, _now: Instant, listener: Socket) -> Answer<Option<Socket>> {
        let Slot::Listening(..) = self.slot(listener)? else { return Err(Errno::EINVAL.into()) };
        let waits = |slot: &Slot| matches!(slot, Slot::Connected(it) if it.listener == Some(listener) && it.is_usable());
        let Some(index) = self.slots.iter().position(waits) else { return Ok(None) };
        if let Slot::Connected(connection) = &mut self.slots[index] {
            connection.listener = None;
        }
        Ok(Some(index as Socket))
    }

    fn connect(&mut self, now: Instant, socket: Socket, ends: Ends) -> Answer<()> {
        let options = self.fresh(socket)?;
        if options.is_set("TCP_FASTOPEN_CONNECT") {
            return self.connect_with_data(now, socket, ends, (0, Writing::default())).map(drop);
        }
        let connection = self.connect_endpoint(now, options, ends, true)?;
        *self.slot(socket)? = Slot::Connected(Box::new(connection));
        Ok(())
    }

    fn connect_with_data(&mut self, now: Instant, socket: Socket, ends: Ends, (bytes, how): (u64, Writing)) -> Answer<Opening> {
        let options = self.fresh(socket)?;
        if !self.fast_open.is_client() {
            return Err(Errno::EOPNOTSUPP.into());
        }
        let request = self.request(&options, ends.remote);
        let mut connection = self.connect_endpoint(now, options, ends, true)?;
        (connection.asked, connection.cookie) = (Some(request.cookie.clone().unwrap_or_default()), request.cookie);
        let opening = match request.room {
            Some(room) if bytes > 0 => {
                let carried = bytes.min(u64::from(room));
                connection.write_with_syn(now, carried, how);
                Opening::Carries(carried)
            }
            _ => Opening::Requests,
        };
        *self.slot(socket)? = Slot::Connected(Box::new(connection));
        Ok(opening)
    }

    fn defers_connect(&mut self, socket: Socket, remote: SocketAddr) -> bool {
        match self.fresh(socket) {
            Ok(options) => options.is_set("TCP_FASTOPEN_CONNECT") && self.request(&options, remote).room.is_some(),
            Err(_) => false,
        }
    }

    fn disconnect(&mut self, now: Instant, socket: Socket) -> Answer<()> {
        let connection = self.connection(socket, Errno::EINVAL)?;
        connection.abort(now);
        let reset = connection.poll_transmit(now);
        let options = connection.options.clone();
        self.resets.extend(reset);
        *self.slot(socket)? = Slot::Fresh(options);
        Ok(())
    }

    fn write(&mut self, now: Instant, socket: Socket, bytes: u64, how: Writing) -> Answer<u64> {
        self.connection(socket, Errno::EPIPE)?.write(now, bytes, how)
    }

    fn notification(&mut self, _now: Instant, socket: Socket) -> Answer<Option<Control>> {
        let network = self.network;
        match self.slot(socket)? {
            Slot::Connected(connection) => Ok(connection.zero_copy.take(&network)),
            _ => Ok(None),
        }
    }

    fn controls(&mut self, socket: Socket) -> Answer<Vec<Control>> {
        let Slot::Connected(connection) = self.slot(socket)? else { return Ok(Vec::new()) };
        if !connection.options.is_set("TCP_INQ") {
            return Ok(Vec::new());
        }
        // The peer's FIN counts as a byte once all data is read.
        let unread = connection.endpoint.readable();
        let left = unread + u64::from(unread == 0 && connection.endpoint.has_heard_fin());
        let number = |name: &str| constants::find(name).unwrap_or(0);
        Ok(vec![Control { level: number("SOL_TCP"), kind: number("TCP_CM_INQ"), fields: vec![(String::new(), left.cast_signed())] }])
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
        self.tidy();
        Ok(())
    }

    fn set_option(&mut self, _now: Instant, socket: Socket, name: &str, value: &Value) -> Answer<()> {
        if let ("TCP_CONGESTION", Value::Text(control)) = (name, value) {
            let parameters = ControlParameters::from([("tcp_congestion_control".to_owned(), control.clone())]);
            (self.host.controls)(&parameters).map_err(Refusal::Unsupported)?;
        }
        if name.starts_with("TCP_FASTOPEN") && !self.fast_open.is_allowed(name) {
            return Err(Errno::EOPNOTSUPP.into());
        }
        let (nagle, lowat) = (self.host.config.nagle, self.send.lowat);
        match self.slot(socket)? {
            Slot::Fresh(options) | Slot::Listening(_, options, _) => options.set(name, value),
            Slot::Connected(connection) => match name {
                "TCP_CONGESTION" | "TCP_MAXSEG" | "SO_RCVBUF" => {
                    Err(Refusal::Unsupported(format!("`modern` does not change {name} of an open connection")))
                }
                _ => {
                    connection.options.set(name, value)?;
                    let Connection { options, endpoint, .. } = &mut **connection;
                    match (name, value) {
                        ("TCP_NODELAY", _) => endpoint.set_nagle(nagle && !options.nodelay),
                        ("TCP_CORK", _) => endpoint.set_cork(options.is_set(name)),
                        ("SO_SNDBUF" | "TCP_NOTSENT_LOWAT", _) => options.limit(endpoint, lowat),
                        _ => {}
                    }
                    Ok(())
                }
            },
            Slot::Free => Err(Errno::EBADF.into()),
        }
    }

    fn option(&mut self, _now: Instant, socket: Socket, name: &str) -> Answer<Value> {
        match self.slot(socket)? {
            Slot::Fresh(options) | Slot::Listening(_, options, _) => options.get(name),
            Slot::Connected(connection) => match name {
                "SO_ERROR" => Ok(Value::Integer(connection.error.take().map_or(0, |error| i64::from(error.0)))),
                "SO_SNDBUF" => Ok(Value::Integer(connection.endpoint.send_buffer().unwrap_or(0).cast_signed())),
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
                let ready = |slot: &Slot| matches!(slot, Slot::Connected(it) if it.listener == Some(socket) && it.is_usable());
                Status { readable: self.slots.iter().any(ready), ..Status::default() }
            }
            _ => Status { writable: true, hung_up: true, ..Status::default() },
        }
    }

    fn info(&self, now: Instant, socket: Socket) -> Info {
        match self.slots.get(socket as usize) {
            Some(Slot::Connected(connection)) => info::fields(now, connection),
            Some(Slot::Listening(..)) => info::unconnected(State::Listen),
            _ => info::unconnected(State::Closed),
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
        if name == "tcp_syncookies" {
            self.syn_cookies = value.trim() == "2";
            return Ok(());
        }
        if name == "link.mtu" {
            let mtu: u16 = value.trim().parse().map_err(|_| Refusal::Error(Errno::EINVAL))?;
            self.host.config.mss = mtu.checked_sub(self.network.headers()).filter(|mss| *mss >= LEAST_MSS).ok_or(Errno::EINVAL)?;
            return Ok(());
        }
        if fast_open::PARAMETERS.contains(&name) {
            return self.fast_open.configure(name, value).ok_or(Refusal::Error(Errno::EINVAL));
        }
        if let Some(valid) = self.send.configure(name, value) {
            return valid;
        }
        settings::apply(&mut self.host.config, name, value)?;
        if name.starts_with("tcp_ecn_option") {
            // Holds for connections that are open, too.
            let config = self.host.config.clone();
            self.connections().for_each(|connection| connection.endpoint.configure_ecn_option(&config));
        }
        Ok(())
    }
}
