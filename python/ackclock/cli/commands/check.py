"""The command `check`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ackclock.cli.errors import plain_errors


def check(
    file: Annotated[Path, typer.Argument(help="Scenario file (TOML).")],
) -> None:
    """Check a scenario file without running it."""
    with plain_errors():
        from ackclock.cli import output
        from ackclock.formatting.numbers import counted
        from ackclock.scenario import load

        scenario = load(file)
        points = scenario.sweep_points()
        for _ in points:  # each is checked when it is made
            pass
        if foreign := scenario.core.foreign:
            name, text = foreign
            output.warning(f"{text} ({name})")
        runs = f", {len(points)} variants" if len(points) > 1 else ""
        output.note(
            f"{file}: {counted(len(scenario.flows), 'flow')}, {counted(len(scenario.links), 'link')}, "
            f"{scenario.duration:g} s{runs}: valid"
        )
