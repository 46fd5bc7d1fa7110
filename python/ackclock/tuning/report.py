"""The report of a tuning: the answer and the search first, then parameters, measures, paths, and how it was done."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ackclock.reports import Answer, Axis, Bullets, Cell, Column, Figure, Panel, Section, Series, Table, Verbatim, page
from ackclock.texts.labels import last_part
from ackclock.texts.numbers import counted
from ackclock.tuning import figures
from ackclock.tuning.outcome import Tuned
from ackclock.tuning.search import BATCH, CONFIDENCE, Trial

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
    tuning = tuned.tuning
    sections = [
        Section("Parameters", [_parameters(tuned), *([Verbatim(fragment)] if fragment else [])], folded=False),
        Section("Measures", [_measures(tuned)], folded=False),
        Section("The objective over each parameter", [_slices(tuned)]),
        Section(f"Held-out paths: {tuning.goal.measure}", [_paths(tuned)]),
        Section("Trials", [_trials(tuned)]),
        Section("How it was done", [_method(tuned)]),
        Section("The file", [Verbatim(tuning.text)]),
    ]
    runs = len(tuning.training.paths) * len(tuning.training.seeds)
    about = f"{tuning.file.name}: {counted(len(tuned.found.trials), 'trial')} of up to {counted(runs, 'run')}"
    return page(f"Tuning {tuning.scenario.stem}", Answer(tuned.answer, _history(tuned)), sections, about=about)


def _history(tuned: Tuned) -> Figure:
    trials, reference = tuned.found.trials, tuned.found.reference
    numbers = [float(trial.number) for trial in trials]
    best = figures.best_so_far(tuned.tuning, reference, trials)
    series = [
        *_points(tuned, {trial.number: float(trial.number) for trial in trials}),
        Series("defaults", [min(numbers), max(numbers)], [_value(reference)] * 2),
        Series("best so far", numbers, best, "step"),
    ]
    panel = Panel(series, x=Axis("trial"), y=Axis(figures.title(tuned.tuning)))
    return Figure("The search: each trial, and the best so far that keeps all constraints", [panel])


def _points(tuned: Tuned, places: Mapping[int, float]) -> list[Series]:
    found = []
    for label in figures.STYLES:
        own = [trial for trial in tuned.found.trials if figures.kind(trial) == label]
        if own:
            xs, texts = [places[trial.number] for trial in own], [_said(trial) for trial in own]
            found.append(Series(label, xs, [_value(trial) for trial in own], "points", texts=texts))
    return found


def _value(trial: Trial) -> float:
    return math.nan if trial.value is None else trial.value


def _said(trial: Trial) -> str:
    values = ", ".join(f"{last_part(name)} {value}" for name, value in trial.values.items())
    return f"trial {trial.number}: {values}"


def _slices(tuned: Tuned) -> Figure:
    panels = []
    for parameter in tuned.tuning.parameters:
        scale = figures.places(parameter, tuned.found.reference, tuned.found.trials)
        places = {trial.number: scale.places[str(trial.values[parameter.name])] for trial in tuned.found.trials}
        log = isinstance(parameter.values, Mapping) and parameter.values.get("scale") == "log"
        series = _points(tuned, places)
        own = tuned.found.reference.values[parameter.name]
        if own in scale.places:
            series.append(Series("defaults", [scale.places[own]], [_value(tuned.found.reference)], "points"))
        best = tuned.verdict.best
        if best.number:
            series.append(Series("best", [places[best.number]], [_value(best)], "points", texts=[_said(best)]))
        x = Axis(figures.named(parameter, tuned.tuning, scale.unit), log=log)
        panels.append(Panel(series, x=x, y=Axis(figures.title(tuned.tuning))))
    return Figure("Each trial, by the value of one parameter", panels)


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
