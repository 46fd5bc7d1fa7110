"""Connections that wait for a complete request: a bounded number, each for a limited time."""

from __future__ import annotations

import contextlib
import socket
import threading
import time


class Waiting:
    """Connections without a complete request; the one without news for longest makes room for a new one.

    Parameters
    ----------
    most
        Largest number of connections.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._ends: dict[socket.socket, float] = {}
        """The time at which each is closed, the one without news for longest first."""

    def put(self, connection: socket.socket, seconds: float) -> None:
        """Let a connection wait for this time from now."""
        with self._lock:
            self._ends.pop(connection, None)
            self._ends[connection] = time.monotonic() + seconds
            if len(self._ends) > self._most:
                self._close(next(iter(self._ends)))

    def remove(self, connection: socket.socket) -> None:
        """Let a connection go, whose request is complete or which has ended."""
        with self._lock:
            self._ends.pop(connection, None)

    def close_late(self) -> None:
        """Close the connections whose time is over."""
        now = time.monotonic()
        with self._lock:
            for connection in [each for each, end in self._ends.items() if end < now]:
                self._close(connection)

    def _close(self, connection: socket.socket) -> None:
        del self._ends[connection]
        # Its thread, which waits in a read, gets the end of the stream, and closes it.
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
