"""Options that several commands share, and values written as KEY=VALUE."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from ackclock.files import checks

if TYPE_CHECKING:
    from ackclock.experiments.engines.engine import Engine
    from ackclock.sweeps.work import Limits

MAX_SEED = 2**64 - 1
MOST = 1_000_000_000
"""Largest count that an option accepts: runs, trials, attempts. Each command may have a lower limit of runs."""
MOST_JOBS = 4096
ENGINES = ("local", "ray")
Jobs = Annotated[
    Optional[int],
    typer.Option(
        "--jobs",
        "-j",
        min=1,
        max=MOST_JOBS,
        metavar="NUMBER",
        help="Parallel runs; by default one per processor. Results do not depend on it.",
    ),
]
EngineName = Annotated[
    str, typer.Option("--engine", metavar="NAME", help="local: threads of this machine; ray: a Ray cluster.")
]
Address = Annotated[
    Optional[str],
    typer.Option(
        metavar="ADDRESS", help="Ray cluster: auto, HOST:PORT or ray://HOST:PORT; by default one on this machine."
    ),
]
Budget = Annotated[
    Optional[str],
    typer.Option(
        metavar="TIME",
        help='Real time for the runs, such as "20 min": no run begins later. The same command continues if there is a '
        "directory of results.",
    ),
]
Capture = Annotated[
    Optional[list[str]],
    typer.Option(
        metavar="PLACE", help="Link or host at which every run captures packets, into a file in its folder; repeatable."
    ),
]
Snaplen = Annotated[
    Optional[int],
    typer.Option(min=1, max=65535, metavar="BYTES", help="Bytes to store of each packet; by default only the headers."),
]
MaxEvents = Annotated[
    Optional[int],
    typer.Option(
        min=1, max=MAX_SEED, metavar="NUMBER", help="Most events of a run of a sweep; one with more has an error."
    ),
]
MaxMemory = Annotated[
    Optional[str],
    typer.Option(metavar="SIZE", help="Most memory of a run of a sweep, such as '500 MB'; one with more has an error."),
]
Record = Annotated[
    Optional[list[str]],
    typer.Option(
        metavar="NAME", help="Trace to record: cwnd, delivered, …; replaces the traces of the file; repeatable."
    ),
]
Pcap = Annotated[
    Optional[Path],
    typer.Option(
        metavar="FILE",
        help="Capture packets into this pcapng file; - is standard output. A sweep writes one file per run.",
    ),
]
PcapAt = Annotated[
    Optional[list[str]],
    typer.Option(metavar="PLACE", help="Link or host to capture at; by default the bottleneck; repeatable."),
]
PcapSnaplen = Snaplen
QlogFile = Annotated[
    Optional[Path],
    typer.Option(
        "--qlog",
        metavar="FILE",
        help="Log every flow's packets, metrics and states into this file: .qlog for one file, .sqlog for a JSON text"
        " sequence per flow; - is standard output. A sweep writes one file per run.",
    ),
]
QlogDialect = Annotated[
    Optional[str],
    typer.Option(metavar="DIALECT", help="Version of the log: current, or qvis for version 0.3, which qvis reads."),
]
Force = Annotated[bool, typer.Option("--force", help="Replace existing files, even those of other programs.")]
ChangeHystart = Annotated[
    bool,
    typer.Option(
        "--change-hystart",
        help="Permit CUBIC without HyStart: the run switches HyStart off for the whole machine, then restores it.",
    ),
]
Attempts = Annotated[
    Optional[int],
    typer.Option(
        min=1,
        max=MOST,
        metavar="NUMBER",
        help="Repeat a run on machine that had late packets, up to this number of attempts; by default 3.",
    ),
]
On = Annotated[
    str,
    typer.Option(
        metavar="WORLD",
        help="Where it runs: simulation, linux (a Linux kernel in virtual time; linux:6.12 names a version), machine"
        " (this machine's kernel in real time), quic or quinn (the simulation with hosts of a QUIC stack).",
    ),
]
Worlds = Annotated[
    str,
    typer.Option(
        metavar="WORLDS",
        help="Where it runs, separated by commas: simulation, linux (a Linux kernel in virtual time; linux:6.12 names a"
        " version), machine (this machine's kernel in real time), quic, quinn (the simulation with hosts of a QUIC"
        " stack).",
    ),
]
Outside = Annotated[
    bool,
    typer.Option(
        "--outside",
        help="On linux: use the scenario's congestion controls instead of the kernel's own.",
    ),
]
Control = Annotated[
    Optional[str],
    typer.Option(
        metavar="NAME",
        help="Congestion control of the flows under test: what `compare` takes, such as bbr, delay.py:Delay or"
        " gentle.so:gentle. On linux, a name alone is the kernel's own control, of all flows.",
    ),
]
Out = Annotated[Optional[Path], typer.Option("--out", "-o", metavar="DIRECTORY", help="Directory to write to.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]


@contextlib.contextmanager
def engine(name: str, address: str | None, jobs: int | None) -> Iterator[Engine]:
    """Give the engine of `EngineName` and `Address`, which starts with the first run, and end its workers in the end.

    Raises
    ------
    ValueError
        If there is no such engine, or it has no address.
    """
    from ackclock.cli import output
    from ackclock.experiments.engines.later import Later
    from ackclock.experiments.engines.local import Local
    from ackclock.experiments.engines.ray import Ray

    check_engine(name, address)
    made = Later(lambda: Ray(address, jobs=jobs, note=output.warning)) if name == "ray" else Local(jobs)
    with contextlib.closing(made) as chosen:
        yield chosen


def check_engine(name: str, address: str | None) -> None:
    """Refuse an unknown engine, or one that has no address; errors are those of `engine`."""
    checks.words("--engine", "engine", [name], ENGINES)
    if address is not None and name != "ray":
        raise ValueError(f"--address {address}: is for --engine ray")


def listed(texts: list[str] | None) -> list[str] | None:
    """Return the words of a repeatable option whose values are separated by commas; None without any."""
    return None if texts is None else [word.strip() for text in texts for word in text.split(",")]


def key_and_value(text: str, option: str, example: str) -> tuple[str, str]:
    """Split KEY=VALUE.

    Raises
    ------
    ValueError
        If there is no key or no equals sign.
    """
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise ValueError(f"{option} {text}: expected KEY=VALUE, as in {example}")
    return key.strip(), value.strip()


def limits(max_events: int | None, max_memory: str | None) -> Limits | None:
    """Read the options `MaxEvents` and `MaxMemory`; None without any, since most runs have none.

    Raises
    ------
    ValueError
        If the memory is no size.
    """
    if max_events is None and max_memory is None:
        return None
    from ackclock.arguments import in_bytes, is_size
    from ackclock.sweeps.work import Limits

    if max_memory is not None and not is_size(max_memory):
        raise ValueError(f"--max-memory {max_memory!r}: expected a size such as '500 MB' (units: B, kB, MB, GB)")
    return Limits(max_events, None if max_memory is None else in_bytes(max_memory))
