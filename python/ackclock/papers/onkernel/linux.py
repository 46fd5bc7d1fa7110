"""This machine's kernel, which runs scenarios by `ackclock.kernels`."""

from __future__ import annotations

from collections.abc import Sequence

from ackclock import kernels
from ackclock.papers.onkernel.machine import Ran
from ackclock.scenario import Scenario


class ThisMachine:
    """This machine.

    Raises
    ------
    OSError
        If it cannot run scenarios on its kernel; the message names what is missing.
    """

    def __init__(self) -> None:
        found = kernels.check()
        if found.missing:
            raise OSError(
                f"this machine cannot run scenarios on its kernel: {found.missing} (see: ackclock kernel check)"
            )
        self.release = found.release

    def refusal(self, scenario: Scenario) -> str | None:
        """Say why no kernel can run a scenario; None if it can."""
        return kernels.refusal(scenario)

    def run(self, scenario: Scenario, record: Sequence[str]) -> Ran:
        """Run a scenario in real time, and record traces."""
        result = kernels.run(scenario, record=record)
        facts = result.kernel
        return Ran(result, facts.lateness_p99, facts.attempts, facts.tainted or "", facts.warnings)
