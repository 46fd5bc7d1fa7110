"""The answer at the top of a report: three sentences with numbers from the verdicts, and the causes.

A paper's ``[answer]`` has templates of the sentences and causes. Braces stand for measured values:

========================  ==========================================================================================
``{sentences}``           number of the paper's judged sentences, see `sentences`
``{counts}``              numbers of those that are reproduced, reversed, and so on, each in its main reading
``{any}``                 number of those that are reproduced in at least one reading
``{ID.verdict}``          "holds", "does not hold", "is undecided" or "was not run"
``{ID.value}``            the measured ratio, value with its unit, or relative difference; for several
                          comparisons, the smallest and the largest
``{ID.interval}``         the same for a single comparison, with its interval
``{ID.lowest}``           the smallest of several
``{ID.highest}``          the largest of several
``{ID.held}``             number of cells in which the claim holds, such as "3 of 10"
``{ID.ranking}``          the variants of a single cell in the order of their means, best first
``{ID[METRIC].value}``    any of these words for another metric of the claim
========================  ==========================================================================================
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ackclock.files.places import Key
from ackclock.files.problems import Problems
from ackclock.formatting.numbers import number
from ackclock.literature import sentences
from ackclock.literature.claims import Claim
from ackclock.literature.contents import Cause
from ackclock.literature.library import Paper
from ackclock.literature.sentences import Sentence
from ackclock.literature.verdicts import Comparison, Judgement, Verdict
from ackclock.reports import units
from ackclock.statistics.intervals import rounded

BRACES = re.compile(r"\{([^{}]*)\}")
PLACE = re.compile(r"(?P<claim>[^\[\]]+)(\[(?P<metric>\w+)\])?\.(?P<word>\w+)")
VERDICTS = {
    "holds": "holds",
    "does not hold": "does not hold",
    "cannot tell": "is undecided",
    "not run": "was not run",
}
SHOWN: Mapping[Verdict, str] = {
    "not run": "not run",
    "does not hold": "the cause is not shown",
    "cannot tell": "the runs cannot tell",
}
"""What an experiment says of a cause, by a verdict on one of its two claims; the first one counts."""
NOTHING = "–"


@dataclass(frozen=True)
class Part:
    """A part of a sentence: its text, and its claim and verdict; both are "" if the text is fixed."""

    text: str
    claim: str = ""
    verdict: str = ""

    @property
    def target(self) -> str:
        """The anchor of its claim on the page."""
        return self.claim

    @property
    def mark(self) -> str:
        """Its look on the page, see `reports.Cell`."""
        return self.verdict.replace(" ", "-")


@dataclass(frozen=True)
class Reason:
    """A cause: its text with what its experiment found, in parts, and the claims of the sentences that it explains."""

    parts: Sequence[Part]
    explains: Sequence[str] = ()


@dataclass(frozen=True)
class Answer:
    """An answer: its sentences, each in parts, and the causes."""

    sentences: Sequence[Sequence[Part]]
    causes: Sequence[Reason]


def read(stored: Mapping[str, Any]) -> Answer:
    """Return an answer from its parts as JSON."""
    causes = [Reason([Part(**part) for part in it["parts"]], it["explains"]) for it in stored["causes"]]
    return Answer([[Part(**part) for part in sentence] for sentence in stored["sentences"]], causes)


def check(paper: Paper, claims: Sequence[Claim]) -> None:
    """Check that a paper's answer uses known claims, metrics and words.

    Raises
    ------
    ValueError
        If a name is unknown.
    """
    answer, problems = paper.contents.answer, paper.problems()
    if answer is None:
        return
    known = {claim.id: claim for claim in claims}
    for place, text in enumerate(answer.sentences):
        _check(("answer", "sentences", place), text, known, problems)
    for place, cause in enumerate(answer.causes):
        path = ("answer", "cause", place)
        _check((*path, "text"), cause.text, known, problems)
        experiment = (cause.effect, cause.switched_off)
        problems.words(path, "claim", [*cause.explains, *filter(None, experiment)], known)
        if any(experiment) and not all(experiment):
            problems.add(
                path, "effect and switched_off are a pair of claims: the effect with the cause, and without it"
            )
    problems.check()


def _check(path: Key, text: str, known: Mapping[str, Claim], problems: Problems) -> None:
    if stray := re.search("[{}]", BRACES.sub("", text)):
        problems.add(path, f"{text!r}: a {stray[0]} without its partner; braces hold a measured value")
    for name in BRACES.findall(text):
        found = PLACE.fullmatch(name)
        if name in COUNTED:
            continue
        if found is None:
            words = f"{', '.join(COUNTED)}, or a claim with a word, such as CLAIM.{next(iter(WORDS))}"
            problems.add(path, f"{{{name}}} is none of {words}")
            continue
        problems.words(path, "word", [found["word"]], WORDS)
        if problems.words(path, "claim", [found["claim"]], known) and found["metric"]:
            problems.words(path, "metric", [found["metric"]], known[found["claim"]].metrics)


def answer(paper: Paper, judgements: Sequence[Judgement]) -> Answer:
    """Fill the sentences and causes of a paper; without ``[answer]``, count the verdicts."""
    frame = paper.contents.answer
    if frame is None:
        return Answer([fill("Of the paper's sentences, {counts}.", judgements)] if judgements else [], [])
    return Answer(
        [_of_what_ran(text, judgements) for text in frame.sentences], [_reason(it, judgements) for it in frame.causes]
    )


def _of_what_ran(text: str, judgements: Sequence[Judgement]) -> list[Part]:
    """Fill a sentence; if it speaks of claims without runs, name these instead."""
    main = mains(judgements)
    named = [found["claim"] for piece in BRACES.findall(text) if (found := PLACE.fullmatch(piece))]
    missing = [claim for claim in dict.fromkeys(named) if main[claim].verdict == "not run"]
    if not missing:
        return fill(text, judgements)
    parts = [Part("Not run: ")]
    for claim in missing:
        parts += [Part(claim, claim, "not run"), Part(", ")]
    return [*parts[:-1], Part(".")]


def _reason(cause: Cause, judgements: Sequence[Judgement]) -> Reason:
    """Fill the text of a cause, and add what its experiment found."""
    parts = _of_what_ran(cause.text, judgements)
    if cause.effect:
        main = mains(judgements)
        found = {main[cause.effect].verdict, main[cause.switched_off].verdict}
        said = next((words for verdict, words in SHOWN.items() if verdict in found), "the cause is shown")
        frame = f" With it: {{{cause.effect}.interval}}; switched off: {{{cause.switched_off}.interval}}: {said}."
        parts += fill(frame, judgements)
    return Reason(parts, cause.explains)


def fill(text: str, judgements: Sequence[Judgement]) -> list[Part]:
    """Fill a sentence: replace the braces by measured values."""
    main = mains(judgements)
    parts = []
    for place, piece in enumerate(BRACES.split(text)):
        if place % 2 == 0:
            parts.append(Part(piece))
        elif piece in COUNTED:
            parts.append(Part(COUNTED[piece](sentences.of_paper(judgements))))
        else:
            parts.append(_measured(piece, judgements, main))
    return [part for part in parts if part.text]


def mains(judgements: Sequence[Judgement]) -> dict[str, Judgement]:
    """Return the main reading of each claim, which is its first metric."""
    found: dict[str, Judgement] = {}
    for judgement in judgements:
        found.setdefault(judgement.claim.id, judgement)
    return found


def _measured(piece: str, judgements: Sequence[Judgement], main: Mapping[str, Judgement]) -> Part:
    found = PLACE.fullmatch(piece)
    if found is None:
        raise ValueError(f"{{{piece}}} is not a measured value")
    judgement = main[found["claim"]]
    if found["metric"]:
        wanted = (found["claim"], found["metric"])
        judgement = next(item for item in judgements if (item.claim.id, item.metric) == wanted)
    verdict = judgement.verdict if found["word"] == "verdict" else ""
    return Part(WORDS[found["word"]](judgement), found["claim"], verdict)


def _written(value: float, judgement: Judgement, relation: str) -> str:
    if relation == "value":
        return units.quantity(value, judgement.metric)
    if relation == "ratio":
        return f"{value:#.3g}" if abs(value) < 100 else number(value, 3)
    # Differences are relative.
    return f"{100 * value:+.1f} %".replace("-", "−")


def _means(judgement: Judgement) -> tuple[list[tuple[float, Comparison]], str]:
    there = [item for item in judgement.comparisons if item.difference is not None]
    valued = [(item.difference.mean, item) for item in there if item.difference is not None]
    return sorted(valued, key=lambda pair: pair[0]), there[0].relation if there else ""


def _end(judgement: Judgement, place: int) -> str:
    found, relation = _means(judgement)
    return _written(found[place][0], judgement, relation) if found else NOTHING


def _value(judgement: Judgement) -> str:
    low, high = _end(judgement, 0), _end(judgement, -1)
    return low if low == high else f"{low} to {high}"


def _interval(judgement: Judgement) -> str:
    found, relation = _means(judgement)
    difference = found[0][1].difference if len(found) == 1 else None
    if difference is None or not difference.finite:
        return _value(judgement)
    if relation != "value" and difference.high > difference.low:
        # As many digits as the interval supports.
        factor, unit, plus = (1.0, "", "") if relation == "ratio" else (100.0, " %", "+")
        ends = {name: factor * getattr(difference, name) for name in ("mean", "low", "high")}
        texts = zip(rounded(replace(difference, **ends)), ends.values(), strict=True)
        mean, low, high = (f"{plus if end > 0 else ''}{text}{unit}" for text, end in texts)
        return f"{mean} [{low}, {high}]"
    low, high = (_written(end, judgement, relation) for end in (difference.low, difference.high))
    return f"{_value(judgement)} [{low}, {high}]"


def _held(judgement: Judgement) -> str:
    cells: dict[tuple[tuple[str, str], ...], bool] = {}
    for item in judgement.comparisons:
        cell = tuple(item.where.items())
        cells[cell] = cells.get(cell, True) and item.verdict == "holds"
    return f"{sum(cells.values())} of {len(cells)}" if cells else NOTHING


def ranking(judgement: Judgement) -> str:
    """Format the variants of a claim's only cell in the order of their means; = joins equal means."""
    if len(judgement.measured) != 1:
        return ""
    text, last = "", math.nan
    for variant, mean in judgement.measured[0][1]:
        sign = " = " if math.isclose(mean.mean, last, rel_tol=1e-12) else " > "
        text, last = text + (sign if text else "") + variant, mean.mean
    return text


COUNTED: dict[str, Callable[[Sequence[Sentence]], str]] = {
    "sentences": lambda found: str(len(found)),
    "counts": lambda found: sentences.words(sentences.counts(found)),
    "any": lambda found: str(sentences.in_any_reading(found)),
}
WORDS: dict[str, Callable[[Judgement], str]] = {
    "verdict": lambda judgement: VERDICTS[judgement.verdict],
    "value": _value,
    "interval": _interval,
    "lowest": lambda judgement: _end(judgement, 0),
    "highest": lambda judgement: _end(judgement, -1),
    "held": _held,
    "ranking": lambda judgement: ranking(judgement) or NOTHING,
}
