"""The function `ackclock.plot`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ackclock.drawing.queues import Unit
    from ackclock.plotting.sources import Source


def plot(
    source: Source,
    kind: str | None = None,
    *,
    x: str | None = None,
    y: str | None = None,
    by: str | Sequence[str] = (),
    only: str | Sequence[str] = (),
    link: str | None = None,
    name: str | Sequence[str] = (),
    bin: float | None = None,  # noqa: A002
    unit: Unit | None = None,
    width: str | float | None = None,
    height: str | float | None = None,
    font_size: float | None = None,
    style: str = "",
    title: str | None = None,
    axes: Axes | None = None,
    out: str | Path | None = None,
) -> Figure:
    """Draw one figure of anything stored, or of results in memory.

    Parameters
    ----------
    source
        A folder that a command wrote, its report, a dataset, one result, several, or a mapping from labels to results;
        a scenario or its file, of which the rate, delay and losses of the path are drawn; or one or several logs in the
        format qlog, or their files.
    kind
        Over time: ``curves``, ``cwnd``, ``throughput``, ``rtt``, ``queue``, ``sojourn``, ``probability``, ``queues``,
        ``sequence`` or ``internals``. Over labels: ``lines``, ``cdf``, ``box``, ``heatmap`` or ``paired``. Of logs:
        ``curves``, ``cwnd``, ``rtt``, ``pacing`` or ``sequence``. Of a comparison, matrix, tuning, paper or comparison
        with a kernel: the name of a figure in its report. By default
        the first one.
    x, y, by
        Label on the axis, column to draw, and labels of which each value has a series.
    only
        Values of labels to draw, as ``"LABEL=VALUE"``.
    link
        The link to show, such as ``"n1>n2"``.
    name
        The internal quantities to show.
    bin
        Width of the bins of rates and queues in seconds; by default a hundredth of the run.
    unit
        The unit of the length of queues: ``"packets"`` or ``"bytes"``.
    width, height
        Size in inches, or as text with a unit: ``"3.3in"``, ``"84mm"``.
    font_size
        Size of labels in points.
    style
        A style of matplotlib, by name or as a file.
    title
        The title; empty: none. By default that of the figure, unless it is a narrow column.
    axes
        Axes of a figure of your own to draw on.
    out
        A file to write: png, svg or pdf.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Raises
    ------
    ValueError
        If an option does not fit, or a trace was not recorded.
    OSError
        If nothing is stored there, or the file cannot be written.

    Examples
    --------
    >>> import ackclock
    >>> figure = ackclock.plot("out/first", "cwnd", width="84mm", out="cwnd.pdf")     # doctest: +SKIP
    """
    from ackclock.drawing import files
    from ackclock.drawing.look import Look, length
    from ackclock.drawing.matplotlib import draw
    from ackclock.plotting.sources import Choice, figures

    def inches(given: str | float | None, option: str) -> float | None:
        return length(given, option) if isinstance(given, str) else given

    def several(given: str | Sequence[str]) -> Sequence[str]:
        return (given,) if isinstance(given, str) else given

    look = Look(inches(width, "--width"), inches(height, "--height"), font_size, style, title)
    choice = Choice(x, y, several(by), several(only), link, several(name), bin, unit)
    found = figures(source, () if kind is None else (kind,), choice)
    drawn = draw(found[0].figure, look, axes=axes)
    if out is not None:
        files.save(drawn, out, look)
    return drawn
