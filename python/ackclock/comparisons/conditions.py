"""The conditions of a comparison beside its algorithms: hosts, initial windows, packets and access links."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ackclock.comparisons.contenders import HOST, Contender
from ackclock.comparisons.planning import Plan
from ackclock.formatting.numbers import counted
from ackclock.freeze import Frozen
from ackclock.metrics.groups import under_test

MOST_LINKS = 3
"""Kinds of access links that are named one by one."""


def about(plan: Plan) -> str:
    """Return what is compared, and on which paths."""
    names = [each.name for each in plan.contenders]
    where = ", ".join(each.name for each in plan.places)
    if not plan.crossed:
        return f"{' and '.join(names[1:])} against {names[0]} on {where}"
    said = f"{counted(len(names) - plan.outside, 'combination')} on {where}; baseline: {names[0]}"
    if plan.refused:
        first = plan.refused[0]
        said += f"; {counted(len(plan.refused), 'impossible combination')} left out, the first: {first}"
    return said


def conditions(plan: Plan) -> list[str]:
    """Return a line for each group of contenders with the same host, window and packets, and one for the access links.

    Worlds that replace hosts, and populations with equal rows, have a line, too.

    Parameters
    ----------
    plan
        The plan; of each place, the first path is read.
    """
    groups: dict[str, list[str]] = {}
    # The combinations of a matrix have the host, window and packets of the path.
    for contender in plan.contenders[: 1 if plan.crossed else None]:
        if contender.program:
            groups.setdefault("hosts, initial window and packets of the program", []).append(contender.name)
            continue
        flows = [_tested(document) for document in _documents(plan, contender)]
        said = [
            _host(contender, flows),
            _of(map(_window, flows), "initial window {}", "initial windows of the paths"),
            _of((flow["packet_size"] for flow in flows), "packets of {}", "packet sizes of the paths"),
        ]
        groups.setdefault(", ".join(said), []).append(contender.name)
    lines = [said if plan.crossed else f"{', '.join(names)}: {said}" for said, names in groups.items()]
    return [*lines, *_replaced(plan), f"access links: {_access(plan)}", *_equal(plan)]


def _equal(plan: Plan) -> list[str]:
    """Return a line for each population with rows that are left out because they equal others."""
    made = {place.path: (place.rows - len(place.paths), place.rows) for place in plan.places if place.population}
    return [
        f"{name}: {left:,} of {counted(rows, 'row')} left out, which {'equals' if left == 1 else 'equal'} others but "
        "for names and seeds"
        for name, (left, rows) in made.items()
        if left
    ]


def mixed(plan: Plan) -> str:
    """Return a warning if some contenders name a host and others run on that of the path; otherwise empty."""
    named = [each for each in plan.contenders if HOST in each.settings]
    bare = [each for each in plan.contenders if HOST not in each.settings and each.file is None]
    if not named or not bare:
        return ""
    host = named[0].settings[HOST]
    first = _host(bare[0], [_tested(document) for document in _documents(plan, bare[0])])
    return (
        f"{_listed(bare)} without a host {'runs' if len(bare) == 1 else 'run'} with the {first.removeprefix('host ')} "
        f"of the path, {_listed(named)} on the host {host}: they differ in more than the algorithm; to compare "
        f"algorithms, write {host}+{bare[0].name}"
    )


def _replaced(plan: Plan) -> list[str]:
    """Return a line for each world that has other hosts in place of those of a path."""
    names: dict[str, str] = {}
    for place in plan.places:
        made = [place.paths[0].compose(contender, 1, plan.extra) for contender in plan.contenders]
        if any(place.world.hosted(scenario) is not scenario for scenario in made):
            names[place.world.name] = place.world.replaces
    return [f"in {name}: {replaces}" for name, replaces in names.items()]


def _documents(plan: Plan, contender: Contender) -> list[dict[str, Any]]:
    return [Frozen(place.paths[0].compose(contender, 1, plan.extra)).document for place in plan.places]


def _tested(document: dict[str, Any]) -> dict[str, Any]:
    names = under_test(flow["name"] for flow in document["flow"])
    return next(flow for flow in document["flow"] if flow["name"] in names)


def _host(contender: Contender, flows: Iterable[dict[str, Any]]) -> str:
    if HOST in contender.settings:
        return f"host {contender.settings[HOST]}"
    return _of((_kind(flow["profile"]) for flow in flows), "profile {}", "profiles of the paths")


def _of(values: Iterable[str], one: str, several: str) -> str:
    found = set(values)
    return one.format(*found) if len(found) == 1 else several


def _window(flow: dict[str, Any]) -> str:
    """Return the kind of a flow's initial window; a whole control has its own."""
    return _kind(flow["initial_window"]) if "initial_window" in flow else "of the control"


def _kind(part: str | dict[str, Any]) -> str:
    return part if isinstance(part, str) else str(part["kind"])


def _access(plan: Plan) -> str:
    """Name the rates and delays of the links that are no bottleneck of the first path, if all places have the same."""
    found = set()
    for place in plan.places:
        scenario = place.paths[0].compose(plan.contenders[0], 1, plan.extra)
        ends = scenario.bottleneck.split(">")
        links = [
            f"{_kind(link['rate'])} with {_kind(link['delay'])}"
            for link in Frozen(scenario).document["topology"]["link"]
            if [link["from"], link["to"]] not in (ends, ends[::-1])
        ]
        found.add(tuple(dict.fromkeys(links)))
    kinds = found.pop() if len(found) == 1 else ()
    if len(found) or len(kinds) > MOST_LINKS:
        return "those of each path"
    return ", ".join(kinds) or "none"


def _listed(contenders: Iterable[Contender]) -> str:
    return ", ".join(each.name for each in contenders)
