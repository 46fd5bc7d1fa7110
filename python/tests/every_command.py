"""Every command that runs or judges an experiment, for the tests that all of them pass.

A command has its smallest arguments, the function of the package with the same options, and what its answer is. It
reads the files of `prepare`, and writes the folder or the files `written`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ackclock
from ackclock import linux
from ackclock.datasets import Dataset
from ackclock.experiments.averages import averages
from ackclock.experiments.store import Store
from ackclock.files import storage
from ackclock.files.made import MADE
from ackclock.formatting.numbers import finite
from ackclock.literature import library, today

SCENARIO = """\
duration = "2 s"

[topology.bottleneck]
rate = "5 Mbit/s"
delay = "10 ms"
loss = "1 %"
queue = "20 packets"

[flow]
"""
SWEEP = (
    SCENARIO
    + """
[sweep]
"topology.bottleneck.delay" = { from = "5 ms", to = "40 ms", count = 3 }

[sweep.algorithm]
standard = { "flow.slow_start" = "standard" }
staged = { "flow.slow_start" = "staged" }
"""
)
TIMID = """\
import ackclock
LARGEST = 2.0
class Timid(ackclock.CongestionControl):
    def on_ack(self, event):
        super().on_ack(event)
        self.cwnd = min(self.cwnd, LARGEST)
"""
TUNING = """\
scenario = "scenario.toml"
[parameters]
"flow.rwnd" = { from = "10 packets", to = "40 packets" }
[objective]
maximise = "goodput_bps"
[training]
seeds = { from = 1, to = 4 }
"""
PAPER = """\
title = "Tiny"
reference = "nobody"
labels = ["queue", "algorithm"]

[[experiment]]
file = "tiny.toml"

[[repeat]]
sampling = "seed"
count = 4

[quick]
counts = { seed = 3 }

[summary]
idea = "Start with more."
claim = "More arrives."
today = { initial_window = "32 segments" }
"""
PAPER_SCENARIO = """\
duration = "2 s"
topology = { kind = "chain", bottleneck = { rate = "2 Mbit/s", loss = "2 %", queue = "20 packets" } }
flow = [{ name = "tcp" }]

[sweep.queue]
"5" = { "topology.bottleneck.queue.limit" = "5 packets" }
"20" = { "topology.bottleneck.queue.limit" = "20 packets" }

[sweep.algorithm]
"1" = { "flow.slow_start" = { kind = "staged", algorithm = "1" } }
"2" = { "flow.slow_start" = { kind = "staged", algorithm = "2" } }
"""
CLAIMS = """\
metrics = ["goodput_bps"]

[[claim]]
id = "two-leads"
text = "two leads"
source = "§1"
kind = "order"
axis = "algorithm"
where = { queue = "5" }
expected = [["2"], ["1"]]
"""
SUITE = """\
document = "RFC 5681"
title = "A little of it"
control = "slow_start=standard+avoidance=reno"
kernel = "reno"

[base]
duration = "2 s"
record = ["cwnd"]
flow = [{ name = "tested" }]
topology.links = [
    { rate = "1 Gbit/s", delay = "10 ms", queue = "unlimited", loss = { kind = "listed", packets = [200] } }
]

[[clause]]
id = "halves"
section = "§3.1"
level = "must"
text = "A loss halves the window."
seen = "SELECT abs(factor - 0.5) * before <= 1 AS holds, factor FROM reductions WHERE n = 1"

[[clause]]
id = "triples"
section = "none"
level = "may"
text = "No document asks that a loss triples the window."
seen = "SELECT factor > 2 AS holds, factor FROM reductions WHERE n = 1"
"""
FILES = {
    "scenario.toml": SCENARIO,
    "suite.toml": SUITE,
    "sweep.toml": SWEEP,
    "mine.py": TIMID,
    "tune.toml": TUNING,
    "papers/tiny/paper.toml": PAPER,
    "papers/tiny/tiny.toml": PAPER_SCENARIO,
    "papers/tiny/claims.toml": CLAIMS,
}
SHARED = {
    "jobs": ["--jobs", "0"],
    "engine": ["--engine", "rai"],
    "address": ["--address", "auto"],
    "on": ["--on", "simulatoin"],
    "seeds": ["--seeds", "0"],
    "paths": ["--paths", "none.toml"],
}
"""Values that no command takes, by the names of the options that several commands share."""
OWN_OPTIONS = {"json", "address", "progress"}
"""JSON is a function's result, an address belongs to its engine, and a command shows its own progress."""

ONE_SWEEP = frozenset(
    [
        "file",
        "scenario",
        "settings",
        "seed",
        "limits",
        "pcap",
        "pcap_at",
        "pcap_snaplen",
        "qlog",
        "qlog_dialect",
        "force",
        "outside",
        "control",
    ]
) | {"seeds", "until", "retry", "capture", "snaplen"}
"""Options of `ackclock.sweep` that `run` has in another form, or not: it runs each point once, where it is."""


def own_papers() -> None:
    """Let the library have the papers of the working directory alone, and their ideas few runs on hosts of today."""
    library.places = lambda: [Path.cwd() / "papers"]
    today.QUICK_SEEDS = 2  # type: ignore[misc]


@dataclass(frozen=True)
class Command:
    """A command that runs or judges an experiment.

    Attributes
    ----------
    line : str
        Its words and arguments.
    function : function
        The function of the package with the same options.
    ask : function
        Calls it with the arguments of `line`, and with the given ones.
    answer : str
        A regular expression that the answer on a terminal has.
    found, printed : function
        The same from the result of the function and from what `--json` prints.
    bad : sequence of str
        Options with values that it does not take, beside those of `SHARED`.
    own : set of str
        Options that only the command or only the function has: the same in another form.
    written : sequence of str
        What it writes: a folder of results, or files.
    kernel : bool
        Whether it runs on a kernel in virtual time.
    before : str
        A function to call before the command; see `CommandLine.run`.
    """

    line: str
    function: Callable[..., Any]
    ask: Callable[..., Any]
    answer: str
    found: Callable[[Any], Any]
    printed: Callable[[Any], Any] = lambda printed: printed
    bad: tuple[str, ...] = ()
    own: frozenset[str] = frozenset()
    written: tuple[str, ...] = ("o",)
    kernel: bool = False
    before: str = ""

    @property
    def words(self) -> list[str]:
        """Words of the command line, with the options that name what it writes."""
        return [*self.line.split(), *(["--out", "o", "--jobs", "2"] if self.written == ("o",) else [])]


def _points(outcome: Any) -> Any:
    found = averages(outcome.dataset, ["goodput_bps"])
    return [[each.labels, each.runs, each.means["goodput_bps"].mean] for each in found if each.means["goodput_bps"]]


def _printed_points(printed: Any) -> Any:
    return [[each["labels"], each["runs"], each["goodput_bps"]["mean"]] for each in printed["points"]]


def _runs(outcome: Any) -> Any:
    found = [[each.labels, each.summary["flows"]] for each in outcome.dataset.results().values()]
    return sorted(found, key=lambda each: sorted(each[0].items()))


def _printed_runs(printed: Any) -> Any:
    found = [[each["labels"], each["flows"]] for each in printed["runs"]]
    return sorted(found, key=lambda each: sorted(each[0].items()))


def _compared(found: Any) -> Any:
    return {"answer": found.answer, "rows": finite(found.judged.rows)}


def _printed_comparison(printed: Any) -> Any:
    return {name: printed[name] for name in ("answer", "rows")}


def prepare(place: Path) -> None:
    """Write the files that the commands read."""
    for name, text in FILES.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)


COMMANDS = {
    "run": Command(
        "run sweep.toml --record cwnd --pcap x.pcapng",
        ackclock.sweep,
        lambda **options: ackclock.sweep("sweep.toml", "o", record=["cwnd"], capture=(), **options),
        r"staged[\s\S]*\d,\d{3},\d{3}",
        _runs,
        _printed_runs,
        bad=("--set flow.rwmd=3", "--record cwd", "--pcap -", "--max-memory many"),
        own=ONE_SWEEP | {"max_events", "max_memory"},
    ),
    "sweep": Command(
        "sweep sweep.toml --seeds 3",
        ackclock.sweep,
        lambda **options: ackclock.sweep("sweep.toml", "o", seeds=3, **options),
        r"staged[\s\S]*\d,\d{3},\d{3}",
        _points,
        _printed_points,
        bad=("--until goodput=2%", "--until goodput_bps=2", "--at-most 20", "--max-memory many", "--record cwd"),
        own=frozenset({"file", "scenario", "settings", "at_most", "max_events", "max_memory", "limits", "strict"}),
    ),
    "compare": Command(
        "compare reno mine.py:Timid --paths scenario.toml --seeds 3 --duration 1s",
        ackclock.compare,
        lambda **options: ackclock.compare(
            "reno", "mine.py:Timid", paths="scenario.toml", seeds=3, duration="1s", out="o", **options
        ),
        r"It is open whether mine.py:Timid or reno is faster",
        _compared,
        _printed_comparison,
        bad=("--margin 0", "--within 0", "--size 3", "--duration 10", "--reference cubc"),
    ),
    "matrix": Command(
        "matrix --slow-start standard --avoidance reno,cubic --loss-response halve --recovery sack --seeds 2 "
        "--paths clean --duration 1s",
        ackclock.matrix,
        lambda **options: ackclock.matrix(
            slow_start="standard", avoidance=["reno", "cubic"], loss_response="halve", recovery="sack", seeds=2,
            paths="clean", duration="1s", out="o", **options,
        ),
        r"cubic",
        _compared,
        _printed_comparison,
        bad=("--slow-start stagd", "--baseline reno", "--sort goodput", "--duration 10", "--margin 0"),
    ),
    "tune": Command(
        "tune tune.toml --trials 3",
        ackclock.tune,
        lambda **options: ackclock.tune("tune.toml", trials=3, out="o", **options),
        r"rwnd",
        lambda found: found.to_dict(),
        bad=("--trials 0", "--seed -1"),
    ),
    "paper": Command(
        "paper tiny --quick",
        ackclock.paper,
        lambda **options: ackclock.paper("tiny", quick=True, out="o", **options),
        r"two-leads",
        lambda found: found.verdicts,
        bad=("--budget 20", "--on simulation,linx"),
        own=frozenset({"new", "brief", "verify"}),
    ),
    "papers": Command(
        "papers --quick",
        ackclock.papers,
        lambda **options: ackclock.papers(quick=True, out="o", **options),
        r"tiny",
        lambda found: {each.paper.name: each.report.verdicts for each in found},
        before="tests.every_command:own_papers",
    ),
    "gate": Command(
        "gate new --against base --junit gate.xml --markdown gate.md",
        ackclock.gate,
        lambda **options: ackclock.gate("new", "base", junit="gate.xml", markdown="gate.md"),
        r"worse",
        lambda found: found.to_dict(),
        bad=("--tolerance goodput_bps", "--correction bonferroni", "--significance 1.5", "--measures godput_bps"),
        own=frozenset({"directory", "result"}),
        written=("gate.xml", "gate.md"),
    ),
    "conform": Command(
        "conform suite.toml",
        ackclock.conform,
        lambda **options: ackclock.conform("suite.toml", out="o", **options),
        r"2 clauses: 1 holds, 1 fails",
        lambda found: found.to_dict(),
        bad=("--control cubc", "--junit .", "--budget 20"),
    ),
    "kernel run": Command(
        "kernel run sweep.toml --on linux",
        ackclock.sweep,
        lambda **options: ackclock.sweep("sweep.toml", "o", on="linux", record=None, **options),
        r"staged",
        _runs,
        _printed_runs,
        bad=("--set flow.rwmd=3", "--record cwd", "--attempts 0"),
        own=ONE_SWEEP | {"attempts", "change_hystart"},
        kernel=True,
    ),
    "kernel compare": Command(
        "kernel compare scenario.toml --on linux --repetitions 3",
        linux.compare,
        lambda **options: linux.compare("scenario.toml", on="linux", repetitions=3, out="o", **options),
        r"kernel|Linux",
        lambda found: finite(found.to_dict()),
        bad=("--repetitions 0", "--phase 3", "--shrink"),
        own=frozenset({"files", "scenarios", "packets", "phase", "shrink"}),
        kernel=True,
    ),
    "compare in two worlds": Command(
        "compare reno cubic --paths scenario.toml --seeds 2 --duration 1s --no-harm --on simulation,linux",
        ackclock.compare,
        lambda **options: ackclock.compare(
            "reno", "cubic", paths="scenario.toml", seeds=2, duration="1s", harm=False, on="simulation,linux", out="o",
            **options,
        ),
        r"In linux",
        _compared,
        _printed_comparison,
        kernel=True,
    ),
}  # fmt: skip


NAMES = [name for name in COMMANDS if " in " not in name]
"""Names of the commands, each once."""


def finished(place: Path, command: Command) -> int:
    """Count the finished runs that are stored."""
    found = 0
    for file in place.glob("o/**/manifest.json"):
        folder = file.parent
        if json.loads(file.read_text())["kind"] == "dataset":
            found += Dataset(folder).stored_runs.collect().height
        else:
            # A tuning also stores short names of its runs.
            found += sum(not isinstance(value, str) for value in Store(folder).values())
    return found


def contents(place: Path, command: Command) -> dict[str, object]:
    """Return what a command has written, without what tells of times and of the way to the result."""
    found: dict[str, object] = {}
    for path in (*(place / name for name in command.written), *place.glob("x-*.pcapng")):
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file() and file.name != storage.LOCK:
                found.update(_content(place, file))
    return found


TIMES = {"cpu_s", "wall_s", "cpu_seconds"}
BATCHES = {"runs", "flows", "links", "transfers", "pages", "media"}
"""Folders of a dataset whose batches depend on the pace of its runs."""


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _timeless(each) for key, each in value.items() if key not in {MADE, *TIMES}}
    return value


def _content(place: Path, file: Path) -> Mapping[str, object]:
    name = str(file.relative_to(place))
    if file.name == "manifest.json":
        manifest = json.loads(file.read_text())
        return {name: _timeless(manifest)}
    if file.suffix == ".parquet" and file.parent.name in BATCHES:
        dataset = Dataset(file.parent.parent)
        rows = getattr(dataset, file.parent.name).collect()
        kept = rows.drop([each for each in TIMES if each in rows.columns])
        return {str(file.parent.relative_to(place)): sorted(map(repr, kept.rows()))}
    if file.suffix == ".xml":
        return {name: re.sub(r'timestamp="[^"]*"', "", file.read_text())}
    return {name: file.read_bytes()}
