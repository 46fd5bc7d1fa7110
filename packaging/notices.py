"""Writes the third-party notices of the wheel: THIRD-PARTY.txt, which goes into its folder `licenses`.

    python packaging/notices.py [FLAG…]

FLAG are those of the build that choose its content: `--features NAME`, `--target TRIPLE`. The crates and their texts
come from Cargo, the packages of the page from the notices beside it, which its build wrote.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FILE = "THIRD-PARTY.txt"
PAGE = ROOT / "python" / "ackclock" / "data" / "page" / "third-party.txt"
# Of the two licences of Ackclock, the one that travels with pages and engine.
OWN = ROOT / "LICENSE-MIT"
# Beginnings of the names of files with a licence or a notice, in capitals.
TEXTS = ("LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE")
# If there is a choice of licences, the first of these is taken.
CHOSEN = ("MIT", "BSD")
RULE = "\n" + "-" * 100 + "\n\n"
RUST = """\
The Rust standard library, {version}, copyright The Rust Project Contributors, is used under the MIT License. What it
contains is listed in https://github.com/rust-lang/rust/blob/master/COPYRIGHT.

{permission}"""
LIBELF = """\
libelf of elfutils {elfutils}, copyright Red Hat, Inc. and others, is linked statically. It is used under the GNU Lesser
General Public License, version 3 or later, whose text is below. Its source is in the crate libbpf-sys {version} of
https://crates.io. Ackclock's own source, with which it can be linked anew to a changed libelf, is the source
distribution of the same version on https://pypi.org/project/ackclock: replace the crate by [patch.crates-io] in
Cargo.toml, and run `pip install . -C build-args=--features=ebpf-vendored`.
"""


@dataclass(frozen=True)
class Part:
    """A piece of work of others: its name with version and licence, and the texts that go with it."""

    name: str
    texts: tuple[str, ...]


def texts(folder: Path, expression: str) -> tuple[str, ...]:
    """Return the texts of the licences and notices in a folder: of licences to choose from, only the shortest's."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name.upper().startswith(TEXTS))
    for name in CHOSEN if " AND " not in expression else ():
        if name in expression and (chosen := [path for path in files if name in path.name.upper()]):
            files = chosen
            break
    return tuple(path.read_text(encoding="utf-8").strip("\n") for path in files)


def crates(manifest: Path, flags: Iterable[str], target: str | None) -> Iterator[Part]:
    """Yield the crates of others that are linked into a crate, and what they contain in turn."""
    platform = target or _output("rustc", "--print", "host-tuple").strip()
    command = ["cargo", "metadata", "--format-version=1", "--locked", f"--manifest-path={manifest}", *flags]
    told = json.loads(_output(*command, f"--filter-platform={platform}"))
    for package in sorted(_linked(told), key=lambda package: (package["name"], package["version"])):
        if package["source"] is None:
            continue
        folder = Path(package["manifest_path"]).parent
        about = f"{package['name']} {package['version']}"
        if not (found := texts(folder, package["license"] or "")):
            raise ValueError(f"{about}: {folder} has no file with its licence")
        yield Part(f"{about}: {package['license']}", found)
        if package["name"] == "libbpf-sys":
            yield from _libraries(folder, package["version"])


def _linked(told: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the packages that are linked into the root: neither those of build scripts nor procedural macros."""
    packages = {package["id"]: package for package in told["packages"]}
    edges = {node["id"]: node["deps"] for node in told["resolve"]["nodes"]}
    waiting, seen = [told["resolve"]["root"]], set()
    while waiting:
        name = waiting.pop()
        if name in seen or any("proc-macro" in target["kind"] for target in packages[name]["targets"]):
            continue
        seen.add(name)
        yield packages[name]
        waiting += [edge["pkg"] for edge in edges[name] if any(kind["kind"] is None for kind in edge["dep_kinds"])]


def _libraries(folder: Path, version: str) -> Iterator[Part]:
    """Yield the libraries in C whose sources lie in the crate libbpf-sys."""
    elfutils = re.search(r"AC_INIT\(\[elfutils\],\[([\d.]+)\]", (folder / "elfutils" / "configure.ac").read_text())
    about = LIBELF.format(version=version, elfutils=elfutils[1] if elfutils else "")
    licences = [(folder / "elfutils" / name).read_text() for name in ("COPYING-LGPLV3", "COPYING")]
    yield Part("libelf of elfutils: LGPL-3.0-or-later", (about, *licences))
    yield Part("libbpf: BSD-2-Clause", ((folder / "libbpf" / "LICENSE.BSD-2-Clause").read_text(),))
    yield Part("zlib: Zlib", ((folder / "zlib" / "LICENSE").read_text(),))


def rendered(parts: Iterable[Part]) -> str:
    """Return a list of the parts, then every text once, with the parts that it belongs to."""
    parts = list(parts)
    owners: dict[str, list[str]] = {}
    for part in parts:
        for text in part.texts:
            owners.setdefault(text.strip("\n"), []).append(part.name.partition(":")[0])
    listed = "".join(f"  {part.name}\n" for part in parts)
    return listed + "".join(f"{RULE}{', '.join(names)}:\n\n{text}\n" for text, names in owners.items())


def rust() -> str:
    """Return the notice of the standard library, which every compiled program contains."""
    permission = OWN.read_text(encoding="utf-8").partition("\n\nPermission ")
    return RUST.format(version=_output("rustc", "--version").split()[1], permission="Permission " + permission[2])


def _output(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, encoding="utf-8").stdout


def compiled(title: str, manifest: Path, flags: Iterable[str] = (), target: str | None = None) -> str:
    """Return the notices of a compiled crate."""
    # Whoever passes it on distributes Ackclock, too.
    own = Part("Ackclock: MIT OR Apache-2.0", (OWN.read_text(encoding="utf-8"),))
    return f"{title} contains:\n\n{rendered([own, *crates(manifest, flags, target)])}{RULE}{rust()}"


def wheel(arguments: list[str]) -> str:
    """Return the notices of the wheel that a build with these flags makes."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--features", action="append", default=[])
    parser.add_argument("--target")
    options, _ = parser.parse_known_args(arguments)
    flags = [f"--features={name}" for name in options.features]
    own = compiled("The compiled core of Ackclock", ROOT / "crates" / "py" / "Cargo.toml", flags, options.target)
    page = PAGE.read_text(encoding="utf-8") if PAGE.is_file() else ""
    return f"{own}{RULE}{page}" if page else own


if __name__ == "__main__":
    import sys

    (ROOT / FILE).write_text(wheel(sys.argv[1:]), encoding="utf-8")
