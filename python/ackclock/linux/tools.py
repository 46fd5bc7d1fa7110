"""The programs that build a kernel: which are missing, and how they run."""

from __future__ import annotations

import contextlib
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

PACKAGES = {
    "gcc": ("gcc", "gcc"),
    "make": ("make", "make"),
    "flex": ("flex", "flex"),
    "bison": ("bison", "bison"),
    "bc": ("bc", "bc"),
    "patch": ("patch", "patch"),
    "tar": ("tar", "tar"),
    "find": ("findutils", "findutils"),
    "cmp": ("diffutils", "diffutils"),
    "awk": ("gawk", "gawk"),
    "xz": ("xz-utils", "xz"),
    "gzip": ("gzip", "gzip"),
    "zstd": ("zstd", "zstd"),
    "a static C library": ("libc6-dev", "glibc-static"),
}
"""What a build needs, and the package of Debian and of Fedora that has it."""
UNPACKERS = {".xz": "xz", ".gz": "gzip", ".tgz": "gzip", ".zst": "zstd"}
"""The programs that tar calls, by the ending of the file."""
CONTAINER = (
    "docker run --rm -it -v ackclock:/root/.cache debian:12 bash, and in it: apt-get update && apt-get install -y "
    "python3-venv gcc make flex bison bc patch xz-utils libc6-dev linux-source-6.12"
)
# Asks Linux for SIGTERM at the death of the parent (PR_SET_PDEATHSIG), then becomes the program: a killed build leaves
# no compiler running.
_BOUND = "import ctypes, os, sys; ctypes.CDLL(None).prctl(1, 15, 0, 0, 0); os.execvp(sys.argv[1], sys.argv[1:])"


def check_machine() -> None:
    """Refuse a machine that cannot run the kernels.

    Raises
    ------
    OSError
        If it is not Linux on x86-64.
    """
    system, machine = platform.system(), platform.machine()
    if system != "Linux" or machine not in ("x86_64", "AMD64"):
        raise OSError(
            f"kernels in virtual time need Linux on x86-64, and this is {system} on {machine}; on an x86-64 processor, "
            f"a container will do: {CONTAINER}; then install ackclock there"
        )


def check_programs(source: Path) -> None:
    """Refuse a machine that lacks a program for building from this source.

    Raises
    ------
    OSError
        If programs are missing; the message names their packages.
    """
    unpacker = UNPACKERS.get(source.suffix)
    wanted = [name for name in PACKAGES if name not in UNPACKERS.values() or name == unpacker]
    library = wanted.pop()
    missing = [name for name in wanted if shutil.which(name) is None]
    if "gcc" not in missing and not _links():
        missing.append(library)
    if missing:
        debian, fedora = (" ".join(names) for names in zip(*(PACKAGES[name] for name in missing), strict=True))
        raise OSError(
            f"building a kernel needs {', '.join(missing)}; on Debian: apt install {debian}; "
            f"on Fedora: dnf install {fedora}"
        )


def _links() -> bool:
    """Whether the compiler finds headers of C and Linux, and a static C library."""
    program = '#include <stdio.h>\n#include <linux/types.h>\nint main(void) { return puts(""); }\n'
    with tempfile.TemporaryDirectory() as folder:
        command = ["gcc", "-static", "-x", "c", "-", "-o", f"{folder}/program"]
        return subprocess.run(command, input=program.encode(), capture_output=True, check=False).returncode == 0


@contextlib.contextmanager
def started(
    command: Sequence[str | Path],
    *,
    stdin: IO[bytes] | int | None = subprocess.DEVNULL,
    stderr: int | None = None,
    environment: Mapping[str, str] | None = None,
) -> Iterator[IO[bytes]]:
    """Run a program during the block, and return its output; at an error, the program and its children are killed.

    Raises
    ------
    subprocess.CalledProcessError
        If the program fails.
    """
    bound = [sys.executable, "-I", "-S", "-c", _BOUND, *map(str, command)]
    process = subprocess.Popen(
        bound, stdin=stdin, stdout=subprocess.PIPE, stderr=stderr, env=environment, start_new_session=True
    )
    assert process.stdout is not None
    try:
        yield process.stdout
        code = process.wait()
    except BaseException:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        raise
    finally:
        process.stdout.close()
        process.wait()
    if code:
        raise subprocess.CalledProcessError(code, list(map(str, command)))


def run(
    command: Sequence[str | Path],
    *,
    stdin: IO[bytes] | int | None = subprocess.DEVNULL,
    environment: Mapping[str, str] | None = None,
    listener: Callable[[str], None] | None = None,
) -> list[str]:
    """Run a program, and return the lines that it printed; each also goes to `listener` at once.

    Raises
    ------
    subprocess.CalledProcessError
        If the program fails; its `output` is the text printed.
    """
    lines: list[str] = []
    try:
        with started(command, stdin=stdin, stderr=subprocess.STDOUT, environment=environment) as output:
            for line in output:
                lines.append(line.decode(errors="replace").rstrip("\n"))
                if listener is not None:
                    listener(lines[-1])
    except subprocess.CalledProcessError as error:
        raise subprocess.CalledProcessError(error.returncode, error.cmd, "\n".join(lines)) from None
    return lines
