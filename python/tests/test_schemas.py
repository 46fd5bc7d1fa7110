"""Files declared as types: every problem at once, each with its line, and nothing to pay for runs that read none."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ackclock.files import places, toml
from ackclock.literature import library
from ackclock.literature.plan import plan_paper
from ackclock.tuning import schema as tunings

from .conftest import ROOT, Cli

EVERYTHING = '''\
title = "a"            # [not.a.table]
text = """
key = 1
[table]
"""
list = [
  "x = 1", # ]
  { a = 1, b.c = [2,
    3] },
]
a."b.c".d = '{'

[one]
'quoted key' = 1979-05-27 07:32:00

[[many]]
x = 1

[many.sub]
y = """one line"""

[[many]]
[[many.deep]]
z = [[1],
     [2]]
'''


def test_every_key_and_element_has_its_line() -> None:
    found = places.lines(EVERYTHING)
    assert found == {
        ("title",): 1,
        ("text",): 2,
        ("list",): 6,
        ("list", 0): 7,
        ("list", 1): 8,
        ("list", 1, "a"): 8,
        ("list", 1, "b"): 8,
        ("list", 1, "b", "c"): 8,
        ("list", 1, "b", "c", 0): 8,
        ("list", 1, "b", "c", 1): 9,
        ("a",): 11,
        ("a", "b.c"): 11,
        ("a", "b.c", "d"): 11,
        ("one",): 13,
        ("one", "quoted key"): 14,
        ("many", 0): 16,
        ("many", 0, "x"): 17,
        ("many", 0, "sub"): 19,
        ("many", 0, "sub", "y"): 20,
        ("many", 1): 22,
        ("many", 1, "deep", 0): 23,
        ("many", 1, "deep", 0, "z"): 24,
        ("many", 1, "deep", 0, "z", 0): 24,
        ("many", 1, "deep", 0, "z", 0, 0): 24,
        ("many", 1, "deep", 0, "z", 1): 25,
        ("many", 1, "deep", 0, "z", 1, 0): 25,
    }


@pytest.mark.parametrize("file", sorted(ROOT.glob("papers/*/*.toml")) + sorted(ROOT.glob("scenarios/**/*.toml")))
def test_the_places_are_those_of_the_values(file: Path) -> None:
    """Every value of a reader of TOML has a place, and the line of every key contains its name."""
    text = toml.read_text(file)
    found, written = places.lines(text), text.splitlines()

    def walk(value: object, path: places.Key) -> None:
        entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, item in entries:
            here = (*path, key)
            lists_of_tables = isinstance(item, list) and item and all(isinstance(each, dict) for each in item)
            if here in found and isinstance(key, str):
                assert key in written[found[here] - 1]
            # The header of an inner table alone makes its outer ones.
            assert here in found or lists_of_tables or isinstance(item, dict)
            walk(item, here)

    walk(toml.read(file), ())


def test_a_damaged_text_ends_the_search_for_places() -> None:
    """Only valid TOML comes here; even so, no text keeps the scanner from its end."""
    draw = random.Random(1)
    for _ in range(300):
        letters = list(EVERYTHING)
        for _ in range(draw.randrange(1, 20)):
            letters[draw.randrange(len(letters))] = draw.choice("[]{}\"'=,#.\n x")
        assert all(line >= 1 for line in places.lines("".join(letters)).values())


PAPER = """\
title = "Three"
reference = "nobody"
labels = ["queue", "algorithm"]

[[experiment]]
file = "pages.toml"
onyl = { queue = ["5"] }

[[repeat]]
sampling = "path"
count = "3"

[[chart]]
kind = "line"
title = "first"
where = {}

[[chart]]
kind = "time"
title = "second"
where = { queue = 5 }
y = "queue"

[quick]
counts = { sed = 3 }
"""


def test_every_wrong_key_of_a_paper_is_named_at_once(tmp_path: Path, cli: Cli) -> None:
    folder = tmp_path / "papers" / "three"
    folder.mkdir(parents=True)
    (folder / "paper.toml").write_text(PAPER)
    (folder / "pages.toml").write_text('duration = "1 s"\n[flow]\n')
    done = cli("paper", "three", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    file = re.escape(str(folder / "paper.toml"))
    wanted = [
        r"7: experiment 1: there is no key 'onyl'; did you mean 'only'\? \(known: file, labels, only, relabel\)",
        r"11: repeat 1: count must be a whole number from 1 to 10,000, not '3'",
        r"14: chart 1: kind must be one of lines, bars, map, best, front, time, internals, rounds, not 'line'",
        r'21: chart 2: where must be a table of texts, such as \{ loss = "0 %" \}, not \{\'queue\': 5\}',
        r"25: quick.counts: there is no key 'sed'; did you mean 'seed'\? \(known: seed, path, offset, population\)",
    ]
    lines = done.stderr.splitlines()
    assert len(lines) == len(wanted)
    for line, pattern in zip(lines, wanted, strict=True):
        assert re.fullmatch(rf"(error: )?{file}:{pattern}", line), line


def test_what_the_kinds_need_and_refuse_is_named_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "three"
    folder.mkdir()
    text = PAPER.replace("onyl", "only").replace('"3"', "3").replace('"line"', '"bars"').replace("sed =", "seed =")
    (folder / "paper.toml").write_text(text.replace("{ queue = 5 }", "{}"))
    with pytest.raises(ValueError, match="spread is missing") as raised:
        library._load(folder)
    assert [line.removeprefix(f"{folder}/paper.toml:") for line in str(raised.value).splitlines()] == [
        '9: repeat 1: spread is missing; it must be a time with its unit, such as "60 ms"',
        "13: chart 1: x is missing; it must be a text",
        "13: chart 1: metric is missing; it must be a text",
        "18: chart 2: trace is missing; it must be one of cwnd, throughput",
        "22: chart 2: y belongs to charts of the kind map or best, not time",
    ]


def test_unknown_names_of_a_paper_are_named_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "ass"
    folder.mkdir()
    for file in (ROOT / "papers" / "ass").glob("*.toml"):
        (folder / file.name).write_text(file.read_text())
    paper = folder / "paper.toml"
    text = paper.read_text().replace('queue = ["5", "50", "200"]', 'queue = ["6"]')
    paper.write_text(text.replace('over = "1"', 'over = "9"', 1).replace('panel = "queue"', 'panel = "queu"'))
    with pytest.raises(ValueError, match="unknown queue '6'") as raised:
        plan_paper(library._load(folder))
    places = [line.split(": ")[1] for line in str(raised.value).splitlines()]
    assert places == ["quick.only", "figures.panel", "chart 1"]
    for line in str(raised.value).splitlines():
        number = int(line.removeprefix(f"{paper}:").partition(":")[0])
        key = line.split(": ")[1].rpartition(".")[2].replace("chart 1", "over")
        assert key in paper.read_text().splitlines()[number - 1]


def test_every_problem_of_a_tuning_is_named_at_once(tmp_path: Path) -> None:
    file = tmp_path / "tune.toml"
    (tmp_path / "s.toml").write_text('duration = "1 s"\n[flow]\n')
    file.write_text(
        'scenario = "s.toml"\n[parameters]\nw = { values = [1], from = 2 }\n[objective]\nminimise = "complete"\n'
        '[constraints]\njain = { at_most = "much" }\nharm = {}\n[training]\nseeds = [1, 1]\n'
    )
    with pytest.raises(ValueError, match="complete") as raised:
        tunings.read(file)
    found = [line.removeprefix(f"{file}:").split(":")[0] for line in str(raised.value).splitlines()]
    assert found == ["3", "5", "7", "8", "10"]


def test_python_does_not_pay_for_schemas() -> None:
    code = "import ackclock, sys; ackclock.run(ackclock.Scenario(duration='1 s', flow=[{}]))"
    shown = f"{code}; print([name for name in ('pydantic', 'ackclock.files.schema') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_command_run_does_not_pay_for_schemas(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text('duration = "1 s"\n[flow]\n')
    code = (
        "import atexit, sys; from ackclock.cli import main; "
        "atexit.register(lambda: print(*sys.modules, file=sys.stderr)); main()"
    )
    command = [sys.executable, "-c", code, "run", str(tmp_path / "s.toml")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    assert "ackclock._core" in loaded
    assert not {"ackclock.files.schema", "ackclock.files.problems", "ackclock.literature.contents"} & loaded


def test_a_message_lists_twenty_problems_and_counts_the_others(tmp_path: Path) -> None:
    file = tmp_path / "tune.toml"
    file.write_text("".join(f"x{number} = 1\n" for number in range(25)))
    with pytest.raises(ValueError, match="there is no key 'x0'") as raised:
        tunings.read(file)
    lines = str(raised.value).splitlines()
    assert len(lines) == 21
    assert lines[-1].startswith(f"{file}: ") and lines[-1].endswith(" further problems")
