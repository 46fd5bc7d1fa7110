"""TCP Westwood and Westwood RB with delivery-rate samples, on whatever recovery the host has.

The paper's estimate counts ACKs and depends on how a recovery sends them. Here each ACK brings a sample of the host:
the data delivered since the packet was sent, over the time that took.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import ackclock

if TYPE_CHECKING:
    from ackclock.events import Ack, CongestionEvent, Established

GAIN = 1 / 8
"""Weight of a sample in the estimate, as that of a round-trip time in its smoothed value (RFC 6298). A sample is a mean
over a round trip already."""
BETA = 3.0
"""Backlog in segments from which RB's slow start grows half as fast (Hong et al.: 3)."""


class Westwood(ackclock.CongestionControl):
    """TCP Westwood: Reno's growth, and after a loss the estimated bandwidth times the smallest round-trip time."""

    wants_samples = True

    def __init__(self) -> None:
        super().__init__()
        self.smss = 1
        self.bwe = 0.0  # bits per second
        self.backlog = 0.0  # segments in queues

    def on_established(self, event: Established) -> None:
        """Open the window of RFC 6928."""
        self.smss = event.smss
        self.cwnd = 1.0 if event.lost_syns else 10.0

    def estimate(self, ack: Ack) -> None:
        """Take the sample of an ACK. A sample that the application limited counts only if it is larger."""
        sample = ack.sample
        if sample is None or sample.rate_bps is None or ack.min_rtt_s is None:
            return
        rate = float(sample.rate_bps)
        # What was in flight when the packet left, less what an empty path would hold at the rate found.
        self.backlog = sample.packet.inflight / self.smss - self.pipe(rate, ack.min_rtt_s)
        if not sample.packet.app_limited or rate > self.bwe:
            self.bwe += (rate - self.bwe) * (GAIN if self.bwe else 1.0)

    def pipe(self, rate: float, rtt: float) -> float:
        """Return the segments that fill a path without a queue."""
        return rate * rtt / (8 * self.smss)

    def on_ack(self, ack: Ack) -> None:
        """Take the sample and grow as Reno does."""
        self.estimate(ack)
        super().on_ack(ack)

    def on_ack_in_recovery(self, ack: Ack) -> None:
        """Take the sample."""
        self.estimate(ack)

    def on_congestion(self, event: CongestionEvent) -> None:
        """Set the threshold to the estimated bandwidth times the smallest round-trip time."""
        known = self.bwe and event.min_rtt_s is not None
        self.ssthresh = max(2.0, self.pipe(self.bwe, event.min_rtt_s) // 1 if known else event.window / 2)
        self.cwnd = event.loss_window if event.restart else min(event.window, self.ssthresh)

    def internals(self) -> dict[str, float]:
        """Return the estimate in bits per second, and the backlog in segments."""
        return {"bwe": self.bwe, "backlog": self.backlog}


class WestwoodRB(Westwood):
    """Westwood RB: half growth in slow start once a queue is seen, and Reno's growth times 1 + δ in avoidance."""

    def __init__(self) -> None:
        super().__init__()
        self.ack_flag = True
        self.sum = self.count = self.max = 0.0

    def estimate(self, ack: Ack) -> None:
        """Take the sample of an ACK, and mean and maximum of the estimates so far."""
        super().estimate(ack)
        self.sum += self.bwe
        self.count += 1
        self.max = max(self.max, self.bwe)

    @property
    def delta(self) -> float:
        """The estimate relative to its mean (0) and its maximum (1), from −1 to 1."""
        mean = self.sum / self.count if self.count else 0.0
        if self.max - mean <= 1e-9 * self.max:
            return 0.0
        return max(-1.0, min(1.0, (self.bwe - mean) / (self.max - mean)))

    def on_ack(self, ack: Ack) -> None:
        """Take the sample and grow by RB's rules."""
        self.estimate(ack)
        if self.cwnd >= self.ssthresh:
            self.cwnd += ack.counted * (1 + self.delta) / self.cwnd
        elif self.backlog < BETA:
            self.cwnd += ack.counted
        else:
            self.cwnd += ack.counted if self.ack_flag else 0.0
            self.ack_flag = not self.ack_flag

    def internals(self) -> dict[str, float]:
        """Return the estimate, the backlog, and δ."""
        return {**super().internals(), "delta": self.delta}
