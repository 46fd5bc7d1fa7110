"""Contenders of a comparison: parts, whole controls, hosts and scenario files as settings of the flows under test."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from ackclock import _core
from ackclock.comparisons import parts
from ackclock.control import named
from ackclock.files import checks, limits, toml
from ackclock.metrics.groups import is_tested
from ackclock.scenario import key_of, load

HOST = "host"
KINDS = {
    "slow_start": "a slow start",
    "avoidance": "an avoidance",
    "congestion_control": "a whole control",
    HOST: "a host",
}
"""The keys of a flow that a name alone can set."""
OTHERS = {"loss_response": "a loss response", "recovery": "a recovery"}
"""Keys that a name sets if no kind of `KINDS` has it: most of these names are also those of an avoidance."""
WORKLOAD = (
    *("name", "count", "from", "to", "start", "start_spread", "start_jitter", "arrivals", "application", "stop"),
    "size",
)
"""The keys of a flow that belong to the path: place, time and amount of its data."""


@dataclass(frozen=True)
class Contender:
    """An algorithm, a host, or a combination of parts.

    Attributes
    ----------
    name : str
        Its name in tables: as the user wrote it.
    settings : dict
        The keys of the flows under test that it sets, with their values; a control in Python is its class.
    file : Path or None
        The scenario file from which its settings come.
    labels : dict
        Its part on each axis of a matrix, by axis; empty for others.
    """

    name: str
    settings: Mapping[str, object]
    file: Path | None = None
    labels: Mapping[str, str] = field(default_factory=dict)


Given = str | Path | type
"""What names a contender."""
CLASS = re.compile(r"[\w./\\-]+:[A-Za-z_]\w*")
"""The import path of a class, such as ``delay.py:Delay``."""


def resolve(given: Given) -> Contender:
    """Return the contender of a text or class.

    Parameters
    ----------
    given
        Names and ``KEY=VALUE`` joined by ``+``, such as ``cubic``, ``linux+bbr`` or ``slow_start=vegas``; the name of a
        scenario file, which ends in ``.toml``; or a control or slow start in Python: its class, or its import path,
        such as ``delay.py:Delay``, which may stand beside other names.

    Raises
    ------
    ValueError
        If a name is unknown or ambiguous, a key is set twice, or the file is invalid.
    OSError
        If the file cannot be read.
    """
    if isinstance(given, type):
        return Contender(given.__name__, {key_of(given): given})
    text = str(given)
    if text.endswith(".toml"):
        return _of_file(Path(text))
    settings: dict[str, object] = {}
    # A plus sign inside a table belongs to a number.
    for piece in re.split(r"\+(?![^{}]*\})", text):
        key, value = _setting(piece.strip(), text)
        if key in settings:
            raise ValueError(f"{text}: sets {key} twice")
        settings[key] = value
    if isinstance(settings.get(parts.WHOLE), type) and (beside := [key for key in parts.REPLACED if key in settings]):
        raise ValueError(f"{text}: {beside[0]} cannot be combined with {parts.WHOLE}, which replaces it")
    return Contender(text, settings)


def resolve_all(texts: Sequence[Given], reference: Given | None = None) -> list[Contender]:
    """Return all contenders, the reference first: the named one, or the first of the texts.

    Raises
    ------
    ValueError
        If there are fewer than two, two are the same, or one is invalid.
    OSError
        If a file cannot be read.
    """
    found = [resolve(text) for text in texts]
    if reference is not None:
        first = resolve(reference)
        found = [first, *(each for each in found if each.settings != first.settings)]
        if len(found) == 1 and len(texts) == 1:
            raise ValueError(f"{texts[0]} is the reference itself; name another algorithm to compare with it")
    for index, one in enumerate(found):
        for other in found[:index]:
            if (one.name, one.file) == (other.name, other.file):
                raise ValueError(f"{one.file or one.name} is given twice")
            if one.name == other.name:
                raise ValueError(f"two contenders are called {one.name}: rename one of the files")
            # Files with equal settings can differ in everything else.
            if one.settings == other.settings and (one.file is None or other.file is None):
                raise ValueError(f"{other.name} and {one.name} are the same: {settings_in_words(one)}")
    if len(found) < 2:
        raise ValueError("a comparison needs two algorithms, hosts or scenario files, as in: compare reno cubic")
    return found


def settings_in_words(contender: Contender) -> str:
    """Return the keys that a contender sets, with their values."""
    said = ", ".join(f"{key} = {_shown(value)}" for key, value in contender.settings.items())
    return said or "all defaults"


def _shown(value: object) -> object:
    return f"{value.__module__}:{value.__qualname__}" if isinstance(value, type) else value


def _setting(piece: str, text: str) -> tuple[str, object]:
    if CLASS.fullmatch(piece):
        made = named(piece)
        return key_of(made), made
    key, equals, value = piece.partition("=")
    if equals:
        key, value = key.strip(), value.strip()
        if key in WORKLOAD:
            raise ValueError(f"{text}: {key} belongs to the path, not to an algorithm or host")
        checks.words(text, "key of a flow", [key.split(".")[0]], parts.flow_keys())
        if not value:
            raise ValueError(f"{text}: give {key} a value after the equals sign, as in avoidance=cubic")
        return key, value
    known = _names()
    kinds = [kind for kind in KINDS if piece in known[kind]] or [kind for kind in OTHERS if piece in known[kind]]
    if len(kinds) > 1:
        words = " and ".join({**KINDS, **OTHERS}[kind] for kind in kinds)
        raise ValueError(f"{piece} is {words}: write {' or '.join(f'{kind}={piece}' for kind in kinds)}")
    if not kinds:
        names = list(dict.fromkeys(name for kind in KINDS for name in known[kind]))
        raise ValueError(f"unknown algorithm or host {piece!r}{checks.near(piece, names)}")
    return kinds[0], piece


@cache
def _names() -> dict[str, list[str]]:
    """Return the names that each key takes."""
    hosts = [str(host["name"]) for host in json.loads(_core.hosts())]
    return {**{axis: parts.known(axis) for axis in (*KINDS, *OTHERS) if axis != HOST}, HOST: hosts}


def _of_file(file: Path) -> Contender:
    """Return the settings of a file's flow under test: the first whose name begins with ``tested``, or the first."""
    load(file)
    document = toml.read(file, limits.most("scenario"))
    flows = document.get("flow", [{}])
    flows = flows if isinstance(flows, list) else [flows]
    flow = next((each for each in flows if is_tested(str(each.get("name", "")))), flows[0])
    return Contender(file.stem, {key: value for key, value in flow.items() if key not in WORKLOAD}, file)
