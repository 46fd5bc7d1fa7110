"""Notes below the figures of a paper: world and paths of the runs, and what a curve, band or point stands for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from ackclock.drawing.bands import BAND
from ackclock.experiments.repetitions import Repetition
from ackclock.literature.contents import Chart
from ackclock.literature.reproduction import Outcome

Cell = tuple[str, ...]
MIDDLE = f"middle {BAND[1] - BAND[0]:g} %"


def of_curves(outcome: Outcome, cells: Collection[Cell], *, single: bool = False, lines: Collection[Cell] = ()) -> str:
    """Return the note of curves over time of some cells.

    With `single`, these are of the first runs alone; with `lines`, single runs of these cells are the lines.
    """
    drawn = [
        [run.repetition for run in cell if run.curves.kinds] for cell in outcome.plan.cells if cell[0].cell in cells
    ]
    drawn = [runs for runs in drawn if runs]
    if not drawn:
        return _models(outcome, cells)
    most = 1 if single else max(map(len, drawn))
    of = f"line and band: median and {MIDDLE} of {most} runs" if most > 1 else "each line: one run"
    if any(cell in outcome.lines for cell in lines):
        of = f"line: one run; band: {MIDDLE} of {most} other runs"
    return f"Simulated, {_paths(run for runs in drawn for run in runs[:most])}; {of}."


def of_values(outcome: Outcome, chart: Chart) -> str:
    """Return the note of a chart of means."""
    labels = outcome.plan.paper.labels
    taken = [row for row in outcome.rows if chart.takes(row)]
    if chart.ratio:
        # A cell without its partner has no ratio.
        (label, (of, to)), *_ = chart.ratio.items()
        others = [name for name in labels if name != label]
        there = [{tuple(row[name] for name in others) for row in taken if row[label] == value} for value in (of, to)]
        both = there[0] & there[1]
        taken = [row for row in taken if row[label] in (of, to) and tuple(row[name] for name in others) in both]
    chosen = {tuple(row[label] for label in labels) for row in taken}
    # Only verdicts show the exact path.
    runs = [
        [run.repetition for run in cell if run.repetition.paths != "exact"]
        for cell in outcome.plan.cells
        if cell[0].cell in chosen
    ]
    models = _models(outcome, chosen)
    counts = sorted({len(cell) for cell in runs})
    if not counts:
        return models
    number = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    of = f"each value: the mean of {number} runs" if counts[-1] > 1 else "each value: one run"
    return " ".join(filter(None, [f"Simulated, {_paths(run for cell in runs for run in cell)}; {of}.", models]))


def _models(outcome: Outcome, cells: Collection[Cell]) -> str:
    counts = {len(model.seeds or ()) for model in outcome.plan.models if model.point.cell in cells}
    found = [f"the mean of {max(counts)} simulated seeds"] if max(counts, default=0) > 1 else []
    found += ["one simulated seed"] if 1 in counts else []
    found += ["a formula"] if 0 in counts else []
    return f"From models: {' or '.join(found)}." if found else ""


def _paths(runs: Iterable[Repetition]) -> str:
    """Say on which paths runs take place, the most frequent first."""
    found = Counter(_path(run) for run in runs)
    return " or ".join(words for words, _ in found.most_common())


def _path(run: Repetition) -> str:
    if run.sampling == "population":
        return "on the paths of its table"
    if run.paths == "like":
        return "on paths drawn around the paper's"
    return (
        "on the paper's path with other seeds"
        if run.sampling == "seed"
        else "on the paper's path with other start times"
    )
