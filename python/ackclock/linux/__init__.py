"""Scenarios on the TCP of this machine's Linux kernel, their comparison with simulations, kernels for virtual time."""

from ackclock.linux.building import build
from ackclock.linux.checking import Check, Probe, check
from ackclock.linux.emulating import Emulated, emulate
from ackclock.linux.function import compare
from ackclock.linux.programs import Program, programs
from ackclock.linux.replaying import Arrival, Packet, replay
from ackclock.linux.running import KernelResult, refusal, run
from ackclock.linux.store import Built, built, find

__all__ = [
    "Arrival",
    "Built",
    "Check",
    "Emulated",
    "KernelResult",
    "Packet",
    "Probe",
    "Program",
    "build",
    "built",
    "check",
    "compare",
    "emulate",
    "find",
    "programs",
    "refusal",
    "replay",
    "run",
]
