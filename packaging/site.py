"""Puts the sites of all releases into one folder: the newest at its top, each also under its version.

usage: python packaging/site.py ARCHIVES FOLDER

ARCHIVES has the sites of releases as site-VERSION.tar.gz, which a release keeps among its files. Each folder gets a
file versions.json, from which its pages offer the other versions.
"""

from __future__ import annotations

import json
import re
import sys
import tarfile
from pathlib import Path

ARCHIVE = re.compile(r"site-(\d+(?:\.\d+)*)\.tar\.gz")


def assemble(archives: Path, folder: Path) -> list[str]:
    """Unpack the sites into a new folder; return their versions, the newest first."""
    found = {match[1]: path for path in archives.iterdir() if (match := ARCHIVE.fullmatch(path.name))}
    versions = sorted(found, key=lambda version: [int(part) for part in version.split(".")], reverse=True)
    if not versions:
        raise SystemExit(f"{archives} has no site-VERSION.tar.gz")
    folder.mkdir(parents=True)
    for place, version in [(".", versions[0]), *((version, version) for version in versions)]:
        with tarfile.open(found[version]) as site:
            # Pythons before 3.11.4 and 3.10.12 have no filter, and these archives are our own.
            site.extraction_filter = getattr(tarfile, "data_filter", lambda member, _: member)
            site.extractall(folder / place)
        top = "." if place == "." else ".."
        (folder / place / "versions.json").write_text(
            json.dumps({"here": version, "top": top, "versions": versions}) + "\n", encoding="utf-8"
        )
    return versions


def main(arguments: list[str]) -> None:
    """Assemble the sites, and print their versions."""
    if len(arguments) != 2 or any(word.startswith("-") for word in arguments):
        raise SystemExit(__doc__)
    archives, folder = map(Path, arguments)
    if not archives.is_dir():
        raise SystemExit(f"{archives} is no folder")
    if folder.exists():
        raise SystemExit(f"{folder} exists: nothing was changed")
    print("\n".join(assemble(archives, folder)))


if __name__ == "__main__":
    main(sys.argv[1:])
