"""Scenarios, from a file or from code with the keys of a file."""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, overload

from ackclock import _core
from ackclock.control import CongestionControl, SlowStart
from ackclock.files import limits, populations, tables, toml
from ackclock.formatting.numbers import counted
from ackclock.statistics import samples

ControlFactory = Callable[[], Any]
Settings = Mapping[str, object]


def setting(value: object) -> str:
    """Return a Python value as the text of a setting.

    Parameters
    ----------
    value
        A text with its unit (``"10 ms"``), a number, a truth value, or a list or table of these.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{in_toml(str(key))} = {in_toml(item)}" for key, item in value.items()) + " }"
    return in_toml(value)


_PYTHON = {"congestion_control": ("control", "python"), "slow_start": ("slow start", "python_slow_start")}
"""Keys of a flow that may be a class: the name of the part, and the word for it in the document."""


def _is_object(control: object) -> bool:
    """Whether a value is an instance of a control or slow start; a flow needs the class."""
    return hasattr(control, "on_ack") and not isinstance(control, type)


def _check_class(path: str, key: str, made: object) -> None:
    """Refuse an instance, which should be its class, and a class that belongs to the other key."""
    if _is_object(made):
        name, what = type(made).__name__, _PYTHON[key][0]
        raise _core.ScenarioError(
            f"{path}: each run makes its own {what}; write the class {name}, not its instance {name}()"
        )
    if isinstance(made, type):
        other = next(name for name in _PYTHON if name != key)
        if issubclass(made, CongestionControl if other == "congestion_control" else SlowStart):
            raise _core.ScenarioError(f"{path}: {made.__name__} is a {_PYTHON[other][0]}: write it as {other}")


def word_of(made: object) -> str:
    """Return the word of the document for a control or slow start in Python."""
    return _PYTHON[key_of(made)][1]


def key_of(made: object) -> str:
    """Return the key of a flow that names a control or slow start in Python."""
    return "slow_start" if isinstance(made, type) and issubclass(made, SlowStart) else "congestion_control"


def _plain(value: object, path: str) -> object:
    """Return a value of a document as JSON.

    Raises
    ------
    ScenarioError
        If a file could not hold the value; the message names its path.
    """
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(item, f"{path}.{key}") for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{path}.{index}") for index, item in enumerate(value)]
    if hasattr(value, "__index__"):
        return operator.index(value)  # also the whole numbers of numpy
    if hasattr(value, "__float__") and not hasattr(value, "__len__"):
        number = float(value)
        if not math.isfinite(number):
            raise _core.ScenarioError(f"{path}: must be finite, but is {number}")
        return number
    if callable(value) or _is_object(value):
        name = getattr(value, "__name__", type(value).__name__)
        key = key_of(value)
        what = f"a {_PYTHON[key][0]} in Python is given as {key} of a flow when the scenario is made"
        raise _core.ScenarioError(f'{path}: {what}: Scenario(flow=[{{"{key}": {name}}}])')
    what = f"{value!r} ({type(value).__name__})"
    raise _core.ScenarioError(f"{path}: expected a text, a number, true or false, a list or a table, but is {what}")


def in_toml(value: object) -> str:
    """Return a value as TOML, on one line."""
    if isinstance(value, Mapping):
        return setting(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(in_toml(item) for item in value) + "]"
    # TOML knows no surrogates and no bare delete character; otherwise its texts are those of JSON.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


class Scenario:
    """A scenario: topology, flows and traces to record; checked when it is made.

    Scenarios are immutable; `set` returns another one.

    Parameters
    ----------
    name
        Its name in tables and plots.
    **document
        The keys of a scenario file: ``duration="30 s"``, ``topology={...}``, ``flow=[{...}]``. Values carry their
        units, as in a file. ``congestion_control`` of a flow may be a subclass of `ackclock.CongestionControl`, and
        ``slow_start`` a subclass of `ackclock.SlowStart`.

    Raises
    ------
    ScenarioError
        If a key is unknown or a value is invalid; the message names the place and the nearest right thing.
    """

    __slots__ = ("_controls", "_core")

    def __init__(self, name: str = "scenario", **document: Any) -> None:  # noqa: ANN401 - the tables of a TOML document
        self._controls: dict[int, ControlFactory] = {}
        if not isinstance(name, str):
            raise TypeError(f"Scenario: expected a text as its name, not {name!r}")
        plain = {key: _plain(value, key) for key, value in self._take_controls(document).items()}
        plain.setdefault("name", name)
        self._core = _core.Scenario.from_json(json.dumps(plain), name)

    def _take_controls(self, document: dict[str, Any]) -> dict[str, Any]:
        flows = document.get("flow")
        if isinstance(flows, Mapping):
            flows = [flows]
        if flows is None:
            return dict(document)
        if isinstance(flows, str) or not isinstance(flows, Sequence):
            raise _core.ScenarioError(f"flow: expected a list of tables, as [{{}}], but is {flows!r}")
        plain = []
        for index, flow in enumerate(flows):
            if not isinstance(flow, Mapping):
                raise _core.ScenarioError(f"flow.{index}: expected a table, as {{}}, but is {flow!r}")
            made = [key for key in _PYTHON if callable(flow.get(key)) or _is_object(flow.get(key))]
            for key in made:
                what, word = _PYTHON[key]
                _check_class(f"flow.{index}.{key}", key, flow[key])
                if flow.get("count", 1) != 1:
                    raise _core.ScenarioError(
                        f"flow.{index}.count: a flow with a {what} in Python must be one flow; list each flow"
                    )
                if len(made) > 1 or (key == "slow_start" and "congestion_control" in flow):
                    raise _core.ScenarioError(
                        f"flow.{index}.slow_start: cannot be combined with congestion_control, which replaces it"
                    )
                self._controls[index] = flow[key]
                flow = {**{name: value for name, value in flow.items() if name != key}, "congestion_control": word}
            plain.append(flow)
        return {**document, "flow": plain}

    @classmethod
    def from_core(cls, core: _core.Scenario, controls: Mapping[int, ControlFactory] | None = None) -> Scenario:
        """Wrap a scenario of the compiled core."""
        scenario = cls.__new__(cls)
        scenario._core = core
        scenario._controls = dict(controls or {})
        return scenario

    @property
    def core(self) -> _core.Scenario:
        """The compiled core's scenario."""
        return self._core

    @property
    def controls(self) -> dict[int, ControlFactory]:
        """Congestion controls and slow starts written in Python, by the index of their flow."""
        return dict(self._controls)

    @property
    def name(self) -> str:
        """Its name in tables and plots."""
        return self._core.name

    @property
    def duration(self) -> float:
        """End of the run, in seconds."""
        return self._core.duration

    @property
    def seed(self) -> int:
        """Seed of all generators of the run."""
        return self._core.seed

    @property
    def flows(self) -> list[str]:
        """Names of the flows."""
        return self._core.flows

    @property
    def links(self) -> list[str]:
        """Names of the links, one for each direction."""
        return self._core.links

    @property
    def bottleneck(self) -> str:
        """Name of the slowest link on the path of the first flow's data; without flows, of all links."""
        return self._core.bottleneck

    @property
    def record(self) -> list[str]:
        """Traces that its runs record."""
        return self._core.record

    @property
    def hash(self) -> str:
        """Hash of the scenario with all defaults filled in, without controls in Python."""
        return self._core.hash

    def to_toml(self) -> str:
        """Return it as a scenario file with every default filled in; random arrivals are written as such."""
        return self._core.to_toml()

    def expanded(self) -> str:
        """Return it as a scenario file with every default filled in and a table for every flow that arrives."""
        return self._core.expanded()

    def set(self, settings: Settings) -> Scenario:
        """Return the scenario with other values.

        Parameters
        ----------
        settings
            Values by path: ``{"flow.start": "10 ms", "seed": 3}``.

        Raises
        ------
        ScenarioError
            If a path is unknown or a value is invalid.
        """
        return Scenario.from_core(self._core.set(_pairs(settings)), self._controls)

    def sweep_points(self) -> SweepPoints:
        """Return the runs of ``[sweep]`` as a sequence that makes each run when it is asked for.

        Random samples and populations are drawn and tables are read at once, single runs are checked later.

        Raises
        ------
        ScenarioError
            If ``[sweep]`` or its table is wrong.
        OSError
            If the table cannot be read.
        """
        needs, file, population = self._core.sweep_needs()
        try:
            columns = None if file is None else tables.text_columns(file)
            columns = columns if population is None else populations.columns(*population)
        except ValueError as error:
            raise _core.ScenarioError(str(error)) from None
        drawn = None if needs is None else samples.unit_cube(*needs).astype("<f8").tobytes()
        return SweepPoints(self._core.sweep_points(drawn, columns), self._controls)

    def variants(self) -> list[tuple[dict[str, str], Scenario]]:
        """Return every variant of ``[sweep]`` with its labels, in file order; without a sweep, the scenario itself.

        A large sweep takes far less memory as `sweep_points`.
        """
        return list(self.sweep_points())

    def __repr__(self) -> str:
        return f"<Scenario {self.name!r}: {self.duration:g} s, seed {self.seed}, {counted(len(self.flows), 'flow')}>"

    def _repr_html_(self) -> str:
        """Return its card for a notebook: topology, bottleneck, flows, links, and the file with every default."""
        from ackclock.notebooks.scenarios import card

        controls = {flow: getattr(made, "__name__", type(made).__name__) for flow, made in self._controls.items()}
        made = card(
            json.loads(self._core.expanded_json()),
            self.to_toml(),
            [f"hash {self.hash[:12]}"],
            bottleneck=self.bottleneck,
            controls=controls,
            sweep=self._core.sweep,
        )
        return made.html()

    def __eq__(self, other: object) -> bool:
        """Whether names, all values with their defaults, ``[sweep]`` and controls are equal."""
        return self._content == other._content if isinstance(other, Scenario) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.hash)

    @property
    def _content(self) -> tuple[object, ...]:
        return self.hash, self._core.sweep, self._controls

    def __copy__(self) -> Scenario:
        return self

    def __deepcopy__(self, memo: object) -> Scenario:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the scenario; unpickling reads the files that it names again."""
        return _restore, (*self._core.state(), self._controls)


class SweepPoints(Sequence[tuple[dict[str, str], Scenario]]):
    """The runs of a ``[sweep]`` in file order: labels and scenario of each, made when it is asked for.

    The last axis of the file changes fastest. Without a sweep, the scenario itself is the only run. A run that
    is wrong raises a `ScenarioError` when it is made, and does not affect others.

    Parameters
    ----------
    core
        The runs of the compiled core.
    controls
        Congestion controls and slow starts written in Python, by the index of their flow.
    """

    __slots__ = ("_controls", "_core")

    def __init__(self, core: _core.SweepPoints, controls: Mapping[int, ControlFactory]) -> None:
        self._core = core
        self._controls = controls

    @property
    def core(self) -> _core.SweepPoints:
        """The runs of the compiled core."""
        return self._core

    def __len__(self) -> int:
        return len(self._core)

    @overload
    def __getitem__(self, index: int) -> tuple[dict[str, str], Scenario]: ...
    @overload
    def __getitem__(self, index: slice) -> list[tuple[dict[str, str], Scenario]]: ...
    def __getitem__(
        self, index: int | slice
    ) -> tuple[dict[str, str], Scenario] | list[tuple[dict[str, str], Scenario]]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        labels, core = self._core.point(self._place(index))
        return labels, Scenario.from_core(core, self._controls)

    def labels(self, index: int) -> dict[str, str]:
        """Return the labels of a run, without a check of its scenario."""
        return self._core.labels(self._place(index))

    def hash(self, index: int) -> str:
        """Return `Scenario.hash` of a run. Runs with equal hashes have equal results.

        Raises
        ------
        ScenarioError
            If the run is wrong.
        """
        return self._core.hash(self._place(index))

    def _place(self, index: int) -> int:
        """Return an index that may count from the end as one from the start."""
        return range(len(self))[index]

    def __repr__(self) -> str:
        return f"<{counted(len(self), 'run')} of a sweep>"

    def _repr_html_(self) -> str:
        """Return its card for a notebook: the labels of the first runs."""
        from ackclock.notebooks import Card, Table
        from ackclock.notebooks.card import MOST_ROWS

        first = [self.labels(index) for index in range(min(len(self), MOST_ROWS))]
        names = list(first[0]) if first else []
        table = Table(
            ["run", *names], [[str(i), *said.values()] for i, said in enumerate(first)], len(names) + 1, total=len(self)
        )
        return Card("Sweep", counted(len(self), "run"), blocks=[table]).html()

    def __copy__(self) -> SweepPoints:
        return self

    def __deepcopy__(self, memo: object) -> SweepPoints:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the runs with their samples and table. Making a run reads the other files that it names."""
        return _restore_points, (self._core.state(), self._controls)


def _restore(text: str, file: str, python: bool, controls: dict[int, ControlFactory]) -> Scenario:
    return Scenario.from_core(_core.Scenario.restore(text, file, python), controls)


def _restore_points(state: tuple[Any, ...], controls: Mapping[int, ControlFactory]) -> SweepPoints:
    return SweepPoints(_core.SweepPoints.restore(*state), controls)


def _pairs(settings: Settings) -> list[tuple[str, str]]:
    """Return settings as the compiled core reads them."""
    if not isinstance(settings, Mapping):
        raise TypeError(f'settings: expected a dictionary, as {{"seed": 3}}, not {settings!r}')
    for path, value in settings.items():
        if not isinstance(path, str):
            raise TypeError(f'settings: expected the path of a key, as "flow.rwnd", not {path!r}')
        if value is None:
            raise _core.ScenarioError(f"{path}: expected a value, but is None")
    return [(path, setting(_plain(value, path))) for path, value in settings.items()]


def load(path: str | Path, settings: Settings | None = None) -> Scenario:
    """Read a scenario file.

    Parameters
    ----------
    path
        A TOML file.
    settings
        Values to change before the check, by path.

    Raises
    ------
    ScenarioError
        If the file is invalid, or larger than 32 MB.
    OSError
        If the file cannot be read.
    """
    path = Path(path)
    pairs = _pairs(settings or {})
    try:
        text = toml.read_text(path, limits.most("scenario"))
    except ValueError as error:
        raise _core.ScenarioError(str(error)) from None
    return Scenario.from_core(_core.Scenario.from_toml(text, str(path), pairs))
