"""The program in a cache key: the code of all modules that a measurement uses, and the libraries.

A measurement names its modules. The key covers the statements of these and of every module of the package that they
import directly or indirectly, the compiled core, and the versions of Python and its numerical libraries. So a new
import needs no entry in a list, a changed measure is measured again, and a changed comment or docstring keeps every
stored run.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import json
import sys
import sysconfig
import textwrap
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib.util import find_spec, resolve_name
from pathlib import Path
from types import FunctionType
from typing import Any

from ackclock.control import Library, ProgramControl
from ackclock.files.made import build as build
from ackclock.files.made import versions as versions

PACKAGE = Path(__file__).resolve().parents[1]
SHOWING = ("ackclock.notebooks", "ackclock.results.overview", "ackclock.metrics.registry")
"""Modules that show results in a notebook or describe measures, and measure nothing."""


def digest(*values: object, length: int = 40) -> str:
    """Return a hash of values of JSON, in hexadecimal digits."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:length]


@cache
def program(*modules: str) -> str:
    """Return a hash of the compiled core, the libraries, these modules, and every module that they import."""
    return digest(build(), versions(), {name: _read(path)[0] for name, path in reached(modules).items()})


def of_class(made: Any) -> str:  # noqa: ANN401 - any object that was given as a control
    """Return a hash of a class of the user: the statements of its file and of what that file imports, and its state.

    The state is the plain values that its functions can read: attributes of the class and of its bases, variables of
    the enclosing functions, and globals that they name, such as numbers read from a file. Libraries do not count.

    Raises
    ------
    ValueError
        If it is no class, or its source cannot be read.
    """
    if not isinstance(made, type):
        name = getattr(made, "__qualname__", repr(made))
        raise ValueError(f"{name}: is no class, so that stored runs cannot be told from those of another; give a class")
    if issubclass(made, (Library, ProgramControl)):
        return digest(made.__name__, made.content)
    own = [each for each in made.__mro__ if each.__module__.partition(".")[0] not in (PACKAGE.name, "builtins")]
    return digest(made.__qualname__, [_source(each) for each in own], [_state(each) for each in own])


@cache
def _source(made: type) -> str:
    """Return a hash of the file of a class and of what it imports, or of its own text in a notebook."""
    module = sys.modules.get(made.__module__)
    try:
        if getattr(module, "__file__", None) is not None:
            return digest({key: _read(path)[0] for key, path in reached([made.__module__], _own).items()})
        return code(ast.parse(textwrap.dedent(inspect.getsource(made))))
    except (OSError, TypeError, SyntaxError) as error:
        name = made.__qualname__
        raise ValueError(f"{name}: its source cannot be read, so that it has no key for stored runs: {error}") from None


def _state(made: type) -> object:
    found: list[object] = []
    for name, value in sorted(vars(made).items()):
        function = getattr(value, "__func__", value)
        if isinstance(function, FunctionType):
            names = [each for each in function.__code__.co_names if each in function.__globals__]
            cells = [_plain(cell.cell_contents) for cell in function.__closure__ or ()]
            found.append([name, cells, {each: _plain(function.__globals__[each]) for each in names}])
        elif not name.startswith("__"):
            found.append([name, _plain(value)])
    return found


def _plain(value: object) -> str:
    """Return a value as a text, if it is plain; of anything else its kind and name, whose code counts elsewhere."""
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_plain, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_plain(key)}: {_plain(own)}' for key, own in value.items())}}}"
    return f"{type(value).__name__} {getattr(value, '__qualname__', '')}"


def _own(module: str) -> Path | None:
    """Return the file of a module of the user; None for the package, for libraries, and for other names."""
    if module.partition(".")[0] == PACKAGE.name:
        return None
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None and module not in sys.modules:
        # Imported inside a function that has not run yet.
        try:
            file = getattr(find_spec(module), "origin", None)
        except (ImportError, AttributeError, ValueError):
            return None
    if file is None or not file.endswith(".py"):
        return None
    path = Path(file).resolve()
    return None if any(path.is_relative_to(place) for place in _libraries()) else path


@cache
def _libraries() -> list[Path]:
    return [Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib")]


def code(tree: ast.Module) -> str:
    """Return a hash of the statements of a file; statements that are only a text, such as docstrings, do not count."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [each for each in body if not _is_text(each)]  # type: ignore[attr-defined]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def reached(modules: Sequence[str], find: Callable[[str], Path | None] | None = None) -> dict[str, Path]:
    """Return the files of modules and of all modules that they import, except `SHOWING`, by module name.

    `find` returns the file of a module that counts, by default of one of the package.
    """
    found: dict[str, Path] = {}
    left = list(modules)
    while left:
        name = left.pop()
        path = (find or _file)(name)
        if path is not None and name not in found and not name.startswith(SHOWING):
            found[name] = path
            left += _imported(name, path)
    return dict(sorted(found.items()))


def _read(path: Path) -> tuple[str, tuple[ast.stmt, ...]]:
    return _understood(path.read_bytes())


@cache  # by the text, because questions share most of their modules, and a file can change
def _understood(text: bytes) -> tuple[str, tuple[ast.stmt, ...]]:
    """Return the hash of the statements of a file, and its imports."""
    tree = ast.parse(text)
    imports = tuple(node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom)))
    return code(tree), imports


def _file(module: str) -> Path | None:
    """Return the file of a module of the package; None for the package itself and for all other names."""
    package, *parts = module.split(".")
    if package != PACKAGE.name or not parts:
        return None
    place = PACKAGE.joinpath(*parts)
    return next((file for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file()), None)


def _imported(module: str, path: Path) -> Iterator[str]:
    """Return every name that a module imports, even inside functions; some names are modules, others are not."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in _read(path)[1]:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            name = "." * node.level + (node.module or "")
            found = resolve_name(name, package) if node.level else name
            yield found
            yield from (f"{found}.{alias.name}" for alias in node.names)
