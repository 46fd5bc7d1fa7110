"""The outcome of a tuning: its answer in one paragraph, and its tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ackclock.formatting.numbers import counted, finite, number
from ackclock.judging.effects import Finding
from ackclock.judging.tolerances import SAME
from ackclock.judging.words import changes, few
from ackclock.metrics.registry import of
from ackclock.notebooks import Block, Card, Table, Text
from ackclock.statistics.intervals import rounded
from ackclock.tuning import scores
from ackclock.tuning.judging import Verdict, at_other_tolerances, compared, per_path
from ackclock.tuning.measures import MEASURES
from ackclock.tuning.runs import Cells
from ackclock.tuning.schema import Goal, Tuning
from ackclock.tuning.search import COMPLETE, FAILED, PRUNED, Found

PARAMETERS = ("parameter", "default", "best", "importance")
MEASURED = (
    "measure", "wanted", "training: default", "training: best", "held out: default", "held out: best",
    "difference [95 %]",
)  # fmt: skip
PATHS = ("held-out path", "default", "best", "difference [95 %]")
"""Headings of the tables of parameters, measures and paths."""


@dataclass(frozen=True, repr=False)
class Tuned:
    """A finished tuning.

    Attributes
    ----------
    tuning : Tuning
        Its file.
    found : Found
        The trials.
    verdict : Verdict
        The judgement of the best trial.
    importance : dict
        The importance of each parameter; empty if there is nothing to rank.
    runs : (int, int)
        Numbers of new runs and of runs in the store.
    said : str
        A message about an earlier search in the folder; empty without one.
    """

    tuning: Tuning
    found: Found
    verdict: Verdict
    importance: Mapping[str, float]
    runs: tuple[int, int]
    said: str

    def __repr__(self) -> str:
        return f"<Tuned {self.tuning.file.stem!r}: {self.verdict.outcome}, best trial {self.verdict.best.number}>"

    def _repr_html_(self) -> str:
        """Return its card for a notebook: answer, parameters, measures, and held-out paths."""
        blocks: list[Block] = [
            Text(self.answer),
            Table(PARAMETERS, self.parameters()),
            Table(MEASURED, self.measures(), 2),
            Table(PATHS, self.paths(), title=f"{self.tuning.goal.measure} on held-out paths"),
        ]
        ended = [f"{count} {state}" for state, count in self.counts.items() if count]
        return Card("Tuning", self.tuning.file.stem, ended, blocks).html()

    @property
    def answer(self) -> str:
        """The result in one paragraph."""
        return answer(self.tuning, self.verdict, self.counts)

    @property
    def counts(self) -> dict[str, int]:
        """Number of trials by their state."""
        states = [trial.state for trial in self.found.trials]
        return {state: states.count(state) for state in (COMPLETE, PRUNED, FAILED)}

    def parameters(self) -> list[list[object]]:
        """Rows: parameter, default, best, importance."""
        rows: list[list[object]] = []
        for each in self.tuning.parameters:
            default = self.found.reference.values[each.name]
            best = self.verdict.best.values[each.name]
            rows.append(
                [each.name, default or "the scenario's", best or "the scenario's", self.importance.get(each.name)]
            )
        return rows

    def names(self) -> list[str]:
        """Return the measures of the rows of `measures`."""
        return measured(self.tuning, self.found.reference.cells)

    def measures(self) -> list[list[object]]:
        """Rows: measure, bound, means of training default and best, means of held-out default, best and difference."""
        tuning, verdict = self.tuning, self.verdict
        rows: list[list[object]] = []
        for name in self.names():
            trained = [_mean(each.cells, name) for each in (self.found.reference, verdict.best)]
            held = [_mean(cells, name) for cells in verdict.cells]
            rows.append([_titled(name), bound(tuning, name), *trained, *held, self._difference(name)])
        return rows

    def _difference(self, name: str) -> str:
        try:
            base, winner = (scores.column(cells, name) for cells in self.verdict.cells)
        except scores.MissingError:
            return "–"
        if self.verdict.best.number == 0:
            return "–"
        goal = Goal(name, 1, "mean", relative=False)
        of, to = (scores.units(goal, values, self.tuning.pairs) for values in (winner, base))
        return interval_text(compared(of, to))

    def paths(self) -> list[list[object]]:
        """Rows: held-out path, default, best, and difference over seeds, of the objective's measure."""
        return [
            [name, base, best, interval_text(found)] for name, base, best, found in per_path(self.tuning, self.verdict)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON."""
        verdict = self.verdict
        held, other = verdict.held_out, at_other_tolerances(verdict)
        difference = None if held is None else held.estimate
        return {
            "answer": self.answer,
            "outcome": verdict.outcome,
            "outcome_half": other.get(0.5),
            "outcome_double": other.get(2.0),
            "best_trial": verdict.best.number,
            "parameters": {
                name: {"default": default, "best": best, "importance": importance}
                for name, default, best, importance in self.parameters()
            },
            "objective": {
                "measure": self.tuning.goal.measure,
                "training": {"default": verdict.before[0], "best": verdict.before[1]},
                "held_out": {"default": verdict.after[0], "best": verdict.after[1]},
                "difference": None
                if difference is None or held is None
                else finite(
                    {
                        "mean": difference.mean, "low": difference.low, "high": difference.high,
                        "pairs": difference.count, "p_value": held.p_value,
                    }
                ),
            },
            "violations": dict(verdict.violations),
            "trials": self.counts,
        }  # fmt: skip


def measured(tuning: Tuning, cells: Cells) -> list[str]:
    """Return the objective, the constraints, and every other measure that has values."""
    first = next(iter(cells.values()))
    others = [name for name in MEASURES if first.get(name) is not None]
    return list(dict.fromkeys([*tuning.measures, *others]))


def bound(tuning: Tuning, name: str) -> str:
    """Return what is asked of a measure: its direction, or its bound."""
    words = []
    if name == tuning.goal.measure:
        words.append("larger is better" if tuning.goal.sign > 0 else "smaller is better")
    for each in tuning.constraints:
        if each.measure == name:
            value = "the defaults'" if each.bound is None else number(each.bound)
            words.append(f"{'≥' if each.sign > 0 else '≤'} {value}")
    return ", ".join(words)


def _mean(cells: Cells, name: str) -> float | None:
    try:
        return scores.over_paths(scores.column(cells, name), "mean", 1)
    except scores.MissingError:
        return None


def _titled(name: str) -> str:
    unit = of(name).dimension
    return f"{name} ({unit})" if unit else name


def interval_text(found: Finding) -> str:
    """Return a difference with its 95 % interval."""
    difference = found.estimate
    if not difference.known:
        return f"{_signed(number(difference.mean))} (in every run)" if difference.count > 1 else number(difference.mean)
    mean, low, high = rounded(difference)
    return f"{_signed(mean)} [{low}, {high}]"


def _signed(text: str) -> str:
    """Return a number with its sign; zero has none."""
    plain = text.replace("-", "−")
    if not plain.strip("−0.,"):
        return plain.lstrip("−")
    return plain if plain.startswith("−") else f"+{plain}"


def answer(tuning: Tuning, verdict: Verdict, counts: Mapping[str, int]) -> str:
    """Return the result in one paragraph: the gain on held-out runs, its interval, and whether it survives."""
    tried = sum(counts.values())
    measure = tuning.goal.measure
    if verdict.outcome == "no better":
        infeasible = "" if all(value <= 0 for value in verdict.violations.values()) else ", which break a constraint"
        return (
            f"None of {counted(tried, 'trial')} is better than the default parameters{infeasible}: nothing is changed."
        )
    held = verdict.held_out
    assert held is not None
    change = held.estimate
    gained = _percent(verdict.before)
    unit = "path" if tuning.pairs == "paths" else "seed"
    where = f"{len(tuning.held_out.paths)} × {len(tuning.held_out.seeds)} held-out runs (paths × seeds)"
    base = abs(verdict.after[0])
    if change.known and base:
        low, high = sorted((change.low / base * 100, change.high / base * 100))
        interval = f"95 % interval {_signed_percent(low)} to {_signed_percent(high)}, pairs by {unit}"
    elif change.count == 1:
        interval = "no interval: there is only one pair"
    else:
        interval = f"no interval: every {unit} gives the same difference, so the runs need held-out paths to judge"
    size = f"{_percent(verdict.after)} ({interval})"
    said = {
        "survives": "the gain survives",
        "no difference": f"this is no difference ({SAME.text})",
        "not shown": "no gain is shown",
        "reversed": "the tuned parameters are worse than the defaults",
        "breaks a constraint": "the objective gains, but a constraint does not hold",
    }[verdict.outcome]
    other = changes({1.0: verdict.outcome, **at_other_tolerances(verdict)})
    said += f" ({other})" if other else ""
    pairs = few(change.count, unit)
    scarce = f" {pairs[:1].upper()}{pairs[1:]}." if pairs and change.count > 1 else ""
    broken = [name for name, beyond in verdict.violations.items() if beyond > 0]
    constraint = f" Broken there: {', '.join(broken)}." if broken else ""
    return (
        f"On {where}, the best of {counted(tried, 'trial')} changes {measure} by {size}: {said}. "
        f"In training the change was {gained}.{scarce}{constraint}"
    )


def _percent(ends: tuple[float, float]) -> str:
    before, after = ends
    return _signed_percent((after - before) / abs(before) * 100) if before else f"{number(after)} from 0"


def _signed_percent(value: float) -> str:
    digits = 1 if abs(value) < 10 else 0
    return f"{value:+.{digits}f} %".replace("-", "−")
