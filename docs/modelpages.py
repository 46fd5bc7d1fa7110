"""Writes the page and the Python functions of the analytic models, from the registry."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator
from typing import Any

from ackclock import _core

Json = dict[str, Any]
WIDTH = 116
KINDS = {
    "probability": "0 to 1, or a text in percent",
    "duration": "in seconds, or a text",
    "rate": "in bit/s, or a text",
    "size": "in bytes, or a text",
    "segments": "in packets, or a text",
    "integer": "a whole number",
    "number": "a number",
    "numbers": "a list of numbers, or a text",
}

MODULE = '''\
"""Analytic models: throughput, windows and efficiency by formula, or by the simulation of a chain without a network.

Every model is a function of keyword arguments. A quantity is a number in SI units (seconds, bit/s, bytes, 0 to 1), a
text with its unit (``"20 ms"``), or an array or list of either; arrays broadcast, in one call of the compiled core.
Simulated models take lists of values and return a table with a row for each combination.

>>> import ackclock
>>> round(ackclock.model.mathis(loss="1 %", rtt="20 ms", packet_size="1000 B").throughput)
4898979
"""
# Made by docs/generate.py from the models in crates/models/src; change the models, not this file.

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from ackclock.models.evaluate import Quantity, Values, evaluate, table, trace

if TYPE_CHECKING:
    import polars

__all__ = [
{names}
]
'''

TRACE = '''

def {name}_trace(
{arguments}
) -> polars.DataFrame:
    """{summary}

    Parameters
    ----------
{parameters}

    Returns
    -------
    polars.DataFrame
{columns}

    Raises
    ------
    ValueError
        If a value is invalid.
    """
    return trace(
        "{name}",
        {{
{settings}
        }},
    )
'''


def models() -> list[Json]:
    """Give every model."""
    found: list[Json] = json.loads(_core.models())
    return found


# models.md


def page() -> str:
    """Make the page of all models, each with parameters, outputs and the header of its file."""
    found = models()
    lines = [
        "# Models",
        "",
        "`ackclock model NAME` computes a model, `ackclock.model.NAME(…)` in Python ([guide](../guides/models.md)).",
        "Numbers in Python are in SI units: seconds, bit/s, bytes, 0 to 1.",
        "",
        *(f"- [{model['name']}](#{model['name']}): {model['summary']}" for model in found),
    ]
    for model in found:
        lines += ["", f"## {model['name']}", "", *_section(model)]
    return "\n".join(lines)


def _section(model: Json) -> Iterator[str]:
    yield from re.sub(r"^## (.*)$", r"\n**\1.**", model["header"], flags=re.MULTILINE).split("\n")
    how = "Simulated: one draw for each seed. " if model["simulated"] else ""
    yield from ["", f"{how}Plots have `{model['axis']}` on the axis by default.", ""]
    rows = [[f"`{p['name']}`", _takes(p), f"`{json.dumps(p['default'])}`", p["doc"]] for p in model["params"]]
    yield from _table(["parameter", "value", "default", "meaning"], rows)
    yield ""
    rows = [[f"`{o['name']}`", o["unit"] or "–", o["doc"]] for o in model["outputs"]]
    yield from _table(["output", "unit", "meaning"], rows)
    if model["trace"]:
        yield from ["", f"`{model['name']}_trace` in Python returns {model['trace']['summary']}:", ""]
        each = {None: "", **{p["name"]: f"_…`, one for each of `{p['name']}" for p in model["params"]}}
        rows = [[f"`{c['name']}{each[c['each']]}`", c["unit"] or "–", c["doc"]] for c in model["trace"]["columns"]]
        yield from _table(["column", "unit", "meaning"], rows)


def _table(head: list[str], rows: list[list[str]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"


def _takes(param: Json) -> str:
    if param["words"]:
        return ", ".join(f"`{word}`" for word in param["words"])
    if param["bounds"] is None:
        return "`true` or `false`"
    low, high = param["bounds"]
    unit = {"probability": " %", "duration": " s", "rate": " bit/s", "size": " B", "segments": " packets"}
    return f"{param['kind']}, {low:g} to {high:g}{unit.get(param['kind'], '')}"


# ackclock/model.py


def source() -> str:
    """Make the Python module with a function for each model."""
    found = models()
    names = [*(model["name"] for model in found), *(_class(model) for model in found if not model["simulated"])]
    listed = "\n".join(
        f'    "{name}",'
        for name in sorted([*names, *(f"{model['name']}_trace" for model in found if model["trace"])], key=_isort)
    )
    parts = [MODULE.replace("{names}", listed)]
    for model in found:
        parts.append("\n\n" + (_simulated(model) if model["simulated"] else _closed(model)))
        if model["trace"]:
            parts.append(_trace(model))
    return "".join(parts)


def _isort(name: str) -> tuple[bool, str]:
    return name[0].islower(), name


def _class(model: Json) -> str:
    return "".join(word.capitalize() for word in model["name"].split("_"))


def _literal(default: object) -> str:
    if isinstance(default, list):
        return str(tuple(default))
    return "None" if default == "auto" else json.dumps(default) if not isinstance(default, bool) else str(default)


def _annotation(param: Json, *, several: bool) -> str:
    if param["kind"] == "numbers":
        return "Sequence[float] | str"
    if param["kind"] in ("word", "bool"):
        words = ", ".join(json.dumps(word) for word in param["words"] or ())
        one = f"Literal[{words}]" if words else "bool"
        return f"{one} | Sequence[str]" if several and param["words"] else one
    return "Quantity | None" if param["default"] == "auto" else "Quantity"


def _arguments(model: Json, *, several: bool, but: tuple[str, ...] = ()) -> str:
    lines = ["    *,"]
    for param in model["params"]:
        if param["name"] not in but:
            annotation = _annotation(param, several=several)
            lines.append(f"    {param['name']}: {annotation} = {_literal(param['default'])},")
    return "\n".join(lines)


def _wrapped(text: str, indent: int) -> str:
    pad = " " * indent
    return textwrap.fill(text, WIDTH, initial_indent=pad, subsequent_indent=pad)


def _parameters(model: Json) -> str:
    lines = []
    for param in model["params"]:
        takes = f"; {KINDS[param['kind']]}" if param["kind"] in KINDS else ""
        doc = _titled(param["doc"]).replace("auto:", "None:")
        lines += [f"    {param['name']}", _wrapped(f"{doc}{takes}.", 8)]
    return "\n".join(lines)


def _summary(model: Json) -> str:
    summary = f"{model['summary'][0].upper()}{model['summary'][1:]}."
    return f'    """{summary}\n\n{_wrapped(model["reference"] + ".", 4)}\n'


def _settings(model: Json, indent: int) -> str:
    return "\n".join(f'{" " * indent}"{p["name"]}": {p["name"]},' for p in model["params"])


def _closed(model: Json) -> str:
    name, made = model["name"], _class(model)
    fields = "\n".join(
        f"    {o['name']}: Values\n" + _wrapped(f'"""{_titled(o["doc"])}{_unit(o)}."""', 4) for o in model["outputs"]
    )
    return f'''class {made}(NamedTuple):
    """Outputs of `{name}`."""

{fields}


def {name}(
{_arguments(model, several=False)}
) -> {made}:
{_summary(model)}
    Parameters
    ----------
{_parameters(model)}

    Returns
    -------
    {made}
{_wrapped(", ".join(f"``{o['name']}``" for o in model["outputs"]) + ": numbers, or arrays of the common shape.", 8)}

    Raises
    ------
    ValueError
        If a value is invalid, or shapes do not broadcast.
    """
    outputs = evaluate(
        "{name}",
        {{
{_settings(model, 12)}
        }},
    )
    return {made}(*outputs)
'''


def _simulated(model: Json) -> str:
    name = model["name"]
    outputs = "; ".join(f"``{o['name']}``, {o['doc']}{_unit(o)}" for o in model["outputs"])
    return f'''def {name}(
{_arguments(model, several=True)}
    jobs: int | None = None,
) -> polars.DataFrame:
{_summary(model)}
    Every parameter takes one value or a list of values. All combinations are simulated, on all processors.

    Parameters
    ----------
{_parameters(model)}
    jobs
        Threads; by default one per processor. Results do not depend on it.

    Returns
    -------
    polars.DataFrame
        A row for each combination: all parameters that are not None, and the outputs:
{_wrapped(outputs + ".", 8)}

    Raises
    ------
    ValueError
        If a value is invalid.
    """
    return table(
        "{name}",
        {{
{_settings(model, 12)}
        }},
        jobs,
    )
'''


def _trace(model: Json) -> str:
    name = model["name"]
    return TRACE.format(
        name=name,
        summary=f"Give {model['trace']['summary']}.",
        columns=_wrapped("; ".join(map(_traced, model["trace"]["columns"])) + ".", 8),
        arguments=_arguments(model, several=False),
        parameters=_parameters(model),
        settings=_settings(model, 12),
    )


def _traced(column: Json) -> str:
    name = (
        f"``{column['name']}``"
        if column["each"] is None
        else f"``{column['name']}_…`` for each of ``{column['each']}``"
    )
    return f"{name}, {column['doc']}{_unit(column)}"


def _titled(doc: str) -> str:
    return doc[0].upper() + doc[1:]


def _unit(output: Json) -> str:
    return f", in {output['unit']}" if output["unit"] else ""
