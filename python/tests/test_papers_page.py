"""`ackclock papers`: the page of all papers, and ideas on hosts of today."""

from __future__ import annotations

import logging
import re
from pathlib import Path

import pytest

from ackclock.experiments.experiment import Experiment
from ackclock.judging import effects
from ackclock.judging.samples import Sample
from ackclock.literature import library, today
from ackclock.literature.function import papers
from ackclock.literature.library import Paper
from ackclock.literature.today import QUESTIONS, Effect
from ackclock.scenario import load

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
[summary]
idea = "Start with more."
claim = "More arrives."
today = { initial_window = "32 segments" }
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
    found = library.papers()
    assert len(found) >= 5
    assert all(each.contents.summary is not None for each in found)
    for question in QUESTIONS:
        made = today.variants(load(today.FOLDER / f"{question.name}.toml"), found)
        assert set(made) == {"", *(each.name for each in found)}
        assert len({scenario.hash for scenario in made.values()}) == len(made)


def found(question: today.Question, ratio: float, spread: float = 0.1) -> effects.Finding:
    """Judge five pairs with this ratio."""
    scatter = (1 - spread, 1 - spread / 2, 1.0, 1 + spread / 2, 1 + spread)
    sample = Sample([ratio * each for each in scatter], [1.0, 1.01, 0.99, 1.02, 0.98], "ratio")
    sample = sample if spread > 0.01 else Sample(scatter, [1.0] * 5, "ratio")
    return effects.judge([effects.Question(sample, "more" if question.better > 0 else "less")])[0]


def test_effects_have_their_sense() -> None:
    less, more = QUESTIONS[0], QUESTIONS[1]
    assert Effect(less, found(less, 0.8)).verdict == "better"
    assert Effect(more, found(more, 0.8)).verdict == "worse"
    assert Effect(more, found(more, 1.0)).verdict == "no clear difference"
    assert Effect(more, found(more, 1.0, 1e-3)).verdict == "no difference"
    assert Effect(more, None).verdict == "unknown"


def test_a_larger_initial_window_shortens_a_download(paper: Paper) -> None:
    made = today.measure([paper], Experiment(jobs=1), quick=True)["tiny"]
    assert [effect.question for effect in made] == list(QUESTIONS)
    assert made[0].verdict == "better"
    assert 0.5 < made[0].ratio.mean < 0.95


def test_the_page_has_idea_claim_finding_and_today(
    paper: Paper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "ackclock")
    measured = {"tiny": [Effect(question, found(question, 0.8)) for question in QUESTIONS]}
    monkeypatch.setattr(library, "papers", lambda: [paper])
    monkeypatch.setattr(today, "measure", lambda *papers, **options: measured)
    out = tmp_path / "out"
    for _ in range(2):
        papers(quick=True, out=out, jobs=1)
    assert "\n0 runs in " in "\n".join(caplog.messages)
    html = (out / "report.html").read_text()
    text = re.sub(r"<[^>]+>", "", html[html.index("<main>") : html.index("<footer")])
    assert "Of 1 sentence in 1 paper, 1 is undecided" in text
    for wanted in (
        "Idea. Start with more.",
        "Claim. More arrives.",
        "Found. ",
        "On Linux 6.18. ",
        "×0.80 [0.72, 0.89]",
    ):
        assert wanted in text
    assert 'href="tiny/report.html"' in html
    assert (out / "tiny" / "report.html").exists()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("")
    with pytest.raises(FileExistsError, match="not written by ackclock"):
        papers(quick=True, out=tmp_path / "mine", jobs=1)


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
