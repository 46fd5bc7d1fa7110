"""Ackclock: a laboratory for TCP start-up and congestion control.

>>> import ackclock
>>> result = ackclock.run(ackclock.load("scenario.toml"))   # doctest: +SKIP
>>> result.summary["flows"][0]["goodput_bps"]               # doctest: +SKIP

Tables of a result are Arrow tables: ``polars.DataFrame(result.flows)`` or ``pyarrow.table(result.flows)`` reads them
without copying.
"""

from ackclock import columns, model
from ackclock._core import ScenarioError, __version__
from ackclock.control import Ack, CongestionControl, CongestionEvent, Established
from ackclock.crossrun import matrix
from ackclock.result import Result, StoredResult, read
from ackclock.running import Interrupted, run, run_many
from ackclock.scenario import Scenario, load

__all__ = [
    "Ack",
    "CongestionControl",
    "CongestionEvent",
    "Established",
    "Interrupted",
    "Result",
    "Scenario",
    "ScenarioError",
    "StoredResult",
    "__version__",
    "columns",
    "load",
    "matrix",
    "model",
    "read",
    "run",
    "run_many",
]
