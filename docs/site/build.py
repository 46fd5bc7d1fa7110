"""Builds the documentation site.

usage: python docs/site/build.py [FOLDER]

FOLDER is target/site unless it is given. Every warning of Sphinx and every link that leads nowhere fail the build.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import api
import links
import navigation
from sphinx.cmd.build import build_main
from staging import ROOT, Stage

import ackclock
from ackclock.playground import page as playground

HERE = Path(__file__).resolve().parent
# Marks what this program made. Without it, GitHub Pages would leave out folders that begin with an underscore.
MARK = ".nojekyll"
# What stands for the playground where `make web` could not build it.
PLACEHOLDER = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>Playground</title>
<p>This site was built without the playground: <code>make web</code> builds it. <a href="../index.html">Back</a></p>
</html>
"""


def main(arguments: list[str]) -> int:
    """Build the site; return the exit code."""
    if len(arguments) > 1 or any(word.startswith("-") for word in arguments):
        print("usage: python docs/site/build.py [FOLDER]", file=sys.stderr)
        return 2
    site = Path(arguments[0]).resolve() if arguments else ROOT / "target" / "site"
    if site.exists() and any(site.iterdir()) and not (site / MARK).exists():
        print(f"{site} is not empty, and no site: nothing was changed", file=sys.stderr)
        return 2
    shutil.rmtree(site, ignore_errors=True)
    site.mkdir(parents=True)
    # Comes first: the next build also replaces a site whose build was interrupted.
    (site / MARK).touch()
    with TemporaryDirectory(prefix="ackclock-site-") as folder:
        source = Path(folder)
        found = stage(source)
        if not found and build_main(["-q", "-W", "--keep-going", "-b", "html", *places(source, site)]):
            return 1
    if not found:
        add_playground(site / "playground")
        # A release that has others beside it replaces this file: see packaging/site.py.
        version = ackclock.__version__
        listed = json.dumps({"here": version, "top": ".", "versions": [version]})
        (site / "versions.json").write_text(listed + "\n", encoding="utf-8")
        found = links.problems(site, apart=("playground",))
    for problem in found:
        print(problem, file=sys.stderr)
    if not found:
        print(f"{sum(1 for _ in site.rglob('*.html'))} pages in {site}")
    return 1 if found else 0


def stage(source: Path) -> list[str]:
    """Write everything that Sphinx reads; return the problems."""
    stage = Stage(source)
    stage.fill()
    for name, text in api.texts().items():
        stage.write(name, text)
    front = source / "index.md"
    front.write_text(front.read_text(encoding="utf-8") + "\n" + navigation.toctrees(stage), encoding="utf-8")
    missing = [f"docs/site/api.py: no page has ackclock.{name}" for name in api.missing()]
    return stage.problems + missing


def places(source: Path, site: Path) -> list[str]:
    """Return the arguments that tell Sphinx where everything is."""
    return ["-c", str(HERE), "-d", str(source / ".doctrees"), str(source), str(site)]


def add_playground(folder: Path) -> None:
    """Write the playground's files, or a page that says what is missing."""
    folder.mkdir()
    try:
        page = playground.load()
    except FileNotFoundError:
        page = playground.Page({})
    files = page.files if page.has_engine else {playground.INDEX: PLACEHOLDER.encode()}
    for name, data in files.items():
        (folder / name).write_bytes(data)
    if not page.has_engine:
        print("the playground has no engine (make web builds it): the site has a page that says so")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
