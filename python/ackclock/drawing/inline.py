"""Figures inside pages without scripts, as notebooks show them: SVG in the colours of the page around it."""

from __future__ import annotations

import hashlib
import io
import re
from html import escape

from cycler import cycler

from ackclock.drawing.figure import Figure
from ackclock.drawing.look import Look
from ackclock.drawing.matplotlib import draw

INK = "#010203"
"""Stands for the colour of text of the page, which `currentColor` is."""
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#C46A9B", "#B77F00", "#3D8FC0", "#7A5CE0", "#B8405A")
"""The palette of files, changed where a colour would be faint on a white or on a black page."""
STYLE = {
    "axes.prop_cycle": cycler(color=COLOURS), "grid.color": "#7f7f7f", "grid.alpha": 0.3,
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), INK),
}  # fmt: skip
FONT, WIDTH, MOST_WIDTH = 9.0, 5.0, 10.0  # points; inches of a panel, and of all
_NAMES = re.compile(r' id="[A-Za-z2.]+_\d+"')
_UNUSED = re.compile(r"<metadata>.*?</metadata>|<defs>\s*<style[^>]*>.*?</style>\s*</defs>|<!--.*?-->", re.DOTALL)
_SPACES = re.compile(r'\s+xmlns(?::\w+)?="[^"]*"')
_DIGITS = re.compile(r"(\d\.\d)\d+")
_DEFINED = re.compile(r"\b([pmC][0-9a-f]{10}|C\d+_\d+_[0-9a-f]{10})\b")


def svg(figure: Figure, title: str) -> str:
    """Return a figure as an SVG element; `title` is its text for screen readers."""
    width = min(MOST_WIDTH, WIDTH * max(1, len(figure.panels)))
    look, buffer = Look(width, font_size=FONT, style=STYLE, title=""), io.StringIO()
    drawn = draw(figure, look)
    with look.applied():
        drawn.savefig(buffer, format="svg", transparent=True, metadata={"Creator": None, "Date": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :].strip()
    text = _DIGITS.sub(r"\1", _UNUSED.sub("", text))
    # Names are those of the whole page, in which other cards stand.
    own = hashlib.sha256(text.encode()).hexdigest()[:8]
    text = _DEFINED.sub(rf"\1-{own}", _NAMES.sub("", text)).replace(INK, "currentColor")
    head = f'<svg role="img" style="max-width:100%;height:auto;stroke-linejoin:round"><title>{escape(title)}</title>'
    attributes = re.match(r"<svg([^>]*)>", text)
    assert attributes is not None
    return head.replace("<svg", f"<svg{_SPACES.sub('', attributes[1])}", 1) + text[attributes.end() :]
