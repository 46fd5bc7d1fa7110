"""The figures of a source: results over time or over labels, the figures of a stored report, or a scenario's path."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

from ackclock import datasets
from ackclock.curves import Results, labelled
from ackclock.datasets import Dataset
from ackclock.drawing import logs, overtime, paths, plotly
from ackclock.drawing.figure import Figure
from ackclock.drawing.queues import Unit
from ackclock.experiments.labelled import Sample, samples
from ackclock.files import checks, storage
from ackclock.formatting.labels import find, last_part
from ackclock.formatting.names import in_file
from ackclock.qlogs import Qlog, open_qlog, reading
from ackclock.reports import labels, sweeps
from ackclock.scenario import Scenario, load
from ackclock.summaries import AnyResult

CURVES = "curves"
KINDS = (*labels.KINDS, CURVES, *overtime.KINDS)
"""Every kind of figure of runs."""
PATH = "path"
"""The figure of a scenario."""
OVER = "--x, --y and --by draw over labels: use one or the other"
MOST_CURVES = 12
MOST_FIGURES = 12
"""Figures of a report that are drawn by default."""
TIMES = ("load_time", "completion_time")
"""Columns of a distribution by default: the first that was measured."""
DATA = re.compile(r'<script type="text/plain" id="data">([A-Za-z0-9+/=]*)</script>')
Source = str | Path | Scenario | Dataset | Results | Qlog | Sequence[Qlog] | Sequence[str | Path]


@dataclass(frozen=True)
class Plot:
    """A figure of a source: the name of its file without an ending, the figure, and notes for its reader."""

    name: str
    figure: Figure
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Choice:
    """What to draw of runs: options of the command `plot` with the same names."""

    x: str | None = None
    y: str | None = None
    by: Sequence[str] = ()
    only: Sequence[str] = ()
    link: str | None = None
    names: Sequence[str] = ()
    bin: float | None = None
    unit: Unit | None = None

    def given(self, *names: str) -> str:
        """Return the first of some options that was given, as the command line spells it; empty: none."""
        spelt = {"names": "name"}
        found = next((name for name in names if getattr(self, name) not in (None, (), [])), "")
        return f"--{spelt.get(found, found)}" if found else ""


class _Labelled(Protocol):
    @property
    def labels(self) -> Mapping[str, str]: ...


Item = TypeVar("Item", bound=_Labelled)


def figures(source: Source, kinds: Sequence[str] = (), choice: Choice | None = None) -> list[Plot]:
    """Return the figures of a source.

    Parameters
    ----------
    source
        A folder that a command wrote, a report, a dataset, one result, several, or a mapping from labels to results; a
        scenario or its file, whose path is drawn; or one or several logs in the format qlog, or their files.
    kinds
        Kinds of `KINDS` or of `logs.KINDS`, or names of the figures of a report; by default the recorded curves of
        runs, the leading figure of a sweep without them, and the figures of a report.
    choice
        What to draw of runs.

    Raises
    ------
    ValueError
        If a kind is unknown, needs what was not recorded, or does not take an option.
    OSError
        If nothing is stored there.
    """
    choice = choice or Choice()
    if (files := _logs(source)) is not None:
        return _of_logs(files, kinds, choice)
    if isinstance(source, Scenario):
        return [_of_path(source, kinds, choice)]
    if not isinstance(source, (str, Path)):
        return _of_runs(cast("Dataset | Results", source), kinds, choice, "the results")
    path = Path(source)
    if path.suffix == ".toml" and not path.is_dir():
        return [_of_path(load(path), kinds, choice)]
    if not path.is_dir() and path.suffix != ".html":
        raise FileNotFoundError(f"{path}: no such directory; `ackclock run --out` and other commands write one")
    kind = str(storage.read_manifest(path, checked=False)["kind"]) if path.is_dir() else "report"
    if kind in ("run", "dataset"):
        found = datasets.open(path)
        return _of_runs(found if isinstance(found, Dataset) else [found], kinds, choice, str(path))
    return _of_report(path, kind, kinds, choice)


def _logs(source: Source) -> Sequence[str | Path | Qlog] | None:
    """Return the logs of a source, or the files of several sources; None: it is neither."""
    if isinstance(source, Qlog) or (isinstance(source, (str, Path)) and reading.is_log(Path(source))):
        return [source]
    if isinstance(source, Sequence) and not isinstance(source, str):
        several = [each for each in source if isinstance(each, (str, Path, Qlog))]
        return several if len(several) == len(source) > 0 else None
    return None


def _of_logs(sources: Sequence[str | Path | Qlog], kinds: Sequence[str], choice: Choice) -> list[Plot]:
    """Return figures of logs, each with all of them."""
    for each in sources:
        if not isinstance(each, Qlog) and not reading.is_log(Path(each)):
            raise ValueError(f"{each}: only logs (.qlog, .sqlog) are drawn together; draw other sources one by one")
    if option := choice.given("x", "y", "by", "only", "link", "names", "bin", "unit"):
        raise ValueError(f"{option}: a log has connections, and neither links nor labels")
    checks.words("--kind", "figure of a log", kinds, [logs.CURVES, *logs.KINDS])
    found = [[each] if isinstance(each, Qlog) else open_qlog(each) for each in sources]
    named = logs.labelled([log for part in found for log in part])
    notes = []
    if len(named) > MOST_CURVES:
        notes = [f"{MOST_CURVES} of {len(named)} connections are drawn"]
        named = dict(list(named.items())[:MOST_CURVES])
    return [Plot(logs.name(named, kind), logs.figure(named, kind), notes) for kind in kinds or [logs.CURVES]]


def _of_path(scenario: Scenario, kinds: Sequence[str], choice: Choice) -> Plot:
    """Return the figure of a scenario's path."""
    if option := choice.given("x", "y", "by", "only", "names", "unit"):
        raise ValueError(f"{option}: a scenario has no results yet, only the rate, delay and losses of its path")
    checks.words("--kind", "figure of a scenario", kinds, [PATH])
    name = f"{in_file(scenario.name)}-{PATH}"
    return Plot(name, paths.path(scenario, link=choice.link, bin=choice.bin))


def _of_report(path: Path, kind: str, kinds: Sequence[str], choice: Choice) -> list[Plot]:
    """Return the figures of a report, which holds their data."""
    if option := choice.given("x", "y", "by", "only", "link", "names", "bin", "unit"):
        raise ValueError(f"{option}: {path} is a {kind}, whose figures are drawn as they are; name some with --kind")
    page = path / storage.REPORT if path.is_dir() else path
    try:
        packed = DATA.search(page.read_text(encoding="utf-8"))
    except FileNotFoundError:
        text = f"{page}: the figures are in the report, which is missing; ackclock report writes it"
        raise FileNotFoundError(text) from None
    found = [plotly.figure(drawn) for drawn in plotly.unpacked(packed[1])] if packed and packed[1] else []
    if not found:
        raise ValueError(f"{page}: has no figures")
    named = {in_file(it.anchor) if it.anchor else f"figure-{at}": it for at, it in enumerate(found, start=1)}
    checks.words("--kind", "figure", kinds, named)
    chosen = kinds or ([*named] if len(named) <= MOST_FIGURES else [*named][:1])
    plots = [Plot(name, named[name]) for name in chosen]
    if len(chosen) < len(named) and not kinds:
        others = ", ".join([*named][1:])
        plots[0].notes.append(f"the first of {len(named)} figures; name others with --kind: {others}")
    return plots


def _of_runs(source: Dataset | Results, kinds: Sequence[str], choice: Choice, place: str) -> list[Plot]:
    checks.words("--kind", "kind", kinds, KINDS)
    over_labels = [kind for kind in kinds if kind in labels.KINDS]
    over_time = [kind for kind in kinds if kind not in labels.KINDS]
    option = choice.given("x", "y", "by")
    if option and over_time:
        raise ValueError(f"--kind {over_time[0]} is drawn over time; {OVER}")
    if over_labels or option:
        if given := choice.given("names", "bin", "unit"):
            raise ValueError(f"{given} is for curves over time; {OVER}")
        return [_over_labels(source, kind, choice) for kind in over_labels or ["lines"]]
    folder = source.folder if isinstance(source, Dataset) else None
    if isinstance(source, Dataset):
        if not source.has_traces:
            if over_time:
                raise ValueError(f"{place}: --kind {over_time[0]} needs traces; run again with --record")
            return _lead(source.folder, choice)
        source = datasets.runs(source.folder)
    chosen = _named(source)
    if choice.only:
        kept = _choose(list(chosen.values()), choice.only)  # type: ignore[type-var]
        chosen = {name: it for name, it in chosen.items() if it in kept}
    if not over_time and folder is not None and len(chosen) > 1 and not _possible(chosen, ()):
        return _lead(folder, choice)
    return _over_time(chosen, over_time, choice, place)


def _lead(folder: Path, choice: Choice) -> list[Plot]:
    if option := choice.given("only", "link", "names", "bin", "unit"):
        raise ValueError(f"{option}: needs a kind, as in --kind lines")
    found = sweeps.lead(folder)
    if found is None:
        raise ValueError(f"{folder}: nothing differs between its runs; draw a distribution with --kind cdf")
    return [Plot(f"lines-{in_file(found.anchor)}", found, [found.note] if found.note else [])]


def _named(source: Results) -> dict[str, AnyResult]:
    """Return results by the names of their scenarios, with their places if the names are not unique."""
    if isinstance(source, Mapping) or not isinstance(source, Sequence):
        return labelled(source)
    unique = len({result.name for result in source}) == len(source)
    return {result.name if unique else f"{at} {result.name}": result for at, result in enumerate(source, start=1)}


def _over_time(runs: Mapping[str, AnyResult], kinds: Sequence[str], choice: Choice, place: str) -> list[Plot]:
    """Return curves of recorded traces."""
    together = CURVES in kinds
    kinds = [kind for kind in kinds if kind != CURVES]
    every = _possible(runs, kinds, place)
    drawn = [*(kinds or ([] if together else every))]
    possible = [*drawn, *([kind for kind in every if kind in overtime.OF_RUN] if together else [])]
    shown = {overtime.KINDS[kind].shows for kind in possible}
    none = f"none of {', '.join(possible) or 'the plots'} shows"
    if choice.link is not None and not shown & {"links", "link"}:
        raise ValueError(f"--link {choice.link}: {none} links")
    if choice.names and "names" not in shown:
        raise ValueError(f"--name {choice.names[0]}: {none} internals")
    if choice.unit is not None and "queue" not in possible:
        raise ValueError(f"--unit {choice.unit}: {none} the length of queues")
    if choice.bin is not None and not any(overtime.KINDS[kind].bins for kind in possible):
        raise ValueError(f"--bin {choice.bin:g}: {none} means over bins")
    if not possible:
        raise ValueError(f"{place}: there are no traces to plot; run again with --record cwnd --record delivered")
    made = {kind: _curves(runs, kind, choice) for kind in dict.fromkeys(possible)}
    plots = [made[kind] for kind in drawn]
    if together:
        parts = [plot for kind, plot in made.items() if kind in overtime.OF_RUN]
        panels = [panel for part in parts for panel in part.figure.panels]
        notes = list(dict.fromkeys(note for part in parts for note in part.notes))
        plots.append(Plot(CURVES, Figure("", panels, CURVES, stacked=True), notes))
    return plots


def _curves(runs: Mapping[str, AnyResult], kind: str, choice: Choice) -> Plot:
    it = overtime.KINDS[kind]
    first = next(iter(runs.values()))
    few, notes = _few(runs, overtime.curves_of(first, kind, choice.link))
    options: dict[str, Any] = {"bin": choice.bin} if it.bins else {}
    if it.shows == "names":
        options["names"] = choice.names or None
    if choice.unit is not None and kind == "queue":
        options["unit"] = choice.unit
    if it.shows in ("links", "link"):
        options["link"] = choice.link
    return Plot(kind, it.figure(few, **options), notes)


def _possible(runs: Mapping[str, AnyResult], kinds: Sequence[str], place: str = "") -> list[str]:
    """Return the kinds of figures with something to draw; refuse any other of `kinds`."""
    results = list(runs.values())
    lacks = {name: overtime.lacking(results, name) for name in overtime.KINDS}
    for kind in kinds:
        if lacks[kind] is not None:
            raise ValueError(f"{place}: {lacks[kind]}")
        if overtime.KINDS[kind].shows == "flows" and not overtime.has(results, kind):
            raise ValueError(f"{place}: no flow has data for {kind}: datagrams have no window and no ACKs")
    known = [kind for kind, message in lacks.items() if message is None]
    return [kind for kind in known if kind in kinds or overtime.has(results, kind)]


def _few(runs: Mapping[str, AnyResult], curves: int) -> tuple[dict[str, AnyResult], list[str]]:
    """Return evenly chosen runs, so few that a figure with this number of curves for each stays legible."""
    most = max(1, MOST_CURVES // max(1, curves))
    if len(runs) <= most:
        return dict(runs), []
    names = list(runs)
    places = [round(index * (len(names) - 1) / max(1, most - 1)) for index in range(most)]
    label = next(iter(getattr(runs[names[0]], "labels", {})), "LABEL")
    note = f"{most} of {len(runs)} runs are drawn; choose others with --only, as in --only {label}=VALUE"
    return {names[place]: runs[names[place]] for place in places}, [note]


def _over_labels(source: Dataset | Results, kind: str, choice: Choice) -> Plot:
    column = choice.y or (_measured(source, choice) if kind in ("cdf", "box") else "goodput_bps")
    found = _choose(_samples(source, column, choice.link), choice.only)
    log = sweeps.sampled_log(source.folder) if isinstance(source, Dataset) else set()
    asked = labels.question(kind, found, column, choice.x, choice.by, frozenset(log))
    drawn = labels.KINDS[kind](asked)
    words = [kind, last_part(column), *([last_part(asked.x)] if asked.x else [])]
    if kind in ("heatmap", "paired"):
        words.append(last_part(asked.by[0]))
    return Plot("-".join(map(in_file, words)), drawn.figure, drawn.notes)


def _samples(source: Dataset | Results, column: str, link: str | None) -> list[Sample]:
    if isinstance(source, Dataset):
        with source.reading():
            return samples(source, column, link)
    results = list(labelled(source).values())
    if not all(hasattr(result, "labels") for result in results):
        raise ValueError("results in memory have no labels; draw a folder of `ackclock run --out`, or a dataset")
    return samples(results, column, link)  # type: ignore[arg-type]


def _choose(items: Sequence[Item], only: Iterable[str]) -> Sequence[Item]:
    """Return the items whose labels have the values that the user names, as LABEL=VALUE."""
    for text in only:
        word, equals, wanted = (part.strip() for part in text.partition("="))
        if not equals or not word:
            raise ValueError(f"--only {text}: expected KEY=VALUE, as in algorithm=staged")
        label = find(f"--only {text}", "label", word, items[0].labels)
        values = list(dict.fromkeys(item.labels[label] for item in items))
        items = [item for item in items if item.labels[label] == wanted]
        if not items:
            raise ValueError(f"--only {text}: no run has this value; known: {', '.join(values[:20])}")
    return items


def _measured(source: Dataset | Results, choice: Choice) -> str:
    for column in TIMES:
        try:
            _samples(source, column, choice.link)
        except ValueError:
            continue
        return column
    raise ValueError("no flow has a size, and no application loads pages: name a column with --y")
