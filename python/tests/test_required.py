"""Tests of the plugin that makes an error of a skipped test whose tool must be there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ackclock.files import storage

from . import required
from .conftest import ROOT

SKIPPING = """\
import pytest

@pytest.mark.skipif(True, reason="ns-2 is not installed (Debian package ns2)")
def test_marked(): pass

def test_asked():
    pytest.skip("the engine as WebAssembly was not built: make web")

def test_other():
    pytest.skip("needs /dev/full")
"""
WHOLE = 'import pytest\n\npytest.importorskip("no_such_module", reason="Ray is not installed: pip install")\n'


def outcomes(folder: Path, tools: str) -> tuple[int, str]:
    (folder / "test_skipping.py").write_text(SKIPPING)
    (folder / "test_whole.py").write_text(WHOLE)
    path = {"PYTHONPATH": os.pathsep.join([str(ROOT / "python"), os.environ.get("PYTHONPATH", "")])}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "tests.required",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(folder),
    ]
    environment = {**os.environ, **path, required.VARIABLE: tools}
    done = subprocess.run([*command, str(folder)], capture_output=True, text=True, env=environment, cwd=folder)
    return done.returncode, done.stdout + done.stderr


def test_nothing_is_required_by_default(tmp_path: Path) -> None:
    code, said = outcomes(tmp_path, "")
    assert code == 0 or "no tests ran" in said
    assert "4 skipped" in said


def test_a_skipped_test_fails_if_its_tool_is_required(tmp_path: Path) -> None:
    code, said = outcomes(tmp_path, "ns2,web")
    assert code != 0
    assert "1 failed, 2 skipped, 1 error" in said  # a mark skips in the set-up
    assert "requires ns2, and the test would be skipped: ns-2 is not installed" in said


def test_a_skipped_file_fails_if_its_tool_is_required(tmp_path: Path) -> None:
    code, said = outcomes(tmp_path, "ray")
    assert code != 0
    assert "requires ray, and the test would be skipped: Ray is not installed" in said


def test_only_the_required_tools_count(tmp_path: Path) -> None:
    _, said = outcomes(tmp_path, "web")
    assert "1 failed, 3 skipped" in said


def test_an_unknown_tool_is_refused(tmp_path: Path) -> None:
    code, said = outcomes(tmp_path, "ns3")
    assert code != 0
    assert "ACKCLOCK_REQUIRE: unknown ns3; expected some of browser, ebpf, linux, ns2, ray, tshark, web" in said


def test_what_another_system_lacks_is_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "mkfifo", raising=False)
    with pytest.raises(AttributeError) as used:
        os.mkfifo("pipe")
    assert required.absent(used) == "this system has no os.mkfifo"
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with pytest.raises(ImportError) as imported:
        import fcntl  # noqa: F401
    assert required.absent(imported) == "this system has no module fcntl"
    with pytest.raises(AttributeError) as other:
        "".mkfifo  # type: ignore[attr-defined]  # noqa: B018
    assert required.absent(other) == ""


def test_what_the_package_uses_must_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "lstat")
    monkeypatch.setattr(storage.Path, "is_dir", lambda path: os.lstat(path))
    with pytest.raises(AttributeError, match="os") as used:
        storage.check_file(Path("here"))
    assert required.absent(used) == ""


@pytest.mark.parametrize("tool", required.TOOLS)
def test_some_test_is_skipped_for_want_of_each_tool(tool: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The words of a reason may change, and the plugin must notice."""
    monkeypatch.setenv(required.VARIABLE, tool)
    files = [file for file in Path(__file__).parent.glob("*.py") if file.stem not in ("required", "test_required")]
    texts = [part for file in files for part in file.read_text(encoding="utf-8").split('"')]
    assert any(map(required.lacking, texts))
