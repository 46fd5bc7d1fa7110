"""A matrix as tables: the ranking of its combinations, and the mean effect of each part."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from statistics import fmean
from typing import Any

import polars

from ackclock.comparisons.judging import MANY, METRICS, Judged
from ackclock.comparisons.parts import AXES
from ackclock.comparisons.words import Shown
from ackclock.formatting.numbers import counted, number
from ackclock.judging.words import few
from ackclock.metrics.metric import Metric

UNCLEAR = "unclear"
FRONT = "combinations that no other one beats over all paths"
WINS = "* "
"""Mark of a combination that is better than the baseline."""
LEGEND = " (*: better, after Holm's correction)"

SHOWN = ("completion", "goodput_bps", "sojourn_p95", "resent", "jain", "taken")
"""The metrics of its tables and maps, by one of which it is sorted."""

Row = Mapping[str, Any]


class Crossed:
    """The judged combinations of a matrix.

    Parameters
    ----------
    judged
        The judgement of the comparison whose contenders they are.

    Attributes
    ----------
    judged : Judged
        The judgement.
    paths : list of str
        The paths that have a finished pair.
    count : int
        Number of combinations that were asked for.
    """

    def __init__(self, judged: Judged) -> None:
        self.judged = judged
        self.paths = [place.name for place in judged.places]
        plan = judged.outcome.plan
        self.count = len(plan.contenders) - plan.outside
        self.baseline = plan.contenders[0]

    @cached_property
    def table(self) -> polars.DataFrame:
        """One row for each path and combination, see `Judged.rows`; the reference is as it is itself."""
        rows = self.judged.rows
        judged = {(row["place"], key) for row in rows for key in METRICS if row[f"{key}_vs"] is not None}
        for row in rows:
            for key, metric in METRICS.items():
                if row["reference"] and (row["place"], key) in judged:
                    row[f"{key}_vs"] = 1.0 if metric.relation == "ratio" else 0.0
        return polars.DataFrame(rows, infer_schema_length=None)

    @property
    def compositions(self) -> polars.DataFrame:
        """The rows of `table` that were asked for."""
        return self.table.filter(~polars.col("reference")) if self.judged.outcome.plan.outside else self.table

    def metric(self, path: str) -> str:
        """Return the metric that ranks combinations on a path: completion time if flows end, otherwise goodput."""
        return next(self.judged.primary(place) for place in self.judged.places if place.name == path)

    def ranked(self, path: str, metric: str | None = None) -> polars.DataFrame:
        """Return the combinations on a path, best first, without those that have no value of the metric.

        Parameters
        ----------
        path
            Name of the path.
        metric
            One of `SHOWN`; by default that of the path.
        """
        key = metric or self.metric(path)
        own = self.compositions.filter(polars.col("place") == path, polars.col(key).is_not_null())
        # If means are equal, the order of the axes decides, so that the result is always the same.
        return own.sort(key, descending=METRICS[key].better > 0, maintain_order=True)

    def parts(self, metric: str | None = None) -> polars.DataFrame:
        """Return the mean effect of every part on every path: the metric against the baseline, over its combinations.

        Parameters
        ----------
        metric
            One of `SHOWN`; by default that of each path.
        """
        made = []
        for axis in AXES:
            for path in self.paths:
                key = metric or self.metric(path)
                own = self.compositions.filter(polars.col("place") == path)
                means = own.group_by(axis, maintain_order=True).agg(polars.col(f"{key}_vs").mean())
                made += [
                    {"axis": axis, "part": part, "path": path, "metric": key, "vs": mean}
                    for part, mean in means.iter_rows()
                ]
        texts = dict.fromkeys(("axis", "part", "path", "metric"), polars.String)
        return polars.DataFrame(made, {**texts, "vs": polars.Float64})

    @cached_property
    def front(self) -> polars.DataFrame:
        """One row for each combination: speed and queue against the baseline and what rivals lose, over all paths.

        ``speed`` and ``queue`` are geometric means over the paths: of the ratio of goodput or of the reciprocal of the
        completion time, and of the ratio of the 95th percentile of waiting times, both lengthened by `LEAST_WAIT`.
        ``taken`` is the mean over the paths with rivals, null without any. ``best`` says whether no other combination
        is better in one of the three and at least as good in the others.
        """
        base = {row["place"]: row["sojourn_p95"] for row in self.table.filter("reference").to_dicts()}
        rows = []
        for labels, own in self.compositions.group_by(AXES, maintain_order=True):
            speeds, waits, taken = [], [], []
            for row in own.to_dicts():
                key = self.metric(row["place"])
                vs, wait, wait_base = row[f"{key}_vs"], row["sojourn_p95"], base.get(row["place"])
                if vs:
                    speeds.append(METRICS[key].better * math.log(vs))
                if wait is not None and wait_base is not None:
                    waits.append(math.log((wait + LEAST_WAIT) / (wait_base + LEAST_WAIT)))
                if row["taken"] is not None:
                    taken.append(row["taken"])
            if len(speeds) == len(self.paths):
                found = (
                    math.exp(fmean(speeds)),
                    math.exp(fmean(waits)) if waits else None,
                    fmean(taken) if taken else None,
                )
                rows.append(dict(zip((*AXES, "speed", "queue", "taken"), (*labels, *found), strict=True)))
        schema = {**dict.fromkeys(AXES, polars.String), **dict.fromkeys(("speed", "queue", "taken"), polars.Float64)}
        made = polars.DataFrame(rows, schema)
        # All three are better the smaller they are.
        costs = [(-row["speed"], row["queue"] or 0.0, row["taken"] or 0.0) for row in rows]
        best = [not any(_dominates(other, own) for other in costs) for own in costs]
        return made.with_columns(best=polars.Series(best, dtype=polars.Boolean)).sort("speed", descending=True)


def _dominates(one: Sequence[float], other: Sequence[float]) -> bool:
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))


LEAST_WAIT = 1e-4
"""Seconds by which waits are lengthened, since a wait of nothing has no ratio."""
TOP = 3
"""Best compositions of a path that are shown by default."""


def tables(matrix: Crossed, metric: str | None = None, top: int = TOP) -> list[Shown]:
    """Return a table of combinations, for a large matrix only the best and worst on each path, and tables of parts.

    Parameters
    ----------
    matrix
        The matrix.
    metric
        The metric to rank by; by default that of each path.
    top
        The number of best combinations to show of a large matrix.
    """
    return [_ranking(matrix, metric, top), *_front(matrix), *_parts(matrix, metric)]


def answer(matrix: Crossed, metric: str | None = None) -> list[str]:
    """Summarise the matrix in three sentences: how many are better or worse, and which part gains or costs most.

    Parameters
    ----------
    matrix
        The matrix.
    metric
        The metric to compare; by default that of each path.
    """
    keys = {path: metric or matrix.metric(path) for path in matrix.paths}
    rows = matrix.compositions.filter(~polars.col("reference")).to_dicts()
    found = Counter(word for row in rows if (word := row[f"{keys[row['place']]}_verdict"]))
    if not found.total():
        return [f"No combination can be compared with the baseline{f' in {metric}' if metric else ''}."]
    words = [f"{found[word]:,} {'is' if found[word] == 1 else 'are'} {word}" for word in ("better", "worse")]
    others = f"{found['same']:,} the same (±{100 * matrix.judged.margin:g} %) and {found[UNCLEAR]:,} {UNCLEAR}"
    total = f"Of {counted(found.total(), 'comparison')} with the baseline, each in the metric of its path, "
    said = [f"{total}{words[0]}, {words[1]}, {others}, after Holm's correction for all of them."]
    if text := few(min(matrix.table["pairs"].to_list()), "drawn path"):
        said.append(f"{text}.")
    base = matrix.baseline.labels
    # Gains in different metrics have no common size, so only the most frequent metric counts.
    key = Counter(keys.values()).most_common(1)[0][0] if keys else ""
    means = [row for row in matrix.parts(metric).iter_rows() if keys.get(row[2]) == key and row[4] is not None]
    means = [row for row in means if base[row[0]] != row[1]]
    neutral = 1.0 if key and METRICS[key].relation == "ratio" else 0.0
    for verb, sign in (("gains", 1), ("costs", -1)):
        ranked = max(means, key=lambda row: sign * METRICS[key].better * row[4], default=None)
        if ranked is None or sign * METRICS[key].better * (ranked[4] - neutral) <= 0:
            continue
        axis, part, path, _, vs = ranked
        name = METRICS[key].title.partition(" (")[0]
        said.append(
            f"Of all parts {part} ({title(axis)}) {verb} most: on the path {path}, averaged over all combinations "
            f"with it, {name} is {relative(vs, METRICS[key])} against the baseline."
        )
    return said


def varied(matrix: Crossed) -> list[str]:
    """Return the axes with more than one part."""
    return [axis for axis in AXES if matrix.compositions[axis].n_unique() > 1] or list(AXES[:2])


def title(axis: str) -> str:
    """Return the name of an axis in words."""
    return axis.replace("_", " ")


def _ranking(matrix: Crossed, metric: str | None, top: int) -> Shown:
    rows: list[tuple[str, str, Row]] = []
    for path in matrix.paths:
        key = metric or matrix.metric(path)
        ranked = _alike(matrix.ranked(path, metric).to_dicts())
        chosen = ranked
        if matrix.count > MANY:
            ends = {*range(top), len(ranked) - 1}
            chosen = [each for place, each in enumerate(ranked) if place in ends or _is_base(each)]
        if ranked and not any(map(_is_base, chosen)):
            own = matrix.table.filter(polars.col("place") == path, polars.col("reference"))
            chosen = [*chosen, *(("", row) for row in own.to_dicts())]
        rows += [(f"{rank} baseline".strip() if row["reference"] else rank, key, row) for rank, row in chosen]
    # The baseline may have parts that no other composition has.
    axes = [axis for axis in AXES if matrix.table[axis].n_unique() > 1] or varied(matrix)
    metrics = [METRICS[key] for key in SHOWN if any(row[key] is not None for _, _, row in rows)]
    lines = [
        [row["place"], rank, *(row[axis] for axis in axes), *(value(row, each) for each in metrics), against(row, key)]
        for rank, key, row in rows
    ]
    columns = ["path", "rank", *(title(axis) for axis in axes), *(each.title for each in metrics), "against baseline"]
    ranking = {METRICS[key].title for _, key, _ in rows}
    less = [each.title for each in reversed(metrics) if each.title not in ranking]
    marked = any(line[-1].startswith(WINS) for line in lines)
    return Shown(f"combinations{LEGEND if marked else ''}", columns, lines, 2 + len(axes), less)


def _front(matrix: Crossed) -> list[Shown]:
    """Return the combinations that no other one beats, over several paths and of more than two."""
    if len(matrix.paths) < 2 or matrix.count < 3:
        return []
    rows = matrix.front.filter("best").to_dicts()
    axes = varied(matrix)
    lines = [
        [
            *(row[axis] for axis in axes), f"×{row['speed']:.3f}",
            "–" if row["queue"] is None else f"×{row['queue']:.3f}",
            "–" if row["taken"] is None else value(row, METRICS["taken"]),
        ]
        for row in rows
    ]  # fmt: skip
    columns = [*map(title, axes), "speed", "queue", METRICS["taken"].title]
    note = (
        "Speed and queue are geometric means over the paths against the baseline; no other combination is better in one"
        " of the three columns and as good in the others."
    )
    return [Shown(FRONT, columns, lines, len(axes), note=note)] if rows else []


def _is_base(ranked: tuple[str, Row]) -> bool:
    return bool(ranked[1]["reference"])


def _alike(ranked: Sequence[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """Rank rows; neighbours that differ in one part but in no measurement become one row."""
    merged: list[tuple[int, list[dict[str, Any]]]] = []
    for rank, row in enumerate(ranked, start=1):
        if merged and _one_axis([*merged[-1][1], row]):
            merged[-1][1].append(row)
        else:
            merged.append((rank, [row]))
    return [(str(rank), _joined(rows)) for rank, rows in merged]


def _one_axis(rows: Sequence[Row]) -> bool:
    same = all(row[key] == rows[0][key] for row in rows for key in SHOWN)
    return same and sum(len({row[axis] for row in rows}) > 1 for axis in AXES) == 1


def _joined(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    parts = {axis: " = ".join(dict.fromkeys(row[axis] for row in rows)) for axis in AXES}
    return {**rows[0], **parts, "reference": any(row["reference"] for row in rows)}


def value(row: Row, metric: Metric) -> str:
    """Return the mean of a metric."""
    return "–" if row[metric.key] is None else number(row[metric.key] * metric.scale, 4).replace("-", "−")


def against(row: Row, key: str) -> str:
    """Return a metric against the baseline with its interval."""
    mean, low, high = (row[f"{key}_vs{end}"] for end in ("", "_low", "_high"))
    if mean is None:
        return "–"
    ends = "" if low is None else f" [{relative(low, METRICS[key])}, {relative(high, METRICS[key])}]"
    return (WINS if wins(row, key) else "") + relative(mean, METRICS[key]) + ends


def wins(row: Row, key: str) -> bool:
    """Whether a combination is better than the baseline."""
    return bool(row[f"{key}_verdict"] == "better")


def relative(found: float, metric: Metric) -> str:
    """Return a ratio as ×1.25, a difference with its sign."""
    if metric.relation == "ratio":
        return f"×{found:.3f}".replace("-", "−")
    return f"{found * metric.scale:+.3f}".replace("-", "−")


def _parts(matrix: Crossed, metric: str | None) -> list[Shown]:
    """Return the effects of each part, alone and on average, if there is anything to compare."""
    if not any(matrix.compositions[axis].n_unique() > 1 for axis in AXES):
        return []
    names = matrix.paths
    keys = {name: metric or matrix.metric(name) for name in names}
    base = matrix.baseline.labels
    rows = {(row["place"], *(row[axis] for axis in AXES)): row for row in matrix.table.iter_rows(named=True)}
    means = {row[:3]: row[4] for row in matrix.parts(metric).iter_rows()}
    alone, average = [], []
    for axis in varied(matrix):
        for part in matrix.compositions[axis].unique(maintain_order=True):
            changed = {**base, axis: part}
            found = [rows.get((name, *changed.values()), {}).get(f"{keys[name]}_vs") for name in names]
            alone.append([title(axis), part, *(_cell(vs, keys[name]) for name, vs in zip(names, found, strict=True))])
            average.append([title(axis), part, *(_cell(means.get((axis, part, name)), keys[name]) for name in names)])
    heads = ["axis", "part", *(f"{name}: {METRICS[keys[name]].title.partition(' (')[0]}" for name in names)]
    made = [Shown("one part changed in the baseline", heads, alone, 2)] if _some(alone) else []
    return [*made, Shown("mean of all with the part", heads, average, 2)]


def _some(lines: Sequence[Sequence[str]]) -> bool:
    return any(cell != "–" for line in lines for cell in line[2:])


def _cell(vs: float | None, key: str) -> str:
    return "–" if vs is None else relative(vs, METRICS[key])
