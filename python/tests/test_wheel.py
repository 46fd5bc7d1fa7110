"""The wheel holds what the README promises: it works away from the source tree, papers included."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from .conftest import ROOT

pytestmark = pytest.mark.wheel

# Installed packages stay importable but for those that ackclock does not declare.
WITHOUT_UNDECLARED = "import sys; sys.modules['pyarrow'] = sys.modules['pandas'] = None; "
PLAN = """
from ackclock.papers import library, reproduction
for paper in library.papers():
    print(paper.name, len(reproduction.plan(paper, quick=True).runs), paper.folder)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("cargo") is None:
        pytest.skip("there is no cargo to build the wheel with")
    pytest.importorskip("maturin", reason="maturin is not installed")
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "maturin", "build", "--release", "--quiet", "--out", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, timeout=1800)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path) -> Path:
    folder = wheel.parent / "installed"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(folder)]
    subprocess.run([*command, str(wheel)], check=True, timeout=300)
    return folder


def python(installed: Path, code: str, folder: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str(installed), "NO_COLOR": "1"}
    command = [sys.executable, "-c", WITHOUT_UNDECLARED + code]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=folder, env=environment, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_papers_are_in_the_wheel(wheel: Path) -> None:
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("ackclock/papers/")}
    wanted = {path.relative_to(ROOT).as_posix() for path in (ROOT / "papers").rglob("*") if path.is_file()}
    assert inside == {f"ackclock/{name}" for name in wanted}
    assert "ackclock/papers/ass/paper.toml" in inside


def test_the_wheel_declares_what_it_imports(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    metadata = archive.read(next(name for name in archive.namelist() if name.endswith("dist-info/METADATA"))).decode()
    needed = re.findall(r"^Requires-Dist: ([\w.-]+)(?!.*extra ==)", metadata, re.MULTILINE)
    assert {"polars", "matplotlib"} <= set(needed)
    assert "pyarrow" not in needed
    assert "# Ackclock" in metadata, "the README is the description"


def test_the_installed_papers_can_be_run(installed: Path, tmp_path: Path) -> None:
    printed = [line.split() for line in python(installed, PLAN, tmp_path).splitlines()]
    assert [name for name, *_ in printed] == sorted(path.parent.name for path in ROOT.glob("papers/*/paper.toml"))
    assert all(Path(folder).is_relative_to(installed) for *_, folder in printed)
    assert {name: int(runs) > 0 for name, runs, _ in printed}["ass"]


def test_the_installed_command_runs(installed: Path, tmp_path: Path) -> None:
    code = "sys.argv = ['ackclock', {}]\nfrom ackclock.cli import main\nmain()"
    assert "ass" in python(installed, code.format("'list', 'papers'"), tmp_path)
    (tmp_path / "s.toml").write_text('duration = "1 s"\nrecord = ["cwnd"]\n[flow]\n')
    python(installed, code.format("'run', 's.toml', '--out', 'o'"), tmp_path)
    assert "cwnd.png" in python(installed, code.format("'plot', 'o'"), tmp_path)
