"""Logs in the format qlog of any stack, as tables.

Accepted are the current drafts, version 0.3 and its drafts from 00 on, as one JSON text, as a JSON text sequence
(RFC 7464) and as lines of JSON. Events that say nothing about packets, metrics or states are counted and left out.
"""

from __future__ import annotations

import contextlib
import gc
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock.arguments import File, checked
from ackclock.formatting.numbers import counted

if TYPE_CHECKING:
    import polars

RECORD = "\x1e"
SEQUENTIAL = ("JSON-SEQ", "NDJSON", "application/qlog+json-seq")
HEADS = ("file_schema", "qlog_version", "qlog_format", "traces", "trace")
"""Keys of which a log has one at its top."""
UNITS = {"ms": 1e-3, "us": 1e-6, "s": 1.0, "ns": 1e-9}
FORMATS = {
    "relative_to_epoch": "relative",
    "relative_to_previous_event": "delta",
    "relative": "relative",
    "delta": "delta",
    "absolute": "absolute",
}
ABSOLUTE = 1e8
"""Seconds from which a time without a format counts from 1970: three years; no connection lasts so long."""
SPACES = {"initial": "initial", "handshake": "handshake"}
"""The number spaces of QUIC by the types of packets; all others share one (RFC 9000 §12.3)."""
DATA = "application"

TIMES = {
    "min_rtt": "min_rtt",
    "smoothed_rtt": "smoothed_rtt",
    "latest_rtt": "latest_rtt",
    "rtt_variance": "rtt_variance",
    "rttvar": "rtt_variance",
}
COUNTS = {
    "congestion_window": "congestion_window",
    "cwnd": "congestion_window",
    "current_cwnd": "congestion_window",
    "bytes_in_flight": "bytes_in_flight",
    "ssthresh": "ssthresh",
    "pacing_rate": "pacing_rate",
}
"""The columns of metrics for the names of all versions and of mvfst."""
METRICS = (*dict.fromkeys(TIMES.values()), *dict.fromkeys(COUNTS.values()))


@dataclass(frozen=True)
class Qlog:
    """The log of one connection.

    Times are in seconds: since the epoch of the log or, if that is the time of day, since the first event.

    Attributes
    ----------
    file : Path
        The file.
    title : str
        Title of the trace or, without one, the name of the file.
    version : str
        What the file calls its version or schema.
    vantage : str
        Who wrote it: ``client``, ``server``, ``network`` or ``unknown``.
    packets : polars.DataFrame
        One row per packet that was sent, received or deemed lost: ``time``, ``event`` (``sent``, ``received`` or
        ``lost``), ``space`` (``initial``, ``handshake`` or ``application``), ``number``, ``size`` in bytes, and
        ``acked``, the largest number that it acknowledges. Null where the log does not tell.
    metrics : polars.DataFrame
        One row per event with metrics: ``time``; ``min_rtt``, ``smoothed_rtt``, ``latest_rtt`` and ``rtt_variance`` in
        seconds; ``congestion_window``, ``bytes_in_flight`` and ``ssthresh`` in bytes; ``pacing_rate`` in bit/s. Null
        where the event does not tell.
    states : polars.DataFrame
        One row per state of the congestion control: ``time``, ``state``, ``trigger``.
    parameters : dict
        What the events of parameters say, by their own names.
    others : dict
        Numbers of the other events, by name.
    """

    file: Path
    title: str
    version: str
    vantage: str
    packets: polars.DataFrame
    metrics: polars.DataFrame
    states: polars.DataFrame
    parameters: dict[str, Any] = field(default_factory=dict)
    others: dict[str, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        found = (counted(self.packets.height, "packet"), counted(self.metrics.height, "update") + " of metrics")
        return f"<Qlog {self.title!r}: {', '.join(found)}>"


@checked
def open_qlog(file: File) -> list[Qlog]:
    """Read a log in the format qlog, which any QUIC stack or `Result.write_qlog` wrote.

    Parameters
    ----------
    file
        The file: JSON (``.qlog``), a JSON text sequence (``.sqlog``) or lines of JSON, by its content.

    Returns
    -------
    list of Qlog
        One for each trace.

    Raises
    ------
    ValueError
        If the file is no such log, or is damaged; the message names the file and the place.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import ackclock
    >>> [log] = ackclock.open_qlog("client.sqlog")                  # doctest: +SKIP
    >>> log.metrics.select("time", "congestion_window")             # doctest: +SKIP
    """
    path = Path(file)
    with _uncollected():
        return _open(path)


def _open(path: Path) -> list[Qlog]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: is no qlog: it is not text (byte {error.start})") from None
    head, found = _documents(path, text)
    version = str(head.get("file_schema") or head.get("qlog_version") or "unknown")
    logs = [_log(path, version, place, trace) for place, trace in found]
    if not logs:
        raise ValueError(f"{path}: has no trace")
    return logs


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Pause the collection of cycles: millions of tables of JSON have none, and it would look through all of them."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def is_log(path: Path) -> bool:
    """Whether the name of a file is that of a log."""
    return path.suffix in (".qlog", ".sqlog", ".qlognd", ".qlogseq") and not path.is_dir()


def _documents(path: Path, text: str) -> tuple[Mapping[str, Any], list[tuple[str, Mapping[str, Any]]]]:
    """Return the head of a file, and its traces with their places."""
    start = text.lstrip(" \t\r\n")  # others strip the sign of records, too
    if not start:
        raise ValueError(f"{path}: is empty")
    if start.startswith(RECORD):
        return _sequence(path, enumerate(start.split(RECORD)[1:], start=1), "record")
    try:
        head, end = json.JSONDecoder().raw_decode(start)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: is no qlog: it is not JSON: {error}") from None
    if not isinstance(head, dict) or not any(key in head for key in HEADS):
        raise ValueError(f"{path}: is no qlog: it has neither file_schema (current) nor qlog_version (0.3) at its top")
    if start[end:].strip() or head.get("qlog_format") in SEQUENTIAL or head.get("serialization_format") in SEQUENTIAL:
        return _sequence(path, enumerate(start.split("\n"), start=1), "line")
    traces = head.get("traces")
    if not isinstance(traces, list):
        raise ValueError(f"{path}: has no list of traces")
    found: list[tuple[str, Mapping[str, Any]]] = []
    for number, trace in enumerate(traces, start=1):
        if not isinstance(trace, dict):
            raise ValueError(f"{path}: trace {number} is no table")
        # A trace that its writer could not make (TraceError) has no events.
        if "error_description" not in trace:
            found.append((f"trace {number}, event", trace))
    return head, found


def _sequence(
    path: Path, lines: Iterable[tuple[int, str]], noun: str
) -> tuple[Mapping[str, Any], list[tuple[str, Mapping[str, Any]]]]:
    """Read a head and the events that follow it."""
    head: dict[str, Any] | None = None
    events: list[Any] = []
    broken = ""
    for number, line in lines:
        if not line.strip():
            continue
        if broken:
            raise ValueError(broken)
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            broken = f"{path}: {noun} {number} is not JSON: {error}"
            continue
        if not isinstance(value, dict):
            raise ValueError(f"{path}: {noun} {number} is no table")
        if head is None:
            head = value
        else:
            events.append(value)
    # A stack that was killed leaves its last record unfinished (RFC 7464 §2.3 lets a reader leave it out).
    if head is None or not any(key in head for key in HEADS):
        raise ValueError(broken or f"{path}: is no qlog: its first {noun} has neither file_schema nor qlog_version")
    if broken and not events:
        raise ValueError(broken)
    trace = head.get("trace")
    return head, [(noun, {**(trace if isinstance(trace, dict) else {}), "events": events, "sequence": True})]


def _log(path: Path, version: str, place: str, trace: Mapping[str, Any]) -> Qlog:
    events = trace.get("events")
    if not isinstance(events, list):
        raise ValueError(f"{path}: {place.partition(',')[0]} has no list of events")
    common = _table(trace.get("common_fields"))
    first = 2 if trace.get("sequence") else 1
    reader = _Reader()
    try:
        for event in _events(trace, common, events):
            reader.take(*event)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        number = first + reader.seen
        what = f"lacks {error}" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"{path}: {place} {number}: {what}") from None
    return reader.finish(path, version, trace)


def _events(
    trace: Mapping[str, Any], common: Mapping[str, Any], events: Sequence[Any]
) -> Iterator[tuple[float, str, Mapping[str, Any], float]]:
    """Give time in seconds, name, data and unit of time of each event."""
    unit = UNITS.get(str(common.get("time_units") or _table(trace.get("configuration")).get("time_units")), 1e-3)
    form = FORMATS.get(str(common.get("time_format")))
    names = [str(name).lower() for name in trace.get("event_fields", ())]
    keys = {"relative_time": "time", "delta_time": "time", "type": "event_type", "event": "event_type"}
    columns = [keys.get(name, name) for name in names]
    if "delta_time" in names:
        form = "delta"
    now = 0.0
    start: float | None = None
    for each in events:
        # Some writers end the list with an empty event, so that every event has a comma.
        if not each:
            continue
        event = each if isinstance(each, dict) else _from_columns(each, columns)
        raw = event["time"]
        time = math.nan if isinstance(raw, bool) else float(raw)
        if not math.isfinite(time):
            raise ValueError(f"the time {raw!r} is no number")
        own = FORMATS.get(str(event.get("time_format")), form)
        if own == "delta":
            now += time * unit
        else:
            if start is None:
                start = time if own == "absolute" or (own is None and time * unit > ABSOLUTE) else 0.0
            # The difference first: a double has but 0.2 µs of the time of day in milliseconds.
            now = (time - start) * unit
        name = str(event.get("name") or f"{event.get('category', '')}:{event['event_type']}")
        yield now, name.rpartition(":")[2].lower(), _table(event.get("data")), unit


def _from_columns(values: object, columns: Sequence[str]) -> dict[str, Any]:
    """Return an event of the drafts 00 and 01: a list of values."""
    if not isinstance(values, list) or not columns:
        raise ValueError("is no table")
    return dict(zip(columns, values, strict=False))


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


class _Reader:
    """Gathers the rows of the tables."""

    def __init__(self) -> None:
        self.seen = 0
        self.packets: dict[str, list[Any]] = {
            name: [] for name in ("time", "event", "space", "number", "size", "acked")
        }
        self.metrics: list[dict[str, float]] = []
        self.states: list[tuple[float, str, str | None]] = []
        self.parameters: dict[str, Any] = {}
        self.others: Counter[str] = Counter()

    def take(self, time: float, name: str, data: Mapping[str, Any], unit: float) -> None:
        """Take an event."""
        handler = HANDLERS.get(name)
        if handler is None:
            self.others[name] += 1
        else:
            handler(self, time, data, unit)
        self.seen += 1

    def packet(self, event: str, time: float, data: Mapping[str, Any]) -> None:
        """Take a packet: the fields of all versions."""
        header, raw = _table(data.get("header")), _table(data.get("raw"))
        kind = str(header.get("packet_type") or data.get("packet_type") or "").lower()
        number = header.get("packet_number", data.get("packet_number"))
        size = raw.get("length", header.get("packet_size", data.get("packet_size")))
        acked = None
        for frame in data.get("frames") or ():
            if isinstance(frame, dict) and frame.get("frame_type") == "ack":
                ends = [int(each) for span in frame.get("acked_ranges") or () for each in _span(span)]
                acked = max(ends, default=acked)
        row = self.packets
        row["time"].append(time)
        row["event"].append(event)
        row["space"].append(SPACES.get(kind, DATA))
        row["number"].append(None if number is None else int(number))
        row["size"].append(None if size is None else int(size))
        row["acked"].append(acked)

    def lost(self, time: float, data: Mapping[str, Any], _: float) -> None:
        """Take a loss; mvfst names the largest of several."""
        if "largest_lost_packet_num" in data:
            data = {"packet_number": data["largest_lost_packet_num"], "packet_size": data.get("lost_bytes")}
        self.packet("lost", time, data)

    def metric(self, time: float, data: Mapping[str, Any], unit: float) -> None:
        """Take metrics."""
        row = {"time": time}
        for key, value in data.items():
            scale = unit if key in TIMES else 1.0
            column = TIMES.get(key) or COUNTS.get(key)
            if column is not None and value is not None and math.isfinite(found := float(value)):
                row[column] = found * scale
        if len(row) > 1:
            self.metrics.append(row)
        # mvfst has the state among them.
        if isinstance(data.get("state"), str) and data["state"]:
            self.state(time, {"new": data["state"]}, unit)

    def state(self, time: float, data: Mapping[str, Any], _: float) -> None:
        """Take a state."""
        new = str(data["new"])
        trigger = data.get("trigger")
        if not self.states or self.states[-1][1] != new:
            self.states.append((time, new, None if trigger is None else str(trigger)))

    def parameter(self, _time: float, data: Mapping[str, Any], _: float) -> None:
        """Take parameters."""
        self.parameters.update(data)

    def finish(self, path: Path, version: str, trace: Mapping[str, Any]) -> Qlog:
        """Return the tables, in the order of time."""
        import polars

        kinds = {"time": polars.Float64, "event": polars.String, "space": polars.String}
        packets = polars.DataFrame(self.packets, schema={name: kinds.get(name, polars.Int64) for name in self.packets})
        metrics = polars.DataFrame(self.metrics, schema=dict.fromkeys(("time", *METRICS), polars.Float64))
        states = polars.DataFrame(
            self.states, schema={"time": polars.Float64, "state": polars.String, "trigger": polars.String}, orient="row"
        )
        vantage = str(_table(trace.get("vantage_point")).get("type") or "unknown")
        title = str(trace.get("title") or path.stem)
        packets, metrics, states = (table.sort("time", maintain_order=True) for table in (packets, metrics, states))
        others = dict(sorted(self.others.items()))
        return Qlog(path, title, version, vantage, packets, metrics, states, self.parameters, others)


def _span(span: object) -> Sequence[Any]:
    """Return the ends of an acknowledged range, which in some logs is a text or a number."""
    if isinstance(span, (list, tuple)):
        return span
    return [span] if isinstance(span, (int, str)) else []


HANDLERS: Mapping[str, Callable[[_Reader, float, Mapping[str, Any], float], None]] = {
    "packet_sent": lambda reader, time, data, _: reader.packet("sent", time, data),
    "packet_received": lambda reader, time, data, _: reader.packet("received", time, data),
    "packet_lost": _Reader.lost,
    "packets_lost": _Reader.lost,
    "loss": _Reader.lost,
    "recovery_metrics_updated": _Reader.metric,
    "metrics_updated": _Reader.metric,
    "metric_update": _Reader.metric,
    "congestion_metric_update": _Reader.metric,
    "congestion_state_updated": _Reader.state,
    "recovery_parameters_set": _Reader.parameter,
    "parameters_set": _Reader.parameter,
}
"""What to do with the events that tables are made of, by their names without a category."""
