"""The result of `ackclock.conform`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ackclock.conformance.asking import Asked
from ackclock.formatting.numbers import counted, number
from ackclock.results.coverage import Coverage

if TYPE_CHECKING:
    import polars

HOLDS, DEVIATES, FAILS, UNSEEN, NOT_ASKED = "holds", "deviates", "fails", "not seen", "not asked"
VERDICTS = (FAILS, UNSEEN, DEVIATES, NOT_ASKED, HOLDS)
"""Every verdict, the worst first: the clause is broken; the run did not come to the point; it is broken for a reason
that the suite names; it cannot be asked there; it is kept."""
COLUMNS = ("suite", "clause", "section", "level", "implementation", "verdict", "text", "measured", "reason")


@dataclass(frozen=True)
class Verdict:
    """The verdict on a clause.

    Attributes
    ----------
    asked : Asked
        The clause, and who was asked.
    verdict : str
        One of `VERDICTS`.
    measured : dict
        What was measured, by name.
    reason : str
        Why it fails, deviates or was not asked; empty if it holds.
    """

    asked: Asked
    verdict: str
    measured: Mapping[str, Any]
    reason: str = ""

    @property
    def words(self) -> str:
        """What was measured, in words."""
        return ", ".join(f"{name.replace('_', ' ')} {_shown(value)}" for name, value in self.measured.items())

    def row(self) -> dict[str, Any]:
        """Return the verdict as a row, in the order of `COLUMNS`."""
        clause = self.asked.clause
        return {
            "suite": clause.suite, "clause": clause.id, "section": clause.section, "level": clause.level,
            "implementation": self.asked.implementation, "verdict": self.verdict, "text": clause.text,
            "measured": dict(self.measured), "reason": self.reason or None,
        }  # fmt: skip


def _shown(value: object) -> str:
    if value is None or isinstance(value, bool):
        return "none" if value is None else "yes" if value else "no"
    return number(value, 4) if isinstance(value, (int, float)) else str(value)


class Conformance:
    """The verdicts on the clauses of suites.

    Attributes
    ----------
    verdicts : list of Verdict
        In the order of suites and clauses, world after world.
    coverage : Coverage or None
        The states that the controls went through; None if they were not counted.
    """

    def __init__(self, verdicts: Sequence[Verdict], coverage: Coverage | None = None) -> None:
        self.verdicts = list(verdicts)
        self.coverage = coverage

    def __repr__(self) -> str:
        return f"<Conformance: {self.answer}>"

    @property
    def passed(self) -> bool:
        """Whether no clause fails, and none was asked in vain."""
        return not any(each.verdict in (FAILS, UNSEEN) for each in self.verdicts)

    @property
    def answer(self) -> str:
        """How many clauses hold, deviate and fail, in a sentence."""
        counts = Counter(each.verdict for each in self.verdicts)
        words = {HOLDS: "hold", DEVIATES: "deviate", FAILS: "fail"}
        parts = [
            f"{counts[word]} {word if counts[word] == 1 else words.get(word, word)}"
            for word in reversed(VERDICTS)
            if counts[word]
        ]
        return f"{counted(len(self.verdicts), 'clause')}: {', '.join(parts)}."

    @property
    def table(self) -> polars.DataFrame:
        """One row for each clause and implementation, with what was measured in words."""
        import polars

        rows = [{**each.row(), "measured": each.words or None} for each in self.verdicts]
        return polars.DataFrame(rows, schema=dict.fromkeys(COLUMNS, polars.String))

    def to_dict(self) -> dict[str, Any]:
        """Return answer and verdicts as values of JSON."""
        found = {"passed": self.passed, "answer": self.answer, "clauses": [each.row() for each in self.verdicts]}
        if self.coverage is None:
            return found
        states, transitions = self.coverage.states.to_dicts(), self.coverage.transitions.to_dicts()
        return {**found, "states": states, "transitions": transitions}
