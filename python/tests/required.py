"""A plugin: a skipped test whose tool must be there is an error, and what only Linux has is not tested elsewhere.

A test whose tool is missing is skipped with its reason. In CI that would hide a tool that could not be installed:
``ACKCLOCK_REQUIRE=browser,ns2`` names the tools that must be there.

On other systems than Linux, a test that itself uses what only Linux or Unix has, such as ``os.mkfifo``, is skipped with
that reason. What the package uses must be there.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ackclock

VARIABLE = "ACKCLOCK_REQUIRE"
PACKAGE = Path(ackclock.__file__).parent
UNIX = ("fcntl", "pty", "pwd", "resource", "termios")
"""Modules that Windows lacks."""
NO_RIGHT = 1314
"""The error of Windows for a right that a user lacks."""
TOOLS = {
    "browser": r"^no browser: |^no Playwright: ",
    "ebpf": r"^no programs on this kernel: ",
    "linux": r"ackclock kernel build",
    "ns2": r"^ns-2 is not installed",
    "ray": r"^Ray is not installed",
    "tshark": r"^tshark is not installed",
    "web": r"make web|make page|^no node: ",
}
"""What the reason of a skipped test says, by the tool that it lacks."""


def lacking(reason: str) -> str:
    """Return the required tool that a skipped test lacks; empty if there is none.

    Raises
    ------
    pytest.UsageError
        If the variable names an unknown tool.
    """
    required = [name for name in os.environ.get(VARIABLE, "").split(",") if name]
    if unknown := set(required) - set(TOOLS):
        raise pytest.UsageError(
            f"{VARIABLE}: unknown {', '.join(sorted(unknown))}; expected some of {', '.join(TOOLS)}"
        )
    return next((name for name in required if re.search(TOOLS[name], reason)), "")


def absent(found: pytest.ExceptionInfo[BaseException]) -> str:
    """Return what a test uses and this system lacks; empty if an error has another cause, or comes from the package."""
    if any(PACKAGE in entry.path.parents for entry in found.traceback if isinstance(entry.path, Path)):
        return ""
    if isinstance(found.value, AttributeError):
        missing = re.search(r"module '(os|signal|socket)' has no attribute '(\w+)'", str(found.value))
        return f"this system has no {missing[1]}.{missing[2]}" if missing else ""
    if isinstance(found.value, ModuleNotFoundError) and found.value.name in UNIX:
        return f"this system has no module {found.value.name}"
    if isinstance(found.value, OSError) and getattr(found.value, "winerror", None) == NO_RIGHT:
        return "this user may make no links"
    return ""


def _judged(report: Any) -> Any:
    if report.skipped and isinstance(report.longrepr, tuple):
        path, line, skipped = report.longrepr
        reason = skipped.removeprefix("Skipped: ")
        if tool := lacking(reason):
            report.outcome = "failed"
            report.longrepr = f"{path}:{line}: {VARIABLE} requires {tool}, and the test would be skipped: {reason}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call: pytest.CallInfo[Any]) -> Iterator[Any]:
    """Judge the report of a test."""
    report = yield
    if sys.platform != "linux" and call.excinfo is not None and report.failed and (reason := absent(call.excinfo)):
        file, line = report.location[:2]
        report.outcome, report.longrepr = "skipped", (file, line, f"Skipped: {reason}")
    return _judged(report)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Iterator[Any]:
    """Judge the report of a file, which may be skipped as a whole."""
    return _judged((yield))


def pytest_sessionstart() -> None:
    """Refuse an unknown tool before the first test."""
    lacking("")
