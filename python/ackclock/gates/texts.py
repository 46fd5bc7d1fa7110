"""The outcome in words, which the terminal, the pull request's comment and the JUnit file share."""

from __future__ import annotations

import math

from ackclock.formatting.numbers import counted, number
from ackclock.gates.comparing import FAILING, IMPROVED, Change, Outcome, Verdict

COLUMNS = ("verdict", "point", "measure", "baseline", "now", "change", "p", "runs")


def headline(outcome: Outcome) -> str:
    """Return the answer in one sentence."""
    if outcome.passed:
        return f"The gate passes: {_numbers(outcome)}."
    if not outcome.pairs and not outcome.gaps:
        return "The gate fails: there is no pair of runs to compare."
    reasons = []
    if outcome.failing:
        reasons.append(f"{len(outcome.failing):,} of {counted(len(outcome.changes), 'comparison')} moved")
    if outcome.gaps:
        reasons.append(f"{counted(len(outcome.gaps), 'point')} with missing or failed runs")
    return f"The gate fails: {' and '.join(reasons)}. Of all comparisons: {_numbers(outcome)}."


def _numbers(outcome: Outcome) -> str:
    words: dict[Verdict, str] = {
        "lost": "without a value",
        "worse": "worse",
        "changed": "changed",
        "better": "better",
        "appeared": "new",
        "noise": "within noise",
        "tolerated": "within tolerance",
        "unchanged": "unchanged",
    }
    counts = outcome.counts
    said = [f"{counts[verdict]:,} {word}" for verdict, word in words.items() if counts[verdict]]
    return ", ".join(said) or "no measure has a value"


def sameness(outcome: Outcome) -> str:
    """Return how many runs have identical results."""
    if outcome.pairs and outcome.identical == outcome.pairs:
        return f"All {counted(outcome.pairs, 'pair')} of runs are identical."
    if outcome.pairs and outcome.identical + outcome.equal == outcome.pairs:
        return f"All {counted(outcome.pairs, 'pair')} of runs are equal in every measure."
    equal = f", and {outcome.equal:,} further ones equal in every measure" if outcome.equal else ""
    return f"{outcome.identical:,} of {counted(outcome.pairs, 'pair')} of runs are identical{equal}."


def rule(outcome: Outcome) -> str:
    """Return the rule of the comparison."""
    share = f"{100 * outcome.significance:g} %"
    limit = {
        "holm": f"the chance of even one false alarm is at most {share} (Holm)",
        "bh": f"at most {share} of the alarms are expected to be false (Benjamini–Hochberg)",
    }[outcome.correction]
    ending = "; improvements fail, too" if outcome.strict else ""
    return f"A change counts if it is beyond the tolerance and beyond noise; {limit}{ending}."


def cells(change: Change) -> tuple[str, ...]:
    """Return a change as the cells of `COLUMNS`, without its point."""
    measure = change.measure
    return (
        change.verdict,
        measure.name,
        measure.text(change.before),
        measure.text(change.after),
        percent(change.relative),
        probability(change.adjusted) if change.adjusted is not None else "–" if change.note else "no noise",
        f"{change.runs:,}",
    )


def percent(relative: float | None) -> str:
    """Format a relative change."""
    if relative is None:
        return "–"
    if math.isinf(relative):
        return "from 0"
    return f"{100 * relative:+,.2f} %".replace("-", "−") if abs(relative) < 10 else f"{number(1 + relative, 3)} times"


def probability(value: float) -> str:
    """Format a probability."""
    return "< 0.0001" if value < 0.0001 else f"{value:.2g}"


def sentence(change: Change) -> str:
    """Return a change in one sentence."""
    measure = change.measure
    moved = f"{measure.name}: {measure.text(change.before)} → {measure.text(change.after)} ({percent(change.relative)})"
    if change.verdict not in (*FAILING, *IMPROVED):
        return f"{moved}, {change.verdict}"
    if change.note:
        return f"{moved}; {change.note}"
    runs = counted(change.runs, "pair")
    if change.adjusted is None:
        return f"{moved}, {change.verdict}; {runs} of runs without noise"
    effect = f", effect size {change.effect:+.2g}" if change.effect is not None else ""
    chance = probability(change.adjusted)
    return f"{moved}, {change.verdict}; {runs} of runs, p {'' if chance[0] == '<' else '= '}{chance}{effect}"
