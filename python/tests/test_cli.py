"""The command line, end to end."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import polars
import pytest

import ackclock

from .conftest import FIRST, Cli


def test_version_and_start_up_time(cli: Cli) -> None:
    began = time.monotonic()
    done = cli("--version")
    assert done.stdout == f"ackclock {ackclock.__version__}\n"
    assert time.monotonic() - began < 2.0, "the bound is generous for busy machines; half a second is meant"


def test_starting_loads_no_heavy_libraries() -> None:
    code = (
        "import sys, ackclock.cli; print([m for m in ('matplotlib', 'polars', 'pyarrow', 'numpy') if m in sys.modules])"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )


def test_run_prints_tables(cli: Cli, first: Path) -> None:
    done = cli("run", first)
    assert done.returncode == 0, done.stderr
    assert "goodput" in done.stdout
    assert "utilisation" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr
    assert "seed 1" in done.stderr


def test_run_prints_json(cli: Cli, first: Path) -> None:
    done = cli("run", first, "--json", "--seed", "7", "--set", "flow.rwnd=9 packets")
    summary = json.loads(done.stdout)
    assert summary["seed"] == 7
    assert summary["scenario"] == "first"
    assert {"hash", "events", "cpu_seconds"} <= summary.keys()
    (flow,) = summary["flows"]
    assert {"name", "delivered_bytes", "goodput_bps", "timeouts", "cwnd_max", "slow_start_exit"} <= flow.keys()
    assert {"name", "drops", "utilisation", "queue_mean", "queue_max"} <= summary["links"][0].keys()


def test_a_sweep_runs_all_variants(cli: Cli, sweep: Path, tmp_path: Path) -> None:
    done = cli("run", sweep, "--json", "--out", "o", "--record", "cwnd", "--record", "delivered", "--jobs", "2")
    assert done.returncode == 0, done.stderr
    runs = json.loads(done.stdout)["runs"]
    axis = "topology.bottleneck.queue.limit"
    assert [(run["labels"][axis], run["labels"]["algorithm"]) for run in runs] == [
        ("5 packets", "standard"), ("5 packets", "staged"), ("20 packets", "standard"), ("20 packets", "staged"),
    ]  # fmt: skip
    stored = ackclock.read(tmp_path / "o")
    assert len(stored) == 4
    table = cli("run", sweep).stdout
    assert table.count("staged") == 2
    plots = cli("plot", "o", "--format", "svg")
    assert plots.returncode == 0, plots.stderr
    assert sorted(plots.stdout.split()) == ["o/cwnd.svg", "o/throughput.svg"]


def test_out_writes_everything(cli: Cli, first: Path, tmp_path: Path) -> None:
    assert cli("run", first, "--out", "o", "--record", "cwnd").returncode == 0
    names = {path.name for path in (tmp_path / "o").iterdir()}
    assert names == {"scenario.toml", "manifest.json", "flows.parquet", "links.parquet", "trace-cwnd.parquet"}
    assert polars.read_parquet(tmp_path / "o" / "flows.parquet")["name"].to_list() == ["a"]
    again = json.loads(cli("run", "o/scenario.toml", "--json").stdout)
    assert again["flows"] == json.loads(cli("run", first, "--json").stdout)["flows"]


def test_the_same_run_writes_the_same_tables(cli: Cli, first: Path, tmp_path: Path) -> None:
    for name in ("o", "p"):
        assert cli("run", first, "--out", name, "--record", "cwnd").returncode == 0
    for file in ("flows.parquet", "links.parquet", "trace-cwnd.parquet", "manifest.json"):
        assert (tmp_path / "o" / file).read_bytes() == (tmp_path / "p" / file).read_bytes()


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        (FIRST.replace("duration", "duratoin"), [], "duration"),
        (FIRST.replace('"5 s"', "5"), [], "duration"),
        (FIRST + "[", [], "first.toml"),
        (FIRST, ["--set", "rwnd"], "KEY=VALUE"),
        (FIRST, ["--set", "flow.rwdn=9 packets"], "rwnd"),
        (FIRST, ["--record", "cwd"], "cwd"),
        (FIRST, ["--jobs", "0"], "--jobs"),
        (FIRST, ["--seed", "x"], "--seed"),
        (FIRST, ["--out", "first.toml"], "first.toml"),
    ],
)
def test_bad_input_is_one_message_and_code_2(
    cli: Cli, first: Path, text: str, arguments: list[str], message: str
) -> None:
    first.write_text(text)
    done = cli("run", "first.toml", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_missing_files_and_directories(cli: Cli, tmp_path: Path) -> None:
    for arguments in (["run", "none.toml"], ["check", "none.toml"], ["plot", "none"], ["plot", "."]):
        done = cli(*arguments)
        assert done.returncode == 2, arguments
        assert done.stderr.startswith("error: ")
        assert "Traceback" not in done.stderr
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    assert "UTF-8" in cli("check", "binary.toml").stderr


def test_check(cli: Cli, sweep: Path) -> None:
    done = cli("check", sweep)
    assert done.returncode == 0
    assert "4 variants" in done.stderr


def test_list(cli: Cli) -> None:
    everything = json.loads(cli("list", "--json").stdout)
    assert {
        "initial_window",
        "slow_start",
        "avoidance",
        "loss_response",
        "queue",
        "loss",
        "papers",
    } <= everything.keys()
    assert "staged" in cli("list", "slow_start").stdout
    assert "ass" in cli("list", "papers").stdout
    wrong = cli("list", "slow_strat")
    assert wrong.returncode == 2
    assert "did you mean 'slow_start'?" in wrong.stderr


def test_schema_is_json(cli: Cli) -> None:
    assert json.loads(cli("schema").stdout)["$schema"].startswith("https://json-schema.org/")


def test_plot_without_its_trace(cli: Cli, first: Path) -> None:
    cli("run", first, "--out", "o")
    done = cli("plot", "o")
    assert done.returncode == 2
    assert "--record" in done.stderr
    assert "unknown kind" in cli("plot", "o", "--kind", "pie").stderr
    assert "unknown format" in cli("plot", "o", "--format", "gif").stderr
