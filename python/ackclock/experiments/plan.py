"""Points of an experiment: a scenario, its world, and the measurement of its run."""

from __future__ import annotations

import traceback
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Generic, TypeVar

from ackclock import _core
from ackclock.experiments import sources
from ackclock.experiments.measurement import Measurement
from ackclock.experiments.world import SIMULATION, World
from ackclock.scenario import Scenario

M = TypeVar("M")
RUNNER = "ackclock.experiments.plan"
"""The module that runs a point."""


class FailedError(ValueError):
    """A run outside the simulation that has no result, or one that should not be used."""


@dataclass(frozen=True)
class Point(Generic[M]):
    """A planned run.

    Attributes
    ----------
    scenario : Scenario
        The scenario of the run.
    measurement : Measurement
        The measurement of the run.
    world : World
        Where it runs; by default the simulation.
    """

    scenario: Scenario
    measurement: Measurement[M]
    world: World = field(default=SIMULATION, kw_only=True)

    @cached_property
    def key(self) -> str:
        """Key of the measurement in a store; it covers scenario, world, traces, captures, measures, and program.

        Raises
        ------
        ValueError
            If the source of a control in Python cannot be read.
        """
        measurement = self.measurement
        program = sources.program(RUNNER, *self.world.sources, *measurement.sources)
        said = (measurement.record, list(measurement.capture), measurement.fingerprint)
        own = {flow: sources.of_class(made) for flow, made in self.scenario.controls.items()}
        return sources.digest(self.scenario.hash, own, *said, self.world.identity, program)

    def run(self, cancel: _core.Cancel) -> M:
        """Run the scenario in its world, on this thread, and measure the result.

        Raises
        ------
        FailedError
            If a kernel gives no result, or one that should not be used.
        ValueError
            If a control in Python raises an exception.
        """
        own, world = self.measurement, self.world
        try:
            result = world.runner(self.scenario, own.record, cancel, own.capture)
        except ValueError as error:
            if not world.release:
                raise
            raise FailedError(str(error)) from None
        except (Exception, SystemExit) as error:
            if not self.scenario.controls:
                raise
            raise ValueError(_of_control(self.scenario, error)) from error
        if reason := world.fault(result):
            raise FailedError(reason)
        return own.take(result)


def _of_control(scenario: Scenario, error: BaseException) -> str:
    """Return what went wrong in a control in Python, and where."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not Path(frame.filename).is_relative_to(sources.PACKAGE)]
    where = f"{own[-1].filename}, line {own[-1].lineno}, in {own[-1].name}" if own else "its making"
    names = ", ".join(sorted({made.__name__ for made in scenario.controls.values()}))
    return f"{scenario.name}: {names}: {type(error).__name__}: {error} ({where})"
