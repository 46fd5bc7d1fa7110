"""Journals: every line that was added is read, whatever a killed process left."""

from __future__ import annotations

from pathlib import Path

from ackclock.files.journal import Journal


def test_the_last_value_of_a_key_counts(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    assert journal.read() == {}
    journal.add("a", '{"x": 1.5}')
    journal.add("b", "[1, null]")
    journal.add("a", '"later"')
    assert Journal(tmp_path / "j").read() == {"a": '"later"', "b": "[1, null]"}
    journal.remove()
    journal.remove()
    assert journal.read() == {}


def test_incomplete_and_foreign_lines_do_not_count(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    journal.add("a", "1")
    whole = (tmp_path / "j").read_bytes()
    for end in range(len(whole)):
        (tmp_path / "j").write_bytes(whole + whole.replace(b"a", b"b")[:end])
        journal.add("c", "3")
        assert journal.read() == {"a": "1", "c": "3"} or end == len(whole) - 1
    (tmp_path / "j").write_bytes(b'\xff\n[1, 2]\n["a"]\n"a"\n{}\n')
    assert journal.read() == {}
