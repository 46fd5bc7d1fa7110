"""The command `model --over`: a model's output and the same quantity in stored runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock.cli import output
from ackclock.cli.models import cells, values
from ackclock.files import targets
from ackclock.formatting.numbers import cell, finite
from ackclock.models import evaluate
from ackclock.models.compare import COLUMNS, SEED, Measured, measured, theory
from ackclock.models.registry import Model

if TYPE_CHECKING:
    import polars

    from ackclock.models.parameters import Sourced

LINE_POINTS = 200  # of a line of theory


@dataclass(frozen=True)
class Comparison:
    """A comparison that the user asks for.

    Attributes
    ----------
    directory : Path
        Directory of the runs.
    x, y : str or None
        Columns of the runs; None: the defaults.
    output : str
        The compared output of the model.
    plot : Path or None
        The file to draw.
    """

    directory: Path
    x: str | None
    y: str | None
    output: str
    plot: Path | None


def compare(model: Model, settings: Mapping[str, Any], wanted: Comparison, *, json_output: bool) -> None:
    """Print, and draw if asked for, a model's output with the measured values.

    Raises
    ------
    ValueError
        If the runs or the settings do not fit the model.
    """
    from ackclock.models import parameters

    directory, plot, compared = wanted.directory, wanted.plot, model.output(wanted.output)
    points = measured(directory, model.name, wanted.x, wanted.y, compared.unit)
    if points.parameter in settings:
        raise ValueError(f"--param {points.parameter}: its values come from {points.x} of {directory}; leave it out")
    varied = values.varied(settings)
    if model.simulated and SEED in varied:
        raise ValueError("--param seed: give one seed with --over, and more rounds for precision")
    used = parameters.of_runs(directory, model.name, settings, points.parameter)
    known = {key: found.value for key, found in used.items() if found.value is not None}
    predicted = theory(model.name, known, points)
    if plot is not None:
        _plot(model, known, points, compared.name, plot)
    rows = _rows(predicted, varied, points, compared.name)
    if json_output:
        said = {key: {"value": _used(model, key, found), "origin": found.origin} for key, found in used.items()}
        head = {"model": model.name, "output": compared.name, "x": points.x, "y": points.y}
        output.data({**head, "parameters": said, "rows": rows})
    else:
        with output.aside(plot is not None and targets.is_stdout(plot)):
            _show_parameters(model, used)
            _show(model, points, rows, compared.title)
    if plot is not None:
        output.note(f"written to {plot}")


def _used(model: Model, name: str, found: Sourced) -> Any:  # noqa: ANN401 - a parameter's value
    """Return the value that was used: the model's default unless another is known."""
    if found.value is not None:
        return found.value
    default = next(known.default for known in model.parameters if known.name == name)
    known = evaluate.read(model.name, name, default) if isinstance(default, str) else default
    return default if known is None else known  # the model itself computes auto


def _show_parameters(model: Model, used: Mapping[str, Sourced]) -> None:
    """Print the value of each parameter, and its source."""
    lines = []
    for name, found in used.items():
        value = _used(model, name, found)
        shown = (cell(cells.cell(model, name, each)) for each in (value if isinstance(value, list) else [value]))
        lines.append([cells.title(model, name), ", ".join(shown), found.origin])
    output.table(["parameter", "value", "from"], lines, left=3)


def _plot(model: Model, settings: Mapping[str, Any], points: Measured, name: str, path: Path) -> None:
    from ackclock.drawing import files
    from ackclock.plotting import models as drawing

    places = sorted({point.x for point in points.points})
    # A simulated model is slow: it is evaluated only at measured points.
    few = model.simulated or len(places) < 2
    line = places if few else values.spaced(places[0], places[-1], LINE_POINTS)
    table = evaluate.table(model.name, {**settings, points.parameter: line})
    files.save(drawing.of_comparison(model.name, name, table, values.varied(settings), points), path)


def _rows(predicted: polars.DataFrame, varied: Sequence[str], points: Measured, name: str) -> list[dict[str, Any]]:
    """Return a row for each measured point and each line of theory."""
    rows = []
    lines: dict[tuple[Any, ...], dict[float, float]] = {}
    for row in predicted.iter_rows(named=True):
        lines.setdefault(tuple(row[key] for key in varied), {})[row[points.parameter]] = row[name]
    for point in points.points:
        for key, line in lines.items():
            value = line[point.x]
            rows.append(
                {
                    **dict(zip(points.labels, point.series, strict=True)),
                    **dict(zip(varied, key, strict=True)),
                    points.parameter: point.x,
                    "runs": point.y.count,
                    "mean": finite(point.y.mean),
                    "low": finite(point.y.low),
                    "high": finite(point.y.high),
                    "theory": finite(value),
                    "ratio": finite(point.y.mean / value) if value else None,
                }
            )
    return rows


def _show(model: Model, points: Measured, rows: Sequence[Mapping[str, Any]], title: str) -> None:
    words = [key for key in rows[0] if key not in (points.parameter, *COLUMNS)]
    titles = {
        points.parameter: cells.title(model, points.parameter),
        "mean": points.y,
        "theory": title,
        "ratio": "measured/theory",
        **{key: cells.title(model, key) for key in words if key not in points.labels},
    }
    lines = [[cells.cell(model, key, value) for key, value in row.items()] for row in rows[: output.MOST_ROWS]]
    output.table([titles.get(key, key) for key in rows[0]], lines, left=len(words), less=("high", "low", "runs"))
    cells.note_more(len(rows))
