"""Many figures as files: processes draw them, since a thread of Python draws one at a time.

Each helper is a fresh interpreter that runs this module. It reads figures from its standard input and answers with the
bytes of a file. A process of `multiprocessing` would run the script of the caller again, and so draw for ever if that
script has no guard. A helper that ends early costs nothing but time: its figure is drawn here.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from ackclock.drawing.figure import Figure
from ackclock.drawing.files import encode, image_format
from ackclock.files import storage

LEAST = 8
"""Figures for each helper, at least: it takes as long to start as to draw four."""
PACKAGES = Path(__file__).resolve().parents[2]
"""The folder from which a helper imports the package."""

Picture = tuple[Figure, Path]


class Drawing:
    """Figures that are being drawn and written, each atomically; `finish` returns when all are there.

    Helpers begin at once, so that the caller can do other work before it calls `finish`, in which its own process draws
    as well. The bytes of a file do not depend on the number of processes. `close` ends the helpers, as at the end of
    `contextlib.closing`.

    Parameters
    ----------
    pictures
        The figures, each with the place of its file.
    processes
        Processes that draw at the same time, this one included.
    """

    def __init__(self, pictures: Sequence[Picture], processes: int) -> None:
        self._left = deque(pictures)
        self._helpers: list[subprocess.Popen[bytes]] = []
        self._threads: list[threading.Thread] = []
        count = min(processes - 1, len(pictures) // LEAST) if sys.executable else 0
        for _ in range(count):
            with contextlib.suppress(OSError):
                self._help()

    def close(self) -> None:
        """End the helpers, also if figures are left."""
        self._left.clear()
        for helper in self._helpers:
            helper.kill()
        for thread in self._threads:
            thread.join()

    def finish(self) -> None:
        """Draw what is left, and wait for the helpers.

        Raises
        ------
        OSError
            If a file cannot be written.
        """
        while True:
            self._draw_here()
            for thread in self._threads:
                thread.join()
            if not self._left:  # a helper that ended early has put its figure back
                return

    def _draw_here(self) -> None:
        with contextlib.suppress(IndexError):
            while True:
                figure, path = self._left.popleft()
                storage.write_bytes(path, encode(figure, image_format(path)))

    def _help(self) -> None:
        places = os.pathsep.join([str(PACKAGES), *filter(None, sys.path)])
        helper = subprocess.Popen(
            [sys.executable, "-m", __name__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            cwd=PACKAGES, env={**os.environ, "PYTHONPATH": places}, start_new_session=True,
        )  # fmt: skip
        thread = threading.Thread(target=self._feed, args=(helper,), daemon=True)
        self._helpers.append(helper)
        self._threads.append(thread)
        thread.start()

    def _feed(self, helper: subprocess.Popen[bytes]) -> None:
        assert helper.stdin is not None
        assert helper.stdout is not None
        with contextlib.suppress(IndexError, BrokenPipeError), helper:
            while True:
                figure, path = self._left.popleft()
                try:
                    pickle.dump((figure, image_format(path)), helper.stdin)
                    helper.stdin.flush()
                    storage.write_bytes(path, pickle.load(helper.stdout))
                except (OSError, EOFError, pickle.PickleError):
                    # What is wrong with a figure or its place, this process finds out when it draws it.
                    self._left.append((figure, path))
                    helper.kill()
                    return


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests, each a figure and the format of its file, until there are no more."""
    with contextlib.suppress(EOFError):
        while True:
            figure, kind = pickle.load(requests)
            pickle.dump(encode(figure, kind), answers)
            answers.flush()


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
