"""Libraries that only some questions need: ``pip install 'ackclock[sql]'`` installs that of an extra.

The extras are those of ``pyproject.toml``. Each import of such a library is within `needed`, so that a missing one is
told in one way.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

LIBRARIES = {"cluster": "Ray", "notebook": "anywidget", "sql": "DuckDB", "statistics": "SciPy", "tune": "Optuna"}
"""The library of each extra."""


class MissingError(ModuleNotFoundError, ValueError):
    """A library is not installed; the message says what installs it."""


@contextlib.contextmanager
def needed(extra: str, what: str) -> Iterator[None]:
    """Explain an import that fails within.

    Parameters
    ----------
    extra
        The extra that installs the library.
    what
        What needs the library, in the words of the user.

    Raises
    ------
    MissingError
        If the library, or one that it needs, is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        # Of the library itself, a part may be missing.
        inside = "" if (error.name or "").partition(".")[0].lower() == LIBRARIES[extra].lower() else f" ({error.name})"
        raise MissingError(
            f"{what} needs {LIBRARIES[extra]}, which is not installed{inside}: pip install 'ackclock[{extra}]'",
            name=error.name,
        ) from None
