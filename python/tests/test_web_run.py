"""`web/run.sh`, which builds and checks the pages: what it says where Node or its packages are missing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import ROOT

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a script for bash")


def run(folder: Path, **programs: str) -> subprocess.CompletedProcess[str]:
    """Run a copy of the script, with these shell scripts for npm and Node."""
    tools = folder / "bin"
    tools.mkdir()
    for name in ("bash", "dirname", "sed", "touch", "env"):
        (tools / name).symlink_to(str(shutil.which(name)))
    for name, text in programs.items():
        (tools / name).write_text(f"#!/usr/bin/env bash\n{text}\n")
        (tools / name).chmod(0o755)
    (folder / "web").mkdir()
    shutil.copy(ROOT / "web" / "run.sh", folder / "web")
    command = [str(folder / "web" / "run.sh"), "build", "lint"]
    return subprocess.run(
        command, env={**os.environ, "PATH": str(tools)}, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("programs", [{}, {"npm": "exit 0"}, {"npm": "exit 0", "node": "exit 1"}])
def test_without_node_the_page_is_skipped(tmp_path: Path, programs: dict[str, str]) -> None:
    done = run(tmp_path, **programs)
    assert done.returncode == 0
    assert done.stdout.startswith("skipped: the page, because it needs Node 22.18 or newer with npm")


def test_without_a_network_the_page_is_skipped_with_npms_reason(tmp_path: Path) -> None:
    done = run(tmp_path, node="exit 0", npm="echo 'npm error code ENOTFOUND' >&2; exit 1")
    assert done.returncode == 0
    assert "npm could not install its packages (is there a network?):\n  npm error code ENOTFOUND\n" in done.stdout


def test_a_lock_file_that_does_not_fit_is_an_error(tmp_path: Path) -> None:
    done = run(tmp_path, node="exit 0", npm="echo 'npm error code EUSAGE' >&2; exit 1")
    assert done.returncode == 1
    assert "web/package-lock.json does not fit web/package.json" in done.stderr


def test_packages_are_installed_once_and_a_failed_script_fails(tmp_path: Path) -> None:
    npm = 'echo "$*"; [ "$1" = ci ] && { mkdir node_modules; exit 0; }; [ "$3" = build ]'
    done = run(tmp_path, node="exit 0", npm=f"PATH=$PATH:/usr/bin:/bin; {npm}")
    assert done.stdout.splitlines() == ["run --silent build", "run --silent lint"]
    assert done.returncode == 1
