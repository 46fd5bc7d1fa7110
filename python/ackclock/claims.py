"""Verdicts on claims: a paper's words as data, judged on measured samples.

A claim compares variants that differ in one label (`axis`), in the runs that its `where` selects. Comparisons are
paired: run by run with the same seed or the same start time. The relative difference of two variants is their
difference over the larger of their means. It has an interval: Student's t over seeds, from the smallest to the
largest over start times. Several comparisons of one claim share its probability of error (Bonferroni). With the
tolerance τ:

=====================  ==========================  ==================================  =======================
the claim says         holds                       does not hold                       cannot tell
=====================  ==========================  ==================================  =======================
A above B              interval above 0 and not    interval below 0, or within ±τ      otherwise
                       within ±τ                   ("no difference")
A and B overlap        interval within ±τ          interval apart from ±τ              otherwise
ratio in [low, high]   interval of A/B within      interval apart from it              otherwise
=====================  ==========================  ==================================  =======================

A claim holds if all its comparisons hold, does not if one does not, and cannot be told otherwise. With ``quantifier =
"any"`` it holds as soon as it holds somewhere, and does not if it does not anywhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from typing import Any, Literal

from ackclock.intervals import Interval, Sampling, interval

Verdict = Literal["holds", "does not hold", "cannot tell"]
Row = Mapping[str, Any]


class ClaimError(ValueError):
    """A claims file is wrong."""


@dataclass(frozen=True)
class Claim:
    """One claim of a paper.

    Attributes
    ----------
    id, text, source : str
        Its name, the paper's words, and where they stand.
    kind : {"order", "equal", "bound"}
        ``order``: groups of variants, best first; members of a group overlap. ``equal``: the axis does not matter.
        ``bound``: the ratio of two variants lies between `low` and `high`.
    axis : str
        Label in which the compared variants differ.
    where : dict
        Labels of the runs it is about; labels left out take every value, each judged on its own.
    expected : tuple of tuple of str
        For ``order``: the groups.
    rest : tuple of str
        For ``order``: variants below all groups, with nothing claimed among them.
    of, to : str
        For ``bound``: the two variants, ratio ``of / to``.
    low, high : float or None
        For ``bound``: ends of the ratio; None is no limit.
    metrics : tuple of str
        Columns on which it is judged; the first is the main reading.
    quantifier : {"all", "any"}
        Whether it must hold for all or for any of the labels left out.
    tolerance : float
        Relative difference within which variants overlap.
    pool : tuple of str
        Labels over which values are averaged, seed by seed or start time by start time, before they are compared.
    """

    id: str
    text: str
    source: str
    kind: Literal["order", "equal", "bound"]
    axis: str
    where: Mapping[str, str]
    metrics: tuple[str, ...]
    tolerance: float
    expected: tuple[tuple[str, ...], ...] = ()
    rest: tuple[str, ...] = ()
    of: str = ""
    to: str = ""
    low: float | None = None
    high: float | None = None
    quantifier: Literal["all", "any"] = "all"
    pool: tuple[str, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """One comparison of two variants.

    Attributes
    ----------
    where : dict
        Labels that the claim left out.
    left, right : str
        The two variants.
    relation : {"above", "overlaps", "ratio"}
        What the claim says of them.
    difference : Interval or None
        Relative difference, or the ratio; None if there was nothing to compare.
    verdict : str
        Holds, does not hold, or cannot tell.
    reason : str
        Why, in words.
    """

    where: Mapping[str, str]
    left: str
    right: str
    relation: Literal["above", "overlaps", "ratio"]
    difference: Interval | None
    verdict: Verdict
    reason: str


@dataclass(frozen=True)
class Judgement:
    """A claim judged on one metric.

    Attributes
    ----------
    claim : Claim
        What was claimed.
    metric : str
        Column on which it was judged.
    verdict : str
        Holds, does not hold, or cannot tell.
    reason : str
        Why, in words.
    measured : list
        For each of the labels left out: the variants, best first, each with its mean and interval.
    comparisons : list of Comparison
        What it rests on.
    sampling : {"seed", "offset"}
        What the intervals are over.
    order_matches : bool or None
        For ``order``: whether the means stand in the claimed order, whatever their distance.
    """

    claim: Claim
    metric: str
    verdict: Verdict
    reason: str
    measured: list[tuple[dict[str, str], list[tuple[str, Interval]]]]
    comparisons: list[Comparison]
    sampling: Sampling
    order_matches: bool | None = None

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain lists and dictionaries, for JSON."""
        measured = [
            {"where": where, "variants": [{"variant": v, **asdict(i)} for v, i in ranks]}
            for where, ranks in self.measured
        ]
        claim = {key: value for key, value in asdict(self.claim).items() if value not in ("", (), None)}
        comparisons = [asdict(comparison) for comparison in self.comparisons]
        kept = {
            "verdict": self.verdict,
            "reason": self.reason,
            "sampling": self.sampling,
            "order_matches": self.order_matches,
        }
        return {"claim": claim, "metric": self.metric, **kept, "measured": measured, "comparisons": comparisons}


@dataclass
class _Samples:
    """Values of one metric: per labels left out, per variant, per seed or start time."""

    sampling: Sampling = "offset"
    cells: dict[tuple[tuple[str, str], ...], dict[str, dict[int, float]]] = field(default_factory=dict)


def parse_claims(document: Mapping[str, Any], labels: Iterable[str], metrics: Iterable[str]) -> list[Claim]:
    """Read a claims file.

    Parameters
    ----------
    document
        The parsed TOML: ``tolerance``, ``metrics`` and a list ``claim``.
    labels
        Labels that a claim may name.
    metrics
        Columns on which a claim may be judged.

    Raises
    ------
    ClaimError
        If a claim lacks a key, has one too many, or names an unknown label or metric.
    """
    known_labels, known_metrics = set(labels), set(metrics)
    defaults = {"tolerance": document.get("tolerance", 0.01), "metrics": document.get("metrics", [])}
    claims = [_parse_claim({**defaults, **entry}) for entry in document.get("claim", [])]
    for claim in claims:
        if unknown := ({*claim.where, *claim.pool, claim.axis} - known_labels) | (set(claim.metrics) - known_metrics):
            raise ClaimError(f"claim {claim.id}: unknown {', '.join(sorted(unknown))}")
    if len({claim.id for claim in claims}) < len(claims):
        raise ClaimError("two claims have the same id")
    return claims


def _parse_claim(entry: Mapping[str, Any]) -> Claim:
    name = entry.get("id", "without id")
    try:
        claim = Claim(**{key: _tuples(value) for key, value in entry.items()})
    except TypeError as error:
        raise ClaimError(f"claim {name}: {str(error).split('__init__() ')[-1]}") from None
    needed = {"order": claim.expected, "equal": True, "bound": claim.of and claim.to}
    if not needed.get(claim.kind) or not claim.metrics or claim.quantifier not in ("all", "any"):
        raise ClaimError(f"claim {name}: incomplete or unknown kind {claim.kind!r}")
    return claim


def _tuples(value: Any) -> Any:  # noqa: ANN401 - any TOML value
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value


def judge_all(
    claims: Sequence[Claim], rows: Sequence[Row], labels: Sequence[str], confidence: float = 0.95
) -> list[Judgement]:
    """Judge every claim on each of its metrics.

    Parameters
    ----------
    claims
        What to judge.
    rows
        One per run: its labels, ``sampling``, ``unit`` (the seed or the number of the start time), and the metrics.
    labels
        Which of the columns are labels.
    confidence
        Probability that all intervals of one claim cover what they estimate.
    """
    return [judge(claim, metric, rows, labels, confidence) for claim in claims for metric in claim.metrics]


def judge(claim: Claim, metric: str, rows: Sequence[Row], labels: Sequence[str], confidence: float = 0.95) -> Judgement:
    """Judge one claim on one metric; parameters as in `judge_all`."""
    samples = _collect(claim, metric, rows, labels)
    pairs = [
        (key, left, right, relation)
        for key in samples.cells
        for left, right, relation in _pairs(claim, samples.cells[key])
    ]
    share = 1 - (1 - confidence) / max(1, len(pairs))
    compared = [_compare(claim, dict(key), samples.cells[key], pair, (samples.sampling, share)) for key, *pair in pairs]
    measured = [(dict(key), _ranking(cell, samples.sampling, confidence)) for key, cell in samples.cells.items()]
    verdict, reason = _conclude(claim, compared)
    matches = _order_matches(claim, measured) if claim.kind == "order" else None
    return Judgement(claim, metric, verdict, reason, measured, compared, samples.sampling, matches)


def _collect(claim: Claim, metric: str, rows: Sequence[Row], labels: Sequence[str]) -> _Samples:
    samples = _Samples()
    free = [label for label in labels if label not in claim.where and label not in claim.pool and label != claim.axis]
    gathered: dict[tuple[tuple[str, str], ...], dict[str, dict[int, list[float]]]] = {}
    for row in rows:
        if row.get(metric) is None or any(row[label] != value for label, value in claim.where.items()):
            continue
        samples.sampling = row["sampling"]
        cell = gathered.setdefault(tuple((label, row[label]) for label in free), {})
        cell.setdefault(row[claim.axis], {}).setdefault(row["unit"], []).append(float(row[metric]))
    for key, variants in gathered.items():
        samples.cells[key] = {
            variant: {unit: math.fsum(values) / len(values) for unit, values in units.items()}
            for variant, units in variants.items()
        }
    return samples


def _pairs(claim: Claim, cell: Mapping[str, object]) -> list[tuple[str, str, Literal["above", "overlaps", "ratio"]]]:
    if claim.kind == "bound":
        return [(claim.of, claim.to, "ratio")]
    if claim.kind == "equal":
        return [(left, right, "overlaps") for left, right in combinations(cell, 2)]
    groups = claim.expected
    pairs: list[tuple[str, str, Literal["above", "overlaps", "ratio"]]] = []
    for index, group in enumerate(groups):
        pairs += [(left, right, "overlaps") for left, right in combinations(group, 2)]
        # Neighbouring groups suffice: an order is transitive.
        below = groups[index + 1] if index + 1 < len(groups) else claim.rest
        pairs += [(left, right, "above") for left in group for right in below]
    return pairs


def _compare(
    claim: Claim,
    where: dict[str, str],
    cell: Mapping[str, Mapping[int, float]],
    pair: Sequence[Any],
    sampling_and_confidence: tuple[Sampling, float],
) -> Comparison:
    left, right, relation = pair
    units = sorted(cell.get(left, {}).keys() & cell.get(right, {}).keys())
    if not units:
        return Comparison(where, left, right, relation, None, "cannot tell", f"no runs of both {left} and {right}")
    a, b = [cell[left][unit] for unit in units], [cell[right][unit] for unit in units]
    if relation == "ratio":
        return _judge_ratio(claim, where, (a, b), sampling_and_confidence)
    scale = max(abs(sum(a)), abs(sum(b))) / len(units) or 1.0
    difference = interval([(x - y) / scale for x, y in zip(a, b, strict=True)], *sampling_and_confidence)
    rule = _judge_above if relation == "above" else _judge_overlap
    verdict, reason = rule(left, right, difference, claim.tolerance)
    return Comparison(where, left, right, relation, difference, verdict, reason)


def _judge_above(left: str, right: str, difference: Interval, tolerance: float) -> tuple[Verdict, str]:
    if difference.within(-tolerance, tolerance):
        return (
            "does not hold",
            f"no difference between {left} and {right}: {_percent(difference)}, within ±{100 * tolerance:g} %",
        )
    if difference.low > 0:
        return "holds", f"{left} is above {right} by {_percent(difference)}"
    if difference.high < 0:
        return "does not hold", f"{left} is below {right}: {_percent(difference)}"
    return "cannot tell", f"{left} less {right} is {_percent(difference)}: either may lead"


def _judge_overlap(left: str, right: str, difference: Interval, tolerance: float) -> tuple[Verdict, str]:
    if difference.within(-tolerance, tolerance):
        return "holds", f"{left} and {right} overlap: {_percent(difference)}"
    if difference.apart(-tolerance, tolerance):
        return "does not hold", f"{left} and {right} differ: {_percent(difference)}"
    return (
        "cannot tell",
        f"{left} less {right} is {_percent(difference)}, neither within nor apart from ±{100 * tolerance:g} %",
    )


def _judge_ratio(
    claim: Claim,
    where: dict[str, str],
    samples: tuple[list[float], list[float]],
    sampling_and_confidence: tuple[Sampling, float],
) -> Comparison:
    a, b = samples
    if min(b) <= 0:
        return Comparison(where, claim.of, claim.to, "ratio", None, "cannot tell", f"{claim.to} has runs without any")
    ratio = interval([x / y for x, y in zip(a, b, strict=True)], *sampling_and_confidence)
    low = float("-inf") if claim.low is None else claim.low
    high = float("inf") if claim.high is None else claim.high
    within, apart = ratio.within(low, high), ratio.apart(low, high)
    verdict: Verdict = "holds" if within else "does not hold" if apart else "cannot tell"
    said = f"{claim.of}/{claim.to} is {ratio.mean:.4g} [{ratio.low:.4g}, {ratio.high:.4g}]"
    place = "within" if within else "outside" if apart else "partly within"
    return Comparison(where, claim.of, claim.to, "ratio", ratio, verdict, f"{said}, {place} {bounds(claim)}")


def bounds(claim: Claim) -> str:
    """Say in words between which limits a claim of the kind ``bound`` puts its ratio."""
    low = f"at least {claim.low:g}" if claim.low is not None else ""
    high = f"at most {claim.high:g}" if claim.high is not None else ""
    return " and ".join(filter(None, (low, high)))


def _percent(difference: Interval) -> str:
    return f"{100 * difference.mean:+.2f} % [{100 * difference.low:+.2f}, {100 * difference.high:+.2f}]"


def _ranking(
    cell: Mapping[str, Mapping[int, float]], sampling: Sampling, confidence: float
) -> list[tuple[str, Interval]]:
    ranks = [
        (variant, interval([values[unit] for unit in sorted(values)], sampling, confidence))
        for variant, values in cell.items()
    ]
    return sorted(ranks, key=lambda rank: -rank[1].mean)


def _conclude(claim: Claim, comparisons: Sequence[Comparison]) -> tuple[Verdict, str]:
    if not comparisons:
        return "cannot tell", "these cells were not run"
    wanted: Verdict = "does not hold" if claim.quantifier == "all" else "holds"
    other: Verdict = "holds" if claim.quantifier == "all" else "does not hold"
    deciding = [comparison for comparison in comparisons if comparison.verdict == wanted]
    if deciding:
        return wanted, _reasons(deciding, len(comparisons))
    unclear = [comparison for comparison in comparisons if comparison.verdict == "cannot tell"]
    if unclear:
        return "cannot tell", _reasons(unclear, len(comparisons))
    return other, _reasons(comparisons, len(comparisons))


def _reasons(comparisons: Sequence[Comparison], total: int) -> str:
    shown = "; ".join(_place(comparison) + comparison.reason for comparison in comparisons[:3])
    more = len(comparisons) - 3
    counted = f" ({len(comparisons)} of {total} comparisons)" if total > 3 else ""
    return shown + (f"; and {more} more" if more > 0 else "") + counted


def _place(comparison: Comparison) -> str:
    return f"at {', '.join(comparison.where.values())}: " if comparison.where else ""


def _order_matches(claim: Claim, measured: Sequence[tuple[dict[str, str], list[tuple[str, Interval]]]]) -> bool | None:
    if not measured:
        return None
    groups = [*claim.expected, *([claim.rest] if claim.rest else [])]
    named = {variant for group in groups for variant in group}
    for _, ranks in measured:
        found = [variant for variant, _ in ranks if variant in named]
        if len(found) < len(named):
            return None
        for group in groups:
            head, found = found[: len(group)], found[len(group) :]
            if set(head) != set(group):
                return False
    return True
