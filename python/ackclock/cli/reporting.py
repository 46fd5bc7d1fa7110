"""The command `report`: rebuilds the report of a folder from what is stored there."""

from __future__ import annotations

import importlib
import webbrowser
from pathlib import Path

from ackclock.cli import output
from ackclock.files import storage, targets

KINDS = {
    "run": "ackclock.reports.runs:stored_run",
    "dataset": "ackclock.reports.sweeps:stored_dataset",
    "comparison": "ackclock.comparisons.report:stored_comparison",
    "paper": "ackclock.literature.report:stored_paper",
}
"""For each kind of a manifest: the function from a folder to its report as HTML. It runs no simulation."""
AGAIN = {
    "tuning": "ackclock tune FILE --out",
    "papers": "ackclock papers --out",
    "kernel comparison": "ackclock kernel compare FILE --out",
}
"""For other kinds: the command that writes a missing report again, from stored runs."""


def report_command(directory: Path, *, out: Path | None, opened: bool, force: bool) -> None:
    """Rebuild the report of a folder, write it, and open it in a browser."""
    if not directory.is_dir():
        raise FileNotFoundError(f"{directory}: no such directory; `ackclock run --out` and other commands write one")
    kind = storage.read_manifest(directory, checked=False)["kind"]
    if kind in AGAIN:
        raise ValueError(f"{directory}: the report of this folder is written by: {AGAIN[kind]} {directory}")
    if kind not in KINDS:
        raise ValueError(f"{directory}: no report for results of the kind {kind!r}; known: {', '.join(KINDS)}")
    target = directory / storage.REPORT if out is None else out
    if out is None and targets.is_stream(target):
        raise OSError(f"{target}: is in the place of the report; delete it, or name a file with --out")
    targets.check(target, force=force)
    if opened and targets.is_stream(target):
        raise ValueError(f"--open: a browser needs a file, and {target} is none")
    module, _, function = KINDS[kind].partition(":")
    html = getattr(importlib.import_module(module), function)(directory)
    targets.write(target, html.encode())
    if not targets.is_stdout(target):
        output.place(target)
    if opened:
        webbrowser.open(target.resolve().as_uri())
