"""The smallest complete paper, as a start for a paper of one's own."""

from __future__ import annotations

import re
from pathlib import Path

from ackclock.files import storage, toml
from ackclock.literature import library

TEMPLATE = Path(__file__).resolve().parents[1] / "data" / "newpaper"


def start(name: str) -> list[Path]:
    """Write a paper that runs: a scenario, its experiment, one claim and a README.

    Parameters
    ----------
    name
        Name of the paper, which becomes the folder ``papers/NAME`` of the working directory.

    Returns
    -------
    list of Path
        The written files.

    Raises
    ------
    ValueError
        If the name is no name of a folder, or if there is a paper of this name.
    FileExistsError
        If the folder exists.
    """
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise ValueError(f"{name!r}: the name of a paper has letters, digits, '-', '_' and '.', such as my-paper")
    folder = Path("papers") / name
    if folder.exists():
        raise FileExistsError(f"{folder} exists; choose another name")
    if name in library.names():
        raise ValueError(f"there is already a paper {name!r}; choose another name")
    folder.mkdir(parents=True)
    written = []
    for template in sorted(TEMPLATE.iterdir()):
        written.append(folder / template.name)
        storage.write_text(written[-1], toml.read_text(template).replace("NAME", name))
    return written
