"""The command `emulate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Optional

import typer

from ackclock.cli.errors import plain_errors
from ackclock.cli.options import MAX_SEED, Force, PcapAt, PcapSnaplen


def emulate(
    file: Annotated[Path, typer.Argument(help="Scenario file (TOML).")],
    command: Annotated[
        Optional[list[str]],
        typer.Argument(metavar="-- COMMAND...", help="Program and arguments to run behind the path."),
    ] = None,
    settings: Annotated[
        Optional[list[str]],
        typer.Option("--set", metavar="KEY=VALUE", help="Change a value, as in flow.rwnd='20 packets'; repeatable."),
    ] = None,
    seed: Annotated[
        Optional[int], typer.Option(min=0, max=MAX_SEED, metavar="NUMBER", help="Seed; replaces the seed of the file.")
    ] = None,
    program: Annotated[
        Optional[str],
        typer.Option(
            metavar="NAME",
            help="In place of a command and --peer: server and client of a stack (aioquic, ngtcp2, quic-go, …),"
            " which must be installed.",
        ),
    ] = None,
    size: Annotated[
        Optional[str],
        typer.Option(metavar="SIZE", help="With --program: how much the server sends, as in '10 MB'; by default 1 MB."),
    ] = None,
    peer: Annotated[
        Optional[str],
        typer.Option(
            metavar="LINE",
            help="Shell command to run at the other end, such as a server; it is stopped when the command ends.",
        ),
    ] = None,
    at: Annotated[
        Literal["receiver", "sender"], typer.Option(help="End of the flow that the command takes.")
    ] = "receiver",
    flow: Annotated[
        Optional[str],
        typer.Option(
            metavar="NAME",
            help="Flow that the command replaces; by default the first TCP flow.",
        ),
    ] = None,
    on: Annotated[
        str,
        typer.Option(
            metavar="WORLD",
            help="Where it runs: machine (this machine's kernel in real time), or linux (a Linux kernel in virtual"
            " time; linux:6.12 names a version).",
        ),
    ] = "machine",
    output: Annotated[
        Optional[Path],
        typer.Option(
            metavar="DIRECTORY",
            help="With --on linux: keep what programs write into this directory; all their other files are lost.",
        ),
    ] = None,
    pcap: Annotated[
        Optional[Path],
        typer.Option(metavar="FILE", help="Capture packets into this pcapng file."),
    ] = None,
    pcap_at: PcapAt = None,
    pcap_snaplen: PcapSnaplen = None,
    force: Force = False,
    json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON, also to standard error.")] = False,
) -> None:
    """Run any program behind the path of a scenario.

    It runs on this machine's Linux kernel in real time, or on a Linux kernel in virtual time. The variable
    ACKCLOCK_PEER holds the address of the other end, ACKCLOCK_ADDRESS the own address; ACKCLOCK_PEER6 and
    ACKCLOCK_ADDRESS6 are the same in IPv6. Nothing else is reachable. A summary of the links follows on standard error.
    The exit code is the command's.
    """
    with plain_errors():
        from ackclock.cli.captures import Captures
        from ackclock.cli.emulation import emulate_command

        code = emulate_command(
            file,
            command or [],
            settings or [],
            program=program,
            size=size,
            on=on,
            seed=seed,
            peer=peer,
            at=at,
            flow=flow,
            folder=output,
            captures=Captures.wanted(pcap, pcap_at or [], pcap_snaplen, force=force),
            json_output=json,
        )
    if code:
        raise SystemExit(code)
