"""Sentences of a paper, each with its outcome in every reading.

A sentence is what a reader counts: claims with the same text are its parts, such as the queue sizes of which it speaks.
A paper leaves open how a sentence is to be measured, so that it has readings: the main one, on the first metric of its
claims, and others on further metrics, or of claims that name a ``reading``. In each reading a sentence is

=============  ========================================================================================================
reproduced     if all its parts hold
reversed       if a part is the other way round: the claimed loser leads, or the claimed gain is a loss
differs        if a number lies elsewhere on the claimed side, or if what should be the same is not
no difference  if a claimed difference is not there
cannot tell    if the runs do not decide a part, and none of the others fails
not run        if none of its parts was run
=============  ========================================================================================================

If its parts fail in several ways, the first of the list counts. The main reading gives the outcome of the sentence; the
others stand beside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ackclock.literature.claims import Claim
from ackclock.literature.verdicts import Judgement, Why
from ackclock.reports import units

Outcome = Literal["reproduced", "reversed", "differs", "no difference", "cannot tell", "not run"]
OUTCOMES: tuple[Outcome, ...] = ("reproduced", "reversed", "differs", "no difference", "cannot tell", "not run")
FAILED: tuple[Outcome, ...] = ("reversed", "differs", "no difference")
MAIN = "main reading"
WAYS: Mapping[Why | None, Outcome] = {
    "reversed": "reversed",
    "beaten": "reversed",
    "apart": "differs",
    "no difference": "no difference",
    None: "no difference",
}
"""The outcome of a claim that does not hold, by the way in which it fails."""
WORDS: Mapping[Outcome, tuple[str, str]] = {
    "reproduced": ("is reproduced", "are reproduced"),
    "reversed": ("is reversed", "are reversed"),
    "differs": ("differs", "differ"),
    "no difference": ("shows no difference", "show no difference"),
    "cannot tell": ("is undecided", "are undecided"),
    "not run": ("was not run", "were not run"),
}


@dataclass(frozen=True)
class Reading:
    """A reading of a sentence: its name, and the judgements of its parts."""

    name: str
    parts: Sequence[Judgement]

    @property
    def outcome(self) -> Outcome:
        """The outcome, by the rules of the module."""
        found = Counter(outcome(part) for part in self.parts)
        if len(found) == 1:
            return next(iter(found))
        return next((way for way in FAILED if found[way]), "cannot tell")

    @property
    def held(self) -> tuple[int, int]:
        """Number of parts that hold, and of all parts."""
        return sum(part.verdict == "holds" for part in self.parts), len(self.parts)


@dataclass(frozen=True)
class Sentence:
    """A sentence of the paper: its text, its readings, the main one first, and whether it goes beyond the paper."""

    text: str
    readings: Sequence[Reading]
    ours: bool = False

    @property
    def name(self) -> str:
        """Its name: the id of its first claim."""
        return self.claims[0].id

    @property
    def claims(self) -> list[Claim]:
        """Its claims, those of the main reading first."""
        return list({part.claim.id: part.claim for reading in self.readings for part in reading.parts}.values())

    @property
    def source(self) -> str:
        """Its places in the paper."""
        return "; ".join(dict.fromkeys(claim.source for claim in self.claims))

    @property
    def outcome(self) -> Outcome:
        """Its outcome: that of the main reading."""
        return self.readings[0].outcome

    @property
    def fails(self) -> bool:
        """Whether it is decided, and not reproduced."""
        return self.outcome in FAILED

    @property
    def others(self) -> dict[str, Outcome]:
        """The outcomes of the readings beside the main one."""
        return {reading.name: reading.outcome for reading in self.readings[1:]}

    def to_dict(self) -> dict[str, Any]:
        """Return the sentence as lists and dictionaries for JSON."""
        readings = [
            {
                "reading": reading.name,
                "outcome": reading.outcome,
                "parts_that_hold": reading.held[0],
                "parts": [
                    {
                        "claim": part.claim.id,
                        "source": part.claim.source,
                        "metric": part.metric,
                        "outcome": outcome(part),
                        "measured": part.reason,
                    }
                    for part in reading.parts
                ],
            }
            for reading in self.readings
        ]
        said = {"sentence": self.name, "text": self.text, "source": self.source, "outcome": self.outcome}
        return said | {"ours": self.ours, "readings": readings}


def sentences(judgements: Sequence[Judgement]) -> list[Sentence]:
    """Gather judgements into sentences, in the order of the claims."""
    found: dict[tuple[bool, str], dict[str, list[Judgement]]] = {}
    for part in judgements:
        claim = part.claim
        # The same words in another line of the file are the same sentence.
        readings = found.setdefault((claim.ours, " ".join(claim.text.split())), {})
        readings.setdefault(_reading(part), []).append(part)
    made = []
    for (ours, text), readings in found.items():
        # Claims that all name a reading leave none without a name: then the first is the main one.
        first = MAIN if MAIN in readings else next(iter(readings))
        ordered = [first, *(name for name in readings if name != first)]
        made.append(Sentence(text, [Reading(name, readings[name]) for name in ordered], ours))
    return made


def _reading(part: Judgement) -> str:
    claim = part.claim
    own = "" if part.metric == claim.metrics[0] else claim.names.get(part.metric, units.name(part.metric))
    return ", ".join(filter(None, [claim.reading, own])) or MAIN


def outcome(judgement: Judgement) -> Outcome:
    """Return the outcome of one claim on one metric."""
    if judgement.verdict == "does not hold":
        return WAYS[judgement.why]
    return "reproduced" if judgement.verdict == "holds" else judgement.verdict


def of_paper(judgements: Sequence[Judgement]) -> list[Sentence]:
    """Return the sentences of the paper, without those beyond it."""
    return [sentence for sentence in sentences(judgements) if not sentence.ours]


def counts(found: Iterable[Sentence]) -> Counter[Outcome]:
    """Count sentences by their outcome."""
    return Counter(sentence.outcome for sentence in found)


def words(counted: Mapping[Outcome, int]) -> str:
    """Write numbers of sentences in words: "3 are reproduced, 1 differs and 2 show no difference"."""
    said = [f"{counted[way]} {WORDS[way][counted[way] != 1]}" for way in OUTCOMES if counted.get(way)]
    return " and ".join(filter(None, [", ".join(said[:-1]), *said[-1:]])) or "none was judged"


def in_any_reading(found: Sequence[Sentence]) -> int:
    """Count the sentences that are reproduced in at least one of their readings."""
    return sum(any(reading.outcome == "reproduced" for reading in sentence.readings) for sentence in found)
