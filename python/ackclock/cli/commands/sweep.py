"""The command `sweep`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from ackclock.cli import options
from ackclock.cli.asking import ask
from ackclock.cli.errors import plain_errors
from ackclock.cli.options import (
    MOST,
    Address,
    Budget,
    Capture,
    EngineName,
    Jobs,
    Json,
    MaxEvents,
    MaxMemory,
    Record,
    Snaplen,
    Worlds,
)

if TYPE_CHECKING:
    from ackclock.sweeps.running import Outcome


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
    budget: Budget = None,
    max_events: MaxEvents = None,
    max_memory: MaxMemory = None,
    record: Record = None,
    capture: Capture = None,
    snaplen: Snaplen = None,
    on: Worlds = "simulation",
    retry: Annotated[bool, typer.Option("--retry", help="Run failed runs again.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 if a run failed.")] = False,
) -> None:
    """Run a [sweep] with any number of seeds, and store every run.

    Every run is a row of a Parquet dataset. The same command continues an interrupted sweep. After a change of the
    file, it runs only what is new. The exit code is 2 if every run failed; if some failed, it is 0, or 1 with --strict.
    """
    with plain_errors():
        from ackclock.cli.runs import settings_of
        from ackclock.cli.sweeping import read_until
        from ackclock.scenario import load

        changed = settings_of(settings or [], None)
        rule, limits = read_until(until, seeds, at_most), options.limits(max_events, max_memory)
        given = load(file, changed) if changed else file

    def question(where: dict[str, Any]) -> Outcome:
        from ackclock import sweep

        return sweep(
            given, out or Path("out") / file.stem, seeds=seeds, until=rule, limits=limits, retry=retry, on=on,
            record=record or (), capture=capture, snaplen=snaplen, **where,
        )  # fmt: skip

    def show(outcome: Outcome) -> None:
        from ackclock.cli.sweeping import show

        show(outcome, json_output=json)

    outcome = ask(question, show, engine=engine, address=address, jobs=jobs, budget=budget)
    if strict and outcome.failed:
        raise typer.Exit(1)
