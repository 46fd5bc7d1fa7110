"""Controls in C: shared libraries that are compiled with ``ackclock.h``."""

from __future__ import annotations

import math
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import ackclock
from ackclock import _core
from ackclock.control import named
from ackclock.experiments.sources import of_class

from .conftest import NO_KERNEL, Cli, present

EXAMPLE = Path(__file__).parents[2] / "examples" / "c" / "gentle.c"
COMPILER = shutil.which("cc")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="no C compiler (cc)")
PATH = {"links": [{"rate": "10 Mbit/s", "delay": "20 ms", "queue": "30 packets", "loss": "0.5 %"}]}
Compile = Callable[..., Path]


class Reno(ackclock.CongestionControl):
    """The Reno of the example, in Python."""

    def on_established(self, event: ackclock.Established) -> None:
        self.cwnd = 10.0

    def on_ack(self, ack: ackclock.Ack) -> None:
        if ack.cwnd_limited:
            super().on_ack(ack)

    def on_congestion(self, event: ackclock.CongestionEvent) -> None:
        self.before = self.cwnd, self.ssthresh
        self.ssthresh = max(2.0, float(math.floor(0.5 * event.window)))
        self.cwnd = event.loss_window if event.restart else self.ssthresh

    def on_spurious(self, now_s: float) -> None:
        self.cwnd, self.ssthresh = max(self.cwnd, self.before[0]), self.before[1]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """Return a function that compiles a text of C, or the example, into a shared library."""
    made = iter(range(100))

    def compile_text(text: str = EXAMPLE.read_text()) -> Path:
        folder = tmp_path_factory.mktemp(f"c{next(made)}")
        (folder / "gentle.c").write_text(text)
        words = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O2", "-shared", "-fPIC", "-I", ackclock.include()]
        subprocess.run([str(COMPILER), *words, "gentle.c", "-o", "gentle.so", "-lm"], cwd=folder, check=True)
        return folder / "gentle.so"

    return compile_text


def scenario(control: type, **keys: object) -> ackclock.Scenario:
    flow = {"host": "linux", "congestion_control": control}
    return ackclock.Scenario("c", duration="20 s", topology=PATH, flow=[flow], **keys)


def test_header_and_program_have_the_same_structures(tmp_path: Path) -> None:
    version, sizes = _core.library_sizes()
    printed = "".join(f'printf("{name} %zu\\n", sizeof(struct ackclock_{name}));' for name, _ in sizes)
    (tmp_path / "a.c").write_text(
        f'#include <ackclock.h>\n#include <stdio.h>\nint main(void) {{ printf("%d\\n", ACKCLOCK_VERSION); {printed} }}'
    )
    subprocess.run([str(COMPILER), "-I", ackclock.include(), "a.c", "-o", "a"], cwd=tmp_path, check=True)
    done = subprocess.run([str(tmp_path / "a")], capture_output=True, text=True, check=True).stdout.split("\n")
    assert done[0] == str(version)
    assert done[1:-1] == [f"{name} {size}" for name, size in sizes]


@pytest.mark.parametrize("seed", range(1, 6))
def test_reno_in_c_sends_the_packets_of_reno_in_python(seed: int, compiled: Compile) -> None:
    in_c = ackclock.run(scenario(named(f"{compiled()}:reno"), seed=seed))
    assert in_c.trace_hash == ackclock.run(scenario(Reno, seed=seed)).trace_hash
    assert in_c.summary["flows"][0]["window_reductions"] > 3


def test_it_paces_and_is_compared_and_asked_for_conformance(compiled: Compile, cli: Cli) -> None:
    control = f"{compiled()}:gentle"
    found = {each.asked.clause.id: each for each in ackclock.conform("rfc9438", control=control).verdicts}
    assert found["decrease"].verdict == "holds"
    assert found["decrease"].measured["factor"] == pytest.approx(0.7, abs=0.01)
    assert found["cubic-function"].verdict != "holds"
    done = cli("compare", "reno", control, "--paths", "clean", "--seeds", "3", "--duration", "5s", "--no-harm")
    assert done.returncode == 0 and control in done.stdout, done.stderr


@pytest.mark.skipif(not present(), reason=NO_KERNEL)
def test_it_decides_in_the_tcp_of_a_kernel(compiled: Compile) -> None:
    made = scenario(named(f"{compiled()}:reno"))
    on_kernel, simulated = (ackclock.run(made, on=world).summary["flows"][0] for world in ("linux", "simulation"))
    assert on_kernel["delivered_bytes"] == pytest.approx(simulated["delivered_bytes"], rel=0.1)


def test_stored_runs_depend_on_the_file(compiled: Compile) -> None:
    first, same = (of_class(named(f"{compiled()}:gentle")) for _ in range(2))
    other = of_class(named(f"{compiled(EXAMPLE.read_text().replace('0.7', '0.8'))}:gentle"))
    assert first == same != other


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("? ack->counted :", "? NAN :"), "reno: ack set cwnd = NaN: expected a finite number of segments"),
        (("out->cwnd = 10;", "out->pacing_rate = -1;"), "reno: init set pacing_rate = -1: expected bit/s, at least 1"),
    ],
)
def test_what_no_control_can_want_ends_the_run(change: tuple[str, str], message: str, compiled: Compile) -> None:
    made = scenario(named(f"{compiled(EXAMPLE.read_text().replace(*change))}:reno"))
    with pytest.raises(ValueError, match=re.escape(message)):
        ackclock.run(made)


def test_a_library_that_is_none_is_one_message(compiled: Compile, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "text.so").write_text("no library")
    old = compiled(EXAMPLE.read_text().replace("ACKCLOCK_VERSION,", "99,"))
    for control, message in (
        ("gone.so:x", "gone.so:x: there is no such file"),
        ("text.so:x", r"text.so:x: .*text.so"),
        (f"{compiled()}:gentl", "gentle.so:gentl: .*ackclock_gentl"),
        (f"{old}:gentle", "is of version 99 of ackclock.h, and not 1; compile it again"),
    ):
        done = cli("conform", "rfc9438", "--control", control)
        assert (done.returncode, done.stdout) == (2, ""), done.stderr
        assert re.search(message, done.stderr) and done.stderr.count("error:") == 1, done.stderr
