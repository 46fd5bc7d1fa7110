"""Congestion controls written in Python, and the events they are given."""

from __future__ import annotations

from typing import Literal, Protocol


class Ack(Protocol):
    """An acknowledgement of new data arrived."""

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
    def flight_size(self) -> int:
        """Segments outstanding after it."""
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
    def delivery_rate_bps(self) -> int | None:
        """Delivery rate over the last round trip, in bits per second, where the host samples it (profile modern)."""
        ...

    @property
    def app_limited(self) -> bool:
        """Whether that rate was sampled while the application had too little to send."""
        ...

    @property
    def round(self) -> int:
        """Round trips since the start of the connection."""
        ...

    @property
    def cwnd_limited(self) -> bool:
        """Whether ``cwnd`` was what limited sending: a window that is not used should not grow (RFC 9002 §7.8)."""
        ...

    @property
    def ecn_echo(self) -> bool:
        """Whether it carries an ECN echo (RFC 3168)."""
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
    def restart(self) -> bool:
        """Whether the host's recovery starts over from one segment, as every host does after a timeout."""
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


class CongestionControl:
    """A congestion control; subclass it and name the class in a flow.

    After every call the simulator reads `cwnd` and `ssthresh`. This base class is Reno's: slow start by one segment
    per ACK, congestion avoidance by one segment per round trip, and halving at congestion, so that a subclass
    overrides only what differs.

    Attributes
    ----------
    cwnd : float
        Congestion window in segments; the transport sends ``floor(cwnd)``. Below 1 it counts as 1; a negative,
        infinite or undefined window ends the run with a ValueError.
    ssthresh : float
        Slow start threshold in segments; infinite means none yet. A negative or undefined one ends the run with a
        ValueError.

    Examples
    --------
    >>> class Gentle(CongestionControl):
    ...     def on_congestion(self, event):
    ...         self.ssthresh = max(2.0, 0.8 * event.window)
    ...         self.cwnd = 1.0 if event.restart else self.ssthresh
    >>> flow = {"congestion_control": Gentle}
    """

    cwnd: float
    ssthresh: float

    def __init__(self) -> None:
        self.cwnd = 1.0
        self.ssthresh = float("inf")

    def on_established(self, event: Established) -> None:
        """Set the initial window; called once."""

    def on_ack(self, ack: Ack) -> None:
        """Grow, or not; called for every ACK of new data outside of recovery.

        Parameters
        ----------
        ack
            The acknowledgement.
        """
        self.cwnd += ack.counted if self.cwnd < self.ssthresh else ack.counted / self.cwnd

    def on_congestion(self, event: CongestionEvent) -> None:
        """Set `ssthresh` and `cwnd`; called once in a recovery period.

        Parameters
        ----------
        event
            What happened.
        """
        self.ssthresh = max(2.0, event.window / 2)
        self.cwnd = 1.0 if event.restart else self.ssthresh
