"""Tables of the measurements of a matrix, and the mean effect of each part."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Literal, TypeGuard

import polars

from ackclock.deriving import BOUNDS
from ackclock.judging.effects import Better, Question, judge
from ackclock.judging.samples import Sample
from ackclock.matrices.crossing import Measured, Outcome, Plan
from ackclock.matrices.metrics import MEASURED, METRICS, Row
from ackclock.matrices.parts import AXES, Composition
from ackclock.statistics.intervals import Interval, interval

Cell = tuple[str, Composition]
ENDS = ("", "_low", "_high", "_vs", "_vs_low", "_vs_high", "_p", "_holm")
VERDICTS = {0.5: "_verdict_half", 1.0: "_verdict", 2.0: "_verdict_double"}
"""Endings of its verdicts, by the factor of the tolerance."""
"""Endings of the columns of a metric."""


class Crossed:
    """The measurements of every combination, as tables.

    Parameters
    ----------
    outcome
        The outcome of the runs.

    Attributes
    ----------
    plan : Plan
        The planned runs.
    measured : dict
        The measurements of each run, by its key.
    """

    def __init__(self, outcome: Outcome) -> None:
        self.plan: Plan = outcome.plan
        self.measured: Measured = outcome.measured

    @cached_property
    def _rows(self) -> dict[Cell, list[Row]]:
        """The measurements by path and composition, in the order of the seeds."""
        found: dict[Cell, list[Row]] = {}
        for run in self.plan.runs:
            if run.key in self.measured:
                row = {"seed": run.seed, **self.measured[run.key], "hash": run.hash}
                found.setdefault((run.path.name, run.composition), []).append(row)
        for path in self.plan.paths:
            alike = found.get((path.name, path.rival), []) if path.rival else []
            like = {row["seed"]: row["rival_goodput_bps"] for row in alike}
            for (name, _), rows in found.items():
                for row in rows if name == path.name else ():
                    row["taken"] = _taken(row["rival_goodput_bps"], like.get(row["seed"]))
        return found

    @property
    def _shown(self) -> list[Composition]:
        return list(dict.fromkeys([*self.plan.compositions, self.plan.baseline]))

    @cached_property
    def runs(self) -> polars.DataFrame:
        """One row per path, composition and seed."""
        rows = [
            {"path": path.name, **composition.labels, **row}
            for path in self.plan.paths
            for composition in self._shown
            for row in self._rows.get((path.name, composition), [])
        ]
        kinds = {name: polars.Int64 if kind is int else polars.Float64 for name, kind in MEASURED.items()}
        texts = dict.fromkeys(("path", *AXES), polars.String)
        return polars.DataFrame(
            rows, {**texts, "seed": polars.Int64, **kinds, "taken": polars.Float64, "hash": polars.String}
        )

    @cached_property
    def table(self) -> polars.DataFrame:
        """One row per path and composition.

        Every metric has its mean over seeds and Student's 95 % interval (``_low``, ``_high``). The comparison with the
        baseline has the same columns (``_vs``, ``_vs_low``, ``_vs_high``): the ratio of the means with Fieller's
        interval, or the mean difference, both paired by seed. ``_p`` is the p-value of the paired t test, and ``_holm``
        the same after Holm's correction for all compositions and paths; equal results count once. ``_verdict`` is
        better, worse, same or unclear, see `ackclock.judging.effects`; ``_verdict_half`` and ``_verdict_double`` are
        the verdicts with half and with double the tolerance.
        """
        made: list[Row] = []
        compared: list[dict[str, Sample]] = []
        for path in self.plan.paths:
            base = {row["seed"]: row for row in self._rows.get((path.name, self.plan.baseline), [])}
            for composition in self._shown:
                rows = self._rows.get((path.name, composition), [])
                if rows:
                    is_base = composition == self.plan.baseline
                    head = {"path": path.name, **composition.labels, "baseline": is_base, "seeds": len(rows)}
                    made.append({**head, **_means(rows)})
                    compared.append({} if is_base else _samples(rows, base))
        for key in METRICS:
            _judge(made, compared, key)
        texts = dict.fromkeys(("path", *AXES), polars.String)
        kinds = {**texts, "baseline": polars.Boolean, "seeds": polars.Int64}
        for key in METRICS:
            kinds |= dict.fromkeys([f"{key}{end}" for end in ENDS], polars.Float64)
            kinds |= dict.fromkeys([f"{key}{end}" for end in VERDICTS.values()], polars.String)
        return polars.DataFrame(made, kinds)

    @property
    def compositions(self) -> polars.DataFrame:
        """The requested rows of `table`, without the baseline unless it was requested."""
        return (
            self.table if self.plan.baseline in self.plan.compositions else self.table.filter(~polars.col("baseline"))
        )

    def metric(self, path: str) -> str:
        """Return the metric that ranks compositions on a path: completion time if flows end, otherwise goodput."""
        sized = next(each.sized for each in self.plan.paths if each.name == path)
        return "completion_s" if sized else "goodput_bps"

    def ranked(self, path: str, metric: str | None = None) -> polars.DataFrame:
        """Return the compositions on a path, best first, without those that have no value of the metric.

        Parameters
        ----------
        path
            Name of the path.
        metric
            One of `METRICS`; by default that of the path.
        """
        key = metric or self.metric(path)
        own = self.compositions.filter(polars.col("path") == path, polars.col(key).is_not_null())
        # If means are equal, the order of the axes decides, so that the result is always the same.
        return own.sort(key, descending=METRICS[key].better > 0, maintain_order=True)

    def parts(self, metric: str | None = None) -> polars.DataFrame:
        """Return the mean effect of every part on every path: the metric against the baseline, over its compositions.

        Parameters
        ----------
        metric
            One of `METRICS`; by default that of each path.
        """
        made = []
        for axis in AXES:
            for path in self.plan.paths:
                key = metric or self.metric(path.name)
                own = self.compositions.filter(polars.col("path") == path.name)
                means = own.group_by(axis, maintain_order=True).agg(polars.col(f"{key}_vs").mean())
                made += [
                    {"axis": axis, "part": part, "path": path.name, "metric": key, "vs": mean}
                    for part, mean in means.iter_rows()
                ]
        texts = dict.fromkeys(("axis", "part", "path", "metric"), polars.String)
        return polars.DataFrame(made, {**texts, "vs": polars.Float64})


def _taken(beside_tested: float | None, beside_like: float | None) -> float | None:
    """Return the share of their goodput next to flows like them that rivals lose next to the flows under test."""
    return 1 - beside_tested / beside_like if beside_tested is not None and beside_like else None


def _means(rows: Sequence[Row]) -> Row:
    """Return the mean of each metric with its interval."""
    made: Row = {}
    for key in METRICS:
        own = [row[key] for row in rows]
        made |= _columns(key, _known(own) and interval(own, "seed", bounds=BOUNDS.get(key)))
    return made


def _samples(rows: Sequence[Row], base: dict[int, Row]) -> dict[str, Sample]:
    """Return the pairs of a composition and the baseline in each metric of which all seeds have a value."""
    found = {}
    for key, metric in METRICS.items():
        own = [row[key] for row in rows]
        beside = [base.get(row["seed"], {}).get(key) for row in rows]
        # Nothing has a ratio to a baseline of 0.
        if _known(own) and _known(beside) and (metric.relation == "difference" or any(beside)):
            found[key] = Sample(own, beside, metric.relation)
    return found


def _judge(rows: Sequence[Row], compared: Sequence[dict[str, Sample]], key: str) -> None:
    """Add the comparisons with the baseline in a metric, which are one family."""
    better: Better = "higher" if METRICS[key].better > 0 else "lower"
    asked = [(row, Question(found[key], better)) for row, found in zip(rows, compared, strict=True) if key in found]
    for row in rows:
        neutral = 1.0 if METRICS[key].relation == "ratio" else 0.0
        # The baseline is what it is compared with.
        own = row["baseline"] and row[key] is not None
        row |= {**_columns(f"{key}_vs", None), f"{key}_vs": neutral if own else None}
        row |= dict.fromkeys((f"{key}_p", f"{key}_holm", *(f"{key}{end}" for end in VERDICTS.values())))
    for (row, _), found in zip(asked, judge([question for _, question in asked]), strict=True):
        row |= _columns(f"{key}_vs", found.estimate)
        row |= {f"{key}_p": found.p_value, f"{key}_holm": found.adjusted}
        row |= {f"{key}{end}": found.at(factor) for factor, end in VERDICTS.items()}


def _known(sample: Sequence[float | None]) -> TypeGuard[Sequence[float]]:
    """Whether every seed has a value."""
    return None not in sample


def _columns(name: str, found: Interval | Literal[False] | None) -> Row:
    """Return mean and ends of an interval; no ends if the interval is infinite."""
    if not found:
        return dict.fromkeys((name, f"{name}_low", f"{name}_high"))
    ends = (found.low, found.high) if found.finite else (None, None)
    return dict(zip((name, f"{name}_low", f"{name}_high"), (found.mean, *ends), strict=True))
