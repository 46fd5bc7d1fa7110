//! Events passed to congestion controls and slow starts in Python, and their return values. An event is a copy of the engine's; its
//! attributes become Python objects when they are read.

use ackclock_core::cc::Window;
use ackclock_core::events::{
    Ack, Cause, CongestionEvent, Delivered, Established, FirstWindow, Idle, Lost, MarkCount, RateSample, Sent, Snapshot, Totals,
};
use ackclock_core::units::{Duration, Rate, Segments};
use pyo3::prelude::*;

/// Declares a class with the attributes of an event.
macro_rules! event {
    ($(#[$doc:meta])* $class:ident as $name:literal of $event:ident: $($attribute:ident -> $kind:ty = |$it:ident| $value:expr),+ $(,)?) => {
        $(#[$doc])*
        #[pyclass(name = $name, module = "ackclock._core", frozen)]
        #[derive(Clone, Copy)]
        pub(crate) struct $class(pub(crate) $event);

        #[pymethods]
        impl $class {
            $(#[getter]
            fn $attribute(&self) -> $kind {
                let $it = &self.0;
                $value
            })+

            fn __repr__(&self) -> String {
                format!("{:?}", self.0)
            }
        }
    };
}

fn seconds(span: Option<Duration>) -> Option<f64> {
    span.map(Duration::as_secs_f64)
}

event! {
    /// An acknowledgment arrived.
    PyAck as "Ack" of Ack:
    now_s -> f64 = |it| it.now.as_secs_f64(),
    acked -> u32 = |it| it.acked,
    counted -> Segments = |it| it.counted,
    may_grow -> bool = |it| it.may_grow,
    cwnd_limited -> bool = |it| it.cwnd_limited,
    flight_size -> u32 = |it| it.flight_size,
    delivered -> u64 = |it| it.delivered,
    marked -> u64 = |it| it.marked,
    lost -> u64 = |it| it.lost,
    inflight_before -> u64 = |it| it.inflight_before,
    release_s -> f64 = |it| it.release.as_secs_f64(),
    inflight -> u64 = |it| it.inflight,
    snd_una -> u64 = |it| it.snd_una,
    snd_nxt -> u64 = |it| it.snd_nxt,
    total -> PyTotals = |it| PyTotals(it.total),
    sample -> Option<PyRateSample> = |it| it.sample.map(PyRateSample),
    delivery_rate_bps -> Option<u64> = |it| it.delivery_rate().map(Rate::as_bits_per_sec),
    app_limited -> bool = |it| it.app_limited(),
    rtt_s -> Option<f64> = |it| seconds(it.rtt),
    one_way_delay_s -> Option<f64> = |it| seconds(it.one_way_delay),
    srtt_s -> Option<f64> = |it| seconds(it.srtt),
    min_rtt_s -> Option<f64> = |it| seconds(it.min_rtt),
    round -> u64 = |it| it.round,
    ecn_echo -> bool = |it| it.ecn_echo,
    handshake -> bool = |it| it.handshake,
    mark_count -> &'static str = |it| it.mark_count.name(),
}

event! {
    /// The connection's totals so far.
    PyTotals as "Totals" of Totals:
    sent -> u64 = |it| it.sent,
    delivered -> u64 = |it| it.delivered,
    lost -> u64 = |it| it.lost,
}

event! {
    /// The connection's state when a packet was sent.
    PySnapshot as "Snapshot" of Snapshot:
    sent_at_s -> f64 = |it| it.sent_at.as_secs_f64(),
    delivered -> u64 = |it| it.delivered,
    delivered_at_s -> f64 = |it| it.delivered_at.as_secs_f64(),
    first_sent_s -> f64 = |it| it.first_sent.as_secs_f64(),
    lost -> u64 = |it| it.lost,
    inflight -> u64 = |it| it.inflight,
    app_limited -> bool = |it| it.app_limited,
}

event! {
    /// The delivery rate over the flight of a packet.
    PyRateSample as "RateSample" of RateSample:
    packet -> PySnapshot = |it| PySnapshot(it.packet),
    delivered -> u64 = |it| it.delivered,
    interval_s -> f64 = |it| it.interval.as_secs_f64(),
    rate_bps -> Option<u64> = |it| it.rate.map(Rate::as_bits_per_sec),
}

event! {
    /// A segment was sent.
    PySent as "Sent" of Sent:
    now_s -> f64 = |it| it.now.as_secs_f64(),
    size -> u64 = |it| it.size,
    flight_size -> u32 = |it| it.flight_size,
    inflight -> u64 = |it| it.inflight,
    snd_nxt -> u64 = |it| it.snd_nxt,
    total -> PyTotals = |it| PyTotals(it.total),
    retransmission -> bool = |it| it.retransmission,
    app_limited -> bool = |it| it.app_limited,
}

event! {
    /// A segment is considered lost.
    PyLost as "Lost" of Lost:
    now_s -> f64 = |it| it.now.as_secs_f64(),
    start -> u64 = |it| it.start,
    end -> u64 = |it| it.end,
    packet -> Option<PySnapshot> = |it| it.packet.map(PySnapshot),
    inflight -> u64 = |it| it.inflight,
    total -> PyTotals = |it| PyTotals(it.total),
}

event! {
    /// A segment was delivered.
    PyDelivered as "Delivered" of Delivered:
    now_s -> f64 = |it| it.now.as_secs_f64(),
    start -> u64 = |it| it.start,
    end -> u64 = |it| it.end,
    size -> u64 = |it| it.size(),
    packet -> PySnapshot = |it| PySnapshot(it.packet),
    retransmission -> bool = |it| it.retransmission,
}

event! {
    /// The connection was idle.
    PyIdle as "Idle" of Idle:
    now_s -> f64 = |it| it.now.as_secs_f64(),
    since_s -> f64 = |it| it.since.as_secs_f64(),
    duration_s -> f64 = |it| it.duration().as_secs_f64(),
    restart_window -> Option<Segments> = |it| it.restart_window,
}

event! {
    /// Congestion was detected.
    PyCongestionEvent as "CongestionEvent" of CongestionEvent:
    now_s -> f64 = |it| it.now.as_secs_f64(),
    cause -> &'static str = |it| match it.cause {
        Cause::DupAck => "dup_ack",
        Cause::Timeout => "timeout",
        Cause::EcnCe => "ecn",
    },
    window -> Segments = |it| it.window,
    flight_size -> u32 = |it| it.flight_size,
    inflight -> u64 = |it| it.inflight,
    restart -> bool = |it| it.restart || it.cause == Cause::Timeout,
    loss_window -> Segments = |it| it.loss_window,
    least -> Segments = |it| it.least,
    resent -> bool = |it| it.resent,
    min_rtt_s -> Option<f64> = |it| seconds(it.min_rtt),
}

event! {
    /// The SYN was acknowledged.
    PyEstablished as "Established" of Established:
    now_s -> f64 = |it| it.now.as_secs_f64(),
    smss -> u64 = |it| it.smss.0,
    lost_syns -> u32 = |it| it.lost_syns,
    syn_lost -> bool = |it| it.syn_lost(),
    rtt_s -> Option<f64> = |it| seconds(it.rtt),
    rwnd -> Option<Segments> = |it| it.rwnd,
    available -> Option<Segments> = |it| it.available,
    learned -> Option<Segments> = |it| it.learned,
    selective -> bool = |it| it.selective,
    header -> u64 = |it| it.header.0,
    paced -> bool = |it| it.paced,
    seed -> u64 = |it| it.seed,
    whole_segments -> bool = |it| it.whole_segments,
    clock_phase_s -> f64 = |it| it.clock_phase.as_secs_f64(),
    marks -> Option<&'static str> = |it| it.marks.map(MarkCount::name),
}

event! {
    /// The outcome of the initial window.
    PyFirstWindow as "FirstWindow" of FirstWindow:
    window -> Segments = |it| it.window,
    filled -> bool = |it| it.filled,
    congested -> bool = |it| it.congested,
    learned -> Option<Segments> = |it| it.learned,
}

event! {
    /// The congestion window and the slow start threshold.
    PyWindow as "Window" of Window:
    cwnd -> Segments = |it| it.cwnd,
    ssthresh -> Segments = |it| it.ssthresh,
}

/// Return value of a slow start that ends.
#[pyclass(name = "Exit", module = "ackclock._core", frozen, get_all)]
#[derive(Clone, Copy)]
pub(crate) struct PyExit {
    pub(crate) ssthresh: Segments,
    pub(crate) cwnd: Option<Segments>,
}

#[pymethods]
impl PyExit {
    #[new]
    #[pyo3(signature = (ssthresh, cwnd=None))]
    const fn new(ssthresh: Segments, cwnd: Option<Segments>) -> Self {
        Self { ssthresh, cwnd }
    }

    fn __repr__(&self) -> String {
        self.cwnd.map_or_else(|| format!("Exit({})", self.ssthresh), |cwnd| format!("Exit({}, cwnd={cwnd})", self.ssthresh))
    }
}
