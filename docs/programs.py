"""Measures the same stacks of QUIC as simulated hosts and as programs: python docs/programs.py TRANSFER [PART...].

TRANSFER is the program of examples/quic. Parts are `simulation`, `virtual` (a kernel in virtual time) and `real` (this
machine, which should have nothing else to do); all by default, and rows of other parts stay. It writes
docs/validation/programs.csv, of which docs/worlds.py makes a section. It takes a kernel in virtual time (`ackclock
kernel build`), the rights of `ackclock emulate`, and an hour.
"""

from __future__ import annotations

import csv
import json
import re
import statistics
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import product
from pathlib import Path
from typing import Any

import ackclock
from ackclock.arrow import frame
from ackclock.formatting.numbers import number

WRITTEN = Path(__file__).resolve().parent / "validation" / "programs.csv"
SIMULATION, VIRTUAL, REAL = PARTS = ("simulation", "virtual", "real")
STACKS = {"quinn": "quinn", "noq": "quic"}
"""The stacks of examples/quic, and the profiles that simulate them."""
CONTROLS = {
    "cubic": {"slow_start": "standard", "avoidance": "cubic"},
    "bbr": {"congestion_control": "bbr"},
}
"""The words of examples/quic for a control, and the keys of a flow."""
SEEDS = 3
SHOWN = 0.05
"""The relative difference from which on the page says why."""
NEAR = 0.01
"""The relative difference up to which completions count as equal."""
FEW = 3
"""A difference in lost packets that says nothing."""
ATTEMPTS = 4
"""Most attempts to get a run in real time whose packets are punctual."""
FORWARD, REVERSE = "r1>r2", "r2>r1"
WINDOWS = {"stream_window": "1250 kB", "send_window": "10 MB"}
"""What both stacks grant by default."""


@dataclass(frozen=True)
class Way:
    """A path: the settings of its bottleneck, and how much crosses it."""

    bottleneck: dict[str, Any]
    size: int
    ecn: bool = False


PATHS = {
    "clean": Way({"rate": "10 Mbit/s", "delay": "20 ms", "queue": "50 packets"}, 5_000_000),
    "short": Way({"rate": "10 Mbit/s", "delay": "20 ms", "queue": "50 packets"}, 100_000),
    "medium": Way({"rate": "10 Mbit/s", "delay": "20 ms", "queue": "50 packets"}, 1_000_000),
    "shallow": Way({"rate": "10 Mbit/s", "delay": "20 ms", "queue": "10 packets"}, 5_000_000),
    "lossy": Way({"rate": "10 Mbit/s", "delay": "20 ms", "queue": "50 packets", "loss": "1 %"}, 2_000_000),
    "deep": Way({"rate": "10 Mbit/s", "delay": "20 ms", "queue": "500 packets"}, 5_000_000),
    "long": Way({"rate": "20 Mbit/s", "delay": "150 ms", "queue": "500 packets"}, 10_000_000),
    "fast": Way({"rate": "50 Mbit/s", "delay": "10 ms", "queue": "100 packets"}, 20_000_000),
    "ecn": Way({"rate": "10 Mbit/s", "delay": "20 ms", "queue": {"kind": "codel", "ecn": True}}, 5_000_000, ecn=True),
}


@dataclass(frozen=True)
class Row:
    """A stack on a path: means over the runs.

    Attributes
    ----------
    path, stack, control, part : str
        Which.
    completion : float
        Time from the client's first packet to the last byte, in seconds.
    packets : float
        Datagrams from the server at the bottleneck.
    lost : float
        Those that its queue or the path lost, whose data the server therefore sent again.
    marked : float
        Those that its queue marked.
    acks : float
        Datagrams from the client.
    spread : float
        Longest minus shortest completion, in seconds.
    runs : int
        Runs.
    """

    path: str
    stack: str
    control: str
    part: str
    completion: float
    packets: float
    lost: float
    marked: float
    acks: float
    spread: float = 0.0
    runs: int = 1


def scenario(name: str, seed: int, **flow: object) -> ackclock.Scenario:
    """Return the scenario of a path, with the keys of its flow."""
    topology = {
        "kind": "dumbbell",
        "bottleneck": PATHS[name].bottleneck,
        "access": {"rate": "1 Gbit/s", "delay": "0 ms"},
    }
    return ackclock.Scenario(name, duration="120 s", seed=seed, topology=topology, flow=[{"name": "tested", **flow}])


def simulated(name: str, stack: str, control: str, seed: int) -> Row:
    """Run the stack as simulated hosts, whose client asks for the data like the program's."""
    path = PATHS[name]
    settings = {"mtu_discovery": True, "gso": 10, **WINDOWS}
    own = scenario(
        name,
        seed,
        profile={"kind": STACKS[stack], "control": "flow", **settings},
        application={"kind": "web", "contents": [{"response": f"{path.size} B", "request": "8 B"}]},
        ecn=path.ecn,
        initial_ssthresh="unlimited",
        **CONTROLS[control],
    )
    result = ackclock.run(own)
    [transfer] = frame(result.transfers).to_dicts()
    links = {link["name"]: link for link in frame(result.links).to_dicts()}
    return _row((name, stack, control, SIMULATION), transfer["completed_s"], links)


def emulated(name: str, stack: str, control: str, seed: int, *, program: Path, part: str) -> Row | None:
    """Run the programs in virtual time or in real time; None: in real time, packets were late in all attempts."""
    own = scenario(name, seed)
    words = f"exec {program} {stack}"
    get = f"{words} get $ACKCLOCK_PEER:4433 {PATHS[name].size}"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "path.toml"
        file.write_text(own.to_toml(), encoding="utf-8")
        on = "linux" if part == VIRTUAL else "machine"
        command = [
            *(sys.executable, "-m", "ackclock", "emulate", file, "--on", on, "--json"),
            *("--peer", f"{words} serve 0.0.0.0:4433 --control {control}", "--", "sh", "-c", get),
        ]
        for _ in range(ATTEMPTS):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise SystemExit(f"{name}, {stack}: {done.stderr}")
            facts = json.loads(done.stderr[done.stderr.index("\n{") :])
            if facts["taint"] is None:
                break
        else:
            print(f"{name}, {stack}, {control}: {facts['taint']}", file=sys.stderr)
            return None
    links = {link["name"]: link for link in facts["links"]}
    completion = float(_found(r"received \d+ B in ([\d.]+) s", done.stdout))
    return _row((name, stack, control, part), completion, links)


def _found(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    if match is None:
        raise ValueError(f"the program does not say {pattern!r}, but {text!r}")
    return match[1]


def _row(key: tuple[str, str, str, str], completion: float, links: dict[str, dict[str, Any]]) -> Row:
    link = links[FORWARD]
    lost = link["drops"] + link["losses"]
    return Row(*key, completion, link["arrivals"], lost, link["marks"], links[REVERSE]["arrivals"])


MEANS = ("completion", "packets", "lost", "marked", "acks")


def mean(runs: Sequence[Row]) -> Row:
    """Return the means over runs."""
    first, times = runs[0], [run.completion for run in runs]
    means = {name: statistics.fmean(getattr(run, name) for run in runs) for name in MEANS}
    key = (first.path, first.stack, first.control, first.part)
    return Row(*key, **means, spread=max(times) - min(times), runs=len(runs))


def measure(program: Path, parts: Sequence[str]) -> None:
    """Run everything in these parts, and write the table."""
    known = {_key(row): row for row in (rows() if WRITTEN.exists() else [])}
    for part, name, stack, control in product(parts, PATHS, STACKS, CONTROLS):
        runs = [
            simulated(name, stack, control, seed)
            if part == SIMULATION
            else emulated(name, stack, control, seed, program=program, part=part)
            for seed in range(1, SEEDS + 1)
        ]
        punctual = [run for run in runs if run is not None]
        if len(punctual) < len(runs):
            continue
        row = known[name, stack, control, part] = mean(punctual)
        print(row, flush=True)
        _write(known[key] for key in product(PATHS, STACKS, CONTROLS, PARTS) if key in known)


def _key(row: Row) -> tuple[str, str, str, str]:
    return row.path, row.stack, row.control, row.part


def _write(found: Iterable[Row]) -> None:
    with WRITTEN.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Row)], lineterminator="\n")
        writer.writeheader()
        for row in found:
            writer.writerow(
                {name: f"{each:.6g}" if isinstance(each, float) else each for name, each in asdict(row).items()}
            )


def rows() -> list[Row]:
    """Return the table."""
    with WRITTEN.open(newline="", encoding="utf-8") as file:
        return [
            Row(
                *(row[name] for name in ("path", "stack", "control", "part")),
                **{name: float(row[name]) for name in (*MEANS, "spread")},
                runs=int(row["runs"]),
            )
            for row in csv.DictReader(file)
        ]


# The page


def section() -> list[str]:
    """Return the lines of the section of the page."""
    found = {_key(row): row for row in rows()}
    lines = [*INTRODUCTION.split("\n"), *_described(), ""]
    head = ["path", "stack", "control", "simulation", "virtual time", "real time", "lost", "virtual time", "real time"]
    lines += ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for key in product(PATHS, STACKS, CONTROLS):
        base, *others = (found.get((*key, part)) for part in PARTS)
        if base is None:
            continue
        cells = [*key, f"{number(base.completion, 4)} s", *(_ratio(other, base) for other in others)]
        cells += [number(base.lost, 3), *(_lost(other, base) for other in others)]
        lines.append("| " + " | ".join(cells) + " |")
    return [*lines, "", *_summary(found), "", *REASONS.split("\n"), ""]


def _summary(found: Mapping[tuple[str, str, str, str], Row]) -> list[str]:
    """Return in words how far programs are from simulations."""
    said = []
    for part, words in ((VIRTUAL, "In virtual time"), (REAL, "In real time")):
        apart = sorted(
            abs(found[(*key, part)].completion / found[(*key, SIMULATION)].completion - 1)
            for key in product(PATHS, STACKS, CONTROLS)
            if (*key, part) in found
        )
        near = sum(each <= NEAR for each in apart)
        said.append(
            f"{words}, {near} of {len(apart)} completions are within {100 * NEAR:g} % of the simulation's. The median "
            f"difference is {100 * statistics.median(apart):.2f} %, and the largest {100 * apart[-1]:.1f} %."
        )
    return textwrap.wrap(" ".join([*said, "What is known of the larger differences:"]), 120)


INTRODUCTION = f"""\
## Simulated stacks and real programs

Is the QUIC of these simulations the QUIC of real programs? `examples/quic` is a client and a server over quinn and noq,
with TLS, sockets and a runtime. They run [behind the same paths](../guides/emulate.md), unmodified: in virtual time on
a Linux kernel, and in real time on a machine of two processors. Beside them are simulated hosts with the same settings,
whose client asks for the data in the same way.

    python docs/programs.py examples/quic/target/debug/transfer

The time is the client's, from its first packet to the last byte, and its multiples in the programs; means over {SEEDS}
seeds. The last three columns have the packets that the path lost, whose data the server sent again. Bold: more than
{100 * SHOWN:.0f} % apart, and more than {FEW} packets.
"""


REASONS = """\
- **shallow, quinn with BBR, lost packets**: chance. Of ten seeds, simulated runs lose either 85 or about 180, and of
  six seeds the programs 88 or about 195.
- **real time**: both processors were busy with other work. On *lossy* and *long*, where the round trip decides, the
  programs sent 5 to 10 % fewer acknowledgements than simulated, a sign that they woke up late and read several packets
  at once. The emulator's own packets were punctual in each run. The measurement was not repeated on a quiet machine,
  and of BBR only three rows were made.
- **short, real time**: also computing, which virtual time has not. Over the loopback interface, without any path, the
  programs take 13 to 20 ms for the same transfer and 8 to 32 ms for a single byte, without full optimisation.

Marks agree, too: on *ecn*, BBR in quinn has 430 marked packets simulated and 429 in virtual time, in noq 22 and 23, and
CUBIC has 15 in each. A first comparison found one more difference: on *deep*, simulated hosts lost 13 % less than the
programs with quinn and 32 % less with noq, because they had the usual `initial_ssthresh` of a scenario. Programs have
none."""
"""Why they differ."""


def _described() -> list[str]:
    """Return the lines of the table of paths."""
    lines = ["| path | rate | delay each way | queue | losses | data |", "|---|---|---|---|---|---|"]
    for name, path in PATHS.items():
        link = path.bottleneck
        queue = "CoDel with ECN" if path.ecn else link["queue"]
        cells = (link["rate"], link["delay"], queue, link.get("loss", "–"), f"{path.size / 1e6:g} MB")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def _ratio(row: Row | None, base: Row) -> str:
    if row is None:
        return "–"
    ratio = row.completion / base.completion
    return f"**×{ratio:.3f}**" if abs(ratio - 1) > SHOWN else f"×{ratio:.3f}"


def _lost(row: Row | None, base: Row) -> str:
    if row is None:
        return "–"
    apart = abs(row.lost - base.lost)
    text = number(row.lost, 3)
    return f"**{text}**" if apart > max(SHOWN * base.lost, FEW) else text


if __name__ == "__main__":
    transfer, *chosen = sys.argv[1:] or [""]
    if not Path(transfer).is_file() or set(chosen) - set(PARTS):
        raise SystemExit(__doc__)
    measure(Path(transfer).resolve(), chosen or PARTS)
