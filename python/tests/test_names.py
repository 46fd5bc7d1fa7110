"""Malicious names and labels in tables, messages, JSON, figures and reports."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

import ackclock
from ackclock import Scenario, reports, run
from ackclock.curves import Line
from ackclock.drawing.figure import Axis, Figure, Heatmap, Panel, from_lines
from ackclock.drawing.files import FORMATS, encode
from ackclock.drawing.matplotlib import draw
from ackclock.formatting import names
from ackclock.literature import panels
from ackclock.literature.contents import Chart, Title
from ackclock.reports.rendering import render

from .conftest import FIRST, Cli

NASTY = [
    "_hidden",
    "$x^",
    "$\\frac{$",
    "\\",
    "a\x1b[31mred",
    "two\nlines",
    "a\u202eb",
    "<b>&",
    "\x9b31m",
    "[red]x[/red]",
]
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def lines(labels: list[str]) -> list[Line]:
    return [Line(label, np.array([0.0, 1.0]), np.array([1.0, 2.0])) for label in labels]


def test_invisible_characters_become_escapes() -> None:
    assert names.shown("a\x1b[31m\nb\u202e\x9b\ud800µ") == r"a\x1b[31m\nb\u202e\x9b\ud800µ"
    assert names.shown_text("two\nlines\x07") == "two\nlines\\x07"
    for text in NASTY:
        assert not UNSEEN.search(names.shown(text))
        written = json.dumps(text, ensure_ascii=False)
        assert json.loads(names.shown_json(written)) == text
        assert not UNSEEN.search(names.shown_json(written))


@pytest.mark.parametrize("kind", FORMATS)
def test_figures_show_every_name_as_it_is(kind: str) -> None:
    panel = Panel(from_lines(lines(NASTY)), title=NASTY[2], y=Axis(NASTY[1]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = draw(Figure(NASTY[2], [panel]))
        assert encode(figure, kind)
    (legend,) = figure.legends
    shown = [text.get_text() for text in legend.get_texts()]
    assert len(shown) == len(NASTY), "no name is left out"
    assert not any(UNSEEN.search(text) for text in shown)


def test_a_flow_with_a_leading_underscore_is_in_the_legend(tmp_path: Path) -> None:
    flows = [{"name": "_hidden"}, {"name": "$a$"}]
    scenario = Scenario(duration="1 s", topology={"kind": "dumbbell"}, flow=flows, record=["cwnd", "sequence"])
    for kind in ("cwnd", "sequence"):
        figure = ackclock.plot({"_run $": run(scenario)}, kind, out=tmp_path / "x.svg")
        (legend,) = figure.legends
        texts = " ".join(text.get_text() for text in legend.get_texts())
        assert "_hidden" in texts
        assert "$a" in texts.replace("\\$", "$")


def test_heat_maps_show_names_as_they_are() -> None:
    heatmap = Heatmap(["$x^", "b"], ["$\\frac{$"], np.ones((1, 2)), [["$\n$", "_"]])
    figure = draw(Figure("", [Panel(heatmap=heatmap)]))
    assert {text.get_text() for text in figure.axes[0].texts} == {r"\$" + "\n" + r"\$", "_"}
    assert encode(figure, "png")


def test_titles_of_charts_are_plain_text() -> None:
    for text in NASTY:
        assert encode(Figure(Chart("lines", text, where={}).heading, []), "png")


def test_a_title_of_panels_has_one_place_for_the_value() -> None:
    title = TypeAdapter(Title)
    assert title.validate_python("IFQ {}") == "IFQ {}"
    for wrong in ("{.missing}", "{:d}", "{1}", "{", "none"):
        with pytest.raises(ValidationError):
            title.validate_python(wrong)


def test_a_terminal_gets_no_escapes(cli: Cli, first: Path) -> None:
    escaped = FIRST.replace('name = "a"', 'name = "a\\u001b[31m[red]x\\u202e"')
    first.write_text(escaped + '[sweep."ax\\u001b[1m"]\n"v\\u0007 [b]" = { seed = 1 }\n"w" = { seed = 2 }\n')
    done = cli("run", first)
    assert done.returncode == 0, done.stderr
    assert not UNSEEN.search(done.stdout + done.stderr)
    assert r"a\x1b[31m[red]x\u202e" in done.stdout
    assert r"v\x07 [b]" in done.stdout
    assert r"ax\x1b[1m" in done.stdout
    runs = json.loads(cli("run", first, "--json").stdout)["runs"]
    assert runs[0]["flows"][0]["name"] == "a\x1b[31m[red]x\u202e"
    wrong = cli("run", first, "--record", "\x1b[31m", "--set", "seed=3")
    assert wrong.returncode == 2
    assert not UNSEEN.search(wrong.stderr)


def test_reports_have_no_links_but_their_own() -> None:
    text = (
        '[x](javascript:alert(1)) <script>alert(1)</script> <a href="javascript:alert(1)">x</a> \x1b[31m \u202e a < b'
    )
    shown = {"title": text, "columns": [text], "rows": [[text]], "left": 1, "note": text}
    context = {
        "title": text, "about": text, "version": "1", "program": "p", "answer": [text], "caption": text, "key": text,
        "small": text, "tables": [shown], "notes": [text], "warnings": [text], "sentences": [text], "sensitive": [text],
        "maps": [{"name": "m", "caption": text}],
    }  # fmt: skip
    table = reports.Table([reports.Column(text, meaning=text)], [[text], [reports.Cell(text, text, mark="holds")]])
    items = [table, reports.Text(text), reports.Bullets([text]), reports.Verbatim(text)]
    drawn = reports.Figure(text, [reports.Panel([reports.Series(text, [text], [1.0])], x=reports.Axis(text))])
    page = reports.page(text, reports.Answer(text, drawn), [reports.Section(text, items)], about=text, footer=text)
    assert not re.search(r"""(href|src)\s*=\s*["']?\s*javascript""", page)
    # The library is packed; a page of the user's texts has no tag of theirs.
    assert "<script>alert" not in page
    assert not UNSEEN.search(page)
    page = render("comparison.md.j2", context)
    assert "](javascript:" not in page
    assert "<script" not in page
    assert "a < b" in page
    assert not UNSEEN.search(page)


def test_file_names_stay_in_their_folder() -> None:
    assert names.in_file("../../etc/10 ms\n") == ".._.._etc_10_ms_"
    sheet = panels.Sheet({"queue": "../../x", "rate": "10 Mbit/s"}, "cwnd", [])
    assert "/" not in sheet.name
