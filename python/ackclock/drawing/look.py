"""The look of figures in files: size, fonts and colours."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
from cycler import cycler
from matplotlib import style as styles
from matplotlib.style import library as known

from ackclock.files import checks

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#4411CC", "#880022")
"""The colours of Okabe and Ito, which colour-blind readers can distinguish, and two that differ from them clearly."""
INCHES = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72}
LEAST, MOST = 1.0, 100.0  # inches
LEAST_FONT, MOST_FONT = 3.0, 40.0  # points
NARROW = 5.0
"""A narrower figure, in inches, is a column of a paper: its font is smaller, and its legend below the panels."""
FONT, NARROW_FONT = 10.0, 8.0
SIZES = ("font.size", "labelsize", "titlesize", "fontsize")
SAVED: dict[str, Any] = {"svg.fonttype": "none", "svg.hashsalt": "ackclock", "pdf.fonttype": 42}
"""Text remains text in SVG, and PDF embeds its fonts as TrueType, which journals ask for."""


@dataclass(frozen=True)
class Look:
    """The look of a figure in a file.

    Attributes
    ----------
    width, height : float or None
        Size in inches; None: as the content asks for.
    font_size : float or None
        Size of labels in points; None: 10, or 8 in a narrow figure.
    style : str or mapping
        A style of matplotlib, by its name (``grayscale``), as a file (``paper.mplstyle``) or as settings; empty: none.
    title : str or None
        The title; None: that of the figure, which a narrow figure leaves to its caption.

    Raises
    ------
    ValueError
        If a size is out of bounds, or the style does not exist.
    """

    width: float | None = None
    height: float | None = None
    font_size: float | None = None
    style: str | Mapping[str, Any] = ""
    title: str | None = None

    def __post_init__(self) -> None:
        for name, size, low, high, unit in (
            ("width", self.width, LEAST, MOST, "in"),
            ("height", self.height, LEAST, MOST, "in"),
            ("font-size", self.font_size, LEAST_FONT, MOST_FONT, "points"),
        ):
            if size is not None and not low <= size <= high:
                raise ValueError(f"--{name} {size:g} {unit}: must be from {low:g} to {high:g} {unit}")
        if isinstance(self.style, str) and self.style and self.style not in known and not Path(self.style).is_file():
            checks.words("--style", "style", [self.style], sorted(name for name in known if name[0] != "_"))

    @property
    def narrow(self) -> bool:
        """Whether the figure is a column of a paper."""
        return self.width is not None and self.width < NARROW

    @property
    def font(self) -> float:
        """Size of labels in points."""
        return self.font_size or (NARROW_FONT if self.narrow else FONT)

    @contextlib.contextmanager
    def applied(self) -> Iterator[None]:
        """Let matplotlib draw in this look while the block runs."""
        size = self.font
        theme: Any = {
            **dict(matplotlib.rcParamsDefault), **SAVED,
            "axes.prop_cycle": cycler(color=COLOURS), "axes.axisbelow": True, "axes.grid": True,
            "axes.spines.top": False, "axes.spines.right": False, "axes.titlelocation": "left",
            "axes.linewidth": 0.08 * size, "grid.color": "#dddddd", "grid.linewidth": 0.06 * size,
            "lines.linewidth": 0.13 * size, "lines.markersize": 0.5 * size, "legend.frameon": False,
            "font.size": size, "axes.labelsize": size, "axes.titlesize": size, "figure.titlesize": size,
            "xtick.labelsize": 0.85 * size, "ytick.labelsize": 0.85 * size, "legend.fontsize": 0.85 * size,
        }  # fmt: skip
        theme.pop("backend", None)
        with matplotlib.rc_context(theme), contextlib.ExitStack() as stack:
            if self.style:
                stack.enter_context(styles.context(self.style if isinstance(self.style, str) else dict(self.style)))
                if self.font_size:
                    sizes: Any = {name: theme[name] for name in theme if name.endswith(SIZES)}
                    matplotlib.rcParams.update(sizes)
            yield


def length(text: str, option: str) -> float:
    """Read a length such as 3.3in or 84 mm; a bare number is in inches.

    >>> length("84 mm", "--width") == length("8.4cm", "--width"), length("3.3", "--width")
    (True, 3.3)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-z]*)\s*", text)
    if found is None or found[2] not in ("", *INCHES):
        raise ValueError(f"{option} {text}: is no length; write a number and {', '.join(INCHES)}, as in 3.3in")
    return float(found[1]) * INCHES[found[2] or "in"]
