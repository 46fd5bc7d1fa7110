"""Figures drawn by several processes: the same files, whatever becomes of a process."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from ackclock.drawing import workers
from ackclock.drawing.figure import Axis, Figure, Panel, Series
from ackclock.drawing.files import encode
from ackclock.drawing.workers import Drawing

from .conftest import ROOT

COUNT = 6


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a helper start for two figures."""
    monkeypatch.setattr(workers, "LEAST", 2)


def pictures(folder: Path) -> list[tuple[Figure, Path]]:
    made = []
    for each in range(COUNT):
        panel = Panel([Series("a", ["x", "y"], [1.0, 2.0 + each], "bars")], x=Axis("x", names=["x", "y"]), y=Axis("y"))
        made.append((Figure(f"Figure {each}", [panel]), folder / f"{each}.png"))
    return made


@pytest.mark.parametrize("processes", [1, 3])
def test_files_are_the_same_for_any_number_of_processes(tmp_path: Path, processes: int) -> None:
    with closing(Drawing(pictures(tmp_path), processes)) as drawing:
        assert len(drawing._helpers) == processes - 1
        drawing.finish()
    for figure, path in pictures(tmp_path):
        assert path.read_bytes() == encode(figure, "png")
    assert len(list(tmp_path.iterdir())) == COUNT


def test_the_figure_of_a_process_that_ends_is_drawn_here(tmp_path: Path) -> None:
    with closing(Drawing(pictures(tmp_path), 3)) as drawing:
        for helper in drawing._helpers:
            helper.kill()
        drawing.finish()
    assert len(list(tmp_path.glob("*.png"))) == COUNT


def test_an_error_is_raised_here_and_no_process_stays(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nowhere"), closing(Drawing(pictures(tmp_path / "nowhere"), 3)) as drawing:
        drawing.finish()
    assert all(helper.poll() is not None for helper in drawing._helpers)
    with pytest.raises(KeyboardInterrupt), closing(Drawing(pictures(tmp_path), 3)) as drawing:
        raise KeyboardInterrupt
    assert all(helper.poll() is not None for helper in drawing._helpers)


def test_a_script_without_a_guard_draws_once(tmp_path: Path) -> None:
    """A process of `multiprocessing` would run the script again."""
    script = tmp_path / "script.py"
    script.write_text(
        "from pathlib import Path\n"
        "from tests import test_drawing_workers as own\n"
        "own.workers.LEAST = 2\n"
        "print('once')\n"
        f"with own.closing(own.Drawing(own.pictures(Path({str(tmp_path)!r})), 2)) as drawing:\n"
        "    drawing.finish()\n"
    )
    places = os.pathsep.join([str(ROOT / "python"), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": places}
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stdout) == (0, "once\n"), done.stderr
    assert len(list(tmp_path.glob("*.png"))) == COUNT
