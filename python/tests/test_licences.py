"""A dependency with another licence fails the check of licences, and so does one without a text for the notices."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from .conftest import ROOT


def load(name: str) -> ModuleType:
    """Load a program of the folder `packaging`."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "packaging" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


licences = load("licences")
notices = load("notices")


def crate(folder: Path, name: str, licence: str, more: str = "") -> Path:
    """Write a crate, and return its manifest."""
    (folder / name / "src").mkdir(parents=True)
    (folder / name / "src" / "lib.rs").write_text("")
    manifest = folder / name / "Cargo.toml"
    manifest.write_text(f'[package]\nname = "{name}"\nversion = "1.0.0"\nlicense = "{licence}"\n{more}')
    return manifest


@pytest.mark.skipif(shutil.which("cargo") is None, reason="needs cargo")
@pytest.mark.parametrize(("licence", "code"), [("MIT", 0), ("GPL-3.0-only", 4)])
def test_a_crate_with_another_licence_fails(licence: str, code: int, tmp_path: Path) -> None:
    if not (program := licences.deny()):
        pytest.skip("cargo-deny is not installed")
    crate(tmp_path, "needed", licence)
    manifest = crate(tmp_path, "ours", "MIT", '[dependencies]\nneeded = { path = "../needed" }\n')
    command = [program, "--offline", f"--manifest-path={manifest}", f"--config={ROOT}/deny.toml", "check", "licenses"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert ("GPL-3.0-only" in done.stderr) == bool(code)


@pytest.mark.parametrize(("licence", "said"), [("MIT", []), ("GPL-3.0-only", ["other 1.0: GPL-3.0-only"])])
def test_a_python_package_with_another_licence_fails(
    licence: str, said: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    try:
        metadata.distribution("pip-licenses")
    except metadata.PackageNotFoundError:
        pytest.skip("pip-licenses is not installed")
    (tmp_path / "other-1.0.dist-info").mkdir()
    about = f"Metadata-Version: 2.4\nName: other\nVersion: 1.0\nLicense-Expression: {licence}\n"
    (tmp_path / "other-1.0.dist-info" / "METADATA").write_text(about)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    other = metadata.Distribution.at(tmp_path / "other-1.0.dist-info")
    monkeypatch.setattr(licences, "required", lambda: iter([other]))
    wrong, skipped = licences.requirements()
    assert not skipped
    assert len(wrong) == len(said)
    assert all("GPL-3.0-only" in text and "other" in text for text in wrong)


def test_what_the_wheel_requires_is_found_with_its_extras() -> None:
    names = {found.name.lower() for found in licences.required()}
    assert {"polars", "numpy", "typing_extensions"} <= names
    assert not {"pytest", "maturin"} & names


def test_a_package_of_the_pages_with_another_licence_fails(tmp_path: Path) -> None:
    packages: dict[str, Any] = {
        "": {"license": "MIT OR Apache-2.0"},
        "node_modules/good": {"license": "MIT"},
        "node_modules/axe-core": {"license": "MPL-2.0"},
        "node_modules/@a/bad": {"license": "GPL-3.0-only"},
        "node_modules/good/node_modules/none": {},
        "node_modules/other": {"license": "MPL-2.0"},
    }
    lock = tmp_path / "package-lock.json"
    lock.write_text(json.dumps({"packages": packages}))
    found = [text.split(": ")[1].split(",")[0] for text in licences.pages(lock)]
    assert found == [
        "@a/bad has the licence GPL-3.0-only",
        "none has the licence no licence",
        "other has the licence MPL-2.0",
    ]
    assert licences.pages() == []


def test_of_licences_to_choose_from_the_notices_take_one(tmp_path: Path) -> None:
    for name in ("LICENSE-APACHE", "LICENSE-MIT", "NOTICE", "README"):
        (tmp_path / name).write_text(f"text of {name}\n")
    assert notices.texts(tmp_path, "MIT OR Apache-2.0") == ("text of LICENSE-MIT",)
    everything = ("text of LICENSE-APACHE", "text of LICENSE-MIT", "text of NOTICE")
    assert notices.texts(tmp_path, "Apache-2.0 AND MIT") == everything
    assert notices.texts(tmp_path, "Apache-2.0") == everything


def test_a_text_is_in_the_notices_once_with_all_its_owners() -> None:
    parts = [
        notices.Part("a 1: MIT", ("same",)),
        notices.Part("b 2: MIT", ("same", "other")),
        notices.Part("c: X", ("y",)),
    ]
    rule = notices.RULE
    assert notices.rendered(parts) == (
        f"  a 1: MIT\n  b 2: MIT\n  c: X\n{rule}a 1, b 2:\n\nsame\n{rule}b 2:\n\nother\n{rule}c:\n\ny\n"
    )


@pytest.mark.skipif(shutil.which("cargo") is None, reason="needs cargo")
def test_the_notices_name_what_is_linked_and_not_what_builds() -> None:
    said = notices.compiled("The core", ROOT / "crates" / "py" / "Cargo.toml", ["--features=ebpf-vendored"])
    listed = said.split(notices.RULE)[0]
    assert "  pyo3 " in listed
    assert "  libelf of elfutils: LGPL-3.0-or-later" in listed
    assert "  syn " not in listed and "  cc " not in listed and "  proptest " not in listed
    assert "  ackclock" not in listed
