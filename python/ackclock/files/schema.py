"""TOML declared as types: pydantic reads a table into data classes, and all its problems become one message."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, TypeVar, cast, get_args, get_origin, get_type_hints

from pydantic import AfterValidator, ConfigDict, Field, GetCoreSchemaHandler, TypeAdapter, ValidationError
from pydantic_core import CoreSchema, core_schema

from ackclock.files import limits
from ackclock.files.checks import near
from ackclock.files.places import Key
from ackclock.files.problems import Problems

Read = TypeVar("Read")


@dataclass(frozen=True)
class Words:
    """What a value must be, in words: the message for every problem of the value and of what it contains."""

    words: str

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Wrap the checks of the type; pydantic calls this."""
        return core_schema.custom_error_schema(
            handler(source),
            custom_error_type="words",
            custom_error_message="{words}",
            custom_error_context={"words": self.words},
        )


@dataclass(frozen=True)
class Of:
    """The kinds of table that a key belongs to; its class names the key of the kind as ``KIND``.

    Attributes
    ----------
    kinds : tuple of str
        The kinds that allow the key.
    needed : tuple of str
        The kinds that need it.
    """

    kinds: tuple[str, ...]
    needed: tuple[str, ...] = ()


class Table:
    """A table of a file: a data class that inherits from it has the table's keys as fields, and no other keys."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")


def test(check: Callable[[Any], bool]) -> AfterValidator:
    """Return a check of a value that its type does not express."""

    def checked(value: object) -> object:
        if not check(value):
            raise ValueError
        return value

    return AfterValidator(checked)


STRICT = Field(strict=True)
Word = Annotated[str, STRICT]
Whole = Annotated[int, STRICT, Field(ge=0), Words("a whole number, at least 0")]
Finite = Annotated[float, STRICT, Field(allow_inf_nan=False)]
Amount = Annotated[int, STRICT] | Finite
"""A number as written: 200 stays whole."""
Text = Annotated[str, STRICT, Field(pattern=r"\S"), Words("a text")]
Texts = Annotated[tuple[Word, ...], Field(min_length=1), Words("a list of texts")]
TextTable = Annotated[dict[str, Word], Words('a table of texts, such as { loss = "0 %" }')]
Number = Annotated[Finite, Words("a number")]
Positive = Annotated[Finite, Field(gt=0), Words("a number above 0")]
NotNegative = Annotated[Finite, Field(ge=0), Words("a number, at least 0")]
Count = Annotated[int, STRICT, Field(ge=1), Words("a whole number, at least 1")]
Switch = Annotated[bool, STRICT, Words("true or false")]
Choices = Annotated[
    dict[str, Annotated[tuple[Word, ...], Field(min_length=1)]],
    Words('a table of lists of texts, such as { queue = ["5"] }'),
]
Settings = Annotated[
    dict[str, Word | Annotated[bool, STRICT] | Amount], Words('a table of values, such as { loss = "1 %" }')
]


def read(kind: type[Read], document: Mapping[str, Any], problems: Problems) -> Read | None:
    """Read a document.

    Parameters
    ----------
    kind
        The data class of the document.
    document
        The parsed TOML.
    problems
        Gets a problem for each unknown or missing key and each wrong value.

    Returns
    -------
    object or None
        The document as `kind`; None if there are problems.
    """
    known = _keys(cast("Any", kind))
    unknown = [key for key in document if key not in known]
    if len(unknown) > limits.most("problems"):
        # Nothing else of such a file would be listed, and pydantic's errors of all its keys would take much memory.
        listed = unknown[: limits.most("problems")]
        for key in listed:
            problems.key((key,), _unknown(key, known))
        problems.others += len(unknown) - len(listed)
        return None
    try:
        found: Read = _reader(cast("Any", kind)).validate_python(document)
    except ValidationError as error:
        for wrong in error.errors(include_url=False):
            path = wrong["loc"]
            (problems.key if path and isinstance(path[-1], str) else problems.add)(path, _message(kind, path, wrong))
        return None
    _check_kinds(document, kind, (), problems)
    return None if problems else found


@cache
def _reader(kind: Any) -> TypeAdapter[Any]:  # noqa: ANN401 - any data class
    return TypeAdapter(kind)


def _message(kind: Any, path: Key, wrong: Mapping[str, Any]) -> str:  # noqa: ANN401 - any annotation
    """Translate an error of pydantic."""
    key = str(path[-1]) if path else ""
    if wrong["type"] == "unexpected_keyword_argument":
        return _unknown(key, _keys(_bare(_inside(kind, path[:-1]))))
    words = wrong["ctx"]["words"] if wrong["type"] == "words" else _words(_inside(kind, path), key)
    if wrong["type"] == "missing":
        return f"{key} is missing; it must be {words}"
    place = f"{key} " if path and isinstance(path[-1], str) else ""
    return f"{place}must be {words}, not {wrong['input']!r}"


def _unknown(key: str, known: Mapping[str, Any]) -> str:
    return f"there is no key {key!r}{near(key, known)}"


@cache
def _keys(kind: Any) -> Mapping[str, Any]:  # noqa: ANN401 - any annotation
    """Return the annotations of a table by key."""
    hints = get_type_hints(kind, include_extras=True)
    return {_key(field.name, hints[field.name]): hints[field.name] for field in fields(kind)}


def _key(name: str, hint: Any) -> str:  # noqa: ANN401 - any annotation
    """Return the key of a field: its alias, or its name."""
    aliases = (getattr(it, "validation_alias", None) for it in getattr(hint, "__metadata__", ()))
    return next((str(alias) for alias in aliases if alias), name)


def _bare(hint: Any) -> Any:  # noqa: ANN401 - any annotation
    """Return a type without its metadata, and without the None of a key that may be missing."""
    while True:
        options = [each for each in get_args(hint) if each is not type(None)]
        if get_origin(hint) is Annotated or (type(None) in get_args(hint) and len(options) == 1):
            hint = options[0]
        else:
            return hint


def _inside(kind: Any, path: Key) -> Any:  # noqa: ANN401 - any annotation
    """Return the annotation at a path."""
    for part in path:
        bare: Any = _bare(kind)
        table = is_dataclass(bare)
        kind = _keys(bare)[str(part)] if table else get_args(bare)[0 if isinstance(part, int) else 1]
    return kind


def _words(hint: Any, key: str) -> str:  # noqa: ANN401 - any annotation
    """Return what a value must be, in words."""
    while get_origin(hint) is Annotated or type(None) in get_args(hint):
        for each in getattr(hint, "__metadata__", ()):
            if isinstance(each, Words):
                return each.words
        hint = next(each for each in get_args(hint) if each is not type(None))
    if get_origin(hint) is Literal:
        return f"one of {', '.join(map(str, get_args(hint)))}"
    return f"a list of tables: [[{key}]], not [{key}]" if get_origin(hint) is tuple else "a table"


def _check_kinds(value: object, kind: Any, path: Key, problems: Problems) -> None:  # noqa: ANN401 - any annotation
    """Check the keys that depend on the kind of their table, see `Of`."""
    bare: Any = _bare(kind)
    if isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            _check_kinds(item, get_args(bare)[0] if get_args(bare) else None, (*path, index), problems)
    is_table = is_dataclass(bare)
    if not (is_table and isinstance(value, Mapping)):
        return
    for key, hint in _keys(bare).items():
        rule = next((each for each in getattr(hint, "__metadata__", ()) if isinstance(each, Of)), None)
        if key in value:
            _check_kinds(value[key], hint, (*path, key), problems)
        if rule is None:
            continue
        name, noun = bare.KIND
        own = value[name]
        if key in value and own not in rule.kinds:
            problems.key((*path, key), noun.format(key=key, kinds=" or ".join(rule.kinds), own=own))
        if key not in value and own in rule.needed:
            problems.key((*path, key), f"{key} is missing; it must be {_words(hint, key)}")
