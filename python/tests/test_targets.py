"""Output files named by the user: replaced or written through; and the leftovers of killed runs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import ackclock
from ackclock.drawing.files import FORMATS
from ackclock.files import leftovers, storage, targets

from .conftest import FIRST, SWEEP, Cli, needs_unix

PCAPNG = b"\x0a\x0d\x0d\x0a"
HAR = {
    "log": {
        "entries": [
            {
                "startedDateTime": "2026-01-01T10:00:00Z",
                "request": {"url": "https://a.test/", "headersSize": 100, "bodySize": 0},
                "response": {"status": 200, "headersSize": 100, "bodySize": 5000},
            }
        ]
    }
}


@pytest.fixture
def short(first: Path) -> Path:
    """Return a scenario file whose run is very short."""
    first.write_text(FIRST.replace('"5 s"', '"500 ms"'))
    return first


def test_inputs_are_never_replaced(cli: Cli, short: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "link.toml").symlink_to("first.toml")
    (tmp_path / "hard.toml").hardlink_to(short)
    text = short.read_text()
    monkeypatch.chdir(tmp_path)
    for name in ("first.toml", "link.toml", "hard.toml", f"../{tmp_path.name}/first.toml", str(short)):
        for force in (True, False):
            with pytest.raises(FileExistsError, match="is read by this command"):
                targets.check(Path(name), inputs=[Path("first.toml")], force=force)
    done = cli("run", "first.toml", "--pcap", "link.toml", "--force")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: link.toml: is read by this command (first.toml); name another file\n"
    assert short.read_text() == text


def test_a_capture_never_replaces_a_file_that_the_scenario_reads(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "page.har").write_text(json.dumps(HAR))
    flow = '[[flow]]\nprofile = "modern"\napplication = { kind = "web", har = "page.har" }\n'
    (tmp_path / "s.toml").write_text(f'duration = "1 s"\n{flow}')
    (tmp_path / "swept.toml").write_text(f'duration = "1 s"\n{flow}[sweep]\n"flow.application.har" = ["page.har"]\n')
    for file in ("s.toml", "swept.toml"):
        done = cli("run", file, "--set", "name=x", "--pcap", "page.har", "--force")
        assert done.returncode == 2
        # A sweep's files have names of their own, which here are not those of captures.
        said = "is read by this command (page.har)" if file == "s.toml" else "name a file that ends in .pcapng"
        assert said in done.stderr
        assert json.loads((tmp_path / "page.har").read_text()) == HAR
    assert not (tmp_path / "page-1-page.har.har").exists()
    (tmp_path / "page-1-page.har.har").hardlink_to(tmp_path / "page.har")
    done = cli("run", "swept.toml", "--pcap", "page.har", "--force")
    assert done.returncode == 2
    assert "page-1-page.har.har: is read by this command" in done.stderr


def test_a_file_of_another_program_is_replaced_only_on_demand(cli: Cli, short: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.pcap"
    mine.write_text("mine, made without ackclock")
    done = cli("run", short, "--pcap", "mine.pcap")
    assert done.returncode == 2
    assert "mine.pcap: exists and was not written by ackclock; name another file, or add --force" in done.stderr
    assert mine.read_text() == "mine, made without ackclock"
    mine.chmod(0o640)
    assert cli("run", short, "--pcap", "mine.pcap", "--force").returncode == 0
    assert mine.read_bytes().startswith(PCAPNG)
    assert mine.stat().st_mode & 0o777 == 0o640
    assert cli("run", short, "--pcap", "mine.pcap").returncode == 0, "our own files are replaced"
    (tmp_path / "empty.pcap").touch()
    assert cli("run", short, "--pcap", "empty.pcap").returncode == 0
    sweep = tmp_path / "sweep.toml"
    sweep.write_text(SWEEP.replace('"5 s"', '"100 ms"'))
    other = tmp_path / "s-3-20_packets-standard.pcap"
    other.write_text("mine")
    done = cli("run", sweep, "--pcap", "s.pcap")
    assert done.returncode == 2
    assert other.name in done.stderr
    assert not (tmp_path / "s-1-5_packets-standard.pcap").exists(), "nothing was run"


def test_links_lead_to_the_written_file(cli: Cli, short: Path, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "x.pcap").symlink_to("folder/y.pcap")
    for _ in range(2):  # first without, then with an existing file
        assert cli("run", short, "--pcap", "x.pcap").returncode == 0
        assert (tmp_path / "x.pcap").is_symlink()
        assert (tmp_path / "folder" / "y.pcap").read_bytes().startswith(PCAPNG)
    (tmp_path / "z.pcap").symlink_to("nowhere/z.pcap")
    (tmp_path / "loop.pcap").symlink_to("loop.pcap")
    for name in ("z.pcap", "loop.pcap", "folder", "nowhere/z.pcap", "first.toml/z.pcap"):
        with pytest.raises(OSError, match=re.escape(name)):
            targets.check(tmp_path / name)
    done = cli("run", short, "--pcap", "loop.pcap")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


def test_pipes_are_written_to(cli: Cli, short: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    done = cli("run", short, "--pcap", "pipe")
    reader.join(timeout=60)
    assert done.returncode == 0, done.stderr
    assert read[0].startswith(PCAPNG)
    assert (tmp_path / "pipe").is_fifo()
    assert "goodput" in done.stdout
    short.write_text(SWEEP)
    assert "a sweep writes one file per run" in cli("run", short, "--pcap", "pipe").stderr
    assert "a sweep writes one file per run" in cli("run", short, "--pcap", "-").stderr


def shell(line: str, place: Path) -> subprocess.CompletedProcess[bytes]:
    """Run a shell command; ACKCLOCK in it stands for the program."""
    needs_unix()
    line = line.replace("ACKCLOCK", f'"{sys.executable}" -m ackclock')
    return subprocess.run(["sh", "-c", line], capture_output=True, cwd=place, timeout=120, check=False)


@pytest.mark.parametrize("name", ["-", "link"])
def test_packets_on_standard_output(name: str, short: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/dev/stdout")
    piped = shell(f"ACKCLOCK run {short.name} --pcap {name} | cat", tmp_path)
    assert piped.stdout.startswith(PCAPNG)
    assert b"goodput" in piped.stderr
    assert shell(f"ACKCLOCK run {short.name} --pcap {name} >x.pcap", tmp_path).returncode == 0
    assert (tmp_path / "x.pcap").read_bytes() == piped.stdout
    both = shell(f"ACKCLOCK run {short.name} --json --pcap {name}", tmp_path)
    assert both.returncode == 2
    assert b"--json is written to standard output, too" in both.stderr
    assert (tmp_path / "link").is_symlink()


def test_a_full_disk_is_code_2(short: Path, tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    done = shell(f"ACKCLOCK run {short.name} --pcap /dev/full", tmp_path)
    assert done.returncode == 2
    assert done.stderr.endswith(b"error: /dev/full: cannot write here: No space left on device\n")
    # To a program, a file that must not grow is like a full disk.
    for line in (
        "run first.toml --pcap x.pcap",
        "run first.toml --out o",
        "model mathis --param loss=1%..9% --plot x.png",
    ):
        done = shell(f"trap '' XFSZ; ulimit -f 0; ACKCLOCK {line}", tmp_path)
        assert done.returncode == 2, (line, done.stderr)
        assert done.stderr.count(b"error: ") == 1
        assert b"Traceback" not in done.stderr
        assert sorted(path.name for path in tmp_path.iterdir()) == ["first.toml"]


def test_plots(cli: Cli, short: Path, tmp_path: Path) -> None:
    model = ["model", "mathis", "--param", "loss=1%..9%", "--plot"]
    for ending in FORMATS:
        file = tmp_path / f"x.{ending}"
        file.write_text("mine")
        assert cli(*model, file.name).returncode == 2
        assert file.read_text() == "mine"
        for force in (["--force"], []):
            done = cli(*model, file.name, *force)
            assert done.returncode == 0, done.stderr
    drawn = shell("ACKCLOCK model mathis --param loss=1%..9% --plot - | cat", tmp_path)
    assert drawn.stdout.startswith(b"\x89PNG")
    assert b"throughput" in drawn.stderr
    assert cli("run", short, "--out", "o", "--record", "cwnd").returncode == 0
    table = tmp_path / "o" / "flows.parquet"
    before = table.read_bytes()
    (tmp_path / "y.png").symlink_to("o/flows.parquet")
    over = ["model", "mathis", "--over", "o", "--x", "loss=goodput_bps", "--plot", "y.png", "--force"]
    assert "is read by this command" in cli(*over).stderr
    (tmp_path / "o" / "cwnd.png").write_text("mine")
    assert "--force" in cli("plot", "o").stderr
    assert (tmp_path / "o" / "cwnd.png").read_text() == "mine"
    assert cli("plot", "o", "--force").returncode == 0
    assert cli("plot", "o").returncode == 0
    (tmp_path / "o" / "cwnd.png").unlink()
    (tmp_path / "o" / "cwnd.png").symlink_to("flows.parquet")
    assert "is read by this command" in cli("plot", "o", "--force").stderr
    assert table.read_bytes() == before
    assert "--force: nothing is replaced" in cli("model", "mathis", "--force").stderr
    assert "--force: nothing is replaced" in cli("run", short, "--force").stderr


def killed(place: Path) -> None:
    """Start a long run, and kill it when its folder exists."""
    command = [sys.executable, "-m", "ackclock", "run", "long.toml", "--jobs", "1", "--out", "o"]
    process = subprocess.Popen(command, cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not list(place.glob(".o-*")) and process.poll() is None:
        time.sleep(0.02)
    process.kill()
    process.wait(timeout=60)


def hidden(place: Path) -> list[str]:
    """Return the names of the hidden files in a folder."""
    return sorted(path.name for path in place.iterdir() if path.name.startswith("."))


def test_leftovers_of_killed_runs_are_removed(cli: Cli, short: Path, tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text(FIRST.replace('"5 s"', '"1000000 s"'))
    killed(tmp_path)
    assert len(hidden(tmp_path)) == 1
    for mine in (".o-mine", ".o-abcdefgh", ".o-ab-abcdefg.ackclock", ".p-abcdefgh.ackclock/earlier"):
        (tmp_path / mine).mkdir(parents=True)
    kept = hidden(tmp_path)
    with leftovers.folder(tmp_path / "o") as live:
        assert cli("run", short, "--out", "o").returncode == 0
        left = hidden(tmp_path)
        assert [name for name in left if name not in kept] == [live.name], "what is in use is left alone"
        assert sum(name in kept for name in left) == 4
    assert cli("run", short, "--out", "o").returncode == 0
    assert len(hidden(tmp_path)) == 4
    (tmp_path / ".z-abcdefgh.ackclock").mkdir()
    (tmp_path / ".x.pcap-abcdefgh.ackclock").mkdir()
    assert len(hidden(tmp_path)) == 6
    assert cli("run", short, "--pcap", "y.pcap").returncode == 0, "a command that writes another name removes them, too"
    assert len(hidden(tmp_path)) == 4


def test_leftovers_of_killed_papers_and_matrices_are_removed(cli: Cli, tmp_path: Path) -> None:
    half = tmp_path / "m" / ".manifest.json-abcdefgh.ackclock"
    half.mkdir(parents=True)
    (half / leftovers.NEW).write_text("half")
    options = ["--slow-start", "standard", "--avoidance", "reno", "--loss-response", "halve", "--recovery", "sack"]
    options += ["--paths", "clean", "--seeds", "1", "--duration", "100 ms"]
    done = cli("matrix", *options, "--out", "m")
    assert "was not written by ackclock" not in done.stderr
    assert hidden(tmp_path / "m") == []
    (tmp_path / "m" / ".x-abcdefgh.ackclock").mkdir()
    (tmp_path / "m" / ".mine").mkdir()
    leftovers.remove_within(tmp_path / "m")
    assert hidden(tmp_path / "m") == [".mine"]


def test_a_half_replaced_result_is_restored(scenario: ackclock.Scenario, tmp_path: Path) -> None:
    place = tmp_path / "o"
    result = ackclock.run(scenario)
    result.write(place)
    (place / "notes.txt").write_text("mine")
    # Killed between two renames: the old result is gone, the new one is not yet in place.
    earlier = tmp_path / ".o-abcdefgh.ackclock" / leftovers.EARLIER
    earlier.parent.mkdir()
    place.rename(earlier)
    with storage.draft(place, "run"):
        assert (place / "notes.txt").read_text() == "mine"
    # Killed before the user's files were moved.
    earlier.parent.mkdir()
    place.rename(earlier)
    with storage.draft(tmp_path / "other", "run") as folder:
        result.write_files(folder)
        folder.rename(place)
    result.write(place)
    assert (place / "notes.txt").read_text() == "mine"
    assert hidden(tmp_path) == []


def test_ctrl_c_while_a_result_is_replaced_loses_no_file(
    scenario: ackclock.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "o"
    result = ackclock.run(scenario)
    result.write(place)
    (place / "notes.txt").write_text("mine")

    def pressed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(storage, "_carry", pressed)
    with pytest.raises(KeyboardInterrupt):
        result.write(place)
    monkeypatch.undo()
    result.write(place)
    assert (place / "notes.txt").read_text() == "mine"
    assert hidden(tmp_path) == []


def test_long_names_have_temporary_ones(scenario: ackclock.Scenario, tmp_path: Path) -> None:
    place = tmp_path / ("é" * 120)
    ackclock.run(scenario).write(place)
    assert [path.name for path in tmp_path.iterdir()] == [place.name]


def test_threads_do_not_take_the_folders_of_each_other_for_leftovers(tmp_path: Path) -> None:
    def write(number: int) -> None:
        for _ in range(60):
            leftovers.remove_within(tmp_path)
            with leftovers.folder(tmp_path / f"run{number}") as folder:
                (folder / "file").touch()
                leftovers.remove_within(tmp_path)
                assert (folder / "file").exists()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    assert hidden(tmp_path) == []
