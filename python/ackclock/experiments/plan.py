"""Points of an experiment: a scenario, its world, and the measurement of its run."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
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
        said = (measurement.record, list(measurement.capture), measurement.said)
        own = {flow: sources.of_class(made) for flow, made in self.scenario.controls.items()}
        return sources.digest(self.scenario.hash, own, *said, self.world.identity, program)

    def run(self, cancel: _core.Cancel) -> M:
        """Run the scenario in its world, on this thread, and measure the result.

        Raises
        ------
        FailedError
            If a kernel gives no result, or one that should not be used.
        """
        own, world = self.measurement, self.world
        if not world.release:
            return own.take(world.runner(self.scenario, own.record, cancel, own.capture))
        try:
            result = world.runner(self.scenario, own.record, cancel, own.capture)
        except ValueError as error:
            raise FailedError(str(error)) from None
        if reason := world.fault(result):
            raise FailedError(reason)
        return own.take(result)
