"""Warnings of runs as clauses, without the numbers of one run."""

from __future__ import annotations

CLAUSES = {
    "not_started": "Flows did not start",
    "nothing_delivered": "Flows delivered no data",
    "rwnd_limited": "The receive window limited flows",
    "application_limited": "The application limited flows",
    "initial_window": "Flows never grew beyond their initial window",
    "slow_start_only": "Flows delivered all data in slow start",
    "connection_lost": "An end gave up a connection",
    "linux_bbr": "Hosts of Linux ran another version of BBR than its kernels",
    "slow_start_unfinished": "Flows were still in slow start at the end",
    "queue_unfilled": "A queue with a limit could never fill, because no link before it is faster",
    "ties": "The order of events at the same time decided most drops",
}
"""What happened to the flows, by the name of the warning."""


def clause(name: str) -> str:
    """Return what a warning says; a name that is not in the table stands for itself.

    >>> clause("rwnd_limited"), clause("later")
    ('The receive window limited flows', 'A warning was raised')
    """
    return CLAUSES.get(name, "A warning was raised")
