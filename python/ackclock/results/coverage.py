"""Coverage of the states that a congestion control names: which it entered, and how it went from one to another."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol, runtime_checkable

from ackclock import _core
from ackclock.formatting.numbers import counted
from ackclock.freeze import Frozen
from ackclock.metrics.groups import under_test
from ackclock.scenario import Scenario
from ackclock.summaries import AnyResult

TRACE = "internals"
"""The trace that has the states."""
STATE = re.compile(r"(\d+): ([^,]+)")
"""A state in the meaning of a quantity, such as ``1: Drain``."""
Names = Mapping[str, Sequence[str]]
"""The names of the states 0, 1, … of each quantity."""


@runtime_checkable
class Run(AnyResult, Protocol):
    """A run in memory or on disk, `ackclock.Result` or `ackclock.StoredResult`."""

    @property
    def scenario(self) -> Scenario:
        """The scenario."""
        ...


@dataclass(frozen=True)
class Tally:
    """The states of one quantity of a control in one run; of the flows under test together.

    Attributes
    ----------
    control : str
        Name of the part or class.
    quantity : str
        Name of the quantity in the trace.
    names : sequence of str
        The names of the states.
    entries : sequence of int
        How often the control entered each.
    seconds : sequence of float
        How long it stayed in each.
    transitions : sequence of (int, int, int)
        From which state to which it went, and how often.
    """

    control: str
    quantity: str
    names: Sequence[str]
    entries: Sequence[int]
    seconds: Sequence[float]
    transitions: Sequence[Sequence[int]]


class Coverage:
    """The states and transitions that controls went through in several runs.

    Parameters
    ----------
    runs
        The tallies of each run.

    Attributes
    ----------
    states : polars.DataFrame
        A row for each state: ``control``, ``quantity`` and ``state``; ``runs``, in which flows have the control;
        ``entered_in``, how many of these entered the state; ``entries`` in all; ``seconds`` in it.
    transitions : polars.DataFrame
        A row for each pair of states that followed each other: ``control``, ``quantity``, ``from``, ``to``; ``runs``;
        ``entered_in``; ``count`` in all.
    """

    def __init__(self, runs: Iterable[Sequence[Tally]]) -> None:
        import polars

        found = [(run, tally) for run, tallies in enumerate(runs) for tally in tallies]
        rows = [
            (run, tally.control, tally.quantity, name, entries, seconds)
            for run, tally in found
            for name, entries, seconds in zip(tally.names, tally.entries, tally.seconds, strict=True)
        ]
        kinds = [("run", polars.Int64), ("control", polars.String), ("quantity", polars.String)]
        counts, key = [("entries", polars.Int64), ("seconds", polars.Float64)], ["control", "quantity"]
        entered = polars.col("run").filter(polars.col("entries") > 0).n_unique().alias("entered_in")
        states = polars.DataFrame(rows, schema=[*kinds, ("state", polars.String), *counts], orient="row")
        total = states.group_by(key).agg(polars.col("run").n_unique().alias("runs"))
        self.states = (
            states.group_by([*key, "state"], maintain_order=True)
            .agg(entered, polars.col("entries").sum(), polars.col("seconds").sum())
            .join(total, on=key, maintain_order="left")
            .select(*key, "state", "runs", "entered_in", "entries", "seconds")
        )
        steps = [
            (run, tally.control, tally.quantity, tally.names[first], tally.names[second], count)
            for run, tally in found
            for first, second, count in tally.transitions
        ]
        ends = [("from", polars.String), ("to", polars.String), ("count", polars.Int64)]
        self.transitions = (
            polars.DataFrame(steps, schema=[*kinds, *ends], orient="row")
            .group_by([*key, "from", "to"], maintain_order=True)
            .agg(polars.col("run").n_unique().alias("entered_in"), polars.col("count").sum())
            .join(total, on=key, maintain_order="left")
            .select(*key, "from", "to", "runs", "entered_in", "count")
            .sort(*key, "count", "from", "to", descending=[False, False, True, False, False])
        )

    def __repr__(self) -> str:
        return f"<Coverage: {counted(self.states.height, 'state')}, {counted(len(self.never), 'state')} never entered>"

    @property
    def never(self) -> list[str]:
        """A sentence for each state that no run entered, such as ``bbr: Drain was never entered in 40 runs``."""
        return [
            f"{row['control']}: {row['state']} was never entered in {counted(row['runs'], 'run')}"
            for row in self.states.filter(entered_in=0).to_dicts()
        ]


def coverage(results: Run | Iterable[Run]) -> Coverage:
    """Count the states of congestion controls in runs, and the transitions between them.

    A built-in control names its states in the meaning of a quantity, as ``ackclock list`` shows; a class in Python in
    its attribute ``states``. The trace has a row for each ACK, so that a state between two ACKs does not show.

    Parameters
    ----------
    results
        A result, or several, with the trace ``internals``.

    Returns
    -------
    Coverage
        The states of the flows under test: those whose names begin with ``tested``, or all if there are none.

    Raises
    ------
    ValueError
        If a result has no trace ``internals``, or no control names its states.

    Examples
    --------
    >>> scenario = ackclock.Scenario(duration="30 s", flow=[{"congestion_control": "bbr"}], record=["internals"])
    >>> ackclock.coverage(ackclock.run(scenario)).never
    []
    """
    runs = [results] if isinstance(results, Run) else list(results)
    for result in runs:
        if TRACE not in result.traces:
            raise ValueError(f'{result.name}: has no trace of states; run it with record = ["{TRACE}"]')
    found = [tallies(result) for result in runs]
    if not any(found):
        raise ValueError("no control names its states")
    return Coverage(found)


def tallies(result: Run) -> list[Tally]:
    """Return the tallies of a run with the trace `TRACE`; none if no control of the flows under test names states."""
    import polars

    tables = Frozen(result.scenario).flows
    tested = under_test(flow["name"] for flow in tables)
    flows: dict[tuple[str, str], tuple[Sequence[str], list[str]]] = {}
    for flow in tables:
        for control, states in named_states(flow) if flow["name"] in tested else ():
            for quantity, names in states.items():
                flows.setdefault((control, quantity), (names, []))[1].append(flow["name"])
    if not flows:
        return []
    trace = polars.DataFrame(result.trace(TRACE)).with_columns(polars.col("flow", "name").cast(polars.String))
    made = []
    for (control, quantity), (names, having) in flows.items():
        # An application's connections have the name of their flow and a number.
        rows = trace.filter(
            polars.col("flow").is_in(having) | polars.col("flow").str.replace(r"\.\d+$", "").is_in(having),
            name=quantity,
        )
        last = polars.col("time").shift(-1).over("flow")
        walk = rows.with_columns(
            state=polars.col("value").cast(polars.Int64),
            before=polars.col("value").cast(polars.Int64).shift().over("flow"),
            seconds=last - polars.col("time"),
        )
        if strange := sorted(set(walk["state"].unique()) - set(range(len(names)))):
            raise ValueError(f"{control}: {quantity} is {strange[0]}, but has names from 0 to {len(names) - 1}")
        entered = walk.filter(polars.col("before").is_null() | (polars.col("before") != polars.col("state")))
        entries = dict(entered.group_by("state").len().iter_rows())
        seconds = dict(walk.group_by("state").agg(polars.col("seconds").sum()).iter_rows())
        steps = entered.drop_nulls("before").group_by("before", "state").len().sort("before", "state")
        every = range(len(names))
        made.append(
            Tally(
                control, quantity, list(names), [entries.get(each, 0) for each in every],
                [seconds.get(each, 0.0) for each in every], [list(step) for step in steps.iter_rows()],
            )
        )  # fmt: skip
    return made


def named_states(flow: Mapping[str, Any]) -> list[tuple[str, Names]]:
    """Return the controls and parts of a flow that name their states, with these names."""
    found: list[tuple[str, Names]] = []
    for value in flow.values():
        if isinstance(value, type):
            states = getattr(value, "states", None)
            found += [(value.__name__, states)] if states else []
        elif isinstance(value, Mapping):
            kind = value.get("kind", "")
            found += [(kind, _built_in()[kind])] if kind in _built_in() else []
            # A part inside another, as the slow start that `paced` spreads.
            found += named_states(value)
    return found


@cache
def _built_in() -> dict[str, Names]:
    """Return the states of the registry's parts by the names of parts."""
    axes: dict[str, list[dict[str, Any]]] = json.loads(_core.registry())
    parts = [part for axis in ("slow_start", "avoidance", "congestion_control") for part in axes.get(axis, [])]
    found = {
        part["name"]: {
            quantity["name"]: names for quantity in part.get("quantities", []) if (names := _named(quantity["doc"]))
        }
        for part in parts
    }
    return {name: states for name, states in found.items() if states}


def _named(meaning: str) -> list[str]:
    """Return the names of the states 0, 1, … in the meaning of a quantity; none if it lists none."""
    states = STATE.findall(meaning)
    return [name.strip() for number, name in states] if [*range(len(states))] == [int(it[0]) for it in states] else []
