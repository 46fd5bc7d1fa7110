"""Builds a kernel for virtual time: User-Mode Linux from a source of Linux and the files of ``data/kernel``."""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ackclock import _core
from ackclock.files import leftovers, storage
from ackclock.kernels import sources, store, tools, versions
from ackclock.kernels.sources import Source
from ackclock.kernels.store import Built

DATA = Path(__file__).parents[1] / "data" / "kernel"
RECIPE = 1
"""A part of every key. Increase it if this file builds other kernels from the same inputs."""
HZ = (100, 250, 300, 1000)
"""Ticks per second that Linux offers."""
STEPS = 1400
"""About as many lines as `make` prints."""
ESSENTIAL = {"CONFIG_UML_TIME_TRAVEL_SUPPORT", "CONFIG_VIRTIO_UML", "CONFIG_VIRTIO_NET", "CONFIG_INET"}
FAILED_LOG = "failed.log"
MOST_ERRORS = 5
# Equal inputs give equal kernels: no time, user or machine of the build is in them.
_FIXED = {
    "LC_ALL": "C",
    "ARCH": "um",
    "KBUILD_BUILD_TIMESTAMP": "2026-01-01 00:00:00 UTC",
    "KBUILD_BUILD_USER": "ackclock",
    "KBUILD_BUILD_HOST": "ackclock",
    "KBUILD_BUILD_VERSION": "1",
    "SOURCE_DATE_EPOCH": "1767225600",
}
Files = Mapping[str, bytes]
Note = Callable[[str], None]
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Inputs:
    """Everything that a kernel is built from, but the compiler."""

    source: Source
    hz: int
    config: Files
    patches: Files
    tree: Files
    init: Files
    additions: Files

    @property
    def hashes(self) -> dict[str, str]:
        """The hash of each group of files."""
        return {name: _digest(getattr(self, name)) for name in ("config", "patches", "tree", "init")}

    @property
    def key(self) -> str:
        """The name of the kernel's folder."""
        additions = {name: _digest({name: content}) for name, content in self.additions.items()}
        parts = [RECIPE, self.source.version, self.source.sha256, self.hz, self.hashes, additions]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]


def build(
    source: str | Path | None = None,
    *,
    hz: int = 250,
    additions: Iterable[str | Path] = (),
    jobs: int | None = None,
    force: bool = False,
    note: Note = lambda _: None,
    progress: Progress = lambda _done, _total: None,
) -> Built:
    """Build a Linux kernel for virtual time, or return it if it was built before.

    An interrupted or failed build leaves nothing but ``failed.log``. The next build removes what a killed one left.

    Parameters
    ----------
    source
        A tarball or an unpacked tree of Linux; by default the newest that Debian's packages ``linux-source-…`` left.
    hz
        Ticks per second: 100, 250, 300 or 1000.
    additions
        Files in C to build in, such as a congestion control; each becomes ``net/ipv4/NAME.c``.
    jobs
        Compilers at the same time; by default one per processor.
    force
        Whether to build a kernel that is there already.
    note
        Called with a sentence at each step.
    progress
        Called with the finished and the estimated number of steps of `make`.

    Raises
    ------
    OSError
        If a program or a file is missing, or the cache cannot be written to.
    ValueError
        If an argument is wrong, or the source cannot be built.
    """
    tools.check_machine()
    if hz not in HZ:
        raise ValueError(f"hz must be one of {', '.join(map(str, HZ))}, not {hz}")
    added = _read_additions(map(Path, additions))
    path = sources.locate(None if source is None else Path(source))
    tools.check_programs(path)
    inputs = _inputs(sources.read(path), hz, added)
    place = store.folder() / inputs.key
    if place.exists() and not force:
        note(f"{place.name} was built before from these inputs; --force builds it again")
        return store.read(place)
    if set(str(place)) & set(" :"):
        raise ValueError(f"{place}: make cannot build in a folder with a space or colon; set XDG_CACHE_HOME to another")
    place.parent.mkdir(parents=True, exist_ok=True)
    leftovers.remove_within(place.parent)
    handle, work = leftovers.new_folder(place)
    try:
        _build(inputs, work, jobs or os.cpu_count() or 1, note, progress)
        with contextlib.suppress(FileNotFoundError):
            place.rename(work / "old")
        (work / "result").rename(place)
    finally:
        shutil.rmtree(work, ignore_errors=True)
        os.close(handle)
    return store.read(place)


def _read_additions(paths: Iterable[Path]) -> Files:
    added: dict[str, bytes] = {}
    for path in paths:
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*\.c", path.name):
            raise ValueError(f"{path}: the name must be letters, digits and _ with the ending .c, such as my_control.c")
        if path.name in added:
            raise ValueError(f"{path}: two files are named {path.name}; rename one")
        added[path.name] = path.read_bytes()
    return added


def _inputs(source: Source, hz: int, additions: Files) -> Inputs:
    def chosen(folder: str, suffix: str) -> Files:
        return {
            name: content
            for name, content in _files(DATA / folder).items()
            if name.endswith(suffix) and versions.suits(source.version, content.decode(), f"{DATA / folder / name}")
        }

    return Inputs(
        source,
        hz,
        config=chosen("config", ".config"),
        patches=chosen("patches", ".patch"),
        tree=_files(DATA / "tree"),
        init=_files(DATA / "init"),
        additions=additions,
    )


def _files(folder: Path) -> Files:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def _digest(files: Files) -> str:
    digest = hashlib.sha256()
    for name, content in files.items():
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def _build(inputs: Inputs, work: Path, jobs: int, note: Note, progress: Progress) -> None:
    """Build the kernel in a folder; its part `result` is whole at the end."""
    tree, objects, result = work / "tree", work / "objects", work / "result"
    title = f"Linux {inputs.source.version} ({inputs.source.path})"
    note(f"copying {title}")
    inputs.source.copy(tree)
    _change(inputs, tree, work, title)
    note(f"configuring for {inputs.hz} Hz")
    absent = _configure(inputs, tree, objects, work, title)
    if absent:
        note(f"{title} has no {', '.join(absent)}")
    note(f"compiling with {jobs} at a time")
    _compile(tree, objects, jobs, title, progress)
    result.mkdir()
    sources_of_init = _write(inputs.init, work / "init")
    _call(
        ["gcc", "-O2", "-static", "-o", result / "init", *(it for it in sources_of_init if it.suffix == ".c")], "init"
    )
    _call(["strip", "-o", result / "linux", objects / "linux"], title)
    _describe(inputs, absent, objects, result)


def _write(files: Files, folder: Path) -> list[Path]:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return [folder / name for name in files]


def _change(inputs: Inputs, tree: Path, work: Path, title: str) -> None:
    """Set HZ, and add our files and those of the user."""
    kconfig = tree / "arch" / "um" / "Kconfig"
    text, count = re.subn(
        r"^(config HZ\n\s+int\n\s+default )\d+$", rf"\g<1>{inputs.hz}", kconfig.read_text(), flags=re.MULTILINE
    )
    if count != 1:
        raise ValueError(f"{title}: arch/um/Kconfig has no fixed HZ, so that it cannot be set to {inputs.hz}")
    kconfig.write_text(text)
    _write(inputs.tree, tree)
    for patch in _write(inputs.patches, work / "patches"):
        _apply(patch, tree, title)
    makefile = tree / "net" / "ipv4" / "Makefile"
    rules = makefile.read_text()
    for name in inputs.additions:
        stem = name.removesuffix(".c")
        if (makefile.parent / name).exists() or re.search(rf"\b{stem}(\.o|-y|-objs)\b", rules):
            raise ValueError(f"{name}: {title} has a file net/ipv4/{name} or an object of that name; rename yours")
    _write(inputs.additions, makefile.parent)
    lines = "".join(f"obj-y += {name.removesuffix('.c')}.o\n" for name in inputs.additions)
    makefile.write_text(f"{rules}\n{lines}")


def _apply(patch: Path, tree: Path, title: str) -> None:
    """Apply a patch of ours.

    Raises
    ------
    ValueError
        If it does not fit; the message names patch, file and tree.
    """
    changed = re.findall(r"^--- a/(\S+)", patch.read_text(), re.MULTILINE)
    misfit = next((name for name in changed if not (tree / name).is_file()), None)
    if misfit is None:
        command = ["patch", "--strip=1", "--forward", "--batch", f"--directory={tree}", f"--input={patch}"]
        try:
            tools.run(command)
            return
        except subprocess.CalledProcessError as error:
            # The file is named before its failed hunks.
            found = re.search(r"patching file (\S+)\n(?:(?!patching file).*\n)*?.*(?:FAILED|Reversed)", error.output)
            misfit = found[1] if found else error.output
    raise ValueError(
        f"the patch {patch.name} does not fit {misfit} of {title}: this file differs from those of the versions that "
        f"the patch is for; {DATA / 'README.md'} tells how to add one for another version"
    )


def _configure(inputs: Inputs, tree: Path, objects: Path, work: Path, title: str) -> list[str]:
    """Configure the kernel, and return the options that this version does not have.

    Raises
    ------
    ValueError
        If it lacks an option without which it is of no use.
    """
    fragment = work / "fragment.config"
    fragment.write_bytes(b"".join(inputs.config.values()))
    objects.mkdir()
    _make(["allnoconfig"], tree, objects, title, {"KCONFIG_ALLCONFIG": str(fragment)})
    wanted = re.findall(r"^(CONFIG_\w+)=([yn])$", fragment.read_text(), re.MULTILINE)
    there = set(re.findall(r"^(CONFIG_\w+)=y$", (objects / ".config").read_text(), re.MULTILINE))
    absent = [name for name, value in wanted if (name in there) != (value == "y")]
    if lacking := ESSENTIAL.intersection(absent):
        raise ValueError(f"{title}: cannot run in virtual time, because it has no {', '.join(sorted(lacking))}")
    return absent


def _compile(tree: Path, objects: Path, jobs: int, title: str, progress: Progress) -> None:
    done = 0

    def count(line: str) -> None:
        nonlocal done
        # A step of make, such as `  CC      net/ipv4/tcp.o`.
        if re.match(r"  [A-Z]", line):
            done = min(done + 1, STEPS - 1)
            progress(done, STEPS)

    progress(0, STEPS)
    _make([f"--jobs={jobs}", "linux"], tree, objects, title, {}, count)
    progress(STEPS, STEPS)


def _make(
    words: Sequence[str],
    tree: Path,
    objects: Path,
    title: str,
    settings: Mapping[str, str],
    listener: Note | None = None,
) -> None:
    """Run `make`; nothing of the user's environment but the places of programs and files reaches it."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    command = ["make", "--no-print-directory", f"--directory={tree}", f"O={objects}", *words]
    _call(command, title, {**kept, **_FIXED, **settings}, listener)


def _call(
    command: Sequence[str | Path],
    title: str,
    environment: Mapping[str, str] | None = None,
    listener: Note | None = None,
) -> None:
    """Run a program; if it fails, store its output.

    Raises
    ------
    ValueError
        If it fails; the message has its first errors.
    """
    try:
        tools.run(command, environment=environment, listener=listener)
    except subprocess.CalledProcessError as error:
        log = store.folder() / FAILED_LOG
        storage.write_text(log, f"{error.output}\n")
        lines = error.output.splitlines()
        errors = [line for line in lines if re.search(r"\berror\b|undefined reference|No space left", line)]
        shown = "\n".join(errors[:MOST_ERRORS] or lines[-MOST_ERRORS:])
        raise ValueError(f"{title}: {command[0]} failed; all of its output is in {log}:\n{shown}") from None


def _describe(inputs: Inputs, absent: Sequence[str], objects: Path, result: Path) -> None:
    description = {
        "program": "ackclock",
        "version": _core.__version__,
        "linux": inputs.source.version,
        "release": (objects / "include" / "config" / "kernel.release").read_text().strip(),
        "hz": inputs.hz,
        "source": {"name": inputs.source.path.name, "sha256": inputs.source.sha256},
        "hashes": inputs.hashes,
        "additions": {name: hashlib.sha256(content).hexdigest() for name, content in inputs.additions.items()},
        "absent": absent,
        "compiler": tools.run(["gcc", "--version"])[0],
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "size": (result / "linux").stat().st_size,
    }
    storage.write_text(result / store.MANIFEST, json.dumps(description, indent=2) + "\n")
