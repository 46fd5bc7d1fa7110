"""The measurement of a run in real time; its key covers the kernel, and none of the code that chose the run."""

from __future__ import annotations

from dataclasses import dataclass

from ackclock.papers.measurement import FlowTable


@dataclass(frozen=True)
class OnKernel(FlowTable):
    """The flows of a run on the kernel.

    Attributes
    ----------
    release : str
        The kernel's release.
    """

    release: str = ""

    @property
    def said(self) -> list[object]:
        """Measures, curves, and the kernel's release."""
        return [*super().said, "kernel", self.release]

    @property
    def sources(self) -> list[str]:
        """The modules that run and measure."""
        return [*super().sources, "ackclock.kernels.running"]
