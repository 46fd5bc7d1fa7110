"""Sweeps of the command `run`: each run is written when it finishes, and only what tables need is kept."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock import _core, storage
from ackclock.cli import output
from ackclock.cli.captures import Captures
from ackclock.completion import STATISTICS, page_loads
from ackclock.result import Result, frame, rows
from ackclock.running import Interrupted, each_finished, run_here
from ackclock.scenario import Scenario

if TYPE_CHECKING:
    import polars

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
        self._flows: dict[int, polars.DataFrame] = {}
        self._links: dict[int, polars.DataFrame] = {}
        self._applications: dict[str, dict[int, polars.DataFrame]] = {}
        self._summaries: dict[int, dict[str, Any]] = {}

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
            interrupted = self._run(folder, keep_summaries=json_output)
            target = out
            if out is not None and folder is not None and self._flows:
                self._write_tables(folder, interrupted=interrupted)
                target = _partial(out) if interrupted and _complete(out) else out
                storage.place(folder, target)
        if self._flows:
            self._show(json_output=json_output)
            if target is not None:
                whole = "" if target == out else f"; {out} holds a complete result and stays as it is"
                output.note(f"written to {target}{whole}")
        if interrupted:
            raise Interrupted([self._flows.get(index) for index in range(len(self._variants))])

    def _run(self, folder: Path | None, *, keep_summaries: bool) -> bool:
        """Run all; whether Ctrl-C came."""
        cancel = _core.Cancel()
        scenarios = [scenario for _, scenario in self._variants]

        def collect(index: int, result: Result) -> None:
            if folder is not None:
                result.write(folder / self._name(index), self._variants[index][0])
            if self._captures is not None:
                self._captures.write(result, self._name(index))
            if keep_summaries:
                self._summaries[index] = result.summary
            self._flows[index] = frame(result.flows)
            self._links[index] = frame(result.links)
            for name, table in result.applications.items():
                self._applications.setdefault(name, {})[index] = table
            if progress is not None:
                progress(len(self._flows), len(scenarios))

        def run(scenario: Scenario) -> Result:
            places = self._captures.places_of(scenario) if self._captures else ()
            return run_here(scenario, self._record, cancel, places)

        with output.progress("runs", len(scenarios)) as progress:
            try:
                each_finished(run, scenarios, cancel, collect, jobs=self._jobs)
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

    def _write_tables(self, folder: Path, *, interrupted: bool) -> None:
        done = sorted(self._flows)
        storage.write_parquet(folder / "flows.parquet", self._joined(self._flows))
        storage.write_parquet(folder / "links.parquet", self._joined(self._links))
        for name, tables in self._applications.items():
            storage.write_parquet(folder / f"{name}.parquet", self._joined(tables))
        entries = {
            "scenario": self._variants[0][1].name,
            "core": _core.__version__,
            "state": _state(interrupted=interrupted),
            "planned": len(self._variants),
            "runs": [self._name(index) for index in done],
        }
        storage.write_manifest(folder, "sweep", entries)

    def _joined(self, parts: dict[int, polars.DataFrame]) -> polars.DataFrame:
        """Join the tables of all runs, with their labels as columns."""
        import polars

        tables = []
        for index in sorted(parts):
            # Texts, since the categories of several runs cannot be joined.
            table = parts[index].with_columns(polars.col(polars.Categorical).cast(polars.String))
            labels = self._variants[index][0].items()
            # A label may be called like a column.
            named = {f"label.{label}" if label in table.columns else label: value for label, value in labels}
            columns = [polars.lit(value, dtype=polars.String).alias(label) for label, value in named.items()]
            tables.append(table.select(*columns, polars.all()))
        return polars.concat(tables, how="vertical_relaxed")

    def _show(self, *, json_output: bool) -> None:
        done, planned = sorted(self._flows), len(self._variants)
        if json_output:
            runs = [{"labels": self._variants[index][0], **self._summaries[index]} for index in done]
            output.data({"state": _state(interrupted=len(done) < planned), "planned": planned, "runs": runs})
            return
        self._show_table("rows", self._flows, FLOW_COLUMNS, words=1)
        # Links without a limit are in --json and --out.
        queues = {index: table.filter(table["queue"] != "unlimited") for index, table in self._links.items()}
        found = [row for table in queues.values() for row in rows(table)]
        left_out = {"rate (bit/s)"} | ({"losses"} if not any(row["losses"] for row in found) else set())
        columns = {title: column for title, column in link_columns(found).items() if title not in left_out}
        if found:
            self._show_table("queues", queues, columns, words=2)
        pages = self._applications.get("pages")
        if pages:
            loads = {index: page_loads(table) for index, table in pages.items()}
            titles = {"pages": "pages", "unfinished": "unfinished", **{f"{name} (s)": name for name in STATISTICS}}
            self._show_table("applications", loads, {"application": "application", **titles}, words=1)

    def _show_table(
        self, what: str, tables: dict[int, polars.DataFrame], columns: dict[str, str], *, words: int
    ) -> None:
        """Print the first rows of the tables of all runs, with their labels; `words` columns hold words."""
        labels = list(self._variants[0][0])
        lines: list[list[object]] = []
        for index in sorted(tables):
            if len(lines) < MOST_ROWS:
                values = self._variants[index][0].values()
                shown = rows(tables[index], MOST_ROWS - len(lines))
                lines += [[*values, *(row[column] for column in columns.values())] for row in shown]
        short = [label.rsplit(".", 1)[-1] for label in labels]
        unique = short if len(set(short)) == len(short) else labels
        output.table([*unique, *columns], lines, left=len(labels) + words)
        total = sum(len(table) for table in tables.values())
        if total > len(lines):
            output.note(f"only the first {len(lines)} of {total:,} {what} are shown; --json prints and --out keeps all")


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
