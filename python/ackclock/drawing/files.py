"""Figures as files: the same figure gives the same bytes."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as MplFigure
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from ackclock.drawing.figure import Figure
from ackclock.drawing.look import NARROW, Look
from ackclock.drawing.matplotlib import draw
from ackclock.files import storage, targets

FORMATS = ("png", "svg", "pdf")
# No date, so that equal results give equal files. The name of the program lets it replace its own files.
METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": "ackclock"},
    "svg": {"Creator": "ackclock", "Date": None},
    "pdf": {"Creator": "ackclock", "CreationDate": None},
}
PNG_DPI = 144
PNG_COLOURS = 256


def save(figure: Figure | MplFigure, path: str | Path, look: Look | None = None) -> Path:
    """Write a figure atomically, in the format of the file's ending: png, svg or pdf; ``-`` is standard output (png).

    Raises
    ------
    ValueError
        If the format is another.
    """
    path = Path(path)
    targets.write(path, encode(figure, image_format(path), look))
    return path


def store(figure: Figure | MplFigure, path: Path) -> None:
    """Write a figure of a result atomically; unlike `save`, it replaces a link or pipe that is there."""
    storage.write_bytes(path, encode(figure, image_format(path)))


def image_format(path: Path) -> str:
    """Return the format of a file by its ending; standard output, pipes and devices without one get png.

    Raises
    ------
    ValueError
        If the format is unknown.
    """
    kind = path.suffix.lstrip(".")
    if targets.is_stream(path):
        return kind if kind in FORMATS else FORMATS[0]
    if kind not in FORMATS:
        raise ValueError(f"{path}: unknown format {kind!r}; known: {', '.join(FORMATS)}")
    return kind


def encode(figure: Figure | MplFigure, kind: str, look: Look | None = None) -> bytes:
    """Return a figure as the bytes of a file; a palette makes a PNG a third of the size.

    Raises
    ------
    ValueError
        If the figure has no room for its panels.
    """
    look = look or Look()
    drawn = draw(figure, look) if isinstance(figure, Figure) else figure
    dots = PNG_DPI if drawn.get_figwidth() >= NARROW else 2 * PNG_DPI
    with look.applied(), warnings.catch_warnings():
        warnings.filterwarnings("error", "constrained_layout not applied")
        try:
            return _png(drawn, dots) if kind == "png" else _saved(drawn, kind, dots)
        except UserWarning:
            size = " x ".join(f"{inches:.3g} in" for inches in drawn.get_size_inches())
            raise ValueError(f"--width, --height: {size} is too small for this figure and its font") from None


def _saved(drawn: MplFigure, kind: str, dots: float) -> bytes:
    buffer = io.BytesIO()
    drawn.savefig(buffer, format=kind, dpi=dots, metadata=METADATA[kind])
    return buffer.getvalue()


def _png(drawn: MplFigure, dots: float) -> bytes:
    # `savefig` would lay out the figure in a first pass without ink, and encode pixels that the palette replaces.
    before, smaller, info = drawn.get_dpi(), io.BytesIO(), PngInfo()
    for name, text in METADATA["png"].items():
        info.add_text(name, text)
    try:
        drawn.set_dpi(dots)
        canvas = drawn.canvas if isinstance(drawn.canvas, FigureCanvasAgg) else FigureCanvasAgg(drawn)
        canvas.draw()  # type: ignore[no-untyped-call]
        image = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")  # type: ignore[no-untyped-call]
    finally:
        drawn.set_dpi(before)
    palette = image.quantize(PNG_COLOURS, dither=Image.Dither.NONE)
    palette.save(smaller, "png", optimize=True, pnginfo=info, dpi=(dots, dots))
    return smaller.getvalue()
