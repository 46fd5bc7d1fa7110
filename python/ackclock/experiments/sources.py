"""The program as part of a cache key: the content of every module on which a measurement rests.

A measurement names the modules that it calls. Every module of the package that those import, directly or through
others, counts as well. So a new import cannot be forgotten. The compiled core always counts.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from ackclock import _core

PACKAGE = Path(__file__).resolve().parents[1]


def digest(*values: object, length: int = 40) -> str:
    """Name values that JSON can hold by their content, in hexadecimal digits."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:length]


@cache
def build() -> str:
    """Name the compiled core by its content."""
    return hashlib.sha256(Path(str(_core.__file__)).read_bytes()).hexdigest()[:20]


@cache
def program(*modules: str) -> str:
    """Name the compiled core, these modules, and every module of the package that they import, by their content."""
    files = reached(modules)
    return digest(build(), {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()})


def reached(modules: Sequence[str]) -> dict[str, Path]:
    """Give the files of modules and of every module of the package that they import, by name."""
    found: dict[str, Path] = {}
    left = list(modules)
    while left:
        name = left.pop()
        path = _file(name)
        if path is not None and name not in found:
            found[name] = path
            left += _imported(path)
    return dict(sorted(found.items()))


def _file(module: str) -> Path | None:
    """Find the file of a module of the package; None for others, for the compiled core and for the package itself."""
    package, *parts = module.split(".")
    if package != PACKAGE.name or not parts:
        return None
    place = PACKAGE.joinpath(*parts)
    return next((file for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file()), None)


def _imported(path: Path) -> Iterator[str]:
    """Name what a file may import, at its top or inside functions: modules, and names in them that may be modules."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
