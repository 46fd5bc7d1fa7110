"""Verdicts: claims judged by measured samples.

A claim selects runs by `where`, and compares variants that differ in one label (`axis`). Runs are paired by the number
of their seed, path or start time. The ratio of the means compares two variants; the second one is the reference: A is
above B by A/B − 1. Over seeds and the paths of a population, the interval of the ratio is Fieller's. Over drawn paths
and start times, it is the range of the pairs (see `statistics.ratios`). A claim can have the ratio of the geometric
means instead, or the mean difference, both with Student's interval over the pairs. Several comparisons of one claim
share its probability of error (Bonferroni); a range has no such probability. With the tolerance τ:

=====================  ===============================  ==================================  =======================
claim                  holds                            does not hold                       cannot tell
=====================  ===============================  ==================================  =======================
A above B              A/B − 1 above τ                  A/B − 1 below τ                     otherwise
A and B overlap        A/B and B/A below 1 + τ          A/B or B/A above 1 + τ              otherwise
ratio in [low, high]   interval of A/B within           interval apart from it              otherwise
value in [low, high]   interval of A within             interval apart from it              otherwise
A is the best          all intervals below τ            one interval above τ                otherwise
=====================  ===============================  ==================================  =======================

For "A is the best", each interval is the advantage of another variant. A failed "A above B" is *reversed* if B/A − 1 is
above τ. It has *no difference* if A and B overlap. Otherwise, A is only not above B. A ratio outside limits on one side
of 1 is *reversed* if it lies on the other side, and has *no difference* within τ of 1; otherwise it is *apart*.

A claim holds if all its comparisons hold, and does not hold if one of them does not. Otherwise, the runs cannot tell. A
cell is a combination of values of the labels that the claim leaves open. With ``quantifier = "any"``, a claim holds if
it holds in one cell, and does not hold if it fails in all cells. With ``"most"``, it holds if it holds in more than
half of the cells, and does not hold if it cannot reach that number. A claim without runs was not run.

A claim with ``up_to`` is about the largest of its cells alone: the intervals of all cells cover their values jointly,
so the largest ends of these intervals are an interval of the largest value.

Runs cannot tell if they do not show the spread of other runs. Examples are a single run, seeds without effect, two
equal runs, and two variants that are both 0. If a claim has runs on drawn paths and on the exact path, the drawn paths
decide its verdict. The judgement on the exact path is attached to it.

`ackclock.judging` has the limits of these claims and places the estimates. Its `evidence` adds p-values, effect sizes,
and their correction for all claims of a paper; they do not change a verdict.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations, pairwise
from typing import Any, Literal

from ackclock.judging import evidence, limits
from ackclock.judging.evidence import Evidence
from ackclock.judging.limits import Chances, Place, Relation
from ackclock.judging.samples import Sample
from ackclock.judging.tolerances import FACTORS, Tolerance
from ackclock.literature.claims import Claim, bounds
from ackclock.literature.contents import matches
from ackclock.metrics.registry import BOUNDS
from ackclock.statistics import ratios
from ackclock.statistics.intervals import Interval, Sampling, interval, is_random

Verdict = Literal["holds", "does not hold", "cannot tell", "not run"]
Why = Literal["reversed", "no difference", "apart", "beaten"]
Row = Mapping[str, Any]
WHYS: tuple[Why, ...] = ("reversed", "apart", "beaten", "no difference")
SHOWN = 3


@dataclass(frozen=True)
class Comparison:
    """One comparison of two variants.

    Attributes
    ----------
    where : dict
        Values of the labels that the claim leaves open.
    left, right : str
        The two variants; `right` is empty for a value.
    relation : {"above", "overlaps", "ratio", "value", "best"}
        The claimed relation.
    difference : Interval or None
        Difference relative to the right variant, ratio, value, or advantage of the right variant; None without runs.
    verdict : str
        Holds, does not hold, cannot tell, or not run.
    reason : str
        The reason in words.
    why : {"reversed", "no difference", "apart", "beaten"} or None
        Kind of failure. None if the comparison does not fail, or if the left variant is only not above.
    chances : Chances or None
        P-values and effect size; None for a range over drawn paths or start times.
    """

    where: Mapping[str, str]
    left: str
    right: str
    relation: Relation
    difference: Interval | None
    verdict: Verdict
    reason: str
    why: Why | None = None
    chances: Chances | None = None


@dataclass(frozen=True)
class Judgement:
    """A claim judged on one metric.

    Attributes
    ----------
    claim : Claim
        The claim.
    metric : str
        The column that is judged.
    verdict : str
        Holds, does not hold, cannot tell, or not run.
    reasons : list of str
        Reasons in words: the decisive comparisons, the most extreme one first.
    measured : list
        Variants of each cell with mean and interval, best first.
    comparisons : list of Comparison
        Its comparisons.
    sampling : {"seed", "path", "offset", "population", "exact", "mixed"}
        The sampling of the intervals; exact if only formulas are compared, mixed if cells differ.
    order_matches : bool or None
        For ``order`` with several groups: whether the means are in the claimed order, whatever their distances.
    why : {"reversed", "no difference", "apart", "beaten"} or None
        Kind of failure: the first of `WHYS` that a comparison has; None without such a failure.
    beside : Judgement or None
        The judgement on the exact path, if this one is on drawn paths.
    evidence : Evidence or None
        P-value, effect size, and correction for all claims; None for ranges, formulas, and without runs.
    worlds : dict
        The judgements in worlds beside the simulation, by their names.
    simulated : Judgement or None
        Of a judgement in another world: the judgement on simulations of the same scenarios.
    at : dict
        The verdicts with half and with double the tolerance, by the factor; empty for limits, which have none.
    """

    claim: Claim
    metric: str
    verdict: Verdict
    reasons: list[str]
    measured: list[tuple[dict[str, str], list[tuple[str, Interval]]]]
    comparisons: list[Comparison]
    sampling: Sampling | Literal["mixed"]
    order_matches: bool | None = None
    why: Why | None = None
    beside: Judgement | None = None
    evidence: Evidence | None = None
    worlds: Mapping[str, Judgement] = field(default_factory=dict)
    simulated: Judgement | None = None
    at: Mapping[float, Verdict] = field(default_factory=dict)

    @property
    def reason(self) -> str:
        """The reasons as one text."""
        return "; ".join(self.reasons)

    def to_dict(self) -> dict[str, Any]:
        """Return the judgement as lists and dictionaries for JSON."""
        measured = [
            {"where": where, "variants": [{"variant": v, **asdict(i)} for v, i in ranks]}
            for where, ranks in self.measured
        ]
        claim = {key: value for key, value in asdict(self.claim).items() if value not in ("", (), None, False)}
        comparisons = [asdict(comparison) for comparison in self.comparisons]
        kept = {
            "verdict": self.verdict,
            "at_half": self.at.get(0.5),
            "at_double": self.at.get(2.0),
            "why": self.why,
            "reason": self.reason,
            "sampling": self.sampling,
            "order_matches": self.order_matches,
            "evidence": self.evidence and {**asdict(self.evidence), "survives": self.evidence.survives},
        }
        found = {"claim": claim, "metric": self.metric, **kept, "measured": measured, "comparisons": comparisons}
        others = {"exact_path": self.beside, "simulated_linux": self.simulated}
        found |= {name: other._of_same_claim() for name, other in others.items() if other is not None}
        worlds = {name: other._of_same_claim() for name, other in self.worlds.items()}
        return found | ({"worlds": worlds} if worlds else {})

    def _of_same_claim(self) -> dict[str, Any]:
        return {key: value for key, value in self.to_dict().items() if key not in ("claim", "metric")}


@dataclass
class _Cell:
    """Values of one metric in a cell, by variant and by seed, drawn path or start time."""

    values: dict[str, dict[int, float]] = field(default_factory=dict)
    sampling: dict[str, Sampling] = field(default_factory=dict)

    def of_pair(self, left: str, right: str) -> Sampling:
        """Return the sampling of a comparison; a formula takes the sampling of the other variant."""
        found = {self.sampling[left], self.sampling[right]} - {"exact"}
        return min(found, default="exact")


Key = tuple[tuple[str, str], ...]


def judge_all(
    claims: Sequence[Claim], rows: Sequence[Row], labels: Sequence[str], confidence: float = 0.95
) -> list[Judgement]:
    """Judge every claim on each of its metrics.

    Parameters
    ----------
    claims
        The claims.
    rows
        One row per run: its labels, ``sampling``, ``unit``, and the metrics. ``unit`` is the number of the seed, drawn
        path or start time. Claims of the kind ``equal`` skip rows with ``seeds = own``; other claims skip rows with
        ``common``. ``paths`` is ``exact`` for the exact path, and ``like`` for a drawn path.
    labels
        The columns that are labels.
    confidence
        Probability that all intervals of one claim cover the true values.

    Returns
    -------
    list of Judgement
        One for each claim and metric. They are the family for which `Judgement.evidence` is corrected.
    """
    cells = _gathered(rows, labels)
    found = [_on_cells(claim, metric, cells, labels, confidence) for claim in claims for metric in claim.metrics]
    family = evidence.corrected([judgement.evidence for judgement in found])
    return [replace(judgement, evidence=own) for judgement, own in zip(found, family, strict=True)]


def judge(claim: Claim, metric: str, rows: Sequence[Row], labels: Sequence[str], confidence: float = 0.95) -> Judgement:
    """Judge one claim on one metric; parameters as in `judge_all`."""
    return _on_cells(claim, metric, _gathered(rows, labels), labels, confidence)


def _gathered(rows: Sequence[Row], labels: Sequence[str]) -> list[list[Row]]:
    """Gather the rows of each cell, so that a claim looks at cells and not at every row."""
    cells: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        cells.setdefault(tuple([row[label] for label in labels]), []).append(row)
    return list(cells.values())


def _on_cells(
    claim: Claim, metric: str, cells: Sequence[Sequence[Row]], labels: Sequence[str], confidence: float
) -> Judgement:
    own = [row for cell in cells if matches(cell[0], claim.where) for row in cell if _belongs(row, claim, metric)]
    found = _judge(claim, metric, [row for row in own if row.get("paths") != "exact"], labels, confidence)
    if any(row.get("paths") == "exact" for row in own):
        exact = [row for row in own if row.get("paths") != "like"]
        return replace(found, beside=_judge(claim, metric, exact, labels, confidence))
    return found


def _belongs(row: Row, claim: Claim, metric: str) -> bool:
    # Only common seeds pair the cells of one axis; an average over cells needs each cell's own seeds.
    other = "own" if claim.kind == "equal" else "common"
    inside = all((at := row.get(key)) is not None and low <= at < high for key, (low, high) in claim.within.items())
    return inside and row.get(metric) is not None and row.get("seeds") != other


def _judge(claim: Claim, metric: str, rows: Sequence[Row], labels: Sequence[str], confidence: float) -> Judgement:
    cells = _collect(claim, metric, rows, labels)
    pairs = [
        (key, left, right, relation)
        for key, cell in cells.items()
        for left, right, relation in _pairs(claim, cell.values)
    ]
    share = 1 - (1 - confidence) / max(1, len(pairs))
    compared = [
        _compare(claim, metric, dict(key), cells[key], (left, right, relation), share)
        for key, left, right, relation in pairs
    ]
    # Limits are no tolerance, except those of a stated value.
    other = [factor for factor in FACTORS if factor != 1 and (claim.kind != "bound" or claim.word)]
    at = {factor: _conclude(claim, _deciding(claim, compared, factor))[0] for factor in other}
    measured = [(dict(key), _ranking(cell, metric, confidence)) for key, cell in cells.items()]
    verdict, reasons, why = _conclude(claim, _deciding(claim, compared))
    matches = _order_matches(claim, measured) if claim.kind == "order" else None
    over = {sampling for cell in cells.values() for sampling in cell.sampling.values()} - {"exact"}
    sampling = "mixed" if len(over) > 1 else min(over, default="exact")
    found = _evidence(claim, compared) if sampling in ("seed", "population") else None
    return Judgement(claim, metric, verdict, reasons, measured, compared, sampling, matches, why, evidence=found, at=at)  # type: ignore[arg-type]


def _evidence(claim: Claim, compared: Sequence[Comparison]) -> Evidence | None:
    """Combine the p-values of all comparisons as their verdicts are combined; None without runs, or for the largest."""
    if all(comparison.verdict == "not run" for comparison in compared) or (claim.word == "up to" and len(compared) > 1):
        return None
    cells: dict[str, list[Chances]] = {}
    for index, comparison in enumerate(compared):
        place = str(index) if claim.quantifier == "all" else _place(comparison)
        # Formulas are certain; runs that decide nothing are not.
        certain = Chances(float(comparison.verdict != "holds"), float(comparison.verdict != "does not hold"))
        cells.setdefault(place, []).append(comparison.chances or certain)
    enough = {"all": len(cells), "any": 1, "most": len(cells) // 2 + 1}[claim.quantifier]
    return evidence.combine(list(cells.values()), enough)


def _collect(claim: Claim, metric: str, rows: Sequence[Row], labels: Sequence[str]) -> dict[Key, _Cell]:
    free = [label for label in labels if label not in claim.where and label not in claim.pool and label != claim.axis]
    gathered: dict[Key, dict[str, dict[int, list[float]]]] = {}
    exact: dict[Key, dict[str, list[float]]] = {}
    over: dict[Key, dict[str, Sampling]] = {}
    for row in rows:
        key, variant, value = tuple((label, row[label]) for label in free), row[claim.axis], float(row[metric])
        cell = gathered.setdefault(key, {})
        over.setdefault(key, {})[variant] = row["sampling"]
        if row["sampling"] == "exact":
            exact.setdefault(key, {}).setdefault(variant, []).append(value)
        else:
            cell.setdefault(variant, {}).setdefault(row["unit"], []).append(value)
    # The value of a formula is paired with every run.
    units = {unit for cell in gathered.values() for own in cell.values() for unit in own} or {0}
    for key, found in exact.items():
        gathered[key] |= {variant: dict.fromkeys(units, values) for variant, values in found.items()}
    # A label with one value in all cells is omitted from their names.
    varied = {label for label in free if len({dict(key)[label] for key in gathered}) > 1}
    return {
        tuple(pair for pair in key if pair[0] in varied): _Cell(
            {
                variant: {unit: math.fsum(values) / len(values) for unit, values in units.items()}
                for variant, units in variants.items()
            },
            over[key],
        )
        for key, variants in gathered.items()
    }


def _pairs(claim: Claim, cell: Mapping[str, object]) -> list[tuple[str, str, Relation]]:
    if claim.kind == "bound":
        return [(claim.of, claim.to, "ratio" if claim.to else "value")]
    if claim.kind == "best":
        return [(claim.of, other, "best") for other in cell if other != claim.of]
    if claim.kind == "equal":
        return [(left, right, "overlaps") for left, right in combinations(cell, 2)]
    groups = claim.expected
    beneath = groups[0] if groups else claim.rest
    pairs: list[tuple[str, str, Relation]] = [(left, right, "above") for left in claim.lead for right in beneath]
    for index, group in enumerate(groups):
        pairs += [(left, right, "overlaps") for left, right in combinations(group, 2)]
        # Comparing neighbouring groups is enough, because an order is transitive.
        below = groups[index + 1] if index + 1 < len(groups) else claim.rest
        pairs += [(left, right, "above") for left in group for right in below]
    return pairs


def _compare(
    claim: Claim, metric: str, where: dict[str, str], cell: _Cell, pair: tuple[str, str, Relation], confidence: float
) -> Comparison:
    left, right, relation = pair
    if relation == "value":
        return _judge_value(claim, metric, where, cell, confidence)
    units = sorted(cell.values.get(left, {}).keys() & cell.values.get(right, {}).keys())
    names = f"{claim.axis} {left} and {right}"
    if not units:
        return Comparison(where, left, right, relation, None, "not run", f"no runs of both {names}")
    a, b = [cell.values[left][unit] for unit in units], [cell.values[right][unit] for unit in units]
    # The advantage of the other variant, relative to the best one.
    if claim.sense == "highest":
        a, b = b, a
    if claim.scale == "geometric" and min(*a, *b) <= 0:
        raise ValueError(f"{claim.id}: {metric} is {min(*a, *b):g} in a run; a geometric mean needs values above 0")
    sample = Sample(a, b, claim.scale, cell.of_pair(left, right))
    found = sample.interval(confidence)
    if not found.known:
        return Comparison(where, left, right, relation, found, "cannot tell", f"{names}: {found.note}")
    low, high = limits.limits(relation, Tolerance(claim.tolerance), claim.limits())
    # Pairs that are all equal are certain.
    tested = is_random(sample.sampling) and (claim.scale == "ratio" or sample.scatters)
    chances = limits.chances(sample, low, high) if tested else None
    place = limits.place(found, low, high)
    if relation == "ratio":
        return _within_bounds(claim, where, found, place, chances)
    reason, why = REASONS[relation](f"{claim.axis} {left}", right, found, place, claim.tolerance)
    difference = Interval(found.mean - 1, found.low - 1, found.high - 1, found.count)
    return Comparison(where, left, right, relation, difference, VERDICTS[place], reason, why, chances)


def _deciding(claim: Claim, compared: Sequence[Comparison], factor: float = 1.0) -> list[Comparison]:
    """Return the comparisons that decide a claim: all, or that of the largest value; `factor` scales the tolerance."""
    known = [item for item in compared if item.difference is not None and item.difference.known]
    if claim.word == "up to" and len(known) == len(compared) and known:
        largest = max(known, key=lambda item: item.difference.mean if item.difference else 0.0)
        ends = [item.difference for item in known if item.difference is not None]
        mean, low, high = (max(getattr(end, key) for end in ends) for key in ("mean", "low", "high"))
        found = Interval(mean, low, high, ends[0].count)
        within = limits.place(found, *claim.limits())
        compared = [_within_bounds(claim, dict(largest.where), found, within, None)]
    return [item if factor == 1 else _at(claim, item, factor) for item in compared]


def _at(claim: Claim, found: Comparison, factor: float) -> Comparison:
    """Return a comparison with the verdict of another tolerance."""
    over = found.difference
    if over is None or not over.known:
        return found
    if found.relation not in ("ratio", "value"):
        over = Interval(1 + over.mean, 1 + over.low, 1 + over.high, over.count)
    ends = limits.limits(found.relation, Tolerance(factor * claim.tolerance), claim.limits(factor))
    return replace(found, verdict=VERDICTS[limits.place(over, *ends)])


VERDICTS: Mapping[Place, Verdict] = {
    "within": "holds",
    "above": "does not hold",
    "below": "does not hold",
    "partly": "cannot tell",
}
"""What a claim about limits is worth, by the place of the estimate."""


def _above(left: str, right: str, over: Interval, place: Place, tolerance: float) -> tuple[str, Why | None]:
    found, margin, (least, most) = ratios.words(over), f"{100 * tolerance:g} %", Tolerance(tolerance).either_way
    if place == "within":
        return f"{left} is above {right}: {found}", None
    if place == "partly":
        return f"{left} over {right} is {found}; the interval includes {margin}", None
    if over.high < least:
        return f"{left} is below {right}: {found}", "reversed"
    if over.within(least, most):
        return f"no difference between {left} and {right}: {found}, within ±{margin}", "no difference"
    return f"{left} is not above {right}: {found}", None


def _overlap(left: str, right: str, over: Interval, place: Place, tolerance: float) -> tuple[str, Why | None]:
    found, margin = ratios.words(over), f"±{100 * tolerance:g} %"
    if place == "within":
        return f"{left} and {right} overlap: {found}", None
    if place == "partly":
        return f"{left} over {right} is {found}; the interval is partly within {margin}", None
    return f"{left} and {right} differ: {found}", "apart"


def _best(left: str, right: str, better: Interval, place: Place, tolerance: float) -> tuple[str, Why | None]:
    found, margin = ratios.words(better), f"{100 * tolerance:g} %"
    if place == "within":
        return f"{right} is not better than {left} by more than {margin}: {found}", None
    if place == "partly":
        return f"{right} over {left} is {found}; the interval includes {margin}", None
    return f"{right} is better than {left}: {found}", "beaten"


REASONS = {"above": _above, "overlaps": _overlap, "best": _best}


def _judge_value(claim: Claim, metric: str, where: dict[str, str], cell: _Cell, confidence: float) -> Comparison:
    values = cell.values.get(claim.of, {})
    if not values:
        reason = f"no runs of {claim.axis} {claim.of}"
        return Comparison(where, claim.of, "", "value", None, "not run", reason)
    own = [values[unit] for unit in sorted(values)]
    sample = Sample(own, sampling=cell.sampling[claim.of], bounds=BOUNDS.get(metric))
    found = sample.interval(confidence)
    if not found.known:
        return Comparison(where, claim.of, "", "value", found, "cannot tell", f"{claim.axis} {claim.of}: {found.note}")
    low, high = claim.limits()
    chances = limits.chances(sample, low, high) if is_random(sample.sampling) else None
    return _within_bounds(claim, where, found, limits.place(found, low, high), chances)


def _within_bounds(
    claim: Claim, where: dict[str, str], found: Interval, place: Place, chances: Chances | None
) -> Comparison:
    sign = " minus " if claim.scale == "difference" else "/"
    named = f"{claim.of}{sign}{claim.to}" if claim.to else claim.of
    words = "outside" if place in ("above", "below") else "partly within" if place == "partly" else "within"
    said = f"{claim.axis} {named} is {found.mean:.4g} [{found.low:.4g}, {found.high:.4g}]"
    reason = f"{said}, {words} the limits ({bounds(claim)})"
    relation: Relation = "ratio" if claim.to else "value"
    why = _way_outside(claim, found) if words == "outside" else None
    return Comparison(where, claim.of, claim.to, relation, found, VERDICTS[place], reason, why, chances)


def _way_outside(claim: Claim, found: Interval) -> Why:
    """Say how a value misses its limits: a claimed gain or loss can be absent, or the other way round."""
    low, high = claim.limits()
    if not claim.to or claim.scale == "difference" or low <= 1 <= high:
        return "apart"
    least, most = Tolerance(claim.tolerance).either_way
    if found.within(least, most):
        return "no difference"
    return "reversed" if (found.high < least if low > 1 else found.low > most) else "apart"


def _ranking(cell: _Cell, metric: str, confidence: float) -> list[tuple[str, Interval]]:
    ranks = []
    for variant, values in cell.values.items():
        sample = [values[unit] for unit in sorted(values)]
        ranks.append((variant, interval(sample, cell.sampling[variant], confidence, BOUNDS.get(metric))))
    return sorted(ranks, key=lambda rank: -rank[1].mean)


def _conclude(claim: Claim, comparisons: Sequence[Comparison]) -> tuple[Verdict, list[str], Why | None]:
    if all(comparison.verdict == "not run" for comparison in comparisons):
        return "not run", ["the cells of this claim have no runs"], None
    cells = _by_cell(comparisons)
    if claim.quantifier == "most" or (claim.quantifier == "any" and len(cells) < len(comparisons)):
        verdict, counts = _conclude_cells(claim, cells)
        failed = [comparison for comparison in comparisons if comparison.verdict == "does not hold"]
        return verdict, counts, _first_way(failed) if verdict == "does not hold" else None
    wanted: Verdict = "does not hold" if claim.quantifier == "all" else "holds"
    other: Verdict = "holds" if claim.quantifier == "all" else "does not hold"
    deciding = [comparison for comparison in comparisons if comparison.verdict == wanted]
    unclear = [comparison for comparison in comparisons if comparison.verdict in ("cannot tell", "not run")]
    verdict = wanted if deciding else "cannot tell" if unclear else other
    chosen = deciding or unclear or comparisons
    return verdict, _reasons(claim, chosen, comparisons), _first_way(chosen)


def _first_way(comparisons: Sequence[Comparison]) -> Why | None:
    """Return the first kind of failure of `WHYS` that a comparison has."""
    return next((why for why in WHYS if any(comparison.why == why for comparison in comparisons)), None)


def _by_cell(comparisons: Sequence[Comparison]) -> dict[str, list[Verdict]]:
    cells: dict[str, list[Verdict]] = {}
    for comparison in comparisons:
        cells.setdefault(_place(comparison).rstrip(": "), []).append(comparison.verdict)
    return cells


def _conclude_cells(claim: Claim, cells: Mapping[str, list[Verdict]]) -> tuple[Verdict, list[str]]:
    """Combine the verdicts of cells: the claim must hold in one of them, or in more than half."""
    found: dict[Verdict, list[str]] = {"holds": [], "does not hold": [], "cannot tell": []}
    for place, verdicts in cells.items():
        bad = "does not hold" in verdicts
        found["does not hold" if bad else "holds" if set(verdicts) == {"holds"} else "cannot tell"].append(place)
    enough = 1 if claim.quantifier == "any" else len(cells) // 2 + 1
    sure, possible = len(found["holds"]), len(found["holds"]) + len(found["cannot tell"])
    verdict: Verdict = "holds" if sure >= enough else "does not hold" if possible < enough else "cannot tell"
    counts = [
        f"{word} in {len(places)} of {len(cells)} ({'; '.join(places)})" for word, places in found.items() if places
    ]
    return verdict, counts


def _reasons(claim: Claim, chosen: Sequence[Comparison], comparisons: Sequence[Comparison]) -> list[str]:
    """Describe the decisive comparisons, the most extreme one first."""

    def extent(comparison: Comparison) -> tuple[int, float]:
        if comparison.difference is None:
            return (1, 0.0)
        mean = comparison.difference.mean if comparison.difference.known else 0.0
        if comparison.relation not in ("ratio", "value"):
            return (0, -abs(mean))
        smallest_first = math.isfinite(claim.limits()[0]) and claim.quantifier == "all"
        return (0, mean if smallest_first else -mean)

    ordered = sorted(chosen, key=extent)
    shown = [_place(comparison) + comparison.reason for comparison in ordered[:SHOWN]]
    if len(ordered) > SHOWN:
        shown.append(f"and {len(ordered) - SHOWN} more")
    if len(comparisons) > SHOWN:
        shown.append(f"{len(chosen)} of {len(comparisons)} comparisons")
    measured = [
        item
        for item in comparisons
        if item.relation in ("ratio", "value") and item.difference is not None and item.difference.known
    ]
    if len(measured) > 1:
        largest = max(measured, key=lambda item: item.difference.mean if item.difference else 0.0)
        # The intervals cover all cells jointly, so the interval of the largest ratio is valid, too.
        ends = f"[{largest.difference.low:.4g}, {largest.difference.high:.4g}]"  # type: ignore[union-attr]
        said = f"the largest {largest.relation} is {largest.difference.mean:.4g} {ends}, {_place(largest)}"  # type: ignore[union-attr]
        shown.append(said.rstrip(": "))
    return shown


def _place(comparison: Comparison) -> str:
    labels = ", ".join(f"{label} {value}" for label, value in comparison.where.items())
    return f"{labels}: " if labels else ""


def _order_matches(claim: Claim, measured: Sequence[tuple[dict[str, str], list[tuple[str, Interval]]]]) -> bool | None:
    groups = [group for group in (claim.lead, *claim.expected, claim.rest) if group]
    if not measured or len(groups) < 2:
        return None
    for _, ranks in measured:
        means = {variant: mean.mean for variant, mean in ranks}
        if any(variant not in means for group in groups for variant in group):
            return None
        for above, below in pairwise(groups):
            if min(means[variant] for variant in above) <= max(means[variant] for variant in below):
                return False
    return True
