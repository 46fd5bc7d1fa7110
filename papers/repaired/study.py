"""The mended ideas against the starts of today, on the paths of `paths.csv` and with Ackclock's public interface alone.

    python papers/repaired/study.py --out out/repaired             the simulation, in full
    python papers/repaired/study.py --out out/repaired --linux     a sample of it also on a kernel in virtual time
    python papers/repaired/study.py --out out/repaired --quick     a preview: six paths and two amounts of data

A call continues what the folder holds. It writes its numbers to `results.json` there and prints the tables of the
README; `--keep` also puts both into this folder.
"""

from __future__ import annotations

import argparse
import csv
import json
import logging
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import paths as drawn
import telling
import westwood
from paths import NetworkPath

import ackclock
from ackclock.comparisons.judging import harms
from ackclock.statistics import families, pairs

HERE = Path(__file__).resolve().parent
ZONES = "{ kind = 'staged', increments = [3, 2, 1], boundaries = [25, 50, 1e9], max_ssthresh = '1e9 segments' }"
TODAY = "cubic+hystart_pp"
CONTENDERS: Mapping[str, str | type] = {
    "today": TODAY,
    "search": "cubic+slow_start={ kind = 'search', exit = 'keep' }",
    "bbr": "congestion_control={ kind = 'bbr', variant = 'linux' }",
    "plain": "cubic+slow_start=standard",
    "halving": "cubic+slow_start=standard+loss_response=first_loss_factor",
    "ass": f"cubic+slow_start={ZONES}+loss_response=first_loss_factor",
    "rbt-fixed": f"{TODAY}+loss_response={{ kind = 'return_to_threshold', halves = false, restart = 'one' }}",
    "rbt": f"{TODAY}+loss_response={{ kind = 'kept_threshold', factor = 0.7 }}",
    "exp": "exponential_bdp+hystart_pp",
    "icw-32": f"{TODAY}+initial_window=32 segments",
    "icw": f"{TODAY}+initial_window=rtt_scaled",
    "reno": "reno+slow_start=standard",
    "westwood": westwood.Westwood,
    "rb": westwood.WestwoodRB,
}
"""The contenders by their names here. RBT falls by CUBIC's own factor if a loss comes soon. BBR has the constants of
Linux, so that version 3 also runs beside a kernel, whose own is version 1."""
CONTROLS = {"ass": "halving", "rbt": "today", "exp": "today", "icw": "today", "rb": "westwood"}
"""What each idea is without its rule."""
SIZES = {"10 kB": 10e3, "100 kB": 100e3, "300 kB": 300e3, "1 MB": 1e6, "10 MB": 10e6}
PAGE = "page"
PAGE_BYTES = 2164e3
PAGE_FLOW = """\

[flow.application]
kind = "web"
root = "30 kB"
objects = 74
object = { kind = "lognormal", mean = "28.8 kB", sigma = 1.6 }
connections = 6
pages = 1
"""
"""The median home page for mobile devices in 2025 (HTTP Archive): 75 requests and 2164 kB. An image has 8 kB in the
median, which with this mean is a standard deviation of the logarithm of 1.6. The size of the root is ours, the middle
of HTML's 0 to 59 kB."""
RIVALS = {
    "quiet": "",
    "bulk": """
[[flow]]
name = "rival"
host = "linux"
packet_size = "1448 B"
""",
    "web": """
[[flow]]
name = "rival"
host = "linux"
packet_size = "1448 B"

[flow.arrivals]
kind = "poisson"
load = "60 %"
size = { kind = "empirical", sizes = ["1 kB", "8 kB", "48 kB", "183 kB"], weights = [0.375, 0.25, 0.2, 0.175] }
""",
}
"""The cross traffic. The short flows have the sizes of one image (HTTP Archive, 2025): its quantiles 25, 50, 75 and
90 %, each for the share around it."""
SCENARIO = """\
# The paths of the table with this cross traffic: {about}.
duration = "1 s"

[topology]
kind = "dumbbell"
access = {{ rate = "10 Gbit/s", delay = "0 ms" }}

[sweep]
paths.file = "{table}"

[[flow]]
name = "tested"
host = "linux"
packet_size = "1448 B"
{page}{rival}"""
WARM_S, WARM_TRIPS = 1.0, 20
"""The cross traffic runs alone for this time."""
TRIPS, SHARE = 30, 8
"""A transfer may then take this many round trips with a full queue, and this many times its time at the full rate."""
HARM = ("1 MB",)
"""Amounts of data whose harm to a flow of today is measured, on the paths with an endless flow."""
HARMS = ("harm_goodput", "harm_rtt", "harm_loss")
QUICK, QUICK_PATHS = ("100 kB", "1 MB"), 2
LINUX, LINUX_PATHS = ("300 kB", "1 MB"), 6
"""Amounts of data on a kernel, and paths with each kind of cross traffic."""
SLOWEST, FASTEST = 1.0, 100.0
"""Rates of the paths on a kernel in Mbit/s, so that a run takes seconds."""

STRATA: Mapping[str, Callable[[NetworkPath], bool]] = {
    "all": lambda _: True,
    "quiet": lambda path: path.traffic == "quiet",
    "bulk": lambda path: path.traffic == "bulk",
    "web": lambda path: path.traffic == "web",
    "shallow": lambda path: path.shallow,
    "deep": lambda path: not path.shallow,
    "no loss": lambda path: path.loss == 0,
    "loss": lambda path: path.loss > 0,
    "short trip": lambda path: path.rtt < 20,
    "long trip": lambda path: path.rtt >= 20,
}
"""Groups of paths. A buffer is shallow if it is smaller than the bandwidth-delay product."""


def start(path: NetworkPath) -> float:
    """Return when the flow under test starts on a path, in seconds."""
    return WARM_S + WARM_TRIPS * path.rtt / 1e3


def lasting(path: NetworkPath, size: float) -> float:
    """Return the duration of a run with an amount of data in bytes, in seconds."""
    rate = path.rate * 1e6
    queue = 8 * drawn.PACKET * path.buffer / rate
    return math.ceil(start(path) + TRIPS * (path.rtt / 1e3 + queue) + SHARE * 8 * size / rate)


def place(folder: Path, traffic: str, rows: Sequence[NetworkPath], amount: str) -> Path:
    """Write the population of the paths with one kind of cross traffic, and return its scenario file."""
    size = SIZES.get(amount, PAGE_BYTES)
    table = folder / f"{traffic}.csv"
    with table.open("w", newline="", encoding="utf-8") as lines:
        writer = csv.writer(lines)
        key = "topology.bottleneck"
        units = (f"{key}.rate (Mbit/s)", f"{key}.delay (ms)", f"{key}.queue.limit (packets)", f"{key}.loss (%)")
        writer.writerow(("label", *units, "flow.0.start (s)", "duration (s)"))
        for path in rows:
            cells = (path.rate, f"{path.rtt / 2:g}", path.buffer, path.loss, f"{start(path):g}", lasting(path, size))
            writer.writerow((path.label, *cells))
    page = PAGE_FLOW if amount == PAGE else ""
    text = SCENARIO.format(about=traffic, table=table.resolve().as_posix(), page=page, rival=RIVALS[traffic])
    file = folder / f"{traffic}.toml"
    file.write_text(text, encoding="utf-8")
    return file


Row = dict[str, Any]
Runs = dict[tuple[str, str], Row]
"""The run of each path and contender."""


def measure(
    rows: Sequence[NetworkPath], amount: str, folder: Path, world: str, jobs: int | None, *, harm: bool
) -> Runs:
    """Let every contender transfer an amount of data over every path, and return the runs by path and contender.

    With `harm`, the runs on paths with an endless flow also have the harm to a flow of today.
    """
    there = folder / amount.replace(" ", "")
    there.mkdir(parents=True, exist_ok=True)
    by_traffic = {traffic: [path for path in rows if path.traffic == traffic] for traffic in drawn.TRAFFIC}
    places = {traffic: place(there, traffic, chosen, amount) for traffic, chosen in by_traffic.items() if chosen}

    def compared(files: Sequence[Path], *, harm: bool) -> list[Row]:
        size = None if amount == PAGE else amount
        out = there / ("harm" if harm else "runs")
        asked = ackclock.compare(CONTENDERS, paths=files, on=world, size=size, harm=harm, out=out, jobs=jobs)
        return list(asked.runs.iter_rows(named=True))

    found = compared(list(places.values()), harm=False)
    if harm and amount in HARM and "bulk" in places:
        found += [row for row in compared([places["bulk"]], harm=True) if row["role"] != "solo"]
    return by_contender(found)


def by_contender(rows: Iterable[Row]) -> Runs:
    """Return the runs of comparisons by path and contender."""
    found: Runs = {}
    for row in rows:
        own = found.setdefault((row["path"], row["contender"]), {})
        if row["role"] == "solo":
            own |= {key: row[key] for key in ("completion", "unfinished", "resent", "sojourn_p95")}
        else:
            own[row["role"]] = row
    return found


def ratio(runs: Runs, paths: Sequence[NetworkPath], own: str, base: str) -> tuple[list[float], float | None] | None:
    """Return the geometric mean of the speed over that of the base with its 95 % interval, and the p-value.

    Speed is the reciprocal of completion time. None for fewer than three paths.
    """
    times = [tuple(math.log(runs[path.label, name]["completion"]) for name in (base, own)) for path in paths]
    if len(times) < 3:
        return None
    if all(math.isclose(a, b, abs_tol=1e-9) for a, b in times):
        return [1.0, 1.0, 1.0], None
    found = pairs.compare([a for a, _ in times], [b for _, b in times])
    mean, low, high = (math.exp(each) for each in (found.difference.mean, found.difference.low, found.difference.high))
    return [mean, low, high], found.p_value


def harm(runs: Runs, paths: Sequence[NetworkPath], own: str) -> Row | None:
    """Return the harm to a flow of today beyond what a flow of today does to it, in shares of its goodput and of 1.

    The harm is that of `ackclock.compare`: in goodput, in the 95th percentile of the round-trip time, and in the loss
    rate. Each has the mean difference with its 95 % interval, and the harm of a flow of today.
    """
    made: Row = {}
    for key in HARMS:
        both = []
        for path in paths:
            alone = runs[path.label, "today"]["alone"]
            pair = [harms(alone, runs[path.label, name]["beside"])[key] for name in (own, "today")]
            if None not in pair:
                both.append(pair)
        if len(both) >= 3:
            found = pairs.compare([a for a, _ in both], [b for _, b in both]).difference
            made[key] = [found.mean, found.low, found.high, sum(b for _, b in both) / len(both)]
    return made or None


def summarise(measured: Mapping[str, Runs], rows: Sequence[NetworkPath], groups: Sequence[str] = tuple(STRATA)) -> Row:
    """Return the numbers of a world: by amount, group of paths and contender."""
    known = {label for runs in measured.values() for label, _ in runs}
    rows = [path for path in rows if path.label in known]
    found: Row = {"paths": {name: sum(map(STRATA[name], rows)) for name in groups}, "speed": {}}
    found["runs"] = sum(map(len, measured.values()))
    tests: dict[tuple[str, str], float | None] = {}
    others = [name for name in CONTENDERS if name != "today"]
    for amount, runs in measured.items():
        by_group: Row = {}
        for group in groups:
            chosen = [path for path in rows if STRATA[group](path)]
            for name in others:
                against = {"today": ratio(runs, chosen, name, "today")}
                if CONTROLS.get(name, "today") != "today":
                    against["control"] = ratio(runs, chosen, name, CONTROLS[name])
                for base, made in against.items():
                    if made is not None:
                        by_group.setdefault(group, {}).setdefault(name, {})[base] = digits(made[0])
                        if group == "all" and base == "today":
                            tests[amount, name] = made[1]
        found["speed"][amount] = by_group
        costs = {}
        for name in CONTENDERS:
            own = [runs[path.label, name] for path in rows]
            costs[name] = [
                round(100 * sum(each["resent"] or 0 for each in own) / len(own), 2),
                round(1e3 * sum(each["sojourn_p95"] or 0 for each in own) / len(own), 1),
                int(sum(each["unfinished"] for each in own)),
            ]
        found.setdefault("costs", {})[amount] = costs
        bulk = [path for path in rows if path.traffic == "bulk"]
        if any("beside" in runs[path.label, "today"] for path in bulk):
            made = {name: harm(runs, bulk, name) for name in others}
            found.setdefault("harm", {})[amount] = {
                name: {key: digits(value) for key, value in each.items()} for name, each in made.items() if each
            }
    adjusted = families.adjusted(list(tests.values()), "holm")
    found["holm"] = {
        f"{amount}, {name}": None if p is None else float(f"{p:.2g}")
        for (amount, name), p in zip(tests, adjusted, strict=True)
    }
    return found


def digits(values: Sequence[float]) -> list[float]:
    """Round to three decimals."""
    return [round(value, 3) for value in values]


def sample(
    rows: Sequence[NetworkPath], count: int, slowest: float = 0.0, fastest: float = math.inf
) -> list[NetworkPath]:
    """Return the first paths of each kind of cross traffic within these rates."""
    inside = [path for path in rows if slowest <= path.rate <= fastest]
    return [path for traffic in drawn.TRAFFIC for path in [each for each in inside if each.traffic == traffic][:count]]


def agreement(simulated: Mapping[str, Runs], real: Mapping[str, Runs]) -> Row:
    """Return how the speed of each contender on the kernel compares with the simulation, on the same paths."""
    found = {}
    for name in CONTENDERS:
        logs = [
            math.log(simulated[amount][key]["completion"] / run["completion"])
            for amount, runs in real.items()
            for key, run in runs.items()
            if key[1] == name
        ]
        within = sum(abs(each) <= math.log(1.05) for each in logs)
        found[name] = [round(math.exp(sum(logs) / len(logs)), 3), within, len(logs)]
    return found


def run(
    out: Path, *, quick: bool = False, linux: bool = False, jobs: int | None = None, amounts: Sequence[str] = ()
) -> Row:
    """Run the study into a folder and return its numbers; by default with all amounts of data."""
    rows = drawn.read()
    amounts = amounts or (QUICK if quick else (*SIZES, PAGE))
    chosen = sample(rows, QUICK_PATHS, 4 * SLOWEST, FASTEST) if quick else rows
    simulated = {
        amount: measure(chosen, amount, out / "simulation", "simulation", jobs, harm=not quick) for amount in amounts
    }
    found: Row = {"simulation": summarise(simulated, chosen)}
    if linux:
        few = sample(chosen, 1 if quick else LINUX_PATHS, SLOWEST, FASTEST)
        wanted = [amount for amount in LINUX if amount in amounts]
        real = {amount: measure(few, amount, out / "linux", "linux", jobs, harm=False) for amount in wanted}
        same = {amount: {key: simulated[amount][key] for key in runs} for amount, runs in real.items()}
        found["linux"] = summarise(real, few, ("all",)) | {"agreement": agreement(same, real)}
        found["linux"]["simulated"] = summarise(same, few, ("all",))["speed"]
    out.mkdir(parents=True, exist_ok=True)
    (out / "results.json").write_text(stored(found), encoding="utf-8")
    return found


def stored(found: Row) -> str:
    """Return the numbers as JSON, with a line for each list."""
    text = json.dumps(found, indent=1)
    lines: list[str] = []
    depth = 0
    for line in text.splitlines():
        if depth:
            lines[-1] += line.strip() + (" " if line.rstrip().endswith(",") else "")
        else:
            lines.append(line)
        depth += line.count("[") - line.count("]")
    return "\n".join(each.strip() for each in lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and print its tables."""
    parser = argparse.ArgumentParser(description="The mended ideas against the starts of today.")
    parser.add_argument("--out", type=Path, default=Path("out/repaired"), help="folder of the runs")
    parser.add_argument("--quick", action="store_true", help="six paths and two amounts of data")
    parser.add_argument("--linux", action="store_true", help="a sample of the paths also on a kernel in virtual time")
    parser.add_argument("--amounts", default="", help=f"of {', '.join((*SIZES, PAGE))}, separated by commas; all")
    parser.add_argument("--jobs", type=int, help="number of parallel runs")
    parser.add_argument("--keep", action="store_true", help="replace the numbers and tables of this folder")
    given = parser.parse_args(arguments)
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    amounts = [each.strip() for each in given.amounts.split(",") if each.strip()]
    if unknown := [each for each in amounts if each not in (*SIZES, PAGE)]:
        parser.error(f"--amounts: unknown {unknown[0]!r}; expected {', '.join((*SIZES, PAGE))}")
    folder = given.out / "quick" if given.quick else given.out
    found = run(folder, quick=given.quick, linux=given.linux, jobs=given.jobs, amounts=amounts)
    print(telling.tables(found))
    if given.keep:
        (HERE / "results.json").write_text(stored(found), encoding="utf-8")
        telling.renew(HERE / "README.md", found)


if __name__ == "__main__":
    main()
