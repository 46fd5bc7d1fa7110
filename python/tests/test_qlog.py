"""Logs in the format qlog: written by the drafts' schema from runs, and read from the logs of other stacks."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import polars
import pytest

import ackclock
from ackclock import Result, Scenario
from ackclock.plotting.sources import figures
from ackclock.qlogs import TRACES
from ackclock.results import frame

from .conftest import Cli, walks

DATA = Path(__file__).parent / "data"
SCHEMA = json.loads((DATA / "qlog.schema.json").read_text())
WHOLE = jsonschema.Draft202012Validator(SCHEMA)
HEAD, EVENT = (
    jsonschema.Draft202012Validator({"$defs": SCHEMA["$defs"], "$ref": f"#/$defs/{name}"}) for name in ("head", "event")
)


def walk(seed: int) -> Scenario:
    """Return a random scenario: flows of all profiles on a short path with losses."""
    draw = random.Random(seed)
    flows: list[dict[str, Any]] = [{"name": "datagrams", "application": {"kind": "cbr", "rate": "200 kbit/s"}}]
    for index in range(draw.randint(1, 4)):
        flow: dict[str, Any] = {"name": f"flow {index}", "start": f"{draw.randint(0, 300)} ms"}
        if draw.random() < 0.5:
            flow["size"] = f"{draw.randint(1, 400)} packets"
        if draw.random() < 0.6:
            flow["profile"] = "modern"
            flow["modern"] = {"recovery": draw.choice(["rack", "sack", "newreno"])}
            flow["ecn"] = draw.random() < 0.3
        else:
            flow["recovery"] = draw.choice(["tahoe", "reno", "newreno", "sack"])
        if draw.random() < 0.3:
            flow["congestion_control"] = "bbr1"
        flows.append(flow)
    bottleneck = {"rate": f"{draw.randint(2, 20)} Mbit/s", "loss": f"{draw.choice([0, 0, 1, 3])} %"}
    return Scenario(
        f"walk {seed}",
        duration="2 s",
        seed=seed,
        topology={"kind": "dumbbell", "bottleneck": bottleneck},
        flow=flows,
    )


def events_of(trace: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [event for event in trace["events"] if event["name"] == f"quic:{name}"]


def check(trace: dict[str, Any], result: Result) -> None:
    """Check a flow's log against the tables of its run."""
    [row] = frame(result.flows).filter(polars.col("name") == trace["title"]).to_dicts()
    traces = {
        name: frame(result.trace(name)).filter(polars.col("flow").cast(polars.String) == trace["title"])
        for name in TRACES
    }
    times = [event["time"] for event in trace["events"]]
    assert times == sorted(times)
    assert all(0 <= time <= 1e3 * result.duration for time in times)
    sent, received = events_of(trace, "packet_sent"), events_of(trace, "packet_received")
    assert len(sent) == row["sent_packets"]
    numbers = [event["data"]["header"]["packet_number"] for event in sent]
    assert len(numbers) - len(set(numbers)) <= row["retransmitted_packets"]
    assert len(received) == traces["sequence"].filter(polars.col("kind") == "ack").height
    sizes = traces["sequence"].filter(polars.col("kind") != "ack")["size"]
    assert [event["data"]["raw"]["length"] for event in sent] == sizes.to_list()
    lost = [event["data"]["header"]["packet_number"] for event in events_of(trace, "packet_lost")]
    assert lost == traces["lost"]["seq"].to_list()
    assert set(lost) <= set(numbers)
    assert bool(events_of(trace, "connection_closed")) == (row["completion_time"] is not None)
    states = [event["data"] for event in events_of(trace, "congestion_state_updated")]
    assert [state.get("old") for state in states] == [None, *(state["new"] for state in states)][: len(states)]
    if trace["title"] == "datagrams":
        assert (received, states, events_of(trace, "recovery_metrics_updated")) == ([], [], [])
        return
    check_metrics(trace, row, traces)


def check_metrics(trace: dict[str, Any], row: dict[str, Any], traces: dict[str, polars.DataFrame]) -> None:
    known: dict[str, float] = {}
    smss = traces["flight"]["smss"][-1]
    highest = expected = 0
    plain = True
    for event in trace["events"]:
        data, name = event["data"], event["name"].removeprefix("quic:")
        if name == "packet_sent":
            plain &= data["header"]["packet_number"] > highest or highest == 0
            highest = max(highest, data["header"]["packet_number"])
        elif name == "packet_received" and "frames" in data:
            [[first, last]] = data["frames"][0]["acked_ranges"]
            assert first <= last <= highest
            plain &= first == expected
            expected = max(expected, last + 1)
        elif name == "recovery_metrics_updated":
            assert all(known.get(key) != value for key, value in data.items()), "only what has changed"
            known |= data
            outstanding = (highest + 1 - expected) * smss if highest else 0
            if "bytes_in_flight" in data:
                assert data["bytes_in_flight"] <= outstanding + 1, "a FIN takes a position"
            # Until a segment is repeated or an ACK is, every segment that is not acknowledged is in flight.
            if plain and highest >= expected and row["size_packets"] is None:
                assert known["bytes_in_flight"] == outstanding, event
    if known.get("latest_rtt") is not None:
        assert known["min_rtt"] == pytest.approx(1e3 * row["min_rtt"], rel=0.02)
        last = traces["rtt"].drop_nulls("srtt")["srtt"]
        assert known.get("smoothed_rtt") == (pytest.approx(1e3 * last[-1], abs=1e-5) if len(last) else None)
    window = traces["cwnd"].row(-1, named=True)["cwnd"]
    assert known["congestion_window"] == pytest.approx(window * traces["flight"]["smss"][-1], abs=1)


@walks(5, 300)
def test_logs_keep_the_schema_and_say_what_the_tables_say(seeds: range) -> None:
    for seed in seeds:
        result = ackclock.run(walk(seed), record=TRACES)
        text = result.qlog()
        assert text == ackclock.run(walk(seed), record=TRACES).qlog(), "equal runs have equal logs"
        log = json.loads(text)
        WHOLE.validate(log)
        assert [trace["title"] for trace in log["traces"]] == result.scenario.flows
        for trace in log["traces"]:
            check(trace, result)
            records = result.qlog(trace["title"], sequential=True).decode().split("\x1e")[1:]
            head, *events = map(json.loads, records)
            HEAD.validate(head)
            assert events == trace["events"]


def test_the_schema_refuses_what_the_drafts_refuse() -> None:
    good = {"time": 1, "name": "quic:packet_sent", "data": {"header": {"packet_type": "1RTT"}}}
    EVENT.validate(good)
    for bad in (
        {**good, "time": "1"},
        {**good, "name": "transport:packet_sent"},
        {**good, "data": {}},
        {**good, "data": {"header": {"packet_type": "data"}}},
        {"time": 1, "name": "quic:recovery_parameters_set", "data": {}},
        {"time": 1, "name": "quic:recovery_metrics_updated", "data": {"congestion_window": 1.5}},
        {"time": 1, "name": "quic:congestion_state_updated", "data": {"old": "slow_start"}},
    ):
        assert not EVENT.is_valid(bad), bad


def recorded(**more: Any) -> Result:
    flows = [{"name": "one", "profile": "modern"}, {"name": "two", "size": "50 packets"}]
    made = Scenario("s", duration="1 s", topology={"kind": "dumbbell"}, flow=flows)
    return ackclock.run(made, **{"record": TRACES, **more})


def test_the_dialect_of_qvis_begins_as_its_loader_demands(tmp_path: Path) -> None:
    # visualizations/src/components/filemanager/data/FileLoader.ts looks for these words in the first 1024 letters.
    text = recorded().qlog(dialect="qvis").decode()
    assert "qlog_version" in text[:1024]
    assert "qlog_format" in text[:1024]
    assert "NDJSON" not in text[:1024]
    log = json.loads(text)
    assert (log["qlog_version"], log["qlog_format"]) == ("0.3", "JSON")
    for trace in log["traces"]:
        assert trace["common_fields"] == {"time_format": "relative", "reference_time": 0}
        names = {event["name"] for event in trace["events"]}
        assert names <= {
            "transport:packet_sent", "transport:packet_received", "recovery:packet_lost", "recovery:metrics_updated",
            "recovery:congestion_state_updated", "recovery:parameters_set", "connectivity:connection_closed",
        }  # fmt: skip
        sent = set()
        for event in trace["events"]:
            if event["name"] == "transport:packet_sent":
                sent.add(event["data"]["header"]["packet_number"])
                assert event["data"]["raw"]["length"] > 0, "qvis skips packets without length"
            for each in event["data"].get("frames", ()):
                assert all(set(range(first, last + 1)) <= sent for first, last in each["acked_ranges"])
    sequence = recorded().qlog("one", dialect="qvis", sequential=True).decode()
    assert sequence.startswith('\x1e{"qlog_version":"0.3","qlog_format":"JSON-SEQ"')


def test_what_was_not_recorded_is_absent() -> None:
    log = json.loads(recorded(record=["rtt"]).qlog())
    WHOLE.validate(log)
    names = {event["name"] for trace in log["traces"] for event in trace["events"]}
    assert "quic:packet_sent" not in names
    metrics = {
        key
        for trace in log["traces"]
        for event in events_of(trace, "recovery_metrics_updated")
        for key in event["data"]
    }
    assert metrics == {"min_rtt", "smoothed_rtt", "latest_rtt"}
    with pytest.raises(KeyError, match="a log needs traces that were not recorded: record cwnd, sequence"):
        recorded(record=["queue"]).qlog()
    with pytest.raises(ValueError, match="unknown flow 'on'; did you mean 'one'"):
        recorded().qlog("on")
    with pytest.raises(ValueError, match="has one flow, and not 2"):
        recorded().qlog(sequential=True)
    with pytest.raises(ValueError, match="unknown dialect of qlog 'qvi'; did you mean 'qvis'"):
        recorded().qlog(dialect="qvi")


def test_a_stored_run_has_the_log_of_the_fresh_one(tmp_path: Path) -> None:
    result = recorded()
    result.write(tmp_path / "o")
    stored = ackclock.open(tmp_path / "o")
    assert stored.qlog() == result.qlog()
    assert result.write_qlog(tmp_path / "x.qlog", flow="two") == [tmp_path / "x.qlog"]
    assert [trace["title"] for trace in json.loads((tmp_path / "x.qlog").read_text())["traces"]] == ["two"]


def test_the_command_records_what_the_log_needs(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "s.toml").write_text(recorded().scenario.to_toml().replace("record = [", "record = [ # "))
    scenario = Scenario("s", duration="1 s", topology={"kind": "dumbbell"}, flow=[{"name": "one"}, {"name": "two"}])
    (tmp_path / "s.toml").write_text(scenario.to_toml())
    done = cli("run", "s.toml", "--qlog", "x.qlog", "--record", "queue", "--out", "o")
    assert done.returncode == 0, done.stderr
    assert "log written to x.qlog" in done.stderr
    stored = ackclock.open(tmp_path / "o")
    assert set(stored.traces) == {"queue", *TRACES}
    assert stored.qlog() == (tmp_path / "x.qlog").read_bytes()
    assert cli("run", "s.toml", "--qlog", "x.qlog").returncode == 0, "our own files are replaced"
    assert cli("run", "s.toml", "--qlog", "y.sqlog", "--qlog-dialect", "qvis").returncode == 0
    assert sorted(path.name for path in tmp_path.glob("*qlog")) == ["x.qlog", "y-one.sqlog", "y-two.sqlog"]
    assert cli("run", "s.toml", "--qlog", "y.sqlog").returncode == 0, "our own files are replaced"
    out = cli("run", "s.toml", "--qlog", "-")
    WHOLE.validate(json.loads(out.stdout))
    for options, message in (
        (("--qlog", "x.json"), "--qlog x.json: logs are written as qlog; name a file that ends in .qlog or .sqlog"),
        (("--qlog-dialect", "qvis"), "--qlog-dialect: nothing is logged without --qlog FILE"),
        (("--qlog", "-", "--json"), "--qlog -: --json is written to standard output, too; name a file"),
        (("--qlog", "-", "--pcap", "-"), "--pcap and --qlog both name standard output; name a file for one"),
        (("--force",), "--force: nothing is replaced without --pcap FILE or --qlog FILE"),
    ):
        failed = cli("run", "s.toml", *options)
        assert (failed.returncode, failed.stderr) == (2, f"error: {message}\n")


def test_a_sweep_writes_a_log_for_each_run(tmp_path: Path, cli: Cli) -> None:
    text = Scenario("s", duration="0.5 s", topology={"kind": "dumbbell"}, flow={"name": "one"}).to_toml()
    (tmp_path / "s.toml").write_text(f"{text}\n[sweep]\nseed = [1, 2]\n")
    done = cli("run", "s.toml", "--qlog", "x.qlog")
    assert done.returncode == 0, done.stderr
    found = sorted(tmp_path.glob("*.qlog"))
    assert [path.name for path in found] == ["x-1-1.qlog", "x-2-2.qlog"]
    for path in found:
        WHOLE.validate(json.loads(path.read_text()))


def rows(table: polars.DataFrame, *columns: str) -> list[tuple[Any, ...]]:
    return [
        tuple(round(cell, 9) if isinstance(cell, float) else cell for cell in row)
        for row in table.select(columns).iter_rows()
    ]


STACKS = {
    "quic-go.sqlog": (
        "server",
        [(0.0003, "sent", "initial", 0, 1252, None), (0.03075, "received", "initial", 0, 1252, 0),
         (0.031, "sent", "application", 3, 1280, None), (0.062, "lost", "application", 3, None, None)],
        [(0.0002, 0.0, 40960.0, 1252.0, None), (0.03075, 0.03045, None, 0.0, None)],
        ["slow_start", "recovery"],
    ),
    "quiche.sqlog": (
        "client",
        [(0.0005104, "sent", "initial", 0, 1200, None), (0.02125, "received", "initial", 0, 1200, 0)],
        [(0.0005104, 0.333, 13500.0, 1200.0, None), (0.02125, 0.0207, 14700.0, 0.0, 5600000.0)],
        [],
    ),
    "aioquic.qlog": (
        "client",
        [(0.0, "sent", "initial", 0, 1280, None), (0.05, "received", "initial", 0, 1200, 0)],
        [(0.0, None, 12800.0, 1280.0, None), (0.05, 0.05, None, None, None), (0.05, None, 14080.0, 0.0, None)],
        [],
    ),
    "mvfst.qlog": (
        "server",
        [(0.000031, "received", "initial", 0, 1232, None), (0.0004, "sent", "application", 7, 1252, None),
         (0.0254, "received", "application", 3, 40, 7), (0.06, "lost", "application", 9, 2504, None)],
        [(0.000401, None, 12520.0, 1252.0, None), (0.0254, 0.025, None, None, None)],
        ["Hystart"],
    ),
    "picoquic.qlog": (
        "server",
        [(0.0, "received", "initial", 0, 1200, None), (0.00018, "sent", "application", 5, 1252, None),
         (0.09, "lost", "application", 5, 1252, None)],
        [(0.00015, 0.25, 15360.0, 1252.0, 8000000.0)],
        [],
    ),
    "quinn.sqlog": (
        "client",
        [(0.00075, "sent", "initial", 0, 1200, None), (0.0115, "received", "handshake", 0, None, None),
         (0.012, "lost", "application", 2, None, None)],
        [(0.0116, 0.0107, 12000.0, 2400.0, None)],
        [],
    ),
    "delta.qlog": (
        "client",
        [(0.001, "sent", "application", 1, 1000, None), (0.003, "sent", "application", 2, 1000, None)],
        [(0.0035, None, 20000.0, None, None)],
        [],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STACKS)
def test_logs_of_other_stacks_become_tables(name: str) -> None:
    vantage, packets, metrics, states = STACKS[name]
    [log] = ackclock.open_qlog(DATA / "qlog" / name)
    assert log.vantage == vantage
    assert rows(log.packets, "time", "event", "space", "number", "size", "acked") == packets
    assert rows(log.metrics, "time", "smoothed_rtt", "congestion_window", "bytes_in_flight", "pacing_rate") == metrics
    assert log.states["state"].to_list() == states
    assert repr(log).startswith("<Qlog")


def test_every_example_is_tested() -> None:
    assert {path.name for path in (DATA / "qlog").iterdir()} == set(STACKS)


@pytest.mark.parametrize("dialect", ["current", "qvis"])
def test_our_own_logs_are_read_back(dialect: str, tmp_path: Path) -> None:
    result = recorded()
    result.write_qlog(tmp_path / "x.qlog", dialect=dialect)
    for log in ackclock.open_qlog(tmp_path / "x.qlog"):
        [row] = frame(result.flows).filter(polars.col("name") == log.title).to_dicts()
        assert log.packets.filter(polars.col("event") == "sent").height == row["sent_packets"]
        trace = frame(result.trace("rtt")).filter(polars.col("flow").cast(polars.String) == log.title)
        found = log.metrics["latest_rtt"].drop_nulls().to_list()
        assert found[0] == pytest.approx(trace["rtt"][0], abs=1e-12)
        assert log.metrics["min_rtt"].min() == pytest.approx(trace["rtt"].min(), abs=1e-12)
        assert set(log.others) <= {"connection_started", "connection_closed"}


HEADER = '{"qlog_version":"0.3","traces":['


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("hello", "is no qlog: it is not JSON: Expecting value: line 1 column 1 (char 0)"),
        ("{}", "is no qlog: it has neither file_schema (current) nor qlog_version (0.3) at its top"),
        ("[]", "is no qlog: it has neither file_schema (current) nor qlog_version (0.3) at its top"),
        ('{"qlog_version":"0.3"}', "has no list of traces"),
        ('{"qlog_version":"0.3","traces":[]}', "has no trace"),
        (HEADER + "1]}", "trace 1 is no table"),
        (HEADER + "{}]}", "trace 1 has no list of events"),
        (
            HEADER + '{"events":[{"time":"x","name":"a:b"}]}]}',
            "trace 1, event 1: could not convert string to float: 'x'",
        ),
        (HEADER + '{"events":[{"time":1,"name":"a:b"},{"name":"a:b"}]}]}', "trace 1, event 2: lacks 'time'"),
        (HEADER + '{"events":[{"time":1,"name":"a:b"},[1,2]]}]}', "trace 1, event 2: is no table"),
        (HEADER + '{"events":[{"time":true,"name":"a:b"}]}]}', "trace 1, event 1: the time True is no number"),
        (
            HEADER
            + '{"events":[{"time":1,"name":"transport:packet_sent","data":{"header":{"packet_number":"one"}}}]}]}',
            "trace 1, event 1: invalid literal for int() with base 10: 'one'",
        ),
        ("\x1e{}\n\x1e{}\n", "is no qlog: its first record has neither file_schema nor qlog_version"),
        ('\x1e{"qlog_version":"0.3"}\n\x1e{"time":\n\x1e{"time":1,"name":"a"}\n', "record 2 is not JSON"),
        ('\x1e{"qlog_version":"0.3"}\n\x1e{"name":"a"}\n', "record 2: lacks 'time'"),
    ],
)
def test_bad_files_are_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "x.qlog"
    path.write_text(text)
    with pytest.raises(ValueError) as failed:
        ackclock.open_qlog(path)
    assert str(failed.value).startswith(f"{path}: {message}")
    assert "\n" not in str(failed.value)


def test_a_log_may_end_within_a_record(tmp_path: Path) -> None:
    whole = (DATA / "qlog" / "quiche.sqlog").read_text()
    (tmp_path / "x.sqlog").write_text(whole[:-30])
    [log] = ackclock.open_qlog(tmp_path / "x.sqlog")
    assert log.packets.height == 2
    (tmp_path / "x.sqlog").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="is no qlog: it is not text"):
        ackclock.open_qlog(tmp_path / "x.sqlog")


def test_logs_are_drawn_together(tmp_path: Path, cli: Cli) -> None:
    recorded().write_qlog(tmp_path / "a.qlog")
    (tmp_path / "b.sqlog").write_bytes((DATA / "qlog" / "quic-go.sqlog").read_bytes())
    done = cli("plot", "a.qlog", "b.sqlog")
    assert (done.returncode, done.stdout) == (0, "logs-curves.png\n"), done.stderr
    assert cli("plot", "a.qlog", "--kind", "rtt", "--format", "svg").stdout == "a-rtt.svg\n"
    assert cli("plot", "a.qlog", "b.sqlog", "--out", "o", "--kind", "cwnd").stdout == "o/logs-cwnd.png\n"
    found = figures([tmp_path / "a.qlog", tmp_path / "b.sqlog"])[0].figure
    assert [panel.y.title for panel in found.panels] == ["cwnd (kB)", "round-trip time (ms)", "data sent (MB)"]
    names = [series.name for series in found.panels[0].series]
    assert {"a, one", "a, one, in flight", "a, one, recovery", "a, one, lost", "a, two", "b", "b, lost"} <= set(names)
    window = next(series for series in found.panels[0].series if series.name == "b")
    assert (list(window.x), list(window.y)) == ([0.0002], [40.96])
    sent = next(series for series in found.panels[2].series if series.name == "b")
    assert list(sent.y) == [0.001252, 0.002532]
    together = "only logs (.qlog, .sqlog) are drawn together; draw other sources one by one"
    known = "unknown figure of a log 'queue'; did you mean 'sequence'? (known: curves, cwnd, rtt, pacing, sequence)"
    for words, message in (
        (("a.qlog", "none.toml"), f"none.toml: {together}"),
        (("a.qlog", "--kind", "queue"), f"--kind: {known}"),
        (("a.qlog", "--link", "x"), "--link: a log has connections, and neither links nor labels"),
        (("b.sqlog", "--kind", "pacing"), "b.sqlog: no connection has pacing rate to draw"),
    ):
        failed = cli("plot", *words)
        assert (failed.returncode, failed.stderr) == (2, f"error: {message}\n")
    assert len(ackclock.plot(ackclock.open_qlog(tmp_path / "a.qlog"), "rtt").axes) == 1


def moments(*times: float) -> polars.Series:
    return polars.Series("time", times, polars.Float64)


def test_a_recovery_is_a_band_below_the_window_from_its_begin_to_its_end(tmp_path: Path) -> None:
    def event(time: float, name: str, **data: Any) -> dict[str, Any]:
        return {"time": 1e3 * time, "name": f"quic:{name}", "data": data}

    windows = [(0, 10), (1, 20), (2, 15), (3, 10), (4, 11)]
    states = [(0, "slow_start"), (1.5, "recovery"), (3, "congestion_avoidance")]
    events = [event(time, "recovery_metrics_updated", congestion_window=1000 * size) for time, size in windows]
    events += [event(time, "congestion_state_updated", new=state) for time, state in states]
    (tmp_path / "x.qlog").write_text(json.dumps({"qlog_version": "0.3", "traces": [{"title": "x", "events": events}]}))
    [panel] = figures(tmp_path / "x.qlog")[0].figure.panels
    [band] = [series for series in panel.series if series.name == "x, recovery"]
    # As in web/src/logs/logs.test.ts, with a gap instead of no height at the end.
    assert list(band.x) == [1.5, 2, 3, 3, 3]
    assert list(band.high)[:-1] == [20, 15, 10, 10]
    assert np.isnan(band.high[-1])
    log = ackclock.open_qlog(tmp_path / "x.qlog")[0]
    early = replace(log, states=log.states.with_columns(time=moments(-3, -2, -1)))
    assert "x, recovery" not in [series.name for series in figures(early)[0].figure.panels[0].series]
