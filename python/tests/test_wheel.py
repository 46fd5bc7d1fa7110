"""The wheel and the source distribution are complete: each works away from the source tree."""

from __future__ import annotations

import base64
import csv
import hashlib
import http.client
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import urllib.parse
import venv
import zipfile
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from .conftest import ROOT, Cli
from .test_docs import blocks, check_commands

pytestmark = pytest.mark.wheel

PAGE = ROOT / "python" / "ackclock" / "data" / "page"
"""The built page; it is missing if there is no Node."""


def build(folder: Path, *command: str | Path) -> Path:
    """Build into a folder with a command of Python, and return the file."""
    if shutil.which("cargo") is None:
        pytest.skip("building needs cargo")
    pytest.importorskip("maturin", reason="building needs maturin")
    subprocess.run([sys.executable, *command], cwd=ROOT, check=True, timeout=1800)
    (built,) = folder.iterdir()
    return built


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel with the features of `make core`, whose compiled core it takes."""
    found = subprocess.run(["sh", "crates/emu/available.sh"], capture_output=True, text=True, cwd=ROOT, check=True)
    names = ["pyo3/extension-module", *found.stdout.split()] if found.stdout else []
    features = [word for name in names for word in ("--features", name)]
    folder = tmp_path_factory.mktemp("wheel")
    return build(folder, "packaging/build.py", folder, *features)


@pytest.fixture(scope="module")
def sdist(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked source distribution."""
    folder = tmp_path_factory.mktemp("sdist")
    archive = build(folder, "-m", "maturin", "sdist", "--out", folder)
    with tarfile.open(archive) as opened:
        # Pythons before 3.11.4 and 3.10.12 have no filter.
        opened.extraction_filter = getattr(tarfile, "data_filter", lambda member, _: member)
        opened.extractall(archive.parent)
    return archive.parent / archive.name.removesuffix(".tar.gz")


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of a new virtual environment with the wheel and the packages that it requires."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True)
    programs = folder / "bin"
    pip = [sys.executable, "-m", "pip", "--python", str(programs / "python")]
    subprocess.run([*pip, "install", "--quiet", "--no-deps", "--no-index", str(wheel)], check=True, timeout=300)
    (packages,) = folder.glob("lib/python*/site-packages")
    for distribution in required(requirements(wheel)):
        link(distribution, packages)
    subprocess.run([*pip, "--quiet", "check"], check=True, timeout=300)
    return programs


def requirements(wheel: Path) -> list[str]:
    return re.findall(r"^Requires-Dist: (.*)$", read_metadata(wheel), re.MULTILINE)


def read_metadata(wheel: Path) -> str:
    with zipfile.ZipFile(wheel) as archive:
        return archive.read(next(name for name in archive.namelist() if name.endswith("dist-info/METADATA"))).decode()


def required(requirements: Iterable[str]) -> Iterable[metadata.Distribution]:
    """Find the installed packages that these requirements name, and those that they require in turn."""
    found: dict[str, metadata.Distribution] = {}
    waiting = [Requirement(text) for text in requirements]
    while waiting:
        requirement = waiting.pop()
        wanted = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if wanted and requirement.name not in found:
            distribution = found[requirement.name] = metadata.distribution(requirement.name)
            waiting += map(Requirement, distribution.requires or [])
    return found.values()


def link(distribution: metadata.Distribution, packages: Path) -> None:
    """Link an installed package into another folder of packages, so that no network is needed."""
    for name in {path.parts[0] for path in distribution.files or []} - {"..", "__pycache__"}:
        place = packages / name
        if not place.exists():
            place.symlink_to(Path(str(distribution.locate_file(name))))


@pytest.fixture
def program(installed: Path, tmp_path: Path) -> Cli:
    """Run the installed command as a user would, in an empty folder."""

    def run(*arguments: str | Path, cwd: Path = tmp_path) -> subprocess.CompletedProcess[str]:
        command = [installed / "ackclock", *arguments]
        return subprocess.run(
            command, capture_output=True, text=True, cwd=cwd, timeout=900, env=environment(), check=False
        )

    return run


def environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return {**kept, "NO_COLOR": "1"}


def test_the_wheel_holds_the_papers(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if name.startswith("ackclock/data/papers/")}
    papers = [paper.parent for paper in (ROOT / "papers").glob("*/paper.toml")]
    # The results of full runs, and the queries of tables, are for the repository.
    files = [path for paper in papers for path in paper.rglob("*") if path.suffix in (".toml", ".md")]
    wanted = {path.relative_to(ROOT).as_posix() for path in files}
    assert inside == {f"ackclock/data/{name}" for name in wanted}
    assert "ackclock/data/papers/ass/paper.toml" in inside


def test_the_wheel_and_the_source_distribution_hold_the_files_of_kernels(wheel: Path, sdist: Path) -> None:
    folder = ROOT / "python" / "ackclock" / "data" / "kernel"
    files = {path.relative_to(ROOT / "python").as_posix() for path in folder.rglob("*") if path.is_file()}
    assert "ackclock/data/kernel/LICENSE" in files
    with zipfile.ZipFile(wheel) as archive:
        assert {name for name in archive.namelist() if name.startswith("ackclock/data/kernel/")} == files
    assert {name for name in files if not (sdist / "python" / name).is_file()} == set()


def test_the_wheel_holds_nothing_of_linux_but_what_is_built_into_it(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        programs = [name for name in names if archive.read(name).startswith(b"\x7fELF")]
    assert programs == ["ackclock/_core.abi3.so"]
    assert [name for name in names if "ackclock_kernel" in name or "/kernels/" in name] == []


def test_the_wheel_and_the_source_distribution_hold_every_licence(wheel: Path, sdist: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        texts = {
            name.partition(".dist-info/licenses/")[2]: archive.read(name).decode()
            for name in archive.namelist()
            if ".dist-info/licenses/" in name
        }
    linux = "python/ackclock/data/kernel/LICENSE"
    assert texts.keys() == {"LICENSE", "LICENSE-APACHE", "LICENSE-MIT", "THIRD-PARTY.txt", linux}
    assert "END OF TERMS AND CONDITIONS" in texts["LICENSE-APACHE"]
    assert "Permission is hereby granted" in texts["LICENSE-MIT"]
    assert "Version 2, June 1991" in texts[linux]
    assert {name for name, text in texts.items() if (sdist / name).read_text(encoding="utf-8") != text} == set()
    assert re.search(r"^License-Expression: \(MIT OR Apache-2.0\) AND GPL-2.0-only", read_metadata(wheel), re.MULTILINE)
    notices = texts["THIRD-PARTY.txt"]
    wanted = ["pyo3", "arrow-array", "serde_json", "toml_edit"]
    if (PAGE / "third-party.txt").exists():
        wanted += ["uplot", "@codemirror/view", "preact"]
        # A page that others serve keeps the notice of Ackclock itself.
        for name in ("third-party.txt", "playground.js", "logs.js", "report.js"):
            assert "Copyright (c) 2026 The Ackclock developers" in (PAGE / name).read_text(encoding="utf-8"), name
    # Each is in a list, and then above a text.
    assert [name for name in wanted if len(re.findall(rf"(?<![\w/-]){name} \d", notices)) < 2] == []
    assert "The Rust standard library" in notices
    if "libbpf-sys" in notices:
        assert "libelf of elfutils: LGPL-3.0-or-later" in notices
        assert "GNU LESSER GENERAL PUBLIC LICENSE" in notices
        assert "GNU GENERAL PUBLIC LICENSE\n                       Version 3" in notices


def test_the_wheel_names_no_folder_of_this_machine(wheel: Path) -> None:
    cargo = os.environ.get("CARGO_HOME", str(Path.home() / ".cargo"))
    sysroot = subprocess.run(["rustc", "--print", "sysroot"], capture_output=True, text=True, check=True).stdout.strip()
    folders = [str(ROOT), cargo, sysroot]
    with zipfile.ZipFile(wheel) as archive:
        found = {
            (name, folder) for name in archive.namelist() for folder in folders if folder.encode() in archive.read(name)
        }
        bill = next(archive.read(name) for name in archive.namelist() if "/sboms/" in name)
    assert found == set()
    assert b"path+file:///ackclock/crates/py#ackclock-py" in bill
    assert b'"name": "arrow-array"' in bill


def test_the_files_of_the_wheel_have_the_recorded_hashes(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        record = next(archive.read(name).decode() for name in archive.namelist() if name.endswith("/RECORD"))
        rows = {name: digest for name, digest, _ in csv.reader(record.splitlines())}
        assert rows.keys() == set(archive.namelist())
        for name in archive.namelist():
            if not name.endswith("/RECORD"):
                digest = base64.urlsafe_b64encode(hashlib.sha256(archive.read(name)).digest()).decode().rstrip("=")
                assert rows[name] == f"sha256={digest}", name


def test_the_wheel_and_the_source_distribution_hold_the_page(wheel: Path, sdist: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if name.startswith("ackclock/data/page/")}
    built = {path.relative_to(ROOT / "python").as_posix() for path in PAGE.rglob("*") if path.is_file()}
    assert inside == built
    assert {name for name in built if not (sdist / "python" / name).is_file()} == set()


def test_the_installed_program_serves_the_page_or_says_what_is_missing(installed: Path, program: Cli) -> None:
    if not (PAGE / "index.html").exists():
        done = program("serve")
        assert (done.returncode, done.stdout) == (2, "")
        assert "make page" in done.stderr
        return
    command = [installed / "ackclock", "serve", "--port", "0", "--engine", "native"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment()) as process:
        try:
            assert process.stdout is not None
            place = urllib.parse.urlsplit(process.stdout.readline().strip())
            client = http.client.HTTPConnection(str(place.hostname), place.port, timeout=60)
            client.request("GET", "/")
            page = client.getresponse().read().decode()
            (session,) = re.findall(r"session&quot;: &quot;([\w-]+)&quot;", page)
            headers = {"Content-Type": "application/json", "Ackclock-Session": session}
            request = json.dumps({"do": "check", "text": 'duration = "5 s"\n[[flow]]'})
            client.request("POST", "/engine", request, headers)
            assert b'"flow0"' in client.getresponse().read()
            client.close()
        finally:
            process.kill()


def test_the_wheel_requires_what_it_imports(wheel: Path) -> None:
    needed = {Requirement(text).name for text in requirements(wheel) if "extra ==" not in text}
    assert {"polars", "matplotlib"} <= needed
    assert not needed & {"duckdb", "plotly", "pyarrow", "scipy"}, "a first hour does without"
    assert "# Ackclock" in read_metadata(wheel), "the README is the description"


def test_the_environment_holds_only_what_the_wheel_requires(installed: Path) -> None:
    code = (
        "import ackclock, importlib.util as u; print(ackclock.__file__, u.find_spec('pandas'), u.find_spec('pytest'))"
    )
    command = [installed / "python", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(), check=True)
    where, *others = done.stdout.split()
    assert Path(where).is_relative_to(installed.parent)
    assert others == ["None", "None"]


def test_the_installed_program_lists_every_paper(program: Cli) -> None:
    listed = program("list", "papers")
    assert listed.returncode == 0, listed.stderr
    names = [path.parent.name for path in ROOT.glob("papers/*/paper.toml")]
    assert [name for name in names if not re.search(rf"^\W*{re.escape(name)}\b", listed.stdout, re.MULTILINE)] == []


def test_the_installed_program_reproduces_a_paper(program: Cli, tmp_path: Path) -> None:
    done = program("paper", "ass", "--quick", "--out", "ass")
    assert done.returncode == 0, done.stderr
    assert "ass/report.html" in done.stdout
    assert "does not hold" in (tmp_path / "ass" / "report.html").read_text(encoding="utf-8")


def test_the_installed_program_runs_the_first_scenario_of_the_readme(program: Cli, tmp_path: Path) -> None:
    found = list(blocks(ROOT / "README.md"))
    scenario = next(block for block in found if block.words[0] == "toml")
    (tmp_path / scenario.words[1]).write_text(scenario.text, encoding="utf-8")
    console = next(block for block in found if block.words == ["console"])
    check_commands(console, program, f"README.md:{console.line}")
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^    ackclock ((?:run|plot) .*?) +#", text, re.MULTILINE)
    assert [command.split()[0] for command in commands] == ["run", "plot"]
    for command in commands:
        done = program(*command.split())
        assert done.returncode == 0, done.stderr
    assert list(tmp_path.rglob("*.png"))


def test_the_installed_package_runs_the_python_of_the_readme(installed: Path, tmp_path: Path) -> None:
    example = next(block for block in blocks(ROOT / "README.md") if block.words[:2] == ["python", "run"])
    command = [installed / "python", "-c", example.text]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, env=environment(), timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_the_source_distribution_holds_every_source(sdist: Path) -> None:
    places = ["crates", "python/ackclock", "papers", "Cargo.*", "pyproject.toml", "LICENSE*", "README.md"]
    tracked = subprocess.run(
        ["git", "ls-files", *places],
        capture_output=True, text=True, cwd=ROOT, check=True,
    ).stdout.split()  # fmt: skip
    assert "crates/core/src/lib.rs" in tracked
    # A build needs neither benchmarks nor tests of the crates, nor the interface for C.
    unneeded = re.compile(r"crates/(\w+/(benches|tests|examples)|script-c)/")
    needed = [name for name in tracked if not unneeded.match(name)]
    assert [name for name in needed if not (sdist / name).is_file()] == []


def test_cargo_can_build_from_the_source_distribution(sdist: Path) -> None:
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--manifest-path", "crates/py/Cargo.toml"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=sdist, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert (sdist / "PKG-INFO").read_text(encoding="utf-8").startswith("Metadata-Version:")


def test_the_core_compiles_after_a_wheel_from_elsewhere_and_after_a_move_of_the_checkout(
    sdist: Path, tmp_path: Path
) -> None:
    # All with one folder of products, as `make wheel` (which compiles what it has unpacked) and `make core` have it.
    settings = {**os.environ, "CARGO_TARGET_DIR": str(ROOT / "target" / "moved")}
    unneeded = shutil.ignore_patterns("page")
    # Cargo compares times, and those of a source distribution are all old.
    shutil.copytree(sdist, tmp_path / "unpacked", ignore=unneeded, copy_function=shutil.copy)
    for place in ("unpacked", "checkout", "moved"):
        command = ["cargo", "check", "--quiet", "--package", "ackclock-py"]
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=tmp_path / place, env=settings, timeout=900, check=False
        )
        assert done.returncode == 0, (place, done.stderr)
        following = {"unpacked": "checkout", "checkout": "moved", "moved": "gone"}[place]
        (tmp_path / place).rename(tmp_path / following)
