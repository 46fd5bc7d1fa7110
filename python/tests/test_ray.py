"""The engine of a Ray cluster: two nodes on this machine, lost nodes and workers, other programs, interrupts."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars
import pytest

import ackclock
from ackclock import Scenario, _core
from ackclock.experiments.engines import nodes
from ackclock.experiments.engines import ray as module
from ackclock.experiments.engines.local import Local
from ackclock.experiments.engines.ray import Ray
from ackclock.sweeps.work import Chunk, Done, Limits, Work

from .commandline import CommandLine
from .conftest import NO_KERNEL, present
from .every_command import COMMANDS, contents, prepare

STORE = 100 * 2**20  # bytes
SWEEP = """
duration = "20 s"

[topology.bottleneck]
rate = "20 Mbit/s"
loss = "1 %"

[flow]

[sweep]
"topology.bottleneck.delay" = { from = "5 ms", to = "40 ms", count = 4 }
"""


def test_a_mismatch_names_node_and_difference() -> None:
    here = nodes.identity()
    found = {**here, "compiled core": "0123", "polars": "0.1"}
    text = nodes.explain({"10.0.0.7 (worker-3)": found, "10.0.0.8 (worker-4)": {"Ackclock": "not there"}}, 5)
    assert text.split("\n")[:3] == [
        "2 of 5 nodes of the cluster cannot run this Ackclock:",
        f"  10.0.0.7 (worker-3): compiled core: 0123, here {here['compiled core']}; polars: 0.1, here {here['polars']}",
        f"  10.0.0.8 (worker-4): Ackclock: not there, here {here['Ackclock']}",
    ]


def test_the_program_covers_core_files_and_libraries() -> None:
    assert list(nodes.identity()) == [
        "Ackclock",
        "platform",
        "compiled core",
        "Python files",
        "python",
        "numpy",
        "polars",
    ]


@pytest.fixture(scope="module")
def installed() -> None:
    """Skip a test if Ray is missing; Ray prints no logs here."""
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'ackclock[cluster]'")


@pytest.fixture(scope="module")
def cluster(installed: None) -> Iterator[Any]:
    """Start a cluster of one node."""
    from ray.cluster_utils import Cluster

    options = {
        "num_cpus": 1,
        "object_store_memory": STORE,
        "include_dashboard": False,
        "_system_config": {"health_check_period_ms": 1000},  # a lost node is noticed after five periods
    }
    cluster = Cluster(initialize_head=True, head_node_args=options)
    yield cluster
    cluster.shutdown()


@pytest.fixture
def second(cluster: Any) -> Iterator[Any]:
    """Add a second node; a test may have killed it at its end."""
    node = cluster.add_node(num_cpus=1, object_store_memory=STORE)
    yield node
    kill(cluster, node)


def kill(cluster: Any, node: Any) -> None:
    """Kill all processes of a node, as the loss of its machine does.

    Ray kills only the node's own processes: its workers end once they notice, and may begin another item before.
    """
    if node not in cluster.worker_nodes:
        return
    workers = [worker for _, process in node.live_processes() for worker in children(process.pid)]
    cluster.remove_node(node, allow_graceful=False)
    for worker in workers:
        with contextlib.suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)


def children(process: int) -> list[int]:
    """List the processes that a process has started."""
    found = subprocess.run(["pgrep", "--parent", str(process)], capture_output=True, text=True, check=False)
    return [int(line) for line in found.stdout.split()]


def test_a_node_that_dies_in_the_middle(cluster: Any, second: Any) -> None:
    chunks = [chunk(seeds) for seeds in batches(60, 2)]
    here: dict[int, Done] = {}
    Local(1).each_finished(Work(Limits()), chunks, here.__setitem__, _core.Cancel())

    def work(chunk: Chunk, cancel: _core.Cancel) -> tuple[str, float, Done]:
        import time

        import ray

        time.sleep(0.1)  # so that both nodes take part
        return ray.get_runtime_context().get_node_id(), time.monotonic(), Work(Limits())(chunk, cancel)

    there: dict[int, Done] = {}
    begins: dict[str, list[float]] = {}
    killed: list[float] = []

    def collect(index: int, result: tuple[str, float, Done]) -> None:
        assert index not in there, "no item is collected twice"
        node, begin, there[index] = result
        begins.setdefault(node, []).append(begin)
        if len(begins.get(second.node_id, [])) == 3 and not killed:
            kill(cluster, second)
            killed.append(time.monotonic())

    with contextlib.closing(Ray(cluster.address)) as engine:
        assert engine.workers == 2
        engine.each_finished(work, iter(chunks), collect, _core.Cancel())
    assert sorted(there) == list(range(30))
    (first_node,) = begins.keys() - {second.node_id}
    # Both nodes are processes of this machine, with one monotonic clock.
    assert max(begins[second.node_id]) < killed[0], "the killed node begins nothing after its death"
    assert max(begins[first_node]) > killed[0], "the other one does the rest"
    for index, done in here.items():
        for name, table in done.tables.items():
            times = [column for column in ("cpu_s", "wall_s") if column in table.columns]
            assert there[index].tables[name].drop(times).equals(table.drop(times), null_equal=True)


STACKS = """
duration = "5 s"
record = ["cwnd", "sequence"]

[topology]
kind = "dumbbell"
bottleneck = { rate = "10 Mbit/s", delay = "20 ms", loss = "1 %", queue = "30 packets" }

[[flow]]
profile = "quic"
avoidance = "cubic"

[[flow]]
profile = { kind = "quinn", control = "flow" }
congestion_control = "bbr"

[[flow]]
profile = "quinn"
application = { kind = "request-response", request = "300 B", response = "30 kB", think = "100 ms" }
"""


def test_runs_of_quic_stacks_are_those_of_this_process(cluster: Any, second: Any) -> None:
    def digest(seed: int) -> str:
        scenario = _core.Scenario.from_toml(STACKS, "stacks", [("seed", str(seed))])
        return ackclock.run(Scenario.from_core(scenario)).trace_hash

    def work(seed: int, cancel: _core.Cancel) -> tuple[str, str]:
        import time

        import ray

        time.sleep(0.1)  # so that both nodes take part
        return ray.get_runtime_context().get_node_id(), digest(seed)

    with contextlib.closing(Ray(cluster.address)) as engine:
        there = collected(engine, work, range(16))
    assert {index: digest for index, (_, digest) in there.items()} == {seed: digest(seed) for seed in range(16)}
    assert len({node for node, _ in there.values()}) == 2
    assert len({digest for _, digest in there.values()}) == 16


LOST = ["1 of 2 nodes of the cluster are lost; their unfinished batches run again"]


def test_the_loss_of_a_node_is_told_while_items_run(cluster: Any, second: Any) -> None:
    notes: list[str] = []
    end = time.monotonic() + 120

    def items() -> Iterator[int]:
        for item in itertools.count():
            if notes or time.monotonic() > end:
                return
            if item == 10:
                kill(cluster, second)
            yield item

    with contextlib.closing(Ray(cluster.address, note=notes.append)) as engine:
        collected(engine, lambda item, cancel: time.sleep(0.1), items())
        assert engine.workers == 1
    assert notes == LOST


def test_the_loss_of_a_node_is_told_before_the_end(cluster: Any, second: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import ray

    notes: list[str] = []
    monkeypatch.setattr(module, "REFRESH", 3600.0)

    def items() -> Iterator[int]:
        yield 0
        kill(cluster, second)
        wait_for(lambda: [node["Alive"] for node in ray.nodes()].count(True) == 1)
        yield 1

    with contextlib.closing(Ray(cluster.address, note=notes.append)) as engine:
        collected(engine, lambda item, cancel: item, items())
    assert notes == LOST


def test_a_worker_that_dies_runs_its_item_again(cluster: Any, tmp_path: Path) -> None:
    def work(item: int, cancel: _core.Cancel) -> int:
        attempt = tmp_path / f"{item}"
        if item % 4 == 0 and not attempt.exists():
            attempt.touch()
            os._exit(1)
        return item

    with connected(cluster) as engine:
        assert collected(engine, work, range(8)) == {item: item for item in range(8)}


def test_an_item_that_always_kills_its_worker(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RETRIES", 1)

    def work(item: int, cancel: _core.Cancel) -> None:
        if item == 2:
            os._exit(1)

    with connected(cluster) as engine, pytest.raises(ChildProcessError, match=r"^batch 3 lost its worker 2 times, .+$"):
        collected(engine, work, range(4))


def test_an_error_of_the_work_is_that_of_the_caller(cluster: Any) -> None:
    def work(item: int, cancel: _core.Cancel) -> None:
        raise ValueError(f"item {item}")

    with connected(cluster) as engine, pytest.raises(ValueError, match=r"^item \d$"):
        collected(engine, work, range(4))


def test_items_are_taken_when_there_is_room_for_them(cluster: Any) -> None:
    taken, done, most = 0, 0, 0

    def items() -> Iterator[int]:
        nonlocal taken, most
        for item in range(100):
            taken, most = taken + 1, max(most, taken + 1 - done)
            yield item

    def collect(index: int, result: int) -> None:
        nonlocal done
        done += 1

    with connected(cluster) as engine:
        engine.each_finished(lambda item, cancel: item, items(), collect, _core.Cancel())
        assert (taken, done) == (100, 100)
        assert most <= 2 * engine.workers


def test_an_interrupt_ends_what_runs(cluster: Any) -> None:
    def work(item: int, cancel: _core.Cancel) -> int:
        while item >= 3:
            pass
        return item

    found: dict[int, int] = {}

    def collect(index: int, result: int) -> None:
        found[index] = result
        if len(found) == 3:
            raise KeyboardInterrupt

    with connected(cluster) as engine, pytest.raises(KeyboardInterrupt):
        engine.each_finished(work, itertools.count(), collect, _core.Cancel())
    assert found == {0: 0, 1: 1, 2: 2}
    with connected(cluster) as engine:
        assert collected(engine, work, range(3)) == found, "no worker is busy"


def test_a_node_with_another_program_is_refused(cluster: Any, tmp_path: Path) -> None:
    (tmp_path / "ackclock").mkdir()
    (tmp_path / "ackclock" / "__init__.py").write_text("raise ImportError('a broken installation')\n")
    with connected(cluster) as engine:
        other = cluster.add_node(num_cpus=1, object_store_memory=STORE, env_vars={"PYTHONPATH": str(tmp_path)})
        try:
            # Before the first item, and for a node that comes later.
            with pytest.raises(ValueError, match="cannot run this Ackclock") as first:
                engine._check_nodes()
            with pytest.raises(ValueError, match=r"1 of 1 nodes .*\n  the node of batch .*a broken installation"):
                collected(engine, lambda item, cancel: time.sleep(0.1), range(100))
        finally:
            kill(cluster, other)
    assert str(first.value).startswith("1 of 2 nodes of the cluster cannot run this Ackclock:\n")
    assert "cannot import it (a broken installation), here" in str(first.value)


def test_fewer_jobs_than_cpus(cluster: Any, second: Any) -> None:
    with contextlib.closing(Ray(cluster.address, jobs=1)) as engine:
        assert (engine.workers, engine._most) == (1, 1)
        assert collected(engine, lambda item, cancel: -item, range(5)) == {item: -item for item in range(5)}
    with pytest.raises(ValueError, match="jobs must be at least 1"):
        Ray(cluster.address, jobs=0)


@pytest.mark.parametrize(
    ("address", "kind", "message"),
    [
        ("127.0.0.1:1", ConnectionError, "no Ray cluster answers at 127.0.0.1:1: Connection refused"),
        ("ray://127.0.0.1:1", ConnectionError, "no Ray cluster answers at ray://127.0.0.1:1: Connection refused"),
        ("head", ValueError, "is auto, HOST:PORT or ray://HOST:PORT, not 'head'"),
        ("head:port", ValueError, "is auto, HOST:PORT or ray://HOST:PORT, not 'head:port'"),
    ],
)
def test_an_address_without_a_cluster(installed: None, address: str, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        Ray(address)


def test_a_sweep_that_loses_a_node(cluster: Any, second: Any, tmp_path: Path) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text(SWEEP)
    local, far = tmp_path / "local", tmp_path / "far"
    command = ["sweep", str(file), "--seeds", "40", "--json"]
    running = started(*command, "--out", str(far), "--engine", "ray", "--address", cluster.address)
    wait_for(lambda: list((far / "runs").glob("*.parquet")) or running.poll() is not None)
    assert running.poll() is None, "the sweep is still under way"
    kill(cluster, second)
    printed, said = running.communicate(timeout=120)
    assert running.returncode == 0, said
    other = started(*command, "--out", str(local), "--jobs", "2")
    assert json.loads(printed)["points"] == json.loads(other.communicate(timeout=120)[0])["points"]
    assert rows(far).height == 160
    assert rows(far).equals(rows(local), null_equal=True)


@pytest.fixture(scope="class")
def pair(cluster: Any) -> Iterator[str]:
    """Add a second node for the tests of a class; return the address of the cluster."""
    node = cluster.add_node(num_cpus=1, object_store_memory=STORE)
    yield cluster.address
    kill(cluster, node)


def every_command_that_writes_a_folder() -> Iterator[Any]:
    """Yield the names of commands; those that give Ray work like that of another one are for `make test-long`."""
    same = {"run": "sweep", "kernel run": "kernel compare", "matrix": "compare", "papers": "paper"}
    for name, command in COMMANDS.items():
        if command.written == ("o",):
            yield pytest.param(name, marks=[pytest.mark.long] if name in same else [])


class TestTwoNodes:
    """What every command writes on a cluster of two nodes."""

    @pytest.mark.parametrize("name", [*every_command_that_writes_a_folder()])
    def test_every_command_writes_what_it_does_on_threads(
        self, name: str, pair: str, tmp_path: Path, command_line: CommandLine
    ) -> None:
        command = COMMANDS[name]
        if command.kernel and not present():
            pytest.skip(NO_KERNEL)
        written = []
        for place, where in ((tmp_path / "near", []), (tmp_path / "far", ["--engine", "ray", "--address", pair])):
            prepare(place)
            done = command_line.run([*command.words, *where], place, {**os.environ}, before=command.before)
            assert done.returncode in (0, 1), done.stderr  # 1: what was judged is not well
            written.append((done.stdout, contents(place, command)))
        assert written[0] == written[1]


@contextlib.contextmanager
def connected(cluster: Any) -> Iterator[Ray]:
    with contextlib.closing(Ray(cluster.address)) as engine:
        yield engine


def wait_for(condition: Any) -> None:
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end, "nothing happens"
        time.sleep(0.1)


def batches(count: int, size: int) -> list[range]:
    return [range(start, start + size) for start in range(1, count + 1, size)]


def chunk(seeds: Sequence[int]) -> Chunk:
    made = (_core.Scenario.from_toml(SWEEP, "sweep", [("seed", str(seed))]) for seed in seeds)
    return Chunk((), [Scenario.from_core(each) for each in made])


def started(*arguments: str, cwd: Path | None = None) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "ackclock", *arguments]
    return subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def collected(engine: Ray, work: Any, items: Any) -> dict[int, Any]:
    found: dict[int, Any] = {}

    def collect(index: int, result: Any) -> None:
        assert index not in found
        found[index] = result

    engine.each_finished(work, items, collect, _core.Cancel())
    return found


def rows(folder: Path) -> polars.DataFrame:
    return ackclock.open(folder).runs.collect().drop("cpu_s", "wall_s").sort("point", "seed")
