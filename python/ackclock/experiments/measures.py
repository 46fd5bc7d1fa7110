"""What is measured of a paper's runs, and where it is kept so that the next attempt need not run them again."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np
import polars

from ackclock import _core, deriving, plot
from ackclock.drawing import bands, curves, internals
from ackclock.files import storage
from ackclock.result import Result, frame, rows
from ackclock.running import run_here
from ackclock.scenario import Scenario
from ackclock.statistics import fairness

Lines = dict[str, plot.Line]
Rows = list[dict[str, Any]]
Spans = Mapping[str, Sequence[float]]
TRACES = {"cwnd": "cwnd", "throughput": "delivered", "start": "cwnd", "internals": "internals"}


@dataclass(frozen=True)
class Drawing:
    """Which curves are kept of a run.

    Attributes
    ----------
    kinds : sequence of str
        Kinds of plot.
    bin, start : float or None
        The bins of throughput, and the end of the start, in seconds.
    flows : bool
        Whether every flow's curves are kept, named ``KIND/FLOW``, and not the first one's alone.

    Curves of cwnd are sampled and those of throughput have bins, so that those of several runs make a median and a band
    (see `bands`). A control's internals are kept as they are.
    """

    kinds: Sequence[str] = ()
    bin: float | None = None
    start: float | None = None
    flows: bool = False


@dataclass(frozen=True)
class PlannedRun:
    """One run of a paper.

    Attributes
    ----------
    labels : dict
        Which cell of the experiment it belongs to.
    sampling : {"seed", "path", "offset"}
        How it differs from the other runs of its cell.
    unit : int
        The number of the seed, of the drawn path, or of the start time.
    scenario : Scenario
        What is run.
    spans : dict
        Spans of time in seconds, by the column that tells how many bytes arrived in them.
    cwnd_spans : dict
        Spans of time in seconds, by the column that tells the mean of cwnd over them.
    drawing : Drawing
        Which curves are kept for the figures; none of most runs.
    seeds : {"own", "common"} or None
        Whether its seed is that of its cell alone, or that of all cells; None where that makes no difference.
    derived : sequence of str
        What is derived from its tables and traces, see `deriving`.
    paths : {"like", "exact"} or None
        Whether it is on a drawn path or on the exact one; None if its cell has no drawn paths.
    """

    labels: Mapping[str, str]
    sampling: Literal["seed", "path", "offset"]
    unit: int
    scenario: Scenario
    spans: Spans = field(default_factory=dict)
    cwnd_spans: Spans = field(default_factory=dict)
    drawing: Drawing = Drawing()
    seeds: Literal["own", "common"] | None = None
    derived: Sequence[str] = ()
    paths: Literal["like", "exact"] | None = None

    @property
    def cell(self) -> tuple[str, ...]:
        """The values of its labels."""
        return tuple(self.labels.values())

    @property
    def record(self) -> list[str]:
        """Traces that it needs."""
        wanted = {TRACES[kind] for kind in self.drawing.kinds}
        wanted |= {trace for measure in self.derived for trace in deriving.TRACES[measure]}
        return sorted(wanted | ({"delivered"} if self.spans else set()) | ({"cwnd"} if self.cwnd_spans else set()))

    @cached_property
    def key(self) -> str:
        """Name all that determines what is measured: scenario, spans, curves, and the program."""
        drawing = [list(self.drawing.kinds), self.drawing.bin, self.drawing.start, self.drawing.flows]
        measured = [dict(self.spans), dict(self.cwnd_spans), list(self.derived)]
        return _digest(self.scenario.hash, self.record, measured, drawing, program())


@cache
def build() -> str:
    """Name the compiled core by its content."""
    return hashlib.sha256(Path(str(_core.__file__)).read_bytes()).hexdigest()[:20]


@cache
def program() -> str:
    """Name the program that simulates and measures by its content; what another one measured is not used again."""
    modules = (plot, curves, bands, deriving, internals, fairness)
    sources = (__file__, *(str(module.__file__) for module in modules))
    return _digest(build(), *(hashlib.sha256(Path(source).read_bytes()).hexdigest() for source in sources))


def _digest(*values: object) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:40]


def measure(run: PlannedRun, cancel: _core.Cancel) -> tuple[Rows, Lines]:
    """Run and measure: one row per flow, and the curves of its first flow, or of all."""
    result = run_here(run.scenario, run.record, cancel)
    drops = sum(link["drops"] for link in rows(result.links))
    measured = [{"flow": row.pop("name"), **row, "queue_drops": drops} for row in rows(result.flows)]
    for row in measured:
        if run.spans:
            _count_bytes(row, result, run.spans)
        if run.cwnd_spans:
            _average_cwnd(row, result, run.cwnd_spans)
    for name in run.derived:
        deriving.DERIVE[name](measured, result)
    return measured, _lines(result, run.drawing)


def _own(result: Result, trace: str, flow: str) -> polars.DataFrame:
    table = frame(result.trace(trace))
    return table.filter(table["flow"].cast(polars.String) == flow)


def _count_bytes(row: dict[str, Any], result: Result, spans: Spans) -> None:
    own = _own(result, "delivered", row["flow"])
    total = np.concatenate([[0], own["bytes"].to_numpy()])
    for name, (begin, end) in spans.items():
        places = np.searchsorted(own["time"].to_numpy(), [begin, end], side="right")
        row[name] = int(total[places[1]]) - int(total[places[0]])


def _average_cwnd(row: dict[str, Any], result: Result, spans: Spans) -> None:
    own = _own(result, "cwnd", row["flow"])
    time, cwnd = own["time"].to_numpy(), own["cwnd"].to_numpy()
    for name, (begin, end) in spans.items():
        row[name] = time_mean(time, cwnd, begin, end)


def time_mean(time: plot.Floats, value: plot.Floats, begin: float, end: float) -> float | None:
    """Average a value that stays until its next change; None if it is not known anywhere in the span."""
    edges = np.clip(np.append(time, end), begin, end)
    lasts = np.diff(edges)
    known = float(lasts.sum())
    return float(np.dot(value, lasts)) / known if known > 0 else None


def _lines(result: Result, drawing: Drawing) -> Lines:
    lines: Lines = {}
    cwnd = plot.cwnd_lines(result) if "cwnd" in result.traces else []
    for kind in drawing.kinds:
        drawn = _curves(result, kind, drawing.bin) if kind in ("throughput", "internals") else cwnd
        for line in drawn if drawing.flows else drawn[:1]:
            name = f"{kind}/{line.label}" if drawing.flows else kind
            if kind == "internals":
                lines[name] = plot.thin_out(line)
            elif kind == "throughput":
                lines[name] = line
            else:
                end = drawing.start if kind == "start" else None
                lines[name] = bands.sampled(line, end or result.duration)
    return lines


def _curves(result: Result, kind: str, width: float | None) -> list[plot.Line]:
    if kind == "throughput":
        return plot.throughput_lines(result, width)
    return [line for lines in plot.internal_lines(result).values() for line in lines]


class Kept:
    """What is kept of the runs of one cell, in files of a folder; what cannot be read counts as not there.

    Every finished run is appended as a line, and its curves are a file of their own, so that a process that is killed
    loses the runs that it is in, and no other.
    """

    def __init__(self, folder: Path, labels: Mapping[str, str]) -> None:
        self._folder, self._name = folder, _digest(dict(labels))[:20]
        self._part = folder / f"{self._name}.jsonl"
        self.rows = _read_rows(self._part)
        self.lines: dict[str, Lines] = {}

    def has(self, run: PlannedRun) -> bool:
        """Whether all of a run is there."""
        if run.key not in self.rows:
            return False
        if run.drawing.kinds and run.key not in self.lines:
            lines = _read_lines(self._drawing(run))
            if lines is None:
                return False
            self.lines[run.key] = lines
        return True

    def keep(self, run: PlannedRun, measured: Rows, lines: Lines) -> None:
        """Keep a run, its curves first: it counts as there with its rows."""
        self.rows[run.key] = measured
        if run.drawing.kinds:
            self.lines[run.key] = lines
            storage.write_bytes(self._drawing(run), _pack(lines))
        with self._part.open("a+b") as file:
            # A line that was cut off stays what it is.
            if file.tell() and not _ends_with_newline(file):
                file.write(b"\n")
            file.write(json.dumps([run.key, measured]).encode() + b"\n")

    def curves(self, runs: Sequence[PlannedRun]) -> Lines:
        """Give the curves of all runs together."""
        return bands.together([self.lines[run.key] for run in runs if run.drawing.kinds])

    def _drawing(self, run: PlannedRun) -> Path:
        return self._folder / f"{self._name}.{run.key}.npz"


def _ends_with_newline(file: BinaryIO) -> bool:
    file.seek(-1, io.SEEK_END)
    return file.read(1) == b"\n"


def _read_rows(path: Path) -> dict[str, Rows]:
    try:
        lines = path.read_bytes().splitlines()
    except OSError:
        return {}
    found: dict[str, Rows] = {}
    for line in lines:
        try:
            key, measured = json.loads(line)
        except (ValueError, TypeError):
            continue
        if isinstance(key, str) and _are_rows(measured):
            found[key] = measured
    return found


def _are_rows(measured: object) -> bool:
    return isinstance(measured, list) and all(isinstance(row, dict) and "flow" in row for row in measured)


def _pack(lines: Lines) -> bytes:
    arrays: dict[str, Any] = {"names": np.array(list(lines))}
    for name, line in lines.items():
        arrays[f"{name}.x"], arrays[f"{name}.y"], arrays[f"{name}.step"] = line.x, line.y, np.array(line.step)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def _read_lines(path: Path) -> Lines | None:
    """Read the curves of a run; None if they are not there or cannot be read."""
    try:
        with np.load(path) as arrays:
            return {
                str(name): plot.Line("", arrays[f"{name}.x"], arrays[f"{name}.y"], step=bool(arrays[f"{name}.step"]))
                for name in arrays["names"]
            }
    except (OSError, ValueError, LookupError, EOFError, TypeError, AttributeError, zipfile.BadZipFile):
        return None
