"""`ackclock kernel check`, on machines that can run scenarios on their kernel and on others."""

from __future__ import annotations

import json

import pytest

from ackclock import _core, linux

from .conftest import Cli

PROBES = [
    ("network namespaces", "all", True, "a new one was made"),
    ("control `bbr`", "control", False, "this kernel does not have it"),
]


def test_the_check_names_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_core, "kernel_check", lambda: ("6.18.0", PROBES))
    assert linux.check().missing is None, "only some flows need BBR"
    lacking = ("/dev/net/tun", "all", False, "it cannot be opened")
    monkeypatch.setattr(_core, "kernel_check", lambda: ("6.18.0", [*PROBES, lacking]))
    assert linux.check().missing == "/dev/net/tun: it cannot be opened"


def test_the_command_and_its_exit_code(cli: Cli) -> None:
    found = linux.check()
    code = 0 if found.missing is None else 2
    table, data = cli("kernel", "check"), cli("kernel", "check", "--json")
    assert (table.returncode, data.returncode) == (code, code)
    shown = json.loads(data.stdout)
    assert shown["release"] == found.release and shown["missing"] == found.missing
    assert [probe["name"] for probe in shown["probes"]] == [probe.name for probe in found.probes]
    for probe in found.probes:
        assert probe.name in table.stdout and probe.detail in table.stdout
    assert ("scenarios can run" if found.missing is None else found.missing) in table.stderr


def test_the_kernel_has_reno(kernel: linux.Check) -> None:
    assert any(probe.name == "control `reno`" and probe.found for probe in kernel.probes)
