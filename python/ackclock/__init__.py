"""Ackclock: a laboratory for TCP start-up and congestion control.

>>> import ackclock
>>> result = ackclock.run(ackclock.load("scenario.toml"))   # doctest: +SKIP
>>> result.summary["flows"][0]["goodput_bps"]               # doctest: +SKIP

Tables of a result are Arrow tables: ``polars.DataFrame(result.flows)`` and ``pyarrow.table(result.flows)`` read them
without copies.
"""

from ackclock import columns, model
from ackclock._core import Exit, ScenarioError, __version__
from ackclock.comparisons.function import compare, matrix
from ackclock.control import CongestionControl, SlowStart
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
from ackclock.results import Result, StoredResult
from ackclock.running import Interrupted, run, run_many
from ackclock.scenario import Scenario, load
from ackclock.statistics.sequential import Stopping
from ackclock.sweeps.function import sweep
from ackclock.sweeps.plan import Until
from ackclock.sweeps.work import Limits
from ackclock.tuning.function import tune

__all__ = [
    "Ack",
    "CongestionControl",
    "CongestionEvent",
    "Dataset",
    "Delivered",
    "Established",
    "Exit",
    "FirstWindow",
    "Idle",
    "Interrupted",
    "Limits",
    "Lost",
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
    "Until",
    "Window",
    "__version__",
    "columns",
    "compare",
    "gate",
    "load",
    "matrix",
    "measures",
    "model",
    "open",
    "paper",
    "papers",
    "plot",
    "run",
    "run_many",
    "sweep",
    "tune",
    "verify",
    "widget",
]
