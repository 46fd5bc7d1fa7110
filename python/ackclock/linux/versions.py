"""Versions of Linux: their order, and files that are for some of them only."""

from __future__ import annotations

import operator
import re

FINAL = 1_000_000
"""Stands for the number of a release candidate in the order: a release follows all of its candidates."""
CONDITION = re.compile(r"^(?:# ?)?Versions: *(.+?) *$", re.MULTILINE)
COMPARISONS = {">=": operator.ge, "<": operator.lt}


def order(version: str) -> tuple[int, ...]:
    """Return a key that sorts versions.

    >>> sorted(["7.2.13", "7.2", "6.12.117", "7.2.0-rc3"], key=order)
    ['6.12.117', '7.2.0-rc3', '7.2', '7.2.13']
    """
    found = re.match(r"(\d+)\.(\d+)(?:\.(\d+))?(?:-rc(\d+))?", version)
    if found is None:
        return ()
    major, minor, patch, candidate = found.groups()
    return int(major), int(minor), int(patch or 0), int(candidate or FINAL)


def begins(version: str, prefix: str) -> bool:
    """Whether a version begins with these parts.

    >>> begins("6.12.117", "6.12"), begins("6.12.117", "6.1")
    (True, False)
    """
    return version == prefix or version.startswith((f"{prefix}.", f"{prefix}-"))


def suits(version: str, text: str, place: str) -> bool:
    """Whether a file is for a version, by its line ``Versions: >= 6.12, < 7.0``; without the line it is for all.

    Only the major and minor numbers count.

    Parameters
    ----------
    version
        The version, such as ``6.12.117``.
    text
        The content of the file.
    place
        The file, for the message.

    Raises
    ------
    ValueError
        If the line has no such conditions.
    """
    line = CONDITION.search(text)
    if line is None:
        return True
    suited = True
    for condition in line[1].split(","):
        found = re.fullmatch(r"\s*(>=|<)\s*(\d+)\.(\d+)\s*", condition)
        if found is None:
            raise ValueError(f"{place}: expected conditions such as `Versions: >= 6.12, < 7.0`, not {line[0]!r}")
        suited &= COMPARISONS[found[1]](order(version)[:2], (int(found[2]), int(found[3])))
    return suited
