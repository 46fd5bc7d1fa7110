"""Verification of a reproduced paper: a sample of its runs takes place anew, and every stored row is compared.

Rows are compared with ``runs.parquet`` and not with the store, whose keys belong to one build of the program. So the
results of another machine or another version can be verified, too. Of the runs in other worlds (``worlds.parquet``), a
sample of their simulations takes place anew, and of the runs themselves if their kernel runs in virtual time and is
here: in real time two runs of one scenario differ.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ackclock.experiments.engines.engine import Engine
from ackclock.experiments.engines.timed import RealTime
from ackclock.experiments.execute import Progress
from ackclock.experiments.experiment import Experiment
from ackclock.experiments.world import SIMULATION, World
from ackclock.files import reading, storage
from ackclock.formatting.numbers import counted
from ackclock.linux import worlds
from ackclock.literature import modelruns, reproduction
from ackclock.literature.plan import Plan
from ackclock.literature.worlds import runs as elsewhere
from ackclock.metrics.derivation import Rows

LEAST, SHARE, MOST = 50, 0.05, 1_000
"""A sample has this share of the runs, at least and at most these numbers."""
NAMED = ("sampling", "unit", "seeds", "paths", "hash", "flow", "world")
"""The columns that name a row, beside the labels."""
Name = tuple[Any, ...]


@dataclass(frozen=True, repr=False)
class Verified:
    """What a verification found.

    Attributes
    ----------
    table : Path
        The stored rows.
    runs, of : int
        Number of runs that took place anew, and of all.
    agreeing : int
        Number of these runs whose rows are those of the table, bit by bit.
    evaluations : int
        Number of evaluations of models, which are all repeated.
    seed : int
        Seed of the sample.
    differences : sequence of str
        The rows that differ, one sentence each.
    worlds : sequence of str
        A sentence on each world beside the simulation: how many of its runs took place anew, or why none did.
    """

    table: Path
    runs: int
    of: int
    agreeing: int
    evaluations: int
    seed: int
    differences: Sequence[str] = ()
    worlds: Sequence[str] = ()

    @property
    def passed(self) -> bool:
        """Whether every row agrees."""
        return not self.differences

    @property
    def said(self) -> str:
        """The finding in one or two sentences, and one on each world beside the simulation."""
        return " ".join([self._of_simulation, *self.worlds])

    @property
    def _of_simulation(self) -> str:
        sample = f"{counted(self.runs, 'run')} of {self.of:,}, drawn with seed {self.seed}, took place anew"
        models = f"; {counted(self.evaluations, 'evaluation')} of models too" if self.evaluations else ""
        if self.passed:
            return f"{sample}{models}. Every row is the one in {self.table}, bit by bit."
        rows = counted(len(self.differences), "row")
        differ = f"{rows} differ{'s' if len(self.differences) == 1 else ''}"
        return f"{sample}{models}. {self.agreeing:,} of the runs agree with {self.table}, and {differ}."

    def __repr__(self) -> str:
        return f"<{self.said}>"


def sample(count: int, seed: int) -> list[int]:
    """Return the places of the runs that a verification repeats, of `count`, in order."""
    repeated = min(count, max(LEAST, min(MOST, round(SHARE * count))))
    return sorted(random.Random(seed).sample(range(count), repeated))


def verify(
    plan: Plan,
    directory: Path,
    seed: int,
    *,
    jobs: int | None = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
    budget: RealTime | None = None,
) -> Verified:
    """Repeat a sample of a paper's runs and all evaluations of its models, and compare their rows with the stored ones.

    Parameters
    ----------
    plan
        The plan of the stored runs.
    directory
        The folder of the results.
    seed
        Seed of the sample.
    jobs, engine, progress, budget
        As in `Experiment`.

    Raises
    ------
    FileNotFoundError
        If the folder has no finished runs of the paper.
    ValueError
        If the files of the paper have changed since.
    Interrupted
        After Ctrl-C, or at the end of the budget.
    """
    table = directory / "runs.parquet"
    there = _manifest(plan, directory, table)
    stored = _by_name(table, plan)
    chosen = [plan.runs[place] for place in sample(len(plan.runs), seed)]
    experiment = Experiment(jobs=jobs, engine=engine, progress=progress, budget=budget)
    experiment.run(chosen)
    flows, labels = plan.paper.contents.flows, plan.paper.all_labels
    differences: list[str] = []
    agreeing = 0
    for run in chosen:
        found = _differences(reproduction.rows_of(run, experiment.store.measured(run), flows), stored, labels)
        differences += found
        agreeing += not found
    for model in plan.models:
        differences += _differences(modelruns.evaluate(model, flows)[0], stored, labels)
    said = []
    for world in there.get("worlds", ()):
        words, others = _of_world(world, plan, directory / elsewhere.TABLE, seed, experiment)
        said.append(words)
        differences += others
    experiment.say_what_ran()
    return Verified(table, len(chosen), len(plan.runs), agreeing, plan.evaluations, seed, differences, said)


def _of_world(
    there: Mapping[str, Any], plan: Plan, table: Path, seed: int, experiment: Experiment
) -> tuple[str, list[str]]:
    """Repeat a sample of the runs in a world that a manifest describes; return what was done, and the differences."""
    stored = _by_name(table, plan)
    labels, flows, name = plan.paper.all_labels, plan.paper.contents.flows, there["name"]
    choice = elsewhere.chosen(plan, there)
    # A run that failed there has no rows.
    hashes = {row["hash"] for row in stored.values() if row["world"] == name}
    runs = [place for place, run in enumerate(choice.runs) if run.scenario.hash in hashes]
    chosen = [runs[place] for place in sample(len(runs), seed)]
    points = {SIMULATION.name: [choice.simulated[place] for place in chosen]}
    world, why = _present(there)
    if world is not None:
        points[name] = [replace(choice.runs[place], world=world) for place in chosen]
    experiment.run(point for own in points.values() for point in own)
    differences = []
    if len(runs) != there["runs"]:
        differences.append(f"{name}: {table.name} has rows of {len(runs):,} runs, and not of {there['runs']:,}")
    for where, own in points.items():
        for point in own:
            if not experiment.store.has(point):
                differences.append(f"{where}, {', '.join(point.cell)}: {experiment.failed[point.key]}")
                continue
            rows = [{**row, "world": where} for row in elsewhere.stored_rows(point, experiment.store, flows)]
            differences += _differences(rows, stored, labels)
    repeated = f"{counted(len(chosen), 'run')} of {len(runs):,}"
    if world is None:
        return f"On {name} no run took place anew, because {why}; the simulations of {repeated} did.", differences
    return f"On {name} {repeated} took place anew, and so did their simulations.", differences


def _present(there: Mapping[str, Any]) -> tuple[World | None, str]:
    """Return the world that a manifest describes, or None and the reason why its runs cannot be repeated."""
    if not there["virtual"]:
        return None, "in real time two runs of one scenario differ"
    try:
        world = worlds.find(there["name"])
    except ValueError as error:
        return None, f"it is not here ({error})"
    if world.identity != there["identity"]:
        return None, "another kernel is here"
    missing = world.missing()
    return (None, f"it is not here ({missing})") if missing else (world, "")


def _manifest(plan: Plan, directory: Path, table: Path) -> dict[str, Any]:
    """Return the manifest of finished runs; errors are those of `verify`."""
    quick = " --quick" if plan.quick else ""
    command = f"ackclock paper {plan.paper.name}{quick} --out {directory}"
    if not table.exists():
        raise FileNotFoundError(f"{directory} has no finished runs of the paper {plan.paper.name!r}; run: {command}")
    there = storage.read_manifest(directory, reproduction.KIND)
    if there.get("hash") != reproduction.manifest(plan)["hash"]:
        raise ValueError(
            f"{directory}: the files of the paper {plan.paper.name!r} describe other runs than the stored ones; "
            f"to store them, run: {command}"
        )
    return there


def _by_name(table: Path, plan: Plan) -> dict[Name, dict[str, Any]]:
    """Return the rows of a table by their names."""
    labels = plan.paper.all_labels
    return {_name(row, labels): row for row in reading.read_parquet(table).iter_rows(named=True)}


def _name(row: Mapping[str, Any], labels: Sequence[str]) -> Name:
    return tuple(row.get(column) for column in (*labels, *NAMED))


def _differences(rows: Rows, stored: Mapping[Name, Mapping[str, Any]], labels: Sequence[str]) -> list[str]:
    """Return a sentence for each row that is not the stored one."""
    found = []
    for row in rows:
        there = stored.get(_name(row, labels))
        where = ", ".join([*(str(row[label]) for label in labels), f"{row['sampling']} {row['unit']}"])
        if there is None:
            found.append(f"{where}: no stored row")
            continue
        # A row lacks the columns that only other cells have.
        columns = [name for name in {**there, **row} if not _same(row.get(name), there.get(name))]
        if columns:
            name = columns[0]
            others = f", and {len(columns) - 1} further columns differ" if len(columns) > 1 else ""
            found.append(f"{where}: {name} is {row.get(name)!r} now and {there.get(name)!r} in the table{others}")
    return found


def _same(left: Any, right: Any) -> bool:  # noqa: ANN401 - values of a table
    """Whether two values have the same bits; a table of floats also holds whole numbers as floats."""
    if isinstance(left, float) or isinstance(right, float):
        if left is None or right is None:
            return False
        return float(left).hex() == float(right).hex()
    return bool(left == right)
