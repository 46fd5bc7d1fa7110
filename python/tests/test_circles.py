"""The files of each crate use one another in one direction: what two files share lies beneath both.

A file uses another if it names something that the other one defines. A name that comes through a `use` of a third
file is followed to its definition, so a `mod.rs` that only hands names on is part of no circle. Tests may use what
they test.
"""

import re
from pathlib import Path

import pytest

CRATES = Path(__file__).parents[2] / "crates"
DEFINED = r"\b(?:fn|struct|enum|trait|const|static|type|macro_rules!)\s+(?:mut\s+)?"
Names = tuple[str, ...]


def block(text: str, begin: int) -> int:
    """The end of the item at `begin`: after its block, or after its semicolon."""
    depth = 0
    for place in range(begin, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0 and text[place] in "};":
            return place + 1
    return len(text)


def code(path: Path) -> str:
    """The code of a file without comments, texts and tests; `super` of an inline module is `self`."""
    text = re.sub(r'r#".*?"#', "", path.read_text(), flags=re.DOTALL)
    text = re.sub(r"""//[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])'""", "", text, flags=re.DOTALL)
    while found := re.search(r"#\[cfg\(test\)\]", text):
        text = text[: found.start()] + text[block(text, found.end()) :]
    for found in reversed(list(re.finditer(r"\bmod \w+ \{", text))):
        end = block(text, found.start())
        text = text[: found.start()] + text[found.start() : end].replace("super::", "self::") + text[end:]
    return text


def branches(tree: str) -> list[tuple[Names, str]]:
    """The paths of a `use` with the names that they get."""
    tree = tree.strip()
    prefix, brace, inner = tree.partition("{")
    if not brace:
        path, _, alias = tree.partition(" as ")
        names = tuple(path.strip().split("::"))
        return [(names, alias.strip() or names[-1])] if tree else []
    above = tuple(prefix.strip().removesuffix("::").split("::"))
    parts = re.findall(r"(?:[^,{}]|\{(?:[^{}]|\{[^{}]*\})*\})+", inner.rstrip().removesuffix("}"))
    found = [branch for part in parts for branch in branches(part)]
    return [(above, above[-1]) if names == ("self",) else (above + names, alias) for names, alias in found]


class Crate:
    """The files of a crate, by the names of their modules."""

    def __init__(self, source: Path) -> None:
        files = [path for path in source.rglob("*.rs") if not path.stem.endswith("tests") and "tests" not in path.parts]
        parts = {path: path.relative_to(source).with_suffix("").parts for path in files}
        self.files = {
            names[:-1] if names[-1] in ("mod", "lib") else names: path.relative_to(source)
            for path, names in parts.items()
        }
        self.code = {module: code(source / path) for module, path in self.files.items()}
        used = {module: re.findall(r"\buse\s+([^;]+);", text) for module, text in self.code.items()}
        self.uses = {
            module: {alias: path for tree in trees for path, alias in branches(tree)} for module, trees in used.items()
        }

    def home(self, module: Names, path: Names, depth: int = 0) -> Names | None:
        """Find the module that defines what `path` names in `module`; `None` if it is a module or of another crate."""
        base, rest = module, list(path)
        if rest[0] == "crate":
            base = ()
        elif rest[0] not in ("self", "super") and (*module, rest[0]) not in self.files:
            known = self.uses[module].get(rest[0])
            return (
                self.home(module, known + path[1:], depth + 1)
                if known and len(path) > 1 and known != path and depth < 9
                else None
            )
        while rest and rest[0] in ("crate", "self", "super"):
            base = base[:-1] if rest.pop(0) == "super" else base
        while rest and (*base, rest[0]) in self.files:
            base = (*base, rest.pop(0))
        if not rest or re.search(DEFINED + re.escape(rest[0]) + r"\b", self.code[base]):
            return base if rest else None
        further = self.uses[base].get(rest[0])
        return self.home(base, further + tuple(rest[1:]), depth + 1) if further and depth < 9 else base

    def graph(self) -> dict[Names, set[Names]]:
        """For each module, those that it uses."""
        arrows: dict[Names, set[Names]] = {}
        for module, text in self.code.items():
            inside = re.findall(r"(?<![\w:])[a-z_]\w*(?:::\w+)+", re.sub(r"\buse\s+[^;]+;", "", text))
            paths = set(self.uses[module].values()) | {tuple(path.split("::")) for path in inside}
            homes = {self.home(module, path) for path in paths}
            arrows[module] = {home for home in homes if home is not None and home != module}
        return arrows


def circles(arrows: dict[Names, set[Names]]) -> list[set[Names]]:
    """The groups of modules that reach one another."""

    def reached(begin: Names) -> set[Names]:
        seen, waiting = set(), list(arrows[begin])
        while waiting:
            module = waiting.pop()
            if module not in seen:
                seen.add(module)
                waiting += arrows[module]
        return seen

    below = {module: reached(module) for module in arrows}
    groups = {
        frozenset(other for other in below[module] if module in below[other])
        for module in arrows
        if module in below[module]
    }
    return [set(group) for group in groups]


@pytest.mark.parametrize("name", sorted(path.name for path in CRATES.iterdir() if (path / "src").is_dir()))
def test_no_circle_of_files(name: str) -> None:
    crate = Crate(CRATES / name / "src")
    found = [{str(crate.files[module]) for module in group} for group in circles(crate.graph())]
    assert not found, "these files use one another; move what they share into a file beneath them"


def test_a_circle_is_found(tmp_path: Path) -> None:
    (tmp_path / "part").mkdir()
    files = {
        "lib.rs": "mod part;\npub use part::{Low, one::{One, Both as Two}};\n",
        "part/mod.rs": "pub mod one;\nmod two;\npub use two::Low;\n",
        "part/one.rs": "use super::{Low};\npub struct One;\npub struct Both(Low);\n",
        "part/two.rs": "pub struct Low;\n#[cfg(test)]\nmod tests { use crate::part::one::One; }\n",
    }
    for path, text in files.items():
        (tmp_path / path).write_text(text)
    assert circles(Crate(tmp_path).graph()) == []
    (tmp_path / "part/two.rs").write_text("pub struct Low;\nfn back() -> usize { crate::Two::number() }\n")
    assert circles(Crate(tmp_path).graph()) == [{("part", "one"), ("part", "two")}]
