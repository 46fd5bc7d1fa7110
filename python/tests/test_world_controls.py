"""Controls of the laboratory that decide in the TCP of a kernel in virtual time."""

from __future__ import annotations

from typing import Any

import pytest

import ackclock
from ackclock import CongestionControl, Scenario, linux

from .conftest import NO_KERNEL, present

RENO = {"host": "linux", "packet_size": "1448 B", "slow_start": "standard", "avoidance": "reno"}
CUBIC = {"host": "linux", "packet_size": "1448 B"}

pytestmark = pytest.mark.skipif(not present(), reason=NO_KERNEL)


def chain(
    flow: dict[str, Any], *, rate: str = "10 Mbit/s", delay: str = "20 ms", queue: int = 35, **keys: Any
) -> Scenario:
    """Return a scenario with one link each way."""
    link = {"rate": rate, "delay": delay, "queue": f"{queue} packets", **keys.pop("link", {})}
    return Scenario("test", duration=keys.pop("duration", "8 s"), topology={"links": [link]}, flow=[flow], **keys)


def delivered(result: ackclock.Result) -> float:
    return float(result.summary["flows"][0]["delivered_bytes"])


@pytest.mark.parametrize(
    "path",
    [
        {},
        {"rate": "50 Mbit/s", "queue": 170},
        {"rate": "2 Mbit/s", "delay": "50 ms", "queue": 20, "duration": "20 s"},
        {"link": {"loss": "0.5 %"}, "seed": 3},
        {"link": {"loss": "5 %"}, "seed": 4, "duration": "20 s"},
    ],
    ids=["bottleneck", "fast", "slow", "losses", "timeouts"],
)
def test_reno_outside_the_kernel_sends_the_packets_of_the_kernels_reno(path: dict[str, Any]) -> None:
    scenario = chain(RENO, **path)
    inside, outside = (linux.run(scenario, on="linux", record=[], outside=outside) for outside in (False, True))
    assert (inside.kernel["controls"], outside.kernel["controls"]) == (["reno"], ["ackclock"])
    assert inside.trace_hash == outside.trace_hash


def test_cubic_outside_the_kernel_delivers_what_the_kernels_cubic_delivers() -> None:
    scenario = chain(CUBIC, rate="50 Mbit/s", queue=170)
    inside, outside = (linux.run(scenario, on="linux", outside=outside) for outside in (False, True))
    assert delivered(outside) == pytest.approx(delivered(inside), rel=0.002)
    exits = [run.summary["flows"][0]["slow_start_exit"]["cwnd"] for run in (inside, outside)]
    assert exits[0] == pytest.approx(exits[1], abs=1)


@pytest.mark.parametrize(
    ("keys", "tolerance"),
    [
        ({"slow_start": "hystart_pp", "avoidance": "cubic_linux"}, 0.01),
        ({"slow_start": "search", "avoidance": "cubic_linux"}, 0.01),
        ({"slow_start": "limited", "avoidance": "reno", "initial_ssthresh": "50 segments"}, 0.01),
        ({"congestion_control": "bbr"}, 0.03),
        # The kernel no longer paces when a start-up that paces is over.
        ({"slow_start": "bbr_startup"}, 0.03),
        ({"slow_start": "rapid_start"}, 0.03),
        (
            {
                "initial_window": {"kind": "fixed", "segments": "40 segments"},
                "slow_start": "standard",
                "avoidance": "reno",
            },
            0.01,
        ),
    ],
    ids=["hystart++", "search", "limited", "bbr", "bbr's startup", "rapid start", "initial window"],
)
def test_what_the_kernel_does_not_have_decides_outside(keys: dict[str, Any], tolerance: float) -> None:
    scenario = chain({**CUBIC, **keys})
    result = linux.run(scenario, on="linux", outside=True)
    assert result.kernel["controls"] == ["ackclock"]
    assert delivered(result) == pytest.approx(delivered(ackclock.run(scenario)), rel=tolerance)


class Fixed(CongestionControl):
    """A window of twenty segments that never changes."""

    def on_established(self, event: ackclock.Established) -> None:
        self.cwnd = 20.0

    def on_ack(self, ack: ackclock.Ack) -> None:
        """Leave the window."""

    def on_congestion(self, event: ackclock.CongestionEvent) -> None:
        """Leave the window."""


def test_a_class_in_python_drives_the_kernels_tcp() -> None:
    scenario = chain({**CUBIC, "congestion_control": Fixed})
    result = linux.run(scenario, on="linux")
    assert result.summary["flows"][0]["cwnd_max"] == 20
    assert delivered(result) == pytest.approx(delivered(ackclock.run(scenario)), rel=0.01)


def test_a_class_in_python_hears_each_ack_once_and_grows() -> None:
    """Reno, which the base class is, and standard slow start send in the kernel what they send in the simulation."""

    class Counting(CongestionControl):
        acked = 0.0

        def on_ack(self, ack: ackclock.Ack) -> None:
            Counting.acked += ack.acked
            super().on_ack(ack)

    class Standard(ackclock.SlowStart):
        pass

    for flow in ({"congestion_control": Counting}, {"slow_start": Standard, "avoidance": "reno"}):
        scenario = chain({"host": "linux", "packet_size": "1448 B", **flow})
        Counting.acked = 0.0
        inside = delivered(linux.run(scenario, on="linux"))
        heard = Counting.acked
        assert inside == pytest.approx(delivered(ackclock.run(scenario)), rel=0.02)
        if "congestion_control" in flow:
            # ACKs in recovery are another event.
            assert 0.9 < heard * 1448 / inside <= 1.001


def test_an_error_of_a_class_in_python_is_the_runs() -> None:
    class Broken(Fixed):
        def on_ack(self, ack: ackclock.Ack) -> None:
            raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        linux.run(chain({**CUBIC, "congestion_control": Broken}), on="linux")
