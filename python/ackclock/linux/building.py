"""Builds a kernel for virtual time: User-Mode Linux from a source of Linux and the files of ``data/kernel``."""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import re
import subprocess
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from ackclock import _core
from ackclock.files import leftovers, storage
from ackclock.linux import inputs, sources, store, tools
from ackclock.linux.inputs import Files, Inputs
from ackclock.linux.store import Built

STEPS = 1200
"""About as many lines `make` prints: with Linux 6.12 between 1,120 and 1,260."""
ESSENTIAL = {"CONFIG_UML_TIME_TRAVEL_SUPPORT", "CONFIG_HOSTFS", "CONFIG_INET", "CONFIG_NET_NS"}
MOUNTED = ("dev", "proc", "sys")
"""Folders of the guest's root, which is empty otherwise, on which its first process mounts."""
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
Note = Callable[[str], None]
Progress = Callable[[int, int], None]


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
    if hz not in inputs.HZ:
        raise ValueError(f"hz must be one of {', '.join(map(str, inputs.HZ))}, not {hz}")
    added = inputs.read_additions(map(Path, additions))
    path = sources.locate(None if source is None else Path(source))
    tools.check_programs(path)
    chosen = inputs.read(sources.read(path), hz, added)
    place = store.folder() / chosen.key
    if place.exists() and not force:
        note(f"{place.name} was built before from these inputs; it can be forced to be built again")
        return store.read(place)
    if set(str(place)) & set(" :"):
        raise ValueError(f"{place}: make cannot build in a folder with a space or colon; set XDG_CACHE_HOME to another")
    place.parent.mkdir(parents=True, exist_ok=True)
    leftovers.remove_within(place.parent)
    with leftovers.folder(place) as work:
        _Build(chosen, work).run(jobs or os.cpu_count() or 1, note, progress)
        with contextlib.suppress(FileNotFoundError):
            place.rename(work / "old")
        (work / "result").rename(place)
    return store.read(place)


class _Build:
    """The build of a kernel in a temporary folder."""

    def __init__(self, chosen: Inputs, work: Path) -> None:
        self.inputs = chosen
        self.work = work
        self.tree, self.objects, self.result = work / "tree", work / "objects", work / "result"
        self.title = f"Linux {chosen.source.version} ({chosen.source.path})"

    def run(self, jobs: int, note: Note, progress: Progress) -> None:
        """Build; `result` is whole at the end."""
        note(f"copying {self.title}")
        self.inputs.source.copy(self.tree)
        self._set_hz()
        _write(self.inputs.tree, self.tree)
        for patch in _write(self.inputs.patches, self.work / "patches"):
            self._apply(patch)
        self._add()
        note(f"configuring for {self.inputs.hz} Hz")
        if absent := self._configure():
            note(f"this version does not have {', '.join(absent)}")
        note(f"compiling with {jobs} at a time")
        self._compile(jobs, progress)
        self.result.mkdir()
        self._call("strip", "-o", self.result / "linux", self.objects / "linux")
        files = _write(self.inputs.init, self.work / "init")
        root = self.result / "root"
        for mounted in MOUNTED:
            (root / mounted).mkdir(parents=True)
        header = self.tree / "arch" / "um" / "drivers"
        sources = [file for file in files if file.suffix == ".c"]
        self._call("gcc", "-O2", "-static", f"-I{header}", "-o", root / "init", *sources)
        self._describe(absent)

    def _set_hz(self) -> None:
        kconfig = self.tree / "arch" / "um" / "Kconfig"
        fixed = re.compile(r"^(config HZ\n\s+int\n\s+default )\d+$", re.MULTILINE)
        text, count = fixed.subn(rf"\g<1>{self.inputs.hz}", kconfig.read_text(encoding="utf-8"))
        if count != 1:
            raise ValueError(f"{self.title}: arch/um/Kconfig has no fixed HZ, so its ticks cannot be set")
        kconfig.write_text(text)

    def _apply(self, patch: Path) -> None:
        """Apply a patch of ours.

        Raises
        ------
        ValueError
            If it does not fit; the message names patch, file and tree.
        """
        changed = re.findall(r"^--- a/(\S+)", patch.read_text(encoding="utf-8"), re.MULTILINE)
        misfit = next((name for name in changed if not (self.tree / name).is_file()), None)
        if misfit is None:
            try:
                tools.run(["patch", "-p1", "--forward", "--batch", f"--directory={self.tree}", f"--input={patch}"])
                return
            except subprocess.CalledProcessError as error:
                # The file is named before its failed hunks.
                found = re.search(
                    r"patching file (\S+)\n(?:(?!patching file).*\n)*?.*(?:FAILED|Reversed)", error.output
                )
                misfit = found[1] if found else error.output
        raise ValueError(
            f"the patch {patch.name} does not fit {misfit} of {self.title}: this file differs from those of the "
            f"versions that the patch is for; {inputs.DATA / 'README.md'} tells how to add one for another version"
        )

    def _add(self) -> None:
        """Add the user's files to TCP's."""
        makefile = self.tree / "net" / "ipv4" / "Makefile"
        rules = makefile.read_text(encoding="utf-8")
        for name in self.inputs.additions:
            taken = rf"\b{name.removesuffix('.c')}(\.o|-y|-objs)\b"
            if (makefile.parent / name).exists() or re.search(taken, rules):
                raise ValueError(f"{name}: net/ipv4 of {self.title} has a file or an object of this name; rename yours")
        _write(self.inputs.additions, makefile.parent)
        lines = (f"obj-y += {name.removesuffix('.c')}.o\n" for name in self.inputs.additions)
        makefile.write_text("\n".join([rules, *lines]))

    def _configure(self) -> list[str]:
        """Configure the kernel, and return the options that this version does not have.

        Raises
        ------
        ValueError
            If it lacks an option without which it is of no use.
        """
        fragment = self.work / "fragment.config"
        fragment.write_bytes(b"".join(self.inputs.config.values()))
        self.objects.mkdir()
        self._make(f"KCONFIG_ALLCONFIG={fragment}", "allnoconfig")
        wanted = re.findall(r"^(CONFIG_\w+)=([yn])$", fragment.read_text(encoding="utf-8"), re.MULTILINE)
        there = set(
            re.findall(r"^(CONFIG_\w+)=y$", (self.objects / ".config").read_text(encoding="utf-8"), re.MULTILINE)
        )
        absent = [name for name, value in wanted if (name in there) != (value == "y")]
        if lacking := ESSENTIAL.intersection(absent):
            raise ValueError(f"{self.title}: cannot run in virtual time without {', '.join(sorted(lacking))}")
        return absent

    def _compile(self, jobs: int, progress: Progress) -> None:
        done = 0

        def count(line: str) -> None:
            nonlocal done
            # A step of make, such as `  CC      net/ipv4/tcp.o`.
            if re.match(r"  [A-Z]", line):
                done = min(done + 1, STEPS - 1)
                progress(done, STEPS)

        progress(0, STEPS)
        self._make(f"--jobs={jobs}", "linux", listener=count)
        progress(STEPS, STEPS)

    def _make(self, *words: str, listener: Note | None = None) -> None:
        self._call(
            "make", "--no-print-directory", f"--directory={self.tree}", f"O={self.objects}", *words, listener=listener
        )

    def _call(self, *command: str | Path, listener: Note | None = None) -> None:
        """Run a program; nothing of the user's environment but the places of programs and files reaches it.

        Raises
        ------
        ValueError
            If it fails; the message has its first errors, and all of its output is stored.
        """
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
        try:
            tools.run(command, environment={**kept, **_FIXED}, listener=listener)
        except subprocess.CalledProcessError as error:
            log = store.folder() / FAILED_LOG
            storage.write_text(log, f"{error.output}\n")
            lines = error.output.splitlines()
            errors = [line for line in lines if re.search(r"\berror\b|undefined reference|No space left", line)]
            shown = "\n".join(errors[:MOST_ERRORS] or lines[-MOST_ERRORS:])
            raise ValueError(f"{self.title}: {command[0]} failed; all of its output is in {log}:\n{shown}") from None

    def _describe(self, absent: Sequence[str]) -> None:
        description = {
            "program": "ackclock",
            "version": _core.__version__,
            "linux": self.inputs.source.version,
            "release": (self.objects / "include" / "config" / "kernel.release").read_text(encoding="utf-8").strip(),
            "hz": self.inputs.hz,
            "joint": store.JOINT,
            "source": {"name": self.inputs.source.path.name, "sha256": self.inputs.source.sha256},
            "hashes": self.inputs.hashes,
            "additions": list(self.inputs.additions),
            "absent": absent,
            "compiler": tools.run(["gcc", "--version"])[0],
            "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "size": (self.result / "linux").stat().st_size,
        }
        storage.write_text(self.result / store.MANIFEST, json.dumps(description, indent=2) + "\n")


def _write(files: Files, folder: Path) -> list[Path]:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return [folder / name for name in files]
