//! A client that loads pages: first the root object and, after parsing it, the objects that it names.
//!
//! ## References
//! RFC 9112 §9.3 (persistent connections), §9.4 (several connections of a client, which it should limit), §9.6 (closing); RFC 1945 §1.3
//! (one connection for each object). A connection carries one outstanding request at a time: clients do not use pipelining (RFC 9112
//! §9.3.2). With streams it carries all requests at once, each on a stream of its own (RFC 9114 §4.1, §6.1).

use std::collections::{BTreeMap, VecDeque};

use ackclock_core::distribution::Distribution;
use ackclock_core::rng::Generator;
use ackclock_core::units::{Duration, Instant};
use ackclock_host::{Side, StreamId};

use super::event::{Action, Event};
use super::pages::Pages;
use super::rows::{Page, Transfer};
use crate::scenario::{ApplicationSpec, ClientSpec, Object};

/// The purpose of a timeout.
#[derive(Clone, Copy, Debug)]
enum Due {
    /// The next page begins.
    Page,
    /// The root has been parsed: its objects are known.
    Objects,
    /// The server responds to the request on this stream.
    Response(Place),
}

/// A stream of a connection.
#[derive(Clone, Copy, Debug)]
struct Place {
    connection: usize,
    stream: usize,
}

impl Place {
    fn new(connection: u32, stream: StreamId) -> Self {
        Self { connection: connection as usize, stream: stream.0 as usize }
    }

    /// The numbers of connection and stream.
    fn numbers(self) -> (u32, StreamId) {
        (self.connection as u32, StreamId(self.stream as u32))
    }
}

/// A connection that has been opened.
#[derive(Clone, Debug)]
struct Connection {
    host: usize,
    streams: Vec<Stream>,
}

/// A stream that carries transfers one after the other.
#[derive(Clone, Copy, Debug, Default)]
struct Stream {
    /// The transfer in progress.
    busy: Option<usize>,
    /// Total bytes of requests and of responses, with the transfer in progress.
    requested_bytes: u64,
    response_bytes: u64,
    /// Whether the server has received the request in progress.
    received: bool,
}

/// The transfers that wait for a connection to a host, and its connections.
#[derive(Debug, Default)]
struct Host {
    waiting: VecDeque<usize>,
    idle: Vec<Place>,
    /// Connections that are open.
    open: u32,
    /// The connection opened last.
    last: Option<usize>,
}

/// The state of a client.
#[derive(Debug)]
pub(crate) struct Client {
    rules: ClientSpec,
    stop: Option<Instant>,
    /// Largest number of connections in all.
    most: usize,
    pages: Pages,
    think: (Distribution, Generator),
    due: BTreeMap<(Instant, u64), Due>,
    /// Sequence number of timeouts, which orders those at the same time.
    numbered: u64,
    hosts: Vec<Host>,
    connections: Vec<Connection>,
    /// The objects of the current page, and the index of its first transfer.
    objects: Vec<Object>,
    first: usize,
    /// Number of objects of the page that have not arrived.
    missing: usize,
    loaded: Vec<Page>,
    transfers: Vec<Transfer>,
}

impl Client {
    pub(super) fn new(spec: &ApplicationSpec, rules: &ClientSpec, seed: u64) -> Self {
        let pages = Pages::new(&rules.content, &spec.name, seed);
        let hosts = (0..pages.hosts()).map(|_| Host::default()).collect();
        let think = (rules.think.clone(), Generator::derived(seed, &format!("flow/{}/think", spec.name)));
        let mut client = Self {
            rules: rules.clone(),
            stop: spec.stop,
            most: spec.flows.len(),
            pages,
            think,
            due: BTreeMap::new(),
            numbered: 0,
            hosts,
            connections: Vec::new(),
            objects: Vec::new(),
            first: 0,
            missing: 0,
            loaded: Vec::new(),
            transfers: Vec::new(),
        };
        client.plan_page(spec.start);
        client
    }

    pub(super) fn handle(&mut self, now: Instant, event: Event, actions: &mut Vec<Action>) {
        match event {
            Event::Wake => {
                while let Some(entry) = self.due.first_entry().filter(|entry| entry.key().0 <= now) {
                    match entry.remove() {
                        Due::Page => self.begin_page(now),
                        Due::Objects => self.queue(now, 1..self.objects.len()),
                        Due::Response(place) => self.respond(place, actions),
                    }
                }
            }
            Event::Delivered { connection, stream, side, total } => {
                let place = Place::new(connection, stream);
                match side {
                    Side::Sender => self.receive_request(now, place, total),
                    Side::Receiver => self.receive_response(now, place, total, actions),
                }
            }
        }
        self.assign(now, actions);
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.due.first_key_value().map(|((at, _), _)| *at)
    }

    pub(super) fn into_results(self) -> (Vec<Transfer>, Vec<Page>) {
        (self.transfers, self.loaded)
    }

    fn plan(&mut self, at: Instant, due: Due) {
        self.numbered += 1;
        self.due.insert((at, self.numbered), due);
    }

    /// Schedules the next page, if there is one.
    fn plan_page(&mut self, at: Instant) -> bool {
        let more = self.rules.pages.is_none_or(|pages| self.loaded.len() < pages as usize);
        let wanted = more && self.stop.is_none_or(|stop| at < stop);
        if wanted {
            self.plan(at, Due::Page);
        }
        wanted
    }

    fn begin_page(&mut self, now: Instant) {
        self.objects = self.pages.next_page();
        (self.first, self.missing) = (self.transfers.len(), self.objects.len());
        let bytes = self.objects.iter().map(|object| object.response).fold(0, u64::saturating_add);
        let page = self.loaded.len() as u32;
        self.loaded.push(Page { page, started: now, completed: None, objects: self.objects.len() as u32, bytes });
        self.queue(now, 0..1);
    }

    /// Queues objects of the current page for their hosts.
    fn queue(&mut self, now: Instant, objects: std::ops::Range<usize>) {
        let page = self.loaded.len() as u32 - 1;
        for number in objects {
            let Object { host, response, .. } = self.objects[number];
            self.hosts[host as usize].waiting.push_back(self.transfers.len());
            self.transfers.push(Transfer {
                page,
                object: number as u32,
                connection: None,
                bytes: response,
                queued: now,
                requested: None,
                first_byte: None,
                completed: None,
            });
        }
    }

    fn stream(&mut self, place: Place) -> &mut Stream {
        &mut self.connections[place.connection].streams[place.stream]
    }

    /// Assigns waiting transfers to connections: to an idle one, as a new stream, or, within the limits, to a new one.
    fn assign(&mut self, now: Instant, actions: &mut Vec<Action>) {
        for host in 0..self.hosts.len() {
            while let Some(&transfer) = self.hosts[host].waiting.front() {
                let idle = self.hosts[host].idle.pop().or_else(|| self.begin_stream(host));
                let Some(place) = idle.or_else(|| self.open(host, actions)) else { break };
                self.hosts[host].waiting.pop_front();
                self.request(now, place, transfer, actions);
            }
        }
    }

    /// A new stream on the connection to a host, if its connection carries several.
    fn begin_stream(&mut self, host: usize) -> Option<Place> {
        let connection = self.hosts[host].last.filter(|_| self.rules.multiplexed)?;
        let streams = &mut self.connections[connection].streams;
        streams.push(Stream::default());
        Some(Place { connection, stream: streams.len() - 1 })
    }

    fn open(&mut self, host: usize, actions: &mut Vec<Action>) -> Option<Place> {
        let connection = self.connections.len();
        if self.hosts[host].open >= self.rules.connections || connection >= self.most {
            return None;
        }
        self.hosts[host].open += 1;
        self.hosts[host].last = Some(connection);
        self.connections.push(Connection { host, streams: vec![Stream::default()] });
        actions.push(Action::Open(connection as u32));
        Some(Place { connection, stream: 0 })
    }

    fn request(&mut self, now: Instant, place: Place, transfer: usize, actions: &mut Vec<Action>) {
        let object = self.objects[transfer - self.first];
        let state = self.stream(place);
        (state.busy, state.received) = (Some(transfer), false);
        state.requested_bytes = state.requested_bytes.saturating_add(object.request);
        state.response_bytes = state.response_bytes.saturating_add(object.response);
        let (connection, stream) = place.numbers();
        let record = &mut self.transfers[transfer];
        (record.connection, record.requested) = (Some(connection), Some(now));
        actions.push(Action::Write(connection, stream, Side::Receiver, object.request));
        if self.rules.multiplexed {
            actions.push(Action::Close(connection, stream, Side::Receiver));
        }
    }

    /// `total` bytes of requests have reached the server.
    fn receive_request(&mut self, now: Instant, place: Place, total: u64) {
        let state = self.stream(place);
        if total >= state.requested_bytes && !std::mem::replace(&mut state.received, true) {
            self.plan(now + self.rules.server_delay, Due::Response(place));
        }
    }

    fn respond(&mut self, place: Place, actions: &mut Vec<Action>) {
        let Some(transfer) = self.stream(place).busy else { return };
        let (connection, stream) = place.numbers();
        actions.push(Action::Write(connection, stream, Side::Sender, self.transfers[transfer].bytes));
        if self.rules.multiplexed || !self.rules.persistent {
            actions.push(Action::Close(connection, stream, Side::Sender));
        }
    }

    /// `total` bytes of responses have reached the client.
    fn receive_response(&mut self, now: Instant, place: Place, total: u64, actions: &mut Vec<Action>) {
        let Stream { busy: Some(transfer), response_bytes, .. } = *self.stream(place) else { return };
        let record = &mut self.transfers[transfer];
        record.first_byte.get_or_insert(now);
        if total < response_bytes {
            return;
        }
        record.completed = Some(now);
        let root = record.object == 0;
        self.stream(place).busy = None;
        let host = self.connections[place.connection].host;
        if !self.rules.persistent {
            self.hosts[host].open -= 1;
        } else if !self.rules.multiplexed {
            self.hosts[host].idle.push(place);
        }
        self.missing -= 1;
        if self.missing == 0 {
            self.complete_page(now, actions);
        } else if root {
            self.plan(now + self.rules.parse, Due::Objects);
        }
    }

    fn complete_page(&mut self, now: Instant, actions: &mut Vec<Action>) {
        if let Some(page) = self.loaded.last_mut() {
            page.completed = Some(now);
        }
        let (think, generator) = &mut self.think;
        let next = now + Duration::from_secs_f64(think.draw(generator));
        // Every stream of a multiplexed connection has been closed.
        if !self.plan_page(next) && self.rules.persistent && !self.rules.multiplexed {
            let connections = 0..self.connections.len() as u32;
            actions.extend(connections.map(|connection| Action::Close(connection, StreamId::FIRST, Side::Receiver)));
        }
    }
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
