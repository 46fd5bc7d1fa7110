"""A plugin: a skipped test is an error if the tool that it lacks must be there.

A test whose tool is missing is skipped with its reason. In CI that would hide a tool that could not be installed:
``ACKCLOCK_REQUIRE=browser,ns2`` names the tools that must be there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

import pytest

VARIABLE = "ACKCLOCK_REQUIRE"
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


def _judged(report: Any) -> Any:
    if report.skipped and isinstance(report.longrepr, tuple):
        path, line, skipped = report.longrepr
        reason = skipped.removeprefix("Skipped: ")
        if tool := lacking(reason):
            report.outcome = "failed"
            report.longrepr = f"{path}:{line}: {VARIABLE} requires {tool}, and the test would be skipped: {reason}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Iterator[Any]:
    """Judge the report of a test."""
    return _judged((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Iterator[Any]:
    """Judge the report of a file, which may be skipped as a whole."""
    return _judged((yield))


def pytest_sessionstart() -> None:
    """Refuse an unknown tool before the first test."""
    lacking("")
