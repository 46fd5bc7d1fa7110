"""Sweeps: axes of every form, made on demand."""

from __future__ import annotations

import copy
import pickle
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars
import pytest

import ackclock
from ackclock import Scenario, ScenarioError, load
from ackclock.experiments.labelled import scale_of
from ackclock.scenario import SweepPoints
from ackclock.statistics.samples import unit_cube

from .conftest import Cli


class Fixed(ackclock.CongestionControl):
    """A window of ten segments."""

    def on_ack(self, ack: ackclock.Ack) -> None:
        self.cwnd = 10.0


BASE = 'duration = "1 s"\n[flow]\n'
RATE, DELAY = "topology.bottleneck.rate", "topology.bottleneck.delay"
METHODS = ("random", "latin-hypercube", "sobol")


def points(folder: Path, sweep: str) -> SweepPoints:
    (folder / "t.toml").write_text(BASE + sweep)
    return load(folder / "t.toml").sweep_points()


def test_points_are_a_sequence_of_the_variants() -> None:
    scenario = Scenario(
        duration="1 s",
        flow=[{}],
        sweep={"seed": {"from": 1, "to": 3}, "zip": {"path": {RATE: ["1 Mbit/s", "2 Mbit/s"]}}},
    )
    made = scenario.sweep_points()
    variants = scenario.variants()
    assert [(labels, one.hash) for labels, one in made] == [(labels, one.hash) for labels, one in variants]
    assert len(made) == 6
    assert [labels["seed"] for labels, _ in made[::2]] == ["1", "2", "3"]
    assert made[-1][0] == {"seed": "3", RATE: "2 Mbit/s"} == made.labels(5)
    assert made.hash(-1) == made[5][1].hash == variants[5][1].hash
    assert made[5][1].set({"duration": "1 s"}).hash == made.hash(5)
    assert pickle.loads(pickle.dumps(made[5][1])) == made[5][1]
    assert repr(made) == "<6 runs of a sweep>"
    with pytest.raises(IndexError):
        made[6]
    alone = Scenario(duration="1 s", flow=[{}])
    assert [(labels, one.hash) for labels, one in alone.sweep_points()] == [({}, alone.hash)]


@pytest.mark.parametrize("copied", [lambda made: pickle.loads(pickle.dumps(made)), copy.copy, copy.deepcopy])
def test_copies_make_the_same_runs(tmp_path: Path, copied: Callable[[SweepPoints], SweepPoints]) -> None:
    table = polars.DataFrame({"label": ["a", "b"], f"{RATE} (Mbit/s)": [1.5, None], DELAY: ["1 ms", "2 ms"]})
    table.with_columns(polars.col(f"{RATE} (Mbit/s)").fill_null(8)).write_csv(tmp_path / "paths.csv")
    sweep = (
        '[sweep]\nseed = { from = 1, to = 2 }\npaths.file = "paths.csv"\n[sweep.sample]\nmethod = "sobol"\ncount = 4\n'
        '[sweep.sample.keys]\n"topology.bottleneck.loss" = { from = "0.1 %", to = "1 %" }\n'
    )
    made = points(tmp_path, sweep)
    # A copy needs no file: another machine need not have it.
    (tmp_path / "paths.csv").unlink()
    again = copied(made)
    assert len(again) == 16
    assert [(labels, one.hash) for labels, one in again] == [(labels, one.hash) for labels, one in made]
    assert again[3][1].flows == ["flow0"]


def test_pickled_points_keep_controls_in_python() -> None:
    made = Scenario(duration="1 s", flow=[{"congestion_control": Fixed}], sweep={"seed": [1, 2]}).sweep_points()
    again = pickle.loads(pickle.dumps(made))
    assert again[1][1].controls == {0: Fixed}
    assert again[1] == made[1]


def test_equal_points_have_equal_hashes() -> None:
    swept = Scenario(duration="1 s", flow=[{}], sweep={RATE: ["1 Mbit/s", "1000 kbit/s", "2 Mbit/s"]}).sweep_points()
    hashes = [swept.hash(index) for index in range(3)]
    assert hashes[0] == hashes[1] != hashes[2]


def test_a_wrong_point_does_not_affect_others() -> None:
    swept = Scenario(duration="1 s", flow=[{}], sweep={"flow.rwnd": ["9 packets", 3, "8 packets"]}).sweep_points()
    assert swept[2][0] == {"flow.rwnd": "8 packets"}
    with pytest.raises(ScenarioError, match='did you mean "3 packets"'):
        swept[1]


def test_points_take_no_memory_in_proportion() -> None:
    def peak(count: int) -> int:
        scenario = Scenario(
            duration="1 s", flow=[{}], sweep={"seed": {"from": 1, "to": count}, DELAY: ["1 ms", "2 ms"]}
        )
        tracemalloc.start()
        swept = scenario.sweep_points()
        assert len(swept) == 2 * count
        for index in (0, count, 2 * count - 1):
            assert swept[index]
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(10)
    assert peak(100_000) < 2 * peak(10) + 50_000


def test_labels_of_ranges_sort_as_numbers() -> None:
    sweep = {RATE: {"from": "1 Mbit/s", "to": "1 Gbit/s", "count": 7, "scale": "log"}}
    swept = Scenario(duration="1 s", flow=[{}], sweep=sweep).sweep_points()
    values = [labels[RATE] for labels, _ in swept]
    assert (values[0], values[1], values[-1]) == ("1 Mbit/s", "3.16228 Mbit/s", "1000 Mbit/s")
    assert scale_of(values[::-1]).ordered == values
    assert scale_of(["20 packets", "1 packet", "3 packets"]).ordered == ["1 packet", "3 packets", "20 packets"]


@pytest.mark.parametrize("method", METHODS)
def test_samples_have_the_same_bytes_for_the_same_seed(method: str) -> None:
    cube = unit_cube(method, 64, 7, 3)
    assert cube.shape == (64, 3)
    assert cube.tobytes() == unit_cube(method, 64, 7, 3).tobytes()
    assert cube.tobytes() != unit_cube(method, 64, 8, 3).tobytes()
    assert 0 <= cube.min() <= cube.max() < 1
    if method != "random":
        # Both have one point in each slice of every axis; a Sobol sequence because it is a digital net.
        assert (np.sort(np.floor(cube * 64), axis=0) == np.arange(64)[:, None]).all()


@pytest.mark.parametrize("method", METHODS)
def test_samples_of_a_file_run_through_the_distributions(tmp_path: Path, method: str) -> None:
    text = (
        f'[sweep.sample]\nmethod = "{method}"\ncount = 256\nseed = 3\n[sweep.sample.keys]\n'
        f'"{RATE}" = {{ from = "1 Mbit/s", to = "1 Gbit/s", scale = "log" }}\n'
        f'"{DELAY}" = {{ from = "5 ms", to = "105 ms" }}\n"flow.slow_start" = ["standard", "staged"]\n'
    )
    swept = points(tmp_path, text)
    assert [one.hash for _, one in swept] == [one.hash for _, one in points(tmp_path, text)]
    labels = [swept.labels(index) for index in range(256)]
    rates = np.array([float(each[RATE].removesuffix(" Mbit/s")) for each in labels])
    delays = np.array([float(each[DELAY].removesuffix(" ms")) for each in labels])
    # The means of 256 independent draws are within 5 of their standard deviations: 0.87/16 decades, 28.9/16 ms.
    assert np.log10(rates).mean() == pytest.approx(1.5, abs=0.28)
    assert delays.mean() == pytest.approx(55, abs=9.1)
    assert 88 <= sum(each["flow.slow_start"] == "staged" for each in labels) <= 168


def test_a_population_is_read_from_csv_and_parquet(tmp_path: Path) -> None:
    header = f"{RATE} (Mbit/s),{DELAY},flow.delayed_ack,label\n"
    (tmp_path / "paths.csv").write_text(header + "2.5,10 ms,true,DSL\n100,0.2 s,false,fibre\n")
    polars.DataFrame(
        {
            f"{RATE} (Mbit/s)": [2.5, 100],
            DELAY: ["10 ms", "0.2 s"],
            "flow.delayed_ack": [True, False],
            "label": ["DSL", "fibre"],
        }
    ).write_parquet(tmp_path / "paths.parquet")
    made = {}
    for name in ("paths.csv", "paths.parquet"):
        swept = points(tmp_path, f'[sweep]\nseed = [1, 2]\npaths.file = "{name}"\n')
        assert [labels["paths"] for labels, _ in swept] == ["DSL", "fibre", "DSL", "fibre"]
        made[name] = [one.hash for _, one in swept]
        assert load(tmp_path / "t.toml").core.files == [tmp_path / name]
    assert made["paths.csv"] == made["paths.parquet"]
    direct = Scenario(
        "t",
        duration="1 s",
        flow=[{"delayed_ack": False}],
        topology={"bottleneck": {"rate": "100 Mbit/s", "delay": "0.2 s"}},
    )
    assert direct.hash == made["paths.csv"][1]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("p.csv", f"{RATE}\n0 Mbit/s\n", f'p.csv: row 1, column "{RATE}": {RATE}: must be from 1 to 1e15 bit/s'),
        ("p.csv", f"{RATE},seed\n1 Mbit/s\n", 'p.csv: row 1, column "seed": is empty'),
        (
            "p.csv",
            f"{RATE} (Mbit/s)\n1\nfast\n",
            "row 2, column .* must be a number, because the header has the unit Mbit/s",
        ),
        ("p.csv", "seed,seed\n1,2\n", 'p.csv: column "seed": stands twice'),
        ("p.csv", "seed\n1,2\n", "p.csv: cannot be read as a CSV table"),
        ("p.csv", "", "p.csv: cannot be read as a CSV table"),
        ("p.csv", "sede\n1\n", 'p.csv: column "sede": there is no key "sede"; did you mean "seed"'),
        ("p.parquet", "seed\n1\n", "p.parquet: cannot be read as a Parquet table"),
    ],
)
def test_errors_of_a_table_name_the_file(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(ScenarioError, match=message):
        list(points(tmp_path, f'[sweep]\npaths.file = "{name}"\n'))


def test_check_reports_tables_and_samples_without_traceback(tmp_path: Path, cli: Cli) -> None:
    file = tmp_path / "t.toml"
    file.write_text(BASE + '[sweep]\npaths.file = "none.csv"\n')
    missing = cli("check", file)
    assert missing.returncode == 2
    assert "none.csv" in missing.stderr
    assert "Traceback" not in missing.stderr
    file.write_text(BASE + '[sweep.sample]\nmethod = "sobol"\ncount = 100\nkeys.seed = { from = 1, to = 9 }\n')
    wrong = cli("check", file)
    assert wrong.returncode == 2
    assert (
        "t.toml:5: sweep.sample.count: must be a power of two for sobol, but is 100; did you mean 128?" in wrong.stderr
    )
    file.write_text(BASE + '[sweep.sample]\nmethod = "random"\ncount = 100\nkeys.seed = { from = 1, to = 9 }\n')
    assert "100 variants" in cli("check", file).stderr


def test_a_sampled_sweep_runs(tmp_path: Path, cli: Cli) -> None:
    file = tmp_path / "t.toml"
    file.write_text(
        BASE
        + f'[sweep.sample]\nmethod = "latin-hypercube"\ncount = 3\nkeys."{DELAY}" = {{ from = "1 ms", to = "9 ms" }}\n'
    )
    cli("run", file, "--out", tmp_path / "o")
    runs = ackclock.datasets.runs(tmp_path / "o")
    assert len({result.labels[DELAY] for result in runs}) == len(runs) == 3
