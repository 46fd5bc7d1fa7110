"""Options that several commands share, and values written as KEY=VALUE."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

Jobs = Annotated[
    Optional[int],
    typer.Option(
        "--jobs",
        "-j",
        min=1,
        metavar="NUMBER",
        help="Parallel runs; by default one per processor. Results do not depend on it.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace existing files, even those of other programs.")]
Out = Annotated[Optional[Path], typer.Option("--out", "-o", metavar="DIRECTORY", help="Directory to write to.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]


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
