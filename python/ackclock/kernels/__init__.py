"""Scenarios on the TCP of this machine's Linux kernel, and their comparison with simulations."""

from ackclock.kernels.checking import Check, Probe, check
from ackclock.kernels.emulating import Emulated, emulate
from ackclock.kernels.running import KernelResult, refusal, run

__all__ = ["Check", "Emulated", "KernelResult", "Probe", "check", "emulate", "refusal", "run"]
