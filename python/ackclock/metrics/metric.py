"""Measures that are compared, and how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ackclock.metrics.registry import MEASURES


@dataclass(frozen=True)
class Metric:
    """A measure that is compared.

    Attributes
    ----------
    key : str
        Its name.
    relation : {"ratio", "difference"}
        Whether values are compared by their ratio or by their difference.
    """

    key: str
    relation: Literal["ratio", "difference"] = "difference"

    @property
    def title(self) -> str:
        """Its title in tables and figures, with its unit."""
        return MEASURES[self.key].heading

    @property
    def scale(self) -> float:
        """The factor to its unit in tables and figures."""
        return MEASURES[self.key].shown[1]

    @property
    def better(self) -> Literal[-1, 0, 1]:
        """Whether larger values are better (1), or smaller ones (−1)."""
        return MEASURES[self.key].sign
