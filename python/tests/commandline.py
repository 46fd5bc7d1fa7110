"""The command line for tests: a process that has imported the program, and forks for each command.

A command is a process of its own, with its folder, environment, streams and exit code, and starts in hundredths of a
second. What every command would import or compute again, the process has.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import pkgutil
import re
import runpy
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ackclock
from ackclock.cli import app
from ackclock.experiments import sources
from ackclock.files import built
from ackclock.literature import library
from ackclock.reports import rendering

if TYPE_CHECKING:
    from typing_extensions import Self

TIMEOUT = 300
"""Seconds after which a command is killed."""
LIBRARIES = (
    "filelock", "jinja2", "markdown_it", "matplotlib.pyplot", "rich.progress", "rich.table", "scipy.stats",
)  # fmt: skip
"""What commands import late, and takes long."""
CONTROLS = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")
"""What a terminal does not print."""
AVAILABLE = sys.platform == "linux"
"""Whether a process with threads of libraries may fork here."""


class CommandLine:
    """A process for commands, which run one after the other; without it, each command is a new process."""

    def __init__(self) -> None:
        if not AVAILABLE:
            return
        self.here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with there:
            command = [sys.executable, "-m", __name__, str(there.fileno())]
            folder = Path(__file__).parents[1]
            self.server = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, pass_fds=[there.fileno()])

    def run(
        self,
        arguments: list[str],
        cwd: Path,
        environment: dict[str, str],
        *,
        ending: tuple[int, float] | None = None,
        before: str = "",
        width: int = 0,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command, and return its exit code and what it wrote.

        `ending` is a signal and the seconds after which the command and all its processes get it. `before` is a
        function, as in ``tests.every_command:small``, which is called before the command. With a `width`, both streams
        are terminals of so many columns.
        """
        if width:
            environment = {name: value for name, value in environment.items() if name != "COLUMNS"} | {"TERM": "xterm"}
        with contextlib.ExitStack() as stack:
            streams = [stack.enter_context(_Terminal(width) if width else _File()) for _ in range(2)]
            begin = self._fork if AVAILABLE else _popen
            code = begin(arguments, str(cwd), environment, [each.descriptor for each in streams], ending, before)
            out, err = (each.text() for each in streams)
            return subprocess.CompletedProcess(arguments, code, out, err)

    def _fork(self, *request: Any) -> int:
        arguments, cwd, environment, streams, *rest = request
        socket.send_fds(self.here, [json.dumps([arguments, cwd, environment, *rest]).encode()], streams)
        for stream in streams:
            os.close(stream)
        return int(self.here.recv(16))

    def close(self) -> None:
        """End the process."""
        if AVAILABLE:
            self.here.close()
            self.server.wait(TIMEOUT)


def _popen(
    arguments: list[str],
    cwd: str,
    environment: dict[str, str],
    streams: list[int],
    ending: tuple[int, float] | None,
    before: str,
) -> int:
    start = "import runpy, sys\n" + (f"import {before.partition(':')[0]} as own; own.{before.partition(':')[2]}()\n")
    code = f"{start if before else 'import runpy'}\nrunpy.run_module('ackclock', run_name='__main__', alter_sys=True)"
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments], cwd=cwd, env=environment, stdin=subprocess.DEVNULL,
        stdout=streams[0], stderr=streams[1], start_new_session=True,
    )  # fmt: skip
    for stream in streams:
        os.close(stream)
    try:
        return process.wait(TIMEOUT if ending is None else ending[1])
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL if ending is None else ending[0])
        return process.wait(TIMEOUT)


class _File:
    """A stream of a command: a file."""

    def __enter__(self) -> Self:
        self._file = tempfile.TemporaryFile("w+", encoding="utf-8", newline="")
        self.descriptor = os.dup(self._file.fileno())
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def text(self) -> str:
        self._file.seek(0)
        return self._file.read()


class _Terminal:
    """A stream of a command: a terminal of 40 lines."""

    def __init__(self, width: int) -> None:
        self._width = width

    def __enter__(self) -> Self:
        import fcntl
        import termios

        self._ours, self.descriptor = os.openpty()
        fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", 40, self._width, 0, 0))
        self._shown = b""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._ours)

    def _read(self) -> None:
        # Linux reports the end of a terminal as an error.
        with contextlib.suppress(OSError):
            while part := os.read(self._ours, 1 << 16):
                self._shown += part

    def text(self) -> str:
        self._reader.join(TIMEOUT)
        return CONTROLS.sub("", self._shown.decode()).replace("\r\n", "\n")


def serve(requests: socket.socket) -> None:
    """Answer each request with the exit code of its command; return in the process of that command."""
    while True:
        request, streams, _, _ = socket.recv_fds(requests, 1 << 20, 2)
        if not request:
            sys.exit()
        arguments, cwd, environment, ending, before = json.loads(request)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of a process with threads that forks
            child = os.fork()
        os.setpgid(child, child)  # of the child itself, for 0
        if not child:
            os.chdir(cwd)
            os.environ.clear()
            os.environ.update(environment)
            for stream, number in zip(streams, (1, 2), strict=True):
                os.dup2(stream, number)
            sys.argv[1:] = arguments
            signal.alarm(TIMEOUT)
        for stream in streams:
            os.close(stream)
        if not child:
            requests.close()
            if before:
                module, _, name = before.partition(":")
                getattr(importlib.import_module(module), name)()
            return
        if ending is not None and not select.select([end := os.pidfd_open(child)], [], [], ending[1])[0]:
            os.killpg(child, ending[0])
        if ending is not None:
            os.close(end)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        requests.send(str(code).encode())


def load() -> None:
    """Import what commands import, and compute what is the same for all of them."""
    own = [each.name for each in pkgutil.walk_packages(ackclock.__path__, "ackclock.")]
    for name in (*own, *LIBRARIES):
        if not name.endswith("__main__"):
            importlib.import_module(name)
    app.program()
    library.papers()
    sources.program(*own)
    if built.report_program() is not None:
        rendering.library()


if __name__ == "__main__":
    load()
    gc.freeze()  # or the first collection of each process copies all of its memory
    serve(socket.socket(fileno=int(sys.argv[1])))
    try:
        runpy.run_module("ackclock", run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(int(ended.code or 0))  # clearing the modules takes longer than most commands
