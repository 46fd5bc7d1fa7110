"""How a report becomes a file: templates filled in with harmless texts, and images inside the page."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ackclock.texts.names import shown_text


def embedded(image: Path) -> str:
    """Give an image as text for an HTML file."""
    return base64.b64encode(image.read_bytes()).decode()


def render(name: str, context: Mapping[str, Any]) -> str:
    """Fill in a template."""
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
    """Write out what cannot be seen; markup is escaped besides, so that a report's only links are its own."""
    return shown_text(value) if type(value) is str else value


def _harmless_markdown(value: object) -> object:
    """Write out what cannot be seen, and take from texts what a viewer would take for HTML or for a link."""
    if type(value) is not str:
        return value
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", shown_text(value)).replace("](", "]\\(")
