"""Libraries that an installation may lack: the extras, and the message that names the one that is missing."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import ackclock
from ackclock import Scenario, extras
from ackclock.cli import app
from ackclock.files import toml
from ackclock.statistics import samples
from ackclock.statistics.bootstrap import bootstrap

from .conftest import ROOT, SWEEP

PROJECT = toml.read(ROOT / "pyproject.toml")["project"]
OPTIONAL: dict[str, list[str]] = PROJECT["optional-dependencies"]
MODULES = {"cluster": "ray", "notebook": "anywidget", "sql": "duckdb", "statistics": "scipy", "tune": "optuna"}


def names(requirements: list[str]) -> set[str]:
    return {Requirement(text).name.lower() for text in requirements}


def test_the_extras_are_those_of_the_project() -> None:
    """Node, of the extra `page`, and what development and releases need are no libraries of the program."""
    assert extras.LIBRARIES.keys() == OPTIONAL.keys() - {"all", "dev", "licences", "page"}
    (everything,) = map(Requirement, OPTIONAL["all"])
    assert (everything.name, everything.extras) == ("ackclock", set(extras.LIBRARIES))
    for extra, library in extras.LIBRARIES.items():
        assert names(OPTIONAL[extra]) == {library.lower()}
        assert extra == "cluster" or names(OPTIONAL[extra]) <= names(OPTIONAL["dev"]), "the tests run with it"
    assert not names(PROJECT["dependencies"]) & {library.lower() for library in extras.LIBRARIES.values()}


def test_every_module_but_the_widget_can_be_imported_without_them() -> None:
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({tuple(MODULES.values())!r}))\n"
        "import ackclock, importlib, pkgutil\n"
        "for found in pkgutil.walk_packages(ackclock.__path__, 'ackclock.'):\n"
        "    if not found.name.endswith('__main__'):\n"
        "        try:\n            importlib.import_module(found.name)\n"
        "        except ModuleNotFoundError as error:\n            print(found.name, error.name)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "ackclock.playground.notebook anywidget\n"


NEEDS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "cluster": ("the engine ray", lambda _: ackclock.Ray()),
    "notebook": (
        "widget",
        lambda _: ackclock.widget(Scenario("s", duration="1 s", flow=[{"name": "a"}], topology={"kind": "chain"})),
    ),
    "sql": ("a query", lambda folder: ackclock.open(folder / "swept").sql("SELECT 1")),
    "statistics": ("the bootstrap", lambda _: bootstrap([1.0, 2.0])),
}


@pytest.mark.parametrize("extra", NEEDS)
def test_a_missing_library_is_one_message(extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    what, ask = NEEDS[extra]
    if extra == "sql":
        (tmp_path / "s.toml").write_text(SWEEP)
        ackclock.sweep(ackclock.load(tmp_path / "s.toml"), tmp_path / "swept")
    monkeypatch.delitem(sys.modules, "ackclock.playground.notebook", raising=False)
    monkeypatch.setitem(sys.modules, MODULES[extra], None)
    with pytest.raises(extras.MissingError) as missing:
        ask(tmp_path)
    said = f"{what} needs {extras.LIBRARIES[extra]}, which is not installed: pip install 'ackclock[{extra}]'"
    assert str(missing.value) == said


@pytest.mark.parametrize("command", ["query {folder}/swept 'SELECT 1'", "check {folder}/sobol.toml"])
def test_a_command_ends_with_the_message(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "s.toml").write_text(SWEEP)
    sample = (
        '[sweep.sample]\nmethod = "sobol"\ncount = 4\n[sweep.sample.keys]\nduration = { from = "1 s", to = "2 s" }\n'
    )
    (tmp_path / "sobol.toml").write_text(SWEEP.partition("[sweep]")[0] + sample)
    ackclock.sweep(ackclock.load(tmp_path / "s.toml"), tmp_path / "swept")
    for module in ("duckdb", "scipy", "scipy.stats"):
        monkeypatch.setitem(sys.modules, module, None)
    words = [word.strip("'") for word in re.findall(r"'.*?'|\S+", command.format(folder=tmp_path))]
    monkeypatch.setattr(sys, "argv", ["ackclock", *words])
    with pytest.raises(SystemExit) as ended:
        app.main()
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"error: .* needs (DuckDB|SciPy), which is not installed: pip install 'ackclock\[\w+\]'", line)


def test_samples_without_the_library_are_those_with_it() -> None:
    """The points of a scenario's Latin hypercube must not depend on what is installed."""
    qmc = pytest.importorskip("scipy.stats.qmc")
    import numpy as np

    for seed, count, dimensions in ((1, 7, 3), (2, 64, 1), (3, 1, 2)):
        found = samples.unit_cube("latin-hypercube", count, seed, dimensions)
        assert (found == qmc.LatinHypercube(dimensions, seed=np.random.default_rng(seed)).random(count)).all()
