"""Runs of scenarios whose TCP flows are connections of a Linux kernel, in real time or in virtual time."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, cast

from ackclock import _core
from ackclock.experiments import world as worlds
from ackclock.experiments.execute import map_threads
from ackclock.files.pickled import PickledRun
from ackclock.formatting.numbers import counted, number
from ackclock.linux import store, versions
from ackclock.linux.store import Built
from ackclock.results import Result
from ackclock.scenario import Scenario

SIMULATION, MACHINE, VIRTUAL = "simulation", "machine", "linux"
"""The worlds: what the scenario says, this machine's kernel in real time, and a kernel in virtual time."""
ATTEMPTS = 3
"""Most attempts to get a run without late packets."""


class KernelResult(Result):
    """The result of a run on a kernel: that of a simulation, and `kernel`.

    Attributes
    ----------
    kernel : mapping
        What only a run on a kernel has:

        - ``world``: ``machine`` for this machine's kernel in real time, ``linux`` for a kernel in virtual time;
        - ``release``: release of the kernel;
        - ``controls``: for each flow the name of its control in the kernel, ``eBPF`` for a program, None for datagrams;
        - ``cpu_seconds``: processor time of the emulator, or of the kernel in virtual time with its boot;
        - ``warnings``: settings that the kernel does not follow, each with name, flows and text.

        Only in world ``machine``:

        - ``attempts``: attempts made;
        - ``tainted``, ``reason``: whether the run should not be used, and why;
        - ``releases``: packets that the emulator gave to the kernel;
        - ``lateness_p50``, ``lateness_p99``, ``lateness_max``: how late it gave them, in seconds;
        - ``real_time``: whether the emulator had a real-time priority.

        Only in world ``linux``:

        - ``key``: key of the kernel, the last part of its folder;
        - ``hz``, ``phase_s``: ticks per second, and the start of the run after a tick in seconds;
        - ``confined``: whether the kernel's process could write no file.
    """

    __slots__ = ("kernel",)

    def __init__(self, scenario: Scenario, core: _core.RunResult | PickledRun, kernel: Mapping[str, Any]) -> None:
        super().__init__(scenario, core)
        self.kernel = kernel

    @property
    def warnings(self) -> list[dict[str, Any]]:
        """Warnings of the run, settings that the kernel does not follow, and why the run should not be used."""
        found = [*super().warnings]
        found += [{"name": name, "flows": flows, "text": text} for name, flows, text in self.kernel["warnings"]]
        if self.kernel.get("tainted"):
            tried = counted(self.kernel["attempts"], "attempt")
            text = f"the run should not be used: {self.kernel['reason']} ({tried})"
            found.append({"name": "kernel_tainted", "flows": [], "text": text})
        return found

    @property
    def summary_json(self) -> str:
        """The summary with the key ``kernel``."""
        whole = json.loads(super().summary_json)
        return json.dumps(
            {**whole, "warnings": self.warnings, "kernel": dict(self.kernel)}, indent=2, ensure_ascii=False
        )

    @property
    def took(self) -> str:
        """Kernel, lateness and attempts, in words."""
        facts = self.kernel
        if facts["world"] == VIRTUAL:
            return f"Linux {facts['release']} in virtual time, {number(facts['cpu_seconds'], 2)} s of processor time"
        late = ", ".join(number(1e3 * facts[f"lateness_{name}"], 2) for name in ("p50", "p99", "max"))
        tried = counted(facts["attempts"], "attempt")
        return f"Linux {facts['release']}, packets late by {late} ms (p50, p99, max), {tried}"

    def manifest(self, labels: dict[str, str] | None = None) -> dict[str, Any]:
        """Describe the run, with the key ``kernel``."""
        return {**super().manifest(labels), "kernel": dict(self.kernel)}

    def __reduce__(self) -> tuple[object, ...]:
        _, parts = cast("tuple[object, tuple[object, ...]]", super().__reduce__())
        return KernelResult, (*parts, dict(self.kernel))


def run(
    scenario: Scenario,
    *,
    record: Sequence[str] | None = None,
    capture: Sequence[str] = (),
    seed: int | None = None,
    on: str = MACHINE,
    outside: bool = False,
    control: str | None = None,
    attempts: int = ATTEMPTS,
    change_hystart: bool = False,
    cancel: _core.Cancel | None = None,
) -> KernelResult:
    """Run a scenario on a kernel's TCP: this machine's in real time, or one in virtual time.

    Links, queues, losses, applications and datagrams are those of the simulation. Each TCP flow is a connection of the
    kernel; on ``simulation`` only those with ``profile = "kernel"`` are.

    Parameters
    ----------
    scenario
        The scenario. A ``[sweep]`` gives a warning, and only its base runs.
    record
        Traces to record; None: those of the scenario.
    capture
        Links and hosts at which to capture packets.
    seed
        The seed of losses and applications; None: that of the scenario.
    on
        ``machine``; ``linux`` for the newest kernel that `ackclock kernel build` made; ``linux:VERSION`` for another;
        ``simulation`` for the kernel that the scenario's flows name.
    outside
        Whether on ``linux`` every control of the scenario decides in place of the kernel's own, also one that the
        kernel has.
    control
        The kernel's own control that every flow has on ``linux``, such as ``"bic"``, whatever the scenario names.
    attempts
        Most attempts to get a run without late packets; only for ``machine``.
    change_hystart
        Whether HyStart may be switched off for the whole machine while the run lasts, if a flow's CUBIC needs it; only
        for ``machine``.
    cancel
        A handle that stops the run from another thread.

    Raises
    ------
    ScenarioError
        If the scenario cannot run on the kernel, or this machine cannot run it.
    ValueError
        If no kernel `on` was built.
    Interrupted
        After Ctrl-C.
    """
    if not isinstance(scenario, Scenario):
        raise TypeError(f"expected a scenario, not {scenario!r}")
    if attempts < 1:
        raise ValueError(f"attempts: must be at least 1, but is {attempts}")
    if scenario.core.sweep:
        warnings.warn(f"{scenario.name} has a [sweep], but only its base runs", stacklevel=2)
    if seed is not None:
        scenario = scenario.set({"seed": seed})
    if on == SIMULATION:
        if scenario.core.needs_kernel is None:
            raise ValueError(
                f"{scenario.name}: nothing in it is a kernel; ackclock.run simulates all, "
                f'on="{VIRTUAL}" has all flows on a kernel'
            )
        runner: Callable[..., KernelResult] = run_mixed
    elif on == MACHINE:
        runner = partial(run_here, attempts=attempts, change_hystart=change_hystart)
    else:
        runner = partial(run_virtual, kernel=store.find(on), outside=outside, control=control)
    if cancel is not None:
        return runner(scenario, record, cancel, capture)
    own = _core.Cancel()
    return map_threads(lambda each: runner(each, record, own, capture), [scenario], own, jobs=1)[0]


def fault(result: Result) -> str | None:
    """Return why a run in real time should not be used; None if it can be."""
    facts = result.kernel if isinstance(result, KernelResult) else {}
    return f"the run should not be used: {facts['reason']}" if facts.get("tainted") else None


def run_here(
    scenario: Scenario,
    record: Sequence[str] | None,
    cancel: _core.Cancel,
    capture: Sequence[str] = (),
    *,
    attempts: int = ATTEMPTS,
    change_hystart: bool = False,
) -> KernelResult:
    """Run a scenario on this thread; the caller handles Ctrl-C."""
    if scenario.controls:
        raise ValueError(f"{scenario.name}: {PYTHON}")
    traces = None if record is None else list(record)
    core, facts = _core.kernel_run(scenario.core, traces, cancel, list(capture), attempts, change_hystart)
    return KernelResult(scenario, core, {"world": MACHINE, **json.loads(facts)})


def run_written(
    scenario: Scenario, record: Sequence[str] | None, cancel: _core.Cancel, capture: Sequence[str] = ()
) -> Result:
    """Run a scenario as it says, on this thread: simulated, with a kernel for the flows that name it."""
    if scenario.core.needs_kernel is None:
        return worlds.run_here(scenario, record, cancel, capture)
    return run_mixed(scenario, record, cancel, capture)


def run_mixed(
    scenario: Scenario, record: Sequence[str] | None, cancel: _core.Cancel, capture: Sequence[str] = ()
) -> KernelResult:
    """Run a scenario that needs a kernel beside its simulated flows, on this thread."""
    return run_virtual(scenario, record, cancel, capture, kernel=named(scenario), only_named=True)


def named(scenario: Scenario) -> Built:
    """Return the kernel that a scenario names; the newest if it names no version.

    Raises
    ------
    ValueError
        If it was not built; the message has the place of the version.
    """
    version, place = scenario.core.kernel_version or (None, scenario.name)
    try:
        return store.find(store.WORLD if version is None else f"{store.WORLD}:{version}")
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None


def refusal_written(scenario: Scenario) -> str | None:
    """Return why a scenario cannot run as it says; None if it can. Starts nothing."""
    if scenario.core.needs_kernel is None:
        return None
    if reason := _core.guest_refusal(scenario.core, None, named=True):
        return reason
    try:
        named(scenario)
    except ValueError as error:
        return str(error)
    return None


def run_virtual(
    scenario: Scenario,
    record: Sequence[str] | None,
    cancel: _core.Cancel,
    capture: Sequence[str] = (),
    *,
    kernel: Built,
    outside: bool = False,
    control: str | None = None,
    only_named: bool = False,
    phase: float | None = None,
    cpu: float | None = None,
    silence: float | None = None,
) -> KernelResult:
    """Run a scenario on a kernel in virtual time, on this thread; the caller handles Ctrl-C.

    The kernel's clock, packets and random numbers come from the engine, so that equal scenarios with equal seeds give
    equal results. The seed also moves the start within a tick of the kernel. A control that the kernel does not have,
    such as a class in Python, decides outside it at each event; with `outside` every control of the scenario does.
    With `only_named`, flows without ``profile = "kernel"`` are simulated.

    `phase` is the start of the run in seconds after a tick of the kernel at which also its coarsest timers expire.

    A broken kernel fails: after `cpu` seconds of processor time (an hour by default), or when it has computed for
    `silence` seconds of real time without an answer (a minute by default).
    """
    traces, controls = None if record is None else list(record), scenario.controls or None
    core, facts = _core.guest_run(
        scenario.core,
        kernel.path,
        kernel.hz,
        record=traces,
        controls=controls,
        cancel=cancel,
        capture=list(capture),
        outside=outside,
        control=control,
        named=only_named,
        phase=None if phase is None else round(phase * 1e9),
        cpu=cpu,
        silence=silence,
    )
    found = json.loads(facts)
    version, place = scenario.core.kernel_version or (kernel.version, "")
    if not versions.begins(kernel.version, version):
        text = f"{place}: the kernel is {kernel.version}, because of --on (Python: on), and not {version}"
        found["warnings"].append(["kernel_version", [], text])
    own = {"world": VIRTUAL, "release": kernel.release, "key": kernel.path.name, "hz": kernel.hz}
    return KernelResult(scenario, core, {**own, **found})


def refusal_virtual(scenario: Scenario, *, control: str | None = None) -> str | None:
    """Return why a scenario cannot run on a kernel in virtual time; None if it can. Starts nothing."""
    return _core.guest_refusal(scenario.core, control)


def missing_virtual(kernel: Built) -> str | None:
    """Return why this computer cannot run a kernel in virtual time; None if a short run succeeds."""
    path = {"kind": "explicit", "node": ["a", "b"], "link": {"from": "a", "to": "b"}}
    trial = Scenario("trial", duration="1 ms", topology=path, flow={"from": "a", "to": "b", "host": "linux"})
    try:
        run_virtual(trial, (), _core.Cancel(), kernel=kernel)
    except ValueError as error:
        return str(error)
    return None


PYTHON = "a congestion control written in Python does not run on the kernel; choose parts of the registry"


def refusal(scenario: Scenario, *, change_hystart: bool = False) -> str | None:
    """Return why a scenario cannot run on the kernel of any machine; None if it can.

    Needs no rights and starts nothing. `check` says what this machine can run. ``change_hystart`` is as in `run`.
    """
    return PYTHON if scenario.controls else _core.kernel_refusal(scenario.core, change_hystart)
