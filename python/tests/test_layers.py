"""The package has layers: no file imports itself through other files."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import ackclock

PACKAGE = Path(ackclock.__file__).parent


def modules() -> dict[str, Path]:
    """Return every file of the package by the name of its module."""
    found = {}
    for path in (*PACKAGE.rglob("*.py"), PACKAGE / "_core.pyi"):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(path: Path, known: dict[str, Path]) -> set[str]:
    """Return the modules of the package that a file imports: at its top, in functions, and for type checkers."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            for alias in node.names:
                # A name imported from a package may be one of its files.
                inner = f"{node.module}.{alias.name}"
                names.add(inner if inner in known else str(node.module))
    return names & known.keys()


def test_no_file_imports_itself_through_others() -> None:
    known = modules()
    assert len(known) > 50
    graph = {name: imported(path, known) for name, path in known.items()}
    assert "ackclock.comparisons.crossed" in graph["ackclock.comparisons.maps"], "imports are found"
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle = " → ".join(error.args[1])
        raise AssertionError(f"an import circle: {circle}") from None
