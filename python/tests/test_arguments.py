"""Arguments of the package's functions: wrong ones get one sentence, also on the command line."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ackclock
from ackclock import arguments, linux
from ackclock.cli import app
from ackclock.cli.commands.kernel import compare as kernel_compare
from ackclock.experiments.execute import Interrupted
from ackclock.experiments.world import World, run_here

from .conftest import Cli

ASKED: dict[str, Callable[..., Any]] = {
    "compare": ackclock.compare,
    "matrix": ackclock.matrix,
    "sweep": ackclock.sweep,
    "tune": ackclock.tune,
    "gate": ackclock.gate,
    "paper": ackclock.paper,
    "papers": ackclock.papers,
    "paper --verify": ackclock.verify,
    "kernel compare": linux.compare,
}
ELSEWHERE = {
    *("contenders", "reference", "scenario", "scenarios", "limits"),
    *("slow_start", "avoidance", "loss_response", "recovery", "congestion_control", "baseline"),
}
"""Parameters that the function reads itself: it refuses an unknown name, and lists the known ones."""
SCENARIO = """
duration = "2 s"

[topology.bottleneck]
rate = "5 Mbit/s"

[flow]

[sweep]
"topology.bottleneck.delay" = { from = "5 ms", to = "40 ms", count = 4 }
"""


@pytest.mark.parametrize("name", ASKED)
def test_every_parameter_says_what_it_can_be(name: str) -> None:
    parameters = {each for each in inspect.signature(ASKED[name]).parameters if each not in ELSEWHERE}
    assert parameters <= set(arguments.kinds_of(ASKED[name]))


@pytest.mark.parametrize("name", ASKED)
def test_every_parameter_refuses_an_object_in_one_sentence(name: str) -> None:
    function = ASKED[name]
    for parameter in arguments.kinds_of(function):
        needed = [
            "x"
            for each in inspect.signature(function).parameters.values()
            if each.default is inspect.Parameter.empty and each.kind is not inspect.Parameter.VAR_POSITIONAL
        ]
        with pytest.raises(ValueError, match=f"^{parameter}: must be .*, not <object") as caught:
            function(**{**dict(zip(inspect.signature(function).parameters, needed, strict=False)), parameter: object()})
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ackclock.compare("reno", "cubic", seeds="a"), "seeds: must be a whole number, at least 1, not 'a'"),
        (lambda: ackclock.compare("reno", "cubic", seeds=True), "seeds: must be a whole number, at least 1, not True"),
        (lambda: ackclock.compare("reno", "cubic", budget="20 mi"), 'budget: must be a time above 0: a text '),
        (lambda: ackclock.compare("reno", "cubic", margin=5), "margin: must be a share above 0 % and below 100 %"),
        (lambda: ackclock.compare("reno", "cubic", engine="ray"), "engine: must be an engine, such as ackclock.Ray()"),
        (lambda: ackclock.gate("a", "b", tolerance=0.03), 'tolerance: must be a text or a list of texts, such as "2%"'),
        (lambda: ackclock.matrix(slow_start=3), "slow_start: must be names of parts, tables or classes, not 3"),
        (lambda: ackclock.sweep("s.toml", record="cwnd"), 'record: must be a list of texts, such as ["cwnd"], not'),
    ],
)  # fmt: skip
def test_messages(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError) as caught:
        call()
    assert str(caught.value).startswith(message)


def test_an_unknown_argument_names_the_nearest() -> None:
    with pytest.raises(TypeError, match=r"^compare: there is no argument 'path'; did you mean 'paths'\?$"):
        ackclock.compare("reno", "cubic", path="clean")  # type: ignore[call-arg]


def test_numbers_of_libraries_are_numbers() -> None:
    numpy = pytest.importorskip("numpy")
    found = ackclock.compare("reno", "cubic", paths="clean", seeds=numpy.int64(1), duration="1 s", harm=numpy.bool_(0))
    assert found.judged.names == ["reno", "cubic"]


def test_commands_that_run_take_the_same_options() -> None:
    """What an engine does is an option of every command with runs; a parameter of Python is an option, too."""
    shared = {"jobs", "engine", "address", "budget", "out", "json"}
    commands = {
        **{name: app.COMMANDS[name] for name in ASKED if name in app.COMMANDS},
        "kernel compare": kernel_compare,
    }
    for name, command in commands.items():
        options = set(inspect.signature(command).parameters)
        if name != "gate":  # it reads what others ran
            assert shared <= options, name
        # A directory and a file are positional; progress is shown; limits are two options.
        own = set(inspect.signature(ASKED[name]).parameters) - {"progress", "limits", "result", "scenario", "scenarios"}
        assert own <= options, name


def test_the_end_of_the_budget_keeps_what_is_finished(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(SCENARIO)
    asked: dict[str, Any] = {"paths": "clean", "seeds": 15, "duration": "3 s", "harm": False, "out": tmp_path / "o"}
    with pytest.raises(Interrupted, match=r"^the budget of 1 s is used up: \d+ of 30 runs are finished; run the same "):
        ackclock.compare("reno", "cubic", budget=0.05, jobs=1, **asked)
    found = ackclock.compare("reno", "cubic", budget="20 min", **asked)
    assert 0 < found.judged.outcome.experiment.reused < 30
    with pytest.raises(
        Interrupted, match=r"^the budget of 1 s is used up: \d+ of 4,000 runs are finished; run the same"
    ):
        ackclock.sweep(tmp_path / "s.toml", tmp_path / "swept", seeds=1000, budget=0.05, jobs=1)
    done = ackclock.open(tmp_path / "swept").runs.collect().height
    assert 0 < done < 4000


def test_the_command_line_reads_the_budget_as_python_does(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(SCENARIO)
    for command in (["sweep", "s.toml"], ["run", "s.toml"], ["compare", "reno", "cubic"], ["papers"], ["matrix"]):
        done = cli(*command, "--budget", "5")
        assert (done.returncode, done.stdout) == (2, ""), command
        assert done.stderr.startswith('error: budget: must be a time above 0: a text such as "20 min" (units: s, '), (
            command
        )
    done = cli("sweep", "s.toml", "--seeds", "1000", "--budget", "0.1 s", "--jobs", "1")
    assert done.returncode == 130
    assert "error: the budget of 1 s is used up: " in done.stderr


def test_a_run_takes_a_world_and_a_folder(tmp_path: Path) -> None:
    scenario = ackclock.Scenario("one", duration="1 s", flow=[{}])
    result = ackclock.run(scenario, out=tmp_path / "o")
    stored = ackclock.open(tmp_path / "o")
    assert stored.summary["flows"] == result.summary["flows"]
    seen = []

    def elsewhere(given: ackclock.Scenario, *rest: Any) -> Any:
        seen.append(given.name)
        return run_here(given, *rest)

    ackclock.run(scenario, on=World("elsewhere", elsewhere))
    assert seen == ["one"]
    with pytest.raises(
        ValueError, match=r"^--on linx: expected simulation, linux, machine, quic or quinn; did you mean linux\?$"
    ):
        ackclock.run(scenario, on="linx")
    with pytest.raises(ValueError, match=r"^one: nothing runs there$"):
        ackclock.run(scenario, on=World("closed", refusal=lambda _: "nothing runs there"))
