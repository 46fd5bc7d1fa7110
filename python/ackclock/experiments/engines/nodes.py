"""What the nodes of a cluster must have in common, so that every node computes the same results."""

from __future__ import annotations

import hashlib
import platform
import sys
from collections.abc import Mapping
from functools import cache

from ackclock import _core
from ackclock.experiments import sources

Identity = dict[str, str]
"""Everything that the results depend on, by its name in messages."""


@cache
def identity() -> Identity:
    """Describe the program of this process: Ackclock, its compiled core and Python files, Python, and libraries."""
    files = {
        path.relative_to(sources.PACKAGE).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(sources.PACKAGE.rglob("*.py"))
        if path.relative_to(sources.PACKAGE).parts[0] != "data"
    }
    return {
        "Ackclock": _core.__version__,
        "platform": f"{sys.platform} {platform.machine()}",
        "compiled core": sources.build(),
        "Python files": sources.digest(files, length=20),
        **sources.versions(),
    }


def explain(faults: Mapping[str, Identity], nodes: int) -> str:
    """Explain in one message which nodes differ from this process, and in what; `faults` has them by name."""
    expected = identity()
    lines = []
    for node, found in faults.items():
        differences = [
            f"{name}: {value}" + (f", here {expected[name]}" if name in expected else "")
            for name, value in found.items()
            if value != expected.get(name)
        ]
        lines.append(f"  {node}: {'; '.join(differences)}")
    return (
        f"{len(faults)} of {nodes} nodes of the cluster cannot run this Ackclock:\n"
        + "\n".join(lines)
        + "\nInstall the same versions of Python, Ackclock and its libraries on every node (docs/guides/sweeps.md)"
    )
