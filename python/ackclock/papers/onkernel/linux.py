"""The kernel of this machine, which runs scenarios by `ackclock.kernels`."""

from __future__ import annotations

from collections.abc import Sequence

from ackclock import kernels
from ackclock.papers.onkernel.machine import Ran
from ackclock.scenario import Scenario


class ThisMachine:
    """The machine that the program runs on.

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
        found = kernels.refusal(scenario)
        # The part before names scenario and flow, and differs between the cells of a paper.
        return found and (found.partition(" cannot run on the kernel: ")[2] or found)

    def run(self, scenario: Scenario, record: Sequence[str]) -> Ran:
        """Run a scenario in real time, and record traces."""
        result = kernels.run(scenario, record=record)
        facts = result.kernel
        tainted = str(facts["reason"]) if facts["tainted"] else ""
        warnings = [str(text) for _, _, text in facts["warnings"]]
        return Ran(result, float(facts["lateness_p99"]), int(facts["attempts"]), tainted, warnings)
