"""Suites: the clauses of a document, each with what must be seen in a run or a script."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ackclock.files import checks, limits, toml
from ackclock.files.checks import BOOL, TABLE, TEXT, TEXT_TABLE, Kind

FOLDER = Path(__file__).parent.parent / "data" / "conformance"
SUFFIX = ".toml"
TESTED = "tested"
"""The name of the flow that is under test."""
LEVELS = ("must", "should", "may", "describes")
"""How binding a clause is in its document (RFC 2119); ``describes``: it states a behaviour, an equation or a number."""
WORLDS = ("simulation", "linux")
"""Where a clause can be seen unless it says otherwise."""
ALL = (*WORLDS, "quic", "quinn")
"""Where a scenario can be seen in a suite with ``stacks = true``, whose queries need nothing that only TCP tells."""
MOST_WORDS = 40
"""Words of a clause: it is a paraphrase, not a copy."""
SUITE = {
    "document": TEXT, "title": TEXT, "control": TEXT, "kernel": TEXT, "discipline": TEXT, "without_kernel": TEXT,
    "stacks": BOOL,
    "base": TABLE, "opening": TEXT, "clause": checks.tables("clause"),
}  # fmt: skip
CLAUSE = {
    "id": Kind("a text without blanks", lambda value: isinstance(value, str) and bool(value) and " " not in value),
    "section": TEXT, "level": checks.one_of(*LEVELS), "text": TEXT, "scenario": TABLE, "seen": TEXT, "script": TEXT,
    "opening": TEXT, "control": TEXT, "discipline": TEXT, "only": checks.some_of(*ALL), "known": TEXT_TABLE,
}  # fmt: skip


@dataclass(frozen=True)
class Clause:
    """A clause of a document.

    Attributes
    ----------
    suite : str
        The name of its suite.
    id : str
        Its name within the suite.
    section : str
        Where the document has it.
    level : str
        One of `LEVELS`.
    text : str
        What the document asks, paraphrased.
    scenario : dict or None
        The scenario in which it is seen, with a flow named `TESTED`; None if a script shows it.
    seen : str
        A query on the tables of the run. In the first row of its answer, the first column says whether the clause
        holds; null, or no row: the run did not come to the point. The other columns are what was measured.
    script : str
        A script of packets that must pass, instead of scenario and query. It begins with its own opening, or that of
        its suite.
    control : str
        The contender that the suite is about, for this clause; empty if the clause is about the host or a queue.
    kernel : str
        Linux' own control that implements the document; empty without one.
    discipline : str
        What ``tc`` takes for Linux' own queue discipline that implements the document; empty without one.
    only : tuple of str
        The worlds in which it can be seen.
    known : dict
        Why an implementation deviates, by the name of its world: a sentence that its documentation has, too.
    """

    suite: str
    id: str
    section: str
    level: str
    text: str
    scenario: Mapping[str, Any] | None
    seen: str
    script: str
    control: str
    kernel: str
    discipline: str = ""
    only: tuple[str, ...] = WORLDS
    known: Mapping[str, str] = field(default_factory=dict)

    @property
    def place(self) -> str:
        """The clause for messages."""
        return f"{self.suite}: clause {self.id}"


@dataclass(frozen=True)
class Suite:
    """A suite.

    Attributes
    ----------
    name : str
        Its name on the command line.
    document, title : str
        The document, such as ``RFC 9438``, and its title.
    control : str
        The contender that it is about; empty if it is about hosts or queues.
    kernel : str
        Linux' own control that implements it; empty without one.
    without_kernel : str
        Why Linux cannot be asked; empty if it can.
    clauses : list of Clause
        Its clauses, in the order of the document.
    """

    name: str
    document: str
    title: str
    control: str
    kernel: str
    without_kernel: str
    clauses: list[Clause]


def names() -> list[str]:
    """Return the names of the suites that come with the package."""
    return sorted(path.stem for path in FOLDER.glob(f"*{SUFFIX}"))


def find(name: str) -> Suite:
    """Return a suite by its name or its file.

    Raises
    ------
    ValueError
        If there is no such suite, or the file is none.
    OSError
        If the file cannot be read.
    """
    if name.endswith(SUFFIX):
        return read(Path(name))
    if name not in names():
        close = difflib.get_close_matches(name.lower().replace(" ", ""), names(), 1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise ValueError(f"{name}: there is no such suite{hint} (known: {', '.join(names())}; a file ends in {SUFFIX})")
    return read(FOLDER / f"{name}{SUFFIX}")


def read(path: Path) -> Suite:
    """Read a suite from its file.

    Raises
    ------
    ValueError
        If the file is not a suite; the message says where and why.
    OSError
        If it cannot be read.
    """
    document = toml.read(path, limits.most("claims"))
    place = str(path) if path.parent != FOLDER else path.name
    checks.keys(place, document, SUITE, ("document", "title", "clause"))
    clauses: dict[str, Clause] = {}
    for number, table in enumerate(document["clause"], 1):
        where = f"{place}: clause {table.get('id', number)}"
        checks.keys(where, table, CLAUSE, ("id", "section", "level", "text"))
        if table["id"] in clauses:
            raise ValueError(f"{where}: this name is taken; clauses need different names")
        clauses[table["id"]] = _clause(path.stem, where, table, document)
    return Suite(
        path.stem, document["document"], document["title"], document.get("control", ""), document.get("kernel", ""),
        document.get("without_kernel", ""), list(clauses.values()),
    )  # fmt: skip


def _clause(suite: str, where: str, table: Mapping[str, Any], document: Mapping[str, Any]) -> Clause:
    if ("script" in table) == ("seen" in table):
        raise ValueError(f"{where}: needs either script, or seen with a scenario")
    if "script" in table and "scenario" in table:
        raise ValueError(f"{where}: a script has no scenario")
    if len(table["text"].split()) > MOST_WORDS:
        raise ValueError(f"{where}: text: more than {MOST_WORDS} words; paraphrase the clause")
    checks.words(where, "known world", table.get("known", {}), ALL)
    scenario = None
    if "seen" in table:
        scenario = merged(document.get("base", {}), table.get("scenario", {}))
        if not any(flow.get("name") == TESTED for flow in flows(scenario)):
            raise ValueError(f"{where}: its scenario needs a flow with name = {TESTED!r}, which is under test")
    script = table.get("script", "")
    if script:
        script = table.get("opening", document.get("opening", "")) + script
    return Clause(
        suite, table["id"], table["section"], table["level"], " ".join(table["text"].split()), scenario,
        table.get("seen", ""), script, table.get("control", document.get("control", "")), document.get("kernel", ""),
        table.get("discipline", document.get("discipline", "")),
        tuple(table.get("only", ALL if document.get("stacks") and scenario else WORLDS)),
        table.get("known", {}),
    )  # fmt: skip


def flows(scenario: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the flows of a scenario, of which a single one may be a table."""
    found = scenario.get("flow", [])
    return [dict(flow) for flow in ([found] if isinstance(found, Mapping) else found)]


def merged(base: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table with the keys of another: tables are merged, and all else is replaced."""
    found = dict(base)
    for key, value in more.items():
        both = isinstance(value, Mapping) and isinstance(found.get(key), Mapping)
        found[key] = merged(found[key], value) if both else value
    return found
