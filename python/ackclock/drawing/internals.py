"""Plots of the internal quantities of congestion controls, the trace ``internals``; each unit has a panel."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from matplotlib.figure import Figure

from ackclock import _core
from ackclock.curves import Line, Results, internal_lines
from ackclock.drawing.curves import SIZE, draw, finish, new_figure, share_legend

MOST_COLUMNS = 3
PANEL_HEIGHT = 2.7


def internals(results: Results, *, names: Sequence[str] | None = None, title: str = "") -> Figure:
    """Draw the internal quantities of congestion controls, one panel for each unit.

    Needs the trace ``internals``. A value holds from one ACK to the next.

    Parameters
    ----------
    results
        The results to overlay.
    names
        The quantities to show; by default all.
    title
        The title above the plot.

    Raises
    ------
    KeyError
        If a result lacks the trace.
    ValueError
        If no flow has internal quantities, or none has a quantity of this name.
    """
    return internal_panels(internal_lines(results, names), title)


def internal_panels(lines: Mapping[str, Sequence[Line]], title: str = "") -> Figure:
    """Draw the curves of each quantity, one panel for each unit."""
    panels = _panels(list(lines))
    figure = new_figure((SIZE[0], PANEL_HEIGHT * len(panels) + 0.9))
    for index, (unit, shown) in enumerate(panels.items()):
        axes = figure.add_subplot(len(panels), 1, index + 1, sharex=figure.axes[0] if index else None)
        draw(axes, [line for name in shown for line in lines[name]])
        finish(axes, unit, title if index == 0 else "", legend="none")
        # Unlike a window or a queue, these quantities may be negative.
        axes.autoscale(enable=True, axis="y")
        axes.label_outer()
    share_legend(figure, columns=MOST_COLUMNS)
    return figure


def _panels(names: Sequence[str]) -> Mapping[str, list[str]]:
    """Group quantities by the label of their axis, in their order."""
    panels: dict[str, list[str]] = {}
    for name in names:
        panels.setdefault(axis(name), []).append(name)
    return panels


def axis(name: str) -> str:
    """Return the axis label of a quantity; a quantity of a control in Python is a plain number.

    >>> axis("bwe"), axis("delta"), axis("mine")
    ('bandwidth (segments/s)', 'delta (1)', 'mine (1)')
    """
    quantity = _declared().get(name, Quantity("", ""))
    return f"{quantity.axis or name} ({quantity.unit or 1})"


@dataclass(frozen=True)
class Quantity:
    """An internal quantity: the label of its axis, empty for its own name; and its unit, empty for plain numbers."""

    axis: str
    unit: str


@cache
def _declared() -> dict[str, Quantity]:
    """Return the quantities that parts of controls declare, by their names."""
    axes = json.loads(_core.registry())
    parts = [part for name, found in axes.items() if name != "queue" for part in found]
    return {found["name"]: Quantity(found["axis"], found["unit"]) for part in parts for found in part["quantities"]}
