"""Scenarios on the TCP of this machine's Linux kernel, their comparison with simulations, kernels for virtual time."""

from ackclock.kernels.building import build
from ackclock.kernels.checking import Check, Probe, check
from ackclock.kernels.emulating import Emulated, emulate
from ackclock.kernels.function import compare
from ackclock.kernels.replaying import Arrival, Packet, replay
from ackclock.kernels.running import KernelResult, refusal, run
from ackclock.kernels.store import Built, built, find

__all__ = [
    "Arrival",
    "Built",
    "Check",
    "Emulated",
    "KernelResult",
    "Packet",
    "Probe",
    "build",
    "built",
    "check",
    "compare",
    "emulate",
    "find",
    "refusal",
    "replay",
    "run",
]
