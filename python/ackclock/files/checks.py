"""Checks of TOML tables: each message names the place, the key, and the nearest known word."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeGuard

from ackclock.formatting.labels import suggestion


@dataclass(frozen=True)
class Kind:
    """A kind of value: its description for messages, and its test."""

    words: str
    test: Callable[[object], bool]


def is_number(value: object) -> TypeGuard[float]:
    """Whether a TOML value is a finite number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def is_texts(value: object) -> TypeGuard[list[str]]:
    """Whether a TOML value is a list of texts."""
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def is_text_table(value: object) -> bool:
    """Whether a TOML value is a table of texts."""
    return isinstance(value, Mapping) and all(isinstance(item, str) for item in value.values())


TEXT = Kind("a text", lambda value: isinstance(value, str) and bool(value.strip()))
TEXTS = Kind("a list of texts", lambda value: is_texts(value) and bool(value))
TEXT_TABLE = Kind('a table of texts, such as { loss = "0 %" }', is_text_table)
TABLE = Kind("a table", lambda value: isinstance(value, Mapping))
NUMBER = Kind("a number", is_number)
BOOL = Kind("true or false", lambda value: isinstance(value, bool))
POSITIVE = Kind("a number above 0", lambda value: is_number(value) and value > 0)
COUNT = Kind("a whole number, at least 1", lambda value: type(value) is int and value >= 1)


def is_spans(value: object) -> bool:
    """Whether a TOML value is a table of spans of time."""
    return isinstance(value, Mapping) and all(_is_span(item) for item in value.values())


def _is_span(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(is_number, value)) and 0 <= value[0] < value[1]


def _is_range(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(is_number, value)) and value[0] < value[1]


RANGE = Kind("a list of two numbers, the smaller first", _is_range)
SPANS = Kind("a table of spans in seconds, such as { delivered_start = [0, 50] }", is_spans)


def tables(key: str) -> Kind:
    """Return the kind of a list of tables, written with ``[[key]]``."""
    return Kind(
        f"a list of tables: [[{key}]], not [{key}]",
        lambda value: isinstance(value, list) and all(isinstance(item, Mapping) for item in value),
    )


def one_of(*words: str) -> Kind:
    """Return the kind of a value that is one of these words."""
    return Kind(f"one of {', '.join(words)}", lambda value: value in words)


def some_of(*words: str) -> Kind:
    """Return the kind of a list that has only these words."""
    return Kind(f"a list of {', '.join(words)}", lambda value: is_texts(value) and set(value) <= set(words))


def near(word: str, known: Iterable[str]) -> str:
    """Suggest the nearest known word, and list all known words."""
    names = [str(name) for name in known]
    return f"{suggestion(word, names)} (known: {', '.join(names) or 'none'})"


def keys(place: str, value: object, known: Mapping[str, Kind], required: Collection[str] = ()) -> None:
    """Check the keys of a table.

    Raises
    ------
    ValueError
        If it is not a table, has an unknown key, lacks a key, or has a value of the wrong kind.
    """
    if not isinstance(value, Mapping):
        raise ValueError(f"{place}: must be a table, not {value!r}")
    for key, item in value.items():
        if key not in known:
            raise ValueError(f"{place}: there is no key {key!r}{near(key, known)}")
        if not known[key].test(item):
            raise ValueError(f"{place}: {key} must be {known[key].words}, not {item!r}")
    for key in known:
        if key in required and key not in value:
            raise ValueError(f"{place}: {key} is missing; it must be {known[key].words}")


def words(place: str, kind: str, found: Iterable[str], known: Iterable[str]) -> None:
    """Check that all words are known.

    Raises
    ------
    ValueError
        If a word is unknown.
    """
    names = list(known)
    for word in found:
        if word not in names:
            raise ValueError(f"{place}: unknown {kind} {word!r}{near(word, names)}")


def choice(place: str, where: Mapping[str, str], known: Mapping[str, Collection[str]]) -> None:
    """Check that labels and their wanted values exist.

    Raises
    ------
    ValueError
        If a label or a value does not exist.
    """
    for label, value in where.items():
        words(place, "label", [label], known)
        words(place, label, [value], known[label])
