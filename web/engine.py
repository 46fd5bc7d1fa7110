"""Compiles the engine to WebAssembly and writes it as a script that pages can embed.

The standard library for the target comes from rustup (``rustup target add wasm32-unknown-unknown``) or, built with the
engine, from Debian's packages. Without either, the program says what is missing and ends with exit code 0: everything
else works without the engine in the page. ``--required`` makes that an error.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "packaging"))
import notices  # noqa: E402
import remap  # noqa: E402

# The file that pages embed, relative to the root, and the one beside it with the licences of what it contains.
SCRIPT = "python/ackclock/data/page/engine.js"
NOTICES = "engine-third-party.txt"
TARGET = "wasm32-unknown-unknown"
PROFILE = "web"
# Debian's packages of the toolchain for browsers, with the files that the build needs of them.
DEBIAN = {
    "cargo-web": "bin/cargo",
    "rustc-web": "bin/rustc",
    "rust-web-llvm": "bin/rust-lld",
    "rust-web-src": "lib/rustlib/src/rust/library/Cargo.lock",
}
# Most bytes of the compressed engine.
LIMIT = 1_000_000


@dataclass
class Toolchain:
    """Commands and settings that compile for the target."""

    name: str
    cargo: str
    rustc: str
    options: list[str] = field(default_factory=list)
    settings: Mapping[str, str] = field(default_factory=dict)


def output(*command: str) -> str:
    """Return what a command prints; empty if it cannot run or fails."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def rustup() -> tuple[Toolchain | None, str]:
    """Find a toolchain with the target's standard library, or say what is missing."""
    if not shutil.which("cargo"):
        return None, "cargo (https://rustup.rs)"
    folder = output("rustc", "--print", "target-libdir", "--target", TARGET)
    if folder and any(Path(folder).glob("libstd-*.rlib")):
        return Toolchain("rustup", "cargo", "rustc"), ""
    return None, f"the target: rustup target add {TARGET}"


def debian(prefix: Path = Path("/usr")) -> tuple[Toolchain | None, str]:
    """Find Debian's toolchain, whose standard library is compiled with the engine, or say what is missing."""
    missing = [package for package, file in DEBIAN.items() if not os.path.lexists(prefix / file)]
    # The linker is a link to the program of another package, which has the program's name and which nothing installs.
    linker = prefix / DEBIAN["rust-web-llvm"]
    if linker.is_symlink() and not linker.exists():
        missing.append(linker.readlink().name)
    if missing:
        return None, f"Debian's packages: apt-get install {' '.join(missing)}"
    rustc = str(prefix / "bin/rustc")
    settings = {
        "RUSTC": rustc,
        "RUSTC_BOOTSTRAP": "1",
        "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER": str(linker),
    }
    return Toolchain("Debian", str(prefix / "bin/cargo"), rustc, ["-Zbuild-std=std,panic_abort"], settings), ""


def compiled(toolchain: Toolchain) -> bytes:
    """Compile the engine."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    # No folder of this machine, and the same bytes on every machine.
    flags = remap.remap(toolchain.rustc)
    command = [toolchain.cargo, "rustc", "--quiet", "--package", "ackclock-web", "--lib", "--crate-type", "cdylib"]
    command += ["--target", TARGET, "--profile", PROFILE, "--target-dir", str(target), *toolchain.options]
    settings = {**os.environ, **toolchain.settings, "CARGO_ENCODED_RUSTFLAGS": "\x1f".join(flags)}
    subprocess.run(command, cwd=ROOT, env=settings, check=True)
    return (target / TARGET / PROFILE / "ackclock_web.wasm").read_bytes()


def script(module: bytes) -> tuple[str, int]:
    """Return the module as a script, and its compressed size."""
    packed = gzip.compress(module, compresslevel=9, mtime=0)
    return f'self.ackclockEngine = "{base64.b64encode(packed).decode()}";\n', len(packed)


def main() -> int:
    """Compile, and write the script."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--toolchain", choices=("rustup", "debian"), help="default: the first that is complete")
    parser.add_argument("--required", action="store_true", help="fail if no toolchain is complete")
    parser.add_argument("--out", type=Path, default=ROOT / SCRIPT, help=f"the script (default {SCRIPT})")
    options = parser.parse_args()
    finders = {"rustup": rustup, "debian": debian}
    found = [find() for name, find in finders.items() if options.toolchain in (None, name)]
    toolchain = next((toolchain for toolchain, _ in found if toolchain), None)
    if toolchain is None:
        print(f"skipped: the engine for pages needs {', or '.join(missing for _, missing in found)}", file=sys.stderr)
        return 1 if options.required else 0
    try:
        module = compiled(toolchain)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"error: the engine for pages was not compiled ({toolchain.name}): {error}", file=sys.stderr)
        return 1
    text, packed = script(module)
    if packed > LIMIT:
        print(f"error: the engine for pages has {packed:,} bytes compressed, more than {LIMIT:,}", file=sys.stderr)
        return 1
    options.out.parent.mkdir(parents=True, exist_ok=True)
    partial = options.out.with_suffix(".partial")
    partial.write_bytes(text.encode("ascii"))
    partial.replace(options.out)
    said = notices.compiled("The engine of Ackclock's pages", ROOT / "crates/web/Cargo.toml", target=TARGET)
    options.out.with_name(NOTICES).write_text(said, encoding="utf-8")
    print(f"engine for pages ({toolchain.name}): {len(module):,} bytes, {packed:,} compressed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
