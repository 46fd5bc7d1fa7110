"""A process with one laboratory: requests of one page in, frames out.

A process, unlike a thread, can be ended at any time, and its memory has a limit.
"""

from __future__ import annotations

import json
import signal
from multiprocessing.connection import Connection

from ackclock import _core

MOST_MEMORY = 4 << 30
"""Largest address space of a process in bytes, where the system limits it."""
MOST_EVENTS = 1_000_000
"""Events of one `advance`, about a quarter of a second: so a page that went away soon costs nothing."""


def answer_requests(pipe: Connection) -> None:
    """Answer requests until the other end of the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the server ends this process
    limit_memory()
    laboratory = _core.Laboratory()
    while True:
        try:
            request = pipe.recv_bytes()
        except EOFError:
            return
        pipe.send_bytes(laboratory.handle(bounded(request)))


def bounded(request: bytes) -> str:
    """Return a request whose work is limited; any other text than a request is for the laboratory to refuse."""
    text = request.decode(errors="replace")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if not isinstance(value, dict) or value.get("do") != "advance":
        return text
    events = value.get("events")
    if events is None or (isinstance(events, (int, float)) and events > MOST_EVENTS):
        return json.dumps({**value, "events": MOST_EVENTS})
    return text


def limit_memory() -> None:
    """Limit the memory of this process, where the system can."""
    try:
        import resource
    except ImportError:  # Windows
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = MOST_MEMORY if hard == resource.RLIM_INFINITY else min(MOST_MEMORY, hard)
    try:
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    except (OSError, ValueError):  # macOS refuses
        return
