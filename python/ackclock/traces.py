"""Measured paths: files of Mahimahi, CSV, irtt and flent, and the table that a link of a scenario takes."""

from __future__ import annotations

import gzip
import itertools
import json
import math
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ackclock import _core
from ackclock.files import limits, targets
from ackclock.formatting.numbers import number
from ackclock.formatting.units import UNITS

BYTES = 1504
"""What an opportunity of Mahimahi carries."""
COLUMNS = {"rate": ("Mbit/s", 1e6), "delay": ("ms", 1e-3), "loss": ("%", 0.01)}
"""The columns of the table beside the time: unit, and its size in bit/s, seconds or shares."""
KINDS = {"rate": "schedule", "delay": "steps", "loss": "schedule"}
QUANTILES = (0.05, 0.5, 0.95)
RATES = ("TCP download sum", "TCP download", "TCP upload sum", "TCP upload", "TCP totals")
PINGS = ("Ping (ms) ICMP", "Ping (ms) avg", "Ping (ms) UDP")
Values = list[float]


@dataclass(frozen=True)
class Trace:
    """A path over time, as measured.

    Attributes
    ----------
    form : str
        The format of the file: Mahimahi, CSV, irtt or flent.
    times : sequence of float
        Seconds from the start; the first is 0.
    end : float
        Seconds from the start to the end of the last step.
    values : mapping
        Of ``rate`` in bit/s, one-way ``delay`` in seconds and ``loss`` as a share, those that the file has: a value for
        each time, which stays until the next.
    notes : sequence of str
        What a value is that the file does not have itself.
    """

    form: str
    times: Sequence[float]
    end: float
    values: Mapping[str, Sequence[float]]
    notes: Sequence[str] = field(default=())

    def quantile(self, column: str, share: float) -> float:
        """Return the value of a column that it is at or below for this share of the time."""
        ends = [*self.times[1:], self.end]
        lengths = sorted(zip(self.values[column], (b - a for a, b in zip(self.times, ends, strict=True)), strict=True))
        sums = itertools.accumulate(length for _, length in lengths)
        return next(
            (value for (value, _), until in zip(lengths, sums, strict=True) if until >= share * self.end), math.nan
        )

    def mean(self, column: str) -> float:
        """Return the mean of a column over time."""
        ends = [*self.times[1:], self.end]
        return sum(v * (b - a) for v, a, b in zip(self.values[column], self.times, ends, strict=True)) / self.end

    def csv(self) -> str:
        """Return the table that ``file`` of a link's rate, delay and loss reads."""
        titles = ["time (s)", *(f"{name} ({COLUMNS[name][0]})" for name in self.values)]
        columns = [self.times, *([value / COLUMNS[name][1] for value in self.values[name]] for name in self.values)]
        rows = (",".join(f"{value:.9g}" for value in row) for row in zip(*columns, strict=True))
        return "\n".join([",".join(titles), *rows]) + "\n"

    def lines(self, file: str) -> list[str]:
        """Return the lines of a scenario's link that read the table from `file`, and repeat it."""
        named = f'file = {json.dumps(file, ensure_ascii=False)}, period = "{self.end:.9g} s"'
        return [f'{name} = {{ kind = "{KINDS[name]}", {named} }}' for name in self.values]

    def summary(self) -> list[str]:
        """Return what the file holds, in sentences."""
        found = [f"{self.form}: {number(self.end)} s in {len(self.times):,} steps."]
        for name in self.values:
            unit, size = COLUMNS[name]
            shown = [number(self.quantile(name, share) / size) for share in QUANTILES]
            mean = number(self.mean(name) / size)
            found.append(f"{name}: {', '.join(shown)} {unit} for 5, 50 and 95 % of the time, mean {mean} {unit}.")
        return [*found, *self.notes]


def trace(
    file: str | Path,
    *,
    step: float | None = None,
    out: str | Path | None = None,
    force: bool = False,
) -> Trace:
    """Read a measured path: a trace of Mahimahi, a CSV file, or the data file of irtt or flent.

    Parameters
    ----------
    file
        The file. JSON may be compressed (``.json.gz``, ``.flent.gz``).
    step
        Width in seconds of the steps in which opportunities of Mahimahi and round trips of irtt are counted; by default
        0.1 and 1.
    out
        The CSV file to write, which a scenario's link reads.
    force
        Whether `out` may replace a file of another program.

    Returns
    -------
    Trace
        What the file holds.

    Raises
    ------
    OSError
        If a file cannot be read or written.
    ValueError
        If the file has none of these formats, or is wrong, or `out` is not to be replaced; the message names the file.
    """
    path = Path(file)
    if step is not None and not 0.001 <= step <= 3600:
        raise ValueError(f"--step {number(step)}: expected from 0.001 to 3600 s")
    if out is not None:
        targets.check(Path(out), inputs=[path], force=force)
    text = _text(path)
    try:
        found = _read(path, text, step)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(f"{path}: is damaged: {type(error).__name__}: {error}") from None
    if out is not None:
        targets.write(Path(out), found.csv().encode())
    return found


def _text(path: Path) -> str:
    most = limits.most("path")
    limits.check(path, most)
    data = path.read_bytes()
    try:
        if data.startswith(b"\x1f\x8b"):
            unpacker = zlib.decompressobj(wbits=31)
            data = unpacker.decompress(data, 10 * most)
            if unpacker.unconsumed_tail:
                raise ValueError(f"{path}: its contents are larger than the limit of {10 * most / 1e6:,.0f} MB")
            if not unpacker.eof:
                raise gzip.BadGzipFile("it ends too early")
        return data.decode("utf-8-sig")
    except (zlib.error, gzip.BadGzipFile, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: cannot be read: {error}") from None


def _read(path: Path, text: str, step: float | None) -> Trace:
    first = text.lstrip().partition("\n")[0].strip()
    if first.startswith("{"):
        try:
            document = json.loads(text)
        except ValueError as error:
            raise ValueError(f"{path}: is not valid JSON: {error}") from None
        if "round_trips" in document:
            return _irtt(path, document, step or 1.0)
        if "x_values" in document and "results" in document:
            return _flent(path, document)
        raise ValueError(f"{path}: is JSON with neither round_trips (irtt) nor x_values and results (flent)")
    if first.isdecimal():
        return _mahimahi(path, step or 0.1)
    titles = [title.partition("(")[0].strip() for title in first.split(",")]
    if "time" in titles:
        return _csv(path, [name for name in COLUMNS if name in titles])
    raise ValueError(f"{path}: is no trace of Mahimahi, no CSV file with a column time, and no JSON of irtt or flent")


def _csv(path: Path, names: Sequence[str]) -> Trace:
    if not names:
        raise ValueError(f"{path}: has no column rate, delay or loss beside time in its first line")
    link = _link(path, {name: KINDS[name] for name in names})
    steps = {name: (link[name][0] if isinstance(link[name], list) else link[name])["steps"] for name in names}
    times = [_value(time) for time, _ in steps[names[0]]]
    return Trace("CSV", times, _end(times), {name: [_value(value) for _, value in steps[name]] for name in names})


def _link(path: Path, kinds: Mapping[str, str]) -> dict[str, Any]:
    """Return a link that reads a file as a scenario does, so that both accept the same and complain of the same."""
    quoted = json.dumps(path.name)
    keys = [f"{name} = {{ kind = {json.dumps(kind)}, file = {quoted} }}" for name, kind in kinds.items()]
    text = "\n".join(["duration = '1 s'", "[[topology.links]]", *keys, "[flow]\n"])
    try:
        scenario = _core.Scenario.from_toml(text, str(path.absolute().parent / "trace.toml"))
    except _core.ScenarioError as error:
        raise ValueError(str(error).partition(".file: ")[2] or f"{path}: {error}") from None
    link: dict[str, Any] = json.loads(scenario.expanded_json())["topology"]["link"][0]
    return link


def _value(text: str) -> float:
    """Return a quantity in its base unit."""
    figures, _, unit = text.partition(" ")
    return float(figures) * (0.01 if unit == "%" else UNITS[unit][1])


def _end(times: Sequence[float]) -> float:
    """Return the end of the last step, which lasts as long as the one before it."""
    return 2 * times[-1] - times[-2] if len(times) > 1 else 1.0


def _mahimahi(path: Path, width: float) -> Trace:
    times = _link(path, {"rate": "mahimahi"})["rate"]["opportunities"]
    end = times[-1] / 1e3
    bits = [0] * math.ceil(end / width)
    for time in times:
        # The opportunity at the end of the trace is in its last step.
        bits[min(int(time / 1e3 / width), len(bits) - 1)] += 8 * BYTES
    starts = [index * width for index in range(len(bits))]
    ends = [*starts[1:], end]
    rates = [count / (b - a) for count, a, b in zip(bits, starts, ends, strict=True)]
    note = (
        f"The rate counts {BYTES} bytes for each opportunity in steps of {number(width)} s; "
        'rate = { kind = "mahimahi" } reads the file itself.'
    )
    return Trace("Mahimahi", starts, end, {"rate": rates}, [note])


def _irtt(path: Path, document: Mapping[str, Any], width: float) -> Trace:
    clocks = [trip["timestamps"]["client"]["send"] for trip in document["round_trips"]]
    if not clocks:
        raise ValueError(f"{path}: has no round trips")
    clock = next(name for name in ("monotonic", "wall") if name in clocks[0])
    sent = [(stamp[clock] - clocks[0][clock]) / 1e9 for stamp in clocks]
    interval = (sent[-1] - sent[0]) / (len(sent) - 1) if len(sent) > 1 else width
    end = sent[-1] + interval
    delays: dict[int, Values] = defaultdict(list)
    lost: dict[int, list[bool]] = defaultdict(list)
    for time, trip in zip(sent, document["round_trips"], strict=True):
        step = int(time / width)
        # "true_up" and "true_down" name the direction of a loss.
        lost[step].append(trip["lost"] not in (False, "false"))
        if "rtt" in trip["delay"]:
            delays[step].append(trip["delay"]["rtt"] / 2e9)
    if not delays:
        raise ValueError(f"{path}: all round trips are lost")
    steps = sorted(lost)
    means = [sum(delays[step]) / len(delays[step]) if delays[step] else math.nan for step in steps]
    shares = [sum(lost[step]) / len(lost[step]) for step in steps]
    note = (
        f"Delays are half of the mean round trip in steps of {number(width)} s, and losses are of round trips; "
        "irtt does not measure a rate."
    )
    times = [step * width for step in steps]
    return Trace("irtt", times, max(end, times[-1] + 1e-3), {"delay": _filled(means), "loss": shares}, [note])


def _flent(path: Path, document: Mapping[str, Any]) -> Trace:
    results, units = document["results"], document["metadata"].get("SERIES_META", {})
    rate, ping = _series(results, RATES), _series(results, PINGS)
    if not rate and not ping:
        raise ValueError(f"{path}: has neither a series of TCP nor of pings; it has {', '.join(results) or 'none'}")
    found = [results[name] for name in (rate, ping) if name]
    full = [index for index, value in enumerate(results[rate or ping]) if value is not None]
    cut = slice(full[0], full[-1] + 1)
    xs = document["x_values"][cut]
    if any(len(column) != len(document["x_values"]) for column in found):
        raise ValueError(f"{path}: a series has another length than x_values")
    values: dict[str, Values] = {}
    notes = []
    if rate:
        unit = units.get(rate, {}).get("UNITS", "Mbits/s")
        if unit != "Mbits/s":
            raise ValueError(f"{path}: {rate} is in {unit}, not in Mbits/s")
        values["rate"] = [value * 1e6 for value in _filled(results[rate][cut])]
        notes.append(f"The rate is that of {rate}, which is below the link's where TCP did not fill it.")
    if ping:
        values["delay"] = [value / 2e3 for value in _filled(results[ping][cut])]
        notes.append(f"Delays are half of {ping}, with the queue that it met.")
    times = [x - xs[0] for x in xs]
    return Trace("flent", times, _end(times), values, [*notes, "The file has no losses."])


def _series(results: Mapping[str, Any], names: Iterable[str]) -> str:
    """Return the first series with one of these names, or that begins with it; empty if none has a value."""
    full = [name for name, values in results.items() if "::" not in name and any(v is not None for v in values)]
    return next((found for name in names for found in full if found == name or found.startswith(f"{name} ")), "")


def _filled(values: Sequence[float | None]) -> Values:
    """Replace a missing value by the one before it, and at the begin by the first."""
    known = [None if value is None or math.isnan(value) else float(value) for value in values]
    last = next((value for value in known if value is not None), math.nan)
    filled = []
    for value in known:
        last = last if value is None else value
        filled.append(last)
    return filled
