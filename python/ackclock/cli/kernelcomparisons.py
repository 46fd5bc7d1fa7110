"""The command `kernel compare`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from ackclock.cli import output
from ackclock.experiments.store import Store
from ackclock.experiments.world import World
from ackclock.files import storage
from ackclock.kernels import comparing, judging, report, words
from ackclock.kernels.comparing import Outcome
from ackclock.kernels.judging import Difference, Pairs
from ackclock.running import Interrupted
from ackclock.texts.numbers import counted, finite

LONG = 60.0
"""Seconds from which on the message also gives minutes."""


def compare_command(
    files: Sequence[Path],
    *,
    world: World,
    repetitions: int | None,
    tolerance: float,
    out: Path | None,
    json_output: bool,
    jobs: int | None = None,
) -> None:
    """Run scenarios in the simulation and on a kernel, print the differences or JSON, and write the report.

    Raises
    ------
    ValueError
        If a file is invalid, the world has no kernel, or no scenario can run on it.
    OSError
        If a file cannot be read, the directory cannot be written to, or this computer cannot run the world.
    """
    if not 0 < tolerance < 100:
        raise ValueError(f"--tolerance {tolerance:g}: must be above 0 % and below 100 %")
    store = Store(out)
    outcome = Outcome(comparing.cases(files), world, repetitions or world.repetitions, measured=store)
    if out is not None:
        storage.check_free(out, report.KIND)
    _check(outcome)
    with store.opened(report.KIND, report.manifest(outcome), report.WRITTEN):
        _run(outcome, jobs=world.jobs if jobs is None else jobs, stores=out is not None)
        pairs = outcome.pairs()
        for line in report.refusals(outcome):
            output.warning(f"not run on the kernel: {line}")
        for line in report.failures(outcome):
            output.warning(line)
        if not pairs:
            raise ValueError("no scenario could run on the kernel; the messages above say why")
        found = [each for one in pairs for each in judging.differences(one, tolerance / 100)]
        if out is not None:
            output.note("drawing and writing the report")
            report.write(out, outcome, pairs, found)
            store.finish()
    _show(outcome, pairs, found, json_output=json_output)
    if out is not None:
        output.note(f"written to {out}: {', '.join(report.WRITTEN)}")


def _check(outcome: Outcome) -> None:
    """Note what the world refuses.

    Raises
    ------
    ValueError
        If the world has no kernel.
    OSError
        If this computer cannot run it.
    """
    world = outcome.world
    if not world.release:
        raise ValueError(f"--on {world.name}: expected a world with a kernel, linux or machine")
    if missing := world.missing():
        raise OSError(f"this machine cannot run scenarios on {world.title}: {missing}")
    reasons = {case.name: world.refusal(case.scenario) for case in outcome.cases}
    outcome.refused.update({name: reason for name, reason in reasons.items() if reason is not None})


def _run(outcome: Outcome, *, jobs: int | None, stores: bool) -> None:
    started, stored = time.monotonic(), len(outcome.planned()) - len(outcome.left())
    comparing.simulate(outcome)
    left = len(outcome.left())
    if left:
        take = "" if outcome.world.virtual else f" take {_time(outcome.seconds / (jobs or 1))}"
        output.note(f"{counted(len(outcome.cases), 'scenario')}: {counted(left, 'run')} on {outcome.world.title}{take}")
    with output.progress("runs on the kernel") as progress:
        try:
            done = comparing.measure(outcome, jobs=jobs, progress=progress)
        except Interrupted as stopped:
            advice = "run the same command to continue" if stores else "--out stores finished runs"
            raise Interrupted(stopped.results, advice=advice) from None
    ending = f", {stored:,} were stored" if stored else ""
    output.note(f"{counted(done, 'run')} on the kernel in {time.monotonic() - started:.0f} s{ending}")


def _time(seconds: float) -> str:
    minutes = f" ({seconds / 60:.1f} minutes)" if seconds >= LONG else ""
    return f"{seconds:.0f} s{minutes}, longer if this machine disturbs them"


def _show(outcome: Outcome, pairs: Sequence[Pairs], found: Sequence[Difference], *, json_output: bool) -> None:
    answer, larger = words.answer(outcome, pairs, found), words.larger(found)
    if json_output:
        world = {"world": outcome.world.name, "release": outcome.world.release}
        said = {**world, "repetitions": outcome.repetitions, "answer": answer, "larger": larger}
        output.data(finite({**said, **report.measured(outcome, pairs), "rows": report.rows(found)}))
        return
    for text in [*answer, *words.lateness(outcome, pairs)]:
        output.say(text)
    shown = [each for each in judging.ranked(found) if each.measure.primary or each.verdict != "within"]
    output.table(words.COLUMNS, [words.row(each) for each in shown], left=words.LEFT, less=words.LESS)
    for text in words.unfollowed(pairs):
        output.warning(text)
    if len(shown) < len(found):
        output.note(f"{counted(len(found) - len(shown), 'other measure')} within their tolerance")
    for text in larger:
        output.say(text)
