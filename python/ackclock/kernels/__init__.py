"""Scenarios on the TCP of this machine's Linux kernel."""

from ackclock.kernels.checking import Check, Probe, check

__all__ = ["Check", "Probe", "check"]
