"""The command `model`: lists models, computes one or all of a paper, or compares one with runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock.cli import output
from ackclock.cli.models import cells, values
from ackclock.cli.models.comparison import Comparison, compare
from ackclock.files import checks, targets
from ackclock.models import evaluate, registry
from ackclock.models.compare import SEED
from ackclock.models.registry import Model

if TYPE_CHECKING:
    import polars


def model_command(
    name: str | None,
    texts: Sequence[str],
    *,
    outputs: Sequence[str],
    json_output: bool,
    plot: Path | None,
    over: Path | None,
    x: str | None,
    y: str | None,
    force: bool = False,
) -> None:
    """List the models, compute one, or compare one with measurements."""
    if name is None:
        if texts or outputs or force or any(option is not None for option in (plot, over, x, y)):
            raise ValueError(f"name a model before its options (known: {', '.join(registry.models())})")
        _list(json_output=json_output)
        return
    if name not in registry.models() and (found := _of_paper(name)):
        if any(option is not None for option in (plot, over, x, y)):
            names = ", ".join(model.name for model in found)
            raise ValueError(f"{name} is a paper: name one of its models to draw or compare it ({names})")
        _compute_all(found, texts, outputs, json_output=json_output)
        return
    model = registry.find(name)
    _check_plot(plot, over, json_output=json_output, force=force)  # before the computation, which may be slow
    settings = values.read_settings(model, texts)
    chosen = _outputs(model, outputs)
    if over is not None:
        compared = Comparison(over, x, y, chosen[0] if outputs else _usual_output(model), plot)
        compare(model, settings, compared, json_output=json_output)
        return
    if x is not None or y is not None:
        raise ValueError(f"{'--x' if x is not None else '--y'}: only with --over")
    _compute(model, settings, chosen, plot, json_output=json_output)


def _compute(
    model: Model, settings: Mapping[str, Any], outputs: Sequence[str], plot: Path | None, *, json_output: bool
) -> None:
    table = evaluate.table(model.name, settings)
    if plot is not None:
        _plot(model, table, values.varied(settings), outputs, plot)
    if json_output:
        output.data(_data(model, table, settings, outputs))
    else:
        with output.aside(plot is not None and targets.is_stdout(plot)):
            _show(model, table, settings, outputs)
    if plot is not None:
        output.note(f"written to {plot}")


def _of_paper(paper: str) -> list[Model]:
    """Return the models that belong to a paper, and those that its ``paper.toml`` evaluates; none if it is unknown."""
    from ackclock.literature import library

    named = [model.name for model in registry.models().values() if model.paper == paper]
    if paper in library.names():
        named += [model.name for model in library.find(paper).contents.models]
    return [registry.find(name) for name in dict.fromkeys(named)]


def _compute_all(models: Sequence[Model], texts: Sequence[str], outputs: Sequence[str], *, json_output: bool) -> None:
    """Compute several models: each takes those of the parameters, and shows those of the outputs, that it has."""
    names = " and ".join(model.name for model in models)
    parameters = list(dict.fromkeys(found.name for model in models for found in model.parameters))
    known = list(dict.fromkeys(found.name for model in models for found in model.outputs))
    for text in texts:
        key = text.partition("=")[0]
        if key not in parameters:
            raise ValueError(f"--param {key}: none of {names} has this parameter{checks.near(key, parameters)}")
    for name in outputs:
        if name not in known:
            raise ValueError(f"--output {name}: none of {names} has this output{checks.near(name, known)}")
    computed = []
    for model in models:
        own = [text for text in texts if model.parameter(text.partition("=")[0]) is not None]
        settings = values.read_settings(model, own)
        available = [found.name for found in model.outputs]
        chosen = [name for name in outputs or available if name in available]
        if chosen:
            computed.append((model, evaluate.table(model.name, settings), settings, chosen))
    if json_output:
        output.data([_data(*each) for each in computed])
        return
    for model, table, settings, chosen in computed:
        output.say(f"{model.name}: {model.summary}")
        _show(model, table, settings, chosen)


def _check_plot(path: Path | None, over: Path | None, *, json_output: bool, force: bool) -> None:
    if path is None:
        if force:
            raise ValueError("--force: nothing is replaced without --plot FILE")
        return
    from ackclock.drawing import files

    files.image_format(path)
    if json_output and targets.is_stdout(path):
        raise ValueError(f"--plot {path}: --json is written to standard output, too; name a file")
    targets.check(path, inputs=[] if over is None else over.rglob("*"), force=force)


def _list(*, json_output: bool) -> None:
    if json_output:
        output.data(registry.declared())
        return
    lines = [
        [model.name, model.summary, model.axis, model.paper, model.reference] for model in registry.models().values()
    ]
    output.table(["name", "summary", "over", "paper", "reference"], lines, left=5, less=("reference", "paper"))


def _outputs(model: Model, wanted: Sequence[str]) -> list[str]:
    known = [found.name for found in model.outputs]
    for name in wanted:
        if name not in known:
            raise ValueError(f"--output {name}: {model.name} has no such output{checks.near(name, known)}")
    return list(wanted) or known


def _usual_output(model: Model) -> str:
    """Return the output that is usually measured: the first rate, otherwise the first output."""
    return next((found.name for found in model.outputs if found.unit == "bit/s"), model.outputs[0].name)


def _axis(model: Model, varied: Sequence[str], table: polars.DataFrame) -> str | None:
    """Choose the parameter to draw over: the model's axis if it varies, otherwise the first number that varies."""
    numbers = [name for name in varied if table[name].dtype.is_numeric() and name != SEED]
    return model.axis if model.axis in numbers else next(iter(numbers), None)


def _plot(model: Model, table: polars.DataFrame, varied: Sequence[str], outputs: Sequence[str], path: Path) -> None:
    x = _axis(model, varied, table)
    if x is None:
        example = f"{model.axis}=LOW..HIGH"
        raise ValueError(f"--plot {path}: no parameter has a range to draw over; give one, as in --param {example}")
    if not any(math.isfinite(value) for name in outputs for value in table[name]):
        raise ValueError(f"--plot {path}: no curve; {', '.join(outputs)} is undefined or infinite for every {x}")
    from ackclock.drawing import files
    from ackclock.plotting import models as drawing

    files.save(drawing.of_table(model.name, table, varied, outputs, x), path)


def _data(
    model: Model, table: polars.DataFrame, settings: Mapping[str, Any], outputs: Sequence[str]
) -> dict[str, object]:
    return {"model": model.name, "rows": cells.rows(table, [*settings, *outputs])}


def _show(model: Model, table: polars.DataFrame, settings: Mapping[str, Any], outputs: Sequence[str]) -> None:
    """Print a row for each output, or, if parameters vary, a row for each combination of them."""
    if varied := values.varied(settings):
        _show_table(model, table, varied, outputs)
        return
    found = [model.output(name) for name in outputs]
    lines = [[each.name, each.doc, each.unit, cells.plain(table[each.name][0])] for each in found]
    output.table(["output", "meaning", "unit", "value"], lines, left=3)


def _show_table(model: Model, table: polars.DataFrame, varied: Sequence[str], outputs: Sequence[str]) -> None:
    words = [name for name in varied if not table[name].dtype.is_numeric()]
    order = [*words, *(name for name in varied if name not in words)]
    # Rows with the same words form a group; groups follow the order in which the words were given.
    places = {name: table[name].unique(maintain_order=True).to_list() for name in words}
    found = sorted(table.iter_rows(named=True), key=lambda row: [places[name].index(row[name]) for name in words])
    lines = [
        [*(cells.cell(model, name, row[name]) for name in order), *(cells.plain(row[name]) for name in outputs)]
        for row in found[: output.MOST_ROWS]
    ]
    titles = [*(cells.title(model, name) for name in order), *(model.output(name).title for name in outputs)]
    less = [model.output(name).title for name in reversed(outputs[1:])]
    output.table(titles, lines, left=len(words), less=less, see="--output NAME")
    cells.note_more(len(table))
