"""Rendering of reports: fills templates with escaped text, and embeds images in the page."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ackclock.texts.names import shown_text


def embedded(image: Path) -> str:
    """Return an image in base64, for a data URL in HTML."""
    return base64.b64encode(image.read_bytes()).decode()


def render(name: str, context: Mapping[str, Any]) -> str:
    """Fill a template."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("ackclock.reports"),
        autoescape=name.endswith(".html.j2"),
        undefined=jinja2.StrictUndefined,
        finalize=_harmless_html if name.endswith(".html.j2") else _harmless_markdown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name).render(context)


def _harmless_html(value: object) -> object:
    """Make invisible characters visible. The template escapes markup, so a report contains only its own links."""
    return shown_text(value) if type(value) is str else value


def _harmless_markdown(value: object) -> object:
    """Make invisible characters visible, and escape text that a viewer could interpret as HTML or as a link."""
    if type(value) is not str:
        return value
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", shown_text(value)).replace("](", "]\\(")
