"""A server of the playground for tests, and requests to it."""

from __future__ import annotations

import html
import http.client
import json
import re
import struct
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ackclock.playground.page import PLACE, Page, Setup
from ackclock.playground.rules import SESSION
from ackclock.playground.server import Server
from ackclock.playground.sessions import Sessions

INDEX = f"<!doctype html>\n<html><head><meta charset='utf-8'>\n{PLACE}\n<title>a page</title></head></html>\n"
PAGE = Page(
    {
        "index.html": INDEX.encode(),
        "playground.js": b"'use strict';\n",
        "logs.html": b"<!doctype html>\n<title>logs</title>\n",
        "logs.js": b"'use strict';\n",
        "plotly.js": b"'use strict';\n",
        "style.css": b"p { margin: 0 }\n",
        "icon.svg": b"<svg xmlns='http://www.w3.org/2000/svg'/>\n",
        "engine.js": b"self.ackclockEngine = 'AA==';\n",
        "third-party.txt": b"uplot 1: MIT\n",
        "engine-third-party.txt": b"libm 1: MIT\n",
    }
)


@dataclass(frozen=True)
class Answer:
    """An answer of the server."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@contextmanager
def serving(setup: Setup = Setup("auto"), page: Page = PAGE, sessions: Sessions | None = None) -> Iterator[Server]:  # noqa: B008
    """Serve a page in a thread."""
    with Server(page, setup, 0, sessions) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def ask(server: Server, method: str, path: str, body: Any = None, **headers: str | None) -> Answer:
    """Send one request; the underscores of a header's name are hyphens, and None omits a header."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.putrequest(method, path, skip_host="Host" in given, skip_accept_encoding=True)
    for name, value in given.items():
        if value is not None:
            connection.putheader(name, value)
    if body is not None and "Content-Length" not in given and "Transfer-Encoding" not in given:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders()
    if body is not None:
        connection.send(body)
    response = connection.getresponse()
    answer = Answer(response.status, dict(response.headers), response.read())
    connection.close()
    return answer


def setup_of(page: bytes) -> dict[str, Any]:
    """Return what a page is told."""
    found = re.search(r'<meta name="ackclock-server" content="([^"]*)">', page.decode())
    assert found is not None
    read: dict[str, Any] = json.loads(html.unescape(found[1]))
    return read


def session(server: Server) -> str:
    """Open a page, and return its token."""
    return str(setup_of(ask(server, "GET", "/").body)["session"])


def engine(server: Server, token: str, **request: Any) -> Answer:
    """Send a request to the engine, as the page does."""
    body = json.dumps(request).encode()
    headers = {SESSION.replace("-", "_"): token, "Content_Type": "application/json"}
    return ask(server, "POST", "/engine", body, **headers)


def header(answer: Answer) -> dict[str, Any]:
    """Return the header of a frame."""
    assert answer.status == 200, answer.body
    (length,) = struct.unpack_from("<I", answer.body)
    read: dict[str, Any] = json.loads(answer.body[4 : 4 + length])
    return read
