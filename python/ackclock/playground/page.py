"""The files of the playground, which `make page` and `make web` build."""

from __future__ import annotations

import html
import json
from dataclasses import dataclass

from ackclock.files.built import PAGE

FOLDER = PAGE
INDEX = "index.html"
ENGINE = "engine.js"
NOTICES = ("third-party.txt", "engine-third-party.txt")
"""Licences of what others wrote in the page, and in its engine."""
FILES = {
    INDEX: "text/html; charset=utf-8",
    "playground.js": "text/javascript; charset=utf-8",
    "logs.html": "text/html; charset=utf-8",
    "logs.js": "text/javascript; charset=utf-8",
    "plotly.js": "text/javascript; charset=utf-8",
    "style.css": "text/css; charset=utf-8",
    "icon.svg": "image/svg+xml",
    ENGINE: "text/javascript; charset=utf-8",
    **dict.fromkeys(NOTICES, "text/plain; charset=utf-8"),
}
"""The type of every file that a server may send; other files in the folder are never sent."""
PLACE = "<!-- ackclock-server -->"
"""The line of the page that its setup replaces."""
NO_ENGINE = b"// This file has no engine: the page asks the server.\n"
LARGEST_TEXT = 1_000_000
"""Largest scenario that a page opens with, in bytes."""


@dataclass(frozen=True)
class Setup:
    """What the page is told at its start.

    Parameters
    ----------
    engine
        ``wasm``, ``native``, or ``auto`` for the first of them that is there.
    session
        The token that the page sends with each request; None without a server.
    name
        The name of the scenario's file; None if the page opens with its own scenario.
    text
        The scenario, as TOML.
    """

    engine: str
    session: str | None = None
    name: str | None = None
    text: str | None = None


@dataclass(frozen=True)
class Page:
    """The built files, by name."""

    files: dict[str, bytes]

    @property
    def has_engine(self) -> bool:
        """Whether the engine as WebAssembly was built."""
        return b"ackclockEngine" in self.files.get(ENGINE, b"")

    def index(self, setup: Setup) -> bytes:
        """Return the page with its setup."""
        text = json.dumps(setup.__dict__)
        tag = f'<meta name="ackclock-server" content="{html.escape(text)}">'
        return self.files[INDEX].decode().replace(PLACE, tag, 1).encode()


def load() -> Page:
    """Read the built files.

    Raises
    ------
    FileNotFoundError
        If the page was not built.
    """
    files = {name: (FOLDER / name).read_bytes() for name in FILES if (FOLDER / name).is_file()}
    if missing := sorted(FILES.keys() - files.keys() - {ENGINE, *NOTICES}):
        raise FileNotFoundError(
            f"the playground is not part of this installation ({missing[0]} is missing): "
            "in a source tree, `make page` builds it, and `make web` also builds its engine"
        )
    return Page(files)


def choose(engine: str, page: Page) -> str:
    """Return the engine that a page is told to use.

    Raises
    ------
    ValueError
        If it was not built.
    """
    if engine == "wasm" and not page.has_engine:
        raise ValueError(
            "--engine wasm: this installation has no engine as WebAssembly: `make web` builds it in a source tree; "
            "--engine native needs none"
        )
    return engine
