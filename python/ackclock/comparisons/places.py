"""Places of a comparison: a shipped path, a preset of links, a scenario file, a suite, or a population of paths."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ackclock import _core
from ackclock._core import ScenarioError
from ackclock.comparisons import tables
from ackclock.comparisons.contenders import WORKLOAD, Contender
from ackclock.comparisons.parts import AXES, PARTS, REPLACED, WHOLE
from ackclock.experiments.world import SIMULATION, World
from ackclock.files import checks, limits, populations, toml
from ackclock.formatting.numbers import counted
from ackclock.formatting.units import UNITS
from ackclock.freeze import Frozen
from ackclock.metrics.groups import under_test
from ackclock.scenario import Scenario, SweepPoints, load

FOLDER = Path(__file__).resolve().parents[1] / "data" / "paths"
"""The shipped paths. The first line of a file's opening comment is its summary."""
FIELD = FOLDER.parent / "field"
"""The folder of the twelve paths of a map of the field."""
SUITES = FOLDER.parent / "suites"
"""The shipped suites: scenario files with ``[sweep]``."""
DRAWN = 100
"""Paths drawn of a population by default."""
TABLES = (".csv", ".parquet")
FLOW = {"name": "tested", "initial_ssthresh": "unlimited", "rwnd": "100000 packets", "start_jitter": "1 s"}
"""The flow on the paths of a table: only its congestion control limits it."""
ACCESS = {"rate": "10 Gbit/s", "delay": "0 ms"}
DURATION = "20 s"
ROUNDS, SHARE = 60, 8
"""A transfer without a given duration may take this many round trips, and this many times its time at the full rate."""
FIELD_PATHS = (
    *("clean", "shallow", "deep", "lossy", "competing", "short"),
    *("cellular", "leo", "geo", "policed", "l4s", "datacentre"),
)
"""Their names, in the order of maps: one path and its variants, then others."""
OWN = "as written"
"""Name of the place of scenario files that run as they are."""


@dataclass(frozen=True)
class NetworkPath:
    """One path and the traffic on it.

    Attributes
    ----------
    name : str
        Its name.
    scenario : Scenario or None
        The scenario, in which the flows under test get the settings of a contender; None: each contender has its own.
    tested : tuple of str
        The flows under test by their paths in the scenario, such as ``flow.0``.
    automatic : bool
        Whether the run of a transfer lasts as long as the transfer needs, unless a duration is given.
    rival : Contender or None
        The algorithms of the other flows; None if there are none, or several kinds.
    """

    name: str
    scenario: Scenario | None
    tested: tuple[str, ...] = ()
    automatic: bool = False
    rival: Contender | None = None

    def lasts(self, extra: Mapping[str, str]) -> bool:
        """Whether a run lasts as long as its transfer needs: no duration is given."""
        return self.automatic and "duration" not in extra

    @property
    def constant(self) -> bool:
        """Whether the rates and delays of its links are constants, around which others can be drawn."""
        links = [] if self.scenario is None else Frozen(self.scenario).links
        return all(isinstance(link[key], str) for link in links for key in ("rate", "delay"))

    def compose(self, contender: Contender, seed: int, extra: Mapping[str, str]) -> Scenario:
        """Return the scenario of a contender.

        Parameters
        ----------
        contender
            The contender.
        seed
            The seed of the run.
        extra
            Further settings: of the scenario by key, of the flows under test by ``flow.KEY``.

        Raises
        ------
        ScenarioError
            If the flows cannot have these settings.
        """
        scenario, tested, settings = self.scenario, self.tested, contender.settings
        if scenario is None and contender.file is not None:
            scenario, tested, settings = load(contender.file), tested_flows(contender.file), {}
        if scenario is None:
            raise ValueError(f"{contender.name} is no scenario file, so it needs paths to run on")
        own = {key: value for key, value in extra.items() if not key.startswith("flow.")}
        per_flow = {key.removeprefix("flow."): value for key, value in extra.items() if key.startswith("flow.")}
        try:
            scenario = scenario.set({**own, "seed": seed})
            if settings.get("profile") == "modern" or "host" in settings:
                scenario, tested = _bare(scenario)
            plain = {key: value for key, value in {**settings, **per_flow}.items() if not isinstance(value, type)}
            made = scenario.set({f"{flow}.{key}": value for flow in tested for key, value in plain.items()})
            for key, value in settings.items():
                if isinstance(value, type):
                    made = _with_class(made, key, value)
            return made.set({"duration": f"{_lasting(made):g} s"}) if self.lasts(own) else made
        except ScenarioError as error:
            message = re.sub("^--set [^:]*: ", "", str(error), flags=re.MULTILINE)
            raise ScenarioError(f"{contender.name} on {self.name}: {message}") from None


def _with_class(scenario: Scenario, key: str, made: type) -> Scenario:
    """Return the scenario whose flows under test have a control or slow start in Python."""
    document = Frozen(scenario).document
    tested = under_test(flow["name"] for flow in document["flow"])
    # A class takes the place of a whole control, or of a slow start in a composed one.
    replaced = {key, WHOLE} if key in PARTS else {WHOLE, *REPLACED}
    flows = [
        {**{name: value for name, value in flow.items() if name not in replaced}, key: made}
        if flow["name"] in tested
        else flow
        for flow in document["flow"]
    ]
    return Scenario(**{**document, "flow": flows})


def _lasting(scenario: Scenario) -> float:
    """Return how long a transfer on the path of a table may take, in seconds; without a transfer, the run's duration.

    A transfer of several times the least time still ends: slow starts, losses and timeouts have room.
    """
    document = Frozen(scenario).document
    flow, links = document["flow"][0], document["topology"]["link"]
    link = next(each for each in links if f"{each['from']}>{each['to']}" == scenario.bottleneck)
    if "size" not in flow or not all(isinstance(link[key], str) for key in ("rate", "delay")):
        return scenario.duration
    size = _si(flow["size"]) * _si(flow["packet_size"])
    return math.ceil(1 + ROUNDS * 2 * _si(link["delay"]) + SHARE * 8 * size / _si(link["rate"]))


def _si(text: str) -> float:
    """Return the number of a text with its unit, such as ``"5 ms"``, in seconds, bit/s, bytes or packets."""
    amount, _, unit = text.partition(" ")
    return float(amount) * UNITS[unit][1]


def _bare(scenario: Scenario) -> tuple[Scenario, tuple[str, ...]]:
    """Return the scenario whose flows under test have no settings of hosts, and these flows; another host has its own.

    The link's queues have the packets that they have with the hosts of the scenario.
    """
    document = Frozen(scenario).document
    tested = under_test(flow["name"] for flow in document["flow"])
    flows = [
        {key: value for key, value in flow.items() if flow["name"] not in tested or key in (*WORKLOAD, "packet_size")}
        for flow in document["flow"]
    ]
    places = tuple(f"flow.{index}" for index, flow in enumerate(flows) if flow["name"] in tested)
    return Scenario(**{**document, "flow": flows}), places


@dataclass(frozen=True)
class Place:
    """A path, or a population of paths that is judged as a whole.

    Attributes
    ----------
    name : str
        Its name in tables.
    summary : str
        Its description.
    paths : sequence of NetworkPath
        One path, or those of the population.
    population : bool
        Whether it is a population.
    world : World
        Where its runs take place.
    path : str
        Its name without its world.
    rows : int
        Number of rows or points of a population; equal ones are one path.
    """

    name: str
    summary: str
    paths: Sequence[NetworkPath]
    population: bool = False
    world: World = SIMULATION
    path: str = ""
    rows: int = 0


def find(words: Sequence[str]) -> list[Place]:
    """Return the places that words name.

    Parameters
    ----------
    words
        Names of the shipped paths and of presets of links; ``field`` for the paths of a map of the field; names of
        scenario files, which end in ``.toml``, and of tables of paths, which end in ``.csv`` or ``.parquet``;
        ``suite:NAME``; and ``population:NAME:COUNT:SEED``, of which count and seed may be absent. A scenario with
        ``[sweep]`` is a population.

    Raises
    ------
    ValueError
        If a name is unknown, two places have the same name, or a file is invalid.
    OSError
        If a file cannot be read.
    """
    found = [place for word in words for place in (field() if word == FIELD.name else [_find(word)])]
    for index, place in enumerate(found):
        if any(place.name == other.name for other in found[:index]):
            raise ValueError(f"two paths are called {place.name!r}; name each once, and rename one of two files")
    return found


def shipped() -> list[Place]:
    """Return the shipped paths."""
    return [_find(file.stem) for file in sorted(FOLDER.glob("*.toml"))]


def field() -> list[Place]:
    """Return the paths of a map of the field."""
    return [_of_file(FIELD / f"{name}.toml") for name in FIELD_PATHS]


def suites() -> list[tuple[str, str]]:
    """Return the names and summaries of the shipped suites."""
    return [(file.stem, _summary(file)) for file in sorted(SUITES.glob("*.toml"))]


def own() -> Place:
    """Return the place of scenario files that run as they are."""
    return Place(OWN, "each scenario file as it is", [NetworkPath(OWN, None)])


def _find(word: str) -> Place:
    kind, _, name = word.partition(":")
    if kind == "suite":
        return _of_suite(name)
    if kind == "population":
        return _of_population(name.split(":"))
    if word.endswith(TABLES):
        return _of_table(Path(word))
    if word.endswith(".toml"):
        return _of_file(Path(word))
    names = sorted(file.stem for file in FOLDER.glob("*.toml"))
    presets: dict[str, str] = {link["name"]: link["summary"] for link in json.loads(_core.links())}
    if word in presets:
        return _of_preset(word, presets[word])
    if word not in names:
        endings = ", ".join((".toml", *TABLES))
        raise ValueError(
            f"unknown path {word!r}{checks.near(word, (*names, *presets))}; the name of a file must end in {endings}"
        )
    return _of_file(FOLDER / f"{word}.toml")


def _of_preset(name: str, summary: str) -> Place:
    document = {"duration": DURATION, "topology": {"kind": "dumbbell", "path": name}, "flow": [FLOW]}
    path = NetworkPath(name, Scenario(name, **document), ("flow.0",), automatic=True)
    return Place(name, summary.rstrip("."), [path])


def _of_suite(name: str) -> Place:
    checks.words("suite", "suite", [name], [known for known, _ in suites()])
    return _of_file(SUITES / f"{name}.toml")


def _of_population(words: Sequence[str]) -> Place:
    name, *rest = words
    if len(rest) > 2 or not all(each.isascii() and each.isdigit() for each in rest):
        word = ":".join(("population", *words))
        raise ValueError(f"{word}: expected population:NAME:COUNT:SEED, as in population:us:500:1")
    count = int(rest[0]) if rest else DRAWN
    seed = int(rest[1]) if rest[1:] else 1
    sweep = {"paths": {"population": name, "count": count, "seed": seed}}
    scenario = Scenario(Path(name).stem, **_document(sweep))
    points = scenario.sweep_points()
    summary = f"{counted(count, 'path')} of {Path(name).stem}: {populations.summary(name)}"
    paths = _points(points, ("flow.0",), automatic=True)
    return Place(Path(name).stem, summary, paths, population=True, rows=len(points))


def _document(sweep: Mapping[str, Any]) -> dict[str, Any]:
    """Return a scenario with one flow on the paths of `sweep`."""
    topology = {"kind": "dumbbell", "access": ACCESS}
    return {"duration": DURATION, "topology": topology, "flow": [FLOW], "sweep": sweep}


def _of_file(file: Path) -> Place:
    scenario, tested = load(file), tested_flows(file)
    summary = _summary(file)
    if "sweep" in toml.read(file, limits.most("scenario")):
        points = scenario.sweep_points()
        return Place(file.stem, summary, _points(points, tested), population=True, rows=len(points))
    return Place(file.stem, summary, [NetworkPath(file.stem, scenario, tested, rival=_rival(scenario))])


def _rival(scenario: Scenario) -> Contender | None:
    """Return the algorithms of the flows that are not under test, if they are the same for all."""
    flows = Frozen(scenario).flows
    tested = under_test(flow["name"] for flow in flows)
    others = [flow for flow in flows if flow["name"] not in tested]
    if not others:
        return None
    keys = (WHOLE, "recovery") if WHOLE in others[0] else AXES
    settings = [{key: flow.get(key) for key in keys} for flow in others]
    # Hosts of today have their own recovery.
    named = {key: value for key, value in settings[0].items() if key != "recovery" or value is not None}
    if any(each != settings[0] for each in settings) or not all(named.values()):
        return None
    return Contender("the rivals' own", named)


def _of_table(file: Path) -> Place:
    if not file.is_file():
        raise FileNotFoundError(f"{file}: there is no such file")
    found, headers = tables.columns(file)
    scenario = Scenario(file.stem, **_document({"paths": {"file": str(file)}}))
    try:
        rows = SweepPoints(scenario.core.sweep_points(None, found), {})
        points = _points(rows, ("flow.0",), automatic=True)
    except ScenarioError as error:
        raise ScenarioError(_as_written(str(error), headers)) from None
    summary = f"{counted(len(points), 'path')} of {file.name}"
    return Place(file.stem, summary, points, population=True, rows=len(rows))


def _as_written(message: str, headers: Mapping[str, str]) -> str:
    """Return a message in which columns have the headers of the table."""
    for key, header in headers.items():
        # A header may hold backslashes, which `re.sub` would read.
        message = f'column "{header}"'.join(re.split(rf'column "{re.escape(key)}(?: \([^)]*\))?"', message))
    return message


def _points(
    points: Iterable[tuple[Mapping[str, str], Scenario]], tested: tuple[str, ...], *, automatic: bool = False
) -> list[NetworkPath]:
    """Return the paths of a sweep, each once: points that differ only in their seed are one path."""
    found: dict[str, tuple[Mapping[str, str], Scenario]] = {}
    for labels, point in points:
        found.setdefault(point.set({"seed": 1}).hash, (labels, point))
    names = _names([labels for labels, _ in found.values()])
    return [NetworkPath(name, point, tested, automatic) for name, (_, point) in zip(names, found.values(), strict=True)]


def _names(points: Sequence[Mapping[str, str]]) -> list[str]:
    """Return a name for each point, made of its labels; repeated names get a number.

    The label of a row of a table replaces labels that are the same at all of its points, such as the row's rate. Labels
    that are the same at all points are left out.
    """
    constant = {key for key in points[0] if len({labels.get(key) for labels in points}) == 1} if len(points) > 1 else ()
    values: dict[tuple[str | None, str], set[str]] = {}
    for labels in points:
        for key, value in labels.items():
            values.setdefault((labels.get("paths"), key), set()).add(value)
    names = []
    for labels in points:
        row = labels.get("paths")
        keys = [key for key in labels if key not in ("paths", "seed") and key not in constant]
        if row is not None:
            keys = ["paths", *(key for key in keys if len(values[row, key]) > 1)]
        names.append(", ".join(labels[key] for key in keys))
    return _numbered(names)


def _numbered(names: Sequence[str]) -> list[str]:
    """Add a number to each repeated name, so that all names differ."""
    counts, used = Counter(names), set(names)
    found = []
    for name in names:
        unique = name
        if counts[name] > 1:
            unique = next(each for number in itertools.count(1) if (each := f"{name} #{number}") not in used)
            used.add(unique)
        found.append(unique)
    return found


def tested_flows(file: Path) -> tuple[str, ...]:
    """Return the flows under test of a file: those whose names begin with ``tested``, or all if there are none."""
    flows = toml.read(file, limits.most("scenario")).get("flow", {})
    names = [str(flow.get("name", "")) for flow in (flows if isinstance(flows, list) else [flows])]
    return tuple(f"flow.{index}" for index, name in enumerate(names) if name in under_test(names))


def _summary(file: Path) -> str:
    first = toml.read_text(file).partition("\n")[0]
    return first.lstrip("#").strip().rstrip(".") if first.startswith("#") else ""
