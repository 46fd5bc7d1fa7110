"""The registry of measures: every number that the program reports of a run, with its one name and its one definition.

>>> from ackclock.metrics.registry import MEASURES
>>> MEASURES["resent"].heading, MEASURES["resent"].better, MEASURES["resent"].scope
('resent (%)', 'less', ('flow', 'group'))
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from ackclock import columns
from ackclock.formatting.numbers import number
from ackclock.judging.tolerances import OWN, SAME, Tolerance

if TYPE_CHECKING:
    import polars

Better = Literal["more", "less", ""]
Scope = Literal["flow", "group", "run", "link", "application"]
PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


@dataclass(frozen=True)
class Measure:
    """A measure.

    Attributes
    ----------
    name : str
        Its name everywhere: in tables, SQL, claims, objectives, gates and reports.
    title : str
        Its name in words.
    unit : str
        The unit of its values; empty for shares, counts without a noun, and indices.
    better : {"more", "less", ""}
        Its better direction; empty if neither is better.
    scope : tuple of str
        What has it: a ``flow``, a ``group`` of flows such as those under test, a ``run``, a ``link``, or an
        ``application``.
    definition : str
        Its definition, for each scope.
    tolerance : Tolerance
        Largest difference that makes no difference, unless the question has another one.
    version : int
        Part of the keys of stored results. Whoever changes what a measure computes raises it; the core's fingerprint
        covers what the engine computes.
    bounds : tuple or None
        Smallest and largest possible value, which also limit its intervals.
    shown : tuple
        Unit on pages and in tables, and the factor to it.
    """

    name: str
    title: str
    unit: str
    better: Better
    scope: tuple[Scope, ...]
    definition: str
    tolerance: Tolerance = SAME
    version: int = 1
    bounds: tuple[float, float] | None = None
    shown: tuple[str, float] = ("", 1.0)

    @property
    def sign(self) -> Literal[-1, 0, 1]:
        """1 if more is better, −1 if less is better, 0 for neither."""
        return 1 if self.better == "more" else -1 if self.better == "less" else 0

    @property
    def dimension(self) -> str:
        """Its unit if it measures time, rate or data; empty for counts, whose unit is a noun, and for plain numbers."""
        return self.unit if self.unit in ("s", "bit/s", "B") else ""

    @property
    def heading(self) -> str:
        """Its title with the unit in which it is shown, unless the title says what is counted."""
        unit = self.shown[0]
        return f"{self.title} ({unit})" if unit and unit not in self.title else self.title

    def in_unit(self, value: float) -> str:
        """Return a value of the unit in which it is shown, with that unit.

        >>> MEASURES["jain"].in_unit(0.43621), MEASURES["sojourn_mean"].in_unit(12.0)
        ('0.436', '12 ms')
        """
        return f"{number(value, 3)} {self.shown[0]}".rstrip()

    def text(self, value: float | None, digits: int = 4) -> str:
        """Format a value with its unit; bits and bytes have the prefix k, M or G."""
        if value is None:
            return "–"
        if self.unit in ("bit/s", "B"):
            for factor, prefix in PREFIXES:
                if abs(value) >= factor:
                    return f"{number(value / factor, digits)} {prefix}{self.unit}"
        return f"{number(value, digits)} {self.unit}".rstrip()


PERCENT, MS, MBIT = ("%", 100.0), ("ms", 1e3), ("Mbit/s", 1e-6)
TABLES: dict[Scope, str] = {"flow": "flows", "link": "links", "run": "runs", "application": "media"}
"""The tables of a result whose columns are measures."""


def _declared() -> Iterator[Measure]:
    """Yield every measure, the most important first."""
    yield from _traffic()
    yield from _completion()
    yield from _losses()
    yield from _queues()
    yield from _shares()
    yield from _windows()
    yield from _harm()
    yield from _pages()
    yield from _media()
    yield from _papers()


def _traffic() -> Iterator[Measure]:
    yield _made(
        "goodput_bps",
        "goodput",
        "more",
        shown=MBIT,
        group="mean `goodput_bps` of its flows",
    )
    yield _made("delivered_bytes", "data delivered", "more")
    yield _made(
        "utilisation",
        "utilisation of the bottleneck",
        "more",
        shown=PERCENT,
        bounds=(0.0, 1.0),
        run="share of the run during which the bottleneck transmitted; null if the first flow's path has no link",
    )
    yield _made(
        "jain",
        "Jain's index",
        "more",
        bounds=(0.0, 1.0),
        group="Jain's index (Σx)²/(n·Σx²) of the `goodput_bps` x of its n flows that have no size and serve no "
        "application, of which it needs two (R. Jain, D. Chiu and W. Hawe, DEC-TR-301, 1984; RFC 5166 §2.3)",
    )
    yield _made("delivered_packets", "packets received", "more")
    for seconds in (1, 2, 5, 10):
        yield _made(f"delivered_{seconds}s", f"data delivered in the first {seconds} s", "more")
    yield _made("flows", "flows")
    yield _made("sent_packets", "packets sent")
    yield _made("total_bps", "goodput of all flows", "more", "bit/s", shown=MBIT, run="sum of the flows' `goodput_bps`")
    yield _made(
        "rival_goodput_bps",
        "goodput of other flows",
        "more",
        "bit/s",
        shown=MBIT,
        group="mean `goodput_bps` of the flows that do not belong to it",
    )


def _completion() -> Iterator[Measure]:
    yield _made("completion_time", "completion time", "less")
    unfinished = "An unfinished transfer counts with the time until the end of the run, which is less than it needs"
    transfers = "completion times of its flows with a size and of the transfers, or the load times of the pages, of its"
    yield _made(
        "completion",
        "completion time",
        "less",
        "s",
        flow="`completion_time`, or of an unfinished flow the time from its start to the end of the run",
        group=f"mean of the {transfers} applications. {unfinished}",
    )
    yield _made(
        "completion_tail",
        "95th percentile of completion",
        "less",
        "s",
        group=f"95th percentile of the {transfers} applications. {unfinished}",
    )
    yield _made(
        "completion_trips",
        "completion time in round trips",
        "less",
        "round trips",
        flow="`completion` over `path_rtt`",
    )
    arriving = "of the transfers that arrive from the flow's table; an unfinished one counts until the end of the run"
    yield _made(
        "short_flows", "transfers", "", "transfers", flow="number of transfers that arrived from the flow's table"
    )
    yield _made("short_mean", "mean completion of transfers", "less", "s", flow=f"mean completion time {arriving}")
    yield _made(
        "short_p95",
        "95th percentile of transfers",
        "less",
        "s",
        flow=f"95th percentile of the completion times {arriving}",
    )
    yield _made("completion_mean", "mean completion time", "less")
    yield _made("completion_median", "median completion time", "less")
    yield _made("completion_p95", "95th percentile of completion times", "less")
    yield _made("finished_flows", "finished flows", "more", "flows")
    yield _made("finished", "finished transfers", "more", group="number of transfers in `completion` that finished")
    yield _made("unfinished", "unfinished transfers", "less", group="number of transfers in `completion` that did not")


def _losses() -> Iterator[Measure]:
    yield _made("retransmitted_packets", "retransmissions", "less")
    yield _made(
        "resent",
        "resent",
        "less",
        "",
        shown=PERCENT,
        bounds=(0.0, 1.0),
        flow="`retransmitted_packets` over `sent_packets`; null if nothing was sent",
        group="sum of `retransmitted_packets` over the sum of `sent_packets`",
    )
    yield _made("dropped_packets", "dropped packets", "less")
    yield _made(
        "loss_rate",
        "loss",
        "less",
        "",
        shown=PERCENT,
        bounds=(0.0, 1.0),
        flow="`dropped_packets` over `sent_packets`; null if nothing was sent",
        group="sum of `dropped_packets` over the sum of `sent_packets`",
    )
    yield _made("timeouts", "timeouts", "less", "timeouts", group="sum of the flows' `timeouts`")
    yield _made("window_reductions", "window reductions", "", "reductions")
    yield _made("notices", "notices of drops", "", "notices")
    yield _made("first_overshoot_losses", "packets lost in the first overshoot", "less")
    yield _made(
        "retransmitted_per_lost",
        "retransmitted over lost packets",
        "",
        "",
        flow="`retransmitted_packets` over `dropped_packets`; null if nothing was lost",
    )


def _queues() -> Iterator[Measure]:
    yield _made("drops", "queue drops at the bottleneck", "less")
    yield _made("queue_drops", "queue drops", "less", "packets", run="sum of `drops` of all links")
    yield _made("queue_mean", "mean queue", "less")
    yield _made("queue_max", "longest queue", "less")
    yield _made("sojourn_mean", "queueing delay", "less", shown=MS)
    yield _made(
        "sojourn_p95",
        "queue p95",
        "less",
        "s",
        shown=MS,
        run="95th percentile of the waiting times at the bottleneck, over all packets sent",
    )
    yield _made("sojourn_max", "longest queueing delay", "less", shown=MS)
    yield _made("min_rtt", "smallest round-trip time", "less", shown=MS, group="smallest `min_rtt` of its flows")
    yield _made(
        "rtt_mean",
        "mean round-trip time",
        "less",
        "s",
        flow="mean of the round-trip times over all ACKs that the sender received, with queues and delays of ACKs",
    )
    yield _made("rtt_samples", "measured round-trip times", "", "samples", flow="number of values in `rtt_mean`")
    yield _made("arrivals", "packets at the queue")
    yield _made("marks", "marked packets")
    yield _made("losses", "packets lost by loss models")
    yield _made("duplicated", "copied packets")


def _shares() -> Iterator[Measure]:
    yield _made(
        "share",
        "share of all data",
        "",
        "",
        bounds=(0.0, 1.0),
        flow="`delivered_bytes` over those of all flows of the run; null if nothing arrived",
    )
    yield _made(
        "rank", "rank", "less", "place", flow="one more than the number of flows of the run with more `delivered_bytes`"
    )
    for name in ("application", "sndbuf", "rwnd", "cwnd"):
        yield _made(f"{name}_limited_share", f"time limited by {name}", "", shown=PERCENT)


def _windows() -> Iterator[Measure]:
    yield _made("buffer_bdp", "buffer in bandwidth-delay products", "", "", flow="`queue_packets` over `bdp_packets`")
    yield _made("cwnd_initial", "initial window")
    yield _made("cwnd_max", "largest cwnd")
    yield _made("cwnd_final", "cwnd at the end")
    yield _made("ssthresh_final", "ssthresh at the end")
    yield _made("slow_start_exit_time", "end of slow start")
    yield _made("slow_start_exit_cwnd", "cwnd at the exit")
    yield _made("slow_start_exit_ratio", "cwnd at the exit over path and queue")
    exits: tuple[tuple[str, str, Better, str, str], ...] = (
        ("exit_bdp", "exit over BDP", "", "", "`slow_start_exit_cwnd` over `bdp_packets`, the oracle's window"),
        ("exit_ideal", "ideal exit", "", "s", "the oracle's time from the flow's start to its exit"),
        (
            "exit_late",
            "exit behind the ideal",
            "",
            "s",
            "the flow's time from its start to its exit, minus `exit_ideal`",
        ),
        ("exit_bytes", "data at the exit", "", "B", "`delivered_bytes` at the flow's exit"),
        ("exit_ideal_bytes", "data at the ideal exit", "", "B", "`delivered_bytes` of the oracle at its exit"),
        (
            "exit_utilisation",
            "utilisation until the exit",
            "more",
            "",
            "bits of `exit_bytes` over `path_bps` times the flow's time from start to exit",
        ),
        (
            "exit_queue_max",
            "longest queueing delay at the exit",
            "less",
            "s",
            "largest round-trip time minus `path_rtt` of the ACKs that arrived until one `path_rtt` after the exit",
        ),
        ("exit_queue_mean", "mean queueing delay at the exit", "less", "s", "mean of the delays in `exit_queue_max`"),
        (
            "exit_time_lost",
            "start-up lost",
            "less",
            "s",
            "time from the delivery of the first data packet to that of 10 `bdp_packets` or all data, minus the ideal",
        ),
        ("exit_lost", "lost at the exit", "less", "packets", "`first_overshoot_losses`; null without an exit"),
    )
    for name, title, better, unit, meaning in exits:
        lost = name == "exit_time_lost"
        yield _made(name, title, better, unit, shown=MS if lost else None, flow=meaning)


def _harm() -> Iterator[Measure]:
    yield _made(
        "others_per_byte",
        "others' bytes per byte",
        "more",
        "",
        flow="bytes that arrived for all other flows over those of the flow's data; null for unlimited data",
    )
    yield _made(
        "others_dropped", "others' dropped packets", "less", "packets", flow="sum of the other flows' `dropped_packets`"
    )
    source = "(R. Ware et al., HotNets 2019)"
    yield _made(
        "harm",
        "harm",
        "less",
        "",
        group=f"largest harm {source} to a flow or application outside the group: the loss of goodput, (x − y)/x, or "
        "the growth of completion or load time, (y − x)/y, from x without the group to y beside it",
    )
    for name, what, formula in (
        ("goodput", "goodput", "(x − y)/x"),
        ("rtt", "the 95th percentile of the round-trip times", "(y − x)/y"),
        ("loss", "the loss rate", "(y − x)/y"),
    ):
        yield _made(
            f"harm_{name}",
            f"harm: {'RTT' if name == 'rtt' else name}",
            "less",
            "",
            group=f"harm {source} to one flow of the reference in {what}: {formula} from x alone to y beside the group",
        )
    yield _made(
        "taken",
        "taken from rivals",
        "less",
        "",
        shown=PERCENT,
        group="1 − `rival_goodput_bps` beside the group over the same beside flows like the rivals",
    )
    yield _made(
        "reference_bps", "goodput of the reference", "more", "bit/s", flow="`goodput_bps` of one flow of the reference"
    )
    yield _made(
        "reference_rtt_s",
        "round-trip time of the reference",
        "less",
        "s",
        flow="95th percentile of the round-trip times of one flow of the reference",
    )
    yield _made("reference_loss", "loss of the reference", "less", "", flow="`loss_rate` of one flow of the reference")


def _pages() -> Iterator[Measure]:
    load = "of the complete pages, from the start of a page to its last byte, with handshakes"
    yield _made("load_mean", "mean page load time", "less", "s", application=f"mean load time {load}")
    yield _made("load_median", "median page load time", "less", "s", application=f"median load time {load}")
    yield _made("load_p95", "95th percentile of page load times", "less", "s", application=f"95th percentile {load}")
    yield _made("pages", "pages", "", "pages", application="number of pages whose load began")
    yield _made(
        "pages_unfinished", "unfinished pages", "less", "pages", application="number not loaded at the end of the run"
    )
    yield _made("connections", "connections", "", "connections", application="number of connections that it opened")
    yield _made("page_bytes", "mean page size", "", "B", application="mean size of the complete pages")
    yield _made(
        "page_bps",
        "throughput of page loads",
        "more",
        "bit/s",
        application="bits of the complete pages over their load time",
    )


def _media() -> Iterator[Measure]:
    def made(
        name: str,
        title: str,
        better: Better,
        shown: tuple[str, float] | None = None,
        bounds: tuple[float, float] | None = None,
    ) -> Measure:
        group = f"mean `{name}` of its applications that have one"
        return _made(name, title, better, shown=shown, bounds=bounds, group=group)

    yield made("bitrate_bps", "mean bitrate", "more", MBIT)
    yield made("switches", "changes of the bitrate", "less")
    yield made("startup_time", "start-up delay", "less")
    yield made("stalls", "stalls", "less")
    yield made("stall_time", "stall time", "less")
    yield made("played_time", "time played", "more")
    yield made("late_share", "late frames", "less", PERCENT, (0.0, 1.0))
    yield made("frame_delay_median", "median frame delay", "less", MS)
    yield made("frame_delay_p95", "95th percentile of frame delays", "less", MS)
    yield made("frame_delay_p99", "99th percentile of frame delays", "less", MS)


def _papers() -> Iterator[Measure]:
    law = "λ = c·s/(R·√p) with c = 1.5·√(2/3), payload s, R = `rtt_mean`, p = `loss_rate`"
    yield _made("eq7_bps", "throughput by the square-root law", "", "bit/s", flow=law)
    yield _made("eq7_ratio", "square-root law over goodput", "", "", flow="`eq7_bps` over `goodput_bps`")
    yield _made(
        "bwe_mean",
        "mean bandwidth estimate",
        "",
        "segments/s",
        flow="time average of the quantity `bwe` of the control",
    )
    yield _made("bwe_ratio", "estimated over delivered rate", "", "", flow="`bwe_mean` as a rate over `goodput_bps`")
    yield _made(
        "delta_least",
        "smallest bandwidth ratio",
        "",
        "",
        flow="smallest (bwe − bwe_avg)/(bwe_max − bwe_avg) of Westwood RB, before its limits of −1 and 1",
    )
    yield _made(
        "diff_window",
        "window at the first detected queue",
        "",
        "segments",
        flow="congestion window at which Westwood RB's estimate of the queue, `diff`, first is at least 3 segments",
    )
    until = "before the loss of the flow's first data segment, or until its end"
    yield _made(
        "first_arrived", "segments before the first loss", "more", "segments", flow=f"segments that arrived {until}"
    )
    yield _made(
        "first_rounds",
        "round trips before the first loss",
        "",
        "round trips",
        flow=f"round trips with transmissions {until}",
    )
    yield _made("first_window", "cwnd at the first loss", "", "segments", flow="congestion window of that round trip")
    yield _made(
        "first_rate",
        "segments per round trip before the first loss",
        "more",
        "segments",
        flow="`first_arrived` over `first_rounds`",
    )
    yield _made(
        "first_growth",
        "growth of cwnd per round trip before the first loss",
        "",
        "",
        flow="factor by which the congestion window grew per round trip, from its initial value to `first_window`",
    )


def _made(
    name: str,
    title: str,
    better: Better = "",
    unit: str | None = None,
    *,
    version: int = 1,
    bounds: tuple[float, float] | None = None,
    shown: tuple[str, float] | None = None,
    **meanings: str,
) -> Measure:
    """Declare a measure; the tables of the engine define it for the scopes that have a column of its name."""
    found: dict[Scope, str] = {}
    for scope in TABLES:
        if column := _columns().get((scope, name)):
            found[scope] = column.meaning
            unit = unit if unit is not None else "B" if column.unit == "bytes" else column.unit
    found |= {scope: meanings[scope] for scope in ("flow", "group", "run", "link", "application") if scope in meanings}
    if len(found) == 1:
        (definition,) = found.values()
    else:
        definition = ". ".join(f"{scope.capitalize()}: {text}" for scope, text in found.items())
    unit = unit or ""
    return Measure(
        name, title, unit, better, tuple(found), definition, OWN.get(name, SAME), version, bounds, shown or (unit, 1.0)
    )


@cache
def _columns() -> dict[tuple[str, str], columns.Column]:
    """Return the columns of `TABLES` by scope and name."""
    return {(scope, column.name): column for scope, table in TABLES.items() for column in columns.of(table)}


MEASURES: dict[str, Measure] = {measure.name: measure for measure in _declared()}
"""Every measure by its name, the most important first."""

BOUNDS = {measure.name: measure.bounds for measure in MEASURES.values() if measure.bounds is not None}
"""Smallest and largest possible values, of measures that have both."""


def of(name: str) -> Measure:
    """Return a measure by its name; a column that is no measure has neither unit nor direction."""
    return MEASURES.get(name) or Measure(name, name.replace("_", " "), "", "", (), "")


def measures() -> polars.DataFrame:
    """Return the table of all measures, the most important first.

    Returns
    -------
    polars.DataFrame
        A row for each measure: ``name``; ``unit``; ``better``, which is ``more``, ``less`` or null if neither direction
        is better; ``scope``, a list of what has it; ``tolerance``, the largest difference that makes none, unless the
        question has another one; ``version``; ``definition``.
    """
    import polars

    rows = [
        {
            "name": each.name,
            "unit": each.unit,
            "better": each.better or None,
            "scope": list(each.scope),
            "tolerance": each.tolerance.text,
            "version": each.version,
            "definition": each.definition,
        }
        for each in MEASURES.values()
    ]
    return polars.DataFrame(rows)
