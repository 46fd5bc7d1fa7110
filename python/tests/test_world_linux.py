"""Scenarios on a kernel in virtual time: exact, the same everywhere, like the simulation, safe with a broken kernel."""

from __future__ import annotations

import itertools
import os
import platform
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import ackclock
from ackclock import Scenario, ScenarioError, _core
from ackclock.experiments.execute import map_threads
from ackclock.linux import running, store, worlds
from ackclock.linux.running import KernelResult
from ackclock.linux.store import Built
from ackclock.results import frame

from . import captures
from .captures import SYN
from .conftest import Cli

pytestmark = [
    pytest.mark.skipif(
        sys.platform != "linux" or platform.machine() != "x86_64",
        reason="a kernel in virtual time needs Linux on x86-64",
    ),
]

PLAIN = {"host": "linux", "packet_size": "1448 B"}
FLOW = {"from": "a", "to": "b", **PLAIN}
RENO = {**FLOW, "slow_start": "standard", "avoidance": "reno"}
NOBODY = 65534
FULL = 1_200_000
"""Transmission of a full packet at 10 Mbit/s, in nanoseconds."""


@pytest.fixture
def place() -> Iterator[Path]:
    """Return a folder that every user can read, with a name that needs care."""
    folder = Path(tempfile.mkdtemp(prefix="ackclock with spaces "))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def copy(built: Built, place: Path, monkeypatch: pytest.MonkeyPatch) -> Built:
    """Return a copy of the kernel in a cache of its own, which this process and its children use."""
    cache = place / "cache"
    target = cache / "ackclock" / "kernels" / built.path.name
    shutil.copytree(built.path, target)
    for folder in (cache, cache / "ackclock", cache / "ackclock" / "kernels"):
        folder.chmod(0o755)
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    return store.find()


def path(*flows: dict[str, Any], duration: str = "2 s", seed: int = 1, **link: Any) -> Scenario:
    """Return a scenario with a round trip of 40 ms over 10 Mbit/s."""
    whole = {"rate": "10 Mbit/s", "delay": "20 ms", "queue": "34 packets", "reverse": {"queue": "unlimited"}, **link}
    topology = {"kind": "explicit", "node": ["a", "b"], "link": {"from": "a", "to": "b", **whole}}
    return Scenario("test", duration=duration, seed=seed, topology=topology, flow=list(flows))


def on(
    kernel: Built, scenario: Scenario, *capture: str, cpu: float | None = None, silence: float | None = None
) -> KernelResult:
    return running.run_virtual(scenario, None, _core.Cancel(), capture, kernel=kernel, cpu=cpu, silence=silence)


def both(kernel: Built, scenario: Scenario) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Return the rows of each flow, on the kernel and simulated."""
    real, simulated = on(kernel, scenario), ackclock.run(scenario)
    yield from zip(real.summary["flows"], simulated.summary["flows"], strict=True)


# Many.


def test_flows_that_start_at_once_all_start(built: Built) -> None:
    for real, simulated in both(built, path(*3 * [{**FLOW, "size": "300 packets"}])):
        assert real["completion_time"] == pytest.approx(simulated["completion_time"], rel=0.2)


def test_three_hundred_flows_at_six_hundred_nodes(built: Built) -> None:
    topology = {"kind": "dumbbell", "bottleneck": {"rate": "300 Mbit/s", "delay": "5 ms", "queue": "2000 packets"}}
    scenario = Scenario("many", duration="1 s", topology=topology, flow=[{**PLAIN, "size": "50 packets", "count": 300}])
    completed = [row["completion_time"] for row in on(built, scenario).summary["flows"]]
    assert len(completed) == 300 and None not in completed


# Exact.


def test_packets_leave_at_the_nanosecond(built: Built, tmp_path: Path) -> None:
    result = on(built, path({**FLOW, "size": "100 packets"}), "a", "b")
    # SYN and its answer have 60 bytes: 48 µs each, and 20 ms each way.
    assert result.summary["flows"][0]["min_rtt"] == 0.040096
    whole = result.write_pcap(tmp_path / "both.pcapng")
    found = captures.read(whole)
    syn, answer = [segment.time for segment in found if segment.interface == "a" and segment.has(SYN)]
    assert answer - syn == 40_096_000
    data = [segment.time for segment in found if segment.interface == "b" and segment.length == 1500]
    apart = [after - before for before, after in itertools.pairwise(data)]
    assert len(data) == 100 and min(apart) == FULL
    # In the middle of the transfer the queue is never empty.
    assert apart.count(FULL) > 60


def test_data_count_when_they_arrive(built: Built) -> None:
    ((real, simulated),) = both(built, path({**FLOW, "size": "100 packets"}))
    # The call that connects reads the clock, which takes 256 ns each time.
    assert real["completion_time"] == pytest.approx(simulated["completion_time"], abs=2e-6)
    assert real["delivered_bytes"] == simulated["delivered_bytes"] == 144_800


# The same everywhere.

SAME = """\
import os, sys
from ackclock import _core, load
from ackclock.linux import worlds
scenario, world = load(sys.argv[1]), worlds.linux()
if len(sys.argv) > 2:
    os.setgroups([]), os.setgid(int(sys.argv[2])), os.setuid(int(sys.argv[2]))
print(world.runner(scenario, None, _core.Cancel(), ()).trace_hash)
"""


def random_scenario(seed: int) -> Scenario:
    """Return a scenario with 1 to 4 flows over any path, of at most about 5000 packets."""
    draw = random.Random(seed)

    def between(low: float, high: float) -> float:
        return low * float((high / low) ** draw.random())

    rate, trip = between(0.3, 1000), between(1, 600)
    queue = max(2, int(rate * 1e3 * trip / 8 / 1500 * between(0.1, 3)))
    duration = max(0.2, 3e-3 * trip, min(draw.uniform(1, 20), 6e7 / (rate * 1e6)))
    link: dict[str, Any] = {"rate": f"{rate:.4f} Mbit/s", "delay": f"{trip / 2:.4f} ms", "queue": f"{queue} packets"}
    link |= draw.choice([{}, {"loss": f"{between(0.05, 5):.3f} %"}, {"queue": {"kind": "codel"}}])
    flows = []
    for number in range(draw.randint(1, 4)):
        control = draw.choice([FLOW, RENO, {**FLOW, "congestion_control": "bbr"}])
        sized = {"size": f"{int(between(1, 3000))} packets"} if draw.random() < 0.4 else {}
        start = draw.choice([0, draw.uniform(0, duration / 2)])
        flows.append({**control, **sized, "name": f"f{number}", "start": f"{start:.6f} s", "ecn": draw.random() < 0.2})
    return path(*flows, duration=f"{duration:.4f} s", seed=seed, **link)


def other(file: Path, environment: dict[str, str], user: int | None = None) -> str:
    """Return the hash of a run by another process."""
    command = [sys.executable, "-c", SAME, str(file), *([] if user is None else [str(user)])]
    own = {**os.environ, **environment}
    done = subprocess.run(command, capture_output=True, text=True, env=own, cwd=file.parent, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_run_is_the_same_everywhere(built: Built, copy: Built, place: Path) -> None:
    scenario = random_scenario(4)
    file = place / "scenario.toml"
    file.write_text(scenario.to_toml())
    expected = on(built, scenario).trace_hash
    (place / "tmp").mkdir()
    assert copy.path != built.path
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        elsewhere = {"HOME": str(place), "TMPDIR": str(place / "tmp"), "LANG": "C", "MUCH": "x" * 5000}
        assert other(file, elsewhere) == expected
        # Imports are done before the other user has less than root to read.
        if os.getuid() == 0:
            assert other(file, {"HOME": "/nonexistent"}, NOBODY) == expected
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert not list((place / "tmp").iterdir())


@pytest.mark.parametrize("seeds", [range(start, start + 10) for start in (0, 10, 20)], ids=lambda seeds: str(seeds[0]))
def test_runs_beside_others_are_the_same(built: Built, seeds: range) -> None:
    scenarios = [random_scenario(seed) for seed in seeds]
    cancel = _core.Cancel()
    alone, beside = [map_threads(partial(on, built), scenarios, cancel, jobs=jobs) for jobs in (1, 2)]
    assert [result.trace_hash for result in alone] == [result.trace_hash for result in beside]


def test_the_seed_moves_the_start_within_a_tick(built: Built) -> None:
    runs = [on(built, path(FLOW, duration="0.1 s", seed=seed)) for seed in range(8)]
    phases = [run.kernel["phase_s"] for run in runs]
    assert len(set(phases)) == 8 and all(0 <= phase < 1 / built.hz for phase in phases)
    assert {(run.kernel["release"], run.kernel["key"]) for run in runs} == {(built.release, built.path.name)}


# Close to the simulation. The tolerances are twice what Linux 6.12 showed, or a packet.


def test_flows_that_share_a_bottleneck(built: Built) -> None:
    scenario = path({**RENO, "name": "x"}, {**RENO, "name": "y", "start": "0.5 s"}, duration="10 s")
    real, simulated = on(built, scenario), ackclock.run(scenario)
    # Shares depend on the phase, the sum does not.
    sums = [sum(row["delivered_bytes"] for row in each.summary["flows"]) for each in (real, simulated)]
    assert sums[0] == pytest.approx(sums[1], rel=0.01)
    assert real.kernel["controls"] == ["reno", "reno"]


def test_transfers(built: Built) -> None:
    flows = ({**FLOW, "name": "x", "size": "300 kB"}, {**FLOW, "name": "y", "size": "50 kB", "start": "0.3 s"})
    for real, simulated in both(built, path(*flows)):
        assert real["delivered_bytes"] == simulated["delivered_bytes"]
        assert real["completion_time"] == pytest.approx(simulated["completion_time"], abs=0.0025)


def test_a_web_page_and_bursts(built: Built) -> None:
    web = {"kind": "web", "pages": 1, "objects": 3, "root": "20 kB", "object": "10 kB"}
    bursts = {"kind": "on-off", "burst": "20 kB", "pause": "0.5 s"}
    page = path({**FLOW, "name": "web", "application": web})
    loads = [ackclock.results.rows(run.page_loads())[0]["mean"] for run in (on(built, page), ackclock.run(page))]
    assert loads[0] == pytest.approx(loads[1], abs=2e-6)
    scenario = path({**FLOW, "name": "bursts", "application": bursts}, duration="5 s")
    real, simulated = on(built, scenario), ackclock.run(scenario)
    assert len(real.transfers) == len(simulated.transfers) == 9
    times = [[row["completed_s"] for row in ackclock.results.rows(run.transfers)] for run in (real, simulated)]
    assert times[0] == pytest.approx(times[1], abs=0.01)


def test_marks_of_ecn(built: Built) -> None:
    scenario = path({**FLOW, "ecn": True}, duration="5 s", queue={"kind": "codel", "ecn": True})
    real, simulated = on(built, scenario), ackclock.run(scenario)
    marks = [run.summary["links"][0]["marks"] for run in (real, simulated)]
    assert marks[0] > 0 and marks[0] == pytest.approx(marks[1], abs=1)
    delivered = [run.summary["flows"][0]["delivered_bytes"] for run in (real, simulated)]
    assert delivered[0] == pytest.approx(delivered[1], rel=0.002)
    assert real.summary["flows"][0]["retransmitted_packets"] == 0


def test_datagrams_beside_tcp(built: Built) -> None:
    cbr = {"from": "a", "to": "b", "name": "cbr", "application": {"kind": "cbr", "rate": "500 kbit/s"}}
    rows = list(both(built, path({**FLOW, "name": "tcp"}, cbr, duration="5 s")))
    for real, simulated in rows:
        assert real["delivered_bytes"] == pytest.approx(simulated["delivered_bytes"], rel=0.01)


# What a kernel cannot follow.


def test_what_the_kernel_cannot_follow_is_refused_or_warned(built: Built, cli: Cli, tmp_path: Path) -> None:
    cbr = {"from": "a", "to": "b", "name": "cbr", "application": {"kind": "cbr", "rate": "500 kbit/s"}}
    refusal = worlds.linux().refusal(path(cbr))
    assert refusal == "test: has no TCP flow, so that nothing runs on the kernel"
    (tmp_path / "cbr.toml").write_text(path(cbr).to_toml())
    done = cli("run", "cbr.toml", "--on", "linux")
    assert done.returncode == 2 and "has no TCP flow" in done.stderr and "Traceback" not in done.stderr
    without = {**FLOW, "name": "without", "slow_start": "standard"}
    both_ways = worlds.linux().refusal(path(without, {**FLOW, "name": "with"}))
    assert both_ways is not None and "the kernel has one switch for all" in both_ways
    named = on(built, path({**FLOW, "modern": {"prr": False}}, duration="0.1 s")).warnings
    assert any("modern.prr" in warning["text"] for warning in named), named


# Nothing stays.

STARTER = """\
import ctypes, os, sys
from ackclock import _core, load
from ackclock.linux import worlds
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: what a killed process leaves comes here
scenario, world = load(sys.argv[1]), worlds.linux()
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        world.runner(scenario, None, _core.Cancel(), ())
        os._exit(0)
    print(child, flush=True)
    os.waitpid(child, 0)
    print("ended", flush=True)
"""


def descendants(process: int) -> set[int]:
    """Return the children of a process and theirs, without those that have ended."""
    parents = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = entry.read_text().rpartition(") ")[2].split()[:2]
        except OSError:
            continue
        if state != "Z":
            parents[int(entry.parent.name)] = int(parent)
    found, new = set(), {process}
    while new := {child for child, parent in parents.items() if parent in new}:
        found |= new
    return found


def names(processes: set[int]) -> list[str]:
    def name(process: int) -> str:
        try:
            return Path(f"/proc/{process}/comm").read_text().strip()
        except OSError:
            return ""

    return sorted(map(name, processes))


def test_nothing_of_a_killed_run_stays(copy: Built, place: Path) -> None:
    long = place / "long.toml"
    long.write_text(path(FLOW, duration="10000 s", rate="100 Mbit/s", queue="500 packets").to_toml())
    (place / "tmp").mkdir()
    before = sorted(store.folder().rglob("*"))
    own = {**os.environ, "TMPDIR": str(place / "tmp")}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    draw, seen = random.Random(1), set()
    with subprocess.Popen([sys.executable, "-c", STARTER, str(long)], env=own, **pipes) as starter:
        assert starter.stdin is not None and starter.stdout is not None
        for number in range(30):
            starter.stdin.write("\n")
            starter.stdin.flush()
            child = int(starter.stdout.readline())
            # Half of them while the kernel boots.
            time.sleep(draw.uniform(0, 0.05 if number % 2 else 0.4))
            seen.update(names(descendants(child)))
            os.kill(child, signal.SIGKILL)
            assert starter.stdout.readline() == "ended\n"
            patience = time.monotonic() + 5
            while left := descendants(starter.pid):
                assert time.monotonic() < patience, names(left)
                time.sleep(0.005)
        starter.stdin.close()
    assert "linux" in seen, seen
    assert sorted(store.folder().rglob("*")) == before
    assert not list((place / "tmp").iterdir())


# Broken kernels.

STAND_IN = """\
#!{python} -ISB
import ctypes, mmap, os, random, struct, sys, time
TURN, REASON, NOW, NEXT, IN, OUT = 4, 8, 24, 32, 48, 52
RECORDS = 4 << 20
HEARD, SAID, SOCKETS = 4096, 4096 + RECORDS, 4096 + 2 * RECORDS
NEVER, PACKET, LINE = (1 << 63) - 1, 1, 2
memory = mmap.mmap(3, 0)
turn = ctypes.addressof(ctypes.c_char.from_buffer(memory)) + TURN
futex = lambda *arguments: ctypes.CDLL(None).syscall(202, ctypes.c_void_p(turn), *arguments, None, None, 0)
get = lambda place, kind="I": struct.unpack_from(kind, memory, place)[0]
put = lambda place, value, kind="I": struct.pack_into(kind, memory, place, value)

def say(kind, content, at=0):
    record = struct.pack("QQIIII", at, 0, kind, 0, 0, len(content)) + content + bytes(-len(content) % 8)
    start = SAID + get(OUT)
    memory[start:start + len(record)] = record
    put(OUT, get(OUT) + len(record))

def hand_over(now, following=NEVER, reason=0):
    put(NOW, now, "Q")
    put(NEXT, following, "Q")
    put(REASON, reason)
    put(TURN, 1)
    futex(1, 1)
    while get(TURN):
        futex(0, 1)

def boot():
    # Answers the first process' lines until the first packet or order comes.
    now = 10**9
    say(LINE, b"ok")
    hand_over(now)
    while struct.unpack_from("I", memory, HEARD + 16)[0] == LINE:
        now, end = get(NOW, "Q"), get(IN)
        put(IN, 0)
        if b"connect" in memory[HEARD:HEARD + end]:
            return now
        say(LINE, b"ok")
        hand_over(now)
    return get(NOW, "Q")

print("Linux version 0.0", flush=True)
"""
BROKEN = {
    "exits": ("print('no memory'); sys.exit(3)", {}, ["it ended with exit code 3", "Linux version 0.0", "no memory"]),
    "panics": (
        "print('Kernel panic - not syncing: test', flush=True); os.abort()",
        {},
        ["signal 6 ended it", "Kernel panic - not syncing: test"],
    ),
    "is another version": (
        "print('ackclock: descriptor 3 holds no shared memory of version 0', flush=True); sys.exit(1)",
        {},
        ["the kernel was built by another version of Ackclock; build it again", "of version 0"],
    ),
    "loops": (
        "print('before the loop', flush=True)\nwhile True: time.sleep(1)",
        {"silence": 2.0},
        ["the kernel has computed for 2 s without an end", "before the loop"],
    ),
    "computes": ("while True: pass", {"cpu": 1.0}, ["it used all the processor time that it may have"]),
    "refuses": ("say(LINE, b'no interface'); hand_over(1)", {}, ["the kernel refuses: no interface"]),
    "says nothing": ("hand_over(1)", {}, ["the first process of the kernel gives no answer"]),
    "goes back": ("hand_over(boot() - 5)", {}, ["the kernel's clock went back"]),
    "stands still": ("now = boot()\nwhile True: hand_over(now, now)", {}, ["the kernel's clock stands still"]),
    "sends early": ("now = boot(); say(PACKET, bytes(40), now - 1); hand_over(now)", {}, ["sends a packet at"]),
    "sends late": ("now = boot(); say(PACKET, bytes(40), now + 9); hand_over(now)", {}, ["sends a packet at"]),
    "sends without end": (
        "now = boot()\nwhile True: put(OUT, RECORDS); hand_over(now, reason=1)",
        {"silence": 1.0},
        ["without an end"],
    ),
    "ends in a run": ("boot(); print('out of memory', flush=True); sys.exit(1)", {}, ["exit code 1", "out of memory"]),
}
NONSENSE = """\
draw = random.Random({seed})
now = boot()
while True:
    for place in (REASON, 12, NOW, NEXT, OUT):
        if draw.random() < 0.5:
            put(place, draw.choice([0, 1, 2, draw.getrandbits(32)]))
    for start in (SAID, SOCKETS):
        memory[start:start + 4096] = draw.randbytes(4096)
    if draw.random() < 0.5:
        now += draw.getrandbits(draw.choice([4, 40]))
        put(OUT, 0)
    hand_over(now, draw.choice([NEVER, now + 1, now + draw.getrandbits(30), 0]), draw.choice([0, 0, 1, 2, 7]))
"""


def broken(copy: Built, body: str) -> Built:
    """Put a stand-in in the place of a kernel's program."""
    copy.linux.unlink()
    copy.linux.write_text(STAND_IN.format(python=sys.executable) + body)
    copy.linux.chmod(0o755)
    return copy


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_kernel_is_one_message(copy: Built, name: str) -> None:
    body, limits, parts = BROKEN[name]
    with pytest.raises(ScenarioError) as refused:
        on(broken(copy, body), path(FLOW), **limits)
    assert all(part in str(refused.value) for part in parts), refused.value


@pytest.mark.parametrize("seed", range(6))
def test_nonsense_is_survived(copy: Built, seed: int) -> None:
    stand_in = broken(copy, NONSENSE.format(seed=seed))
    try:
        on(stand_in, path(FLOW), silence=2.0, cpu=5.0)
    except ScenarioError as error:
        assert "kernel" in str(error) or "outside host" in str(error)


def test_messages_of_the_command_line(copy: Built, cli: Cli, place: Path) -> None:
    (place / "a.toml").write_text(path(FLOW).to_toml())
    broken(copy, BROKEN["panics"][0])
    for command in (("run", "a.toml"), ("kernel", "run", "a.toml"), ("kernel", "compare", "a.toml")):
        done = cli(*command, "--on", "linux", cwd=place)
        assert done.returncode == 2 and "Traceback" not in done.stderr, done.stderr
        assert done.stderr.count("error: ") == 1 and "signal 6 ended it" in done.stderr
        assert "  Kernel panic - not syncing: test" in done.stderr
    copy.linux.unlink()
    done = cli("run", "a.toml", "--on", "linux", cwd=place)
    assert done.returncode == 2 and "Traceback" not in done.stderr and copy.path.name in done.stderr, done.stderr


@pytest.mark.parametrize("loops", [False, True])
def test_an_interrupted_run_ends_at_once(copy: Built, place: Path, loops: bool) -> None:
    (place / "long.toml").write_text(path(FLOW, duration="10000 s", rate="100 Mbit/s", queue="500 packets").to_toml())
    if loops:
        broken(copy, "while True: time.sleep(1)")
    command = [sys.executable, "-m", "ackclock", "run", "long.toml", "--on", "linux", "--out", "o"]
    with subprocess.Popen(command, cwd=place, stderr=subprocess.PIPE, text=True) as process:
        patience = time.monotonic() + 30
        while not any("linux" in name for name in names(descendants(process.pid))):
            assert process.poll() is None and time.monotonic() < patience
            time.sleep(0.01)
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        started = time.monotonic()
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 130 and "interrupted" in errors and "Traceback" not in errors, errors
    assert time.monotonic() - started < 5
    assert not (place / "o").exists() and not list(place.glob(".o*"))


def test_a_log_of_the_kernel_says_what_its_packets_and_tcp_info_say(built: Built, cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "logged.toml"
    file.write_text(
        'duration = "3 s"\ntopology = { kind = "dumbbell" }\n'
        '[[flow]]\nname = "cubic"\nhost = "linux"\npacket_size = "1448 B"\n'
        '[[flow]]\nname = "bbr"\nhost = "linux"\ncongestion_control = "bbr1"\n'
    )
    written = tmp_path / "run.qlog"
    done = cli("run", file, "--on", f"linux:{built.path.name}", "--qlog", written)
    assert done.returncode == 0, done.stderr
    logs = {log.title: log for log in ackclock.open_qlog(written)}
    assert set(logs) == {"cubic", "bbr"}
    result = running.run_virtual(ackclock.load(file), ackclock.qlogs.TRACES, _core.Cancel(), kernel=built)
    for row in frame(result.flows).to_dicts():
        log = logs[row["name"]]
        counts = dict(log.packets.group_by("event").len().iter_rows())
        assert counts["sent"] == row["sent_packets"]
        # The kernel acknowledges every second segment, and each one after a gap.
        assert row["delivered_packets"] / 2 < counts["received"] < row["sent_packets"]
        window = log.metrics["congestion_window"].drop_nulls()
        size = 1448 if row["name"] == "cubic" else 1000
        assert window[0] == 10 * size and window.max() == row["cwnd_max"] * size
        assert log.metrics["min_rtt"].drop_nulls().min() == pytest.approx(row["min_rtt"], abs=1e-6)
        assert (log.metrics["pacing_rate"] > 1e6).any()
        assert log.states["state"][0] == "slow_start" and "recovery" in log.states["state"]
