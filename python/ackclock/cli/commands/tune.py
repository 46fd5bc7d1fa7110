"""The command `tune`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ackclock.cli.asking import ask
from ackclock.cli.options import MAX_SEED, MOST, Address, Budget, EngineName, Jobs, Json, Out

if TYPE_CHECKING:
    from ackclock.tuning.outcome import Tuned


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
    budget: Budget = None,
) -> None:
    """Search for better parameters of an algorithm, and judge them.

    The judgement uses runs that the search did not use. With --out, an interrupted search continues when the same
    command runs again.
    """

    def question(where: dict[str, Any]) -> Tuned:
        from ackclock import tune

        return tune(file, trials=trials, seed=seed, out=out, **where)

    def show(tuned: Tuned) -> None:
        from ackclock.cli.tuning import show

        show(tuned, json_output=json)

    ask(question, show, engine=engine, address=address, jobs=jobs, budget=budget, title="trials")
