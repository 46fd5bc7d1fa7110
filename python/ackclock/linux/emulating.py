"""Any program behind the path of a scenario."""

from __future__ import annotations

import difflib
import tempfile
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ackclock import _core
from ackclock.arguments import in_bytes, is_size
from ackclock.arrow import rows
from ackclock.files import targets
from ackclock.formatting.numbers import number
from ackclock.linux.programs import named
from ackclock.linux.running import MACHINE
from ackclock.linux.store import WORLD, Built, find
from ackclock.scenario import Scenario

SIZE = "1 MB"
"""The amount of data that a program of the table transfers by default."""
LIMIT = 124
"""Exit code of a command in virtual time that does not end within the scenario's duration, as that of `timeout`."""


@dataclass(frozen=True)
class Emulated:
    """A command that has ended, and its path."""

    world: str
    """``machine`` or ``linux``."""
    release: str
    """Release of the kernel in virtual time; empty on this machine."""
    code: int
    """Exit code of the command; 128 plus the signal's number if a signal ended it; `LIMIT` if it took too long."""
    interrupted: bool
    """Whether Ctrl-C ended it: in virtual time at once, on this machine if it did not end by itself within 2 s."""
    elapsed_s: float
    """Time from the start of the command to its end, in seconds."""
    cpu_s: float
    """Processor time of the emulator, or of the kernel in virtual time with its programs, in seconds."""
    releases: int
    """Packets given to this machine's kernel; 0 in virtual time."""
    lateness_p50_s: float
    """Median lateness of these packets, in seconds."""
    lateness_p99_s: float
    """99th percentile of their lateness, in seconds."""
    lateness_max_s: float
    """Largest lateness, in seconds."""
    taint: str | None
    """Why the run should not count; None if it counts."""
    controls: tuple[str, ...]
    """The congestion control of connections that choose none, at both ends of the flow (sender, receiver)."""
    warnings: tuple[str, ...]
    """What else a reader should know."""
    links: tuple[dict[str, Any], ...]
    """A row for each link that carried packets, with the columns of `Result.links`."""
    core: _core.RunResult = field(repr=False, compare=False)
    """The result of the path."""

    @property
    def captured(self) -> list[str]:
        """Names of the links and hosts at which packets were captured."""
        return self.core.captured

    def write_pcap(self, path: str | Path, *, snaplen: int | None = None) -> None:
        """Write the captured packets as a pcapng file; the arguments are those of `Result.write_pcap`.

        Raises
        ------
        KeyError
            If nothing was captured.
        OSError
            If the file cannot be written.
        """
        targets.write(Path(path), self.core.pcapng(snaplen=snaplen))


def emulate(
    scenario: Scenario,
    command: Sequence[str] = (),
    *,
    program: str | None = None,
    size: str | int | None = None,
    at: Literal["sender", "receiver"] = "receiver",
    peer: str | None = None,
    flow: str | None = None,
    on: str = MACHINE,
    output: str | Path | None = None,
    capture: Sequence[str] = (),
) -> Emulated:
    """Run a command behind the path of a flow, in real time on this machine, or in virtual time.

    The command takes the place of the flow; the other flows are simulated. On this machine, standard streams are
    shared. In virtual time, what the programs write comes out at once, and their standard input is empty.

    Parameters
    ----------
    scenario
        The scenario. Its duration limits the command in virtual time; on this machine it does not matter.
    command
        The program and its arguments.
    program
        In place of command and peer: the name of a stack whose server sends `size` to its client (`programs`).
    size
        The amount of data with `program`: a text such as ``"1 MB"``, or bytes; None: 1 MB.
    at
        The end of the flow at which the command runs.
    peer
        A line of the shell that runs at the other end, such as a server. It ends with the command.
    flow
        Name of the flow; None: the first that is no stream of datagrams.
    on
        ``machine``, or a kernel in virtual time: ``linux`` or ``linux:VERSION`` (`find`).
    output
        The folder in which programs in virtual time may write files; it must exist. What they write elsewhere vanishes.
    capture
        Links and hosts at which to capture packets for `Emulated.write_pcap`.

    Raises
    ------
    OSError
        If the folder does not exist.
    ValueError
        If the world or the command cannot run, the flow does not exist, the peer ends at once, or there is no such
        program, or it is not installed.
    """
    guest = _guest(on)
    if program is not None and (command or peer is not None or at != "receiver"):
        raise ValueError(f"--program {program}: has a command, a peer and its ends of its own; leave out yours")
    if program is None and size is not None:
        raise ValueError(f"--size {size}: only for --program; a command of your own knows what it sends")
    if program is None and not command:
        raise ValueError("there is no command: write one after --, or name a stack, as in --program aioquic")
    if command and not command[0]:
        raise ValueError("the command is empty")
    if output is not None:
        if guest is None:
            raise ValueError(
                f"--output {output}: programs on {MACHINE} write where they may; --on linux needs a folder"
            )
        if not Path(output).is_dir():
            why = "this is a file, not a folder" if Path(output).exists() else "there is no such folder"
            raise NotADirectoryError(f"--output {output}: {why}")
    with nullcontext("") if program is None else tempfile.TemporaryDirectory(prefix="ackclock-") as folder:
        if program is not None:
            # A guest makes its own folder, in its memory: a name by chance would change packets.
            scratch = Path(folder) if guest is None else Path(tempfile.gettempdir()) / "ackclock-transfer"
            peer, get = _lines(program, SIZE if size is None else size, scratch)
            command = ["sh", "-c", get]
        code, core, facts = _core.emulate(
            scenario.core,
            list(command),
            sender=at == "sender",
            peer=peer,
            flow=flow,
            capture=list(capture),
            guest=None if guest is None else (guest.path, guest.hz),
            output=None if output is None else Path(output).resolve(),
        )
    confined = facts.pop("confined", True)
    noted = _warnings(scenario, guest, ended=code is not None or facts["interrupted"], confined=confined)
    # Virtual time waits for the engine.
    never_late = {"releases": 0, "taint": None, **{f"lateness_{name}_s": 0.0 for name in ("p50", "p99", "max")}}
    return Emulated(
        world=MACHINE if guest is None else WORLD,
        release="" if guest is None else guest.release,
        code=LIMIT if code is None else code,
        warnings=tuple(noted),
        controls=tuple(facts.pop("controls", ())),
        links=tuple(row for row in rows(core.links) if row["arrivals"]),
        core=core,
        **{**never_late, **facts},
    )


def _lines(program: str, size: str | int, scratch: Path) -> tuple[str, str]:
    """Return the lines of the shell for server and client of a stack that is installed."""
    chosen = named(program)
    if not is_size(size):
        raise ValueError(f"--size {size!r}: expected a size such as '1 MB' (units: B, kB, MB, GB)")
    if lacking := chosen.lacking:
        raise ValueError(f"--program {lacking}")
    return chosen.lines(in_bytes(size), scratch)


def _guest(on: str) -> Built | None:
    """Return the kernel in virtual time of a world; None for this machine's.

    Raises
    ------
    ValueError
        If there is no such world or kernel.
    """
    if on == MACHINE:
        return None
    name = on.partition(":")[0]
    if name != WORLD:
        near = difflib.get_close_matches(name, (MACHINE, WORLD), 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise ValueError(f"--on {on}: expected {MACHINE} or {WORLD}{hint}")
    return find(on)


def _warnings(scenario: Scenario, guest: Built | None, *, ended: bool, confined: bool) -> list[str]:
    noted = []
    if not ended:
        limit = number(scenario.core.duration, 4)
        noted.append(
            f"the command did not end within the scenario's duration of {limit} s; "
            "--set duration='10 min' gives it 10 minutes"
        )
    if guest is not None and not confined:
        noted.append(
            "this machine's kernel has no Landlock: a program that means to can write where you can, not only beneath "
            "--output"
        )
    return noted
