"""The paper on Westwood RB: structure, arithmetic of tables, and an independent estimate of the bandwidth."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import polars
import pytest

from ackclock.literature import printed
from ackclock.literature.contents import matches
from ackclock.literature.plan import Plan
from ackclock.results import Result, frame
from ackclock.running import run
from ackclock.scenario import Scenario, load

from .conftest import ROOT, Cli
from .plans import shortened

FOLDER = ROOT / "papers" / "westwood-rb"
DATA, PACKET = 8 * 1400, 8 * 1440  # bits of a segment: data alone, and with headers
TAU = 0.5


@pytest.fixture(scope="module")
def plan() -> Plan:
    return shortened("westwood-rb")


def table(plan: Plan, number: int) -> printed.Table:
    return next(table for table in plan.tables if table.number == number)


def checked(plan: Plan, number: int, name: str) -> list[float]:
    """Return the results of a check on the printed numbers, row by row."""
    known = table(plan, number)
    check = next(check for check in known.checks if check.name == name)
    values = [check.value(row, known.numbers(row)) for row in known.printed]
    return [value for value in values if value is not None]


def base_rtt(rate: float) -> float:
    """Return the round trip without a queue: 74 ms, plus transmission on six links of a packet and its ACK of 40 B."""
    return 0.074 + (PACKET + 8 * 40) * (1 / rate + 2 / 100e6)


def test_every_table_and_figure_exists(plan: Plan) -> None:
    assert [table.number for table in plan.tables] == [1, 2, 3]
    assert {chart.figure for chart in plan.paper.contents.charts if chart.figure is not None} == {2, 3, 4}
    assert "internals" in {chart.kind for chart in plan.paper.contents.charts}
    assert min(rule.count for rule in plan.paper.contents.repeats) >= 10


def test_every_printed_cell_has_runs_in_every_reading(plan: Plan) -> None:
    cells = [cell[0] for cell in plan.cells]
    for known in plan.tables:
        for row in known.printed:
            for where in known.readings.values():
                wanted = [{**known.where, **where, known.rows: row, **column.where} for column in known.columns]
                for labels in wanted:
                    flow = labels.pop("flow", None)
                    (cell,) = [cell for cell in cells if matches(cell.labels, labels)]
                    assert flow is None or flow in cell.scenario.flows


def test_mixed_recovery_depends_on_the_protocol(plan: Plan) -> None:
    for planned in plan.runs:
        if planned.labels["recovery"] == "mixed" and planned.labels["study"] != "pair":
            recovery = {"RB": "newreno", "Vegas": "vegas"}.get(planned.labels["protocol"], "reno")
            assert f'recovery = "{recovery}"' in planned.scenario.to_toml()


def test_the_gain_of_the_text_is_not_that_of_the_table(plan: Plan) -> None:
    gains = checked(plan, 1, "RB over TCPW")
    assert gains == pytest.approx([1.1328, 1.2985, 1.4929, 1.5895, 1.6052], abs=5e-5)
    assert gains[2] == (1931.5 + 1884.0) / (1282.4 + 1273.3)
    assert max(1931.5 / 1282.4, 1884.0 / 1273.3) < 1.517


def test_table_1_against_the_square_root_law(plan: Plan) -> None:
    constants = checked(plan, 1, "constant of the square-root law, Reno")
    rows = zip(table(plan, 1).printed.values(), (0.01, 0.02, 0.03, 0.04, 0.05), strict=True)
    by_hand = [500 * (row[0] + row[1]) * base_rtt(5e6) * math.sqrt(p) / DATA for row, p in rows]
    assert constants == pytest.approx(by_hand, rel=1e-4)
    assert constants == pytest.approx([1.018, 0.963, 0.880, 0.854, 0.799], abs=6e-4)
    # The ratio of RB exceeds that of halving with a growth of two segments per round trip.
    rb = checked(plan, 1, "constant of the square-root law, RB")
    assert [constant > math.sqrt(3) for constant in rb] == [False, True, True, True, True]
    assert checked(plan, 1, "segments of one RB flow in a round trip")[-1] == pytest.approx(9.49, abs=0.01)


def test_sent_packets_are_the_mean_of_both_flows(plan: Plan) -> None:
    """Only then do all rows take the same time."""
    name = "seconds that {} takes, if sent packets are the mean of both flows"
    mean = [checked(plan, 2, name.format(who)) for who in ("TCPW", "RB")]
    assert mean[0][0] == 8280 * DATA / (1000 * (433.9 + 453) / 2) == pytest.approx(209.1, abs=0.05)
    assert all(200 < seconds < 204 for seconds in [*mean[0][1:], *mean[1]])
    first = checked(plan, 2, "seconds that RB takes, if sent packets are those of flow 1")
    second = checked(plan, 2, "seconds that RB takes, if sent packets are those of flow 2")
    assert max(first) < 187
    assert min(second) > 219


def test_table_2_contradicts_figure_4_and_praises_little(plan: Plan) -> None:
    tcpw, rb = (checked(plan, 2, f"Jain's index, {who}") for who in ("TCPW", "RB"))
    assert all(a > 0.999 > b > 0.96 for a, b in zip(tcpw, rb, strict=True))
    assert rb[0] == pytest.approx((548.4 + 380) ** 2 / (2 * (548.4**2 + 380**2)))
    assert rb == pytest.approx([0.9681, 0.9936, 0.9800, 0.9871, 0.9831], abs=5e-5)
    gains = checked(plan, 2, "RB over TCPW, throughput")
    assert gains == pytest.approx([1.0468, 1.0328, 1.0285, 1.0127, 1.0030], abs=5e-5)
    assert checked(plan, 2, "RB over TCPW, packets sent")[-1] < 1 < gains[-1]
    for who in ("TCPW", "RB"):
        assert all(use < 1400 / 1440 for use in checked(plan, 2, f"both flows of {who} over the link's rate"))


def test_the_misprint_of_table_2(plan: Plan) -> None:
    (remark,) = table(plan, 2).remarks
    assert remark.printed == "9194"
    assert 9194 > 2000 > 2 * table(plan, 2).numbers(remark.row)[remark.column]


def test_resent_packets_of_table_2_against_the_cycle_of_the_window() -> None:
    """Two flows fill pipe and buffer, halve to their shares of the pipe, and grow by one segment per round trip."""

    def losses(rate: float, buffer: float) -> float:
        rtt = base_rtt(rate)
        pipe = rate * rtt / PACKET
        growth = (pipe + buffer) / 2 - pipe / 2
        full = rtt + buffer * PACKET / rate
        return 200 / (growth * (rtt + full) / 2)

    assert losses(5e6, 33) == pytest.approx(106, abs=1)  # printed: 85 and 58
    assert losses(1e6, 7) == pytest.approx(452, abs=3)  # printed: 139 and 46
    assert losses(1e6, 33) == pytest.approx(44, abs=1)


def test_table_3_against_table_1(plan: Plan) -> None:
    alone, beside = table(plan, 1), table(plan, 3)
    kept = [beside.printed[row][0] / np.mean(alone.printed[row][:2]) for row in alone.printed]
    assert min(kept) > 0.89, "Reno beside RB gets what it gets beside Reno, or nearly"
    ratio = checked(plan, 3, "Reno over RB")
    assert ratio[0] == 2799.9 / 1993.9 > 1.4
    assert max(ratio[1:]) < 0.46


def acks(result: Result, flow: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the times and numbers of ACKs of data, and the estimates after them."""
    own = [
        frame(result.trace(trace))
        .with_columns(polars.col("flow", column).cast(polars.String))
        .filter((polars.col("flow") == flow) & (polars.col(column) == value))
        for trace, column, value in (("sequence", "kind", "ack"), ("internals", "name", "bwe"))
    ]
    # The first ACK is that of the SYN.
    assert own[0]["time"].to_list() == own[1]["time"].to_list()
    return own[0]["time"].to_numpy()[1:], own[0]["seq"].to_numpy()[1:], own[1]["value"].to_numpy()[1:]


def arrivals(numbers: np.ndarray) -> list[int]:
    """Return the segments that each ACK reports: one for a duplicate, those not yet reported for a cumulative ACK."""
    highest, told, found = 1, 0, []
    for number in numbers.tolist():
        new = number - highest
        if new <= 0:
            told += 1
            found.append(1)
            continue
        known = min(told, new - 1)
        highest, told = number, told - known
        found.append(new - known)
    return found


def filtered(times: np.ndarray, arrived: list[int]) -> list[float]:
    """The filter of the TCP Westwood paper, implemented a second time."""
    estimate, sample, since, at = 0.0, 0.0, times[0], times[0]
    found = [0.0]

    def step(estimate: float, samples: float, width: float) -> float:
        weight = (2 * TAU - width) / (2 * TAU + width)
        return weight * estimate + (1 - weight) * samples / 2

    for now, count in zip(times[1:], arrived[1:], strict=True):
        while now - at > TAU / 2 + 1e-9:
            estimate, sample, at = step(estimate, sample, TAU / 2), 0.0, at + TAU / 2
        new = count / (now - since)
        estimate, sample, since, at = step(estimate, new + sample, now - at), new, now, now
        found.append(estimate)
    return found


@pytest.mark.parametrize("protocol", ["TCPW", "RB"])
def test_the_estimate_from_scratch(protocol: str) -> None:
    """The ACKs alone explain why the estimate is twice the arrival rate: a sample also counts with the next gap."""
    wanted = {"protocol": protocol, "recovery": "reno", "loss": "3 %", "place": "after"}
    scenario = next(one for labels, one in load(FOLDER / "loss.toml").variants() if matches(labels, wanted))
    result = run(scenario.set({"duration": "60 s"}), record=["internals", "sequence"])
    times, numbers, estimates = acks(result, "1")
    arrived = arrivals(numbers)
    np.testing.assert_allclose(estimates, filtered(times, arrived), atol=1e-6)
    gaps = np.diff(times)
    samples = np.array(arrived[1:]) / gaps
    own = float((samples * gaps).sum() / gaps.sum())
    successors = float((samples[:-1] * gaps[1:]).sum() / gaps.sum())
    mean = float((estimates[:-1] * gaps).sum() / gaps.sum())
    assert mean == pytest.approx((own + successors) / 2, rel=0.05)
    delivered = frame(result.flows)["delivered_packets"][0] / 60
    assert own == pytest.approx(delivered, rel=0.05)
    # Most ACKs follow each other at the rate of the link, so the next gap weighs bursts with the pauses after them.
    at_link_rate = np.abs(gaps - PACKET / 5e6) < 1e-6
    assert at_link_rate.mean() > 0.7
    assert successors > 2 * own


def test_a_quick_run(cli: Cli, tmp_path: Path) -> None:
    """One seed of a few cells: all files are written, and a second run gives the same bytes."""
    folder = tmp_path / "papers" / "westwood-rb"
    folder.mkdir(parents=True)
    for file in FOLDER.iterdir():
        text = file.read_text().replace("counts = { seed = 3 }", 'counts = { seed = 2 }\nonly = { loss = ["3 %"] }')
        (folder / file.name).write_text(text.replace('duration = "200 s"', 'duration = "4 s"'))
    written = []
    for out, jobs in (("one", "1"), ("two", "2")):
        done = cli("paper", "westwood-rb", "--quick", "--jobs", jobs, "--out", out, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        names = ("report.html", "tables.csv", "checks.csv", "verdicts.json", "tables.parquet")
        written.append([(tmp_path / out / name).read_bytes() for name in names])
    assert written[0] == written[1]
    html, tables, checks, verdicts, _ = written[0]
    assert b'id="tables"' in html
    assert b"printed 9194" in html
    assert "### Table 1: average throughput" in (tmp_path / "one" / "report.md").read_text()
    cells = polars.read_csv(tables)
    assert set(cells["place"]) <= {"inside", "as one run", "outside", "not run"}
    assert set(cells.filter(polars.col("row") == "3 %")["place"]).isdisjoint({"not run"})
    assert set(cells.filter(polars.col("row") == "1 %")["place"]) == {"not run"}
    assert "contradicts" in set(polars.read_csv(checks)["verdict"])
    assert {item["verdict"] for item in json.loads(verdicts) if "gain-3" in item["claim"]["id"]} != {"not run"}


def test_scenarios_are_those_of_the_paper() -> None:
    for file in ("loss", "vegas", "capacity", "pair", "fairness"):
        _, scenario = load(FOLDER / f"{file}.toml").variants()[0]
        assert isinstance(scenario, Scenario)
        text = scenario.to_toml()
        assert 'duration = "200 s"' in text
        assert 'packet_size = "1400 B"' in text
