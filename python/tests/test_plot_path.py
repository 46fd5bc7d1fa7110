"""Figures of a path, drawn from the models of a scenario's links."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ackclock
from ackclock.drawing import paths
from ackclock.scenario import Scenario

from .conftest import Cli

SCHEDULE = {"kind": "schedule", "steps": [["0 s", "20 Mbit/s"], ["5 s", "0 bit/s"], ["6 s", "4 Mbit/s"]]}


def scenario(**bottleneck: object) -> Scenario:
    """Return a scenario of 10 s with this bottleneck."""
    return Scenario("p", duration="10 s", topology={"bottleneck": bottleneck}, flow=[{}])


def test_rate_delay_and_losses_are_those_of_the_models() -> None:
    jitter = {"kind": "jitter", "delay": "30 ms", "jitter": "10 ms"}
    figure = paths.path(scenario(rate=SCHEDULE, delay=jitter, loss="5 %", reverse={"delay": "7 ms"}), bin=1)
    rate, delay, loss = figure.panels
    assert [each.name for each in rate.series] == ["n1>n2", "n2>n1"]
    # One packet of 1500 bytes can be on either side of a step.
    assert np.asarray(rate.series[0].y)[:10] == pytest.approx([20] * 5 + [0] + [4] * 4, abs=0.012)
    there, back = delay.series
    busy = np.array([0, 1, 2, 3, 4, 6, 7, 8, 9])
    # In order, a packet waits for the one before it, which raises the mean.
    assert np.asarray(there.y)[busy].min() > 30
    assert 20 <= np.nanmin(np.asarray(there.low)) < 25
    assert 35 < np.nanmax(np.asarray(there.high)) <= 40.001
    assert np.asarray(back.y)[busy] == pytest.approx(7)
    shares = np.asarray(loss.series[0].y)[:5]
    # 1667 packets in a second; four standard deviations.
    assert shares == pytest.approx(5, abs=4 * 100 * (0.05 * 0.95 / 1667) ** 0.5)
    assert not np.nan_to_num(np.asarray(loss.series[1].y)).any()


def test_a_path_is_drawn_from_a_file_and_an_object(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "satellite.toml"
    file.write_text('duration = "20 s"\ntopology.path = "leo"\n[flow]\nhost = "linux"\n')
    done = cli("plot", file, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "satellite-path.png").stat().st_size > 5000
    figure = ackclock.plot(ackclock.load(file), link="n2>n1")
    assert [axes.get_ylabel() for axes in figure.axes] == ["rate (Mbit/s)", "delay (ms)", "losses (%)"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"link": "n1>n3"}, "unknown link 'n1>n3'"),
        ({"bin": 0.0}, "--bin 0: expected from 0.001 to 10 s"),
        ({"bin": 1e-6}, "--bin 1e-06: expected from 0.001 to 10 s"),
        ({"x": "limit"}, "--x: a scenario has no results yet"),
        ({"kind": "cwnd"}, "unknown figure of a scenario 'cwnd'"),
    ],
)
def test_options_that_a_path_does_not_have(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError) as caught:
        ackclock.plot(scenario(), **options)  # type: ignore[arg-type]
    assert message in str(caught.value)
