//! A congestion control that records the events of another one, as the kernel's hooks would report them.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use ackclock_core::cc::{CongestionControl, Phase, Wants, Window};
use ackclock_core::events::{Ack, Cause, CongestionEvent, Established, Idle, Lost, Sent, Timing};
use ackclock_core::units::{Bytes, Duration, Instant, Segments};

/// An event; the window before a start is the initial window.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    Start { cwnd: Segments, ssthresh: Segments, mss: u64 },
    Ack(Box<Facts>),
    Recovery { now: Instant },
    Timeout { now: Instant, loss_window: Segments },
    Undo { ssthresh: Segments },
    Window { cwnd: Segments },
}

/// What an ACK reports.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    ack: Ack,
    smss: u64,
}

impl Event {
    /// Whether the window may grow at this event, and all data delivered by it is acknowledged.
    pub(crate) fn is_in_order(&self) -> bool {
        matches!(self, Self::Ack(facts) if facts.ack.may_grow && u64::from(facts.ack.acked) * facts.smss == facts.ack.delivered)
    }

    /// The event as a line for the program.
    pub(crate) fn line(&self) -> String {
        match self {
            Self::Start { cwnd, ssthresh, mss } => format!("start {cwnd} {} {mss}", threshold(*ssthresh)),
            Self::Ack(facts) => facts.line(),
            Self::Recovery { now } => format!("recovery {}", now.as_nanos()),
            Self::Timeout { now, loss_window } => format!("timeout {} {loss_window}", now.as_nanos()),
            Self::Undo { ssthresh } => format!("undo {}", threshold(*ssthresh)),
            Self::Window { cwnd } => format!("window {cwnd}"),
        }
    }
}

/// Linux's number for an unlimited threshold.
fn threshold(ssthresh: Segments) -> u64 {
    if ssthresh.is_finite() { ssthresh as u64 } else { 0x7fff_ffff }
}

impl Facts {
    fn line(&self) -> String {
        let (ack, smss) = (&self.ack, self.smss);
        let micros = |time: Option<Duration>| time.map_or(0, |time| time.as_nanos() / 1000);
        let (now, una, nxt, sent) = (ack.now.as_nanos(), ack.snd_una, ack.snd_nxt, ack.total.sent);
        let (delivered, total) = (ack.delivered / smss, ack.total.delivered / smss);
        let [rtt, srtt, min_rtt] = [ack.rtt, ack.srtt, ack.min_rtt].map(micros);
        let (limited, grows) = (u8::from(ack.cwnd_limited), u8::from(ack.may_grow));
        format!(
            "ack {now} {} {delivered} {total} {una} {nxt} {sent} {} {rtt} {srtt} {min_rtt} {limited} {grows} {}",
            ack.acked, ack.flight_size, ack.counted
        )
    }
}

/// A control after an event: its window, and the quantities that its parts report.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct State<Q> {
    pub(crate) window: Window,
    pub(crate) quantities: Q,
}

/// The quantities of the Rust parts by name.
pub(crate) type Named = Vec<(&'static str, f64)>;

/// The recorded events, and the control after each.
pub(crate) type Log = Arc<Mutex<Vec<(Event, State<Named>)>>>;

/// The whole nanoseconds of a time.
fn nanos(time: Instant) -> Instant {
    Instant::from_nanos(time.as_nanos())
}

/// The whole microseconds of a round-trip time, at least one.
fn micros(time: Option<Duration>) -> Option<Duration> {
    time.map(|time| Duration::from_nanos((time.as_nanos() / 1000).max(1) * 1000))
}

/// Records the events of `control`, which sees what the kernel's hooks would report: nanoseconds of a clock, round-trip times in whole
/// microseconds, and data delivered in whole segments.
#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    control: Box<dyn CongestionControl>,
    log: Log,
    smss: u64,
}

impl Recorder {
    pub(crate) fn new(control: Box<dyn CongestionControl>, log: Log) -> Self {
        Self { control, log, smss: 0 }
    }

    fn record(&self, event: Event) {
        let mut quantities = Vec::new();
        self.control.internals(&mut |name, value| quantities.push((name, value)));
        self.log.lock().unwrap().push((event, State { window: self.control.window(), quantities }));
    }

    /// Records a window that the host sets without the control's rules.
    fn record_window(&self) {
        self.record(Event::Window { cwnd: self.control.window().cwnd });
    }
}

impl CongestionControl for Recorder {
    fn on_established(&mut self, event: &Established) {
        assert!(event.whole_segments, "Linux counts windows in whole segments");
        self.smss = event.smss.0;
        self.control.on_established(event);
        let Window { cwnd, ssthresh } = self.control.window();
        self.record(Event::Start { cwnd, ssthresh, mss: self.smss });
    }

    fn on_sent(&mut self, sent: &Sent) {
        self.control.on_sent(sent);
    }

    fn on_ack(&mut self, ack: &Ack) {
        let whole = |bytes: u64| bytes.div_ceil(self.smss) * self.smss;
        let total = ack.total.with(|total| total.delivered = whole(ack.total.delivered));
        let [rtt, srtt, min_rtt] = [ack.rtt, ack.srtt, ack.min_rtt].map(micros);
        let ack = ack.with(|ack| {
            ack.now = nanos(ack.now);
            ack.delivered = whole(ack.delivered);
            ack.total = total;
            ack.rtt = rtt;
            ack.srtt = srtt;
            ack.min_rtt = min_rtt;
        });
        self.control.on_ack(&ack);
        self.record(Event::Ack(Box::new(Facts { ack, smss: self.smss })));
    }

    fn on_lost(&mut self, lost: &Lost) {
        self.control.on_lost(lost);
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        let now = nanos(event.now);
        self.control.on_congestion(&event.with(|event| {
            event.now = now;
            event.min_rtt = micros(event.min_rtt);
        }));
        self.record(match event.cause {
            Cause::Timeout => Event::Timeout { now, loss_window: event.loss_window },
            Cause::DupAck | Cause::EcnCe => Event::Recovery { now },
        });
    }

    fn on_idle(&mut self, idle: &Idle) {
        let before = self.control.window();
        self.control.on_idle(idle);
        if self.control.window() != before {
            self.record_window();
        }
    }

    fn on_restart(&mut self) {
        self.control.on_restart();
        self.record_window();
    }

    fn on_recovery_end(&mut self, now: Instant) {
        self.control.on_recovery_end(now);
    }

    fn on_spurious(&mut self, now: Instant) {
        let before = self.control.window();
        self.control.on_spurious(now);
        let after = self.control.window();
        if after != before {
            self.record(Event::Undo { ssthresh: after.ssthresh });
        }
    }

    fn on_mss(&mut self, _smss: Bytes) {
        panic!("no path changes its MTU");
    }

    fn resize(&mut self, by: Segments, least: Segments) {
        self.control.resize(by, least);
        self.record_window();
    }

    fn window(&self) -> Window {
        self.control.window()
    }

    fn on_rtt(&mut self, timing: &Timing, cwnd: Segments) {
        self.control.on_rtt(timing, cwnd);
        self.record_window();
    }

    fn wants(&self) -> Wants {
        self.control.wants()
    }

    fn phase(&self) -> Phase {
        self.control.phase()
    }
}
