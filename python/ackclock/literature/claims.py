"""Claims: statements of a paper as data; `verdicts` judges them by measurements."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ackclock.files import schema
from ackclock.files.places import Key
from ackclock.files.problems import Problems
from ackclock.files.schema import (
    Finite,
    NotNegative,
    Number,
    Of,
    Positive,
    Switch,
    Table,
    Text,
    Texts,
    TextTable,
    Word,
    Words,
    test,
)
from ackclock.judging.tolerances import SAME, WORDS
from ackclock.judging.tolerances import Word as Tolerated

Groups = Annotated[
    tuple[Annotated[tuple[Word, ...], Field(min_length=1)], ...],
    Field(min_length=1),
    Words('a list of groups, best first, such as [["2"], ["1", "3"]]'),
]

Within = Annotated[
    dict[str, Annotated[tuple[Finite, Finite], test(lambda ends: ends[0] < ends[1])]],
    Words("a table of spans, such as { buffer_bdp = [0, 0.5] }"),
]
OF_PATHS = ("path_bps", "path_rtt", "bdp_packets", "buffer_bdp")
"""Columns that a path has whatever runs on it, which `within` can limit."""


class ClaimError(ValueError):
    """An error in a claims file."""


@dataclass(frozen=True)
class Claim(Table):
    """One claim of a paper.

    Attributes
    ----------
    id, text, source : str
        Name, wording of the paper, and place in the paper. A claim without text is a part of the sentence of the claim
        before it, as are all claims with the same text.
    reading : str
        Name of the reading of its sentence, if it is not the main one; see `sentences`.
    kind : {"order", "equal", "bound", "best"}
        ``order``: groups of variants, best first; members of a group overlap. ``equal``: the axis does not matter.
        ``bound``: the ratio of two variants, or the value of one, lies between `low` and `high`. ``best``: no other
        variant is better than one by more than the tolerance.
    axis : str
        Label in which the compared variants differ.
    where : dict
        Labels of its runs. Each value of every other label is judged separately.
    expected : tuple of tuple of str
        For ``order``: the groups.
    rest : tuple of str
        For ``order``: variants below all groups, in no claimed order.
    lead : tuple of str
        For ``order``: variants above all groups, in no claimed order.
    of, to : str
        For ``bound``: the two variants of the ratio ``of / to``; without `to`, the value of `of`. For ``best``: the
        claimed variant, `of`.
    sense : {"", "lowest", "highest"}
        For ``best``: whether low or high values are better.
    low, high : float or None
        For ``bound``: limits of the ratio or value; None for no limit.
    exactly, about, up_to : float or None
        For ``bound``, in place of limits: a stated value; the table of tolerances explains each word. ``up_to`` is that
        of the largest of all cells.
    metrics : tuple of str
        Columns on which the claim is judged; the first is the main reading.
    names : dict
        Names of the readings of further metrics, where these differ from the metric's.
    quantifier : {"all", "any", "most"}
        Whether the claim must hold in all cells, in any, or in more than half of them.
    tolerance : float
        Relative difference within which variants overlap.
    scale : {"ratio", "geometric", "difference"}
        How two variants are compared: by the ratio of their means, by that of their geometric means, in which each path
        of a population counts alike, or, for ``bound``, by the mean difference ``of - to`` in the metric's unit.
    within : dict
        Columns of the paths with spans: only runs whose value is at least the first number and below the second count.
    pool : tuple of str
        Labels over which the values of each seed or start time are averaged before the comparison.
    note : str
        A remark for the reader, such as a contradiction in the source or the chosen reading.
    ours : bool
        Whether the claim goes beyond the paper; the report counts such verdicts separately.
    """

    KIND: ClassVar = ("kind", "{key} belongs to claims of the kind {kinds}, not {own}")

    id: Text
    kind: Literal["order", "equal", "bound", "best"]
    axis: Text
    where: TextTable
    text: Text = ""
    source: Text = ""
    reading: Text = ""
    metrics: Texts = ()
    names: TextTable = field(default_factory=dict)
    tolerance: NotNegative = SAME.value
    expected: Annotated[Groups, Of(("order",))] = ()
    rest: Annotated[Texts, Of(("order",))] = ()
    lead: Annotated[Texts, Of(("order",))] = ()
    of: Annotated[Text, Of(("bound", "best"), needed=("bound", "best"))] = ""
    to: Annotated[Text, Of(("bound",))] = ""
    sense: Annotated[
        Literal["", "lowest", "highest"], Words("one of lowest, highest"), Of(("best",), needed=("best",))
    ] = ""
    low: Annotated[Number | None, Of(("bound",))] = None
    high: Annotated[Number | None, Of(("bound",))] = None
    exactly: Annotated[Positive | None, Of(("bound",))] = None
    about: Annotated[Positive | None, Of(("bound",))] = None
    up_to: Annotated[Positive | None, Of(("bound",))] = None
    quantifier: Literal["all", "any", "most"] = "all"
    scale: Literal["ratio", "geometric", "difference"] = "ratio"
    within: Within = field(default_factory=dict)
    pool: Texts = ()
    note: Text = ""
    ours: Switch = False

    @property
    def named(self) -> list[str]:
        """The variants that it names."""
        groups = (*self.expected, self.rest, self.lead, (self.of, self.to))
        return [variant for group in groups for variant in group if variant]

    @property
    def word(self) -> Tolerated | None:
        """The word of a stated value, which the table of tolerances explains; None without one."""
        return next((word for key, word in STATED.items() if getattr(self, key) is not None), None)

    @property
    def stated(self) -> float | None:
        """The stated value."""
        return next((value for key in STATED if (value := getattr(self, key)) is not None), None)

    def limits(self, factor: float = 1.0) -> tuple[float, float]:
        """Return the limits of a ``bound``, infinite for none; those of a stated value with `factor` its tolerance."""
        if self.stated is not None and self.word is not None:
            least, most = WORDS[self.word].scaled(factor).either_way
            return self.stated * least, self.stated * most
        return (-math.inf if self.low is None else self.low, math.inf if self.high is None else self.high)


STATED: dict[str, Tolerated] = {"exactly": "exactly", "about": "about", "up_to": "up to"}
"""The keys of a stated value, and their words in the table of tolerances."""


@dataclass(frozen=True)
class Claims(Table):
    """A ``claims.toml``: its claims, and the tolerance, metrics and names of readings of those that have none."""

    tolerance: NotNegative = SAME.value
    metrics: Texts = ()
    names: TextTable = field(default_factory=dict)
    claims: Annotated[tuple[Claim, ...], Field(validation_alias="claim")] = ()


def parse_claims(
    document: Mapping[str, Any],
    labels: Mapping[str, Collection[str]],
    metrics: Collection[str],
    place: str = "claims.toml",
) -> list[Claim]:
    """Read a claims file.

    Parameters
    ----------
    document
        The parsed TOML: ``tolerance``, ``metrics`` and a list ``claim``.
    labels
        Known labels with their values.
    metrics
        Known columns.
    place
        Name of the file in messages.

    Raises
    ------
    ClaimError
        If a claim lacks a key, has an unknown key, or names an unknown label, value or metric; the message lists every
        problem.
    """
    problems = Problems(place, document)
    file = schema.read(Claims, document, problems)
    problems.check(ClaimError)
    assert file is not None
    claims: list[Claim] = []
    for number, (claim, entry) in enumerate(zip(file.claims, document.get("claim", []), strict=True)):
        common: dict[str, Any] = {"metrics": file.metrics, "tolerance": file.tolerance, "names": file.names}
        if "text" not in entry and claims:
            # It is a part of the sentence before it.
            common |= {"text": claims[-1].text, "source": claims[-1].source, "ours": claims[-1].ours}
        claims.append(replace(claim, **{key: value for key, value in common.items() if key not in entry}))
        _check_kind(("claim", number), claims[-1], problems)
        _check_names(("claim", number), claims[-1], labels, metrics, problems)
    problems.once((), [claim.id for claim in claims], "{count} claims have the id {word!r}")
    problems.check(ClaimError)
    return claims


def _check_kind(path: Key, claim: Claim, problems: Problems) -> None:
    for key in ("text", "source"):
        if not getattr(claim, key):
            problems.add(path, f"{key} is missing; it must be a text")
    said = [key for key in (*STATED, "low", "high") if getattr(claim, key) is not None]
    if len(said) > 1 and said[0] in STATED:
        message = f"{said[0]} and {said[1]} exclude each other; a stated value has its own limits"
        problems.add((*path, said[1]), message)
    if claim.up_to is not None and claim.quantifier != "all":
        message = f"up_to speaks of the largest of all cells, not of {claim.quantifier}; leave quantifier out"
        problems.add((*path, "quantifier"), message)
    if claim.kind == "bound" and not said:
        message = "low or high is missing; a bound needs one of them, or a value with exactly, about or up_to"
        problems.add(path, message)
    if claim.low is not None and claim.high is not None and claim.low > claim.high:
        problems.key((*path, "low"), f"low {claim.low:g} is above high {claim.high:g}")
    if claim.scale == "difference" and (claim.kind != "bound" or not claim.to):
        message = "a difference is that of two variants of a bound, of and to, with its limits in the metric's unit"
        problems.add((*path, "scale"), message)
    problems.words((*path, "within"), "column of paths", claim.within, OF_PATHS)
    if claim.kind == "order" and not (claim.expected or (claim.lead and claim.rest)):
        problems.add(path, "expected is missing; name the groups of variants, or lead and rest")
    elif claim.kind == "order" and len(claim.named) < 2:
        problems.add(path, "expected names a single variant and there is no rest, so nothing is compared")


def _check_names(
    path: Key, claim: Claim, labels: Mapping[str, Collection[str]], metrics: Collection[str], problems: Problems
) -> None:
    known = problems.words(path, "label", [claim.axis, *claim.pool], labels)
    problems.choice((*path, "where"), claim.where, labels)
    if claim.axis in claim.where or claim.axis in claim.pool:
        problems.add(path, f"{claim.axis} is the axis, so it cannot also be in where or pool")
    if twice := sorted(claim.where.keys() & set(claim.pool)):
        problems.add(path, f"{twice[0]} is in both where and pool")
    if known:
        problems.words(path, claim.axis, claim.named, labels[claim.axis])
    problems.once(path, claim.named, f"{claim.axis} {{word}} is named {{count}} times")
    if not claim.metrics:
        problems.add(path, "metrics is missing; it must be a list of texts, here or for all claims of the file")
    problems.words(path, "metric", claim.metrics, sorted(metrics))
    problems.once(path, claim.metrics, "metric {word} is named {count} times")


def bounds(claim: Claim) -> str:
    """Return the limits of a claim of the kind ``bound`` in words."""
    ends = zip(("at least", "at most"), claim.limits(), strict=True)
    limits = " and ".join(f"{word} {end:g}" for word, end in ends if math.isfinite(end))
    return f"{claim.word} {claim.stated:g}: {limits}" if claim.word else limits
