"""The files that a release needs agree with each other."""

from __future__ import annotations

import re

import ackclock

from .conftest import ROOT


def test_the_citation_names_the_version() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.*)$", citation, re.MULTILINE) == [ackclock.__version__]


def test_the_changelog_has_the_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## \[([0-9.]+)\]", changelog, re.MULTILINE)[0] == ackclock.__version__
