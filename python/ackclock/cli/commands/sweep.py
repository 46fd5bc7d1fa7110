"""The command `sweep`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from ackclock.cli import options
from ackclock.cli.errors import plain_errors
from ackclock.cli.options import MAX_SEED, MOST, Address, EngineName, Jobs, Json


def sweep(
    file: Annotated[Path, typer.Argument(help="Scenario file (TOML) with a [sweep].")],
    settings: Annotated[
        Optional[list[str]],
        typer.Option("--set", metavar="KEY=VALUE", help="Change a value, as in flow.rwnd='20 packets'; repeatable."),
    ] = None,
    seeds: Annotated[
        Optional[int],
        typer.Option(
            min=1,
            max=MOST,
            metavar="NUMBER",
            help="Run every point with the seeds from 1 to this; by default its own seed.",
        ),
    ] = None,
    until: Annotated[
        Optional[str],
        typer.Option(
            metavar="MEASURE=SHARE",
            help="Add seeds to a point until the 95 % interval of a measure is narrow: goodput_bps=2% stops at ± 2 % "
            "of the mean.",
        ),
    ] = None,
    at_most: Annotated[
        Optional[int],
        typer.Option(min=2, max=MOST, metavar="NUMBER", help="Most seeds of a point with --until; default 1000."),
    ] = None,
    out: Annotated[
        Optional[Path],
        typer.Option(
            "--out", "-o", metavar="DIRECTORY", help="Directory to write to; by default out/ and the name of the file."
        ),
    ] = None,
    json: Json = False,
    jobs: Jobs = None,
    engine: EngineName = "local",
    address: Address = None,
    max_events: Annotated[
        Optional[int],
        typer.Option(
            min=1, max=MAX_SEED, metavar="NUMBER", help="Most events of a run; a run with more is a row with an error."
        ),
    ] = None,
    max_memory: Annotated[
        Optional[str],
        typer.Option(
            metavar="SIZE", help="Most memory of a run, such as '500 MB'; a run with more is a row with an error."
        ),
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Run failed runs again.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 if a run failed.")] = False,
) -> None:
    """Run a [sweep] with any number of seeds, and store every run.

    Every run is a row of a Parquet dataset. The same command continues an interrupted sweep. After a change of the
    file, it runs only what is new. The exit code is 2 if every run failed; if some failed, it is 0, or 1 with --strict.
    """
    with plain_errors(), options.engine(engine, address, jobs) as chosen:
        from ackclock.cli.sweeping import sweep_command

        passed = sweep_command(
            file, settings or [], seeds=seeds, until=until, at_most=at_most, out=out, json_output=json,
            engine=chosen, max_events=max_events, max_memory=max_memory, retry=retry,
            strict=strict,
        )  # fmt: skip
    if not passed:
        raise typer.Exit(1)
