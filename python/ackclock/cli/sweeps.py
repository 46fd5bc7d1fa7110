"""Sweeps of the command `run`: of each run only what is printed or written is kept."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ackclock import _core
from ackclock.cli import output
from ackclock.cli.captures import Captures
from ackclock.completion import STATISTICS
from ackclock.experiments.sweeps import Entry, Writer
from ackclock.files import storage
from ackclock.result import Result, rows
from ackclock.running import Interrupted, each_finished, run_here
from ackclock.scenario import Scenario

Variant = tuple[dict[str, str], Scenario]

MOST_ROWS = 200  # of a table that are worth printing

FLOW_COLUMNS = {
    "flow": "name", "goodput (bit/s)": "goodput_bps", "sent": "sent_packets", "resent": "retransmitted_packets",
    "timeouts": "timeouts", "cwnd max": "cwnd_max", "slow start exit": "slow_start_exit_reason",
    "at (s)": "slow_start_exit_time", "cwnd": "slow_start_exit_cwnd",
}  # fmt: skip
LINK_COLUMNS = {
    "link": "name", "discipline": "queue", "rate (bit/s)": "rate_bps", "utilisation": "utilisation", "drops": "drops",
    "marks": "marks", "losses": "losses", "queue mean": "queue_mean", "queue max": "queue_max",
    "sojourn (s)": "sojourn_mean", "max (s)": "sojourn_max",
}  # fmt: skip


def link_columns(links: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Choose the columns that a table of links shows: marks only where there are any."""
    marked = any(row["marks"] for row in links)
    return {title: column for title, column in LINK_COLUMNS.items() if marked or column != "marks"}


def link_rows(links: Sequence[dict[str, Any]], columns: dict[str, str]) -> list[list[object]]:
    """Give the cells of a table of links."""
    shown = [{**row, "queue": None if row["queue"] == "unlimited" else row["queue"]} for row in links]
    return [[row[column] for column in columns.values()] for row in shown]


@dataclass(frozen=True)
class Finished:
    """What is kept of a run.

    Attributes
    ----------
    entry : Entry or None
        What the sweep's tables take of it, if it is written.
    summary : str
        JSON of it, if that is printed.
    flows, links, pages : list of dict
        Rows that may be printed.
    counts : tuple of int
        How many rows of each there are.
    """

    entry: Entry | None = None
    summary: str = ""
    flows: list[dict[str, Any]] = field(default_factory=list)
    links: list[dict[str, Any]] = field(default_factory=list)
    pages: list[dict[str, Any]] = field(default_factory=list)
    counts: tuple[int, int, int] = (0, 0, 0)


class Sweep:
    """A sweep: runs its variants, writes them, and shows them.

    Parameters
    ----------
    variants
        Labels and scenario of each.
    record
        Traces to record instead of each scenario's own.
    jobs
        Threads.
    captures
        Which packets to capture, and where to write them.
    """

    def __init__(
        self,
        variants: Sequence[Variant],
        record: Sequence[str] | None,
        jobs: int | None,
        captures: Captures | None = None,
    ) -> None:
        self._variants = variants
        self._record = record
        self._jobs = jobs
        self._captures = captures
        self._done: set[int] = set()
        self._flows = _FirstRows()
        self._links = _FirstRows()
        self._pages = _FirstRows()
        self._summaries: dict[int, str] = {}

    def run(self, out: Path | None, *, json_output: bool) -> None:
        """Run all, write results to `out`, and print them; after Ctrl-C, those that are finished.

        Raises
        ------
        Interrupted
            If Ctrl-C was pressed; what is finished is written and printed before.
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
                whole = "" if target == out else f"; {out} holds a complete result and stays as it is"
                output.note(f"written to {target}{whole}")
        if interrupted:
            raise Interrupted([index if index in self._done else None for index in range(len(self._variants))])

    def _run(self, writer: Writer | None, *, json_output: bool) -> bool:
        """Run all; whether Ctrl-C came."""
        cancel = _core.Cancel()

        def run(index: int) -> Finished:
            scenario = self._variants[index][1]
            places = self._captures.places_of(scenario) if self._captures else ()
            result = run_here(scenario, self._record, cancel, places)
            if self._captures is not None:
                self._captures.write(result, self._name(index))
            entry = None if writer is None else writer.entry(index, result)
            return Finished(entry, result.summary_json) if json_output else _printed(result, entry)

        def collect(index: int, run: Finished) -> None:
            if writer is not None and run.entry is not None:
                writer.add(index, run.entry)
            if json_output:
                self._summaries[index] = run.summary
            parts = (run.flows, run.links, run.pages)
            for table, part, count in zip((self._flows, self._links, self._pages), parts, run.counts, strict=True):
                table.add(index, part, count)
            self._done.add(index)
            if progress is not None:
                progress(len(self._done), len(self._variants))

        with output.progress("runs", len(self._variants)) as progress:
            try:
                each_finished(run, range(len(self._variants)), cancel, collect, jobs=self._jobs)
            except KeyboardInterrupt:
                return True
        return False

    @property
    def names(self) -> list[str]:
        """Names of the runs, which their folders and files have."""
        return [self._name(index) for index in range(len(self._variants))]

    def _name(self, index: int) -> str:
        words = "-".join(
            re.sub(r"[^A-Za-z0-9.]+", "_", value).strip("_") for value in self._variants[index][0].values()
        )
        return f"{index + 1:0{len(str(len(self._variants)))}}-{words}"[:120]

    def _show(self, *, json_output: bool) -> None:
        if json_output:
            self._print_json()
            return
        self._show_table("rows", self._flows, FLOW_COLUMNS, words=1)
        # Links without a limit are in --json and --out.
        if self._links.total:
            left_out = {"rate (bit/s)"} | ({"losses"} if "losses" not in self._links.seen else set())
            columns = {
                title: column
                for title, column in LINK_COLUMNS.items()
                if title not in left_out and (column != "marks" or "marks" in self._links.seen)
            }
            self._show_table("queues", self._links, columns, words=2)
        if self._pages.total:
            titles = {"pages": "pages", "unfinished": "unfinished", **{f"{name} (s)": name for name in STATISTICS}}
            self._show_table("applications", self._pages, {"application": "application", **titles}, words=1)

    def _print_json(self) -> None:
        """Print the runs' JSON, which is there as text, inside that of the sweep."""
        done, planned = sorted(self._done), len(self._variants)
        runs = []
        for index in done:
            labels = json.dumps({"labels": self._variants[index][0]}, indent=2, ensure_ascii=False)
            both = labels.removesuffix("\n}") + "," + self._summaries[index].removeprefix("{")
            runs.append("    " + both.replace("\n", "\n    "))
        head = json.dumps({"state": _state(interrupted=len(done) < planned), "planned": planned}, indent=2)
        print(head.removesuffix("\n}") + ',\n  "runs": [\n' + ",\n".join(runs) + "\n  ]\n}")

    def _show_table(self, what: str, table: _FirstRows, columns: dict[str, str], *, words: int) -> None:
        """Print the first rows of a table of all runs, with their labels; `words` columns hold words."""
        labels = list(self._variants[0][0])
        lines: list[list[object]] = [
            [*self._variants[index][0].values(), *(row[column] for column in columns.values())]
            for index, row in table.rows()
        ]
        short = [label.rsplit(".", 1)[-1] for label in labels]
        unique = short if len(set(short)) == len(short) else labels
        output.table([*unique, *columns], lines, left=len(labels) + words)
        if table.total > len(lines):
            output.note(
                f"only the first {len(lines)} of {table.total:,} {what} are shown; --json prints and --out keeps all"
            )


class _FirstRows:
    """The first rows of the tables of all runs in the order of the runs, which come in any order.

    Attributes
    ----------
    seen : set of str
        Columns that had anything but 0 in any row.
    """

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}
        self._parts: dict[int, list[dict[str, Any]]] = {}
        self.seen: set[str] = set()

    @property
    def total(self) -> int:
        """Rows of all runs."""
        return sum(self._counts.values())

    def add(self, index: int, part: list[dict[str, Any]], count: int) -> None:
        """Take in the first rows of a run, and how many it has; once more changes nothing."""
        if not count:
            return
        self._counts[index] = count
        self._parts[index] = part[:MOST_ROWS]
        self.seen.update(column for column in ("marks", "losses") if any(row.get(column) for row in part))
        if len(self._parts) > 2 * MOST_ROWS:
            self._parts = {index: self._parts[index] for index, _ in self.rows()}

    def rows(self) -> list[tuple[int, dict[str, Any]]]:
        """Give the rows that are shown, each with its run."""
        found = [(index, row) for index in sorted(self._parts) for row in self._parts[index]]
        return found[:MOST_ROWS]


def _printed(result: Result, entry: Entry | None) -> Finished:
    flows = rows(result.flows, MOST_ROWS)
    links = [row for row in rows(result.links) if row["queue"] != "unlimited"]
    pages = rows(result.page_loads()) if len(result.pages) else []
    kept = [{column: row[column] for column in LINK_COLUMNS.values()} for row in links]
    return Finished(entry, "", flows, kept, pages, (len(result.flows), len(links), len(pages)))


def _state(*, interrupted: bool) -> str:
    return "interrupted" if interrupted else "complete"


def _complete(out: Path) -> bool:
    """Whether a sweep without gaps is there."""
    try:
        manifest = json.loads(storage.manifest_text(out))
    except FileNotFoundError:
        return False
    return (manifest.get("kind"), manifest.get("state", "complete")) == ("sweep", "complete")


def _partial(out: Path) -> Path:
    return out.with_name(out.name + ".partial")
