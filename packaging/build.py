"""Builds the wheel as it is published: with the notices of what others wrote, and without folders of this machine.

    python packaging/build.py DIRECTORY [FLAG…]

FLAG are those of `maturin build`, such as `--sdist`, `--features NAME` or `--target TRIPLE`; notices.py and remap.py
say more.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import notices
import remap

BILL = re.compile(r"\.dist-info/sboms/.*\.json$")
RECORD = re.compile(r"\.dist-info/RECORD$")
# The bill of materials names a crate of the checkout by its folder, which may be one that Maturin made for the build.
FOLDER = re.compile(rb"path\+file://[^\"#]*?/(?=crates/)")


def build(out: Path, flags: list[str], environment: Mapping[str, str] | None = None) -> list[Path]:
    """Build into a folder, and return the files.

    Parameters
    ----------
    out
        The folder.
    flags
        Flags of Maturin.
    environment
        More variables for it.
    """
    settings = {**os.environ, **(environment or {})}
    settings["CARGO_ENCODED_RUSTFLAGS"] = remap.encoded(settings)
    # Maturin looks for Zig in the programs of an environment that is active.
    settings["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), settings.get("PATH", os.defpath)])
    (notices.ROOT / notices.FILE).write_text(notices.wheel(flags), encoding="utf-8")
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out) as folder:
        command = [sys.executable, "-m", "maturin", "build", "--release", "--quiet", *flags, "--out", folder]
        subprocess.run(command, cwd=notices.ROOT, env=settings, check=True)
        built = sorted(Path(folder).iterdir())
        for path in built:
            if path.suffix == ".whl":
                clean(path)
            path.replace(out / path.name)
    return [out / path.name for path in built]


def clean(wheel: Path) -> None:
    """Take the folders of this machine out of the bill of materials of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        files = {entry: archive.read(entry) for entry in archive.infolist()}
    bills = {}
    for entry in files:
        if BILL.search(entry.filename):
            files[entry] = FOLDER.sub(b"path+file:///ackclock/", files[entry])
            bills[entry.filename] = files[entry]
    record = next(entry for entry in files if RECORD.search(entry.filename))
    lines = files[record].decode().splitlines()
    files[record] = "".join(f"{_recorded(line, bills)}\n" for line in lines).encode()
    with zipfile.ZipFile(wheel, "w") as archive:
        for entry, data in files.items():
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED, 9)


def _recorded(line: str, changed: Mapping[str, bytes]) -> str:
    name = line.split(",")[0]
    if name not in changed:
        return line
    data = changed[name]
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
    return f"{name},sha256={digest},{len(data)}"


if __name__ == "__main__":
    for file in build(Path(sys.argv[1]).resolve(), sys.argv[2:]):
        print(file)
