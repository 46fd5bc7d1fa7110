"""Transfers by programs in place of a scenario's flow, in a kernel in virtual time."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ackclock import _core
from ackclock.arrow import frame
from ackclock.control import ProgramControl, programs
from ackclock.experiments.draws import nanoseconds
from ackclock.files.pickled import PickledRun, PickledTable
from ackclock.freeze import Frozen
from ackclock.linux.programs import named
from ackclock.linux.running import VIRTUAL, KernelResult
from ackclock.linux.store import Built
from ackclock.scenario import Scenario

CONNECTION = r"program \d+"
"""The names of what programs send, in the tables of a run."""
UNKNOWN = (
    *("recovery", "retransmitted_packets", "timeouts", "window_reductions", "notices"),
    *("application_limited_share", "sndbuf_limited_share", "rwnd_limited_share", "cwnd_limited_share"),
)
"""Columns of flows that only a program itself knows."""
COUNTS = ("delivered_bytes", "delivered_packets", "sent_packets", "dropped_packets", "first_overshoot_losses")
"""Columns of flows that add up over a program's connections."""


class TransferResult(KernelResult):
    """The result of a run in which programs took the place of a flow: its row has what the path saw, and their time."""

    __slots__ = ("_flow", "_program", "_time")

    def __init__(
        self, scenario: Scenario, core: _core.RunResult | PickledRun, kernel: dict[str, Any], time: float | None
    ) -> None:
        super().__init__(scenario, core, kernel)
        index, self._program = _of(scenario)
        self._flow = Frozen(scenario).flows[index]
        self._time = time

    @property
    def flows(self) -> PickledTable:
        """One row per flow, as in a simulation."""
        import polars

        table = frame(self._core.flows)
        every = table.to_dicts()
        own = [row for row in every if re.fullmatch(CONNECTION, row["name"])]
        start = own[0]["start_s"] = _start(self._flow)
        took = self.duration - start if self._time is None else self._time
        total = {column: sum(row[column] for row in own) for column in COUNTS}
        data = _bytes(self._flow) if self._time is not None else total["delivered_bytes"]
        merged = {
            **own[0],
            **dict.fromkeys(UNKNOWN),
            **total,
            "name": self._flow["name"],
            "control": f"program {self._program.program}",
            "size_packets": _packets(self._flow),
            "goodput_bps": 8 * data / took if took > 0 else 0.0,
            "completion_time": self._time,
        }
        others = [row for row in every if not re.fullmatch(CONNECTION, row["name"])]
        return PickledTable(polars.DataFrame([merged, *others], schema=table.schema, strict=False))

    @property
    def warnings(self) -> list[dict[str, Any]]:
        """Warnings of the run, without those of connections that the program has not opened."""
        unused = re.compile(CONNECTION).fullmatch
        return [each for each in super().warnings if not each["flows"] or not all(map(unused, each["flows"]))]

    def trace(self, name: str) -> PickledTable:
        """Return a recorded trace; what the programs sent has the name of their flow."""
        import polars

        table = frame(super().trace(name))
        if "flow" in table.columns:
            name_of = polars.col("flow").cast(polars.String).str.replace(f"^{CONNECTION}$", self._flow["name"])
            table = table.with_columns(name_of.cast(polars.Categorical))
        return PickledTable(table)


def takes_part(scenario: Scenario) -> bool:
    """Whether a program takes the place of a flow."""
    return bool(programs(scenario.controls))


def run(
    scenario: Scenario, record: Sequence[str] | None, capture: Sequence[str] = (), *, kernel: Built
) -> TransferResult:
    """Run server and client of a program in place of a scenario's flow, on this thread, until all its data arrived.

    All other flows are simulated. The time of the transfer includes the client's start, which takes no virtual time,
    and the handshake. What the programs write is discarded.

    Raises
    ------
    ValueError
        If `refusal` has a reason, or the client fails.
    """
    if reason := refusal(scenario):
        raise ValueError(reason)
    index, made = _of(scenario)
    flow = Frozen(scenario).flows[index]
    # In the guest's own memory: a name by chance would change packets.
    serve, get = named(made.program).lines(_bytes(flow), Path(tempfile.gettempdir()) / "ackclock-transfer")
    start = _start(flow)
    code, core, facts = _core.emulate(
        scenario.core,
        ["sh", "-c", f"exec >/dev/null 2>&1; sleep {start:.9f}; {get}"],
        peer=f"exec >/dev/null 2>&1; {serve}",
        flow=flow["name"],
        record=list(record or ()),
        capture=list(capture),
        guest=(kernel.path, kernel.hz),
    )
    if code:
        raise ValueError(f"{scenario.name}: the client of {made.program} ended with code {code}")
    own = {"world": VIRTUAL, "release": kernel.release, "key": kernel.path.name, "hz": kernel.hz}
    own |= {"controls": [None] * len(scenario.flows), "cpu_seconds": facts["cpu_s"], "warnings": []}
    return TransferResult(scenario, core, own, facts["elapsed_s"] - start if code == 0 else None)


def refusal(scenario: Scenario) -> str | None:
    """Return why programs cannot take the place of a scenario's flow; None if they can."""
    found = programs(scenario.controls)
    if len(scenario.controls) > len(found):
        return f"{scenario.name}: a control in Python cannot run beside a program"
    if len(found) > 1:
        return f"{scenario.name}: {len(found)} flows are programs, and only one can be"
    index, made = _of(scenario)
    flow = Frozen(scenario).flows[index]
    if "size" not in flow:
        return f"{scenario.name}: {flow['name']} is a program, which transfers a size: add size, as in --size '1 MB'"
    lacking = named(made.program).lacking
    return f"{scenario.name}: {lacking}" if lacking else None


def _of(scenario: Scenario) -> tuple[int, type[ProgramControl]]:
    ((index, made),) = programs(scenario.controls).items()
    return index, made


def _start(flow: dict[str, Any]) -> float:
    return nanoseconds(flow["start"]) / 1e9


def _packets(flow: dict[str, Any]) -> float:
    return float(flow["size"].split()[0])


def _bytes(flow: dict[str, Any]) -> int:
    return round(_packets(flow) * float(flow["packet_size"].split()[0]))
