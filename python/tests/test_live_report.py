"""Live reports: their data, the rules of verdicts in the page, and runs in a headless browser."""

from __future__ import annotations

import base64
import json
import math
import random
import shutil
import subprocess
import zlib
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars
import pytest

from ackclock.cli.reporting import report_command
from ackclock.experiments.draws import Jitter
from ackclock.experiments.repetitions import FURTHER, Rule, further, repetitions
from ackclock.files import toml
from ackclock.papers import library, reproduction
from ackclock.papers import report as paper_report
from ackclock.papers.alive import count_for
from ackclock.papers.claims import Claim, parse_claims
from ackclock.papers.plan import plan_paper
from ackclock.papers.verdicts import Judgement, judge_all
from ackclock.reports import live
from ackclock.reports.live import Scenarios, changed
from ackclock.running import run
from ackclock.scenario import Scenario
from ackclock.texts.numbers import finite
from tests import browser

ROOT = Path(__file__).parents[2]
CODE = ROOT / "web" / "src" / "report"
NODE = next((path for path in (str(ROOT / ".venv/bin/node"), shutil.which("node")) if path and Path(path).exists()), "")
LARGEST = 6_000_000


def version() -> tuple[int, ...]:
    """Return the version of Node, which runs TypeScript from 22.18 on."""
    if not NODE:
        return (0,)
    said = subprocess.run([NODE, "--version"], capture_output=True, text=True, check=True).stdout
    return tuple(int(part) for part in said.strip().lstrip("v").split("."))


needs_node = pytest.mark.skipif(
    version() < (22, 18) or not CODE.is_dir(), reason="needs Node 22.18 or newer, and the sources of the page"
)
needs_engine = pytest.mark.skipif(not live.built(), reason="the engine for pages is not built: make web")

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
derived = ["share", "eq7", "jain", "resent", "estimate"]

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
    found = [further(rule, small(), first, 5) for first in (1, 4)]
    own, common = (
        [[it.scenario.seed for it in runs if it.seeds == kind] for runs in found] for kind in ("own", "common")
    )
    assert own == [list(range(FURTHER, FURTHER + 5)), list(range(FURTHER + 5, FURTHER + 10))]
    assert common[0] == common[1]
    assert not set(planned) & {seed for seeds in (*own, *common) for seed in seeds}


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


def test_cells_have_fewer_further_repetitions_if_there_are_many() -> None:
    assert [count_for(cells) for cells in (0, 10, 300, 100_000)] == [20, 20, 10, 5]


def test_repetitions_are_stored_as_the_lines_that_change() -> None:
    scenarios = Scenarios()
    base = small().to_toml()
    others = {f"seed {seed}": small(seed=seed).to_toml() for seed in (2, 3)}
    assert scenarios.add(base) == scenarios.add(base) == 0
    assert scenarios.repeat(base, others) == scenarios.repeat(base, others) == 0
    data = scenarios.data
    assert data["texts"] == [base]
    for name, lines in data["repeated"][0]:
        patched = base.split("\n")
        for line, text in lines:
            patched[line] = text
        assert "\n".join(patched) == others[name]
    assert changed(base, base + "\n") is None
    assert scenarios.repeat(base, {"longer": base + "\n"}) == 1
    assert scenarios.data["texts"][scenarios.data["repeated"][1][0][1]] == base + "\n"


# Static and live pages


def test_without_the_engine_a_report_is_static_and_says_so(
    stored: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(live, "PAGE", tmp_path)
    html = paper_report.stored_paper(stored)
    assert html.count(live.STATIC) == 1
    assert "wasm-unsafe-eval" not in html
    assert 'id="engine"' not in html
    assert all("again" not in spec for spec in embedded(html, "data"))
    # The file of an installation that has no engine.
    (tmp_path / "engine.js").write_text("// The engine was not built: make web\n")
    (tmp_path / "report.js").write_text('"use strict";')
    assert not live.built()


def test_a_report_contains_engine_and_program_once(
    stored: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(live, "PAGE", tmp_path)
    (tmp_path / "engine.js").write_text('self.ackclockEngine = "AAAA";')
    (tmp_path / "report.js").write_text("'</script><script>alert(2)</script>'")
    html = paper_report.stored_paper(stored)
    assert [html.count(f'id="{name}"') for name in ("engine", "live", "program")] == [1, 1, 1]
    assert html.count("&#39;wasm-unsafe-eval&#39;") == html.count("worker-src blob:") == 1
    assert "&#39;unsafe-eval&#39;" not in html
    assert html.count("</script>") == html.count("<script")
    assert "alert(" not in html.replace("alert(1)&lt;/script", "")
    assert live.STATIC not in html
    data = embedded(html, "live")
    assert len(data["cells"]) == 10
    assert {claim["id"]: bool(claim["readings"][0]["reason"]) for claim in data["claims"]} == {
        "b-leads": False, "queue": False, "paths": False, "model": True
    }  # fmt: skip
    # Cells of one topology share their draws.
    assert len(data["repeated"]) < len(data["cells"]) + 4
    again = [spec["again"] for spec in embedded(html, "data")]
    assert [each["kind"] for each in again] == ["values", "values", "grid", "cwnd", "throughput", "internals"]
    assert [run[5:] for run in again[1]["runs"]] == [[run[0], "b"] for run in again[1]["runs"]]


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


# Verdicts in the page


def of_papers() -> list[tuple[Claim, list[str]]]:
    """Return the claims of all papers, with the labels of their rows."""
    found = []
    for path in sorted((ROOT / "papers").glob("*/claims.toml")):
        paper = library.find(path.parent.name)
        document = toml.read(path)
        values: dict[str, set[str]] = {label: {"one", "two"} for label in paper.all_labels}
        metrics = set(document.get("metrics", ()))
        for claim in document["claim"]:
            for label, value in claim.get("where", {}).items():
                values[label].add(value)
            named = [claim.get("of"), claim.get("to"), *claim.get("rest", ()), *claim.get("lead", ())]
            named += [name for group in claim.get("expected", ()) for name in group]
            values[claim["axis"]] |= {name for name in named if name}
            metrics |= set(claim.get("metrics", ()))
        claims = parse_claims(document, {label: sorted(kept) for label, kept in values.items()}, sorted(metrics))
        found += [(claim, paper.all_labels) for claim in claims]
    return found


def sample(claim: Claim, labels: list[str], metric: str, draw: random.Random) -> list[dict[str, Any]]:
    """Draw rows for a claim: cells, variants and repetitions of any sampling, some without scatter, some 0."""
    named = [claim.of, claim.to, *claim.rest, *claim.lead, *(name for group in claim.expected for name in group)]
    variants = list(dict.fromkeys(name for name in named if name)) or ["one", "two", "three"]
    variants += ["other"] if claim.kind == "best" else []
    free = [label for label in labels if label not in claim.where and label != claim.axis][:2]
    cells: list[dict[str, str]] = [{}]
    for label in free:
        cells = [
            {**cell, label: value} for cell in cells for value in draw.sample(["1", "2", "3"], draw.choice([1, 2]))
        ]
    sampling, count = draw.choice(["seed", "seed", "seed", "path", "offset"]), draw.choice([1, 2, 3, 5, 20])
    ends = [end for end in (claim.low, claim.high) if end]
    middle = draw.choice([*ends, 1.0]) if claim.kind == "bound" else draw.choice([0.5, 3.0, 1e6])
    spread = draw.choice([0.0, 0.001, 0.05, 0.4])
    rows = []
    for cell in cells:
        for variant in variants:
            # Variants are equal, close or far apart, so that every verdict occurs.
            level = 0.0 if draw.random() < 0.05 else middle * draw.choice([1.0, 1.0, 1.004, 0.8, 1.5, 3.0])
            exact = draw.random() < 0.1
            for unit in range(1 if exact else count):
                value = max(0.0, level * (1 + (0.0 if exact else draw.gauss(0.0, spread))))
                bounded = min(value, 1.0) if metric in ("jain", "share", "loss_rate") else value
                row = {**dict.fromkeys(labels, "1"), **cell, **claim.where, claim.axis: variant, metric: bounded}
                kinds = {"seeds": draw.choice([None, "own", "common"]), "paths": draw.choice([None, "like", "exact"])}
                rows.append({**row, **kinds, "sampling": "exact" if exact else sampling, "unit": unit})
    return rows


def same(found: float, wanted: float, relation: str) -> bool:
    """Whether the end of an interval is equal; that of a difference is one of a ratio less 1."""
    shift = relation in ("above", "overlaps", "best")
    return found == wanted or math.isclose(found + shift, wanted + shift, rel_tol=1e-9)


@needs_node
def test_the_page_judges_as_the_program_does() -> None:
    draw = random.Random(16)
    cases, wanted = [], []
    for claim, labels in of_papers():
        for metric in claim.metrics * 4:
            rows = sample(claim, labels, metric, draw)
            own: list[Judgement] = judge_all([claim], rows, labels)
            limits = finite(dict(zip(("low", "high"), claim.limits(), strict=True)))
            cases.append({"claim": {**asdict(claim), **limits, "where": dict(claim.where)}, "metric": metric,
                          "rows": rows, "labels": labels})  # fmt: skip
            wanted.append(next(judgement for judgement in own if judgement.metric == metric))
    done = subprocess.run(
        [NODE, str(CODE / "judge.cli.ts")], input=json.dumps(cases), capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)
    seen = set()
    for judgement, page in zip(wanted, found, strict=True):
        assert (page["verdict"], page["why"], page["sampling"]) == (
            judgement.verdict,
            judgement.why,
            judgement.sampling,
        )
        for comparison, other in zip(judgement.comparisons, page["comparisons"], strict=True):
            assert (other["left"], other["right"], other["relation"]) == (
                comparison.left, comparison.right, comparison.relation
            )  # fmt: skip
            assert (other["verdict"], other["why"]) == (comparison.verdict, comparison.why)
            seen.add((comparison.relation, comparison.verdict, comparison.why))
            if comparison.difference is None:
                assert other["difference"] is None
                continue
            for end in ("mean", "low", "high"):
                said = float(other["difference"][end])
                assert same(said, getattr(comparison.difference, end), comparison.relation), (
                    judgement,
                    comparison,
                    other,
                )
    # The samples reach every rule.
    relations = {relation: {verdict for kind, verdict, _ in seen if kind == relation} for relation, _, _ in seen}
    assert set(relations) == {"above", "overlaps", "ratio", "value", "best"}
    assert all({"holds", "does not hold", "cannot tell"} <= verdicts for verdicts in relations.values())
    assert {why for _, _, why in seen} >= {None, "reversed", "no difference", "apart", "beaten"}


# Runs in the page


@needs_node
@needs_engine
def test_a_stored_run_gives_the_same_numbers_in_the_page(folder: Path) -> None:
    data = embedded((folder / "report.html").read_text(encoding="utf-8"), "live")
    command = [NODE, str(CODE / "stored.cli.ts"), str(live.PAGE / "engine.js")]
    done = subprocess.run(command, input=json.dumps(data), capture_output=True, text=True, check=True)
    table = polars.read_parquet(folder / "runs.parquet").with_columns(
        polars.col(polars.Categorical, polars.Enum).cast(polars.String)
    )
    compared = set()
    for cell, found in zip(data["cells"], json.loads(done.stdout), strict=True):
        (study, queue), kinds = cell["labels"].values(), {"seeds": ("own", None), "paths": ("like", None)}
        rows = [row for row in table.iter_rows(named=True) if (row["study"], row["queue"]) == (study, queue)]
        rows = [row for row in rows if all(row[key] in kept for key, kept in kinds.items())]
        first = min(row["unit"] for row in rows)
        for row in (row for row in rows if row["unit"] == first):
            page = next(other for other in found["rows"] if other["flow"] == row["algorithm"])
            for name in set(page) & set(row) - {"flow", "algorithm"}:
                assert page[name] == row[name], (cell["labels"], name)
                compared |= {name} if row[name] is not None else set()
    derived = {"share", "rank", "eq7_bps", "jain", "resent_ratio", "bwe_ratio", "rtt_mean", "load_mean", "page_bps"}
    assert derived | {"late", "cwnd_mean", "queue_drops", "slow_start_exit_cwnd", "goodput_bps"} <= compared


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
def test_a_map_shows_the_new_value_beside_the_stored_one(chromium: Any, folder: Path) -> None:
    opened = Live(chromium, folder / "report.html")
    figure = opened.figure("share")
    opened.press(figure)
    cells = figure.locator(".again-out tbody td").all_inner_texts()
    assert cells[0] == "5 packets, seeds"
    assert 0 < float(cells[1]) < 1
    assert cells[2]
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

    figure.get_by_label("RTT").fill("soon")
    assert refused() == 'RTT: "soon" is no time such as "40 ms"'
    figure.get_by_label("RTT").fill("1 ms")
    assert refused().startswith("RTT: the other links alone take ")
    figure.get_by_label("RTT").fill("")
    figure.get_by_label("Key").fill("flow.rwmd")
    figure.get_by_label("Value").fill("3 packets")
    assert "rwnd" in refused()
    opened.end()


@browser.needed
@needs_engine
@pytest.mark.parametrize("width", [400, 1400])
def test_claims_are_judged_again(chromium: Any, folder: Path, width: int) -> None:
    opened = Live(chromium, folder / "report.html", width=width, scheme="dark" if width == 400 else "light")
    opened.page.evaluate(
        "document.querySelectorAll('#claims, #claims details:not(.again)').forEach((it) => { it.open = true; })"
    )
    found = {}
    for claim in ("b-leads", "queue", "paths"):
        place = opened.page.locator(f".judge[data-claim={claim}]")
        place.locator("summary").click()
        opened.press(place)
        found[claim] = place.locator(".again-verdict").all_inner_texts()
    assert [text.partition(":")[0] for text in found["b-leads"]] == ["data received", "mean cwnd, whole run"]
    assert found["b-leads"][0].startswith("data received: 3 further seeds: ")
    assert found["b-leads"][0].endswith("; stored: cannot tell")
    tables = opened.page.locator(".judge[data-claim=b-leads] table").all_inner_texts()
    assert [table.split()[-1] for table in tables] == ["B", "segments"]
    assert found["queue"][0].startswith("Jain's index: 3 further seeds: ")
    assert found["paths"] == ["data received: 3 further drawn paths: holds; stored: holds"]
    refused = opened.page.locator(".judge[data-claim=model]").inner_text()
    assert refused.endswith(
        "its values come from an analytic model with random losses, which the page does not contain."
    )
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
    for title in ("Throughput", "Congestion window", "Round-trip time", "Queue", "Internal quantity"):
        figure = opened.figure(title)
        assert "stored numbers of this run are equal" in opened.press(figure)
        names = figure.evaluate(SERIES)
        assert any(name.endswith(", run 1") for name in names)
    opened.end()


@needs_engine
def test_a_live_report_stays_small(folder: Path) -> None:
    assert (folder / "report.html").stat().st_size <= LARGEST
