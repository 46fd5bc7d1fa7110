"""The option `--packets` of the command `kernel compare`."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ackclock.cli import output
from ackclock.formatting.numbers import counted, finite
from ackclock.linux import comparing, packets, store
from ackclock.linux.packets import Compared, Side, Value

AROUND = 10
"""Packets shown before and after a difference."""
WORLDS = ("simulation", "kernel")


def packets_command(files: Sequence[Path], *, on: str, phase: float, shrink: bool, json_output: bool) -> None:
    """Compare scenarios packet by packet, and print the first difference of each, or JSON.

    Raises
    ------
    ValueError
        If a file is invalid, `on` is no kernel in virtual time, or a scenario cannot run on it.
    OSError
        If a file cannot be read.
    """
    if on.partition(":")[0] != store.WORLD:
        raise ValueError(f"--packets: needs a kernel in virtual time, as in --on {store.WORLD}, not --on {on}")
    if not 0 <= phase < packets.LONGEST:
        raise ValueError(f"--phase {phase:g}: must be at least 0 s and below {packets.LONGEST:g} s")
    kernel = store.find(on)
    found = []
    for case in comparing.cases(files):
        compared = packets.compare(case.scenario, kernel, phase=phase)
        if shrink and compared.difference is not None:
            compared = packets.shrink(compared, kernel, phase=phase)
        found.append(_described(case.name, compared))
        if not json_output:
            _show(case.name, compared, shrink=shrink)
    if json_output:
        output.data(finite({"world": on, "release": kernel.release, "phase_s": phase, "scenarios": found}))


def _described(name: str, compared: Compared) -> dict[str, Any]:
    difference, sides = compared.difference, _sides(compared)
    described: dict[str, Any] = {
        "scenario": name,
        "packets": {world: len(side.packets) for world, side in sides.items()},
        "latest_s": compared.latest,
        "difference": None,
        "state": None if compared.state is None else dataclasses.asdict(compared.state),
    }
    if difference is not None:
        described["difference"] = {
            "flow": difference.flow,
            "place": difference.place,
            "packet": difference.index,
            "time_s": difference.time,
            "fields": list(difference.fields),
            "states": {world: side.before(difference) for world, side in sides.items()},
            "around": {world: packets.lines(side.around(difference, AROUND)) for world, side in sides.items()},
            "file": compared.scenario.to_toml(),
        }
    return described


def _sides(compared: Compared) -> dict[str, Side]:
    return dict(zip(WORLDS, (compared.simulation, compared.kernel), strict=True))


def _show(name: str, compared: Compared, *, shrink: bool) -> None:
    difference = compared.difference
    late = f"times differ by at most {1e6 * compared.latest:.1f} µs"
    if difference is None:
        output.say(f"{name}: all {counted(len(compared.kernel.packets), 'packet')} are the same; {late}")
        _show_state(compared)
        return
    what = ", ".join(difference.fields)
    where = f"packet {difference.index} of {difference.flow} at {difference.place}"
    output.say(f"{name}: {where}, at {difference.time:.6f} s, differs: {what}; before, {late}")
    for world, side in _sides(compared).items():
        known = ", ".join(
            f"{key} {_value(value)}" for key, value in side.before(difference).items() if value is not None
        )
        output.say(f"  {world}: {known or 'nothing known yet'}")
        first = max(0, difference.index - AROUND)
        for number, line in enumerate(packets.lines(side.around(difference, AROUND)), first):
            print(f"  {'→' if number == difference.index else ' '} {number:>6} {line}")
    _show_state(compared)
    if shrink:
        print("  the smallest scenario with a difference:")
        print("\n".join(f"    {line}" for line in compared.scenario.to_toml().splitlines()))


def _show_state(compared: Compared) -> None:
    """Print the first state of a sender that differs before the first packet that does."""
    if (state := compared.state) is None:
        return
    pairs = (
        f"{name} {_value(one)} in the simulation, {_value(other)} in the kernel"
        for name, (one, other) in state.values.items()
    )
    output.say(f"  the state of {state.flow} differs after the ACK at {state.time:.6f} s: {'; '.join(pairs)}")


def _value(value: Value) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
