"""Live reports: their data, and runs in a headless browser."""

from __future__ import annotations

import base64
import json
import re
import shutil
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ackclock.cli.reporting import report_command
from ackclock.experiments.draws import Jitter
from ackclock.experiments.repetitions import FURTHER, Rule, further, repetitions
from ackclock.files import built, toml
from ackclock.literature import again, library, reproduction
from ackclock.literature import report as paper_report
from ackclock.literature.plan import plan_paper
from ackclock.reports import live, rendering
from ackclock.reports.live import Scenarios
from ackclock.running import run
from ackclock.scenario import Scenario
from tests import browser

LARGEST = 6_000_000


needs_engine = pytest.mark.skipif(live.live({}) is None, reason="the engine for pages is not built: make web")

PAPER = """\
title = "Alive <b>& kicking</b>"
reference = "nobody"
labels = ["study", "queue"]
flows = "algorithm"

[[experiment]]
file = "flows.toml"

[[experiment]]
file = "page.toml"
labels = { study = "pages" }

[[model]]
name = "rounds"
labels = { study = "model", queue = "5 packets", algorithm = "model" }
parameters = { loss = "2 %" }

[[repeat]]
where = { study = "seeds" }
sampling = "seed"
count = 3
common = 2
spans = { late = [5, 8] }
cwnd = { cwnd_mean = [0, 8] }
derived = ["share", "eq7", "jain", "resent", "retransmitted_per_lost", "estimate"]

[[repeat]]
where = { study = "jitter" }
sampling = "seed"
count = 2
jitter = {}
exact = 1
derived = ["rtt"]

[[repeat]]
where = { study = "paths" }
sampling = "path"
count = 2
spread = "60 ms"
exact = 2

[[repeat]]
where = { study = "starts" }
sampling = "offset"
count = 4
spread = "60 ms"
derived = ["share"]

[[repeat]]
where = { study = "model" }
sampling = "seed"
count = 3

[[repeat]]
where = { study = "pages" }
sampling = "seed"
count = 2
derived = ["rtt", "pages"]

[[chart]]
kind = "lines"
title = "data </script><script>alert(1)</script>"
where = { study = "seeds" }
x = "queue"
metric = "delivered_bytes"
axis = "kB"
scale = 1e-3

[[chart]]
kind = "bars"
title = "ratio of the flows"
where = { study = "starts" }
x = "queue"
metric = "delivered_bytes"
over = "b"

[[chart]]
kind = "map"
title = "share"
where = { study = "seeds" }
x = "queue"
y = "study"
metric = "share"
flow = "a"

[[chart]]
kind = "time"
title = "windows"
where = { study = "seeds", queue = "5 packets" }
trace = "cwnd"

[[chart]]
kind = "time"
title = "throughput"
where = { study = "seeds", queue = "20 packets" }
trace = "throughput"
bin = 0.5

[[chart]]
kind = "internals"
title = "estimate"
where = { study = "seeds", queue = "5 packets" }
flow = "a"
names = ["bwe"]
"""
SCENARIO = """\
duration = "8 s"
topology = { kind = "dumbbell", bottleneck = { rate = "1 Mbit/s", delay = "20 ms" } }

[[flow]]
name = "a"
start_jitter = "1 s"
loss_response = "westwood"

[[flow]]
name = "b"
start_jitter = "1 s"

[sweep.study]
seeds = { "topology.bottleneck.loss" = "1 %" }
jitter = {}
paths = { "flow.start_jitter" = "0 s" }
starts = { "flow.start_jitter" = "0 s" }

[sweep.queue]
"5 packets" = { "topology.bottleneck.queue" = "5 packets" }
"20 packets" = { "topology.bottleneck.queue" = "20 packets" }
"""
PAGE = """\
duration = "20 s"
topology = { kind = "dumbbell", bottleneck = { rate = "1 Mbit/s", delay = "20 ms", queue = "20 packets" } }

[[flow]]
name = "web"
profile = "modern"

[flow.application]
kind = "web"
root = "10 kB"
objects = 4
object = { kind = "exponential", mean = "5 kB" }
pages = 6
think = "1 s"

[sweep.queue]
"5 packets" = { "topology.bottleneck.queue" = "5 packets" }
"20 packets" = { "topology.bottleneck.queue" = "20 packets" }
"""
CLAIMS = """\
metrics = ["delivered_bytes"]

[[claim]]
id = "b-leads"
text = "b gets more than a"
source = "§1"
kind = "order"
axis = "algorithm"
where = { study = "seeds", queue = "20 packets" }
lead = ["b"]
rest = ["a"]
metrics = ["delivered_bytes", "cwnd_mean"]

[[claim]]
id = "queue"
text = "the queue does not matter"
source = "§2"
kind = "equal"
axis = "queue"
where = { study = "seeds" }
metrics = ["jain"]

[[claim]]
id = "paths"
text = "both get the same"
source = "§3"
kind = "bound"
axis = "algorithm"
where = { study = "paths" }
of = "a"
to = "b"
low = 0.2
high = 5

[[claim]]
id = "model"
text = "a model says so"
source = "§4"
kind = "bound"
axis = "study"
where = { queue = "5 packets" }
of = "model"
low = 0
metrics = ["window_rate"]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a paper that was run."""
    path = tmp_path_factory.mktemp("alive")
    paper = path / "papers" / "alive"
    paper.mkdir(parents=True)
    for name, text in (("paper", PAPER), ("flows", SCENARIO), ("page", PAGE), ("claims", CLAIMS)):
        (paper / f"{name}.toml").write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(path)
        plan = plan_paper(library.find("alive"))
        outcome = reproduction.execute(plan, path / "out", jobs=1)
        paper_report.write(outcome, path / "out")
    return path / "out"


@pytest.fixture
def stored(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the folder, of which the report can be written again."""
    monkeypatch.chdir(folder.parent)
    return Path(shutil.copytree(folder, tmp_path / "out"))


def embedded(html: str, name: str) -> Any:
    """Return the data of a report."""
    return json.loads(zlib.decompress(base64.b64decode(html.partition(f'id="{name}">')[2].partition("<")[0])))


# Further repetitions


def small(**more: Any) -> Scenario:
    """Return a scenario of one flow."""
    return Scenario(duration="1 s", topology={"kind": "chain"}, flow=[{"start_jitter": "1 s"}], **more)


def frozen(scenario: Scenario) -> dict[str, Any]:
    """Return everything in a scenario."""
    return toml.parse(scenario.to_toml(), "scenario")


def test_further_seeds_are_new_and_own_to_each_cell() -> None:
    rule = Rule("seed", 3, common=2)
    planned = [it.scenario.seed for first in (1, 4) for it in repetitions(rule, small(), first, {})]
    found = [[it.scenario.seed for it in further(rule, small(), first, 5)] for first in (1, 4)]
    assert found == [list(range(FURTHER, FURTHER + 5)), list(range(FURTHER + 5, FURTHER + 10))]
    assert not set(planned) & {seed for seeds in found for seed in seeds}


def test_further_paths_go_on_with_the_draws() -> None:
    more = repetitions(Rule("path", 5, "60 ms"), small(), 1, {})
    found = further(Rule("path", 3, "60 ms", exact=1), small(), 1, 2)
    assert [(it.sampling, it.unit, it.paths) for it in found] == [("path", 4, "like"), ("path", 5, "like")]
    assert [it.scenario.hash for it in found] == [it.scenario.hash for it in more[3:]]


def test_further_seeds_on_drawn_paths_draw_by_their_seed() -> None:
    found = further(Rule("seed", 2, jitter=Jitter(), exact=1), small(), 3, 2)
    assert [(it.unit, it.paths, it.scenario.seed) for it in found] == [
        (1, "like", FURTHER + 2), (2, "like", FURTHER + 3)
    ]  # fmt: skip
    rates = [link["rate"] for it in found for link in frozen(it.scenario)["topology"]["link"]]
    assert len(set(rates)) > 2


def test_further_start_times_lie_between_those_of_the_rule() -> None:
    rule = Rule("offset", 4, "60 ms")
    scenario = Scenario(duration="1 s", topology={"kind": "chain"}, flow=[{}])
    starts = [frozen(it.scenario)["flow"][0]["start"] for it in further(rule, scenario, 1, 20)]
    assert starts == ["7500 us", "22500 us", "37500 us", "52500 us"]


def test_each_scenario_is_stored_once() -> None:
    scenarios = Scenarios()
    base, other = small().to_toml(), small(seed=2).to_toml()
    scenarios.add({"seed 1": base, "seed 2": other}, {"a": {"goodput_bps": float("inf")}}, {"queue": "5 packets"})
    scenarios.add({"seed 1": base}, {})
    data = scenarios.data
    assert data["texts"] == [base, other]
    assert [cell["runs"] for cell in data["cells"]] == [[["seed 1", 0], ["seed 2", 1]], [["seed 1", 0]]]
    assert data["cells"][0]["stored"] == {"a": {"goodput_bps": None}}


# Static and live pages


@pytest.fixture
def page_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return a folder that stands for that of the built files, and has only the drawing library."""
    path = tmp_path / "page"
    path.mkdir()
    (path / built.LIBRARY).write_text("'use strict';\n")
    (path / built.LICENCE).write_text("The licence of the library.\n")
    monkeypatch.setattr(built, "PAGE", path)
    return path


def test_without_the_engine_a_report_is_static_and_says_so(stored: Path, page_files: Path) -> None:
    (page_files / "report.js").write_text('"use strict";')
    # The file of an installation that has no engine.
    (page_files / "engine.js").write_text("// The engine was not built: make web\n")
    html = paper_report.stored_paper(stored)
    assert html.count(live.STATIC) == 1
    assert "wasm-unsafe-eval" not in html
    assert 'id="engine"' not in html
    assert all("again" not in spec for spec in embedded(html, "data"))


def test_without_the_program_a_report_has_its_texts_and_tables_and_says_what_is_missing(
    stored: Path, page_files: Path
) -> None:
    (page_files / "engine.js").write_text('self.ackclockEngine = "AAAA";')
    html = paper_report.stored_paper(stored)
    assert html.count(rendering.NO_FIGURES) == 1
    assert html.count('<img class="still"') == html.count("<figure") == 6
    assert "Not drawn: the end of this page says why." not in html
    assert "<script" not in html
    assert "script-src &#39;none&#39;;" in html
    assert "b gets more than a" in html
    assert len(re.sub(r'src="data:[^"]*"', "", html)) < 100_000


def test_a_report_contains_engine_and_program_once(stored: Path, page_files: Path) -> None:
    (page_files / "engine.js").write_text('self.ackclockEngine = "AAAA";')
    (page_files / "report.js").write_text('console.log("the program");\n')
    (page_files / "engine-third-party.txt").write_text("The engine contains libm 1: MIT\n")
    html = paper_report.stored_paper(stored)
    assert html.count("The engine contains libm 1: MIT") == 1
    assert [html.count(f'id="{name}"') for name in ("engine", "live")] == [1, 1]
    assert html.count('<script>console.log("the program");\n</script>') == 1
    assert html.count("&#39;wasm-unsafe-eval&#39;") == html.count("worker-src blob:") == 1
    assert "&#39;unsafe-eval&#39;" not in html
    assert html.count("</script>") == html.count("<script")
    assert "alert(" not in html.replace("alert(1)&lt;/script", "")
    assert live.STATIC not in html
    data = embedded(html, "live")
    assert len(data["cells"]) == 10
    # Cells of one topology share their draws, and cells with seeds their texts.
    assert all(len(cell["runs"]) <= 1 + again.FURTHER for cell in data["cells"])
    assert len(data["texts"]) == len(set(data["texts"]))
    shown = [spec["again"] for spec in embedded(html, "data")]
    assert [each["kind"] for each in shown] == ["values", "values", "values", "cwnd", "throughput", "internals"]
    # The engine reports received bytes, but not their share.
    assert [each["metric"] for each in shown[:3]] == ["delivered_bytes", "delivered_bytes", None]
    assert [(run["over"], run["of"]) for run in shown[1]["runs"]] == [(run["cell"], "b") for run in shown[1]["runs"]]


def test_a_report_has_the_command_that_judges_again(stored: Path) -> None:
    html = (stored / "report.html").read_text(encoding="utf-8")
    assert html.count('<code class="command">ackclock paper alive --out out/alive-again</code>') == 1


@pytest.mark.skipif(built.report_program() is None, reason="the program of reports is not built: make page")
def test_the_program_fits_into_a_script_element() -> None:
    program = (built.report_program() or "").lower()
    assert "</script" not in program
    assert "<!--" not in program


def test_the_report_of_a_control_in_python_is_static(tmp_path: Path) -> None:
    from ackclock.control import CongestionControl

    class Fixed(CongestionControl):
        cwnd = 10.0

    scenario = Scenario(duration="1 s", topology={"kind": "chain"}, flow=[{"congestion_control": Fixed}])
    run(scenario).write(tmp_path / "run")
    report_command(tmp_path / "run", out=None, opened=False, force=False)
    html = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert html.count(live.PYTHON) == 1
    assert 'id="live"' not in html


# Runs in the page


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """Return a browser."""
    with browser.launched() as started:
        yield started


class Live(browser.Opened):
    """A live report in the browser."""

    def __init__(self, chromium: Any, file: Path, **more: Any) -> None:
        super().__init__(chromium, file, **more)
        self.page.locator("html[data-live=yes]").wait_for()

    def figure(self, title: str) -> Any:
        """Return a figure, with "Run this again with …" unfolded."""
        self.page.evaluate("document.querySelectorAll('details:not(.again)').forEach((each) => { each.open = true; })")
        found = self.page.locator("figure", has=self.page.locator("figcaption", has_text=title)).first
        found.scroll_into_view_if_needed()
        found.locator("details.again > summary").click()
        found.locator("button.again-start").wait_for()
        return found

    def press(self, place: Any) -> str:
        """Press the button of a task, and return what it says at its end."""
        place.locator("button.again-start").click()
        place.locator(".again-said", has_text="done").wait_for()
        place.locator("button.again-start:enabled").wait_for()
        return str(place.locator(".again-said").inner_text())

    def end(self) -> None:
        """Close the page, in which nothing went wrong."""
        assert (self.errors, self.foreign, self.overflow) == ([], [], 0)
        self.page.close()


SERIES = "(figure) => [...figure.querySelectorAll('.plot')].flatMap((plot) => plot.data.map((trace) => trace.meta))"


def menu(figure: Any, label: str) -> Any:
    """Return a menu of a figure by its label."""
    return figure.locator(f"label:has(> span:text-is('{label}')) select")


@browser.needed
@needs_engine
def test_a_figure_runs_again_with_another_seed_and_rate(chromium: Any, folder: Path) -> None:
    opened = Live(chromium, folder / "report.html")
    figure = opened.figure("data </script>")
    said = opened.press(figure)
    assert said.startswith("1 run done. All ")
    assert said.endswith("stored numbers of this run are equal.")
    figure.get_by_label("Seed").fill("7")
    figure.get_by_label("Rate").fill("2 Mbit/s")
    assert opened.press(figure) == "1 run done."
    names = figure.evaluate(SERIES)
    assert "a, run 1" in names
    assert "b, run 2 (seed 7, rate 2 Mbit/s)" in names
    again = [float(cell.replace(",", "")) for cell in figure.locator(".again-out td:nth-child(2)").all_inner_texts()]
    # Newest first: a and b with twice the rate, then as stored.
    assert sum(again[:2]) > 1.5 * sum(again[2:])
    menu(figure, "queue").select_option("*")
    menu(figure, "Runs").select_option("3")
    figure.get_by_label("Seed").fill("")
    assert opened.press(figure) == "6 runs done."
    figure.get_by_role("button", name="Reset", exact=True).click()
    assert figure.evaluate(SERIES) == [name for name in figure.evaluate(SERIES) if ", run" not in name]
    opened.end()


@browser.needed
@needs_engine
@pytest.mark.parametrize(
    ("title", "runs"), [("windows", "a"), ("throughput", "b"), ("estimate", "bwe"), ("ratio of the flows", "a")]
)
def test_every_kind_of_figure_runs_again(chromium: Any, folder: Path, title: str, runs: str) -> None:
    opened = Live(chromium, folder / "report.html")
    figure = opened.figure(title)
    assert "stored numbers of this run are equal" in opened.press(figure)
    assert f"{runs}, run 1" in figure.evaluate(SERIES)
    opened.end()


@browser.needed
@needs_engine
def test_a_figure_of_a_derived_measure_has_the_goodput_of_its_runs(chromium: Any, folder: Path) -> None:
    opened = Live(chromium, folder / "report.html")
    figure = opened.figure("share")
    assert opened.press(figure).endswith("the table has the goodput of the same runs.")
    heads = figure.locator(".again-out thead th").all_inner_texts()
    cells = figure.locator(".again-out tbody td").all_inner_texts()
    assert heads == ["goodput (Mbit/s)", "again", "stored"]
    assert cells[0] == "5 packets, seeds"
    assert 0 < float(cells[1]) < 1
    assert cells[1] == cells[2]
    opened.end()


@browser.needed
@needs_engine
def test_wrong_values_are_refused_in_one_sentence(chromium: Any, folder: Path) -> None:
    opened = Live(chromium, folder / "report.html")
    figure = opened.figure("windows")

    def refused() -> str:
        figure.locator("button.again-start").click()
        figure.locator(".again-said.note").wait_for()
        return str(figure.locator(".again-said").inner_text())

    figure.get_by_role("textbox", name="RTT").fill("soon")
    assert refused() == 'RTT: "soon" is no time such as "40 ms"'
    figure.get_by_role("textbox", name="RTT").fill("1 ms")
    assert refused().startswith("RTT: the other links alone take ")
    figure.get_by_role("textbox", name="RTT").fill("")
    figure.get_by_label("Other keys").fill("flow.rwmd = 3 packets")
    assert "rwnd" in refused()
    figure.get_by_label("Other keys").fill("flow.rwnd")
    assert refused() == 'flow.rwnd: this is no setting such as "flow.rwnd = 20 packets"'
    opened.end()


@browser.needed
@needs_engine
@pytest.mark.parametrize("width", [400, 1400])
def test_the_command_can_be_copied(chromium: Any, folder: Path, width: int) -> None:
    opened = Live(chromium, folder / "report.html", width=width, scheme="dark" if width == 400 else "light")
    opened.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened.page.evaluate("document.querySelector('#claims').open = true")
    opened.page.get_by_role("button", name="Copy", exact=True).click()
    opened.page.get_by_role("button", name="Copied").wait_for()
    copied = opened.page.evaluate("navigator.clipboard.readText()")
    assert copied == "ackclock paper alive --out out/alive-again"
    opened.end()


@browser.needed
@needs_engine
def test_the_report_of_a_run_runs_again(chromium: Any, tmp_path: Path) -> None:
    flows = [{"name": "one", "host": "linux"}, {"name": "two", "host": "linux", "congestion_control": "bbr"}]
    traces = ["cwnd", "delivered", "rtt", "queue", "internals"]
    bottleneck = {"rate": "5 Mbit/s", "queue": "20 packets"}
    topology = {"kind": "dumbbell", "bottleneck": bottleneck}
    run(Scenario(duration="5 s", record=traces, topology=topology, flow=flows)).write(tmp_path / "run")
    report_command(tmp_path / "run", out=None, opened=False, force=False)
    file = tmp_path / "run" / "report.html"
    assert file.stat().st_size <= LARGEST
    opened = Live(chromium, file)
    for title in ("Throughput", "Congestion window", "Round-trip time", "Queue", "Internal quantities"):
        figure = opened.figure(title)
        assert "stored numbers of this run are equal" in opened.press(figure)
        names = figure.evaluate(SERIES)
        assert any(name.endswith(", run 1") for name in names)
    opened.end()


@needs_engine
def test_a_live_report_stays_small(folder: Path) -> None:
    assert (folder / "report.html").stat().st_size <= LARGEST
