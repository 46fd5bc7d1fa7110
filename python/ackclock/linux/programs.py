"""Programs of transport stacks by their names: a server and a client of one transfer, from a table of commands."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ackclock.control import ProgramControl
from ackclock.files import checks, toml

FOLDER = Path(__file__).parents[1] / "data" / "programs"
FILE = FOLDER / "programs.toml"


@dataclass(frozen=True)
class Program:
    """A server and a client of one transfer.

    Attributes
    ----------
    name : str
        Its name.
    about : str
        The stack, its language, its congestion control and its protocol.
    install : str
        How to install it.
    check : str
        A line of the shell that succeeds if all is installed.
    serve, get : str
        Lines of the shell for both ends, with ``{size}``, ``{data}`` and ``{scratch}``; see the table.
    measured : str
        The version that was run on a path; empty if none was.
    """

    name: str
    about: str
    install: str
    check: str
    serve: str
    get: str
    measured: str = ""

    @property
    def lacking(self) -> str:
        """What to do before it can run; empty if all is installed."""
        done = subprocess.run(["sh", "-c", self.check], capture_output=True, check=False)
        return "" if done.returncode == 0 else f"{self.name} is not installed: {self.install}"

    def lines(self, size: int, scratch: Path) -> tuple[str, str]:
        """Return the lines of server and client.

        Parameters
        ----------
        size
            Bytes of the transfer.
        scratch
            A folder that is empty, or that they are to make.
        """
        values = {"{size}": str(size), "{data}": shlex.quote(str(FOLDER)), "{scratch}": shlex.quote(str(scratch))}
        serve, get = (
            _filled(line, values)
            for line in (f"mkdir -p {{scratch}} && {_table()['certificate']} && {self.serve}", self.get)
        )
        return serve, get


def programs() -> dict[str, Program]:
    """Return all programs by their names."""
    return dict(_programs())


def named(name: str, place: str = "--program") -> Program:
    """Return the program of a name, which was given at a place.

    Raises
    ------
    ValueError
        If there is none; the message has the nearest name.
    """
    checks.words(place, "program", [name], _programs())
    return _programs()[name]


@cache
def contender(name: str) -> type[ProgramControl]:
    """Return the class that puts a program in the place of a flow's ends.

    Raises
    ------
    ValueError
        If there is no such program; the message has the nearest name.
    """
    program = named(name, f"program:{name}")
    content = "\n".join((_table()["certificate"], program.serve, program.get))
    made: type[ProgramControl] = type(name, (ProgramControl,), {"program": name, "content": content})
    return made


@cache
def _programs() -> dict[str, Program]:
    return {name: Program(name, **values) for name, values in _table()["program"].items()}


@cache
def _table() -> dict[str, Any]:
    return toml.own(FILE.read_text(encoding="utf-8"))


def _filled(line: str, values: Mapping[str, str]) -> str:
    for key, value in values.items():
        line = line.replace(key, value)
    return line
