"""The schema of `paper.toml`: checks the keys and reads the file into the data classes of `contents`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ackclock.experiments.draws import Jitter
from ackclock.experiments.repetitions import Rule
from ackclock.files import checks
from ackclock.metrics.flows import DERIVATIONS
from ackclock.papers.contents import (
    Answer,
    Block,
    Chart,
    Contents,
    Experiment,
    Figures,
    ModelExperiment,
    Printed,
    Quick,
    Repeat,
    Summary,
)


def read(document: Mapping[str, Any], place: str) -> Contents:
    """Check a parsed ``paper.toml`` and read it.

    Parameters
    ----------
    document
        The parsed TOML.
    place
        Name of the file in messages.

    Raises
    ------
    ValueError
        If a key is unknown or missing, or if a value is invalid.
    """
    _check(document, place)
    return Contents(
        **{key: document[key] for key in ("title", "reference", "flows", "defaults") if key in document},
        labels=tuple(document["labels"]),
        experiments=tuple(Experiment(**table) for table in document.get("experiment", [])),
        models=tuple(ModelExperiment(**table) for table in document.get("model", [])),
        repeats=tuple(map(_repeat, document.get("repeat", []))),
        quick=Quick(**document.get("quick", {})),
        figures=_figures(document["figures"]) if "figures" in document else None,
        charts=tuple(map(_chart, document.get("chart", []))),
        answer=_answer(document["answer"]) if "answer" in document else None,
        summary=Summary(**document["summary"]) if "summary" in document else None,
    )


def _repeat(table: Mapping[str, Any]) -> Repeat:
    jitter = Jitter.read(table["jitter"]) if "jitter" in table else None
    given = {key: table[key] for key in ("sampling", "count", "spread", "exact", "common") if key in table}
    lists = {key: tuple(table[key]) for key in ("seeds_by", "derived") if key in table}
    rest: dict[str, Any] = {**{key: table[key] for key in ("where", "spans", "cwnd") if key in table}, **lists}
    return Repeat(Rule(**given, jitter=jitter), **rest)


def _figures(table: Mapping[str, Any]) -> Figures:
    order = table.get("order", {"keys": [], "values": []})
    return Figures(
        **{key: table[key] for key in ("panel", "panel_title", "overlay", "overlay_title")},
        **{key: table[key] for key in ("only", "bin", "start") if key in table},
        sheet=tuple(table["sheet"]),
        shown=tuple(table["kinds"]),
        blocks=tuple(Block(**block) for block in table.get("block", [])),
        keys=tuple(order["keys"]),
        order=tuple(map(tuple, order["values"])),
    )


def _chart(table: Mapping[str, Any]) -> Chart:
    lists = {key: tuple(table[key]) for key in ("traces", "names", "bounds") if key in table}
    printed = tuple(Printed(**value) for value in table.get("printed", []))
    return Chart(**{**table, **lists, "printed": printed})


def _answer(table: Mapping[str, Any]) -> Answer:
    lists = {key: tuple(table[key]) for key in ("sentences", "causes") if key in table}
    return Answer(**{**table, **lists})


def _is_spread(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"\s*\d+(\.\d+)?\s+(ns|us|µs|ms|s)\s*", value) is not None


def _is_jitter_of_rate(value: object) -> bool:
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*%\s*", value) if isinstance(value, str) else None
    return match is not None and float(match[1]) < 100


def _is_title(value: object) -> bool:
    return isinstance(value, str) and "{}" in value and not re.search("[{}]", value.replace("{}", ""))


def _is_only(value: object) -> bool:
    return isinstance(value, Mapping) and all(checks.is_texts(item) and item for item in value.values())


def _is_setting(value: object) -> bool:
    return isinstance(value, (str, bool)) or checks.is_number(value)


def _are_settings(value: object) -> bool:
    return isinstance(value, Mapping) and all(map(_is_setting, value.values()))


def _is_axis(value: object) -> bool:
    named = isinstance(value, Mapping) and all(map(_are_settings, value.values()))
    return bool(value) and (checks.is_texts(value) or named)


def _is_ratio(value: object) -> bool:
    pairs = list(value.values()) if isinstance(value, Mapping) else []
    return len(pairs) == 1 and checks.is_texts(pairs[0]) and len(pairs[0]) == 2


TITLE = checks.Kind('a text with {} for the value, such as "IFQ {}"', _is_title)
PAPER = {
    "title": checks.TEXT,
    "reference": checks.TEXT,
    "labels": checks.TEXTS,
    "flows": checks.TEXT,
    "defaults": checks.TEXT_TABLE,
    "experiment": checks.tables("experiment"),
    "model": checks.tables("model"),
    "repeat": checks.tables("repeat"),
    "quick": checks.TABLE,
    "figures": checks.TABLE,
    "chart": checks.tables("chart"),
    "answer": checks.TABLE,
    "summary": checks.TABLE,
}
ONLY = checks.Kind('a table of lists of texts, such as { queue = ["5"] }', _is_only)
SETTINGS = checks.Kind('a table of values, such as { loss = "1 %" }', _are_settings)
SWEEP = checks.Kind(
    'a table of axes, such as { loss = ["1 %", "2 %"], response = { RBT = { response = "threshold" } } }',
    lambda value: isinstance(value, Mapping) and all(map(_is_axis, value.values())),
)
RATIO = checks.Kind('a label with two of its values, such as { response = ["RBT", "standard"] }', _is_ratio)
MODEL = {
    "name": checks.TEXT,
    "labels": checks.TEXT_TABLE,
    "parameters": SETTINGS,
    "sweep": SWEEP,
    "columns": checks.TEXT_TABLE,
}
EXPERIMENT = {"file": checks.TEXT, "labels": checks.TEXT_TABLE, "only": ONLY, "relabel": checks.TEXT_TABLE}
MOST_REPETITIONS = 10_000
REPETITIONS = checks.Kind(
    f"a whole number from 1 to {MOST_REPETITIONS:,}",
    lambda value: checks.COUNT.test(value) and isinstance(value, int) and value <= MOST_REPETITIONS,
)
TIME = checks.Kind('a time with its unit, such as "60 ms"', _is_spread)
JITTER = {"rate": checks.Kind('a percentage below 100 %, such as "2 %"', _is_jitter_of_rate), "delay": TIME}
REPEAT = {
    "where": checks.TEXT_TABLE,
    "sampling": checks.one_of("seed", "path", "offset"),
    "count": REPETITIONS,
    "spread": TIME,
    "jitter": checks.TABLE,
    "exact": REPETITIONS,
    "seeds_by": checks.TEXTS,
    "common": REPETITIONS,
    "spans": checks.SPANS,
    "cwnd": checks.SPANS,
    "derived": checks.some_of(*DERIVATIONS),
}
QUICK = {
    "counts": checks.TABLE,
    "only": ONLY,
}
FIGURES = {
    "only": ONLY,
    "sheet": checks.TEXTS,
    "panel": checks.TEXT,
    "panel_title": TITLE,
    "overlay": checks.TEXT,
    "overlay_title": TITLE,
    "kinds": checks.some_of("cwnd", "throughput"),
    "bin": checks.POSITIVE,
    "start": checks.POSITIVE,
    "block": checks.tables("figures.block"),
    "order": checks.TABLE,
}
CHART = {
    "kind": checks.one_of("lines", "bars", "map", "best", "time", "internals", "rounds"),
    "figure": checks.COUNT,
    "title": checks.TEXT,
    "where": checks.TEXT_TABLE,
    "only": ONLY,
    "x": checks.TEXT,
    "y": checks.TEXT,
    "ratio": RATIO,
    "panel": checks.TEXT,
    "series": checks.TEXT,
    "metric": checks.TEXT,
    "group": checks.TEXT,
    "axis": checks.TEXT,
    "scale": checks.POSITIVE,
    "printed": checks.tables("printed"),
    "flow": checks.TEXT,
    "to": checks.TEXT,
    "equals": checks.NUMBER,
    "bounds": checks.RANGE,
    "mark": checks.TEXT_TABLE,
    "sense": checks.one_of("lowest", "highest"),
    "within": checks.POSITIVE,
    "over": checks.TEXT,
    "trace": checks.one_of("cwnd", "throughput"),
    "traces": checks.TEXTS,
    "bin": checks.POSITIVE,
    "names": checks.TEXTS,
}
PRINTED = {"x": checks.TEXT, "series": checks.TEXT, "value": checks.NUMBER}
ANSWER = {
    "sentences": checks.Kind("a list of three texts", lambda value: checks.is_texts(value) and len(value) == 3),
    "causes": checks.TEXTS,
    "figure": checks.COUNT,
    "chart": checks.TEXT,
}
SUMMARY = {"idea": checks.TEXT, "claim": checks.TEXT, "today": checks.TABLE}
CHART_NEEDS = {
    "lines": ["x", "metric"],
    "bars": ["x", "metric"],
    "map": ["x", "y", "metric", "flow"],
    "best": ["x", "y", "series", "metric", "sense"],
    "time": ["trace"],
    "internals": ["flow", "names"],
    "rounds": ["traces"],
}
CHART_ONLY = {
    **dict.fromkeys(("to", "equals", "bounds", "mark"), ("map",)),
    "y": ("map", "best"),
    "panel": ("lines", "bars", "map", "best"),
    **dict.fromkeys(("sense", "within"), ("best",)),
    "over": ("lines", "bars", "best"),
    **dict.fromkeys(("trace", "bin"), ("time",)),
    **dict.fromkeys(("axis", "scale"), ("lines", "bars", "map")),
    **dict.fromkeys(("x", "metric"), ("lines", "bars", "map", "best")),
    "flow": ("map", "time", "internals"),
    "series": ("lines", "bars", "best", "time"),
    "printed": ("lines", "bars"),
    "names": ("internals",),
    "ratio": ("lines", "bars"),
    "traces": ("rounds",),
}
NOT_NEEDED = {
    *(
        "flows",
        "defaults",
        "experiment",
        "model",
        "repeat",
        "quick",
        "figures",
        "chart",
        "answer",
        "summary",
        "bin",
        "start",
        "block",
        "order",
        "only",
        "where",
        "spread",
        "seeds_by",
        "common",
        "jitter",
        "exact",
    ),
    *("spans", "cwnd", "derived"),
}
ORDER = {
    "keys": checks.TEXTS,
    "values": checks.Kind("a list of lists of texts", lambda v: isinstance(v, list) and all(map(checks.is_texts, v))),
}


def _check(document: Mapping[str, Any], place: str) -> None:
    checks.keys(place, document, PAPER, PAPER.keys() - NOT_NEEDED)
    if len(set(document["labels"])) < len(document["labels"]):
        raise ValueError(f"{place}: labels has a duplicate")
    if not (document.get("experiment") or document.get("model")):
        raise ValueError(f"{place}: there is neither an [[experiment]] nor a [[model]]")
    for number, experiment in enumerate(document.get("experiment", []), start=1):
        checks.keys(f"{place}: experiment {number}", experiment, EXPERIMENT, ["file"])
    for number, model in enumerate(document.get("model", []), start=1):
        checks.keys(f"{place}: model {number}", model, MODEL, ["name"])
    for number, rule in enumerate(document.get("repeat", []), start=1):
        here = f"{place}: repeat {number}"
        checks.keys(here, rule, REPEAT, ["sampling", "count"])
        checks.keys(here, rule, REPEAT, ["spread"] if rule["sampling"] != "seed" else [])
        _check_repeat(rule, here)
    quick = document.get("quick", {})
    checks.keys(f"{place}: quick", quick, QUICK)
    counts = {"seed": checks.COUNT, "path": checks.COUNT, "offset": checks.COUNT}
    checks.keys(f"{place}: quick.counts", quick.get("counts", {}), counts)
    if "summary" in document:
        checks.keys(f"{place}: summary", document["summary"], SUMMARY, ["idea", "claim"])
    if "figures" in document:
        _check_figures(document["figures"], f"{place}: figures")
    _check_charts(document, place)


def _check_charts(document: Mapping[str, Any], place: str) -> None:
    charts = document.get("chart", [])
    for number, chart in enumerate(charts, start=1):
        _check_chart(chart, f"{place}: chart {number}")
    for figure, count in Counter(chart["figure"] for chart in charts if "figure" in chart).items():
        if count > 1:
            raise ValueError(f"{place}: {count} charts are figure {figure}")
    if "answer" in document:
        _check_answer(document["answer"], document.get("chart", []), f"{place}: answer")


def _check_answer(answer: Mapping[str, Any], charts: Sequence[Mapping[str, Any]], place: str) -> None:
    checks.keys(place, answer, ANSWER, ["sentences"])
    if ("figure" in answer) == ("chart" in answer):
        raise ValueError(f"{place}: the leading figure is named either by figure, its number, or by chart, its title")
    if "figure" in answer:
        numbers = [str(chart["figure"]) for chart in charts if "figure" in chart]
        checks.words(place, "figure", [str(answer["figure"])], numbers)
    else:
        checks.words(place, "chart", [answer["chart"]], [chart["title"] for chart in charts])


SAMPLINGS = {
    **dict.fromkeys(("seeds_by", "common"), ("seed",)),
    **dict.fromkeys(("jitter", "exact"), ("seed", "path")),
    "spread": ("path", "offset"),
}
"""The kinds of sampling that allow a key of ``[[repeat]]``."""


def _check_repeat(rule: Mapping[str, Any], place: str) -> None:
    for key, samplings in SAMPLINGS.items():
        if key in rule and rule["sampling"] not in samplings:
            raise ValueError(f"{place}: {key} belongs to sampling = {' or '.join(map(repr, samplings))}")
    checks.keys(f"{place}: jitter", rule.get("jitter", {}), JITTER)
    if rule["sampling"] == "seed" and "exact" in rule and "jitter" not in rule:
        raise ValueError(f"{place}: exact needs drawn paths, but jitter is missing")
    if "jitter" in rule and "common" in rule:
        raise ValueError(f"{place}: common seeds are for random losses, jitter for drawn paths; choose one")


def _check_figures(figures: Mapping[str, Any], place: str) -> None:
    checks.keys(place, figures, FIGURES, FIGURES.keys() - NOT_NEEDED)
    if figures.get("block") and "order" not in figures:
        raise ValueError(f"{place}: order is missing; blocks of figures need it")
    if "order" in figures:
        checks.keys(f"{place}.order", figures["order"], ORDER, ORDER.keys())
    for number, block in enumerate(figures.get("block", []), start=1):
        keys = {"first": checks.COUNT, "where": checks.TEXT_TABLE}
        checks.keys(f"{place}.block {number}", block, keys, keys)


def _check_chart(chart: Mapping[str, Any], place: str) -> None:
    checks.keys(place, chart, CHART, ["kind", "title", "where"])
    checks.keys(place, chart, CHART, CHART_NEEDS[chart["kind"]])
    for key, kinds in CHART_ONLY.items():
        if key in chart and chart["kind"] not in kinds:
            raise ValueError(f"{place}: {key} belongs to charts of the kind {' or '.join(kinds)}, not {chart['kind']}")
    if "ratio" in chart and "over" in chart:
        raise ValueError(f"{place}: ratio and over both select a divisor; choose one")
    for number, mark in enumerate(chart.get("printed", []), start=1):
        checks.keys(f"{place}: printed {number}", mark, PRINTED, ["x", "value"])
