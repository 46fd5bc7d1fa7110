"""The numbers of the points of a sweep in a dataset, and the way back from a row to its scenario."""

from __future__ import annotations

from array import array
from collections import Counter
from functools import cached_property

from ackclock.scenario import Scenario, SweepPoints

SEED = "seed"


class Numbering:
    """Points and seeds of the places of a sweep. A place is that of a point in a world; the worlds change fastest.

    An axis ``seed`` is no label of a point: its places are one point with many seeds.

    Parameters
    ----------
    points
        The points of the sweep.
    worlds
        Number of worlds in which each of them runs.
    """

    def __init__(self, points: SweepPoints, worlds: int = 1) -> None:
        self._points = points
        self._worlds = worlds

    @cached_property
    def _swept(self) -> tuple[array[int], array[int]] | None:
        """The point and the seed of every place of a sweep with an axis of seeds; None without one."""
        if SEED not in self._points.labels(0):
            return None
        numbers: dict[tuple[tuple[str, ...], int], int] = {}
        times: Counter[tuple[tuple[str, ...], int]] = Counter()
        points, seeds = array("Q"), array("Q")
        for place in range(len(self._points)):
            labels = self._points.labels(place)
            text = labels.pop(SEED)
            # A seed that is none makes the scenario wrong, so that the row has an error.
            seed = int(text) if text.isdecimal() and int(text) < 2**64 else 0
            # Drawn points can have the same labels and the same seed.
            key = tuple(labels.values())
            numbered = (key, times[key, seed])
            times[key, seed] += 1
            seeds.append(seed)
            points.append(numbers.setdefault(numbered, len(numbers)))
        return points, seeds

    @cached_property
    def _places(self) -> dict[tuple[int, int], int]:
        return {} if self._swept is None else {key: place for place, key in enumerate(zip(*self._swept, strict=True))}

    def identity(self, place: int, seed: int | None) -> tuple[int, int | None]:
        """Return point and seed of a task by its place; None: the seed of the scenario."""
        if self._swept is None:
            return place, seed
        points, seeds = self._swept
        index, world = divmod(place, self._worlds)
        return points[index] * self._worlds + world, seeds[index]

    def scenario(self, point: int, seed: int) -> Scenario:
        """Return the scenario of a row.

        Raises
        ------
        ScenarioError
            If it is wrong.
        """
        index = point // self._worlds
        if self._swept is not None:
            return self._points[self._places[index, seed]][1]
        return self._points[index][1].set({SEED: seed})
