"""The log of a run's flows, from its traces. The compiled core names the events and writes them (`crates/wire`).

## References
draft-ietf-quic-qlog-main-schema-13 and draft-ietf-quic-qlog-quic-events-12.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ackclock import _core
from ackclock.arrow import ArrowTable, frame
from ackclock.files import checks, targets, toml
from ackclock.formatting.names import in_file
from ackclock.formatting.units import UNITS

if TYPE_CHECKING:
    import polars

TRACES = ("cwnd", "sequence", "rtt", "recovery", "flight", "lost")
"""The traces that a log is made of."""
DIALECTS = ("current", "qvis")
"""The current drafts, and the version that qvis reads."""
SUFFIX, SEQUENCE = ".qlog", ".sqlog"
"""Endings of files: one JSON text with all flows, and a JSON text sequence of one flow (RFC 7464)."""
SUFFIXES = (SUFFIX, SEQUENCE)
STATES = {
    "slow_start": ("slow_start", None),
    "avoidance": ("congestion_avoidance", None),
    "reduction": ("recovery", "ecn"),
    "fast": ("recovery", None),
    "timeout": ("recovery", "timeout"),
}
"""State and trigger of the log for each phase of a control and of loss recovery."""
Column = dict[str, Any]


class Recorded(Protocol):
    """A result, fresh or read from disk, as a log needs it."""

    @property
    def name(self) -> str:
        """Name of the scenario."""
        ...

    @property
    def traces(self) -> list[str]:
        """Names of the recorded traces."""
        ...

    @property
    def flows(self) -> ArrowTable:
        """One row per flow."""
        ...

    def trace(self, name: str) -> ArrowTable:
        """Return a recorded trace."""
        ...


def encode(
    result: Recorded,
    document: str,
    flow: str | Sequence[str] | None = None,
    *,
    dialect: str = "current",
    sequential: bool = False,
) -> bytes:
    """Return the log of a run's flows.

    Parameters
    ----------
    result
        The run.
    document
        Its scenario with every default, as TOML.
    flow
        Names of flows; None: all.
    dialect
        One of `DIALECTS`.
    sequential
        Whether to return a JSON text sequence, which has one flow.

    Raises
    ------
    KeyError
        If none of `TRACES` was recorded.
    ValueError
        If there is no such flow or dialect, or a sequence would have several flows.
    """
    checks.words("dialect", "dialect of qlog", [dialect], DIALECTS)
    rows = chosen(result, flow)
    if sequential and len(rows) != 1:
        names = ", ".join(row["name"] for row in rows[:5])
        raise ValueError(f"a JSON text sequence has one flow, and not {len(rows)} ({names}); name one with flow")
    found = [name for name in TRACES if name in result.traces]
    if not found:
        wanted = ", ".join(TRACES)
        raise KeyError(f"{result.name}: a log needs traces that were not recorded: record {wanted}")
    parts = {name: _by_flow(result, name) for name in found}
    ticks = _ticks(document)
    flows = [_flow(row, {name: part.get(row["name"]) for name, part in parts.items()}, ticks) for row in rows]
    return _core.qlog(result.name, flows, dialect=dialect, sequential=sequential)


def write(
    result: Recorded,
    document: str,
    path: Path,
    flow: str | Sequence[str] | None = None,
    *,
    dialect: str = "current",
) -> list[Path]:
    """Write the log of a run's flows; see `encode`. The name of the file decides about its form.

    A name in ``.sqlog`` gets a JSON text sequence: with several flows one file for each, whose name is in the file's.

    Returns
    -------
    list of Path
        The files.
    """
    if path.suffix != SEQUENCE:
        targets.write(path, encode(result, document, flow, dialect=dialect))
        return [path]
    names = [row["name"] for row in chosen(result, flow)]
    places = files(path, names)
    for place, name in zip(places, names, strict=True):
        targets.write(place, encode(result, document, name, dialect=dialect, sequential=True))
    return places


def files(path: Path, flows: Sequence[str]) -> list[Path]:
    """Return the files of a log of these flows: one, or one for each if it is a sequence."""
    if path.suffix != SEQUENCE or len(flows) == 1:
        return [path]
    return [path.with_name(f"{path.stem}-{in_file(name)}{SEQUENCE}") for name in flows]


def chosen(result: Recorded, flow: str | Sequence[str] | None) -> list[dict[str, Any]]:
    """Return the rows of these flows.

    Raises
    ------
    ValueError
        If there is no such flow.
    """
    columns = ["name", "from", "to", "control", "start_s", "completion_time", "cwnd_initial"]
    rows = frame(result.flows).select(columns).to_dicts()
    if flow is None:
        return rows
    names = [flow] if isinstance(flow, str) else list(flow)
    checks.words("flow", "flow", names, [row["name"] for row in rows])
    return [row for row in rows if row["name"] in names]


def _by_flow(result: Recorded, name: str) -> dict[str, polars.DataFrame]:
    """Return the rows of a trace by flow, with times in nanoseconds."""
    import polars

    table = frame(result.trace(name)).with_columns(polars.col("flow").cast(polars.String), _nanos("time"))
    return {str(key[0]): part for key, part in table.partition_by("flow", as_dict=True, include_key=False).items()}


def _nanos(name: str) -> polars.Expr:
    import polars

    return (polars.col(name) * 1e9).round().cast(polars.UInt64)


def _bytes(table: polars.DataFrame, name: str, kind: str) -> bytes:
    """Return a column as the core reads it."""
    return table[name].to_numpy().astype(kind, copy=False).tobytes()


def _flow(row: Mapping[str, Any], traces: Mapping[str, polars.DataFrame | None], ticks: Mapping[str, int]) -> Column:
    """Return what the core writes of a flow."""
    import polars

    packets, lost = (
        table if table is not None else polars.DataFrame(schema={"time": polars.UInt64, "seq": polars.UInt32, **more})
        for table, more in (
            (traces.get("sequence"), {"kind": polars.String, "size": polars.UInt32}),
            (traces.get("lost"), {}),
        )
    )
    packets = packets.with_columns(ack=(polars.col("kind").cast(polars.String) == "ack").cast(polars.UInt8))
    flight = traces.get("flight")
    # That of the last row: the first are those before both ends have agreed.
    smss = None if flight is None else int(flight["smss"][-1])
    initial = row["cwnd_initial"]
    series = {**_of_rtt(traces.get("rtt")), **_of_flight(flight), **_of_window(traces.get("cwnd"), flight)}
    return {
        "title": row["name"],
        "description": f"{row['from']} to {row['to']}, {row['control']}",
        "started": None if row["start_s"] is None else round(row["start_s"] * 1e9),
        "completed": row["completion_time"] is not None,
        "timer_granularity": ticks.get(row["name"], 0),
        "smss": smss,
        "initial_window": None if smss is None or initial is None else int(initial * smss),
        "packets": (
            _bytes(packets, "time", "u8"),
            _bytes(packets, "seq", "u4"),
            _bytes(packets, "ack", "u1"),
            _bytes(packets, "size", "u4"),
        ),
        "lost": (_bytes(lost, "time", "u8"), _bytes(lost, "seq", "u4")),
        "metrics": [
            (name, _bytes(table, "time", "u8"), _bytes(table, "value", "u8")) for name, table in series.items()
        ],
        "states": _states(flight, traces.get("recovery")),
    }


def _of_rtt(table: polars.DataFrame | None) -> dict[str, polars.DataFrame]:
    import polars

    if table is None:
        return {}
    latest = table.select("time", value=_nanos("rtt"))
    return {
        "min_rtt": latest.with_columns(value=polars.col("value").cum_min()),
        "smoothed_rtt": table.drop_nulls("srtt").select("time", value=_nanos("srtt")),
        "latest_rtt": latest,
    }


def _of_flight(table: polars.DataFrame | None) -> dict[str, polars.DataFrame]:
    import polars

    if table is None:
        return {}
    paced = table.filter(polars.col("pacing").is_finite())
    return {
        "bytes_in_flight": table.select("time", value="bytes"),
        "pacing_rate": paced.select("time", value=polars.col("pacing").cast(polars.UInt64)),
    }


def _of_window(table: polars.DataFrame | None, flight: polars.DataFrame | None) -> dict[str, polars.DataFrame]:
    """Return window and threshold in bytes; windows count segments, whose size can change."""
    import polars

    if table is None or flight is None:
        return {}
    sized = table.join_asof(flight.select("time", "smss"), on="time").with_columns(
        polars.col("smss").fill_null(strategy="backward").fill_null(flight["smss"][0])
    )
    window, threshold = (
        sized.filter(polars.col(name).is_finite()).select(
            "time", value=(polars.col(name) * polars.col("smss")).floor().cast(polars.UInt64)
        )
        for name in ("cwnd", "ssthresh")
    )
    return {"congestion_window": window, "ssthresh": threshold}


def _states(flight: polars.DataFrame | None, recovery: polars.DataFrame | None) -> list[tuple[int, str, str | None]]:
    """Return the states of a sender, which is in recovery or in the phase of its control."""
    import polars

    parts = [
        table.select("time", polars.col("phase").cast(polars.String).replace("", None).alias(name))
        for name, table in (("phase", flight), ("recovery", recovery))
        if table is not None
    ]
    if not parts:
        return []
    joined = polars.concat(parts, how="diagonal").sort("time", maintain_order=True)
    missing = [polars.lit(None, polars.String).alias(name) for name in ("phase", "recovery") if name not in joined]
    joined = joined.with_columns(missing).with_columns(polars.col("phase", "recovery").forward_fill())
    last = (
        joined.group_by("time", maintain_order=True)
        .last()
        .with_columns(
            state=polars.when(polars.col("recovery").is_in(["reduction", "fast", "timeout"]))
            .then("recovery")
            .otherwise("phase")
        )
    )
    changes = last.drop_nulls("state").filter(polars.col("state").ne_missing(polars.col("state").shift()))
    return [(time, *STATES[state]) for time, state in changes.select("time", "state").iter_rows()]


def _ticks(document: str) -> dict[str, int]:
    """Return the granularity of each flow's timers, in nanoseconds."""
    found = {}
    for flow in toml.own(document)["flow"]:
        text = flow.get("clock_granularity") or flow.get("modern", {}).get("timer_tick", "0 s")
        figures, _, unit = text.partition(" ")
        found[str(flow["name"])] = round(float(figures) * UNITS[unit][1] * 1e9)
    return found
