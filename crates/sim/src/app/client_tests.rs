use std::ops::Range;

use super::*;
use crate::scenario::{ApplicationKind, Content};

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

/// A client with two connections, 10 ms of parsing, 3 ms of server delay, 500 ms of thinking, and two pages of a root and three objects.
fn rules(persistent: bool) -> ClientSpec {
    let object = |response| Object { host: 0, request: 100, response };
    ClientSpec {
        pages: Some(2),
        content: Content::Listed([object(1000), object(2000), object(3000), object(4000)].into()),
        connections: 2,
        persistent,
        multiplexed: false,
        parse: Duration::from_millis(10),
        server_delay: Duration::from_millis(3),
        think: Distribution::Fixed { mean: 0.5 },
    }
}

/// A client that is driven by hand.
struct Script(Client);

impl Script {
    fn new(rules: &ClientSpec, flows: Range<usize>) -> Self {
        let kind = ApplicationKind::Client(rules.clone());
        Self(Client::new(&ApplicationSpec { name: "a".to_owned(), start: at(1), stop: None, flows, kind }, rules, 1))
    }

    /// Advances to the next timeout, which must be at `millis`, exact to the nanosecond.
    fn wake(&mut self, millis: u64) -> Vec<Action> {
        let next = self.0.poll_timeout().unwrap_or_default();
        assert_eq!(next.as_nanos(), at(millis).as_nanos());
        self.handle(next, Event::Wake)
    }

    fn tell(&mut self, millis: u64, event: Event) -> Vec<Action> {
        self.handle(at(millis), event)
    }

    fn handle(&mut self, now: Instant, event: Event) -> Vec<Action> {
        let mut actions = Vec::new();
        self.0.handle(now, event, &mut actions);
        actions
    }

    /// A request reaches the server at `millis`. The server responds 3 ms later.
    fn ask(&mut self, millis: u64, connection: u32, total: u64) -> Vec<Action> {
        assert_eq!(self.tell(millis, Event::Delivered { connection, stream: StreamId::FIRST, side: Side::Sender, total }), []);
        self.wake(millis + 3)
    }

    fn arrive(&mut self, millis: u64, connection: u32, total: u64) -> Vec<Action> {
        self.tell(millis, Event::Delivered { connection, stream: StreamId::FIRST, side: Side::Receiver, total })
    }
}

fn asks(connection: u32) -> Action {
    Action::Write(connection, StreamId::FIRST, Side::Receiver, 100)
}

fn answers(connection: u32, bytes: u64) -> Action {
    Action::Write(connection, StreamId::FIRST, Side::Sender, bytes)
}

#[test]
fn a_page_over_two_persistent_connections() {
    let mut client = Script::new(&rules(true), 0..2);
    assert_eq!(client.wake(1), [Action::Open(0), asks(0)]);
    assert_eq!(client.ask(20, 0, 100), [answers(0, 1000)]);
    assert_eq!(client.arrive(40, 0, 600), []);
    assert_eq!(client.arrive(41, 0, 1000), []);
    // The idle connection carries the first object, a new one the second. The third object waits.
    assert_eq!(client.wake(51), [asks(0), Action::Open(1), asks(1)]);
    assert_eq!(client.ask(60, 0, 200), [answers(0, 2000)]);
    assert_eq!(client.ask(70, 1, 100), [answers(1, 3000)]);
    assert_eq!(client.arrive(90, 0, 3000), [asks(0)]);
    assert_eq!(client.ask(100, 0, 300), [answers(0, 4000)]);
    assert_eq!(client.arrive(110, 1, 3000), []);
    assert_eq!(client.arrive(120, 0, 7000), []);
    // The next page begins 500 ms after the last byte, on an open connection.
    assert_eq!(client.wake(620), [asks(0)]);
    assert_eq!(client.ask(630, 0, 400), [answers(0, 1000)]);
    client.arrive(640, 0, 8000);
    assert_eq!(client.wake(650), [asks(0), asks(1)]);
    client.ask(660, 0, 500);
    client.ask(670, 1, 200);
    assert_eq!(client.arrive(680, 0, 10_000), [asks(0)]);
    client.ask(690, 0, 600);
    client.arrive(700, 1, 6000);
    let closes = |line| Action::Close(line, StreamId::FIRST, Side::Receiver);
    assert_eq!(client.arrive(720, 0, 14_000), [closes(0), closes(1)], "after the last page the client closes");
    assert_eq!(client.0.poll_timeout(), None);
    let (transfers, pages) = client.0.into_results();
    let page = |page, started, completed| Page { page, started: at(started), completed: Some(at(completed)), objects: 4, bytes: 10_000 };
    assert_eq!(pages, [page(0, 1, 120), page(1, 620, 720)]);
    let third = transfers[3];
    let times = [Some(third.queued), third.requested, third.first_byte].map(|time| time.map(Instant::as_nanos));
    assert_eq!((third.object, times), (3, [51, 90, 120].map(|millis| Some(at(millis).as_nanos()))));
    assert_eq!((transfers[0].first_byte, transfers[0].completed), (Some(at(40)), Some(at(41))));
}

#[test]
fn without_persistence_every_object_has_a_connection() {
    let mut client = Script::new(&rules(false), 0..8);
    assert_eq!(client.wake(1), [Action::Open(0), asks(0)]);
    assert_eq!(client.ask(20, 0, 100), [answers(0, 1000), Action::Close(0, StreamId::FIRST, Side::Sender)]);
    client.arrive(40, 0, 1000);
    assert_eq!(client.wake(50), [Action::Open(1), asks(1), Action::Open(2), asks(2)]);
    client.ask(60, 1, 100);
    assert_eq!(client.arrive(80, 1, 2000), [Action::Open(3), asks(3)], "two at once, and no more");
}

#[test]
fn a_multiplexed_connection_carries_every_object_on_a_stream_of_its_own() {
    let rules = ClientSpec { multiplexed: true, connections: 1, ..rules(true) };
    assert_eq!(rules.most_connections(), Some(1));
    let mut client = Script::new(&rules, 0..1);
    let asks = |stream| [Action::Write(0, StreamId(stream), Side::Receiver, 100), Action::Close(0, StreamId(stream), Side::Receiver)];
    let answers =
        |stream, bytes| [Action::Write(0, StreamId(stream), Side::Sender, bytes), Action::Close(0, StreamId(stream), Side::Sender)];
    let delivered = |stream, side, total| Event::Delivered { connection: 0, stream: StreamId(stream), side, total };
    assert_eq!(client.wake(1), [&[Action::Open(0)][..], &asks(0)].concat());
    assert_eq!(client.ask(20, 0, 100), answers(0, 1000));
    client.arrive(40, 0, 1000);
    assert_eq!(client.wake(50), [asks(1), asks(2), asks(3)].concat(), "none waits for another");
    for stream in [2, 1, 3] {
        client.tell(60, delivered(stream, Side::Sender, 100));
    }
    // The server answers in the order of the requests' arrivals.
    assert_eq!(client.wake(63), [answers(2, 3000), answers(1, 2000), answers(3, 4000)].concat());
    client.tell(80, delivered(3, Side::Receiver, 4000));
    client.tell(81, delivered(1, Side::Receiver, 2000));
    assert_eq!(client.tell(90, delivered(2, Side::Receiver, 3000)), []);
    // The next page uses the same connection, on which nothing is left to close after the last page.
    assert_eq!(client.wake(590), asks(4));
    let (transfers, pages) = client.0.into_results();
    assert_eq!(pages[0].completed, Some(at(90)));
    let completed: Vec<_> = transfers.iter().map(|transfer| transfer.completed).collect();
    assert_eq!(completed, [Some(at(40)), Some(at(81)), Some(at(90)), Some(at(80)), None]);
}

#[test]
fn every_host_has_connections_of_its_own() {
    let object = |host, response| Object { host, request: 100, response };
    let content = Content::Listed([object(0, 10), object(1, 20), object(1, 30), object(1, 40), object(0, 50)].into());
    let rules = ClientSpec { content, ..rules(true) };
    // The root and the second object of its host share one connection. The second host has two connections.
    assert_eq!(rules.most_connections(), Some(3));
    let mut client = Script::new(&rules, 0..3);
    client.wake(1);
    client.ask(20, 0, 100);
    client.arrive(40, 0, 10);
    assert_eq!(client.wake(50), [asks(0), Action::Open(1), asks(1), Action::Open(2), asks(2)]);
}

#[test]
fn connections_are_as_many_as_can_be_needed() {
    assert_eq!(rules(true).most_connections(), Some(2));
    assert_eq!(rules(false).most_connections(), Some(8));
    let fixed = Distribution::Fixed { mean: 1.0 };
    let content = Content::Drawn { root: fixed.clone(), objects: 0, object: fixed, request: 1, hosts: 1 };
    let single = ClientSpec { content, pages: None, ..rules(true) };
    assert_eq!(single.most_connections(), Some(1));
    assert_eq!(ClientSpec { persistent: false, ..single }.most_connections(), None);
}
