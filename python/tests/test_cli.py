"""The command line, end to end."""

from __future__ import annotations

import json
import pkgutil
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars
import pytest

import ackclock
from ackclock.cli import app
from ackclock.cli.groups import GROUPS

from .conftest import FIRST, NO_KERNEL, SWEEP, Cli, needs_unix, present


def test_version(cli: Cli) -> None:
    assert cli("--version").stdout == f"ackclock {ackclock.__version__}\n"


def test_ctrl_c_before_the_command_begins_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(app, "program", lambda: lambda **_: 130)
    with pytest.raises(SystemExit) as ended:
        app.main()
    assert ended.value.code == 130
    assert capsys.readouterr().err == "error: interrupted\n"


OWN = sorted(each.name for each in pkgutil.iter_modules(ackclock.__path__))
TABLES = {"duckdb", "matplotlib", "numpy", "plotly", "polars", "pyarrow", "scipy"}
STARTS = {
    "import ackclock": ("", {*TABLES, "pydantic", "rich", "typer", "jinja2", *(f"ackclock.{name}" for name in OWN)}),
    "--help": (
        "--help",
        {
            *TABLES,
            "pydantic",
            "rich.console",
            "jinja2",
            "ackclock.scenario",
            "ackclock.results",
            "ackclock.experiments",
        },
    ),
    "run": (
        "run {first}",
        # Typer itself needs Pydantic for the value of an option.
        {
            *TABLES,
            "jinja2",
            "ackclock.cli.sweeps",
            "ackclock.notebooks",
            "ackclock.comparisons",
            "ackclock.literature",
            "ackclock.datasets",
        },
    ),
}


@pytest.mark.parametrize("start", STARTS)
def test_a_start_loads_only_what_it_needs(start: str, first: Path) -> None:
    """Imports take most of the time of a short command."""
    words, late = STARTS[start]
    command = ["ackclock", *(word.format(first=first) for word in words.split())]
    code = (
        f"import sys, ackclock\nsys.argv = {command!r}\n"
        + ("import ackclock.cli\ntry:\n    ackclock.cli.main()\nexcept SystemExit as end:\n    assert not end.code\n")
        * bool(words)
        + f"print(sorted(set(sys.modules) & {late!r}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


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


def test_run_warns_if_the_congestion_control_was_not_exercised(cli: Cli, first: Path, tmp_path: Path) -> None:
    done = cli("run", first)
    assert "warning" not in done.stdout + done.stderr, "nothing is wrong"
    small = ["--set", "flow.rwnd=9 packets", "--set", "topology.bottleneck.rate=90 Mbit/s"]
    done = cli("run", first, *small, "--out", "o")
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("warning: ")]
    assert re.fullmatch(r"warning: a spent \d+ % of the active time .*: raise flow\.rwnd .* \(rwnd_limited\)", line)
    assert "warning" not in done.stdout
    done = cli("run", first, *small, "--json")
    assert done.stderr == ""
    (warning,) = json.loads(done.stdout)["warnings"]
    assert warning == {
        "name": "rwnd_limited",
        "flows": ["a"],
        "text": line[len("warning: ") : -len(" (rwnd_limited)")],
    }
    stored = ackclock.open(tmp_path / "o")
    assert stored.warnings == stored.summary["warnings"] == [warning]


def test_a_sweep_shows_each_warning_once(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(
        'duration = "5 s"\n[sweep]\n"flow.rwnd" = ["500 packets", "9 packets", "5 packets"]\nseed = [1, 2]\n[flow]\n'
    )
    done = cli("run", "s.toml", "--out", "o", "--jobs", "2")
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("warning: ")]
    assert line.endswith("(rwnd_limited, in 4 of 6 runs, first in flow.rwnd=9 packets seed=1)")
    assert [[warning["name"] for warning in result.warnings] for result in ackclock.datasets.runs(tmp_path / "o")] == [
        [], [], *[["rwnd_limited"]] * 4,
    ]  # fmt: skip


def test_a_sweep_runs_all_variants(cli: Cli, sweep: Path, tmp_path: Path) -> None:
    done = cli("run", sweep, "--json", "--out", "o", "--record", "cwnd", "--record", "delivered", "--jobs", "2")
    assert done.returncode == 0, done.stderr
    runs = json.loads(done.stdout)["runs"]
    axis = "topology.bottleneck.queue.limit"
    assert [(run["labels"][axis], run["labels"]["algorithm"]) for run in runs] == [
        ("5 packets", "standard"), ("5 packets", "staged"), ("20 packets", "standard"), ("20 packets", "staged"),
    ]  # fmt: skip
    stored = ackclock.datasets.runs(tmp_path / "o")
    assert len(stored) == 4
    table = cli("run", sweep).stdout
    assert table.count("staged") == 4  # two flows, two queues
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


DELAY = """from ackclock import CongestionControl

class Gentle(CongestionControl):
    def on_congestion(self, event):
        self.ssthresh = max(2.0, 0.9 * event.window)
        self.cwnd = 1.0 if event.restart else self.ssthresh
"""


def test_flows_under_test_run_with_another_control(cli: Cli, tmp_path: Path) -> None:
    """Only these: the same as the scenario that names the control itself, also in every run of a sweep."""
    (tmp_path / "gentle.py").write_text(DELAY)
    text = """duration = "2 s"
[[flow]]
name = "tested"
{}
[[flow]]
name = "other"
avoidance = "reno"
[sweep]
"topology.bottleneck.rate" = ["5 Mbit/s", "10 Mbit/s"]
"""
    own, other = tmp_path / "own.toml", tmp_path / "other.toml"
    own.write_text(text.format('avoidance = "cubic"\nslow_start = "hystart"'))
    other.write_text(text.format('avoidance = "veno"'))

    def flows(file: Path, *words: str) -> list[dict[str, Any]]:
        runs = json.loads(cli("run", str(file), "--json", *words).stdout)["runs"]
        return [flow for run in runs for flow in run["flows"]]

    assert flows(other, "--control", "hystart+cubic") == flows(own)
    classes = flows(other, "--control", "gentle.py:Gentle")
    assert len(classes) == 4 and classes != flows(own)
    assert flows(other, "--control", "gentle.py:Gentle", "--out", "kept") == classes
    assert {flow["control"] for flow in flows(other, "--control", "bbr") if flow["name"] == "tested"} == {"bbr"}
    for control, message in (
        ("cubc", "unknown algorithm or host 'cubc'; did you mean 'cubic'"),
        ("gentle.py:Gentl", "has no control or slow start 'Gentl'; it has Gentle"),
    ):
        done = cli("run", str(other), "--control", control)
        assert (done.returncode, done.stdout) == (2, "") and message in done.stderr, done.stderr


@pytest.mark.skipif(not present(), reason=NO_KERNEL)
def test_a_name_is_the_control_of_a_kernel_and_a_class_decides_outside_it(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "gentle.py").write_text(DELAY)
    file = tmp_path / "x.toml"
    file.write_text('duration = "2 s"\n[[flow]]\nname = "tested"\n')

    def speed(*words: str) -> float:
        return float(
            json.loads(cli("run", str(file), "--on", "linux", "--json", *words).stdout)["flows"][0]["goodput_bps"]
        )

    assert len({speed("--control", "bic"), speed("--control", "gentle.py:Gentle"), speed()}) == 3


def test_the_same_run_writes_the_same_tables(cli: Cli, first: Path, tmp_path: Path) -> None:
    for name in ("o", "p"):
        assert cli("run", first, "--out", name, "--record", "cwnd").returncode == 0
    for file in ("flows.parquet", "links.parquet", "trace-cwnd.parquet"):
        assert (tmp_path / "o" / file).read_bytes() == (tmp_path / "p" / file).read_bytes()
    # Only how a result was made, such as its date, differs between equal ones.
    one, other = (json.loads((tmp_path / name / "manifest.json").read_text()) for name in ("o", "p"))
    made = one.pop("made")
    assert made["command"] == f"ackclock run {first} --out o --record cwnd"
    assert other.pop("made")["core"] == made["core"]
    assert {"date", "commit", "machine"} <= made.keys()
    assert {"ackclock", "python", "numpy", "polars"} == made["versions"].keys()
    assert one == other


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
    assert " True " not in cli("list", "queue").stdout, "defaults stand as a scenario has them"
    for axis in ("initial_window", "slow_start", "avoidance", "loss_response", "congestion_control"):
        groups = [part["group"] for part in everything[axis]]
        assert groups == sorted(groups, key=["deployed today", "documents", "history", "papers"].index), axis
        grouped = [name for axes in GROUPS.values() for name in axes.get(axis, ())]
        assert sorted(grouped) == sorted(part["name"] for part in everything[axis]), "each part has one group"
    wrong = cli("list", "slow_strat")
    assert wrong.returncode == 2
    assert "did you mean 'slow_start'?" in wrong.stderr


def test_list_hosts(cli: Cli) -> None:
    hosts = json.loads(cli("list", "hosts", "--json").stdout)
    assert {"windows_xp", "windows_7", "linux", "solaris_10", "macos", "freebsd"} <= {host["name"] for host in hosts}
    assert all(setting["source"] for host in hosts for setting in host["settings"])
    shown = cli("list", "hosts").stdout
    assert "modern.receive_buffer" in shown
    assert "windows_server_2003" in shown


def test_list_links(cli: Cli) -> None:
    links = json.loads(cli("list", "links", "--json").stdout)
    assert {"geo", "leo", "lte", "5g", "dsl", "cable", "fibre", "datacentre"} <= {link["name"] for link in links}
    assert all(setting["source"] for link in links for setting in link["settings"])
    assert "reverse.queue" in cli("list", "links").stdout


def test_path_in_a_scenario(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "path.toml"
    file.write_text('duration = "5 s"\ntopology.path = "dsl"\n[flow]\nhost = "linux"\nsize = "100 kB"\n')
    assert cli("check", file).returncode == 0
    wrong = cli("run", file, "--set", "topology.path=dls")
    assert wrong.returncode == 2
    assert 'there is no preset of links "dls"; did you mean "dsl"' in wrong.stderr
    assert "Traceback" not in wrong.stderr


def test_host_in_a_scenario(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "host.toml"
    file.write_text('duration = "5 s"\n[[flow]]\nhost = "windows_7"\nsize = "100 kB"\n')
    assert cli("check", file).returncode == 0
    wrong = cli("run", file, "--set", "flow.host=windows_77")
    assert wrong.returncode == 2
    assert 'there is no host "windows_77"; did you mean "windows_7"?' in wrong.stderr
    assert "Traceback" not in wrong.stderr


def test_schema_is_json(cli: Cli) -> None:
    assert json.loads(cli("schema").stdout)["$schema"].startswith("https://json-schema.org/")


def test_plot_of_internals(cli: Cli, first: Path) -> None:
    settings = ["--set", "flow.loss_response=westwood", "--record", "internals", "--record", "cwnd"]
    assert cli("run", first, *settings, "--out", "o").returncode == 0
    done = cli("plot", "o", "--kind", "internals", "--name", "bwe", "--name", "bwe_max")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["o/internals.png"]
    assert "did you mean 'bwe'" in cli("plot", "o", "--kind", "internals", "--name", "bw").stderr
    assert "--name bwe: none of cwnd shows internals" in cli("plot", "o", "--kind", "cwnd", "--name", "bwe").stderr
    # Internals are recorded, but Reno has none: the other plots are drawn.
    assert cli("run", first, "--record", "internals", "--record", "cwnd", "--out", "r").returncode == 0
    assert cli("plot", "r").stdout.split() == ["r/cwnd.png"]
    wanted = cli("plot", "r", "--kind", "internals")
    assert wanted.returncode == 2
    assert "no flow has internal quantities" in wanted.stderr


def test_plot_without_its_trace(cli: Cli, first: Path) -> None:
    cli("run", first, "--out", "o")
    done = cli("plot", "o")
    assert done.returncode == 2
    assert "--record" in done.stderr
    assert "unknown kind" in cli("plot", "o", "--kind", "pie").stderr
    assert "unknown format" in cli("plot", "o", "--format", "gif").stderr


def begin(place: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start a long sweep."""
    needs_unix()
    command = [sys.executable, "-m", "ackclock", "run", "long.toml", "--out", "o", *arguments]
    return subprocess.Popen(command, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_an_interrupted_sweep_shows_what_is_finished_and_is_continued(cli: Cli, tmp_path: Path) -> None:
    long = SWEEP.replace('"5 s"', '"600 s"').replace("[sweep]\n", "[sweep]\nseed = { from = 1, to = 50 }\n")
    (tmp_path / "long.toml").write_text(long)
    process = begin(tmp_path, "--json", "--record", "cwnd", "--jobs", "1")
    while not list((tmp_path / "o" / "runs").glob("*.parquet")) and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    printed, manifest = json.loads(out), json.loads((tmp_path / "o" / "manifest.json").read_text())
    for state in (printed, manifest):
        assert state["state"] == "interrupted"
        assert state["planned"] == 200
    assert 0 < len(printed["runs"]) < 200
    assert "of 200 runs are finished; run the same command to continue" in err
    assert "interrupted" in cli("plot", "o").stderr
    with pytest.warns(UserWarning, match="interrupted"):
        assert len(ackclock.datasets.runs(tmp_path / "o")) == len(printed["runs"])


def test_a_sweep_is_the_dataset_of_the_command_sweep(cli: Cli, sweep: Path, tmp_path: Path) -> None:
    assert cli("run", sweep, "--out", "o").returncode == 0
    again = cli("sweep", sweep, "--out", "o")
    assert "0 runs in" in again.stderr
    assert "4 were stored" in again.stderr
    flows = ackclock.open(tmp_path / "o").flows.sort("point").collect()
    assert flows.columns[:3] == ["point", "topology.bottleneck.queue.limit", "algorithm"]
    assert flows["algorithm"].to_list() == ["standard", "staged"] * 2


def test_a_run_of_a_sweep_beyond_its_limit_is_an_error_after_the_others(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(FIRST + '[sweep]\nduration = ["10 ms", "5 s"]\n')
    done = cli("run", "s.toml", "--max-events", "500")
    assert done.returncode == 2
    assert "10 ms" in done.stdout
    assert "error: 1 of 2 runs failed, first in duration=5 s: exceeds the budget of 500 events" in done.stderr
    (tmp_path / "one.toml").write_text(FIRST)
    refused = cli("run", "one.toml", "--max-events", "500")
    assert refused.returncode == 2
    assert "one.toml: has no [sweep], whose runs --max-events and --max-memory limit" in refused.stderr


def test_a_sweep_stores_packets(cli: Cli, sweep: Path, tmp_path: Path) -> None:
    done = cli("sweep", sweep, "--out", "o", "--capture", "n1>n2", "--record", "cwnd")
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "o" / "results").glob("*/packets.pcapng"))) == 4
    wrong = cli("sweep", sweep, "--out", "p", "--capture", "n1>n9")
    assert wrong.returncode == 2
    assert 'there is no link or host "n1>n9"' in wrong.stderr


def test_large_sweeps_are_cut_in_tables_and_plots(cli: Cli, sweep: Path, tmp_path: Path) -> None:
    text = SWEEP.replace('"5 s"', '"100 ms"').replace("[sweep]\n", "[sweep]\nseed = { from = 1, to = 60 }\n")
    sweep.write_text(text)
    done = cli("run", sweep, "--out", "o", "--record", "cwnd")
    assert "only the first 200 of 240 rows" in done.stderr
    assert "only the first 200 of 240 queues" in done.stderr
    assert len(done.stdout.splitlines()) < 415
    drawn = cli("plot", "o")
    assert drawn.returncode == 0
    assert "12 of 240 runs" in drawn.stderr
    assert "Warning" not in drawn.stderr
    chosen = cli("plot", "o", "--only", "seed=3", "--only", "limit=5 packets")
    assert chosen.stderr == ""
    assert "known: standard, staged" in cli("plot", "o", "--only", "algorithm=x").stderr
    assert "there is no label 'alg'" in cli("plot", "o", "--only", "alg=x").stderr


def test_out_is_tried_before_the_runs(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text(FIRST.replace('"5 s"', '"1000000 s"'))
    (tmp_path / "file").touch()
    done = cli("run", "long.toml", "--out", "file/o")
    assert done.returncode == 2
    assert done.stderr.startswith("error: file/o: cannot write here: ")
    assert cli("run", "long.toml", "--out", ".").returncode == 2


@pytest.mark.parametrize("kind", ["first", "sweep"])
def test_foreign_files_survive_a_rerun(kind: str, cli: Cli, first: Path, sweep: Path, tmp_path: Path) -> None:
    file = {"first": first, "sweep": sweep}[kind]
    assert cli("run", file, "--out", "o", "--record", "cwnd").returncode == 0
    mine = tmp_path / "o" / "notes.txt"
    mine.write_text("mine")
    assert cli("run", file, "--out", "o").returncode == 0
    assert mine.read_text() == "mine"
    # The runs of an earlier form of a sweep stay, so that the way back needs no run.
    assert bool(list(tmp_path.rglob("trace-*"))) == (kind == "sweep")
    assert not any(result.traces for result in ackclock.datasets.runs(tmp_path / "o"))
    assert not list(tmp_path.glob(".o*"))


def test_a_damaged_table_is_named(cli: Cli, first: Path, tmp_path: Path) -> None:
    cli("run", first, "--out", "o", "--record", "cwnd")
    (tmp_path / "o" / "trace-cwnd.parquet").write_bytes(b"PAR1 nothing PAR1")
    done = cli("plot", "o")
    assert done.returncode == 2
    assert done.stderr.startswith("error: o/trace-cwnd.parquet: ")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("--version >/dev/full", 2),
        ("--help >/dev/full", 2),
        ("run first.toml >/dev/full", 2),
        ("run first.toml --json >/dev/full", 2),
        ("run first.toml >&-", 0),
        ("--version >&-", 0),
        ("run nope.toml 2>&-", 2),
        ("run first.toml 2>&-", 0),
        ("run first.toml >&- 2>&-", 0),
    ],
)
def test_streams_that_are_closed_or_full(line: str, code: int, first: Path, tmp_path: Path) -> None:
    needs_unix()
    command = ["sh", "-c", f'"{sys.executable}" -m ackclock {line}']
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=60, check=False)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "first.toml", "--seed", "-1"], "--seed"),
        (["run", "first.toml", "--jobs"], "--jobs"),
        (["run", "first.toml", "--jbos", "2"], "--jobs"),
        (["rnu"], "rnu"),
        (["run"], "file"),
        (["run", "first.toml", "--record", ""], "repeat --record"),
        (["run", "first.toml", "--record", "cwnd,delivered"], "repeat --record"),
        (["run", "first.toml", "--set", "seed=1", "--set", "seed=2"], "set twice"),
        (["run", "first.toml", "--set", "seed=1", "--seed", "2"], "set twice"),
    ],
)
def test_bad_options_are_one_line(cli: Cli, first: Path, arguments: list[str], message: str) -> None:
    done = cli(*arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
