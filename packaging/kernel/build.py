"""Makes the wheel of the package `ackclock-kernel` from a kernel that `ackclock kernel build` made.

    python packaging/kernel/build.py [linux:VERSION] DIRECTORY

The package is a program of its own, under GPL-2.0-only: kernel, first process, the files of ours that were built in
with their licence, and `kernel.json`, which names the source of Linux and its hash. Its README offers the source.
Ackclock finds the kernel in the installed package.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from ackclock.linux import inputs, store

# The C library of the oldest Debian on which Linux 6.12 was tried; later versions of Linux need none.
PLATFORM = "manylinux_2_36_x86_64"
PROJECT = """\
[build-system]
requires = ["hatchling==1.33.0"]
build-backend = "hatchling.build"

[project]
name = "ackclock-kernel"
version = "{version}"
description = "Linux {release} for Ackclock: a kernel in virtual time (User-Mode Linux)"
readme = "README.md"
requires-python = ">=3.10"
license = "GPL-2.0-only"
license-files = ["LICENSE"]

[tool.hatch.build.targets.wheel]
packages = ["ackclock_kernel"]
"""
README = """\
# ackclock-kernel

Linux {release} as a program that Ackclock runs in virtual time (`ackclock run FILE --on linux`). It is licensed under
the GNU General Public License, version 2 only (`LICENSE`).

## Source

| what | where |
|---|---|
| Linux {version} | `{source}` of {publisher}, SHA-256 `{sha256}` |
| configuration, patches, added files, first process | `ackclock_kernel/source` in this package, with a README |
| compiler | {compiler} |

`ackclock kernel build {source}` of Ackclock {ackclock} builds the same kernel from both. The first process is linked
statically to the GNU C Library of the compiler's system, which is distributed here under the GNU General Public
License, as section 3 of its own licence, LGPL-2.1, permits; its source is Debian's package `glibc`.

The Ackclock developers offer, until at least three years after they last distribute this version, to give anyone a
complete machine-readable copy of this source, for no more than the cost of the copy: ask at https://github.com/ackclock/ackclock/issues.
"""


def lay_out(kernel: store.Built, folder: Path) -> None:
    """Write the project of a kernel's package into an empty folder.

    Raises
    ------
    ValueError
        If the kernel was built from other files than those that would be its source.
    """
    told = json.loads((kernel.path / store.MANIFEST).read_text())
    source = told["source"]["name"]
    other = [*kernel.additions, *(["older files of Ackclock"] if kernel.outdated else [])]
    if other or ".tar" not in source:
        raise ValueError(
            f"{kernel.name} was built from {', '.join(other) or f'the folder {source}'}: its package would lack "
            "source; build it from an archive, without additions (ackclock kernel build SOURCE)"
        )
    package = folder / "ackclock_kernel"
    place = package / "kernels" / kernel.path.name
    shutil.copytree(kernel.path, place)
    for mounted in (place / "root").iterdir():
        if mounted.is_dir():
            # A wheel has no empty folders.
            (mounted / ".keep").touch()
    shutil.copytree(inputs.DATA, package / "source")
    (package / "__init__.py").write_text('"""A Linux kernel for Ackclock; `kernels` beside this file has it."""\n')
    shutil.copy(inputs.DATA / "LICENSE", folder / "LICENSE")
    readme = README.format(
        release=kernel.release,
        version=kernel.version,
        source=source,
        publisher="Debian (https://snapshot.debian.org)"
        if source.startswith("linux-source-")
        else "https://kernel.org",
        sha256=told["source"]["sha256"],
        compiler=told["compiler"],
        ackclock=told["version"],
    )
    (folder / "README.md").write_text(readme)
    (folder / "pyproject.toml").write_text(PROJECT.format(version=kernel.version, release=kernel.release))


def main(arguments: list[str]) -> None:
    """Build the wheel."""
    *name, target = arguments
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as built:
        try:
            lay_out(store.find(*name), Path(folder))
        except ValueError as error:
            sys.exit(f"error: {error}")
        run = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", built, folder]
        subprocess.run(run, check=True)
        (wheel,) = Path(built).glob("*.whl")
        tags = [sys.executable, "-m", "wheel", "tags", "--remove", "--platform-tag", PLATFORM, str(wheel)]
        subprocess.run(tags, check=True, stdout=subprocess.DEVNULL)
        (wheel,) = Path(built).glob("*.whl")
        Path(target).mkdir(parents=True, exist_ok=True)
        print(shutil.copy(wheel, target))


if __name__ == "__main__":
    main(sys.argv[1:])
