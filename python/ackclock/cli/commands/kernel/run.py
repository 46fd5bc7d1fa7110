"""The command `kernel run`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from ackclock.cli import options
from ackclock.cli.errors import plain_errors
from ackclock.cli.options import (
    MAX_SEED,
    Address,
    Attempts,
    Budget,
    ChangeHystart,
    Control,
    EngineName,
    Force,
    Jobs,
    Json,
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
        typer.Option("--set", metavar="KEY=VALUE", help="Change a value, as in flow.size='1 MB'; repeatable."),
    ] = None,
    seed: Annotated[
        Optional[int],
        typer.Option(
            min=0,
            max=MAX_SEED,
            metavar="NUMBER",
            help="Seed of losses and applications; replaces the seed of the file.",
        ),
    ] = None,
    attempts: Attempts = None,
    change_hystart: ChangeHystart = False,
    out: Out = None,
    json: Json = False,
    record: Record = None,
    pcap: Pcap = None,
    pcap_at: PcapAt = None,
    pcap_snaplen: PcapSnaplen = None,
    qlog: QlogFile = None,
    qlog_dialect: QlogDialect = None,
    force: Force = False,
    on: On = "machine",
    outside: Outside = False,
    control: Control = None,
    jobs: Jobs = None,
    engine: EngineName = "local",
    address: Address = None,
    budget: Budget = None,
) -> None:
    """Run a scenario on the TCP of a Linux kernel.

    Of a scenario with a [sweep], every variant runs. Every TCP flow is a connection of the kernel with the control that
    the scenario names. Links, queues, losses, applications and datagrams are simulated. Output and files are those of
    `ackclock run`. By default the kernel is this machine's, in real time.
    """
    with plain_errors():
        from ackclock.cli.captures import Captures, Logs, wanted
        from ackclock.cli.runs import run_command
        from ackclock.linux import worlds

        options.check_engine(engine, address)
        captures = Captures.wanted(pcap, pcap_at or [], pcap_snaplen, force=force)
        logs = Logs.wanted(qlog, qlog_dialect, force=force)
        wanted(captures, logs, force=force)
        world, left = worlds.controlled(on, control, outside=outside, attempts=attempts, change_hystart=change_hystart)
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
        )
    if sweep is not None:
        sweep.ask(engine=engine, address=address, jobs=jobs, budget=budget)
