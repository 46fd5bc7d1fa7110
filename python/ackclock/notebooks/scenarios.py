"""The card of a scenario."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ackclock.formatting.numbers import counted, number
from ackclock.formatting.units import UNITS
from ackclock.notebooks.card import Block, Card, Source, Table, Text
from ackclock.notebooks.pictures import Line, Picture

PARTS = ("slow_start", "avoidance", "loss_response")
UNSAID = ("own", "none", "unlimited")
"""Values that a summary omits."""


def card(
    document: Mapping[str, Any],
    text: str,
    facts: Sequence[str],
    *,
    bottleneck: str,
    controls: Mapping[int, str],
    sweep: str,
) -> Card:
    """Return the card of a scenario.

    Parameters
    ----------
    document, text
        The scenario file with every default: read, with a table for every flow, and as text.
    facts
        Facts beside its name.
    bottleneck
        Name of the bottleneck link.
    controls
        Names of controls in Python by the index of their flow.
    sweep
        Its ``[sweep]`` as TOML; empty without one.
    """
    links: list[dict[str, Any]] = document["topology"]["link"]
    flows: list[dict[str, Any]] = document.get("flow", [])
    slowest = next((link for link in links if f"{link['from']}>{link['to']}" == bottleneck), links[0])
    blocks: list[Block] = [
        _picture(document["topology"]["node"], links, flows, slowest),
        Text(f"Bottleneck {slowest['from']} > {slowest['to']}: {_link(slowest)}."),
        Table(
            ["flow", "from", "to", "start", "sends", "host", "control"],
            [
                [
                    it["name"],
                    it["from"],
                    it["to"],
                    _seconds(it["start"]),
                    _amount(it),
                    it["profile"],
                    controls.get(i) or _control(it),
                ]
                for i, it in enumerate(flows)
            ],
            7,
        ),
    ]
    if document.get("record"):
        blocks.append(Text(f"Records {', '.join(document['record'])}.", "soft"))
    if sweep:
        blocks.append(Source("[sweep]", sweep))
    blocks.append(Source("The file with every default", text))
    about = [document["duration"], f"seed {document['seed']}", counted(len(flows), "flow"), counted(len(links), "link")]
    return Card("Scenario", document["name"], [*about, *facts], blocks)


def _picture(
    nodes: Sequence[str], links: Sequence[dict[str, Any]], flows: Sequence[dict[str, Any]], slowest: dict[str, Any]
) -> Picture:
    lines: dict[frozenset[str], Line] = {}
    for link in sorted(links, key=lambda it: it is not slowest):
        ends = (link["from"], link["to"])
        lines.setdefault(frozenset(ends), Line(ends, _link(link), link is slowest))
    return Picture(nodes, list(lines.values()), [(flow["from"], flow["to"]) for flow in flows])


def _link(link: Mapping[str, Any]) -> str:
    """Return a link in words: rate, delay, queue, loss."""
    queue = _part(link["queue"])
    said = [_part(link.get("rate", "")), _part(link.get("delay", "")), queue and f"queue {queue}"]
    losses = link.get("loss", "none")
    loss = " and ".join(filter(None, map(_part, losses if isinstance(losses, list) else [losses])))
    return ", ".join(filter(None, [*said, loss and f"loss {loss}"]))


def _part(value: object) -> str:
    """Return a part and its first parameter; empty for a part that does nothing."""
    if isinstance(value, Mapping):
        first = next((str(item) for key, item in value.items() if key != "kind"), "")
        return f"{value.get('kind', '')} ({first})" if first else str(value.get("kind", ""))
    return "" if value in UNSAID else str(value)


def _seconds(text: str) -> str:
    """Return a time with few digits; the file has all."""
    value, unit = text.split(" ")
    return f"{number(float(value) * UNITS[unit][1])} s"


def _amount(flow: Mapping[str, Any]) -> str:
    if "application" in flow:
        return str(_kind(flow["application"]))
    return str(flow.get("size", "until the end"))


def _control(flow: Mapping[str, Any]) -> str:
    if "congestion_control" in flow:
        return _kind(flow["congestion_control"])
    return " + ".join(kind for name in PARTS if name in flow and (kind := _kind(flow[name])) not in UNSAID)


def _kind(value: object) -> str:
    return str(value["kind"] if isinstance(value, Mapping) and "kind" in value else value)
