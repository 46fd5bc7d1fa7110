"""Scenarios on the TCP of this machine's Linux kernel."""

from ackclock.kernels.checking import Check, Probe, check
from ackclock.kernels.running import KernelResult, refusal, run

__all__ = ["Check", "KernelResult", "Probe", "check", "refusal", "run"]
