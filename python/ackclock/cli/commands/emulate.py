"""The command `emulate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Optional

import typer

from ackclock.cli.errors import plain_errors
from ackclock.cli.options import MAX_SEED


def emulate(
    file: Annotated[Path, typer.Argument(help="Scenario file (TOML).")],
    command: Annotated[
        list[str], typer.Argument(metavar="-- COMMAND...", help="Program and arguments to run behind the path.")
    ],
    settings: Annotated[
        Optional[list[str]],
        typer.Option("--set", metavar="KEY=VALUE", help="Change a value, as in flow.rwnd='20 packets'; repeatable."),
    ] = None,
    seed: Annotated[
        Optional[int], typer.Option(min=0, max=MAX_SEED, metavar="NUMBER", help="Seed; replaces the seed of the file.")
    ] = None,
    peer: Annotated[
        Optional[str],
        typer.Option(
            metavar="LINE",
            help="Line of the shell to run at the other end, such as a server; it ends with the command.",
        ),
    ] = None,
    at: Annotated[
        Literal["receiver", "sender"], typer.Option(help="End of the flow at which the command runs.")
    ] = "receiver",
    flow: Annotated[
        Optional[str],
        typer.Option(
            metavar="NAME",
            help="Flow whose place the command takes; by default the first that is no stream of datagrams.",
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON, also to standard error.")] = False,
) -> None:
    """Run any program behind the path of a scenario, in real time on this machine's Linux kernel.

    The variable ACKCLOCK_PEER holds the address of the other end, ACKCLOCK_ADDRESS the own address. Nothing else is
    reachable. A summary of the links and of late packets follows on standard error. The exit code is the command's.
    """
    with plain_errors():
        from ackclock.cli.emulation import emulate_command

        code = emulate_command(
            file, command, settings or [], seed=seed, peer=peer, at=at, flow=flow, json_output=json
        )  # fmt: skip
    if code:
        raise typer.Exit(code)
