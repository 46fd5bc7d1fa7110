"""Congestion controls and slow starts written in Python."""

from __future__ import annotations

from ackclock._core import Exit
from ackclock.events import Ack, CongestionEvent, Established, FirstWindow, Lost, Sent, Window

__all__ = ["CongestionControl", "SlowStart"]


class CongestionControl:
    """A congestion control; subclass it and name the class in a flow.

    After every call the simulator reads the attributes. This base class is Reno's: slow start by one segment
    per ACK, congestion avoidance by one segment per round trip, and halving at congestion, so that a subclass
    overrides only what differs. Methods that do nothing here are called only if a subclass has its own when the
    control is made.

    Attributes
    ----------
    cwnd : float
        Congestion window in segments; the transport sends ``floor(cwnd)``. Below 1 it counts as 1, or after
        congestion as `CongestionEvent.least`; a negative, infinite or undefined window ends the run with a ValueError.
    ssthresh : float
        Slow start threshold in segments; infinite means none yet. A negative or undefined one ends the run with a
        ValueError.
    pacing_rate_bps : float or None
        Rate at which segments leave, data and headers, in bits per second, at least 1; None: as the window allows.
    burst : float
        Bytes that may leave at once while the control paces; a segment at least.
    timer_s : float or None
        When `on_timer` is called, in seconds since the start of the run. The timer goes off once.
    holds_back : bool
        Whether the window holds back on purpose, so that samples say nothing of the path's rate.
    owns_recovery : bool
        Whether window and rate alone decide how much is sent in loss recovery. Read once, when the control is made.
    wants_samples : bool
        Whether a host of profile ns2 samples the delivery rate (`Ack.sample`) and tells of lost segments (`on_lost`),
        as a host of profile modern always does. Read once, when the control is made.
    paces_initial_window : bool
        Whether the initial window is spread over the first round trip. Read once, when the control is made.

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
    pacing_rate_bps: float | None = None
    burst: float = 0
    timer_s: float | None = None
    holds_back: bool = False
    owns_recovery: bool = False
    wants_samples: bool = False
    paces_initial_window: bool = False

    def __init__(self) -> None:
        self.cwnd = 1.0
        self.ssthresh = float("inf")

    def on_established(self, event: Established) -> None:
        """Set the initial window; called once."""

    def on_ack(self, ack: Ack) -> None:
        """Grow, or not; called for every ACK at which the window may grow.

        Parameters
        ----------
        ack
            The acknowledgement.
        """
        self.cwnd += ack.counted if self.cwnd < self.ssthresh else ack.counted / self.cwnd

    def on_ack_in_recovery(self, ack: Ack) -> None:
        """See an ACK at which the window may not grow: a duplicate, one in loss recovery, or one that echoes a mark.

        Parameters
        ----------
        ack
            The acknowledgement; its ``may_grow`` is false.
        """

    def on_congestion(self, event: CongestionEvent) -> None:
        """Set `ssthresh` and `cwnd`; called once in a recovery period.

        Parameters
        ----------
        event
            What happened.
        """
        self.ssthresh = max(2.0, event.window / 2)
        self.cwnd = 1.0 if event.restart else self.ssthresh

    def on_sent(self, sent: Sent) -> None:
        """See every segment that is sent."""

    def on_lost(self, lost: Lost) -> None:
        """See every segment that is thought to be lost, before the congestion or the ACK that the loss belongs to."""

    def on_recovery_end(self, now_s: float) -> None:
        """Leave recovery: all that was outstanding at the congestion has been acknowledged."""

    def on_spurious(self, now_s: float) -> None:
        """Restore what the last congestion took: all its losses were spurious."""

    def on_mss(self, smss: int) -> None:
        """Take `smss` as the bytes of a segment from now on."""

    def on_timer(self, now_s: float) -> None:
        """Act at the time that `timer_s` named; `timer_s` is None again and may be set to a later time."""

    def on_first_window(self, first: FirstWindow) -> float | None:  # noqa: ARG002 - for subclasses
        """Give what the next connection to the same peer finds as `Established.learned`, in segments, or None."""
        return None

    def internals(self) -> dict[str, float]:
        """Give the control's own quantities by name, for the trace ``internals``."""
        return {}


class SlowStart:
    """A slow start; subclass it and name the class as ``slow_start`` of a flow, beside built-in parts.

    The flow's control owns the window: `on_ack` says by how much it grows, or that slow start is over. Every method
    is given the window before its decision. This base class is standard slow start. Methods that do nothing here are
    called only if a subclass has its own when the slow start is made.

    Attributes
    ----------
    initial_ssthresh : float
        Upper bound of the first slow start threshold in segments. Read once, when the slow start is made.
    pacing_rate_bps, burst, timer_s, wants_samples
        As those of `CongestionControl`; the first three count while slow start lasts.

    Examples
    --------
    >>> class Half(SlowStart):
    ...     def on_ack(self, ack, window):
    ...         return ack.counted / 2 if window.cwnd < 100 else Exit(window.cwnd)
    >>> flow = {"slow_start": Half, "avoidance": "cubic"}
    """

    initial_ssthresh: float = float("inf")
    pacing_rate_bps: float | None = None
    burst: float = 0
    timer_s: float | None = None
    wants_samples: bool = False

    def on_established(self, event: Established, window: Window) -> None:
        """See the handshake; `window` is the initial window."""

    def on_ack(self, ack: Ack, window: Window) -> float | Exit:  # noqa: ARG002 - for subclasses
        """Decide on an ACK of new data in slow start.

        Parameters
        ----------
        ack
            The acknowledgement.
        window
            The window before it.

        Returns
        -------
        float or Exit
            Segments by which the window grows, or ``Exit(ssthresh)``: slow start is over and the window is at most
            `ssthresh`; ``Exit(ssthresh, cwnd)`` sets both.
        """
        return ack.counted

    def observe(self, ack: Ack, window: Window) -> None:
        """See every ACK, before `on_ack`, also in recovery and after slow start."""

    def on_sent(self, sent: Sent, window: Window) -> None:
        """See every segment that is sent."""

    def on_lost(self, lost: Lost, window: Window) -> None:
        """See every segment that is thought to be lost."""

    def on_congestion(self, event: CongestionEvent, window: Window) -> None:
        """See congestion; the loss response answers it."""

    def on_restart(self) -> None:
        """Start over from one segment: a timer has expired that says nothing new of congestion."""

    def on_mss(self, smss: int) -> None:
        """Take `smss` as the bytes of a segment from now on."""

    def on_timer(self, now_s: float, window: Window) -> float | Exit:  # noqa: ARG002 - for subclasses
        """Decide, as at an ACK, at the time that `timer_s` named."""
        return 0.0

    def internals(self) -> dict[str, float]:
        """Give the slow start's own quantities by name, for the trace ``internals``."""
        return {}
