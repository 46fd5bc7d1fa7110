"""The file of a tuning: parameters, objective, constraints, and the runs that train and judge."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ackclock import _core
from ackclock.experiments import budget
from ackclock.experiments.labelled import scale_of
from ackclock.files import checks, limits, toml
from ackclock.metrics.groups import is_tested
from ackclock.metrics.registry import of
from ackclock.scenario import Scenario, load
from ackclock.texts.labels import last_part, suggestion
from ackclock.tuning.measures import HARM, MEASURES
from ackclock.tuning.places import Places

Over = Literal["mean", "worst"]
Table = Mapping[str, Any]
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
    values: Sequence[Any] | Table
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


SEEDS = checks.Kind(
    "whole numbers: a list, or a range such as { from = 1, to = 8 }",
    lambda value: isinstance(value, (list, Mapping)) and bool(value),
)
WHOLE = checks.Kind("a whole number, at least 0", lambda value: type(value) is int and value >= 0)
OVER = checks.one_of("mean", "worst")
TOP = {
    "scenario": checks.TEXT,
    "set": checks.TABLE,
    "flows": checks.Kind("a pattern of names, or a list of them", lambda value: bool(_texts(value))),
    "parameters": checks.TABLE,
    "objective": checks.TABLE,
    "constraints": checks.TABLE,
    "training": checks.TABLE,
    "held_out": checks.TABLE,
}
OBJECTIVE = {"minimise": checks.TEXT, "maximise": checks.TEXT, "over": OVER, "relative": checks.BOOL}
BOUND = checks.Kind("a number, a text with a unit, or 'reference'", lambda value: isinstance(value, (int, float, str)))
CONSTRAINT = {"at_most": BOUND, "at_least": BOUND, "over": OVER}
TRAINING = {"seeds": SEEDS}
HELD_OUT = {
    "seeds": SEEDS, "set": checks.TABLE, "scenario": checks.TEXT, "pairs": checks.one_of("seeds", "paths"),
}  # fmt: skip
PARAMETER = {"from": BOUND, "to": BOUND, "scale": checks.TEXT, "keys": checks.TEXTS, "values": checks.Kind(
    "a list of values", lambda value: isinstance(value, list) and bool(value))}  # fmt: skip


def read(file: Path) -> Tuning:
    """Read a file of a tuning.

    Raises
    ------
    ValueError
        If the file or its scenario is wrong; the message names file, line and key.
    OSError
        If a file cannot be read.
    """
    text = toml.read_text(file, limits.most("tuning"))
    return _Reader(file, text, toml.parse(text, str(file))).tuning()


class _Reader:
    """Checks a file from top to bottom; every message begins with its place."""

    def __init__(self, file: Path, text: str, document: dict[str, Any]) -> None:
        self._file, self._text, self._document = file, text, document
        self._place = Places(file, text)

    def tuning(self) -> Tuning:
        document = self._document
        self._keys((), document, TOP, ("scenario", "parameters", "objective"))
        scenario = self._file.parent / document["scenario"]
        training = self._setting("training", TRAINING, scenario, range(1, TRAINING_SEEDS + 1))
        held_out = self._held_out(scenario, training)
        tested = tuple(_texts(document.get("flows", "*")))
        self._tested(tested, (*training.paths, *held_out.paths))
        own = "paths" if self._has_own_paths and len(held_out.paths) > 1 else "seeds"
        return Tuning(
            file=self._file,
            scenario=scenario,
            text=self._text,
            parameters=self._parameters([axis for path in training.paths for axis in path.labels]),
            goal=self._goal(),
            constraints=self._constraints(training, tested),
            tested=tested,
            training=training,
            held_out=held_out,
            pairs=document.get("held_out", {}).get("pairs", own),
        )

    def _keys(self, path: Sequence[str], table: Table, known: Mapping[str, checks.Kind], needed: Sequence[str]) -> None:
        for key, value in table.items():
            place = self._place(*path, key)
            if key not in known:
                raise ValueError(f"{place}: there is no key {key!r}{checks.near(key, known)}")
            if not known[key].test(value):
                raise ValueError(f"{place}: must be {known[key].words}, not {value!r}")
        for key in needed:
            if key not in table:
                name = "".join(f"{each}." for each in path) + key
                raise ValueError(f"{self._place(*path)}: {name} is missing; it must be {known[key].words}")

    def _setting(self, name: str, known: Mapping[str, checks.Kind], scenario: Path, seeds: Sequence[int]) -> Setting:
        table = self._document.get(name, {})
        self._keys((name,), table, known, ())
        if "seeds" in table:
            seeds = self._seeds((name, "seeds"), table["seeds"])
        paths = self._paths(name, scenario, table.get("set", {}))
        budget.check_runs(len(paths) * len(seeds), MOST_CELLS, f"[{name}] needs fewer paths or seeds")
        return Setting(paths, tuple(seeds))

    def _paths(self, name: str, scenario: Path, own: Table) -> tuple[NetworkPath, ...]:
        """Return the runs of a scenario's ``[sweep]``, with the settings of the file, then its own."""
        try:
            points = load(scenario, {**self._document.get("set", {}), **own}).sweep_points()
            budget.check_runs(len(points), MOST_CELLS, f"[{name}] needs fewer paths")
            found = [points[index] for index in range(len(points))]
        except _core.ScenarioError as error:
            wrong = str(error).startswith("--set")
            setting = (name, "set") if any(f"--set {key}=" in str(error) for key in own) else ("set",)
            cause = str(error).removeprefix("--set ")
            raise ValueError(f"{self._place(*setting)}: {cause}" if wrong else cause) from None
        except FileNotFoundError:
            given = (name, "scenario") if "scenario" in self._document.get(name, {}) else ("scenario",)
            raise ValueError(f"{self._place(*given)}: there is no file {scenario}") from None
        if "seed" in found[0][0]:
            raise ValueError(f"{scenario}: [sweep] sets the seed; give the seeds as {name}.seeds in {self._file}")
        return tuple(NetworkPath(labels, each) for labels, each in found)

    def _seeds(self, path: Sequence[str], given: object) -> Sequence[int]:
        seeds: Sequence[int] = []
        if isinstance(given, Mapping):
            self._keys(path, given, {"from": WHOLE, "to": WHOLE}, ("from", "to"))
            seeds = range(given["from"], given["to"] + 1)
        elif isinstance(given, list) and all(WHOLE.test(seed) for seed in given):
            seeds = given
        if not seeds or len(set(seeds[:MOST_CELLS])) < len(seeds[:MOST_CELLS]):
            raise ValueError(f"{self._place(*path)}: must be {SEEDS.words}, each once")
        return seeds

    @property
    def _has_own_paths(self) -> bool:
        return bool({"scenario", "set"} & self._document.get("held_out", {}).keys())

    def _held_out(self, scenario: Path, training: Setting) -> Setting:
        own = self._document.get("held_out", {}).get("scenario")
        file = scenario if not isinstance(own, str) else self._file.parent / own
        first = max(training.seeds) + 1
        found = self._setting("held_out", HELD_OUT, file, range(first, first + HELD_OUT_SEEDS))
        if shared := set(found.seeds) & set(training.seeds):
            used = {path.scenario.hash for path in training.paths}
            for path in found.paths:
                if path.scenario.hash in used:
                    raise ValueError(
                        f"{self._place('held_out', 'seeds')}: seed {min(shared)} is used for training on the same "
                        f"path ({path.name}); held-out runs need other seeds or other paths"
                    )
        return found

    def _tested(self, patterns: Sequence[str], paths: Sequence[NetworkPath]) -> None:
        for path in paths:
            names = path.scenario.flows
            for pattern in patterns:
                # Connections of an application are not flows of the scenario, but begin with its name.
                if not any(is_tested(name, [pattern]) for name in names):
                    near = checks.near(pattern, names[:25])
                    raise ValueError(f"{self._place('flows')}: no flow has the name {pattern!r}{near}")

    def _parameters(self, axes: Collection[str]) -> tuple[Parameter, ...]:
        table = self._document["parameters"]
        if not table:
            raise ValueError(f"{self._place('parameters')}: names no parameter; name the key of a scenario")
        found = [self._parameter(name, given) for name, given in table.items()]
        keys = [key for each in found for key in each.keys]
        for each in found:
            twice = next((key for key in each.keys if keys.count(key) > 1), None)
            if twice:
                raise ValueError(f"{each.place}: {twice} is set twice")
            for key in each.keys:
                if key in axes:
                    raise ValueError(f"{each.place}: is an axis of [sweep]; tune it, or sweep it")
        return tuple(found)

    def _parameter(self, name: str, given: object) -> Parameter:
        place = self._place("parameters", name)
        if isinstance(given, list):
            return Parameter(name, (name,), given, place)
        if not isinstance(given, Mapping):
            raise ValueError(f"{place}: must be a list of values, or a range such as {{ from = 1, to = 8 }}")
        # A key without quotes is a table for each of its dots.
        if all(isinstance(value, (Mapping, list)) for value in given.values()) and "values" not in given:
            inner = next(iter(given))
            raise ValueError(f'{place}: write the key in quotes, as in "{name}.{inner}"')
        self._keys(("parameters", name), given, PARAMETER, ())
        values = given.get("values", {key: given[key] for key in ("from", "to", "scale") if key in given})
        if "values" in given and "from" in given:
            raise ValueError(f"{place}: has values and a range; keep one of them")
        return Parameter(name, tuple(given.get("keys", [name])), values, place)

    def _goal(self) -> Goal:
        table = self._document["objective"]
        self._keys(("objective",), table, OBJECTIVE, ())
        directions = [word for word in ("minimise", "maximise") if word in table]
        if len(directions) != 1:
            raise ValueError(f"{self._place('objective')}: needs one of minimise and maximise, with a measure")
        measure = table[directions[0]]
        self._measure(("objective", directions[0]), measure)
        sign: Literal[1, -1] = 1 if directions[0] == "maximise" else -1
        return Goal(measure, sign, table.get("over", "mean"), table.get("relative", False))

    def _measure(self, path: Sequence[str], measure: str) -> None:
        if measure not in MEASURES:
            raise ValueError(f"{self._place(*path)}: there is no measure {measure!r}{checks.near(measure, MEASURES)}")

    def _constraints(self, training: Setting, tested: Sequence[str]) -> tuple[Constraint, ...]:
        found = []
        for measure, table in self._document.get("constraints", {}).items():
            path = ("constraints", measure)
            self._measure(path, measure)
            if not isinstance(table, Mapping):
                raise ValueError(f"{self._place(*path)}: must be a table, such as {{ at_most = 0.1 }}")
            self._keys(path, table, CONSTRAINT, ())
            bounds = [word for word in ("at_most", "at_least") if word in table]
            if len(bounds) != 1:
                raise ValueError(f"{self._place(*path)}: needs one of at_most and at_least")
            bound = self._bound((*path, bounds[0]), measure, table[bounds[0]])
            found.append(Constraint(measure, 1 if bounds[0] == "at_least" else -1, bound, table.get("over", "mean")))
        named = {each.measure for each in found} | {str(self._document["objective"].get("minimise"))}
        for path_ in training.paths if HARM in named else ():
            if all(is_tested(name, tested) for name in path_.scenario.flows):
                place = self._place("constraints", HARM)
                raise ValueError(f"{place}: every flow is under test; flows must leave some out, which can be harmed")
        return tuple(found)

    def _bound(self, path: Sequence[str], measure: str, given: float | str) -> float | None:
        if given == REFERENCE:
            return None
        unit = of(measure).dimension
        value = quantity(given, unit)
        if value is None:
            like = f'a text such as "20 {_like(unit)}"' if unit else 'a number, or a share such as "10 %"'
            near = suggestion(given, [REFERENCE]) if isinstance(given, str) else ""
            raise ValueError(f'{self._place(*path)}: must be {like}, or "{REFERENCE}", not {given!r}{near}')
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


def _texts(value: object) -> list[str]:
    return [value] if isinstance(value, str) and value else value if checks.is_texts(value) else []
