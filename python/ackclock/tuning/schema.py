"""The file of a tuning: parameters, objective, constraints, and the runs that train and judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from ackclock import _core
from ackclock.experiments import budget
from ackclock.experiments.labelled import scale_of
from ackclock.files import checks, limits, schema, toml
from ackclock.files.places import Key
from ackclock.files.problems import Problems
from ackclock.files.schema import Amount, Switch, Table, Text, Texts, Whole, Words, test
from ackclock.formatting.labels import last_part, suggestion
from ackclock.metrics.groups import is_tested
from ackclock.metrics.registry import of
from ackclock.scenario import Scenario, load
from ackclock.tuning.measures import HARM, MEASURES

Over = Literal["mean", "worst"]
Settings = Mapping[str, Any]
REFERENCE = "reference"
TRAINING_SEEDS, HELD_OUT_SEEDS = 8, 30
MOST_CELLS = 10_000  # runs of a trial


@dataclass(frozen=True)
class Parameter:
    """A parameter of the search.

    Attributes
    ----------
    name : str
        Its name in the file, which is its key unless `keys` names others.
    keys : tuple of str
        The scenario's keys that it sets, all to the same value.
    values : list or mapping
        Its values, as in ``[sweep.sample.keys]``: a list, or a range with ``from``, ``to`` and ``scale``.
    place : str
        Beginning of messages about it.
    """

    name: str
    keys: tuple[str, ...]
    values: Sequence[Any] | Settings
    place: str


@dataclass(frozen=True)
class Goal:
    """The objective.

    Attributes
    ----------
    measure : str
        One of `MEASURES`.
    sign : {1, -1}
        1 if larger values are better, -1 if smaller ones are.
    over : {"mean", "worst"}
        Whether paths are averaged, or the worst path counts.
    relative : bool
        Whether each path's values are divided by the mean of the reference on that path.
    """

    measure: str
    sign: Literal[1, -1]
    over: Over
    relative: bool


@dataclass(frozen=True)
class Constraint:
    """A bound of a measure.

    Attributes
    ----------
    measure : str
        One of `MEASURES`.
    sign : {1, -1}
        1 for a lower bound, -1 for an upper one.
    bound : float or None
        The bound in the unit of the measure; None: the value of the reference on the same runs.
    over : {"mean", "worst"}
        Whether paths are averaged, or the worst path counts.
    """

    measure: str
    sign: Literal[1, -1]
    bound: float | None
    over: Over


@dataclass(frozen=True)
class NetworkPath:
    """A path: a run of the scenario's ``[sweep]``, or the scenario itself."""

    labels: Mapping[str, str]
    scenario: Scenario

    @property
    def name(self) -> str:
        """The values of its axes, or the name of the scenario."""
        words = [f"{last_part(label)}={value}" for label, value in self.labels.items()]
        return ", ".join(words) or self.scenario.name


@dataclass(frozen=True)
class Setting:
    """Paths and seeds on which parameters are measured."""

    paths: tuple[NetworkPath, ...]
    seeds: tuple[int, ...]


@dataclass(frozen=True)
class Tuning:
    """A file of a tuning.

    Attributes
    ----------
    file : Path
        The file.
    scenario : Path
        The file of the scenario.
    text : str
        The text of the file.
    parameters : tuple of Parameter
        The parameters.
    goal : Goal
        The objective.
    constraints : tuple of Constraint
        The constraints.
    tested : tuple of str
        Patterns of the names of the flows under test.
    training, held_out : Setting
        The runs of the search, and those that judge its result.
    pairs : {"seeds", "paths"}
        The unit of the paired comparison on the held-out runs.
    """

    file: Path
    scenario: Path
    text: str
    parameters: tuple[Parameter, ...]
    goal: Goal
    constraints: tuple[Constraint, ...]
    tested: tuple[str, ...]
    training: Setting
    held_out: Setting
    pairs: Literal["seeds", "paths"]

    @property
    def measures(self) -> list[str]:
        """The measures of objective and constraints, each once."""
        return list(dict.fromkeys([self.goal.measure, *(each.measure for each in self.constraints)]))


Bound = Annotated[str | bool | Amount, Words("a number, a text with a unit, or 'reference'")]


@dataclass(frozen=True)
class Between(Table):
    """A range of seeds."""

    first: Annotated[Whole, Field(validation_alias="from")]
    last: Annotated[Whole, Field(validation_alias="to")]


Seeds = Annotated[
    tuple[Whole, ...] | Between,
    test(bool),
    Words("whole numbers, each once: a list, or a range such as { from = 1, to = 8 }"),
]


@dataclass(frozen=True)
class Values(Table):
    """A table of ``[parameters]``: a list or a range of values, and the keys that have them."""

    values: Annotated[list[Any] | None, Field(min_length=1), Words("a list of values")] = None
    first: Annotated[Bound | None, Field(validation_alias="from")] = None
    last: Annotated[Bound | None, Field(validation_alias="to")] = None
    scale: Text | None = None
    keys: Texts = ()


@dataclass(frozen=True)
class Objective(Table):
    """The table ``[objective]``."""

    minimise: Text | None = None
    maximise: Text | None = None
    over: Over = "mean"
    relative: Switch = False


@dataclass(frozen=True)
class Limits(Table):
    """A table of ``[constraints]``."""

    at_most: Bound | None = None
    at_least: Bound | None = None
    over: Over = "mean"


@dataclass(frozen=True)
class Training(Table):
    """The table ``[training]``."""

    seeds: Seeds | None = None


@dataclass(frozen=True)
class HeldOut(Training):
    """The table ``[held_out]``."""

    set: dict[str, Any] = field(default_factory=dict)
    scenario: Text | None = None
    pairs: Literal["seeds", "paths"] | None = None


@dataclass(frozen=True)
class File(Table):
    """A file of a tuning as written."""

    scenario: Text
    parameters: dict[str, Values]
    objective: Objective
    set: dict[str, Any] = field(default_factory=dict)
    flows: Annotated[Text | Texts, Words("a pattern of names, or a list of them")] = "*"
    constraints: dict[str, Limits] = field(default_factory=dict)
    training: Training = Training()
    held_out: HeldOut = HeldOut()


def read(file: Path) -> Tuning:
    """Read a file of a tuning.

    Raises
    ------
    ValueError
        If the file or its scenario is wrong; the message lists every problem with file, line and key.
    OSError
        If a file cannot be read.
    """
    text = toml.read_text(file, limits.most("tuning"))
    document = toml.parse(text, str(file))
    problems = Problems(str(file), document, text)
    found = schema.read(File, _spelled(document, problems), problems)
    problems.check()
    assert found is not None
    return _Reader(file, text, found, problems).tuning()


def _spelled(document: Mapping[str, Any], problems: Problems) -> dict[str, Any]:
    """Write each parameter as a table: a list of values is short for one."""
    given = document.get("parameters")
    if not isinstance(given, Mapping):
        return dict(document)
    for name, value in given.items():
        # A key without quotes is a table for each of its dots.
        if not isinstance(value, Mapping) or not value or "values" in value:
            continue
        if all(isinstance(each, (Mapping, list)) for each in value.values()):
            problems.add(("parameters", name), f'write the key in quotes, as in "{name}.{next(iter(value))}"')
    problems.check()
    full = {name: value if isinstance(value, Mapping) else {"values": value} for name, value in given.items()}
    return {**document, "parameters": full}


class _Reader:
    """Resolves the names of a file: its scenarios, paths, seeds, parameters and measures."""

    def __init__(self, file: Path, text: str, given: File, problems: Problems) -> None:
        self._file, self._text, self._given, self._problems = file, text, given, problems

    def tuning(self) -> Tuning:
        given, problems = self._given, self._problems
        training_seeds = self._seeds("training", given.training.seeds, range(1, TRAINING_SEEDS + 1))
        first = max(training_seeds, default=0) + 1
        held_out_seeds = self._seeds("held_out", given.held_out.seeds, range(first, first + HELD_OUT_SEEDS))
        parameters, goal, constraints = self._parameters(), self._goal(), self._constraints()
        problems.check()
        assert goal is not None
        scenario = self._file.parent / given.scenario
        training = self._setting("training", scenario, {}, training_seeds)
        own = scenario if given.held_out.scenario is None else self._file.parent / given.held_out.scenario
        held_out = self._setting("held_out", own, given.held_out.set, held_out_seeds)
        problems.check()
        self._check_seeds(training, held_out)
        tested = (given.flows,) if isinstance(given.flows, str) else given.flows
        self._check_flows(tested, training, held_out, goal, constraints)
        self._check_axes(parameters, training)
        problems.check()
        has_paths = given.held_out.scenario is not None or bool(given.held_out.set)
        return Tuning(
            file=self._file,
            scenario=scenario,
            text=self._text,
            parameters=parameters,
            goal=goal,
            constraints=constraints,
            tested=tested,
            training=training,
            held_out=held_out,
            pairs=given.held_out.pairs or ("paths" if has_paths and len(held_out.paths) > 1 else "seeds"),
        )

    def _seeds(self, name: str, given: tuple[int, ...] | Between | None, default: Sequence[int]) -> Sequence[int]:
        if given is None:
            return default
        seeds = range(given.first, given.last + 1) if isinstance(given, Between) else given
        if not seeds or len(set(seeds[:MOST_CELLS])) < len(seeds[:MOST_CELLS]):
            message = "seeds must be whole numbers, each once: a list, or a range such as { from = 1, to = 8 }"
            self._problems.key((name, "seeds"), message)
        return seeds

    def _setting(self, name: str, scenario: Path, own: Settings, seeds: Sequence[int]) -> Setting:
        paths = self._paths(name, scenario, own)
        budget.check_runs(len(paths) * len(seeds), MOST_CELLS, f"[{name}] needs fewer paths or seeds")
        return Setting(paths, tuple(seeds))

    def _paths(self, name: str, scenario: Path, own: Settings) -> tuple[NetworkPath, ...]:
        """Return the runs of a scenario's ``[sweep]``, with the settings of the file, then its own."""
        try:
            points = load(scenario, {**self._given.set, **own}).sweep_points()
            budget.check_runs(len(points), MOST_CELLS, f"[{name}] needs fewer paths")
            found = [points[index] for index in range(len(points))]
        except _core.ScenarioError as error:
            if not str(error).startswith("--set"):
                raise ValueError(str(error)) from None
            setting = (name, "set") if any(f"--set {key}=" in str(error) for key in own) else ("set",)
            self._problems.add(setting, str(error).removeprefix("--set "))
            return ()
        except FileNotFoundError:
            written = name == "held_out" and self._given.held_out.scenario is not None
            self._problems.add((name, "scenario") if written else ("scenario",), f"there is no file {scenario}")
            return ()
        if "seed" in found[0][0]:
            raise ValueError(f"{scenario}: [sweep] sets the seed; give the seeds as {name}.seeds in {self._file}")
        return tuple(NetworkPath(labels, each) for labels, each in found)

    def _check_seeds(self, training: Setting, held_out: Setting) -> None:
        shared = set(held_out.seeds) & set(training.seeds)
        used = {path.scenario.hash for path in training.paths} if shared else ()
        for path in held_out.paths:
            if path.scenario.hash in used:
                message = (
                    f"seed {min(shared)} is used for training on the same path ({path.name}); held-out runs need other "
                    "seeds or other paths"
                )
                self._problems.add(("held_out", "seeds"), message)

    def _check_flows(
        self, tested: Sequence[str], training: Setting, held_out: Setting, goal: Goal, constraints: Sequence[Constraint]
    ) -> None:
        for path in (*training.paths, *held_out.paths):
            names = path.scenario.flows
            for pattern in tested:
                # Connections of an application are not flows of the scenario, but begin with its name.
                if not any(is_tested(name, [pattern]) for name in names):
                    message = f"no flow has the name {pattern!r}{checks.near(pattern, names[:25])}"
                    self._problems.add(("flows",), message)
        harmful = any(each.measure == HARM for each in constraints) or (goal.sign < 0 and goal.measure == HARM)
        if harmful and any(all(is_tested(name, tested) for name in path.scenario.flows) for path in training.paths):
            message = "every flow is under test; flows must leave some out, which can be harmed"
            self._problems.add(("constraints", HARM), message)

    def _check_axes(self, parameters: Sequence[Parameter], training: Setting) -> None:
        axes = {axis for path in training.paths for axis in path.labels}
        for each in parameters:
            if axes & set(each.keys):
                self._problems.add(("parameters", each.name), "is an axis of [sweep]; tune it, or sweep it")

    def _parameters(self) -> tuple[Parameter, ...]:
        if not self._given.parameters:
            self._problems.add(("parameters",), "names no parameter; name the key of a scenario")
        found = [self._parameter(name, given) for name, given in self._given.parameters.items()]
        keys = [key for each in found for key in each.keys]
        for each in found:
            for key in dict.fromkeys(each.keys):
                if keys.count(key) > 1:
                    self._problems.add(("parameters", each.name), f"{key} is set twice")
        return tuple(found)

    def _parameter(self, name: str, given: Values) -> Parameter:
        ends = {"from": given.first, "to": given.last, "scale": given.scale}
        span = {key: value for key, value in ends.items() if value is not None}
        if given.values is not None and span:
            self._problems.add(("parameters", name), "has values and a range; keep one of them")
        values = given.values if given.values is not None else span
        return Parameter(name, given.keys or (name,), values, self._problems.place(("parameters", name)))

    def _goal(self) -> Goal | None:
        given = self._given.objective
        directions = [word for word in ("minimise", "maximise") if getattr(given, word) is not None]
        if len(directions) != 1:
            self._problems.add(("objective",), "needs one of minimise and maximise, with a measure")
            return None
        measure = str(getattr(given, directions[0]))
        self._check_measure(("objective", directions[0]), measure)
        return Goal(measure, 1 if directions[0] == "maximise" else -1, given.over, given.relative)

    def _check_measure(self, path: Key, measure: str) -> None:
        if measure not in MEASURES:
            self._problems.add(path, f"there is no measure {measure!r}{checks.near(measure, MEASURES)}")

    def _constraints(self) -> tuple[Constraint, ...]:
        found = []
        for measure, given in self._given.constraints.items():
            path = ("constraints", measure)
            self._check_measure(path, measure)
            if (given.at_most is None) == (given.at_least is None):
                self._problems.add(path, "needs one of at_most and at_least")
                continue
            word = "at_most" if given.at_least is None else "at_least"
            bound = self._bound((*path, word), measure, getattr(given, word))
            found.append(Constraint(measure, 1 if word == "at_least" else -1, bound, given.over))
        return tuple(found)

    def _bound(self, path: Key, measure: str, given: float | str) -> float | None:
        if given == REFERENCE or measure not in MEASURES:
            return None
        unit = of(measure).dimension
        value = quantity(given, unit)
        if value is None:
            like = f'a text such as "20 {_like(unit)}"' if unit else 'a number, or a share such as "10 %"'
            near = suggestion(given, [REFERENCE]) if isinstance(given, str) else ""
            self._problems.key(path, f'{path[-1]} must be {like}, or "{REFERENCE}", not {given!r}{near}')
        return value


def quantity(given: float | str, unit: str) -> float | None:
    """Read an amount in a unit, or a share; None if it is not one.

    >>> quantity("50 ms", "s"), quantity("10 %", ""), quantity(0.5, ""), quantity(0.5, "s")
    (0.05, 0.1, 0.5, None)
    """
    if not isinstance(given, str):
        return float(given) if not unit and checks.is_number(given) else None
    text, factor = given.strip(), 1.0
    if not unit and text.endswith("%"):
        text, factor = text[:-1].strip(), 0.01
    base = f"1 {unit}".strip()
    scale = scale_of([base, text])
    return None if scale.words else scale.places[text] * factor


def _like(unit: str) -> str:
    return {"s": "ms", "bit/s": "Mbit/s"}.get(unit, unit)
