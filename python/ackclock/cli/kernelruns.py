"""The command `kernel run`: the command `run` with connections of the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from ackclock.cli import runs
from ackclock.cli.captures import Captures
from ackclock.kernels.running import refusal, run_here
from ackclock.scenario import Scenario


def run_command(
    file: Path,
    settings: Sequence[str],
    *,
    seed: int | None,
    attempts: int,
    change_hystart: bool,
    out: Path | None,
    json_output: bool,
    record: Sequence[str] | None,
    captures: Captures | None,
) -> None:
    """Run a scenario or its sweep in real time on the kernel, one run after the other."""

    def check_kernel(scenario: Scenario) -> None:
        reason = refusal(scenario, change_hystart=change_hystart)
        if reason is not None:
            raise ValueError(f"{file}: {reason}")

    runs.run_command(
        file,
        settings,
        seed=seed,
        out=out,
        json_output=json_output,
        record=record,
        jobs=1,
        captures=captures,
        runner=partial(run_here, attempts=attempts, change_hystart=change_hystart),
        check=check_kernel,
    )
