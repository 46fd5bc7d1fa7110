"""Random networks in ns-2.35 and in the simulator: a short form of `make fuzz-ns2`."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FUZZ = Path(__file__).parents[2] / "benches" / "ns2" / "fuzz" / "fuzz.py"


@pytest.mark.skipif(shutil.which("ns") is None, reason="ns-2 is not installed (Debian package ns2)")
def test_random_networks_agree_with_ns2_in_every_counter() -> None:
    run = subprocess.run(
        [sys.executable, str(FUZZ), "--count", "30", "--jobs", "1"], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert lines[-1].split() == ["all", "30", "of", "30"], run.stdout
