"""What a tuned run measures: the flows under test, and the values of their rivals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ackclock.experiments.measurement import Measurement
from ackclock.metrics.groups import EVERY, GROUPS, TRACES, Group
from ackclock.metrics.registry import of
from ackclock.results import Result
from ackclock.statistics.harm import harm_to_less, harm_to_more

Row = dict[str, Any]
HARM = "harm"
OF_ALL = ("jain",)
"""The measures of all flows of the run; others are those of the flows under test."""
MEASURES = (
    *("goodput_bps", "completion", "completion_tail", "resent", "loss_rate", "timeouts"),
    *("sojourn_mean", "sojourn_p95", *OF_ALL, HARM),
    *("bitrate_bps", "startup_time", "stall_time", "late_share", "frame_delay_p95"),
)
"""The measures that an objective or a constraint can name."""


@dataclass(frozen=True)
class Score(Measurement[Row]):
    """The measurement of a run: every measure that needs no trace, and the wanted ones that need one."""

    tested: tuple[str, ...]
    traced: tuple[str, ...]

    @property
    def record(self) -> list[str]:
        """The traces of the wanted measures."""
        return sorted({TRACES[name] for name in self.traced})

    @property
    def fingerprint(self) -> list[object]:
        """The tested flows, the measures that need a trace, and the versions of all measures."""
        return [list(self.tested), list(self.traced), [of(name).version for name in MEASURES]]

    def take(self, result: Result) -> Row:
        """Measure a run: values by measure, and those of its rivals."""
        tested, every = Group(result, self.tested), Group(result, EVERY)
        values = {
            name: GROUPS[name](every if name in OF_ALL else tested)
            for name in MEASURES
            if name != HARM and (name not in TRACES or name in self.traced)
        }
        return {"values": values, "rivals": tested.rivals()}


def harm(alone: Mapping[str, Any], together: Mapping[str, Any]) -> float | None:
    """Largest harm to a rival: the relative loss of its goodput, or growth of its completion or load time.

    Parameters
    ----------
    alone, together
        The rivals of the run without the tested flows, and of the run with them.
    """
    found = []
    for name in together.keys() & alone.keys():
        (beside, more_is_better), solo = together[name], alone[name][0]
        found.append(harm_to_more(solo, beside) if more_is_better else harm_to_less(solo, beside))
    return max((each for each in found if each is not None), default=None)
