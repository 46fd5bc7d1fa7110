"""Reading of `paper.toml` into the data classes of `contents`, and the checks that concern more than one key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ackclock.files import schema
from ackclock.files.problems import Problems
from ackclock.literature.contents import Contents


def read(document: Mapping[str, Any], place: str) -> Contents:
    """Check a parsed ``paper.toml`` and read it.

    Parameters
    ----------
    document
        The parsed TOML.
    place
        The file; it is read again for the lines in messages.

    Raises
    ------
    ValueError
        If a key is unknown or missing, or if a value is invalid; the message lists every problem.
    """
    problems = Problems(place, document)
    contents = schema.read(Contents, document, problems)
    if contents is not None:
        _check(contents, problems)
    problems.check()
    assert contents is not None
    return contents


def _check(contents: Contents, problems: Problems) -> None:
    if len(set(contents.labels)) < len(contents.labels):
        problems.key(("labels",), "labels has a duplicate")
    if not (contents.experiments or contents.models):
        problems.add((), "there is neither an [[experiment]] nor a [[model]]")
    _check_repeats(contents, problems)
    if contents.figures is not None and contents.figures.blocks and contents.figures.order is None:
        problems.key(("figures", "order"), "order is missing; blocks of figures need it")
    for number, chart in enumerate(contents.charts):
        if chart.ratio and chart.over is not None:
            problems.key(("chart", number, "over"), "ratio and over both select a divisor; choose one")
    figures = [chart.figure for chart in contents.charts if chart.figure is not None]
    problems.once((), figures, "{count} charts are figure {word}")
    _check_answer(contents, problems)


def _check_repeats(contents: Contents, problems: Problems) -> None:
    for number, repeat in enumerate(contents.repeats):
        if repeat.sampling == "seed" and repeat.exact and repeat.jitter is None:
            problems.key(("repeat", number, "exact"), "exact needs drawn paths, but jitter is missing")
        if repeat.jitter is not None and repeat.common:
            message = "common seeds are for random losses, jitter for drawn paths; choose one"
            problems.key(("repeat", number, "common"), message)


def _check_answer(contents: Contents, problems: Problems) -> None:
    answer = contents.answer
    if answer is None:
        return
    if (answer.figure is None) == (answer.chart is None):
        message = "the leading figure is named either by figure, its number, or by chart, its title"
        problems.add(("answer",), message)
    elif answer.figure is not None:
        numbers = [str(chart.figure) for chart in contents.charts if chart.figure is not None]
        problems.words(("answer", "figure"), "figure", [str(answer.figure)], numbers)
    else:
        titles = [chart.title for chart in contents.charts]
        problems.words(("answer", "chart"), "chart", filter(None, [answer.chart]), titles)
