"""The command `run` for a scenario with a sweep: `ackclock.sweep`, and the rows of its runs."""

from __future__ import annotations

import contextlib
import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ackclock import _core, sweep
from ackclock.cli import output
from ackclock.cli.asking import ask
from ackclock.cli.captures import Captures, Logs
from ackclock.datasets.numbering import Numbering
from ackclock.experiments.execute import map_threads
from ackclock.experiments.world import World, run_here
from ackclock.formatting.labels import last_part
from ackclock.formatting.notices import Warnings
from ackclock.metrics.completion import STATISTICS
from ackclock.results import StoredResult, overview, rows
from ackclock.scenario import Scenario
from ackclock.sweeps.recording import PACKETS
from ackclock.sweeps.running import Outcome
from ackclock.sweeps.work import Limits

Variant = tuple[dict[str, str], Scenario]


@dataclass(frozen=True)
class Sweep:
    """A sweep of the command `run`.

    Attributes
    ----------
    scenario : Scenario
        The scenario.
    given : Path or Scenario
        Its file if the options change nothing, so that the dataset has the file's text; otherwise the scenario.
    variants : list
        Labels and scenario of each run.
    world : World
        Where they run.
    record : sequence of str or None
        Traces to record; None: those of each scenario.
    captures : Captures or None
        Packets to capture, and their files.
    logs : Logs or None
        Logs to write, and their files.
    limits : Limits or None
        Limits of each run.
    out : Path or None
        Folder of the dataset; without one, a temporary folder has it until the rows are printed.
    json_output : bool
        Whether to print JSON.
    """

    scenario: Scenario
    given: Path | Scenario
    variants: Sequence[Variant]
    world: World
    record: Sequence[str] | None
    captures: Captures | None
    logs: Logs | None
    limits: Limits | None
    out: Path | None
    json_output: bool

    @property
    def names(self) -> list[str]:
        """Names of the runs in the files of their packets."""
        return [self._name(index) for index in range(len(self.variants))]

    def _name(self, index: int) -> str:
        values = self.variants[index][0].values()
        words = "-".join(re.sub(r"[^A-Za-z0-9.]+", "_", value).strip("_") for value in values)
        return f"{index + 1:0{len(str(len(self.variants)))}}-{words}"[:120]

    def ask(self, engine: str, address: str | None, jobs: int | None, budget: str | None) -> None:
        """Run all variants, and show those that finished; the options are those of `asking.ask`."""
        with self._folder() as folder:
            ask(
                lambda where: self._run(folder, where), self.show,
                engine=engine, address=address, jobs=jobs, budget=budget,
            )  # fmt: skip

    @contextlib.contextmanager
    def _folder(self) -> Iterator[Path]:
        """Give the folder of the dataset."""
        if self.out is not None:
            yield self.out
            return
        with tempfile.TemporaryDirectory(prefix="ackclock-") as made:
            yield Path(made)

    def _run(self, folder: Path, where: dict[str, Any]) -> Outcome:
        """Run all variants; `where` has engine, budget and progress."""
        snaplen = None if self.captures is None else self.captures.snaplen
        record = self.record if self.logs is None else self.logs.record(self.record, self.scenario)
        return sweep(
            self.given, folder, limits=self.limits, on=self.world, record=record, snaplen=snaplen,
            capture=None if self.captures is None else self.captures.places, **where,
        )  # fmt: skip

    def show(self, outcome: Outcome) -> None:
        """Print the rows of the finished runs, and write their packets.

        Raises
        ------
        ValueError
            If a run failed.
        """
        dataset = outcome.dataset
        with dataset.reading():
            columns = ["point", "seed", "error", "events", "cpu_s"]
            numbers = {row[:2]: row[2:] for row in dataset.stored_runs.select(columns).collect().iter_rows()}
            results = dataset.results()
        keys = self._keys()
        done = [index for index, key in enumerate(keys) if key in results]
        errors = {index: numbers[key][0] for index, key in enumerate(keys) if key in numbers and key not in results}
        found = {index: results[keys[index]] for index in done}
        if found and self.json_output:
            costs = {index: numbers[keys[index]][1:] for index in done}
            self._print_json(found, costs, str(dataset.manifest["state"]))
        elif found:
            self._print(found)
        self._write_files(found)
        if found and self.out is not None:
            output.note(f"written to {self.out}")
        if errors:
            first = min(errors)
            place = f", first in {self._place(first)}" if len(keys) > 1 else ""
            raise ValueError(f"{len(errors):,} of {len(keys):,} runs failed{place}: {errors[first]}")

    def _keys(self) -> list[tuple[int, int]]:
        """Return point and seed of each variant in the dataset."""
        numbering = Numbering(self.scenario.sweep_points())
        found = [numbering.identity(index, None) for index in range(len(self.variants))]
        variants = [variant for _, variant in self.variants]
        return [
            (point, variant.seed if seed is None else seed)
            for (point, seed), variant in zip(found, variants, strict=True)
        ]

    def _place(self, index: int) -> str:
        return " ".join(f"{key}={value}" for key, value in self.variants[index][0].items())

    def _write_files(self, found: dict[int, StoredResult]) -> None:
        """Write packets and logs of each run from the dataset to the files that the user named."""
        for index, result in found.items():
            if self.captures is not None:
                self.captures.copy(result.directory / PACKETS, self._name(index))
            if self.logs is not None:
                self.logs.write(result, self._name(index))

    def _print(self, found: dict[int, StoredResult]) -> None:
        flows, links, pages, media = _First(), _First(), _First(), _First()
        firsts: dict[str, int] = {}
        for index, result in found.items():
            flows.add(index, rows(result.flows, flows.left), result.flows.height)
            used = overview.limited([row for row in rows(result.links) if row["arrivals"]])
            links.add(index, used)
            links.seen |= {name for name in ("marks", "losses") if any(row[name] for row in used)}
            loads = rows(result.page_loads()) if result.has_pages else []
            pages.add(index, loads)
            media.add(index, rows(result.media) if result.has_media else [])
            for warning in result.warnings:
                firsts.setdefault(warning["name"], index)
        self._table("rows", flows, overview.FLOW_COLUMNS, words=1)
        # Unlimited queues are only in --json and --out.
        if links.total:
            absent = {"rate_bps", *({"marks", "losses"} - links.seen)}
            columns = {title: column for title, column in overview.LINK_COLUMNS.items() if column not in absent}
            self._table("queues", links, columns, words=2)
        if pages.total:
            titles = {"pages": "pages", "unfinished": "unfinished", **{f"{name} (s)": name for name in STATISTICS}}
            self._table("applications", pages, {"application": "application", **titles}, words=1)
        if media.total:
            self._table("applications", media, overview.MEDIA_COLUMNS, words=1)
        # The sentence of a warning is that of its first run.
        texts = self._explained({index: found[index] for index in sorted({*firsts.values()})})
        warnings = Warnings()
        for index, result in found.items():
            warnings.add(index, texts.get(index, result.warnings))
        for line in warnings.lines([self._place(index) for index in range(len(self.variants))]):
            output.warning(line)

    def _explained(self, found: dict[int, StoredResult]) -> dict[int, list[dict[str, Any]]]:
        """Return the warnings of runs with their flows and sentences; a run without a folder of its own runs again."""
        again = [index for index, result in found.items() if any(not each["text"] for each in result.warnings)]
        cancel = _core.Cancel()
        made = map_threads(lambda index: run_here(self.variants[index][1], (), cancel).warnings, again, cancel)
        texts = {index: result.warnings for index, result in found.items()}
        return texts | dict(zip(again, made, strict=True))

    def _print_json(self, found: dict[int, StoredResult], costs: dict[int, tuple[int, float]], state: str) -> None:
        """Print the JSON of every run inside the JSON of the sweep."""
        warnings = self._explained(found)
        runs = []
        for index, result in found.items():
            events, cpu = costs[index]
            summary = {**result.summary, "labels": self.variants[index][0], "warnings": warnings[index]}
            kernel = {"kernel": result.manifest["kernel"]} if "kernel" in result.manifest else {}
            whole = {"labels": summary.pop("labels"), **summary, "events": events, "cpu_seconds": cpu, **kernel}
            runs.append("    " + json.dumps(whole, indent=2, ensure_ascii=False).replace("\n", "\n    "))
        head = json.dumps({"state": state, "planned": len(self.variants)}, indent=2)
        print(head.removesuffix("\n}") + ',\n  "runs": [\n' + ",\n".join(runs) + "\n  ]\n}")

    def _table(self, noun: str, table: _First, columns: dict[str, str], *, words: int) -> None:
        """Print the first rows of a table over all runs with their labels; the first `words` columns hold words."""
        labels = list(self.variants[0][0])
        lines: list[list[object]] = [
            [*self.variants[index][0].values(), *(row[column] for column in columns.values())]
            for index, row in table.rows
        ]
        short = [last_part(label) for label in labels]
        unique = short if len(set(short)) == len(short) else labels
        output.table([*unique, *columns], lines, left=len(labels) + words, less=overview.LESS)
        if table.total > len(lines):
            output.note(
                f"only the first {len(lines)} of {table.total:,} {noun} are shown; --json prints all, --out stores all"
            )


@dataclass
class _First:
    """The first rows of a table over all runs, each with the index of its run, and the number of all rows."""

    rows: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    total: int = 0
    seen: set[str] = field(default_factory=set)

    @property
    def left(self) -> int:
        """Number of rows that are still to print."""
        return output.MOST_ROWS - len(self.rows)

    def add(self, index: int, rows: Sequence[dict[str, Any]], count: int | None = None) -> None:
        """Add the rows of a run, of which there are `count` even if fewer are given."""
        self.rows += [(index, row) for row in rows[: self.left]]
        self.total += len(rows) if count is None else count
