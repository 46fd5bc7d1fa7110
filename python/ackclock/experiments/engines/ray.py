"""The engine of a Ray cluster, which Ackclock starts on this machine or finds at an address.

Ray moves items and results, watches the nodes, and repeats the items of lost workers. Ackclock itself does not travel:
every node has it installed, since the compiled core needs the node's platform, and Polars and NumPy must be there
anyway. The results depend on all of them, so nodes that differ from this process are refused.

Source: Moritz et al., *Ray: a distributed framework for emerging AI applications*, OSDI 2018; docs.ray.io.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import time
from collections.abc import Callable, Collection, Iterable
from itertools import islice
from types import ModuleType
from typing import Any, TypeVar
from urllib.parse import urlsplit

from ackclock import _core, extras
from ackclock.control import CongestionControl, SlowStart
from ackclock.experiments import budget
from ackclock.experiments.engines import nodes
from ackclock.experiments.engines.engine import Collect, Work

T = TypeVar("T")
R = TypeVar("R")

RETRIES = 5
"""Times that an item runs again because its worker or node was lost."""
OBJECT_STORE = 256 * 2**20  # bytes, on this machine; results leave the store as soon as they are collected
ANSWER = 120.0  # seconds in which a node must answer; its first worker may have to start
REFRESH = 5.0  # seconds between two looks at the size of the cluster


class Ray:
    """The workers of a Ray cluster; see `Engine`.

    Parameters
    ----------
    address
        ``auto`` or ``HOST:PORT`` on a node of the cluster, ``ray://HOST:10001`` elsewhere. By default the environment
        variable ``RAY_ADDRESS``, which Ray sets in its jobs; without it, a cluster on this machine is started.
    jobs
        Largest number of items at once; by default one for each CPU of the cluster.
    note
        Called with a sentence when nodes are lost, on the thread of `each_finished`: about `REFRESH` seconds after Ray
        knows, and before the last item ends the work.

    Raises
    ------
    ValueError
        If Ray is missing, if `address` or `jobs` is invalid, or if nodes have another Ackclock or other libraries.
    ConnectionError
        If there is no cluster at the address, or if it has another version of Ray or Python.
    """

    def __init__(
        self, address: str | None = None, *, jobs: int | None = None, note: Callable[[str], None] | None = None
    ) -> None:
        self._note = note
        self._alive: set[str] = set()
        self._jobs = None if jobs is None else budget.threads(jobs)
        self._ray = _imported()
        self._owner = not self._ray.is_initialized()
        if self._owner:
            self._connect(address or os.environ.get("RAY_ADDRESS") or "local")
        try:
            self._run = self._ray.remote(max_retries=RETRIES)(_task())
            self._expected = nodes.identity()
            self._check_nodes()
            self._look()
        except BaseException:
            self.close()
            raise

    def _connect(self, address: str) -> None:
        options: dict[str, Any] = {}
        if address == "local":
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
            options = {"num_cpus": self._jobs, "include_dashboard": False, "object_store_memory": OBJECT_STORE}
        elif address != "auto":
            _check_reachable(address)
        try:
            self._ray.init(address=address, log_to_driver=False, logging_level="error", **options)
        except (ConnectionError, ImportError, RuntimeError, ValueError) as error:
            reason = " ".join(str(error).split())
            token = "" if address == "local" else "; if the cluster asks for a token, set RAY_AUTH_MODE=token"
            raise ConnectionError(f"cannot use a Ray cluster at {address!r}: {reason}{token}") from None

    @property
    def workers(self) -> int:
        """The number of CPUs of the cluster, at most `jobs`."""
        return self._workers

    def _look(self) -> None:
        alive = {node["NodeID"]: node["Resources"].get("CPU", 0) for node in self._ray.nodes() if node["Alive"]}
        lost = len(self._alive - alive.keys())
        self._alive = set(alive)
        if lost and self._note is not None:
            self._note(
                f"{lost} of {len(alive) + lost} nodes of the cluster are lost; their unfinished batches run again"
            )
        cpus = max(int(sum(alive.values())), 1)
        self._workers = cpus if self._jobs is None else min(cpus, self._jobs)
        # A second item for each worker waits on the nodes; fewer jobs than CPUs would run it.
        self._most = 2 * cpus if self._workers == cpus else self._workers
        self._looked = time.monotonic()

    def _check_nodes(self) -> None:
        """Ask every node for its program before the first item; a node that comes later answers with its first item."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        asked = {}
        for node in self._ray.nodes():
            if node["Alive"] and node["Resources"].get("CPU"):
                there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
                answer = self._run.options(num_cpus=0, scheduling_strategy=there).remote(self._expected, None, None)
                asked[answer] = f"{node['NodeManagerAddress']} ({node['NodeManagerHostname']})"
        found, silent = self._ray.wait(list(asked), num_returns=len(asked), timeout=ANSWER) if asked else ([], [])
        faults = {asked[answer]: {"answer": f"none within {ANSWER:g} s"} for answer in silent}
        for answer in found:
            # A node that dies meanwhile needs no check.
            with contextlib.suppress(self._ray.exceptions.RayError):
                program, _ = self._ray.get(answer)
                if program != self._expected:
                    faults[asked[answer]] = program
        if faults:
            raise ValueError(nodes.explain(faults, len(asked)))

    def each_finished(self, work: Work[T, R], items: Iterable[T], collect: Collect[R], cancel: _core.Cancel) -> None:
        """Apply `work` to every item, as tasks of Ray; pass each result to `collect` when it is finished.

        Raises
        ------
        ChildProcessError
            If an item lost its worker more than `RETRIES` times.
        """
        pickle = self._ray.cloudpickle
        for module in written():
            pickle.register_pickle_by_value(module)
        function = pickle.dumps(work)
        left = iter(enumerate(items))
        waiting: dict[Any, int] = {}
        try:
            while True:
                if self._rest() <= 0:
                    self._look()
                for index, item in islice(left, max(self._most - len(waiting), 0)):
                    waiting[self._run.remote(self._expected, function, pickle.dumps(item))] = index
                if not waiting:
                    self._look()
                    return
                self._collect(waiting, collect, timeout=self._rest())
        except BaseException as error:
            cancel.set()
            if isinstance(error, KeyboardInterrupt):
                self._collect(waiting, collect, timeout=0)
            self._cancel(waiting)
            raise

    def _rest(self) -> float:
        """Return the seconds until the next look at the cluster."""
        return max(self._looked + REFRESH - time.monotonic(), 0)

    def _collect(self, waiting: dict[Any, int], collect: Collect[Any], *, timeout: float) -> None:
        """Pass on the results that are finished, or the first one to finish."""
        finished, _ = self._ray.wait(list(waiting), num_returns=1, timeout=timeout)
        if finished:
            finished, _ = self._ray.wait(list(waiting), num_returns=len(waiting), timeout=0)
        for task in finished:
            index = waiting[task]
            program, result = self._result(task, index)
            if program is not None:
                raise ValueError(nodes.explain({f"the node of batch {index + 1}": program}, 1))
            collect(index, result)
            del waiting[task]

    def _cancel(self, tasks: Collection[Any]) -> None:
        """End tasks with their processes: a simulation sees no signal. A task just starting may go on until `close`."""
        for task in tasks:
            self._ray.cancel(task, force=True)
        # Ray forgets a task, and its cancellation, as soon as nobody refers to it.
        if tasks:
            self._ray.wait(list(tasks), num_returns=len(tasks), timeout=REFRESH)

    def _result(self, task: Any, index: int) -> Any:  # noqa: ANN401 - Ray's reference, and the result of any work
        errors = self._ray.exceptions
        try:
            return self._ray.get(task)
        except errors.RayTaskError as error:
            raise error.cause from None
        except errors.OutOfMemoryError:
            reason = (
                f"its node ran out of memory {RETRIES + 1} times; use larger nodes, or limit runs with --max-memory"
            )
            raise ChildProcessError(f"batch {index + 1}: {reason}") from None
        except errors.RayError as error:
            first = str(error).strip().split("\n")[0]
            raise ChildProcessError(
                f"batch {index + 1} lost its worker {RETRIES + 1} times, the last time with: {first}"
            ) from None

    def close(self) -> None:
        """Leave the cluster; a cluster that was started on this machine ends."""
        if self._owner:
            self._ray.shutdown()


def written() -> list[ModuleType]:
    """Return the modules of controls and slow starts in Python, which the nodes of a cluster may lack."""
    left: list[type] = [CongestionControl, SlowStart]
    found: dict[str, ModuleType] = {}
    while left:
        own: list[type] = left.pop().__subclasses__()
        left += own
        for name in (each.__module__ for each in own):
            if name in sys.modules and name.partition(".")[0] not in ("ackclock", "__main__"):
                found[name] = sys.modules[name]
    return list(found.values())


def _check_reachable(address: str) -> None:
    """Connect once; Ray itself would try for ten minutes."""
    host = urlsplit("//" + address.removeprefix("ray://"))
    try:
        port = host.port
    except ValueError:
        port = None
    if host.hostname is None or port is None:
        raise ValueError(f"the address of a Ray cluster is auto, HOST:PORT or ray://HOST:PORT, not {address!r}")
    try:
        socket.create_connection((host.hostname, port), timeout=REFRESH).close()
    except OSError as error:
        raise ConnectionError(f"no Ray cluster answers at {address}: {error.strerror or error}") from None


def _imported() -> Any:  # noqa: ANN401 - a module
    # Ray reads these variables when it is imported. It would print the log of a lost node to stdout, which may carry
    # JSON, and would repeat a task without end whose worker needs too much memory.
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")
    os.environ.setdefault("RAY_task_oom_retries", str(RETRIES))
    with extras.needed("cluster", "the engine ray"):
        import ray
    return ray


def _task() -> Callable[[nodes.Identity, bytes | None, bytes | None], tuple[nodes.Identity | None, Any]]:
    """Return the function of a task. Ray sends a function inside a function by value: the node may lack Ackclock."""

    def run(expected, function, item):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        """Return the program of the node, if it is not the expected one or if no work is given, and the result."""
        import pickle
        import sys

        try:
            from ackclock import _core
            from ackclock.experiments.engines import nodes

            found = nodes.identity()
        except ImportError as error:
            found = {"Ackclock": f"{sys.executable} cannot import it ({error})"}
        if function is None or found != expected:
            return found, None
        return None, pickle.loads(function)(pickle.loads(item), _core.Cancel())

    return run
