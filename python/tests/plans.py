"""Plans of the papers for tests that need every cell, and a few repetitions of each."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from ackclock.literature import library
from ackclock.literature.contents import Counts, Quick
from ackclock.literature.plan import Plan, plan_paper


@cache
def shortened(name: str) -> Plan:
    """Return the plan of a paper with three repetitions of each cell, instead of up to hundreds."""
    paper = library.find(name)
    few = Quick(Counts(seed=3, path=3, offset=3))
    return plan_paper(replace(paper, contents=replace(paper.contents, quick=few)), quick=True)
