"""Contenders of a comparison: parts, whole controls, hosts and scenario files as settings of the flows under test."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from ackclock import _core
from ackclock.comparisons import parts
from ackclock.control import is_import_path, is_program, named
from ackclock.files import checks, limits, toml
from ackclock.linux.programs import contender
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
        Its name in tables: the user's own, or what the user wrote.
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

    @property
    def program(self) -> bool:
        """Whether a program takes the place of the flow under test."""
        return is_program(self.settings.get(parts.WHOLE))


Given = str | Path | type
"""What is a contender without a name of its own."""
NAME = re.compile(r"([A-Za-z_][\w .-]*)=(.+)")
"""A contender with a name of its own, such as ``eager=delay.py:Eager``."""
PROGRAM = "program:"
"""What stands before the name of a program (`linux.programs`)."""
LIKE_A_KEY = 0.8
"""How like a key of a flow a word is that is no name, by `difflib`: ``avoidence`` is 0.89 like ``avoidance``."""


def resolve(given: Given) -> Contender:
    """Return the contender of a text or class.

    Parameters
    ----------
    given
        Names and ``KEY=VALUE`` joined by ``+``, such as ``cubic``, ``linux+bbr`` or ``slow_start=vegas``; the name of a
        scenario file, which ends in ``.toml``; or a control or slow start in Python: its class, or its import path,
        such as ``delay.py:Delay``, which may stand beside other names. ``NAME=`` before all of these gives the
        contender a name of its own.

    Raises
    ------
    ValueError
        If a name is unknown or ambiguous, a key is set twice, or the file is invalid.
    OSError
        If the file cannot be read.
    """
    if isinstance(given, type):
        return Contender(given.__name__, {key_of(given): given})
    if not isinstance(given, (str, Path)):
        raise ValueError(_no_contender(given))
    text = str(given)
    if (name := _own_name(text)) is not None:
        return _called(name, text.partition("=")[2].strip())
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


def _own_name(text: str) -> str | None:
    """Return the name before a contender; None if there is none, as in ``slow_start=vegas``."""
    found = NAME.fullmatch(text)
    if found is None:
        return None
    name, keys = found[1].strip(), parts.flow_keys()
    # What looks like a key is a key, so that a misspelt one is no name.
    return None if get_close_matches(name.split(".")[0], keys, 1, LIKE_A_KEY) else name


def _called(name: str, given: Given) -> Contender:
    if not isinstance(name, str) or not name.strip():
        raise ValueError(f"contenders: the name of a contender must be a text, not {name!r}")
    try:
        return replace(resolve(given), name=name)
    except ValueError as error:
        place = f"{name}={given}" if isinstance(given, str) else name
        raise ValueError(f"{place}: {name} is no key of a flow but the name of a contender, and {error}") from None


def _no_contender(given: object) -> str:
    if hasattr(given, "on_ack"):
        name = type(given).__name__
        return f"contenders: each run makes its own {name}; give the class {name}, not its instance"
    return f'contenders: must be names, files, classes, or names for these such as {{"eager": Eager}}, not {given!r}'


def resolve_all(given: Sequence[Given | Mapping[str, Given]], reference: Given | None = None) -> list[Contender]:
    """Return all contenders, the reference first: the named one, or the first.

    Parameters
    ----------
    given
        The contenders; a mapping has several by their own names.
    reference
        A contender, or the name of one that is given.

    Raises
    ------
    ValueError
        If there are fewer than two, two are the same, or one is invalid.
    OSError
        If a file cannot be read.
    """
    found = [made for each in given for made in _contenders(each)]
    if reference is not None:
        first = next((each for each in found if each.name == reference), None) or resolve(reference)
        others = [each for each in found if each.settings != first.settings]
        if not others and found:
            raise ValueError(f"{found[0].name} is the reference itself; name another algorithm to compare with it")
        found = [first, *others]
    for index, one in enumerate(found):
        for other in found[:index]:
            if (one.name, one.file, one.settings) == (other.name, other.file, other.settings):
                raise ValueError(f"{one.file or one.name} is given twice")
            if one.name == other.name:
                raise ValueError(
                    f"two contenders are called {one.name}: give them names of their own, such as first={one.name} on "
                    f'the command line, or {{"first": …, "second": …}} in Python'
                )
            # Files with equal settings can differ in everything else.
            if one.settings == other.settings and (one.file is None or other.file is None):
                raise ValueError(f"{other.name} and {one.name} are the same: {settings_in_words(one)}")
    if len(found) < 2:
        raise ValueError("a comparison needs two algorithms, hosts or scenario files, as in: compare reno cubic")
    return found


def _contenders(given: Given | Mapping[str, Given]) -> list[Contender]:
    if isinstance(given, Mapping):
        return [_called(name, each) for name, each in given.items()]
    return [resolve(given)]


def settings_in_words(contender: Contender) -> str:
    """Return the keys that a contender sets, with their values."""
    said = ", ".join(f"{key} = {_shown(value)}" for key, value in contender.settings.items())
    return said or "all defaults"


def _shown(value: object) -> object:
    return f"{value.__module__}:{value.__qualname__}" if isinstance(value, type) else value


def _setting(piece: str, text: str) -> tuple[str, object]:
    if piece.startswith(PROGRAM):
        return parts.WHOLE, contender(piece.removeprefix(PROGRAM))
    if is_import_path(piece):
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
