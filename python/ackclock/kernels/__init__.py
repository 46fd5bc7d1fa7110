"""Scenarios on the TCP of this machine's Linux kernel, their comparison with simulations, kernels for virtual time."""

from ackclock.kernels.building import build
from ackclock.kernels.checking import Check, Probe, check
from ackclock.kernels.emulating import Emulated, emulate
from ackclock.kernels.running import KernelResult, refusal, run
from ackclock.kernels.store import Built, built, find

__all__ = [
    "Built",
    "Check",
    "Emulated",
    "KernelResult",
    "Probe",
    "build",
    "built",
    "check",
    "emulate",
    "find",
    "refusal",
    "run",
]
