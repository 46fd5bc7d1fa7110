"""Keeps the verdicts of full runs of papers in the repository, in small form: papers/NAME/results.json.

usage: python docs/paperresults.py FOLDER ...

FOLDER is what `ackclock paper NAME --out FOLDER` wrote: all runs, not the quick ones. The file has a line for each
sentence of the paper: its outcome, those of its other readings, and what was measured. It also has the tables of the
paper's README: papers/NAME/tables.sql computes each from `runs`, `worlds`, `verdicts` and the comparison with `printed`
tables. That file begins with the views that several queries share, and has a query below each line ``-- TABLE``. The
README has the table below a line ``[table TABLE]: #``, where this program writes it. A test compares the README with
the file: counts of sentences, tables, numbers with a link to a line, as in [1.26](results.json#CLAIM), and the
sentences that fail without an experiment that shows why, under the heading of `UNEXPLAINED`.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import polars

from ackclock.literature import sentences
from ackclock.literature.claims import Claim
from ackclock.literature.contents import Cause

PAPERS = Path(__file__).resolve().parents[1] / "papers"
FILE = "results.json"
QUERIES = "tables.sql"
MOST = 50_000
"""Bytes of a file; ass, the longest, has 113 sentences in 46,000."""
KEPT = ("paper", "runs", "evaluations", "hash")
OF_MADE = ("commit", "date", "command", "machine", "versions")
UNEXPLAINED = "## Failed without an experiment"
COUNTED = re.compile(r"\bOf (\d+) sentences, (?:each in its main reading, )?([^.;]*)[.;]")
QUERY = re.compile(r"^-- (\S+)\n(.*?)(?=^-- |\Z)", re.MULTILINE | re.DOTALL)
TABLE = re.compile(r"^(\[table ([^\]]+)\]: #\n\n)((?:\|.*\n)*)", re.MULTILINE)
CELLS = re.compile(r" \([^()]*;[^()]*\)")
"""Lists of cells, whose number stands before."""
NEGATIVE = re.compile(r"(?<![\w-])-(?=\d)")
RUNS = re.compile(r"^    ackclock paper [\w-]+ +([\d,]+) runs\b", re.MULTILINE)
MARKED = re.compile(r"\[([^\]]+)\]\(results\.json#([^)]+)\)")


def results(folder: Path) -> str:
    """Return the contents of the file for a folder of results.

    Raises
    ------
    ValueError
        If the folder has no complete full run, or if the file would be too large.
    """
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    if manifest.get("kind") != "paper" or manifest.get("quick") or manifest.get("state") != "complete":
        raise ValueError(f"{folder} has no complete full run of a paper; run: ackclock paper NAME --out {folder}")
    found = json.loads((folder / "sentences.json").read_text(encoding="utf-8"))
    head = {key: manifest[key] for key in KEPT if key in manifest}
    head |= {key: manifest["made"][key] for key in OF_MADE}
    lines = [json.dumps(_short(each), ensure_ascii=False) for each in found]
    start = json.dumps(head, ensure_ascii=False)[:-1]
    rows = [f"{json.dumps(name)}: {json.dumps(rows, ensure_ascii=False)}" for name, rows in tables(folder).items()]
    text = f'{start}, "sentences": [\n' + ",\n".join(lines) + '\n], "tables": {\n' + ",\n".join(rows) + "\n}}\n"
    if len(text.encode()) > MOST:
        raise ValueError(f"{folder}: its results have {len(text.encode()):,} bytes; {MOST:,} are allowed")
    return text


def tables(folder: Path) -> dict[str, list[list[str]]]:
    """Return the tables of a paper's README by name: their head and rows, computed from the runs in a folder."""
    name = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["paper"]
    queries = PAPERS / name / QUERIES
    if not queries.exists():
        return {}
    made = {}
    with duckdb.connect() as database:
        database.read_parquet(str(folder / "runs.parquet")).create_view("runs")
        database.register("verdicts", _verdicts(folder))
        for file, view in (("tables.parquet", "printed"), ("worlds.parquet", "worlds")):
            if (folder / file).exists():
                database.read_parquet(str(folder / file)).create_view(view)
        text = queries.read_text(encoding="utf-8")
        database.execute(text.partition("-- ")[0])
        for table, query in QUERY.findall(text):
            found = database.sql(query)
            made[table] = [found.columns, *([_cell(value) for value in row] for row in found.fetchall())]
    return made


def _verdicts(folder: Path) -> polars.DataFrame:
    """Return the verdicts as a table: claim, metric, verdict, and its reason in words."""
    found = json.loads((folder / "verdicts.json").read_text(encoding="utf-8"))
    rows = [{"claim": it["claim"]["id"], **{key: it[key] for key in ("metric", "verdict", "reason")}} for it in found]
    return polars.DataFrame(rows)


def _cell(value: object) -> str:
    """Return a value as a cell: the query has given it its digits."""
    return "–" if value is None else NEGATIVE.sub("−", str(value))


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    head, *rest = (f"| {' | '.join(row)} |\n" for row in rows)
    return head + f"|{'---|' * len(rows[0])}\n" + "".join(rest)


def written(readme: str, stored: Mapping[str, Any]) -> str:
    """Return a README with the stored tables."""
    made = stored["tables"]
    return TABLE.sub(lambda it: it[1] + (_markdown(made[it[2]]) if it[2] in made else it[3]), readme)


def _short(sentence: Mapping[str, Any]) -> dict[str, Any]:
    """Return the line of a sentence; of several parts, the first with the outcome of the sentence is measured."""
    main, *others = sentence["readings"]
    part = next((each for each in main["parts"] if each["outcome"] == main["outcome"]), main["parts"][0])
    measured = CELLS.sub("", part["measured"])
    line = {key: sentence[key] for key in ("sentence", "source", "outcome")}
    if sentence["ours"]:
        line["ours"] = True
    if len(main["parts"]) > 1:
        line["held"] = f"{main['parts_that_hold']} of {len(main['parts'])}"
    if others:
        line["others"] = {each["reading"]: each["outcome"] for each in others}
    return {**line, "measured": measured}


def wrong(readme: str, stored: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a README says of the results that is not in the file: counts of sentences, tables, marked numbers."""
    for _, name, rows in TABLE.findall(readme):
        if rows != (_markdown(stored["tables"][name]) if name in stored["tables"] else None):
            yield f"table {name}: {'another one' if name in stored['tables'] else 'none'} in {FILE}"
    of_paper = [each for each in stored["sentences"] if not each.get("ours")]
    counts = sentences.words(Counter(each["outcome"] for each in of_paper))
    flat = " ".join(readme.split())
    for number, said in COUNTED.findall(flat):
        if (int(number), said) != (len(of_paper), counts):
            yield f"Of {number} sentences, {said}: of {len(of_paper)}, {counts}"
    for runs in RUNS.findall(readme):
        if runs != f"{stored['runs']:,}":
            yield f"{runs} runs: {stored['runs']:,}"
    lines = {each["sentence"]: each["measured"].replace("−", "-") for each in stored["sentences"]}
    for number, name in MARKED.findall(flat):
        text = re.escape(number.replace("−", "-"))
        if not re.search(rf"(?<![\d.,]){text}(?![\d]|[.,]\d)", lines.get(name, "")):
            yield f"[{number}]({FILE}#{name}): {lines.get(name, 'no such sentence')}"


def unexplained(
    readme: str, stored: Mapping[str, Any], claims: Sequence[Claim], causes: Sequence[Cause]
) -> Iterator[str]:
    """Yield the sentences that fail, have no cause with an experiment, and are not in the README's section of these."""
    words = {claim.id: (claim.ours, " ".join(claim.text.split())) for claim in claims}
    shown = {words[claim] for cause in causes if cause.effect for claim in cause.explains}
    section = readme.partition(f"\n{UNEXPLAINED}\n")[2].partition("\n## ")[0]
    for each in stored["sentences"]:
        name = each["sentence"]
        failed = not each.get("ours") and each["outcome"] in sentences.FAILED
        if failed and words[name] not in shown and f"`{name}`" not in section:
            yield f"{name}: {each['outcome']}"


def main(arguments: list[str]) -> None:
    """Write the files."""
    if not arguments or arguments[0].startswith("-"):
        sys.exit(__doc__)
    for folder in map(Path, arguments):
        try:
            text = results(folder)
        except (OSError, ValueError) as error:
            sys.exit(str(error))
        target = PAPERS / json.loads(text)["paper"] / FILE
        target.write_text(text, encoding="utf-8")
        readme = target.with_name("README.md")
        readme.write_text(written(readme.read_text(encoding="utf-8"), json.loads(text)), encoding="utf-8")
        print(target.relative_to(PAPERS.parent))


if __name__ == "__main__":
    main(sys.argv[1:])
