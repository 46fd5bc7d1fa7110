"""Prints the flags of the compiler that keep the folders of this machine out of what it compiles.

Messages of panics name source files. With these flags they are the same on every machine: those of the checkout, below
`.`, of other crates below `cargo`, and of the standard library below `rust`. The flags have the form of the variable
CARGO_ENCODED_RUSTFLAGS, and begin with those of RUSTFLAGS, which that variable replaces.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def remap(rustc: str = "rustc") -> list[str]:
    """Return the flags for a compiler."""
    sysroot = subprocess.run([rustc, "--print", "sysroot"], check=True, stdout=subprocess.PIPE, text=True)
    home = os.environ.get("CARGO_HOME", str(Path.home() / ".cargo"))
    # Of several folders that hold a file, the last counts.
    target = os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target"))
    names = {str(ROOT): ".", home: "cargo", sysroot.stdout.strip(): "rust", target: "target"}
    return [f"--remap-path-prefix={folder}={name}" for folder, name in names.items()]


def encoded(environment: dict[str, str]) -> str:
    """Return the flags as CARGO_ENCODED_RUSTFLAGS, after those that an environment has in RUSTFLAGS."""
    return "\x1f".join([*environment.get("RUSTFLAGS", "").split(), *remap()])


if __name__ == "__main__":
    print(encoded(dict(os.environ)))
