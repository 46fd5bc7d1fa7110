"""Drawn paths: random variations of a given path, which show the spread of a deterministic result.

A paper that reports a path of 10 Mbit/s means any similar path. A run without random events has one result, and the
result at 9.9 Mbit/s can be far from it. So deterministic runs are repeated on drawn paths. Each link draws a rate and a
propagation delay uniformly around those of the scenario, the same for both directions. By default the rate varies by
±2 %, and the delay by ±1 ms, but at most by half the delay. Buffers keep their size in packets. The values depend only
on the number of the draw and on the names of the link's ends. So all compared variants run on the same paths (common
random numbers; Law and Kelton, *Simulation modeling and analysis*, §11.2).
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from ackclock.freeze import Frozen

NANOSECONDS = {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9}


@dataclass(frozen=True)
class Jitter:
    """Largest deviations of drawn paths from the given path.

    Attributes
    ----------
    rate : float
        Largest relative change of a link's rate.
    delay : int
        Largest change of a link's propagation delay, in nanoseconds.
    """

    rate: float = 0.02
    delay: int = 1_000_000

    @classmethod
    def read(cls, table: Mapping[str, str]) -> Jitter:
        """Read a table such as ``{ rate = "2 %", delay = "1 ms" }``; a missing key takes its default."""
        rate = float(table["rate"].removesuffix("%")) / 100 if "rate" in table else cls.rate
        return cls(rate, nanoseconds(table["delay"]) if "delay" in table else cls.delay)


def nanoseconds(time: str) -> int:
    """Read a time with its unit, such as ``"1 ms"``."""
    amount, unit = time.split()
    return round(float(amount) * NANOSECONDS[unit])


def like(given: Frozen, draw: int, jitter: Jitter) -> dict[str, str]:
    """Draw a path: rates and delays of a scenario's links by their paths, for `freeze.replaced`.

    Parameters
    ----------
    given
        The scenario.
    draw
        Number of the draw; equal numbers draw equal paths.
    jitter
        Largest deviations from the given path.

    Raises
    ------
    ValueError
        If the rate or the delay of a link is a model.
    """
    drawn: dict[str, str] = {}
    for index, link in enumerate(given.links):
        for key in ("rate", "delay"):
            if not isinstance(link[key], str):
                ends = f"{link['from']} - {link['to']}"
                what = f'the model "{link[key]["kind"]}"' if isinstance(link[key], dict) else "a list of models"
                why = "but drawn paths need constants"
                raise ValueError(f"{given.name}: the {key} of the link {ends} is {what}, {why}")
        amount, _, unit = link["rate"].partition(" ")
        one, other = sorted((link["from"], link["to"]))
        of_rate, of_delay = _draws(f"{draw}: {one} - {other}")
        # Both numbers are always drawn, so that the jitter of the rate does not change the delay.
        rate = float(amount) * (1 + jitter.rate * of_rate)
        delay = nanoseconds(link["delay"])
        moved = delay + round(min(jitter.delay, delay / 2) * of_delay)
        drawn[f"topology.link.{index}.rate"] = f"{rate:.9g} {unit}"
        drawn[f"topology.link.{index}.delay"] = f"{moved} ns"
    return drawn


@cache
def _draws(name: str) -> tuple[float, float]:
    """Draw two numbers, uniform in [−1, 1]."""
    drawn = random.Random(name)
    return drawn.uniform(-1, 1), drawn.uniform(-1, 1)


def start(draw: int, spread: int) -> str:
    """Draw a start time, uniform from 0 to `spread` nanoseconds; the same for all compared variants."""
    return f"{random.Random(f'{draw}: start').randrange(max(spread, 1))} ns"
