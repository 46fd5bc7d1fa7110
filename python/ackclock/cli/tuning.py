"""The command `tune`."""

from __future__ import annotations

import time
from pathlib import Path

from ackclock.cli import output
from ackclock.experiments.engines.engine import Engine
from ackclock.texts.numbers import counted
from ackclock.tuning import outcome, schema
from ackclock.tuning.function import tune
from ackclock.tuning.search import optuna_module


def tune_command(file: Path, *, trials: int, seed: int, out: Path | None, json_output: bool, engine: Engine) -> None:
    """Tune, print the answer and the tables or JSON, and write the results."""
    tuning = schema.read(file)
    optuna_module()
    started = time.monotonic()
    with output.progress("trials") as progress:
        tuned = tune(tuning, trials=trials, seed=seed, engine=engine, out=out, progress=progress, note=output.note)
    new, stored = tuned.runs
    before = f", {stored - new:,} were stored" if stored > new else ""
    ended = ", ".join(f"{count} {state}" for state, count in tuned.counts.items() if count)
    output.note(f"{ended}; {counted(new, 'run')} in {time.monotonic() - started:.1f} s{before}")
    if json_output:
        output.data(tuned.to_dict())
    else:
        output.say(tuned.answer)
        print()
        output.table(outcome.PARAMETERS, tuned.parameters(), less=("importance",))
        output.table(outcome.MEASURED, tuned.measures(), left=2, less=("training: default", "training: best"))
        if len(tuning.held_out.paths) > 1 and tuned.verdict.best.number:
            output.table(outcome.PATHS, tuned.paths(), title=tuning.goal.measure)
    if out is not None:
        best = "best.toml, " if tuned.verdict.best.number else ""
        output.note(f"written to {out}: report.html, {best}trials.parquet, runs.parquet, figures")
