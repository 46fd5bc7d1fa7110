"""The command `emulate`: runs a program behind a path, and prints what the path did to standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Literal

from ackclock import overview
from ackclock.cli import output
from ackclock.cli.errors import INTERRUPTED
from ackclock.cli.runs import settings_of
from ackclock.kernels import Emulated, emulate
from ackclock.scenario import load
from ackclock.texts.numbers import counted, number


def emulate_command(
    file: Path,
    command: Sequence[str],
    settings: Sequence[str],
    *,
    seed: int | None,
    peer: str | None,
    at: Literal["sender", "receiver"],
    flow: str | None,
    json_output: bool,
) -> int:
    """Run the command, print a summary, and return the exit code."""
    scenario = load(file, settings_of(settings, seed))
    if scenario.core.sweep:
        raise ValueError(
            f"{file}: a [sweep] has several paths; emulate runs one: remove the sweep, or choose with --set"
        )
    ended = emulate(scenario, command, at=at, peer=peer, flow=flow)
    if json_output:
        print(json.dumps(asdict(ended), indent=2, allow_nan=False), file=sys.stderr)
    else:
        _show(ended)
    return INTERRUPTED if ended.interrupted else ended.code


def _show(ended: Emulated) -> None:
    if not ended.links:
        output.note(f"no packet crossed the path in {number(ended.elapsed_s, 3)} s")
        return
    with output.aside(True):
        columns = overview.link_columns(ended.links)
        output.table(list(columns), overview.link_rows(ended.links, columns), left=2)
    late = (ended.lateness_p50_s, ended.lateness_p99_s, ended.lateness_max_s)
    p50, p99, largest = (number(1e3 * value, 2) for value in late)
    output.note(
        f"{counted(ended.releases, 'packet')} in {number(ended.elapsed_s, 3)} s; late by {p50} ms in the median, "
        f"{p99} ms at the 99th percentile, {largest} ms at most; {number(ended.cpu_s, 2)} s of processor time"
    )
    if ended.taint is not None:
        output.warning(f"do not use measurements of this run: {ended.taint}")
