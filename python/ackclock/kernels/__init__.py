"""Scenarios on the TCP of this machine's Linux kernel."""

from ackclock.kernels.checking import Check, Probe, check
from ackclock.kernels.emulating import Emulated, emulate

__all__ = ["Check", "Emulated", "Probe", "check", "emulate"]
