"""The runs of a paper in worlds beside the simulation, and the simulations beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars

from ackclock.experiments.experiment import Experiment
from ackclock.experiments.store import Store
from ackclock.experiments.world import SIMULATION
from ackclock.linux import worlds
from ackclock.literature.plan import Plan, PlannedRun
from ackclock.literature.reproduction import rows_of
from ackclock.literature.worlds.choosing import Choice, choose
from ackclock.metrics.derivation import Rows

TABLE = "worlds.parquet"


@dataclass
class Elsewhere:
    """The results of a paper's runs in a world beside the simulation.

    Attributes
    ----------
    choice : Choice
        The chosen readings and runs.
    rows : list of dict
        One row per run and flow, as in `Outcome`, with the run's length ``seconds`` and the columns of `kernels.facts`.
    simulated : list of dict
        The same of the simulations beside them (`Choice.simulated`).
    missing : list of PlannedRun
        Runs without a result: they failed, or should not be used.
    problems : list of str
        Why they have none, each reason once; empty if nothing ran in this call.
    """

    choice: Choice
    rows: Rows = field(default_factory=list)
    simulated: Rows = field(default_factory=list)
    missing: list[PlannedRun] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def count(self) -> int:
        """Number of runs with a result."""
        return len(self.choice.runs) - len(self.missing)


def run(choices: Sequence[Choice], experiment: Experiment) -> list[Elsewhere]:
    """Run what is missing of the chosen runs and of the simulations beside them.

    A run that fails, or should not be used, is not stored, so that the next call repeats it.

    Raises
    ------
    Interrupted
        After Ctrl-C; finished runs are stored.
    """
    experiment.run(point for choice in choices for point in (*choice.simulated, *choice.runs))
    found = [results(choice, experiment.store) for choice in choices]
    for each in found:
        reasons = (experiment.failed[point.key] for point in each.missing)
        each.problems = list(dict.fromkeys(reasons))
    return found


def results(choice: Choice, store: Store) -> Elsewhere:
    """Return the stored results of chosen runs, without running anything."""
    found = Elsewhere(choice)
    flows = choice.plan.paper.contents.flows
    for point, twin in zip(choice.runs, choice.simulated, strict=True):
        if not store.has(point):
            found.missing.append(point)
            continue
        found.rows += stored_rows(point, store, flows)
        if store.has(twin):
            found.simulated += stored_rows(twin, store, flows)
    return found


def stored_rows(point: PlannedRun, store: Store, flows: str | None) -> Rows:
    """Return the rows of a stored run, with its length; `flows` is the label of flows, if there is one."""
    seconds = {"seconds": point.scenario.duration}
    return [{**row, **seconds} for row in rows_of(point, store.measured(point), flows)]


def table(found: Sequence[Elsewhere]) -> polars.DataFrame:
    """Return the rows of the runs, and of the simulations beside them, which the column ``world`` names."""
    own: Rows = []
    twins: dict[tuple[Any, ...], dict[str, Any]] = {}
    for each in found:
        labels = each.choice.plan.paper.labels
        own += [{**row, "world": each.choice.world.name} for row in each.rows]
        twins |= {
            (*(row[label] for label in labels), row["hash"], row["flow"]): {**row, "world": SIMULATION.name}
            for row in each.simulated
        }
    return polars.DataFrame([*own, *twins.values()], infer_schema_length=None)


def manifest(found: Elsewhere) -> dict[str, Any]:
    """Return what the manifest says of the runs in a world, from which `stored` finds them again."""
    choice, world = found.choice, found.choice.world
    return {
        "name": world.name,
        "release": world.release,
        "identity": world.identity,
        "virtual": world.virtual,
        "budget_s": choice.budget,
        "runs": found.count,
        "missing": len(found.missing),
        "refused": dict(choice.refused),
    }


def chosen(plan: Plan, there: Mapping[str, Any]) -> Choice:
    """Return the choice of the runs that a manifest describes, in a world that runs nothing."""
    keys = ("name", "release", "identity", "virtual", "refused")
    world = worlds.past(**{key: there[key] for key in keys})
    return choose(plan, world, there["budget_s"])


def stored(plan: Plan, there: Mapping[str, Any], store: Store) -> Elsewhere:
    """Return the stored results of the runs that a manifest describes."""
    return results(chosen(plan, there), store)
