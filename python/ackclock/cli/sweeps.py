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
    """

    def __init__(self, variants: Sequence[Variant], record: Sequence[str] | None, jobs: int | None) -> None:
        self._variants = variants
        self._record = record
        self._jobs = jobs
        self._flows: dict[int, polars.DataFrame] = {}
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
            if keep_summaries:
                self._summaries[index] = result.summary
            self._flows[index] = frame(result.flows)
            if progress is not None:
                progress(len(self._flows), len(scenarios))

        with output.progress("runs", len(scenarios)) as progress:
            try:
                each_finished(
                    lambda scenario: run_here(scenario, self._record, cancel),
                    scenarios,
                    cancel,
                    collect,
                    jobs=self._jobs,
                )
            except KeyboardInterrupt:
                return True
        return False

    def _name(self, index: int) -> str:
        words = "-".join(
            re.sub(r"[^A-Za-z0-9.]+", "_", value).strip("_") for value in self._variants[index][0].values()
        )
        return f"{index + 1:0{len(str(len(self._variants)))}}-{words}"[:120]

    def _write_tables(self, folder: Path, *, interrupted: bool) -> None:
        import polars

        done = sorted(self._flows)
        tables = []
        for index in done:
            # Texts, since the categories of several runs cannot be joined.
            flows = self._flows[index].with_columns(polars.col(polars.Categorical).cast(polars.String))
            labels = self._variants[index][0].items()
            # A label may be called like a column.
            named = {f"label.{label}" if label in flows.columns else label: value for label, value in labels}
            columns = [polars.lit(value, dtype=polars.String).alias(label) for label, value in named.items()]
            tables.append(flows.select(*columns, polars.all()))
        storage.write_parquet(folder / "flows.parquet", polars.concat(tables, how="vertical_relaxed"))
        entries = {
            "scenario": self._variants[0][1].name,
            "core": _core.__version__,
            "state": _state(interrupted=interrupted),
            "planned": len(self._variants),
            "runs": [self._name(index) for index in done],
        }
        storage.write_manifest(folder, "sweep", entries)

    def _show(self, *, json_output: bool) -> None:
        done, planned = sorted(self._flows), len(self._variants)
        if json_output:
            runs = [{"labels": self._variants[index][0], **self._summaries[index]} for index in done]
            output.data({"state": _state(interrupted=len(done) < planned), "planned": planned, "runs": runs})
            return
        labels = list(self._variants[0][0])
        lines: list[list[object]] = []
        for index in done:
            if len(lines) < MOST_ROWS:
                values = self._variants[index][0].values()
                shown = rows(self._flows[index], MOST_ROWS - len(lines))
                lines += [[*values, *(row[column] for column in FLOW_COLUMNS.values())] for row in shown]
        short = [label.rsplit(".", 1)[-1] for label in labels]
        unique = short if len(set(short)) == len(short) else labels
        output.table([*unique, *FLOW_COLUMNS], lines, left=len(labels) + 1)
        total = sum(len(table) for table in self._flows.values())
        if total > len(lines):
            output.note(f"only the first {len(lines)} of {total:,} rows are shown; --json prints and --out keeps all")


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
