"""The result of `ackclock.linux.compare`."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import polars

from ackclock.formatting.numbers import counted
from ackclock.linux import judging, report, words
from ackclock.linux.comparing import Outcome
from ackclock.linux.judging import Difference, Pairs


class Comparison:
    """The judged runs of a comparison of simulation and kernel.

    Parameters
    ----------
    outcome
        The runs.
    tolerance
        Largest relative difference of delivered data and completion times that counts as none.

    Attributes
    ----------
    outcome : Outcome
        The runs.
    pairs : list of Pairs
        The measurements of each scenario that has runs on the kernel.
    differences : list of Difference
        Every measure of every flow on both sides.
    """

    def __init__(self, outcome: Outcome, tolerance: float) -> None:
        self.outcome = outcome
        self.pairs: list[Pairs] = outcome.pairs()
        self.differences: list[Difference] = [
            each for one in self.pairs for each in judging.differences(one, tolerance)
        ]

    def __repr__(self) -> str:
        return f"<Comparison of {counted(len(self.pairs), 'scenario')} with {self.outcome.world.title}>"

    @property
    def answer(self) -> list[str]:
        """How far the simulation is from the kernel, in a few sentences."""
        return words.answer(self.outcome, self.pairs, self.differences)

    @property
    def larger(self) -> list[str]:
        """A sentence for everything that differs, with what is known of it; the largest first."""
        return words.larger(self.differences)

    @cached_property
    def table(self) -> polars.DataFrame:
        """One row for each scenario, flow and measure, the largest difference first.

        It has the means on both sides, the kernel's range, the relative difference with its 95 % interval, the verdict
        (also with half and with double the tolerance), and the rules that explain it.
        """
        return report.table(self.differences)

    def to_dict(self) -> dict[str, Any]:
        """Return answer, differences and facts of the runs as values of JSON; numbers may be infinite."""
        world = self.outcome.world
        said = {"world": world.name, "release": world.release, "repetitions": self.outcome.count}
        answers = {"answer": self.answer, "larger": self.larger}
        return {**said, **answers, **report.measured(self.outcome, self.pairs), "rows": report.rows(self.differences)}
