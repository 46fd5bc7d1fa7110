"""The table of tolerances: how far apart two numbers may be, and still be "the same" or "about" as large.

=============  =========  ============================================================================================
word           tolerance  meaning
=============  =========  ============================================================================================
exactly        ±0.1 %     equal in the three digits that papers print
the same       ±1 %       too close to tell apart in a plot
about          ±5 %       close enough for the choice between two algorithms not to depend on it
up to          ±5 %       the largest of several values is about as large as the stated one
better, worse             a difference is shown, and its estimate is beyond the tolerance of the question
=============  =========  ============================================================================================

Claims of papers, matrices, gates, tunings and comparisons of worlds ask whether something is the same, and comparisons
of algorithms whether it is about as fast. `OWN` has the measures that need another tolerance, mostly because a
packet or a tick more or less is no difference.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

Word = Literal["exactly", "the same", "about", "up to"]
FACTORS = (0.5, 1.0, 2.0)
"""The factors of a tolerance at which a verdict is shown: half, the tolerance itself, and double."""


@dataclass(frozen=True)
class Tolerance:
    """The largest difference that does not matter.

    Attributes
    ----------
    value : float
        A share of the reference, or a difference in the unit of the measure.
    relative : bool
        Whether `value` is a share.
    slack : float
        A difference in the unit of the measure that never matters, such as one packet.
    """

    value: float
    relative: bool = True
    slack: float = 0.0

    def allowed(self, base: float) -> float:
        """Return the largest difference from a reference that does not matter, in the unit of the measure."""
        return max(self.value * abs(base) if self.relative else self.value, self.slack)

    def excess(self, change: float, base: float) -> float:
        """Return the size of a change in units of the tolerance; infinite for a change if nothing is tolerated."""
        allowed = self.allowed(base)
        if allowed > 0:
            return abs(change) / allowed
        return math.inf if change else 0.0

    @property
    def either_way(self) -> tuple[float, float]:
        """The limits of A/B between which neither of two variants is larger than the other by more than `value`."""
        return 1 / (1 + self.value), 1 + self.value

    def scaled(self, factor: float) -> Tolerance:
        """Return a tolerance that is larger by a factor."""
        return replace(self, value=self.value * factor, slack=self.slack * factor)

    @property
    def text(self) -> str:
        """The tolerance in words.

        >>> Tolerance(0.05).text, Tolerance(0.1, slack=1.0).text, Tolerance(0.05, relative=False).text
        ('±5 %', '±10 % or ±1', '±0.05')
        """
        share = f"±{100 * self.value:g} %" if self.relative else f"±{self.value:g}"
        return f"{share} or ±{self.slack:g}" if self.slack else share


WORDS: Mapping[Word, Tolerance] = MappingProxyType(
    {"exactly": Tolerance(0.001), "the same": Tolerance(0.01), "about": Tolerance(0.05), "up to": Tolerance(0.05)}
)
"""The tolerance of each word."""
SAME, ABOUT = WORDS["the same"], WORDS["about"]
PACKETS = Tolerance(0.1, slack=1.0)
OWN: Mapping[str, Tolerance] = MappingProxyType(
    {
        "slow_start_exit_cwnd": Tolerance(0.05, slack=1.0),
        "retransmitted_packets": PACKETS,
        "queue_drops": PACKETS,
        "sojourn_mean": Tolerance(0.1, slack=5e-4),
        "resent": Tolerance(0.05, slack=1e-3),
        "sojourn_p95": Tolerance(0.05, slack=1e-3),
        "exit_time_lost": Tolerance(0.05, slack=1e-2),
        "harm_goodput": Tolerance(0.05, relative=False),
        "harm_rtt": Tolerance(0.05, relative=False),
        "taken": Tolerance(0.05, relative=False),
    }
)
"""The measures with a tolerance of their own, in their unit: segments, packets, seconds or shares."""


def of(measure: str, usual: Tolerance) -> Tolerance:
    """Return the tolerance of a measure: its own, or the usual one of the question."""
    return OWN.get(measure, usual)
