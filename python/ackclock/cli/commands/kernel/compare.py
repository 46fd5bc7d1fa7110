"""The command `kernel compare`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from ackclock.cli.asking import ask
from ackclock.cli.errors import plain_errors
from ackclock.cli.options import MOST, MOST_JOBS, Address, Attempts, Budget, ChangeHystart, EngineName, Json, On, Out

if TYPE_CHECKING:
    from ackclock.linux.result import Comparison


def compare(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Scenario files; of a file with [sweep], every variant.")
    ],
    repetitions: Annotated[
        Optional[int],
        typer.Option(
            min=1,
            max=MOST,
            metavar="NUMBER",
            help="Runs of each scenario on the kernel, each with a seed of its own: by default 3 on machine and 6 on "
            "linux. Fewer than 3 do not show the kernel's spread.",
        ),
    ] = None,
    tolerance: Annotated[
        float,
        typer.Option(
            metavar="PERCENT", help="Differences of delivered data and completion times up to this count as equal."
        ),
    ] = 1.0,
    attempts: Attempts = None,
    jobs: Annotated[
        Optional[int],
        typer.Option(
            "--jobs",
            "-j",
            min=1,
            max=MOST_JOBS,
            metavar="NUMBER",
            help="Runs on the kernel at the same time: by default one per processor on linux, and 1 on machine, where "
            "more make packets late.",
        ),
    ] = None,
    change_hystart: ChangeHystart = False,
    out: Out = None,
    json: Json = False,
    on: On = "machine",
    engine: EngineName = "local",
    address: Address = None,
    budget: Budget = None,
    packets: Annotated[
        bool,
        typer.Option(
            "--packets",
            help="Compare packet by packet with a kernel in virtual time, and show the first difference: ten packets "
            "before and after it in both worlds, and what the sender knew.",
        ),
    ] = False,
    phase: Annotated[
        float,
        typer.Option(metavar="SECONDS", help="With --packets: start of the run after a tick of both clocks."),
    ] = 0.0,
    shrink: Annotated[
        bool,
        typer.Option(
            "--shrink", help="With --packets: make a scenario that differs as small as the difference allows."
        ),
    ] = False,
) -> None:
    """Compare simulations with the TCP of a Linux kernel.

    The answer says how far apart they are, and what is known of larger differences. By default the kernel is this
    machine's, in real time. With --out, every finished run is stored at once, and the same command continues after an
    interruption.
    """
    if packets:
        with plain_errors():
            from ackclock.cli.kernelpackets import packets_command

            if out is not None:
                raise ValueError("--out: --packets prints its result; --json gives it as JSON")
            packets_command(files, on=on, phase=phase, shrink=shrink, json_output=json)
        return

    def question(where: dict[str, Any]) -> Comparison:
        from ackclock import linux

        if shrink or phase:
            raise ValueError(f"{'--shrink' if shrink else '--phase'}: only with --packets")
        return linux.compare(
            files, on=on, repetitions=repetitions, tolerance=tolerance / 100, attempts=attempts,
            change_hystart=change_hystart, out=out, jobs=jobs, **where,
        )  # fmt: skip

    def show(found: Comparison) -> None:
        from ackclock.cli.kernelcomparisons import show

        show(found, json_output=json)

    ask(question, show, engine=engine, address=address, jobs=jobs, budget=budget)
