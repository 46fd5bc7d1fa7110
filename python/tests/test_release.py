"""The files that a release needs agree with each other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ackclock

from .conftest import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def test_the_citation_names_the_version() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.*)$", citation, re.MULTILINE) == [ackclock.__version__]


def test_the_changelog_has_the_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## \[([0-9.]+)\]", changelog, re.MULTILINE)[0] == ackclock.__version__


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_call_targets_of_the_makefile(workflow: Path) -> None:
    text = workflow.read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z0-9-]+)", text)) <= targets
    # Only the Makefile calls these tools.
    assert not re.search(r"\brun: .*\b(cargo|pytest|ruff|mypy)\b", text)


def test_both_workflows_check_with_the_makefile() -> None:
    texts = {path.stem: path.read_text(encoding="utf-8") for path in WORKFLOWS}
    assert "run: make check" in texts["check"]
    assert "uses: ./.github/workflows/check.yml" in texts["release"]
    assert re.search(r"needs: \[.*\bcheck\b", texts["release"])
