"""JUnit XML in the format of Ant's JUnit task, which most services read."""

from __future__ import annotations

import re
from datetime import datetime
from xml.etree import ElementTree

# Everything that XML 1.0 cannot hold.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
GENERATOR = " written by ackclock "


def text(value: str) -> str:
    """Show characters that XML cannot hold as escapes."""
    return _FORBIDDEN.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), value)


def root() -> ElementTree.Element:
    """Return the element of all suites."""
    element = ElementTree.Element("testsuites")
    element.append(ElementTree.Comment(GENERATOR))
    return element


def suite(
    name: str, package: str, index: int, when: datetime, *, tests: int, failures: int, errors: int
) -> ElementTree.Element:
    """Return a suite without cases; its numbers must be those of its cases."""
    return ElementTree.Element(
        "testsuite",
        {
            "name": text(name),
            "package": package,
            "id": str(index),
            "timestamp": when.strftime("%Y-%m-%dT%H:%M:%S"),
            "hostname": "localhost",
            "tests": str(tests),
            "failures": str(failures),
            "errors": str(errors),
            "time": "0",
        },
    )


def case(suite: ElementTree.Element, group: str, name: str) -> ElementTree.Element:
    """Add a case to a suite."""
    return ElementTree.SubElement(suite, "testcase", {"name": text(name), "classname": text(group), "time": "0"})


def serialise(root: ElementTree.Element) -> bytes:
    """Return the file."""
    ElementTree.indent(root)
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"
