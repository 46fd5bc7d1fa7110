"""How a result was made: what a reviewer of its reproduction asks for, in one entry of its manifest."""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import os
import platform
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

from ackclock import _core

MADE = "made"
"""The entry of a manifest. Dates and machines differ, so that a comparison of equal results leaves it out."""
LIBRARIES = ("numpy", "polars")
"""The libraries that compute measurements."""
ROOT = Path(__file__).resolve().parents[3]
"""The folder of a checkout; of an installed package, any folder."""
SECONDS = 10.0
HEAD, NO_COMMIT = "# branch.oid ", "(initial)"


@cache
def made() -> dict[str, Any]:
    """Return the facts about this process: program, date, machine, command line, and versions of what computes.

    The seeds of a result are entries of their own, since they belong to its content.
    """
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "command": command(),
        "commit": commit(),
        "core": build(),
        "versions": {"ackclock": _core.__version__, **versions()},
        "machine": {"system": platform.platform(), "processor": processor(), "cores": os.cpu_count()},
    }


@cache
def build() -> str:
    """Return a hash of the compiled core."""
    return hashlib.sha256(Path(str(_core.__file__)).read_bytes()).hexdigest()[:20]


@cache
def versions() -> dict[str, str]:
    """Return the versions of Python and of the numerical libraries."""
    from importlib import metadata  # 15 ms, which a command that stores nothing does without

    return {"python": platform.python_version(), **{name: metadata.version(name) for name in LIBRARIES}}


def command() -> str:
    """Return the command line of Ackclock, or ``Python`` if a program of the user called it."""
    name = Path(sys.argv[0])
    own = name.stem == "ackclock" or (name.name == "__main__.py" and name.parent.name == "ackclock")
    return shlex.join(["ackclock", *sys.argv[1:]]) if own else "Python"


def commit() -> str | None:
    """Return the commit of a checkout, with ``-dirty`` if files have changed since; None if it is installed."""
    if not (ROOT / ".git").exists() or not (ROOT / "python" / "ackclock").is_dir():
        return None
    # Without a lock in the checkout, which a killed git would leave there.
    asked = ["git", "-C", str(ROOT), "--no-optional-locks", "status", "--porcelain=v2", "--branch", "-uno"]
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(asked, capture_output=True, text=True, timeout=SECONDS, check=True)
        facts = done.stdout.splitlines()
        found = next((fact.removeprefix(HEAD) for fact in facts if fact.startswith(HEAD)), "")
        changed = any(not fact.startswith("#") for fact in facts)
        if found not in ("", NO_COMMIT):
            return f"{found}-dirty" if changed else found
    return None


def processor() -> str:
    """Return the name of the processor."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
