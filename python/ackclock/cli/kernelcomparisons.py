"""The command `kernel compare`."""

from __future__ import annotations

import platform
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from ackclock import kernels
from ackclock.cli import output
from ackclock.files import storage
from ackclock.kernels import comparing, judging, report, words
from ackclock.kernels.comparing import Outcome, Runner
from ackclock.kernels.judging import Difference, Pairs
from ackclock.running import Interrupted
from ackclock.texts.numbers import counted, finite

LONG = 60.0
"""Seconds from which on the message also gives minutes."""


def compare_command(
    files: Sequence[Path],
    *,
    repetitions: int,
    tolerance: float,
    attempts: int,
    out: Path | None,
    json_output: bool,
    jobs: int = 1,
    change_hystart: bool = False,
    runner: Runner | None = None,
) -> None:
    """Run scenarios on both sides, print the differences or JSON, and write the report.

    Raises
    ------
    ValueError
        If a file is invalid, or no scenario can run on the kernel.
    OSError
        If a file cannot be read, the directory cannot be written to, or this machine cannot run scenarios.
    """
    if not 0 < tolerance < 100:
        raise ValueError(f"--tolerance {tolerance:g}: must be above 0 % and below 100 %")
    outcome = Outcome(comparing.cases(files), repetitions, platform.release())
    if out is not None:
        storage.check_free(out, report.KIND)
    if runner is None:
        runner = _kernel(change_hystart)
        reasons = {case.name: kernels.refusal(case.scenario, change_hystart=change_hystart) for case in outcome.cases}
        outcome.refused.update({name: reason for name, reason in reasons.items() if reason is not None})
    if out is not None:
        report.begin(out, outcome)
    _run(outcome, runner, attempts=attempts, jobs=jobs, stores=out is not None)
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
    _show(outcome, pairs, found, json_output=json_output)
    if out is not None:
        output.note(f"written to {out}: {', '.join((*report.WRITTEN, report.JOURNAL))}")


def _kernel(change_hystart: bool) -> Runner:
    """Return the runner of this machine.

    Raises
    ------
    OSError
        If it cannot run scenarios on its kernel.
    """
    if missing := kernels.check().missing:
        raise OSError(f"this machine cannot run scenarios on its kernel: {missing} (see: ackclock kernel check)")
    return partial(kernels.run, change_hystart=change_hystart)


def _run(outcome: Outcome, runner: Runner, *, attempts: int, jobs: int, stores: bool) -> None:
    started, stored = time.monotonic(), len(outcome.planned()) - len(outcome.left())
    comparing.simulate(outcome)
    left = len(outcome.left())
    if left:
        seconds = outcome.seconds / jobs
        minutes = f" ({seconds / 60:.1f} minutes)" if seconds >= LONG else ""
        output.note(
            f"{counted(len(outcome.cases), 'scenario')}: {counted(left, 'run')} on the kernel take "
            f"{seconds:.0f} s{minutes}, longer if this machine disturbs them"
        )
    with output.progress("runs on the kernel", left) as progress:
        try:
            done = comparing.measure(outcome, runner, attempts=attempts, jobs=jobs, progress=progress)
        except Interrupted as stopped:
            advice = "run the same command to continue" if stores else "--out stores finished runs"
            raise Interrupted(stopped.results, advice=advice) from None
    ending = f", {stored:,} were stored" if stored else ""
    output.note(f"{counted(done, 'run')} on the kernel in {time.monotonic() - started:.0f} s{ending}")


def _show(outcome: Outcome, pairs: Sequence[Pairs], found: Sequence[Difference], *, json_output: bool) -> None:
    answer, larger = words.answer(outcome, pairs, found), words.larger(found)
    if json_output:
        said = {"release": outcome.release, "repetitions": outcome.repetitions, "answer": answer, "larger": larger}
        output.data(finite({**said, **report.measured(outcome, pairs), "rows": report.rows(found)}))
        return
    for text in [*answer, words.lateness(pairs)]:
        print(text)
    shown = [each for each in judging.ranked(found) if each.measure.primary or each.verdict != "within"]
    output.table(words.COLUMNS, [words.row(each) for each in shown], left=words.LEFT)
    for text in words.unfollowed(pairs):
        output.warning(text)
    if len(shown) < len(found):
        output.note(f"{counted(len(found) - len(shown), 'other measure')} within their tolerance")
    for text in larger:
        print(text)
