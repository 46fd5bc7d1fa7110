"""The server of the playground: a few files, and the native engine at ``POST /engine``; only for this machine."""

from __future__ import annotations

import contextlib
import errno
import socket
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ackclock.playground import rules
from ackclock.playground.page import ENGINE, FILES, INDEX, NO_ENGINE, Page, Setup
from ackclock.playground.sessions import EngineError, Sessions
from ackclock.playground.waiting import Waiting

ADDRESS = "127.0.0.1"
PORT = 8410
MOST_REQUESTS = 64
"""Complete requests that are answered at the same time."""
MOST_WAITING = 128
"""Connections without a complete request."""
QUIET = 60.0
"""Seconds after which a silent connection is closed."""
ARRIVAL = 10.0
"""Seconds that a request may take to arrive as a whole."""
MOST_UNREAD = 64 << 20
"""Bytes of a refused body that are read and thrown away, so that the client gets to read the answer."""
LINGER = 2.0
"""Longest wait for such bytes, in seconds."""
BUSY = "too many requests at once"
FRAME = "application/octet-stream"
TEXT = "text/plain; charset=utf-8"


class Server(ThreadingHTTPServer):
    """The server.

    Parameters
    ----------
    page
        The page's files.
    setup
        What the page is told; `engine` decides what the server offers.
    port
        Port to listen at; 0 for any free port, None for the usual port or else any free port.
    sessions
        Sessions of the pages.

    Raises
    ------
    OSError
        If the port is taken or not allowed.
    """

    daemon_threads = True
    request_queue_size = MOST_WAITING
    block_on_close = False
    # A second server at the same port must fail. Windows would let it share the port.
    allow_reuse_address = hasattr(socket, "AF_UNIX")

    def __init__(self, page: Page, setup: Setup, port: int | None = None, sessions: Sessions | None = None) -> None:
        self.page, self.setup = page, setup
        self.sessions = Sessions() if sessions is None else sessions
        self.waiting = Waiting(MOST_WAITING)
        self.free = threading.BoundedSemaphore(MOST_REQUESTS)
        try:
            super().__init__((ADDRESS, PORT if port is None else port), Handler)
        except OSError as error:
            if port is not None:
                raise OSError(f"--port {port}: {_reason(error)}; choose another, or omit --port") from None
            super().__init__((ADDRESS, 0), Handler)

    @property
    def port(self) -> int:
        """The port."""
        return int(self.server_address[1])

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://{ADDRESS}:{self.port}/"

    def file(self, name: str) -> bytes | None:
        """Return a file as it is sent; None if there is none of that name."""
        if name == INDEX:
            session = None if self.setup.engine == "wasm" else self.sessions.open()
            return self.page.index(Setup(**{**self.setup.__dict__, "session": session}))
        if name == ENGINE and self.setup.engine == "native":
            return NO_ENGINE
        return self.page.files.get(name, NO_ENGINE if name == ENGINE else None)

    def service_actions(self) -> None:
        """End the processes of idle pages, and close late connections; called twice a second."""
        self.sessions.drop_idle()
        self.waiting.close_late()

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as in the base class
        """Answer a connection in a thread of its own."""
        self.waiting.put(request, ARRIVAL)
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as in the base class
        """Answer a connection."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.waiting.remove(request)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as in the base class
        """Ignore connections that break; show faults of the server."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)

    def server_close(self) -> None:
        """Stop listening, and end all processes."""
        super().server_close()
        self.sessions.close()


def _reason(error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return "another program listens there"
    if error.errno == errno.EACCES:
        return "the system reserves it"
    return error.strerror or str(error)


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server_version = "ackclock"
    sys_version = ""
    timeout = QUIET
    # Headers and body leave in one packet: a run takes hundreds of short requests.
    disable_nagle_algorithm = True
    wbufsize = -1
    server: Server

    def handle_one_request(self) -> None:
        """Wait for a request, which then must arrive in time."""
        try:
            begun = bool(self.rfile.peek(1))  # type: ignore[attr-defined]
        except OSError:
            begun = False
        if not begun:
            self.close_connection = True
            return
        self.server.waiting.put(self.connection, ARRIVAL)
        super().handle_one_request()
        self.server.waiting.put(self.connection, QUIET)

    @contextlib.contextmanager
    def _complete(self) -> Iterator[bool]:
        """Take a slot for a request that has arrived as a whole; give whether there was one."""
        self.server.waiting.remove(self.connection)
        free = self.server.free.acquire(blocking=False)
        try:
            yield free
        finally:
            if free:
                self.server.free.release()

    def _answer(self) -> None:
        """Check the request, and answer it."""
        path, port = self.path.partition("?")[0], self.server.port
        engine = path == "/engine" and self.server.setup.engine != "wasm"
        name = INDEX if path == "/" else path[1:]
        methods = ("POST",) if engine else ("GET", "HEAD")
        if refused := rules.refusal(self.headers, port):
            self._refuse(*refused)
        elif not engine and name not in FILES:
            self._refuse(404, "there is nothing of this name here")
        elif self.command not in methods:
            self._refuse(405, f"only {' and '.join(methods)} here", Allow=", ".join(methods))
        elif not engine:
            self._send_file(name)
        elif refused := rules.refusal_of_post(self.headers, port):
            self._refuse(*refused)
        else:
            self._ask_engine()

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_TRACE = do_CONNECT = _answer  # noqa: N815

    def _send_file(self, name: str) -> None:
        with self._complete() as free:
            data = self.server.file(name) if free else None
            if data is not None:
                self._send(200, FILES[name], data)
        if not free:
            self._refuse(503, BUSY)
        elif data is None:
            self._refuse(404, "there is nothing of this name here")

    def _ask_engine(self) -> None:
        length = int(self.headers["Content-Length"])
        request = self.rfile.read(length)
        if len(request) < length:
            self.close_connection = True
            return
        with self._complete() as free:
            refused = self._run(request) if free else (503, BUSY)
        if refused:
            self._refuse(*refused)

    def _run(self, request: bytes) -> tuple[int, str] | None:
        """Send the engine's answer, or return status and reason of its refusal."""
        try:
            answer = self.server.sessions.ask(self.headers.get(rules.SESSION, ""), request, self.connection)
        except EngineError as error:
            return error.status, str(error)
        self._send(200, FRAME, answer)
        return None

    def _send(self, status: int, kind: str, data: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {**rules.HEADERS, "Content-Type": kind, "Content-Length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)
        self.wfile.flush()

    def _refuse(self, status: int, message: str, **headers: str) -> None:
        """Send an error as a plain text, and close the connection, where a body may be left unread."""
        self.server.waiting.put(self.connection, ARRIVAL)
        self._send(status, TEXT, f"{message}\n".encode(), Connection="close", **headers)
        # To close at once, with bytes unread, would discard the answer before the client reads it.
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)
            self.connection.settimeout(LINGER)
            for _ in range(MOST_UNREAD >> 16):
                if not self.connection.recv(1 << 16):
                    break

    def send_error(self, code: int, *_: str | None) -> None:
        """Refuse what the base class cannot read, without its message, which repeats parts of the request."""
        self._refuse(code, self.responses.get(code, ("error", ""))[0])

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as in the base class
        """Print nothing for a request."""
