"""Readings that explain printed numbers of papers: each as data, with the numbers in their READMEs."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import polars
import pytest

import ackclock
from ackclock.literature import library, modelruns
from ackclock.literature.plan import Plan, plan_paper
from ackclock.metrics.flows import DERIVATIONS, first_loss
from ackclock.results import frame
from ackclock.scenario import Scenario, load

from .conftest import ROOT
from .plans import shortened


@cache
def rbt() -> Plan:
    return plan_paper(library.find("rbt"))


def variants(file: str, **labels: str) -> list[tuple[dict[str, str], Scenario]]:
    """Return the variants of a paper's scenario file with these labels."""
    swept = load(ROOT / "papers" / file).variants()
    return [(own, scenario) for own, scenario in swept if labels.items() <= own.items()]


def flow(scenario: Scenario, name: str | None = None) -> dict[str, Any]:
    table = polars.DataFrame(ackclock.run(scenario).flows)
    return (table if name is None else table.filter(polars.col("name") == name)).row(0, named=True)


@pytest.mark.parametrize("queue", ["5", "200"])
@pytest.mark.parametrize("window", ["Wnd1", "Wnd2"])
def test_one_unseeded_stream_ranks_like_the_paper(queue: str, window: str) -> None:
    labels = {"loss": "20 %, one stream", "queue": queue, "window": window, "cut": "staged"}
    rows = {own["algorithm"]: flow(scenario) for own, scenario in variants("ass/scenario2.toml", **labels)}
    packets = {name: row["delivered_packets"] for name, row in rows.items()}
    assert packets == {"1": 2843, "2": 3777, "3": 3128, "4": 3128}
    # Algorithm 1 is the limited slow start of ns-2.35: `bytes_` of its sink, with an ErrorModel without a seed.
    assert rows["1"]["delivered_bytes"] == 2_956_760


def test_the_one_stream_of_scenario_1_is_also_that_of_ns2() -> None:
    labels = {"loss": "20 %, one stream", "queue": "50", "window": "Wnd1", "cut": "staged", "algorithm": "1"}
    [(_, scenario)] = variants("ass/scenario1.toml", **labels)
    assert flow(scenario)["delivered_bytes"] == 2_079_000


def test_the_papers_divisors_cost_what_its_growth_gains() -> None:
    labels = {"loss": "20 %", "queue": "50", "window": "Wnd1", "algorithm": "2"}
    means = {}
    for own, scenario in variants("ass/scenario2.toml", **labels):
        packets = [flow(scenario.set({"seed": str(seed)}))["delivered_packets"] for seed in range(1, 61)]
        means[own["cut"]] = sum(packets) / len(packets)
    assert means["halved"] > means["staged"] + 100


def test_panels_with_loss_show_one_seed_for_all_queues() -> None:
    drawn = [run for run in shortened("ass").runs if run.curves.kinds]
    assert {run.labels["loss"] for run in drawn} == {"0 %", "20 %", "20 %, one stream"}
    assert {run.labels["cut"] for run in drawn} == {"staged"}
    lossy = [run for run in drawn if run.labels["loss"] == "20 %"]
    seeds: dict[tuple[str, ...], set[int]] = {}
    for run in lossy:
        seeds.setdefault(run.cell, set()).add(run.scenario.seed)
    assert len(seeds) == 96
    assert len({frozenset(own) for own in seeds.values()}) == 1
    # The line in each panel is the one run that has the paper's ranking.
    assert sum(run.labels["loss"] == "20 %, one stream" for run in drawn) == 96


@pytest.mark.parametrize("queue", ["5", "15"])
def test_until_the_first_loss_standard_slow_start_is_equation_1(queue: str) -> None:
    labels = {"loss": "0 %, start", "queue": queue, "window": "Wnd1", "cut": "staged"}
    growth = {}
    for own, scenario in variants("ass/scenario2.toml", **labels):
        result = ackclock.run(scenario, record=DERIVATIONS["first_loss"].traces)
        rows = [{"flow": row.pop("name"), **row} for row in frame(result.flows).to_dicts()]
        first_loss(rows, result)
        growth[own["algorithm"]] = rows[0]["first_growth"]
        assert rows[0]["first_rate"] == rows[0]["first_arrived"] / rows[0]["first_rounds"]
    assert growth["1"] == pytest.approx(2)
    # Three segments per ACK: 1, 4, 16; from 25 segments on they are fewer.
    assert 3 < growth["2"] <= 4


def test_every_list_of_ass_is_read_by_one_rule() -> None:
    """Two names joined by "and" after "followed by" share a place; a list with commas is in order."""
    pairs = re.compile(
        r"followed by (?:the )?(?:throughput achieved (?:by|with) )?(?:the )?algorithms? (\d) and (\d)\b"
    )
    found = 0
    for claim in shortened("ass").claims:
        if claim.kind != "order" or claim.reading == "in the order named" or claim.axis != "algorithm":
            continue
        for pair in pairs.findall(claim.text):
            found += 1
            assert [group for group in claim.expected if set(pair) <= set(group)], claim.id
    assert found >= 8


def test_every_order_of_cwnd_in_the_text_of_ass_is_judged() -> None:
    sentences = [
        "algorithm three is used, algorithm two shows slightly better",
        "cwnd achieved with algorithm 2 and 3 show improved",
        "Overlapping of the cwnd change is achieved when IFQ is set at 25",
        "best cwnd is provided when algorithm 2 is used",
        "better start up behavior of cwnd",
        "overlapping of the graphs achieved with the algorithms 1, 3, 4",
        "Improved initial behavior is provided by algorithm 2",
        "Best cwnd behavior is obtained by algorithm 2 followed by 4, 1 and 3",
        "same cwnd behavior is achieved when algorithms 1 and 3",
        "same cwnd behavior is achieved with algorithms 2, 3 and 4",
        "doesn't impact the cwnd and the throughput",
        "no changes of the cwnd and throughput",
        "identical cwnd and throughput",
        "In the initial simulation period cwnd and throughput",
        "almost overlapping of the charts",
        "all algorithms has provided same cwnd",
        "best cwnd is provided when algorithm 2 is used",
        "Minor cwnd and throughput variation",
        "best cwnd change is obtained with algorithm 2 followed by algorithm 4, 3 and 1",
        "faster growth of the cwnd function by the advanced algorithms",
        "This cwnd behavior impacts the throughput",
        "faster change of the cwnd parameter",
        "provides faster cwnd increase",
        "Worst performance in this case we have when algorithm 2",
        "Best cwnd and throughput performances are obtained with algorithm 3",
        "From this cwnd and throughput behavior",
        "similar behavior of the cwnd and the throughput regardless",
        "domination of the cwnd achieved with the second algorithm",
        "not so vivid cwnd change",
        "cwnd is wider",
        "best cwnd performances are achieved when algorithm 2",
        "does not impact the throughput and cwnd change",
    ]
    claims = [claim for claim in shortened("ass").claims if any(metric.startswith("cwnd") for metric in claim.metrics)]
    texts = [re.sub(r"\s+", " ", claim.text) for claim in claims]
    assert [sentence for sentence in sentences if not any(sentence in text for text in texts)] == []
    figures = {int(number) for claim in claims for number in re.findall(r"\d+", claim.source.partition("figure")[2])}
    assert {68, 69, 70, 71} <= figures


@pytest.mark.parametrize(("loss", "low", "high"), [("1 %", 1.24, 1.28), ("2 %", 1.50, 1.56)])
def test_a_threshold_that_is_never_halved_gains_what_the_paper_prints(loss: str, low: float, high: float) -> None:
    sums: dict[str, float] = {}
    for planned in rbt().models:
        labels = planned.point.labels
        if (labels["study"], labels["source"], labels["loss"]) == ("paper", "cwnd", loss):
            rows, _ = modelruns.evaluate(planned, "flow")
            sums[labels["response"]] = sum(row["window_rate"] for row in rows)
    assert low < sums["RBT kept"] / sums["SSCCM kept"] < high
    assert sums["RBT"] / sums["SSCCM"] < 1.13


def test_rbt_reports_equations_1_and_2_the_arq_schemes_and_figure_7() -> None:
    plan = rbt()
    metrics = {chart.metric for chart in plan.paper.contents.charts}
    assert {"utilisation", "equation_2", "efficiency"} <= metrics
    schemes = {planned.point.labels["response"] for planned in plan.models if planned.point.model == "arq"}
    assert schemes == {"stop and wait", "Go Back N", "selective repeat"}
    drawn = [planned for planned in plan.models if planned.point.labels["study"] == "figure 7"]
    windows = {
        planned.point.labels["response"]: modelruns.evaluate(planned, "flow")[1]["rounds/cwnd"].y for planned in drawn
    }
    # Both sawteeth peak at the same height, 100 round trips apart; SSCCM falls to a segment, RBT to just below S.
    assert windows["SSCCM"].min() == 1540
    assert 65_400 < windows["RBT"].min() < 65_536


def test_the_listing_of_westwood_rb_runs_with_the_other_readings() -> None:
    runs = [run for run in shortened("westwood-rb").runs if run.labels["recovery"] == "listing"]
    assert {run.labels["protocol"] for run in runs} == {"Reno", "Vegas", "TCPW", "RB"}
    assert {run.labels["study"] for run in runs} == {"loss", "capacity"}
    for run in runs:
        wanted = run.labels["protocol"] in ("TCPW", "RB")
        assert ('rule = "listing"' in run.scenario.to_toml()) == wanted, run.cell


def test_equation_2_is_judged_per_round_trip() -> None:
    exp = shortened("exp")
    runs = [run for run in exp.runs if run.labels["study"] == "equation 2"]
    assert len({run.labels["queue"] for run in runs}) == 10
    assert all('growth = "per_rtt"' in run.scenario.to_toml() for run in runs)
    assert {run.labels["growth"] for run in runs} == {"per round trip", "per round trip, alpha 1"}
    judged = {claim.id for claim in exp.claims if claim.where.get("study") == "equation 2"}
    assert {f"{queue}-{axis}-rtt" for queue in ("droptail", "red") for axis in ("buffer", "time")} <= judged


def test_growth_per_round_trip_is_equation_6() -> None:
    [(_, scenario)] = variants("exp/window.toml", duration="100 s")
    simulated = {name: flow(scenario, name)["cwnd_final"] for name in ("per round trip", "per ACK", "binomial SQRT")}
    formula = ackclock.model.growth(time=100, rtt=0.14)
    assert simulated["per round trip"] == pytest.approx(float(formula.window), rel=0.01)
    assert simulated["binomial SQRT"] == pytest.approx(float(formula.binomial), rel=0.01)
    assert simulated["per ACK"] > 1.3 * float(formula.window)


def test_the_policies_of_icw_negotiate_and_adapt() -> None:
    policies = {own["IW"] for own, _ in variants("icw/policies.toml", rate="1.5 Mbit/s", buffer="50", page="100 kB")}
    assert {"negotiated", "adaptive", "adaptive closing", "RFC 6928 closing"} <= policies
    charts = library.find("icw").contents.charts
    charted = [chart for chart in charts if chart.x == "IW" and chart.metric == "page_bps"]
    assert {chart.where["rate"] for chart in charted} == {"1.5 Mbit/s", "12 Mbit/s"}


def test_connections_that_close_adapt_within_a_page() -> None:
    labels = {"rate": "1.5 Mbit/s", "buffer": "10", "page": "320 kB"}
    windows = {}
    for own, scenario in variants("icw/policies.toml", **labels):
        if own["IW"] in ("RFC 6928 closing", "adaptive closing", "negotiated"):
            trace = polars.DataFrame(ackclock.run(scenario, record=["cwnd"]).trace("cwnd"))
            firsts = trace.filter(polars.col("cwnd") > 1).group_by("flow", maintain_order=True).first()["cwnd"]
            # After a lost SYN the window starts at one segment: the first larger window is 2.
            windows[own["IW"]] = set(firsts.to_list()) - {2.0}
    assert windows["RFC 6928 closing"] == {10.0}
    assert windows["negotiated"] == {6.0}
    assert min(windows["adaptive closing"]) < 10


def test_no_verdict_on_windows_8_without_compound_tcp() -> None:
    claims = library.find("icw").claims["claim"]
    hosts = [claim for claim in claims if claim["axis"] == "host" and "equation 6" not in claim["where"]["study"]]
    about = hosts + [claim for claim in claims if claim["where"].get("study") == "table 1"]
    assert len(about) > 20
    assert [claim["id"] for claim in about if "Compound TCP" not in claim.get("note", "")] == []
