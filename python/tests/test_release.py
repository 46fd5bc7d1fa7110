"""The files that a release needs agree with each other."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import ackclock

from .conftest import ROOT


def test_the_citation_names_the_version() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.*)$", citation, re.MULTILINE) == [ackclock.__version__]


def test_the_changelog_has_the_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## \[([0-9.]+)\]", changelog, re.MULTILINE)[0] == ackclock.__version__


def test_the_script_that_copies_papers_works_after_a_move_of_the_sources(tmp_path: Path) -> None:
    """Cargo keeps a compiled script, also if a wheel was built from a source distribution in a folder since deleted."""
    if (rustc := shutil.which("rustc")) is None:
        pytest.skip("compiling needs rustc")
    elsewhere = tmp_path / "elsewhere" / "crates" / "py"
    shutil.copytree(ROOT / "crates" / "py", elsewhere)
    program = tmp_path / "script"
    compiled = {**os.environ, "CARGO_MANIFEST_DIR": str(elsewhere)}
    subprocess.run(
        [rustc, "--edition", "2024", "build.rs", "-o", str(program)], cwd=elsewhere, env=compiled, check=True
    )
    shutil.rmtree(tmp_path / "elsewhere")
    moved = {**os.environ, "CARGO_MANIFEST_DIR": str(ROOT / "crates" / "py"), "OUT_DIR": str(tmp_path)}
    subprocess.run([program], env=moved, check=True)
    copied = {file.relative_to(tmp_path / "papers") for file in (tmp_path / "papers").rglob("*.*")}
    assert Path("ass/paper.toml") in copied
    assert all(file.suffix in (".toml", ".md") and file.parts[0] != "repaired" for file in copied)
