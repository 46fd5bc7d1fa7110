"""Heat maps: a grid of values as colours, with the numbers on them where they can be read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.image import AxesImage

from ackclock.numbers import number

LUMINANCE = np.array([0.2126, 0.7152, 0.0722])  # of red, green and blue, ITU-R BT.709


def draw(
    axes: Axes,
    grid_and_labels: tuple[Any, list[str], list[str]],
    ends: tuple[float, float],
    *,
    colours: str = "viridis",
    downwards: bool = False,
    size: float = 8,
    text: Callable[[float], str] | None = lambda value: number(value, 2),
) -> AxesImage:
    """Draw a grid; cells without a value (NaN) stay empty.

    Parameters
    ----------
    axes
        Where.
    grid_and_labels
        The values by row and column, and the names of columns and rows.
    ends
        The values of the first and the last colour.
    colours
        A colour map of matplotlib.
    downwards
        Whether the first row is at the top.
    size
        Of the letters.
    text
        Writes a value; None to write none.
    """
    grid, xs, ys = grid_and_labels
    low, high = ends if ends[1] > ends[0] else (ends[0], ends[0] + 1)
    drawn = axes.imshow(
        grid, origin="upper" if downwards else "lower", aspect="auto", cmap=colours, vmin=low, vmax=high
    )
    axes.set_xticks(range(len(xs)), xs, fontsize=size)
    axes.set_yticks(range(len(ys)), ys, fontsize=size)
    shades = matplotlib.colormaps[colours]((np.asarray(grid, float) - low) / (high - low))[..., :3] @ LUMINANCE
    for (row, column), value in np.ndenumerate(grid):
        if text is not None and not np.isnan(value):
            colour = "black" if shades[row, column] > 0.5 else "white"
            axes.text(column, row, text(float(value)), ha="center", va="center", fontsize=size, color=colour)
    return drawn
