"""The outcome as JUnit XML: a suite for each point, a case for each measure."""

from __future__ import annotations

import re
from datetime import datetime
from xml.etree import ElementTree

from ackclock.gates.comparing import Change, Gap, Outcome, name_of
from ackclock.gates.sides import Point
from ackclock.gates.texts import headline, rule, sameness, sentence

# Everything that XML 1.0 cannot hold.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
GENERATOR = " written by ackclock "


def xml(outcome: Outcome, when: datetime) -> bytes:
    """Return the outcome in the format of Ant's JUnit task, which most services read.

    Parameters
    ----------
    outcome
        The outcome.
    when
        Time of the comparison, for the suites' time stamps.
    """
    root = ElementTree.Element("testsuites")
    root.append(ElementTree.Comment(GENERATOR))
    changes: dict[Point, list[Change]] = {}
    gaps: dict[Point, list[Gap]] = {}
    for change in outcome.changes:
        changes.setdefault(change.point, []).append(change)
    for gap in outcome.gaps:
        gaps.setdefault(gap.point, []).append(gap)
    # Points in the order of their worst change; points without any run first.
    for index, point in enumerate(dict.fromkeys([*gaps, *changes])):
        root.append(_suite(outcome, index, point, changes.get(point, []), gaps.get(point, []), when))
    ElementTree.indent(root)
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _suite(
    outcome: Outcome, index: int, point: Point, changes: list[Change], gaps: list[Gap], when: datetime
) -> ElementTree.Element:
    name = _text(name_of(point))
    failures = sum(map(outcome.fails, changes))
    suite = ElementTree.Element(
        "testsuite",
        {
            "name": name,
            "package": "ackclock.gate",
            "id": str(index),
            "timestamp": when.strftime("%Y-%m-%dT%H:%M:%S"),
            "hostname": "localhost",
            "tests": str(len(changes) + len(gaps)),
            "failures": str(failures),
            "errors": str(len(gaps)),
            "time": "0",
        },
    )
    properties = ElementTree.SubElement(suite, "properties")
    for label, value in point:
        ElementTree.SubElement(properties, "property", {"name": _text(label) or "-", "value": _text(value)})
    for gap in gaps:
        case = _case(suite, name, "runs")
        ElementTree.SubElement(case, "error", {"type": "missing", "message": _text(gap.text)}).text = _text(gap.text)
    for change in changes:
        case = _case(suite, name, change.measure.name)
        if outcome.fails(change):
            said = _text(sentence(change))
            ElementTree.SubElement(case, "failure", {"type": change.verdict, "message": said}).text = said
    text = "\n".join([headline(outcome), sameness(outcome), rule(outcome)]) if index == 0 else ""
    ElementTree.SubElement(suite, "system-out").text = text
    ElementTree.SubElement(suite, "system-err").text = _text("\n".join(outcome.notes)) if index == 0 else ""
    return suite


def _case(suite: ElementTree.Element, point: str, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(suite, "testcase", {"name": _text(name), "classname": point, "time": "0"})


def _text(text: str) -> str:
    """Show characters that XML cannot hold as escapes."""
    return _FORBIDDEN.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)
