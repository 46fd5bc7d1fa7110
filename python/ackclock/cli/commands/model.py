"""The command `model`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from ackclock.cli.errors import plain_errors
from ackclock.cli.options import Force


def model(
    name: Annotated[
        Optional[str], typer.Argument(help="A model, or a paper for all of its models; without a name, list them.")
    ] = None,
    param: Annotated[
        Optional[list[str]],
        typer.Option(
            metavar="KEY=VALUE",
            help="Set a parameter: one value, as in rtt='20 ms'; several, as in b=1,2; or a range, as in "
            "loss=0.1%..10% or, with 50 values, loss=0.1%..10%:50. Repeatable.",
        ),
    ] = None,
    output: Annotated[
        Optional[list[str]],
        typer.Option(metavar="NAME", help="Show only this output; repeatable. With --over, by default the first rate."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON, in SI units, instead of tables.")] = False,
    plot: Annotated[
        Optional[Path],
        typer.Option(
            metavar="FILE",
            help="Draw the outputs over the parameter that has a range: png, svg or pdf; - is standard output (png).",
        ),
    ] = None,
    over: Annotated[
        Optional[Path],
        typer.Option(
            metavar="DIRECTORY", help="Compare with runs written by `ackclock run --out`; --plot draws the comparison."
        ),
    ] = None,
    x: Annotated[
        Optional[str],
        typer.Option(
            "--x",
            metavar="[PARAM=]COLUMN",
            help="With --over: the label or column that holds a parameter, and the parameter; "
            "by default those that fit.",
        ),
    ] = None,
    y: Annotated[
        Optional[str],
        typer.Option("--y", metavar="COLUMN", help="With --over: the measured column; by default goodput_bps."),
    ] = None,
    force: Force = False,
) -> None:
    """Compute an analytic model, or compare it with runs. Without a name, list the models."""
    with plain_errors():
        from ackclock.cli.models.compute import model_command

        model_command(
            name, param or [], outputs=output or [], json_output=json, plot=plot, over=over, x=x, y=y, force=force
        )
