"""The command line for tests: a process that has imported the program, and forks for each command.

A command is a process of its own, with its folder, environment, streams and exit code, and starts in hundredths of a
second.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import ackclock.cli

TIMEOUT = 300
"""Seconds after which a command is killed."""
LIBRARIES = ("matplotlib.pyplot", "scipy.stats")
"""What commands import late, and takes long."""
AVAILABLE = sys.platform == "linux"
"""Whether a process with threads of libraries may fork here."""


class CommandLine:
    """A process for commands, which run one after the other."""

    def __init__(self) -> None:
        self.here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with there:
            command = [sys.executable, "-m", __name__, str(there.fileno())]
            folder = Path(__file__).parents[1]
            self.server = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, pass_fds=[there.fileno()])

    def run(self, arguments: list[str], cwd: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
        """Run a command, and return its exit code and what it wrote."""
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            request = json.dumps([arguments, str(cwd), environment])
            socket.send_fds(self.here, [request.encode()], [out.fileno(), err.fileno()])
            code = int(self.here.recv(16))
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess(arguments, code, out.read(), err.read())

    def close(self) -> None:
        """End the process."""
        self.here.close()
        self.server.wait(TIMEOUT)


def serve(requests: socket.socket) -> None:
    """Answer each request with the exit code of its command; return in the process of that command."""
    while True:
        request, streams, _, _ = socket.recv_fds(requests, 1 << 20, 2)
        if not request:
            sys.exit()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of a process with threads that forks
            child = os.fork()
        if not child:
            arguments, cwd, environment = json.loads(request)
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
            return
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        requests.send(str(code).encode())


if __name__ == "__main__":
    for name in (each.name for each in pkgutil.walk_packages(ackclock.cli.__path__, "ackclock.cli.")):
        importlib.import_module(name)
    for name in LIBRARIES:
        importlib.import_module(name)
    gc.freeze()  # or the first collection of each process copies all of its memory
    serve(socket.socket(fileno=int(sys.argv[1])))
    try:
        runpy.run_module("ackclock", run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(int(ended.code or 0))  # clearing the modules takes longer than most commands
