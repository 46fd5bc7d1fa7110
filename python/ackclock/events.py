"""The events that congestion controls and slow starts written in Python are given."""

from __future__ import annotations

from typing import Literal, Protocol


class Totals(Protocol):
    """Data of a connection so far, in bytes; retransmissions count each time."""

    @property
    def sent(self) -> int:
        """Bytes sent, also while the application or recovery limits."""
        ...

    @property
    def delivered(self) -> int:
        """Bytes delivered: acknowledged cumulatively or selectively."""
        ...

    @property
    def lost(self) -> int:
        """Bytes thought to be lost; a spurious loss stays counted."""
        ...


class Snapshot(Protocol):
    """The connection at the moment in which a packet was sent."""

    @property
    def sent_at_s(self) -> float:
        """When the packet was sent last, seconds since the start of the run."""
        ...

    @property
    def delivered(self) -> int:
        """Bytes that had been delivered."""
        ...

    @property
    def delivered_at_s(self) -> float:
        """When the last of them were, seconds since the start of the run."""
        ...

    @property
    def first_sent_s(self) -> float:
        """When the packet was sent that was delivered last; after an idle time, when the flight began."""
        ...

    @property
    def lost(self) -> int:
        """Bytes that had been lost."""
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
    """The rate of delivery over the flight of the packet that was sent last among those just delivered."""

    @property
    def packet(self) -> Snapshot:
        """The connection when that packet was sent."""
        ...

    @property
    def delivered(self) -> int:
        """Bytes delivered since then."""
        ...

    @property
    def interval_s(self) -> float:
        """The longer of the times in which they were sent and acknowledged, in seconds."""
        ...

    @property
    def rate_bps(self) -> int | None:
        """The rate in bits per second; None if the interval is shorter than any round trip so far."""
        ...


class Ack(Protocol):
    """An acknowledgement arrived."""

    @property
    def now_s(self) -> float:
        """When it arrived, seconds since the start of the run."""
        ...

    @property
    def acked(self) -> int:
        """Segments it newly acknowledges."""
        ...

    @property
    def counted(self) -> float:
        """Segments by which it counts for growth: 1 if every ACK counts alike, or those acknowledged (RFC 3465)."""
        ...

    @property
    def may_grow(self) -> bool:
        """Whether the window may grow: not at a duplicate, in loss recovery, or at an echoed mark."""
        ...

    @property
    def cwnd_limited(self) -> bool:
        """Whether ``cwnd`` was what limited sending: a window that is not used should not grow (RFC 9002 §7.8)."""
        ...

    @property
    def flight_size(self) -> int:
        """Segments outstanding after it."""
        ...

    @property
    def delivered(self) -> int:
        """Bytes that it newly delivers: acknowledged, or acknowledged selectively for the first time."""
        ...

    @property
    def marked(self) -> int:
        """Bytes of them that a mark may have hit: all, if it carries an ECN echo."""
        ...

    @property
    def lost(self) -> int:
        """Bytes thought to be lost since the last ACK."""
        ...

    @property
    def inflight_before(self) -> int:
        """Bytes in flight before it: sent, and neither delivered nor lost."""
        ...

    @property
    def inflight(self) -> int:
        """Bytes in flight after it."""
        ...

    @property
    def snd_una(self) -> int:
        """First position of the stream, in bytes, that is not acknowledged."""
        ...

    @property
    def snd_nxt(self) -> int:
        """Next position of the stream, in bytes, that has never been sent."""
        ...

    @property
    def total(self) -> Totals:
        """The connection so far."""
        ...

    @property
    def sample(self) -> RateSample | None:
        """The rate of delivery, where the host samples it: see ``wants_samples``."""
        ...

    @property
    def delivery_rate_bps(self) -> int | None:
        """The rate of that sample, in bits per second."""
        ...

    @property
    def app_limited(self) -> bool:
        """Whether that rate was sampled while the application had too little to send."""
        ...

    @property
    def rtt_s(self) -> float | None:
        """Round-trip time measured by it, in seconds."""
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
        """Whether it carries an ECN echo (RFC 3168)."""
        ...

    @property
    def handshake(self) -> bool:
        """Whether it acknowledges the SYN (recovery ``vegas`` of profile ns2 alone)."""
        ...


class Sent(Protocol):
    """A segment was sent."""

    @property
    def now_s(self) -> float:
        """When it was sent, seconds since the start of the run."""
        ...

    @property
    def size(self) -> int:
        """Its data in bytes."""
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
        """Next position of the stream, in bytes, that has never been sent."""
        ...

    @property
    def total(self) -> Totals:
        """The connection so far, this segment included."""
        ...

    @property
    def retransmission(self) -> bool:
        """Whether it had been sent before."""
        ...

    @property
    def app_limited(self) -> bool:
        """Whether the application had too little to send before it."""
        ...


class Lost(Protocol):
    """A segment is thought to be lost."""

    @property
    def now_s(self) -> float:
        """When it was noticed, seconds since the start of the run."""
        ...

    @property
    def start(self) -> int:
        """Its first position in the stream, in bytes."""
        ...

    @property
    def end(self) -> int:
        """One past its last position."""
        ...

    @property
    def packet(self) -> Snapshot:
        """The connection when it was sent last."""
        ...

    @property
    def inflight(self) -> int:
        """Bytes in flight without it."""
        ...

    @property
    def total(self) -> Totals:
        """The connection so far, this loss included."""
        ...


class CongestionEvent(Protocol):
    """A sign of congestion: at most one in a recovery period."""

    @property
    def now_s(self) -> float:
        """When it was noticed, seconds since the start of the run."""
        ...

    @property
    def cause(self) -> Literal["dup_ack", "timeout", "ecn"]:
        """What it was."""
        ...

    @property
    def window(self) -> float:
        """The window in force, in segments: ``cwnd``, at most the receiver's window."""
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
        """Whether the host's recovery starts over from `loss_window`, as every host does after a timeout."""
        ...

    @property
    def loss_window(self) -> float:
        """Window from which it starts over, in segments: 1, or 2 with recovery ``vegas``."""
        ...

    @property
    def least(self) -> float:
        """Smallest window that the reduction may leave, in segments: 1, or less where the host allows it."""
        ...

    @property
    def resent(self) -> bool:
        """Whether the missing segment had already been sent again."""
        ...

    @property
    def min_rtt_s(self) -> float | None:
        """Smallest round-trip time so far, in seconds."""
        ...


class Established(Protocol):
    """The connection is established: the SYN has been acknowledged."""

    @property
    def now_s(self) -> float:
        """When the acknowledgement of the SYN arrived, seconds since the start of the run."""
        ...

    @property
    def smss(self) -> int:
        """Sender maximum segment size (RFC 5681), bytes without headers."""
        ...

    @property
    def lost_syns(self) -> int:
        """How often the SYN had to be sent again."""
        ...

    @property
    def syn_lost(self) -> bool:
        """Whether the SYN had to be sent again."""
        ...

    @property
    def rtt_s(self) -> float | None:
        """Round-trip time of the handshake in seconds, where it could be measured."""
        ...

    @property
    def rwnd(self) -> float | None:
        """The receiver's window in segments, where it is known."""
        ...

    @property
    def available(self) -> float | None:
        """Data that the application has to send, in segments; None where it is without end."""
        ...

    @property
    def learned(self) -> float | None:
        """What `CongestionControl.on_first_window` of an earlier connection to the same peer returned."""
        ...

    @property
    def selective(self) -> bool:
        """Whether the receiver reports what arrived out of order (SACK)."""
        ...

    @property
    def header(self) -> int:
        """Headers of every segment in bytes: a pacing rate counts them, a window does not."""
        ...

    @property
    def seed(self) -> int:
        """From which to draw random decisions: another number for each connection of a run, and for each run."""
        ...


class FirstWindow(Protocol):
    """What became of the initial window."""

    @property
    def window(self) -> float:
        """The initial window in segments."""
        ...

    @property
    def filled(self) -> bool:
        """Whether application and receiver let all of it be sent."""
        ...

    @property
    def congested(self) -> bool:
        """Whether a loss or a mark was noticed before all of it was acknowledged."""
        ...

    @property
    def learned(self) -> float | None:
        """What connections to the same peer have learned by now, this one not included."""
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
