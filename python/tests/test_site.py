"""The documentation site: every page is there, links hold, the search works from a file, nothing leaves the site."""

from __future__ import annotations

import base64
import importlib
import importlib.util
import json
import os
import re
import subprocess
import sys
import tarfile
import threading
import zlib
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import quote, urlsplit
from urllib.request import url2pathname

import pytest

import ackclock
from ackclock import _core

from . import browser
from .conftest import ROOT
from .playground import Playground

SITE = ROOT / "docs" / "site"
NEEDED = ("sphinx", "furo", "myst_parser")
sphinx = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in NEEDED), reason="no Sphinx: `make site` installs it"
)


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that imports a module of docs/site."""
    monkeypatch.syspath_prepend(SITE)
    return importlib.import_module


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site, unless `make check` has just built it."""
    if built := os.environ.get("ACKCLOCK_SITE"):
        return Path(built)
    folder = tmp_path_factory.mktemp("built") / "site"
    command = [sys.executable, str(SITE / "build.py"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser.launched() as started:
        yield started


@sphinx
def test_every_page_of_the_repository_is_in_the_site(site: Path, module: Any) -> None:
    names = set(module("staging").pages().values())
    assert {"index", "documentation", "architecture", "guides/sweeps", "reference/parts", "papers/ass"} <= names
    assert [name for name in sorted(names) if not (site / f"{name}.html").is_file()] == []
    # The front page is the README; its title in the navigation follows docs/README.md.
    front = (site / "index.html").read_text(encoding="utf-8")
    captions = re.findall(r'class="caption-text">([^<]*)<', front)
    assert captions == ["How do I …", "How does it work, and why?", "What is …", "Papers", "Versions"]


def offered(site: Path) -> tuple[str, str]:
    """Return the link below the first scenario of a guide, from the site's folder, and that scenario."""
    page = (site / "guides" / "first-scenario.html").read_text(encoding="utf-8")
    link = re.search(r'href="\.\./(playground/index\.html#[^"]*)"', page)
    text = (ROOT / "docs" / "guides" / "first-scenario.md").read_text(encoding="utf-8")
    shown = re.search(r"^```toml first\.toml\n([\s\S]*?)^```$", text, re.MULTILINE)
    assert link is not None
    assert shown is not None
    return link[1], shown[1]


@sphinx
def test_a_scenario_has_a_link_to_the_playground(site: Path) -> None:
    link, text = offered(site)
    packed = link.partition("#s=1.")[2]
    held = zlib.decompress(base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)), wbits=-15)
    assert json.loads(held) == [text, [], {}]
    assert (site / "playground" / "index.html").is_file()


@sphinx
@browser.needed
def test_the_link_opens_the_scenario_in_the_playground(site: Path, chromium: Any) -> None:
    if not (site / "playground" / "engine.js").exists():
        pytest.skip("the engine as WebAssembly was not built: make web")
    link, text = offered(site)
    opened = Playground(chromium, f"{site.as_uri()}/{link}")
    assert "flow0" in opened.finished()
    assert opened.text() == text
    opened.close()


@sphinx
def test_the_python_package_is_documented(site: Path) -> None:
    pages = {path.stem: path.read_text(encoding="utf-8") for path in (site / "api").glob("*.html")}
    text = "".join(pages.values())
    known = [name for name in ackclock.__all__ if not name.startswith("__")]
    modules = {name for name in known if isinstance(getattr(ackclock, name), ModuleType)}
    anchors = set(re.findall(r'id="ackclock\.(\w+)"', text)) | set(re.findall(r'id="module-ackclock\.(\w+)"', text))
    assert [name for name in known if name not in anchors] == []
    assert modules
    # Parameters and columns are those of the docstrings.
    assert "A TOML file" in pages["scenarios"]
    assert "Columns of trace cwnd" in pages["results"]


@sphinx
@browser.needed
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["index", "guides/sweeps", "reference/tables", "api/results", "files/scenarios"])
def test_a_page_loads_nothing_from_elsewhere(site: Path, chromium: Any, name: str, scheme: str) -> None:
    for width in (1280, 400):
        page = browser.Opened(chromium, site / f"{name}.html", width, scheme)
        assert page.errors == []
        assert page.foreign == []
        assert len(page.requests) > 2, "requests are seen"
        assert page.overflow <= 0
        page.page.close()


@sphinx
@browser.needed
def test_a_static_host_can_serve_the_site_from_any_folder(site: Path, chromium: Any) -> None:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *arguments: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=site.parent)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        host = f"http://127.0.0.1:{server.server_port}/"
        page = chromium.new_page()
        seen: list[tuple[str, int]] = []
        page.on("response", lambda response: seen.append((response.url, response.status)))
        page.goto(f"{host}{site.name}/search.html?q=bufferbloat")
        page.wait_for_selector("#search-results mark")
        page.click("#search-results li a")
        page.wait_for_selector("h1")
        page.close()
        server.shutdown()
    assert len(seen) > 10
    assert [answer for answer in seen if not answer[0].startswith(host) or answer[1] >= 400] == []


@sphinx
@browser.needed
def test_a_page_offers_the_other_versions(site: Path, chromium: Any, tmp_path: Path) -> None:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *arguments: Any) -> None:
            pass

    (tmp_path / "archives").mkdir()
    for version in ("0.9.0", "0.10.0"):
        with tarfile.open(tmp_path / "archives" / f"site-{version}.tar.gz", "w:gz") as archive:
            for name in ("index.html", "_static", "guides/sweeps.html"):
                archive.add(site / name, name)
    command = [sys.executable, str(ROOT / "packaging" / "site.py"), "archives", "all"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0.10.0", "0.9.0"], "the newest first"
    again = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (again.returncode, again.stderr) == (1, "all exists: nothing was changed\n")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=tmp_path / "all")) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        host = f"http://127.0.0.1:{server.server_port}/"
        page = chromium.new_page()
        page.goto(f"{host}guides/sweeps.html")
        versions = page.locator(".sidebar-versions select")
        versions.wait_for()
        assert versions.locator("option").all_inner_texts() == ["0.10.0", "0.9.0"]
        versions.select_option("0.9.0")
        page.wait_for_url(f"{host}0.9.0/index.html")
        versions.wait_for()
        assert versions.input_value() == "0.9.0"
        versions.select_option("0.10.0")
        page.wait_for_url(f"{host}index.html")
        page.close()
        server.shutdown()


@sphinx
@browser.needed
def test_words_of_a_search_are_text(site: Path, chromium: Any) -> None:
    opened = browser.Opened(chromium, site / "index.html")
    opened.page.goto((site / "search.html").as_uri() + "?q=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E%20queue")
    opened.page.wait_for_function("document.querySelector('.search-summary')?.textContent")
    assert opened.page.query_selector("#search-results img") is None
    assert opened.errors == []


QUESTIONS = {
    "how do I run on a cluster": "guides/sweeps",
    "cluster": "guides/sweeps",
    "pip install": "guides/first-scenario",
    "install": "guides/first-scenario",
    "loss": "guides/links",
    "wireshark": "guides/captures",
}
MOST_BYTES = 500_000
"""What a search may load, with the page; most of it is there for the next one."""


@sphinx
@browser.needed
@pytest.mark.parametrize("words", QUESTIONS)
def test_a_search_answers_with_the_guide_and_few_bytes(site: Path, chromium: Any, words: str) -> None:
    page = chromium.new_page()
    loaded: set[str] = set()
    page.on("request", lambda request: loaded.add(request.url.partition("?")[0]))
    page.goto(f"{(site / 'search.html').as_uri()}?q={quote(words)}")
    page.wait_for_selector("#search-results mark")
    page.wait_for_function("/finished/.test(document.querySelector('.search-summary').textContent)")
    found = page.eval_on_selector_all("#search-results li > a", "all => all.map((each) => each.getAttribute('href'))")
    page.close()
    assert re.split(r"\.html", found[0])[0] == QUESTIONS[words]
    files = [Path(url2pathname(urlsplit(address).path)) for address in loaded]
    assert any(file.parts[-3:-1] == ("texts", "guides") for file in files), "the texts of the results come later"
    assert sum(file.stat().st_size for file in files if file.is_file()) < MOST_BYTES


GOOD = '<h1 id="top">A</h1><a href="b.html#part">b</a><img src="i.png" alt="curves">'
WRONG = {
    "c.html leads nowhere": '<a href="c.html">c</a>',
    "b.html#none: the page has no such anchor": '<a href="b.html#none">b</a>',
    "../outside.html leads nowhere": '<a href="../outside.html">o</a>',
    "the image i.png has no text (alt)": '<img src="i.png">',
    "a heading of level 4 follows one of level 2": "<h2>A</h2><h4>B</h4>",
    "two elements have the id top": '<p id="top"></p>',
    "loads https://example.org/a.js from another host": '<script src="https://example.org/a.js"></script>',
    "loads //example.org/a.css from another host": '<link rel="stylesheet" href="//example.org/a.css">',
}


@pytest.mark.parametrize("fault", [None, *WRONG], ids=lambda fault: (fault or "none").split()[0])
def test_the_check_of_links_finds(fault: str | None, tmp_path: Path, module: Any) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    (tmp_path / "outside.html").write_text("<h1>O</h1>")
    (folder / "i.png").write_bytes(b"")
    (folder / "b.html").write_text('<h1>B</h1><p id="part"><a href="https://example.org/">elsewhere</a></p>')
    (folder / "index.html").write_text(GOOD + (WRONG[fault] if fault else ""))
    found = module("links").problems(folder)
    assert found == ([f"index.html: {fault}"] if fault else [])


def test_the_check_of_links_finds_lonely_pages_and_styles(tmp_path: Path, module: Any) -> None:
    (tmp_path / "index.html").write_text("<h1>A</h1>")
    (tmp_path / "lonely.html").write_text("<h1>B</h1>")
    (tmp_path / "a.css").write_text("@font-face { src: url('https://example.org/f.woff'); }")
    assert module("links").problems(tmp_path) == ["a.css: loads from another host", "lonely.html: no page leads to it"]


def test_links_of_a_page_lead_into_the_site(tmp_path: Path, module: Any) -> None:
    stage = module("staging").Stage(tmp_path)
    page = ROOT / "docs" / "guides" / "queues.md"
    text = (
        "[a](../../ARCHITECTURE.md#layers) [b](sweeps.md) [c](../../papers/ass) [d](#here) [e](https://example.org)\n"
        "`[f](no.md)`\n```text\n[g](no.md)\n```\n[h](../../scenarios/first.toml) [i](../../Makefile2)\n"
    )
    assert stage.linked(page, text) == (
        "[a](../architecture.md#layers) [b](sweeps.md) [c](../papers/ass.md) [d](#here) [e](https://example.org)\n"
        "`[f](no.md)`\n```text\n[g](no.md)\n```\n[h](../files/scenarios/first.toml.md) [i](../../Makefile2)\n"
    )
    assert stage.problems == ["docs/guides/queues.md: ../../Makefile2 leads nowhere"]
    # The README has whole addresses, and most of them below its text.
    whole = (
        "[j](https://github.com/ackclock/ackclock/blob/main/docs/guides/sweeps.md#axes) ![k][k] [l]\n\n"
        "[k]: https://raw.githubusercontent.com/ackclock/ackclock/main/docs/images/first.png\n"
        "[l]: https://github.com/ackclock/ackclock\n"
    )
    assert stage.linked(ROOT / "README.md", whole) == (
        "[j](guides/sweeps.md#axes) ![k][k] [l]\n\n[k]: files/docs/images/first.png\n"
        "[l]: https://github.com/ackclock/ackclock\n"
    )


def test_only_scenarios_of_one_run_open_in_the_playground(module: Any) -> None:
    is_playable = module("staging").is_playable
    assert is_playable('duration = "1 s"\n[flow]\n')
    assert not is_playable('duration = "1 s"\n[flow]\n[sweep]\nseed = [1, 2]\n')
    assert not is_playable('durattion = "1 s"\n[flow]\n')


def test_the_build_refuses_a_folder_that_is_no_site(tmp_path: Path) -> None:
    pytest.importorskip("sphinx")
    kept = tmp_path / "kept.txt"
    kept.write_text("mine")
    done = subprocess.run(
        [sys.executable, str(SITE / "build.py"), str(tmp_path)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert "no site" in done.stderr
    assert kept.read_text() == "mine"


def test_an_interrupted_build_is_repeated_and_leaves_other_folders(
    tmp_path: Path, module: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sphinx")
    build = module("build")
    site, kept = tmp_path / "site", tmp_path / "site-source" / "kept.txt"
    kept.parent.mkdir()
    kept.touch()

    def interrupted(_: Path) -> list[str]:
        (site / "half.html").touch()
        raise KeyboardInterrupt

    monkeypatch.setattr(build, "stage", interrupted)
    with pytest.raises(KeyboardInterrupt):
        build.main([str(site)])
    monkeypatch.setattr(build, "stage", lambda _: ["a problem"])
    assert build.main([str(site)]) == 1
    assert not (site / "half.html").exists()
    assert kept.exists()


@sphinx
def test_cells_of_the_map_open_the_runs_that_were_measured(site: Path, chromium: Any) -> None:
    from ackclock.comparisons import contenders, places

    found = {place.name: place.paths[0] for place in places.find(["field"])}
    page = chromium.new_page()
    page.goto((site / "field.html").as_uri())
    assert page.locator("#field table").count() == 2
    count = page.locator("#field button").count()
    for number, name in enumerate(places.FIELD_PATHS):
        page.locator("#field select").first.select_option(name)
        cell = page.locator("#field button").nth((1 + 47 * number) % count)
        title = cell.get_attribute("title").partition(f" on {name}")[0]
        keys = ("slow_start", "avoidance") if " + " in title else ("congestion_control",)
        parts = "+".join(f"{key}={part}" for key, part in zip(keys, title.split(" + "), strict=True))
        with page.expect_popup() as opened:
            cell.click()
        content = opened.value.url.partition("#s=1.")[2]
        opened.value.close()
        text = json.loads(zlib.decompress(base64.urlsafe_b64decode(content + "=="), -15))[0]
        given = ackclock.Scenario.from_core(_core.Scenario.from_toml(text, name, []))
        assert given.hash == found[name].compose(contenders.resolve(parts), given.seed, {}).hash, title
    page.close()
