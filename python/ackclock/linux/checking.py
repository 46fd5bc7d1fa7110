"""What this machine can run on its kernel."""

from __future__ import annotations

from dataclasses import dataclass

from ackclock import _core

ALL = "all"
"""What every run on the kernel needs. Others: control, accurate_ecn, ebpf, precision."""


@dataclass(frozen=True)
class Probe:
    """A trial."""

    name: str
    """The thing tried."""
    needed_for: str
    """``all``: every run; ``control``: flows with it; ``accurate_ecn``: flows with ``ecn = "accurate"``.

    ``ebpf``: controls by eBPF; ``precision``: few late packets.
    """
    found: bool
    """Whether this machine has it."""
    detail: str
    """The finding, or the missing thing and how to get it."""


@dataclass(frozen=True)
class Check:
    """All trials on this machine."""

    release: str
    """Release of the kernel, such as ``6.18.0``."""
    probes: tuple[Probe, ...]
    """Every trial."""

    @property
    def missing(self) -> str | None:
        """What every run on the kernel lacks; None if scenarios can run."""
        lacking = [
            f"{probe.name}: {probe.detail}" for probe in self.probes if probe.needed_for == ALL and not probe.found
        ]
        return "; ".join(lacking) or None


def check() -> Check:
    """Try what runs on the kernel need; every trial vanishes at its end. Takes about 0.1 s."""
    release, probes = _core.kernel_check()
    return Check(release, tuple(Probe(*probe) for probe in probes))
