"""The function `ackclock.matrix`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ackclock.experiments.engines.engine import Engine
from ackclock.experiments.execute import Progress
from ackclock.matrices import crossing
from ackclock.matrices.crossing import SEEDS, Choice
from ackclock.matrices.parts import PartSpec

if TYPE_CHECKING:
    from ackclock.matrices.matrix import Matrix


def matrix(
    *,
    slow_start: Choice = None,
    avoidance: Choice = None,
    loss_response: Choice = None,
    recovery: Choice = None,
    congestion_control: Choice = None,
    paths: Sequence[str | Path] | str | Path | None = None,
    seeds: int = SEEDS,
    duration: str | None = None,
    baseline: Mapping[str, PartSpec] | None = None,
    jobs: int | None = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Matrix:
    """Run every combination of parts on every path.

    Parameters
    ----------
    slow_start, avoidance, loss_response, recovery
        The parts to combine: names, or tables such as ``{"kind": "staged", "algorithm": 3}``; by default all parts.
    congestion_control
        Whole controls, which combine only with recoveries: names or tables, such as ``"bbr"``. By default all, or none
        if one of the first three axes is given. If only this axis is given, there are no other compositions.
    paths
        Names of paths, or files; by default all shipped paths.
    seeds
        Every combination runs with the seeds from 1 to this.
    duration
        Duration of every run, such as ``"10 s"``; None: that of each path.
    baseline
        Parts of the composition to compare with, by axis, such as ``{"avoidance": "cubic"}``. The other axes have a
        scenario's defaults. ``{"congestion_control": "bbr"}`` is a whole control.
    jobs
        Parallel runs; by default one per processor. Results do not depend on it.
    engine
        Where the runs take place, such as `ackclock.Ray`; by default on `jobs` threads of this process.
    progress
        A function called after each run with the numbers of finished runs and of all runs.

    Raises
    ------
    ValueError
        If a part or a path is unknown, or no combination is possible.
    Stopped
        After Ctrl-C: an `Interrupted` whose ``outcome`` holds the finished runs.
    """
    chosen = {
        "slow_start": slow_start,
        "avoidance": avoidance,
        "loss_response": loss_response,
        "recovery": recovery,
        "congestion_control": congestion_control,
    }
    where = [paths] if isinstance(paths, (str, Path)) else paths
    planned = crossing.plan(chosen, where=where, seeds=seeds, duration=duration, baseline=baseline)
    outcome = crossing.execute(planned, jobs=jobs, engine=engine, progress=progress)

    # Tables and figures need libraries that `import ackclock` does without.
    from ackclock.matrices.matrix import Matrix

    return Matrix(outcome)
