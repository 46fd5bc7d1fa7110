"""A sweep under way: tasks travel to an engine in chunks, and their rows to a dataset.

A *task* is a point with a seed. Workers run chunks of tasks without the GIL. Each task has a row in the dataset. Tasks
whose scenarios are equal run once; the rows of the others are copies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock import _core
from ackclock.datasets.dataset import Dataset
from ackclock.datasets.layout import RESULTS, RUNS, TABLES, read_manifest, schema
from ackclock.datasets.writer import COMPLETE, INTERRUPTED, Writer
from ackclock.experiments.engines.engine import Engine
from ackclock.experiments.engines.local import Local
from ackclock.experiments.engines.timed import RealTime
from ackclock.experiments.execute import Interrupted
from ackclock.experiments.world import World
from ackclock.files import storage
from ackclock.formatting.numbers import counted
from ackclock.scenario import Scenario
from ackclock.sweeps.plan import Plan, Task
from ackclock.sweeps.work import Chunk, Done, Limits, Work

if TYPE_CHECKING:
    import polars

Progress = Callable[[int, int], None]
CHUNK_SECONDS = 0.25  # of a worker; long against the cost of a chunk, short against a sweep
MOST_IN_CHUNK = 512


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
    again : int
        Failed runs that ran again; their earlier rows moved to ``earlier``.
    """

    dataset: Dataset
    planned: int
    stored: int
    copied: int
    moved: int
    wide: int
    again: int = 0

    @property
    def new(self) -> int:
        """Number of tasks that ran."""
        return self.planned - self.stored - self.copied

    @property
    def failed(self) -> int:
        """Number of rows with an error."""
        import polars

        return int(self.dataset.runs.select(polars.col("error").count()).collect().item())

    def _repr_html_(self) -> str:
        """Return the card of its dataset for a notebook, with what the sweep did."""
        said = [f"{counted(self.new, 'run')} new, {self.stored:,} stored before, {self.copied:,} equal to others."]
        if self.moved:
            said.append(f"{counted(self.moved, 'row')} of an earlier form of the sweep moved to earlier.")
        if self.again:
            said.append(f"{counted(self.again, 'failed run')} ran again.")
        if self.wide:
            said.append(f"{counted(self.wide, 'point')} kept a wide interval with the most seeds.")
        return self.dataset.card(said).html()


class Running:
    """A sweep under way: what is stored, what runs, and the tables that come back.

    Parameters
    ----------
    plan
        Its tasks.
    folder
        Folder of the dataset.
    limits
        Limits of one run.
    engine
        Where tasks run; those of a world in real time run on this computer.
    progress
        Called with the number of finished tasks and of all tasks.
    budget
        Real time after which no further chunk begins.
    """

    def __init__(
        self,
        plan: Plan,
        folder: Path,
        limits: Limits,
        engine: Engine,
        progress: Progress | None = None,
        budget: float | str | None = None,
    ) -> None:
        self._plan = plan
        self._folder = folder
        self._limits = limits
        self._engine = engine
        self._progress = progress
        self._budget = RealTime(budget)
        self._planned = len(plan)
        self._stored: set[tuple[int, int]] = set()
        self._own: set[int] = set()  # points with a stored seed, for tasks with the seed of the scenario
        self._known: set[str] = set()
        self._copies: list[Task] = []
        self._copied = 0
        self._moved = 0
        self._again = 0
        self._wide = 0
        self._wrong: list[tuple[Task, str]] = []
        self._out: dict[int, Sequence[Task]] = {}
        self._done = 0
        self._ends: dict[int, int] = {}  # number of seeds at which the stopping rule ended a point
        self._pace = 0.0  # seconds of a run in the last chunk
        self._before = 0  # tasks that were stored
        self._largest = 0  # number of tasks in the largest finished chunk

    def run(self, text: str, *, retry: bool) -> Outcome:
        """Run the tasks that the dataset lacks; `text` is the scenario file, and `retry` as of `ackclock.sweep`."""
        settings = {
            "seeds": self._plan.seeds, "limits": asdict(self._limits), "recording": asdict(self._plan.recording)
        }  # fmt: skip
        before = _manifest(self._folder)
        name = self._plan.scenario.name
        if before and before.get("scenario") != name:
            raise ValueError(f"{self._folder}: holds the sweep of {before.get('scenario')!r}; name another directory")
        known = before.get("settings", settings)
        worlds = [world.name for world in self._plan.worlds]
        # The manifest describes the rows: what is new follows when the rows are changed.
        manifest = {
            "scenario": name, "planned": self._planned, "settings": known, "plan": before.get("plan"),
            "worlds": before.get("worlds", worlds),
        }  # fmt: skip
        with Writer(self._folder, manifest=manifest, labels=self._plan.labels, scenario=text) as writer:
            try:
                digest = self._plan.digest
                retry = retry or known["limits"] != settings["limits"]
                if before and (retry or before.get("plan") != digest):
                    changes = writer.relabel(self._everything(writer), retry=retry)
                    self._moved, self._again = changes.moved, changes.again
                writer.describe(plan=digest, settings=settings, worlds=worlds)
                self._keep_files()
                self._read(writer)
                self._before = self._done
                self._all(writer)
                writer.describe(planned=self._planned)
            except KeyboardInterrupt as stop:
                # Ctrl-C may come between the storing of rows and their counting, so that the store has the last word.
                stored = writer.stored().height
                writer.finish(INTERRUPTED)
                done = [index if index < stored else None for index in range(self._planned)]
                advice = "run the same command to continue"
                stopped = Interrupted(done, advice=advice, why=str(stop) or "interrupted")
                stopped.found = self._outcome(min(self._before, stored)) if stored else None
                raise stopped from None
            writer.finish(COMPLETE)
        return self._outcome(self._before)

    def _keep_files(self) -> None:
        """Copy the tables that the scenario names beside it, so that the dataset is complete."""
        core = self._plan.scenario.core
        base = Path(core.state()[1]).resolve().parent
        for file in map(Path, core.files):
            # The path of any other table has no place within the folder.
            if file.resolve().is_relative_to(base):
                target = self._folder / file.resolve().relative_to(base)
                target.parent.mkdir(parents=True, exist_ok=True)
                storage.write_bytes(target, file.read_bytes())

    def _outcome(self, stored: int) -> Outcome:
        return Outcome(Dataset(self._folder), self._planned, stored, self._copied, self._moved, self._wide, self._again)

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
        tasks: Iterable[tuple[int, int | None]] = self._plan  # is read once for each world
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
        def collect(index: int, done: Done) -> None:
            self._collect(index, done, writer)

        self._tell()
        for number, world in enumerate(self._plan.worlds):
            own = (task for task in tasks if task[0] % len(self._plan.worlds) == number)
            engine = self._engine if world.virtual else Local(world.jobs)
            self._out = {}
            try:
                work = Work(self._limits, world, self._plan.recording)
                self._budget.of(engine).each_finished(work, self._chunks(own, world), collect, _core.Cancel())
            finally:
                self._fail(writer)

    def _chunks(self, tasks: Iterable[tuple[int, int | None]], world: World) -> Iterator[Chunk]:
        """Yield the tasks that have to run, in chunks of about `CHUNK_SECONDS`; runs with a folder go one by one."""
        waiting: list[Task] = []
        scenarios: list[Scenario] = []
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
            elif self._plan.recording.is_plain(scenario, world):
                self._known.add(task.run)
                waiting.append(task)
                scenarios.append(scenario)
            else:
                self._known.add(task.run)
                self._out[sent] = [task]
                yield Chunk([task], [scenario], plain=False)
                sent += 1
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

    def _collect(self, index: int, found: Done, writer: Writer) -> None:
        """Store the files and the tables of a chunk; a row is stored after its files, so that they are complete."""
        import polars

        tasks = self._out.get(index)
        if tasks is None:
            return  # Ctrl-C came after the tables were stored
        tables = found.tables
        for place, files in found.files.items():
            with storage.replacing(self._folder / RESULTS / tasks[place].run, "run") as folder:
                for name, data in files.items():
                    storage.write_bytes(folder / name, data)
        # Whole columns are put together: each operation on a table costs as much as several short runs.
        column, *measures = tables[RUNS].get_columns()
        done = [tasks[place] for place in column]  # a stopped chunk has fewer rows than tasks
        said = _table(done, writer.label_columns).get_columns()
        others = {}
        for name in TABLES:
            column, *values = tables[name].get_columns()
            keys = polars.Series("run", [tasks[place].run for place in column], dtype=polars.String)
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
        "world": [task.world for task in tasks],
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
