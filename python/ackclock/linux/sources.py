"""Sources of Linux: a tarball or an unpacked tree, its version, and its copy without what a build does not read."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ackclock.linux import tools, versions

PACKAGED = Path("/usr/src")
"""Where Debian's packages `linux-source-…` put their tarballs."""
_UNUSED = (
    "arch/[!ux]*",
    "drivers/accel",
    "drivers/gpu",
    "drivers/infiniband",
    "drivers/media",
    "drivers/net/ethernet",
    "drivers/net/wireless",
    "drivers/scsi",
    "drivers/staging",
    "drivers/usb",
    "sound",
)
# Most files of the source are compiled for other machines only. The Kconfig files beside them are read.
LEFT_OUT = [
    "--exclude=.git",
    "--exclude=Documentation/*.rst",
    "--exclude=Documentation/*.yaml",
    "--exclude=tools/perf",
    "--exclude=tools/testing",
    "--exclude=arch/[!ux]*/*.dts*",
    *(f"--exclude={folder}/*.[chS]" for folder in _UNUSED),
]
# Two trees with the same files have the same stream.
_PACK = (
    "tar",
    "--create",
    "--format=gnu",
    "--sort=name",
    "--mtime=@0",
    "--owner=0",
    "--group=0",
    "--numeric-owner",
    "--mode=go=u,go-w",
    *LEFT_OUT,
)


@dataclass(frozen=True)
class Source:
    """A source of Linux."""

    path: Path
    """The tarball, or the folder."""
    version: str
    """Its version, such as ``6.12.117``."""
    sha256: str
    """Hash of the tarball; of a folder, the hash of the names, modes and contents of the files that are copied."""

    def copy(self, folder: Path) -> None:
        """Copy the source into a new folder.

        Raises
        ------
        OSError
            If it cannot be read.
        ValueError
            If it has no User-Mode Linux.
        """
        folder.mkdir()
        unpack: list[str | Path] = ["tar", "--extract", "--no-same-owner", "--directory", folder]
        try:
            if self.path.is_dir():
                with _packed(self.path) as stream:
                    tools.run(unpack, stdin=stream)
            else:
                tools.run([*unpack, "--strip-components=1", *LEFT_OUT, "--force-local", "--file", self.path])
        except subprocess.CalledProcessError as error:
            raise OSError(f"{self.path}: cannot be copied to {folder.parent}: {_last(error)}") from None
        if not (folder / "arch" / "um" / "Kconfig").is_file():
            raise ValueError(f"{self.path}: this source of Linux has no User-Mode Linux (arch/um)")


def locate(path: Path | None) -> Path:
    """Return the source that a user named, or the newest that Debian's packages left.

    Raises
    ------
    FileNotFoundError
        If there is none.
    """
    if path is not None:
        if not path.exists():
            raise FileNotFoundError(f"{path}: there is no such file or folder; name the source of a Linux kernel")
        return path.resolve()
    found = {tarball: re.match(r"linux-source-(\d+\.\d+.*)\.tar\.", tarball.name) for tarball in PACKAGED.glob("*")}
    known = {tarball: versions.order(match[1]) for tarball, match in found.items() if match}
    if not known:
        raise FileNotFoundError(
            f"{PACKAGED}: there is no linux-source-*.tar.xz; on Debian: apt install linux-source-6.12; elsewhere, name "
            "a tarball of kernel.org or an unpacked tree: ackclock kernel build SOURCE"
        )
    return max(known, key=lambda tarball: known[tarball])


def read(path: Path) -> Source:
    """Read the version of a source, and compute its hash: 1 s for a tarball, 3 to 15 s for a tree.

    Raises
    ------
    OSError
        If it cannot be read.
    ValueError
        If it is no source of Linux, or a tree with the products of a build.
    """
    version = _version(path)
    digest = hashlib.sha256()
    try:
        with _packed(path) if path.is_dir() else path.open("rb") as stream:
            while chunk := stream.read(1 << 20):
                digest.update(chunk)
    except subprocess.CalledProcessError:
        raise OSError(f"{path}: not all of its files can be read") from None
    return Source(path, version, digest.hexdigest())


def _version(path: Path) -> str:
    """Read the version from the top Makefile; that of a tarball is near the beginning."""
    first = ("--to-stdout", "--occurrence", "--wildcards", "--no-wildcards-match-slash")
    try:
        if path.is_dir():
            text = (path / "Makefile").read_text(errors="replace")
        else:
            text = "\n".join(tools.run(["tar", "--extract", *first, "--force-local", "--file", path, "*/Makefile"]))
    except (FileNotFoundError, subprocess.CalledProcessError):
        text = ""
    found = dict(re.findall(r"^(VERSION|PATCHLEVEL|SUBLEVEL|EXTRAVERSION) *=[ \t]*(\S*)", text, re.MULTILINE))
    if not (found.get("VERSION") and found.get("PATCHLEVEL")):
        raise ValueError(f"{path}: no source of Linux: there is no Makefile with VERSION and PATCHLEVEL at its top")
    return f"{found['VERSION']}.{found['PATCHLEVEL']}.{found.get('SUBLEVEL') or 0}{found.get('EXTRAVERSION', '')}"


@contextlib.contextmanager
def _packed(tree: Path) -> Iterator[IO[bytes]]:
    """Return a tree as a stream of tar: of a git work tree all files but the ignored ones, else everything."""
    with tempfile.TemporaryFile() as names:
        if (tree / ".git").exists() and (listed := _listed(tree)) is not None:
            names.write(b"\0".join(listed))
            names.seek(0)
            chosen = ["--null", "--verbatim-files-from", "--no-recursion", "--files-from=-"]
        else:
            if (tree / ".config").exists() or (tree / "include" / "config").exists():
                raise ValueError(f"{tree}: has the products of a build; remove them there with: make mrproper")
            chosen = ["."]
        with tools.started([*_PACK, "--directory", tree, "--file=-", *chosen], stdin=names.fileno()) as stream:
            yield stream


def _listed(tree: Path) -> list[bytes] | None:
    """List the files of a git work tree; None if git cannot."""
    command = ["git", "-C", str(tree), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        names = subprocess.run(command, capture_output=True, check=True).stdout.split(b"\0")
    except (OSError, subprocess.CalledProcessError):
        return None
    # The index also lists files that the user has deleted.
    return sorted({name for name in names if name and os.path.lexists(os.fsencode(tree) + b"/" + name)})


def _last(error: subprocess.CalledProcessError) -> str:
    lines = [line for line in (error.output or "").splitlines() if "Exiting with failure" not in line]
    return lines[-1] if lines else f"exit code {error.returncode}"
