"""The command `serve`: serves the playground until Ctrl-C, or writes it as files."""

from __future__ import annotations

import webbrowser
from pathlib import Path

from ackclock import _core
from ackclock.cli import output
from ackclock.cli.errors import INTERRUPTED
from ackclock.files import toml
from ackclock.playground import page as pages
from ackclock.playground.server import PORT, Server
from ackclock.playground.site import export as write
from ackclock.scenario import Scenario


def serve_command(file: Path | None, *, port: int | None, opened: bool, engine: str, export: Path | None) -> None:
    """Serve the page, or write it into a folder; open it in a browser."""
    page = pages.load()
    text = None if file is None else _checked(file)
    name = None if file is None else file.name
    if export is not None:
        write(page, pages.Setup("wasm", name=name, text=text), export)
        output.place(export / pages.INDEX)
        if opened:
            webbrowser.open((export / pages.INDEX).resolve().as_uri())
        return
    setup = pages.Setup(pages.choose(engine, page), name=name, text=text)
    with Server(page, setup, port) as server:
        print(server.url, flush=True)
        if port is None and server.port != PORT:
            output.note(f"port {PORT} is taken: this is a free one")
        if engine == "auto" and not page.has_engine:
            output.note("the engine as WebAssembly was not built (`make web`): simulations run in this program")
        output.note("stop with Ctrl-C")
        if opened:
            webbrowser.open(server.url)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            output.note("stopped")
            raise SystemExit(INTERRUPTED) from None


def _checked(file: Path) -> str:
    """Return the text of a scenario file.

    Raises
    ------
    ScenarioError
        If the scenario or a point of its sweep is wrong.
    ValueError
        If the file is no text, or too large for the page.
    OSError
        If the file cannot be read.
    """
    text = toml.read_text(file, pages.LARGEST_TEXT)
    for _ in Scenario.from_core(_core.Scenario.from_toml(text, str(file))).sweep_points():
        pass
    return text
