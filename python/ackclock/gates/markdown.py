"""The outcome as Markdown, for a comment in a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ackclock.formatting.names import shown
from ackclock.formatting.numbers import counted
from ackclock.gates.comparing import Change, Outcome, name_of
from ackclock.gates.texts import COLUMNS, cells, headline, rule, sameness

LIMIT = 65_536
"""Largest number of characters of a comment on GitHub."""
RESERVE = 600
"""Characters for the last line of the page."""
LONGEST = 300
"""Characters of a name or message; a longer one is cut."""
OPEN = 20
"""Failing changes that are visible at once; the others fold away."""
MARK = "<!-- ackclock gate -->"
_SPECIAL = re.compile(r"([\\`*_\[\]#|~$])")


def markdown(outcome: Outcome, limit: int = LIMIT) -> str:
    """Return the outcome, the worst change first, in at most `limit` characters."""
    page = _Page(limit)
    page.add(f"{MARK}\n### {'✅' if outcome.passed else '❌'} {_safe(headline(outcome))}\n\n{sameness(outcome)}\n")
    gaps = [f"- {_safe(name_of(gap.point))}: {_safe(gap.text)}" for gap in outcome.gaps]
    title = f"\n**{counted(len(gaps), 'point')} with missing or failed runs**\n\n"
    page.list(title, gaps, "points with missing or failed runs", most=OPEN)
    failing = outcome.failing
    page.table("\n", failing[:OPEN])
    page.table(f"\n<details><summary>{len(failing) - OPEN:,} more</summary>\n\n", failing[OPEN:], "\n</details>\n")
    improved = [change for change in outcome.shown if not outcome.fails(change)]
    page.table(f"\n<details><summary>{len(improved):,} improved</summary>\n\n", improved, "\n</details>\n")
    noise = [change for change in outcome.changes if change.verdict == "noise"]
    title = f"\n<details><summary>{len(noise):,} beyond the tolerance, but within noise</summary>\n\n"
    page.table(title, noise, "\n</details>\n")
    extra = [f"- {_safe(name_of(point))}" for point in outcome.extra]
    title = f"\n<details><summary>{counted(len(extra), 'point')} not in the baseline</summary>\n\n"
    page.list(title, extra, "points", "\n</details>\n")
    page.list("\n**Notes**\n\n", [f"- {_safe(note)}" for note in outcome.notes], "notes")
    return page.text + f"\n<sub>{_safe(rule(outcome))}</sub>\n"


class _Page:
    """A text that never exceeds its limit; lists end with the number of omitted entries."""

    def __init__(self, limit: int) -> None:
        self._left = limit - RESERVE
        self._parts: list[str] = []

    @property
    def text(self) -> str:
        return "".join(self._parts)

    def add(self, text: str) -> bool:
        """Add a text if it fits."""
        if fits := len(text) <= self._left:
            self._parts.append(text)
            self._left -= len(text)
        return fits

    def table(self, before: str, changes: Sequence[Change], after: str = "") -> None:
        lines = [" | ".join(["", *map(_safe, _row(change)), ""]).strip() for change in changes]
        head = f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}\n"
        self.list(before + head, lines, "changes", after)

    def list(self, before: str, lines: Sequence[str], noun: str, after: str = "", most: int | None = None) -> None:
        """Add a list of at most `most` lines; nothing if it is empty or its title does not fit."""
        ending = f"\n… and {len(lines):,} more {noun}\n"
        closing = len(ending) + len(after)
        if not lines or len(before) + closing > self._left:
            return
        self._left -= closing
        self.add(before)
        shown = 0
        while shown < len(lines) and shown != most and self.add(f"{lines[shown]}\n"):
            shown += 1
        if shown < len(lines):
            self._parts.append(f"\n… and {len(lines) - shown:,} more {noun}\n")
        self._parts.append(after)


def _row(change: Change) -> Iterable[str]:
    verdict, *rest = cells(change)
    return [verdict, name_of(change.point), *rest]


def _safe(text: str) -> str:
    """Escape a text: no markup, no HTML, no link, no mention of a user or issue."""
    plain = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
    plain = shown(plain).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    escaped = _SPECIAL.sub(r"\\\1", plain)
    # A character reference breaks mentions and addresses, which a backslash does not.
    return (
        escaped.replace("@", "&#64;").replace("\\#", "&#35;").replace("://", ":&#47;&#47;").replace("www.", "www&#46;")
    )
