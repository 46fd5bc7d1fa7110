"""The command `tune`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ackclock.cli import options
from ackclock.cli.errors import plain_errors
from ackclock.cli.options import MAX_SEED, MOST, Address, EngineName, Jobs, Json, Out


def tune(
    file: Annotated[
        Path, typer.Argument(help="File of the tuning (TOML): scenario, parameters, objective, constraints.")
    ],
    trials: Annotated[
        int,
        typer.Option(
            min=1, max=MOST, metavar="NUMBER", help="Number of trials. The first ones do not change with this number."
        ),
    ] = 60,
    seed: Annotated[
        int,
        typer.Option(
            min=0, max=MAX_SEED, metavar="NUMBER", help="Seed of the search; the seeds of runs are in the file."
        ),
    ] = 0,
    out: Out = None,
    json: Json = False,
    jobs: Jobs = None,
    engine: EngineName = "local",
    address: Address = None,
) -> None:
    """Search for better parameters of an algorithm, and judge them.

    The judgement uses runs that the search did not use. With --out, an interrupted search continues when the same
    command runs again.
    """
    with plain_errors(), options.engine(engine, address, jobs) as chosen:
        from ackclock.cli.tuning import tune_command

        tune_command(file, trials=trials, seed=seed, out=out, json_output=json, engine=chosen)
