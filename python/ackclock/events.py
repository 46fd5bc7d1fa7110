"""The events that congestion controls and slow starts written in Python receive."""

from __future__ import annotations

from typing import Literal, Protocol


class Totals(Protocol):
    """Data of a connection so far, in bytes; every transmission counts."""

    @property
    def sent(self) -> int:
        """Bytes sent, also while the application or recovery limits sending."""
        ...

    @property
    def delivered(self) -> int:
        """Bytes delivered: acknowledged cumulatively or selectively."""
        ...

    @property
    def lost(self) -> int:
        """Bytes deemed lost; spurious losses remain counted."""
        ...


class Snapshot(Protocol):
    """The connection when a packet was sent."""

    @property
    def sent_at_s(self) -> float:
        """Time of the last transmission of the packet, in seconds since the start of the run."""
        ...

    @property
    def delivered(self) -> int:
        """Bytes delivered by then."""
        ...

    @property
    def delivered_at_s(self) -> float:
        """Time of the last delivery, in seconds since the start of the run."""
        ...

    @property
    def first_sent_s(self) -> float:
        """Time at which the last delivered packet was sent; after an idle time, the start of the flight."""
        ...

    @property
    def lost(self) -> int:
        """Bytes lost by then."""
        ...

    @property
    def inflight(self) -> int:
        """Bytes in flight, the packet included."""
        ...

    @property
    def app_limited(self) -> bool:
        """Whether the application had too little to send."""
        ...


class RateSample(Protocol):
    """The delivery rate over the flight of the latest sent packet among those just delivered."""

    @property
    def packet(self) -> Snapshot:
        """The connection when this packet was sent."""
        ...

    @property
    def delivered(self) -> int:
        """Bytes delivered since then."""
        ...

    @property
    def interval_s(self) -> float:
        """The longer of the times in which these bytes were sent and acknowledged, in seconds."""
        ...

    @property
    def rate_bps(self) -> int | None:
        """The rate in bits per second; None if the interval is shorter than every round trip so far."""
        ...


class Ack(Protocol):
    """An acknowledgement has arrived."""

    @property
    def now_s(self) -> float:
        """Time of its arrival, in seconds since the start of the run."""
        ...

    @property
    def acked(self) -> int:
        """Segments that it newly acknowledges."""
        ...

    @property
    def counted(self) -> float:
        """Segments that count for growth: 1 if every ACK counts the same, otherwise those acknowledged (RFC 3465)."""
        ...

    @property
    def may_grow(self) -> bool:
        """Whether the window may grow: not at a duplicate, in loss recovery, or at an echoed mark."""
        ...

    @property
    def cwnd_limited(self) -> bool:
        """Whether ``cwnd`` limited sending: an unused window should not grow (RFC 9002 §7.8)."""
        ...

    @property
    def flight_size(self) -> int:
        """Segments outstanding after it."""
        ...

    @property
    def delivered(self) -> int:
        """Bytes that it newly delivers, by cumulative or selective acknowledgement."""
        ...

    @property
    def marked(self) -> int:
        """Bytes that have arrived marked, as far as it shows; `mark_count` says how exactly."""
        ...

    @property
    def lost(self) -> int:
        """Bytes deemed lost since the last ACK."""
        ...

    @property
    def inflight_before(self) -> int:
        """Bytes in flight before it: sent, and neither delivered nor lost."""
        ...

    @property
    def release_s(self) -> float:
        """When the pacer releases the next segment; not after `now_s` if it holds nothing back."""
        ...

    @property
    def inflight(self) -> int:
        """Bytes in flight after it."""
        ...

    @property
    def snd_una(self) -> int:
        """First position in the stream that is not acknowledged, in bytes."""
        ...

    @property
    def snd_nxt(self) -> int:
        """First position in the stream that has never been sent, in bytes."""
        ...

    @property
    def total(self) -> Totals:
        """The connection so far."""
        ...

    @property
    def sample(self) -> RateSample | None:
        """The delivery rate, if the host samples it; see ``wants_samples``."""
        ...

    @property
    def delivery_rate_bps(self) -> int | None:
        """The rate of `sample`, in bits per second."""
        ...

    @property
    def app_limited(self) -> bool:
        """Whether the application had too little to send during `sample`."""
        ...

    @property
    def rtt_s(self) -> float | None:
        """Round-trip time that it measures, in seconds."""
        ...

    @property
    def one_way_delay_s(self) -> float | None:
        """One-way delay of the data that caused it, in seconds, with the receiver's delay of the ACK.

        None unless ``wants_one_way_delay`` is set and the ACK shows the delay: with profile ns2, always and exactly;
        with profile modern, within 1 ms, if the connection uses timestamps and the ACK acknowledges new data.
        """
        ...

    @property
    def srtt_s(self) -> float | None:
        """Smoothed round-trip time (RFC 6298), in seconds."""
        ...

    @property
    def min_rtt_s(self) -> float | None:
        """Smallest round-trip time so far, in seconds."""
        ...

    @property
    def round(self) -> int:
        """Round trips since the start of the connection."""
        ...

    @property
    def ecn_echo(self) -> bool:
        """Whether it reports marks: an ECN echo (RFC 3168), or a count of marks that has increased (RFC 9768)."""
        ...

    @property
    def handshake(self) -> bool:
        """Whether it acknowledges the SYN; only with recovery ``vegas`` of profile ns2."""
        ...

    @property
    def mark_count(self) -> Literal["exact", "at_most", "estimate"]:
        """What `marked` is: exact (accurate feedback), an upper bound, or exact unless ACKs were lost (DCTCP)."""
        ...


class Sent(Protocol):
    """A segment has been sent."""

    @property
    def now_s(self) -> float:
        """Time of transmission, in seconds since the start of the run."""
        ...

    @property
    def size(self) -> int:
        """Bytes of its data."""
        ...

    @property
    def flight_size(self) -> int:
        """Segments outstanding, this one included."""
        ...

    @property
    def inflight(self) -> int:
        """Bytes in flight, this segment included."""
        ...

    @property
    def snd_nxt(self) -> int:
        """First position in the stream that has never been sent, in bytes."""
        ...

    @property
    def total(self) -> Totals:
        """The connection so far, this segment included."""
        ...

    @property
    def retransmission(self) -> bool:
        """Whether it is a retransmission."""
        ...

    @property
    def app_limited(self) -> bool:
        """Whether the application had too little to send before it."""
        ...


class Lost(Protocol):
    """A segment is deemed lost."""

    @property
    def now_s(self) -> float:
        """Time of detection, in seconds since the start of the run."""
        ...

    @property
    def start(self) -> int:
        """Its first position in the stream, in bytes."""
        ...

    @property
    def end(self) -> int:
        """The position after its last byte."""
        ...

    @property
    def packet(self) -> Snapshot | None:
        """The connection at its last transmission, for a control that wants samples."""
        ...

    @property
    def inflight(self) -> int:
        """Bytes in flight without it."""
        ...

    @property
    def total(self) -> Totals:
        """The connection so far, this loss included."""
        ...


class Delivered(Protocol):
    """A segment has been delivered: the ACK that follows shows it."""

    @property
    def now_s(self) -> float:
        """Time of the ACK, in seconds since the start of the run."""
        ...

    @property
    def start(self) -> int:
        """Its first position in the stream, in bytes."""
        ...

    @property
    def end(self) -> int:
        """The position after its last byte."""
        ...

    @property
    def size(self) -> int:
        """Bytes of its data."""
        ...

    @property
    def packet(self) -> Snapshot:
        """The connection at its last transmission."""
        ...

    @property
    def retransmission(self) -> bool:
        """Whether that transmission was a retransmission."""
        ...


class Idle(Protocol):
    """The connection was idle, and has data to send again.

    Everything was acknowledged, and the application had no data or the receiver's window was closed.
    """

    @property
    def now_s(self) -> float:
        """Time at which there was data to send again, in seconds since the start of the run."""
        ...

    @property
    def since_s(self) -> float:
        """Time at which the last data was acknowledged, in seconds since the start of the run."""
        ...

    @property
    def duration_s(self) -> float:
        """How long the connection was idle, in seconds."""
        ...

    @property
    def restart_window(self) -> float | None:
        """Largest window from now on, in segments, if the host restarts after an idle timeout (RFC 5681 §4.1)."""
        ...


class CongestionEvent(Protocol):
    """A sign of congestion; at most one in a recovery period."""

    @property
    def now_s(self) -> float:
        """Time of detection, in seconds since the start of the run."""
        ...

    @property
    def cause(self) -> Literal["dup_ack", "timeout", "ecn"]:
        """The sign: duplicate ACKs, a timeout, or an ECN mark."""
        ...

    @property
    def window(self) -> float:
        """The window in force, in segments: the smaller of ``cwnd`` and the receiver's window."""
        ...

    @property
    def flight_size(self) -> int:
        """Segments outstanding."""
        ...

    @property
    def inflight(self) -> int:
        """Bytes in flight: sent, and neither delivered nor lost."""
        ...

    @property
    def restart(self) -> bool:
        """Whether the host's recovery restarts from `loss_window`, as every host does after a timeout."""
        ...

    @property
    def loss_window(self) -> float:
        """Window after a restart, in segments: 1, or 2 with recovery ``vegas``."""
        ...

    @property
    def least(self) -> float:
        """Smallest window after the reduction, in segments: 1, or less if the host allows it."""
        ...

    @property
    def resent(self) -> bool:
        """Whether the missing segment was already retransmitted."""
        ...

    @property
    def min_rtt_s(self) -> float | None:
        """Smallest round-trip time so far, in seconds."""
        ...


class Established(Protocol):
    """The connection is established: the SYN has been acknowledged."""

    @property
    def now_s(self) -> float:
        """Time at which the acknowledgement of the SYN arrived, in seconds since the start of the run."""
        ...

    @property
    def smss(self) -> int:
        """Sender maximum segment size (RFC 5681), bytes without headers."""
        ...

    @property
    def lost_syns(self) -> int:
        """Number of retransmissions of the SYN."""
        ...

    @property
    def syn_lost(self) -> bool:
        """Whether the SYN was retransmitted."""
        ...

    @property
    def rtt_s(self) -> float | None:
        """Round-trip time of the handshake in seconds; None: not measured."""
        ...

    @property
    def rwnd(self) -> float | None:
        """The receiver's window in segments; None: unknown."""
        ...

    @property
    def available(self) -> float | None:
        """Data that the application has to send, in segments; None: without end."""
        ...

    @property
    def learned(self) -> float | None:
        """Value returned by `CongestionControl.on_first_window` of an earlier connection to the same peer."""
        ...

    @property
    def selective(self) -> bool:
        """Whether the receiver reports data that arrived out of order (SACK)."""
        ...

    @property
    def header(self) -> int:
        """Bytes of the headers of every segment: a pacing rate includes them, a window does not."""
        ...

    @property
    def paced(self) -> bool:
        """Whether the host spreads the segments of a window over the round trip."""
        ...

    @property
    def seed(self) -> int:
        """Seed for random decisions: different for each connection of a run, and for each run."""
        ...

    @property
    def whole_segments(self) -> bool:
        """Whether window and threshold are whole segments (`modern.whole_segments`)."""
        ...

    @property
    def clock_phase_s(self) -> float:
        """Seconds from the latest tick of the host's clock to the start of the run (`modern.timer_phase`)."""
        ...

    @property
    def marks(self) -> Literal["exact", "at_most", "estimate"] | None:
        """How the agreed feedback counts ECN marks, as in `Ack.mark_count`; None without ECN."""
        ...


class FirstWindow(Protocol):
    """The outcome of the initial window."""

    @property
    def window(self) -> float:
        """The initial window in segments."""
        ...

    @property
    def filled(self) -> bool:
        """Whether application and receiver allowed all of it to be sent."""
        ...

    @property
    def congested(self) -> bool:
        """Whether a loss or a mark was detected before all of it was acknowledged."""
        ...

    @property
    def learned(self) -> float | None:
        """Value learned by other connections to the same peer so far."""
        ...


class Window(Protocol):
    """The window of a flow, in segments."""

    @property
    def cwnd(self) -> float:
        """Congestion window."""
        ...

    @property
    def ssthresh(self) -> float:
        """Slow start threshold; infinite means none yet."""
        ...
