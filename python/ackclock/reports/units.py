"""Names and units of metrics and of model outputs."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from ackclock import columns
from ackclock.metrics.registry import MEASURES, of
from ackclock.models import registry

NAMES = {
    "cwnd_mean": "mean cwnd, whole run",
    "cwnd_1s": "mean cwnd, first 1 s",
    "cwnd_10s": "mean cwnd, first 10 s",
    "cwnd_start": "mean cwnd, start",
    "cwnd_end": "mean cwnd, end",
    "goodput_bps": "whole run",
    "delivered_1s": "first 1 s",
    "delivered_2s": "first 2 s",
    "delivered_5s": "first 5 s",
    "delivered_10s": "first 10 s",
}
"""Names of the periods that a paper measures, which stand beside each other."""
ENDINGS = {"_bps": "bit/s", "_bytes": "B", "_packets": "packets", "_drops": "packets", "_losses": "packets"}
"""Units of columns that a paper names itself, by their endings."""


def name(metric: str) -> str:
    """Return the name of a metric in words."""
    return NAMES.get(metric) or of(metric).title


def unit(metric: str) -> str:
    """Return the unit of a metric; empty for a plain number such as a ratio."""
    if metric in MEASURES:
        return MEASURES[metric].unit
    if found := _of_flows().get(metric):
        return "B" if found == "bytes" else found
    if metric.startswith("cwnd_"):
        return "segments"
    for ending, found in ENDINGS.items():
        if metric.endswith(ending):
            return found
    return "B" if metric.startswith("delivered_") else _of_models().get(metric, "")


def quantity(value: float, metric: str) -> str:
    """Format a value of a metric with its unit; bits and bytes have the prefix k, M or G.

    >>> quantity(8_160_000.0, "goodput_bps"), quantity(0.25, "load_mean"), quantity(1.25, "gain")
    ('8.16 Mbit/s', '0.25 s', '1.25')
    """
    return replace(of(metric), unit=unit(metric)).text(value, 3)


@cache
def _of_flows() -> dict[str, str]:
    """Return the units of the columns of flows by name."""
    return {column.name: column.unit for column in columns.of("flows")}


@cache
def _of_models() -> dict[str, str]:
    """Return the units of all model outputs by name."""
    return {output.name: output.unit for model in registry.models().values() for output in model.outputs}
