"""The verdict on each clause, from the answer of its query or the end of its script."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from ackclock import _core
from ackclock.conformance.asking import Asked
from ackclock.conformance.measuring import STATES, verdict
from ackclock.conformance.result import DEVIATES, FAILS, HOLDS, NOT_ASKED, UNSEEN, Conformance, Verdict
from ackclock.experiments.experiment import Experiment
from ackclock.linux import store
from ackclock.results.coverage import Coverage, Tally

TOLERANCE = "packetdrill"
"""Allowed errors of times in scripts on a kernel, whose timers have ticks."""


def judged(asked: Sequence[Asked], experiment: Experiment) -> Conformance:
    """Return the verdicts on clauses whose runs have taken place."""
    covered = [
        [Tally(**each) for each in experiment.store.measured(it.point)[STATES]]
        for it in asked
        if it.covers and it.point is not None and it.point.key in experiment.store
    ]
    return Conformance([_judged(each, experiment) for each in asked], Coverage(covered) if covered else None)


def _judged(asked: Asked, experiment: Experiment) -> Verdict:
    if asked.refusal:
        return Verdict(asked, NOT_ASKED, {}, asked.refusal)
    if asked.point is None:
        return _of_script(asked)
    if asked.point.key not in experiment.store:
        return Verdict(asked, NOT_ASKED, {}, experiment.failed.get(asked.point.key, "did not run"))
    seen = experiment.store.measured(asked.point)
    measured = {name: value for name, value in list(seen.items())[1:] if name != STATES}
    holds = verdict(seen)
    if holds is None:
        return Verdict(asked, UNSEEN, measured, "the run did not come to the point")
    return Verdict(asked, HOLDS, measured) if holds else _broken(asked, "", measured)


def _of_script(asked: Asked) -> Verdict:
    outcome = ran(asked)
    if outcome.verdict == "error":
        raise ValueError(f"{asked.clause.place}: script: {outcome.message}")
    if outcome.verdict == "unsupported":
        return Verdict(asked, NOT_ASKED, {}, f"line {outcome.line}: {outcome.reason}")
    if outcome.verdict == "passed":
        return Verdict(asked, HOLDS, {})
    return _broken(asked, f"line {outcome.line}: {outcome.reason}", {})


def _broken(asked: Asked, reason: str, measured: dict[str, object]) -> Verdict:
    known = asked.clause.known.get(asked.world.name.partition(":")[0]) if asked.own else None
    return Verdict(asked, DEVIATES, measured, known) if known else Verdict(asked, FAILS, measured, reason)


def ran(asked: Asked) -> _core.ScriptOutcome:
    """Return the outcome of a clause's script in its world."""
    return _ran(asked.clause.script, asked.name, asked.world.name)


@cache
def _ran(text: str, name: str, world: str) -> _core.ScriptOutcome:
    kernel = world.partition(":")[0] == store.WORLD
    guest = store.find(world).path if kernel else None
    return _core.run_script(text, name, "linux", guest=guest, tolerance=TOLERANCE if kernel else None)
