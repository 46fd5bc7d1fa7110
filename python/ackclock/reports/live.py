"""Live reports: scenarios that the page of a report runs again, with the engine that it contains.

The engine (``engine.js``) is built from `crates/web`. An installation without it writes static reports, which say so.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ackclock.files import built
from ackclock.formatting.numbers import finite

STATIC = (
    "This report is static: this installation has no engine for pages, so figures cannot run again. "
    "In a source tree, make web builds the engine."
)
PYTHON = "This report is static: a congestion control of this run is written in Python, which the page cannot run."
ALWAYS = ("goodput_bps", "path_rtt")
"""Columns of the stored runs that the page always needs."""
Again = dict[str, Any]
"""What a figure shows of the runs; `web/src/report/data.ts` declares it as `Again`."""


@dataclass(frozen=True)
class Live:
    """Everything that the page needs to run scenarios.

    Attributes
    ----------
    data : dict
        Scenarios and stored numbers as values of JSON, as `Scenarios` collects them.
    engine : str
        The engine: WebAssembly, compressed (gzip), in base64.
    """

    data: Mapping[str, Any]
    engine: str

    @property
    def said(self) -> str:
        """The data as JSON."""
        return json.dumps(self.data, separators=(",", ":"), allow_nan=False)


def live(data: Mapping[str, Any]) -> Live | None:
    """Return the live part of a report; None if the engine or the page's program is not built."""
    engine = built.packed_engine()
    return None if engine is None or built.report_program() is None else Live(data, engine)


class Scenarios:
    """The cells of a report; each scenario is stored once."""

    def __init__(self) -> None:
        self._texts: dict[str, int] = {}
        self._cells: list[dict[str, Any]] = []

    def add(
        self, texts: Mapping[str, str], stored: Mapping[str, Mapping[str, Any]], labels: Mapping[str, str] | None = None
    ) -> None:
        """Add a cell.

        Parameters
        ----------
        texts
            The stored run by its name, such as "seed 1", then further ones: scenarios with every default.
        stored
            Columns of the engine in the stored run, by flow.
        labels
            The labels of the cell.
        """
        runs = [[name, self._texts.setdefault(text, len(self._texts))] for name, text in texts.items()]
        rows = {flow: finite(dict(row)) for flow, row in stored.items()}
        self._cells.append({"labels": dict(labels or {}), "runs": runs, "stored": rows})

    @property
    def data(self) -> dict[str, Any]:
        """All cells, and the texts of their runs."""
        return {"texts": list(self._texts), "cells": self._cells}
