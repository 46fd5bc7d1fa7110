"""The curves of several runs as one curve: the median, and a band that holds most values.

The sawtooth of one seed is chance, and many overlaid hide each other. So each step curve is sampled, and the samples of
all runs in a bin of time make one point. Teeth longer than a bin remain visible; shorter ones show as the height of the
band.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ackclock.curves import Floats, Line

RUNS = 20
"""Runs of a cell that are drawn."""
PER_BIN = 10
PER_BIN_OF_START = 4  # finer, since it shows a few seconds
BAND = (10.0, 90.0)  # percentiles


def together(runs: Sequence[Mapping[str, Line]]) -> dict[str, Line]:
    """Combine the curves of several runs by their names: median and band.

    Parameters
    ----------
    runs
        The curves of each run, sampled or in bins (steps), at the same times in all runs. A curve that only the first
        run has, as a control's internals, is unchanged.
    """
    made = {}
    for name, first in (runs[0] if runs else {}).items():
        lines = [lines[name] for lines in runs if name in lines]
        alone = len(lines) == 1 and first.step
        unlike = any(len(line.x) != len(first.x) for line in lines)
        per = 1 if first.step else PER_BIN_OF_START if name.startswith("start") else PER_BIN
        made[name] = first if alone or unlike else _median(lines, per)
    return made


def _median(lines: Sequence[Line], per: int) -> Line:
    first = lines[0]
    values = np.stack([line.y for line in lines]).astype(np.float64).reshape(len(lines), -1, per)
    with warnings.catch_warnings():
        # Before the first flow starts, a bin is empty.
        warnings.simplefilter("ignore", RuntimeWarning)
        low, middle, high = np.nanpercentile(values, (BAND[0], 50.0, BAND[1]), axis=(0, 2))
    x: Floats = first.x.astype(np.float64).reshape(-1, per).mean(axis=1)
    return replace(first, x=x, y=middle, band=(low, high))
