"""Warnings of many runs as lines of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ackclock.formatting.numbers import counted


class Warnings:
    """The warnings of all runs, one for each name; runs finish in any order."""

    def __init__(self) -> None:
        self._runs: dict[str, dict[int, str]] = {}

    def add(self, index: int, warnings: Sequence[dict[str, Any]]) -> None:
        """Add the warnings of a run; a repeated call changes nothing."""
        for warning in warnings:
            self._runs.setdefault(warning["name"], {}).setdefault(index, warning["text"])

    def lines(self, labels: Sequence[str] = ()) -> list[str]:
        """Return one line for each name: the sentence of its first run, and the number of runs.

        Parameters
        ----------
        labels
            What distinguishes each run of a sweep; empty for a single run.
        """
        found = []
        for name, runs in sorted(self._runs.items(), key=lambda item: min(item[1])):
            first = min(runs)
            place = f", in {len(runs):,} of {counted(len(labels), 'run')}, first in {labels[first]}" if labels else ""
            found.append(f"{runs[first]} ({name}{place})")
        return found
