"""Finding scripts, and running them on threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from ackclock import _core
from ackclock.files import limits
from ackclock.linux import store, worlds
from ackclock.linux.running import MACHINE

SUFFIX = ".pkt"
VERDICTS = ("passed", "failed", "unsupported", "error")
"""Every verdict: what a stack does is as the script says or not, or unknown for lack of support or a wrong script."""


@dataclass(frozen=True)
class Script:
    """A script on disk."""

    path: Path
    name: str
    """Name below the directory that the user gave; the file's name if the user gave the file."""


@dataclass(frozen=True)
class Settings:
    """How scripts run."""

    host: str = "linux"
    defines: Sequence[str] = ()
    tolerance: str | None = None
    strict: bool = False
    strict_segments: bool = False
    on: str = worlds.SIMULATION
    """What is under test: the host preset (``simulation``), a Linux kernel in virtual time (``linux``, ``linux:6.12``),
    or this machine's kernel in real time (``machine``)."""
    max_duration: float | None = None
    """Seconds after which a script must have ended; None for the usual limit."""
    max_packets: int | None = None
    """Most packets of a script; None for the usual limit."""
    ip_version: str | None = None
    """Version of IP of scripts that do not choose: ``ipv4``, ``ipv6`` or ``ipv4-mapped-ipv6``; None for IPv4."""


@dataclass(frozen=True)
class Result:
    """A script with its outcome."""

    script: Script
    outcome: _core.ScriptOutcome


def find(paths: Iterable[Path]) -> list[Script]:
    """Return the scripts among files and below directories, in the order of the arguments and of names.

    Raises
    ------
    OSError
        If a path does not exist.
    ValueError
        If a directory has no script.
    """
    scripts: list[Script] = []
    for path in paths:
        if path.is_dir():
            found = sorted(file for file in path.rglob(f"*{SUFFIX}") if file.is_file())
            if not found:
                raise ValueError(f"{path}: no file below this directory has the suffix {SUFFIX}")
            scripts += [Script(file, file.relative_to(path).as_posix()) for file in found]
        elif path.exists():
            scripts.append(Script(path, path.name))
        else:
            raise FileNotFoundError(f"{path}: there is no such script")
    return scripts


def run_scripts(
    scripts: Sequence[Script], settings: Settings, *, jobs: int, finished: Callable[[int], None] | None = None
) -> list[Result]:
    """Run scripts on `jobs` threads, and return the results in the order of the scripts.

    Scripts on this machine's kernel run one after another, so that none delays the packets of another.

    Raises
    ------
    ValueError
        If a setting is not valid, or a file is not text.
    """
    results = []
    with ThreadPoolExecutor(1 if settings.on == MACHINE else jobs) as pool:
        for result in pool.map(lambda script: run_one(script, settings), scripts):
            results.append(result)
            if finished is not None:
                finished(len(results))
    return results


def run_one(script: Script, settings: Settings) -> Result:
    """Run a script."""
    limits.check(script.path, limits.most("script"))
    try:
        text = script.path.read_bytes().decode()
    except UnicodeDecodeError:
        raise ValueError(f"{script.path}: not a script, because it is not text in UTF-8") from None
    outcome = _core.run_script(
        text,
        str(script.path),
        settings.host,
        defines=list(settings.defines),
        tolerance=settings.tolerance,
        strict=settings.strict,
        strict_segments=settings.strict_segments,
        ip_version=settings.ip_version,
        kernel=settings.on == MACHINE,
        guest=None if settings.on in (MACHINE, worlds.SIMULATION) else store.find(settings.on).path,
        max_duration=settings.max_duration,
        max_packets=settings.max_packets,
    )
    return Result(script, outcome)
