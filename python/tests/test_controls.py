"""Congestion controls and slow starts in Python: events, attributes, and errors."""

from __future__ import annotations

import copy
import math
import pickle
from collections import Counter
from typing import Any, ClassVar

import polars
import pytest

import ackclock
from ackclock import CongestionControl, Exit, Scenario, ScenarioError, SlowStart, run

PROFILES: list[dict[str, object]] = [{"profile": "ns2"}, {"profile": "modern", "packet_size": "1000 B"}]

TOPOLOGY = {
    "kind": "chain",
    "access": {"rate": "100 Mbit/s", "delay": "5 ms"},
    "bottleneck": {"rate": "5 Mbit/s", "delay": "20 ms", "queue": "20 packets"},
}


def made(*flows: dict[str, object], **keys: object) -> Scenario:
    """Return a scenario with a bottleneck of 5 Mbit/s, a round trip of 60 ms, and drops."""
    return Scenario(**{"duration": "5 s", "topology": TOPOLOGY, "flow": list(flows), **keys})  # type: ignore[arg-type]


def rows(result: ackclock.Result, trace: str) -> polars.DataFrame:
    return polars.DataFrame(result.trace(trace))


def assert_same(one: ackclock.Result, other: ackclock.Result, *traces: str) -> None:
    """Check that two runs are equal to the bit."""
    assert polars.DataFrame(one.flows).drop("control").equals(polars.DataFrame(other.flows).drop("control"))
    for trace in traces:
        assert rows(one, trace).equals(rows(other, trace))


class Reno(CongestionControl):
    """Reduces like `reno` and `standard`: ssthresh is rounded down to whole segments, the window is not."""

    def on_established(self, event: ackclock.Established) -> None:
        self.cwnd = 10.0

    def on_ack(self, ack: ackclock.Ack) -> None:
        if ack.cwnd_limited:
            super().on_ack(ack)

    def on_congestion(self, event: ackclock.CongestionEvent) -> None:
        self.ssthresh = max(2.0, math.floor(event.window / 2))
        self.cwnd = event.loss_window if event.restart else max(event.least, event.window / 2)


@pytest.mark.parametrize("profile", PROFILES)
def test_reno_in_python_equals_the_built_in_reno_to_the_bit(profile: dict[str, object]) -> None:
    common = {**profile, "initial_ssthresh": "unlimited"}
    record = {"record": ["cwnd", "sequence"], "duration": "20 s"}
    own = run(made({**common, "congestion_control": Reno}, **record))
    built_in = run(made({**common, "initial_window": "rfc6928"}, **record))
    assert_same(own, built_in, "cwnd", "sequence")
    assert own.summary["flows"][0]["window_reductions"] > 3


class Smallest(Reno):
    """Records the smallest window after a reduction."""

    smallest: ClassVar[list[float]] = []

    def on_congestion(self, event: ackclock.CongestionEvent) -> None:
        super().on_congestion(event)
        self.smallest.append(self.cwnd)


def test_a_mark_may_leave_less_than_a_segment() -> None:
    red = {"kind": "red", "min_threshold": "1 packet", "max_threshold": "40 packets", "gentle": False}
    queue = {**red, "limit": "50 packets", "weight": 1.0, "max_p": "100 %", "ecn": True}
    topology = {"kind": "dumbbell", "bottleneck": {"rate": "60 kbit/s", "delay": "5 ms", "queue": queue}}

    def crowd(flow: dict[str, object]) -> ackclock.Result:
        common = {**flow, "ecn": True, "initial_ssthresh": "unlimited"}
        flows = [{**common, "name": f"f{index}", "start": f"{10 * index} ms"} for index in range(6)]
        return run(made(*flows, topology=topology, duration="60 s", record=["cwnd"]))

    Smallest.smallest.clear()
    assert_same(crowd({"congestion_control": Smallest}), crowd({"initial_window": "rfc6928"}), "cwnd")
    assert min(Smallest.smallest) == 0.5


class Everything(Reno):
    """Records every event."""

    told: ClassVar[list[tuple[str, Any]]] = []
    wants_samples = True
    wants_deliveries = True
    wants_one_way_delay = True

    def on_established(self, event: ackclock.Established) -> None:
        super().on_established(event)
        self.told.append(("established", event))

    def on_ack(self, ack: ackclock.Ack) -> None:
        super().on_ack(ack)
        self.told.append(("ack", ack))

    def on_ack_in_recovery(self, ack: ackclock.Ack) -> None:
        self.told.append(("recovering", ack))

    def on_congestion(self, event: ackclock.CongestionEvent) -> None:
        super().on_congestion(event)
        self.told.append(("congestion", event))

    def on_sent(self, sent: ackclock.Sent) -> None:
        self.told.append(("sent", sent))

    def on_lost(self, lost: ackclock.Lost) -> None:
        self.told.append(("lost", lost))

    def on_delivered(self, delivered: ackclock.Delivered) -> None:
        self.told.append(("delivered", delivered))

    def on_idle(self, idle: ackclock.Idle) -> None:
        super().on_idle(idle)
        self.told.append(("idle", idle))

    def on_recovery_end(self, now_s: float) -> None:
        self.told.append(("recovered", now_s))

    def on_first_window(self, first: ackclock.FirstWindow) -> float | None:
        self.told.append(("first", first))
        return 17.0


@pytest.mark.parametrize("profile", PROFILES)
def test_events_carry_the_facts(profile: dict[str, object]) -> None:
    Everything.told.clear()
    common = {**profile, "initial_ssthresh": "unlimited"}
    observed = run(made({**common, "congestion_control": Everything}, record=["cwnd"]))
    silent = run(made({**common, "congestion_control": Reno}, record=["cwnd"]))
    assert_same(observed, silent, "cwnd")
    told = {kind: [event for what, event in Everything.told if what == kind] for kind, _ in Everything.told}
    counts = Counter(kind for kind, _ in Everything.told)
    of_every_run = {"established", "ack", "congestion", "sent", "delivered", "first"}
    assert set(counts) == of_every_run | {"recovering", "lost", "recovered"}
    (established,), (first,) = told["established"], told["first"]
    assert (established.smss, established.lost_syns, established.syn_lost) == (1000, 0, False)
    assert (established.learned, established.selective, established.available) == (None, True, None)
    assert (first.window, first.filled, first.congested, first.learned) == (10.0, True, False, None)
    # The sums over events equal the totals in the events.
    data = [sent for sent in told["sent"] if sent.size]
    assert data[-1].total.sent == sum(sent.size for sent in data)
    assert any(sent.retransmission for sent in data)
    assert all(sent.inflight >= sent.size and sent.flight_size >= 1 for sent in data)
    acks = [event for what, event in Everything.told if what in ("ack", "recovering")]
    assert acks[-1].total.delivered == sum(ack.delivered for ack in acks)
    assert all(ack.may_grow for ack in told["ack"])
    assert not any(ack.may_grow for ack in told["recovering"])
    assert all(ack.snd_una <= ack.snd_nxt and ack.marked == 0 for ack in acks)
    lost = told["lost"]
    assert lost[-1].total.lost == sum(loss.end - loss.start for loss in lost)
    assert all(loss.packet.sent_at_s < loss.now_s and loss.packet.inflight >= 1000 for loss in lost)
    delivered = told["delivered"]
    assert len({segment.start for segment in delivered}) == len(delivered)
    assert all(segment.size == segment.end - segment.start == 1000 for segment in delivered)
    assert any(segment.retransmission for segment in delivered)
    assert all(segment.packet.sent_at_s < segment.now_s for segment in delivered)
    total = acks[-1].total.delivered if profile["profile"] == "modern" else acks[-1].snd_una
    assert sum(segment.size for segment in delivered) == total
    # Only data waits in a queue, so that the way back takes half of the shortest round trip.
    delays = [
        (ack.one_way_delay_s, ack.rtt_s) for ack in acks if ack.one_way_delay_s is not None and ack.rtt_s is not None
    ]
    assert len(delays) > 1000
    assert max(delay for delay, _ in delays) > 0.05
    if profile["profile"] == "ns2":
        assert all(0.030 <= rtt - delay < 0.0304 for delay, rtt in delays)
    sampled = [ack for ack in acks if ack.sample is not None]
    assert len(sampled) > 1000
    for ack in sampled:
        sample = ack.sample
        assert sample.rate_bps == ack.delivery_rate_bps
        assert sample.packet.app_limited == ack.app_limited
        assert sample.delivered == ack.total.delivered - sample.packet.delivered
        assert sample.packet.first_sent_s <= sample.packet.sent_at_s < ack.now_s
        assert sample.packet.delivered_at_s <= sample.packet.sent_at_s
        assert sample.rate_bps is None or sample.rate_bps == round(8 * sample.delivered / sample.interval_s)
    # Without losses, samples of the last second have the rate of the bottleneck, without headers.
    assert max(ack.delivery_rate_bps or 0 for ack in acks if ack.now_s > 4) < 5e6
    congestion = told["congestion"][0]
    assert congestion.cause == "dup_ack"
    assert not congestion.restart
    assert (congestion.loss_window, congestion.resent) == (1.0, False)
    assert congestion.inflight > 0
    assert 0.06 < congestion.min_rtt_s < 0.07
    assert repr(congestion).startswith("CongestionEvent { now: ")


@pytest.mark.parametrize("profile", PROFILES)
def test_an_idle_time_is_reported_before_its_end(profile: dict[str, object]) -> None:
    Everything.told.clear()
    application = {"kind": "on-off", "burst": "20 kB", "pause": "700 ms"}
    run(made({**profile, "congestion_control": Everything, "application": application}))
    kinds = [what for what, _ in Everything.told]
    idle = [event for what, event in Everything.told if what == "idle"]
    assert len(idle) >= 4
    assert all(kinds[index + 1] == "sent" for index, what in enumerate(kinds) if what == "idle")
    # The pause begins when the burst arrives, the idle time when its last ACK does.
    assert all(0.4 < event.duration_s < 0.7 - 0.03 and event.since_s < event.now_s for event in idle)
    assert {event.restart_window for event in idle} == ({10.0} if profile["profile"] == "modern" else {None})


def test_a_control_without_the_method_restarts_after_an_idle_time() -> None:
    class Stopped(Reno):
        def on_idle(self, idle: ackclock.Idle) -> None:
            """Keep the window."""

    application = {"kind": "on-off", "burst": "100 kB", "pause": "700 ms"}
    flow = {"profile": "modern", "initial_ssthresh": "unlimited", "application": application}
    inherited, kept, built_in = (
        run(made({**flow, **control}, record=["cwnd"]))
        for control in ({"congestion_control": Reno}, {"congestion_control": Stopped}, {"initial_window": "rfc6928"})
    )
    assert_same(inherited, built_in, "cwnd")
    assert not rows(kept, "cwnd").equals(rows(inherited, "cwnd"))


def test_the_next_connection_learns() -> None:
    Everything.told.clear()
    flow = {"congestion_control": Everything, "size": "20 packets"}
    run(made({**flow, "name": "a"}, {**flow, "name": "b", "start": "2 s"}))
    assert [event.learned for what, event in Everything.told if what == "established"] == [None, 17.0]


def test_inherited_methods_are_not_called(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("called")

    for name in ("on_sent", "on_ack_in_recovery", "on_recovery_end", "on_lost", "internals"):
        monkeypatch.setattr(CongestionControl, name, refuse)
    for name in ("observe", "on_sent", "on_congestion", "on_established", "internals"):
        monkeypatch.setattr(SlowStart, name, refuse)
    run(made({"congestion_control": Reno}, record=["internals"]))
    run(made({"slow_start": SlowStart}, record=["internals"]))

    class Sees(Reno):
        def on_sent(self, sent: ackclock.Sent) -> None:
            refuse(sent)

    with pytest.raises(AssertionError, match="called"):
        run(made({"congestion_control": Sees}))


class Pacing(CongestionControl):
    """Sends at 1 Mbit/s, from 1 s on in bursts of three segments."""

    def on_established(self, event: ackclock.Established) -> None:
        self.cwnd = 50.0
        self.pacing_rate_bps = 1e6
        self.wire_size = event.smss + event.header
        self.timer_s = 1.0

    def on_ack(self, ack: ackclock.Ack) -> None:
        pass

    def on_timer(self, now_s: float) -> None:
        assert now_s == 1.0
        assert self.timer_s is None
        self.burst = 3 * self.wire_size


@pytest.mark.parametrize("profile", PROFILES)
def test_a_control_that_paces(profile: dict[str, object]) -> None:
    sequence = rows(
        run(made({**profile, "congestion_control": Pacing}, duration="2 s", record=["sequence"])), "sequence"
    )
    sent = sequence.filter((polars.col("kind") == "send") & (polars.col("seq") > 0))["time"]
    gaps = sent.diff().drop_nulls()
    # 1000 B of data and 40 B of headers, or 52 B with timestamps, at 1 Mbit/s.
    gap_s = 0.00832 if profile["profile"] == "ns2" else 0.008416
    before = [gap for gap, time in zip(gaps, sent, strict=False) if time < 0.98]
    assert len(before) > 100
    assert before == pytest.approx([gap_s] * len(before), abs=1e-8)
    # Bursts of three segments, at the intervals of three segments.
    after = [gap for gap, time in zip(gaps, sent, strict=False) if time > 1.03]
    assert sorted({round(gap * 1e6) for gap in after}) == [0, round(3e6 * gap_s)]
    assert after.count(0.0) == pytest.approx(2 * len(after) / 3, abs=2)


class Same(SlowStart):
    """Standard slow start with every method that a class can have."""

    calls: ClassVar[Counter[str]] = Counter()
    cwnd = 10.0

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("on_") or name == "observe":
            Same.calls[name] += 1
        return super().__getattribute__(name)

    def on_established(self, event: ackclock.Established, window: ackclock.Window) -> None:
        assert window.cwnd == 10.0
        assert window.ssthresh == math.inf
        assert event.smss == 1000

    def on_sent(self, sent: ackclock.Sent, window: ackclock.Window) -> None:
        assert sent.now_s >= 0
        assert window.cwnd > 0

    def observe(self, ack: ackclock.Ack, window: ackclock.Window) -> None:
        self.cwnd = window.cwnd

    def on_congestion(self, event: ackclock.CongestionEvent, window: ackclock.Window) -> None:
        assert event.window >= window.cwnd or event.cause == "timeout"

    def on_lost(self, lost: ackclock.Lost, window: ackclock.Window) -> None:
        assert lost.end > lost.start

    def internals(self) -> dict[str, float]:
        return {"before": self.cwnd}


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("slow_start", [SlowStart, Same])
def test_a_slow_start_in_python_with_cubic(profile: dict[str, object], slow_start: type[SlowStart]) -> None:
    common = {
        **profile,
        "initial_window": "rfc6928",
        "avoidance": "cubic",
        "initial_ssthresh": "unlimited",
    }
    Same.calls.clear()
    record = {"record": ["cwnd", "sequence", "internals"], "duration": "10 s"}
    own = run(made({**common, "slow_start": slow_start}, **record))
    built_in = run(made({**common, "slow_start": "standard"}, **record))
    assert_same(own, built_in, "cwnd", "sequence")
    assert own.summary["flows"][0]["control"] == "rfc6928 + python + cubic + own"
    if slow_start is Same:
        assert all(Same.calls[name] > 1 for name in ("on_ack", "observe", "on_sent", "on_congestion", "on_established"))
        internals = rows(own, "internals").filter(polars.col("name") == "before")
        assert internals["value"].max() == pytest.approx(own.summary["flows"][0]["cwnd_max"], abs=3)


class Paced(SlowStart):
    """Same as the built-in `paced`: two windows per round trip."""

    def on_established(self, event: ackclock.Established, window: ackclock.Window) -> None:
        self.wire_size, self.rtt_s = event.smss + event.header, event.rtt_s
        self.pace(window.cwnd)

    def on_ack(self, ack: ackclock.Ack, window: ackclock.Window) -> float:
        self.rtt_s = ack.srtt_s or self.rtt_s
        self.pace(window.cwnd + ack.counted)
        return ack.counted

    def pace(self, cwnd: float) -> None:
        assert self.rtt_s is not None
        self.pacing_rate_bps = 2.0 * cwnd * self.wire_size * 8.0 / self.rtt_s


@pytest.mark.parametrize("profile", PROFILES)
def test_a_paced_slow_start_in_python_is_the_built_in_one(profile: dict[str, object]) -> None:
    common = {**profile, "initial_window": "rfc6928", "initial_ssthresh": "40 segments"}
    record = {"record": ["sequence"]}
    own, built_in = (run(made({**common, "slow_start": start}, **record)) for start in (Paced, "paced"))
    assert_same(own, built_in, "sequence")


class Leaving(SlowStart):
    """Leaves slow start at thirty segments, at a timer or an ACK."""

    way: Exit = Exit(25.0)

    def on_ack(self, ack: ackclock.Ack, window: ackclock.Window) -> float | Exit:
        return self.way if window.cwnd >= 30 else ack.counted


class LeavingWith(Leaving):
    way = Exit(60.0, cwnd=50.0)


class LeavingByTimer(SlowStart):
    def on_established(self, event: ackclock.Established, window: ackclock.Window) -> None:
        self.timer_s = event.now_s + 0.01

    def on_timer(self, now_s: float, window: ackclock.Window) -> float | Exit:
        if window.cwnd >= 14:
            return Exit(9.0)
        self.timer_s = now_s + 0.01
        return 2.0


@pytest.mark.parametrize(
    ("slow_start", "cwnd", "ssthresh"), [(Leaving, 25.0, 25.0), (LeavingWith, 50.0, 60.0), (LeavingByTimer, 9.0, 9.0)]
)
def test_a_slow_start_leaves(slow_start: type[SlowStart], cwnd: float, ssthresh: float) -> None:
    flow = {"slow_start": slow_start, "initial_window": "10 segments", "initial_ssthresh": "unlimited"}
    trace = rows(run(made(flow, duration="1 s", record=["cwnd"])), "cwnd").filter(polars.col("ssthresh").is_finite())
    assert (trace["cwnd"][0], trace["ssthresh"][0]) == (cwnd, ssthresh)
    assert repr(Exit(9.0)) == "Exit(9)"


def leaves(base: type, method: str, **values: object) -> type:
    """Return a class whose `method` sets attributes and returns `returns`."""
    returned = values.pop("returns", None)

    def act(self: object, *_: object) -> object:
        for name, value in values.items():
            setattr(self, name, value)
        return returned

    return type("Odd", (base,), {method: act})


@pytest.mark.parametrize(
    ("flow", "message"),
    [
        (
            {"congestion_control": leaves(CongestionControl, "on_ack", pacing_rate_bps=-1)},
            r"Odd.on_ack set pacing_rate_bps = -1: expected bit/s, at least 1, or None",
        ),
        (
            {"congestion_control": leaves(CongestionControl, "on_sent", burst="x")},
            r"Odd.on_sent set burst = 'x': expected a number of bytes, at least 0",
        ),
        (
            {"congestion_control": leaves(CongestionControl, "on_established", timer_s=math.inf)},
            r"Odd.on_established set timer_s = inf: expected seconds since the start of the run, or None",
        ),
        (
            {"congestion_control": leaves(leaves(CongestionControl, "on_ack", timer_s=0), "on_timer", timer_s=0.0)},
            r"Odd.on_timer set timer_s = 0.0: expected a time after now, 0\.\d+ s, or None",
        ),
        (
            {"congestion_control": leaves(CongestionControl, "internals", returns=5)},
            r"Odd.internals returned 5: expected a dictionary of names and numbers",
        ),
        (
            {"congestion_control": leaves(CongestionControl, "internals", returns={"a": "b"})},
            r"Odd.internals returned the entry 'a': 'b': expected a text as the name and a number",
        ),
        (
            {"congestion_control": leaves(CongestionControl, "on_first_window", returns=-1)},
            r"Odd.on_first_window returned -1: expected a number of segments above 0, or None",
        ),
        (
            {"slow_start": leaves(SlowStart, "on_ack")},
            r"Odd.on_ack returned None: expected segments to grow by, at least 0, or Exit\(ssthresh\)",
        ),
        (
            {"slow_start": leaves(SlowStart, "on_ack", returns=Exit(math.nan))},
            r"Odd.on_ack returned Exit\(NaN\): expected segments to grow by",
        ),
        (
            {"congestion_control": type("Odd", (Reno,), {"ecn": "ce"}), "ecn": True},
            r"Odd.__init__ set ecn = 'ce': expected \"not_ect\", \"ect0\" or \"ect1\"",
        ),
        (
            {"slow_start": type("Odd", (SlowStart,), {"initial_ssthresh": "x"})},
            r"Odd.__init__ set initial_ssthresh = 'x': expected a number of segments, at least 0",
        ),
    ],
)
def test_invalid_attributes_end_the_run(flow: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        run(made(flow, duration="1 s", record=["internals"]))


@pytest.mark.parametrize(("feedback", "count"), [(True, "at_most"), ("accurate", "exact"), ("dctcp", "estimate")])
def test_an_ack_says_how_exactly_it_counts_marks(feedback: object, count: str) -> None:
    heard: set[str] = set()
    marked: list[int] = []

    class Counting(Reno):
        ecn = "ect1"

        def on_ack(self, ack: ackclock.Ack) -> None:
            super().on_ack(ack)
            heard.add(ack.mark_count)
            marked.append(ack.marked)

        def on_ack_in_recovery(self, ack: ackclock.Ack) -> None:
            marked.append(ack.marked)

    bottleneck = {"queue": {"kind": "bernoulli", "mark_probability": "5 %"}}
    flow = {
        "profile": "modern",
        "ecn": feedback,
        "congestion_control": Counting,
        "size": "400 packets",
        "packet_size": "1000 B",
    }
    result = run(made(flow, duration="30 s", topology={"kind": "dumbbell", "bottleneck": bottleneck}))
    links = polars.DataFrame(result.links)
    marks = int(links["marks"].sum())
    assert heard == {count}
    assert "drops_chance" in links.columns
    if count == "at_most":
        assert sum(marked) >= marks * 1000
    else:
        assert sum(marked) == pytest.approx(marks * 1000, abs=1)


def test_a_timer_expires_once_even_without_a_method() -> None:
    run(made({"congestion_control": leaves(Reno, "on_established", timer_s=0.2, cwnd=4.0)}, duration="1 s"))


@pytest.mark.parametrize(
    ("flow", "message"),
    [
        (
            {"slow_start": SlowStart()},
            "flow.0.slow_start: each run makes its own slow start; write the class SlowStart",
        ),
        (
            {"slow_start": CongestionControl},
            "flow.0.slow_start: CongestionControl is a control: write it as congestion_",
        ),
        ({"congestion_control": Leaving}, "flow.0.congestion_control: Leaving is a slow start: write it as slow_start"),
        ({"slow_start": Leaving, "count": 2}, "flow.0.count: a flow with a slow start in Python must be one flow"),
        ({"slow_start": Leaving, "congestion_control": Reno}, "flow.0.slow_start: cannot be combined with congestion"),
        ({"initial_window": Leaving}, 'flow.0.initial_window: a slow start in Python.*"slow_start": Leaving'),
    ],
)
def test_misplaced_classes_are_errors(flow: dict[str, object], message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        made(flow)


def test_scenarios_with_a_slow_start_are_values() -> None:
    scenario = made({"slow_start": Leaving, "avoidance": "cubic"})
    assert scenario.controls == {0: Leaving}
    for again in (pickle.loads(pickle.dumps(scenario)), copy.deepcopy(scenario), scenario.set({"seed": 1})):
        assert again == scenario
        assert again.hash == scenario.hash
    assert scenario != made({"slow_start": LeavingWith, "avoidance": "cubic"})
    assert scenario.hash != made({"slow_start": "standard", "avoidance": "cubic"}).hash
    assert 'congestion_control = "python_slow_start"' in scenario.to_toml()
    assert run(scenario) == run(scenario)


def test_copies_of_a_control_are_independent() -> None:
    control = Pacing()
    copied = copy.deepcopy(control)
    copied.cwnd, copied.pacing_rate_bps = 7.0, 5.0
    assert (control.cwnd, control.pacing_rate_bps) == (1.0, None)
