"""Points of an experiment: a scenario, and the measurement of its run."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Generic, TypeVar

from ackclock.experiments import sources
from ackclock.experiments.measurement import Measurement
from ackclock.scenario import Scenario

M = TypeVar("M")
RUNNER = "ackclock.experiments.here"
"""The module that runs a point."""


@dataclass(frozen=True)
class Point(Generic[M]):
    """A planned run.

    Attributes
    ----------
    scenario : Scenario
        The scenario of the run.
    measurement : Measurement
        The measurement of the run.
    world : str
        The identity of the world where it runs, such as a kernel's; empty: the simulation.
    """

    scenario: Scenario
    measurement: Measurement[M]
    world: str = field(default="", kw_only=True)

    @cached_property
    def key(self) -> str:
        """Key of the measurement in a store; it covers scenario, world, traces, captures, measures, and program.

        Raises
        ------
        ValueError
            If the scenario has controls in Python, which its hash does not cover.
        """
        if self.scenario.controls:
            raise ValueError(
                f"{self.scenario.name}: has a control in Python, which the key of a stored run cannot cover"
            )
        measurement = self.measurement
        program = sources.program(RUNNER, *measurement.sources)
        said = (measurement.record, list(measurement.capture), measurement.said)
        return sources.digest(self.scenario.hash, *said, self.world, program)
