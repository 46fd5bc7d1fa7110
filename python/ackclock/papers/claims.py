"""Claims: statements of a paper as data; `verdicts` judges them by measurements."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from ackclock.files import checks
from ackclock.judging.tolerances import SAME, WORDS


class ClaimError(ValueError):
    """An error in a claims file."""


@dataclass(frozen=True)
class Claim:
    """One claim of a paper.

    Attributes
    ----------
    id, text, source : str
        Name, wording of the paper, and place in the paper.
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
    word : {"", "exactly", "about", "up to"}
        For ``bound`` with a stated value in place of limits: the word, which the table of tolerances explains.
    stated : float or None
        The stated value.
    metrics : tuple of str
        Columns on which the claim is judged; the first is the main reading.
    quantifier : {"all", "any", "most"}
        Whether the claim must hold in all cells, in any, or in more than half of them.
    tolerance : float
        Relative difference within which variants overlap.
    pool : tuple of str
        Labels over which the values of each seed or start time are averaged before the comparison.
    note : str
        A remark for the reader, such as a contradiction in the source or the chosen reading.
    ours : bool
        Whether the claim goes beyond the paper; the report counts such verdicts separately.
    """

    id: str
    text: str
    source: str
    kind: Literal["order", "equal", "bound", "best"]
    axis: str
    where: Mapping[str, str]
    metrics: tuple[str, ...]
    tolerance: float
    expected: tuple[tuple[str, ...], ...] = ()
    rest: tuple[str, ...] = ()
    lead: tuple[str, ...] = ()
    of: str = ""
    to: str = ""
    sense: Literal["", "lowest", "highest"] = ""
    low: float | None = None
    high: float | None = None
    word: Literal["", "exactly", "about", "up to"] = ""
    stated: float | None = None
    quantifier: Literal["all", "any", "most"] = "all"
    pool: tuple[str, ...] = ()
    note: str = ""
    ours: bool = False

    def limits(self, factor: float = 1.0) -> tuple[float, float]:
        """Return the limits of a ``bound``, infinite for none; those of a stated value with `factor` its tolerance."""
        if self.stated is not None and self.word:
            least, most = WORDS[self.word].scaled(factor).either_way
            return self.stated * least, math.inf if self.word == "up to" else self.stated * most
        return (-math.inf if self.low is None else self.low, math.inf if self.high is None else self.high)


STATED: dict[str, Literal["exactly", "about", "up to"]] = {"exactly": "exactly", "about": "about", "up_to": "up to"}
"""The keys of a stated value, and their words in the table of tolerances."""
GROUPS = checks.Kind(
    'a list of groups, best first, such as [["2"], ["1", "3"]]',
    lambda value: isinstance(value, list) and bool(value) and all(checks.is_texts(group) and group for group in value),
)
TOLERANCE = checks.Kind("a number, at least 0", lambda value: checks.is_number(value) and value >= 0)
KEYS = {
    "id": checks.TEXT,
    "text": checks.TEXT,
    "source": checks.TEXT,
    "kind": checks.one_of("order", "equal", "bound", "best"),
    "axis": checks.TEXT,
    "where": checks.TEXT_TABLE,
    "metrics": checks.TEXTS,
    "tolerance": TOLERANCE,
    "expected": GROUPS,
    "rest": checks.TEXTS,
    "lead": checks.TEXTS,
    "of": checks.TEXT,
    "to": checks.TEXT,
    "sense": checks.one_of("lowest", "highest"),
    "low": checks.NUMBER,
    "high": checks.NUMBER,
    **dict.fromkeys(STATED, checks.POSITIVE),
    "quantifier": checks.one_of("all", "any", "most"),
    "pool": checks.TEXTS,
    "note": checks.TEXT,
    "ours": checks.BOOL,
}
NEEDED: dict[str, list[str]] = {"order": [], "equal": [], "bound": ["of"], "best": ["of", "sense"]}
ONLY = {
    **dict.fromkeys(("expected", "rest", "lead"), ("order",)),
    **dict.fromkeys(("to", "low", "high", *STATED), ("bound",)),
    "of": ("bound", "best"),
    "sense": ("best",),
}


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
        If a claim lacks a key, has an unknown key, or names an unknown label, value or metric.
    """
    try:
        checks.keys(place, document, {"tolerance": TOLERANCE, "metrics": checks.TEXTS, "claim": checks.tables("claim")})
        defaults = {
            "tolerance": SAME.value,
            **{key: document[key] for key in ("tolerance", "metrics") if key in document},
        }
        claims = [
            _parse_claim(f"{place}: claim {entry.get('id', number)}", {**defaults, **entry})
            for number, entry in enumerate(document.get("claim", []), start=1)
        ]
        for claim in claims:
            _check_words(f"{place}: claim {claim.id}", claim, labels, metrics)
        for name, count in Counter(claim.id for claim in claims).items():
            if count > 1:
                raise ValueError(f"{place}: {count} claims have the id {name!r}")
    except ValueError as error:
        raise ClaimError(str(error)) from None
    return claims


def _parse_claim(place: str, entry: Mapping[str, Any]) -> Claim:
    checks.keys(place, entry, KEYS, ["id", "text", "source", "kind", "axis", "where", "metrics"])
    kind = entry["kind"]
    checks.keys(place, entry, KEYS, NEEDED[kind])
    for key in entry:
        if kind not in ONLY.get(key, (kind,)):
            raise ValueError(f"{place}: {key} belongs to claims of the kind {' or '.join(ONLY[key])}, not {kind}")
    said = [key for key in (*STATED, "low", "high") if key in entry]
    if len(said) > 1 and said[0] in STATED:
        raise ValueError(f"{place}: {said[0]} and {said[1]} exclude each other; a stated value has its own limits")
    claim = Claim(**{key: _tuples(value) for key, value in entry.items() if key not in STATED})
    if said and said[0] in STATED:
        claim = replace(claim, word=STATED[said[0]], stated=float(entry[said[0]]))
    if kind == "bound" and not said:
        raise ValueError(
            f"{place}: low or high is missing; a bound needs one of them, or a value with exactly, about or up_to"
        )
    if claim.low is not None and claim.high is not None and claim.low > claim.high:
        raise ValueError(f"{place}: low {claim.low:g} is above high {claim.high:g}")
    if kind == "order" and not (claim.expected or (claim.lead and claim.rest)):
        raise ValueError(f"{place}: expected is missing; it must be {GROUPS.words}")
    if kind == "order" and sum(map(len, (*claim.expected, claim.lead, claim.rest))) < 2:
        raise ValueError(f"{place}: expected names a single variant and there is no rest, so nothing is compared")
    return claim


def _check_words(place: str, claim: Claim, labels: Mapping[str, Collection[str]], metrics: Collection[str]) -> None:
    checks.words(place, "label", [claim.axis, *claim.pool], labels)
    checks.choice(place, claim.where, labels)
    if claim.axis in claim.where or claim.axis in claim.pool:
        raise ValueError(f"{place}: {claim.axis} is the axis, so it cannot also be in where or pool")
    if twice := sorted(claim.where.keys() & set(claim.pool)):
        raise ValueError(f"{place}: {twice[0]} is in both where and pool")
    named = [
        *(variant for group in claim.expected for variant in group),
        *claim.rest,
        *claim.lead,
        *filter(None, (claim.of, claim.to)),
    ]
    checks.words(place, claim.axis, named, labels[claim.axis])
    for variant, count in Counter(named).items():
        if count > 1:
            raise ValueError(f"{place}: {claim.axis} {variant} is named {count} times")
    checks.words(place, "metric", claim.metrics, sorted(metrics))
    for metric, count in Counter(claim.metrics).items():
        if count > 1:
            raise ValueError(f"{place}: metric {metric} is named {count} times")


def bounds(claim: Claim) -> str:
    """Return the limits of a claim of the kind ``bound`` in words."""
    ends = zip(("at least", "at most"), claim.limits(), strict=True)
    limits = " and ".join(f"{word} {end:g}" for word, end in ends if math.isfinite(end))
    return f"{claim.word} {claim.stated:g}: {limits}" if claim.word else limits


def _tuples(value: Any) -> Any:  # noqa: ANN401 - any TOML value
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value
