"""Verification of a stored paper: a sample of its runs takes place anew, and every row is compared."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import polars
import pytest

import ackclock
from ackclock.literature import verification

from .conftest import Cli
from .test_paper import TINY, TINY_SCENARIO

MODEL = """
[[model]]
name = "rounds"
labels = { loss = "some", queue = "model", algorithm = "1" }
parameters = { rounds = 50 }
"""


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a working directory with a small paper of 20 runs and three evaluations, and its results in ``o``."""
    place = tmp_path_factory.mktemp("work")
    folder = place / "papers" / "tiny"
    folder.mkdir(parents=True)
    (folder / "paper.toml").write_text(TINY.partition("[figures]")[0] + MODEL)
    (folder / "tiny.toml").write_text(TINY_SCENARIO)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        ackclock.paper("tiny", out="o", jobs=2)
    return place


def changed(done: Path, change: Any) -> str:
    """Copy the results, with a changed table; return the name of the folder."""
    out = done / "changed"
    out.mkdir(exist_ok=True)
    (out / "manifest.json").write_bytes((done / "o" / "manifest.json").read_bytes())
    change(polars.read_parquet(done / "o" / "runs.parquet")).write_parquet(out / "runs.parquet")
    return out.name


def moved(row: int, column: str = "goodput_bps") -> Any:
    """Return a change of a table: the value of one row becomes the next larger float."""

    def change(table: polars.DataFrame) -> polars.DataFrame:
        values = table[column].to_list()
        values[row] = math.nextafter(values[row], math.inf)
        return table.with_columns(polars.Series(column, values))

    return change


def test_the_results_of_a_paper_are_verified(done: Path, cli: Cli) -> None:
    said = cli("paper", "tiny", "--verify", "--out", "o", cwd=done)
    assert said.returncode == 0, said.stderr
    words = " ".join(said.stdout.split())
    assert words.startswith("20 runs of 20, drawn with seed 1, took place anew; 3 evaluations of models too. Every row")
    assert words.endswith("is the one in o/runs.parquet, bit by bit.")


def test_the_last_bit_of_a_number_counts(done: Path, cli: Cli) -> None:
    said = cli("paper", "tiny", "--verify", "--out", changed(done, moved(3)), cwd=done)
    assert said.returncode == 1, said.stderr
    words = " ".join(said.stdout.split())
    assert "19 of the runs agree with changed/runs.parquet, and 1 row differs" in words
    assert "The first: none, 5, 2, offset 1: goodput_bps is " in words
    assert "Traceback" not in said.stderr


def test_evaluations_of_models_and_missing_rows_count(done: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(done)
    found = ackclock.verify("tiny", out=changed(done, moved(-1, "window_rate")))
    assert (found.agreeing, len(found.differences)) == (20, 1)
    assert "model" in found.differences[0]
    found = ackclock.verify("tiny", out=changed(done, lambda table: table.slice(1)))
    assert found.differences == ["none, 5, 1, offset 0: no stored row"]
    assert not found.passed


def test_all_differences_are_given_as_json(done: Path, cli: Cli) -> None:
    said = cli("paper", "tiny", "--verify", "--json", "--out", changed(done, lambda table: table.head(0)), cwd=done)
    assert said.returncode == 1, said.stderr
    found = json.loads(said.stdout)
    assert (found["runs"], found["of"], found["agreeing"], len(found["differences"])) == (20, 20, 0, 23)


def test_only_finished_runs_of_the_same_files_are_verified(done: Path, cli: Cli) -> None:
    said = cli("paper", "tiny", "--verify", "--out", "nothing", cwd=done)
    assert said.returncode == 2
    assert "nothing has no finished runs of the paper 'tiny'; run: ackclock paper tiny" in " ".join(said.stderr.split())
    said = cli("paper", "tiny", "--verify", "--quick", "--out", "o", cwd=done)
    assert said.returncode == 2
    assert "describe other runs than the stored ones" in " ".join(said.stderr.split())
    said = cli("paper", "tiny", "--verify", "--on", "linux", cwd=done)
    assert said.returncode == 2
    assert "takes neither --brief nor --on" in " ".join(said.stderr.split())


@pytest.mark.parametrize(("runs", "count"), [(20, 20), (50, 50), (400, 50), (3000, 150), (90_000, 1000)])
def test_a_sample_has_a_twentieth_of_the_runs_within_bounds(runs: int, count: int) -> None:
    found = verification.sample(runs, 1)
    assert len(found) == len(set(found)) == count
    assert found == verification.sample(runs, 1)
    assert found != verification.sample(runs, 2) or count == runs
