"""Sweeps: the points of a scenario's ``[sweep]`` and their seeds, run by an engine, stored as a dataset.

A *task* is a point with a seed. Tasks travel to the engine in *chunks*, which workers run without the GIL. Each task
has a row in the dataset. Tasks whose scenarios are equal run once; the rows of the others are copies.
"""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock import _core
from ackclock.datasets.dataset import Dataset
from ackclock.datasets.layout import RUNS, TABLES, read_manifest, schema
from ackclock.datasets.writer import COMPLETE, INTERRUPTED, Writer
from ackclock.experiments import sources
from ackclock.experiments.budget import check_runs
from ackclock.experiments.engines.engine import Engine
from ackclock.experiments.engines.local import Local
from ackclock.experiments.execute import Interrupted
from ackclock.scenario import Scenario, SweepPoints
from ackclock.statistics.sequential import Stopping
from ackclock.texts.numbers import counted

if TYPE_CHECKING:
    import polars

Progress = Callable[[int, int], None]
Tables = dict[str, "polars.DataFrame"]
SEED = "seed"
MOST_TASKS = 10_000_000
CHUNK_SECONDS = 0.25  # of a worker; long against the cost of a chunk, short against a sweep
MOST_IN_CHUNK = 512


@dataclass(frozen=True)
class Limits:
    """Limits of one run; a run that exceeds them is a row with its error.

    Attributes
    ----------
    events : int or None
        Most events; None: no limit.
    memory : int or None
        Most bytes of memory; None: no limit.
    """

    events: int | None = None
    memory: int | None = None


@dataclass(frozen=True)
class Until:
    """A measure whose interval decides how many seeds each point gets.

    Attributes
    ----------
    measure : str
        A column of the table ``runs``.
    rule : Stopping
        The rule.
    """

    measure: str
    rule: Stopping


@dataclass(frozen=True)
class Task:
    """A point with a seed.

    Attributes
    ----------
    point : int
        Number of the point in the sweep, from 0.
    seed : int
        The seed.
    labels : tuple of str
        Values of the point's labels.
    hash : str or None
        Hash of the scenario; None if the scenario is wrong.
    run : str
        Key of the run: scenario and program.
    """

    point: int
    seed: int
    labels: tuple[str, ...]
    hash: str | None
    run: str


class Chunk:
    """Tasks and their scenarios; pickled, the scenarios are texts that name no other files.

    Parameters
    ----------
    tasks
        The tasks.
    scenarios
        The scenario of each.
    """

    __slots__ = ("scenarios", "tasks")

    def __init__(self, tasks: Sequence[Task], scenarios: Sequence[_core.Scenario]) -> None:
        self.tasks = tasks
        self.scenarios = scenarios

    def __reduce__(self) -> tuple[object, ...]:
        return _unpacked, ([_text(scenario) for scenario in self.scenarios],)


def _text(scenario: _core.Scenario) -> tuple[str, str, bool]:
    """Return the state of a scenario; other machines may lack its files, so that it has every default instead."""
    return (scenario.to_toml(), scenario.name, False) if scenario.files else scenario.state()


def _unpacked(texts: Sequence[tuple[str, str, bool]]) -> Chunk:
    """Return a chunk of another process; it has no tasks, which only the process that collects needs."""
    return Chunk((), [_core.Scenario.restore(*text) for text in texts])


@dataclass(frozen=True)
class Work:
    """The work of a worker: run the scenarios of a chunk, and return its tables.

    Attributes
    ----------
    limits : Limits
        Limits of each run.
    """

    limits: Limits

    def __call__(self, chunk: Chunk, cancel: _core.Cancel) -> Tables:
        """Run a chunk; ``task`` in each table is the place of the scenario in the chunk."""
        import polars

        batch = _core.run_batch(
            chunk.scenarios, max_events=self.limits.events, max_memory=self.limits.memory, cancel=cancel
        )
        return {name: polars.DataFrame(getattr(batch, name)) for name in (RUNS, *TABLES)}


@dataclass(frozen=True)
class Outcome:
    """What a sweep did.

    Attributes
    ----------
    dataset : Dataset
        Its rows.
    planned : int
        Number of tasks.
    stored : int
        Tasks whose rows were in the dataset before.
    copied : int
        Tasks whose scenario equals that of another task, which ran.
    moved : int
        Rows of an earlier form of the sweep that moved to ``earlier``.
    wide : int
        Points that have the most seeds although their intervals are still wide.
    """

    dataset: Dataset
    planned: int
    stored: int
    copied: int
    moved: int
    wide: int

    def _repr_html_(self) -> str:
        """Return the card of its dataset for a notebook, with what the sweep did."""
        new = self.planned - self.stored - self.copied
        said = [f"{counted(new, 'run')} new, {self.stored:,} stored before, {self.copied:,} equal to others."]
        if self.moved:
            said.append(f"{counted(self.moved, 'row')} of an earlier form of the sweep moved to earlier.")
        if self.wide:
            said.append(f"{counted(self.wide, 'point')} kept a wide interval with the most seeds.")
        return self.dataset.card(said).html()


def sweep(
    scenario: Scenario,
    folder: str | Path,
    *,
    text: str | None = None,
    seeds: int | None = None,
    until: Until | None = None,
    limits: Limits | None = None,
    retry: bool = False,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Run the points of a scenario's ``[sweep]``, and store a row for each in a dataset.

    A dataset of the same sweep is continued: stored tasks do not run again. If the scenario changed, only tasks run
    whose scenarios are new.

    Parameters
    ----------
    scenario
        The scenario; without a ``[sweep]`` it is the only point.
    folder
        Folder of the dataset.
    text
        Text of the scenario's file, stored with the dataset; None: the scenario and its ``[sweep]`` without comments.
    seeds
        Every point runs with the seeds from 1 to this; None: with its own seed.
    until
        After `seeds` runs, a point gets further seeds until this measure's interval is narrow; its `at_least` replaces
        `seeds`.
    limits
        Limits of one run.
    retry
        Whether tasks that ended with an error run again. They do in any case if the limits changed.
    engine
        Where the runs take place; None: threads of this process, one for each processor.
    progress
        Called with the number of finished tasks and of all tasks.

    Raises
    ------
    ScenarioError
        If the sweep is wrong.
    ValueError
        If `seeds` and an axis ``seed`` exclude each other, or the scenario has a control in Python.
    Interrupted
        After Ctrl-C; every finished run is in the dataset.
    """
    plan = _Plan(scenario, seeds if until is None else until.rule.at_least, until)
    running = _Running(plan, Path(folder), limits or Limits(), engine or Local(), progress)
    return running.run(text if text is not None else scenario.core.state()[0], retry=retry)


class _Plan:
    """The tasks of a sweep."""

    def __init__(self, scenario: Scenario, seeds: int | None, until: Until | None) -> None:
        if scenario.controls:
            raise ValueError(f"{scenario.name}: has a control in Python, which a dataset cannot store")
        self.scenario = scenario
        self.points: SweepPoints = scenario.sweep_points()
        names = list(self.points.labels(0))
        if seeds is not None and SEED in names:
            raise ValueError(f"{scenario.name}: [sweep] has an axis seed, so the number of seeds is given twice")
        self.labels = [name for name in names if name != SEED]
        self.seeds = seeds
        self._swept = self._without_seeds() if SEED in names else None
        self.until = until
        check_runs(len(self.points) * (seeds or 1), MOST_TASKS, "use fewer seeds")

    def _without_seeds(self) -> tuple[array[int], array[int]]:
        """Return the point and the seed of every place of a sweep with an axis of seeds."""
        numbers: dict[tuple[tuple[str, ...], int], int] = {}
        times: Counter[tuple[tuple[str, ...], int]] = Counter()
        points, seeds = array("Q"), array("Q")
        for place in range(len(self.points)):
            labels = self.points.labels(place)
            text = labels.pop(SEED)
            # A seed that is none makes the scenario wrong, so that the row has an error.
            seed = int(text) if text.isdecimal() and int(text) < 2**64 else 0
            # Drawn points can have the same labels and the same seed.
            key = tuple(labels.values())
            numbered = (key, times[key, seed])
            times[key, seed] += 1
            seeds.append(seed)
            points.append(numbers.setdefault(numbered, len(numbers)))
        return points, seeds

    def identity(self, place: int, seed: int | None) -> tuple[int, int | None]:
        """Return point and seed of a task by its place in the sweep; None: the seed of the scenario."""
        if self._swept is None:
            return place, seed
        points, seeds = self._swept
        return points[place], seeds[place]

    def __len__(self) -> int:
        return len(self.points) * (self.seeds or 1)

    def __iter__(self) -> Iterator[tuple[int, int | None]]:
        """Place in the sweep and seed of each task; all places have their first seed before any has its second."""
        for seed in range(1, self.seeds + 1) if self.seeds else [None]:
            for place in range(len(self.points)):
                yield place, seed

    def everything(self) -> Iterator[tuple[int, int | None]]:
        """Place and seed of each task, also of those that a stopping rule may add."""
        if self.until is None:
            yield from self
            return
        for place in range(len(self.points)):
            for seed in range(1, self.until.rule.at_most + 1):
                yield place, seed

    def task(self, place: int, seed: int | None) -> tuple[Task, _core.Scenario | str]:
        """Return a task with its scenario, or with the message if its scenario is wrong."""
        point, known = self.identity(place, seed)
        labels, made = self._made(place, seed)
        values = tuple(labels[name] for name in self.labels)
        if isinstance(made, str):
            own = self.scenario.seed if known is None else known
            return Task(point, own, values, None, sources.digest(made, point, own, length=20)), made
        return Task(point, made.seed, values, made.hash, _key(made.hash)), made

    def _made(self, place: int, seed: int | None) -> tuple[dict[str, str], _core.Scenario | str]:
        try:
            return self.points.core.point(place, [] if seed is None else [(SEED, str(seed))])
        except _core.ScenarioError as error:
            return self.points.labels(place), str(error)

    @property
    def digest(self) -> str:
        """Hash of everything that determines the tasks and their rows."""
        text, _, _ = self.scenario.core.state()
        tables = [sources.digest(Path(file).read_bytes().hex()) for file in self.scenario.core.files]
        until = None if self.until is None else [self.until.measure, asdict(self.until.rule)]
        return sources.digest(text, tables, self.seeds, until, sources.build())


def _key(scenario: str) -> str:
    return hashlib.sha256(f"{scenario} {sources.build()}".encode()).hexdigest()[:20]


class _Running:
    """A sweep under way: what is stored, what runs, and the tables that come back."""

    def __init__(self, plan: _Plan, folder: Path, limits: Limits, engine: Engine, progress: Progress | None) -> None:
        self._plan = plan
        self._folder = folder
        self._limits = limits
        self._engine = engine
        self._progress = progress
        self._planned = len(plan)
        self._stored: set[tuple[int, int]] = set()
        self._own: set[int] = set()  # points with a stored seed, for tasks with the seed of the scenario
        self._known: set[str] = set()
        self._copies: list[Task] = []
        self._copied = 0
        self._moved = 0
        self._wide = 0
        self._wrong: list[tuple[Task, str]] = []
        self._out: dict[int, Sequence[Task]] = {}
        self._done = 0
        self._ends: dict[int, int] = {}  # number of seeds at which the stopping rule ended a point
        self._pace = 0.0  # seconds of a run in the last chunk
        self._largest = 0  # number of tasks in the largest finished chunk

    def run(self, text: str, *, retry: bool) -> Outcome:
        """Run the tasks that the dataset lacks."""
        settings = {"seeds": self._plan.seeds, "limits": asdict(self._limits)}
        before = _manifest(self._folder)
        name = self._plan.scenario.name
        if before and before.get("scenario") != name:
            raise ValueError(f"{self._folder}: holds the sweep of {before.get('scenario')!r}; name another directory")
        known = before.get("settings", settings)
        # The manifest describes the rows: what is new follows when the rows are changed.
        manifest = {"scenario": name, "planned": self._planned, "settings": known, "plan": before.get("plan")}
        with Writer(self._folder, manifest=manifest, labels=self._plan.labels, scenario=text) as writer:
            try:
                digest = self._plan.digest
                retry = retry or known["limits"] != settings["limits"]
                if before and (retry or before.get("plan") != digest):
                    self._moved = writer.relabel(self._everything(writer), retry=retry).moved
                writer.describe(plan=digest, settings=settings)
                self._read(writer)
                stored = self._done
                self._all(writer)
                writer.describe(planned=self._planned)
            except KeyboardInterrupt:
                # Ctrl-C may come between the storing of rows and their counting, so that the store has the last word.
                stored = writer.stored().height
                writer.finish(INTERRUPTED)
                done = [index if index < stored else None for index in range(self._planned)]
                raise Interrupted(done, advice="run the same command to continue") from None
            writer.finish(COMPLETE)
        return Outcome(Dataset(self._folder), self._planned, stored, self._copied, self._moved, self._wide)

    def _everything(self, writer: Writer) -> polars.DataFrame:
        """Return the whole plan as a table."""
        tasks = [self._plan.task(place, seed)[0] for place, seed in self._plan.everything()]
        return _table(tasks, writer.label_columns)

    def _read(self, writer: Writer) -> None:
        """Learn what is stored."""
        found = writer.stored()
        self._stored = set(zip(found["point"], found["seed"], strict=True))
        self._own = set(found["point"])
        self._known = set(found["run"])
        self._done = len(self._stored)

    def _all(self, writer: Writer) -> None:
        """Run all tasks, and more as long as intervals are wide."""
        tasks: Iterable[tuple[int, int | None]] = self._plan
        while True:
            self._execute(tasks, writer)
            self._copy(writer)
            tasks = self._further(writer)
            if not tasks:
                self._trim(writer)
                self._planned = writer.stored().height
                return
            self._planned += len(tasks)

    def _execute(self, tasks: Iterable[tuple[int, int | None]], writer: Writer) -> None:
        def collect(index: int, tables: Tables) -> None:
            self._collect(index, tables, writer)

        self._tell()
        cancel = _core.Cancel()
        self._out = {}
        try:
            self._engine.each_finished(Work(self._limits), self._chunks(tasks), collect, cancel)
        finally:
            self._fail(writer)

    def _chunks(self, tasks: Iterable[tuple[int, int | None]]) -> Iterator[Chunk]:
        """Yield the tasks that have to run, in chunks of about `CHUNK_SECONDS`."""
        waiting: list[Task] = []
        scenarios: list[_core.Scenario] = []
        sent = 0
        for place, seed in tasks:
            point, known = self._plan.identity(place, seed)
            if (point, known) in self._stored if known is not None else point in self._own:
                continue
            task, scenario = self._plan.task(place, seed)
            if isinstance(scenario, str):
                self._wrong.append((task, scenario))
            elif task.run in self._known:
                self._copies.append(task)
            else:
                self._known.add(task.run)
                waiting.append(task)
                scenarios.append(scenario)
            if len(waiting) >= self._size:
                self._out[sent] = waiting
                yield Chunk(waiting, scenarios)
                sent, waiting, scenarios = sent + 1, [], []
        if waiting:
            self._out[sent] = waiting
            yield Chunk(waiting, scenarios)

    @property
    def _size(self) -> int:
        """Number of tasks in the next chunk: by the pace of the last one, and at most twice the largest one."""
        by_pace = int(CHUNK_SECONDS / self._pace) if self._pace else MOST_IN_CHUNK
        return max(1, min(MOST_IN_CHUNK, 2 * self._largest, by_pace))

    def _collect(self, index: int, tables: Tables, writer: Writer) -> None:
        """Store the tables of a chunk."""
        import polars

        tasks = self._out.get(index)
        if tasks is None:
            return  # Ctrl-C came after the tables were stored
        # Whole columns are put together: each operation on a table costs as much as several short runs.
        place, *measures = tables[RUNS].get_columns()
        done = [tasks[index] for index in place]  # a stopped chunk has fewer rows than tasks
        said = _table(done, writer.label_columns).get_columns()
        others = {}
        for name in TABLES:
            place, *values = tables[name].get_columns()
            keys = polars.Series("run", [tasks[index].run for index in place], dtype=polars.String)
            others[name] = polars.DataFrame([keys, *values])
        writer.add(polars.DataFrame([*said, *measures]), others)
        del self._out[index]
        if done:
            self._pace = float(tables[RUNS]["wall_s"].sum()) / len(done)
            self._largest = max(self._largest, len(done))
        self._done += len(done)
        self._tell()

    def _fail(self, writer: Writer) -> None:
        """Store rows for the tasks whose scenarios are wrong."""
        import polars

        if not self._wrong:
            return
        tasks = [task for task, _ in self._wrong]
        empty = polars.DataFrame(_core.run_batch([]).runs).drop("task", "error").clear(len(tasks))
        errors = polars.Series("error", [error for _, error in self._wrong])
        writer.add(polars.DataFrame([*_table(tasks, writer.label_columns), errors, *empty]), {})
        self._done += len(tasks)
        self._wrong = []
        self._tell()

    def _copy(self, writer: Writer) -> None:
        """Store rows for the tasks whose scenarios equal those of others."""
        if not self._copies:
            return
        writer.flush()
        tasks = _table(self._copies, writer.label_columns)
        known = [name for name in tasks.columns if name != "run"]
        rows = Dataset(self._folder).stored_runs.unique("run", keep="any").drop(known)
        writer.add(tasks.lazy().join(rows, on="run", how="inner").collect(), {})
        self._done += len(self._copies)
        self._copied += len(self._copies)
        self._copies = []
        self._tell()

    def _further(self, writer: Writer) -> list[tuple[int, int]]:
        """Return the next seeds of the points whose intervals are too wide."""
        until = self._plan.until
        if until is None:
            return []
        import polars

        writer.flush()
        found = Dataset(self._folder).runs.select("point", "seed", until.measure).sort("point", "seed").collect()
        samples = {int(rows["point"][0]): rows for rows in found.partition_by("point")}
        step = until.rule.at_least
        further, wide = [], 0
        for point, rows in samples.items():
            # The rule looks after every `step` seeds, so that a continued sweep stops where an undisturbed one does.
            for count in range(step, until.rule.at_most + step, step):
                most = min(count, until.rule.at_most)
                values = rows.filter(polars.col("seed") <= most)
                # Threads finish in any order, so that a stopped sweep can lack seeds in the middle.
                there = set(values["seed"])
                if missing := [seed for seed in range(1, most + 1) if seed not in there]:
                    further += [(point, seed) for seed in missing]
                    break
                sample = values[until.measure].drop_nulls().to_list()
                # Equal values say that more seeds will not differ either.
                if len(set(sample)) < 2 or until.rule.is_over(sample) or most == until.rule.at_most:
                    self._ends[point] = most
                    wide += len(set(sample)) > 1 and not until.rule.is_narrow(sample)
                    break
        self._wide = wide
        return further

    def _trim(self, writer: Writer) -> None:
        """Move rows to ``earlier`` that the stopping rule does not ask for, such as those of a narrower one."""
        import polars

        if not self._ends:
            return
        ends = polars.DataFrame(
            {"point": list(self._ends), "end": list(self._ends.values())}, schema_overrides={"point": polars.UInt64}
        )
        names = ["point", *writer.label_columns, "seed", "hash", "run"]
        found = Dataset(self._folder).runs.select(names).collect().join(ends, on="point")
        wanted = found.filter(polars.col("seed") <= polars.col("end"))
        if wanted.height < found.height:
            self._moved += writer.relabel(wanted.select(names)).moved

    def _tell(self) -> None:
        if self._progress is not None:
            self._progress(self._done, self._planned)


def _table(tasks: Sequence[Task], labels: Sequence[str]) -> polars.DataFrame:
    """Return the first columns of the table of runs."""
    import polars

    values = {
        "point": [task.point for task in tasks],
        **{name: [task.labels[place] for task in tasks] for place, name in enumerate(labels)},
        "seed": [task.seed for task in tasks],
        "hash": [task.hash for task in tasks],
        "run": [task.run for task in tasks],
        "version": [_core.__version__] * len(tasks),
    }
    return polars.DataFrame(values, schema={name: kind for name, kind in schema(labels).items() if name in values})


def _manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of an earlier sweep; empty without one."""
    try:
        return read_manifest(folder)
    except (FileNotFoundError, NotADirectoryError):
        return {}
