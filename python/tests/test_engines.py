"""Engines: every item once, laziness, errors, interrupts."""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Iterator

import pytest

from ackclock import _core
from ackclock.experiments.engines.engine import Engine
from ackclock.experiments.engines.local import Local


def square(item: int, cancel: _core.Cancel) -> int:
    return item * item


@pytest.mark.parametrize("jobs", [1, 3])
def test_threads_compute_every_item_once(jobs: int) -> None:
    found: list[tuple[int, int]] = []
    engine: Engine = Local(jobs)
    with contextlib.closing(engine):
        engine.each_finished(square, iter(range(100)), lambda *both: found.append(both), _core.Cancel())
    assert engine.workers == jobs
    assert sorted(found) == [(item, item * item) for item in range(100)]


def test_items_are_taken_when_there_is_room_for_them() -> None:
    taken, collected, most = 0, 0, 0

    def items() -> Iterator[int]:
        nonlocal taken, most
        for item in itertools.count():
            if item == 1000:
                return
            taken += 1
            most = max(most, taken - collected)
            yield item

    def collect(index: int, result: int) -> None:
        nonlocal collected
        assert threading.current_thread() is threading.main_thread()
        collected += 1

    Local(3).each_finished(square, items(), collect, _core.Cancel())
    assert (taken, collected) == (1000, 1000)
    assert most <= 2 * 3


def test_an_interrupt_takes_no_more_items_and_collects_what_is_finished() -> None:
    found: dict[int, int] = {}

    def collect(index: int, result: int) -> None:
        found[index] = result
        if index == 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        # The generator has no end.
        Local(1).each_finished(square, itertools.count(), collect, _core.Cancel())
    assert set(range(11)) <= set(found)
    assert len(found) <= 13


def test_an_error_of_the_items_ends_the_work() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise ValueError("no second item")

    with pytest.raises(ValueError, match="no second item"):
        Local(2).each_finished(square, items(), lambda index, result: None, _core.Cancel())
