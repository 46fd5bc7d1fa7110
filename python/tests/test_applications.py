"""Web pages, exchanges, bursts and datagrams, as users see them."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars
import pytest

import ackclock
from ackclock.metrics.completion import completion, page_loads
from ackclock.metrics.groups import GROUPS, MEDIA, Group
from ackclock.metrics.registry import MEASURES

from .conftest import Cli

WEB: dict[str, Any] = {"kind": "web", "root": "20 kB", "objects": 6, "object": {"mean": "8 kB"}, "pages": 4}


def page(**keys: object) -> ackclock.Scenario:
    flow = {"name": "page", "profile": "modern", "application": {**WEB, **keys}}
    return ackclock.Scenario("page", duration="30 s", flow=[flow])


def test_load_times_are_summed_up_by_application() -> None:
    times = [1.0, 2.0, 4.0, None]
    pages = polars.DataFrame({"application": ["b", "b", "b", "a"], "load_time": times})
    made = page_loads(pages)
    assert made["application"].to_list() == ["b", "a"], "in the scenario's order"
    assert made["pages"].to_list() == [3, 1]
    assert made["unfinished"].to_list() == [0, 1]
    # Interpolated between the ranks: 2 · 0.95 = 1.9 steps along 1, 2, 4.
    assert made.row(0)[3:] == pytest.approx((7 / 3, 2.0, 3.8, 3.96))
    assert made.row(1)[3:] == (None, None, None, None)


def test_pages_and_their_transfers() -> None:
    result = ackclock.run(page())
    pages, transfers = polars.DataFrame(result.pages), polars.DataFrame(result.transfers)
    assert pages["objects"].to_list() == [7] * 4
    assert transfers.height == 28
    assert transfers.filter(polars.col("object") == 0)["bytes"].to_list() == [20_000] * 4
    by_page = transfers.group_by("page", maintain_order=True).agg(
        polars.col("bytes").sum(), polars.col("queued_s").min(), polars.col("completed_s").max()
    )
    assert by_page["bytes"].to_list() == pages["bytes"].to_list()
    assert by_page["queued_s"].to_list() == pages["start_s"].to_list()
    assert by_page["completed_s"].to_list() == pages["completed_s"].to_list()
    assert set(transfers["flow"]) == {f"page.{number}" for number in range(6)}
    # Wanted, requested, started and complete, in this order.
    times = [transfers[name].to_numpy() for name in ("queued_s", "requested_s", "first_byte_s", "completed_s")]
    assert all((before <= after).all() for before, after in pairwise(times))
    assert result.page_loads().row(0)[:3] == ("page", 4, 0)
    assert result.transfer_times()["flows"][0] == 28
    flows = polars.DataFrame(result.flows)
    assert flows["delivered_bytes"].sum() == pages["bytes"].sum()


def test_a_connection_that_is_not_opened_has_no_start() -> None:
    # The root takes longer than the run, so that no object is requested.
    result = ackclock.run(page(root="80 MB"))
    starts = polars.DataFrame(result.flows)["start_s"].to_list()
    assert starts == [0.0] + [None] * 5
    assert result.page_loads().row(0)[:4] == ("page", 1, 1, None)


def test_stored_results_have_the_same_tables(tmp_path: Path) -> None:
    result = ackclock.run(page())
    result.write(tmp_path / "out")
    stored = ackclock.open(tmp_path / "out")
    assert stored.pages.equals(polars.DataFrame(result.pages))
    assert stored.page_loads().equals(result.page_loads())
    assert stored.transfer_times().equals(completion(stored.transfers, (1, 10_000, 100_000), size="bytes"))
    ackclock.run(ackclock.Scenario(duration="1 s", flow=[{}])).write(tmp_path / "bulk")
    bulk = ackclock.open(tmp_path / "bulk")
    with pytest.raises(KeyError, match="no application had pages"):
        bulk.page_loads()


def test_datagrams_have_no_window() -> None:
    flow = {"application": {"kind": "cbr", "rate": "1 Mbit/s"}}
    row = polars.DataFrame(ackclock.run(ackclock.Scenario(duration="2 s", flow=[flow])).flows).row(0, named=True)
    assert (row["control"], row["recovery"]) == ("none", "none")
    assert row["cwnd_max"] is None
    # Each has 1028 bytes: one leaves every 8.224 ms, from time 0.
    assert row["sent_packets"] == 2_000_000 // 8224 + 1


def har(tmp_path: Path) -> Path:
    def entry(number: int, host: str, size: int) -> dict[str, Any]:
        return {
            "pageref": "page_1",
            "startedDateTime": f"2026-01-01T10:00:0{number}.000Z",
            "request": {"url": f"https://{host}/{number}", "headersSize": 500, "bodySize": 0},
            "response": {"status": 200, "headersSize": 300, "bodySize": size},
        }

    entries = [entry(0, "a.test", 9_700), entry(1, "a.test", 4_700), *(entry(n, "b.test", 700) for n in (2, 3))]
    path = tmp_path / "page.har"
    path.write_text(json.dumps({"log": {"version": "1.2", "entries": entries}}))
    return path


def test_a_page_from_a_har_file(cli: Cli, tmp_path: Path) -> None:
    har(tmp_path)
    scenario = tmp_path / "har.toml"
    scenario.write_text(
        'duration = "10 s"\n[[flow]]\nname = "page"\nprofile = "modern"\n'
        'application = { kind = "web", har = "page.har" }\n'
    )
    done = cli("run", scenario, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "page load times" in done.stdout
    stored = ackclock.open(tmp_path / "out")
    assert stored.transfers["bytes"].to_list() == [10_000, 5_000, 1_000, 1_000]
    # The first host needs one connection, since it serves only the root; the second needs two.
    assert stored.flows["name"].to_list() == ["page.0", "page.1", "page.2"]
    # The stored run no longer needs the file.
    (tmp_path / "page.har").unlink()
    again = ackclock.run(ackclock.load(tmp_path / "out" / "scenario.toml"))
    assert again.trace_hash == stored.manifest["trace_hash"]
    failed = cli("run", scenario)
    assert failed.returncode == 2
    assert "har.toml:5: flow.0.application.har: cannot read" in failed.stderr


def test_sweeps_join_the_pages(cli: Cli, tmp_path: Path) -> None:
    scenario = tmp_path / "sweep.toml"
    scenario.write_text(
        'duration = "20 s"\n[[flow]]\nname = "page"\nprofile = "modern"\n'
        'application = { kind = "web", root = "30 kB" }\n'
        '[sweep]\n"flow.initial_window" = ["2 segments", "30 segments"]\n'
    )
    done = cli("run", scenario, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    data = ackclock.open(tmp_path / "out")
    pages = data.pages.sort("point").collect()
    slow, fast = pages["load_time"].to_list()
    assert slow > fast
    assert pages.columns[:2] == ["point", "flow.initial_window"]
    # Another form of the sweep has none of its rows, including those of applications.
    scenario.write_text('duration = "1 s"\n[[flow]]\n[sweep]\n"flow.initial_window" = ["2 segments", "3 segments"]\n')
    assert cli("run", scenario, "--out", tmp_path / "out").returncode == 0
    assert data.pages.collect().height == 0
    assert data.runs.collect()["flow.initial_window"].to_list() == ["2 segments", "3 segments"]


VIDEO: dict[str, Any] = {"kind": "player", "bitrates": ["400 kbit/s", "2 Mbit/s"], "segment": "2 s"}


def test_a_player_is_measured_everywhere(cli: Cli, tmp_path: Path) -> None:
    scenario = tmp_path / "video.toml"
    scenario.write_text(
        'duration = "40 s"\n[topology]\nbottleneck = { rate = "8 Mbit/s", delay = "10 ms" }\n'
        '[[flow]]\nname = "tested"\nprofile = "modern"\n[flow.application]\nkind = "player"\nsegment = "2 s"\n'
        'bitrates = ["400 kbit/s", "2 Mbit/s"]\n[sweep]\n"topology.bottleneck.rate" = ["8 Mbit/s", "300 kbit/s"]\n'
    )
    done = cli("run", scenario, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "stall time (s)" in done.stdout
    data = ackclock.open(tmp_path / "out")
    good, bad = data.media.sort("point").collect().to_dicts()
    assert good["stalls"] == 0 and good["stall_time"] == 0.0 and good["switches"] == 1
    # At 300 kbit/s, a segment of 800 kbit takes more than the 2 s that it plays.
    assert bad["stalls"] > 5 and bad["bitrate_bps"] == 400_000.0
    for row in (good, bad):
        assert row["startup_time"] + row["stall_time"] + row["played_time"] == pytest.approx(40.0)
    for result in data.results().values():
        assert result.summary["media"] == result.media.to_dicts()
    flow = {"name": "tested", "profile": "modern", "application": VIDEO}
    result = ackclock.run(ackclock.Scenario("video", duration="40 s", flow=[flow]))
    (row,) = polars.DataFrame(result.media).to_dicts()
    assert result.summary["media"] == [row]
    group = Group(result)
    assert {name: GROUPS[name](group) for name in MEDIA} == {name: row[name] for name in MEDIA}
    assert all(set(MEASURES[name].scope) == {"application", "group"} for name in MEDIA)
    bulk = ackclock.run(ackclock.Scenario("bulk", duration="1 s", flow=[{}]))
    assert [GROUPS[name](Group(bulk)) for name in MEDIA] == [None] * len(MEDIA)
    bulk.write(tmp_path / "bulk")
    with pytest.raises(KeyError, match="no application had media"):
        _ = ackclock.open(tmp_path / "bulk").media


def test_frames_are_measured_on_every_host() -> None:
    for profile in ("ns2", "modern"):
        flow = {"name": "tested", "profile": profile, "application": {"kind": "frames", "max_rate": "1 Mbit/s"}}
        topology = {"bottleneck": {"rate": "800 kbit/s", "delay": "20 ms", "queue": "50 packets"}}
        result = ackclock.run(ackclock.Scenario("live", duration="30 s", topology=topology, flow=[flow]))
        (row,) = polars.DataFrame(result.media).to_dicts()
        assert row["frame_delay_median"] <= row["frame_delay_p95"] <= row["frame_delay_p99"]
        assert 150_000 < row["bitrate_bps"] < 800_000 and row["startup_time"] is None
        group = Group(result)
        assert {name: GROUPS[name](group) for name in MEDIA} == {name: row[name] for name in MEDIA}
        # The delays of frames are the times of their transfers.
        assert result.transfer_times()["p95"][0] == pytest.approx(row["frame_delay_p95"])


def test_datagrams_leave_no_window_to_draw(cli: Cli, tmp_path: Path) -> None:
    scenario = tmp_path / "cbr.toml"
    scenario.write_text(
        'duration = "2 s"\nrecord = ["cwnd", "delivered"]\n'
        '[[flow]]\napplication = { kind = "cbr", rate = "1 Mbit/s" }\n'
    )
    assert cli("run", scenario, "--out", tmp_path / "out").returncode == 0
    done = cli("plot", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "throughput.png").exists()
    assert not (tmp_path / "out" / "cwnd.png").exists()
    failed = cli("plot", tmp_path / "out", "--kind", "cwnd")
    assert failed.returncode == 2
    assert "no flow has data for cwnd" in failed.stderr
