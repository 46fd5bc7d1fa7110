"""The figure of a tuning: the history of the search, and the objective over each parameter."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ackclock.drawing.figure import LEAST_SPAN, Axis, Figure, Panel, Series
from ackclock.experiments.labelled import Scale, scale_of
from ackclock.formatting.labels import last_part
from ackclock.metrics.registry import of
from ackclock.tuning.schema import Parameter, Tuning
from ackclock.tuning.search import COMPLETE, PRUNED, Trial

BROKEN, ENDED = "breaks a constraint", "ended early"
STYLES = (COMPLETE, BROKEN, ENDED)
"""The kinds of trials, in the order of the legend."""


def kind(trial: Trial) -> str | None:
    """Return the kind of a trial in figures; None if it has no value."""
    if trial.value is None or trial.state not in (COMPLETE, PRUNED):
        return None
    return ENDED if trial.state == PRUNED else COMPLETE if trial.feasible else BROKEN


def search(tuning: Tuning, reference: Trial, trials: Sequence[Trial]) -> Figure:
    """Return the history of the search: each trial, and the best so far."""
    numbers = [float(trial.number) for trial in trials]
    series = [
        *_points(trials, {trial.number: float(trial.number) for trial in trials}),
        Series("best so far", numbers, best_so_far(tuning, reference, trials), "step"),
    ]
    panel = _panel(tuning, (reference, trials), series, Axis("trial"))
    return Figure("The search: each trial, and the best so far that keeps all constraints", [panel], "search")


def slices(tuning: Tuning, reference: Trial, trials: Sequence[Trial], best: Trial) -> Figure:
    """Return the objective over each parameter, a panel for each."""
    panels = []
    for parameter in tuning.parameters:
        texts = {trial.number: str(trial.values[parameter.name]) for trial in trials}
        own, scale = reference.values[parameter.name], places(parameter, reference, trials)

        def place(text: str, scale: Scale = scale) -> float | str:
            return text if scale.words else scale.places[text]

        series = _points(trials, {number: place(text) for number, text in texts.items()})
        if own in scale.places and reference.value is not None:
            series.append(Series("defaults", [place(own)], [reference.value], "points"))
        if best.number and best.value is not None:
            at, said = [place(texts[best.number])], [_said(best)]
            series.append(Series("best", at, [best.value], "points", texts=said, marker="*"))
        log = isinstance(parameter.values, Mapping) and parameter.values.get("scale") == "log"
        axis = Axis(named(parameter, tuning, scale.unit), log, scale.ordered if scale.words else ())
        panels.append(_panel(tuning, (reference, trials), series, axis))
    return Figure("Each trial, by the value of one parameter", panels, "parameters")


def figure(tuning: Tuning, reference: Trial, trials: Sequence[Trial], best: Trial) -> Figure:
    """Return both as one figure, for a file."""
    own, others = search(tuning, reference, trials), slices(tuning, reference, trials, best)
    return replace(own, panels=[*own.panels, *others.panels])


def title(tuning: Tuning) -> str:
    """Return the name of the objective with its unit."""
    unit = "over the defaults" if tuning.goal.relative else of(tuning.goal.measure).dimension
    worst = "worst path: " if tuning.goal.over == "worst" else ""
    return f"{worst}{tuning.goal.measure}" + (f" ({unit})" if unit else "")


def _points(trials: Sequence[Trial], at: Mapping[int, float | str]) -> list[Series]:
    found = []
    for label in STYLES:
        own = [trial for trial in trials if kind(trial) == label]
        if own:
            x, y, texts = [at[trial.number] for trial in own], [_value(trial) for trial in own], [*map(_said, own)]
            found.append(Series(label, x, y, "points", texts=texts, faint=label == ENDED))
    return found


def _value(trial: Trial) -> float:
    return math.nan if trial.value is None else trial.value


def _said(trial: Trial) -> str:
    values = ", ".join(f"{last_part(name)} {value}" for name, value in trial.values.items())
    return f"trial {trial.number}: {values}"


def best_so_far(tuning: Tuning, reference: Trial, trials: Sequence[Trial]) -> list[float]:
    """Return the best value after each trial; NaN as long as the reference and all trials break a constraint."""
    sign = tuning.goal.sign
    best = (reference.value or 0.0) * sign if reference.feasible else -math.inf
    values = []
    for trial in trials:
        if kind(trial) == COMPLETE:
            best = max(best, (trial.value or 0.0) * sign)
        values.append(best * sign if math.isfinite(best) else math.nan)
    return values


def places(parameter: Parameter, reference: Trial, trials: Sequence[Trial]) -> Scale:
    """Return the places of a parameter's values on an axis; the unit is that of the range."""
    values = parameter.values
    first = [str(values["from"])] if isinstance(values, Mapping) else [_listed(value) for value in values]
    own = reference.values[parameter.name]
    return scale_of([*first, *(str(trial.values[parameter.name]) for trial in trials), *([own] if own else [])])


def _listed(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def named(parameter: Parameter, tuning: Tuning, unit: str) -> str:
    """Return the last part of a parameter's name, or more if it is not unique or a number, with a unit."""
    parts = parameter.name.split(".")
    alike = [each for each in tuning.parameters if last_part(each.name) == parts[-1]]
    name = ".".join(parts[-2:]) if parts[-1].isdecimal() else parameter.name if len(alike) > 1 else parts[-1]
    return f"{name} ({unit})" if unit else name


def _panel(tuning: Tuning, drawn: tuple[Trial, Sequence[Trial]], series: Sequence[Series], axis: Axis) -> Panel:
    """Return a panel with a dashed line at the defaults."""
    reference, trials = drawn
    references = [] if reference.value is None else [reference.value]
    y = Axis(title(tuning), limits=_limits(reference, trials, tuning.goal.sign))
    return Panel(series, x=axis, y=y, references=references)


def _limits(reference: Trial, trials: Sequence[Trial], sign: int) -> tuple[float, float] | None:
    """Return limits around the trials; without the worst tenth if it would flatten the rest.

    They span at least a tenth of the largest value, so that no small difference looks like a large one.
    """
    values = sorted((trial.value * sign for trial in trials if trial.value is not None), reverse=True)
    if not values:
        return None
    every = np.array([*values, (values[0] if reference.value is None else reference.value * sign)])
    kept = np.array([*values[: math.ceil(0.9 * len(values))], every[-1]])
    extent = float(np.ptp(kept))
    if len(values) < 10 or not extent or every.min() >= kept.min() - 2 * extent:
        kept = every
    least = LEAST_SPAN * float(np.abs(kept).max())
    room = max(0.1 * float(np.ptp(kept)), (least - float(np.ptp(kept))) / 2, 1e-9)
    low, high = float(kept.min()) - room, float(kept.max()) + room
    return (low, high) if sign > 0 else (-high, -low)
