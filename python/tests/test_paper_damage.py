"""Wrong papers: a paper is refused before its first run, or its report is written."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import random
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ackclock.cli import app as program
from ackclock.files import toml
from ackclock.literature import library
from ackclock.literature.plan import plan_paper

from .conftest import ROOT, Cli, walks
from .test_paper import TINY, TINY_CLAIMS, TINY_SCENARIO, tiny

__all__ = ["tiny"]

MORE = """
[[chart]]
figure = 1
kind = "lines"
title = "Goodput"
where = { loss = "none" }
x = "queue"
series = "algorithm"
metric = "goodput_bps"
printed = [{ x = "5", series = "1", value = 1.5 }]
scale = 1e6
axis = "goodput (Mbit/s)"

[[chart]]
kind = "bars"
title = "Losses"
where = { loss = "some" }
x = "queue"
panel = "algorithm"
series = "algorithm"
metric = "dropped_packets"

[[chart]]
kind = "best"
title = "Best"
where = { loss = "some" }
x = "queue"
y = "loss"
series = "algorithm"
metric = "goodput_bps"
sense = "highest"

[answer]
sentences = ["Of the claims, {counts}.", "Two leads: {two-leads.verdict}.", "{start.verdict}"]
figure = 1

[summary]
idea = "an idea"
claim = "a claim"
today = { slow_start = "staged" }
"""
WRONG: tuple[Any, ...] = (
    10**12, -1, 0, 0.5, "", "x", "{", "}", "{}", "{0}", "{x}", "{:>9999999999}", "today", True, [], {}, [[]], ["x"],
    [1], {"x": "y"}, {"loss": "x"}, "goodput_bps", "loss", "queue", "2", "1e999 s", "é" * 300, "../x", "a/b", "none",
    float("inf"), float("nan"),
)  # fmt: skip


def text(value: Any) -> str:
    """Return a value as TOML."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {text(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(text, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("Infinity", "inf").replace("NaN", "nan")


def written(document: dict[str, Any]) -> str:
    """Return a file of TOML."""
    return "".join(f"{json.dumps(key)} = {text(value)}\n" for key, value in document.items())


def places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the holder and the key of every value."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in list(items):
        yield tree, key
        yield from places(value)


def mutate(document: dict[str, Any], draw: random.Random) -> None:
    """Change a value: another one, none, twice, that of another place, or under another key."""
    found = list(places(document))
    holder, key = draw.choice(found)
    change = draw.randrange(6)
    if change == 0:
        del holder[key]
    elif change == 1 and isinstance(holder, list):
        holder.append(copy.deepcopy(holder[key]))
    elif change == 2:
        other, place = draw.choice(found)
        holder[key] = copy.deepcopy(other[place])
    elif change == 3 and isinstance(holder, dict):
        holder[draw.choice(["today", "x", "loss", "count"])] = holder.pop(key)
    else:
        holder[key] = copy.deepcopy(draw.choice(WRONG))


def rich(folder: Path) -> None:
    """Give the small paper charts, an answer and a summary."""
    (folder / "papers" / "tiny" / "paper.toml").write_text(TINY + MORE)
    (folder / "papers" / "tiny" / "tiny.toml").write_text(TINY_SCENARIO.replace('"4 s"', '"500 ms"'))
    (folder / "papers" / "tiny" / "claims.toml").write_text(TINY_CLAIMS)


def run(*arguments: str) -> tuple[int, str]:
    """Run a command line in this process."""
    said = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["ackclock", *arguments])
        streams = contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO())
        with streams[0], streams[1], pytest.raises(SystemExit) as ended:
            program.main()
    assert isinstance(ended.value.code, int)
    return ended.value.code, said.getvalue()


def walk(folder: Path, seed: int) -> int:
    """Run a wrong paper: it is refused before the first run, or succeeds."""
    draw = random.Random(seed)
    rich(folder)
    shutil.rmtree(folder / "o", ignore_errors=True)
    file = folder / "papers" / "tiny" / draw.choice(["paper.toml", "paper.toml", "claims.toml", "tiny.toml"])
    document = toml.read(file)
    mutate(document, draw)
    file.write_text(written(document))
    code, said = run("paper", "tiny", "--quick", "--out", "o")
    assert code in (0, 2), (seed, said)
    if code == 2:
        assert said.count("error: ") == 1, (seed, said)
        assert not (folder / "o").exists(), (seed, said)
    return code


@walks(6, 60)
def test_a_wrong_paper_is_refused_before_the_first_run(
    seeds: range, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tiny)
    monkeypatch.setenv("NO_COLOR", "1")
    rich(tiny)
    assert run("paper", "tiny", "--quick", "--out", "o")[0] == 0
    for seed in seeds:
        walk(tiny, seed)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("count = 3", "count = 1_000_000_000_000", "repeat 2: count must be a whole number from 1 to 10,000"),
        ('"Two leads: {two-leads.verdict}."', '"Two leads: {two-leads.verdict"', "a { without its partner"),
        ("{two-leads.verdict}", "{three-leads.verdict}", "unknown claim 'three-leads'; did you mean 'two-leads'?"),
        ('panel_title = "IFQ {}"', 'panel_title = "IFQ {} {x}"', "figures: panel_title must be a text with {}"),
        ('panel_title = "IFQ {}"', 'panel_title = "{:>9999999999}"', "figures: panel_title must be a text with {}"),
        ('kind = "bars"', 'kind = "bars"\nfigure = 1', "2 charts are figure 1"),
        ('slow_start = "staged"', 'slow_start = "today"', "summary.today: "),
        ('today = { slow_start = "staged" }', 'today = { sloww = "staged" }', "summary.today: "),
    ],
)
def test_the_message_names_the_place(tiny: Path, old: str, new: str, message: str, cli: Cli) -> None:
    rich(tiny)
    file = tiny / "papers" / "tiny" / "paper.toml"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))
    done = cli("paper", "tiny", cwd=tiny)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tiny / "out").exists()


@walks(2, 12)
def test_changed_papers_of_the_repository_are_planned_or_refused(seeds: range, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "papers" / "ass", tmp_path / "ass")
    for seed in seeds:
        draw = random.Random(seed)
        name = draw.choice(["paper.toml", "claims.toml"])
        document = toml.read(ROOT / "papers" / "ass" / name)
        mutate(document, draw)
        (tmp_path / "ass" / name).write_text(written(document))
        with contextlib.suppress(ValueError):
            plan_paper(library._load(tmp_path / "ass"), quick=True)
        shutil.copy(ROOT / "papers" / "ass" / name, tmp_path / "ass" / name)
