"""The command `model`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock.cli import output
from ackclock.cli.runs import key_and_value
from ackclock.cli.sweeps import MOST_ROWS
from ackclock.files import checks, targets
from ackclock.models import evaluate

if TYPE_CHECKING:
    import polars

    from ackclock.models.compare import Measured
    from ackclock.models.parameters import Parameter

POINTS = 25  # of a range that does not say how many
LINE_POINTS = 200  # of a line of theory
SEED = "seed"


def model_command(
    name: str | None,
    settings: Sequence[str],
    *,
    outputs: Sequence[str],
    json_output: bool,
    plot: Path | None,
    over: Path | None,
    x: str | None,
    y: str | None,
    force: bool = False,
) -> None:
    """List the models, compute one, or compare one with what was measured."""
    if name is None:
        if settings or outputs or force or plot is not None or over is not None or x is not None or y is not None:
            raise ValueError(f"name a model before its options (known: {', '.join(evaluate.models())})")
        _list(json_output=json_output)
        return
    if name not in evaluate.models() and (found := evaluate.of_paper(name)):
        _refuse_drawing(name, found, (plot, over, x, y))
        _compute_all(found, settings, outputs, json_output=json_output)
        return
    entry = evaluate.describe(name)
    _check_plot(plot, over, json_output=json_output, force=force)  # before what may take long
    given = _settings(entry, settings)
    chosen = _outputs(entry, outputs)
    if over is not None:
        _compare(entry, given, (over, x, y), (chosen[0] if outputs else _rate(entry), plot), json_output=json_output)
        return
    if x is not None or y is not None:
        raise ValueError(f"{'--x' if x is not None else '--y'}: only with --over")
    table = evaluate.table(name, given)
    if plot is not None:
        _plot(entry, table, _varied(given), (chosen, plot))
    if json_output:
        output.data({"model": name, "rows": _rows(table, [*given, *chosen])})
    else:
        with output.aside(plot is not None and targets.is_stdout(plot)):
            _show(entry, table, given, chosen)
    if plot is not None:
        output.note(f"written to {plot}")


def _refuse_drawing(paper: str, names: Sequence[str], options: Sequence[object]) -> None:
    if any(option is not None for option in options):
        raise ValueError(f"{paper} is a paper: name one of its models to draw or compare it ({', '.join(names)})")


def _compute_all(names: Sequence[str], settings: Sequence[str], outputs: Sequence[str], *, json_output: bool) -> None:
    """Compute the models of a paper: each takes the parameters that it has, and gives the outputs that it has."""
    entries = [evaluate.describe(name) for name in names]
    for kind, wanted in (("params", [text.partition("=")[0] for text in settings]), ("outputs", outputs)):
        known = list(dict.fromkeys(item["name"] for entry in entries for item in entry[kind]))
        for name in wanted:
            if name not in known:
                option = "--param" if kind == "params" else "--output"
                raise ValueError(
                    f"{option} {name}: {' and '.join(names)} have none called so{checks.near(name, known)}"
                )
    computed = []
    for entry in entries:
        params, known = ([item["name"] for item in entry[kind]] for kind in ("params", "outputs"))
        given = _settings(entry, [text for text in settings if text.partition("=")[0] in params])
        chosen = [name for name in outputs if name in known] if outputs else known
        if chosen:
            computed.append((entry, evaluate.table(entry["name"], given), given, chosen))
    if json_output:
        output.data(
            [
                {"model": entry["name"], "rows": _rows(table, [*given, *chosen])}
                for entry, table, given, chosen in computed
            ]
        )
        return
    for entry, table, given, chosen in computed:
        print(f"{entry['name']}: {entry['summary']}")
        _show(entry, table, given, chosen)


def _varied(given: Mapping[str, Any]) -> list[str]:
    return [key for key, values in given.items() if isinstance(values, list)]


def _show(entry: Mapping[str, Any], table: polars.DataFrame, given: Mapping[str, Any], chosen: Sequence[str]) -> None:
    """Print a model's outputs: one below the other, or a row for each value of what varies."""
    if varied := _varied(given):
        _show_table(entry, table, varied, chosen)
    else:
        _show_point(entry, table, chosen)


def _check_plot(path: Path | None, over: Path | None, *, json_output: bool, force: bool) -> None:
    if path is None:
        if force:
            raise ValueError("--force: nothing is replaced without --plot FILE")
        return
    from ackclock.drawing import curves

    curves.image_format(path)
    if json_output and targets.is_stdout(path):
        raise ValueError(f"--plot {path}: --json is written to standard output, too; name a file")
    targets.check(path, inputs=[] if over is None else over.rglob("*"), force=force)


def _list(*, json_output: bool) -> None:
    entries = list(evaluate.models().values())
    if json_output:
        output.data(entries)
        return
    lines = [[entry["name"], entry["summary"], entry["axis"], entry["paper"], entry["reference"]] for entry in entries]
    output.table(["name", "what it is", "over", "paper", "reference"], lines, left=5)


def _settings(entry: Mapping[str, Any], texts: Sequence[str]) -> dict[str, Any]:
    """Read KEY=VALUE: one value, or a list for `A,B,…` and `LOW..HIGH`."""
    given: dict[str, Any] = {}
    for text in texts:
        key, value = key_and_value(text, "--param", "loss='1 %'")
        if key in given:
            raise ValueError(f"--param {key} is given twice")
        parameter = next((known for known in entry["params"] if known["name"] == key), None)
        if parameter is None:
            evaluate.read(entry["name"], key, value)  # says the nearest right name
            raise ValueError(f"--param {key}: {entry['name']} has no such parameter")
        given[key] = _values(entry["name"], parameter, value)
    return {known["name"]: given[known["name"]] for known in entry["params"] if known["name"] in given}


def _values(model: str, parameter: Mapping[str, Any], text: str) -> Any:  # noqa: ANN401 - what a parameter may be
    name = parameter["name"]
    if parameter["kind"] == "numbers":
        return evaluate.read(model, name, text)
    if ".." in text:
        return _range(model, parameter, text)
    if "," in text:
        return evaluate.read(model, name, text.split(","))
    return evaluate.read(model, name, text)


def _range(model: str, parameter: Mapping[str, Any], text: str) -> list[float]:
    """Give the numbers of LOW..HIGH[:COUNT]: in equal ratios, or in equal steps if LOW is 0; all whole numbers."""
    name = parameter["name"]
    problem = f"--param {name}={text}: expected LOW..HIGH or LOW..HIGH:COUNT"
    ends, _, count = text.partition(":")
    low, high = (evaluate.read(model, name, end) for end in ends.split("..", 1))
    if not all(isinstance(end, float) for end in (low, high)):
        raise ValueError(f"{problem} of numbers")
    if count and not (count.strip().isdecimal() and 2 <= int(count) <= evaluate.MOST_POINTS):
        raise ValueError(f"{problem}, with 2 to {evaluate.MOST_POINTS:,} as COUNT")
    if low >= high:
        raise ValueError(f"{problem}, with LOW below HIGH")
    if parameter["kind"] == "integer" and not count:
        if high - low >= evaluate.MOST_POINTS:
            raise ValueError(f"{problem}, with at most {evaluate.MOST_POINTS:,} numbers")
        return [float(whole) for whole in range(int(low), int(high) + 1)]
    points = int(count) if count else POINTS
    spaced = _spaced(low, high, points)
    if parameter["kind"] == "integer":
        return [float(whole) for whole in dict.fromkeys(round(value) for value in spaced)]
    return spaced


def _spaced(low: float, high: float, points: int) -> list[float]:
    inner = (
        low + (high - low) * step / (points - 1) if low <= 0 else low * (high / low) ** (step / (points - 1))
        for step in range(1, points - 1)
    )
    return [low, *inner, high]


def _outputs(entry: Mapping[str, Any], wanted: Sequence[str]) -> list[str]:
    known = [found["name"] for found in entry["outputs"]]
    for name in wanted:
        if name not in known:
            raise ValueError(f"--output {name}: {entry['name']} gives no such number{checks.near(name, known)}")
    return list(wanted) or known


def _rate(entry: Mapping[str, Any]) -> str:
    """Choose the output that is usually measured: the first rate, else the first."""
    rates = [found["name"] for found in entry["outputs"] if found["unit"] == "bit/s"]
    return str((rates or [entry["outputs"][0]["name"]])[0])


def _axis(entry: Mapping[str, Any], varied: Sequence[str], given: polars.DataFrame) -> str | None:
    """Choose the parameter to draw over: the usual one if it varies, else the first number that does."""
    numbers = [name for name in varied if given[name].dtype.is_numeric() and name != SEED]
    return entry["axis"] if entry["axis"] in numbers else next(iter(numbers), None)


def _plot(
    entry: Mapping[str, Any], table: polars.DataFrame, varied: Sequence[str], what: tuple[Sequence[str], Path]
) -> None:
    outputs, path = what
    x = _axis(entry, varied, table)
    if x is None:
        example = f"{entry['axis']}=LOW..HIGH"
        raise ValueError(f"--plot {path}: nothing to draw over; give a range, as in --param {example}")
    if not any(math.isfinite(value) for name in outputs for value in table[name]):
        raise ValueError(f"--plot {path}: nothing to draw; {', '.join(outputs)} is undefined or infinite all over {x}")
    from ackclock.drawing import curves
    from ackclock.drawing import models as modelplots

    curves.save(modelplots.draw_table(entry["name"], table, varied, outputs, x), path)


def _compare(
    entry: Mapping[str, Any],
    given: dict[str, Any],
    where: tuple[Path, str | None, str | None],
    what: tuple[str, Path | None],
    *,
    json_output: bool,
) -> None:
    """Show a model's output beside what was measured."""
    from ackclock.models import compare as comparing
    from ackclock.models import parameters

    directory, x, y = where
    name, plot = what
    unit = next(found["unit"] for found in entry["outputs"] if found["name"] == name)
    points = comparing.measured(directory, entry["name"], x, y, unit)
    if points.parameter in given:
        raise ValueError(f"--param {points.parameter}: it is what {points.x} of {directory} says; leave it out")
    varied = _varied(given)
    if entry["simulated"] and SEED in varied:
        raise ValueError("--param seed: one seed with --over; give it more rounds instead")
    used = parameters.of_runs(directory, entry["name"], given, points.parameter)
    settings = {key: found.value for key, found in used.items() if found.value is not None}
    theory = comparing.theory(entry["name"], settings, points)
    if plot is not None:
        _plot_comparison(entry, settings, points, (name, plot))
    rows = _compared(theory, varied, points, name)
    if json_output:
        said = {key: {"value": _used(entry, key, found), "origin": found.origin} for key, found in used.items()}
        head = {"model": entry["name"], "output": name, "x": points.x, "y": points.y}
        output.data({**head, "parameters": said, "rows": rows})
    else:
        with output.aside(plot is not None and targets.is_stdout(plot)):
            _show_parameters(entry, used)
            _show_comparison(entry, points, rows, (name, unit))
    if plot is not None:
        output.note(f"written to {plot}")


def _used(entry: Mapping[str, Any], name: str, found: Parameter) -> Any:  # noqa: ANN401 - what a parameter may be
    """Give the value that was used, which is the model's default where nothing else is known."""
    if found.value is not None:
        return found.value
    default = next(known["default"] for known in entry["params"] if known["name"] == name)
    known = evaluate.read(entry["name"], name, default) if isinstance(default, str) else default
    return default if known is None else known  # auto is not known before the model computes


def _show_parameters(entry: Mapping[str, Any], used: Mapping[str, Parameter]) -> None:
    """Print which value each parameter had in a comparison, and where it came from."""
    lines = []
    for name, found in used.items():
        value = _used(entry, name, found)
        values = value if isinstance(value, list) else [value]
        lines.append(
            [_titled(entry, name), ", ".join(output.cell(_cell(entry, name, each)) for each in values), found.origin]
        )
    output.table(["parameter", "value", "from"], lines, left=3)


def _plot_comparison(entry: Mapping[str, Any], given: dict[str, Any], points: Measured, what: tuple[str, Path]) -> None:
    from ackclock.drawing import curves
    from ackclock.drawing import models as modelplots

    name, path = what
    values = sorted({point.x for point in points.points})
    # A simulated model has a point only where there is a measurement; a formula costs nothing.
    line = values if entry["simulated"] or len(values) < 2 else _spaced(values[0], values[-1], LINE_POINTS)
    table = evaluate.table(entry["name"], {**given, points.parameter: line})
    varied = _varied(given)
    curves.save(modelplots.draw_comparison(entry["name"], name, table, varied, points), path)


def _compared(theory: polars.DataFrame, varied: Sequence[str], points: Measured, name: str) -> list[dict[str, Any]]:
    """Give a row for each measured point and each line of theory."""
    rows = []
    lines: dict[tuple[Any, ...], dict[float, float]] = {}
    for row in theory.iter_rows(named=True):
        lines.setdefault(tuple(row[key] for key in varied), {})[row[points.parameter]] = row[name]
    for point in points.points:
        for key, line in lines.items():
            predicted = line[point.x]
            rows.append(
                {
                    **dict(zip(points.labels, point.series, strict=True)),
                    **dict(zip(varied, key, strict=True)),
                    points.parameter: point.x,
                    "runs": point.y.count,
                    "mean": _finite(point.y.mean),
                    "low": _finite(point.y.low),
                    "high": _finite(point.y.high),
                    "theory": _finite(predicted),
                    "ratio": _finite(point.y.mean / predicted) if predicted else None,
                }
            )
    return rows


def _show_comparison(
    entry: Mapping[str, Any], points: Measured, rows: Sequence[Mapping[str, Any]], what: tuple[str, str]
) -> None:
    from ackclock.models.compare import COLUMNS

    name, unit = what
    words = [key for key in rows[0] if key not in (points.parameter, *COLUMNS)]
    titles = {
        points.parameter: _titled(entry, points.parameter),
        "mean": f"{points.y}",
        "theory": f"{name} ({unit})" if unit else name,
        "ratio": "measured/theory",
        **{key: _titled(entry, key) for key in words if key not in points.labels},
    }
    lines = [[_cell(entry, key, value) for key, value in row.items()] for row in rows[:MOST_ROWS]]
    output.table([titles.get(key, key) for key in rows[0]], lines, left=len(words))
    _tell_more(len(rows))


def _show_point(entry: Mapping[str, Any], table: polars.DataFrame, outputs: Sequence[str]) -> None:
    """Print the outputs one below the other."""
    known = {found["name"]: found for found in entry["outputs"]}
    lines = [[name, known[name]["doc"], known[name]["unit"], _plain(table[name][0])] for name in outputs]
    output.table(["output", "meaning", "unit", "value"], lines, left=3)


def _show_table(
    entry: Mapping[str, Any], table: polars.DataFrame, varied: Sequence[str], outputs: Sequence[str]
) -> None:
    words = [name for name in varied if not table[name].dtype.is_numeric()]
    order = [*words, *(name for name in varied if name not in words)]
    # Rows of equal words stand together, words in the order in which they were given.
    places = {name: table[name].unique(maintain_order=True).to_list() for name in words}
    rows = sorted(table.iter_rows(named=True), key=lambda row: [places[name].index(row[name]) for name in words])
    lines = [
        [*(_cell(entry, name, row[name]) for name in order), *(_plain(row[name]) for name in outputs)]
        for row in rows[:MOST_ROWS]
    ]
    units = {found["name"]: found["unit"] for found in entry["outputs"]}
    titles = [f"{name} ({units[name]})" if units[name] else name for name in outputs]
    output.table([*(_titled(entry, name) for name in order), *titles], lines, left=len(words))
    _tell_more(len(table))


def _tell_more(count: int) -> None:
    if count > MOST_ROWS:
        output.note(f"only the first {MOST_ROWS} of {count:,} rows are shown; --json prints all")


def _titled(entry: Mapping[str, Any], name: str) -> str:
    parameter = next(found for found in entry["params"] if found["name"] == name)
    unit, _ = evaluate.unit_of(parameter)
    return f"{name} ({unit})" if unit else name


def _cell(entry: Mapping[str, Any], name: str, value: Any) -> object:  # noqa: ANN401 - a cell of a table
    """Give a cell: parameters in the unit in which people write them."""
    if isinstance(value, bool):
        return str(value).lower()
    parameter = next((found for found in entry["params"] if found["name"] == name), None)
    if parameter is None or not isinstance(value, float):
        return value
    return _plain(evaluate.unit_of(parameter)[1](value))


def _plain(value: float) -> object:
    return value if math.isfinite(value) else None if math.isnan(value) else "∞"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _rows(table: polars.DataFrame, names: Sequence[str]) -> list[dict[str, Any]]:
    chosen = table.select([name for name in dict.fromkeys(names) if name in table.columns])
    return [
        {name: _finite(value) if isinstance(value, float) else value for name, value in row.items()}
        for row in chosen.iter_rows(named=True)
    ]
