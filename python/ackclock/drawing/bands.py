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
    stacked = np.stack([line.y for line in lines]).astype(np.float64).reshape(len(lines), -1, per)
    values = stacked.transpose(0, 2, 1).reshape(len(lines) * per, -1)
    low, middle, high = _percentiles(values, (BAND[0], 50.0, BAND[1]))
    x: Floats = first.x.astype(np.float64).reshape(-1, per).mean(axis=1)
    return replace(first, x=x, y=middle, band=(low, high))


def _percentiles(values: Floats, wanted: Sequence[float]) -> Floats:
    """Return percentiles of each column of the values that are there."""
    gaps = np.isnan(values).any(axis=0)
    made: Floats = np.empty((len(wanted), values.shape[1]))
    made[:, ~gaps] = np.percentile(values[:, ~gaps], wanted, axis=0)
    with warnings.catch_warnings():
        # Before the first flow starts, a bin is empty.
        warnings.simplefilter("ignore", RuntimeWarning)
        # Python visits each column with gaps, so that all of them together would take ten times as long.
        made[:, gaps] = np.nanpercentile(values[:, gaps], wanted, axis=0)
    return made
