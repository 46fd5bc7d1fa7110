"""Fixtures that several tests share."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from ackclock import Scenario, linux

from .commandline import CommandLine
from .required import (  # noqa: F401 - hooks of pytest
    pytest_make_collect_report,
    pytest_runtest_makereport,
    pytest_sessionstart,
)

ROOT = Path(__file__).resolve().parents[2]

# A slow machine is no failure.
hypothesis.settings.register_profile("ackclock", deadline=None)
hypothesis.settings.load_profile("ackclock")

FIRST = """\
duration = "5 s"

[topology]
kind = "chain"
bottleneck = { rate = "2 Mbit/s", delay = "10 ms", queue = { kind = "droptail", limit = "20 packets" } }

[[flow]]
name = "a"
recovery = "sack"
"""

SWEEP = (
    FIRST
    + """
[sweep]
"topology.bottleneck.queue.limit" = ["5 packets", "20 packets"]

[sweep.algorithm]
standard = { "flow.slow_start" = "standard" }
staged = { "flow.slow_start" = "staged" }
"""
)

Cli = Callable[..., subprocess.CompletedProcess[str]]


def needs_unix() -> None:
    """Skip a test that uses the shell or the signals of Unix where there are none."""
    if sys.platform == "win32":
        pytest.skip("this system has no shell and no signals of Unix")


def walks(few: int, many: int) -> pytest.MarkDecorator:
    """Give a random test its `seeds`: a few in every run, and the others, up to many, in `make test-long`."""
    others = pytest.param(range(few, many), marks=pytest.mark.long)
    return pytest.mark.parametrize("seeds", [range(few), others], ids=["few", "others"])


@pytest.fixture
def scenario() -> Scenario:
    """Return a scenario with a short run over a slow bottleneck."""
    bottleneck = {"rate": "2 Mbit/s", "delay": "10 ms", "queue": {"kind": "droptail", "limit": "20 packets"}}
    return Scenario("short", duration="5 s", topology={"kind": "chain", "bottleneck": bottleneck}, flow=[{"name": "a"}])


def present() -> list[linux.Built]:
    """Return the kernels that were built from the present files."""
    return [kernel for kernel in linux.built() if not kernel.outdated]


NO_KERNEL = "no kernel was built from the present files: ackclock kernel build"


@pytest.fixture
def built() -> linux.Built:
    """Return the first kernel that was built from the present files; without one the test is skipped."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        pytest.skip("a kernel in virtual time needs Linux on x86-64")
    if not (found := present()):
        pytest.skip(NO_KERNEL)
    return found[0]


@pytest.fixture
def kernel() -> Iterator[linux.Check]:
    """Use this machine's kernel, one test at a time; elsewhere the test is skipped with the reason."""
    found = linux.check()
    if found.missing is not None:
        pytest.skip(f"no runs on this kernel: {found.missing}")
    import fcntl

    with (Path(tempfile.gettempdir()) / "ackclock-kernel-tests.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield found


@pytest.fixture
def first(tmp_path: Path) -> Path:
    """Return a scenario file."""
    path = tmp_path / "first.toml"
    path.write_text(FIRST)
    return path


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    """Return a scenario file with four variants."""
    path = tmp_path / "sweep.toml"
    path.write_text(SWEEP)
    return path


@pytest.fixture(scope="session")
def command_line() -> Iterator[CommandLine]:
    """Return a process that runs commands."""
    started = CommandLine()
    yield started
    started.close()


@pytest.fixture
def cli(tmp_path: Path, command_line: CommandLine) -> Cli:
    """Return a function that runs the command line in a process of its own; options are those of `CommandLine`."""

    def run(*arguments: str | Path, cwd: Path = tmp_path, **options: Any) -> subprocess.CompletedProcess[str]:
        return command_line.run([*map(str, arguments)], cwd, {**os.environ, "NO_COLOR": "1"}, **options)

    return run


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests in real time, which `make test` runs alone on the machine, after the others.

    Each has a second attempt: the machine can disturb it below the limits of a tainted run.
    """
    for item in items:
        if "kernel" in getattr(item, "fixturenames", ()):
            item.add_marker("kernel")
            item.add_marker(pytest.mark.flaky(reruns=1, only_rerun="AssertionError"))
