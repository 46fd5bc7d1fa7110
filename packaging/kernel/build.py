"""Makes the wheel of the package `ackclock-kernel` from a kernel that `ackclock kernel build` made.

    python packaging/kernel/build.py [linux:VERSION] DIRECTORY

The package is a program of its own, under GPL-2.0-only: kernel, first process, the files of ours that were built in
with their licence, and `kernel.json`, which names the source of Linux and its hash. Ackclock finds the kernel in the
installed package.
"""

from __future__ import annotations

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
the GNU General Public License, version 2 only.

`ackclock_kernel/source` has the files that were added to Linux; `kernel.json` names the source of Linux with its
SHA-256, the configuration and the compiler. `ackclock kernel build SOURCE` builds the same kernel from both.
"""


def lay_out(kernel: store.Built, folder: Path) -> None:
    """Write the project of a kernel's package into an empty folder."""
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
    (folder / "README.md").write_text(README.format(release=kernel.release))
    (folder / "pyproject.toml").write_text(PROJECT.format(version=kernel.version, release=kernel.release))


def main(arguments: list[str]) -> None:
    """Build the wheel."""
    *name, target = arguments
    kernel = store.find(*name)
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as built:
        lay_out(kernel, Path(folder))
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
