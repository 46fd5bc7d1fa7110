"""The evidence for verdicts on claims: their p-values, and the correction for all claims of a paper.

The p-value of a comparison is the smallest α at which the rules of `limits` decide it, if the intervals have the
confidence 1 − α. A claim is decided at 95 % exactly if its p-value is below 0.05.

Some of a paper's many verdicts are wrong by chance. Holm's correction limits the chance of even one wrong verdict, and
Benjamini and Hochberg's the expected share of wrong ones. Only comparisons over seeds have p-values: a range over drawn
paths or start times has no probability of error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ackclock.formatting.numbers import counted
from ackclock.judging.effects import SIGNIFICANCE
from ackclock.judging.limits import Chances
from ackclock.judging.words import probability
from ackclock.statistics import families


@dataclass(frozen=True)
class Evidence:
    """The evidence for the verdict on a claim.

    Attributes
    ----------
    p_value : float
        Smallest α at which the claim is decided.
    effect : float or None
        Hedges' g of the comparison that decides: the mean difference of pairs in units of its standard deviation.
    holm, bh : float or None
        The p-value corrected for the family by Holm, and by Benjamini and Hochberg; None before the correction.
    family : int
        Number of claims in the family.
    """

    p_value: float
    effect: float | None = None
    holm: float | None = None
    bh: float | None = None
    family: int = 0

    @property
    def survives(self) -> bool:
        """Whether the verdict survives Holm's correction."""
        return self.holm is not None and self.holm < SIGNIFICANCE

    @property
    def text(self) -> str:
        """The evidence in words."""
        effect = "" if self.effect is None else f", effect size g = {self.effect:.2g}".replace("-", "−")
        if self.holm is None or self.bh is None:
            return f"p {probability(self.p_value)}{effect}"
        if self.p_value >= SIGNIFICANCE:
            return f"p {probability(self.p_value)}{effect}"
        verb = "survives" if self.survives else "does not survive"
        adjusted = f"Holm {probability(self.holm)}, BH {probability(self.bh)}"
        corrected = f"{verb} the correction for {counted(self.family, 'claim')} ({adjusted})"
        return f"p {probability(self.p_value)}{effect}; {corrected}"


def combine(cells: Sequence[Sequence[Chances]], enough: int) -> Evidence:
    """Combine the comparisons of a claim, which holds if `enough` of its cells hold.

    A cell holds if all its comparisons hold, and fails if one fails. All comparisons share the probability of error
    (Bonferroni); an interval has two ends.
    """
    count = sum(map(len, cells))
    holding = sorted((max(cell, key=lambda item: item.holds) for cell in cells), key=lambda item: item.holds)
    failing = sorted((min(cell, key=lambda item: item.fails) for cell in cells), key=lambda item: item.fails)
    # The claim fails as soon as fewer than `enough` cells can hold.
    holds, fails = holding[enough - 1], failing[len(cells) - enough]
    decisive = holds if holds.holds <= fails.fails else fails
    return Evidence(min(1.0, 2 * count * min(holds.holds, fails.fails)), decisive.effect)


def corrected(found: Sequence[Evidence | None]) -> list[Evidence | None]:
    """Correct the p-values of all claims of a paper; claims without a p-value are not in the family.

    References
    ----------
    S. Holm (1979), and Y. Benjamini and Y. Hochberg (1995), see `statistics.families`.
    """
    known = [item for item in found if item is not None]
    values = [item.p_value for item in known]
    both = zip(known, families.holm(values), families.benjamini_hochberg(values), strict=True)
    made = iter([replace(item, holm=holm, bh=bh, family=len(known)) for item, holm, bh in both])
    return [None if item is None else next(made) for item in found]


def survival(found: Evidence | None) -> str | None:
    """Return whether a verdict survives Holm's correction, in words; None for a range, or an undecided claim."""
    if found is None or found.p_value >= SIGNIFICANCE:
        return None
    return "survives" if found.survives else "does not survive"


def summary(found: Sequence[Evidence | None]) -> str:
    """Count the verdicts that survive the correction; empty if no claim has a p-value."""
    known = [item for item in found if item is not None]
    decided = [item for item in known if item.p_value < SIGNIFICANCE]
    if not known:
        return ""
    holm, bh = sum(item.survives for item in decided), sum((item.bh or 0.0) < SIGNIFICANCE for item in decided)
    verdicts = f"{len(decided)} of {len(known)} verdicts over seeds are decided"
    return f"{verdicts}; {holm} survive Holm's correction for all of them, {bh} that of Benjamini and Hochberg"
