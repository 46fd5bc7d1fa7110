"""How a result was made: the commit of a checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from ackclock.files import made

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


def git(*words: str) -> str:
    options = ["-C", str(made.ROOT), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    return subprocess.run(["git", *options, *words], check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a file of a checkout."""
    monkeypatch.setattr(made, "ROOT", tmp_path)
    file = tmp_path / "python" / "ackclock" / "run.py"
    file.parent.mkdir(parents=True)
    file.write_text("1\n")
    git("init", "--quiet")
    git("add", "python")
    git("commit", "--quiet", "--message", "first")
    return file


def test_the_commit_tells_of_changed_files(file: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("")
    assert made.commit() == git("rev-parse", "HEAD")
    file.write_text("22\n")
    assert made.commit() == git("rev-parse", "HEAD") + "-dirty"


def test_without_a_commit_there_is_none(file: Path, tmp_path: Path) -> None:
    git("update-ref", "-d", "HEAD")
    assert made.commit() is None


def test_git_writes_nothing(file: Path, tmp_path: Path) -> None:
    """A killed git would leave a lock in the checkout, and the next commit there would fail."""
    os.utime(file, (1e9, 1e9))
    index = tmp_path / ".git" / "index"
    before = index.read_bytes()
    assert made.commit() == git("rev-parse", "HEAD")
    assert index.read_bytes() == before
