"""The report on a paper: figures, verdicts, tables, as Markdown and as one HTML file."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars

from ackclock import _core, plot, storage
from ackclock.claims import Claim, Judgement, bounds, judge_all, parse_claims
from ackclock.numbers import number
from ackclock.reproduction import Lines, Outcome, finite, kinds, manifest, matches

METRIC_NAMES = {
    "goodput_bps": "whole run",
    "delivered_1s": "first 1 s",
    "delivered_2s": "first 2 s",
    "delivered_5s": "first 5 s",
    "delivered_10s": "first 10 s",
}
AXIS_LABELS = {"cwnd": "cwnd (segments)", "start": "cwnd (segments)", "throughput": "throughput (Mbit/s)"}
KIND_TITLES = {"start": "cwnd at the start"}
START_COLUMNS = {
    "exit cwnd": "slow_start_exit_cwnd",
    "exit cwnd / (BDP + queue)": "slow_start_exit_ratio",
    "exit at (s)": "slow_start_exit_time",
    "first overshoot losses": "first_overshoot_losses",
    "bytes in 1 s": "delivered_1s",
    "2 s": "delivered_2s",
    "5 s": "delivered_5s",
    "10 s": "delivered_10s",
}


@dataclass(frozen=True)
class Sheet:
    """A sheet of panels: the panels of one kind with all labels but two fixed.

    Attributes
    ----------
    where : dict
        The fixed labels.
    kind : str
        ``cwnd`` or ``throughput``.
    panels : list of (int or None, str)
        For each panel the paper's figure number, and the value of the panel's label.
    """

    where: Mapping[str, str]
    kind: str
    panels: Sequence[tuple[int | None, str]]

    @property
    def name(self) -> str:
        """Name of its file without ending."""
        words = [f"{label}{value}" for label, value in self.where.items()]
        return "-".join(["sheet", *words, self.kind]).replace(" ", "").replace("%", "")

    @property
    def title(self) -> str:
        """What it shows."""
        return ", ".join(
            [KIND_TITLES.get(self.kind, self.kind), *(f"{label} {value}" for label, value in self.where.items())]
        )


@dataclass(frozen=True)
class Report:
    """What was written: the judgements, and where."""

    judgements: Sequence[Judgement]
    html: Path


def figure_numbers(document: Mapping[str, Any]) -> dict[tuple[tuple[str, str], ...], int]:
    """Give the paper's figure number of every panel, by its sorted labels and ``kind``.

    Parameters
    ----------
    document
        The parsed ``paper.toml``: blocks of figures that all have the same order.
    """
    figures = document["figures"]
    order = figures.get("order", {"keys": [], "values": []})
    numbers = {}
    for block in figures.get("block", []):
        for index, values in enumerate(order["values"]):
            labels = {**block["where"], **dict(zip(order["keys"], values, strict=True))}
            numbers[tuple(sorted(labels.items()))] = block["first"] + index
    return numbers


def sheets(document: Mapping[str, Any], cells: Sequence[Mapping[str, str]]) -> list[Sheet]:
    """Lay out the panels of the cells that were run, in their order."""
    figures, numbers = document["figures"], figure_numbers(document)
    laid: dict[tuple[str, ...], dict[str, None]] = {}
    for labels in cells:
        fixed = tuple(labels[label] for label in figures["sheet"])
        laid.setdefault(fixed, {})[labels[figures["panel"]]] = None
    made = []
    for values, panels in laid.items():
        where = dict(zip(figures["sheet"], values, strict=True))
        for kind in kinds(figures):
            keys = [tuple(sorted({**where, figures["panel"]: panel, "kind": kind}.items())) for panel in panels]
            made.append(
                Sheet(where, kind, [(numbers.get(key), panel) for key, panel in zip(keys, panels, strict=True)])
            )
    return made


def write(outcome: Outcome, directory: Path) -> Report:
    """Judge the claims, draw the figures, and write everything.

    Parameters
    ----------
    outcome
        What the runs gave.
    directory
        Where to: ``runs.parquet verdicts.json report.md report.html figures/ manifest.json``.

    Raises
    ------
    ClaimError
        If ``claims.toml`` is wrong.
    """
    paper = outcome.plan.paper
    columns = {column for row in outcome.rows for column, value in row.items() if isinstance(value, (int, float))}
    known = {label: {run.labels[label] for run in outcome.plan.runs} for label in paper.labels}
    claims = parse_claims(paper.claims, known, columns)
    judgements = judge_all(claims, outcome.rows, paper.labels)
    table = polars.DataFrame(outcome.rows, infer_schema_length=None)
    storage.write_bytes(directory / "runs.parquet", _parquet(table))
    verdicts = finite([judgement.to_dict() for judgement in judgements])
    storage.write_text(directory / "verdicts.json", json.dumps(verdicts, indent=1, ensure_ascii=False) + "\n")
    drawn = _draw(outcome, directory / "figures")
    context = _context(outcome, judgements, drawn, table)
    for ending in ("md", "html"):
        storage.write_text(directory / f"report.{ending}", _render(f"report.{ending}.j2", context))
    storage.write_manifest(directory, "paper", {**manifest(outcome.plan), "state": "complete"})
    return Report(judgements, directory / "report.html")


def _parquet(table: polars.DataFrame) -> bytes:
    import io

    buffer = io.BytesIO()
    table.write_parquet(buffer)
    return buffer.getvalue()


def _draw(outcome: Outcome, folder: Path) -> list[tuple[Sheet, Path]]:
    folder.mkdir(exist_ok=True)
    figures = outcome.plan.paper.document["figures"]
    cells = [dict(zip(outcome.plan.paper.labels, key, strict=True)) for key in outcome.lines]
    drawn = []
    for sheet in sheets(outcome.plan.paper.document, cells):
        grid = [_panel(outcome, sheet, figure, value) for figure, value in sheet.panels]
        for (figure, value), panel in zip(sheet.panels, grid, strict=True):
            name = f"figure-{figure:03}" if figure is not None else f"{sheet.name}-{figures['panel']}{value}"
            plot.save(plot.panels([panel], size=(7.0, 4.2)), folder / f"{name}.png")
        path = folder / f"{sheet.name}.png"
        plot.save(plot.panels(grid, title=sheet.title), path)
        drawn.append((sheet, path))
    return drawn


def _panel(outcome: Outcome, sheet: Sheet, number: int | None, value: str) -> plot.Panel:
    figures, labels = outcome.plan.paper.document["figures"], outcome.plan.paper.labels
    lines = []
    for key, drawn in outcome.lines.items():
        cell = dict(zip(labels, key, strict=True))
        if matches(cell, {**sheet.where, figures["panel"]: value}) and sheet.kind in drawn:
            lines.append(_relabel(drawn, sheet.kind, figures["overlay_title"].format(cell[figures["overlay"]])))
    head = f"Figure {number}: " if number is not None else ""
    title = head + ", ".join([figures["panel_title"].format(value), *_short(sheet.where)])
    return plot.Panel(title, lines, AXIS_LABELS.get(sheet.kind, sheet.kind))


def _relabel(drawn: Lines, kind: str, label: str) -> plot.Line:
    line = drawn[kind]
    return plot.Line(label, line.x, line.y, line.thin, line.step)


def _short(where: Mapping[str, str]) -> list[str]:
    """Write labels for a panel's title: a bare number needs its label, a word does not."""
    return [value if value[:1].isalpha() else f"{label} {value}" for label, value in where.items()]


def _context(
    outcome: Outcome, judgements: Sequence[Judgement], drawn: Sequence[tuple[Sheet, Path]], table: polars.DataFrame
) -> dict[str, Any]:
    paper = outcome.plan.paper
    metrics = list(dict.fromkeys(judgement.claim.metrics.index(judgement.metric) for judgement in judgements))
    readings = [[j for j in judgements if j.claim.metrics.index(j.metric) == rank] for rank in metrics]
    return {
        "paper": paper,
        "quick": outcome.plan.quick,
        "runs": len(outcome.plan.runs),
        "version": _core.__version__,
        "manifest": manifest(outcome.plan),
        "readings": [
            (_reading(rank), _counts(group), _orders(group)) for rank, group in zip(metrics, readings, strict=True)
        ],
        "claims": _claim_rows(judgements),
        "sheets": [
            (sheet.title, f"figures/{path.name}", base64.b64encode(path.read_bytes()).decode()) for sheet, path in drawn
        ],
        "start_columns": [*paper.labels, "exit", *START_COLUMNS],
        "start": _slow_start(table, paper.labels),
        "notes": paper.notes,
    }


def _reading(rank: int) -> str:
    return f"{('main', 'second', 'third')[rank]} reading" if rank < 3 else f"reading {rank + 1}"


def _counts(judgements: Sequence[Judgement]) -> list[tuple[str, int]]:
    counted = Counter(judgement.verdict for judgement in judgements)
    return [(verdict, counted[verdict]) for verdict in ("holds", "does not hold", "cannot tell")]


def _orders(judgements: Sequence[Judgement]) -> tuple[int, int]:
    """Count the claims on an order whose measured means stand in it, and all such claims that were measured."""
    known = [judgement.order_matches for judgement in judgements if judgement.order_matches is not None]
    return sum(known), len(known)


def _claim_rows(judgements: Sequence[Judgement]) -> list[dict[str, Any]]:
    grouped: dict[str, list[Judgement]] = {}
    for judgement in judgements:
        grouped.setdefault(judgement.claim.id, []).append(judgement)
    made = []
    for group in grouped.values():
        readings = [
            {
                "metric": METRIC_NAMES.get(item.metric, item.metric.replace("_", " ")),
                "verdict": item.verdict,
                "slug": item.verdict.replace(" ", "-"),
                "reason": item.reason,
                "measured": _measured(item),
                "order": item.order_matches,
            }
            for item in group
        ]
        made.append({"claim": group[0].claim, "expected": _expected(group[0].claim), "readings": readings})
    return made


def _expected(claim: Claim) -> str:
    if claim.kind == "equal":
        return f"{claim.axis} does not matter"
    if claim.kind == "bound":
        where = "somewhere" if claim.quantifier == "any" else "everywhere"
        return f"{claim.of} / {claim.to} {bounds(claim)}, {where}"
    groups = [" ~ ".join(group) for group in claim.expected]
    return " > ".join([*groups, *([f"({', '.join(claim.rest)})"] if claim.rest else [])])


def _measured(judgement: Judgement) -> str:
    if not judgement.measured:
        return "–"
    unit = _unit(judgement.metric)
    if len(judgement.measured) != 1:
        means = [mean.mean for _, ranks in judgement.measured for _, mean in ranks]
        span = f"{number(min(means))} to {number(max(means))}{unit}"
        return f"means from {span} in {len(judgement.measured)} cells, each in verdicts.json"
    parts = []
    for variant, mean in judgement.measured[0][1]:
        half = (mean.high - mean.low) / 2
        spread = f" ± {number(half)}" if half == half and half != float("inf") else ""
        parts.append(f"{variant}: {number(mean.mean)}{spread}{unit}")
    return " > ".join(parts)


def _unit(metric: str) -> str:
    """Name the unit of a metric, after a space; nothing for a plain number."""
    if metric.endswith("_bps"):
        return " bit/s"
    return " B" if metric.startswith("delivered_") and metric != "delivered_packets" else ""


def _slow_start(table: polars.DataFrame, labels: Sequence[str]) -> list[list[str]]:
    means = [
        polars.col(column).cast(polars.Float64).mean() for column in START_COLUMNS.values() if column in table.columns
    ]
    reason = polars.col("slow_start_exit_reason").drop_nulls().mode().sort().first().fill_null("none")
    grouped = table.group_by(list(labels), maintain_order=True).agg(reason.alias("exit"), *means)
    return [
        [number(value) if isinstance(value, float) else "–" if value is None else str(value) for value in row]
        for row in grouped.iter_rows()
    ]


def _render(name: str, context: Mapping[str, Any]) -> str:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("ackclock"),
        autoescape=name.endswith(".html.j2"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name).render(context)
