"""SQL on a dataset, by DuckDB."""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ackclock import extras
from ackclock.datasets import layout
from ackclock.files import leftovers
from ackclock.formatting.labels import last_part, suggestion
from ackclock.formatting.units import UNITS, factor

if TYPE_CHECKING:
    import duckdb
    import polars

NUMBER = r"^\s*([-+]?\d[\d_]*(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*(.*?)\s*$"
FACTORS = {"": 1.0, "%": 0.01, "per s": 1.0, **{unit: scale for unit, (_, scale) in UNITS.items()}}
# A variable of this program is no table, and extensions would come from the network.
SETTINGS = ("python_enable_replacements = false", "autoinstall_known_extensions = false")
TYPES = {"String": "VARCHAR", "UInt64": "UBIGINT", "Float64": "DOUBLE"}
READING = ("SELECT", "EXPLAIN", "MULTI")
"""Kinds of statements that read; PIVOT is made of several."""
PATTERN = re.compile(r"[*?[]")
"""What makes a name a pattern for DuckDB."""
FOREIGN = re.compile(r"INTERVAL|BIT|UNION|GEOMETRY|VARIANT")
"""Types that Polars does not read."""


def query(
    text: str,
    files: Mapping[str, Sequence[Path]],
    labels: Sequence[str],
    empty: Mapping[str, polars.Schema],
    twins: Mapping[str, tuple[str, Mapping[str, float]]],
) -> polars.DataFrame:
    """Run a query on views of the tables, which cannot read or write anything else.

    Parameters
    ----------
    text
        The query.
    files
        The files of each table.
    labels
        The columns of labels.
    empty
        The columns of the tables that have no files.
    twins
        The column of numbers of each label with a unit, and the numbers of its values.

    Raises
    ------
    ValueError
        If DuckDB refuses the query, or it is not a single one with a result.
    MissingError
        If DuckDB is not installed.
    """
    import polars

    with extras.needed("sql", "a query"):
        import duckdb

    with _folder() as folder, duckdb.connect() as connection:
        for setting in (*SETTINGS, f"temp_directory = {_quoted(str(folder))}"):
            connection.execute(f"SET {setting}")
        connection.execute(_macro())
        for view in _views(_named(files, folder), labels, empty, twins):
            connection.execute(view)
        _confine(connection, [path for paths in files.values() for path in paths], str(folder))
        # The result passes through a file: rows larger than memory are no problem, and pyarrow is not needed.
        path = folder / "result.parquet"
        try:
            _check(connection.extract_statements(text))
            relation = connection.sql(text)
            if relation is None:
                raise ValueError("the query has no result; begin it with SELECT")
            for name, kind in zip(relation.columns, relation.types, strict=True):
                if FOREIGN.match(str(kind)):
                    raise ValueError(f'column "{name}" has the type {kind}; convert it: CAST(… AS VARCHAR)')
            relation.write_parquet(str(path))
        except duckdb.Error as error:
            raise ValueError(_explained(str(error), _columns(connection))) from None
        table = polars.read_parquet(path)
    # A literal such as 0.5 is a decimal in DuckDB.
    return table.with_columns(polars.selectors.decimal().cast(polars.Float64))


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    """Make a temporary folder; the next query removes that of a killed one, which can hold a large result."""
    place = Path(tempfile.gettempdir())
    leftovers.remove_within(place)
    with leftovers.folder(place / "query") as folder:
        yield folder


def _named(files: Mapping[str, Sequence[Path]], folder: Path) -> dict[str, list[Path]]:
    """Return names of the files of the tables in which DuckDB sees no pattern: their own, or links."""
    found: dict[str, list[Path]] = {}
    for table, paths in files.items():
        found[table] = [path.resolve() for path in paths]
        if any(PATTERN.search(str(path)) for path in found[table]):
            (folder / table).mkdir()
            found[table] = [_link(path, folder / table / path.name) for path in found[table]]
    return found


def _link(path: Path, link: Path) -> Path:
    try:
        link.symlink_to(path)
    except OSError as error:  # on Windows, links are for the few who may make them
        raise ValueError(
            f"{path}: cannot be queried, because its path contains *, ? or [, and no link can be made: {error.strerror}"
        ) from None
    return link


def _confine(connection: duckdb.DuckDBPyConnection, files: Sequence[Path], folder: str) -> None:
    """Leave a connection nothing but the files of the dataset, and a folder for the result."""
    allowed = ", ".join(_quoted(str(path.resolve())) for path in files)
    connection.execute(f"SET allowed_paths = [{allowed}]")
    connection.execute(f"SET allowed_directories = [{_quoted(folder)}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def _check(statements: Sequence[duckdb.Statement]) -> None:
    """Refuse anything but one statement that reads.

    Raises
    ------
    ValueError
        If there is another statement, or more than one.
    """
    if len(statements) > 1:
        raise ValueError(f"there are {len(statements)} statements; write a single one")
    for statement in statements:
        if (name := statement.type.name) not in READING:
            raise ValueError(f"{name} is refused: a query only reads; begin it with SELECT")


def _views(
    files: Mapping[str, Sequence[Path]],
    labels: Sequence[str],
    empty: Mapping[str, polars.Schema],
    twins: Mapping[str, tuple[str, Mapping[str, float]]],
) -> Iterator[str]:
    columns = ("point", *labels, *(column for column, _ in twins.values()), "seed")
    keys = ", ".join(f"runs.{_always_quoted(column)}" for column in columns)
    made = "".join(f", {_number(label, *found)}" for label, found in twins.items())
    for table, paths in files.items():
        rows = f"read_parquet([{', '.join(_quoted(str(path)) for path in paths)}])"
        if not paths:
            nulls = (f"NULL::{TYPES[str(kind)]} AS {_always_quoted(column)}" for column, kind in empty[table].items())
            rows = f"(SELECT {', '.join(nulls)} WHERE false)"
        select = (
            f"*{made} FROM {rows}" if table == layout.RUNS else f"{keys}, t.* FROM {rows} AS t JOIN runs USING (run)"
        )
        yield f"CREATE VIEW {table} AS SELECT {select}"


def _number(label: str, column: str, numbers: Mapping[str, float]) -> str:
    """Return the expression of a label's number in the unit of its column."""
    text, unit = _always_quoted(label), column.removeprefix(f"{label} (").removesuffix(")")
    number = f"TRY_CAST(replace(split_part({text}, ' ', 1), '_', '') AS DOUBLE)"
    others = sorted({value.partition(" ")[2] for value in numbers} - {unit})
    if others:
        cases = " ".join(f"WHEN {_quoted(other)} THEN {factor(other, unit)!r}::DOUBLE" for other in others)
        number += f" * CASE substr({text}, strpos({text}, ' ') + 1) {cases} ELSE 1 END"
    return f"{number} AS {_always_quoted(column)}"


def _macro() -> str:
    """Return the macro `si`: the number of a text such as '5 ms' in SI units; NULL without a known unit."""
    number, unit = (f"regexp_extract(CAST(value AS VARCHAR), {_quoted(NUMBER)}, {group})" for group in (1, 2))
    # 35 / 1000 is 0.035, and 35 * 0.001 is not.
    factors = " ".join(f"WHEN {_quoted(word)} THEN {max(scale, 1.0)!r}::DOUBLE" for word, scale in FACTORS.items())
    divisors = " ".join(f"WHEN {_quoted(word)} THEN {round(1 / scale)}" for word, scale in FACTORS.items() if scale < 1)
    value = f"TRY_CAST(replace({number}, '_', '') AS DOUBLE)"
    return f"CREATE MACRO si(value) AS {value} * CASE {unit} {factors} END / CASE {unit} {divisors} ELSE 1 END"


def _columns(connection: duckdb.DuckDBPyConnection) -> dict[str, list[str]]:
    rows = connection.execute("SELECT table_name, column_name FROM duckdb_columns() WHERE NOT internal").fetchall()
    found: dict[str, list[str]] = {}
    for table, column in rows:
        found.setdefault(table, []).append(column)
    return found


def _explained(message: str, columns: Mapping[str, Sequence[str]]) -> str:
    """Return a message of DuckDB with the nearest name of the dataset."""
    text = re.sub(r"^\w+ Error: ", "", message)
    if "disabled by configuration" in text or "disabled through configuration" in text:
        return f"a query reads only {', '.join(columns)}: no other files, extensions or settings"
    if "configuration has been locked" in text:
        return "a query cannot change settings"
    known = list(dict.fromkeys(column for names in columns.values() for column in names))
    if found := re.search(r'(?:Referenced column|column named) "([^"]+)"', text):
        if there := [table for table, names in columns.items() if found[1] in names]:
            return f"there is no column {found[1]!r} in this part of the query; it belongs to {' and '.join(there)}"
        hint = _hint(found[1], known) or "; without a query, `ackclock query` lists the columns"
        return f"there is no column {found[1]!r}{hint}"
    if found := re.search(r"Table with name (\S+) does not exist", text):
        return f"there is no table {found[1]!r}{suggestion(found[1], columns) or ';'} (known: {', '.join(columns)})"
    if (found := re.search(r'Referenced table "([^"]+)" not found', text)) and any(
        name.startswith(f"{found[1]}.") for name in known
    ):
        return f'a column whose name has dots needs double quotes, as in "{_first(known, found[1])}"'
    if (found := re.search(r'syntax error at or near "([^"]+)"', text)) and found[1] in known:
        return f'near "{found[1]}": a column with the name of a keyword needs double quotes'
    if "VARCHAR" in text and text.startswith("No function matches"):
        return f"{text.splitlines()[0]} Labels are texts; si(column) is the number of '5 ms'"
    return "\n".join(line for line in text.splitlines() if line.strip())


def _first(known: Iterable[str], beginning: str) -> str:
    return next(name for name in known if name.startswith(f"{beginning}."))


def _hint(word: str, known: Sequence[str]) -> str:
    """Suggest a column by its name, or by the last part of a label."""
    full = [name for name in known if last_part(name) == word] or [
        name for name in known if f"did you mean {last_part(name)!r}" in suggestion(word, map(last_part, known))
    ]
    return f"; did you mean {' or '.join(map(_name, full))}?" if full else ""


def _name(column: str) -> str:
    """Return a column as SQL writes it."""
    return column if re.fullmatch(r"[A-Za-z_]\w*", column) else _always_quoted(column)


def _always_quoted(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
