"""The files of the pages, which `make page` and `make web` build: their folder, and the engine in it."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[1] / "data" / "page"
"""The folder."""
LIBRARY, LICENCE = "plotly.js", "plotly.LICENSE.txt"
_ENGINE = re.compile(r'ackclockEngine\s*=\s*"([A-Za-z0-9+/=]+)"')


def packed_engine(folder: Path | None = None) -> str | None:
    """Return the engine as WebAssembly (gzip, base64); None if it was not built."""
    file = (folder or PAGE) / "engine.js"
    found = _ENGINE.search(file.read_text(encoding="ascii")) if file.is_file() else None
    return found[1] if found else None


def engine_notices() -> str:
    """Return the licences of what others wrote in the engine; empty if it was not built."""
    file = PAGE / "engine-third-party.txt"
    return file.read_text(encoding="utf-8") if file.is_file() else ""


def report_program() -> str | None:
    """Return the program of reports, which draws their figures by `drawing_library`; None if it was not built."""
    file = PAGE / "report.js"
    return file.read_text(encoding="utf-8") if file.is_file() and (PAGE / LIBRARY).is_file() else None


def drawing_library() -> tuple[str, str]:
    """Return plotly.js, which reports contain so that they need no network, and its licence."""
    return (PAGE / LIBRARY).read_text(encoding="utf-8"), (PAGE / LICENCE).read_text(encoding="utf-8")
