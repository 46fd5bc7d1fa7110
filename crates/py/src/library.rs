//! Congestion controls of shared libraries, written in C or another language: the other side of `ackclock.h`.

use std::ffi::c_void;

use ackclock_core::cc::{CongestionControl, Phase, Wants, Window};
use ackclock_core::events::{Ack, Cause, CongestionEvent, Established, Lost, RateSample, Sent, Snapshot, Totals};
use ackclock_core::qdisc::Ecn;
use ackclock_core::units::{Bytes, Duration, Instant, Rate, Segments};
use pyo3::exceptions::PyValueError;

use crate::object::Failure;

/// `ACKCLOCK_VERSION`.
pub(crate) const VERSION: u32 = 1;

const SAMPLES: u32 = 1;
const ONE_WAY_DELAY: u32 = 2;
const OWNS_RECOVERY: u32 = 4;
const OWNS_MARKS: u32 = 8;
const ECT1: u32 = 16;
const PACES_INITIAL_WINDOW: u32 = 32;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Output {
    cwnd: f64,
    ssthresh: f64,
    pacing_rate: f64,
    burst: f64,
    timer: u64,
}

#[repr(C)]
struct CEstablished {
    now: u64,
    rtt: u64,
    seed: u64,
    smss: u32,
    header: u32,
    lost_syns: u32,
    selective: u32,
}

#[repr(C)]
#[derive(Default)]
struct CPacket {
    sent_at: u64,
    delivered: u64,
    lost: u64,
    delivered_at: u64,
    first_sent: u64,
    inflight: u64,
    app_limited: u32,
    known: u32,
}

#[repr(C)]
struct CSent {
    now: u64,
    size: u64,
    inflight: u64,
    snd_nxt: u64,
    total: CTotals,
    retransmission: u32,
    app_limited: u32,
}

#[repr(C)]
struct CTotals {
    sent: u64,
    delivered: u64,
    lost: u64,
}

#[repr(C)]
struct CAck {
    now: u64,
    rtt: u64,
    srtt: u64,
    min_rtt: u64,
    one_way_delay: u64,
    delivered: u64,
    marked: u64,
    lost: u64,
    inflight_before: u64,
    inflight: u64,
    snd_una: u64,
    snd_nxt: u64,
    total: CTotals,
    round: u64,
    delivery_rate: u64,
    sample_interval: u64,
    sample_delivered: u64,
    packet: CPacket,
    counted: f64,
    acked: u32,
    may_grow: u32,
    cwnd_limited: u32,
    ecn_echo: u32,
}

#[repr(C)]
struct CLost {
    now: u64,
    start: u64,
    end: u64,
    inflight: u64,
    total: CTotals,
    packet: CPacket,
}

#[repr(C)]
struct CCongestion {
    now: u64,
    inflight: u64,
    min_rtt: u64,
    window: f64,
    loss_window: f64,
    least: f64,
    cause: u32,
    restart: u32,
    flight_size: u32,
    resent: u32,
}

type Function<E> = Option<unsafe extern "C" fn(*mut c_void, E, *mut Output)>;

/// `struct ackclock_control`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Table {
    version: u32,
    wants: u32,
    size: usize,
    init: Function<*const CEstablished>,
    ack: Function<*const CAck>,
    congestion: Function<*const CCongestion>,
    sent: Function<*const CSent>,
    lost: Function<*const CLost>,
    timer: Function<u64>,
    recovered: Function<u64>,
    spurious: Function<u64>,
}

/// Sizes of the structures, for a comparison with those of the header by a compiler of C.
pub(crate) const SIZES: [(&str, usize); 8] = [
    ("output", size_of::<Output>()),
    ("established", size_of::<CEstablished>()),
    ("packet", size_of::<CPacket>()),
    ("sent", size_of::<CSent>()),
    ("ack", size_of::<CAck>()),
    ("lost", size_of::<CLost>()),
    ("congestion", size_of::<CCongestion>()),
    ("control", size_of::<Table>()),
];

impl From<Totals> for CTotals {
    fn from(total: Totals) -> Self {
        Self { sent: total.sent, delivered: total.delivered, lost: total.lost }
    }
}

impl From<Option<Snapshot>> for CPacket {
    fn from(packet: Option<Snapshot>) -> Self {
        packet.map_or_else(Self::default, |packet| Self {
            sent_at: packet.sent_at.as_nanos(),
            delivered: packet.delivered,
            lost: packet.lost,
            delivered_at: packet.delivered_at.as_nanos(),
            first_sent: packet.first_sent.as_nanos(),
            inflight: packet.inflight,
            app_limited: u32::from(packet.app_limited),
            known: 1,
        })
    }
}

/// A duration in nanoseconds; 0 if it is unknown.
fn nanos(duration: Option<Duration>) -> u64 {
    duration.map_or(0, Duration::as_nanos)
}

/// A control whose functions are those of a shared library, which stays loaded until the process ends.
#[derive(Clone, Debug)]
pub(crate) struct Library {
    table: &'static Table,
    name: String,
    /// The state, in words of 16 bytes, so that it is aligned for any type.
    state: Vec<u128>,
    output: Output,
    /// Whether a decision was none, which ends the run: the functions are not called any more.
    failed: bool,
    failure: Failure,
}

impl Library {
    /// The control of the structure at `address`.
    ///
    /// # Safety
    /// `address` is that of a `struct ackclock_control` of the version [`VERSION`], which is never unloaded, and whose functions keep what
    /// the header says.
    pub(crate) unsafe fn new(address: usize, name: String, failure: Failure) -> Self {
        // SAFETY: as the caller promises.
        let table = unsafe { &*(address as *const Table) };
        Self {
            table,
            name,
            state: vec![0; table.size.div_ceil(size_of::<u128>())],
            output: Output { cwnd: 1.0, ssthresh: f64::INFINITY, pacing_rate: 0.0, burst: 0.0, timer: 0 },
            failed: false,
            failure,
        }
    }

    const fn has(&self, wish: u32) -> bool {
        self.table.wants & wish != 0
    }

    /// Calls a function; a result that is no window, rate or time aborts the run, and changes nothing.
    fn call<E>(&mut self, function: Function<E>, event: E, method: &str, least: Segments) {
        let Some(function) = function.filter(|_| !self.failed) else { return };
        let mut output = self.output;
        // SAFETY: the functions of the table keep the header's rules, and event, state and output live until the call returns.
        unsafe { function(self.state.as_mut_ptr().cast(), event, &raw mut output) };
        let rules = [
            ("cwnd", output.cwnd, output.cwnd >= 0.0 && output.cwnd.is_finite(), "a finite number of segments, at least 0"),
            ("ssthresh", output.ssthresh, output.ssthresh >= 0.0, "a number of segments, at least 0"),
            (
                "pacing_rate",
                output.pacing_rate,
                output.pacing_rate == 0.0 || (1.0..1e15).contains(&output.pacing_rate),
                "bit/s, at least 1, or 0",
            ),
            ("burst", output.burst, (0.0..=1e15).contains(&output.burst), "a number of bytes, at least 0"),
        ];
        if let Some((field, value, _, expected)) = rules.into_iter().find(|(_, _, valid, _)| !valid) {
            self.fail(&format!("{method} set {field} = {value}: expected {expected}"));
            return;
        }
        self.output = Output { cwnd: output.cwnd.max(least), ..output };
    }

    /// Ends the run.
    fn fail(&mut self, message: &str) {
        self.failed = true;
        self.failure.record(PyValueError::new_err(format!("{}: {message}", self.name)));
    }

    /// The smallest window: one segment, or the current window if a reduction made it smaller.
    fn least(&self) -> Segments {
        self.output.cwnd.min(1.0)
    }
}

impl CongestionControl for Library {
    fn on_established(&mut self, event: &Established) {
        let given = CEstablished {
            now: event.now.as_nanos(),
            rtt: nanos(event.rtt),
            seed: event.seed,
            smss: event.smss.0 as u32,
            header: event.header.0 as u32,
            lost_syns: event.lost_syns,
            selective: u32::from(event.selective),
        };
        self.call(self.table.init, &raw const given, "init", 1.0);
    }

    fn paces_initial_window(&self) -> bool {
        self.has(PACES_INITIAL_WINDOW)
    }

    fn on_sent(&mut self, sent: &Sent) {
        let given = CSent {
            now: sent.now.as_nanos(),
            size: sent.size,
            inflight: sent.inflight,
            snd_nxt: sent.snd_nxt,
            total: sent.total.into(),
            retransmission: u32::from(sent.retransmission),
            app_limited: u32::from(sent.app_limited),
        };
        self.call(self.table.sent, &raw const given, "sent", self.least());
    }

    fn on_ack(&mut self, ack: &Ack) {
        let sample = ack.sample.as_ref();
        let given = CAck {
            now: ack.now.as_nanos(),
            rtt: nanos(ack.rtt),
            srtt: nanos(ack.srtt),
            min_rtt: nanos(ack.min_rtt),
            one_way_delay: nanos(ack.one_way_delay),
            delivered: ack.delivered,
            marked: ack.marked,
            lost: ack.lost,
            inflight_before: ack.inflight_before,
            inflight: ack.inflight,
            snd_una: ack.snd_una,
            snd_nxt: ack.snd_nxt,
            total: ack.total.into(),
            round: ack.round,
            delivery_rate: ack.delivery_rate().map_or(0, Rate::as_bits_per_sec),
            sample_interval: nanos(sample.map(|sample: &RateSample| sample.interval)),
            sample_delivered: sample.map_or(0, |sample| sample.delivered),
            packet: sample.map(|sample| sample.packet).into(),
            counted: ack.counted,
            acked: ack.acked,
            may_grow: u32::from(ack.may_grow),
            cwnd_limited: u32::from(ack.cwnd_limited),
            ecn_echo: u32::from(ack.ecn_echo),
        };
        self.call(self.table.ack, &raw const given, "ack", self.least());
    }

    fn on_lost(&mut self, lost: &Lost) {
        let given = CLost {
            now: lost.now.as_nanos(),
            start: lost.start,
            end: lost.end,
            inflight: lost.inflight,
            total: lost.total.into(),
            packet: lost.packet.into(),
        };
        self.call(self.table.lost, &raw const given, "lost", self.least());
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        let given = CCongestion {
            now: event.now.as_nanos(),
            inflight: event.inflight,
            min_rtt: nanos(event.min_rtt),
            window: event.window,
            loss_window: event.loss_window,
            least: event.least,
            cause: match event.cause {
                Cause::DupAck => 1,
                Cause::Timeout => 2,
                Cause::EcnCe => 3,
            },
            restart: u32::from(event.restart),
            flight_size: event.flight_size,
            resent: u32::from(event.resent),
        };
        let restarts = event.restart || event.cause == Cause::Timeout;
        self.call(self.table.congestion, &raw const given, "congestion", if restarts { 1.0 } else { event.least });
    }

    fn on_recovery_end(&mut self, now: Instant) {
        self.call(self.table.recovered, now.as_nanos(), "recovered", self.least());
    }

    fn on_spurious(&mut self, now: Instant) {
        self.call(self.table.spurious, now.as_nanos(), "spurious", self.least());
    }

    fn on_timer(&mut self, now: Instant) {
        self.output.timer = 0;
        self.call(self.table.timer, now.as_nanos(), "timer", self.least());
        if self.output.timer != 0 && self.output.timer <= now.as_nanos() {
            self.fail(&format!("timer set timer = {}: expected a later time, or 0", self.output.timer));
            self.output.timer = 0;
        }
    }

    fn resize(&mut self, by: Segments, _least: Segments) {
        self.output.cwnd = (self.output.cwnd + by).max(1.0);
    }

    fn window(&self) -> Window {
        Window { cwnd: self.output.cwnd, ssthresh: self.output.ssthresh }
    }

    fn paces(&self) -> bool {
        // The library can set a rate at any time.
        true
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Rate::from_bits_per_sec(self.output.pacing_rate as u64)
    }

    fn burst(&self) -> Bytes {
        Bytes(self.output.burst as u64)
    }

    fn timer(&self) -> Option<Instant> {
        (self.output.timer != 0).then(|| Instant::ZERO + Duration::from_nanos(self.output.timer))
    }

    fn owns_recovery(&self) -> bool {
        self.has(OWNS_RECOVERY)
    }

    fn owns_marks(&self) -> bool {
        self.has(OWNS_MARKS)
    }

    fn wants(&self) -> Wants {
        Wants::NOTHING.with(|wants| {
            wants.samples = self.has(SAMPLES);
            wants.one_way_delay = self.has(ONE_WAY_DELAY);
        })
    }

    fn ecn(&self) -> Ecn {
        if self.has(ECT1) { Ecn::Ect1 } else { Ecn::Ect0 }
    }

    fn phase(&self) -> Phase {
        if self.output.cwnd < self.output.ssthresh { Phase::SlowStart } else { Phase::Avoidance }
    }
}
