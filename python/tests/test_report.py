"""Reports: the answer, folded sections, the size, and the look of charts."""

from __future__ import annotations

import base64
import io
import itertools
import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from ackclock import curves as measured_curves
from ackclock.curves import Line
from ackclock.drawing import bands
from ackclock.drawing.figure import WIDE, Axis, Figure, Panel, Series, from_lines, is_wide, with_intervals
from ackclock.drawing.files import encode
from ackclock.drawing.look import COLOURS
from ackclock.drawing.matplotlib import draw
from ackclock.experiments.repetitions import Repetition
from ackclock.literature import answers, charts, library, notes, plan, report, reproduction, schema
from ackclock.literature.claims import parse_claims
from ackclock.literature.contents import Answer, Chart, Contents, Printed
from ackclock.literature.measurement import Curves
from ackclock.literature.plan import plan_paper
from ackclock.literature.printed import parse_tables
from ackclock.literature.verdicts import judge_all
from ackclock.reports import units
from ackclock.scenario import Scenario
from ackclock.statistics.intervals import Interval

from . import browser

CLAIMS = """
[[claim]]
id = "twice"
text = "a gets twice what b gets"
source = "§1, figure 1"
kind = "bound"
axis = "flow"
where = { loss = "1 %" }
of = "a"
to = "b"
low = 1.9
high = 2.1

[[claim]]
id = "a-above-1.5"
text = "a is above b"
source = "§2"
kind = "order"
axis = "flow"
where = {}
expected = [["a"], ["b"]]
quantifier = "most"

[[claim]]
id = "load"
text = "pages load in a second"
source = "§3"
kind = "bound"
axis = "flow"
where = { loss = "1 %" }
of = "a"
high = 1.0
metrics = ["load_mean", "goodput_bps"]

[[claim]]
id = "elsewhere"
text = "nobody measured this"
source = "§4"
kind = "order"
axis = "flow"
where = { loss = "9 %" }
expected = [["a"], ["b"]]

[[claim]]
id = "ours"
text = "is b above a?"
source = "not in the paper"
kind = "order"
axis = "flow"
where = {}
expected = [["b"], ["a"]]
ours = true
"""
LABELS = {"loss": ["1 %", "2 %", "9 %"], "flow": ["a", "b"]}
ROWS = [
    {"loss": loss, "flow": flow, "sampling": "seed", "seeds": None, "unit": unit, "goodput_bps": rate + 1000.0 * unit}
    | {"load_mean": 0.25 + 0.01 * unit}
    for loss, rates in (("1 %", (4e6, 2e6)), ("2 %", (1e6, 2e6)))
    for flow, rate in zip("ab", rates, strict=True)
    for unit in (1, 2, 3)
]


def judged() -> list[Any]:
    """Return the judgements of the claims on the rows above."""
    import tomllib

    document = {"metrics": ["goodput_bps"], **tomllib.loads(CLAIMS)}
    claims = parse_claims(document, LABELS, ["goodput_bps", "load_mean"])
    return judge_all(claims, ROWS, list(LABELS))


def text(frame: str) -> str:
    """Return a sentence filled in, as one text."""
    return "".join(part.text for part in answers.fill(frame, judged()))


def paper_with(answer: dict[str, Any]) -> library.Paper:
    """Return a paper with nothing but an answer."""
    return library.Paper(Path("p"), Contents("P", "nobody", ("loss",), answer=Answer(**answer)))


# The answer


def test_the_numbers_of_the_answer_come_from_the_verdicts() -> None:
    assert text("Of {sentences} sentences, {counts}.") == (
        "Of 4 sentences, 2 are reproduced, 1 is reversed and 1 was not run."
    )
    assert text("{any}") == "2"
    assert text("That a gets twice as much {twice.verdict}: {twice.value}.") == "That a gets twice as much holds: 2.00."
    assert text("{a-above-1.5.verdict}, {a-above-1.5.held}, {a-above-1.5.value}") == (
        "does not hold, 1 of 2, −50.0 % to +99.9 %"
    )
    assert text("{a-above-1.5.lowest} and {a-above-1.5.highest}") == "−50.0 % and +99.9 %"
    assert text("{load.value} and {load[goodput_bps].value}") == "0.27 s and 4 Mbit/s"
    assert text("{twice.interval}") == "1.9990 [1.9978, 2.0002]", "as many digits as the interval supports"
    assert text("{load.interval}") == "0.27 s [0.245 s, 0.295 s]"
    assert text("{twice.ranking}") == "a > b"
    assert text("{elsewhere.verdict}, {elsewhere.value}, {elsewhere.held}") == "was not run, –, –"


def test_a_verdict_that_depends_on_the_tolerance_says_so() -> None:
    """A is 4 % above b, which is about 1.07 times as much within 5 %, but not within 2.5 %."""
    import tomllib

    stated = CLAIMS.split("[[claim]]")[1].replace("low = 1.9\nhigh = 2.1", "about = 1.07")
    close = [{**row, "goodput_bps": (1.04e6 if row["flow"] == "a" else 1e6) + 100.0 * row["unit"]} for row in ROWS]
    document = {"metrics": ["goodput_bps"], **tomllib.loads(f"[[claim]]{stated}")}
    (item,) = judge_all(parse_claims(document, LABELS, ["goodput_bps"]), close, list(LABELS))
    assert (item.verdict, item.at) == ("holds", {0.5: "does not hold", 2.0: "holds"})
    assert report.otherwise(item) == ["with half the tolerance: does not hold"]
    assert report.otherwise(replace(item, at=dict.fromkeys(item.at, "holds"))) == []


def test_every_number_of_the_answer_refers_to_its_claim() -> None:
    parts = answers.fill("it {twice.verdict} at {twice.value}", judged())
    assert [(part.claim, part.verdict) for part in parts] == [("", ""), ("twice", "holds"), ("", ""), ("twice", "")]


def test_without_an_answer_the_report_counts_sentences() -> None:
    found = answers.answer(library.Paper(Path("p"), Contents("P", "nobody", ("loss",))), judged())
    assert "".join(part.text for part in found.sentences[0]) == (
        "Of the paper's sentences, 2 are reproduced, 1 is reversed and 1 was not run."
    )


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ("{clams}", "{clams} is none of sentences, counts, any, or a claim with a word"),
        ("{twise.value}", "unknown claim 'twise'; did you mean 'twice'?"),
        ("{twice.valu}", "unknown word 'valu'; did you mean 'value'?"),
        ("{load[goodput].value}", "unknown metric 'goodput'; did you mean 'goodput_bps'?"),
    ],
)
def test_an_answer_that_names_unknown_things_is_refused(frame: str, message: str) -> None:
    claims = [judgement.claim for judgement in judged()]
    with pytest.raises(ValueError, match=re.escape(message)):
        answers.check(paper_with({"sentences": ["a", "b", frame]}), claims)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"sentences": ["one"], "chart": "c"}, "sentences must be a list of three texts"),
        ({"sentences": ["1", "2", "3"]}, "the leading figure is named"),
        ({"sentences": ["1", "2", "3"], "figure": 3, "chart": "c"}, "the leading figure is named"),
        ({"sentences": ["1", "2", "3"], "chart": "cc"}, "unknown chart 'cc'; did you mean 'c'?"),
    ],
)
def test_an_answer_has_three_sentences_and_one_figure(answer: dict[str, Any], message: str) -> None:
    document = {"title": "P", "reference": "n", "labels": ["loss"], "experiment": [{"file": "f"}], "answer": answer}
    document["chart"] = [{"kind": "lines", "title": "c", "where": {}, "x": "loss", "metric": "goodput_bps"}]
    with pytest.raises(ValueError, match=re.escape(message)):
        schema.read(document, "p")


@pytest.mark.parametrize("name", ["ass", "exp", "icw", "rbt", "westwood-rb"])
def test_every_shipped_paper_begins_with_its_answer(name: str) -> None:
    answer = library.find(name).contents.answer
    assert answer is not None
    assert len(answer.sentences) == 3
    assert answer.causes
    for sentence in answer.sentences:
        assert "{" in sentence, "what is said comes from verdicts"


# Colours, scales, bands


def lab(colour: str) -> np.ndarray:
    """Convert a colour from sRGB to CIELAB (D65)."""
    rgb = np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    matrix = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
    xyz = np.array(matrix) @ linear / np.array([0.95047, 1.0, 1.08883])
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_nine_series_have_nine_distinct_colours() -> None:
    assert len(COLOURS) >= 9
    assert min(np.linalg.norm(lab(a) - lab(b)) for a, b in itertools.combinations(COLOURS, 2)) > 25


def axes_of(values: list[float], *, ratio: bool = False, bars: bool = False, marks: tuple[float, ...] = ()) -> Any:
    """Draw one series of means, each with an interval of ±10 %."""
    means = [Interval(value, 0.9 * value, 1.1 * value, 3) for value in values]
    log = is_wide([*values, *marks], charts.WIDE_RATIO if ratio else WIDE)
    names, base = [str(place) for place in range(len(values))], 1.0 if ratio else 0.0
    series = [with_intervals("a", names, means, "bars" if bars else "joined", base=base)]
    series += [Series("b", names[:1] * len(marks), marks, "printed")] if marks else []
    panel = Panel(series, x=Axis(names=names), y=Axis("a", log), references=[1.0] if ratio else [])
    return draw(Figure("", [panel])).axes[0]


def test_values_over_decades_have_a_logarithmic_axis() -> None:
    assert axes_of([0.12, 0.3, 1.1, 14.0]).get_yscale() == "log"
    assert axes_of([2.0, 3.0, 5.0]).get_yscale() == "linear"
    assert axes_of([0.0, 3.0, 500.0]).get_yscale() == "linear", "zero has no place on it"
    assert axes_of([18.0, 2.0, 1.0], ratio=True).get_yscale() == "log"


@pytest.mark.parametrize("ratio", [False, True])
@pytest.mark.parametrize("values", [[0.66, 0.98, 1.0], [0.05, 1.0, 9.0], [300.0, 310.0], [0.9, 1.2]])
def test_no_axis_is_cut(values: list[float], *, ratio: bool) -> None:
    marks = (min(values) / 2, 2 * max(values))
    axes = axes_of(values, ratio=ratio, marks=marks)
    low, high = axes.get_ylim()
    assert low <= min(marks)
    assert high >= max(marks)
    if not ratio and axes.get_yscale() == "linear":
        assert low == 0


def test_bars_of_ratios_begin_at_one() -> None:
    bars = axes_of([0.8, 1.2], ratio=True, bars=True).patches
    assert sorted((bar.get_y(), bar.get_y() + bar.get_height()) for bar in bars) == [(1.0, 0.8), (1.0, 1.2)]


def test_maps_of_ratios_have_a_bar_and_a_logarithmic_scale() -> None:
    grid = np.array([[0.25, 0.5], [1.0, 8.0]])
    ends = charts._ends([grid], ratio=True, share=False)
    assert ends == (-3.0, 3.0), "as far below 1 as above"
    chart = Chart("map", "c", {}, x="k", y="l", metric="goodput_bps", flow="a", to="b", axis="a / b")
    heatmap = charts._as_heatmap(grid, (["1", "2"], ["1", "2"]), ends, chart)
    axes, bar = draw(Figure("", [Panel(heatmap=heatmap)])).axes
    assert np.asarray(axes.images[0].get_array()).tolist() == [[0.0, 3.0], [-2.0, -1.0]], "the first row is at the top"
    assert {item.get_text() for item in axes.texts} == {"0.25", "0.5", "1", "8"}
    assert [item.get_text() for item in bar.get_yticklabels()] == ["1/8", "1/4", "1/2", "1", "2", "4", "8"]
    assert bar.get_ylabel() == "a / b"


def test_curves_of_several_runs_are_a_median_and_a_band() -> None:
    times = np.arange(0.0, 100.0, 0.5)
    runs = [
        {"cwnd": measured_curves.sampled(Line("a", times, np.full(len(times), float(level))), 100.0)}
        for level in range(1, 12)
    ]
    line = bands.together(runs)["cwnd"]
    assert line.band is not None
    assert np.unique(line.y).tolist() == [6.0]
    assert np.unique(line.band[0]).tolist() == [2.0]
    assert np.unique(line.band[1]).tolist() == [10.0]
    assert len(line.x) == measured_curves.SAMPLES // bands.PER_BIN
    assert line.x[-1] < 100


def test_a_saw_tooth_faster_than_a_bin_is_a_band() -> None:
    times = np.arange(0.0, 100.0, 0.05)
    tooth = Line("a", times, 10.0 + 10.0 * (times % 1.0))
    line = bands.together([{"cwnd": measured_curves.sampled(tooth, 100.0)}])["cwnd"]
    assert line.band is not None
    assert np.ptp(line.y) < 4
    assert np.all(line.band[1] - line.band[0] > 5)


def test_before_a_flow_starts_there_is_no_window() -> None:
    line = measured_curves.sampled(Line("a", np.array([50.0]), np.array([2.0])), 100.0)
    assert np.isnan(line.y[: measured_curves.SAMPLES // 2]).all()
    assert np.all(line.y[measured_curves.SAMPLES // 2 :] == 2.0)


def test_internals_are_those_of_the_first_run() -> None:
    curves_of_cell = Curves(("throughput", "internals"))
    drawn = list(range(bands.RUNS))
    places = [plan._curves(curves_of_cell, drawn, place).kinds for place in (0, 1, bands.RUNS)]
    assert places == [("throughput", "internals"), ("throughput",), ()]


def test_runs_with_common_seeds_or_on_the_exact_path_are_drawn(scenario: Scenario) -> None:
    own, common = (Repetition("seed", 1, scenario, seeds) for seeds in ("own", "common"))
    assert plan._drawn([own, own, common, common]) == [2, 3]
    exact, like = (Repetition("path", 1, scenario, paths=paths) for paths in ("exact", "like"))
    assert plan._drawn([exact, exact, like]) == [0, 1]
    assert plan._drawn([like, like]) == [0]


def test_pictures_have_a_palette() -> None:
    figure = Figure("", [Panel(from_lines([Line("a", np.arange(9.0), np.arange(9.0))]))])
    png = encode(figure, "png")
    assert png == encode(figure, "png")
    with Image.open(io.BytesIO(png)) as image:
        assert image.mode == "P"


# Printed values, units


def test_plots_show_printed_values() -> None:
    document = {
        "table": [
            {
                "number": 1, "title": "kbit/s", "source": "s", "where": {"study": "one"}, "rows": "loss",
                "metric": "goodput_bps", "scale": 0.001, "columns": [{"name": "A", "where": {"flow": "a"}}],
                "readings": {"reno": {"recovery": "reno"}}, "printed": {"1 %": [1500], "2 %": [900]},
            }
        ]
    }  # fmt: skip
    labels = {"study": ["one", "two"], "loss": ["1 %", "2 %"], "recovery": ["reno", "sack"], "flow": ["a", "b"]}
    found = parse_tables(document, labels, ["goodput_bps"])
    paper = library.Paper(Path("p"), Contents("P", "n", ("study", "loss", "recovery"), flows="flow"))
    outcome: Any = SimpleNamespace(plan=SimpleNamespace(tables=found, paper=paper))
    where = {"study": "one", "recovery": "reno"}
    chart = Chart("lines", "c", where, x="loss", metric="goodput_bps", scale=1e-6)
    assert charts.printed_values(chart, outcome) == [
        ("1 %", "a", pytest.approx(1.5)),
        ("2 %", "a", pytest.approx(0.9)),
    ]
    assert charts.printed_values(replace(chart, where={"study": "two"}), outcome) == []
    assert charts.printed_values(replace(chart, where={"recovery": "sack"}), outcome) == []
    assert charts.printed_values(replace(chart, metric="jain"), outcome) == []
    own = replace(chart, metric="jain", printed=(Printed("1 %", 0.5),))
    assert charts.printed_values(own, outcome) == [("1 %", "", 0.5)]
    series = charts._printed_series([("1 %", "a", 1.5), ("9 %", "a", 2.0)], ["1 %"], ["a"])
    axes = draw(Figure("", [Panel(series, x=Axis(names=["1 %"]))])).axes[0]
    assert [(line.get_marker(), list(line.get_ydata())) for line in axes.lines] == [("D", [1.5])]


def test_metrics_have_their_units() -> None:
    wanted = {"goodput_bps": "bit/s", "window_rate": "bit/s", "rtt_mean": "s", "retransmitted_packets": "packets"}
    wanted |= {"cwnd_mean": "segments", "delivered_10s": "B", "queue_drops": "packets", "gain": "", "jain": ""}
    assert {metric: units.unit(metric) for metric in wanted} == wanted
    assert units.quantity(8_160_000.0, "goodput_bps") == "8.16 Mbit/s"


# The page

README = """\
# Choices

| open | choice |
|---|---|
| *loss* | see [the scenario](tiny.toml) and [a site](https://example.org/x), ![a picture](x.png) |

<script>alert(1)</script> `code`
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return the report of a small paper, whose answer, claims and figures name the same figure."""
    folder = tmp_path_factory.mktemp("papers") / "tiny"
    folder.mkdir()
    (folder / "paper.toml").write_text("""\
title = "Tiny"
reference = "nobody"
doi = "10.1145/52324.52356"
labels = ["source", "loss"]

[meaning]
theory = "a formula <of ours>"

[quick]
only = { loss = ["1 %"] }

[answer]
sentences = ["Of {sentences} {counts}.", "The gain {gain.verdict}: {gain.value}.", "{gain[gain_printed].value}"]
figure = 3

[[answer.cause]]
text = "Since {gain.value} < {sentences}."
explains = ["gain"]
effect = "gain"
switched_off = "gain"

[[model]]
name = "rbt"
labels = { source = "theory" }
sweep = { loss = ["1 %", "10 %"] }

[[chart]]
kind = "lines"
title = "another"
where = {}
x = "loss"
series = "source"
metric = "gain"

[[chart]]
kind = "lines"
figure = 3
title = "throughput"
where = {}
x = "loss"
series = "source"
metric = "throughput"
""")
    (folder / "claims.toml").write_text("""\
[[claim]]
id = "gain"
text = "it gains"
source = "§1, figure 3"
kind = "bound"
axis = "source"
where = { loss = "1 %" }
of = "theory"
low = 2.0
metrics = ["gain", "gain_printed"]
""")
    (folder / "README.md").write_text(README)
    out = folder.parent / "o"
    plan = plan_paper(library._load(folder))
    written = report.write(reproduction.execute(plan, out), out)
    return out, written.html.read_text()


def test_a_report_begins_with_its_answer_then_causes_then_sentences(page: tuple[Path, str]) -> None:
    out, html = page
    places = [
        html.index(word) for word in ('id="answer"', 'id="figure-003"', 'id="causes"', 'id="sentences"', 'id="claims"')
    ]
    assert places == sorted(places)
    assert html.count('class="answer"') == 3
    assert '<a class="measured does-not-hold" href="#gain">does not hold</a>' in html
    assert " &lt; 1." in html
    markdown = (out / "report.md").read_text()
    assert markdown.index("Of 1 1 differs") < markdown.index("## Causes") < markdown.index("## The paper's sentences")


def test_a_failed_sentence_links_to_its_cause_and_the_cause_says_what_its_experiment_found(
    page: tuple[Path, str],
) -> None:
    out, html = page
    assert '<a href="#cause-1">1</a>' in html
    markdown = (out / "report.md").read_text()
    assert "With it: 1.26 [1.26, 1.26]; switched off: 1.26 [1.26, 1.26]: the cause is not shown." in markdown
    (item,) = json.loads((out / "sentences.json").read_text())
    assert (item["text"], item["source"], item["outcome"]) == ("it gains", "§1, figure 3", "differs")
    assert [reading["reading"] for reading in item["readings"]] == ["main reading", "gain printed"]


def test_a_shared_figure_appears_once_in_the_report(page: tuple[Path, str]) -> None:
    out, html = page
    places = re.findall(r'data-figure="(\d+)"', html)
    assert places == ["0", "1"]
    assert html.count('id="figure-003"') == 1
    assert html.count('href="#figure-003"') == 3, "its sentence and claim name it, and its group refers to it"
    assert (out / "report.md").read_text().count("![Figure 3") == 1


def test_all_but_the_answer_is_folded(page: tuple[Path, str]) -> None:
    _, html = page
    body = html[html.index("<main>") : html.index("<footer")]
    assert "<details open" not in body
    closed = re.sub(
        r"<details.*?</details>",
        "",
        re.sub(r"<details[^>]*>(?:(?!<details).)*?</details>", "", body, flags=re.S),
        flags=re.S,
    )
    assert closed.count("<figure") == 1, "the leading figure alone is seen"
    assert "<table" not in closed
    assert not re.search(r"(src|href)=\"(?!data:|#)", html)


def test_a_value_without_a_unit_has_no_empty_brackets(page: tuple[Path, str]) -> None:
    out, html = page
    markdown = (out / "report.md").read_text()
    assert "Measured: theory" in markdown
    assert "()" not in markdown
    assert "()" not in html[html.index("<main>") : html.index("<footer")]


def test_the_readme_is_a_part_of_the_page(page: tuple[Path, str]) -> None:
    _, html = page
    notes = html[html.index('id="notes"') : html.index("</main>")]
    assert "<h3>Choices</h3>" in notes
    assert "<td><em>loss</em></td>" in notes
    assert "see the scenario and a site (https://example.org/x), a picture</td>" in notes
    assert "&lt;script&gt;alert(1)&lt;/script&gt; <code>code</code>" in notes
    assert "<a " not in notes


def test_every_figure_is_a_picture_until_it_is_drawn_and_says_what_it_shows(page: tuple[Path, str]) -> None:
    out, html = page
    figures = re.findall(r"<figure.*?</figure>", html, re.S)
    assert len(figures) == 2
    for figure in figures:
        (data,) = re.findall(r'<img class="still" alt="[^"]+" src="data:image/png;base64,([^"]+)"', figure)
        assert base64.b64decode(data) in {path.read_bytes() for path in (out / "figures").iterdir()}
        assert '<span class="soft">From models: a formula.</span>' in figure
    assert (out / "report.md").read_text().count("From models: a formula.") == 1, "beside the leading figure"


def test_a_report_without_room_for_pictures_keeps_the_leading_one(
    page: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out, _ = page
    monkeypatch.setattr(report, "MOST_STILL", 0)
    paper = library._load(out.parent / "tiny")
    html = report.write(reproduction.stored(plan_paper(paper), out), out).html.read_text()
    assert html.count('<img class="still"') == 1
    assert html.count("Figures need JavaScript") == 1


def test_words_are_explained_once_and_the_reference_has_its_address(page: tuple[Path, str]) -> None:
    out, html = page
    assert html.count("<dt>theory</dt><dd>a formula &lt;of ours&gt;</dd>") == 1
    assert html.index('id="figure-003"') < html.index('id="meaning"') < html.index('id="causes"')
    assert "nobody, https://doi.org/10.1145/52324.52356" in html
    assert "- **theory**: a formula &lt;of ours>" in (out / "report.md").read_text()
    citation = json.loads((out / "manifest.json").read_text())["citation"]
    assert citation["doi"] == "10.1145/52324.52356"


def test_sentences_speak_of_what_ran_alone() -> None:
    paper = paper_with({"sentences": ["A {twice.value}.", "B {elsewhere.verdict}: {twice.value}.", "C."], "chart": "c"})
    first, second, third = answers.answer(paper, judged()).sentences
    assert ["".join(part.text for part in each) for each in (first, second, third)] == [
        f"A {text('{twice.value}')}.", "Not run: elsewhere.", "C.",
    ]  # fmt: skip
    assert second[1].target == "elsewhere"


def test_the_note_of_a_ratio_speaks_of_the_cells_that_have_one() -> None:
    cells = [("theory", "standard"), ("model", "standard"), ("model", "new")]
    models = [
        SimpleNamespace(seeds=None if cell[0] == "theory" else [1, 2, 3], point=SimpleNamespace(cell=cell))
        for cell in cells
    ]
    rows = [dict(zip(("source", "response"), cell, strict=True)) for cell in cells]
    paper = library.Paper(Path("p"), Contents("P", "n", ("source", "response")))
    outcome: Any = SimpleNamespace(rows=rows, plan=SimpleNamespace(paper=paper, cells=[], models=models))
    chart = Chart("lines", "c", {}, x="source", metric="gain", series="source")
    assert notes.of_values(outcome, chart) == "From models: the mean of 3 simulated seeds or a formula."
    ratio = replace(chart, ratio={"response": ("new", "standard")})
    assert notes.of_values(outcome, ratio) == "From models: the mean of 3 simulated seeds."


@browser.needed
@pytest.mark.parametrize("scripts", [True, False])
def test_the_leading_figure_is_seen_with_and_without_javascript(page: tuple[Path, str], *, scripts: bool) -> None:
    out, _ = page
    with browser.launched() as chromium:
        shown = chromium.new_context(java_script_enabled=scripts).new_page()
        shown.goto((out / "report.html").as_uri())
        picture, plot = shown.locator("#figure-003 > .still"), shown.locator("#figure-003 .plot svg").first
        if scripts:
            plot.wait_for()
            picture.wait_for(state="hidden")
        else:
            box = picture.bounding_box()
            assert box is not None
            assert box["width"] > 300
            assert box["height"] > 200
