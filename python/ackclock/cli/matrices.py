"""The command `matrix`."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ackclock.cli import output
from ackclock.cli.options import key_and_value
from ackclock.experiments.engines.engine import Engine
from ackclock.experiments.store import Store
from ackclock.files import checks
from ackclock.matrices import crossing
from ackclock.matrices import parts as composing
from ackclock.matrices.crossing import Outcome, Plan, Stopped
from ackclock.matrices.metrics import METRICS
from ackclock.running import Interrupted
from ackclock.texts.numbers import counted

if TYPE_CHECKING:
    from ackclock.matrices.matrix import Matrix


def matrix_command(
    parts: Mapping[str, Sequence[str] | None],
    where: Sequence[str],
    *,
    seeds: int,
    duration: str | None,
    baseline: Sequence[str],
    sort: str | None,
    top: int,
    out: Path | None,
    json_output: bool,
    engine: Engine,
) -> None:
    """Run a matrix, print its tables or JSON, and write the report."""
    checks.words("--sort", "metric", [sort] if sort else [], METRICS)
    chosen = {axis: composing.read_parts(axis, texts) for axis, texts in parts.items() if texts}
    plan = _plan(chosen, where, seeds, duration, baseline)
    output.note(
        f"{counted(len(plan.compositions), 'composition')} on {', '.join(path.name for path in plan.paths)}; "
        f"baseline: {plan.baseline.name}"
    )
    if plan.refused:
        output.note(f"{counted(len(plan.refused), 'impossible combination')} skipped; the first: {plan.refused[0]}")

    from ackclock.matrices import report as crossreport
    from ackclock.matrices.matrix import Matrix

    store, report = Store(out), None
    with store.opened(crossreport.KIND, crossreport.manifest(plan), crossreport.WRITTEN):
        outcome, stopped = _execute(plan, store, engine)
        matrix = Matrix(outcome)
        if out is not None and stopped:
            crossreport.keep(matrix, out)
        elif out is not None:
            output.note("drawing and writing the report")
            report = crossreport.write(matrix, out, sort, top)
            store.finish(metric=sort, top=top)
    if outcome.finished:
        _show(matrix, sort, top, json_output=json_output)
    if stopped:
        advice = "run the same command to continue" if out is not None else "--out stores finished runs"
        raise Interrupted(stopped.results, advice=advice)
    if report is not None:
        output.note(f"written to {out}: {report.name}, matrix.parquet, matrix.csv, runs.parquet, figures")


def _plan(
    chosen: Mapping[str, list[composing.PartSpec]],
    where: Sequence[str],
    seeds: int,
    duration: str | None,
    baseline: Sequence[str],
) -> Plan:
    base: dict[str, composing.PartSpec] = {}
    for text in baseline:
        axis, value = key_and_value(text, "--baseline", "avoidance=reno")
        checks.words("--baseline", "axis", [axis], (*composing.AXES, composing.WHOLE))
        if axis in base:
            raise ValueError(f"--baseline {text}: {axis} is given twice")
        specs = composing.read_parts(axis, [value])
        if len(specs) != 1:
            raise ValueError(f"--baseline {text}: a baseline takes one part on each axis")
        base[axis] = specs[0]
    names = [name.strip() for text in where for name in text.split(",")]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        plan = crossing.plan(chosen, where=names or None, seeds=seeds, duration=duration, baseline=base)
    for warning in caught:
        output.note(str(warning.message))
    return plan


def _execute(plan: Plan, store: Store, engine: Engine) -> tuple[Outcome, Stopped | None]:
    """Run the plan; after Ctrl-C, return the finished part."""
    started = time.monotonic()
    with output.progress("runs") as progress:
        try:
            outcome, stopped = crossing.execute(plan, store=store, engine=engine, progress=progress), None
        except Stopped as caught:
            outcome, stopped = caught.outcome, caught
    new = outcome.finished - outcome.reused
    before = f", {outcome.reused:,} were stored" if outcome.reused else ""
    output.note(f"{counted(new, 'run')} in {time.monotonic() - started:.1f} s{before}")
    return outcome, stopped


def _show(matrix: Matrix, sort: str | None, top: int, *, json_output: bool) -> None:
    from ackclock.matrices import tables

    without = [path.name for path in matrix.plan.paths if sort and matrix.ranked(path.name, sort).is_empty()]
    if without:
        output.note(f"--sort {sort}: no composition has a value on {', '.join(without)}")
    if json_output:
        output.data(matrix.table.to_dicts())
        return
    shown = tables.tables(matrix, sort, top)
    for table in shown:
        output.table(table.columns, table.rows, title=table.title, left=table.left, less=table.less)
    count = len(matrix.plan.compositions)
    if count > tables.MOST_ROWS:
        output.note(
            f"the best {top} and the worst of {count:,} are shown for each path; --json prints all, --out stores all"
        )
