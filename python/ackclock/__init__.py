"""Ackclock: a laboratory for TCP start-up and congestion control.

>>> import ackclock
>>> result = ackclock.run(ackclock.load("scenario.toml"))   # doctest: +SKIP
>>> result.summary["flows"][0]["goodput_bps"]               # doctest: +SKIP

Tables of a result are Arrow tables: ``polars.DataFrame(result.flows)`` and ``pyarrow.table(result.flows)`` read them
without copies.
"""

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ackclock import columns, model
    from ackclock._core import Exit, ScenarioError, __version__
    from ackclock.comparisons.function import compare, matrix
    from ackclock.conformance.function import conform
    from ackclock.control import CongestionControl, SlowStart, include
    from ackclock.datasets import Dataset, open  # noqa: A004 - called as ackclock.open
    from ackclock.events import (
        Ack,
        CongestionEvent,
        Delivered,
        Established,
        FirstWindow,
        Idle,
        Lost,
        RateSample,
        Sent,
        Snapshot,
        Totals,
        Window,
    )
    from ackclock.experiments.engines.ray import Ray
    from ackclock.gates.function import gate
    from ackclock.literature.function import paper, papers, verify
    from ackclock.metrics import measures
    from ackclock.playground.widget import widget
    from ackclock.plotting.function import plot
    from ackclock.qlogs import Qlog, open_qlog
    from ackclock.results import Result, StoredResult
    from ackclock.results.coverage import Coverage, coverage
    from ackclock.running import Interrupted, run, run_many
    from ackclock.scenario import Scenario, load
    from ackclock.statistics.sequential import Stopping
    from ackclock.sweeps.function import sweep
    from ackclock.sweeps.plan import Until
    from ackclock.sweeps.work import Limits
    from ackclock.traces import Trace, trace
    from ackclock.tuning.function import tune

__all__ = [
    "Ack",
    "CongestionControl",
    "CongestionEvent",
    "Coverage",
    "Dataset",
    "Delivered",
    "Established",
    "Exit",
    "FirstWindow",
    "Idle",
    "Interrupted",
    "Limits",
    "Lost",
    "Qlog",
    "RateSample",
    "Ray",
    "Result",
    "Scenario",
    "ScenarioError",
    "Sent",
    "SlowStart",
    "Snapshot",
    "Stopping",
    "StoredResult",
    "Totals",
    "Trace",
    "Until",
    "Window",
    "__version__",
    "columns",
    "compare",
    "conform",
    "coverage",
    "gate",
    "include",
    "load",
    "matrix",
    "measures",
    "model",
    "open",
    "open_qlog",
    "paper",
    "papers",
    "plot",
    "run",
    "run_many",
    "sweep",
    "trace",
    "tune",
    "verify",
    "widget",
]

_HOMES = {
    "_core": ("Exit", "ScenarioError", "__version__"),
    "comparisons.function": ("compare", "matrix"),
    "conformance.function": ("conform",),
    "control": ("CongestionControl", "SlowStart", "include"),
    "datasets": ("Dataset", "open"),
    "events": (
        "Ack",
        "CongestionEvent",
        "Delivered",
        "Established",
        "FirstWindow",
        "Idle",
        "Lost",
        "RateSample",
        "Sent",
        "Snapshot",
        "Totals",
        "Window",
    ),
    "experiments.engines.ray": ("Ray",),
    "gates.function": ("gate",),
    "literature.function": ("paper", "papers", "verify"),
    "metrics": ("measures",),
    "results.coverage": ("Coverage", "coverage"),
    "playground.widget": ("widget",),
    "plotting.function": ("plot",),
    "qlogs": ("Qlog", "open_qlog"),
    "results": ("Result", "StoredResult"),
    "running": ("Interrupted", "run", "run_many"),
    "scenario": ("Scenario", "load"),
    "statistics.sequential": ("Stopping",),
    "sweeps.function": ("sweep",),
    "sweeps.plan": ("Until",),
    "sweeps.work": ("Limits",),
    "traces": ("Trace", "trace"),
    "tuning.function": ("tune",),
}
"""The names of each module, which is imported with the first use of one of them."""


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name is
    """Import a name or a module of the package when it is first used, so that a start is quick (PEP 562)."""
    home = next((home for home, names in _HOMES.items() if name in names), None)
    if home is not None:
        found = globals()[name] = getattr(importlib.import_module(f"{__name__}.{home}"), name)
        return found
    # Python also asks for names such as __path__ and __wrapped__.
    if not name.startswith("__") and importlib.util.find_spec(f"{__name__}.{name}") is not None:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the names of the package, whether they are imported yet or not."""
    return sorted({*globals(), *__all__})
