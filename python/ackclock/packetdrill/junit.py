"""The results of scripts as JUnit XML: a suite for all, a case for each script."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from xml.etree import ElementTree

from ackclock.formatting import junit
from ackclock.packetdrill.running import Result

# An unsupported script is skipped, because nothing is known about the stack.
_ELEMENTS = {"failed": "failure", "error": "error", "unsupported": "skipped"}


def xml(results: Sequence[Result], host: str, when: datetime) -> bytes:
    """Return the results in the format of Ant's JUnit task."""
    count = {word: sum(result.outcome.verdict == word for result in results) for word in _ELEMENTS}
    root = junit.root()
    suite = junit.suite(
        f"scripts against {host}", "ackclock.script", 0, when, tests=len(results), failures=count["failed"],
        errors=count["error"],
    )  # fmt: skip
    suite.set("skipped", str(count["unsupported"]))
    root.append(suite)
    ElementTree.SubElement(suite, "properties")
    for result in results:
        outcome = result.outcome
        folder, _, name = result.script.name.rpartition("/")
        case = junit.case(suite, folder.replace("/", ".") or "scripts", name)
        if outcome.verdict in _ELEMENTS:
            reason = {
                "message": junit.text(f"line {outcome.line}: {outcome.reason}" if outcome.line else outcome.reason)
            }
            kind = {} if outcome.verdict == "unsupported" else {"type": outcome.verdict}
            ElementTree.SubElement(case, _ELEMENTS[outcome.verdict], kind | reason).text = junit.text(outcome.message)
    ElementTree.SubElement(suite, "system-out").text = ""
    ElementTree.SubElement(suite, "system-err").text = ""
    return junit.serialise(root)
