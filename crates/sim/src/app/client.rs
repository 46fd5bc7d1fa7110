//! A client that loads pages: the root object, and when it has been read the objects that it names.
//!
//! ## References
//! RFC 9112 §9.3 (persistent connections), §9.4 (several connections of a client, which it should limit), §9.6 (closing); RFC 1945 §1.3
//! (one connection for each object). One request at a time is outstanding on a connection: no pipelining (RFC 9112 §9.3.2), which clients
//! do not use.

use std::collections::{BTreeMap, VecDeque};

use ackclock_core::distribution::Distribution;
use ackclock_core::rng::Generator;
use ackclock_core::units::{Duration, Instant};

use super::pages::Pages;
use super::{Action, Event, Page, Side, Transfer};
use crate::scenario::{ApplicationSpec, ClientSpec, Object};

/// What a time that comes is for.
#[derive(Clone, Copy, Debug)]
enum Due {
    /// The next page begins.
    Page,
    /// The root has been read: its objects are known.
    Objects,
    /// The server answers the request on this connection.
    Response(usize),
}

/// A connection that has been opened.
#[derive(Clone, Copy, Debug)]
struct Line {
    host: usize,
    /// The transfer under way.
    busy: Option<usize>,
    /// Bytes of requests and responses up to and with the one under way.
    asked: u64,
    expected: u64,
    /// Whether the server has taken the request that is under way.
    taken: bool,
}

/// What waits for a host's connections, and which of them are free.
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
    /// Connections that there may be in all.
    most: usize,
    pages: Pages,
    think: (Distribution, Generator),
    due: BTreeMap<(Instant, u64), Due>,
    /// Numbers what is due, so that things at the same time keep their order.
    numbered: u64,
    hosts: Vec<Host>,
    lines: Vec<Line>,
    /// The objects of the present page, and the number of its first transfer.
    objects: Vec<Object>,
    first: usize,
    /// Objects of the page that have not arrived.
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
            lines: Vec::new(),
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
                        Due::Response(line) => self.respond(line, actions),
                    }
                }
            }
            Event::Delivered { connection, side: Side::Sender, total } => self.take_request(now, connection as usize, total),
            Event::Delivered { connection, side: Side::Receiver, total } => self.take_response(now, connection as usize, total, actions),
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

    /// Plans the next page, if there is one.
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

    /// Queues objects of the present page for their hosts.
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

    /// Gives what waits to connections: to one that is idle, or to a new one while there may be more.
    fn assign(&mut self, now: Instant, actions: &mut Vec<Action>) {
        for host in 0..self.hosts.len() {
            while let Some(&transfer) = self.hosts[host].waiting.front() {
                let Some(line) = self.hosts[host].idle.pop().or_else(|| self.open(host, actions)) else { break };
                self.hosts[host].waiting.pop_front();
                self.request(now, line, transfer, actions);
            }
        }
    }

    fn open(&mut self, host: usize, actions: &mut Vec<Action>) -> Option<usize> {
        let line = self.lines.len();
        if self.hosts[host].open >= self.rules.connections || line >= self.most {
            return None;
        }
        self.hosts[host].open += 1;
        self.lines.push(Line { host, busy: None, asked: 0, expected: 0, taken: true });
        actions.push(Action::Open(line as u32));
        Some(line)
    }

    fn request(&mut self, now: Instant, line: usize, transfer: usize, actions: &mut Vec<Action>) {
        let object = self.objects[transfer - self.first];
        let state = &mut self.lines[line];
        (state.busy, state.taken) = (Some(transfer), false);
        state.asked = state.asked.saturating_add(object.request);
        state.expected = state.expected.saturating_add(object.response);
        let record = &mut self.transfers[transfer];
        (record.connection, record.requested) = (Some(line as u32), Some(now));
        actions.push(Action::Write(line as u32, Side::Receiver, object.request));
    }

    /// `total` bytes of requests have reached the server.
    fn take_request(&mut self, now: Instant, line: usize, total: u64) {
        let state = &mut self.lines[line];
        if total >= state.asked && !std::mem::replace(&mut state.taken, true) {
            self.plan(now + self.rules.server_delay, Due::Response(line));
        }
    }

    fn respond(&mut self, line: usize, actions: &mut Vec<Action>) {
        let Some(transfer) = self.lines[line].busy else { return };
        actions.push(Action::Write(line as u32, Side::Sender, self.transfers[transfer].bytes));
        if !self.rules.persistent {
            actions.push(Action::Close(line as u32, Side::Sender));
        }
    }

    /// `total` bytes of responses have reached the client.
    fn take_response(&mut self, now: Instant, line: usize, total: u64, actions: &mut Vec<Action>) {
        let Line { host, busy: Some(transfer), expected, .. } = self.lines[line] else { return };
        let record = &mut self.transfers[transfer];
        record.first_byte.get_or_insert(now);
        if total < expected {
            return;
        }
        record.completed = Some(now);
        let root = record.object == 0;
        self.lines[line].busy = None;
        if self.rules.persistent {
            self.hosts[host].idle.push(line);
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
            let lines = 0..self.lines.len() as u32;
            actions.extend(lines.map(|line| Action::Close(line, Side::Receiver)));
        }
    }
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
