"""Tables of a matrix, for a terminal and for its report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars

from ackclock.judging.tolerances import SAME
from ackclock.judging.words import few
from ackclock.matrices.effects import Crossed
from ackclock.matrices.metrics import METRICS
from ackclock.matrices.parts import AXES
from ackclock.metrics.metric import Metric
from ackclock.texts.numbers import number

UNCLEAR = "unclear"
WINS = "* "
"""Mark of a composition that is better than the baseline."""
LEGEND = " (*: better, after Holm's correction)"
MOST_ROWS = 12  # compositions of a matrix that is shown in full

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Shown:
    """A table of texts; its first `left` columns hold words, and a narrow terminal leaves out those in `less`."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int
    less: Sequence[str] = ()


TOP = 3
"""Best compositions of a path that are shown by default."""


def tables(matrix: Crossed, metric: str | None = None, top: int = TOP) -> list[Shown]:
    """Return a table of compositions, for a large matrix only the best and worst on each path, and tables of parts.

    Parameters
    ----------
    matrix
        The matrix.
    metric
        The metric to rank by; by default that of each path.
    top
        The number of best compositions to show of a large matrix.
    """
    return [_ranking(matrix, metric, top), *_parts(matrix, metric)]


def answer(matrix: Crossed, metric: str | None = None) -> list[str]:
    """Summarise the matrix in three sentences: how many are better or worse, and which part gains or costs most.

    Parameters
    ----------
    matrix
        The matrix.
    metric
        The metric to compare; by default that of each path.
    """
    keys = {path.name: metric or matrix.metric(path.name) for path in matrix.plan.paths}
    rows = matrix.compositions.filter(~polars.col("baseline")).to_dicts()
    counted = Counter(word for row in rows if (word := row[f"{keys[row['path']]}_verdict"]))
    words = [f"{counted[word]:,} {'is' if counted[word] == 1 else 'are'} {word}" for word in ("better", "worse")]
    others = f"{counted['same']:,} the same ({SAME.text}) and {counted[UNCLEAR]:,} {UNCLEAR}"
    total = f"Of {counted.total():,} comparisons with the baseline, each in the metric of its path, "
    said = [f"{total}{words[0]}, {words[1]}, {others}, after Holm's correction for all of them."]
    if text := few(matrix.plan.seeds, "seed"):
        said.append(f"{text}.")
    base = matrix.plan.baseline.labels
    # Gains in different metrics have no common size, so only the most frequent metric counts.
    key = Counter(keys.values()).most_common(1)[0][0] if keys else ""
    means = [row for row in matrix.parts(metric).iter_rows() if keys.get(row[2]) == key and row[4] is not None]
    means = [row for row in means if base[row[0]] != row[1]]
    for place, verb in ((-1, "gains"), (0, "costs")):
        ranked = sorted(means, key=lambda row: METRICS[key].better * row[4])
        if ranked:
            axis, part, path, _, vs = ranked[place]
            name = METRICS[key].title.partition(" (")[0]
            said.append(
                f"Of all parts {part} ({title(axis)}) {verb} most: on the path {path}, averaged over all compositions "
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
    for path in matrix.plan.paths:
        key = metric or matrix.metric(path.name)
        ranked = _alike(matrix.ranked(path.name, metric).to_dicts())
        chosen = ranked
        if len(matrix.plan.compositions) > MOST_ROWS:
            ends = {*range(top), len(ranked) - 1}
            chosen = [each for place, each in enumerate(ranked) if place in ends or _is_base(each)]
        if ranked and not any(map(_is_base, chosen)):
            own = matrix.table.filter(polars.col("path") == path.name, polars.col("baseline"))
            chosen = [*chosen, *(("", row) for row in own.to_dicts())]
        rows += [(f"{rank} baseline".strip() if row["baseline"] else rank, key, row) for rank, row in chosen]
    # The baseline may have parts that no other composition has.
    axes = [axis for axis in AXES if matrix.table[axis].n_unique() > 1] or varied(matrix)
    metrics = [metric for metric in METRICS.values() if any(row[metric.key] is not None for _, _, row in rows)]
    lines = [
        [row["path"], rank, *(row[axis] for axis in axes), *(value(row, each) for each in metrics), against(row, key)]
        for rank, key, row in rows
    ]
    columns = ["path", "rank", *(title(axis) for axis in axes), *(each.title for each in metrics), "against baseline"]
    ranking = {METRICS[key].title for _, key, _ in rows}
    less = [each.title for each in reversed(metrics) if each.title not in ranking]
    marked = any(line[-1].startswith(WINS) for line in lines)
    return Shown(f"compositions{LEGEND if marked else ''}", columns, lines, 2 + len(axes), less)


def _is_base(ranked: tuple[str, Row]) -> bool:
    return bool(ranked[1]["baseline"])


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
    same = all(row[key] == rows[0][key] for row in rows for key in METRICS)
    return same and sum(len({row[axis] for row in rows}) > 1 for axis in AXES) == 1


def _joined(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    parts = {axis: " = ".join(dict.fromkeys(row[axis] for row in rows)) for axis in AXES}
    return {**rows[0], **parts, "baseline": any(row["baseline"] for row in rows)}


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
    """Whether a composition is better than the baseline."""
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
    names = [path.name for path in matrix.plan.paths]
    keys = {name: metric or matrix.metric(name) for name in names}
    base = matrix.plan.baseline.labels
    rows = {(row["path"], *(row[axis] for axis in AXES)): row for row in matrix.table.iter_rows(named=True)}
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
