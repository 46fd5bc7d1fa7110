"""The command `list`: parts, hosts, links, measures, papers, paths and suites."""

from __future__ import annotations

import json
from typing import Any

from ackclock import _core
from ackclock.cli import output
from ackclock.cli.groups import grouped
from ackclock.comparisons.places import shipped, suites
from ackclock.conformance import suites as clauses
from ackclock.files import checks, populations
from ackclock.literature import library
from ackclock.metrics import MEASURES, measures


def list_command(axis: str | None, *, json_output: bool) -> None:
    """List one axis or kind of thing with its parameters, or all in brief."""
    axes: dict[str, list[dict[str, Any]]] = json.loads(_core.registry())
    papers = [{"name": paper.name, "summary": paper.title, "reference": paper.reference} for paper in library.papers()]
    everything = {
        **{name: grouped(name, parts) for name, parts in axes.items()},
        "hosts": json.loads(_core.hosts()),
        "links": json.loads(_core.links()),
        "measures": _measures(),
        "papers": papers,
        "paths": [{"name": path.name, "summary": path.summary} for path in shipped()],
        "suites": [{"name": name, "summary": summary} for name, summary in suites()],
        # Reading all suites takes longer than everything else.
        "conformance": _clauses() if axis in (None, "conformance") else [],
        "populations": [{"name": name, "summary": populations.summary(name)} for name in populations.names()],
    }
    if axis is not None and axis not in everything:
        raise ValueError(f"unknown axis {axis!r}{checks.near(axis, everything)}")
    chosen = everything if axis is None else {axis: everything[axis]}
    if json_output:
        output.data(chosen if axis is None else chosen[axis])
        return
    if not papers and "papers" in chosen:
        places = ", ".join(str(place) for place in library.places())
        output.note(f"no papers found; a paper is a folder with a {library.PAPER_FILE}, in one of {places}")
    for name, parts in chosen.items():
        if axis == "measures":
            lines = [
                [it["name"], it["summary"], it["unit"], it["better"] or "", ", ".join(it["scope"])] for it in parts
            ]
            output.table(MEASURED, lines, left=5)
            output.note("--json and docs/reference/measures.md define them")
            continue
        keys = ["name", *(["group"] if any("group" in part for part in parts) else []), "summary", "reference"]
        output.table(keys, [[part.get(key, "") for key in keys] for part in parts], title=name, left=len(keys))
        if axis is not None and name != "papers":
            _parameters(parts)
            _settings(parts)


def _clauses() -> list[dict[str, Any]]:
    found = [clauses.find(name) for name in clauses.names()]
    return [{"name": suite.name, "summary": suite.title, "reference": suite.document} for suite in found]


MEASURED = ("name", "meaning", "unit", "better", "of")
"""The columns of the table of measures."""


def _measures() -> list[dict[str, Any]]:
    """Return the measures; in a list of everything, the title is the summary."""
    return [{"name": row["name"], "summary": MEASURES[row["name"]].title, **row} for row in measures().to_dicts()]


def _takes(param: dict[str, Any]) -> str:
    if "axis" in param:
        return f"a part of {param['axis']}"
    if "of" in param:
        return f"a list of [time, {param['of']}]"
    return ", ".join(param.get("words") or [param.get("kind", "")])


def _default(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _parameters(parts: list[dict[str, Any]]) -> None:
    lines = [
        [part["name"], param["name"], _takes(param), _default(param.get("default")), param.get("doc", "")]
        for part in parts
        for param in part.get("params", [])
    ]
    if lines:
        output.table(["name", "parameter", "takes", "default", "meaning"], lines, title="parameters", left=5)


def _settings(hosts: list[dict[str, Any]]) -> None:
    # An older version's values are rows of their own.
    named = [(host["name"], host.get("settings", [])) for host in hosts]
    named += [
        (f"{host['name']} before {change['before']}", change["settings"])
        for host in hosts
        for change in host.get("changes", [])
    ]
    lines = [
        [name, setting["name"], setting["value"].strip('"'), setting["source"]]
        for name, settings in named
        for setting in settings
    ]
    if lines:
        output.table(["name", "setting", "value", "source"], lines, title="settings", left=4)
