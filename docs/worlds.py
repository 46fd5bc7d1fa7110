"""Measures the same controls on the same paths in several worlds: python docs/worlds.py [WORLD...].

It also measures simulated hosts with single settings of the QUIC stacks, which are named like worlds ("paced").

It writes docs/validation/worlds.csv, and without names also docs/validation/shares.csv: the shares of the QUIC stacks
beside a Linux host. docs/generate.py makes docs/validation/worlds.md of both. It takes a kernel in virtual time
(`ackclock kernel build`), and 20 minutes of two processors.
"""

from __future__ import annotations

import csv
import math
import statistics
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields, replace
from itertools import product
from pathlib import Path

import programs

from ackclock import _core, running
from ackclock.comparisons import places
from ackclock.comparisons.contenders import resolve
from ackclock.comparisons.measuring import Tested
from ackclock.comparisons.places import FIELD_PATHS
from ackclock.experiments.world import World
from ackclock.formatting.numbers import number
from ackclock.linux import worlds
from ackclock.metrics.groups import under_test
from ackclock.results import frame
from ackclock.scenario import Scenario

FOLDER = Path(__file__).resolve().parent
WRITTEN = FOLDER / "validation" / "worlds.csv"
PAGE = FOLDER / "validation" / "worlds.md"
WORLDS = ("simulation", "linux", "quic", "quinn")
CONTROLS = {
    "Reno": "slow_start=standard+avoidance=reno",
    "CUBIC": "slow_start=standard+avoidance=cubic",
    "CUBIC with HyStart++": "hystart_pp+cubic",
    "CUBIC with SEARCH": "search+cubic",
    "BBRv3": "bbr",
}
"""The contenders, by their names on the page."""
OUTSIDE = ("BBRv3",)
"""Those that decide outside the kernel, whose own control of that name is version 1."""
PACKET = "1448 B"
"""The data of a full TCP packet, so that all worlds have 1500 bytes on the wire: QUIC has at least 1228."""
SEEDS, RANDOM, MANY = 3, ("shallow", "lossy", "competing", "short"), 12
"""Start times on a path, and those on paths where a few of them differ much."""
SHOWN = 0.05
"""The relative difference of speed from which on the page says why."""
NOTED = 0.01
"""The standard error of a ratio from which on the page has it."""
PACED = {"pacing": "window", "pacing_slow_start": 1.25, "pacing_avoidance": 1.25}
SWITCHES: dict[str, dict[str, object]] = {
    "paced": PACED,
    "no PRR": {"prr": False},
    "in bytes": {"whole_segments": False},
    "all three": {**PACED, "prr": False, "whole_segments": False},
}
"""Simulated hosts of Linux with what the QUIC stacks have instead (RFC 9002, sections 7.2 and 7.7), by column."""
SWITCHED = tuple(product(("shallow", "lossy", "competing"), ("Reno", "CUBIC")))
"""The paths and controls of the table of these settings."""


@dataclass(frozen=True)
class Cell:
    """A control on a path in a world: means over the seeds.

    Attributes
    ----------
    path, control, world : str
        Which.
    goodput_bps : float or None
        Sum of the flows under test.
    completion : float or None
        Mean time of finished transfers, in seconds; None for endless flows.
    resent : float or None
        Share of packets sent again.
    sojourn_p95 : float or None
        95th percentile of the waiting times of their packets at the bottleneck, in seconds.
    exit_s : float or None
        Time from a flow's start to the end of its slow start, in seconds.
    lost : int
        Runs in which an end gave up a connection.
    error : float or None
        The standard error of the speed over the start times, relative to the mean.
    refused : str
        Why the world has no such run.
    """

    path: str
    control: str
    world: str
    goodput_bps: float | None = None
    completion: float | None = None
    resent: float | None = None
    sojourn_p95: float | None = None
    exit_s: float | None = None
    lost: int = 0
    error: float | None = None
    refused: str = ""

    @property
    def speed(self) -> float | None:
        """What counts as speed on the path: goodput, or the reciprocal of the completion time."""
        return 1 / self.completion if self.path == "short" and self.completion else self.goodput_bps


def seeds(path: str) -> int:
    """Return the number of start times on a path."""
    return MANY if path in RANDOM else SEEDS


NUMBERS = ("goodput_bps", "completion", "resent", "sojourn_p95", "exit_s")


def measured(place: places.Place, control: str, world: World) -> Cell:
    """Run a control on a path in a world with each seed."""
    name, rows = place.name, []
    drawn = (place.paths[0].compose(resolve(CONTROLS[control]), seed, {}) for seed in range(1, seeds(name) + 1))
    made = [scenario.set({"flow.packet_size": PACKET}) for scenario in drawn]
    if reason := world.refuses(made[0]):
        return Cell(name, control, world.name, refused=reason)
    for scenario in made:
        own = Tested()
        try:
            result = world.runner(world.hosted(scenario), own.record, _core.Cancel(), ())
        except ValueError as error:
            # What only the kernel itself knows that it lacks, such as AccECN.
            return Cell(name, control, world.name, refused=str(error))
        flows = frame(result.flows).to_dicts()
        tested = under_test([flow["name"] for flow in flows])
        exits = [
            flow["slow_start_exit_time"] - flow["start_s"]
            for flow in flows
            if flow["name"] in tested and flow["slow_start_exit_time"] is not None
        ]
        row = own.take(result)
        lost = any(warning["name"] == "connection_lost" for warning in result.warnings)
        rows.append({**row, "exit_s": statistics.fmean(exits) if exits else None, "lost": lost})
    means = {
        key: statistics.fmean(found) if (found := [row[key] for row in rows if row[key] is not None]) else None
        for key in NUMBERS
    }
    speeds = [row["completion" if name == "short" else "goodput_bps"] for row in rows]
    known = [float(speed) for speed in speeds if speed is not None]
    error = statistics.stdev(known) / statistics.fmean(known) / math.sqrt(len(known)) if len(known) > 1 else None
    return Cell(name, control, world.name, **means, lost=sum(row["lost"] for row in rows), error=error)


def switched(name: str) -> World:
    """Return the simulation in which all hosts have the settings of a column of the table of switches."""
    settings = {f"flow.modern.{key}": value for key, value in SWITCHES[name].items()}
    return replace(worlds.find("simulation"), name=name, hosted=lambda scenario: scenario.set(settings))


def measure(names: Sequence[str]) -> None:
    """Run everything in these worlds, and write the table; cells of other worlds stay."""
    known = {(cell.path, cell.control, cell.world): cell for cell in (cells() if WRITTEN.exists() else [])}
    found = [worlds.find(name) for name in names if name not in SWITCHES]
    switches = {name: switched(name) for name in names if name in SWITCHES}
    outside = [worlds.find(each.name, outside=True) if each.name == "linux" else each for each in found]
    jobs = [
        (place, control, world)
        for place, control in product(places.field(), CONTROLS)
        for world in (outside if control in OUTSIDE else found)
    ]
    named = {place.name: place for place in places.field()}
    jobs += [(named[path], control, world) for (path, control), world in product(SWITCHED, switches.values())]
    with ThreadPoolExecutor(2) as pool:
        for cell in pool.map(lambda job: measured(*job), jobs):
            known[cell.path, cell.control, cell.world] = cell
            print(cell, flush=True)
    with WRITTEN.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Cell)], lineterminator="\n")
        writer.writeheader()
        for key in product(FIELD_PATHS, CONTROLS, (*WORLDS, *SWITCHES)):
            if key in known:
                row = asdict(known[key])
                writer.writerow(
                    {name: f"{each:.6g}" if isinstance(each, float) else each for name, each in row.items()}
                )


def cells() -> list[Cell]:
    """Return the table."""
    with WRITTEN.open(newline="", encoding="utf-8") as file:
        return [
            Cell(
                row["path"],
                row["control"],
                row["world"],
                *(float(row[key]) if row[key] else None for key in NUMBERS),
                int(row["lost"]),
                float(row["error"]) if row.get("error") else None,
                row["refused"],
            )
            for row in csv.DictReader(file)
        ]


# Shares beside a Linux host

SHARES = FOLDER / "validation" / "shares.csv"
STACKS = {
    "noq, cubic": 'profile = { kind = "quic", control = "cubic" }',
    "noq, newreno": 'profile = { kind = "quic", control = "newreno" }',
    "quinn, cubic": 'profile = { kind = "quinn", control = "cubic" }',
    "quinn, newreno": 'profile = { kind = "quinn", control = "newreno" }',
    "Linux, cubic": 'host = "linux"\nslow_start = "hystart"\navoidance = "cubic"',
}
"""The contenders, by their names on the page; the last is like its rival."""
RTTS = (20, 60, 160)
"""Round-trip times in milliseconds."""
BUFFERS = (0.5, 1, 4)
"""Buffers in bandwidth-delay products."""
BESIDE = """
duration = "60 s"
[topology]
kind = "dumbbell"
bottleneck = {{ rate = "20 Mbit/s", delay = "{delay} ms", queue = "{buffer} BDP" }}
[[flow]]
name = "tested"
start = "{start} s"
{stack}
[[flow]]
name = "rival"
host = "linux"
slow_start = "hystart"
avoidance = "cubic"
"""
STARTS = (0, 0.51, 1.73)
"""Start times of the flow under test, in seconds."""


def share(stack: str, rtt: int, buffer: float) -> tuple[float, int]:
    """Return the mean share of a stack's flow in both flows' data, and how many of its connections were given up."""
    shares, lost = [], 0
    for start in STARTS:
        text = BESIDE.format(delay=rtt / 2, buffer=buffer, start=start, stack=STACKS[stack])
        result = running.run(Scenario.from_core(_core.Scenario.from_toml(text, "beside.toml", [])))
        tested, rival = (row["delivered_bytes"] for row in frame(result.flows).to_dicts())
        shares.append(tested / (tested + rival))
        lost += any(warning["name"] == "connection_lost" for warning in result.warnings)
    return statistics.fmean(shares), lost


def measure_shares() -> None:
    """Run the grid, and write its table."""
    grid = list(product(STACKS, RTTS, BUFFERS))
    with ThreadPoolExecutor(2) as pool, SHARES.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("stack", "rtt_ms", "buffer_bdp", "share", "lost"))
        for point, (mean, lost) in zip(grid, pool.map(lambda point: share(*point), grid), strict=True):
            writer.writerow((*point, f"{mean:.4g}", lost))


def shares() -> list[str]:
    """Return the lines of the grid's table."""
    with SHARES.open(newline="", encoding="utf-8") as file:
        found = {(row["stack"], row["rtt_ms"], row["buffer_bdp"]): row for row in csv.DictReader(file)}
    grid = [(str(rtt), str(buffer)) for rtt, buffer in product(RTTS, BUFFERS)]
    rows = []
    for stack in STACKS:
        cells = [found[(stack, *point)] for point in grid]
        given_up = [f", {row['lost']} of {len(STARTS)} given up" if int(row["lost"]) else "" for row in cells]
        rows.append(
            [stack, *(f"{100 * float(row['share']):.0f} %{up}" for row, up in zip(cells, given_up, strict=True))]
        )
    return table(["stack", *(f"{rtt} ms, {buffer} BDP" for rtt, buffer in grid)], rows)


# The page


def page() -> str:
    """Return the page."""
    found = {(cell.path, cell.control, cell.world): cell for cell in cells()}
    paths = list(dict.fromkeys(path for path, _, _ in found))
    shown = [world for world in WORLDS if any(world == other for _, _, other in found)]
    lines = f"""# Worlds

The same control runs on the same path in four worlds: with simulated hosts of Linux, with a Linux kernel in virtual
time, and with the [QUIC stacks](../guides/quic.md) noq (`quic`) and quinn. quinn's own CUBIC and NewReno stand for
CUBIC and Reno. The paths are the twelve of the [map of the field](../field.md), with full packets of 1500 bytes in
every world. Each number is a mean over {SEEDS} start times, or {MANY} on {", ".join(RANDOM[:-1])} and {RANDOM[-1]}. One
command measures them:

    python docs/worlds.py

## Speed

Goodput of the flows under test, and on the path `short` the mean completion time, in the simulation; then the speed in
the other worlds as a multiple of it, with its standard error if that is more than {NOTED:g}. Bold: more than
{100 * SHOWN:.0f} % apart.
""".split("\n")
    head = ["path", "control", *shown]
    rows = []
    for path, control in product(paths, CONTROLS):
        base = found[path, control, shown[0]]
        others = [_ratio(found[path, control, world], base) for world in shown[1:]]
        rows.append([path, control, _absolute(base), *others])
    lines += [*table(head, rows), "", REASONS, "", "## Which setting decides", ""]
    lines += SWITCHING.split("\n")
    columns = [*SWITCHES, "quic", "quinn"]
    switching = [
        [path, control, *(_ratio(found[path, control, column], found[path, control, shown[0]]) for column in columns)]
        for path, control in SWITCHED
    ]
    lines += [*table(["path", "control", *columns], switching), "", "## Packets sent again", ""]
    lines += ["The share of the packets of the flows under test, in per cent.", ""]
    resent = [
        [path, control, *(_percent(found[path, control, world]) for world in shown)]
        for path, control in product(paths, CONTROLS)
    ]
    lines += [*table(head, resent), "", "## Waiting time", ""]
    lines += ["The 95th percentile of the waiting times of their packets at the bottleneck, in milliseconds.", ""]
    waits = [
        [path, control, *(_milliseconds(found[path, control, world].sojourn_p95) for world in shown)]
        for path, control in product(paths, CONTROLS)
    ]
    lines += [*table(head, waits), "", "## End of slow start", ""]
    lines += [
        "Milliseconds from a flow's start to the end of its slow start; – if it did not end, or the control has none.",
        "",
    ]
    exits = [
        [path, control, *(_milliseconds(found[path, control, world].exit_s) for world in shown)]
        for path, control in product(paths, CONTROLS)
    ]
    lines += [*table(head, exits), "", "## Beside a Linux host", ""]
    lines += [
        (
            "The share of a stack's flow, as it is shipped, beside one of Linux' CUBIC with HyStart on 20 Mbit/s over"
            f" 60 s: the mean of {len(STARTS)} start times."
        ),
        "",
    ]
    return "\n".join([*lines, *shares(), "", *programs.section()])


REASONS = """\
What makes the larger differences:

- **geo**: noq gives up the connection with "too many gaps in stream buffer" as soon as more than 2,048 datagrams follow
  a lost one, even a single one: its buffer of a stream joins no neighbours that are full datagrams, and takes 1,024
  pieces. quinn joins them, and bears this; its receive window of 1.25 MB alone makes it slower, 17 Mbit/s at 600 ms.
- **shallow**: the queue holds seven packets, so that evenness decides. The number of packets that a flow of Reno sends
  in 10 ms has a variance of 0.5 times its mean if simulated hosts pace, 1.2 times in noq, 2.0 times without pacing, and
  3.4 times in quinn; speeds have this order. noq's pacer saves up at most 10 ms' worth of packets, quinn's at least ten
  packets. With Ackclock's Reno quinn is as slow as with its own, so that the stack decides and not the control.
- **lossy**: the settings of the next table together cost simulated Reno 5 %, most of noq's difference. A window of
  twelve packets in bytes leaves half a packet empty on average, which is 4 %.
- **competing**: the rivals have QUIC or the kernel as well. Pacing makes Reno lose against CUBIC also among simulated
  hosts. Of the rest, only BBRv3 in quinn is far outside its standard error; why was not traced.
- **l4s**: the kernel lacks accurate ECN (`tcp_ecn = 3`).

With packets of 1000 bytes, which is less than QUIC's smallest full datagram, the stacks are up to 18 % faster on lossy
paths, because each of their packets carries more."""
"""Why speeds differ."""
SWITCHING = """\
Simulated hosts of Linux have one setting of the QUIC stacks in place of their own, and then all three. *Paced*: every
packet, at 1.25 windows per round trip (RFC 9002 §7.7). *No PRR*: no proportional rate reduction. *In bytes*: the rest
of a window below a full packet stays empty. Speeds are multiples of the simulation's.
"""


def table(head: Sequence[str], body: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table."""
    ruled = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return [*ruled, *("| " + " | ".join(line) + " |" for line in body)]


def _absolute(cell: Cell) -> str:
    if cell.path == "short" and cell.completion:
        return f"{number(cell.completion, 3)} s"
    return "–" if cell.goodput_bps is None else f"{number(cell.goodput_bps / 1e6, 3)} Mbit/s"


def _ratio(cell: Cell, base: Cell) -> str:
    if cell.refused or not cell.speed or not base.speed:
        return "–"
    ratio = cell.speed / base.speed
    text = f"×{ratio:.2f}"
    error = ratio * math.hypot(cell.error or 0, base.error or 0)
    text += f" ± {error:.2f}" if error > NOTED else ""
    text = f"**{text}**" if abs(ratio - 1) > SHOWN else text
    return f"{text}, {cell.lost} of {seeds(cell.path)} given up" if cell.lost else text


def _percent(cell: Cell) -> str:
    return "–" if cell.resent is None else number(100 * cell.resent, 2)


def _milliseconds(seconds: float | None) -> str:
    return "–" if seconds is None else number(1000 * seconds, 3)


if __name__ == "__main__":
    measure(sys.argv[1:] or (*WORLDS, *SWITCHES))
    if not sys.argv[1:]:
        measure_shares()
