"""Labels of a sweep that vary together: zipped keys, samples and populations of paths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars

from ackclock.formatting.labels import last_part

PATHS = "paths"
MANY, NEARLY = 20, 1.1  # a sample of whole numbers repeats some values: nearly every value occurs once


@dataclass(frozen=True)
class Group:
    """Labels whose values determine each other: one axis of the sweep.

    Attributes
    ----------
    lead : str
        The label that determines the others: `paths`, or the first of those with most values.
    labels : tuple of str
        All its labels, in the order of the sweep.
    """

    lead: str
    labels: tuple[str, ...]

    @property
    def joint(self) -> bool:
        """Whether it has more than one label."""
        return len(self.labels) > 1

    @property
    def population(self) -> bool:
        """Whether the names of paths lead it."""
        return self.joint and last_part(self.lead) == PATHS


def groups(runs: polars.DataFrame, labels: Sequence[str]) -> list[Group]:
    """Group labels by functional dependence in the data, in the order of their first labels.

    >>> table = polars.DataFrame({"rate": [1, 1, 2, 2], "delay": [9, 9, 5, 5], "control": ["a", "b", "a", "b"]})
    >>> [group.labels for group in groups(table, table.columns)]
    [('rate', 'delay'), ('control',)]
    """
    counts = {label: runs[label].n_unique() for label in labels}
    rest = sorted(labels, key=lambda label: (last_part(label) != PATHS, -counts[label]))
    found = []
    while rest:
        lead = rest[0]
        most = counts[lead] * (NEARLY if counts[lead] >= MANY else 1)
        members = {lead, *(each for each in rest[1:] if runs.select(polars.struct(lead, each)).n_unique() <= most)}
        found.append(Group(lead, tuple(label for label in labels if label in members)))
        rest = [label for label in rest if label not in members]
    return sorted(found, key=lambda group: labels.index(group.labels[0]))
