"""`ackclock kernel build` and `kernel list`, with a source of three files that `make` takes for Linux."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ackclock.cli.app import main
from ackclock.files import reading
from ackclock.linux import Built, build, building, built, find, inputs, sources, store, tools, versions
from ackclock.linux.store import read

from .conftest import ROOT

builds = pytest.mark.skipif(
    (platform.system(), platform.machine()) != ("Linux", "x86_64")
    or any(shutil.which(name) is None for name in ("gcc", "make", "patch", "xz", "git")),
    reason="builds need Linux on x86-64 with gcc, make, patch, xz and git",
)
MAKEFILE = """\
VERSION = 6
PATCHLEVEL = 12
SUBLEVEL = 1
EXTRAVERSION =

allnoconfig:
\t@grep -v DUALPI2 $(KCONFIG_ALLCONFIG) > $(O)/.config
linux:
\t@if [ -e slow ]; then echo $$$$ > $(O)/started; exec sleep 100; fi
\t@for name in $$(sed -n 's/^obj-y += //p' net/ipv4/Makefile); do \\
\t  echo "  CC      net/ipv4/$$name"; gcc -c -o $(O)/$$name net/ipv4/$${name%.o}.c || exit 2; done
\t@mkdir -p $(O)/include/config && echo 6.12.1-test > $(O)/include/config/kernel.release
\t@gcc -DHZ=$$(sed -n 's/.*default //p' arch/um/Kconfig) -o $(O)/linux main.c
"""
TREE = {
    "Makefile": MAKEFILE,
    "arch/um/Kconfig": "config HZ\n\tint\n\tdefault 100\n",
    "net/ipv4/Makefile": "obj-y += tcp.o\ngre-y := gre_demux.o\n",
    "net/ipv4/tcp.c": "int tcp;\n",
    "main.c": (
        '#include <stdio.h>\n#include "arch/um/drivers/ours.h"\n'
        'int main(void)\n{\n\tprintf("%s at %d\\n", OURS "unpatched", HZ);\n\treturn 0;\n}\n'
    ),
}
PATCH = """\
Says that it was here.
--- a/main.c
+++ b/main.c
@@ -4,3 +4,3 @@
 {
-\tprintf("%s at %d\\n", OURS "unpatched", HZ);
+\tprintf("%s at %d\\n", OURS "patched", HZ);
 \treturn 0;
"""
DATA = {
    "config/10-common.config": "".join(
        f"{name}=y\n" for name in (*sorted(building.ESSENTIAL), "CONFIG_NET_SCH_DUALPI2")
    ),
    "config/20-static.config": "# Versions: >= 7.0\nCONFIG_STATIC_LINK=y\n",
    "patches/greet.patch": PATCH,
    "patches/other.patch": f"Versions: >= 6.13\n{PATCH}",
    "tree/arch/um/drivers/ours.h": '#define OURS "ours, "\n',
    "init/init.c": '#include <stdio.h>\nint main(void) { puts("init"); return 0; }\n',
}
PROGRAM = """\
import sys
from pathlib import Path
from ackclock.cli import main
from ackclock.linux import inputs
inputs.DATA = Path(sys.argv.pop(1))
main()
"""
Command = Callable[..., tuple[int, str, str]]


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use a cache, files of ours and a place of packages below the test's folder; return the folder of kernels."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(inputs, "DATA", write(tmp_path / "data", DATA))
    monkeypatch.setattr(sources, "PACKAGED", tmp_path / "packaged")
    # The build of this source does not use them.
    unused = write(tmp_path / "bin", dict.fromkeys(("flex", "bison", "bc"), "#!/bin/sh\n"))
    for program in unused.iterdir():
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:{unused}")
    return tmp_path / "cache" / "ackclock" / "kernels"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return write(tmp_path / "linux", TREE)


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Return a function that runs the command line in this process, and gives exit code, output and messages."""

    def run(*arguments: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["ackclock", "kernel", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
        out, err = capsys.readouterr()
        assert isinstance(stopped.value.code, int)
        return stopped.value.code, out, err

    return run


def described(kernel: Built) -> dict[str, object]:
    found: dict[str, object] = json.loads((kernel.path / "kernel.json").read_text())
    return found


@builds
def test_a_kernel_is_built_once(tree: Path, cache: Path) -> None:
    notes: list[str] = []
    steps: list[tuple[int, int]] = []
    kernel = build(tree, hz=300, note=notes.append, progress=lambda done, total: steps.append((done, total)))
    assert subprocess.check_output([kernel.linux], text=True) == "ours, patched at 300\n"
    assert subprocess.check_output([kernel.init], text=True) == "init\n"
    assert "no symbols" in subprocess.run(["nm", kernel.linux], capture_output=True, text=True, check=False).stderr
    assert (kernel.name, kernel.version, kernel.release, kernel.hz) == ("linux-6.12.1", "6.12.1", "6.12.1-test", 300)
    assert kernel.absent == ("CONFIG_NET_SCH_DUALPI2",), "the line for 7.0 is none of this version"
    assert kernel.size == kernel.linux.stat().st_size
    assert [path.name for path in cache.iterdir()] == [kernel.path.name]
    assert sorted(path.name for path in kernel.path.iterdir()) == ["kernel.json", "linux", "root"]
    assert steps[0] == (0, building.STEPS) and steps[1] == (1, building.STEPS) and steps[-1][0] == building.STEPS
    assert "this version does not have CONFIG_NET_SCH_DUALPI2" in notes
    # Nothing of the source has changed, and the second time nothing is built.
    assert {path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.is_file()} == TREE.keys()
    assert {name: (tree / name).read_text() for name in TREE} == TREE
    began = kernel.linux.stat()
    assert build(tree, hz=300, note=notes.append) == kernel
    assert "built before" in notes[-1] and kernel.linux.stat().st_ino == began.st_ino
    assert build(tree, hz=300, force=True).path == kernel.path
    assert kernel.linux.stat().st_ino != began.st_ino
    assert [path.name for path in cache.iterdir()] == [kernel.path.name]


@builds
def test_every_input_changes_the_key(tree: Path, tmp_path: Path) -> None:
    def key(hz: int = 250, *additions: Path) -> str:
        return inputs.read(sources.read(tree), hz, inputs.read_additions(additions)).key

    own = tmp_path / "own.c"
    own.write_text("int own;\n")
    seen = [key(), key(100), key(250, own)]
    own.write_text("int mine;\n")
    seen.append(key(250, own))
    for name in ("config/10-common.config", "patches/greet.patch", "tree/arch/um/drivers/ours.h", "init/init.c"):
        with (inputs.DATA / name).open("a") as file:
            file.write("\n")
        seen.append(key())
    with (tree / "main.c").open("a") as file:
        file.write("\n")
    seen.append(key())
    (tree / "main.c").rename(tree / "other.c")
    seen.append(key())
    assert len(set(seen)) == len(seen)
    (inputs.DATA / "patches/other.patch").unlink()
    (inputs.DATA / "README").write_text("no input")
    (tree / "other.c").touch()
    assert key() == seen[-1], "a patch for another version, a README and a time are no inputs"


@builds
@pytest.mark.parametrize("ending", ["xz", "gz", "zst"])
def test_a_tarball_gives_the_kernel_of_its_tree(tree: Path, ending: str, tmp_path: Path) -> None:
    if ending == "zst" and shutil.which("zstd") is None:
        pytest.skip("no zstd")
    plain = tmp_path / "linux-source-6.12.tar"
    with tarfile.open(plain, "w") as archive:
        archive.add(tree, "linux-source-6.12")
    compress = {"xz": ["xz", "-k"], "gz": ["gzip", "-k"], "zst": ["zstd", "-q"]}
    subprocess.run([*compress[ending], plain], check=True)
    kernel = build(plain.with_name(f"{plain.name}.{ending}"))
    assert subprocess.check_output([kernel.linux], text=True) == "ours, patched at 250\n"
    assert described(kernel)["source"] == {
        "name": f"linux-source-6.12.tar.{ending}",
        "sha256": subprocess.check_output(["sha256sum", f"{plain}.{ending}"], text=True).split()[0],
    }


@builds
def test_files_of_other_machines_are_not_copied(tree: Path, tmp_path: Path) -> None:
    kept = [
        "drivers/gpu/drm/Kconfig",
        "drivers/net/tun.c",
        "arch/arm/Kconfig",
        "arch/x86/um/x.S",
        "Documentation/Kconfig",
    ]
    left = ["drivers/gpu/drm/x.c", "drivers/net/wireless/a/b.h", "arch/arm/mm/x.S", "arch/arm64/boot/dts/x.dtsi"]
    write(tree, dict.fromkeys([*kept, *left], "content\n"))
    with tarfile.open(tmp_path / "linux.tar.gz", "w:gz") as archive:
        archive.add(tree, "linux-6.12")
    for path in (tree, tmp_path / "linux.tar.gz"):
        copy = tmp_path / f"copy-{path.name}"
        sources.read(path).copy(copy)
        assert {it.relative_to(copy).as_posix() for it in copy.rglob("*") if it.is_file()} == {*TREE, *kept}


@builds
def test_without_a_source_the_newest_package_is_built(tree: Path, command: Command) -> None:
    code, _, err = command("build")
    assert code == 2 and "apt install linux-source-6.12" in err and "ackclock kernel build SOURCE" in err
    sources.PACKAGED.mkdir()
    for number in ("6.1", "6.12", "6.9"):
        with tarfile.open(sources.PACKAGED / f"linux-source-{number}.tar.xz", "w:xz") as archive:
            archive.add(tree, f"linux-source-{number}")
    (sources.PACKAGED / "linux-source-7.txt").touch()
    assert described(build())["source"]["name"] == "linux-source-6.12.tar.xz"  # type: ignore[index]


@builds
def test_a_git_tree_may_have_products_of_a_build(tree: Path) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", "-C", tree, "-c", "user.name=a", "-c", "user.email=a", *words], check=True)

    plain = sources.read(tree).sha256
    write(tree, {".config": "CONFIG_X=y\n", "main.o": "object\n"})
    with pytest.raises(ValueError, match="make mrproper"):
        sources.read(tree)
    write(tree, {".gitignore": "*.o\n.config\n"})
    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "start")
    committed = sources.read(tree).sha256
    write(tree, {"main.o": "another\n"})
    assert sources.read(tree).sha256 == committed != plain
    write(tree, {"net/ipv4/new.c": "int new;\n"})
    (tree / "net/ipv4/tcp.c").unlink()
    assert sources.read(tree).sha256 != committed
    sources.read(tree).copy(tree.with_name("copy"))
    copied = {path.relative_to(tree.with_name("copy")).as_posix() for path in tree.with_name("copy").rglob("*.*")}
    assert copied == {".gitignore", "main.c", "net/ipv4/new.c"}


@builds
def test_files_of_the_user_are_built_in(tree: Path, tmp_path: Path, command: Command) -> None:
    own = tmp_path / "own.c"
    own.write_text("int own;\n")
    code, out, err = command("build", tree, "--with", own)
    assert (code, err.splitlines()[-1].startswith("linux-6.12.1, 250 Hz, 0.0")) == (0, True), err
    (kernel,) = built()
    assert (out.strip(), kernel.additions) == (str(kernel.path), ("own.c",))
    own.write_text("int own\n")
    code, out, err = command("build", tree, "--with", own)
    log = store.folder() / "failed.log"
    assert (code, out) == (2, "") and "net/ipv4/own.c:1:1: error: expected" in err and str(log) in err
    assert "CC      net/ipv4/own.o" in log.read_text()
    assert built() == [kernel] and len(list(store.folder().iterdir())) == 2


@builds
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("my-control.c", "my-control.c: the name must be letters, digits and _"),
        ("own.h", "own.h: the name must be"),
        ("tcp.c", "tcp.c: net/ipv4 of Linux 6.12.1"),
        ("gre.c", "has a file or an object of this name; rename yours"),
        ("none.c", "none.c: No such file"),
    ],
)
def test_bad_names_of_files(name: str, message: str, tree: Path, tmp_path: Path, command: Command) -> None:
    if name != "none.c":
        (tmp_path / name).write_text("int own;\n")
    code, out, err = command("build", tree, "--with", tmp_path / name)
    assert (code, out) == (2, "") and message in err
    assert built() == []


@builds
def test_one_name_twice(tree: Path, tmp_path: Path, command: Command) -> None:
    paths = [write(tmp_path / folder, {"own.c": "int own;\n"}) / "own.c" for folder in ("a", "b")]
    code, _, err = command("build", tree, "--with", paths[0], "--with", paths[1])
    assert code == 2 and "two files are named own.c" in err


@builds
@pytest.mark.parametrize("change", ["another text", "no file"])
def test_a_patch_that_does_not_fit(change: str, tree: Path, cache: Path, command: Command) -> None:
    if change == "no file":
        (tree / "main.c").unlink()
    else:
        write(tree, {"main.c": TREE["main.c"].replace("unpatched", "different")})
    code, out, err = command("build", tree)
    assert (code, out) == (2, "")
    assert f"the patch greet.patch does not fit main.c of Linux 6.12.1 ({tree})" in err and "README.md" in err
    assert list(cache.iterdir()) == []


@builds
def test_sources_that_are_none(tree: Path, tmp_path: Path, command: Command) -> None:
    def refused(*words: str | Path) -> str:
        code, out, err = command("build", *words)
        assert (code, out, built()) == (2, "", [])
        return err

    assert f"{tmp_path / 'none'}: there is no such file or folder" in refused(tmp_path / "none")
    assert "no source of Linux" in refused(tmp_path / "data")
    assert "no source of Linux" in refused(inputs.DATA / "init" / "init.c")
    assert "hz must be one of 100, 250, 300, 1000, not 101" in refused(tree, "--hz", "101")
    write(tree, {"arch/um/Kconfig": "config HZ\n\tint\n\tdefault HZ_FIXED\n"})
    assert "arch/um/Kconfig has no fixed HZ" in refused(tree)
    (tree / "arch/um/Kconfig").unlink()
    assert "has no User-Mode Linux (arch/um)" in refused(tree)
    write(tree, {**TREE, "Makefile": MAKEFILE.replace("DUALPI2", "HOSTFS")})
    assert "cannot run in virtual time without CONFIG_HOSTFS" in refused(tree)


@builds
def test_missing_programs_and_machines(tree: Path, monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    which = shutil.which
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "which", lambda name: None if name in ("flex", "xz", "cmp") else which(name))
        code, _, err = command("build", tree)
        assert (
            code == 2 and "building a kernel needs flex, cmp; on Debian: apt install flex diffutils; on Fedora" in err
        )
    with monkeypatch.context() as patch:
        patch.setattr(tools, "_links", lambda: False)
        code, _, err = command("build", tree)
        assert (
            code == 2
            and "a static C library; on Debian: apt install libc6-dev; on Fedora: dnf install glibc-static" in err
        )
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    code, _, err = command("build", tree)
    assert code == 2 and "this is Linux on aarch64" in err and "docker run" in err


@builds
def test_a_cache_where_make_cannot_build(tree: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "my cache"))
    with pytest.raises(ValueError, match="a folder with a space or colon; set XDG_CACHE_HOME"):
        build(tree)
    assert not (tmp_path / "my cache").exists()


def begun(tree: Path, cache: Path) -> tuple[subprocess.Popen[str], int]:
    """Start a build that does not end; return its process, and that of its compiler."""
    (tree / "slow").touch()
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(inputs.DATA), "kernel", "build", str(tree)],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    for _ in range(600):
        if found := [path for path in cache.glob(".*/objects/started") if path.read_text().strip()]:
            return process, int(found[0].read_text())
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    raise AssertionError("the build does not start")


def ends(process: int) -> bool:
    for _ in range(200):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
                time.sleep(0.05)
                continue
        return True
    return False


@builds
def test_an_interrupted_build_leaves_nothing(tree: Path, cache: Path) -> None:
    process, compiler = begun(tree, cache)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and "interrupted" in err
    assert ends(compiler) and list(cache.iterdir()) == []


@builds
def test_the_next_build_removes_what_a_killed_one_left(tree: Path, cache: Path) -> None:
    process, compiler = begun(tree, cache)
    process.kill()
    process.communicate(timeout=60)
    assert ends(compiler), "no compiler outlives the build"
    (left,) = cache.iterdir()
    assert built() == [] and left.name.startswith(".")
    (tree / "slow").unlink()
    kernel = build(tree)
    assert list(cache.iterdir()) == [kernel.path]


@builds
def test_a_running_build_is_no_leftover(tree: Path, cache: Path) -> None:
    process, compiler = begun(tree, cache)
    (tree / "slow").unlink()
    kernel = build(tree)
    assert len(list(cache.iterdir())) == 2 and process.poll() is None
    os.killpg(process.pid, signal.SIGTERM)
    process.communicate(timeout=60)
    assert ends(compiler) and built() == [kernel]


def stub(
    cache: Path, key: str, version: str, date: str = "2026-01-01T00:00:00+00:00", hashes: dict[str, str] | None = None
) -> Path:
    """Store the description of a kernel, by default of one that was built from the present files."""
    hashes = inputs.hashes(version) if hashes is None else hashes
    entries = {"linux": version, "release": version, "hz": 250, "joint": store.JOINT, "date": date, "size": 6_100_000}
    write(cache / key, {"kernel.json": json.dumps({**entries, "additions": ["own.c"], "absent": [], "hashes": hashes})})
    return cache / key


def test_kernels_are_found_by_version(cache: Path) -> None:
    with pytest.raises(ValueError, match="linux: no kernel was built yet; build one with: ackclock kernel build"):
        find()
    old = stub(cache, "0" * 12, "6.12.117")
    new = stub(cache, "1" * 12, "6.12.117", "2026-02-01T00:00:00+00:00")
    seven, candidate = stub(cache, "2" * 12, "7.2.13"), stub(cache, "3" * 12, "7.3.0-rc1")
    write(cache, {".0-abcdefgh.ackclock/kernel.json": "", "failed.log": ""})
    assert [kernel.path for kernel in built()] == [candidate, seven, new, old]
    wanted = {"linux": candidate, "linux:7.2": seven, "linux:6": new, "linux:6.12.117": new, f"linux:{'0' * 12}": old}
    assert {name: find(name).path for name in wanted} == wanted
    with pytest.raises(
        ValueError, match=r"linux:6\.1: no such kernel was built; there are 7\.3\.0-rc1 \(3+\), 7\.2\.13"
    ):
        find("linux:6.1")
    for name in ("machine", "linux:", "linx:6.12"):
        with pytest.raises(ValueError, match=f"{name}: expected linux, or linux: with a version or key"):
            find(name)
    write(seven, {"kernel.json": "{}"})
    with pytest.raises(reading.DamagedError, match=r"linux is missing; restore it, or delete \S+222 and repeat"):
        find()


def test_a_kernel_of_the_present_files_comes_before_a_newer_one_of_earlier_files(cache: Path) -> None:
    stub(cache, "0" * 12, "6.12.117", "2026-02-01T00:00:00+00:00", {**inputs.hashes("6.12.117"), "init": "other"})
    present = stub(cache, "1" * 12, "6.12.117")
    assert [kernel.outdated for kernel in built()] == [False, True]
    assert find("linux:6.12").path == present
    newer = stub(cache, "2" * 12, "7.2.13", hashes={})
    assert find().path == present
    assert find("linux:7").path == newer and find("linux:7").outdated


def test_only_kernels_with_the_joint_of_this_version_run(cache: Path) -> None:
    old = stub(cache, "0" * 12, "7.2.13")
    write(old, {"kernel.json": (old / "kernel.json").read_text().replace(f'"joint": {store.JOINT}', '"joint": 1')})
    with pytest.raises(ValueError, match="no kernel was built yet for this version of Ackclock; build one with"):
        find()
    new = stub(cache, "1" * 12, "6.12.117")
    assert find().path == new
    assert len(built()) == 2


def test_an_installed_package_has_a_kernel(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "packages" / store.PACKAGE
    write(package, {"__init__.py": ""})
    kernel = stub(package / "kernels", "4" * 12, "7.2.13")
    monkeypatch.syspath_prepend(str(package.parent))
    assert [each.path for each in built()] == [kernel]
    assert stub(cache, "5" * 12, "7.3.0") == find().path


@builds
def test_a_package_of_a_kernel_has_its_source_or_offers_it(tree: Path, tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("kernel_build", ROOT / "packaging" / "kernel" / "build.py")
    assert spec is not None and spec.loader is not None
    packing = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(packing)
    write(inputs.DATA, {"LICENSE": "Version 2, June 1991\n"})
    archive = tmp_path / "linux-source-6.12.tar.xz"
    with tarfile.open(archive, "w:xz") as opened:
        opened.add(tree, "linux-source-6.12")
    kernel = build(archive)
    folder = tmp_path / "package"
    packing.lay_out(kernel, folder)
    assert (folder / "LICENSE").read_text() == "Version 2, June 1991\n"
    source = folder / "ackclock_kernel" / "source"
    assert {name: (source / name).read_text() for name in DATA} == DATA
    assert read(folder / "ackclock_kernel" / "kernels" / kernel.path.name).hash == kernel.hash
    readme = " ".join((folder / "README.md").read_text().split())
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    assert f"`linux-source-6.12.tar.xz` of Debian (https://snapshot.debian.org), SHA-256 `{digest}`" in readme
    assert "until at least three years after they last distribute this version, to give anyone a complete" in readme
    # A kernel whose source the package would lack has none.
    own = write(tmp_path / "own", {"own.c": "int own;\n"}) / "own.c"
    with pytest.raises(ValueError, match=r"was built from own\.c"):
        packing.lay_out(build(archive, additions=[own]), tmp_path / "other")
    with pytest.raises(ValueError, match="was built from the folder linux"):
        packing.lay_out(build(tree), tmp_path / "other")
    write(inputs.DATA, {"init/init.c": "int main(void) { return 1; }\n"})
    with pytest.raises(ValueError, match="was built from older files of Ackclock"):
        packing.lay_out(read(kernel.path), tmp_path / "other")


def test_the_list(cache: Path, command: Command) -> None:
    here = f"{platform.system()} {platform.release()}"
    code, out, err = command("list")
    assert code == 0 and here in out and "no kernel for virtual time was built yet" in err
    folder = stub(cache, "0" * 12, "6.12.117")
    code, out, err = command("list")
    rows = [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in out.strip().splitlines()]
    # A long folder takes several lines.
    assert "".join(out.split()).startswith(f"kernelsin{cache}name")
    assert ["name", "HZ", "built in", "size", "date", "key", "files"] in rows
    assert ["linux-6.12.117", "250", "own.c", "6.1 MB", "2026-01-01", "0" * 12, "present"] in rows
    assert rows[-1][0] == f"machine: {here}" and (code, err) == (0, "")
    code, out, _ = command("list", "--json")
    linux, machine = json.loads(out)
    assert (linux["world"], linux["name"], linux["path"]) == ("linux", "linux-6.12.117", str(folder))
    assert (machine["world"], machine["release"]) == ("machine", platform.release())


def test_conditions_of_versions() -> None:
    def suits(version: str, line: str) -> bool:
        return versions.suits(version, f"# SPDX\n{line}\n--- a/x\n", "x.patch")

    assert suits("6.12.117", "") and suits("6.12.117", "# Versions: >= 6.12") and suits("7.0.0-rc1", "Versions: >= 7.0")
    assert not suits("6.9.1", "Versions: >= 6.12") and not suits("7.0.1", "Versions: >= 6.12, < 7.0")
    for wrong in ("6.12", "> 6.12", ">= 6", ">= 6.12 < 7.0"):
        with pytest.raises(ValueError, match=r"x\.patch: expected conditions such as"):
            suits("6.12.1", f"Versions: {wrong}")


def test_our_files_are_free_software_with_conditions_that_can_be_read() -> None:
    ours = Path(inputs.__file__).parents[1] / "data" / "kernel"
    files = [path for path in ours.rglob("*") if path.is_file() and path.name != "LICENSE"]
    assert len(files) >= 3
    for path in files:
        text = path.read_text()
        assert "SPDX-License-Identifier: GPL-2.0" in text, path
        versions.suits("6.12.1", text, str(path))
