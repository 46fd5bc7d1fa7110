"""Differences between simulation and kernel: their size, their interval, and whether they matter."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from ackclock.judging import effects
from ackclock.judging.effects import Finding, Question
from ackclock.judging.samples import Sample
from ackclock.judging.tolerances import SAME, Tolerance
from ackclock.linux import rules
from ackclock.linux.measuring import COMPARED, Compared, Run, values
from ackclock.linux.rules import Observed, Rule
from ackclock.statistics.intervals import Interval

Verdict = Literal["within", "unclear", "differs"]


@dataclass(frozen=True)
class Pairs:
    """The measurements of a scenario.

    Attributes
    ----------
    name : str
        Name of the scenario.
    duration : float
        Its end, in seconds.
    numbers : sequence of int
        The numbers of the repetitions, from 1.
    kernel, simulated : sequence of Run
        The repetitions; those at the same place have the same seed.
    nearby : sequence of sequence of Run
        The simulations of scenarios like those of the repetitions: with other starts, on slightly longer paths.
    """

    name: str
    duration: float
    numbers: Sequence[int]
    kernel: Sequence[Run]
    simulated: Sequence[Run]
    nearby: Sequence[Sequence[Run]] = ()

    @property
    def deterministic(self) -> bool:
        """Whether the simulation has the same result with every seed; a single repetition cannot show it."""
        return len(self.simulated) > 1 and all(run.flows == self.simulated[0].flows for run in self.simulated)


@dataclass(frozen=True)
class Difference:
    """A measure of a flow, or of all flows, on both sides.

    Attributes
    ----------
    scenario : str
        Name of the scenario.
    flow : str
        Name of the flow; empty for all flows together.
    measure : Compared
        What is compared.
    kernel, simulated : sequence of float
        The values of the repetitions, in pairs.
    nearby : (float, float) or None
        Smallest and largest mean of the simulations of scenarios like those of the repetitions; None if some of them
        lack the measure.
    several : bool
        Whether the scenario has several flows.
    known : sequence of Rule
        The rules that apply, if it differs.
    """

    scenario: str
    flow: str
    measure: Compared
    kernel: Sequence[float]
    simulated: Sequence[float]
    nearby: tuple[float, float] | None = None
    several: bool = False
    known: Sequence[Rule] = ()

    @property
    def kernel_mean(self) -> float:
        """Mean of the kernel's repetitions."""
        return statistics.fmean(self.kernel)

    @property
    def simulated_mean(self) -> float:
        """Mean of the simulations."""
        return statistics.fmean(self.simulated)

    @cached_property
    def finding(self) -> Finding:
        """The judge's answer to whether simulation and kernel differ.

        The p-value is not corrected for the number of comparisons: a correction would hide differences.
        """
        question = Question(Sample(self.simulated, self.kernel), tolerance=self.measure.tolerance)
        return effects.judge([question], correction=None)[0]

    @property
    def relative(self) -> Interval:
        """Mean of the differences, simulation minus kernel, over the kernel's mean.

        The interval is Student's 95 % interval over the repetitions. Without repetitions that differ it is infinite,
        as is the mean if the kernel's mean is 0 and the simulation's is not.
        """
        base, found = self.kernel_mean, self.finding.estimate
        if not base:
            mean = 0.0 if self.finding.question.sample.equal else math.inf
            return Interval(mean, -math.inf, math.inf, found.count, "the kernel's mean is 0")
        return Interval(found.mean / base, found.low / base, found.high / base, found.count, found.note)

    @property
    def excess(self) -> float:
        """The difference of the means over the largest one that does not matter; above 1 it can matter."""
        return self.finding.excess

    @property
    def verdict(self) -> Verdict:
        """Whether it matters.

        ``within``: the means differ by no more than the tolerance. ``differs``: they differ by more, and the interval
        excludes 0. ``unclear``: they differ by more, but the repetitions scatter so much, or are so few, that this can
        be chance.
        """
        return self.at(1.0)

    def at(self, factor: float) -> Verdict:
        """Return the verdict with the tolerance times a factor."""
        if self.excess <= factor:
            return "within"
        return "differs" if self.finding.at(factor) == "differs" else "unclear"


def differences(pairs: Pairs, tolerance: float = SAME.value) -> list[Difference]:
    """Compare every measure that all runs of a scenario have.

    Parameters
    ----------
    pairs
        The runs.
    tolerance
        Tolerance of the primary measures.
    """
    kernel, simulated, *nearby = (
        [values(run, pairs.duration) for run in side] for side in (pairs.kernel, pairs.simulated, *pairs.nearby)
    )
    found = []
    for key, flow in simulated[0]:
        place = key, flow
        if all(place in each for each in (*kernel, *simulated)):
            complete = bool(nearby) and all(place in each for runs in nearby for each in runs)
            near = [statistics.fmean(each[place] for each in runs) for runs in nearby] if complete else []
            made = Difference(
                pairs.name,
                flow,
                _with(COMPARED[key], tolerance),
                [each[place] for each in kernel],
                [each[place] for each in simulated],
                (min(near), max(near)) if near else None,
                several=len(pairs.kernel[0].flows) > 1,
            )
            found.append(_explained(made, pairs))
    return found


def _with(measure: Compared, tolerance: float) -> Compared:
    return replace(measure, tolerance=Tolerance(tolerance)) if measure.primary else measure


def _explained(made: Difference, pairs: Pairs) -> Difference:
    if made.verdict != "differs":
        return made
    seen = Observed(
        made.measure.key, made.flow, made.kernel_mean, made.simulated_mean, made.nearby, pairs.kernel, pairs.simulated
    )
    return replace(made, known=rules.known(seen))


def ranked(found: Sequence[Difference]) -> list[Difference]:
    """Return differences, the largest relative to their tolerance first; the primary measures come before others."""
    return sorted(found, key=lambda each: (not each.measure.primary, -each.excess))


@dataclass(frozen=True)
class Summary:
    """Many differences in numbers.

    Attributes
    ----------
    count, within, unclear, differing : int
        Number of comparisons, and of each verdict.
    median, largest : float
        Median and largest absolute relative difference; of finite ones.
    infinite : int
        Number of infinite ones: the kernel's mean is 0, and the simulation's is not.
    unexplained : int
        Number of those that differ without a rule that applies.
    """

    count: int
    within: int
    unclear: int
    differing: int
    median: float
    largest: float
    infinite: int
    unexplained: int


def summary(found: Sequence[Difference]) -> Summary:
    """Summarize differences; there must be one at least."""
    sizes = [abs(each.relative.mean) for each in found if math.isfinite(each.relative.mean)]
    count: Mapping[str, int] = {
        verdict: sum(each.verdict == verdict for each in found) for verdict in ("within", "unclear", "differs")
    }
    unexplained = sum(each.verdict == "differs" and not each.known for each in found)
    middle = statistics.median(sizes) if sizes else math.nan
    largest = max(sizes, default=math.nan)
    infinite = len(found) - len(sizes)
    verdicts = count["within"], count["unclear"], count["differs"]
    return Summary(len(found), *verdicts, middle, largest, infinite, unexplained)


@dataclass(frozen=True)
class Lateness:
    """How late the emulator was in all runs.

    Attributes
    ----------
    p50, p99 : float
        Medians over the runs of their median and 99th percentile, in seconds.
    latest : float
        The largest lateness, in seconds.
    further : int
        Number of attempts after the first one.
    """

    p50: float
    p99: float
    latest: float
    further: int


def lateness(pairs: Sequence[Pairs]) -> Lateness:
    """Say how late the emulator was; there must be one scenario at least."""
    facts = [run.facts for each in pairs for run in each.kernel]
    p50, p99 = (sorted(fact[name] for fact in facts)[len(facts) // 2] for name in ("lateness_p50", "lateness_p99"))
    latest = max(fact["lateness_max"] for fact in facts)
    return Lateness(p50, p99, latest, sum(fact["attempts"] - 1 for fact in facts))
