"""Arguments of the package's functions: what each can be, in words, and one message for everything else.

A parameter is annotated with a type of this module; `checked` compares the arguments with them before the function
starts. The command line passes its texts on, so that each is read here once.
"""

from __future__ import annotations

import functools
import inspect
import math
import numbers
import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any, ParamSpec, TypeVar, get_args

from ackclock.files.checks import Kind
from ackclock.formatting.labels import suggestion

P = ParamSpec("P")
R = TypeVar("R")
TIME = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(s|min|h)\s*")
SECONDS = {"s": 1, "min": 60, "h": 3600}
SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(B|kB|MB|GB)\s*")
BYTES = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9}
MOST_SEED = 2**64 - 1


def seconds(value: float | str) -> float:
    """Return a time in seconds.

    >>> seconds("20 min"), seconds("1.5h"), seconds(3)
    (1200.0, 5400.0, 3.0)
    """
    found = TIME.fullmatch(value) if isinstance(value, str) else None
    return float(value) if found is None else float(found[1]) * SECONDS[found[2]]


def in_bytes(value: int | str) -> int:
    """Return a size in bytes.

    >>> in_bytes("1.5 MB"), in_bytes(200)
    (1500000, 200)
    """
    found = SIZE.fullmatch(value) if isinstance(value, str) else None
    return int(value) if found is None else int(float(found[1]) * BYTES[found[2]])


def _whole(value: object, least: int, most: float = math.inf) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool) and least <= int(value) <= most


def is_size(value: object) -> bool:
    """Whether a value is a size of memory."""
    return _above(value, in_bytes)


def _real(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value)


def _above(value: Any, read: Callable[[Any], float]) -> bool:  # noqa: ANN401 - any argument
    if not isinstance(value, str):
        return _real(value) and value > 0
    return (TIME if read is seconds else SIZE).fullmatch(value) is not None and read(value) > 0


def _file(value: object) -> bool:
    return isinstance(value, (str, os.PathLike)) and bool(str(value))


def _several(value: object, one: Callable[[object], bool]) -> bool:
    return one(value) or (isinstance(value, Sequence) and not isinstance(value, str) and all(map(one, value)))


def _text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _texts(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str) and all(map(_text, value))


Count = Annotated[int, Kind("a whole number, at least 1", lambda value: _whole(value, 1))]
Seed = Annotated[int, Kind("a whole number, at least 0 and below 2⁶⁴", lambda value: _whole(value, 0, MOST_SEED))]
Share = Annotated[
    float, Kind("a share above 0 % and below 100 %, such as 0.05 for 5 %", lambda value: _real(value) and 0 < value < 1)
]
Switch = Annotated[bool, Kind("True or False", lambda value: type(value).__name__ in ("bool", "bool_"))]
Text = Annotated[str, Kind("a text", _text)]
Amount = Annotated[str, Kind('a text with a unit, such as "1 MB"', _text)]
Span = Annotated[str, Kind('a text with a unit, such as "10 s"', _text)]
Time = Annotated[
    float | str,
    Kind('a time above 0: a text such as "20 min" (units: s, min, h), or seconds', lambda it: _above(it, seconds)),
]
Memory = Annotated[
    int | str,
    Kind("a size above 0: a text such as '500 MB' (units: B, kB, MB, GB), or bytes", is_size),
]
File = Annotated[str | os.PathLike[str], Kind("a path", _file)]
Files = Annotated[
    str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    Kind('a name, a file, or a list of these, such as ["clean", "homes.csv"]', lambda value: _several(value, _file)),
]
Words = Annotated[
    str | Sequence[str], Kind("a text, or a list of texts", lambda value: _text(value) or _texts(value) or value == "")
]
Texts = Annotated[Sequence[str], Kind('a list of texts, such as ["cwnd"]', _texts)]
Changes = Annotated[
    str | Sequence[str],
    Kind(
        'a text or a list of texts, such as "2%" or ["goodput_bps=2%", "drops=5"]', lambda it: _text(it) or _texts(it)
    ),
]
Progress = Annotated[
    Callable[[int, int], None],
    Kind("a function of two numbers: the finished runs, and all", callable),
]


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Compare the arguments of each call with the annotations of the parameters.

    Raises
    ------
    ValueError
        If an argument is of another kind; the message names the parameter, and says what it can be.
    TypeError
        If there is no such parameter, or one is missing.
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*given: P.args, **named: P.kwargs) -> R:
        if unknown := [name for name in named if name not in signature.parameters]:
            near = suggestion(unknown[0], signature.parameters)
            raise TypeError(f"{function.__name__}: there is no argument {unknown[0]!r}{near}")
        for name, value in signature.bind(*given, **named).arguments.items():
            kinds = kinds_of(function).get(name)
            if kinds and not any(kind.test(value) for kind in kinds):
                words = " or ".join(kind.words for kind in kinds if kind is not NONE)
                raise ValueError(f"{name}: must be {words}, not {value!r}")
        return function(*given, **named)

    return call


@functools.cache
def kinds_of(function: Callable[..., Any]) -> dict[str, list[Kind]]:
    """Return the kinds that each parameter of a function can have; parameters without any are left out."""
    found = {}
    for name, parameter in inspect.signature(function).parameters.items():
        # The annotation of the result may name modules that are imported late, so that each is read alone.
        scope = getattr(inspect.unwrap(function), "__globals__")  # noqa: B009 - a callable need not have it
        hint = eval(parameter.annotation, scope)
        kinds = list(_kinds(hint))
        if any(kind is not NONE for kind in kinds):
            found[name] = kinds
    return found


def _kinds(hint: Any) -> Iterator[Kind]:  # noqa: ANN401 - any annotation
    if hint is type(None):
        yield NONE
    elif own := [each for each in getattr(hint, "__metadata__", ()) if isinstance(each, Kind)]:
        yield from own
    else:
        for each in get_args(hint):
            yield from _kinds(each)


NONE = Kind("None", lambda value: value is None)
