"""Curves and how they are drawn: what all plots have in common.

The first seven colours are those of Okabe and Ito, which the colour-blind can tell apart; the last two keep their
distance from them. Line styles differ as well.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from ackclock.drawing.panels import style_axes
from ackclock.files import targets
from ackclock.result import AnyResult
from ackclock.texts.names import in_figure, in_legend

Results = AnyResult | Sequence[AnyResult] | Mapping[str, AnyResult]
Floats = NDArray[np.float64]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#4411CC", "#880022")
STYLES = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)))
FORMATS = ("png", "svg", "pdf")
# No date in the file, so that equal results give equal files; the program, so that it knows its own files again.
METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": "ackclock"},
    "svg": {"Creator": "ackclock", "Date": None},
    "pdf": {"Creator": "ackclock", "CreationDate": None},
}
BINS = 1200
PNG_DPI = 144
PNG_COLOURS = 256
BAND_ALPHA = 0.16
SIZE = (8.0, 4.2)
DENSE = 60  # ups and downs, in heights of the curve, from which on its line is thin


@dataclass(frozen=True)
class Line:
    """One curve.

    Attributes
    ----------
    label : str
        Name in the legend.
    x, y : ndarray of shape (n,)
        Times in seconds, and values.
    thin : ndarray of shape (n,) or None
        A second quantity at the same times, drawn as a thin line: ssthresh, or a percentile.
    step : bool
        Whether a value stays until the next one.
    band : (ndarray, ndarray) or None
        Lower and upper ends of a band about the curve, at the same times.
    """

    label: str
    x: Floats
    y: Floats
    thin: Floats | None = None
    step: bool = True
    band: tuple[Floats, Floats] | None = None


def save(figure: Figure, path: str | Path) -> Path:
    """Write a figure at once, in the format that the name ends in: png, svg or pdf; ``-`` is standard output, as png.

    Raises
    ------
    ValueError
        If the format is another.
    """
    path = Path(path)
    targets.write(path, encode(figure, image_format(path)))
    return path


def image_format(path: Path) -> str:
    """Give the format that a name ends in; without one, standard output, pipes and devices are given png.

    Raises
    ------
    ValueError
        If it is none of ours.
    """
    if targets.is_stdout(path) or (path.exists() and not path.is_file()):
        return path.suffix.lstrip(".") if path.suffix.lstrip(".") in FORMATS else FORMATS[0]
    kind = path.suffix.lstrip(".")
    if kind not in FORMATS:
        raise ValueError(f"{path}: unknown format {kind!r}; known: {', '.join(FORMATS)}")
    return kind


def encode(figure: Figure, kind: str) -> bytes:
    """Give a figure as the bytes of a file, the same for the same figure; a PNG has a palette, a third of the size."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=kind, dpi=PNG_DPI, metadata=METADATA[kind])
    return _with_palette(buffer) if kind == "png" else buffer.getvalue()


def _with_palette(png: io.BytesIO) -> bytes:
    smaller, info = io.BytesIO(), PngInfo()
    for name, text in METADATA["png"].items():
        info.add_text(name, text)
    with Image.open(png) as image:
        palette = image.convert("RGB").quantize(PNG_COLOURS, dither=Image.Dither.NONE)
    palette.save(smaller, "png", optimize=True, pnginfo=info)
    return smaller.getvalue()


def draw(axes: Axes, lines: Sequence[Line]) -> None:
    """Draw curves onto axes, each with its colour and line style; long ones are thinned out to what can be seen."""
    for index, line in enumerate(lines):
        shown = thin_out(line)
        colour, style = COLOURS[index % len(COLOURS)], STYLES[index % len(STYLES)]
        options: dict[str, Any] = {"color": colour, "drawstyle": "steps-post" if line.step else "default"}
        # Thick lines of several restless curves would hide each other.
        width, alpha = (0.5, 0.6) if len(lines) > 1 and _dense(shown) else (1.3, 1.0)
        axes.plot(
            shown.x, shown.y, linestyle=style, linewidth=width, alpha=alpha, label=in_legend(line.label), **options
        )
        if shown.band is not None:
            step: Literal["post"] | None = "post" if line.step else None
            axes.fill_between(shown.x, *shown.band, step=step, color=colour, alpha=BAND_ALPHA, linewidth=0)
        if shown.thin is not None and not np.all(np.isnan(shown.thin)):
            axes.plot(shown.x, shown.thin, linestyle="-", linewidth=0.5, alpha=0.7, label="_thin", **options)


def _dense(line: Line) -> bool:
    values = line.y[np.isfinite(line.y)]
    return len(values) > 1 and bool(np.abs(np.diff(values)).sum() > DENSE * np.ptp(values) > 0)


def thin_out(line: Line, bins: int = BINS) -> Line:
    """Keep of a long curve the first, smallest, largest and last value in each of `bins` spans: it looks the same."""
    if len(line.x) <= 4 * bins:
        return line
    span = (line.x[-1] - line.x[0]) or 1.0
    group = np.minimum(((line.x - line.x[0]) / span * bins).astype(np.int64), bins - 1)
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    ends = np.append(starts[1:], len(line.x))
    # Sorting by group, then value: the first and last of each group are its extremes.
    order = np.lexsort((line.y, group))
    keep = np.unique(np.concatenate([starts, ends - 1, order[starts], order[ends - 1]]))
    thin = None if line.thin is None else line.thin[keep]
    band = None if line.band is None else (line.band[0][keep], line.band[1][keep])
    return replace(line, x=line.x[keep], y=line.y[keep], thin=thin, band=band)


def new_figure(size: tuple[float, float]) -> Figure:
    """Give an empty figure of so many inches."""
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def axes_of(axes: Axes | None) -> tuple[Figure, Axes]:
    """Give the axes to draw on, by default those of a new figure, and their figure."""
    if axes is not None:
        return axes.get_figure(root=True), axes  # type: ignore[return-value]
    figure = new_figure(SIZE)
    return figure, figure.add_subplot()


def finish(axes: Axes, ylabel: str, title: str, *, legend: Literal["inside", "outside", "none"]) -> None:
    """Label axes, and place their legend."""
    axes.set_xlabel("time (s)")
    axes.set_ylabel(in_figure(ylabel))
    axes.set_title(in_figure(title), loc="left", fontsize=10)
    axes.set_ylim(bottom=0)
    axes.margins(x=0.01)
    style_axes(axes)
    handles, labels = axes.get_legend_handles_labels()
    if legend != "none" and handles:
        place: dict[str, Any] = {"loc": "best"}
        if legend == "outside" and len(labels) > 1:
            labels = [textwrap.fill(label, 90) for label in labels]
            place = _outside(axes, labels)
        shown = axes.legend(handles, labels, frameon=False, fontsize=8.5, **place)
        for handle in shown.get_lines():
            handle.set(alpha=1.0, linewidth=max(1.0, handle.get_linewidth()))


def _outside(axes: Axes, labels: Sequence[str]) -> dict[str, Any]:
    """Place a legend at the right, or below if it would take the room of the curves; the figure then grows."""
    lines = sum(label.count("\n") + 1 for label in labels)
    if max(map(len, labels)) <= 36 and lines <= 18:
        return {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
    figure = axes.get_figure(root=True)
    if figure is not None and len(figure.axes) == 1:
        figure.set_size_inches(SIZE[0], SIZE[1] + 0.2 * lines)
    return {"loc": "upper left", "bbox_to_anchor": (0.0, -0.14 * SIZE[1] / (SIZE[1] - 0.8))}


def share_legend(figure: Figure, columns: int = 6) -> None:
    """Place one legend for all axes of a figure below them, in so many columns at most."""
    entries: dict[str, Any] = {}
    for axes in figure.axes:
        handles, labels = axes.get_legend_handles_labels()
        entries.update(zip(labels, handles, strict=True))
    if entries:
        place: dict[str, Any] = {"loc": "outside lower center", "ncols": min(columns, len(entries))}
        figure.legend(entries.values(), entries.keys(), frameon=False, **place)


def lacking(results: Results, kind: str, traces: Sequence[str]) -> str | None:
    """Say which traces are not there that a kind of plot needs; None if all are."""
    recorded = [result.traces for result in labelled(results).values()]
    missing = [trace for trace in traces if not all(trace in names for names in recorded)]
    if not missing:
        return None
    names = " and ".join(f"'{trace}'" for trace in missing)
    wanted = ", ".join(f'"{trace}"' for trace in traces)
    noun = "trace" if len(missing) == 1 else "traces"
    return f"{noun} {names}, which {kind} needs, not recorded; run again with record = [{wanted}]"


def bin_edges(duration: float, bin: float | None = None) -> Floats:  # noqa: A002
    """Give the edges of bins of so many seconds, at most the run, by default a hundredth of it."""
    if bin is not None and bin <= 0:
        raise ValueError("bin must be above 0")
    return np.arange(0.0, duration + 1e-9, duration / 100 if bin is None else min(bin, duration))


def labelled(results: Results) -> dict[str, AnyResult]:
    """Give every result its label."""
    if isinstance(results, Mapping):
        return dict(results)
    if not isinstance(results, Sequence):
        return {results.name: results}
    names = [result.name for result in results]
    unique = len(set(names)) == len(names)
    labels = names if unique else [f"{name} ({index + 1})" for index, name in enumerate(names)]
    return dict(zip(labels, results, strict=True))
