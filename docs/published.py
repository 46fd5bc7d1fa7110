"""Measures published numbers of congestion control, and writes docs/validation/numbers.csv: python docs/published.py.

Each row is a number of a document: a closed form, a table, or a result. It is measured in a run whose losses, marks and
delays are those that the number assumes. docs/generate.py makes docs/concepts/numbers.md from the table.
"""

from __future__ import annotations

import csv
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import polars as pl

import ackclock
from ackclock import Result, Scenario
from ackclock.formatting.numbers import number

FOLDER = Path(__file__).resolve().parent
PAGE = FOLDER / "concepts" / "numbers.md"
WRITTEN = FOLDER / "validation" / "numbers.csv"
SEGMENT = "1448 B"
PAYLOAD = 1448 / 1500
"""Share of a packet's bits that are data."""


@dataclass(frozen=True)
class Number:
    """A published number and its measurement.

    Attributes
    ----------
    control : str
        Whose it is.
    quantity : str
        What it counts, with its unit.
    source : str
        Where it is published.
    published, ours : str
        Both values.
    difference : str
        Ours against it, in per cent; empty where the number is a bound.
    note : str
        Why ours differs, or what the run assumes.
    """

    control: str
    quantity: str
    source: str
    published: str
    ours: str
    difference: str
    note: str = ""


def row(control: str, quantity: str, source: str, published: float, ours: float, note: str = "") -> Number:
    """Return a number that should be met."""
    difference = f"{100 * (ours / published - 1):+.1f} %" if published else ""
    return Number(control, quantity, source, number(published, 4), number(ours, 4), difference, note)


def bound(control: str, quantity: str, source: str, published: str, ours: float, note: str = "") -> Number:
    """Return a number that is a bound."""
    return Number(control, quantity, source, published, number(ours, 4), "", note)


# Runs


def ran(flow: dict[str, Any], link: dict[str, Any], *, duration: float, record: tuple[str, ...] = ("cwnd",)) -> Result:
    """Run one flow over one link; nothing but the control limits it.

    The host follows the RFCs and acknowledges each segment. With profile ns2 the window in the SYN is no limit either.
    """
    modern = {
        "receive_buffer": "1 GB",
        "receive_buffer_max": "1 GB",
        "send_buffer_max": "1 GB",
        "quick_acks": 1_000_000,
    }
    own = {"name": "tested", "profile": "modern", "packet_size": SEGMENT, "initial_ssthresh": "unlimited", **flow}
    own |= {"modern": modern} if own["profile"] == "modern" else {"rwnd": "1000000 packets"}
    link = {"queue": "unlimited", **link}
    scenario = Scenario(
        duration=f"{duration} s", record=list(record), flow=[own], topology={"kind": "chain", "links": [link]}
    )
    return ackclock.run(scenario)


def windows(result: Result) -> pl.DataFrame:
    """Return the windows over time."""
    return pl.DataFrame(result.trace("cwnd"))


def mean_window(result: Result, start: float) -> float:
    """Return the mean window over time from `start` on."""
    walk = windows(result).select("time", "cwnd").filter(pl.col("time") > start)
    spans = walk.with_columns(span=pl.col("time").shift(-1) - pl.col("time")).drop_nulls()
    return float((spans["cwnd"] * spans["span"]).sum() / spans["span"].sum())


def window_at(result: Result, time: float) -> float:
    """Return the window at a time."""
    return float(windows(result).filter(pl.col("time") <= time)["cwnd"][-1])


def rate_of(result: Result, start: float, end: float) -> float:
    """Return the bits per second that were delivered between two times."""
    walk = pl.DataFrame(result.trace("delivered")).filter(pl.col("time").is_between(start, end))
    return float((walk["bytes"][-1] - walk["bytes"][0]) * 8 / (walk["time"][-1] - walk["time"][0]))


COPA = "Copa steers by the smallest delay of half a round trip, which is below the mean"
BBR = "each round with a loss takes the pacing margin of 1 % off the short-term bandwidth, until the next probe"
LINUX = (
    "on hosts of Linux, in 40 s with each of three seeds, the kernel's own (6.12) has 0.96 to 0.97 at 5 % and 0.53 to"
    " 0.79 at 15 %, and this one 0.94 to 0.95 and 0.28 to 0.66"
)
NS2 = {"profile": "ns2", "recovery": "sack"}


# Numbers


def starts() -> Iterator[Number]:
    """Measure the rounds that start-ups take to send some segments on a path without limits."""
    kinds = {
        "standard": [4, 7, 10], "hystart_pp": [4, 7, 10], "rapid_start": [3, 5, 7], "suss": [3, 5, 8],
        "jump_start": [1, 1, 1],
    }  # fmt: skip
    for kind, published in kinds.items():
        for size, rounds in zip((100, 1000, 10_000), published, strict=True):
            flow = {
                **NS2,
                "initial_window": "rfc6928",
                "slow_start": kind,
                "avoidance": "reno",
                "size": f"{size} packets",
            }
            result = ran(flow, {"rate": "10 Tbit/s", "delay": "50 ms"}, duration=10, record=("sequence",))
            last = pl.DataFrame(result.trace("sequence")).filter(pl.col("kind").cast(pl.String) == "send")["time"].max()
            rounds_taken = math.floor((float(last) - 0.1) / 0.1 + 1e-9) + 1  # type: ignore[arg-type]
            source = "closed form: 10·(2ⁿ − 1)" if kind in ("standard", "hystart_pp") else "its document, iterated"
            yield row(kind, f"rounds to send {size:,} segments", source, rounds, rounds_taken)


def responses() -> Iterator[Number]:
    """Measure mean windows under periodic losses or marks."""
    path = {"rate": "100 Gbit/s", "delay": "50 ms"}

    def loses(packets: int) -> dict[str, Any]:
        return {**path, "loss": {"kind": "periodic", "packets": packets}}

    def after(packets: int, window: float) -> tuple[float, float]:
        """Return when to begin and to end, after many losses: windows of CUBIC approach the formula's slowly."""
        period, losses = 0.1 * packets / window, 800 if packets < 100_000 else 40
        return 0.75 * losses * period, losses * period

    for packets in (100, 1000, 10_000):
        published = math.sqrt(1.5 * packets)
        start, end = after(packets, published)
        flow = {"slow_start": "standard", "avoidance": "reno", "initial_ssthresh": f"{published:.0f} packets"}
        ours = mean_window(ran(flow, loses(packets), duration=end), start)
        yield row("reno", f"mean window at p = 1/{packets:,}", "Mathis et al. 1997: 1.22/√p", published, ours)
    for packets, published in ((1000, 38.0), (10_000, 187.0), (100_000, 1054.0)):
        start, end = after(packets, published)
        flow = {"slow_start": "standard", "avoidance": "cubic", "initial_ssthresh": f"{published:.0f} packets"}
        ours = mean_window(ran(flow, loses(packets), duration=end), start)
        what = f"mean window at p = 1/{packets:,}, 0.1 s"
        yield row("cubic", what, "RFC 9438 §5, table 1", published, ours)
    for packets in (1000, 10_000, 100_000):
        published = 0.12 * packets**0.835
        start, end = after(packets, published)
        flow = {"slow_start": "standard", "avoidance": "highspeed", "initial_ssthresh": f"{published:.0f} packets"}
        ours = mean_window(ran(flow, loses(packets), duration=end), start)
        yield row("highspeed", f"mean window at p = 1/{packets:,}", "RFC 3649 §5: 0.12/p^0.835", published, ours)
    for packets in (1000, 10_000):
        published = 0.075 * packets
        start, end = after(packets, published)
        flow = {"slow_start": "standard", "avoidance": "scalable", "initial_ssthresh": f"{published:.0f} packets"}
        ours = mean_window(ran(flow, loses(packets), duration=end), start)
        yield row("scalable", f"mean window at p = 1/{packets:,}", "Kelly 2003: 0.075/p", published, ours)
    for kind, ecn in (("dctcp", "dctcp"), ("prague", "accurate")):
        for share in (1, 2):
            queue = {
                "kind": "bernoulli", "limit": "100000 packets", "mark_probability": f"{share} %", "spacing": "even",
            }  # fmt: skip
            flow = {"slow_start": "standard", "avoidance": kind, "ecn": ecn, "initial_ssthresh": "10 packets"}
            link = {"rate": "10 Gbit/s", "delay": "20 ms", "queue": queue}
            ours = mean_window(ran(flow, link, duration=60), 20) * share / 100
            source = "draft-briscoe-iccrg-prague" if kind == "prague" else "RFC 8257; Alizadeh et al. 2011"
            yield row(kind, f"mean window · p at p = {share} %", f"{source}: 2", 2, ours)


def increases() -> Iterator[Number]:
    """Measure the growth of windows in a round trip without losses."""
    path = {"rate": "100 Gbit/s", "delay": "50 ms"}
    for window, a in ((118, 2.01), (221, 3.01), (1058, 8.01), (10_661, 30.0)):
        flow = {
            **NS2, "slow_start": "standard", "avoidance": "highspeed", "initial_window": f"{window} segments",
            "initial_ssthresh": f"{window} packets",
        }  # fmt: skip
        result = ran(flow, path, duration=0.45)
        yield row("highspeed", f"a(w) at w = {window:,}", "RFC 3649 §B", a, window_at(result, 0.29) - window)
    flow = {
        **NS2, "slow_start": "standard", "avoidance": {"kind": "htcp", "rtt_scaling": False, "adaptive_backoff": False},
        "initial_ssthresh": "1000 packets", "initial_window": "1000 segments",
    }  # fmt: skip
    walk = windows(ran(flow, {**path, "loss": {"kind": "listed", "packets": [1500]}}, duration=12))
    cut = walk.filter(pl.col("cwnd") < 0.9 * pl.col("cwnd").shift(), pl.col("time") > 0.15)["time"][0]
    for after, alpha in ((1, 1.0), (2, 11.25), (5, 45.0), (10, 111.25)):
        # A round trip around that time; before the first second the growth is the same in all.
        middle = cut + after - (0.3 if after == 1 else 0.0)
        near = walk.filter(pl.col("time").is_between(middle - 0.0501, middle + 0.0501))["cwnd"]
        yield row("htcp", f"α {after} s after congestion", "Shorten & Leith 2004", alpha, near[-1] - near[0])
    flow = {**NS2, **dict.fromkeys(("initial_window", "slow_start", "avoidance"), "hybla")}
    result = ran({**flow, "initial_ssthresh": "100000 packets"}, path, duration=1)
    acks = windows(result).filter(pl.col("time") > 0.15)["cwnd"].to_list()
    yield row(
        "hybla", "segments per ACK in slow start, 100 ms", "Caini & Firrincieli 2004: 2^ρ − 1", 15, acks[1] - acks[0]
    )
    result = ran({**flow, "initial_ssthresh": "4 packets"}, path, duration=2)
    grown = window_at(result, 1.65) - window_at(result, 1.55)
    yield row("hybla", "segments per round trip, 100 ms", "Caini & Firrincieli 2004: ρ²", 16, grown)


def delays() -> Iterator[Number]:
    """Measure the queues that controls keep."""
    link = {"rate": "12 Mbit/s", "delay": "20 ms", "queue": "1000 packets"}
    flow = {"slow_start": "standard", "avoidance": "ledbat", "initial_ssthresh": "120 packets"}
    flow["initial_window"] = "2 segments"
    for kind, target in (("ledbat", 100), ("ledbat_pp", 60)):
        parts = {"slow_start": "ledbat_pp" if kind == "ledbat_pp" else "standard", "avoidance": kind}
        result = ran({**flow, **parts}, link, duration=20, record=("sojourn",))
        walk = pl.DataFrame(result.trace("sojourn")).filter(pl.col("time") > 10)
        waits = 1000 * walk.filter(pl.col("link") == "n0>n1")["sojourn"]
        source = "RFC 6817 §2.5" if kind == "ledbat" else "draft-irtf-iccrg-ledbat-plus-plus"
        note = "without slowdowns, which empty it" if kind == "ledbat_pp" else ""
        yield row(
            kind, "queue of a flow alone (ms)", f"{source}: TARGET", target, float(waits.quantile(0.9) or 0), note
        )


def copa() -> Iterator[Number]:
    """Measure the queue of Copa alone, in its default mode."""
    for delta in (0.5, 0.1):
        link = {"rate": "24 Mbit/s", "delay": "20 ms", "queue": "1000 packets"}
        control = {"kind": "copa", "delta": delta, "competitive": False}
        result = ran({"congestion_control": control}, link, duration=30, record=("queue",))
        walk = pl.DataFrame(result.trace("queue")).filter(pl.col("link") == "n0>n1", pl.col("time") > 10)
        spans = walk.with_columns(span=pl.col("time").shift(-1) - pl.col("time")).drop_nulls()
        packets = float((spans["packets"] * spans["span"]).sum() / spans["span"].sum())
        what, source = f"packets in the queue · δ, δ = {delta}", "Arun & Balakrishnan 2018: 1"
        yield row("copa", what, source, 1, packets * delta, COPA)


def bbr() -> Iterator[Number]:
    """Measure BBR on a path of 67 packets."""
    link = {"rate": "20 Mbit/s", "delay": "20 ms", "queue": "300 packets"}
    source = "draft-ietf-ccwg-bbr"
    result = ran({"congestion_control": "bbr"}, link, duration=30, record=("cwnd", "internals", "delivered"))
    states = pl.DataFrame(result.trace("internals")).filter(pl.col("name").cast(pl.String) == "state")
    entered = states.filter((pl.col("value") == 6) & (pl.col("value").shift() != 6))["time"].to_list()
    measured = ackclock.conform("bbr").verdicts
    plateau = next(each.measured for each in measured if each.asked.clause.id == "startup-plateau")
    yield row("bbr", "rounds without growth that end Startup", source, 3, plateau["rounds_of_plateau"])
    gaps = [b - a for a, b in itertools.pairwise(entered)]
    yield row(
        "bbr",
        "seconds between ProbeRTTs",
        source,
        5,
        sum(gaps) / len(gaps),
        "5 s after the last lowest delay, and 0.2 s in it",
    )
    clean = 20e6 * PAYLOAD
    margin = "share of a clean link between two ProbeRTTs"
    between = sum(rate_of(result, start + 1, end) for start, end in itertools.pairwise(entered)) / len(gaps)
    yield row("bbr", margin, f"{source}: pacing margin of 1 %", 0.99, between / clean)
    what, why = "share of a clean link", f"{source}: ProbeRTT costs 2 %"
    yield bound("bbr", what, why, "≥ 0.98", rate_of(result, 5, 29) / clean, "the pacing margin comes on top")
    wide = {"rate": "200 Mbit/s", "delay": "20 ms", "queue": "3000 packets"}
    for percent in (0.5, 1, 1.5, 2, 3):
        result = ran(
            {"congestion_control": "bbr"}, {**wide, "loss": f"{percent} %"}, duration=40, record=("delivered",)
        )
        share = rate_of(result, 10, 39) / (200e6 * PAYLOAD * (1 - percent / 100))
        published, what = "≈ 1" if percent < 2 else "< 1", f"share of a link that loses {percent} %"
        yield bound("bbr", what, f"{source}: LossThresh = 2 % of a round", published, share, BBR if percent < 2 else "")
    for percent in (1, 5, 15):
        result = ran(
            {"congestion_control": "bbr1"}, {**link, "loss": f"{percent} %"}, duration=60, record=("delivered",)
        )
        share = rate_of(result, 5, 59) / (clean * (1 - percent / 100))
        what, why = f"share of a link that loses {percent} %", "Cardwell et al. 2016, figure 8"
        yield bound("bbr1", what, why, "≈ 1 up to 15 %", share, LINUX if percent > 1 else "")


MEASURES: tuple[Callable[[], Iterator[Number]], ...] = (starts, responses, increases, delays, copa, bbr)


def measure() -> None:
    """Measure everything, and write the table."""
    found = [each for make in MEASURES for each in make()]
    with WRITTEN.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Number)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(map(asdict, found))


def page() -> str:
    """Return the page of the table."""
    with WRITTEN.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    text = """# Published numbers

Documents give numbers that an implementation can be held to: closed forms, tables, and results of their authors. Each
row is one of them beside what Ackclock measures, in a run whose losses, marks and delays are those that the number
assumes, and whose host acknowledges each segment. `python docs/published.py` measures them again. What a document
requires stands in its [suite](../reference/clauses.md), and what Linux does in [Validation](../validation.md).

Means over time also have the round trip of each recovery, which closed forms leave out: the smaller the window, the
more it counts.

| control | quantity | source | published | ours | difference |
|---|---|---|---:|---:|---:|
"""
    notes: list[str] = []
    lines = []
    for each in rows:
        if each["note"] and each["note"] not in notes:
            notes.append(each["note"])
        mark = f" ({notes.index(each['note']) + 1})" if each["note"] else ""
        own = [f"`{each['control']}`", each["quantity"], each["source"], each["published"], each["ours"] + mark]
        lines.append("| " + " | ".join([*own, each["difference"]]) + " |")
    ends = [f"{index}. {note[:1].upper()}{note[1:]}." for index, note in enumerate(notes, 1)]
    return text + "\n".join([*lines, "", *ends])


if __name__ == "__main__":
    measure()
