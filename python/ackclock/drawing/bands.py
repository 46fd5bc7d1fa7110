"""The curves of several runs as one: the median, and a band that holds most of what they do.

A saw-tooth of one seed is chance, and several overlaid are a smear. So a curve that stays until its next change is
sampled, and the samples of all runs in a bin of time make one point. Where the bin is shorter than a tooth, the teeth
stay; where it is longer, the band is as high as they are.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ackclock.drawing.curves import Floats, Line

RUNS = 20
"""So many of a cell's runs are drawn."""
SAMPLES = 500
"""Of one run's curve."""
PER_BIN = 10
PER_BIN_OF_START = 4  # finer: it shows a few seconds
BAND = (10.0, 90.0)  # percentiles


def sampled(line: Line, end: float) -> Line:
    """Sample a curve that stays until its next change, at equal steps from 0 to `end` seconds; NaN before its first."""
    times = (np.arange(SAMPLES) + 0.5) * (end / SAMPLES)
    place = np.searchsorted(line.x, times, side="right") - 1
    values = np.where(place >= 0, line.y[place], np.nan) if len(line.y) else np.full(len(times), np.nan)
    return Line(line.label, times.astype(np.float32), values.astype(np.float32), None, step=False)


def together(runs: Sequence[Mapping[str, Line]]) -> dict[str, Line]:
    """Put the curves of several runs together, by their names: median and band.

    Parameters
    ----------
    runs
        For each run its curves: sampled ones, with the same times in all runs; or in bins (steps), likewise. What only
        the first run has, as a control's internals, stays as it is.
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
        # Before the first flow has started there is nothing in a bin.
        warnings.simplefilter("ignore", RuntimeWarning)
        low, middle, high = np.nanpercentile(values, (BAND[0], 50.0, BAND[1]), axis=(0, 2))
    x: Floats = first.x.astype(np.float64).reshape(-1, per).mean(axis=1)
    return replace(first, x=x, y=middle, band=(low, high))
