"""Asks every clause of every suite, in all worlds of virtual time, and stores the verdicts for the page of clauses.

usage: python docs/conformance.py [SUITE...]

It writes docs/validation/conformance.csv, or the rows of the named suites in it; `python docs/generate.py` then makes
docs/reference/clauses.md.
"""

from __future__ import annotations

import csv
import sys
from collections import Counter
from pathlib import Path

import ackclock
from ackclock.conformance import suites
from ackclock.conformance.result import DEVIATES, FAILS, HOLDS, NOT_ASKED, UNSEEN, Verdict

STORED = Path(__file__).resolve().parent / "validation" / "conformance.csv"
WORLDS = {"simulation": "simulation", "linux": "Linux", "quic": "noq", "quinn": "quinn"}
"""The worlds, with the heads of their columns. QUIC stacks have none in the tables of suites that do not ask them."""
COLUMNS = ("suite", "clause", *(f"{world}{end}" for world in WORLDS for end in ("", "_asked", "_measured", "_reason")))
HEAD = (f"| suite | document | clauses | {' | '.join(WORLDS.values())} |", "|---|---|---|" + "---|" * len(WORLDS))
MARKS = {HOLDS: "holds", DEVIATES: "deviates", FAILS: "**fails**", UNSEEN: "not seen", NOT_ASKED: "–"}


def _row(found: dict[str, Verdict]) -> dict[str, str]:
    clause = found["simulation"].asked.clause
    row = {"suite": clause.suite, "clause": clause.id}
    for world, each in found.items():
        row |= {
            world: each.verdict, f"{world}_asked": each.asked.implementation, f"{world}_measured": each.words,
            f"{world}_reason": each.reason,
        }  # fmt: skip
    return row


def stored() -> list[dict[str, str]]:
    """Return the stored rows."""
    if not STORED.exists():
        return []
    with STORED.open(newline="") as file:
        return list(csv.DictReader(file))


def main() -> None:
    """Ask the suites, and store the verdicts."""
    chosen = sys.argv[1:] or suites.names()
    rows = {(row["suite"], row["clause"]): row for row in stored() if row["suite"] not in chosen}
    for name in chosen:
        found: dict[str, dict[str, Verdict]] = {}
        for each in ackclock.conform(name, on=list(WORLDS)).verdicts:
            world = each.asked.world.name.partition(":")[0]
            found.setdefault(each.asked.clause.id, {})[world] = each
        rows |= {(name, clause): _row(verdicts) for clause, verdicts in found.items()}
        print(name, dict(Counter(row["simulation"] for row in rows.values() if row["suite"] == name)))
    order = [(name, clause.id) for name in suites.names() for clause in suites.find(name).clauses]
    with STORED.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows[key] for key in order if key in rows)


def page() -> str:
    """Return the page of clauses from the stored verdicts."""
    rows = {(row["suite"], row["clause"]): row for row in stored()}
    kernels = [row["linux_asked"].partition(" of ")[2] for row in rows.values() if " of Linux " in row["linux_asked"]]
    lines = [
        "# Clauses of documents",
        "",
        (
            "Which implementation keeps which clause: Ackclock's own in the simulation,"
            f" {kernels[0] if kernels else 'Linux'}'s own control or host in virtual time, Ackclock's control in noq,"
            " and quinn with its own."
            " [Conformance](../guides/conformance.md) explains suites and verdicts; `ackclock conform SUITE --on"
            " simulation,linux,quic,quinn` asks them again."
        ),
        "",
        *HEAD,
    ]
    found = {name: suites.find(name) for name in suites.names()}
    for name, suite in found.items():
        own = [rows[name, clause.id] for clause in suite.clauses if (name, clause.id) in rows]
        tallies = " | ".join(_tally(Counter(row[world] for row in own)) for world in WORLDS)
        lines.append(f"| [`{name}`](#{name}) | {suite.document} | {len(suite.clauses)} | {tallies} |")
    for name, suite in found.items():
        lines += _section(name, suite, rows)
    return "\n".join(lines)


def _section(name: str, suite: suites.Suite, rows: dict[tuple[str, str], dict[str, str]]) -> list[str]:
    lines = ["", f"## {name}", "", f"{suite.document}, {suite.title}.", ""]
    if suite.without_kernel:
        lines += [f"Linux is not asked: {suite.without_kernel}.", ""]
    asked = {each for clause in suite.clauses for each in clause.only}
    columns = {world: title for world, title in WORLDS.items() if world in {"simulation", "linux", *asked}}
    lines += [f"| section | clause | level | {' | '.join(columns.values())} |", "|---|---|---|" + "---|" * len(columns)]
    notes = []
    for clause in suite.clauses:
        if (row := rows.get((name, clause.id))) is None:
            continue
        cells = " | ".join(MARKS[row[world]] for world in columns)
        lines.append(f"| {_cell(clause.section)} | {_cell(clause.text)} | {clause.level} | {cells} |")
        for world in columns:
            if row[world] in (DEVIATES, FAILS, UNSEEN):
                why, measured = row[f"{world}_reason"] or row[world], row[f"{world}_measured"]
                said = f"{why} ({measured})" if measured else why
                notes.append(f"- {clause.section}, {_cell(row[f'{world}_asked'])}: {_cell(said)}")
    return [*lines, "", *notes] if notes else lines


def _tally(counts: Counter[str]) -> str:
    words = [word for word in (HOLDS, DEVIATES, FAILS, UNSEEN) if counts[word]]
    return ", ".join(f"{counts[word]} {word}" for word in words) or "not asked"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    main()
