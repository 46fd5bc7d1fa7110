"""The command `emulate`: runs a program behind a path, and prints what the path did to standard error."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Literal

from ackclock.cli import output
from ackclock.cli.captures import Captures
from ackclock.cli.errors import INTERRUPTED
from ackclock.cli.runs import settings_of
from ackclock.files import storage
from ackclock.formatting.numbers import counted, number
from ackclock.linux import Emulated, emulate
from ackclock.results import overview
from ackclock.scenario import load


def emulate_command(
    file: Path,
    command: Sequence[str],
    settings: Sequence[str],
    *,
    program: str | None,
    size: str | None,
    on: str,
    seed: int | None,
    peer: str | None,
    at: Literal["sender", "receiver"],
    flow: str | None,
    folder: Path | None,
    captures: Captures | None,
    json_output: bool,
) -> int:
    """Run the command, print a summary, and return the exit code."""
    scenario = load(file, settings_of(settings, seed))
    if scenario.core.sweep:
        raise ValueError(
            f"{file}: a [sweep] has several paths; emulate runs one: remove the sweep, or choose with --set"
        )
    if captures is not None:
        if captures.to_stdout:
            raise ValueError(f"--pcap {captures.file}: standard output is the command's; name a file")
        captures.check([file], {None: scenario}, out=None, json_output=False)
    made = folder is not None and not folder.exists()
    if folder is not None and made:
        storage.check_folder(folder)
        folder.mkdir(parents=True, exist_ok=True)
    places = () if captures is None else captures.places_of(scenario)
    try:
        ended = emulate(
            scenario, command, program=program, size=size, at=at, peer=peer, flow=flow, on=on, output=folder,
            capture=places,
        )  # fmt: skip
    except BaseException:
        if folder is not None and made:
            # Files of programs that have run stay.
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise
    if captures is not None:
        captures.write(ended)
    if json_output:
        shown = {entry.name: getattr(ended, entry.name) for entry in fields(ended) if entry.name != "core"}
        print(json.dumps(shown, indent=2, allow_nan=False), file=sys.stderr)
    else:
        _show(ended)
    return INTERRUPTED if ended.interrupted else ended.code


def _show(ended: Emulated) -> None:
    if ended.links:
        with output.aside(True):
            links = overview.limited(ended.links)
            columns = overview.link_columns(links)
            output.table(list(columns), overview.link_rows(links, columns), left=2, less=overview.LESS)
    elapsed, cpu = number(ended.elapsed_s, 3), f"{number(ended.cpu_s, 2)} s of processor time"
    if not ended.links:
        output.note(f"no packet crossed the path in {elapsed} s")
    elif ended.release:
        output.note(f"{elapsed} s of virtual time on Linux {ended.release}; {cpu}")
    else:
        late = (ended.lateness_p50_s, ended.lateness_p99_s, ended.lateness_max_s)
        p50, p99, largest = (number(1e3 * value, 2) for value in late)
        output.note(
            f"{counted(ended.releases, 'packet')} in {elapsed} s; late by {p50} ms in the median, "
            f"{p99} ms at the 99th percentile, {largest} ms at most; {cpu}"
        )
    if ended.controls:
        sender, receiver = ended.controls
        output.note(f"TCP uses {sender} at the sender and {receiver} at the receiver, unless a program chooses another")
    for text in ended.warnings:
        output.warning(text)
    if ended.taint is not None:
        output.warning(f"do not use measurements of this run: {ended.taint}")
