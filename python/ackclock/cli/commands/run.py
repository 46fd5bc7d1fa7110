"""The command `run`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from ackclock.cli import options
from ackclock.cli.errors import plain_errors
from ackclock.cli.options import (
    MAX_SEED,
    Address,
    Budget,
    Control,
    EngineName,
    Force,
    Jobs,
    Json,
    MaxEvents,
    MaxMemory,
    On,
    Out,
    Outside,
    Pcap,
    PcapAt,
    PcapSnaplen,
    QlogDialect,
    QlogFile,
    Record,
)


def run(
    file: Annotated[Path, typer.Argument(help="Scenario file (TOML).")],
    settings: Annotated[
        Optional[list[str]],
        typer.Option("--set", metavar="KEY=VALUE", help="Change a value, as in flow.rwnd='20 packets'; repeatable."),
    ] = None,
    seed: Annotated[
        Optional[int], typer.Option(min=0, max=MAX_SEED, metavar="NUMBER", help="Seed; replaces the seed of the file.")
    ] = None,
    out: Out = None,
    json: Json = False,
    record: Record = None,
    jobs: Jobs = None,
    pcap: Pcap = None,
    pcap_at: PcapAt = None,
    pcap_snaplen: PcapSnaplen = None,
    qlog: QlogFile = None,
    qlog_dialect: QlogDialect = None,
    force: Force = False,
    on: On = "simulation",
    outside: Outside = False,
    control: Control = None,
    engine: EngineName = "local",
    address: Address = None,
    budget: Budget = None,
    max_events: MaxEvents = None,
    max_memory: MaxMemory = None,
) -> None:
    """Run a scenario, or every variant of its [sweep].

    With --out, a sweep is the dataset of `ackclock sweep`: the same command continues an interrupted one.
    """
    with plain_errors():
        from ackclock.cli.captures import Captures, Logs, wanted
        from ackclock.cli.runs import run_command
        from ackclock.linux import worlds

        options.check_engine(engine, address)
        captures = Captures.wanted(pcap, pcap_at or [], pcap_snaplen, force=force)
        logs = Logs.wanted(qlog, qlog_dialect, force=force)
        wanted(captures, logs, force=force)
        world, left = worlds.controlled(on, control, outside=outside)
        sweep = run_command(
            file,
            settings or [],
            world=world,
            control=left,
            seed=seed,
            out=out,
            json_output=json,
            record=record,
            captures=captures,
            logs=logs,
            limits=options.limits(max_events, max_memory),
        )
    if sweep is not None:
        sweep.ask(engine=engine, address=address, jobs=jobs, budget=budget)
