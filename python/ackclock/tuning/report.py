"""The report of a tuning: the answer and the search first, then parameters, measures, paths, and how it was done."""

from __future__ import annotations

from collections.abc import Sequence

from ackclock.formatting.labels import last_part
from ackclock.formatting.numbers import counted
from ackclock.reports import Answer, Bullets, Cell, Column, Section, Table, Verbatim, page
from ackclock.tuning import figures
from ackclock.tuning.outcome import Tuned
from ackclock.tuning.search import BATCH, CONFIDENCE

MARKS = {"survives": "better", "reversed": "worse", "breaks a constraint": "worse"}


def report(tuned: Tuned, fragment: str) -> str:
    """Return the report as one HTML file.

    Parameters
    ----------
    tuned
        The tuning.
    fragment
        The tuned keys as TOML; empty if nothing is better.
    """
    tuning, found = tuned.tuning, tuned.found
    search = figures.search(tuning, found.reference, found.trials)
    slices = figures.slices(tuning, found.reference, found.trials, tuned.verdict.best)
    sections = [
        Section("Parameters", [_parameters(tuned), *([Verbatim(fragment)] if fragment else [])], folded=False),
        Section("Measures", [_measures(tuned)], folded=False),
        Section("The objective over each parameter", [slices]),
        Section(f"Held-out paths: {tuning.goal.measure}", [_paths(tuned)]),
        Section("Trials", [_trials(tuned)]),
        Section("How it was done", [_method(tuned)]),
        Section("The file", [Verbatim(tuning.text)]),
    ]
    runs = len(tuning.training.paths) * len(tuning.training.seeds)
    about = f"{tuning.file.name}: {counted(len(tuned.found.trials), 'trial')} of up to {counted(runs, 'run')}"
    return page(f"Tuning {tuning.scenario.stem}", Answer(tuned.answer, search), sections, about=about)


def _parameters(tuned: Tuned) -> Table:
    columns = [
        Column("parameter"),
        Column("default"),
        Column("best"),
        Column("importance", "number", meaning="share in what separates good trials from others (PED-ANOVA)"),
    ]
    return Table(columns, _cells(tuned.parameters()))


def _measures(tuned: Tuned) -> Table:
    columns = [
        Column("measure"),
        Column("wanted"),
        Column("training: default", "number"),
        Column("training: best", "number"),
        Column("held out: default", "number"),
        Column("held out: best", "number"),
        Column("difference [95 %]", meaning="best minus default on the held-out runs, paired"),
    ]
    rows = _cells(tuned.measures())
    mark = MARKS.get(tuned.verdict.outcome, "")
    rows[0][-1] = Cell(str(rows[0][-1]), mark=mark)
    for row, name in zip(rows, tuned.names(), strict=True):
        if tuned.verdict.violations.get(name, 0.0) > 0:
            row[1] = Cell(f"{row[1]}, does not hold", mark="worse")
    return Table(columns, rows)


def _paths(tuned: Tuned) -> Table:
    columns = [Column("path"), Column("default", "number"), Column("best", "number"), Column("difference [95 %]")]
    return Table(columns, _cells(tuned.paths()))


def _trials(tuned: Tuned) -> Table:
    columns = [Column("trial", "number"), Column("state"), Column("objective", "number"), Column("constraints")]
    columns += [Column(last_part(parameter.name)) for parameter in tuned.tuning.parameters]
    rows = [
        [
            trial.number,
            trial.state,
            trial.value,
            ", ".join(name for name, beyond in trial.violations.items() if beyond > 0) or "hold",
            *(trial.values[parameter.name] for parameter in tuned.tuning.parameters),
        ]
        for trial in (tuned.found.reference, *tuned.found.trials)
    ]
    return Table(columns, _cells(rows))


def _cells(rows: Sequence[Sequence[object]]) -> list[list[str | float | int | Cell | None]]:
    return [[value if isinstance(value, (str, int, float)) else None for value in row] for row in rows]


def _method(tuned: Tuned) -> Bullets:
    tuning, counts = tuned.tuning, tuned.counts
    training, held = tuning.training, tuning.held_out
    ended = ", ".join(f"{count} {state}" for state, count in counts.items())
    trained = f"{counted(len(training.paths), 'path')} and {counted(len(training.seeds), 'seed')}"
    judged = f"{counted(len(held.paths), 'path')} and {counted(len(held.seeds), 'seed')}"
    items = (
        f"Training: {trained}. Held out: {judged}, which the search did not use; the pairs are {tuning.pairs}.",
        f"Trials: {ended}. Optuna's TPE proposes them in batches of {BATCH}.",
        f"A trial is pruned if Student's paired {CONFIDENCE:.0%} interval shows it to be worse than the best so far.",
        "The best of many trials looks better in training than it is (winner's curse); only the held-out runs judge.",
    )
    return Bullets(items)
