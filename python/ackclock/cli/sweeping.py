"""The command `sweep`: its options, and the means of the points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ackclock import columns
from ackclock.cli import output
from ackclock.cli.options import key_and_value
from ackclock.datasets.dataset import Dataset
from ackclock.experiments.averages import Average, averages
from ackclock.files import checks
from ackclock.formatting.labels import last_part
from ackclock.formatting.numbers import ANY_NUMBER, counted, number
from ackclock.statistics.intervals import Interval
from ackclock.statistics.sequential import Stopping
from ackclock.sweeps.plan import Until
from ackclock.sweeps.running import Outcome

if TYPE_CHECKING:
    import polars

MEASURES = {
    "goodput (bit/s)": "goodput_bps", "retransmitted": "retransmitted_packets", "drops": "drops",
    "queue mean": "queue_mean", "completion (s)": "completion_mean",
}  # fmt: skip
LESS = ("queue mean", "drops", "retransmitted", "runs", "failed")
"""Columns that a narrow terminal leaves out, the least important first."""
NO_MEASURES = ("task", "events", "cpu_s", "wall_s")
MOST_POINTS = 20
MOST_ERRORS = 3
AT_LEAST = 10
AT_MOST = 1000


def show(outcome: Outcome, *, json_output: bool) -> None:
    """Print the means of the points, and what went wrong.

    Raises
    ------
    ValueError
        If every run failed.
    """
    import polars

    dataset = outcome.dataset
    folder = dataset.folder
    with dataset.reading():
        failed = _failures(dataset)
        total = dataset.runs.select(polars.len()).collect().item()
        if failed.height == 1 and failed["len"].sum() == total:
            raise ValueError(f"every run failed ({total:,} in {folder}): {failed['error'][0]}")
        _show(dataset, json_output=json_output)
        _warn(dataset, failed, total)
    if failed["len"].sum() == total > 0:
        raise ValueError(f"every run failed ({total:,} in {folder}), for the reasons above")
    output.note(
        f"written to {folder}; query it with `ackclock query {folder}`, draw it with `ackclock report {folder}`"
    )


def read_until(text: str | None, seeds: int | None, at_most: int | None) -> Until | None:
    """Read `--until MEASURE=SHARE`."""
    if text is None:
        if at_most is not None:
            raise ValueError("--at-most: is for --until")
        return None
    measure, share = key_and_value(text, "--until", "goodput_bps=2%")
    known = [column.name for column in columns.of("runs") if column.kind != "texts" and column.name not in NO_MEASURES]
    checks.words("--until", "measure", [measure], known)
    try:
        relative = float(share.removesuffix("%")) / 100 if share.endswith("%") else float("nan")
        rule = Stopping(relative, True, seeds or AT_LEAST, at_most or AT_MOST)
    except ValueError as error:
        reason = str(error) if share.endswith("%") and "half_width" not in str(error) else "expected a share such as 2%"
        raise ValueError(f"--until {text}: {reason}") from None
    return Until(measure, rule)


def _show(dataset: Dataset, *, json_output: bool) -> None:
    import polars

    if json_output:
        found = averages(dataset, list(MEASURES.values()))
        output.data({"folder": str(dataset.folder), "points": [_json(average) for average in found]})
    else:
        found = averages(dataset, list(MEASURES.values()), MOST_POINTS)
        _print(found, dataset.labels)
        points = dataset.runs.select(polars.struct(dataset.labels).n_unique()).collect().item() if dataset.labels else 1
        if points > len(found):
            output.note(f"only the first {len(found)} of {points:,} points are shown")


def _failures(dataset: Dataset) -> polars.DataFrame:
    """Return the kinds of errors with the first run of each, the most frequent first; alike ones are one kind."""
    import polars

    kind = polars.col("error").str.replace_all(ANY_NUMBER, "0").alias("kind")
    errors = dataset.runs.filter(polars.col("error").is_not_null()).group_by(kind, maintain_order=True)
    kinds = errors.agg(polars.col("error").first(), *_first(dataset))
    return kinds.sort("len", descending=True, maintain_order=True).collect()


def _first(dataset: Dataset) -> list[polars.Expr]:
    """Return the number of rows of a group, and the labels and seed of its first."""
    import polars

    return [polars.len(), *(polars.col(name).first() for name in [*dataset.labels, "seed"])]


def _warn(dataset: Dataset, kinds: polars.DataFrame, total: int) -> None:
    """Print errors, alike ones once, and the names of the runs' warnings."""
    import polars

    for row in kinds.head(MOST_ERRORS).to_dicts():
        output.warning(
            f"{row['len']:,} of {counted(total, 'run')} failed, first {_place(row, dataset)}: {row['error']}"
        )
    if kinds.height > MOST_ERRORS:
        output.note(f"{kinds.height - MOST_ERRORS} further kinds of errors are in the column error")
    warned = dataset.runs.drop_nulls("warnings").with_columns(polars.col("warnings").str.split(", "))
    names = warned.explode("warnings").group_by("warnings", maintain_order=True).agg(*_first(dataset)).collect()
    for row in names.to_dicts():
        output.warning(
            f"{row['warnings']} in {row['len']:,} of {counted(total, 'run')}, first {_place(row, dataset)}; "
            "`ackclock run` with these values explains it"
        )


def _place(row: dict[str, Any], dataset: Dataset) -> str:
    """Return labels and seed of a run."""
    labels = [f"{last_part(name)} {row[name]}" for name in dataset.labels]
    return "at " + ", ".join([*labels, f"seed {row['seed']}"])


def _print(found: Sequence[Average], labels: Sequence[str]) -> None:
    titles = {title: name for title, name in MEASURES.items() if any(average.means[name] for average in found)}
    several = any(average.runs > 1 for average in found)
    failed = any(average.failed for average in found)
    lines: list[list[object]] = [
        [
            *average.labels.values(),
            *([average.runs] if several else []),
            *([average.failed] if failed else []),
            *(_cell(average.means[name]) for name in titles.values()),
        ]
        for average in found
    ]
    short = [last_part(label) for label in labels]
    unique = short if len(set(short)) == len(short) else list(labels)
    counts = [*(["runs"] if several else []), *(["failed"] if failed else [])]
    output.table([*unique, *counts, *titles], lines, left=len(labels), less=LESS)


def _cell(mean: Interval | None) -> str:
    if mean is None:
        return "–"
    return f"{number(mean.mean)} ± {number((mean.high - mean.low) / 2, 2)}" if mean.finite else number(mean.mean)


def _json(average: Average) -> dict[str, object]:
    means = {
        name: None if mean is None else {"mean": mean.mean, "low": _end(mean, mean.low), "high": _end(mean, mean.high)}
        for name, mean in average.means.items()
    }
    return {"labels": average.labels, "runs": average.runs, "failed": average.failed, **means}


def _end(mean: Interval, end: float) -> float | None:
    return end if mean.finite else None
