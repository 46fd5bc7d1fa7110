"""The commands `kernel build` and `kernel list`."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from ackclock.cli import output
from ackclock.formatting.numbers import number
from ackclock.linux import Built, build, built
from ackclock.linux.store import folder


def build_command(source: Path | None, *, hz: int, additions: Sequence[Path], jobs: int | None, force: bool) -> None:
    """Build, and print the kernel's folder."""
    with output.progress("compiling, steps") as progress:
        kernel = build(source, hz=hz, additions=additions, jobs=jobs, force=force, note=output.note, progress=progress)
    output.note(f"{kernel.name}, {kernel.hz} Hz, {_megabytes(kernel)}")
    output.place(kernel.path)


def list_command(*, json_output: bool) -> None:
    """Print the kernels that were built, then that of this machine."""
    kernels, here = built(), platform.release()
    if json_output:
        machine = {"world": "machine", "release": here, "system": platform.system()}
        output.data([*({"world": "linux", "name": kernel.name, **_plain(kernel)} for kernel in kernels), machine])
        return
    rows = [(kernel.name, *_cells(kernel)) for kernel in kernels]
    output.table(
        ("name", "HZ", "built in", "size", "date", "key", "files"),
        [*rows, (f"machine: {platform.system()} {here}", None, None, None, None, None, None)],
        title=f"kernels in {folder()}",
        left=7,
        less=("key", "date", "built in", "size"),
    )
    if not kernels:
        output.note("no kernel for virtual time was built yet; build one with: ackclock kernel build")


def _cells(kernel: Built) -> tuple[str | None, ...]:
    added, files = ", ".join(kernel.additions) or None, "earlier" if kernel.outdated else "present"
    return str(kernel.hz), added, _megabytes(kernel), kernel.date[:10], kernel.path.name, files


def _megabytes(kernel: Built) -> str:
    return f"{number(kernel.size / 1e6, 3)} MB"


def _plain(kernel: Built) -> dict[str, object]:
    return {**asdict(kernel), "path": str(kernel.path)}
