"""A judged comparison with its answer, tables and remarks."""

from __future__ import annotations

from ackclock.comparisons import crossed as crossing
from ackclock.comparisons import words, worlds
from ackclock.comparisons.crossed import Crossed
from ackclock.comparisons.judging import Judged
from ackclock.comparisons.words import Shown


class Answered:
    """What a judged comparison says.

    Parameters
    ----------
    judged
        The judgement.
    sort, top
        As in `ackclock.matrix`.

    Attributes
    ----------
    judged : Judged
        The judgement.
    crossed : Crossed or None
        The combinations of a matrix; None if it is none.
    """

    def __init__(self, judged: Judged, sort: str | None = None, top: int = 3) -> None:
        self.judged = judged
        self.crossed = Crossed(judged) if judged.outcome.plan.crossed else None
        self._sort, self._top = sort, top

    @property
    def answer(self) -> list[str]:
        """Who wins where, by how much, how sure and at whose cost; of a matrix, which parts gain and cost most."""
        said = words.answer(self.judged) if self.crossed is None else crossing.answer(self.crossed, self._sort)
        return [*said, *worlds.sentences(self.judged)]

    @property
    def tables(self) -> list[Shown]:
        """The tables of the report; of a matrix, the ranking and the effects of parts."""
        made = crossing.tables(self.crossed, self._sort, self._top) if self.crossed else words.tables(self.judged)
        return [*made, *worlds.tables(self.judged)]

    @property
    def notes(self) -> list[str]:
        """Remarks: transfers that did not finish; of a matrix, what its tables leave out."""
        if self.crossed is None:
            return words.notes(self.judged)
        lacking = [
            path for path in self.crossed.paths if self._sort and self.crossed.ranked(path, self._sort).is_empty()
        ]
        said = [f"no combination has a value of {self._sort} on {', '.join(lacking)}"] if lacking else []
        if self.judged.many:
            shown = f"the best {self._top} and the worst of {self.crossed.count:,} combinations on each path are shown"
            said.append(f"{shown}; the table `comparison` has all")
        return said
