"""Live reports: scenarios that the page of a report runs again, with the engine and the program that it contains.

The engine (``engine.js``) and the program (``report.js``) are built from `crates/web` and `web`. An installation
without them writes static reports, which say so.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ackclock.files.built import PAGE, packed_engine
from ackclock.texts.numbers import finite

STATIC = (
    "This report is static: this installation has no engine for pages, so figures and claims cannot run again. "
    "In a source tree, make web builds the engine."
)
PYTHON = "This report is static: a congestion control of this run is written in Python, which the page cannot run."
Lines = list[tuple[int, str]]


@dataclass(frozen=True)
class Live:
    """Everything that the page needs to run scenarios.

    Attributes
    ----------
    data : dict
        Scenarios, figures and claims as values of JSON; `web/src/report/data.ts` describes them.
    engine : str
        The engine: WebAssembly, compressed (gzip), in base64.
    program : str
        The program of the page.
    """

    data: Mapping[str, Any]
    engine: str
    program: str

    @property
    def said(self) -> str:
        """The data as JSON."""
        return json.dumps(self.data, separators=(",", ":"), allow_nan=False)


def live(data: Mapping[str, Any], folder: Path | None = None) -> Live | None:
    """Return the live part of a report; None if the engine or the program is not built."""
    folder = PAGE if folder is None else folder
    engine, program = packed_engine(folder), folder / "report.js"
    if engine is None or not program.is_file():
        return None
    return Live(data, engine, program.read_text(encoding="utf-8"))


def of_run(text: str, flows: Mapping[str, Mapping[str, Any]], rtt: float | None, name: str) -> dict[str, Any]:
    """Return the data of a single run, which is cell 0.

    Parameters
    ----------
    text
        The scenario with every default.
    flows
        The stored row of each flow.
    rtt
        Round-trip time without queues, in seconds.
    name
        Name of the run.
    """
    cell = {"labels": {}, "text": 0, "measures": 0, "sampling": "seed", "name": name, "seeds": {}, "rtt": rtt}
    return {
        "texts": [text],
        "repeated": [],
        "measures": [{"spans": {}, "cwnd": {}, "derived": []}],
        "cells": [{**cell, "stored": {flow: finite(dict(row)) for flow, row in flows.items()}}],
        "labels": [],
        "flows": None,
        "formulas": [],
        "claims": [],
    }


def built(folder: Path | None = None) -> bool:
    """Whether this installation can write live reports."""
    return live({}, folder) is not None


class Scenarios:
    """The scenarios of a report, each stored once: repetitions of a scenario are the lines in which they differ."""

    def __init__(self) -> None:
        self._texts: dict[str, int] = {}
        self._repeated: dict[str, int] = {}

    def add(self, text: str) -> int:
        """Store a scenario, and return its place."""
        return self._texts.setdefault(text, len(self._texts))

    def repeat(self, base: str, repetitions: Mapping[str, str]) -> int:
        """Store the repetitions of a scenario by name, and return the place of their list."""
        stored = []
        for name, text in repetitions.items():
            lines = changed(base, text)
            stored.append([name, self.add(text) if lines is None else lines])
        return self._repeated.setdefault(json.dumps(stored), len(self._repeated))

    @property
    def data(self) -> dict[str, Any]:
        """All texts, and all lists of repetitions."""
        return {"texts": list(self._texts), "repeated": [json.loads(each) for each in self._repeated]}


def changed(base: str, text: str) -> Lines | None:
    r"""Return the lines of a text that differ from another one, by their number; None if their numbers differ.

    >>> changed("seed = 1\nrate = 2", "seed = 7\nrate = 2")
    [(0, 'seed = 7')]
    """
    own, other = base.split("\n"), text.split("\n")
    if len(own) != len(other):
        return None
    return [(place, line) for place, (before, line) in enumerate(zip(own, other, strict=True)) if before != line]
