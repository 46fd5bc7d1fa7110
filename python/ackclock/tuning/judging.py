"""The judgement of the best trial on held-out runs: whether its gain over the reference survives.

The best of many trials looks better in training than it is, because its choice also selects luck (winner's curse). So
it is measured again beside the reference on paths and seeds that the search did not use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ackclock.judging.effects import Finding, Question
from ackclock.judging.effects import judge as ask
from ackclock.judging.samples import Sample
from ackclock.judging.tolerances import FACTORS
from ackclock.tuning import scores
from ackclock.tuning.runs import Cells, Runs
from ackclock.tuning.schema import Tuning
from ackclock.tuning.search import Trial, measure

Outcome = Literal["survives", "no difference", "not shown", "reversed", "no better", "breaks a constraint"]


@dataclass(frozen=True)
class Verdict:
    """The best trial against the reference.

    Attributes
    ----------
    best : Trial
        The best trial of the search; the reference itself if no trial is better.
    training, held_out : Finding or None
        Paired comparisons of the objective, best minus reference; None if the best is the reference. The interval of
        training is too favourable, because training chose the best.
    before, after : (float, float)
        The objective of reference and best, in training and on the held-out runs.
    cells : (dict, dict)
        Held-out measures of reference and best.
    violations : dict
        Distance beyond each bound on the held-out runs; above 0 if it does not hold.
    outcome : str
        Whether the gain survives on the held-out runs.
    """

    best: Trial
    training: Finding | None
    held_out: Finding | None
    before: tuple[float, float]
    after: tuple[float, float]
    cells: tuple[Cells, Cells]
    violations: dict[str, float]
    outcome: Outcome


def judge(tuning: Tuning, runs: Runs, reference: Trial, best: Trial) -> Verdict:
    """Measure reference and best on the held-out runs, and compare them.

    Raises
    ------
    ValueError
        If a held-out path does not accept the parameters, or a measure has no value there.
    Interrupted
        After Ctrl-C.
    """
    base, winner = Trial(0, {}, {}), Trial(best.number, {}, best.settings)
    measure(runs, tuning.held_out, [base, winner], tuning.held_out.seeds)
    for trial in (base, winner):
        if trial.error:
            raise ValueError(f"held-out path: {trial.error}")
    goal = tuning.goal
    try:
        trained = [scores.objective(goal, each.cells, reference.cells) for each in (reference, best)]
        held = [scores.objective(goal, each.cells, base.cells) for each in (base, winner)]
        beyond = scores.violations(tuning, winner.cells, base.cells)
    except scores.MissingError as error:
        raise ValueError(f"{tuning.file}: {error} on a held-out path") from None
    before, after = (
        (scores.over_paths(one, goal.over, goal.sign), scores.over_paths(other, goal.over, goal.sign))
        for one, other in (trained, held)
    )
    if best.number == reference.number:
        return Verdict(best, None, None, before, after, (base.cells, winner.cells), beyond, "no better")
    in_training = compared(scores.units(goal, trained[1], "seeds"), scores.units(goal, trained[0], "seeds"), goal.sign)
    found = compared(scores.units(goal, held[1], tuning.pairs), scores.units(goal, held[0], tuning.pairs), goal.sign)
    return Verdict(best, in_training, found, before, after, (base.cells, winner.cells), beyond, outcome(found, beyond))


def outcome(found: Finding, beyond: Mapping[str, float], factor: float = 1.0) -> Outcome:
    """Say whether a gain survives, with the tolerance times a factor."""
    # The same difference in every run says nothing about other runs.
    verdict = found.at(factor) if found.estimate.known else "unclear"
    if verdict == "better" and any(value > 0 for value in beyond.values()):
        return "breaks a constraint"
    return OUTCOMES[verdict]


OUTCOMES: Mapping[str, Outcome] = {
    "better": "survives",
    "worse": "reversed",
    "same": "no difference",
    "unclear": "not shown",
}


def at_other_tolerances(verdict: Verdict) -> dict[float, Outcome]:
    """Return the outcomes at half and at double the tolerance, by the factor; empty without a trial that is better."""
    if verdict.held_out is None:
        return {}
    return {factor: outcome(verdict.held_out, verdict.violations, factor) for factor in FACTORS if factor != 1}


def compared(of: Sequence[float], to: Sequence[float], sign: int = 1) -> Finding:
    """Compare pairs; `sign` is 1 if larger values are better, −1 if smaller ones are."""
    return ask([Question(Sample(of, to), "higher" if sign > 0 else "lower")])[0]


def per_path(tuning: Tuning, verdict: Verdict) -> list[tuple[str, float, float, Finding]]:
    """Compare best and reference on each held-out path over its seeds: name, reference, best, and comparison."""
    measure_ = tuning.goal.measure
    base, winner = (scores.column(cells, measure_) for cells in verdict.cells)
    found = []
    for place, path in enumerate(tuning.held_out.paths):
        of, to = ([value for (own, _), value in cells.items() if own == place] for cells in (winner, base))
        found.append((path.name, scores.mean(to), scores.mean(of), compared(of, to)))
    return found
