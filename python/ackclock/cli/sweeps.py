"""Sweeps of the command `run`. Only printed rows and written entries of a run stay in memory."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ackclock import overview
from ackclock.cli import output
from ackclock.cli.captures import Captures
from ackclock.cli.tables import FirstRows
from ackclock.experiments.execute import Interrupted, execute
from ackclock.experiments.measurement import Measurement
from ackclock.experiments.plan import Point
from ackclock.experiments.sweeps import Entry, Writer
from ackclock.experiments.world import SIMULATION, World
from ackclock.files import storage
from ackclock.metrics.completion import STATISTICS
from ackclock.result import Result, rows
from ackclock.scenario import Scenario
from ackclock.texts.labels import last_part
from ackclock.texts.notices import Warnings

Variant = tuple[dict[str, str], Scenario]


@dataclass(frozen=True)
class Finished:
    """The part of a run that the sweep keeps.

    Attributes
    ----------
    entry : Entry or None
        Its entry in the tables of the sweep, if the sweep is written.
    summary : str
        Its JSON, if JSON is printed.
    flows, links, pages : list of dict
        Rows that may be printed.
    counts : tuple of int
        Number of rows of each kind.
    warnings : list of dict
        Warnings of the run.
    """

    entry: Entry | None = None
    summary: str = ""
    flows: list[dict[str, Any]] = field(default_factory=list)
    links: list[dict[str, Any]] = field(default_factory=list)
    pages: list[dict[str, Any]] = field(default_factory=list)
    counts: tuple[int, int, int] = (0, 0, 0)
    warnings: list[dict[str, Any]] = field(default_factory=list)


class Sweep:
    """A sweep: runs its variants, writes the results, and prints them.

    Parameters
    ----------
    variants
        Labels and scenario of each run.
    record
        Traces to record; None: those of each scenario.
    jobs
        Number of threads.
    captures
        Packets to capture, and their files.
    world
        Where the variants run.
    """

    def __init__(
        self,
        variants: Sequence[Variant],
        record: Sequence[str] | None,
        jobs: int | None,
        captures: Captures | None = None,
        world: World = SIMULATION,
    ) -> None:
        self._variants = variants
        self.record = record
        self._jobs = jobs
        self.captures = captures
        self._world = world
        self._done: set[int] = set()
        self._flows = FirstRows()
        self._links = FirstRows()
        self._pages = FirstRows()
        self._warnings = Warnings()
        self._summaries: dict[int, str] = {}
        self._writer: Writer | None = None

    def run(self, out: Path | None, *, json_output: bool) -> None:
        """Run all variants, write the results to `out`, and print them; after Ctrl-C, only finished runs.

        Raises
        ------
        Interrupted
            After Ctrl-C, when the finished runs are written and printed.
        """
        if out is not None and _complete(out):
            storage.check_free(_partial(out), "sweep")
        with contextlib.nullcontext() if out is None else storage.draft(out, "sweep") as folder:
            writer = None if folder is None else Writer(folder, self.names, [labels for labels, _ in self._variants])
            interrupted = self._run(writer, json_output=json_output)
            target = out
            if out is not None and folder is not None and writer is not None and self._done:
                writer.finish(self._variants[0][1].name, _state(interrupted=interrupted))
                target = _partial(out) if interrupted and _complete(out) else out
                storage.place(folder, target)
        if self._done:
            self._show(json_output=json_output)
            if target is not None:
                whole = "" if target == out else f"; {out} holds a complete sweep and is unchanged"
                output.note(f"written to {target}{whole}")
        if interrupted:
            raise Interrupted([index if index in self._done else None for index in range(len(self._variants))])

    def _run(self, writer: Writer | None, *, json_output: bool) -> bool:
        """Run all variants; return whether Ctrl-C was pressed."""
        points = [
            _Point(scenario, _Part(self, index, scenario, writer, json_output), index, world=self._world)
            for index, (_, scenario) in enumerate(self._variants)
        ]
        self._writer = writer
        with output.progress("runs") as progress:
            try:
                failed = execute(points, self, jobs=self._jobs, progress=progress).failed
            except Interrupted:
                return True
        for reason in failed.values():
            raise ValueError(reason)
        return False

    def has(self, point: _Point) -> bool:
        """Whether a variant is finished."""
        return point.index in self._done

    def put(self, point: _Point, part: Finished) -> None:
        """Keep what is printed and written of a variant."""
        index = point.index
        if self._writer is not None and part.entry is not None:
            self._writer.add(index, part.entry)
        if part.summary:
            self._summaries[index] = part.summary
        parts = (part.flows, part.links, part.pages)
        for table, own, count in zip((self._flows, self._links, self._pages), parts, part.counts, strict=True):
            table.add(index, own, count)
        self._warnings.add(index, part.warnings)
        self._done.add(index)

    @property
    def names(self) -> list[str]:
        """Names of the runs, of their folders and of their files."""
        return [self.name_of(index) for index in range(len(self._variants))]

    def name_of(self, index: int) -> str:
        """Return the name of a run, of its folder and of its files."""
        words = "-".join(
            re.sub(r"[^A-Za-z0-9.]+", "_", value).strip("_") for value in self._variants[index][0].values()
        )
        return f"{index + 1:0{len(str(len(self._variants)))}}-{words}"[:120]

    def _show(self, *, json_output: bool) -> None:
        if json_output:
            self._print_json()
            return
        self._show_table("rows", self._flows, overview.FLOW_COLUMNS, words=1)
        # Unlimited queues are only in --json and --out.
        if self._links.total:
            absent = {"rate_bps", *({"marks", "losses"} - self._links.seen)}
            columns = {title: column for title, column in overview.LINK_COLUMNS.items() if column not in absent}
            self._show_table("queues", self._links, columns, words=2)
        if self._pages.total:
            titles = {"pages": "pages", "unfinished": "unfinished", **{f"{name} (s)": name for name in STATISTICS}}
            self._show_table("applications", self._pages, {"application": "application", **titles}, words=1)
        for line in self._warnings.lines(
            [" ".join(f"{key}={value}" for key, value in labels.items()) for labels, _ in self._variants]
        ):
            output.warning(line)

    def _print_json(self) -> None:
        """Print the JSON texts of the runs inside the JSON of the sweep."""
        done, planned = sorted(self._done), len(self._variants)
        runs = []
        for index in done:
            labels = json.dumps({"labels": self._variants[index][0]}, indent=2, ensure_ascii=False)
            both = labels.removesuffix("\n}") + "," + self._summaries[index].removeprefix("{")
            runs.append("    " + both.replace("\n", "\n    "))
        head = json.dumps({"state": _state(interrupted=len(done) < planned), "planned": planned}, indent=2)
        print(head.removesuffix("\n}") + ',\n  "runs": [\n' + ",\n".join(runs) + "\n  ]\n}")

    def _show_table(self, noun: str, table: FirstRows, columns: dict[str, str], *, words: int) -> None:
        """Print the first rows of a table over all runs with their labels; the first `words` columns hold words."""
        labels = list(self._variants[0][0])
        lines: list[list[object]] = [
            [*self._variants[index][0].values(), *(row[column] for column in columns.values())]
            for index, row in table.rows()
        ]
        short = [last_part(label) for label in labels]
        unique = short if len(set(short)) == len(short) else labels
        output.table([*unique, *columns], lines, left=len(labels) + words, less=overview.LESS)
        if table.total > len(lines):
            output.note(
                f"only the first {len(lines)} of {table.total:,} {noun} are shown; --json prints all, --out stores all"
            )


@dataclass(frozen=True)
class _Point(Point[Finished]):
    """A variant; `index` is its place in the sweep."""

    index: int


@dataclass(frozen=True)
class _Part(Measurement[Finished]):
    """The part of a variant's run that its sweep keeps; captures and the run's own files are written on its thread."""

    sweep: Sweep
    index: int
    scenario: Scenario
    writer: Writer | None
    json_output: bool

    @property
    def record(self) -> Sequence[str] | None:
        return self.sweep.record

    @property
    def capture(self) -> Sequence[str]:
        return self.sweep.captures.places_of(self.scenario) if self.sweep.captures else ()

    def take(self, result: Result) -> Finished:
        if self.sweep.captures is not None:
            self.sweep.captures.write(result, self.sweep.name_of(self.index))
        entry = None if self.writer is None else self.writer.entry(self.index, result)
        return Finished(entry, result.summary_json) if self.json_output else _finished(result, entry)


def _finished(result: Result, entry: Entry | None) -> Finished:
    flows = rows(result.flows, output.MOST_ROWS)
    links = overview.limited([row for row in rows(result.links) if row["arrivals"]])
    pages = rows(result.page_loads()) if len(result.pages) else []
    kept = [{column: row[column] for column in overview.LINK_COLUMNS.values()} for row in links]
    return Finished(entry, "", flows, kept, pages, (len(result.flows), len(links), len(pages)), result.warnings)


def _state(*, interrupted: bool) -> str:
    return "interrupted" if interrupted else "complete"


def _complete(out: Path) -> bool:
    """Whether the directory holds a complete sweep."""
    try:
        manifest = storage.read_manifest(out, checked=False)
    except OSError:
        return False
    return (manifest.get("kind"), manifest.get("state", "complete")) == ("sweep", "complete")


def _partial(out: Path) -> Path:
    return out.with_name(out.name + ".partial")
