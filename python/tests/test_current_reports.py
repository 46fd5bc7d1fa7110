"""A report whose inputs have not changed is not made again; any change of them makes it again."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from ackclock.files.storage import MANIFEST
from ackclock.literature import current, function, library, report, reproduction
from ackclock.literature.library import Paper

from .test_paper import TINY, TINY_SCENARIO
from .test_papers_page import CLAIMS

SWEEP = '[sweep.paths]\nfile = "paths.csv"\n'


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "papers" / "tiny"
    folder.mkdir(parents=True)
    (folder / "paper.toml").write_text(TINY)
    (folder / "tiny.toml").write_text(TINY_SCENARIO)
    (folder / "claims.toml").write_text(CLAIMS)
    (folder / "README.md").write_text("# Tiny\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ask(home: Path, quick: bool = True) -> report.Report:
    return function.paper("tiny", quick=quick, out=home / "o", jobs=1)


def times(home: Path) -> dict[str, int]:
    files = [path for path in (home / "o").rglob("*") if path.is_file()]
    return {str(path.relative_to(home)): path.stat().st_mtime_ns for path in files}


def test_nothing_is_planned_or_drawn_again(
    home: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "ackclock")
    first, before = ask(home), times(home)
    with monkeypatch.context() as without:
        without.setattr("ackclock.literature.plan.plan_paper", lambda *papers, **options: pytest.fail("planned"))
        without.setattr(report, "judge_all", lambda *claims: pytest.fail("judged"))
        second = ask(home)
        assert (second.html, second.quick, second.verdicts) == (first.html, first.quick, first.verdicts)
        assert json.dumps(second.counts) == json.dumps(first.counts)
        assert second.answer.sentences == first.answer.sentences
        assert repr(second) == repr(first)
    assert times(home) == before
    assert "0 runs in 0.0 s, 8 were stored; nothing that determines the report has changed" in caplog.messages
    assert [item.to_dict() for item in second.judgements] == [item.to_dict() for item in first.judgements]


@pytest.mark.parametrize(
    "change",
    [
        "README.md", "claims.toml", "tiny.toml", "paper.toml", "o/report.html", "o/answer.json", "o/figures",
        "o/measured.parquet", "o/manifest.json", "program",
    ],
)  # fmt: skip
def test_each_change_makes_the_report_again(home: Path, change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ask(home)
    fresh = (home / "o" / "report.html").read_bytes()
    folder = home / "papers" / "tiny"
    if change == "program":
        monkeypatch.setattr(current, "_package", lambda: {"report.py": "another"})
    elif change == "o/figures":
        next((home / "o" / "figures").glob("*.png")).unlink()
    elif change == "o/manifest.json":
        file = home / change
        file.write_text(json.dumps({**json.loads(file.read_text()), "state": "interrupted"}))
    elif change == "o/measured.parquet":
        (home / change).write_bytes(b"damaged")
    else:
        file = home / change if change.startswith("o/") else folder / change
        file.write_text(file.read_text() + "\n ")
    found = library.find("tiny")
    assert report.written(found, home / "o", quick=True) is None
    if change != "program":
        ask(home)
        assert report.written(library.find("tiny"), home / "o", quick=True) is not None
        assert change == "README.md" or (home / "o" / "report.html").read_bytes() == fresh


def test_a_table_that_a_scenario_names_is_an_input(home: Path) -> None:
    folder = home / "papers" / "tiny"
    found = library.find("tiny")
    scenario = folder / "tiny.toml"
    scenario.write_text(scenario.read_text().partition("[sweep]")[0] + SWEEP)
    table = folder / "paths.csv"
    table.write_text("label,seed\na,1\n")
    assert table in current._read_by(found)
    before = current._inputs(found, home, quick=True)
    table.write_text("label,seed\na,2\n")
    assert current._inputs(found, home, quick=True) != before


def test_the_quick_report_is_no_report_of_all_runs(home: Path) -> None:
    ask(home)
    found: Paper = library.find("tiny")
    assert report.written(found, home / "o", quick=True) is not None
    assert report.written(found, home / "o", quick=False) is None
    (home / "o" / MANIFEST).unlink()
    assert report.written(found, home / "o", quick=True) is None
    assert reproduction.ANSWER in reproduction.WRITTEN
