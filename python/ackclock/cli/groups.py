"""The groups of congestion control's parts: what is deployed today, what documents describe, history, and papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

GROUPS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "deployed today": {
        "initial_window": ("rfc6928",),
        "slow_start": (
            *("standard", "hystart", "hystart_pp", "ledbat_pp", "suss", "rapid_start", "bbr_startup", "jump_start"),
            *("paced", "vegas", "hybla"),
        ),
        "avoidance": (
            *("reno", "cubic", "cubic_linux", "dctcp", "ledbat", "ledbat_pp", "compound", "westwood_plus", "veno"),
            *("vegas", "illinois", "yeah", "lp", "cdg", "nv", "highspeed", "scalable", "htcp", "hybla", "bic"),
        ),
        "loss_response": ("halve", "abe", "first_loss_factor"),
        "congestion_control": ("bbr", "bbr1", "copa"),
    },
    "documents": {
        "initial_window": ("fixed", "rfc3390"),
        "slow_start": ("search", "careful_resume", "limited", "quick_start", "prague"),
        "avoidance": ("prague",),
    },
    "history": {
        "initial_window": ("rfc2001", "ns2_table", "hybla"),
        "slow_start": ("limited_ns2",),
        "loss_response": ("westwood",),
    },
    "papers": {
        "initial_window": ("yearly", "negotiated", "adaptive", "unlimited", "rtt_scaled"),
        "slow_start": ("staged", "queue_aware", "paced_start", "halfback"),
        "avoidance": ("binomial", "polynomial", "exponential", "exponential_bdp", "bandwidth_ratio"),
        "loss_response": ("staged", "return_to_threshold", "kept_threshold"),
        "congestion_control": ("vivace",),
    },
}
"""The parts of each axis by group: those that stacks ship and some senders use, those of RFCs and drafts that few use,
those that nothing uses any more, and those of research."""
OTHERS = "yours"
"""The group of a part of another crate."""


def grouped(axis: str, parts: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return parts with their ``group``, group after group; parts of an axis without groups as they are."""
    if not any(axis in axes for axes in GROUPS.values()):
        return [dict(part) for part in parts]
    order = [*GROUPS, OTHERS]
    made = [{**part, "group": group_of(axis, part["name"])} for part in parts]
    return sorted(made, key=lambda part: order.index(part["group"]))


def group_of(axis: str, name: str) -> str:
    """Return the group of a part."""
    return next((group for group, axes in GROUPS.items() if name in axes.get(axis, ())), OTHERS)
