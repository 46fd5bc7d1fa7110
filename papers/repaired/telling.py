"""The tables of the README, made from the numbers of `results.json`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]
NAMED = ("ass", "rbt", "rb", "exp", "icw", "icw-32", "bbr")
"""The contenders of the tables by groups of paths."""
BEGIN, END = "<!-- tables: study.py --keep -->\n", "<!-- end of the tables -->\n"


def percent(ratio: Sequence[float]) -> str:
    """Return a ratio of speeds with its interval as percent, such as `+12 [9, 15]`."""
    mean, low, high = (100 * (each - 1) for each in ratio[:3])
    return f"{mean:+.0f} [{low:.0f}, {high:.0f}]".replace("-", "−")


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def speeds(world: Row, group: str, holm: bool) -> str:
    """Return the table of the speeds on a group of paths against today's."""
    amounts = list(world["speed"])
    names = list(next(iter(world["speed"].values()))[group])
    rows = []
    for name in names:
        cells = []
        for amount in amounts:
            cell = percent(world["speed"][amount][group][name]["today"])
            p_value = world["holm"][f"{amount}, {name}"]
            shown = holm and p_value is not None and p_value <= 0.05
            cells.append(f"{cell}\\*" if shown else cell)
        rows.append((name, *cells))
    return table(("faster than today (%)", *amounts), rows)


def groups(world: Row, amount: str, names: Sequence[str]) -> str:
    """Return the table of an amount of data by group of paths."""
    found = world["speed"][amount]
    rows = [
        (f"{group} ({world['paths'][group]})", *(percent(found[group][name]["today"]) for name in names))
        for group in found
    ]
    return table((f"{amount}, faster than today (%)", *names), rows)


def controls(world: Row) -> str:
    """Return the table of the ideas against what they are without their rule, if that is not today's control."""
    amounts = list(world["speed"])
    names = [name for name, made in world["speed"][amounts[0]]["all"].items() if "control" in made]
    rows = [(name, *(percent(world["speed"][amount]["all"][name]["control"]) for amount in amounts)) for name in names]
    return table(("faster than its control (%)", *amounts), rows)


def costs(world: Row) -> str:
    """Return the table of the costs: segments sent again."""
    amounts = list(world["costs"])
    rows = [
        (name, *(f"{world['costs'][amount][name][0]:.2f}" for amount in amounts)) for name in world["costs"][amounts[0]]
    ]
    return table(("sent again (%)", *amounts), rows)


def harms(world: Row) -> str:
    """Return the table of the harm to a flow of today, beyond that of today's own."""
    rows = []
    amounts = list(world["harm"])
    keys = {"harm_goodput": "goodput", "harm_rtt": "round trip", "harm_loss": "loss"}
    for name in world["harm"][amounts[0]]:
        cells = []
        for amount in amounts:
            for key in keys:
                value = world["harm"][amount][name].get(key)
                cells.append("–" if value is None else points(value))
        rows.append((name, *cells))
    return table(
        ("harm beyond today's (points)", *(f"{amount}, {word}" for amount in amounts for word in keys.values())), rows
    )


def points(value: Sequence[float]) -> str:
    """Return a difference of shares with its interval in percentage points."""
    mean, low, high = (100 * each for each in value[:3])
    return f"{mean:+.1f} [{low:.1f}, {high:.1f}]".replace("-", "−")


def agreement(world: Row) -> str:
    """Return the table of the speed on the kernel over that in the simulation."""
    rows = [
        (name, f"{ratio:.3f}", f"{within} of {count}") for name, (ratio, within, count) in world["agreement"].items()
    ]
    return table(("speed on Linux over the simulation's", "mean", "within 5 %"), rows)


def kernel(world: Row) -> str:
    """Return the table of the speeds on the kernel beside those of the simulation on the same paths."""
    amounts = list(world["speed"])
    rows = []
    for name in world["speed"][amounts[0]]["all"]:
        cells = []
        for amount in amounts:
            real, simulated = (each[amount]["all"][name]["today"] for each in (world["speed"], world["simulated"]))
            cells += [percent(simulated), percent(real)]
        rows.append((name, *cells))
    return table(
        ("faster than today (%)", *(f"{amount}, {w}" for amount in amounts for w in ("simulated", "Linux"))), rows
    )


def tables(found: Row) -> str:
    """Return all tables of a study."""
    world = found["simulation"]
    made = [speeds(world, "all", holm=True), controls(world)]
    made += [groups(world, amount, NAMED) for amount in ("300 kB", "1 MB", "10 MB") if amount in world["speed"]]
    made.append(costs(world))
    if "harm" in world:
        made.append(harms(world))
    if "linux" in found:
        made += [kernel(found["linux"]), agreement(found["linux"])]
    return "\n".join(made)


def renew(readme: Path, found: Row) -> None:
    """Replace the tables of the README."""
    text = readme.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    readme.write_text(before + BEGIN + "\n" + tables(found) + "\n" + END + after, encoding="utf-8")
