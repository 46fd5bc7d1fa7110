"""The report of one run: what each flow got, what it did to the queue, and its curves over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars

from ackclock.columns import of
from ackclock.drawing import overtime
from ackclock.formatting.names import shown as shown_name
from ackclock.formatting.numbers import counted, number
from ackclock.reports import (
    Answer,
    Axis,
    Column,
    Figure,
    Panel,
    Part,
    Section,
    Series,
    Table,
    Text,
    Verbatim,
    live,
    page,
)
from ackclock.reports.live import Live
from ackclock.reports.pages import Sentence
from ackclock.results import StoredResult
from ackclock.statistics.fairness import jain_index

MOST_BARS = 40
MOST_CURVES = 12
HIDDEN = ("delivered_packets", "ssthresh_final", "path_rtt", "path_bps", "slow_start_exit_ratio")
"""Columns of flows that the page omits: others say the same."""


def stored_run(directory: Path) -> str:
    """Return the report of a run that ``ackclock run --out`` or `Result.write` wrote.

    Raises
    ------
    OSError
        If a table is missing or damaged.
    """
    result = StoredResult(directory)
    flows, links = result.flows, result.links
    alive, static = _live(result)
    drawn = _curves(result)
    lead = drawn.pop("throughput", None) or drawn.pop("cwnd", None) or _bars(flows)
    sections = [
        Section("Curves", list(drawn.values())),
        Section("Flows", [_table(flows, "flows")], printed=True),
        Section("Links", [_table(links.filter(polars.col("arrivals") > 0), "links")], printed=True),
        Section("Completion times", _completion(result)),
        Section("Scenario", [Verbatim(result.to_toml())]),
    ]
    about = f"seed {result.manifest['seed']}, {number(result.duration)} s, {counted(flows.height, 'flow')}"
    answer = Answer([_answer(flows, links), *_warnings(result)], lead)
    footer = f"scenario {result.manifest['hash'][:16]}, run {result.manifest['trace_hash'][:16]}"
    shown = [section for section in sections if section.items]
    return page(result.name, answer, shown, about=about, footer=footer, live=alive, static=static)


def _live(result: StoredResult) -> tuple[Live | None, str]:
    """Return the live part of the report, or why it is static."""
    if result.manifest["python_controls"]:
        return None, live.PYTHON
    table = result.flows
    kept = [name for name, kind in table.schema.items() if kind.is_numeric()]
    scenarios = live.Scenarios()
    rows = {str(row["name"]): {name: row[name] for name in kept} for row in table.iter_rows(named=True)}
    scenarios.add({f"seed {result.manifest['seed']}": result.to_toml()}, rows)
    found = live.live(scenarios.data)
    return found, "" if found else live.STATIC


def _again(kind: str, runs: Sequence[live.Again], **more: object) -> live.Again:
    """Return what a live report shows of the run in a figure."""
    return {"kind": kind, "runs": [{"cell": 0, "panel": 0, **run} for run in runs], **more}


def _answer(flows: polars.DataFrame, links: polars.DataFrame) -> str:
    """Say what the flows got, and what the busiest link saw."""
    rates = flows.select("name", polars.col("goodput_bps").fill_null(0.0).cast(polars.Float64)).sort("goodput_bps")
    said = []
    if flows.height == 1:
        said.append(f"The flow {rates.row(0)[0]} got a goodput of {_rate(rates.row(0)[1])}.")
    elif flows.height:
        (least, low), (most, high) = rates.row(0), rates.row(-1)
        fairness = jain_index(rates["goodput_bps"].to_list())
        said.append(
            f"The {flows.height:,} flows got {_rate(float(rates['goodput_bps'].sum()))} together: "
            + (
                f"{_rate(low)} each"
                if _rate(low) == _rate(high)
                else f"from {_rate(low)} ({least}) to {_rate(high)} ({most})"
            )
            + ("." if fairness is None else f"; Jain's index is {number(fairness, 3)}.")
        )
    completed = flows["completion_time"].drop_nulls()
    if len(completed):
        median = float(np.median(completed.to_numpy()))
        said.append(f"{counted(len(completed), 'flow')} finished, in a median of {number(median, 3)} s.")
    busy = links.filter(polars.col("rate_bps").is_not_null()).sort("utilisation", descending=True, nulls_last=True)
    if busy.height:
        link = busy.row(0, named=True)
        waited = link["sojourn_mean"]
        wait = f", delayed packets by {number(1e3 * waited, 3)} ms on average" if waited is not None else ""
        said.append(
            f"The busiest link, {link['name']}, was used {number(100 * link['utilisation'], 3)} % of the run{wait}, "
            f"and dropped {counted(link['drops'], 'packet')}."
        )
    return " ".join(said) or "No flow sent anything."


def _rate(bits: float) -> str:
    return f"{number(bits / 1e6, 3)} Mbit/s"


def _warnings(result: StoredResult) -> list[Sentence]:
    return [[Part("Warning: ", mark="note"), each["text"]] for each in result.warnings]


def _bars(flows: polars.DataFrame) -> Figure | None:
    shown = flows.head(MOST_BARS)
    if not shown.height:
        return None
    names = shown["name"].cast(polars.String).to_list()
    rates = (shown["goodput_bps"].fill_null(0.0).cast(polars.Float64) / 1e6).to_numpy()
    panel = Panel([Series("goodput", names, rates, "bars")], x=Axis("flow", names=names), y=Axis("goodput (Mbit/s)"))
    note = f"The first {MOST_BARS} of {flows.height:,} flows." if flows.height > MOST_BARS else ""
    bars = [{"flow": name, "x": shown_name(name), "series": "goodput"} for name in names]
    again = _again("values", bars, metric="goodput_bps", factor=1e-6)
    return Figure("Goodput of each flow", [panel], note=note, again=again)


def _curves(result: StoredResult) -> dict[str, Figure]:
    """Return the figures of the recorded traces, by name."""
    made = {}
    for kind, figure in overtime.of_run(result).items():
        shown = [[series for series in panel.series if not series.aside] for panel in figure.panels]
        most = max(map(len, shown))
        cut = [_first(panel) for panel in figure.panels]
        note = f"The first {MOST_CURVES} of {most:,} curves." if most > MOST_CURVES else ""
        runs = []
        for at, panel in enumerate(cut):
            for series in (each for each in panel.series if not each.like):
                # Curves of internals are named by flow and quantity, or by the quantity if there is one flow.
                owner, _, quantity = series.name.rpartition(": ") if kind == "internals" else (series.name, "", "")
                named = {"quantity": quantity} if quantity else {}
                runs.append({"flow": owner or None, "series": shown_name(series.name), "panel": at, **named})
        again = _again(kind, runs, bin=None, end=None, sampled=None)
        made[kind] = replace(figure, panels=cut, note=note, again=again)
    return made


def _first(panel: Panel) -> Panel:
    """Return a panel with its first curves, and what belongs to them."""
    own = [series.name for series in panel.series if not series.like][:MOST_CURVES]
    return replace(panel, series=[it for it in panel.series if it.owner in own and not it.marker])


def _table(table: polars.DataFrame, kind: str) -> Table:
    """Return all columns that say something, with their meanings."""
    known = {column.name: column for column in of(kind)}
    names = [name for name in table.columns if name not in HIDDEN and not table[name].is_null().all()]
    columns = [
        Column(name, "number" if table[name].dtype.is_numeric() else "text", known[name].unit, known[name].meaning)
        for name in names
    ]
    shown = table.select(names).with_columns(polars.col(polars.Categorical, polars.Enum).cast(polars.String))
    return Table(columns, shown.rows(), note="The pointer on a heading shows its meaning.")


def _completion(result: StoredResult) -> list[Table | Text]:
    found = result.completion()
    if not found.height or result.flows["completion_time"].is_null().all():
        return []
    columns = [
        Column(name.replace("_", " "), "number" if kind.is_numeric() else "text") for name, kind in found.schema.items()
    ]
    return [Table(columns, found.rows())]
