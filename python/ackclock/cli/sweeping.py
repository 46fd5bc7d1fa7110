"""The command `sweep`: runs the points of a sweep, and prints their means."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock import columns
from ackclock.cli import output
from ackclock.cli.options import key_and_value
from ackclock.cli.runs import settings_of
from ackclock.datasets.dataset import Dataset
from ackclock.experiments.averages import Average, averages
from ackclock.experiments.engines.engine import Engine
from ackclock.experiments.sweeping import Limits, Until, sweep
from ackclock.files import checks, toml
from ackclock.scenario import load
from ackclock.statistics.intervals import Interval
from ackclock.statistics.sequential import Stopping
from ackclock.texts.labels import last_part
from ackclock.texts.numbers import ANY_NUMBER, counted, number

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


def sweep_command(
    file: Path,
    settings: Sequence[str],
    *,
    seeds: int | None,
    until: str | None,
    at_most: int | None,
    out: Path | None,
    json_output: bool,
    engine: Engine,
    max_events: int | None,
    max_memory: str | None,
    retry: bool,
    strict: bool,
) -> bool:
    """Run a sweep, store it, and print the means of its points; return whether it passes.

    Raises
    ------
    ValueError
        If the input is wrong, or every run failed.
    """
    import polars

    rule = _until(until, seeds, at_most)
    limits = Limits(max_events, None if max_memory is None else _bytes(max_memory))
    scenario = load(file, settings_of(settings, None))
    folder = out or Path("out") / file.stem
    points = len(scenario.sweep_points())
    output.note(f"{scenario.name}: {counted(points, 'point')}{_seeds(seeds, rule)}")
    total = points * (seeds or (rule.rule.at_least if rule else 1))
    began = time.monotonic()
    with output.progress("runs") as progress:
        outcome = sweep(
            scenario, folder, text=None if settings else toml.read_text(file), seeds=seeds, until=rule,
            limits=limits, retry=retry, engine=engine, progress=progress,
        )  # fmt: skip
    with outcome.dataset.reading():
        failed = _failures(outcome.dataset)
        total = outcome.dataset.runs.select(polars.len()).collect().item()
        if failed.height == 1 and failed["len"].sum() == total:
            raise ValueError(f"every run failed ({total:,} in {folder}): {failed['error'][0]}")
        _show(outcome.dataset, json_output=json_output)
        _warn(outcome.dataset, failed, total)
    new = outcome.planned - outcome.stored - outcome.copied
    parts = [f"{counted(new, 'run')} in {time.monotonic() - began:.1f} s"]
    parts += [f"{outcome.stored:,} were stored"] if outcome.stored else []
    parts += [f"{outcome.copied:,} equal others"] if outcome.copied else []
    output.note(", ".join(parts))
    if outcome.wide and rule is not None:
        most = counted(rule.rule.at_most, "seed")
        output.warning(f"--until {until}: {counted(outcome.wide, 'point')} reached {most}, with a wider interval")
    if outcome.moved:
        output.note(f"{counted(outcome.moved, 'row')} of an earlier form of the sweep moved to {folder / 'earlier'}")
    output.note(
        f"written to {folder}; query it with `ackclock query {folder}`, draw it with `ackclock report {folder}`"
    )
    if failed["len"].sum() == total > 0:
        raise ValueError(f"every run failed ({total:,} in {folder}), for the reasons above")
    return not (strict and failed.height)


def _seeds(seeds: int | None, until: Until | None) -> str:
    if until is not None:
        return f", {until.rule.at_least} to {until.rule.at_most} seeds each"
    return f" with {counted(seeds, 'seed')} each" if seeds else ""


def _until(text: str | None, seeds: int | None, at_most: int | None) -> Until | None:
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


def _bytes(text: str) -> int:
    """Read a size such as ``500 MB``."""
    amount, _, unit = text.strip().partition(" ")
    scale = {"kB": 10**3, "MB": 10**6, "GB": 10**9}.get(unit)
    try:
        if scale is None or not float(amount) > 0:
            raise ValueError
        return int(float(amount) * scale)
    except (ValueError, OverflowError):
        raise ValueError(f"--max-memory {text!r}: expected a size such as '500 MB' (units: kB, MB, GB)") from None


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
