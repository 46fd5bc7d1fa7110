"""Measures the map of the field, and makes docs/field.md from the table: python docs/fieldmap.py [FOLDER].

The folder keeps the runs, so that an interrupted measurement goes on there; by default target/field. The page is made
by docs/generate.py, from docs/validation/field.csv.
"""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import starmap
from pathlib import Path
from typing import Any

import numpy as np

import ackclock
from ackclock.comparisons import maps
from ackclock.comparisons.judging import METRICS
from ackclock.comparisons.places import FIELD, FIELD_PATHS
from ackclock.drawing.figure import Axis, Figure, Heatmap, Panel
from ackclock.drawing.files import save
from ackclock.formatting.numbers import number

FOLDER = Path(__file__).resolve().parent
PAGE = FOLDER / "field.md"
WRITTEN = FOLDER / "validation" / "field.csv"
IMAGES = FOLDER / "images"
SEEDS = 3
WHOLE = "congestion_control"
OWN = ("slow_start", "avoidance", WHOLE)
ALL = ("speed", "queue", "taken")
"""The columns over all paths; each path has `PATH_speed` against the baseline, and `PATH_wait` in milliseconds."""
BASE = ("hystart", "cubic_linux")
"""What Linux has: the baseline."""
LIVE = "<!-- map: the site shows it here -->"
DIGITS = 4

Row = dict[str, str]


def measure(folder: Path) -> None:
    """Run everything, and write the table and the pictures."""
    found = ackclock.matrix(all=True, seeds=SEEDS, out=folder)
    matrix = found.crossed
    assert matrix is not None
    front = {tuple(row[axis] for axis in OWN[:2]): row for row in matrix.front.to_dicts()}
    rows: dict[tuple[str, str], dict[str, object]] = {}
    for row in matrix.compositions.to_dicts():
        key = row[OWN[0]], row[OWN[1]]
        whole = key[0] == key[1] and row["loss_response"] == key[0]
        names = ("", "", key[0]) if whole else (*key, "")
        over = front.get(key, {})
        made = rows.setdefault(
            key,
            {
                **dict(zip(OWN, names, strict=True)),
                **{column: _short(over.get(column)) for column in ALL},
                "best": int(over.get("best", False)),
            },
        )
        metric = matrix.metric(row["place"])
        vs = 1.0 if row["reference"] else row[f"{metric}_vs"]
        speed = None if not vs else vs ** METRICS[metric].better
        wait = row["sojourn_p95"]
        made[f"{row['place']}_speed"] = _short(speed)
        made[f"{row['place']}_wait"] = _short(None if wait is None else 1000 * wait)
    with WRITTEN.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, next(iter(rows.values())), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows.values())
    drawn = maps.front(matrix)
    assert drawn is not None
    save(drawn, IMAGES / "field_front.png")
    save(_picture(), IMAGES / "field.png")


def _short(value: float | None) -> str:
    return "" if value is None else number(value, DIGITS).replace("\N{MINUS SIGN}", "-").replace(",", "")


def rows() -> list[Row]:
    """Return the table."""
    with WRITTEN.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _columns(found: Sequence[Row]) -> Iterator[tuple[str, Row]]:
    """Give the rows of the picture: each start-up, then each avoidance, in Linux' composition; whole controls."""
    for row in found:
        if row["avoidance"] == BASE[1]:
            yield f"start-up: {row['slow_start']}", row
    for row in found:
        if row["slow_start"] == BASE[0] and row["avoidance"] != BASE[1]:
            yield f"avoidance: {row['avoidance']}", row
    for row in found:
        if row[WHOLE]:
            yield f"whole: {row[WHOLE]}", row


def _picture() -> Figure:
    names, shown = zip(*_columns(rows()), strict=True)
    values = [[float(row[f"{path}_speed"] or "nan") for path in FIELD_PATHS] for row in shown]
    texts = [["" if math.isnan(cell) else f"{cell:.2f}" for cell in line] for line in values]
    ends = {0.25: "×0.25", 0.5: "×0.5", 1.0: "×1", 2.0: "×2", 4.0: "×4"}
    logs = np.log2(np.clip(np.array(values), 0.25, 4.0))
    ticks = {float(np.log2(end)): text for end, text in ends.items()}
    heatmap = Heatmap(FIELD_PATHS, names, logs, texts, "", (-2.0, 2.0), "gain", ticks, divided=": ")
    panel = Panel(heatmap=heatmap, x=Axis("path"))
    return Figure("Speed against hystart with cubic_linux, one part changed", [panel], "field")


# The page


def page() -> str:
    """Return the page."""
    found = rows()
    composed = [row for row in found if not row[WHOLE]]
    starts = sorted({row["slow_start"] for row in composed})
    avoidances = sorted({row["avoidance"] for row in composed})
    whole = [row[WHOLE] for row in found if row[WHOLE]]
    runs = len(found) * len(FIELD_PATHS) * SEEDS
    controls = ", ".join(f"`{name}`" for name in whole)
    lines = f"""# A map of the field

Which start-up, with which congestion avoidance, helps on which paths, and at whose cost? This map has every start-up
with every avoidance, and every whole control, on twelve paths. The host is that of Linux, and the baseline is what
Linux has: `hystart` with `cubic_linux`. One command makes it:

    ackclock matrix --all --out field

It runs {len(starts)} start-ups × {len(avoidances)} avoidances and {len(whole)} whole controls ({controls}),
{len(found):,} in all, with {SEEDS} start times on each path: {runs:,} runs. Three start times show what is large; what
differs by a few per cent belongs in a [comparison](guides/comparing.md) with more of them. Parameters are those of the
documents. Some parts are made for another host or for each other, as `prague` for queues of L4S and `ledbat_pp` for its
own start-up; here each meets all others.

{LIVE}

![Speed of each start-up, avoidance and whole control on the twelve paths, against what Linux has](images/field.png)

*Goodput, or the reciprocal of the completion time on the path `short`, with one part of the baseline changed.*

## Which combinations no other one beats

Over all paths, {sum(row["best"] == "1" for row in found)} combinations are best in their way: no other one is better in
speed, in waiting time or in what it takes from others, and as good in the other two. Speed and wait are geometric means
of ratios to the baseline over the twelve paths. Taken is the share of their goodput that two flows of CUBIC lose, if
two of these stand beside them instead of two of CUBIC.

![Speed against waiting time of every combination](images/field_front.png)
""".split("\n")
    best = sorted((row for row in found if row["best"] == "1"), key=lambda row: -float(row["speed"]))
    lines += table(
        ["start-up", "avoidance", "speed", "wait", "taken"],
        [[*_parts(row), f"×{row['speed']}", f"×{row['queue']}", _percent(row["taken"])] for row in best],
    )
    lines += [
        "",
        "## Who is fastest on which path",
        "",
        (
            "In Linux' composition with one part changed; the last column has the fastest of all combinations."
            " Nothing here says at whose cost."
        ),
        "",
        *table(["path", "start-up", "avoidance", "whole control", "of all"], list(starmap(_winners, _by_path(found)))),
        "",
        "## The paths",
        "",
        (
            "Their files are part of the package, and a command takes all of them as `--paths field`."
            " Numbers and sources stand at the top of each."
        ),
        "",
    ]
    for path in FIELD_PATHS:
        lines += [f"### {path}", "", "```toml", text(path), "```", ""]
    return "\n".join(lines)


def table(head: Sequence[str], body: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table."""
    ruled = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return [*ruled, *("| " + " | ".join(line) + " |" for line in body)]


def _parts(row: Row) -> tuple[str, str]:
    return (f"`{row[WHOLE]}`", "") if row[WHOLE] else (f"`{row['slow_start']}`", f"`{row['avoidance']}`")


def _percent(value: str) -> str:
    return f"{100 * float(value):.0f} %" if value else "–"


def _by_path(found: Sequence[Row]) -> Iterator[tuple[str, Sequence[Row]]]:
    for path in FIELD_PATHS:
        yield path, sorted((row for row in found if row[f"{path}_speed"]), key=lambda row: -float(row[f"{path}_speed"]))


def _winners(path: str, ranked: Sequence[Row]) -> list[str]:
    starts = (row for row in ranked if row["avoidance"] == BASE[1])
    avoidances = (row for row in ranked if row["slow_start"] == BASE[0])
    whole = (row for row in ranked if row[WHOLE])
    firsts = [next(starts), next(avoidances), next(whole), ranked[0]]
    names = [firsts[0]["slow_start"], firsts[1]["avoidance"], firsts[2][WHOLE]]
    ratios = [f"×{float(row[f'{path}_speed']):.2f}" for row in firsts]
    best = " + ".join(part for part in _parts(firsts[3]) if part)
    cells = [f"`{name}` {ratio}" for name, ratio in zip(names, ratios, strict=False)]
    return [f"[{path}](#{path})", *cells, f"{best} {ratios[3]}"]


@cache
def text(path: str) -> str:
    """Return the file of a path."""
    return (FIELD / f"{path}.toml").read_text(encoding="utf-8").strip()


def live() -> str:
    """Return the map for the site, which `static/field.js` makes from these data."""
    found: dict[str, Any] = {
        "paths": {path: text(path) for path in FIELD_PATHS},
        "columns": [f"{path}_{each}" for path in FIELD_PATHS for each in ("speed", "wait")],
        "rows": [
            [[row[key] for key in OWN], [row[f"{path}_{each}"] for path in FIELD_PATHS for each in ("speed", "wait")]]
            for row in rows()
        ],
    }
    data = json.dumps(found, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    return f'<div id="field"></div>\n<script type="application/json" id="field-data">{data}</script>'


if __name__ == "__main__":
    measure(Path(sys.argv[1]) if sys.argv[1:] else FOLDER.parent / "target" / "field")
