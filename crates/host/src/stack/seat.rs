//! The seat of a control in a stack of QUIC that has hooks of its own for controls.
//!
//! A stack reports an ACK in pieces: the packets that it acknowledges, the end of these, then the packets that it shows to be lost, congestion,
//! marks. The contract wants the facts of an ACK at once, in its own order. Therefore the seat gathers the pieces, and settles them when
//! something else begins: the next ACK, a transmission, or a question for the window.
//!
//! QUIC never sends a packet again, so that a position is that of a packet: it is passed once, delivered or lost. The connection is established
//! for the control when the first packet of the handshake is acknowledged, with the round-trip time of that.
//!
//! ## References
//! RFC 9002 §5 (round-trip times), §7.2 (initial and minimum window), §7.3.2 (recovery), §7.6 (persistent congestion), §7.8 (unused windows).

use ackclock_core::cc::CongestionControl;
use ackclock_core::events::{Ack, Cause, CongestionEvent, Delivered, Established, Lost, MarkCount, Sent, Snapshot, Timing, Totals};
use ackclock_core::units::{Bytes, Duration, Instant, Rate, Segments};

use super::flight::{Flight, Packet};
use crate::rate::DeliveryRate;
use crate::rules::{Pacing, Restart, SeatRules};
use crate::seat::ControlSeat;

/// RFC 9002 §7.2: the window before the path is known.
const INITIAL_WINDOW: u64 = 10;
const LEAST_INITIAL_WINDOW: u64 = 14_720;
/// RFC 9002 §7.2: the smallest window.
const MIN_WINDOW: u64 = 2;
/// RFC 9002 §7.7: the pacing of a stack, as a multiple of the window per round trip. Both quinn and noq pace so.
const PACING_GAIN: f64 = 1.25;
/// Round trips after which a packet older than a delivered one is no longer in flight. RFC 9002 §6.1.2 declares it lost after 9/8.
const OVERDUE: f64 = 2.0;

/// Round-trip times without the receiver's delays, which the hooks do not tell.
#[derive(Clone, Copy, Debug, Default)]
struct RoundTrip {
    latest: Option<Duration>,
    smoothed: Option<Duration>,
    least: Option<Duration>,
}

impl RoundTrip {
    fn measure(&mut self, rtt: Duration) {
        self.latest = Some(rtt);
        self.smoothed = Some(self.smoothed.map_or(rtt, |srtt| srtt * 0.875 + rtt * 0.125));
        self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
    }
}

/// What the stack has reported and the control has not heard.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate fact")]
struct News {
    /// When; `None`: nothing.
    at: Option<Instant>,
    /// All packets of the ACK were reported.
    complete: bool,
    acked: Vec<Packet>,
    lost: Vec<Packet>,
    /// Packets that the stack has dropped without a word.
    dropped: Vec<Packet>,
    /// The stack's bytes in flight after the ACK, if they bound those of the control.
    bound: Option<u64>,
    congested: bool,
    persistent: bool,
    marked: bool,
    spurious: bool,
    /// Whether the window limited the sender, if the stack tells that with an ACK.
    limited: Option<bool>,
    /// The new size of packets.
    mtu: Option<u64>,
}

/// A control in a stack of QUIC. Sizes are bytes of packets, without UDP and IP.
#[derive(Clone, Debug)]
pub struct StackSeat {
    seat: ControlSeat,
    /// What is known of the connection beforehand.
    known: Established,
    established: bool,
    rate: DeliveryRate,
    flight: Flight,
    inflight: u64,
    sent: u64,
    una: u64,
    nxt: u64,
    /// One past the newest delivered packet, and when that was sent.
    newest: (u64, Instant),
    /// Packets delivered since `una` moved.
    arrived: u32,
    rtt: RoundTrip,
    /// Recovery ends when everything below this position is delivered or lost; whether it is that of persistent congestion.
    recovery: Option<(u64, bool)>,
    /// Losses of packets from here on, and marks, are new signs of congestion.
    lost_below: u64,
    marked_below: u64,
    news: News,
}

impl StackSeat {
    /// `control`, before the handshake. `known`: what is known of the connection by then, such as the seed of its random decisions, and the
    /// size of packets, which the stack may change. The handshake adds its time and the round-trip time.
    pub fn new(control: Box<dyn CongestionControl>, known: &Established) -> Self {
        let rules = SeatRules {
            pacing: Pacing::Window { slow_start: PACING_GAIN, avoidance: PACING_GAIN },
            // RFC 9002 §7.3.1 counts all that was acknowledged.
            abc_limit: Segments::INFINITY,
            ..SeatRules::new(known.smss.0)
        };
        Self {
            seat: ControlSeat::new(&rules, control),
            known: *known,
            established: false,
            rate: DeliveryRate::default(),
            flight: Flight::default(),
            inflight: 0,
            sent: 0,
            una: 0,
            nxt: 0,
            newest: (0, Instant::ZERO),
            arrived: 0,
            rtt: RoundTrip::default(),
            recovery: None,
            lost_below: 0,
            marked_below: 0,
            news: News::default(),
        }
    }

    /// The control's seat, after all that was reported.
    pub fn seat(&mut self) -> &mut ControlSeat {
        self.settle();
        &mut self.seat
    }

    /// The window in bytes, at least two packets; that of RFC 9002 until the handshake has shown the path.
    pub fn window(&mut self) -> u64 {
        self.settle();
        if self.established { self.seat.cwnd().max(MIN_WINDOW * self.seat.smss()) } else { self.initial_window() }
    }

    /// The window of the handshake in bytes.
    pub fn initial_window(&self) -> u64 {
        let smss = self.seat.smss();
        (INITIAL_WINDOW * smss).min(LEAST_INITIAL_WINDOW.max(MIN_WINDOW * smss))
    }

    /// The slow start threshold in bytes, if one is set.
    pub fn ssthresh(&mut self) -> Option<u64> {
        self.settle();
        let ssthresh = self.seat.window().ssthresh;
        ssthresh.is_finite().then(|| (ssthresh * self.seat.smss() as f64) as u64)
    }

    /// The control's own rate, if it has one, in bytes of packets per second, and the bytes that may leave at once.
    pub fn pacing(&mut self) -> Option<(u64, u64)> {
        self.settle();
        let rate = self.seat.control().pacing_rate()?;
        let smss = self.seat.smss();
        // The control's rate is one of whole datagrams.
        let share = smss as f64 / (smss + self.known.header.0) as f64;
        let bytes = rate.as_bits_per_sec() as f64 / 8.0 * share;
        Some((bytes.max(1.0) as u64, self.seat.control().burst().0.max(smss)))
    }

    /// The delivery rate over the last round trip that the control has estimated, or, without an estimate, a window per round trip.
    pub fn bandwidth(&mut self) -> Option<Rate> {
        let window = self.window() as f64 * 8.0;
        Rate::from_bits_per_sec((window / self.rtt.smoothed?.as_secs_f64()) as u64)
    }

    /// A copy of the control for another path, where nothing is in flight.
    pub(super) fn fork(&mut self) -> Self {
        self.settle();
        let mut copy = self.clone();
        copy.flight.clear();
        copy.inflight = 0;
        copy.una = copy.nxt;
        copy.recovery = None;
        copy
    }

    /// A packet of `size` bytes that the stack waits for was sent.
    pub fn on_sent(&mut self, now: Instant, size: u64, number: u64) {
        self.settle();
        let mut snapshot = Snapshot::new(now);
        if self.established {
            self.seat.handle_timeout(now);
            self.seat.end_idle(now, Restart::No);
            snapshot = self.rate.send(now, size, self.inflight);
        }
        self.flight.push(Packet::new(number, self.nxt, size, snapshot));
        self.inflight += size;
        self.nxt += size;
        if !self.established {
            return;
        }
        self.sent += size;
        let sent = Sent::new(now, size).with(|sent| {
            sent.flight_size = self.segments(self.inflight);
            sent.inflight = self.inflight;
            sent.snd_nxt = self.nxt;
            sent.total = self.total();
            sent.app_limited = snapshot.app_limited;
        });
        self.seat.send(&sent, self.nxt);
        // A window never lets more be in flight than the largest one, and a few probes: what is older, such as the ACKs of a receiver, is given up.
        let most = 2 * (self.seat.largest() * self.seat.smss() as f64) as u64 + self.initial_window();
        while self.inflight > most
            && let Some(packet) = self.flight.take_first_if(|_| true)
        {
            self.lose(now, &packet);
        }
    }

    /// The window has no room for another packet.
    pub fn on_window_limited(&mut self) {
        self.settle();
        self.seat.note_limited(self.nxt);
    }

    /// An ACK that has arrived at `now` acknowledges a packet of `size` bytes that was sent at `sent`; `number`: if the stack tells it. Packets are
    /// reported in ascending order.
    pub fn on_acked(&mut self, now: Instant, sent: Instant, size: u64, number: Option<u64>) {
        if self.news.complete || self.news.at.is_some_and(|at| at != now) {
            self.settle();
        }
        self.news.at = Some(now);
        if let Some(packet) = self.flight.take_sent(sent, size, number) {
            self.news.acked.push(packet);
        }
    }

    /// All packets that an ACK acknowledges were reported; `inflight`: the stack's bytes in flight, before the losses that the ACK shows, if it
    /// counts all that [`Self::on_sent`] was told and no longer counts what it has given up. `app_limited`: before the ACK, the application had no
    /// more data. `limited`: whether the window limited the sender, if the stack does not call [`Self::on_window_limited`].
    pub fn on_acks_end(&mut self, now: Instant, inflight: Option<u64>, app_limited: bool, limited: Option<bool>) {
        if self.news.at.is_some_and(|at| at != now) {
            self.settle();
        }
        if app_limited {
            self.rate.note_app_limited(self.inflight);
        }
        self.news.at = Some(now);
        self.news.complete = true;
        self.news.bound = inflight;
        self.news.limited = limited;
    }

    /// A packet of `size` bytes is lost.
    pub fn on_packet_lost(&mut self, now: Instant, size: u64, number: u64) {
        self.learn(now);
        if let Some(packet) = self.flight.take_number(number, size) {
            self.news.lost.push(packet);
        }
    }

    /// Packets of `bytes` in sum are lost, the newest sent at `sent`, by a stack that does not tell which: the oldest count as these, except probes for
    /// larger packets.
    pub fn on_bytes_lost(&mut self, now: Instant, sent: Instant, bytes: u64) {
        self.learn(now);
        let mut rest = bytes;
        while rest > 0
            && let Some(packet) = self.flight.take_oldest(sent, self.seat.smss())
        {
            rest = rest.saturating_sub(packet.size);
            self.news.lost.push(packet);
        }
    }

    /// The packets just reported are a sign of congestion; `persistent`: all that was sent for so long is lost (RFC 9002 §7.6).
    pub fn on_congestion(&mut self, now: Instant, persistent: bool) {
        self.learn(now);
        self.news.congested = true;
        self.news.persistent |= persistent;
    }

    /// The ACK just reported shows marks.
    pub fn on_marks(&mut self, now: Instant) {
        self.learn(now);
        self.news.marked = true;
    }

    /// All losses since the last reduction were none; the ACK that shows it follows.
    pub fn on_spurious(&mut self) {
        self.settle();
        self.news.spurious = true;
    }

    /// Packets now have at most `size` bytes.
    pub fn on_mtu(&mut self, size: u64) {
        if self.news.at.is_some() {
            // What was reported is of packets of the old size.
            self.news.mtu = Some(size);
        } else if self.established {
            self.seat.change_mss(size);
        } else {
            self.known.smss = Bytes(size);
            self.seat.agree(size);
        }
    }

    fn learn(&mut self, now: Instant) {
        if self.news.at.is_some_and(|at| at != now) {
            self.settle();
        }
        self.news.at = Some(now);
    }

    fn segments(&self, bytes: u64) -> u32 {
        bytes.div_ceil(self.seat.smss()) as u32
    }

    fn total(&self) -> Totals {
        Totals::new(self.sent, self.rate.delivered(), self.rate.lost())
    }

    /// Tells the control what was gathered.
    #[inline]
    fn settle(&mut self) {
        if let Some(now) = self.news.at {
            let mut news = std::mem::take(&mut self.news);
            self.tell(now, &mut news);
            news.acked.clear();
            news.lost.clear();
            news.dropped.clear();
            // The lists keep their memory.
            self.news = News { acked: news.acked, lost: news.lost, dropped: news.dropped, ..News::default() };
            if let Some(size) = news.mtu {
                self.on_mtu(size);
            }
        }
    }

    fn tell(&mut self, now: Instant, news: &mut News) {
        let newest = news.acked.iter().max_by_key(|packet| packet.start).copied();
        let mut rtt = None;
        if let Some(packet) = newest.filter(|packet| packet.end() > self.newest.0) {
            // RFC 9002 §5.1: only the newest packet measures, and only once.
            let measured = now.since(packet.sent_at());
            rtt = Some(measured).filter(|rtt| *rtt > Duration::ZERO);
            self.newest = (packet.end(), packet.sent_at());
        }
        if let Some(rtt) = rtt {
            self.rtt.measure(rtt);
        }
        if !self.established {
            if rtt.is_some() {
                self.establish(now);
            }
            return;
        }
        self.seat.handle_timeout(now);
        if news.spurious {
            self.seat.restore(now);
            (self.recovery, self.lost_below) = (None, 0);
        }
        let inflight_before = self.inflight;
        self.find_dropped(now, newest.as_ref(), news);
        let delivered: u64 = news.dropped.iter().chain(&news.acked).map(|packet| packet.size).sum();
        self.inflight -= delivered;
        let sample = newest.map(|packet| self.rate.deliver(now, delivered, &packet.snapshot, self.rtt.least));
        let una_before = self.una;
        // What is lost is passed too, but only an ACK moves the position.
        let una = self.flight.una(self.nxt);
        if let Some(rtt) = rtt {
            self.seat.on_rtt(
                &Timing::new(now, rtt).with(|timing| {
                    (timing.srtt, timing.snd_una, timing.snd_nxt) = (self.rtt.smoothed, una, self.nxt);
                }),
                self.seat.window().cwnd,
            );
        }
        if self.seat.wants().deliveries {
            for packet in news.dropped.iter().chain(&news.acked) {
                self.seat.on_delivered(&Delivered::new(now, packet.start, packet.end()).with(|it| it.packet = packet.snapshot));
            }
        }
        for packet in &news.lost {
            self.lose(now, packet);
        }
        if newest.is_some() {
            self.una = una;
        }
        self.respond(now, news, newest.as_ref());
        if newest.is_some() {
            self.arrived += (news.dropped.len() + news.acked.len()) as u32;
            let acked = if una > una_before { std::mem::take(&mut self.arrived) } else { 0 };
            self.seat.acknowledge(una);
            let persistent = self.recovery.is_some_and(|(_, persistent)| persistent);
            let ack = Ack::new(now, acked, Bytes(0)).with(|ack| {
                ack.counted = self.seat.counted(delivered, false);
                ack.may_grow = !news.marked && (self.recovery.is_none() || persistent);
                ack.cwnd_limited = news.limited.unwrap_or_else(|| self.seat.was_limited(una_before));
                ack.flight_size = self.segments(self.inflight);
                ack.delivered = delivered;
                ack.marked = if news.marked { delivered } else { 0 };
                ack.lost = self.rate.take_newly_lost();
                ack.inflight_before = inflight_before;
                ack.release = self.seat.next_of_pacer();
                ack.inflight = self.inflight;
                (ack.snd_una, ack.snd_nxt) = (una, self.nxt);
                ack.total = self.total();
                ack.sample = sample;
                ack.rtt = rtt;
                (ack.srtt, ack.min_rtt) = (self.rtt.smoothed, self.rtt.least);
                ack.round = self.rate.round();
                ack.ecn_echo = news.marked;
                ack.mark_count = MarkCount::AtMost;
            });
            self.seat.on_ack(&ack);
            if self.seat.holds_back() {
                self.rate.note_app_limited(self.inflight);
            }
            if self.recovery.take_if(|(point, _)| una >= *point).is_some() {
                self.seat.end_recovery(now);
            }
            if una == self.nxt {
                self.seat.begin_idle(now);
            }
        }
    }

    /// Finds the packets that the stack no longer waits for without having said so. A probe of path MTU discovery, which is larger than other
    /// packets, is lost without a sign of congestion (RFC 9000 §14.4), at the latest with the packets after it. Others count as delivered with
    /// the ACK, which has the packet `newest`: packets of the handshake, whose keys are discarded when the peer has confirmed it (RFC 9002
    /// §6.4), and ACKs alone, which nobody acknowledges.
    fn find_dropped(&mut self, now: Instant, newest: Option<&Packet>, news: &mut News) {
        let smss = self.seat.smss();
        let lost = news.lost.iter().map(|packet| packet.start).max().unwrap_or(0);
        // The stack's number is that before the losses.
        let left = news.bound.map_or(u64::MAX, |bound| bound.saturating_sub(news.lost.iter().map(|packet| packet.size).sum()));
        let wait = self.rtt.smoothed.max(self.rtt.latest).unwrap_or_default() * OVERDUE;
        let mut bytes = self.flight.bytes();
        let is_over = |packet: &Packet, bytes: u64| {
            let silent =
                newest.is_some_and(|newest| bytes > left || packet.sent_at() < newest.sent_at() && now.since(packet.sent_at()) > wait);
            silent || packet.size > smss && packet.start < lost
        };
        while let Some(packet) = self.flight.take_first_if(|packet| is_over(packet, bytes)) {
            bytes -= packet.size;
            if packet.size > smss { news.lost.push(packet) } else { news.dropped.push(packet) }
        }
    }

    fn establish(&mut self, now: Instant) {
        self.established = true;
        let event = self.known.with(|event| {
            event.now = now;
            event.rtt = self.rtt.latest;
            event.selective = true;
        });
        // The handshake's packets are none of the control's: positions begin with the data.
        self.flight.clear();
        self.rate = DeliveryRate::default();
        (self.nxt, self.inflight, self.newest) = (0, 0, (0, now));
        self.seat.establish(&event, (0, self.seat.smss()));
        self.seat.begin_idle(now);
    }

    fn lose(&mut self, now: Instant, packet: &Packet) {
        self.inflight -= packet.size;
        self.rate.count_lost(packet.size);
        self.seat.on_lost(&Lost::new(now, packet.start, packet.end()).with(|lost| {
            lost.packet = Some(packet.snapshot);
            lost.inflight = self.inflight;
            lost.total = self.total();
        }));
    }

    /// Reduces the window once in a recovery period (RFC 9002 §7.3.2).
    fn respond(&mut self, now: Instant, news: &News, newest: Option<&Packet>) {
        let probe = |packet: &&Packet| packet.size > self.seat.smss();
        let lost = news.lost.iter().filter(|packet| !probe(packet)).map(|packet| packet.start).max().filter(|_| news.congested);
        let apart = self.seat.answers_losses_apart();
        if let Some(lost) = lost {
            if news.persistent {
                self.reduce(now, Cause::Timeout);
            } else if lost >= self.lost_below && (apart || lost >= self.marked_below) {
                // The recovery is over, even if an older packet is still awaited, such as one of the handshake that nobody acknowledges: a packet
                // sent in it has arrived, or this loss would not be known.
                if self.recovery.take_if(|(point, _)| lost >= *point).is_some() {
                    self.seat.end_recovery(now);
                }
                self.reduce(now, Cause::DupAck);
            }
        }
        let own = self.seat.owns_marks();
        let marked = newest.map(|packet| packet.start).filter(|_| news.marked);
        if marked.is_some_and(|marked| marked >= self.marked_below && (own || marked >= self.lost_below)) {
            self.reduce(now, Cause::EcnCe);
        }
    }

    fn reduce(&mut self, now: Instant, cause: Cause) {
        let persistent = cause == Cause::Timeout;
        let event = CongestionEvent::new(now, cause, self.seat.window().cwnd).with(|event| {
            event.flight_size = self.segments(self.inflight);
            event.inflight = self.inflight;
            (event.snd_una, event.snd_nxt) = (self.una, self.nxt);
            event.loss_window = MIN_WINDOW as Segments;
            event.least = MIN_WINDOW as Segments;
            event.min_rtt = self.rtt.least;
        });
        // Position 0 is past the handshake.
        self.seat.reduce(&event, self.una + 1);
        if cause == Cause::EcnCe {
            self.marked_below = self.nxt;
        } else {
            self.lost_below = self.nxt;
        }
        if cause != Cause::EcnCe || !self.seat.owns_marks() {
            self.recovery = Some((self.nxt, persistent));
        }
    }
}

#[cfg(test)]
#[path = "seat_tests.rs"]
mod tests;
