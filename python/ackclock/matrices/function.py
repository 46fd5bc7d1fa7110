"""The function `ackclock.matrix`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

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
    progress: Progress | None = None,
) -> Matrix:
    """Run every combination of parts on every path.

    Parameters
    ----------
    slow_start, avoidance, loss_response, recovery
        The parts to combine: names, or tables as ``{"kind": "staged", "algorithm": 3}``; by default all that there are.
    congestion_control
        Controls that do not decompose, each combined with the recoveries alone: names or tables, as ``"bbr"``. By
        default all, unless one of the first three axes is given; if only this is given, there are no others.
    paths
        Names of paths, or files; by default all that come with ackclock.
    seeds
        Each combination is run with the seeds from 1 to this.
    duration
        Duration of every run instead of the paths' own, as ``"10 s"``.
    baseline
        Parts of the composition with which the others are compared, by axis, as ``{"avoidance": "cubic"}``; on the
        other axes a scenario's defaults. ``{"congestion_control": "bbr"}`` is a whole control.
    jobs
        Runs at once; by default as many as the machine has processors. Results do not depend on it.
    progress
        Called with the number of finished runs and of all runs, after each.

    Raises
    ------
    ValueError
        If a part or a path is unknown, or no combination is possible.
    Stopped
        If Ctrl-C was pressed: an `Interrupted` whose ``outcome`` is what was finished.
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
    outcome = crossing.execute(planned, jobs=jobs, progress=progress)

    # Tables and figures need libraries that `import ackclock` does without.
    from ackclock.matrices.matrix import Matrix

    return Matrix(outcome)
