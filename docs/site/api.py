"""The pages of the Python package: which names each has. Sphinx reads the rest from the docstrings."""

from __future__ import annotations

from typing import NamedTuple

import ackclock


class Page(NamedTuple):
    """A page of the package's reference.

    Parameters
    ----------
    title
        Its title.
    text
        Its first paragraph, as reStructuredText.
    names
        Names of `ackclock`.
    modules
        Modules with all their public names.
    """

    title: str
    text: str
    names: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()


PAGES = {
    "api/scenarios": Page(
        "Scenarios and runs",
        "Read or make a scenario, change it, and run it; read a measured path.",
        ("load", "Scenario", "run", "run_many", "trace", "Trace", "ScenarioError", "Interrupted"),
    ),
    "api/results": Page(
        "Results",
        "Tables, traces and summaries of runs.",
        ("Result", "StoredResult", "open", "Qlog", "open_qlog", "measures", "coverage", "Coverage"),
        ("ackclock.columns",),
    ),
    "api/experiments": Page(
        "Experiments",
        "Questions put to many runs, with the options of their commands; their limits, and the cluster where they run.",
        (
            *("sweep", "Dataset", "compare", "matrix", "tune", "paper", "papers", "verify", "gate", "conform"),
            *("Limits", "Until", "Stopping", "Ray"),
        ),
    ),
    "api/controls": Page(
        "Congestion controls",
        "Subclass `CongestionControl` or `SlowStart`; the events are what its methods receive.",
        (
            "CongestionControl",
            "SlowStart",
            "include",
            "Exit",
            "Established",
            "Ack",
            "CongestionEvent",
            "Lost",
            "Delivered",
            "Idle",
            "Sent",
            "FirstWindow",
            "Window",
            "RateSample",
            "Snapshot",
            "Totals",
        ),
    ),
    "api/linux": Page(
        "The TCP of Linux",
        "Scenarios on kernels, kernels for virtual time, and programs behind the path of a scenario.",
        (),
        ("ackclock.linux",),
    ),
    "api/plot": Page("Figures", "Figures of anything stored, by Matplotlib.", ("plot",)),
    "api/notebooks": Page("Notebooks", "A live plot of a scenario in Jupyter.", ("widget",)),
    "api/model": Page("Models", "A function for every analytic model.", (), ("ackclock.model",)),
    "api/statistics": Page(
        "Statistics",
        "Comparisons of variants over runs with equal seeds, and rules that end a series of runs.",
        (),
        tuple(
            f"ackclock.statistics.{name}"
            for name in ("pairs", "sequential", "bootstrap", "intervals", "ratios", "tails", "families", "series")
        ),
    ),
}


def missing() -> list[str]:
    """Return the public names of the package that no page has."""
    there = {
        name for page in PAGES.values() for name in (*page.names, *(each.partition(".")[2] for each in page.modules))
    }
    return sorted(name for name in ackclock.__all__ if name not in there and not name.startswith("__"))


def texts() -> dict[str, str]:
    """Return the source of every page by its name."""
    entries = "\n".join(f"   {name.partition('/')[2]}" for name in PAGES)
    index = (
        f"Python package\n==============\n\n.. automodule:: ackclock\n\n.. toctree::\n   :maxdepth: 2\n\n{entries}\n"
    )
    return {"api/index.rst": index, **{f"{name}.rst": _text(page) for name, page in PAGES.items()}}


def _text(page: Page) -> str:
    lines = [page.title, "=" * len(page.title), "", ".. currentmodule:: ackclock", "", page.text, ""]
    for name in page.names:
        if isinstance(getattr(ackclock, name), type):
            lines += [f".. autoclass:: ackclock.{name}", "   :members:", ""]
        else:
            lines += [f".. autofunction:: ackclock.{name}", ""]
    for name in page.modules:
        title = f"``{name}``"
        if len(page.modules) > 1 or page.names:
            lines += [title, "-" * len(title), ""]
        lines += [f".. automodule:: {name}", "   :members:", ""]
    return "\n".join(lines)
