"""Figures as the data that pages draw by Plotly; `web/src/page/spec.ts` declares them."""

from __future__ import annotations

import base64
import json
import math
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ackclock.drawing.figure import Axis, Figure, Heatmap, Panel, Series
from ackclock.formatting.names import shown

DIGITS = 4
"""Significant digits of a drawn value."""
TIME_DIGITS = 6
LEVEL = 9
Spec = dict[str, Any]


def spec(figure: Figure) -> Spec:
    """Return the data of a figure."""
    colours = figure.colours
    drawn: Spec = {
        "title": shown(figure.title),
        "anchor": figure.anchor,
        "legend": _legend(figure, colours),
        "panels": [_panel(panel, colours) for panel in figure.panels],
        **({"rows": True} if figure.rows else {}),
        **({"stacked": True} if figure.stacked else {}),
    }
    return drawn if figure.again is None else {**drawn, "again": dict(figure.again)}


def figure(drawn: Spec) -> Figure:
    """Return the figure of `spec`, with as many digits as pages have."""
    owners = {entry["colour"]: entry["name"] for entry in reversed(drawn["legend"])}
    panels = [_read_panel(panel, owners) for panel in drawn["panels"]]
    rows, stacked = bool(drawn.get("rows")), bool(drawn.get("stacked"))
    return Figure(str(drawn["title"]), panels, str(drawn["anchor"]), rows=rows, stacked=stacked)


def packed(text: str) -> str:
    """Return a text, compressed (zlib), in base64; the page unpacks it.

    >>> packed("")
    'eNoDAAAAAAE='
    """
    return base64.b64encode(zlib.compress(text.encode(), LEVEL)).decode()


def unpacked(text: str) -> list[Spec]:
    """Return the figures of a page."""
    found: list[Spec] = json.loads(zlib.decompress(base64.b64decode(text)))
    return found


def _legend(figure: Figure, colours: Mapping[str, int]) -> list[Spec]:
    first = {series.name: series for panel in reversed(figure.panels) for series in reversed(panel.series)}
    made = []
    for name in figure.names:
        series = first[name]
        made.append({"name": shown(name), "colour": colours[series.owner], "style": _style(series)})
        if series.faint:
            made[-1]["faint"] = True
    return made


def _style(series: Series) -> str:
    # A page shows medians and quartiles of boxes as points with bars.
    return "points" if series.style == "box" else series.style


def _panel(panel: Panel, colours: Mapping[str, int]) -> Spec:
    made: Spec = {"title": shown(panel.title), "x": _axis(panel.x), "y": _axis(panel.y)}
    if (limits := panel.limits) is not None and not panel.curves:
        made["y"]["limits"] = list(limits)
    if panel.references:
        made["references"] = list(panel.references)
    if panel.band is not None:
        made["band"] = list(panel.band)
    if panel.bars:
        made["bars"] = [[list(panel.x.names).index(name), value] for name, value in panel.bars.items()]
    if panel.heatmap is not None:
        made["heatmap"] = _heatmap(panel.heatmap)
    else:
        made["series"] = [_series(series, colours[series.owner]) for series in panel.series]
    return made


def _axis(axis: Axis) -> Spec:
    made: Spec = {"title": shown(axis.title)}
    if axis.log:
        made["log"] = True
    if axis.names:
        made["names"] = [shown(name) for name in axis.names]
    if axis.limits is not None:
        made["limits"] = list(axis.limits)
    if axis.linear:
        made["linear"] = axis.linear
    return made


def _series(series: Series, colour: int) -> Spec:
    made: Spec = {"name": shown(series.name), "colour": colour, "style": _style(series), "y": _values(series.y)}
    made.update(_positions(series.x))
    low, high = (series.low, series.high) if series.quartiles is None else series.quartiles
    if low is not None and high is not None:
        made["low"], made["high"] = _values(low), _values(high)
    if series.texts:
        made["texts"] = [shown(text) for text in series.texts]
    if series.faint:
        made["faint"] = True
    if series.like:
        made["group"] = shown(series.like)
    for key in ("base", "aside", "marker"):
        if value := getattr(series, key):
            made[key] = value
    if any(series.hollow):
        made["hollow"] = list(series.hollow)
    return made


def _positions(x: ArrayLike) -> Spec:
    """Return positions; evenly spaced ones are a start and a step."""
    found = np.asarray(x)
    if found.dtype.kind in "UO":
        return {"x": [shown(str(place)) for place in found.tolist()]}
    found = found.astype(float)
    if len(found) > 2:
        step = (found[-1] - found[0]) / (len(found) - 1)
        even = found[0] + step * np.arange(len(found))
        if step > 0 and np.allclose(found, even, rtol=0, atol=1e-6 * step):
            return {"x0": float(found[0]), "dx": float(step)}
    return {"x": _values(found, TIME_DIGITS)}


def _heatmap(it: Heatmap) -> Spec:
    texts = [["\n".join(map(shown, text.split("\n"))) for text in row] for row in it.written]
    made: Spec = {
        "x": [shown(name) for name in it.xs],
        "y": [shown(name) for name in it.ys],
        "z": [_values(row) for row in np.asarray(it.values, float)],
        "texts": texts,
        "ends": list(it.scale),
        "colours": it.colours,
        "unit": shown(it.unit),
        **({"divided": it.divided} if it.divided else {}),
    }
    if it.ticks:
        made["ticks"] = [[place, shown(name)] for place, name in it.ticks.items()]
    for key, cells in (("framed", it.framed), ("dotted", it.dotted)):
        if cells:
            made[key] = [[list(it.xs).index(x), list(it.ys).index(y)] for x, y in cells]
    return made


def _values(values: ArrayLike, digits: int = DIGITS) -> list[float | int | None]:
    """Return numbers with few digits, which JSON holds in little space; a number that is not finite becomes None."""
    return [_short(value, digits) for value in np.asarray(values, float).tolist()]


def _short(value: float, digits: int) -> float | int | None:
    if not math.isfinite(value):
        return None
    short = float(f"{value:.{digits}g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short


def _read_panel(it: Spec, owners: Mapping[int, str]) -> Panel:
    x, y = _read_axis(it["x"]), _read_axis(it["y"])
    heatmap = _read_heatmap(it["heatmap"]) if "heatmap" in it else None
    series = [_read_series(each, owners) for each in it.get("series", ())]
    bars = {x.names[at]: value for at, value in it.get("bars", ())}
    return Panel(series, heatmap, it["title"], x, y, it.get("references", ()), _pair(it.get("band")), bars)


def _read_axis(it: Spec) -> Axis:
    limits, linear = _pair(it.get("limits")), float(it.get("linear", 0.0))
    return Axis(it["title"], bool(it.get("log")), it.get("names", ()), limits, linear)


def _read_series(it: Spec, owners: Mapping[int, str]) -> Series:
    y = _read(it["y"])
    x = it["x0"] + it["dx"] * np.arange(len(y)) if "x0" in it else it["x"]
    if not isinstance(x, np.ndarray) and not any(isinstance(place, str) for place in x):
        x = _read(x)
    low, high = (_read(it[key]) if key in it else None for key in ("low", "high"))
    like = it.get("group") or (owners[it["colour"]] if owners[it["colour"]] != it["name"] else "")
    rest: Spec = {key: it[key] for key in ("texts", "faint", "aside", "base", "hollow", "marker") if key in it}
    return Series(it["name"], x, y, it["style"], low, high, like=like, **rest)


def _read_heatmap(it: Spec) -> Heatmap:
    cells = {key: [(it["x"][x], it["y"][y]) for x, y in it.get(key, ())] for key in ("framed", "dotted")}
    values, ends = [_read(row) for row in it["z"]], (it["ends"][0], it["ends"][1])
    ticks = dict(it["ticks"]) if "ticks" in it else None
    return Heatmap(
        it["x"], it["y"], values, it["texts"], it["unit"], ends, it["colours"], ticks, **cells,
        divided=it.get("divided", ""),
    )  # fmt: skip


def _read(values: Sequence[float | None]) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array([math.nan if value is None else value for value in values], float)


def _pair(values: Sequence[float] | None) -> tuple[float, float] | None:
    return None if values is None else (values[0], values[1])
