"""The budget of an experiment: threads and runs."""

from __future__ import annotations

import os


def threads(jobs: int | None) -> int:
    """Return the number of threads; the default is one for each processor.

    Raises
    ------
    ValueError
        If `jobs` is below 1.
    """
    if jobs is not None and jobs < 1:
        raise ValueError("jobs must be at least 1")
    return jobs or os.cpu_count() or 1


def check_runs(count: int, most: int, advice: str) -> None:
    """Refuse a plan of too many runs; `advice` names a way to reduce it.

    Raises
    ------
    ValueError
        If `count` is above `most`.
    """
    if count > most:
        raise ValueError(f"{count:,} runs are too many: at most {most:,}; {advice}")
