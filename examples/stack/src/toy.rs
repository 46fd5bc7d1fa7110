//! The foreign stack: a reliable transport over datagrams, without sockets, clocks or threads. It stands for yours, and uses nothing of
//! Ackclock.
//!
//! Each datagram but an ACK has a number of its own and is never sent again; bytes that were lost leave in a new one. An ACK has the largest
//! number that has arrived, and 64 bits for those below it. A datagram is lost once one that was sent three later has arrived, or when the
//! timer expires. Integers are big-endian.

use std::collections::BTreeMap;
use std::fmt::Debug;

/// Nanoseconds on the caller's clock.
pub type Time = u64;

const SECOND: Time = 1_000_000_000;
/// Kind, number and offset.
pub const HEADER: usize = 17;
/// A datagram is lost if one sent so many later has arrived.
const THRESHOLD: u64 = 3;
const MIN_TIMEOUT: Time = SECOND / 5;

/// What a datagram says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Frame {
    /// Asks for the connection.
    Hello { number: u64 },
    /// Bytes of the stream.
    Data { number: u64, offset: u64, length: u64 },
    /// The largest number that has arrived; bit `n` of `below`: whether `largest - 1 - n` has arrived.
    Ack { largest: u64, below: u64 },
}

impl Frame {
    /// Reads a datagram; `None`: it is none of this transport.
    pub fn read(datagram: &[u8]) -> Option<Self> {
        let (&kind, rest) = datagram.split_first()?;
        let integer = |at: usize| Some(u64::from_be_bytes(*rest.get(at..)?.first_chunk()?));
        let (first, second) = (integer(0)?, integer(8)?);
        match kind {
            0 => Some(Self::Hello { number: first }),
            1 => Some(Self::Data { number: first, offset: second, length: (datagram.len() - HEADER) as u64 }),
            2 => Some(Self::Ack { largest: first, below: second }),
            _ => None,
        }
    }

    fn write(self) -> Vec<u8> {
        let (kind, first, second, length) = match self {
            Self::Hello { number } => (0, number, 0, 0),
            Self::Data { number, offset, length } => (1, number, offset, length as usize),
            Self::Ack { largest, below } => (2, largest, below, 0),
        };
        let mut datagram = vec![kind];
        datagram.extend(first.to_be_bytes());
        datagram.extend(second.to_be_bytes());
        datagram.resize(HEADER + length, 0);
        datagram
    }
}

/// The stack's hooks for a congestion control. Sizes are bytes of datagrams.
pub trait Control: Debug + Send {
    /// A datagram that will be acknowledged was sent.
    fn sent(&mut self, now: Time, number: u64, size: u64);
    /// The window had no room for another datagram.
    fn full(&mut self) {}
    /// An ACK acknowledges a datagram that was sent at `sent`; in ascending order of numbers.
    fn acked(&mut self, now: Time, sent: Time, number: u64, size: u64);
    /// The ACK acknowledges no more; `idle`: before it, there was nothing more to send.
    fn acks_end(&mut self, _now: Time, _idle: bool) {}
    /// A datagram is lost.
    fn lost(&mut self, now: Time, number: u64, size: u64);
    /// All losses of one cause have been told; `timeout`: the timer has expired.
    fn losses_end(&mut self, now: Time, timeout: bool);
    /// Bytes that may be in flight.
    fn window(&self) -> u64;
    /// The window at which slow start ends.
    fn threshold(&self) -> u64;
    /// Reductions so far.
    fn reductions(&self) -> u64;
    /// The pause after a datagram of `size` bytes.
    fn pause(&self, _size: u64) -> Time {
        0
    }
}

/// The stack's own control: slow start, then a datagram more per window; half of the window after a loss.
#[derive(Debug)]
pub struct Own {
    size: u64,
    window: u64,
    threshold: u64,
    /// Datagrams sent so far; losses of those below `recovery` have been answered.
    sent: u64,
    recovery: u64,
    /// Those below have filled the window, which may grow then (RFC 9002 §7.8).
    limited: u64,
    newest_lost: u64,
    reductions: u64,
}

impl Own {
    /// A window of ten datagrams of `size` bytes.
    pub fn new(size: u64) -> Self {
        Self { size, window: 10 * size, threshold: u64::MAX, sent: 0, recovery: 0, limited: 0, newest_lost: 0, reductions: 0 }
    }
}

impl Control for Own {
    fn sent(&mut self, _now: Time, number: u64, _size: u64) {
        self.sent = number + 1;
    }

    fn full(&mut self) {
        self.limited = self.sent;
    }

    fn acked(&mut self, _now: Time, _sent: Time, number: u64, size: u64) {
        if (self.recovery..self.limited).contains(&number) {
            self.window += if self.window < self.threshold { size } else { self.size * size / self.window };
        }
    }

    fn lost(&mut self, _now: Time, number: u64, _size: u64) {
        self.newest_lost = number;
    }

    fn losses_end(&mut self, _now: Time, timeout: bool) {
        if self.newest_lost >= self.recovery {
            self.threshold = (self.window / 2).max(2 * self.size);
            self.window = if timeout { self.size } else { self.threshold };
            self.recovery = self.sent;
            self.reductions += 1;
        }
    }

    fn window(&self) -> u64 {
        self.window
    }

    fn threshold(&self) -> u64 {
        self.threshold
    }

    fn reductions(&self) -> u64 {
        self.reductions
    }
}

/// A datagram in flight.
#[derive(Clone, Copy, Debug)]
struct Flying {
    sent: Time,
    size: u64,
    /// Offset and length; `None`: the greeting.
    bytes: Option<(u64, u64)>,
}

/// One end of a connection.
#[derive(Debug)]
pub struct Endpoint {
    control: Box<dyn Control>,
    /// Bytes of data in a full datagram.
    full: u64,
    /// How long the end waits for an answer.
    patience: Time,
    connected: bool,
    greets: bool,
    number: u64,
    flying: BTreeMap<u64, Flying>,
    in_flight: u64,
    /// Lengths of the lost bytes, by offset.
    lost: BTreeMap<u64, u64>,
    written: u64,
    next: u64,
    /// Since when the peer owes an answer.
    waits_since: Option<Time>,
    srtt: Option<Time>,
    deviation: Time,
    min_rtt: Option<Time>,
    expired: u32,
    timer: Option<Time>,
    /// When the pause after the last datagram ends; whether one waits for that.
    resume: Time,
    pauses: bool,
    timeouts: u64,
    failure: Option<(Time, String)>,
    /// The largest number that has arrived, and those below it.
    arrived: Option<(u64, u64)>,
    owes_ack: bool,
    /// Lengths of the bytes that arrived too early, by offset.
    early: BTreeMap<u64, u64>,
    delivered: u64,
}

impl Endpoint {
    /// An end that sends up to `full` bytes of data in a datagram and gives up after `patience` without an answer.
    pub fn new(control: Box<dyn Control>, full: u64, patience: Time) -> Self {
        Self {
            control,
            full,
            patience,
            connected: false,
            greets: false,
            number: 0,
            flying: BTreeMap::new(),
            in_flight: 0,
            lost: BTreeMap::new(),
            written: 0,
            next: 0,
            waits_since: None,
            srtt: None,
            deviation: 0,
            min_rtt: None,
            expired: 0,
            timer: None,
            resume: 0,
            pauses: false,
            timeouts: 0,
            failure: None,
            arrived: None,
            owes_ack: false,
            early: BTreeMap::new(),
            delivered: 0,
        }
    }

    /// Greets the peer with the next datagram.
    pub fn connect(&mut self) {
        self.greets = true;
    }

    /// Adds bytes to the stream.
    pub fn write(&mut self, bytes: u64) {
        self.written += bytes;
    }

    /// Bytes written and never sent.
    pub fn unsent(&self) -> u64 {
        self.written - self.next
    }

    /// Bytes that have arrived in order.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Bytes in flight.
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Whether the peer has answered.
    pub fn is_connected(&self) -> bool {
        self.connected
    }

    /// The congestion control.
    pub fn control(&self) -> &dyn Control {
        &*self.control
    }

    /// Smoothed and smallest round-trip time.
    pub fn rtt(&self) -> (Option<Time>, Option<Time>) {
        (self.srtt, self.min_rtt)
    }

    /// The retransmission timeout.
    pub fn timeout(&self) -> Time {
        self.srtt.map_or(SECOND, |srtt| (srtt + 4 * self.deviation).max(MIN_TIMEOUT)) << self.expired.min(6)
    }

    /// How often the timer has expired.
    pub fn timeouts(&self) -> u64 {
        self.timeouts
    }

    /// When and why the end gave up.
    pub fn failure(&self) -> Option<&(Time, String)> {
        self.failure.as_ref()
    }

    /// Handles a datagram of the peer.
    pub fn receive(&mut self, now: Time, datagram: &[u8]) {
        match Frame::read(datagram) {
            _ if self.failure.is_some() => {}
            Some(Frame::Ack { largest, below }) => self.acknowledge(now, largest, below),
            Some(Frame::Hello { number }) => self.note_arrived(number),
            Some(Frame::Data { number, offset, length }) => {
                self.note_arrived(number);
                self.early.insert(offset, length);
                while let Some(entry) = self.early.first_entry().filter(|entry| *entry.key() <= self.delivered) {
                    self.delivered = self.delivered.max(entry.key() + entry.get());
                    entry.remove();
                }
            }
            None => {}
        }
    }

    fn note_arrived(&mut self, number: u64) {
        (self.connected, self.owes_ack) = (true, true);
        let shifted = |bits: u64, by: u64| if by < 64 { bits << by } else { 0 };
        self.arrived = Some(match self.arrived {
            None => (number, 0),
            Some((largest, below)) if number > largest => {
                let by = number - largest;
                (number, shifted(below, by) | shifted(1, by - 1))
            }
            Some((largest, below)) if number < largest => (largest, below | shifted(1, largest - number - 1)),
            same => same.unwrap_or_default(),
        });
    }

    fn acknowledge(&mut self, now: Time, largest: u64, below: u64) {
        let has_arrived = |number: u64| number == largest || (largest - number <= 64 && below >> (largest - number - 1) & 1 == 1);
        let acked: Vec<u64> = self.flying.range(..=largest).map(|(number, _)| *number).filter(|number| has_arrived(*number)).collect();
        let Some(&newest) = acked.last() else { return };
        let idle = self.unsent() == 0 && self.lost.is_empty();
        for number in acked {
            let Some(Flying { sent, size, .. }) = self.flying.remove(&number) else { continue };
            if number == newest {
                self.measure(now - sent);
            }
            self.in_flight -= size;
            self.control.acked(now, sent, number, size);
        }
        self.control.acks_end(now, idle);
        (self.connected, self.expired) = (true, 0);
        let lost: Vec<u64> = self.flying.range(..(newest + 1).saturating_sub(THRESHOLD)).map(|(number, _)| *number).collect();
        self.lose(now, &lost, false);
        self.waits_since = Some(now).filter(|_| !self.flying.is_empty());
        self.timer = self.waits_since.map(|since| since + self.timeout());
    }

    fn measure(&mut self, rtt: Time) {
        let srtt = self.srtt.unwrap_or(rtt);
        self.deviation = if self.srtt.is_none() { rtt / 2 } else { (3 * self.deviation + srtt.abs_diff(rtt)) / 4 };
        self.srtt = Some((7 * srtt + rtt) / 8);
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
    }

    fn lose(&mut self, now: Time, numbers: &[u64], timeout: bool) {
        for number in numbers {
            let Some(Flying { size, bytes, .. }) = self.flying.remove(number) else { continue };
            self.in_flight -= size;
            self.control.lost(now, *number, size);
            match bytes {
                Some((offset, length)) => _ = self.lost.insert(offset, length),
                None => self.greets = true,
            }
        }
        if !numbers.is_empty() {
            self.control.losses_end(now, timeout);
        }
    }

    /// The next datagram that leaves now.
    pub fn transmit(&mut self, now: Time) -> Option<Vec<u8>> {
        if self.failure.is_some() {
            return None;
        }
        if std::mem::take(&mut self.owes_ack)
            && let Some((largest, below)) = self.arrived
        {
            return Some(Frame::Ack { largest, below }.write());
        }
        if std::mem::take(&mut self.greets) {
            let number = self.number;
            return Some(self.fly(now, Frame::Hello { number }, None));
        }
        let again = self.lost.first_key_value().map(|(offset, length)| (*offset, *length));
        let (offset, length) = again.unwrap_or((self.next, self.unsent().min(self.full)));
        self.pauses = self.connected && length > 0 && now < self.resume;
        if !self.connected || length == 0 || self.pauses {
            return None;
        }
        if self.in_flight + length + HEADER as u64 > self.control.window() && !self.flying.is_empty() {
            self.control.full();
            return None;
        }
        if self.lost.remove(&offset).is_none() {
            self.next += length;
        }
        let number = self.number;
        Some(self.fly(now, Frame::Data { number, offset, length }, Some((offset, length))))
    }

    fn fly(&mut self, now: Time, frame: Frame, bytes: Option<(u64, u64)>) -> Vec<u8> {
        let datagram = frame.write();
        let size = datagram.len() as u64;
        self.control.sent(now, self.number, size);
        self.resume = now + self.control.pause(size);
        self.in_flight += size;
        self.flying.insert(self.number, Flying { sent: now, size, bytes });
        self.number += 1;
        self.waits_since.get_or_insert(now);
        self.timer = Some(now + self.timeout());
        datagram
    }

    /// When [`Self::expire`] is due, and a datagram may leave after it.
    pub fn deadline(&self) -> Option<Time> {
        let resume = self.pauses.then_some(self.resume);
        self.timer.into_iter().chain(resume).min().filter(|_| self.failure.is_none())
    }

    /// The time from [`Self::deadline`] has come.
    pub fn expire(&mut self, now: Time) {
        if self.timer.is_none_or(|timer| timer > now) {
            return;
        }
        self.timer = None;
        self.timeouts += 1;
        self.expired += 1;
        let waited = self.waits_since.map_or(0, |since| now - since);
        if waited >= self.patience {
            self.failure = Some((now, format!("no answer for {:.1} s", waited as f64 / SECOND as f64)));
            return;
        }
        let all: Vec<u64> = self.flying.keys().copied().collect();
        self.lose(now, &all, true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Time = 5 * SECOND;

    fn ends() -> [Endpoint; 2] {
        [(); 2].map(|()| Endpoint::new(Box::new(Own::new(117)), 100, PATIENCE))
    }

    /// A connected sender that has sent `datagrams` at 0, and its peer.
    fn sent(datagrams: u64) -> ([Endpoint; 2], Vec<Vec<u8>>) {
        let [mut sender, mut receiver] = ends();
        sender.connect();
        receiver.receive(0, &sender.transmit(0).unwrap());
        sender.receive(0, &receiver.transmit(0).unwrap());
        sender.write(100 * datagrams);
        let flight: Vec<Vec<u8>> = std::iter::from_fn(|| sender.transmit(0)).collect();
        assert_eq!(flight.len() as u64, datagrams);
        ([sender, receiver], flight)
    }

    #[test]
    fn a_datagram_is_read_as_it_was_written() {
        let frames = [Frame::Hello { number: 1 }, Frame::Data { number: 2, offset: 300, length: 40 }, Frame::Ack { largest: 9, below: 5 }];
        for frame in frames {
            assert_eq!(Frame::read(&frame.write()), Some(frame));
            assert_eq!(Frame::read(&frame.write()[..HEADER - 1]), None, "too short");
        }
        assert_eq!(Frame::read(&[3; HEADER]), None, "no such kind");
    }

    #[test]
    fn the_third_later_datagram_shows_a_loss() {
        let ([mut sender, mut receiver], flight) = sent(6);
        // The first is lost, and the third overtakes the second.
        for (index, lost) in [(2, false), (1, false), (3, true)] {
            receiver.receive(SECOND, &flight[index]);
            sender.receive(SECOND, &receiver.transmit(SECOND).unwrap());
            let again = sender.transmit(SECOND).map(|datagram| Frame::read(&datagram).unwrap());
            assert_eq!(again, lost.then_some(Frame::Data { number: 7, offset: 0, length: 100 }), "{index}");
        }
        assert_eq!((receiver.delivered(), sender.control().reductions(), sender.timeouts()), (0, 1, 0));
        receiver.receive(SECOND, &Frame::Data { number: 7, offset: 0, length: 100 }.write());
        assert_eq!(receiver.delivered(), 400);
    }

    #[test]
    fn the_timer_sends_everything_again_until_patience_is_over() {
        let ([mut sender, _], _) = sent(2);
        let mut expiries = 0;
        while sender.failure().is_none() {
            let deadline = sender.deadline().expect("a timer covers what is in flight");
            sender.expire(deadline);
            expiries += 1;
            let again = std::iter::from_fn(|| sender.transmit(deadline)).count();
            // After a timeout, the window is one datagram.
            assert_eq!(again, usize::from(sender.failure().is_none()));
        }
        let (at, reason) = sender.failure().unwrap();
        // 0.2 s, doubled after each expiry: 0.2, 0.6, 1.4, 3.0, 6.2 s.
        assert_eq!((*at, reason.as_str(), expiries), (31 * SECOND / 5, "no answer for 6.2 s", 5));
        assert_eq!(sender.deadline(), None);
    }
}
