"""The outcome as JUnit XML: a suite for each point, a case for each measure."""

from __future__ import annotations

from datetime import datetime
from xml.etree import ElementTree

from ackclock.formatting import junit
from ackclock.formatting.junit import text as _text
from ackclock.gates.comparing import Change, Gap, Outcome, name_of
from ackclock.gates.sides import Point
from ackclock.gates.texts import headline, rule, sameness, sentence


def xml(outcome: Outcome, when: datetime) -> bytes:
    """Return the outcome in the format of Ant's JUnit task, which most services read.

    Parameters
    ----------
    outcome
        The outcome.
    when
        Time of the comparison, for the suites' time stamps.
    """
    root = junit.root()
    changes: dict[Point, list[Change]] = {}
    gaps: dict[Point, list[Gap]] = {}
    for change in outcome.changes:
        changes.setdefault(change.point, []).append(change)
    for gap in outcome.gaps:
        gaps.setdefault(gap.point, []).append(gap)
    # Points in the order of their worst change; points without any run first.
    for index, point in enumerate(dict.fromkeys([*gaps, *changes])):
        root.append(_suite(outcome, index, point, changes.get(point, []), gaps.get(point, []), when))
    return junit.serialise(root)


def _suite(
    outcome: Outcome, index: int, point: Point, changes: list[Change], gaps: list[Gap], when: datetime
) -> ElementTree.Element:
    name = _text(name_of(point))
    failures = sum(map(outcome.fails, changes))
    tests = len(changes) + len(gaps)
    suite = junit.suite(name, "ackclock.gate", index, when, tests=tests, failures=failures, errors=len(gaps))
    properties = ElementTree.SubElement(suite, "properties")
    for label, value in point:
        ElementTree.SubElement(properties, "property", {"name": _text(label) or "-", "value": _text(value)})
    for gap in gaps:
        case = junit.case(suite, name, "runs")
        ElementTree.SubElement(case, "error", {"type": "missing", "message": _text(gap.text)}).text = _text(gap.text)
    for change in changes:
        case = junit.case(suite, name, change.measure.name)
        if outcome.fails(change):
            said = _text(sentence(change))
            ElementTree.SubElement(case, "failure", {"type": change.verdict, "message": said}).text = said
    text = "\n".join([headline(outcome), sameness(outcome), rule(outcome)]) if index == 0 else ""
    ElementTree.SubElement(suite, "system-out").text = text
    ElementTree.SubElement(suite, "system-err").text = _text("\n".join(outcome.notes)) if index == 0 else ""
    return suite
