"""Builds with profile-guided optimisation: the program of the benchmark, and the wheel.

An instrumented build runs the benchmark's own workloads, shortened; the compiler then lays out the code for what ran
often. Sources and results stay the same. The compiler's profiles need an `llvm-profdata` that reads them: rustup's
component `llvm-tools`, or Debian's package `llvm-19` or newer. Without it the build is an ordinary one, and says so.

`python benches/optimise.py wheel FLAG…` builds the source distribution and the wheel into dist/, as packaging/build.py
does; FLAG are maturin's.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import scenarios

sys.path.insert(0, str(scenarios.ROOT / "packaging"))
import build as package

# Products of optimised builds. They have a folder of their own, so that ordinary builds stay as they are.
FOLDER = scenarios.TARGET / "pgo"
# Simulated seconds of a workload in training, by the start of its name.
SPANS = {"chain": 100, "dumbbell_100M": 6, "dumbbell_1G": 2, "queue": 5, "hosts": 4, "window": 1}
# The training of the wheel: an instrumented package runs the files. Most users record, too.
TRAINING = """
import sys
sys.path.insert(0, sys.argv[1])
import ackclock
for file in sys.argv[2:]:
    scenario = ackclock.load(file)
    ackclock.run(scenario, record=[])
    ackclock.run(scenario)
"""

Environment = dict[str, str]


def call(command: list[str | Path], environment: Mapping[str, str], *, quiet: bool = False) -> str:
    """Run a command with more variables in its environment; return its output. End the program if it fails.

    A `quiet` command shows its messages only then: an instrumented program warns if it runs out of counters.
    """
    done = subprocess.run(
        command,
        cwd=scenarios.ROOT,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if quiet else None,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"{done.stderr or ''}{command[0]} failed with exit code {done.returncode}")
    return done.stdout


def candidates() -> list[Path]:
    """Return the installed programs `llvm-profdata`: the compiler's own first, then the newest."""
    asked = subprocess.run(["rustc", "--print", "target-libdir"], check=True, capture_output=True, text=True)
    own = Path(asked.stdout.strip()).parent / "bin" / "llvm-profdata"
    numbered = sorted(Path("/usr/lib").glob("llvm-*/bin/llvm-profdata"), key=lambda path: -int(path.parts[3][5:]))
    found = shutil.which("llvm-profdata")
    return [path for path in [own, *numbered, *([Path(found)] if found else [])] if path.exists()]


def find_tool() -> Path | None:
    """Return the first `llvm-profdata` that reads the profiles of this compiler."""
    tools = candidates()
    if not tools:
        return None
    with tempfile.TemporaryDirectory() as name:
        source, program, raw = (Path(name) / file for file in ("main.rs", "main", "main.profraw"))
        source.write_text("fn main() {}\n")
        call(["rustc", f"-Cprofile-generate={name}", "-o", program, source], {})
        call([program], {"LLVM_PROFILE_FILE": str(raw)})
        for tool in tools:
            command: list[str | Path] = [tool, "merge", "-o", Path(name) / "merged", raw]
            if subprocess.run(command, capture_output=True, check=False).returncode == 0:
                return tool
    return None


def training() -> list[Path]:
    """Write the shortened workloads; return their files."""
    folder = FOLDER / "training"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    files = {name: scenarios.scenario(name, folder) for name in scenarios.WORKLOADS}
    for name in scenarios.HOST_WORKLOADS:
        hosts = scenarios.WIDE_HOSTS if name.startswith("window_") else scenarios.ALL_HOSTS
        files |= {f"{name}_{host}": scenarios.host_scenario(name, host, folder) for host in hosts}
    written = []
    for name, file in files.items():
        span = next(span for start, span in SPANS.items() if name.startswith(start))
        path = folder / f"{name}_short.toml"
        path.write_text(scenarios.shortened(file.read_text(), span))
        written.append(path)
    return written


def train(name: str, run: Callable[[Environment, Environment], None]) -> Environment:
    """Return the environment of an optimised build; empty if the tool is missing.

    Parameters
    ----------
    name
        Name of the profile.
    run
        Makes the instrumented build in its first environment, and trains in the second.
    """
    tool = find_tool()
    if tool is None:
        print(
            "not optimised by a profile: no llvm-profdata reads the profiles of this compiler"
            " (rustup component add llvm-tools, or Debian's package llvm-19)",
            file=sys.stderr,
        )
        return {}
    flags = os.environ.get("RUSTFLAGS", "")
    # Build scripts and procedural macros are instrumented too, but their profiles are of no use.
    unused = {"LLVM_PROFILE_FILE": str(FOLDER / "unused" / "%m.profraw")}
    building = {"CARGO_TARGET_DIR": str(FOLDER)}
    with tempfile.TemporaryDirectory() as raw:
        instrumented = {"RUSTFLAGS": f"{flags} -Cprofile-generate={FOLDER / 'unused'}"}
        run(building | instrumented | unused, {"LLVM_PROFILE_FILE": f"{raw}/%m.profraw"})
        merged = FOLDER / f"{name}.profdata"
        call([tool, "merge", "-o", merged, *Path(raw).glob("*.profraw")], {})
    # The name follows the content, because Cargo sees the flags and not the file behind them.
    profile = FOLDER / f"{name}-{hashlib.sha256(merged.read_bytes()).hexdigest()[:16]}.profdata"
    merged.replace(profile)
    return building | {"RUSTFLAGS": f"{flags} -Cprofile-use={profile}"}


def workload() -> tuple[Path, bool]:
    """Build the program of the benchmark; return it, and whether it is optimised by a profile.

    The results of an optimised program are checked against those of the instrumented one.
    """
    hashes: list[list[str]] = []

    def measure(program: Path, environment: Environment) -> None:
        hashes.append([json.loads(call([program, file], environment, quiet=True))["hash"] for file in training()])

    def run(building: Environment, training: Environment) -> None:
        call(scenarios.BUILD, building)
        program = FOLDER / "instrumented"
        shutil.copy2(FOLDER / scenarios.PROGRAM, program)
        measure(program, training)

    environment = train("workload", run)
    if not environment:
        return scenarios.build(), False
    call(scenarios.BUILD, environment)
    program = FOLDER / scenarios.PROGRAM
    measure(program, {})
    if hashes[0] != hashes[1]:
        sys.exit("the optimised program gives other results than the ordinary one")
    return program, True


def wheel(flags: list[str]) -> None:
    """Build the source distribution and the wheel. Maturin gets the flags."""

    def run(building: Environment, environment: Environment) -> None:
        out = FOLDER / "wheel"
        shutil.rmtree(out, ignore_errors=True)
        (file,) = package.build(out, flags, building)
        with zipfile.ZipFile(file) as archive:
            archive.extractall(out)
        call([sys.executable, "-c", TRAINING, out, *training()], environment, quiet=True)

    environment = train("wheel", run) or {"CARGO_TARGET_DIR": str(scenarios.TARGET)}
    package.build(scenarios.ROOT / "dist", ["--sdist", *flags], environment)


if __name__ == "__main__":
    if sys.argv[1:2] != ["wheel"]:
        sys.exit("usage: python benches/optimise.py wheel [FLAG…]")
    wheel(sys.argv[2:])
