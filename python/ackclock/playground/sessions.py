"""Sessions of open pages: each has a token, and a process with a laboratory once it asks for one."""

from __future__ import annotations

import multiprocessing
import secrets
import socket
import threading
import time
from collections import OrderedDict
from multiprocessing import connection
from typing import Any

from ackclock.playground.worker import answer_requests

MOST_SESSIONS = 256
MOST_LABORATORIES = 8
IDLE = 600.0
"""Seconds without a request after which the process of a page ends."""
PATIENCE = 60.0
"""Longest time of one request, in seconds."""
GRACE = 2.0
"""Time for a request whose page went away, in seconds."""


class EngineError(Exception):
    """A request cannot be answered.

    Parameters
    ----------
    status
        Status of HTTP.
    message
        The reason, for the reader of the page.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Laboratory:
    """A process that answers the requests of one page, one after the other."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=answer_requests, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    @property
    def pid(self) -> int:
        """The number of the process."""
        return int(self._process.pid or 0)

    def ask(self, request: bytes, client: socket.socket | None, patience: float, grace: float) -> bytes:
        """Return the answer to a request.

        Parameters
        ----------
        request
            JSON.
        client
            The page's connection, to notice that it was closed.
        patience
            Longest time in seconds.
        grace
            Longest time after the client closed its connection.

        Raises
        ------
        TimeoutError
            If the request took too long.
        EOFError
            If the process ended.
        """
        try:
            self._pipe.send_bytes(request)
        except OSError:
            raise EOFError from None
        deadline = time.monotonic() + patience
        watched: list[Any] = [self._pipe] if client is None else [self._pipe, client]
        while (left := deadline - time.monotonic()) > 0:
            ready = connection.wait(watched, left)
            if self._pipe in ready:
                try:
                    return self._pipe.recv_bytes()
                except OSError:
                    raise EOFError from None
            if client is not None and client in ready:
                watched.remove(client)
                if _is_closed(client):
                    deadline = min(deadline, time.monotonic() + grace)
        raise TimeoutError

    def close(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()  # a thread that waits for an answer sees the end of the pipe
        self._process.join()


def _is_closed(client: socket.socket) -> bool:
    """Whether the other side closed a connection that can be read."""
    try:
        return client.recv(1, socket.MSG_PEEK) == b""
    except OSError:
        return True


class Session:
    """One open page.

    Parameters
    ----------
    now
        When it was opened, in seconds of the monotonic clock.
    """

    def __init__(self, now: float) -> None:
        self.lock = threading.Lock()
        """Held during a request."""
        self.laboratory: Laboratory | None = None
        self.used = now

    def drop(self) -> None:
        """End the process; the caller holds the lock."""
        laboratory, self.laboratory = self.laboratory, None
        if laboratory is not None:
            laboratory.close()


class Sessions:
    """All open pages of a server.

    Parameters
    ----------
    most
        Largest number of processes.
    idle
        Time without a request after which a process ends, in seconds.
    patience
        Longest time of a request, in seconds.
    grace
        Longest time of a request whose page went away, in seconds.
    """

    def __init__(
        self, most: int = MOST_LABORATORIES, idle: float = IDLE, patience: float = PATIENCE, grace: float = GRACE
    ) -> None:
        self._most, self._idle, self._patience, self._grace = most, idle, patience, grace
        self._lock = threading.Lock()
        self._sessions: OrderedDict[str, Session] = OrderedDict()

    def open(self) -> str:
        """Return the token of a new session; the oldest session without a process is forgotten if there are many."""
        token = secrets.token_urlsafe(24)
        with self._lock:
            if len(self._sessions) >= MOST_SESSIONS:
                idle = (name for name, session in self._sessions.items() if session.laboratory is None)
                self._sessions.pop(next(idle))
            self._sessions[token] = Session(time.monotonic())
        return token

    def has(self, token: str) -> bool:
        """Whether there is a session of this token."""
        return token in self._sessions

    def find(self, token: str) -> Session:
        """Return a session.

        Raises
        ------
        EngineError
            If there is none of this token.
        """
        with self._lock:
            session = self._sessions.get(token)
        if session is None:
            raise EngineError(410, "this page belongs to a server that has ended: reload the page")
        return session

    def ask(self, token: str, request: bytes, client: socket.socket | None = None) -> bytes:
        """Return the answer of a session's laboratory.

        Raises
        ------
        EngineError
            If there is no such session, all processes are busy, or the request needed too much time or memory.
        """
        session = self.find(token)
        with session.lock:
            try:
                laboratory = self._laboratory(session)
                return laboratory.ask(request, client, self._patience, self._grace)
            except TimeoutError:
                session.drop()
                raise EngineError(
                    503, f"the engine took more than {self._patience:g} s: its runs were stopped"
                ) from None
            except EOFError:
                session.drop()
                raise EngineError(503, "the engine ended, probably for want of memory: its runs are lost") from None
            finally:
                session.used = time.monotonic()

    def _laboratory(self, session: Session) -> Laboratory:
        """Return the session's process, and start it if there is none; the caller holds the session's lock."""
        if session.laboratory is None:
            with self._lock:
                running = [each for each in self._sessions.values() if each.laboratory is not None]
                running.sort(key=lambda each: each.used)
                if len(running) >= self._most and not any(map(_drop_unused, running)):
                    raise EngineError(503, f"{self._most} pages run simulations: close one, or wait for its runs")
                session.laboratory = Laboratory()
        return session.laboratory

    def drop_idle(self) -> None:
        """End the processes of pages that sent no request for a long time."""
        before = time.monotonic() - self._idle
        with self._lock:
            idle = [each for each in self._sessions.values() if each.laboratory is not None and each.used < before]
            for session in idle:
                _drop_unused(session)

    def close(self) -> None:
        """End all processes and forget all sessions."""
        with self._lock:
            sessions = list(self._sessions.values())
            self._sessions.clear()
        for session in sessions:
            session.drop()


def _drop_unused(session: Session) -> bool:
    """End the process of a session that answers no request; returns whether it did."""
    if not session.lock.acquire(blocking=False):
        return False
    try:
        session.drop()
        return True
    finally:
        session.lock.release()
