"""Simulation and kernel packet by packet: the first packet and the first state of a sender that differ."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars

from ackclock import _core
from ackclock.experiments.world import run_here
from ackclock.freeze import Frozen
from ackclock.linux import running
from ackclock.linux.store import Built
from ackclock.results import Result, frame
from ackclock.scenario import Scenario

FIELDS = ("direction", "from", "flags", "seq", "bytes", "ack", "sack", "ecn", "size")
"""What makes two packets the same, besides place and flow."""
STAMPS = ("ts_value", "ts_echo")
"""Timestamps of two packets that are the same differ by at most one tick: a tick can lie between their times."""
LATE = 50e-6
"""Largest distance of the times of two packets that are the same, in seconds."""
LONGEST = 1.0
"""Largest phase, in seconds: longer than the coarsest tick at which timers of usual length expire."""
AFTER = 0.05
"""What a shorter scenario still lasts after its difference, in seconds."""
SHORTER = 0.9
"""Share of a duration below which it counts as shorter."""
STATE = ("cwnd", "rtt", "recovery")
"""Traces that tell what a sender knew."""
VALUES = ("cwnd", "ssthresh", "srtt", "rto", "phase")
"""Their values that make two states the same: all that `TCP_INFO` also has."""
SETTLED = 5e-6
"""Time after which both worlds have processed a packet, in seconds."""
NEAR = 2e-6
"""Largest distance of two times that are the same in a state, in seconds: `TCP_INFO` has whole microseconds."""
Value = float | str | None


@dataclass(frozen=True)
class Difference:
    """The first packet that differs.

    Attributes
    ----------
    flow, place : str
        Its flow, and the host at which it was captured.
    index : int
        Its number among the packets of the flow there, from 0.
    time : float
        When the earlier world sends or receives it, in seconds.
    fields : tuple of str
        What differs: names of `FIELDS`, ``time``, or ``missing`` if one world has no further packet.
    """

    flow: str
    place: str
    index: int
    time: float
    fields: tuple[str, ...]


@dataclass(frozen=True)
class StateDifference:
    """The first state of a sender that differs, after a packet that it received.

    Attributes
    ----------
    flow : str
        Its flow.
    time : float
        When the packet arrived, in seconds.
    values : dict of str to tuple
        What differs: some of `VALUES`, each in the simulation and in the kernel.
    """

    flow: str
    time: float
    values: dict[str, tuple[Value, Value]]


@dataclass(frozen=True)
class Side:
    """The packets of one world.

    Attributes
    ----------
    packets : polars.DataFrame
        All packets at both ends, as in `Result.packets`, with timestamps that count from the first of their end.
    states : dict of str to polars.DataFrame
        The traces `STATE`.
    """

    packets: polars.DataFrame
    states: dict[str, polars.DataFrame]

    @classmethod
    def of(cls, result: Result) -> Side:
        """Return the packets of a run that captured at its ends and recorded `STATE`.

        Of packets at the same nanosecond, those received come first: which order a capture shows depends on its world.
        """
        packets = frame(result.packets).sort(polars.col("time_s").round(9), "direction", maintain_order=True)
        return cls(_from_zero(packets), {name: frame(result.trace(name)) for name in STATE if name in result.traces})

    def around(self, difference: Difference, count: int) -> polars.DataFrame:
        """Return the packets up to `count` before and after a difference."""
        own = _own(self.packets, difference.flow, difference.place)
        first = max(0, difference.index - count)
        return own.slice(first, difference.index + count + 1 - first)

    def before(self, difference: Difference) -> dict[str, Value]:
        """Return the last known values of the sender before a difference: cwnd, ssthresh, rtt, srtt, rto, phase."""
        found: dict[str, Value] = {}
        for trace in self.states.values():
            rows = trace.filter((polars.col("flow") == difference.flow) & (polars.col("time") < difference.time - LATE))
            last = rows.tail(1).to_dicts()
            names = [name for name in trace.columns if name not in {"time", "flow"}]
            found |= {name: last[0][name] if last else None for name in names}
        return found


@dataclass(frozen=True)
class Compared:
    """A scenario in both worlds.

    Attributes
    ----------
    scenario : Scenario
        The scenario.
    simulation, kernel : Side
        Its packets.
    difference : Difference or None
        The first packet that differs; None if all are the same.
    latest : float
        Largest distance in time of two packets before it, in seconds.
    state : StateDifference or None
        The first state that differs before it; None if all are the same.
    """

    scenario: Scenario
    simulation: Side
    kernel: Side
    difference: Difference | None
    latest: float
    state: StateDifference | None


def compare(scenario: Scenario, kernel: Built, *, phase: float = 0.0, cancel: _core.Cancel | None = None) -> Compared:
    """Run a scenario in the simulation and on a kernel in virtual time, and compare packets and states at both ends.

    Parameters
    ----------
    scenario
        The scenario. Its flows must have hosts of the profile ``modern``.
    kernel
        The kernel.
    phase
        The start of the run after a tick, in seconds, in both worlds.
    cancel
        A handle that stops the runs from another thread.

    Raises
    ------
    ScenarioError
        If the scenario cannot run on a kernel.
    """
    cancel = cancel or _core.Cancel()
    places = ends(scenario)
    on_kernel = running.run_virtual(scenario, STATE, cancel, places, kernel=kernel, phase=phase)
    simulated = run_here(in_phase(scenario, phase), STATE, cancel, places)
    return judge(scenario, Side.of(simulated), Side.of(on_kernel))


def ends(scenario: Scenario) -> list[str]:
    """Return the nodes at which flows begin or end."""
    return sorted({node for flow in Frozen(scenario).flows for node in (flow["from"], flow["to"])})


def in_phase(scenario: Scenario, phase: float) -> Scenario:
    """Return a scenario whose hosts have had their latest tick `phase` seconds before its start."""
    if phase == 0:
        return scenario
    return scenario.set(
        {f"flow.{number}.modern.timer_phase": f"{phase} s" for number in range(len(Frozen(scenario).flows))}
    )


def shrink(compared: Compared, kernel: Built, *, phase: float = 0.0, cancel: _core.Cancel | None = None) -> Compared:
    """Return a scenario that is as small as a difference allows: shorter, with fewer flows and losses.

    Each step tries one simplification and keeps it if any packet still differs.

    Parameters
    ----------
    compared
        A comparison that found a difference.
    kernel, phase, cancel
        As in `compare`.
    """
    while True:
        for simpler in _simpler(compared):
            try:
                tried = compare(simpler, kernel, phase=phase, cancel=cancel)
            except ValueError:
                continue
            if tried.difference is not None:
                compared = tried
                break
        else:
            return compared


def _simpler(compared: Compared) -> Iterator[Scenario]:
    """Yield scenarios that are simpler by one step, the largest steps first."""
    scenario, difference = compared.scenario, compared.difference
    if difference is None:
        return
    document = Frozen(scenario).document
    end = difference.time + AFTER
    if end < SHORTER * scenario.duration:
        yield _made(document | {"duration": f"{end:.3f} s"})
    flows = document["flow"]
    if len(flows) > 1:
        yield from (_made(document | {"flow": rest}) for rest in _without_one(flows))
    links = document["topology"]["link"]
    for place, link in enumerate(links):
        for change in _simpler_link(link):
            changed = [*links[:place], {**link, **change}, *links[place + 1 :]]
            yield _made(document | {"topology": {**document["topology"], "link": changed}})


def _simpler_link(link: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    loss, delay = link.get("loss"), link["delay"]
    if isinstance(loss, dict):
        yield {"loss": "none"}
        listed = loss.get("packets", [])
        yield from ({"loss": {**loss, "packets": rest}} for rest in _without_one(listed) if rest)
    if isinstance(delay, dict) and "delay" in delay:
        yield {"delay": delay["delay"]}
    if isinstance(delay, list):
        yield from ({"delay": rest} for rest in _without_one(delay) if rest)


def _without_one(items: Sequence[Any]) -> Iterator[list[Any]]:
    return ([*items[:place], *items[place + 1 :]] for place in range(len(items)))


def _made(document: Mapping[str, Any]) -> Scenario:
    tables = dict(document)
    return Scenario(tables.pop("name"), **tables)


def judge(scenario: Scenario, simulation: Side, kernel: Side) -> Compared:
    """Find the first packet and the first state that differ."""
    found: list[Difference] = []
    latest = 0.0
    for flow, place in _groups(simulation.packets, kernel.packets):
        one, other = (_own(side.packets, flow, place) for side in (simulation, kernel))
        difference, late = _first(one, other, flow, place)
        latest = max(latest, late)
        if difference:
            found.append(difference)
    first = min(found, key=lambda difference: (difference.time, difference.place), default=None)
    state = _first_state(simulation, kernel, math.inf if first is None else first.time)
    return Compared(scenario, simulation, kernel, first, latest, state)


def _first_state(simulation: Side, kernel: Side, until: float) -> StateDifference | None:
    """Return the first state that differs before a time in seconds."""
    told = [name for name in STATE if name in simulation.states and name in kernel.states]
    found = []
    for (flow,), packets in kernel.packets.group_by("flow", maintain_order=True):
        heard = packets.filter(
            polars.col("direction") == "received",
            polars.col("from") == "receiver",
            ~polars.col("flags").str.contains("S"),
            polars.col("time_s") < until - LATE,
            # Of packets that arrive together, the last one counts.
            (polars.col("time_s").diff(-1).abs() > 2 * SETTLED).fill_null(value=True),
        )
        rows = heard.select(time=polars.col("time_s") + SETTLED)
        for name in told:
            one, other = (
                side.states[name].filter(polars.col("flow") == flow).drop("flow") for side in (simulation, kernel)
            )
            rows = rows.join_asof(one, on="time").join_asof(other, on="time", suffix="_kernel")
        pairs = {name: (rows[name], rows[f"{name}_kernel"]) for name in VALUES if name in rows.columns}
        wrong = {name: _apart(*pair).arg_true() for name, pair in pairs.items()}
        places = [int(indices[0]) for indices in wrong.values() if len(indices)]
        if places:
            place = min(places)
            values = {name: (one[place], other[place]) for name, (one, other) in pairs.items() if place in wrong[name]}
            found.append(StateDifference(str(flow), rows["time"][place] - SETTLED, values))
    return min(found, key=lambda state: state.time, default=None)


def _apart(one: polars.Series, other: polars.Series) -> polars.Series:
    """Return where two columns of a state differ."""
    different = one.ne_missing(other)
    if one.name in {"srtt", "rto"}:
        return different & ((one - other).abs() > NEAR).fill_null(value=True)
    return different


def _groups(*tables: polars.DataFrame) -> list[tuple[str, str]]:
    pairs = polars.concat([table.select("flow", "place") for table in tables]).unique().sort("flow", "place")
    return list(pairs.iter_rows())


def _from_zero(packets: polars.DataFrame) -> polars.DataFrame:
    """Return packets whose timestamps count from the first of each end of a flow: a kernel begins at a random one."""
    value, echo = polars.col("ts_value"), polars.col("ts_echo")
    first = packets.drop_nulls("ts_value").group_by("flow", "from").agg(value.first().alias("first"))
    peers = first.with_columns(polars.col("from").replace({"sender": "receiver", "receiver": "sender"}))
    packets = packets.join(first, on=["flow", "from"], how="left", maintain_order="left")
    packets = packets.join(peers, on=["flow", "from"], how="left", maintain_order="left", suffix="_peer")
    # A segment without ACK echoes nothing.
    since = polars.when(polars.col("ack").is_not_null()).then(echo - polars.col("first_peer"))
    return packets.with_columns(ts_value=value - polars.col("first"), ts_echo=since).drop("first", "first_peer")


def _own(packets: polars.DataFrame, flow: str, place: str) -> polars.DataFrame:
    return packets.filter((polars.col("flow") == flow) & (polars.col("place") == place))


def _first(one: polars.DataFrame, other: polars.DataFrame, flow: str, place: str) -> tuple[Difference | None, float]:
    """Return the first difference of a flow's packets at a place, and the largest distance in time before it."""
    both = min(len(one), len(other))
    head, tail = one.head(both), other.head(both)
    apart = (head["time_s"] - tail["time_s"]).abs().fill_null(0.0)
    late = apart > LATE
    wrong = late.clone()
    for name in FIELDS:
        wrong |= head[name].ne_missing(tail[name])
    for name in STAMPS:
        wrong |= _ticks_apart(head[name], tail[name]) > 1
    places = wrong.arg_true()
    if len(places):
        index = int(places[0])
        rows = head.row(index, named=True), tail.row(index, named=True)
        # Timestamps of packets that leave at different times differ as well.
        names = FIELDS if late[index] else (*FIELDS, *STAMPS)
        fields = [name for name in names if rows[0][name] != rows[1][name]]
        time = min(row["time_s"] for row in rows)
        latest = max(apart[:index].to_list(), default=0.0)
        return Difference(flow, place, index, time, tuple(fields) or ("time",)), latest
    latest = max(apart.to_list(), default=0.0)
    if len(one) == len(other):
        return None, latest
    longer = one if len(one) > both else other
    return Difference(flow, place, both, float(longer["time_s"][both]), ("missing",)), latest


def _ticks_apart(one: polars.Series, other: polars.Series) -> polars.Series:
    """Return by how much timestamps differ; 2 where only one packet has any."""
    apart = (one.cast(polars.Int64) - other.cast(polars.Int64)).abs()
    return polars.select(
        polars.when(one.is_null() == other.is_null()).then(apart.fill_null(0)).otherwise(2)
    ).to_series()


def digest(packets: polars.DataFrame, until: float = math.inf) -> str:
    """Return a hash of the `FIELDS` of the packets before a time in seconds, in the order of flow and place."""
    rows = packets.filter(polars.col("time_s") < until).sort("flow", "place", maintain_order=True)
    return hashlib.sha256(rows.select("flow", "place", *FIELDS).write_csv().encode()).hexdigest()


def lines(packets: polars.DataFrame) -> list[str]:
    """Return each packet as a line of a script."""
    return [_line(row) for row in packets.to_dicts()]


def _line(row: Mapping[str, Any]) -> str:
    seq, size = int(row["seq"]), int(row["bytes"])
    words = [f"{row['time_s']:.6f}", "<" if row["direction"] == "received" else ">", row["flags"]]
    words.append(f"{seq}:{seq + size}({size})")
    if row["ack"] is not None:
        words.append(f"ack {row['ack']}")
    words.append(f"win {row['window']}")
    if row["sack"] is not None:
        words.append(f"<sack {row['sack']}>")
    if row["ecn"] != "Not-ECT":
        words.append(f"[{row['ecn']}]")
    return " ".join(words)
