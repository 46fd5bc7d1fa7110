"""Questions of the command line: one call of a function of the package, with progress, and its answer shown."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, TypeVar

from ackclock.cli import options
from ackclock.cli.errors import plain_errors

T = TypeVar("T")


def ask(
    question: Callable[[dict[str, Any]], T],
    show: Callable[[T], Any],
    *,
    engine: str = "local",
    address: str | None = None,
    jobs: int | None = None,
    budget: str | None = None,
    title: str = "runs",
) -> T:
    """Ask a question, and show its answer; after Ctrl-C, or at the end of the budget, show what the finished runs say.

    Parameters
    ----------
    question
        Called with the arguments ``engine``, ``budget`` and ``progress`` of a function of the package, which logs what
        happens.
    show
        Prints the answer.
    engine, address, jobs, budget
        The options of the same names.
    title
        What the bar of progress counts.
    """
    with plain_errors(), options.engine(engine, address, jobs) as chosen:
        from ackclock.cli import output
        from ackclock.experiments.execute import Interrupted

        try:
            with output.progress(title) as progress:
                found = question({"engine": chosen, "budget": budget, "progress": progress})
        except Interrupted as stopped:
            if stopped.found is not None:
                # What is wrong with the finished runs must not hide that others are missing.
                with contextlib.suppress(ValueError):
                    show(stopped.found)
            raise
        show(found)
        return found
