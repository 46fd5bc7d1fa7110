"""`ackclock papers`: the page of all papers, and ideas on hosts of today."""

from __future__ import annotations

import logging
import re
import shutil
from html import unescape
from pathlib import Path

import polars
import pytest

import ackclock
from ackclock.experiments.experiment import Experiment
from ackclock.experiments.world import SIMULATION, World
from ackclock.judging import effects
from ackclock.judging.samples import Sample
from ackclock.literature import library, summary, today
from ackclock.literature.function import papers
from ackclock.literature.library import Paper
from ackclock.literature.plan import plan_paper
from ackclock.literature.today import QUESTIONS, Compared, Effect
from ackclock.scenario import Scenario, load

from .conftest import Cli
from .test_paper import TINY, TINY_SCENARIO

CLAIMS = """\
[[claim]]
id = "two-leads"
text = "two leads"
source = "§1"
kind = "order"
axis = "algorithm"
where = { loss = "some", queue = "5" }
expected = [["2"], ["1"]]
metrics = ["goodput_bps"]
"""
SUMMARY = """
[answer]
sentences = ["That two leads {two-leads.verdict}.", "It is a test.", "Of {sentences} sentences, {counts}."]
chart = "goodput"

[[chart]]
kind = "bars"
title = "goodput"
where = { loss = "some" }
x = "algorithm"
series = "queue"
metric = "goodput_bps"
axis = "goodput (bit/s)"

[summary]
idea = "Start with more."
claim = "More arrives."
today = { initial_window = "32 segments" }
control = { initial_window = "31 segments" }
control_name = "31 segments"
"""


@pytest.fixture
def paper(tmp_path: Path) -> Paper:
    folder = tmp_path / "tiny"
    folder.mkdir()
    (folder / "paper.toml").write_text(TINY + SUMMARY)
    (folder / "tiny.toml").write_text(TINY_SCENARIO)
    (folder / "claims.toml").write_text(CLAIMS)
    return library._load(folder)


def test_every_paper_has_a_summary_whose_parts_fit_a_host_of_today() -> None:
    found = [each for each in library.papers() if each.contents.summary is not None]
    assert len(found) >= 5
    made = today.variants(found)
    assert {name for name, kind in made if kind == "idea"} == {each.name for each in found}
    assert [each.name for each in found if (each.name, "control") not in made] == ["icw"], "ten segments are the host's"
    for question in QUESTIONS:
        scenario = load(today.FOLDER / f"{question.name}.toml")
        hashes = {today.variant(scenario, keys).hash for keys in made.values()}
        assert len(hashes) == len(made)


def finding(question: today.Question, ratio: float, spread: float = 0.1) -> effects.Finding:
    """Judge five pairs with this ratio."""
    scatter = (1 - spread, 1 - spread / 2, 1.0, 1 + spread / 2, 1 + spread)
    sample = Sample([ratio * each for each in scatter], [1.0, 1.01, 0.99, 1.02, 0.98], "ratio")
    sample = sample if spread > 0.01 else Sample([ratio * each for each in scatter], [1.0] * 5, "ratio")
    better: effects.Better = "more" if question.better > 0 else "less"
    return effects.judge([effects.Question(sample, better, today.TOLERANCE)])[0]


def effect(question: today.Question, ratio: float, spread: float = 0.1) -> Effect:
    return Effect(question, finding(question, ratio, spread))


def test_effects_have_their_sense() -> None:
    less, more = QUESTIONS[0], QUESTIONS[2]
    assert effect(less, 0.7).verdict == "better"
    assert effect(more, 0.7).verdict == "worse"
    assert effect(more, 1.0).verdict == "cannot tell"
    assert effect(more, 1.0, 1e-3).verdict == "no difference"
    assert Effect(more, None).verdict == "no result"
    equal = Sample([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], "ratio")
    assert Effect(more, effects.judge([effects.Question(equal, "more")])[0]).verdict == "never acts"


def compared(host: float, control: float, alone: float, spread: float = 1e-3) -> Compared:
    """Return an idea with these ratios over the host, over its control, and of the control over the host."""
    own = [[effect(QUESTIONS[2], ratio, each)] for ratio, each in ((host, 1e-3), (control, spread), (alone, 1e-3))]
    return Compared(SIMULATION, *own)


@pytest.mark.parametrize(
    ("ratios", "said"),
    [
        ((5.2, 1.01, 5.15), "a's gain is that of halving (×5.200 against ×5.150, simulated)"),
        ((0.7, 1.0, 0.7), "a's loss is that of halving (×0.700"),
        ((2.0, 2.0, 1.0), "a's gain is its own (×2.00"),
        ((4.0, 2.0, 2.0), "a's gain exceeds that of halving (×4.00"),
        ((2.0, 0.5, 4.0), "a's gain is smaller than that of halving (×2.00"),
        ((1.0, 1.0, 1.0), ""),
    ],
)
def test_the_page_says_whose_a_gain_is(ratios: tuple[float, float, float], said: str) -> None:
    found = summary.whose_gain("a", "halving", compared(*ratios), 0)
    start = "goodput with 0.1 % random loss: " if said else ""
    assert found.startswith(start + said.split("(")[0]), found
    assert summary.whose_gain("a", "", compared(*ratios), 0) == "", "the host is the control"


def test_a_gain_whose_owner_the_runs_cannot_tell() -> None:
    found = summary.whose_gain("a", "halving", compared(2.0, 1.02, 1.95, spread=0.3), 0)
    assert found.startswith("goodput with 0.1 % random loss: the runs cannot tell whether a's gain is its own (")


def test_an_idea_gains_only_if_a_loss_is_excluded() -> None:
    gain, same, open_ = effect(QUESTIONS[2], 2.0), effect(QUESTIONS[2], 1.0, 1e-3), effect(QUESTIONS[2], 1.0)
    assert summary._gains([gain, same])
    assert not summary._gains([gain, open_]), "a loss is possible"
    assert not summary._gains([gain, effect(QUESTIONS[2], 0.5)])
    assert not summary._gains([same])


def test_a_larger_initial_window_shortens_a_download_and_its_control_says_why(paper: Paper) -> None:
    [made] = today.measure([paper], Experiment(jobs=1), quick=True)["tiny"]
    assert made.world is SIMULATION
    assert [each.question for each in made.host] == list(QUESTIONS)
    assert made.host[0].verdict == "better"
    assert 0.5 < made.host[0].ratio.mean < 0.95
    assert 0.97 < made.control[0].ratio.mean < 1.03, "31 segments do the same"
    assert "tiny's gain is that of 31 segments" in summary.whose_gain("tiny", "31 segments", made, 0)


def test_a_scenario_exists_in_which_each_rule_acts() -> None:
    found = [each for each in library.papers() if each.contents.summary is not None]
    made = today.variants(found)
    for each in found:
        acts = []
        for question in QUESTIONS:
            scenario = load(today.FOLDER / f"{question.name}.toml")
            runs = [
                ackclock.run(today.variant(scenario, keys), record=[]).flows
                for keys in (made[today.HOST], made[each.name, "idea"])
            ]
            values = [polars.DataFrame(run)[question.measure].to_list() for run in runs]
            acts.append(values[0] != values[1])
        assert sum(acts) >= 3, each.name
        assert acts[0] == (each.name not in ("exp", "rbt")), (
            "a download of 1 MB without loss reaches no rule for losses"
        )


class Other:
    """A world that runs the simulation and calls itself a kernel, and refuses an idea."""

    @staticmethod
    def world() -> World:
        def refusal(scenario: Scenario) -> str | None:
            return "no such control" if "rtt_scaled" in scenario.to_toml() else None

        return World("linux", refusal=refusal, release="6.12", identity="test")


def test_another_world_stands_beside_the_simulation(paper: Paper, tmp_path: Path) -> None:
    file = paper.folder / "paper.toml"
    other = tmp_path / "other"
    shutil.copytree(paper.folder, other)
    file = other / "paper.toml"
    file.write_text(
        file.read_text().replace(
            'today = { initial_window = "32 segments" }', 'today = { initial_window = "rtt_scaled" }'
        )
    )
    papers_of = [paper, library._load(other)]
    made = today.measure(papers_of, Experiment(jobs=1), [SIMULATION, Other.world()], quick=True)
    first, second = made["tiny"]
    assert (today.how(first.world), today.how(second.world)) == ("simulated", "measured on Linux 6.12")
    assert first.host[0].ratio.count == today.QUICK_SEEDS
    assert second.host[0].ratio.count == today.QUICK_FEW
    assert made["other"][0].host
    assert (made["other"][1].host, made["other"][1].refused) == ((), "no such control")


def test_the_page_has_idea_claim_finding_and_today(
    paper: Paper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "ackclock")
    own = [effect(question, 0.8) for question in QUESTIONS]
    linux = Compared(Other.world(), refused="no such control")
    measured = {"tiny": [Compared(SIMULATION, own, [effect(each, 1.0, 1e-3) for each in QUESTIONS], own), linux]}
    monkeypatch.setattr(library, "papers", lambda: [paper])
    monkeypatch.setattr(today, "measure", lambda *papers, **options: measured)
    out = tmp_path / "out"
    for _ in range(2):
        papers(quick=True, out=out, jobs=1)
    assert "\n0 runs in " in "\n".join(caplog.messages)
    html = (out / "report.html").read_text()
    text = unescape(re.sub(r"<[^>]+>", "", html[html.index("<main>") : html.index("<footer")]))
    assert "Of 1 sentence in 1 paper, 1 is undecided" in text
    for wanted in (
        "Idea. Start with more.",
        "Claim. More arrives.",
        "Found. That two leads is undecided. It is a test. ",
        "On hosts of today, simulated. ",
        "×0.80 [0.72, 0.89]",
        "On hosts of today, measured on Linux 6.12. It cannot run: no such control.",
        "Time of a 1 MB download: tiny's gain is that of 31 segments (×0.80 against ×0.80, simulated)",
        "after Holm's correction",
        "by more than ±5 %",
        "a verdict may be another with all",
    ):
        assert wanted in text
    assert "Of 1 sentences" not in text, "the page counts the sentences of all papers"
    assert 'href="tiny/report.html"' in html
    assert (out / "tiny" / "report.html").exists()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("")
    with pytest.raises(FileExistsError, match="not written by ackclock"):
        papers(quick=True, out=tmp_path / "mine", jobs=1)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('control_name = "31 segments"', "", "control and control_name are a pair"),
        ('control = { initial_window = "31 segments" }', 'control = { window = "31" }', "summary.control: "),
    ],
)
def test_a_wrong_control_is_an_error_before_the_first_run(paper: Paper, old: str, new: str, message: str) -> None:
    file = paper.folder / "paper.toml"
    file.write_text(file.read_text().replace(old, new))
    with pytest.raises(ValueError, match=message):
        plan_paper(library._load(paper.folder), quick=True)


def test_a_wrong_summary_is_an_error_before_the_first_run(paper: Paper) -> None:
    file = paper.folder / "paper.toml"
    file.write_text(file.read_text().replace("idea =", "ideas ="))
    with pytest.raises(ValueError, match=r"summary: there is no key .ideas."):
        library._load(paper.folder)


def test_the_report_of_a_paper_is_built_again_without_runs(paper: Paper, tmp_path: Path, cli: Cli) -> None:
    home = tmp_path / "home"
    (home / "papers").mkdir(parents=True)
    paper.folder.rename(home / "papers" / "tiny")
    assert cli("paper", "tiny", "--quick", "--out", "o", cwd=home).returncode == 0
    before = (home / "o" / "report.html").read_bytes()
    (home / "o" / "report.html").unlink()
    done = cli("report", "o", cwd=home)
    assert done.returncode == 0, done.stderr
    assert (home / "o" / "report.html").read_bytes() == before
    (home / "o" / "measured.parquet").unlink()
    refused = cli("report", "o", cwd=home)
    assert refused.returncode == 2
    assert "runs missing" in refused.stderr
    assert "ackclock paper tiny --quick --out o" in refused.stderr
