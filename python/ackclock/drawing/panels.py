"""The look that all panels share: grid, markers and error bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from ackclock.statistics.intervals import Interval

MARKERS = "os^Dv*P"


def style_axes(axes: Axes, grid: Literal["both", "y"] = "both") -> None:
    """Draw a light grid below the curves, and hide the spines at the top and on the right."""
    axes.grid(visible=True, axis=grid, color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def errors(means: Sequence[Interval]) -> NDArray[np.float64]:
    """Return the distances of the ends of intervals from their means, as error bars; 0 for infinite intervals."""
    found = np.array([[mean.mean - mean.low for mean in means], [mean.high - mean.mean for mean in means]])
    found[~np.isfinite(found)] = 0.0
    return found
