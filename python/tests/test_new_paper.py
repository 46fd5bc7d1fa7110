"""The start of a paper of one's own: `ackclock paper --new NAME`, as a newcomer types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ackclock.literature import starting

from .conftest import Cli


def test_a_new_paper_runs_as_the_guide_says(tmp_path: Path, cli: Cli) -> None:
    made = cli("paper", "--new", "mine", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    files = [Path("papers/mine") / name for name in ("README.md", "claims.toml", "paper.toml", "scenario.toml")]
    assert made.stdout.splitlines() == list(map(str, files))
    assert made.stderr == "run it: ackclock paper mine\n"
    assert not any("NAME" in (tmp_path / file).read_text() for file in files)
    alone = cli("run", "papers/mine/scenario.toml", cwd=tmp_path)
    assert alone.returncode == 0, alone.stderr
    done = cli("paper", "mine", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[-1] == "out/mine/report.html"
    assert lines[-3] == "The claim that it prevents losses holds, if a fifth less counts as prevention."
    verdicts = json.loads((tmp_path / "out" / "mine" / "verdicts.json").read_text())
    found = {reading["metric"]: reading["verdict"] for reading in verdicts}
    assert found == {"retransmitted_packets": "holds", "completion_time": "does not hold"}
    assert "This text ends the report." in (tmp_path / "out" / "mine" / "report.html").read_text()
    brief = cli("paper", "mine", "--brief", cwd=tmp_path)
    assert brief.stdout.splitlines() == lines[-4:], "the answer and the report, without a table"


def test_a_new_paper_replaces_nothing(tmp_path: Path, cli: Cli) -> None:
    assert cli("paper", "mine", "--new", cwd=tmp_path).returncode == 0
    (tmp_path / "papers" / "mine" / "paper.toml").write_text("mine")
    again = cli("paper", "--new", "mine", cwd=tmp_path)
    assert (again.returncode, again.stdout) == (2, "")
    assert again.stderr == "error: papers/mine exists; choose another name\n"
    assert (tmp_path / "papers" / "mine" / "paper.toml").read_text() == "mine"
    shipped = cli("paper", "--new", "ass", cwd=tmp_path)
    assert (shipped.returncode, shipped.stderr) == (2, "error: there is already a paper 'ass'; choose another name\n")
    both = cli("paper", "--new", "other", "--quick", cwd=tmp_path)
    assert (both.returncode, (tmp_path / "papers" / "other").exists()) == (2, False)
    assert "takes no other option" in both.stderr


@pytest.mark.parametrize("name", ["", "..", "a/b", "/tmp/x", "a b", "-x"])
def test_a_name_is_the_name_of_a_folder(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="letters, digits"):
        starting.start(name)
    assert not any(tmp_path.iterdir())
