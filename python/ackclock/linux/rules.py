"""What is known of differences between simulation and kernel: rules from a table, with conditions on measured facts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

from ackclock.files import checks, toml
from ackclock.linux.measuring import COMPARED, COMPLETION, Run
from ackclock.linux.running import MACHINE, VIRTUAL

FILE = Path(__file__).with_name("rules.toml")
HYSTART_LEAST, HYSTART_MOST = 0.004, 0.016
"""Bounds of the delay that HyStart takes for a queue, in seconds. Between them it is an eighth of the round trip."""
OUTSIDE = 0.1
"""Largest distance of the kernel from the range of simulations alike, relative to the difference: results jump, and the
kernel's can lie beyond the last one by a fraction of a per cent."""


@dataclass(frozen=True)
class Observed:
    """A difference, and the runs that show it.

    Attributes
    ----------
    measure, flow : str
        What differs, see `measuring.values`.
    kernel, simulated : float
        The means.
    nearby : (float, float) or None
        The smallest and the largest mean of simulations with other starts, on slightly longer paths; None if one of
        them lacks the measure.
    on_kernel, in_simulation : sequence of Run
        The runs.
    """

    measure: str
    flow: str
    kernel: float
    simulated: float
    nearby: tuple[float, float] | None
    on_kernel: Sequence[Run]
    in_simulation: Sequence[Run]


@dataclass(frozen=True)
class Rule:
    """A known cause.

    Attributes
    ----------
    name : str
        Its name.
    says : str
        What is known.
    source : str
        The page that explains it.
    when : dict
        Its conditions, all of which must hold; see the comment of the table.
    """

    name: str
    says: str
    source: str
    when: Mapping[str, Any]

    def applies(self, seen: Observed) -> bool:
        """Whether all conditions hold."""
        return all(CONDITIONS[name](seen, value) for name, value in self.when.items())


@cache
def rules() -> tuple[Rule, ...]:
    """Return the rules of the table.

    Raises
    ------
    ValueError
        If the table is wrong.
    """
    return read(toml.read(FILE), FILE.name)


def read(document: Mapping[str, Any], place: str) -> tuple[Rule, ...]:
    """Return the rules of a document.

    Raises
    ------
    ValueError
        If it is wrong.
    """
    checks.keys(place, document, {"rule": checks.tables("rule")}, ["rule"])
    kinds = {"name": checks.TEXT, "says": checks.TEXT, "source": checks.TEXT, "when": checks.TABLE}
    for number, table in enumerate(document["rule"], 1):
        checks.keys(f"{place}: rule {number}", table, kinds, kinds)
        checks.keys(f"{place}: {table['name']}: when", table["when"], VALUES)
        if not table["when"]:
            raise ValueError(f"{place}: {table['name']}: without a condition, a rule would explain everything")
    return tuple(Rule(**table) for table in document["rule"])


def known(seen: Observed) -> list[Rule]:
    """Return the rules that apply to a difference."""
    return [rule for rule in rules() if rule.applies(seen)]


def _rows(seen: Observed, runs: Sequence[Run]) -> list[Mapping[str, Any]]:
    """Return the numbers of the flow concerned in all runs; those of all flows if the difference is one of all."""
    return [row for run in runs for name, row in run.flows.items() if seen.flow in ("", name)]


def _control(seen: Observed, parts: Sequence[str]) -> bool:
    flows = _rows(seen, seen.in_simulation)
    return any(part in str(row["control"]).split(" + ") for row in flows for part in parts)


def _nearby(seen: Observed, wanted: bool) -> bool:
    if seen.nearby is None:
        return not wanted
    low, high = seen.nearby
    outside = max(low - seen.kernel, seen.kernel - high, 0.0)
    return wanted == (outside <= OUTSIDE * abs(seen.simulated - seen.kernel))


def _slower(seen: Observed, wanted: bool) -> bool:
    """Whether late packets explain a longer transfer: as many round trips as it took, with two late packets each."""
    if seen.measure != COMPLETION.key:
        return not wanted
    trip = max(float(run.flows[seen.flow]["path_rtt"] or math.inf) for run in seen.in_simulation)
    trips = seen.kernel / trip
    late = max(float(run.facts.get("lateness_p99", 0.0)) for run in seen.on_kernel)
    return wanted == (0 < seen.kernel - seen.simulated <= 2 * late * trips)


def _hystart(seen: Observed, wanted: bool) -> bool:
    """Whether packets of most repetitions were later than the delay that HyStart takes for a queue."""
    trips = [float(row["path_rtt"] or math.inf) for row in _rows(seen, seen.in_simulation)]
    delay = min(max(min(trips) / 8, HYSTART_LEAST), HYSTART_MOST)
    late = sum(float(run.facts.get("lateness_max", 0.0)) > delay for run in seen.on_kernel)
    return wanted == (2 * late > len(seen.on_kernel))


def _exit(seen: Observed, most: float) -> bool:
    sides = (seen.on_kernel, seen.in_simulation)
    rows = [[row for run in side for row in run.flows.values()] for side in sides]
    if any(row["slow_start_exit_cwnd"] is None for side in rows for row in side):
        return False
    kernel, simulated = (fmean(float(row["slow_start_exit_cwnd"]) for row in side) for side in rows)
    return 0 < abs(kernel - simulated) <= most


def _timeouts(seen: Observed, wanted: bool) -> bool:
    sides = (seen.on_kernel, seen.in_simulation)
    kernel, simulated = (sum(int(row["timeouts"]) for row in _rows(seen, side)) / len(side) for side in sides)
    return wanted == (kernel != simulated)


def _losses(seen: Observed, share: float) -> bool:
    sides = (seen.on_kernel, seen.in_simulation)
    kernel, simulated = (sum(float(run.path["losses"] or 0.0) for run in side) / len(side) for side in sides)
    return abs(simulated - kernel) > share * kernel


def _world(seen: Observed, name: str) -> bool:
    return all(run.facts["world"] == name for run in seen.on_kernel)


CONDITIONS: dict[str, Callable[[Observed, Any], bool]] = {
    "measures": lambda seen, keys: seen.measure in keys,
    "control": _control,
    "flows": lambda seen, count: (len(seen.in_simulation[0].flows) > 1) == (count == "several"),
    "nearby": _nearby,
    "slower": _slower,
    "hystart": _hystart,
    "exit": _exit,
    "timeouts": _timeouts,
    "losses": _losses,
    "world": _world,
}
VALUES = {
    "measures": checks.some_of(*COMPARED),
    "control": checks.TEXTS,
    "flows": checks.one_of("one", "several"),
    "nearby": checks.BOOL,
    "slower": checks.BOOL,
    "hystart": checks.BOOL,
    "exit": checks.POSITIVE,
    "timeouts": checks.BOOL,
    "losses": checks.POSITIVE,
    "world": checks.one_of(MACHINE, VIRTUAL),
}
