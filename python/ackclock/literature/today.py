"""What a paper's idea would do on hosts of today: its parts in a flow of Linux, against Linux as it is.

Three scenarios in ``data/today`` have a flow ``tested`` of the host preset `linux`. The keys `today` of a paper's
``[summary]`` replace those of this flow. Each seed draws a round-trip time between 20 and 100 ms; runs with the same
seed are pairs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ackclock.experiments.experiment import Experiment
from ackclock.experiments.plan import Point
from ackclock.judging import effects as judging
from ackclock.judging.effects import Finding
from ackclock.judging.samples import Sample
from ackclock.literature.library import Paper
from ackclock.literature.measurement import FlowTable
from ackclock.scenario import Scenario, load
from ackclock.statistics.intervals import Interval

FOLDER = Path(__file__).resolve().parents[1] / "data" / "today"
HOST = "Linux 6.18"
SEEDS, QUICK_SEEDS = 20, 8
TESTED = "tested"


@dataclass(frozen=True)
class Question:
    """A question about an idea: a scenario, a measure, and the words for it.

    Attributes
    ----------
    name : str
        Name of the scenario's file.
    title : str
        What is compared, for figures.
    measure : str
        A column of flows.
    flow : str
        The flow whose measure it is.
    better : {-1, 1}
        Whether a larger value is better (1), or a smaller one (−1).
    """

    name: str
    title: str
    measure: str
    flow: str
    better: int


QUESTIONS = (
    Question("download", "time of a 1 MB download", "completion_time", TESTED, -1),
    Question("wireless", "goodput with 0.1 % random loss", "goodput_bps", TESTED, 1),
    Question("shared", "goodput beside a Linux flow", "goodput_bps", TESTED, 1),
    Question("shared", "goodput left to the Linux flow", "goodput_bps", "other", 1),
)


@dataclass(frozen=True)
class Effect:
    """The ratio of the idea's mean to that of the unchanged host over seeds; None if a download did not finish."""

    question: Question
    finding: Finding | None

    @property
    def ratio(self) -> Interval:
        """The ratio with its 95 % interval."""
        if self.finding is None:
            return Interval(math.nan, -math.inf, math.inf, 0, "a download did not finish in every run")
        return self.finding.estimate

    @property
    def verdict(self) -> str:
        """The effect in words: better, worse, no difference, no clear difference, or unknown without an interval."""
        if self.finding is None or not self.ratio.finite:
            return "unknown"
        words = {"same": "no difference", "unclear": "no clear difference"}
        return words.get(self.finding.verdict, self.finding.verdict)


def files() -> list[Path]:
    """Return the files of the scenarios."""
    return [FOLDER / f"{name}.toml" for name in dict.fromkeys(question.name for question in QUESTIONS)]


def variants(scenario: Scenario, papers: Sequence[Paper]) -> dict[str, Scenario]:
    """Return the scenario for the unchanged host (named ""), and for each paper with an idea for today.

    Raises
    ------
    ScenarioError
        If a paper's keys do not fit a flow.
    """
    made = {"": scenario}
    for paper in papers:
        if paper.contents.summary is not None and paper.contents.summary.today:
            keys = {f"flow.0.{key}": value for key, value in paper.contents.summary.today.items()}
            made[paper.name] = scenario.set(keys)
    return made


def measure(papers: Sequence[Paper], experiment: Experiment, *, quick: bool = False) -> dict[str, list[Effect]]:
    """Run every scenario for the unchanged host and for each idea, and compare.

    Parameters
    ----------
    papers
        The papers; those without keys in `today` are omitted.
    experiment
        Where the runs take place, and their measurements stay.
    quick
        Whether to use fewer seeds.

    Returns
    -------
    dict
        The effects of each paper by its name, in the order of `QUESTIONS`.

    Raises
    ------
    Interrupted
        After Ctrl-C.
    """
    seeds = range(1, (QUICK_SEEDS if quick else SEEDS) + 1)
    planned = {
        (file.stem, name, seed): Point(
            scenario.set({"seed": seed, "topology.bottleneck.delay": _delay(seed)}), FlowTable()
        )
        for file in files()
        for name, scenario in variants(load(file), papers).items()
        for seed in seeds
    }
    experiment.run(planned.values())
    flows = {key: {row["flow"]: row for row in experiment.store.measured(point).rows} for key, point in planned.items()}
    names = list(dict.fromkeys(name for _, name, _ in planned if name))
    samples = [(name, question, _sample(question, name, seeds, flows)) for name in names for question in QUESTIONS]
    asked = [
        judging.Question(sample, "more" if question.better > 0 else "less") for _, question, sample in samples if sample
    ]
    found = iter(judging.judge(asked))
    made: dict[str, list[Effect]] = {name: [] for name in names}
    for name, question, sample in samples:
        made[name].append(Effect(question, next(found) if sample else None))
    return made


Flows = Mapping[str, Mapping[str, Any]]


def _delay(seed: int) -> str:
    """Draw the delay of the bottleneck: with the access links, round trips take 20 to 100 ms."""
    return f"{np.random.default_rng(seed).uniform(8.0, 48.0):.3f} ms"


def _sample(
    question: Question, name: str, seeds: Sequence[int], flows: Mapping[tuple[str, str, int], Flows]
) -> Sample | None:
    """Return the pairs of an idea and the unchanged host; None if a run has no value."""
    both = [[flows[question.name, who, seed][question.flow][question.measure] for seed in seeds] for who in (name, "")]
    of, to = ([value for value in values if value is not None] for values in both)
    return Sample(of, to, "ratio") if len(of) == len(to) == len(seeds) else None
