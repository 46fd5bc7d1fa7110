"""The command `serve`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Optional

import typer

from ackclock.cli.errors import plain_errors


def serve(
    file: Annotated[Optional[Path], typer.Argument(help="Scenario file (TOML) to open; it is never changed.")] = None,
    port: Annotated[
        Optional[int],
        typer.Option(
            "--port", min=0, max=65535, help="Port to listen at; by default 8410, or any free port if that is taken."
        ),
    ] = None,
    opened: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in a browser.")] = False,
    engine: Annotated[
        Literal["auto", "wasm", "native"],
        typer.Option(
            help="Where simulations run: in the browser (wasm), in a process of this program (native), or in the "
            "browser if that engine was built (auto)."
        ),
    ] = "auto",
    export: Annotated[
        Optional[Path],
        typer.Option(metavar="DIRECTORY", help="Write the page as files that need no server, instead of serving it."),
    ] = None,
) -> None:
    """Open the playground: a page that runs scenarios. Only this machine can reach it."""
    with plain_errors():
        from ackclock.cli.serving import serve_command

        serve_command(file, port=port, opened=opened, engine=engine, export=export)
