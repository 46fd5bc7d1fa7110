"""Plots of results over time: windows, throughput, queues and sequence numbers, several runs overlaid.

Every function takes one result, several, or a mapping from labels to results. It returns a matplotlib figure, which
`save` writes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from matplotlib.figure import Figure

from ackclock.curves import (
    Floats,
    Line,
    Results,
    cwnd_lines,
    internal_lines,
    thin_out,
    throughput_lines,
)
from ackclock.drawing.curves import draw, finish, new_figure, share_legend
from ackclock.drawing.flows import cwnd, rtt, rtt_lines, sequence, throughput
from ackclock.drawing.internals import internal_panels, internals
from ackclock.drawing.queues import (
    NEEDED,
    Unit,
    probability,
    probability_lines,
    queue,
    queue_lines,
    queues,
    share_lines,
    sojourn,
    sojourn_lines,
    used_queues,
)
from ackclock.drawing.rendering import FORMATS, encode, save
from ackclock.texts.names import in_figure

__all__ = [
    "FORMATS", "KINDS", "Floats", "Kind", "Line", "Panel", "Results", "Unit", "cwnd", "cwnd_lines", "draw",
    "encode", "internal_lines", "internal_panels", "internals", "panels", "probability", "probability_lines",
    "queue", "queue_lines", "queues", "rtt", "rtt_lines", "save", "sequence", "share_lines", "sojourn",
    "sojourn_lines", "thin_out", "throughput", "throughput_lines", "used_queues",
]  # fmt: skip


@dataclass(frozen=True)
class Kind:
    """A kind of plot.

    Attributes
    ----------
    traces : tuple of str
        The traces that it needs.
    draw : callable
        The function that draws it.
    shows : {"flows", "links", "link", "names"}
        Whether it has a curve for each flow, for each link, for one link, or for each internal quantity. For links the
        function takes `link`, for quantities `names`.
    """

    traces: tuple[str, ...]
    draw: Callable[..., Figure]
    shows: Literal["flows", "links", "link", "names"] = "flows"


KINDS = {
    "cwnd": Kind(("cwnd",), cwnd),
    "throughput": Kind(("delivered",), throughput),
    "rtt": Kind(("rtt",), rtt),
    "queue": Kind(NEEDED["queue"], queue, shows="links"),
    "sojourn": Kind(NEEDED["sojourn"], sojourn, shows="links"),
    "probability": Kind(NEEDED["probability"], probability, shows="links"),
    "queues": Kind(NEEDED["queues"], queues, shows="link"),
    "sequence": Kind(("sequence",), sequence),
    "internals": Kind(("internals",), internals, shows="names"),
}
"""Every kind of plot."""


@dataclass(frozen=True)
class Panel:
    """A panel of a grid: its title, its curves, and the label of its axis."""

    title: str
    lines: Sequence[Line]
    ylabel: str


def panels(
    grid: Sequence[Panel], *, columns: int = 3, title: str = "", size: tuple[float, float] = (4.2, 2.9)
) -> Figure:
    """Draw a grid of panels with one legend.

    Parameters
    ----------
    grid
        The panels, row by row.
    columns
        The number of panels side by side.
    title
        The title above all panels.
    size
        Width and height of one panel, in inches.
    """
    columns = max(1, min(columns, len(grid)))
    count = -(-len(grid) // columns)
    figure = new_figure((size[0] * columns, size[1] * count + 0.75))
    for index, panel in enumerate(grid):
        axes = figure.add_subplot(count, columns, index + 1)
        draw(axes, panel.lines)
        finish(axes, panel.ylabel if index % columns == 0 else "", panel.title, legend="none")
        if index + columns < len(grid):
            axes.set_xlabel("")
    share_legend(figure)
    if title:
        figure.suptitle(in_figure(title), fontsize=12, fontweight="bold")
    return figure
