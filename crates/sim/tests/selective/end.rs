//! An end of a connection: sender and receiver.
//!
//! A packet begins with its kind. A data packet then has its number, its stream, the offset of its first byte in the stream, the number of
//! its bytes and the time of its transmission. An ACK has the number of marked packets so far, the one-way delay of the packet that causes
//! it, and ranges of packet numbers, the newest first. Times are in nanoseconds. Integers are big-endian, of eight bytes.
//!
//! The data of all streams also has positions in the order in which it was first sent, as the control expects.

use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Unbounded};

use ackclock_core::events::{
    Ack, Cause, CongestionEvent, Delivered, Established, Lost, MarkCount, PART_OF_A_SEGMENT, Sent, Snapshot, Totals,
};
use ackclock_core::qdisc::Ecn;
use ackclock_core::units::{Bytes, Duration, Instant};
use ackclock_host::{ControlSeat, Counters, Datagram, DeliveryRate, Restart, StreamId, Transmission};

/// IPv4, UDP, and kind, number, stream, offset, length and time.
pub(super) const HEADER: u64 = 28 + 41;
/// RFC 9002 §6.1.1.
const PACKET_THRESHOLD: u64 = 3;
/// Most ranges in an ACK.
const RANGES: usize = 32;
const MIN_TIMEOUT: Duration = Duration::from_millis(200);

const HELLO: u8 = 0;
const REPLY: u8 = 1;
const DATA: u8 = 2;
const ACK: u8 = 3;

/// Ranges of integers: the start of each with its end.
type Ranges = BTreeMap<u64, u64>;

/// Adds `[start, end)` to disjoint ranges.
fn insert(ranges: &mut Ranges, (mut start, mut end): (u64, u64)) {
    while let Some((&from, &to)) = ranges.range(..=end).next_back().filter(|(_, to)| **to >= start) {
        (start, end) = (start.min(from), end.max(to));
        ranges.remove(&from);
    }
    ranges.insert(start, end);
}

/// Data of a stream.
#[derive(Clone, Copy, Debug)]
struct Chunk {
    position: u64,
    stream: StreamId,
    offset: u64,
    length: u64,
}

impl Chunk {
    /// One past its last position.
    fn end(&self) -> u64 {
        self.position + self.length
    }

    /// The first `length` bytes, and the rest.
    fn split(self, length: u64) -> [Self; 2] {
        let rest = Self { position: self.position + length, offset: self.offset + length, length: self.length - length, ..self };
        [Self { length, ..self }, rest]
    }
}

/// The bytes of a stream that were written and sent.
#[derive(Clone, Copy, Debug, Default)]
struct Outgoing {
    written: u64,
    sent: u64,
}

/// A packet in flight.
#[derive(Clone, Copy, Debug)]
struct Packet {
    chunk: Chunk,
    resent: bool,
    snapshot: Snapshot,
}

#[derive(Debug)]
pub(super) struct End {
    seat: ControlSeat,
    rate: DeliveryRate,
    ecn: bool,
    seed: u64,
    established: bool,
    /// What the end sends next, besides data: HELLO, REPLY or ACK.
    owes: Option<u8>,
    hello_at: Instant,
    lost_hellos: u32,
    // The streams that the end sends.
    outgoing: BTreeMap<StreamId, Outgoing>,
    /// The stream that new data was last sent of.
    served: StreamId,
    written: u64,
    supplied: bool,
    nxt: u64,
    una: u64,
    number: u64,
    packets: BTreeMap<u64, Packet>,
    acked: Ranges,
    /// Lost data, by position.
    to_resend: BTreeMap<u64, Chunk>,
    inflight: u64,
    sent_bytes: u64,
    counters: Counters,
    /// The recovery ends when all data below this position has arrived; whether a timeout has begun it.
    recovery: Option<(u64, bool)>,
    marks: u64,
    latest: Option<Duration>,
    srtt: Option<Duration>,
    rttvar: Duration,
    min_rtt: Option<Duration>,
    backoff: u32,
    timer: Option<Instant>,
    pace: Option<Instant>,
    // The streams that the end receives.
    heard: BTreeMap<StreamId, Ranges>,
    delivered: u64,
    /// The stream of which the last packet delivered data.
    fresh: Option<StreamId>,
    heard_packets: Ranges,
    heard_marks: u64,
    /// One-way delay of the last packet, in nanoseconds.
    delay: u64,
}

impl End {
    pub(super) fn new(seat: ControlSeat, ecn: bool, seed: u64) -> Self {
        Self {
            seat,
            rate: DeliveryRate::default(),
            ecn,
            seed,
            established: false,
            owes: None,
            hello_at: Instant::ZERO,
            lost_hellos: 0,
            outgoing: BTreeMap::new(),
            served: StreamId::FIRST,
            written: 0,
            supplied: false,
            nxt: 0,
            una: 0,
            number: 0,
            packets: BTreeMap::new(),
            acked: Ranges::new(),
            to_resend: BTreeMap::new(),
            inflight: 0,
            sent_bytes: 0,
            counters: Counters::default(),
            recovery: None,
            marks: 0,
            latest: None,
            srtt: None,
            rttvar: Duration::ZERO,
            min_rtt: None,
            backoff: 0,
            timer: None,
            pace: None,
            heard: BTreeMap::new(),
            delivered: 0,
            fresh: None,
            heard_packets: Ranges::new(),
            heard_marks: 0,
            delay: 0,
        }
    }

    pub(super) fn seat(&self) -> &ControlSeat {
        &self.seat
    }

    pub(super) fn seat_mut(&mut self) -> &mut ControlSeat {
        &mut self.seat
    }

    pub(super) fn counters(&self) -> Counters {
        self.counters
    }

    pub(super) fn min_rtt(&self) -> Option<Duration> {
        self.min_rtt
    }

    pub(super) fn unsent(&self) -> u64 {
        self.written - self.nxt
    }

    /// Bytes of all streams delivered in order.
    pub(super) fn delivered(&self) -> u64 {
        self.delivered
    }

    pub(super) fn delivered_of(&self, stream: StreamId) -> u64 {
        self.heard.get(&stream).and_then(|heard| heard.get(&0)).copied().unwrap_or(0)
    }

    pub(super) fn fresh(&self) -> Option<StreamId> {
        self.fresh
    }

    pub(super) fn timing(&self) -> (Option<Duration>, Duration) {
        let timeout = self.srtt.map_or(Duration::from_millis(1000), |srtt| (srtt + self.rttvar * 4.0).max(MIN_TIMEOUT));
        (self.srtt, timeout * f64::from(1_u32 << self.backoff.min(6)))
    }

    pub(super) fn open(&mut self, now: Instant) {
        (self.owes, self.hello_at) = (Some(HELLO), now);
    }

    /// `supplied`: an application writes, which may write more.
    pub(super) fn write(&mut self, stream: StreamId, bytes: u64, supplied: bool) {
        self.outgoing.entry(stream).or_default().written += bytes;
        self.written += bytes;
        self.supplied |= supplied;
        self.supply();
    }

    fn supply(&mut self) {
        if self.supplied {
            self.seat.supply_first_flight(self.written);
        }
    }

    fn total(&self) -> Totals {
        Totals::new(self.sent_bytes, self.rate.delivered(), self.rate.lost())
    }

    fn segments(&self, bytes: u64) -> u32 {
        bytes.div_ceil(self.seat.smss()) as u32
    }

    fn establish(&mut self, now: Instant, available: Option<u64>) {
        if std::mem::replace(&mut self.established, true) {
            return;
        }
        if self.lost_hellos == 0 && now > self.hello_at {
            self.measure(now.since(self.hello_at));
        }
        (self.backoff, self.timer) = (0, None);
        let event = Established::new(now, Bytes(self.seat.smss())).with(|event| {
            event.lost_syns = self.lost_hellos;
            event.rtt = self.latest;
            event.available = available.map(|packets| packets as f64);
            event.selective = true;
            event.header = Bytes(HEADER);
            event.seed = self.seed;
        });
        self.seat.establish(&event, (0, self.seat.smss()));
        self.supply();
        if self.unsent() == 0 {
            self.seat.begin_idle(now);
        }
    }

    fn measure(&mut self, rtt: Duration) {
        self.latest = Some(rtt);
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        let srtt = self.srtt.unwrap_or(rtt);
        let deviation = (srtt.as_secs_f64() - rtt.as_secs_f64()).abs();
        self.rttvar = match self.srtt {
            None => rtt * 0.5,
            Some(_) => self.rttvar * 0.75 + Duration::from_secs_f64(deviation) * 0.25,
        };
        self.srtt = Some(srtt * 0.875 + rtt * 0.125);
    }

    /// `available`: the packets of a bulk transfer, if their number is known.
    pub(super) fn handle(&mut self, now: Instant, arrived: &Datagram<Vec<u8>>, available: Option<u64>) {
        let Some((&kind, rest)) = arrived.payload.as_deref().and_then(<[u8]>::split_first) else { return };
        let numbers: Vec<u64> = rest.as_chunks().0.iter().copied().map(u64::from_be_bytes).collect();
        match (kind, &numbers[..]) {
            (HELLO, _) => (self.owes, self.hello_at) = (Some(REPLY), now),
            (REPLY, _) => self.establish(now, available),
            (DATA, &[number, stream, offset, length, sent]) => {
                let stream = StreamId(stream as u32);
                self.establish(now, available);
                self.delay = now.since(Instant::from_nanos(sent)).as_nanos();
                self.heard_marks += u64::from(arrived.ecn == Ecn::Ce);
                insert(&mut self.heard_packets, (number, number + 1));
                let before = self.delivered_of(stream);
                insert(self.heard.entry(stream).or_default(), (offset, offset + length));
                let new = self.delivered_of(stream) - before;
                self.delivered += new;
                self.fresh = (new > 0).then_some(stream);
                self.owes = Some(ACK);
            }
            (ACK, [marks, delay, ranges @ ..]) => {
                let delay = Duration::from_nanos(*delay);
                self.acknowledge(now, *marks, delay, ranges.as_chunks().0);
            }
            _ => {}
        }
    }

    fn acknowledge(&mut self, now: Instant, marks: u64, delay: Duration, ranges: &[[u64; 2]]) {
        let (inflight_before, una) = (self.inflight, self.una);
        let mut newest: Option<(u64, Snapshot)> = None;
        let mut delivered = 0;
        for &[first, last] in ranges {
            let numbers: Vec<u64> = self.packets.range(first..=last).map(|(number, _)| *number).collect();
            for number in numbers {
                let Some(packet) = self.packets.remove(&number) else { continue };
                let chunk = packet.chunk;
                delivered += chunk.length;
                if self.seat.wants().deliveries {
                    let (start, end) = (chunk.position, chunk.end());
                    self.seat.on_delivered(&Delivered::new(now, start, end).with(|delivered| {
                        delivered.packet = packet.snapshot;
                        delivered.retransmission = packet.resent;
                    }));
                }
                insert(&mut self.acked, (chunk.position, chunk.end()));
                if newest.is_none_or(|(latest, _)| number > latest) {
                    newest = Some((number, packet.snapshot));
                }
            }
        }
        let Some((largest, snapshot)) = newest else { return };
        self.inflight -= delivered;
        self.una = self.acked.get(&0).copied().unwrap_or(0);
        self.backoff = 0;
        self.measure(now.since(snapshot.sent_at));
        let sample = self.rate.deliver(now, delivered, &snapshot, self.min_rtt);
        let marked = marks > std::mem::replace(&mut self.marks, marks);
        let overtaken = self.packets.range(..largest.saturating_sub(PACKET_THRESHOLD - 1)).map(|(number, _)| *number).collect();
        self.lose(now, overtaken, Cause::DupAck);
        if marked && self.recovery.is_none() {
            self.reduce(now, Cause::EcnCe, false);
        }
        self.seat.acknowledge(self.una);
        if self.una == self.nxt && self.unsent() == 0 {
            self.seat.begin_idle(now);
        }
        let timed_out = self.recovery.is_some_and(|(_, timeout)| timeout);
        let ack = Ack::new(now, self.segments(self.una - una), Bytes(0)).with(|ack| {
            ack.counted = self.seat.counted(delivered, timed_out);
            ack.may_grow = !marked && self.recovery.is_none_or(|(_, timeout)| timeout);
            ack.cwnd_limited = self.seat.was_limited(una);
            ack.flight_size = self.segments(self.inflight);
            ack.delivered = delivered;
            ack.marked = if marked { delivered } else { 0 };
            ack.lost = self.rate.take_newly_lost();
            ack.inflight_before = inflight_before;
            ack.release = self.seat.next_of_pacer();
            ack.inflight = self.inflight;
            ack.snd_una = self.una;
            ack.snd_nxt = self.nxt;
            ack.total = self.total();
            ack.sample = Some(sample);
            ack.rtt = self.latest;
            ack.one_way_delay = Some(delay).filter(|_| self.seat.wants().one_way_delay);
            ack.srtt = self.srtt;
            ack.min_rtt = self.min_rtt;
            ack.round = self.rate.round();
            ack.ecn_echo = marked;
            ack.mark_count = MarkCount::AtMost;
        });
        self.seat.on_ack(&ack);
        if self.seat.holds_back() {
            self.rate.note_app_limited(self.inflight);
        }
        if self.recovery.take_if(|(point, _)| self.una >= *point).is_some() {
            self.seat.end_recovery(now);
        }
        let timeout = self.timing().1;
        self.timer = (!self.packets.is_empty()).then(|| now + timeout);
    }

    /// The packets `numbers` are lost.
    fn lose(&mut self, now: Instant, numbers: Vec<u64>, cause: Cause) {
        let (mut any, mut resent) = (false, false);
        for number in numbers {
            let Some(Packet { chunk, snapshot, resent: again }) = self.packets.remove(&number) else { continue };
            self.inflight -= chunk.length;
            self.rate.count_lost(chunk.length);
            self.to_resend.insert(chunk.position, chunk);
            let (start, end) = (chunk.position, chunk.end());
            (any, resent) = (true, resent || again);
            self.seat.on_lost(&Lost::new(now, start, end).with(|lost| {
                lost.packet = Some(snapshot);
                lost.inflight = self.inflight;
                lost.total = self.total();
            }));
        }
        if any && (self.recovery.is_none() || cause == Cause::Timeout) {
            self.reduce(now, cause, resent);
        }
    }

    fn reduce(&mut self, now: Instant, cause: Cause, resent: bool) {
        let timeout = cause == Cause::Timeout;
        let event = CongestionEvent::new(now, cause, self.seat.window().cwnd).with(|event| {
            event.flight_size = self.segments(self.inflight);
            event.inflight = self.inflight;
            (event.snd_una, event.snd_nxt) = (self.una, self.nxt);
            event.restart = timeout;
            event.least = if cause == Cause::EcnCe { PART_OF_A_SEGMENT } else { 1.0 };
            event.resent = resent;
            event.min_rtt = self.min_rtt;
        });
        // Position 0 of the data is past the handshake.
        self.seat.reduce(&event, self.una + 1);
        self.recovery = Some((self.nxt, timeout));
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        [self.timer, self.pace, Some(self.seat.timer())].into_iter().flatten().min().filter(|at| *at < Instant::MAX)
    }

    pub(super) fn handle_timeout(&mut self, now: Instant) {
        self.seat.handle_timeout(now);
        self.pace.take_if(|at| *at <= now);
        if self.timer.take_if(|at| *at <= now).is_none() {
            return;
        }
        self.counters.timeouts += 1;
        self.backoff += 1;
        if self.established {
            self.lose(now, self.packets.keys().copied().collect(), Cause::Timeout);
        } else {
            self.lost_hellos += 1;
            self.owes = Some(HELLO);
        }
    }

    pub(super) fn poll_transmit(&mut self, now: Instant) -> Option<(Datagram<Vec<u8>>, Transmission)> {
        if let Some(kind) = self.owes.take() {
            return Some(self.control_packet(now, kind));
        }
        let (whole, resent) = self.choose(now)?;
        let [chunk, rest] = whole.split(whole.length.min(self.seat.smss()));
        let (size, number) = (chunk.length, self.number);
        let app_limited = self.rate.is_app_limited();
        let snapshot = self.rate.send(now, size, self.inflight);
        self.packets.insert(number, Packet { chunk, resent, snapshot });
        self.number += 1;
        self.inflight += size;
        self.sent_bytes += size;
        self.counters.sent += 1;
        self.counters.retransmitted += u64::from(resent);
        if resent {
            self.to_resend.remove(&chunk.position);
            if rest.length > 0 {
                self.to_resend.insert(rest.position, rest);
            }
        } else {
            self.outgoing.entry(chunk.stream).or_default().sent += size;
            (self.nxt, self.served) = (chunk.end(), chunk.stream);
        }
        self.seat.pace(now, (size + HEADER, false), self.seat.cwnd(), self.srtt);
        let sent = Sent::new(now, size).with(|sent| {
            sent.flight_size = self.segments(self.inflight);
            sent.inflight = self.inflight;
            sent.snd_nxt = self.nxt;
            sent.total = self.total();
            sent.retransmission = resent;
            sent.app_limited = app_limited;
        });
        self.seat.send(&sent, self.nxt);
        let timeout = self.timing().1;
        self.timer.get_or_insert(now + timeout);
        let mut payload = vec![DATA];
        payload.extend([number, u64::from(chunk.stream.0), chunk.offset, size, now.as_nanos()].map(u64::to_be_bytes).concat());
        let ecn = if self.ecn { Ecn::Ect0 } else { Ecn::NotEct };
        let kind = if resent { Transmission::Retransmission } else { Transmission::New };
        Some((datagram(now, self.segments(chunk.position) + 1, payload, ecn, size), kind))
    }

    /// The next data to send, if window and pacer allow it, and whether it was sent before.
    fn choose(&mut self, now: Instant) -> Option<(Chunk, bool)> {
        self.pace = None;
        if !self.established {
            return None;
        }
        let lost = self.to_resend.first_key_value().map(|(_, chunk)| (*chunk, true));
        let Some((chunk, resent)) = lost.or_else(|| Some((self.new_data()?, false))) else {
            self.rate.note_app_limited(self.inflight);
            return None;
        };
        self.seat.end_idle(now, Restart::No);
        let fits = self.inflight == 0 || self.inflight + chunk.length.min(self.seat.smss()) <= self.seat.cwnd();
        let next = self.seat.next_release();
        if !fits || next > now {
            self.seat.note_limited(self.nxt);
            self.pace = fits.then_some(next);
            return None;
        }
        Some((chunk, resent))
    }

    /// Data not yet sent: streams that have any take turns.
    fn new_data(&self) -> Option<Chunk> {
        let unsent = |(_, stream): &(&StreamId, &Outgoing)| stream.written > stream.sent;
        let later = self.outgoing.range((Excluded(self.served), Unbounded)).find(unsent);
        let (&stream, &Outgoing { written, sent }) = later.or_else(|| self.outgoing.iter().find(unsent))?;
        Some(Chunk { position: self.nxt, stream, offset: sent, length: written - sent })
    }

    /// HELLO, REPLY or ACK.
    fn control_packet(&mut self, now: Instant, kind: u8) -> (Datagram<Vec<u8>>, Transmission) {
        let mut payload = vec![kind];
        if kind == ACK {
            payload.extend([self.heard_marks, self.delay].map(u64::to_be_bytes).concat());
            let newest = self.heard_packets.iter().rev().take(RANGES);
            payload.extend(newest.flat_map(|(start, end)| [*start, end - 1]).flat_map(u64::to_be_bytes));
        } else if kind == HELLO {
            self.counters.sent += 1;
            self.counters.retransmitted += u64::from(self.lost_hellos > 0);
            let timeout = self.timing().1;
            self.timer = Some(now + timeout);
        }
        let transmission = match kind {
            HELLO if self.lost_hellos > 0 => Transmission::Retransmission,
            HELLO => Transmission::New,
            _ => Transmission::Ack,
        };
        (datagram(now, 0, payload, Ecn::NotEct, 0), transmission)
    }
}

/// A packet that carries `payload` and `data` bytes of a stream.
fn datagram(now: Instant, number: u32, payload: Vec<u8>, ecn: Ecn, data: u64) -> Datagram<Vec<u8>> {
    let size = (28 + payload.len() as u64 + data) as u16;
    Datagram { number, size, sent: now, ecn, echo: false, payload: Some(payload) }
}
