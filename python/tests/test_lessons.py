"""Every number in a lesson of the playground is measured here, with the scenario and the comparisons of that lesson."""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import polars
import pytest

import ackclock
from ackclock.files import toml

ROOT = Path(__file__).resolve().parents[2]
LESSONS = ROOT / "web" / "lessons"
NAMES = toml.read(LESSONS / "index.toml")["lessons"]

NUMBER = r"[0-9]+(?:[.,][0-9]+)*"
UNIT = r"(?:\s(?:Mbit/s|kbit/s|bit/s|ms|s|%|packets?|segments?|kB|B)(?![A-Za-z]))?"


REDUCTIONS: dict[str, Callable[[list[float]], float]] = {"mean": statistics.fmean, "min": min, "max": max}


@cache
def settings(name: str) -> dict[str, Any]:
    return toml.read(LESSONS / name / "lesson.toml")


@cache
def text(name: str) -> str:
    return " ".join((LESSONS / name / "lesson.md").read_text("utf-8").split())


@cache
def scenarios(name: str) -> dict[str, ackclock.Scenario]:
    """The scenario of each run that the lesson overlays, by its name."""
    base = ackclock.load(LESSONS / name / "scenario.toml")
    lesson = settings(name)
    return {lesson["base"]: base, **{run["name"]: base.set(run["set"]) for run in lesson.get("compare", [])}}


@lru_cache(maxsize=200)
def result(name: str, run: str, seed: int | None, trace: str | None) -> ackclock.Result:
    return ackclock.run(scenarios(name)[run], seed=seed, record=[trace] if trace else [])


def one(name: str, measure: dict[str, Any], seed: int | None) -> float:
    """A quantity of one run: a cell of a table, a value of a trace, or a model's number.

    A measure names a model with its parameters (`of`), or a row of a table (`flow`, `link` or `page`), and the
    `column`. With `trace` it takes the rows of that flow or link, or those of the flow `on` a link. `at`: the last
    value until then. `reaches`: the first time at which the column has that value. `take`: a reduction of the rows
    from `from` to `to`.
    """
    column = measure["column"]
    if "model" in measure:
        return float(getattr(getattr(ackclock.model, measure["model"])(**measure["of"]), column))
    run = result(name, measure.get("run", settings(name)["base"]), seed, measure.get("trace"))
    kind = next(word for word in ("flow", "link", "page") if word in measure)
    if "trace" not in measure:
        rows = polars.DataFrame({"flow": run.flows, "link": run.links, "page": run.pages}[kind])
        key = "page" if kind == "page" else "name"
        value = rows.filter(polars.col(key) == measure[kind])[column][0]
        return float(value)
    rows = polars.DataFrame(run.trace(measure["trace"])).filter(polars.col(kind) == measure[kind])
    if "on" in measure:
        rows = rows.filter(polars.col("link") == measure["on"])
    if "at" in measure:
        return float(rows.filter(polars.col("time") <= measure["at"])[column][-1])
    if "reaches" in measure:
        return float(rows.filter(polars.col(column) >= measure["reaches"])["time"][0])
    span = rows.filter(polars.col("time").is_between(measure.get("from", 0), measure.get("to", 1e9)))[column]
    return REDUCTIONS[measure["take"]](span.to_list())


def quantity(name: str, measure: dict[str, Any], check: dict[str, Any]) -> float:
    """The mean, or another `of`, over the seeds 1 to `seeds`, or the value of the scenario's own run."""
    seeds: list[int | None] = list(range(1, check["seeds"] + 1)) if "seeds" in check else [None]
    return REDUCTIONS[check.get("of", "mean")]([one(name, measure, seed) for seed in seeds])


def measured(name: str, check: dict[str, Any]) -> float:
    """The value of a check: its measure, `minus` another, `over` another, times `times`."""
    value = quantity(name, check["measure"], check)
    if "minus" in check:
        value -= quantity(name, check["minus"], check)
    if "over" in check:
        value /= quantity(name, check["over"], check)
    return value * float(check.get("times", 1.0))


def stated(check: dict[str, Any]) -> tuple[float, float]:
    """The first number of a phrase, or its `number`, and half a unit of the last digit."""
    number = re.search(NUMBER, str(check.get("number", check["says"])))
    assert number and number.group() in check["says"], f"no number in {check['says']!r}"
    digits = number.group().replace(",", "")
    return float(digits), 0.5 * 10.0 ** -len(digits.partition(".")[2])


def checks() -> list[Any]:
    return [
        pytest.param(name, check, id=f"{name}: {check['says']}")
        for name in NAMES
        for check in settings(name).get("check", [])
    ]


@pytest.mark.parametrize(("name", "check"), checks())
def test_a_number_of_a_lesson_is_measured(name: str, check: dict[str, Any]) -> None:
    number, half = stated(check)
    assert measured(name, check) == pytest.approx(number, rel=0, abs=check.get("tolerance", half) * (1 + 1e-9))


@pytest.mark.parametrize("name", NAMES)
def test_every_number_of_a_lesson_has_its_source(name: str) -> None:
    lesson, prose = settings(name), text(name)
    files = (LESSONS / name / "scenario.toml").read_text("utf-8") + (LESSONS / name / "lesson.toml").read_text(
        "utf-8"
    ).partition("[[check]]")[0]
    phrases = [entry["says"] for entry in [*lesson.get("check", []), *lesson.get("quote", [])]] + lesson.get(
        "given", []
    )
    spans = []
    for phrase in phrases:
        found = [match.span() for match in re.finditer(re.escape(phrase), prose)]
        assert found, f"{name}: the lesson does not say {phrase!r}"
        spans += found
    for match in re.finditer(NUMBER + UNIT, prose):
        covered = any(start <= match.start() and match.end() <= end for start, end in spans)
        setting = re.search(rf"(?<![0-9.]){re.escape(match.group())}(?![0-9A-Za-z/])", files)
        assert covered or setting, (
            f"{name}: {match.group()!r} has no check: …{prose[max(0, match.start() - 40) : match.end() + 20]}…"
        )


@pytest.mark.parametrize("name", NAMES)
def test_a_lesson_quotes_the_reproduction_of_its_paper(name: str) -> None:
    for quote in settings(name).get("quote", []):
        source = " ".join((ROOT / quote["file"]).read_text("utf-8").split())
        assert quote["words"] in source, f"{quote['file']} does not say {quote['words']!r}"
        for number in re.findall(NUMBER, quote["says"]):
            assert re.search(rf"(?<![0-9.]){re.escape(number)}(?![0-9])", quote["words"]), (
                f"{number} is not in {quote['words']!r}"
            )


@pytest.mark.parametrize("name", NAMES)
def test_a_lesson_is_short_and_has_a_question_with_an_answer(name: str) -> None:
    prose = (LESSONS / name / "lesson.md").read_text("utf-8")
    assert [line for line in prose.splitlines() if line.startswith("#")] == ["## Question", "## Answer"]
    assert 150 <= len(prose.split()) <= 380
    assert "<" not in prose, "a lesson is Markdown without HTML"


def test_the_index_lists_every_lesson() -> None:
    assert sorted(NAMES) == sorted(path.parent.name for path in LESSONS.glob("*/lesson.toml"))
    assert len(set(NAMES)) == len(NAMES)
