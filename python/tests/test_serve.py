"""The server of the playground: files, rules, limits of the native engine, the command, the export."""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ackclock import _core
from ackclock.files import storage
from ackclock.playground import page as pages
from ackclock.playground import rules
from ackclock.playground import server as serving_server
from ackclock.playground import site as exporting
from ackclock.playground.page import NO_ENGINE, Page, Setup
from ackclock.playground.server import MOST_WAITING, Server
from ackclock.playground.sessions import Sessions
from ackclock.playground.worker import MOST_EVENTS, bounded

from .conftest import FIRST, ROOT, Cli, needs_unix
from .serving import PAGE, ask, engine, header, serving, session, setup_of

LONG = FIRST.replace('"5 s"', '"100000 s"')
JSON = {"Content_Type": "application/json"}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(Setup("auto", name="first.toml", text=FIRST)) as started:
        yield started


# Files


def test_the_page_is_told_its_setup(server: Server) -> None:
    answer = ask(server, "GET", "/")
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    told = setup_of(answer.body)
    assert len(told.pop("session")) >= 32
    assert told == {"engine": "auto", "name": "first.toml", "text": FIRST}
    assert session(server) != session(server)


def test_a_scenario_is_data_in_the_page() -> None:
    text = "# \"'><script>alert(1)</script>\u2028 ü &quot;\nduration = '5 s'\n"
    page = PAGE.index(Setup("wasm", name="<b>.toml", text=text))
    assert setup_of(page)["text"] == text
    assert b"<script>alert" not in page
    assert b"<b>" not in page


@pytest.mark.parametrize("name", PAGE.files)
def test_every_file_of_the_page(server: Server, name: str) -> None:
    answer = ask(server, "GET", f"/{name}?from=a-link")
    assert answer.status == 200
    assert answer.headers["Content-Type"] == pages.FILES[name]
    if name != "index.html":
        assert answer.body == PAGE.files[name]


@pytest.mark.parametrize(
    "path",
    [
        "/../../etc/passwd", "/%2e%2e/page.py", "/./playground.js", "/playground.js/", "//playground.js/..", "/page",
        "/..", "/icon.svg%00.png", "\\..\\x", "playground.js", "/report.js", "/manifest.json",
        "/engine/", "/ENGINE", "/PLAYGROUND.JS", "*",
    ],
)  # fmt: skip
def test_nothing_else_is_sent(server: Server, path: str) -> None:
    answer = ask(server, "GET", path)
    assert (answer.status, answer.body) == (404, b"there is nothing of this name here\n")


def test_only_listed_files_of_the_folder_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*PAGE.files, "secret.txt"):
        (tmp_path / name).write_bytes(PAGE.files.get(name, b"secret"))
    monkeypatch.setattr(pages, "FOLDER", tmp_path)
    assert pages.load() == PAGE
    with serving(page=pages.load()) as started:
        assert ask(started, "GET", "/secret.txt").status == 404
        assert ask(started, "GET", "/").status == 200


@pytest.mark.parametrize(
    ("method", "path", "body"), [("GET", "/", None), ("HEAD", "/", None), ("GET", "/x", None), ("POST", "/engine", b"")]
)
def test_every_answer_has_the_headers(server: Server, method: str, path: str, body: bytes | None) -> None:
    answer = ask(server, method, path, body)
    assert rules.HEADERS.items() <= answer.headers.items()
    policy = answer.headers["Content-Security-Policy"].split("; ")
    assert {"default-src 'none'", "script-src 'self' 'wasm-unsafe-eval'", "frame-ancestors 'none'"} <= set(policy)
    assert not any("unsafe-inline" in part or "'unsafe-eval'" in part for part in policy)
    assert answer.headers["Server"].strip() == "ackclock", "no version of Python"


def test_the_page_has_the_policy_of_the_server() -> None:
    source = (ROOT / "web" / "src" / "index.html").read_text()
    found = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', source)
    assert found is not None
    # A tag cannot set this one.
    assert f"{found[1]}; frame-ancestors 'none'" == rules.POLICY
    assert source.count(pages.PLACE) == 1
    assert source.index("charset") < source.index(pages.PLACE), "the charset must be within the first 1024 bytes"


def test_head(server: Server) -> None:
    answer = ask(server, "HEAD", "/playground.js")
    assert (answer.status, answer.body) == (200, b"")
    assert answer.headers["Content-Length"] == str(len(PAGE.files["playground.js"]))
    assert ask(server, "HEAD", "/x").status == 404


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [("POST", "/", "GET, HEAD"), ("PUT", "/style.css", "GET, HEAD"), ("DELETE", "/", "GET, HEAD"),
     ("OPTIONS", "/engine", "POST"), ("GET", "/engine", "POST"), ("HEAD", "/engine", "POST"),
     ("TRACE", "/", "GET, HEAD")],
)  # fmt: skip
def test_other_methods(server: Server, method: str, path: str, allow: str) -> None:
    answer = ask(server, method, path)
    assert (answer.status, answer.headers["Allow"]) == (405, allow)
    assert "Access-Control-Allow-Origin" not in answer.headers


# Rules


def test_the_host_must_be_this_machine(server: Server) -> None:
    for name in ("127.0.0.1", "localhost", "LOCALHOST", "[::1]"):
        assert ask(server, "GET", "/", Host=f"{name}:{server.port}").status == 200
    for host in (None, "", "localhost", f"localhost:{server.port + 1}", f"evil.example:{server.port}", "127.0.0.1:1@x"):
        for method, path in (("GET", "/"), ("GET", "/x"), ("POST", "/engine")):
            answer = ask(server, method, path, Host=host)
            assert answer.status == 403
            assert b"Host" in answer.body


def test_another_site_may_link_to_the_page_but_not_embed_it(server: Server) -> None:
    for mode, status in (("navigate", 200), ("no-cors", 403), ("cors", 403), (None, 403)):
        answer = ask(server, "GET", "/", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode=mode)
        assert answer.status == status
    for site in ("none", "same-origin"):
        assert ask(server, "GET", "/", Sec_Fetch_Site=site, Sec_Fetch_Mode="navigate").status == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "https://evil.example", **JSON}, 403),
        ({"Origin": "null", **JSON}, 403),
        ({"Origin": "http://127.0.0.1:1", **JSON}, 403),
        ({"Origin": "", **JSON}, 403),
        ({"Sec_Fetch_Site": "cross-site", **JSON}, 403),
        ({"Sec_Fetch_Site": "same-site", **JSON}, 403),
        ({"Sec_Fetch_Site": "none", **JSON}, 403),
        ({}, 415),
        ({"Content_Type": "text/plain"}, 415),
        ({"Content_Type": "application/x-www-form-urlencoded"}, 415),
        ({"Transfer_Encoding": "chunked", **JSON}, 411),
        ({"Content_Length": "-1", **JSON}, 411),
        ({"Content_Length": "+2", **JSON}, 411),
        ({"Content_Length": "2, 2", **JSON}, 411),
        ({"Content_Length": "9" * 5000, **JSON}, 413),
        ({**JSON}, 410),
        ({"Ackclock_Session": "x" * 32, **JSON}, 410),
    ],
)
def test_a_request_of_another_page_is_refused(server: Server, headers: dict[str, str], status: int) -> None:
    answer = ask(server, "POST", "/engine", b"{}", **headers)
    assert answer.status == status
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"


def test_a_request_needs_a_length(server: Server) -> None:
    assert ask(server, "POST", "/engine", **JSON).status == 411


def test_a_large_request_is_refused_unread(server: Server) -> None:
    answer = ask(server, "POST", "/engine", b" " * (rules.LARGEST_REQUEST + 1), **JSON)
    assert answer.status == 413
    assert answer.headers["Connection"] == "close"


def test_the_own_page_may_ask(server: Server) -> None:
    for origin in (server.url.rstrip("/"), f"http://localhost:{server.port}", None):
        answer = ask(
            server, "POST", "/engine", json.dumps({"do": "check", "text": FIRST}).encode(),
            Origin=origin, Sec_Fetch_Site="same-origin", Content_Type="application/json; charset=utf-8",
            Ackclock_Session=session(server),
        )  # fmt: skip
        assert header(answer)["scenario"]["flows"] == ["a"]
        assert answer.headers["Content-Type"] == "application/octet-stream"


@pytest.mark.parametrize(
    ("line", "status"),
    [(b"x\r\n\r\n", 400), (b"GET / HTTP/9.9\r\n\r\n", 505), (b"BREW / HTTP/1.1\r\nHost: x\r\n\r\n", 501),
     (b"GET /" + b"x" * 70_000 + b" HTTP/1.1\r\n\r\n", 414),
     (b"GET / HTTP/1.1\r\nX: " + b"x" * 70_000 + b"\r\n\r\n", 431),
     (b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 200 + b"\r\n", 431)],
)  # fmt: skip
def test_what_is_no_request(server: Server, line: bytes, status: int, capfd: pytest.CaptureFixture[str]) -> None:
    answer = raw(server, line)
    # Before a version of HTTP is known, the answer has no headers.
    assert answer.startswith(f"HTTP/1.1 {status} ".encode()) or (status in (400, 505) and b"\r\n" not in answer)
    assert b"<" not in answer, "no HTML"
    assert capfd.readouterr().err == ""


def raw(server: Server, data: bytes) -> bytes:
    """Send bytes, and return all that comes back."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as client:
        client.sendall(data)
        found = b""
        while part := client.recv(1 << 16):
            found += part
        return found


def test_a_refused_body_is_never_read_as_a_request(server: Server) -> None:
    inner = f"GET /style.css HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode()
    outer = f"POST /engine HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Length: {len(inner)}\r\n\r\n".encode()
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as client:
        client.sendall(outer + inner)
        client.shutdown(socket.SHUT_WR)
        found = b""
        while part := client.recv(1 << 16):
            found += part
    assert found.count(b"HTTP/1.1 ") == 1
    assert b"HTTP/1.1 415" in found


@pytest.mark.parametrize("begun", [b"", b"GET / HTTP/1.1\r\n", b"POST /engine HTTP/1.1\r\nHost: x"])
def test_connections_without_a_request_take_no_slot(server: Server, begun: bytes) -> None:
    clients = []
    try:
        for _ in range(MOST_WAITING + 72):
            clients.append(socket.create_connection(("127.0.0.1", server.port), timeout=30))
            clients[-1].sendall(begun)
        assert answers(server)
        # The oldest made room.
        assert all(is_closed(client) for client in clients[:8])
    finally:
        for client in clients:
            client.close()
    assert answers(server)


@pytest.mark.parametrize("kind", ["head", "body"])
def test_a_request_must_arrive_in_time(server: Server, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving_server, "ARRIVAL", 0.3)
    head = f"POST /engine HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Type: application/json\r\n"
    whole = f"{head}Ackclock-Session: {session(server)}\r\nContent-Length: 1000\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as client:
        client.sendall((head if kind == "head" else whole).encode())
        # Bytes that drip do not extend the time.
        with contextlib.suppress(ConnectionError):
            while not is_readable(client):
                client.sendall(b" ")
                time.sleep(0.01)
        assert is_closed(client)


def is_readable(client: socket.socket) -> bool:
    """Whether there is something to read, or the end."""
    return bool(select.select([client], [], [], 0)[0])


def test_a_twofold_header_is_refused(server: Server) -> None:
    host = f"Host: 127.0.0.1:{server.port}\r\n"
    length = "Content-Length: 2\r\n"
    for head in (
        f"GET / HTTP/1.1\r\n{host}{host}",
        f"GET / HTTP/1.1\r\n{host}host: evil.test\r\n",
        f"GET / HTTP/1.1\r\nHost: evil.test\r\n{host}",
        f"POST /engine HTTP/1.1\r\n{host}Content-Type: application/json\r\n{length}{length}",
    ):
        answer = raw(server, f"{head}\r\n{{}}".encode())
        assert answer.startswith(b"HTTP/1.1 400 "), head
        assert b"evil" not in answer


def test_an_error_repeats_nothing_of_the_request(server: Server) -> None:
    mark = "<script>mark</script>"
    for request in (
        f"{mark}\r\n\r\n",
        f"GET / {mark}\r\n\r\n",
        f"{mark} / HTTP/1.1\r\n\r\n",
        f"GET /{mark} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n",
        f"GET / HTTP/1.1\r\nHost: {mark}\r\n\r\n",
        f"POST /engine HTTP/1.1\r\nHost: {mark}\r\nAckclock-Session: {mark}\r\nContent-Length: 4\r\n\r\nmark",
    ):
        answer = raw(server, request.encode())
        assert answer
        assert b"mark" not in answer, request


def is_closed(client: socket.socket) -> bool:
    try:
        return client.recv(1) == b""
    except ConnectionError:
        return True


def answers(server: Server) -> bool:
    try:
        return ask(server, "GET", "/").status == 200
    except (ConnectionError, OSError):
        return False


def eventually(condition: Any) -> None:
    """Wait until a condition holds."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "the condition never held"
        time.sleep(0.02)


# The native engine


def test_a_run_in_steps_is_the_run_of_the_command_line(server: Server, cli: Cli, first: Path) -> None:
    token = session(server)
    run = header(engine(server, token, do="open", text=FIRST, record=["cwnd"]))["run"]
    rows, done = 0, False
    while not done:
        step = header(engine(server, token, do="advance", run=run, until=None, events=5000))
        rows, done = rows + step["tables"]["cwnd"]["rows"], step["done"]
    assert rows > 10
    summary = header(engine(server, token, do="finish", run=run))["summary"]
    wanted = json.loads(cli("run", first, "--json", "--record", "cwnd").stdout)
    assert summary["flows"] == wanted["flows"]
    assert summary["links"] == wanted["links"]


def test_faults_of_a_scenario_are_frames(server: Server) -> None:
    answer = engine(server, session(server), do="check", text=FIRST.replace("recovery", "recovvery"))
    (problem,) = header(answer)["error"]["problems"]
    assert "recovery" in problem["message"]
    assert problem["line"] == 9


def test_other_files_are_never_read(server: Server, tmp_path: Path) -> None:
    secret = tmp_path / "secret.har"
    secret.write_text("the secret")
    text = f'[[flow]]\napplication = {{ kind = "web", har = "{secret}" }}\n'
    for request in ("check", "open"):
        error = header(engine(server, session(server), do=request, text=text))["error"]["text"]
        assert "file" in error
        assert "secret" not in error.replace(str(secret), "")


def test_pages_have_laboratories_of_their_own(server: Server) -> None:
    one, other = session(server), session(server)
    run = header(engine(server, one, do="open", text=FIRST))["run"]
    assert "error" in header(engine(server, other, do="finish", run=run))
    assert "summary" in header(engine(server, one, do="finish", run=run))


def test_several_pages_at_the_same_time(server: Server) -> None:
    found: list[dict[str, Any]] = []

    def use() -> None:
        token = session(server)
        run = header(engine(server, token, do="open", text=FIRST))["run"]
        found.append(header(engine(server, token, do="finish", run=run)))

    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert len({answer["digest"] for answer in found}) == 1


def test_one_step_has_a_limit() -> None:
    for events in ({}, {"events": None}, {"events": 10 * MOST_EVENTS}):
        request = {"do": "advance", "run": 1, "until": None, **events}
        assert json.loads(bounded(json.dumps(request).encode())) == {**request, "events": MOST_EVENTS}
    for text in (
        '{"do": "advance", "events": 7}',
        '{"do":"check"}',
        "[1]",
        "nonsense",
        "[" * 100_000,
        '{"events": 1e99}',
    ):
        assert bounded(text.encode()) == text
    assert bounded(b'"\xff"') == '"\ufffd"'


def test_a_long_step_ends_early(server: Server) -> None:
    token = session(server)
    run = header(engine(server, token, do="open", text=LONG))["run"]
    step = header(engine(server, token, do="advance", run=run, until=None))
    assert not step["done"]
    assert 0 < step["events"] <= MOST_EVENTS
    assert header(engine(server, token, do="close", run=run)) == {}


def test_a_request_that_takes_too_long_is_stopped() -> None:
    with serving(sessions=Sessions(patience=2)) as started:
        token = session(started)
        run = header(ask_patiently(started, token, do="open", text=LONG))["run"]
        answer = engine(started, token, do="finish", run=run)
        assert (answer.status, answer.body) == (503, b"the engine took more than 2 s: its runs were stopped\n")
        assert "error" in header(ask_patiently(started, token, do="finish", run=run)), (
            "the page goes on, without its runs"
        )


def ask_patiently(server: Server, token: str, **request: Any) -> Any:
    """Ask until the process has started in time."""
    for _ in range(50):
        if (answer := engine(server, token, **request)).status == 200:
            return answer
    raise AssertionError(answer.body)


def test_a_request_of_a_closed_page_is_stopped() -> None:
    sessions = Sessions(grace=0.05)
    with serving(sessions=sessions) as started:
        token = session(started)
        run = header(engine(started, token, do="open", text=LONG))["run"]
        body = json.dumps({"do": "finish", "run": run}).encode()
        head = f"POST /engine HTTP/1.1\r\nHost: 127.0.0.1:{started.port}\r\nContent-Type: application/json\r\n"
        head += f"Ackclock-Session: {token}\r\nContent-Length: {len(body)}\r\n\r\n"
        with socket.create_connection(("127.0.0.1", started.port)) as client:
            client.sendall(head.encode() + body)
            eventually(lambda: sessions.find(token).lock.locked())
        eventually(lambda: sessions.find(token).laboratory is None)


def test_a_page_survives_the_end_of_its_process() -> None:
    sessions = Sessions()
    with serving(sessions=sessions) as started:
        token = session(started)
        run = header(engine(started, token, do="open", text=FIRST))["run"]
        process = sessions.find(token).laboratory
        assert process is not None
        os.kill(process.pid, signal.SIGKILL)
        answer = engine(started, token, do="finish", run=run)
        assert answer.status == 503
        assert b"memory" in answer.body
        assert header(engine(started, token, do="check", text=FIRST))["scenario"]["name"]


def test_processes_are_few_and_idle_ones_end() -> None:
    sessions = Sessions(most=2, idle=3600)
    with serving(sessions=sessions) as started:
        tokens = [session(started) for _ in range(3)]
        runs = [header(engine(started, token, do="open", text=FIRST))["run"] for token in tokens]
        assert [sessions.find(token).laboratory is None for token in tokens] == [True, False, False]
        # A page that answers a request keeps its process; if all do, another page has to wait.
        with sessions.find(tokens[1]).lock, sessions.find(tokens[2]).lock:
            answer = engine(started, tokens[0], do="check", text=FIRST)
            assert answer.status == 503
            assert b"2 pages" in answer.body
        assert "summary" in header(engine(started, tokens[2], do="finish", run=runs[2]))
        sessions.find(tokens[1]).used -= 7200
        eventually(lambda: sessions.find(tokens[1]).laboratory is None)
        assert sessions.find(tokens[2]).laboratory is not None


def test_the_number_of_sessions_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ackclock.playground.sessions.MOST_SESSIONS", 3)
    sessions = Sessions()
    tokens = [sessions.open() for _ in range(4)]
    assert [sessions.has(token) for token in tokens] == [False, True, True, True]


@pytest.mark.skipif(sys.platform != "linux", reason="the system limits no memory of a process")
def test_the_memory_of_a_process_is_limited() -> None:
    code = "from ackclock.playground import worker; worker.limit_memory(); bytearray(worker.MOST_MEMORY)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "MemoryError" in done.stderr


def test_without_the_native_engine() -> None:
    with serving(Setup("wasm")) as started:
        assert setup_of(ask(started, "GET", "/").body)["session"] is None
        assert ask(started, "POST", "/engine", b"{}", **JSON).status == 404


def test_without_the_engine_of_the_browser() -> None:
    with serving(Setup("native")) as started:
        assert ask(started, "GET", "/engine.js").body == NO_ENGINE
    bare = Page({name: data for name, data in PAGE.files.items() if name != "engine.js"})
    assert not bare.has_engine
    assert not Page({**PAGE.files, "engine.js": b"// The engine was not built: make web\n"}).has_engine
    with serving(page=bare) as started:
        assert ask(started, "GET", "/engine.js").body == NO_ENGINE


# The command


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """Return a folder with a built page."""
    folder = tmp_path / "built"
    folder.mkdir()
    for name, data in PAGE.files.items():
        (folder / name).write_bytes(data)
    return folder


def command(folder: Path, *arguments: str | Path) -> list[str]:
    """Return the command line with another folder of built files."""
    code = (
        "import sys, pathlib; from ackclock.playground import page; page.FOLDER = pathlib.Path(sys.argv.pop(1)); "
        "from ackclock.cli import main; main()"
    )
    return [sys.executable, "-c", code, str(folder), "serve", *map(str, arguments)]


def run(folder: Path, *arguments: str | Path) -> tuple[int, str, str]:
    done = subprocess.run(command(folder, *arguments), capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def test_ctrl_c_ends_the_server_and_its_processes(built: Path, first: Path, tmp_path: Path) -> None:
    needs_unix()
    before = first.stat()
    browser, opened = tmp_path / "browser", tmp_path / "opened"
    browser.write_text(f'#!/bin/sh\necho "$1" > "{opened}"\n')
    browser.chmod(0o755)
    process = subprocess.Popen(
        command(built, first, "--port", "0", "--open"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "BROWSER": str(browser)},
    )  # fmt: skip
    assert process.stdout is not None
    printed = process.stdout.readline()
    found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\n", printed)
    assert found is not None
    eventually(lambda: opened.exists() and opened.read_text() == printed)
    remote: Any = SimpleNamespace(port=int(found[1]))
    assert setup_of(ask(remote, "GET", "/").body)["text"] == FIRST
    token = session(remote)
    assert header(engine(remote, token, do="check", text=FIRST))["scenario"]["name"]
    children = children_of(process.pid)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert err.splitlines() == ["stop with Ctrl-C", "stopped"]
    eventually(lambda: not any(is_running(child) for child in children))
    after = first.stat()
    assert (after.st_mtime_ns, after.st_ino) == (before.st_mtime_ns, before.st_ino)


def children_of(parent: int) -> list[int]:
    done = subprocess.run(["ps", "-o", "pid=", "--ppid", str(parent)], capture_output=True, text=True, check=False)
    return [int(word) for word in done.stdout.split()]


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_port_that_is_taken(built: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        code, out, err = run(built, "--port", str(port))
    assert (code, out) == (2, "")
    assert err == f"error: --port {port}: another program listens there; choose another, or omit --port\n"
    assert run(built, "--port", "70000")[0] == 2


def test_the_usual_port_may_be_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        monkeypatch.setattr("ackclock.playground.server.PORT", other.getsockname()[1])
        with Server(PAGE, Setup("auto")) as started:
            assert started.port not in (0, other.getsockname()[1])
            assert started.server_address[0] == "127.0.0.1"


def test_a_wrong_scenario_is_refused_as_by_check(built: Path, cli: Cli, tmp_path: Path) -> None:
    for text in (
        FIRST.replace("recovery", "recovvery"),
        "x = ",
        f'{FIRST}[sweep]\n"flow.recovery" = ["sack", "sick"]\n',
    ):
        (tmp_path / "wrong.toml").write_text(text)
        code, out, err = run(built, tmp_path / "wrong.toml")
        assert (code, out) == (2, "")
        assert err == cli("check", tmp_path / "wrong.toml").stderr
    code, _, err = run(built, tmp_path / "nothing.toml")
    assert code == 2
    assert err == cli("check", tmp_path / "nothing.toml").stderr
    (tmp_path / "large.toml").write_text(f"{FIRST}# {'x' * pages.LARGEST_TEXT}\n")
    code, _, err = run(built, tmp_path / "large.toml")
    assert code == 2
    assert "larger than the limit of 1 MB" in err


def test_without_a_page(tmp_path: Path) -> None:
    code, out, err = run(tmp_path / "nothing")
    assert (code, out) == (2, "")
    assert "not part of this installation" in err
    assert "make page" in err
    assert "Traceback" not in err


def test_an_engine_that_was_not_built(built: Path, tmp_path: Path) -> None:
    (built / "engine.js").unlink()
    code, _, err = run(built, "--engine", "wasm")
    assert code == 2
    assert "make web" in err
    code, _, err = run(built, "--export", tmp_path / "site")
    assert code == 2
    assert "make web" in err
    assert not (tmp_path / "site").exists()


# The export


def test_the_export_is_the_page(built: Path, first: Path, tmp_path: Path) -> None:
    site = tmp_path / "deep" / "site"
    code, out, err = run(built, first, "--export", site)
    assert (code, out, err) == (0, f"{site / 'index.html'}\n", "")
    assert {path.name for path in site.iterdir()} == {*PAGE.files, "manifest.json"}
    told = setup_of((site / "index.html").read_bytes())
    assert told == {"engine": "wasm", "session": None, "name": "first.toml", "text": FIRST}
    assert (site / "playground.js").read_bytes() == PAGE.files["playground.js"]
    # Again, with another version of the page that lacks a file and has other ones.
    (site / "notes.txt").write_text("mine")
    (built / "style.css").write_text("other")
    code, _, err = run(built, "--export", site)
    assert (code, err) == (0, "")
    assert (site / "style.css").read_text() == "other"
    assert (site / "notes.txt").read_text() == "mine"


def test_the_export_overwrites_nothing_of_others(built: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_text("mine")
    code, _, err = run(built, "--export", site)
    assert code == 2
    assert "was not written by ackclock" in err
    assert [path.name for path in site.iterdir()] == ["index.html"]
    (site / "index.html").unlink()
    assert run(built, "--export", site)[0] == 0
    (site / "style.css").write_text("changed by hand")
    code, _, err = run(built, "--export", site)
    assert code == 2
    assert "style.css: was not written by ackclock, or was changed since" in err
    assert (site / "style.css").read_text() == "changed by hand"
    (tmp_path / "file").write_text("mine")
    code, _, err = run(built, "--export", tmp_path / "file")
    assert code == 2
    assert (tmp_path / "file").read_text() == "mine"


def test_an_export_that_was_interrupted_is_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site, setup = tmp_path / "site", Setup("wasm", None, "first.toml", FIRST)
    exporting.export(PAGE, setup, site)
    whole, other = storage.write_bytes, Page({**PAGE.files, "style.css": b"other"})

    def stop(path: Path, data: bytes) -> None:
        if path.name == "style.css":
            raise OSError("the disk is full")
        whole(path, data)

    with monkeypatch.context() as patched:
        patched.setattr(storage, "write_bytes", stop)
        with pytest.raises(OSError, match="full"):
            exporting.export(other, setup, site)
    assert (site / "style.css").read_bytes() == PAGE.files["style.css"]
    exporting.export(other, setup, site)  # the files of both exports are ours
    assert (site / "style.css").read_bytes() == b"other"
    assert {len(text) for text in json.loads((site / "manifest.json").read_text())["files"].values()} == {64}


def test_a_changed_manifest_removes_nothing_elsewhere(built: Path, tmp_path: Path) -> None:
    site, victim = tmp_path / "site", tmp_path / "victim"
    victim.write_text("mine")
    assert run(built, "--export", site)[0] == 0
    manifest = json.loads((site / "manifest.json").read_text())
    assert (manifest["kind"], manifest["version"]) == ("page", _core.__version__)
    manifest["files"].update({"../victim": "x", str(victim): "x", "..": "x"})
    (site / "manifest.json").write_text(json.dumps(manifest))
    run(built, "--export", site)
    assert victim.read_text() == "mine"
