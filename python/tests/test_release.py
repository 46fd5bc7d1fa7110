"""The files that a release needs agree with each other."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import ackclock

from .conftest import ROOT

SPEC = importlib.util.spec_from_file_location("release", ROOT / "packaging" / "release.py")
assert SPEC is not None and SPEC.loader is not None
release = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(release)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """The files of a release that may be tagged."""
    (tmp_path / "Cargo.toml").write_text('[workspace.package]\nversion = "1.2.0"\n')
    (tmp_path / "CITATION.cff").write_text("version: 1.2.0\ndate-released: 2026-12-01\n")
    (tmp_path / "CHANGELOG.md").write_text(
        "# Changelog\n\n## [1.2.0] – 2026-12-01\n\nNew.\n\n## [1.1.0] – 2026-11-01\n\nOld.\n"
    )
    return tmp_path


def test_the_files_agree() -> None:
    assert not list(release.wrong(ROOT))
    assert f'version = "{ackclock.__version__}"' in (ROOT / "Cargo.toml").read_text(encoding="utf-8")


def test_a_release_that_agrees_has_its_notes(files: Path) -> None:
    assert not list(release.wrong(files, "v1.2.0"))
    assert release.notes(files) == "New.\n"


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("Cargo.toml", "1.2.0", "1.3.0", ["tag v1.2.0", "CITATION.cff has version 1.2.0", "begins with 1.2.0"]),
        ("CITATION.cff", "2026-12-01", "2026-11-30", ["dated 2026-11-30"]),
        ("CITATION.cff", "date-released", "date", ["dated never"]),
        ("CHANGELOG.md", "2026-12-01", "unreleased", ["no date for 1.2.0", "dated 2026-12-01"]),
        ("CHANGELOG.md", "## [1.2.0]", "## 1.2.0", ["begins with 1.1.0"]),
    ],
)
def test_files_that_disagree_publish_nothing(files: Path, file: str, old: str, new: str, said: list[str]) -> None:
    text = (files / file).read_text()
    assert old in text
    (files / file).write_text(text.replace(old, new))
    found = list(release.wrong(files, "v1.2.0"))
    assert len(found) == len(said)
    assert all(part in line for part, line in zip(said, found, strict=True))


def test_crates_for_the_registry_are_complete_and_need_only_each_other() -> None:
    if (cargo := shutil.which("cargo")) is None:
        pytest.skip("reading the crates needs cargo")
    asked = [cargo, "metadata", "--no-deps", "--offline", "--format-version", "1"]
    found = json.loads(subprocess.run(asked, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
    ours = {crate["name"]: crate for crate in found["packages"]}
    public = {name for name, crate in ours.items() if crate["publish"] != []}
    assert public == {
        f"ackclock-{name}"
        for name in ("core", "host", "linux", "models", "noq", "quinn", "script", "sim", "tcp", "wire")
    }
    for name in public:
        crate = ours[name]
        missing = [key for key in ("description", "license", "repository", "readme", "keywords") if not crate[key]]
        assert not missing, name
        folder = Path(crate["manifest_path"]).parent
        assert (folder / crate["readme"]).exists()
        # Cargo packages only what lies in the crate's folder.
        for licence in ("LICENSE-MIT", "LICENSE-APACHE"):
            assert (folder / licence).read_bytes() == (ROOT / licence).read_bytes(), name
        needed = [each for each in crate["dependencies"] if each["name"] in ours]
        assert {each["name"] for each in needed} <= public, name
        # A dependency for tests alone needs no version: cargo leaves it out of the package.
        assert all(each["req"] == f"^{crate['version']}" for each in needed if each["kind"] != "dev"), name
    # The workflow publishes each after those that it needs.
    workflow = (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
    order = re.search(r"for name in (.*); do", workflow)
    assert order is not None
    names = [f"ackclock-{name}" for name in order[1].split()]
    assert sorted(names) == sorted(public)
    for name in public:
        needed = {each["name"] for each in ours[name]["dependencies"] if each["kind"] != "dev"} & public
        assert all(names.index(each) < names.index(name) for each in needed), name


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
