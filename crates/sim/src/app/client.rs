//! A client that loads pages: first the root object and, after parsing it, the objects that it names.
//!
//! ## References
//! RFC 9112 §9.3 (persistent connections), §9.4 (several connections of a client, which it should limit), §9.6 (closing); RFC 1945 §1.3
//! (one connection for each object). A connection carries one outstanding request at a time: clients do not use pipelining (RFC 9112
//! §9.3.2).

use std::collections::{BTreeMap, VecDeque};

use ackclock_core::distribution::Distribution;
use ackclock_core::rng::Generator;
use ackclock_core::units::{Duration, Instant};
use ackclock_host::Side;

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
    /// The server responds to the request on this connection.
    Response(usize),
}

/// A connection that has been opened.
#[derive(Clone, Copy, Debug)]
struct Connection {
    host: usize,
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
    idle: Vec<usize>,
    /// Connections that are open.
    open: u32,
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
                        Due::Response(connection) => self.respond(connection, actions),
                    }
                }
            }
            Event::Delivered { connection, side: Side::Sender, total } => self.receive_request(now, connection as usize, total),
            Event::Delivered { connection, side: Side::Receiver, total } => self.receive_response(now, connection as usize, total, actions),
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

    /// Assigns waiting transfers to connections: to an idle one or, within the limits, to a new one.
    fn assign(&mut self, now: Instant, actions: &mut Vec<Action>) {
        for host in 0..self.hosts.len() {
            while let Some(&transfer) = self.hosts[host].waiting.front() {
                let Some(connection) = self.hosts[host].idle.pop().or_else(|| self.open(host, actions)) else { break };
                self.hosts[host].waiting.pop_front();
                self.request(now, connection, transfer, actions);
            }
        }
    }

    fn open(&mut self, host: usize, actions: &mut Vec<Action>) -> Option<usize> {
        let connection = self.connections.len();
        if self.hosts[host].open >= self.rules.connections || connection >= self.most {
            return None;
        }
        self.hosts[host].open += 1;
        self.connections.push(Connection { host, busy: None, requested_bytes: 0, response_bytes: 0, received: true });
        actions.push(Action::Open(connection as u32));
        Some(connection)
    }

    fn request(&mut self, now: Instant, connection: usize, transfer: usize, actions: &mut Vec<Action>) {
        let object = self.objects[transfer - self.first];
        let state = &mut self.connections[connection];
        (state.busy, state.received) = (Some(transfer), false);
        state.requested_bytes = state.requested_bytes.saturating_add(object.request);
        state.response_bytes = state.response_bytes.saturating_add(object.response);
        let record = &mut self.transfers[transfer];
        (record.connection, record.requested) = (Some(connection as u32), Some(now));
        actions.push(Action::Write(connection as u32, Side::Receiver, object.request));
    }

    /// `total` bytes of requests have reached the server.
    fn receive_request(&mut self, now: Instant, connection: usize, total: u64) {
        let state = &mut self.connections[connection];
        if total >= state.requested_bytes && !std::mem::replace(&mut state.received, true) {
            self.plan(now + self.rules.server_delay, Due::Response(connection));
        }
    }

    fn respond(&mut self, connection: usize, actions: &mut Vec<Action>) {
        let Some(transfer) = self.connections[connection].busy else { return };
        actions.push(Action::Write(connection as u32, Side::Sender, self.transfers[transfer].bytes));
        if !self.rules.persistent {
            actions.push(Action::Close(connection as u32, Side::Sender));
        }
    }

    /// `total` bytes of responses have reached the client.
    fn receive_response(&mut self, now: Instant, connection: usize, total: u64, actions: &mut Vec<Action>) {
        let Connection { host, busy: Some(transfer), response_bytes, .. } = self.connections[connection] else { return };
        let record = &mut self.transfers[transfer];
        record.first_byte.get_or_insert(now);
        if total < response_bytes {
            return;
        }
        record.completed = Some(now);
        let root = record.object == 0;
        self.connections[connection].busy = None;
        if self.rules.persistent {
            self.hosts[host].idle.push(connection);
        } else {
            self.hosts[host].open -= 1;
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
        if !self.plan_page(next) && self.rules.persistent {
            let connections = 0..self.connections.len() as u32;
            actions.extend(connections.map(|connection| Action::Close(connection, Side::Receiver)));
        }
    }
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
