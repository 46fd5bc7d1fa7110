r"""Names and texts of the user as output: on a terminal, in a report, in a figure.

They may hold anything: control characters that a terminal obeys, marks that reverse the direction of text, and signs
that matplotlib reads as mathematics. Output shows such characters as escapes, such as ``\x1b``.
"""

from __future__ import annotations

import re

# Control characters (C0, C1, DEL), marks and isolates of direction, line separators, and surrogates.
_HIDDEN = "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
_IN_TEXT = re.compile(f"[{_HIDDEN}]")
_IN_NAME = re.compile(f"[\t\n{_HIDDEN}]")
_IN_JSON = re.compile(f"[\x7f{_HIDDEN[_HIDDEN.index(chr(0x7F)) :]}]")
_IN_FILE = re.compile(r"[^\w.+=-]+")
_VISIBLE_MARK = "\u200b"


def shown(name: str) -> str:
    r"""Return a name on one line, with invisible characters as escapes.

    >>> shown("a\x1b[31m\nb"), shown("_x $")
    ('a\\x1b[31m\\nb', '_x $')
    """
    return _IN_NAME.sub(_escape, name)


def shown_text(text: str) -> str:
    """Return a text, which may have several lines, with invisible characters as escapes."""
    return _IN_TEXT.sub(_escape, text)


def shown_json(text: str) -> str:
    """Return JSON of the same meaning, with invisible characters as escapes."""
    return _IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def in_figure(name: str) -> str:
    """Return a name for matplotlib, which reads a dollar sign as the start of mathematics."""
    return shown(name).replace("$", r"\$")


def in_legend(name: str) -> str:
    """Return a name for a legend, where matplotlib omits names that begin with an underscore."""
    return f"{_VISIBLE_MARK if name.startswith('_') else ''}{in_figure(name)}"


def in_file(name: str) -> str:
    """Return a name as part of a file name.

    >>> in_file("../10 ms")
    '.._10_ms'
    """
    return _IN_FILE.sub("_", name)


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode("ascii")
