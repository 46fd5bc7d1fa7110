"""The commands `kernel build` and `kernel list`."""

from __future__ import annotations

import contextlib
import platform
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from ackclock.cli import output
from ackclock.cli.output import Progress
from ackclock.kernels import Built, build, built
from ackclock.kernels.building import STEPS
from ackclock.texts.numbers import number

LINES = 10
"""Lines of progress where no bar can be drawn."""


def build_command(source: Path | None, *, hz: int, additions: Sequence[Path], jobs: int | None, force: bool) -> None:
    """Build, and print the kernel's folder."""
    with _progress() as progress:
        kernel = build(source, hz=hz, additions=additions, jobs=jobs, force=force, note=output.note, progress=progress)
    output.note(f"{kernel.name}, {kernel.hz} Hz, {number(kernel.size / 1e6, 3)} MB")
    output.place(kernel.path)


@contextlib.contextmanager
def _progress() -> Iterator[Progress]:
    with output.progress("kernel", STEPS) as bar:
        yield bar or _printed()


def _printed() -> Progress:
    """Return a function that prints a line at each tenth of the steps."""
    began, printed = time.monotonic(), 0

    def show(done: int, total: int) -> None:
        nonlocal began, printed
        if done == 0:
            began = time.monotonic()
        elif done * LINES >= (printed + 1) * total:
            printed = done * LINES // total
            left = (time.monotonic() - began) / done * (total - done)
            output.note(f"{done:,} of about {total:,} steps, {number(left / 60, 2)} min left")

    return show


def list_command(*, json_output: bool) -> None:
    """Print the kernels that were built, then that of this machine."""
    kernels, here = built(), platform.release()
    if json_output:
        machine = {"world": "machine", "release": here, "system": platform.system()}
        output.data([*({"world": "linux", "name": kernel.name, **_plain(kernel)} for kernel in kernels), machine])
        return
    rows = [("linux", kernel.name, kernel.hz, *_cells(kernel)) for kernel in kernels]
    output.table(
        ("world", "name", "HZ", "built in", "size", "date", "folder"),
        [*rows, ("machine", f"{platform.system()} {here}", None, None, None, None, None)],
        left=7,
    )
    if not kernels:
        output.note("no kernel for virtual time was built yet; build one with: ackclock kernel build")


def _cells(kernel: Built) -> tuple[str | None, ...]:
    additions = ", ".join(kernel.additions) or None
    return additions, f"{number(kernel.size / 1e6, 3)} MB", kernel.date[:10], str(kernel.path)


def _plain(kernel: Built) -> dict[str, object]:
    return {**asdict(kernel), "path": str(kernel.path)}
