"""What `ackclock.conform` writes: a table, JUnit XML, Markdown, and the evidence of each clause that fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from ackclock import _core
from ackclock.conformance.asking import Asked
from ackclock.conformance.judging import ran
from ackclock.conformance.result import FAILS, NOT_ASKED, UNSEEN, Conformance, Verdict
from ackclock.files import storage
from ackclock.formatting import junit

KIND = "conformance"
TABLE_FILE, FOLDER = "clauses.csv", "failures"
WRITTEN = (TABLE_FILE, FOLDER)
MARK = "<!-- ackclock conform -->"
MARKS = {"holds": "✓", "deviates": "(✓)", "fails": "✗", "not seen": "?", "not asked": "–"}
"""The signs of verdicts in tables."""


def manifest(asked: Sequence[Asked]) -> dict[str, Any]:
    """Return what the manifest says."""
    return {
        "suites": list(dict.fromkeys(each.clause.suite for each in asked)),
        "implementations": list(dict.fromkeys(each.implementation for each in asked)),
    }


def write(folder: Path, outcome: Conformance) -> list[str]:
    """Write the table, and scenario, packets and figure of each failure, into an open store; return the names."""
    storage.write_text(folder / TABLE_FILE, outcome.table.write_csv())
    for old in (folder / FOLDER).glob("*.*"):
        old.unlink()
    names = [TABLE_FILE]
    for each in outcome.verdicts:
        if each.verdict in (FAILS, UNSEEN):
            begin = f"{each.asked.name}-{each.asked.world.name}".replace(" ", "-").replace(":", "-")
            (folder / FOLDER).mkdir(exist_ok=True)
            for ending, data in _evidence(each).items():
                storage.write_bytes(folder / FOLDER / f"{begin}.{ending}", data)
            names.append(f"{FOLDER}/{begin}.*")
    return names


def _evidence(verdict: Verdict) -> Mapping[str, bytes]:
    """Return the files that show why a clause fails, by their endings."""
    asked = verdict.asked
    if asked.point is None:
        outcome = ran(asked)
        return {
            "pkt": asked.clause.script.encode(), "pcapng": outcome.pcapng(),
            "qlog": outcome.qlog().encode(), "txt": f"{outcome.message}\n".encode(),
        }  # fmt: skip
    from ackclock.drawing import files
    from ackclock.plotting.function import plot

    scenario, world = asked.point.scenario, asked.point.world
    traces = list(dict.fromkeys([*scenario.record, "cwnd"]))
    result = world.runner(scenario, traces, _core.Cancel(), [scenario.links[0]])
    return {
        "toml": scenario.to_toml().encode(), "sql": asked.clause.seen.encode(),
        "pcapng": result.pcapng(), "svg": files.encode(plot(result, "cwnd"), "svg"),
    }  # fmt: skip


def xml(outcome: Conformance, when: datetime) -> bytes:
    """Return the verdicts in the format of Ant's JUnit task: a suite of cases for each suite and implementation."""
    root = junit.root()
    for index, (name, verdicts) in enumerate(_groups(outcome)):
        broken = sum(each.verdict in (FAILS, UNSEEN) for each in verdicts)
        skipped = sum(each.verdict == NOT_ASKED for each in verdicts)
        suite = junit.suite(name, "ackclock.conform", index, when, tests=len(verdicts), failures=broken, errors=0)
        suite.set("skipped", str(skipped))
        ElementTree.SubElement(suite, "properties")
        for each in verdicts:
            case = junit.case(suite, name, f"{each.asked.clause.section} {each.asked.clause.id}")
            if each.verdict in (FAILS, UNSEEN):
                said = junit.text("; ".join(filter(None, (each.asked.clause.text, each.reason, each.words))))
                ElementTree.SubElement(case, "failure", {"type": each.verdict, "message": said}).text = said
            elif each.verdict == NOT_ASKED:
                ElementTree.SubElement(case, "skipped", {"message": junit.text(each.reason)})
        ElementTree.SubElement(suite, "system-out").text = junit.text(outcome.answer) if index == 0 else ""
        ElementTree.SubElement(suite, "system-err").text = ""
        root.append(suite)
    return junit.serialise(root)


def _groups(outcome: Conformance) -> list[tuple[str, list[Verdict]]]:
    def group(each: Verdict) -> str:
        return f"{each.asked.clause.suite}: {each.asked.implementation}"

    return [(name, list(found)) for name, found in groupby(sorted(outcome.verdicts, key=group), key=group)]


def markdown(outcome: Conformance) -> str:
    """Return a table of the clauses with a column for each world, and what fails or deviates below it."""
    worlds = list(dict.fromkeys(each.asked.world.name for each in outcome.verdicts))
    rows: dict[tuple[str, str], dict[str, Verdict]] = {}
    for each in outcome.verdicts:
        rows.setdefault((each.asked.clause.suite, each.asked.clause.id), {})[each.asked.world.name] = each
    lines = [
        MARK,
        f"{outcome.answer}\n",
        f"| suite | section | clause | {' | '.join(worlds)} |",
        f"|---|---|---|{'---|' * len(worlds)}",
    ]
    notes = []
    for (suite, _), found in rows.items():
        clause = next(iter(found.values())).asked.clause
        marks = [MARKS[found[world].verdict] if world in found else "" for world in worlds]
        lines.append(f"| {suite} | {clause.section} | {_cell(clause.text)} | {' | '.join(marks)} |")
        notes += [
            f"- {suite} {clause.section}, {each.asked.implementation}: {each.verdict}: "
            f"{_cell('; '.join(filter(None, (each.reason, each.words))))}"
            for each in found.values()
            if each.verdict in (FAILS, UNSEEN, "deviates")
        ]
    return "\n".join([*lines, "", *notes, ""] if notes else [*lines, ""])


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
