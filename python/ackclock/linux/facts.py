"""Facts of a run on a kernel that a measurement keeps."""

from __future__ import annotations

from typing import Any

from ackclock.results import Result

FACTS = ("world", "release", "phase_s", "lateness_p50", "lateness_p99", "lateness_max", "attempts")
"""The world and the release of the kernel; in virtual time, the start after a tick in seconds; in real time, lateness
of the emulator in seconds, and attempts."""
UNFOLLOWED = "warnings"
"""A further fact: texts that name settings which the kernel does not follow."""


def facts(result: Result) -> dict[str, Any]:
    """Return those of `FACTS` that the world of a run has, and `UNFOLLOWED`; nothing of a simulation."""
    found = getattr(result, "kernel", None)
    if found is None:
        return {}
    # A warning has a name, its flows, and a text.
    own = {name: found[name] for name in FACTS if name in found}
    return {**own, UNFOLLOWED: [text for _, _, text in found[UNFOLLOWED]]}
