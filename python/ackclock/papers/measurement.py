"""What is measured of a paper's runs: a row for each flow, and curves for the figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ackclock import plot
from ackclock.drawing import bands
from ackclock.experiments.measures import Measure, Measurement, Rows
from ackclock.result import Result, rows

Lines = Mapping[str, plot.Line]
TRACES = {"cwnd": "cwnd", "throughput": "delivered", "start": "cwnd", "internals": "internals"}
"""The trace that each kind of curve needs."""


@dataclass(frozen=True)
class Curves:
    """Which curves are measured for the figures.

    Attributes
    ----------
    kinds : tuple of str
        Kinds of plot.
    bin, start : float or None
        The bins of throughput, and the end of the start, in seconds.
    flows : bool
        Whether the curves of every flow are measured, named ``KIND/FLOW``, and not those of the first alone.

    Curves of cwnd are sampled and those of throughput have bins, so that those of several runs make a median and a band
    (see `bands`). A control's internals stay as they are.
    """

    kinds: tuple[str, ...] = ()
    bin: float | None = None
    start: float | None = None
    flows: bool = False

    @property
    def said(self) -> list[Any]:
        """All that determines the curves, but the program."""
        return [self.kinds, self.bin, self.start, self.flows]

    def take(self, result: Result) -> dict[str, plot.Line]:
        """Give the curves of a run by their names."""
        lines: dict[str, plot.Line] = {}
        cwnd = plot.cwnd_lines(result) if "cwnd" in result.traces else []
        for kind in self.kinds:
            drawn = _drawn(result, kind, self.bin) if kind in ("throughput", "internals") else cwnd
            for line in drawn if self.flows else drawn[:1]:
                name = f"{kind}/{line.label}" if self.flows else kind
                if kind == "internals":
                    lines[name] = plot.thin_out(line)
                elif kind == "throughput":
                    lines[name] = line
                else:
                    end = self.start if kind == "start" else None
                    lines[name] = bands.sampled(line, end or result.duration)
        return lines


def _drawn(result: Result, kind: str, width: float | None) -> list[plot.Line]:
    if kind == "throughput":
        return plot.throughput_lines(result, width)
    return [line for lines in plot.internal_lines(result).values() for line in lines]


@dataclass(frozen=True)
class Measured:
    """What was measured of a run: a row for each flow, and its curves by name."""

    rows: Rows
    lines: Lines


@dataclass(frozen=True)
class FlowTable(Measurement[Measured]):
    """The flows of a run: their table with the columns of measures, and curves.

    Attributes
    ----------
    measures : sequence of Measure
        What is measured besides the table of flows and ``queue_drops``, in this order.
    curves : Curves
        Which curves are measured; none of most runs.
    """

    measures: Sequence[Measure] = ()
    curves: Curves = Curves()

    @property
    def record(self) -> list[str]:
        """The traces that measures and curves need."""
        wanted = {trace for measure in self.measures for trace in measure.traces}
        return sorted(wanted | {TRACES[kind] for kind in self.curves.kinds})

    @property
    def said(self) -> list[Any]:
        """Measures and curves."""
        return [[measure.said for measure in self.measures], self.curves.said]

    @property
    def sources(self) -> list[str]:
        """The modules that measure: this one, and those of the measures."""
        return [type(self).__module__, *dict.fromkeys(measure.source for measure in self.measures)]

    def take(self, result: Result) -> Measured:
        """Measure a run."""
        drops = sum(link["drops"] for link in rows(result.links))
        measured = [{"flow": row.pop("name"), **row, "queue_drops": drops} for row in rows(result.flows)]
        for measure in self.measures:
            measure.derive(measured, result)
        return Measured(measured, self.curves.take(result))
