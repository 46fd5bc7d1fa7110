"""Queues: their counters, traces, tables and plots."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

import ackclock
from ackclock import Scenario, curves
from ackclock.drawing import overtime, queues
from ackclock.results import Result, frame, rows

from .conftest import ROOT, Cli

TRACES = ["queue", "drops", "marks", "sojourn", "discipline"]
REASONS = ("overflow", "early", "forced", "virtual", "sojourn")
COLUMNS = {
    "queue", "arrivals", "delivered_packets", "drops", *(f"drops_{reason}" for reason in REASONS), "marks", "losses",
    "queue_mean", "queue_max", "sojourn_mean", "sojourn_max", "first_drop_time",
}  # fmt: skip
RATE = 2e6  # of the bottleneck, in bit/s
PACKET = 1040 * 8 / RATE  # transmission time of a packet there, in seconds
RED = {"kind": "red", "limit": "60 packets", "mean_packet": "1000 B", "target_delay": "100 ms"}

QUEUES: dict[str, dict[str, Any]] = {
    "droptail": {"kind": "droptail", "limit": "20 packets"},
    "headdrop": {"kind": "headdrop", "limit": "20 packets"},
    "red": RED,
    "pi": {"kind": "pi", "limit": "20 packets", "reference": "5 packets", "a": 1.822e-3, "b": 1.816e-3},
    "vq": {"kind": "vq", "limit": "20 packets"},
    "rem": {"kind": "rem", "limit": "20 packets", "reference": 5.0, "gamma": 0.01, "ecn": True},
    "gk": {"kind": "gk", "limit": "20 packets"},
    "fq": {"kind": "fq", "flow_limit": "10 packets"},
    "sfq": {"kind": "sfq", "limit": "20 packets"},
    "drr": {"kind": "drr", "limit": "20 kB"},
    "srr": {"kind": "srr", "flow_limit": "10 packets"},
    "codel": {"kind": "codel", "limit": "20 packets"},
    "fq_codel": {"kind": "fq_codel", "limit": "20 packets"},
    "pie": {"kind": "pie", "limit": "20 packets"},
    "dualpi2": {"kind": "dualpi2", "limit": "20 packets"},
    "cobalt": {"kind": "cobalt", "limit": "20 packets"},
    "fq_cobalt": {"kind": "fq_cobalt", "limit": "20 packets"},
    "cake": {"kind": "cake", "limit": "6 kB"},
    "fq_pie": {"kind": "fq_pie", "limit": "20 packets"},
    "prio": {"kind": "prio", "class": [{"queue": "20 packets"}]},
    "wrr": {"kind": "wrr", "class": [{"flows": [0, 1], "queue": "20 packets"}, {"queue": "20 packets"}]},
    "htb": {"kind": "htb", "class": {"rate": "1 Mbit/s", "queue": "20 packets"}},
    "fq_paced": {"kind": "fq_paced", "limit": "20 packets"},
    "tbf": {"kind": "tbf", "rate": "1 Mbit/s", "limit": "20 kB"},
}
# Disciplines that never mark.
UNMARKED = {"droptail", "headdrop", "fq", "prio", "wrr", "htb", "fq_paced", "sfq", "drr", "srr", "tbf"}


def scenario(queue: Any, flow: dict[str, Any], duration: str = "20 s", **bottleneck: Any) -> Scenario:
    """Return one bottleneck with a queue, and fast links before and after it."""
    link = {"rate": "2 Mbit/s", "delay": "10 ms", "queue": queue, **bottleneck}
    topology = {"kind": "chain", "access": {"delay": "1 ms"}, "bottleneck": link}
    return Scenario("queues", duration=duration, topology=topology, flow=[flow], record=TRACES)


def bottleneck(result: Result) -> dict[str, Any]:
    return next(row for row in rows(result.links) if row["name"] == "n1>n2")


def trace(result: Result, name: str) -> polars.DataFrame:
    table = frame(result.trace(name))
    texts = table.with_columns(polars.col(polars.Categorical).cast(polars.String))
    return texts.filter(polars.col("link") == "n1>n2")


@pytest.fixture
def red() -> Result:
    """Run four flows with ECN at RED, so long that it marks and drops; all finish before the end."""
    flow = {"count": 4, "ecn": True, "start_spread": "1 s", "size": "1 MB", "initial_ssthresh": "unlimited"}
    return ackclock.run(scenario(RED, flow, duration="60 s"))


@pytest.fixture
def full() -> Result:
    """Run a window larger than path and queue: the queue, which holds 9 packets, fills repeatedly."""
    return ackclock.run(scenario("10 packets", {"rwnd": "100 packets"}))


@pytest.mark.parametrize("window", [20, 30])
def test_a_window_that_fits_waits_as_long_as_arithmetic_says(window: int) -> None:
    result = ackclock.run(scenario("unlimited", {"rwnd": f"{window} packets"}))
    # A round trip is the transmission time of the window; beyond the delay of the path, packets wait in the queue.
    fast = 100e6
    path = 2 * 0.012 + 2 * 1040 * 8 / fast + PACKET + 2 * 40 * 8 / fast + 40 * 8 / RATE
    expected = window * PACKET - path
    steady = trace(result, "sojourn").filter(polars.col("time") > 5)["sojourn"]
    assert len(steady) > 1000
    assert steady.to_numpy() == pytest.approx(expected, rel=1e-6)
    (line,) = queues.sojourn_lines(result, 1.0, link="n1>n2")
    assert line.thin is not None
    assert line.y[6:] == pytest.approx(expected * 1e3, rel=1e-6)
    assert line.thin[6:] == pytest.approx(expected * 1e3, rel=1e-6)
    assert not frame(result.trace("drops")).height


def test_a_full_queue_waits_for_its_limit(full: Result) -> None:
    link = bottleneck(full)
    assert link["queue_max"] == 9
    # The ninth waits for the eight before it, and for the rest of the packet in transmission.
    assert 8 * PACKET < link["sojourn_max"] <= 9 * PACKET
    waited = trace(full, "sojourn")["sojourn"]
    assert waited.max() == pytest.approx(link["sojourn_max"])
    # All enqueued packets have left, except those that wait at the end.
    taken = link["arrivals"] - link["drops"]
    assert taken - 9 <= len(waited) <= taken
    assert link["sojourn_mean"] == pytest.approx(waited.mean(), rel=1e-6)
    # Little's law, except for packets that wait at the end.
    assert link["queue_mean"] == pytest.approx(waited.sum() / 20.0, rel=0.01)


@pytest.mark.parametrize("ecn", [True, False])
@pytest.mark.parametrize("kind", QUEUES)
def test_drops_and_marks_add_up(kind: str, ecn: bool) -> None:
    queue = QUEUES[kind] if ecn or kind != "rem" else {**QUEUES[kind], "ecn": False}
    flow = {"count": 4, "ecn": ecn, "initial_ssthresh": "unlimited"}
    result = ackclock.run(scenario(queue, flow, loss="0.5 %"))
    link, drops = bottleneck(result), trace(result, "drops")
    assert link["queue"] == kind
    assert link["drops"] == sum(link[f"drops_{reason}"] for reason in REASONS) > 0
    for reason in REASONS:
        assert link[f"drops_{reason}"] == (drops["reason"] == reason).sum()
    assert link["losses"] == (drops["reason"] == "random").sum() > 0
    assert link["marks"] == len(trace(result, "marks"))
    assert (link["marks"] > 0) == (ecn and kind not in UNMARKED)
    reasons = {"vq": {"virtual"}, "gk": {"virtual"}}
    reasons |= {queue: {"sojourn"} for queue in ("codel", "fq_codel", "cobalt", "fq_cobalt", "cake")}
    assert set(trace(result, "marks")["reason"]) <= reasons.get(kind, {"early"})
    assert link["first_drop_time"] == drops.filter(drops["reason"] != "random")["time"][0]


def test_the_measured_share_agrees_with_the_counters(red: Result) -> None:
    link = bottleneck(red)
    assert link["marks"] > 0
    assert link["drops"] > 0
    (line,) = queues.share_lines(red, red.duration)
    assert line.y[0] == pytest.approx(100 * (link["drops"] + link["marks"]) / link["arrivals"])
    (fine,) = queues.share_lines(red)
    assert len(fine.x) == 101
    assert np.nanmax(fine.y) <= 100
    assert np.isnan(fine.y[-1])  # nothing arrives after the transfers


def test_the_measured_share_follows_the_probability() -> None:
    # PI decides each arrival only by its probability; high gains make the effect visible.
    queue = {"kind": "pi", "limit": "200 packets", "reference": "10 packets", "a": 1.822e-3, "b": 1.816e-3}
    result = ackclock.run(scenario(queue, {"count": 4, "initial_ssthresh": "20 packets"}, duration="200 s"))
    (own,), (share,) = queues.probability_lines(result), queues.share_lines(result, 50.0)
    assert bottleneck(result)["drops_overflow"] == 0
    assert len(own.y) == bottleneck(result)["arrivals"]
    for index in range(4):
        chosen = own.y[(own.x >= 50 * index) & (own.x < 50 * (index + 1))]
        expected = chosen.mean() / 100
        assert abs(share.y[index] / 100 - expected) < 4 * np.sqrt(expected / len(chosen))
        assert expected > 0.01


def test_losses_are_no_part_of_the_share() -> None:
    result = ackclock.run(scenario("unlimited", {"rwnd": "20 packets"}, loss="5 %"))
    assert bottleneck(result)["losses"] > 0
    (line,) = queues.share_lines(result, link="n1>n2")
    assert np.nanmax(line.y) == 0


def test_quantiles_are_those_of_each_bin() -> None:
    time, edges = np.array([0.1, 0.2, 0.9, 2.5, 2.6, 3.0]), np.array([0.0, 1.0, 2.0, 3.0])
    median, high = queues._quantiles(time, np.array([3.0, 1.0, 2.0, 5.0, 7.0, 9.0]), edges, (0.5, 0.95))
    assert median.tolist() == pytest.approx([2.0, np.nan, 5.0, 5.0], nan_ok=True)
    assert high.tolist() == pytest.approx([3.0, np.nan, 7.0, 7.0], nan_ok=True)


@pytest.mark.parametrize("lines", [queues.sojourn_lines, queues.share_lines, curves.throughput_lines])
def test_bins_have_a_width_and_fit_into_the_run(lines: Any, full: Result) -> None:
    result = ackclock.run(full.scenario, record=[*TRACES, "delivered"])
    (line,) = lines(result, 1000.0)
    assert line.x.tolist() == [0.0, 20.0]
    assert len(line.y) == 2
    for width in (0.0, -1.0):
        with pytest.raises(ValueError, match="bin must be above 0"):
            lines(result, width)


def test_queues_are_drawn_in_packets_or_bytes(full: Result) -> None:
    (packets,), (bytes_,) = queues.queue_lines(full), queues.queue_lines(full, unit="bytes")
    assert packets.y.max() == 9
    assert bytes_.y.max() == 9 * 1040
    assert ackclock.plot(full, "queue", unit="bytes").axes[0].get_ylabel() == "queue (bytes)"
    with pytest.raises(ValueError, match="known: packets, bytes"):
        ackclock.plot(full, "queue", unit="bits")  # type: ignore[arg-type]


def test_limited_queues_are_shown_unless_a_link_is_named(red: Result) -> None:
    assert queues.used_queues(red) == ["n1>n2"]
    assert [line.label for line in queues.queue_lines(red)] == ["n1>n2"]
    assert [line.label for line in queues.queue_lines(red, link="n2>n1")] == ["n2>n1"]
    assert [line.label for line in queues.queue_lines({"a": red, "b": red})] == ["a", "b"]
    for kind in ("queue", "sojourn", "probability", "queues"):
        with pytest.raises(ValueError, match=r"no link 'n1>n9'; known: n0>n1, "):
            ackclock.plot(red, kind, link="n1>n9")


def test_all_views_of_one_queue(red: Result, full: Result) -> None:
    figure = ackclock.plot({"red": red, "droptail": full}, "queues")
    assert [axes.get_ylabel() for axes in figure.axes] == [
        "queue (packets)", "sojourn time (ms)", "dropped or marked (%)",
    ]  # fmt: skip
    assert figure.get_suptitle() == "The queue of n1>n2"
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert words == ["red", "droptail", "marked", "dropped", "95th percentile (thin)", "measured share (thin)"]
    # droptail has no probability, but the same colour in every panel.
    own = queues.probability_lines({"red": red, "droptail": full})
    assert [len(line.x) > 0 for line in own] == [True, False]
    described = overtime.queues({"red": red, "droptail": full})
    owners = [{series.owner for series in panel.series} for panel in described.panels]
    assert owners == [{"red", "droptail"}] * 3


@pytest.mark.parametrize(("kind", "missing"), [("sojourn", "sojourn"), ("probability", "marks"), ("queues", "queue")])
def test_a_missing_trace_is_named(kind: str, missing: str, full: Result) -> None:
    recorded = [name for name in TRACES if name != missing]
    result = ackclock.run(full.scenario, record=recorded)
    with pytest.raises(ValueError, match=f"{kind} needs the trace") as caught:
        ackclock.plot(result, kind)
    assert f"{kind} needs the trace '{missing}', which was not recorded; run again with record" in caught.value.args[0]
    assert f'"{missing}"' in caught.value.args[0]


def test_many_points_are_thinned_out() -> None:
    count = 1_000_000
    time = np.linspace(0, 100, count)
    line = curves.thin_out(curves.Line("a", time, np.sin(time)))
    assert len(line.x) < 5000


def test_counters_are_in_json_and_parquet(red: Result, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "red.toml").write_text(red.scenario.to_toml())
    done = cli("run", "red.toml", "--json", "--out", "o")
    assert done.returncode == 0, done.stderr
    printed = next(link for link in json.loads(done.stdout)["links"] if link["name"] == "n1>n2")
    assert printed == bottleneck(red)
    assert printed.keys() >= COLUMNS
    stored = ackclock.open(tmp_path / "o")
    assert stored.links.equals(frame(red.links))
    for name in TRACES:
        assert stored.trace(name).shape == frame(red.trace(name)).shape


def test_tables_show_queues(red: Result, full: Result, cli: Cli, tmp_path: Path) -> None:
    for name, result in {"red": red, "full": full}.items():
        (tmp_path / f"{name}.toml").write_text(result.scenario.to_toml())
    shown = cli("run", "red.toml").stdout
    line = next(line for line in shown.splitlines() if line.strip().startswith("n1>n2")).split()
    link = bottleneck(red)
    assert line[1] == "red"
    assert str(link["marks"]) in line
    assert "n2>n1" not in shown, "it has no limit and no losses"
    assert "marks" in shown
    assert "marks" not in cli("run", "full.toml").stdout


def test_a_sweep_keeps_and_shows_its_queues(cli: Cli, tmp_path: Path) -> None:
    text = (ROOT / "scenarios" / "aqm.toml").read_text(encoding="utf-8")
    (tmp_path / "aqm.toml").write_text(text)
    done = cli("run", "aqm.toml", "--out", "o", "--set", "duration=5 s")
    assert done.returncode == 0, done.stderr
    links = ackclock.open(tmp_path / "o").links
    limited = links.filter(polars.col("queue") != "unlimited").sort("point").collect()
    assert limited["label.queue"].to_list() == limited["queue"].to_list() == ["droptail", "red", "pi"]
    assert done.stdout.count("r1>r2") == 3
    drawn = cli("plot", "o")
    assert drawn.stdout.split() == ["o/queue.png", "o/sojourn.png", "o/probability.png", "o/queues.png"]
    assert drawn.stderr == ""
    assert cli("plot", "o", "--link", "r2>r1", "--kind", "queues", "--format", "svg").returncode == 0
    wrong = cli("plot", "o", "--link", "r1>r9")
    assert wrong.returncode == 2
    assert "there is no link 'r1>r9'; known: " in wrong.stderr


def test_a_link_for_plots_of_flows_is_refused(cli: Cli, first: Path) -> None:
    cli("run", first, "--out", "o", "--record", "cwnd")
    done = cli("plot", "o", "--link", "n1>n2")
    assert done.returncode == 2
    assert done.stderr == "error: --link n1>n2: none of cwnd shows links\n"
    done = cli("plot", "o", "--kind", "sojourn")
    assert done.stderr.endswith('which was not recorded; run again with record = ["sojourn"]\n')
