"""The command `kernel build`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from ackclock.cli.errors import plain_errors
from ackclock.cli.options import MOST_JOBS


def build(
    source: Annotated[
        Optional[Path],
        typer.Argument(help="Tarball or tree of Linux; by default the newest of Debian's linux-source-… in /usr/src."),
    ] = None,
    hz: Annotated[
        int, typer.Option(min=100, max=1000, metavar="NUMBER", help="Ticks per second: 100, 250, 300 or 1000.")
    ] = 250,
    additions: Annotated[
        Optional[list[Path]],
        typer.Option(
            "--with", metavar="FILE.c", help="Congestion control in C for the kernel, to be built in; repeatable."
        ),
    ] = None,
    jobs: Annotated[
        Optional[int],
        typer.Option(
            "--jobs",
            "-j",
            min=1,
            max=MOST_JOBS,
            metavar="NUMBER",
            help="Compilers at the same time; by default one per processor.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Build again what was built before.")] = False,
) -> None:
    """Build a Linux kernel that runs scenarios in virtual time.

    The command prints the kernel's folder. The kernel is User-Mode Linux, an ordinary program: neither building nor
    running it needs root. It is stored in the user's cache. The same inputs are built once.
    """
    with plain_errors():
        from ackclock.cli.kernelbuilds import build_command

        build_command(source, hz=hz, additions=additions or [], jobs=jobs, force=force)
