"""Figures as files: the same figure gives the same bytes."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from PIL import Image
from PIL.PngImagePlugin import PngInfo

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


def save(figure: Figure, path: str | Path) -> Path:
    """Write a figure atomically, in the format of the file's ending: png, svg or pdf; ``-`` is standard output (png).

    Raises
    ------
    ValueError
        If the format is another.
    """
    path = Path(path)
    targets.write(path, encode(figure, image_format(path)))
    return path


def store(figure: Figure, path: Path) -> None:
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


def encode(figure: Figure, kind: str) -> bytes:
    """Return a figure as the bytes of a file; a palette makes a PNG a third of the size."""
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
