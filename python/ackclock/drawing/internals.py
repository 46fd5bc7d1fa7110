"""Plots of what a congestion control shows of itself: the trace ``internals``, in panels of like units."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache

from matplotlib.figure import Figure

from ackclock import _core
from ackclock.drawing.curves import SIZE, Line, Results, draw, finish, labelled, new_figure, share_legend
from ackclock.files import checks
from ackclock.result import frame

MOST_COLUMNS = 3
PANEL_HEIGHT = 2.7


def internals(results: Results, *, names: Sequence[str] | None = None, title: str = "") -> Figure:
    """Draw the quantities that congestion controls show of themselves, those of one unit in one panel.

    Needs the trace ``internals``. A value is that after an ACK, until the next.

    Parameters
    ----------
    results
        What to overlay.
    names
        The quantities to show, by default all.
    title
        Above the plot.

    Raises
    ------
    KeyError
        If a result has no such trace.
    ValueError
        If no flow shows anything, or not a quantity of these names.
    """
    return internal_panels(internal_lines(results, names), title)


def internal_panels(lines: Mapping[str, Sequence[Line]], title: str = "") -> Figure:
    """Draw the curves of each quantity, those of one unit in one panel."""
    panels = _panels(list(lines))
    figure = new_figure((SIZE[0], PANEL_HEIGHT * len(panels) + 0.9))
    for index, (unit, shown) in enumerate(panels.items()):
        axes = figure.add_subplot(len(panels), 1, index + 1, sharex=figure.axes[0] if index else None)
        draw(axes, [line for name in shown for line in lines[name]])
        finish(axes, unit, title if index == 0 else "", legend="none")
        # Other than a window or a queue, these may be negative.
        axes.autoscale(enable=True, axis="y")
        axes.label_outer()
    share_legend(figure, columns=MOST_COLUMNS)
    return figure


def internal_lines(results: Results, names: Sequence[str] | None = None) -> dict[str, list[Line]]:
    """Give the curves that `internals` draws, by quantity; see there for parameters and errors."""
    import polars

    found: dict[str, list[Line]] = {}
    runs = labelled(results)
    for run, result in runs.items():
        table = frame(result.trace("internals")).with_columns(polars.col("flow", "name").cast(polars.String))
        for part in table.partition_by("flow", "name", maintain_order=True):
            flow, name = part["flow"][0], part["name"][0]
            prefix = [run] if len(runs) > 1 else []
            prefix += [flow] if len(frame(result.flows)) > 1 else []
            line = Line(
                ": ".join([", ".join(prefix), name] if prefix else [name]),
                part["time"].to_numpy().copy(),
                part["value"].to_numpy().copy(),
            )
            found.setdefault(name, []).append(line)
    if not found:
        raise ValueError("no flow shows a quantity of its own; Westwood's parts do, for instance")
    checks.words("internals", "quantity", names or (), found)
    return {name: found[name] for name in (names or found)}


def _panels(names: Sequence[str]) -> Mapping[str, list[str]]:
    """Group quantities by what their axis says, in the order in which they come."""
    panels: dict[str, list[str]] = {}
    for name in names:
        panels.setdefault(axis(name), []).append(name)
    return panels


def axis(name: str) -> str:
    """Name the axis of a quantity; one that no part declares, as of a control in Python, is a plain number.

    >>> axis("bwe"), axis("delta"), axis("mine")
    ('bandwidth (segments/s)', 'delta (1)', 'mine (1)')
    """
    said = _declared().get(name, {"axis": "", "unit": ""})
    return f"{said['axis'] or name} ({said['unit'] or 1})"


@cache
def _declared() -> dict[str, dict[str, str]]:
    """Give the quantities of all parts of controls by their names."""
    axes = json.loads(_core.registry())
    parts = [part for name, found in axes.items() if name != "queue" for part in found]
    return {quantity["name"]: quantity for part in parts for quantity in part["quantities"]}
