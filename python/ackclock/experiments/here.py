"""One run on this thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from ackclock import _core
from ackclock.experiments.plan import Point
from ackclock.result import Result
from ackclock.scenario import Scenario

Runner = Callable[[Scenario, Sequence[str] | None, _core.Cancel, Sequence[str]], Result]
"""A function that runs a scenario on its thread: scenario, traces, handle that stops it, places to capture."""
T = TypeVar("T")


def run_point(point: Point[T], cancel: _core.Cancel, runner: Runner | None = None) -> T:
    """Run a point on this thread, by default in the simulation, and measure it."""
    measurement = point.measurement
    return measurement.take((runner or run_here)(point.scenario, measurement.record, cancel, measurement.capture))


def run_here(
    scenario: Scenario, record: Sequence[str] | None, cancel: _core.Cancel, capture: Sequence[str] = ()
) -> Result:
    """Run a scenario on this thread; the caller handles Ctrl-C."""
    if isinstance(capture, str):
        raise TypeError(f"capture: expected a list of links and hosts, such as [{capture!r}]")
    if isinstance(record, str):
        raise TypeError(f"record: expected a list of traces, such as [{record!r}]")
    traces = None if record is None else list(record)
    return Result(scenario, _core.run(scenario.core, traces, scenario.controls or None, cancel, list(capture)))
