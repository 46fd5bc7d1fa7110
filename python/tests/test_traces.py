"""Measured paths: `ackclock trace` reads Mahimahi, CSV, irtt and flent, and writes the table of a link."""

from __future__ import annotations

import gzip
import json
import math
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ackclock
from ackclock.freeze import Frozen

from .conftest import ROOT, Cli

TRACES = ROOT / "examples" / "traces"


def irtt(delays: list[float | None]) -> dict[str, Any]:
    """Return what irtt writes (-o) for a round trip each 200 ms, with these times in ns; None is a lost one."""
    trips = []
    for index, delay in enumerate(delays):
        begin = 2776704 + index * 200_000_000
        trips.append({
            "seqno": index,
            "lost": "true_down" if delay is None else False,
            "timestamps": {
                "client": {
                    "receive": {} if delay is None else {"wall": 1 + begin + delay, "monotonic": begin + delay},
                    "send": {"wall": 1 + begin, "monotonic": begin},
                },
                "server": {"receive": {}, "send": {}},
            },
            "delay": {} if delay is None else {"receive": delay * 0.4, "rtt": delay, "send": delay * 0.6},
            "ipdv": {},
        })  # fmt: skip
    version = {"irtt": "0.9.1", "protocol": 1, "json_format": 1}
    return {"version": version, "system_info": {}, "config": {}, "stats": {}, "round_trips": trips}


def flent() -> dict[str, Any]:
    """Return what flent writes: a download that starts after half a second, and pings."""
    return {
        "version": 4,
        "x_values": [0.0, 0.25, 0.5, 0.75, 1.0],
        "metadata": {
            "NAME": "tcp_ndown",
            "SERIES_META": {"TCP download": {"UNITS": "Mbits/s"}, "Ping (ms) ICMP": {"UNITS": "ms"}},
        },
        "results": {
            "Ping (ms) ICMP": [20.0, 20.0, 21.0, None, 40.0],
            "TCP download": [None, None, 10.0, 30.0, 20.0],
            "TCP download::tcp_cwnd": [None, None, 10.0, 20.0, 30.0],
        },
        "raw_values": {},
    }


def link(folder: Path, lines: list[str]) -> dict[str, Any]:
    """Return the frozen link of a scenario with these lines."""
    (folder / "s.toml").write_text("\n".join(["duration = '1 s'", "[[topology.links]]", *lines, "[flow]\n"]))
    frozen: dict[str, Any] = Frozen(ackclock.load(folder / "s.toml")).links[0]
    return frozen


def test_irtt_becomes_the_link_of_a_scenario(tmp_path: Path) -> None:
    # 20 ms there and back in the first second, 60 ms with one loss of five in the next, and nothing in the third.
    delays = [20e6] * 5 + [60e6, 60e6, None, 60e6, 60e6] + [None] * 5
    (tmp_path / "i.json.gz").write_bytes(gzip.compress(json.dumps(irtt(delays)).encode()))
    found = ackclock.trace(tmp_path / "i.json.gz", out=tmp_path / "i.csv")
    assert (tmp_path / "i.csv").read_text() == "time (s),delay (ms),loss (%)\n0,10,0\n1,30,20\n2,30,100\n"
    assert found.end == pytest.approx(3)
    assert [found.mean("delay"), found.mean("loss")] == pytest.approx([0.07 / 3, 0.4])
    frozen = link(tmp_path, found.lines("i.csv"))
    assert frozen["delay"]["steps"] == [["0 s", "10 ms"], ["1 s", "30 ms"], ["2 s", "30 ms"]]
    assert frozen["loss"]["steps"] == [["0 s", "0 %"], ["1 s", "20 %"], ["2 s", "100 %"]]
    assert frozen["loss"]["period"] == "3 s"
    # The table is a trace itself.
    again = ackclock.trace(tmp_path / "i.csv")
    assert (again.form, again.csv(), again.end) == ("CSV", found.csv(), pytest.approx(3))


def test_a_delivered_rate_is_that_of_the_trace(tmp_path: Path) -> None:
    # Mahimahi: 100 opportunities in the first 100 ms, 20 in the next.
    times = [*range(100), *range(100, 200, 5), 200]
    (tmp_path / "m.down").write_text("".join(f"{time}\n" for time in times))
    found = ackclock.trace(tmp_path / "m.down", out=tmp_path / "m.csv")
    assert found.values["rate"] == pytest.approx([8 * 1504 * 1000, 8 * 1504 * 210])
    assert found.quantile("rate", 0.5) == pytest.approx(8 * 1504 * 210)
    lines = "\n".join(found.lines("m.csv"))
    text = f"""duration = "20 s"
[[topology.links]]
queue = "100 packets"
delay = "1 ms"
{lines}
[flow]
packet_size = "1472 B"
application = {{ kind = "cbr", rate = "20 Mbit/s" }}
"""
    (tmp_path / "s.toml").write_text(text)
    flow = ackclock.run(ackclock.load(tmp_path / "s.toml")).summary["flows"][0]
    assert math.isclose(flow["delivered_bytes"] / 1472 * 1500, 121 * 1504 * 100, rel_tol=0.005)


def test_flent_begins_with_its_download(tmp_path: Path) -> None:
    (tmp_path / "f.flent.gz").write_bytes(gzip.compress(json.dumps(flent()).encode()))
    found = ackclock.trace(tmp_path / "f.flent.gz")
    assert found.csv() == "time (s),rate (Mbit/s),delay (ms)\n0,10,10.5\n0.25,30,10.5\n0.5,20,20\n"
    assert found.end == 0.75
    assert [found.quantile("rate", share) for share in (0.05, 0.5, 0.95)] == [10e6, 20e6, 30e6]


def test_the_command_says_what_it_found(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "f.json").write_text(json.dumps(flent()))
    done = cli("trace", tmp_path / "f.json", "--out", tmp_path / "f.csv")
    assert done.returncode == 0, done.stderr
    assert (
        "flent: 0.75 s in 3 steps.\nrate: 10, 20, 30 Mbit/s for 5, 50 and 95 % of the time, mean 20 Mbit/s."
        in done.stdout
    )
    assert done.stdout.endswith('delay = { kind = "steps", file = "f.csv", period = "0.75 s" }\n')
    before = (tmp_path / "f.csv").read_text()
    done = cli("trace", tmp_path / "f.json", "--out", tmp_path / "f.csv")
    assert done.returncode == 2
    assert "--force" in done.stderr
    assert cli("trace", tmp_path / "f.json", "--out", tmp_path / "f.csv", "--force").returncode == 0
    assert (tmp_path / "f.csv").read_text() == before
    assert cli("trace", tmp_path / "f.json", "--out", tmp_path / "f.json", "--force").returncode == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("5\n4\n", "line 2: is earlier than the line before"),
        ("5\nx\n", "line 2: is not a whole number of milliseconds"),
        ("0\n", "must end with a number above 0"),
        ("time (s),rate (Mbit/s)\n0,1\n1,fast\n", "line 3: its value "),
        ("time,speed\n0 s,1\n", "has no column rate, delay or loss"),
        ("a,b\n1,2\n", "is no trace of Mahimahi"),
        ("{", "is not valid JSON"),
        ("{}", "is JSON with neither round_trips"),
        ('{"round_trips": []}', "has no round trips"),
        ('{"round_trips": [{}]}', "is damaged: KeyError"),
        (json.dumps(irtt([None, None])), "all round trips are lost"),
        ('{"x_values": [0], "results": {"CPU": [1]}, "metadata": {}}', "of TCP nor of pings; it has CPU"),
        ("", "is no trace of Mahimahi"),
    ],
)  # fmt: skip
def test_wrong_files(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_text(text)
    with pytest.raises(ValueError) as caught:
        ackclock.trace(tmp_path / "x")
    assert str(caught.value).startswith(str(tmp_path / "x"))
    assert message in str(caught.value)


def test_the_traces_of_the_examples_are_those_of_their_models(tmp_path: Path) -> None:
    for name in ("make.py", "cellular.toml", "leo.toml"):
        shutil.copy(TRACES / name, tmp_path)
    subprocess.run([sys.executable, tmp_path / "make.py"], check=True)
    for name in ("cellular.down", "leo.csv"):
        assert (tmp_path / name).read_bytes() == (TRACES / name).read_bytes()
    subprocess.run([sys.executable, tmp_path / "make.py", "2"], check=True)
    for name, file in {"cellular.toml": "cellular.down", "leo.toml": "leo.csv"}.items():
        rates = ackclock.trace(tmp_path / file).values["rate"]
        links = ackclock.run(ackclock.load(tmp_path / name)).summary["links"]
        link = next(link for link in links if link["name"] == "n1>n2")
        assert link["rate_bps"] == pytest.approx(sum(rates) / len(rates), rel=0.05)
        assert 0.3 < link["utilisation"] <= 1
