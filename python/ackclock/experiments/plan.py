"""Points of an experiment: a scenario, and what is measured of its run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from ackclock.experiments import sources
from ackclock.experiments.measures import Measurement
from ackclock.scenario import Scenario

M = TypeVar("M")
RUNNER = "ackclock.experiments.execute"
"""The module that runs a point."""


@dataclass(frozen=True)
class Point(Generic[M]):
    """A run that is planned.

    Attributes
    ----------
    scenario : Scenario
        What is run.
    measurement : Measurement
        What is measured of it.
    """

    scenario: Scenario
    measurement: Measurement[M]

    @cached_property
    def key(self) -> str:
        """Name all that determines what is measured: scenario, traces, measures, and the program."""
        measurement = self.measurement
        program = sources.program(RUNNER, *measurement.sources)
        return sources.digest(self.scenario.hash, measurement.record, measurement.said, program)
