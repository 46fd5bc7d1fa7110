"""The measurement of a paper's runs: a row for each flow, and curves for the figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ackclock import curves
from ackclock.experiments.measurement import Measurement
from ackclock.linux.facts import UNFOLLOWED, facts
from ackclock.metrics.derivation import Derivation, Rows
from ackclock.results import Result, rows

Lines = Mapping[str, curves.Line]
TRACES = {"cwnd": "cwnd", "throughput": "delivered", "start": "cwnd", "internals": "internals"}
"""The trace of each kind of curve."""


@dataclass(frozen=True)
class Curves:
    """The curves that a run provides for the figures.

    Attributes
    ----------
    kinds : tuple of str
        Kinds of curves.
    bin, start : float or None
        Bin width of throughput, and end of the start, in seconds.
    flows : bool
        Whether every flow has curves, named ``KIND/FLOW``. If not, only the first flow has curves.

    Curves of cwnd are sampled and curves of throughput are binned, so that `bands` can compute the median and a band
    over several runs. Internals of a control are only thinned.
    """

    kinds: tuple[str, ...] = ()
    bin: float | None = None
    start: float | None = None
    flows: bool = False

    @property
    def fingerprint(self) -> list[Any]:
        """Everything that determines the curves, except the program."""
        return [self.kinds, self.bin, self.start, self.flows]

    def take(self, result: Result) -> dict[str, curves.Line]:
        """Return the curves of a run by name."""
        lines: dict[str, curves.Line] = {}
        windows = any(TRACES[kind] == "cwnd" for kind in self.kinds)
        cwnd = curves.cwnd_lines(result) if windows else []
        for kind in self.kinds:
            drawn = _drawn(result, kind, self.bin) if kind in ("throughput", "internals") else cwnd
            for line in drawn if self.flows else drawn[:1]:
                name = f"{kind}/{line.label}" if self.flows else kind
                if kind == "internals":
                    lines[name] = curves.thin_out(line)
                elif kind == "throughput":
                    lines[name] = line
                else:
                    end = self.start if kind == "start" else None
                    lines[name] = curves.sampled(line, end or result.duration)
        return lines


def _drawn(result: Result, kind: str, width: float | None) -> list[curves.Line]:
    if kind == "throughput":
        return curves.throughput_lines(result, width)
    return [line for lines in curves.internal_lines(result).values() for line in lines]


@dataclass(frozen=True)
class Measured:
    """The measurement of a run: a row for each flow, and the curves by name."""

    rows: Rows
    lines: Lines


@dataclass(frozen=True)
class FlowTable(Measurement[Measured]):
    """The flows of a run: their table with the columns of measures, on a kernel also its facts, and curves.

    Attributes
    ----------
    measures : sequence of Derivation
        Derivations that add columns to the table of flows and ``queue_drops``, in this order.
    curves : Curves
        The measured curves; most runs have none.
    """

    measures: Sequence[Derivation] = ()
    curves: Curves = Curves()

    @property
    def record(self) -> list[str]:
        """Traces that the measures and curves need."""
        wanted = {trace for measure in self.measures for trace in measure.traces}
        return sorted(wanted | {TRACES[kind] for kind in self.curves.kinds})

    @property
    def fingerprint(self) -> list[Any]:
        """Measures and curves."""
        return [[measure.fingerprint for measure in self.measures], self.curves.fingerprint]

    @property
    def sources(self) -> list[str]:
        """The modules that measure: this module, and those of the measures."""
        return [type(self).__module__, *dict.fromkeys(measure.source for measure in self.measures)]

    def take(self, result: Result) -> Measured:
        """Measure a run."""
        drops = sum(link["drops"] for link in rows(result.links))
        measured = [{"flow": row.pop("name"), **row, "queue_drops": drops} for row in rows(result.flows)]
        for measure in self.measures:
            measure.derive(measured, result)
        if seen := facts(result):
            seen[UNFOLLOWED] = "; ".join(seen[UNFOLLOWED])
            measured = [{**row, **seen} for row in measured]
        return Measured(measured, self.curves.take(result))

    def pack(self, measured: Measured) -> object:
        """Return the rows, and the points of the curves."""
        lines = {name: [line.x.tolist(), line.y.tolist(), line.step] for name, line in measured.lines.items()}
        return [measured.rows, lines]

    def unpack(self, value: Any) -> Measured:  # noqa: ANN401 - any JSON
        """Return the rows and the curves."""
        rows, lines = value
        return Measured(
            rows, {name: curves.Line("", np.array(x), np.array(y), step=step) for name, (x, y, step) in lines.items()}
        )
