"""SQL on datasets: `Dataset.sql` and the command `query`."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import polars
import pytest

import ackclock
from ackclock.datasets import Dataset

from . import synthetic
from .conftest import Cli
from .synthetic import LABEL, sweep


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a dataset in a folder whose name is a pattern, and text that SQL quotes."""
    place = tmp_path_factory.mktemp("data") / "o*t[1] 'x'"
    sweep(place, range(12))
    sweep(place.with_name("out[1] 'x'"), range(3))  # the pattern matches it too
    return place


def test_views_have_the_rows_of_the_tables(folder: Path) -> None:
    dataset = ackclock.open(folder)
    for view in ("runs", "flows", "links", "pages"):
        wanted = getattr(dataset, view).collect()
        found = dataset.sql(f"SELECT * FROM {view}")
        assert found.schema == wanted.schema
        assert sorted(found.rows(), key=str) == sorted(wanted.rows(), key=str)
    assert dataset.sql("SELECT * FROM transfers").columns == dataset.transfers.collect_schema().names()
    assert dataset.sql("SELECT count(*) FROM transfers").item() == 0


def test_an_empty_dataset_has_all_views(tmp_path: Path) -> None:
    with synthetic.writer(tmp_path / "out"):
        pass
    dataset = ackclock.open(tmp_path / "out")
    assert dataset.sql(f'SELECT "{LABEL}", avg(goodput_bps) FROM runs GROUP BY ALL').height == 0
    assert dataset.sql("SELECT point, completion_time FROM flows").height == 0


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("5 ms", 0.005),
        ("35 ms", 0.035),
        ("7 ns", 7e-9),
        ("3 min", 180.0),
        ("1.5 h", 5400.0),
        ("2 s", 2.0),
        ("10 Mbit/s", 1e7),
        ("2.5 Gbit/s", 2.5e9),
        ("1e3 kbit/s", 1e6),
        ("20 packets", 20.0),
        ("1 packet", 1.0),
        ("3 segments", 3.0),
        ("30 kB", 30_000.0),
        ("2 KiB", 2048.0),
        ("0.5 %", 0.005),
        ("4 per s", 4.0),
        ("5", 5.0),
        ("-1.5", -1.5),
        ("1_000 B", 1000.0),
        (" 5 ms ", 0.005),
        ("1 BDP", None),
        ("unlimited", None),
        ("standard", None),
        ("true", None),
        ("5 parsecs", None),
        ("", None),
    ],
)
def test_si_is_the_number_of_a_label(folder: Path, text: str, number: float | None) -> None:
    assert ackclock.open(folder).sql(f"SELECT si('{text}')").item() == number


def test_si_of_numbers_and_in_groups(folder: Path) -> None:
    dataset = ackclock.open(folder)
    assert dataset.sql("SELECT si(5), si(2.5), si(NULL)").rows() == [(5.0, 2.5, None)]
    found = dataset.sql(
        f'SELECT si("{LABEL}") AS delay, count(*) FROM runs GROUP BY si("{LABEL}") ORDER BY delay DESC LIMIT 3'
    )
    assert found.rows() == [(0.011, 1), (0.010, 1), (0.008, 2)]


def test_numbers_are_plain(folder: Path) -> None:
    found = ackclock.open(folder).sql("SELECT 0.5 AS literal, sum(queue_max) AS total, count(*) AS runs FROM runs")
    assert found.rows() == [(0.5, 130.0, 12)]
    assert found.dtypes == [polars.Float64, polars.Float64, polars.Int64]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT goodput FROM runs", "there is no column 'goodput'; did you mean goodput_bps?"),
        ("SELECT delay FROM runs", f"there is no column 'delay'; did you mean \"{LABEL}\"?"),
        ("SELECT dealy FROM runs", f"there is no column 'dealy'; did you mean \"{LABEL}\"?"),
        (f"SELECT {LABEL} FROM runs", f'a column whose name has dots needs double quotes, as in "{LABEL}"'),
        ("SELECT r.xyz FROM runs AS r", "there is no column 'xyz'; without a query, `ackclock query` lists the"),
        ("SELECT sent_packets FROM runs", "no column 'sent_packets' in this part of the query; it belongs to flows"),
        ("SELECT * FROM flow", "there is no table 'flow'; did you mean 'flows'? (known: flows, links, media, pages,"),
        ("SELEC 1", 'syntax error at or near "SELEC"'),
        (f'SELECT sum("{LABEL}") FROM runs', "Labels are texts; si(column) is the number of '5 ms'"),
        ("SELECT CAST('x' AS INTEGER) FROM runs", "Could not convert string 'x' to INT32"),
        ("SELECT INTERVAL '1 day' AS i", 'column "i" has the type INTERVAL; convert it: CAST(… AS VARCHAR)'),
        ("", "the query has no result; begin it with SELECT"),
    ],
)  # fmt: skip
def test_a_wrong_query_gives_one_message(folder: Path, query: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        ackclock.open(folder).sql(query)
    assert len(str(caught.value).splitlines()) <= 3


def test_variables_of_the_program_are_no_tables(folder: Path) -> None:
    text = polars.DataFrame({"secret": [1]})
    assert text.height == 1
    with pytest.raises(ValueError, match="there is no table 'text'"):
        ackclock.open(folder).sql("SELECT * FROM text")


def test_a_query_needs_no_pyarrow_and_is_quiet(folder: Path) -> None:
    program = (
        "import sys; sys.modules['pyarrow'] = sys.modules['pandas'] = None\n"
        f"import ackclock; print(ackclock.open({str(folder)!r}).sql('SELECT count(*) FROM flows').item())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("33\n", "")


def test_without_a_query_the_columns_are_listed(folder: Path, cli: Cli) -> None:
    done = cli("query", folder)
    assert done.returncode == 0
    lines = [line.split() for line in done.stdout.splitlines() if line.strip()]
    assert lines[0] == ["view", "column", "type", "unit", "meaning"]
    assert ["runs", LABEL, "String", "label", "of", "the", "sweep"] in lines
    assert any(line[:4] == ["flows", "sent_packets", "Int64", "packets"] for line in lines)
    assert any(line[:2] == ["transfers", "bytes"] for line in lines)
    assert done.stderr == f"{folder}: complete, 12 of 1 run stored\n"
    listed = json.loads(cli("query", folder, "--format", "json").stdout)
    assert {row["view"] for row in listed} == {"runs", "flows", "links", "transfers", "pages", "media"}


def test_formats(folder: Path, cli: Cli, tmp_path: Path) -> None:
    query = "SELECT point, run, goodput_bps, goodput_bps / 0 AS nothing FROM runs WHERE point IN (6, 7) ORDER BY 1"
    table = cli("query", folder, query)
    assert [line.split() for line in table.stdout.splitlines() if line.strip()][2:] == [
        ["6", "p6", "2", "inf"],
        ["7", "p7", "–", "–"],
    ]
    assert (
        cli("query", folder, query, "--format", "csv").stdout == "point,run,goodput_bps,nothing\n6,p6,2.0,inf\n7,p7,,\n"
    )
    rows = json.loads(cli("query", folder, query, "--format", "json").stdout)
    assert rows[0] == {"point": 6, "run": "p6", "goodput_bps": 2.0, "nothing": None}
    for suffix in ("csv", "json", "parquet"):
        done = cli("query", folder, query, "--out", f"found.{suffix}")
        assert (done.returncode, done.stdout) == (0, "")
        assert done.stderr == f"found.{suffix}: 2 rows\n"
    assert polars.read_parquet(tmp_path / "found.parquet")["run"].to_list() == ["p6", "p7"]
    assert polars.read_csv(tmp_path / "found.csv")["run"].to_list() == ["p6", "p7"]
    assert json.loads((tmp_path / "found.json").read_text()) == rows
    binary = [sys.executable, "-m", "ackclock", "query", str(folder), query, "--format", "parquet"]
    (tmp_path / "piped.parquet").write_bytes(subprocess.run(binary, capture_output=True, check=True).stdout)
    assert polars.read_parquet(tmp_path / "piped.parquet").height == 2


def test_a_long_table_says_how_many_rows_are_missing(folder: Path, cli: Cli) -> None:
    done = cli("query", folder, "SELECT range FROM range(1000)")
    assert done.stderr == "800 more rows; --format csv prints all\n"


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM read_text('{mine}')",
        "SELECT * FROM read_csv('{mine}')",
        "SELECT * FROM '{mine}'",
        "SELECT * FROM read_blob('{mine}')",
        "SELECT * FROM glob('{folder}/*')",
        "SELECT * FROM read_parquet('{folder}/runs/../../mine.csv')",
        "SELECT * FROM read_parquet('{folder}/link.parquet')",
        "COPY runs TO '{folder}/x.csv'",
        "COPY (SELECT 1) TO '{folder}/x.csv'",
        "EXPORT DATABASE '{folder}/x'",
        "ATTACH '{folder}/x.db'",
        "CREATE TABLE x AS SELECT * FROM runs",
        "CREATE SECRET s (TYPE s3)",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "RESET enable_external_access",
        "PRAGMA database_list",
        "CALL pragma_version()",
        "SELECT 1; SELECT 2",
        "SELECT 1; COPY runs TO '{folder}/x.csv'",
        "DROP VIEW runs",
    ],
)
def test_a_query_reads_nothing_but_the_dataset(query: str, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("mine")
    place = tmp_path / "data"
    shutil.copytree(folder, place)
    (place / "link.parquet").symlink_to(tmp_path / "mine.csv")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ValueError, match=r"refused|reads only|statements|cannot change") as refused:
        Dataset(place).sql(query.format(mine=tmp_path / "mine.csv", folder=place))
    assert len(str(refused.value).splitlines()) == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_links_in_a_dataset_lead_nowhere(folder: Path, tmp_path: Path) -> None:
    place = tmp_path / folder.name
    shutil.copytree(folder, place)
    polars.DataFrame({"secret": [1]}).write_parquet(tmp_path / "theirs.parquet")
    (place / "runs" / "000009.parquet").symlink_to(tmp_path / "theirs.parquet")
    with pytest.raises(OSError, match=r"000009.parquet: damaged: a symbolic link"):
        Dataset(place).sql("SELECT * FROM runs")


@pytest.mark.parametrize(
    "query",
    [
        "FROM runs", "VALUES (1)", "DESCRIBE runs", "SUMMARIZE flows", "SHOW TABLES", "EXPLAIN SELECT * FROM runs",
        "WITH a AS (SELECT * FROM links) SELECT count(*) FROM a", "SELECT 1;", "-- a comment\nSELECT 1",
        "PIVOT runs ON seed USING count(*)",
    ],
)  # fmt: skip
def test_every_statement_that_reads_is_a_query(query: str, folder: Path) -> None:
    assert Dataset(folder).sql(query).width > 0


def test_files_of_the_user_and_of_the_dataset_stay(folder: Path, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("mine")
    done = cli("query", folder, "SELECT 1 AS a", "--out", "mine.csv")
    assert (done.returncode, done.stdout) == (2, "")
    assert "mine.csv: exists and was not written by ackclock; name another file, or add --force" in done.stderr
    assert (tmp_path / "mine.csv").read_text() == "mine"
    assert cli("query", folder, "SELECT 1 AS a", "--out", "mine.csv", "--force").returncode == 0
    assert (tmp_path / "mine.csv").read_text() == "a\n1\n"
    before = (folder / "runs" / "000001.parquet").read_bytes()
    done = cli("query", folder, "SELECT 1 AS a", "--out", folder / "runs" / "000001.parquet", "--force")
    assert done.returncode == 2
    assert "is in the folder of a result" in done.stderr
    assert (folder / "runs" / "000001.parquet").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--format", "tabel"], "--format tabel: there is no such format; did you mean 'table'?"),
        (["--out", "x.txt"], "--out x.txt: needs the suffix .csv, .json or .parquet, or --format with one of these"),
        (["--format", "table", "--out", "x.csv"], "--out x.csv: needs the suffix .csv, .json or .parquet"),
        (["--out", "nowhere/x.csv"], "there is no directory nowhere"),
    ],
)
def test_wrong_options(folder: Path, cli: Cli, arguments: list[str], message: str) -> None:
    done = cli("query", folder, "SELECT 1", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_other_folders_are_refused(cli: Cli, tmp_path: Path, first: Path) -> None:
    assert cli("run", first, "--out", "result").returncode == 0
    for place, message in {
        "result": "holds results of `ackclock run`, and no dataset",
        "nowhere": "nowhere: no result of ackclock here",
    }.items():
        done = cli("query", place, "SELECT 1")
        assert (done.returncode, done.stdout) == (2, "")
        assert message in done.stderr


def test_the_folder_of_a_killed_query_is_removed_by_the_next(folder: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}

    def start(text: str) -> subprocess.Popen[bytes]:
        program = f"import ackclock; ackclock.open({str(folder)!r}).sql({text!r})"
        return subprocess.Popen([sys.executable, "-c", program], env=environment, cwd=tmp_path)

    with start("SELECT max(a.range * b.range) FROM range(1000000) a, range(1000000) b") as endless:
        while not list(tmp_path.iterdir()):
            assert endless.poll() is None
            time.sleep(0.02)
        assert start("SELECT 1").wait() == 0
        assert len(list(tmp_path.iterdir())) == 1, "the folder of a query that runs stays"
        endless.kill()
    assert len(list(tmp_path.iterdir())) == 1
    assert start("SELECT 1").wait() == 0
    assert list(tmp_path.iterdir()) == []


def test_a_query_leaves_no_file(folder: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    program = f"import ackclock; ackclock.open({str(folder)!r}).sql('SELECT * FROM flows')"
    subprocess.run([sys.executable, "-c", program], check=True, env=environment, cwd=tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert Dataset(folder).complete
