"""The command `script`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from ackclock.cli.errors import plain_errors
from ackclock.cli.options import Force, Jobs, Json


def script(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Scripts, or directories with files *.pkt at any depth.")
    ],
    host: Annotated[
        str,
        typer.Option(metavar="NAME", help="Host preset whose endpoint is under test: linux, 'linux 5.4', freebsd, …"),
    ] = "linux",
    on: Annotated[
        str,
        typer.Option(
            metavar="WORLD",
            help="What is under test: the host preset (simulation), a Linux kernel in virtual time (linux; linux:6.12"
            " names a version), or this machine's Linux in real time, as root (machine).",
        ),
    ] = "simulation",
    define: Annotated[
        Optional[list[str]],
        typer.Option(metavar="NAME=VALUE", help="Replace a word of the scripts by a value; repeatable."),
    ] = None,
    tolerance: Annotated[
        Optional[str],
        typer.Option(
            metavar="TIME",
            help="Allowed error of times: '4 ms', '12.5 %' of the time since the previous event, both separated by a "
            "comma, or packetdrill for its defaults. By default that of the script, or none; packetdrill with --on "
            "linux and machine.",
        ),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Fail on packets that no line expects, also after the last line.")
    ] = False,
    strict_segments: Annotated[
        bool, typer.Option("--strict-segments", help="Match a line with one packet, and not with a burst.")
    ] = False,
    ip_version: Annotated[
        Optional[str],
        typer.Option(
            "--ip-version",
            metavar="VERSION",
            help="Version of IP of scripts that do not choose their own: ipv4 (usual), ipv6 with the addresses of the"
            " kernel's test suite, or ipv4-mapped-ipv6.",
        ),
    ] = None,
    max_duration: Annotated[
        Optional[float],
        typer.Option(min=0.001, max=1e9, metavar="SECONDS", help="Time at which a script must have ended; 3600 s."),
    ] = None,
    max_packets: Annotated[
        Optional[int],
        typer.Option(min=1, max=2**63, metavar="NUMBER", help="Most packets of a script, in both directions; 100000."),
    ] = None,
    allow_unsupported: Annotated[
        bool, typer.Option("--allow-unsupported", help="Exit with 0 although scripts are unsupported.")
    ] = False,
    trace: Annotated[
        Optional[Path],
        typer.Option(metavar="DIRECTORY", help="Write NAME.pcapng and NAME.qlog for each script into this directory."),
    ] = None,
    junit: Annotated[Optional[Path], typer.Option(metavar="FILE", help="Write a JUnit XML file.")] = None,
    jobs: Jobs = None,
    json: Json = False,
    force: Force = False,
) -> None:
    """Run packetdrill scripts against a TCP endpoint in virtual time.

    The exit code is 0 if every script passes, 1 if a script fails or is unsupported, and 2 for a text that is not a
    script and for bad input.
    """
    with plain_errors():
        from ackclock.cli.scripts import script_command
        from ackclock.linux import worlds
        from ackclock.packetdrill.running import Settings

        worlds.find(on)
        settings = Settings(
            host, tuple(define or ()), tolerance, strict, strict_segments, on, max_duration, max_packets, ip_version
        )
        code = script_command(
            files, settings, allow_unsupported=allow_unsupported, trace=trace, junit=junit, jobs=jobs,
            json_output=json, force=force,
        )  # fmt: skip
    if code:
        raise typer.Exit(code)
