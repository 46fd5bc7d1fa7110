"""Heat maps: a grid of values as colours, with numbers if they are legible."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.image import AxesImage

from ackclock.statistics import selection
from ackclock.texts.names import in_figure
from ackclock.texts.numbers import number

LUMINANCE = np.array([0.2126, 0.7152, 0.0722])  # of red, green and blue, ITU-R BT.709


@dataclass(frozen=True)
class Best:
    """The best of several variants: its name, and its relative gain over another variant."""

    name: str
    gain: float | None

    def text(self, separator: str) -> str:
        """Return the name and, after the separator, the gain in percent."""
        return self.name if self.gain is None else f"{self.name}{separator}{100 * self.gain:+.0f} %".replace("-", "−")


def best(
    samples: Mapping[str, Sequence[float]],
    sense: Literal["lowest", "highest"],
    *,
    within: float = 0.0,
    over: str | None = None,
) -> Best | None:
    """Choose the first variant that is as good as the best one.

    Parameters
    ----------
    samples
        Values by variant, in the order of preference; the runs of all variants are in the same order.
    sense
        Whether the lowest or the highest mean is best.
    within
        Share of the best mean within which another mean is as good.
    over
        The variant with which the best is compared.

    Returns
    -------
    Best or None
        None if there are no variants. The gain is (mean of `over` − mean of the best) / mean of `over`, negated if the
        highest mean is best. `selection.chosen` corrects it for the choice of the best among noisy means. Without
        `over`, or with a single run, it is None.
    """
    if not samples:
        return None
    sign = 1 if sense == "lowest" else -1
    means = {name: sum(sample) / len(sample) for name, sample in samples.items()}
    top = min(means.values(), key=lambda mean: sign * mean)
    name = next(name for name, mean in means.items() if sign * (mean - top) <= within * abs(top))
    other = samples.get(over or "")
    if not other or min(map(len, samples.values())) < 2:
        return Best(name, None)

    def gain(variant: str, part: slice) -> float:
        return sign * (1 - sum(samples[variant][part]) / sum(other[part])) if sum(other[part]) else 0.0

    return Best(name, selection.chosen(samples, gain, sign))


def draw(
    axes: Axes,
    grid_and_labels: tuple[Any, list[str], list[str]],
    ends: tuple[float, float],
    *,
    colours: str = "viridis",
    downwards: bool = False,
    size: float = 8,
    text: Callable[[float], str] | Sequence[Sequence[str]] | None = lambda value: number(value, 2),
) -> AxesImage:
    """Draw a grid; cells without a value (NaN) are empty.

    Parameters
    ----------
    axes
        The axes to draw on.
    grid_and_labels
        The values by row and column, and the names of columns and rows.
    ends
        The values of the first and the last colour.
    colours
        A colour map of matplotlib.
    downwards
        Whether the first row is at the top.
    size
        Font size in points.
    text
        A function from a value to its text, the texts by row and column, or None for no text.
    """
    grid, xs, ys = grid_and_labels
    low, high = ends if ends[1] > ends[0] else (ends[0], ends[0] + 1)
    drawn = axes.imshow(
        grid, origin="upper" if downwards else "lower", aspect="auto", cmap=colours, vmin=low, vmax=high
    )
    axes.set_xticks(range(len(xs)), [in_figure(x) for x in xs], fontsize=size)
    axes.set_yticks(range(len(ys)), [in_figure(y) for y in ys], fontsize=size)
    shades = matplotlib.colormaps[colours]((np.asarray(grid, float) - low) / (high - low))[..., :3] @ LUMINANCE
    for (row, column), value in np.ndenumerate(grid):
        if text is not None and not np.isnan(value):
            colour = "black" if shades[row, column] > 0.5 else "white"
            written = text(float(value)) if callable(text) else text[row][column]
            written = "\n".join(map(in_figure, written.split("\n")))
            axes.text(column, row, written, ha="center", va="center", fontsize=size, color=colour)
    return drawn
