"""The figure of a tuning: the history of the search, and the objective over each parameter."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter

from ackclock.drawing.curves import COLOURS, new_figure, share_legend
from ackclock.drawing.panels import style_axes
from ackclock.experiments.labelled import Scale, scale_of
from ackclock.metrics.registry import of
from ackclock.texts.labels import last_part
from ackclock.texts.names import in_figure
from ackclock.tuning.schema import Parameter, Tuning
from ackclock.tuning.search import COMPLETE, PRUNED, Trial

COLUMNS = 3
BROKEN, ENDED = "breaks a constraint", "ended early"
STYLES = {COMPLETE: (COLOURS[0], "o"), BROKEN: (COLOURS[4], "s"), ENDED: ("#999999", "x")}
"""Colour and marker of each kind of trial."""


def kind(trial: Trial) -> str | None:
    """Return the kind of a trial in figures; None if it has no value."""
    if trial.value is None or trial.state not in (COMPLETE, PRUNED):
        return None
    return ENDED if trial.state == PRUNED else COMPLETE if trial.feasible else BROKEN


def figure(tuning: Tuning, reference: Trial, trials: Sequence[Trial], best: Trial) -> Figure:
    """Draw the history of the search, and a panel for each parameter."""
    count = len(tuning.parameters) + 1
    columns = min(COLUMNS, count)
    drawn = new_figure((3.9 * columns + 0.4, 3.0 * math.ceil(count / columns) + 0.5))
    name = title(tuning)
    history = drawn.add_subplot(math.ceil(count / columns), columns, 1)
    _points(history, trials, {trial.number: float(trial.number) for trial in trials})
    values = best_so_far(tuning, reference, trials)
    history.step([trial.number for trial in trials], values, where="post", color=COLOURS[1], label="best so far")
    _finish(history, tuning, reference, trials, "trial", name)
    for place, parameter in enumerate(tuning.parameters, start=2):
        axes = drawn.add_subplot(math.ceil(count / columns), columns, place)
        _slice(axes, tuning, parameter, (reference, trials, best))
        _finish(axes, tuning, reference, trials, None, name if place % columns == 1 or columns == 1 else "")
    share_legend(drawn)
    return drawn


def title(tuning: Tuning) -> str:
    """Return the name of the objective with its unit."""
    unit = "over the defaults" if tuning.goal.relative else of(tuning.goal.measure).dimension
    worst = "worst path: " if tuning.goal.over == "worst" else ""
    return f"{worst}{tuning.goal.measure}" + (f" ({unit})" if unit else "")


def _points(axes: Axes, trials: Sequence[Trial], places: Mapping[int, float]) -> None:
    for label, (colour, marker) in STYLES.items():
        own = [trial for trial in trials if kind(trial) == label]
        if own:
            axes.plot(
                [places[trial.number] for trial in own], [trial.value or 0.0 for trial in own], linestyle="none",
                marker=marker, markersize=3.5, alpha=0.75, color=colour, label=label,
            )  # fmt: skip


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


def _slice(axes: Axes, tuning: Tuning, parameter: Parameter, drawn: tuple[Trial, Sequence[Trial], Trial]) -> None:
    reference, trials, best = drawn
    texts = {trial.number: str(trial.values[parameter.name]) for trial in trials}
    own = reference.values[parameter.name]
    scale = places(parameter, reference, trials)
    _points(axes, trials, {number: scale.places[text] for number, text in texts.items()})
    if own in scale.places:
        axes.axvline(scale.places[own], color="black", linewidth=0.9, linestyle=":", label="defaults")
    if best.number:
        axes.plot(
            scale.places[texts[best.number]], best.value or 0.0, marker="*", markersize=12, linestyle="none",
            color=COLOURS[1], markeredgecolor="white", label="best",
        )  # fmt: skip
    if scale.words:
        axes.set_xticks(list(scale.places.values()), [in_figure(word) for word in scale.places], rotation=20)
    elif isinstance(parameter.values, Mapping) and parameter.values.get("scale") == "log":
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 3.0), numticks=5))
        axes.xaxis.set_major_formatter(FormatStrFormatter("%g"))
        axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel(in_figure(named(parameter, tuning, scale.unit)))


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


def _finish(
    axes: Axes, tuning: Tuning, reference: Trial, trials: Sequence[Trial], xlabel: str | None, ylabel: str
) -> None:
    if reference.value is not None:
        axes.axhline(reference.value, color="black", linewidth=0.9, linestyle=":", label="defaults")
    if xlabel:
        axes.set_xlabel(xlabel)
    axes.set_ylabel(in_figure(ylabel))
    _crop(axes, reference, trials, tuning.goal.sign)
    style_axes(axes)


def _crop(axes: Axes, reference: Trial, trials: Sequence[Trial], sign: int) -> None:
    """Cut off the worst tenth of the trials if it would flatten the rest."""
    values = sorted((trial.value * sign for trial in trials if trial.value is not None), reverse=True)
    if len(values) < 10:
        return
    kept = np.array([*values[: math.ceil(0.9 * len(values))], (reference.value or 0.0) * sign])
    extent = float(np.ptp(kept))
    if extent > 0 and values[-1] < kept.min() - 2 * extent:
        low, high = kept.min() - 0.1 * extent, kept.max() + 0.1 * extent
        axes.set_ylim(*((low, high) if sign > 0 else (-high, -low)))
