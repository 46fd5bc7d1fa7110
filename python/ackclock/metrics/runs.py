"""Measures of a whole run from its tables: those that a sweep stores for each run, computed again.

The engine computes them for each run of a sweep (`crates/sim/src/engine/attempt.rs`), since reading its tables would
take longer than a short run. These functions are their definition, to which the tests hold the engine. They serve
stored results, which have tables but no row of a sweep.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ackclock.statistics.fairness import jain_index

if TYPE_CHECKING:
    import polars

SUMS = ("delivered_bytes", "sent_packets", "retransmitted_packets", "dropped_packets", "timeouts")
"""The measures that add up over flows."""
BOTTLENECK = ("utilisation", "queue_mean", "queue_max", "sojourn_mean", "sojourn_max", "drops")
"""The measures that are those of the bottleneck."""
RUN = (
    *("flows", "finished_flows", "delivered_bytes", "goodput_bps", "jain", "sent_packets", "retransmitted_packets"),
    *("dropped_packets", "timeouts", *BOTTLENECK, "completion_mean", "completion_median", "completion_p95"),
)
"""The measures of a run, in the order of the table ``runs``."""


def of_run(
    flows: polars.DataFrame, links: polars.DataFrame, bottleneck: str, duration: float
) -> dict[str, float | None]:
    """Return the measures `RUN` of a run.

    Parameters
    ----------
    flows, links
        Its tables.
    bottleneck
        Name of the slowest link on the path of the first flow's data; empty without one.
    duration
        End of the run, in seconds.
    """
    times = flows["completion_time"].drop_nulls()
    goodputs = flows["goodput_bps"].cast(float).to_list()
    # A flow's goodput counts from its start to its completion.
    active = flows.select((flows["completion_time"].fill_null(duration - flows["start_s"])).alias("s"))["s"]
    link = next((row for row in links.iter_rows(named=True) if row["name"] == bottleneck), None)
    found: dict[str, Any] = {
        "flows": flows.height,
        "finished_flows": len(times),
        "goodput_bps": sum((flows["goodput_bps"] * active).fill_null(0.0).to_list()) / duration,
        "jain": jain_index(goodputs),
        **{name: flows[name].sum() for name in SUMS},
        **{name: None if link is None else link[name] for name in BOTTLENECK},
        "completion_mean": times.mean(),
        "completion_median": times.median(),
        "completion_p95": times.quantile(0.95, "linear"),
    }
    return {name: found[name] for name in RUN}
