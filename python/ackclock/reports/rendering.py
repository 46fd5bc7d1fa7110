"""Rendering of reports: fills templates with escaped text, and embeds the library and the data of all figures.

A Content-Security-Policy lets a report run its own programs only, named by their hashes, and make no request.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from markupsafe import Markup

from ackclock.drawing import plotly
from ackclock.drawing.figure import Figure
from ackclock.drawing.plotly import Spec, packed
from ackclock.files import built
from ackclock.formatting.names import shown_text
from ackclock.reports.live import Live

TEMPLATES = Path(__file__).parent / "templates"
NO_FIGURES = (
    "Figures of this page are pictures, or missing: this installation has no program for pages. "
    "In a source tree with Node 22.18 or newer, make page builds it; ackclock report writes this page again."
)


class Collected:
    """The figures of a page, each stored once."""

    def __init__(self) -> None:
        self._specs: list[Spec] = []

    def add(self, figure: Figure) -> int:
        """Store a figure, and return its place."""
        self._specs.append(plotly.spec(figure))
        return len(self._specs) - 1

    @property
    def packed(self) -> str:
        """The data of all figures, compressed, in base64; empty without figures."""
        return packed(json.dumps(self._specs, separators=(",", ":"), allow_nan=False)) if self._specs else ""


_library = cache(built.drawing_library)


@cache
def library() -> str:
    """Return the drawing library as `packed` does."""
    return packed(_library()[0])


@cache
def _hash(program: str) -> str:
    """Return the hash of a program for the policy."""
    return "'sha256-" + base64.b64encode(hashlib.sha256(program.encode()).digest()).decode() + "'"


def policy(live: Live | None) -> str:
    """Return the Content-Security-Policy of a report; only a live one compiles WebAssembly and starts workers."""
    program = _program()
    sources = ["'none'"] if program is None else [_hash(program), _hash(_library()[0])]
    if live:
        sources.append("'wasm-unsafe-eval'")
    rules = {
        "default-src": ["'none'"],
        "script-src": sources,
        "style-src": ["'unsafe-inline'"],
        "img-src": ["data:", "blob:"],
        **({"worker-src": ["blob:"]} if live else {}),
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
    }
    return "; ".join(f"{rule} {' '.join(allowed)}" for rule, allowed in rules.items())


def _program() -> Markup | None:
    """Return the page's program; None if it was not built, and the page has no figures."""
    program = built.report_program()
    return None if program is None else Markup(program)


def render(name: str, context: Mapping[str, Any]) -> str:
    """Fill a template; ``live`` in the context makes a report live, and ``static`` is the reason why it is not."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("ackclock.reports"),
        autoescape=name.endswith(".html.j2"),
        undefined=jinja2.StrictUndefined,
        finalize=_harmless_html if name.endswith(".html.j2") else _harmless_markdown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(collected=Collected(), library=library, licence=_licence, own=_own, kind=_kind)
    environment.globals.update(engine_notices=lambda: Markup(built.engine_notices()))
    environment.globals.update(program=_program, no_figures=NO_FIGURES)
    environment.globals.update(policy=policy, packed=packed, live=None, static="")
    environment.filters["anchor"] = anchor
    return environment.get_template(name).render(context)


def anchor(title: str) -> str:
    """Return a title as an anchor.

    >>> anchor("Figures of the paper")
    'figures-of-the-paper'
    """
    return re.sub(r"[^\w]+", "-", title.lower()).strip("-")


def _kind(item: object) -> str:
    return type(item).__name__


def _own(name: str) -> Markup:
    """Return a file of the templates as it is."""
    return Markup((TEMPLATES / name).read_text(encoding="utf-8"))


def _licence() -> Markup:
    return Markup(_library()[1])


def _harmless_html(value: object) -> object:
    """Make invisible characters visible. The template escapes markup, so a report contains only its own links."""
    return shown_text(value) if type(value) is str else value


def _harmless_markdown(value: object) -> object:
    """Make invisible characters visible, and escape text that a viewer could interpret as HTML or as a link."""
    if type(value) is not str:
        return value
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", shown_text(value)).replace("](", "]\\(")
