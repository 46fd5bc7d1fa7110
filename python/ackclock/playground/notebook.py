"""The widget: its traits, the engine in the kernel, and what a notebook reads from it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import anywidget
import traitlets

from ackclock import _core
from ackclock.files.built import PAGE, packed_engine
from ackclock.playground.options import TRACES, Options, text_of
from ackclock.results import Result
from ackclock.running import run
from ackclock.scenario import Scenario


def _front_end() -> str:
    file = PAGE / "widget.js"
    if not file.is_file():
        raise FileNotFoundError(
            f"widget: {file} is missing, because this installation was built without the page; run `make page`"
        )
    return file.read_text(encoding="utf-8")


class Widget(anywidget.AnyWidget):
    """A live plot of a scenario in a notebook; `ackclock.widget` makes it.

    Attributes
    ----------
    text : str
        The scenario that the plot shows, as a file; sliders and menus change it. A change in Python changes the plot.
    finished : dict
        The last run that reached its end: ``hash`` of its scenario, and the ``trace_hash`` that `result` has, too.

    Examples
    --------
    >>> live = ackclock.widget(ackclock.load("scenario.toml"))   # doctest: +SKIP
    >>> live.observe(lambda change: print(change.new), "text")   # doctest: +SKIP
    """

    text = traitlets.Unicode().tag(sync=True)
    finished = traitlets.Dict().tag(sync=True)
    _first = traitlets.Unicode().tag(sync=True)
    _options = traitlets.Dict().tag(sync=True)

    def __init__(self, scenario: Scenario, options: Options) -> None:
        text = text_of(scenario)
        self._laboratory = _core.Laboratory()
        super().__init__(_esm=_front_end(), text=text, _first=text, _options=options.to_dict())
        self.on_msg(self._answer)

    @traitlets.validate("text")
    def _check(self, proposal: dict[str, Any]) -> str:
        text = proposal["value"]
        _core.Scenario.from_toml(text, "widget")
        return str(text)

    @property
    def scenario(self) -> Scenario:
        """The scenario that the plot shows."""
        return Scenario.from_core(_core.Scenario.from_toml(self.text, "widget"))

    @scenario.setter
    def scenario(self, scenario: Scenario) -> None:
        self.text = text_of(scenario)

    def result(self, *, record: Sequence[str] | None = None) -> Result:
        """Run the scenario that the plot shows; the run is the same as in the plot.

        Parameters
        ----------
        record
            Traces to record; None: those that the plot draws.
        """
        return run(self.scenario, record=TRACES if record is None else record)

    def __repr__(self) -> str:
        return f"<Widget of {self.scenario!r}>"

    def _answer(self, _widget: object, content: dict[str, Any], _buffers: object) -> None:
        """Answer the front end: with the engine for the browser, or with a frame of the engine in the kernel."""
        kind = content.get("kind")
        if kind == "engine":
            self.send({"kind": "engine", "base64": packed_engine(PAGE)})
        elif kind == "request":
            frame = self._laboratory.handle(json.dumps(content["request"]))
            self.send({"kind": "frame", "id": content["id"]}, buffers=[frame])
