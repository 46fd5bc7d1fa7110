"""The command `kernel check`: a table of trials, and an answer."""

from __future__ import annotations

from dataclasses import asdict

from ackclock.cli import output
from ackclock.cli.errors import BAD_INPUT
from ackclock.linux import check

_NEEDED_FOR = {
    "all": "every run",
    "control": "flows with this control",
    "accurate_ecn": 'flows with ecn = "accurate"',
    "ebpf": "controls by eBPF",
    "precision": "fewer late packets",
}


def check_command(*, json_output: bool) -> int:
    """Try, print, and return the exit code."""
    found = check()
    if json_output:
        output.data({"release": found.release, "missing": found.missing, "probes": [asdict(it) for it in found.probes]})
    else:
        rows = [
            (probe.name, "yes" if probe.found else "no", _NEEDED_FOR[probe.needed_for], probe.detail)
            for probe in found.probes
        ]
        output.table(("tried", "found", "needed for", "detail"), rows, title=f"kernel {found.release}", left=4)
        missing = found.missing
        output.note("scenarios can run on this kernel" if missing is None else f"no scenario can run: {missing}")
    return BAD_INPUT if found.missing else 0
