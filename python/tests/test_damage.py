"""Damaged results: every command that reads them works, or names the file and the mend in one message."""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import polars
import pyarrow.parquet
import pytest

from ackclock.cli import app as program
from ackclock.experiments.store import JOURNAL, TABLE
from ackclock.files import reading, storage
from ackclock.files.journal import Journal
from ackclock.files.locking import Lock

from .conftest import FIRST, SWEEP, walks
from .test_paper import TINY, TINY_CLAIMS, TINY_SCENARIO

TUNING = """\
scenario = "first.toml"
[parameters]
"flow.rwnd" = { from = "10 packets", to = "20 packets" }
[objective]
maximise = "goodput_bps"
[training]
seeds = { from = 1, to = 2 }
"""
MATRIX = "matrix --slow-start standard --avoidance reno --loss-response halve --recovery sack --paths clean --seeds 2"
WRITERS = {
    "ran": "run first.toml --record cwnd --record queue --out ran",
    "varied": "run sweep.toml --out varied",
    "traced": "run sweep.toml --record cwnd --out traced",
    "swept": "sweep sweep.toml --out swept",
    "compared": "compare reno cubic --paths first.toml --out compared",
    "crossed": f"{MATRIX} --duration 2s --out crossed",
    "tuned": "tune tune.toml --trials 2 --out tuned",
    "papered": "paper tiny --quick --out papered",
}
"""The command that writes each store, and that continues it after a damage."""
READERS = {
    "ran": ("report ran", "plot ran", "gate ran --against sound/ran", "gate sound/ran --against ran",
            "model mathis --over ran --x rtt=min_rtt"),
    "varied": ("report varied", "plot varied --x limit --by algorithm", "gate varied --against sound/varied"),
    "traced": ("report traced", "plot traced", "plot traced --x limit --by algorithm",
               "model mathis --over traced --x rtt=min_rtt"),
    "swept": ("report swept", "query swept", "gate swept --against sound/swept", "gate sound/swept --against swept"),
    "compared": ("report compared",),
    "crossed": ("report crossed",),
    "tuned": ("report tuned",),
    "papered": ("report papered",),
}  # fmt: skip
FAST = ("ran", "varied", "traced", "swept", "tuned")
"""The stores whose commands take less than a second; they get more damages."""
SQL = "SELECT count(goodput_bps), max(delivered_bytes), min(run) FROM flows"
Call = Callable[..., tuple[int, str]]


@pytest.fixture(scope="module")
def call() -> Iterator[Call]:
    """Return a function that runs a command line in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_COLOR", "1")

        def run(*arguments: str) -> tuple[int, str]:
            import contextlib
            import io

            patch.setattr(sys, "argv", ["ackclock", *arguments])
            said = io.StringIO()
            with (
                contextlib.redirect_stderr(said),
                contextlib.redirect_stdout(io.StringIO()),
                pytest.raises(SystemExit) as ended,
            ):
                program.main()
            assert isinstance(ended.value.code, int)
            return ended.value.code, said.getvalue()

        yield run


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory, call: Call) -> Path:
    """Return a directory with a store of each kind, and a sound copy of each."""
    place = tmp_path_factory.mktemp("stores")
    (place / "first.toml").write_text(FIRST.replace('"5 s"', '"200 ms"'))
    (place / "sweep.toml").write_text(SWEEP.replace('"5 s"', '"200 ms"'))
    (place / "tune.toml").write_text(TUNING)
    paper = place / "papers" / "tiny"
    paper.mkdir(parents=True)
    (paper / "paper.toml").write_text(TINY)
    (paper / "tiny.toml").write_text(TINY_SCENARIO.replace('"4 s"', '"2 s"'))
    (paper / "claims.toml").write_text(TINY_CLAIMS)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        for line in WRITERS.values():
            code, said = call(*line.split())
            assert code == 0, said
    for name in WRITERS:
        shutil.copytree(place / name, place / "sound" / name)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        for line in (line for lines in READERS.values() for line in lines if line != "report tuned"):
            code, said = call(*line.split())
            assert code == 0, said
    return place


def values(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place of a value in JSON: its holder and its key."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in list(items):
        yield tree, key
        yield from values(value)


WRONG = (10**18, -1, 0.5, None, "", "x", [], {}, True, [None], {"x": 1}, "x" * 10_000, 10**400)


def changed(text: str, draw: random.Random) -> str:
    """Return JSON with a wrong value, or without a value."""
    tree = json.loads(text)
    holder, key = draw.choice(list(values(tree)))
    if draw.random() < 0.3:
        del holder[key]
    else:
        holder[key] = draw.choice(WRONG)
    return json.dumps(tree)


def retabled(path: Path, draw: random.Random) -> None:
    """Change a table: a column is missing, of another type, or without values."""
    table = polars.read_parquet(path)
    if not table.width:
        return
    name = draw.choice(table.columns)
    kind = draw.choice([polars.String, polars.Boolean, polars.List(polars.Int64), polars.Float32, polars.Binary])
    change = draw.choice([
        lambda: table.drop(name),
        lambda: table.with_columns(polars.lit(None, kind).alias(name)),
        lambda: table.with_columns(polars.lit(None, table.schema[name]).alias(name)),
        lambda: table.clear(),
        lambda: table.head(1),
        lambda: table.select(polars.all().reverse()),
        lambda: table.with_columns(polars.lit("x").alias(name)),
        lambda: table.with_columns(polars.lit(float("nan")).alias(name)),
        lambda: table.with_columns(polars.lit(-1e300).alias(name)),
        lambda: table.select(sorted(table.columns)),
        lambda: polars.DataFrame(),
        lambda: polars.concat([table, table]),
    ])  # fmt: skip
    change().write_parquet(path)


def cut(path: Path, draw: random.Random) -> None:
    """Cut a file off."""
    data = path.read_bytes()
    path.write_bytes(data[: draw.randrange(len(data) + 1)])


def garble(path: Path, draw: random.Random) -> None:
    """Change some bytes."""
    data = bytearray(path.read_bytes())
    for _ in range(draw.choice([1, 1, 3, 30]) if data else 0):
        data[draw.randrange(len(data))] = draw.randrange(256)
    path.write_bytes(data)


def retyped(path: Path, draw: random.Random) -> None:
    """Change a value of JSON."""
    lines = path.read_text().splitlines(keepends=True) if path.suffix == ".jsonl" else [path.read_text()]
    place = draw.randrange(len(lines))
    content, space, checksum = lines[place].rpartition(" ") if "jsonl" in path.suffix else (lines[place], "", "")
    try:
        lines[place] = changed(content, draw) + space + checksum
    except ValueError:  # a line without a checksum
        lines[place] = changed(lines[place], draw) + "\n"
    path.write_text("".join(lines))


def write(path: Path, draw: random.Random) -> None:
    """Write another text."""
    texts = ("{}", "[]", "null", '"x"', "1", "\0", "é", '{"program": "ackclock"}', "[[[]]]\n", "", "[" * 100_000)
    path.write_text(draw.choice(texts))


def link(path: Path, draw: random.Random) -> None:
    """Put a symbolic link in the place of a file."""
    target = draw.choice(["nowhere", path.name, "/dev/null", "/dev/zero", str(Path.cwd() / "first.toml")])
    path.unlink()
    path.symlink_to(target)


def remove(path: Path, draw: random.Random) -> None:
    """Remove a file, or put a directory or a pipe in its place."""
    path.unlink()
    draw.choice([lambda _: None, os.mkdir, pipe])(path)


def damage(store: Path, draw: random.Random) -> str:
    """Damage a file of a store; return what was done."""
    path = draw.choice(sorted(path for path in store.rglob("*") if path.is_file() and not path.is_symlink()))
    kinds = [cut, garble, write, link, remove]
    if path.suffix in (".json", ".jsonl"):
        kinds += [retyped] * 8
    if path.suffix == ".parquet":
        kinds += [retabled] * 5
    kind = draw.choice(kinds)
    kind(path, draw)
    return f"{kind.__name__} {path}"


def check(call: Call, arguments: list[str], done: str) -> None:
    """Run a command on a damaged store: it works, or says what is damaged."""
    code, said = call(*arguments)
    assert code in (0, 2) or (code == 1 and arguments[0] == "gate"), (done, arguments, said)
    errors = [line for line in said.splitlines() if line.startswith("error: ")]
    assert len(errors) <= 1 or code == 1, (done, arguments, said)
    assert "Traceback" not in said
    if code == 2:
        assert len(errors) == 1, (done, arguments, said)
        assert len(errors[0]) < 2000, (done, arguments)


def walk(stores: Path, call: Call, seed: int) -> None:
    """Damage a store at random, and read it by every command."""
    draw = random.Random(seed)
    name = draw.choice([*WRITERS, *FAST, *FAST])
    store = stores / name
    shutil.rmtree(store)
    shutil.copytree(stores / "sound" / name, store)
    done = f"damage {seed}: {damage(store, draw)}"
    for line in READERS[name]:
        check(call, line.split(), done)
    if name == "swept":
        check(call, ["query", name, SQL], done)
    check(call, WRITERS[name].split(), done)


def planned(path: Path) -> None:
    """Plan more runs than any computer can run."""
    path.write_text(path.read_text().replace('"planned": 4', '"planned": 1e18'))


def aside(path: Path) -> None:
    """Move a file away, and link to it."""
    path.symlink_to(path.rename(path.parent.parent / "aside"))


def sort(path: Path) -> None:
    """Sort the columns of a table."""
    table = polars.read_parquet(path)
    table.select(sorted(table.columns)).write_parquet(path)


def flip(path: Path) -> None:
    """Change a bit of a file."""
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 1
    path.write_bytes(data)


def half(path: Path) -> None:
    """Cut a file in the middle."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


DAMAGES: list[tuple[str, str, Callable[[Path], object]]] = [
    ("ran", "flows.parquet", half),
    ("ran", "flows.parquet", aside),
    ("ran", "flows.parquet", flip),
    ("swept", "flows/000001.parquet", flip),
    ("swept", "runs/000001.parquet", flip),
    ("ran", "manifest.json", half),
    ("ran", "manifest.json", lambda path: path.write_text("[" * 100_000)),
    ("ran", "scenario.toml", lambda path: path.write_bytes(b"\xff")),
    ("varied", "runs/000001.parquet", half),
    ("varied", "manifest.json", planned),
    ("swept", "manifest.json", planned),
    ("swept", "runs/000001.parquet", half),
    ("swept", "runs/000001.parquet", aside),
    ("compared", "report.json", half),
]


@pytest.mark.parametrize(("name", "file", "change"), DAMAGES)
def test_a_message_names_the_damaged_file_and_the_mend(
    name: str, file: str, change: Callable[[Path], object], stores: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(stores)
    shutil.rmtree(name)
    shutil.copytree(f"sound/{name}", name)
    change(Path(name, file))
    # Only a query reads the other tables.
    line = READERS[name][0].split() if "flows/" not in file else ["query", name, SQL]
    code, said = call(*line)
    assert code == 2, said
    assert f"{file}: damaged: " in said
    assert "repeat the command that wrote it" in said or "run the same `ackclock" in said


def pipe(path: Path) -> None:
    os.mkfifo(path)  # not on Windows


@pytest.mark.parametrize("put", [pipe, os.mkdir, lambda path: path.symlink_to("/dev/zero")])
def test_a_lock_is_a_file(put: Callable[[Path], None], tmp_path: Path) -> None:
    put(tmp_path / "lock")
    with pytest.raises(FileExistsError, match="lock is not a file of ackclock; delete it"):
        Lock(tmp_path)


def test_every_reader_of_parquet_reads_a_file_with_a_checksum(tmp_path: Path) -> None:
    table = polars.DataFrame({"a": [1, 2], "b": ["x", None]})
    storage.write_parquet(tmp_path / "t.parquet", table)
    assert reading.SEAL in (tmp_path / "t.parquet").read_bytes()
    assert polars.read_parquet(tmp_path / "t.parquet").equals(table)
    assert polars.scan_parquet(tmp_path / "t.parquet").select("b").collect().equals(table.select("b"))
    assert duckdb.sql(f"SELECT * FROM '{tmp_path / 't.parquet'}'").fetchall() == [(1, "x"), (2, None)]
    assert pyarrow.parquet.read_table(tmp_path / "t.parquet").to_pylist() == table.to_dicts()
    whole = (tmp_path / "t.parquet").read_bytes()
    for place in range(len(whole)):
        data = bytearray(whole)
        data[place] ^= 1
        (tmp_path / "t.parquet").write_bytes(data)
        # A change of the mark itself changes nothing that is read.
        if whole.index(reading.SEAL) <= place < whole.index(reading.SEAL) + len(reading.SEAL):
            assert reading.read_parquet(tmp_path / "t.parquet").equals(table)
        else:
            with pytest.raises(reading.DamagedError):
                reading.read_parquet(tmp_path / "t.parquet")


def test_a_changed_digit_is_no_measurement(stores: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(stores)
    shutil.rmtree("papered")
    shutil.copytree("sound/papered", "papered")
    journal = Path("papered") / JOURNAL
    # As a killed process leaves them: one of eight is in the journal alone.
    rows = polars.read_parquet(Path("papered") / TABLE)
    for key, measured in rows.head(1).iter_rows():
        Journal(journal).add(key, measured)
    storage.write_parquet(Path("papered") / TABLE, rows.tail(-1))
    assert call("report", "papered")[0] == 0
    text = journal.read_text()
    place = text.index('"goodput_bps": ') + len('"goodput_bps": ')
    journal.write_text(f"{text[:place]}{(int(text[place]) + 1) % 10}{text[place + 1 :]}")
    code, said = call("report", "papered")
    assert code == 2
    assert "1 of 8 runs missing" in said
    assert call(*WRITERS["papered"].split())[0] == 0
    whole, sound = (polars.read_parquet(Path(place, "runs.parquet")) for place in ("papered", "sound/papered"))
    assert whole.equals(sound)


@walks(10, 100)
def test_damaged_results_are_read_or_refused_by_one_message(
    seeds: range, stores: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(stores)
    for seed in seeds:
        walk(stores, call, seed)
