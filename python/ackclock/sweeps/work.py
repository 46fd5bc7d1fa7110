"""The work of a worker of a sweep: it runs the scenarios of a chunk, and returns their tables and files."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ackclock import _core
from ackclock.arrow import frame
from ackclock.datasets.layout import RUNS, TABLES, TASK
from ackclock.experiments.world import SIMULATION, World
from ackclock.metrics.runs import of_run
from ackclock.results import Result
from ackclock.scenario import Scenario
from ackclock.sweeps.recording import PACKETS, Recording

if TYPE_CHECKING:
    import polars

Tables = dict[str, "polars.DataFrame"]
Files = dict[str, bytes]
"""The files of a run's folder by their names."""


@dataclass(frozen=True)
class Limits:
    """Limits of one run; a run that exceeds them is a row with its error.

    Attributes
    ----------
    events : int or None
        Most events; None: no limit.
    memory : int or None
        Most bytes of memory, without traces; None: no limit.
    """

    events: int | None = None
    memory: int | None = None

    def __bool__(self) -> bool:
        return self.events is not None or self.memory is not None


class Chunk:
    """Tasks and their scenarios; pickled, the scenarios are texts that name no other files.

    Parameters
    ----------
    tasks
        The tasks.
    scenarios
        The scenario of each.
    plain
        Whether the engine runs them as a batch, which gives nothing but tables.
    """

    __slots__ = ("plain", "scenarios", "tasks")

    def __init__(self, tasks: Sequence[Any], scenarios: Sequence[Scenario], *, plain: bool = True) -> None:
        self.tasks = tasks
        self.scenarios = scenarios
        self.plain = plain

    def __reduce__(self) -> tuple[object, ...]:
        return _unpacked, ([(_text(each.core), each.controls) for each in self.scenarios], self.plain)


def _text(scenario: _core.Scenario) -> tuple[str, str, bool]:
    """Return the state of a scenario; other machines may lack its files, so that it has every default instead."""
    text, name, python = scenario.state()
    return (scenario.to_toml(), scenario.name, python) if scenario.files else (text, name, python)


def _unpacked(texts: Sequence[tuple[tuple[str, str, bool], dict[int, Any]]], plain: bool) -> Chunk:
    """Return a chunk of another process; it has no tasks, which only the process that collects needs."""
    made = [Scenario.from_core(_core.Scenario.restore(*text), controls) for text, controls in texts]
    return Chunk((), made, plain=plain)


@dataclass(frozen=True)
class Done:
    """What became of a chunk.

    Attributes
    ----------
    tables : dict
        Its tables; ``task`` in each is the place of the scenario in the chunk.
    files : dict
        The files of the runs that have a folder, by the place of the scenario.
    """

    tables: Tables
    files: dict[int, Files] = field(default_factory=dict)


@dataclass(frozen=True)
class Work:
    """The work of a worker: run the scenarios of a chunk.

    Attributes
    ----------
    limits : Limits
        Limits of each run.
    world : World
        Where they run.
    recording : Recording
        What they record.
    """

    limits: Limits
    world: World = SIMULATION
    recording: Recording = field(default_factory=Recording)

    def __call__(self, chunk: Chunk, cancel: _core.Cancel) -> Done:
        """Run a chunk; after `cancel`, it has the runs that were finished before."""
        if chunk.plain:
            return Done(self._batch(chunk.scenarios, cancel))
        import polars

        tables, files = [self._batch((), cancel)], {}
        for place, scenario in enumerate(chunk.scenarios):
            try:
                found = self._failed(scenario, cancel) or self._whole(scenario, cancel)
            except _core.Interrupted:
                break
            own, files[place] = found
            tables.append({name: table.with_columns(_task(place)) for name, table in own.items()})
        return Done(
            {name: polars.concat([each[name] for each in tables if name in each]) for name in (RUNS, *TABLES)},
            {place: own for place, own in files.items() if own},
        )

    def _batch(self, scenarios: Sequence[Scenario], cancel: _core.Cancel) -> Tables:
        import polars

        batch = _core.run_batch(
            [scenario.core for scenario in scenarios],
            max_events=self.limits.events, max_memory=self.limits.memory, cancel=cancel,
        )  # fmt: skip
        return {name: polars.DataFrame(getattr(batch, name)) for name in (RUNS, *TABLES)}

    def _failed(self, scenario: Scenario, cancel: _core.Cancel) -> tuple[Tables, Files] | None:
        """Return the row of a run that exceeds its limits; only a batch has limits, so that it runs twice."""
        if not self.limits:
            return None
        tables = self._batch([scenario], cancel)
        if not tables[RUNS].height:
            raise _core.Interrupted
        return None if tables[RUNS]["error"][0] is None else ({RUNS: tables[RUNS]}, {})

    def _whole(self, scenario: Scenario, cancel: _core.Cancel) -> tuple[Tables, Files]:
        """Run a scenario that a batch cannot run; return its tables, and the files of its folder."""
        recording, began = self.recording, time.perf_counter()
        places = recording.places(scenario)
        try:
            result = self.world.runner(scenario, recording.traces(scenario), cancel, places)
            if reason := self.world.fault(result):
                raise ValueError(reason)
            tables = self._tables(result, time.perf_counter() - began)
            files = result.files()
            if places:
                files[PACKETS] = result.pcapng(snaplen=recording.snaplen)
        except _core.Interrupted:
            raise
        except Exception as error:
            text = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
            return {RUNS: self._row({"error": text, "events": 0, "cpu_s": 0.0, "wall_s": 0.0})}, {}
        return tables, files

    def _tables(self, result: Result, seconds: float) -> Tables:
        scenario = result.scenario
        flows, links = frame(result.flows), frame(result.links)
        names = ", ".join(warning["name"] for warning in result.warnings)
        row = of_run(flows, links, scenario.bottleneck, scenario.duration)
        costs = {"events": result.events, "cpu_s": result.cpu_seconds, "wall_s": seconds}
        empty = self._batch((), _core.Cancel())
        tables = {RUNS: self._row({**row, "warnings": names or None, **costs})}
        for name in TABLES:
            kinds = {key: kind for key, kind in empty[name].schema.items() if key != TASK}
            found = frame(getattr(result, name)).select(*kinds).cast(kinds)  # type: ignore[arg-type]
            tables[name] = found.select(_task(0), *kinds)
        return tables

    def _row(self, values: dict[str, Any]) -> polars.DataFrame:
        import polars

        schema = self._batch((), _core.Cancel())[RUNS].schema
        return polars.DataFrame([{name: values.get(name, 0 if name == TASK else None) for name in schema}], schema)


def _task(place: int) -> polars.Expr:
    import polars

    return polars.lit(place, dtype=polars.UInt64).alias(TASK)
