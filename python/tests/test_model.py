"""Analytic models: the functions, the command, and the comparison with measurements."""

from __future__ import annotations

import inspect
import json
import math
import statistics
import typing
from pathlib import Path

import numpy as np
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ackclock
from ackclock import _core, model
from ackclock.metrics import flows as derived
from ackclock.models import evaluate, registry
from ackclock.results import frame

from .conftest import Cli

CLOSED = [name for name, found in registry.models().items() if not found.simulated]
SIMULATED = [name for name, found in registry.models().items() if found.simulated]

LOSSY = """\
duration = "40 s"

[topology.bottleneck]
rate = "100 Mbit/s"
delay = "20 ms"
queue = "unlimited"

[flow]
recovery = "sack"

[sweep]
"topology.bottleneck.loss" = ["0.3 %", "1 %"]
seed = { from = 1, to = 4 }
"""


@pytest.fixture(scope="session")
def lossy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a stored sweep over the loss rate, written by the command line."""
    import subprocess
    import sys

    folder = tmp_path_factory.mktemp("lossy")
    (folder / "lossy.toml").write_text(LOSSY)
    command = [sys.executable, "-m", "ackclock", "run", "lossy.toml", "--out", "stored"]
    subprocess.run(command, cwd=folder, capture_output=True, check=True, timeout=300)
    return folder / "stored"


# the functions


def test_a_function_for_every_model() -> None:
    for name, found in registry.models().items():
        function = getattr(model, name)
        parameters = [parameter.name for parameter in found.parameters]
        extra = ["jobs"] if found.simulated else []
        assert list(inspect.signature(function).parameters) == parameters + extra
        assert all(f"    {parameter}\n" in function.__doc__ for parameter in parameters)
        assert name in model.__all__


def test_the_printed_numbers_of_table_2() -> None:
    found = model.rbt(loss="1 %")
    assert f"{found.rtt:.4f} {found.st:.4f} {found.pt:.3f} {found.peak:.0f} {found.ste:.4f}" == (
        "0.0249 1.0331 2.486 67651 1.0325"
    )
    assert found.gain == pytest.approx(1.2599, abs=5e-5)


def test_numbers_and_texts_are_the_same() -> None:
    assert model.mathis(loss=0.02, rtt=0.02, packet_size=1500) == model.mathis(
        loss="2 %", rtt="20 ms", packet_size="1500 B"
    )
    assert model.mathis(loss=0.0).throughput == math.inf
    assert isinstance(model.mathis().throughput, float)


@pytest.mark.parametrize("name", CLOSED)
def test_arrays_broadcast_in_one_call(name: str) -> None:
    function = getattr(model, name)
    found = registry.find(name)
    axis = found.axis
    low = next(parameter.bounds[0] for parameter in found.parameters if parameter.name == axis and parameter.bounds)
    values = np.array([[0.005], [0.01]]) if low == 0 else low + np.array([[2.0], [5.0]])
    other = next(parameter.name for parameter in found.parameters if parameter.kind == "number")
    found = function(**{axis: values, other: [1.0, 2.0, 3.0] if other != "beta" else [0.1, 0.5, 0.9]})
    assert all(output.shape == (2, 3) for output in found)
    one = function(**{axis: values[1, 0], other: 2.0 if other != "beta" else 0.5})
    assert all(array[1, 1] == number or math.isnan(number) for array, number in zip(found, one, strict=True))


def test_texts_in_lists() -> None:
    found = model.pftk(loss=["1 %", "4 %"], rtt="40 ms", rwnd="20 packets").throughput
    assert np.array_equal(found, model.pftk(loss=np.array([0.01, 0.04]), rtt=0.04, rwnd=20).throughput)


@given(st.floats(1e-6, 1.0), st.floats(1.0, 4.0))
def test_more_losses_are_slower(loss: float, factor: float) -> None:
    both = np.array([loss, min(1.0, factor * loss)])
    for rate in (model.mathis(loss=both).throughput, model.pftk(loss=both).throughput):
        assert isinstance(rate, np.ndarray)
        assert rate[1] <= rate[0] * (1 + 1e-9)


def test_empty_arrays_give_empty_arrays() -> None:
    assert model.mathis(loss=np.empty((0, 3))).throughput.shape == (0, 3)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: model.mathis(loss=2), "mathis: loss: must be from 0 to 100 %, but is 200"),
        (lambda: model.mathis(loss=[0.1, math.nan]), "mathis: loss: must be from 0 to 100 %, but is NaN"),
        (lambda: model.mathis(rtt="20"), 'mathis: rtt: a time needs a unit; did you mean "20 s"?'),
        (lambda: model.mathis(loss=[0.1, 0.2], rtt=[1, 2, 3]), "do not broadcast: loss (2,), rtt (3,)"),
        (lambda: model.mathis(loss=object()), "neither a number nor an array of numbers"),  # type: ignore[arg-type]
        (lambda: model.mathis(loss=True), "mathis: loss: has the wrong kind of value"),
        (lambda: model.response(law="cubik"), 'there is no law "cubik"; did you mean "cubic"?'),  # type: ignore[arg-type]
        (lambda: model.response(law=["reno"]), "law: one word or truth value for all points"),  # type: ignore[arg-type]
        (lambda: model.rounds(rounds=2.5), "rounds: rounds: must be a whole number, but is 2.5"),
        (lambda: model.population(windows=[4, 2]), "windows: must be 1 to 32 numbers in rising order"),
        (lambda: model.population(windows=[2, 0.5]), "must be from 1 to 1000000, but one of them is 0.5"),
        (lambda: model.population(windows=4), "windows: must be a list of numbers, but is 4"),  # type: ignore[arg-type]
        (lambda: model.population(windows="2,4"), 'a list of numbers as in "[2, 4, 8]", but is "2,4"'),
        (lambda: model.population_trace(windows=[]), "windows: must be 1 to 32 numbers in rising order"),
        (lambda: model.arq(a=0.3), "2a must be a whole number of slots"),
        (lambda: evaluate.evaluate("matis", {}), "there is no model 'matis'; did you mean 'mathis'?"),
        (lambda: evaluate.evaluate("mathis", {"los": 0.1}), 'no parameter "los"; did you mean "loss"?'),
        (lambda: evaluate.table("mathis", {"los": 0.1}), 'no parameter "los"; did you mean "loss"?'),
    ],
)
def test_mistakes_get_a_suggestion(call: typing.Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError) as raised:
        call()
    assert message in str(raised.value)


def test_rounds_gives_a_row_for_each_combination() -> None:
    table = model.rounds(loss=["1 %", "10 %"], seed=range(1, 4), response=["restart", "threshold"], rounds=500)
    assert table.shape[0] == 12
    assert table["loss"].to_list() == [0.01] * 6 + [0.1] * 6
    assert table["response"].to_list() == ["restart", "threshold"] * 6
    assert table["acked"].to_list() == [500 - lost for lost in table["lost"].to_list()]
    one = model.rounds(loss=0.1, seed=2, response="threshold", rounds=500)
    same = table.filter((table["loss"] == 0.1) & (table["seed"] == 2) & (table["response"] == "threshold"))
    assert same["window_rate"].to_list() == one["window_rate"].to_list()


def test_threads_change_nothing() -> None:
    def some(jobs: int) -> polars.DataFrame:
        return model.rounds(loss=[0.01, 0.05, 0.1], seed=range(1, 30), rounds=300, jobs=jobs)

    assert some(1).equals(some(5))


def test_a_trace_ends_at_the_means() -> None:
    trace = model.rounds_trace(loss="10 %", rounds=100, seed=3, response="threshold")
    means = model.rounds(loss="10 %", rounds=100, seed=3, response="threshold")
    assert trace.shape == (100, 8)
    assert trace["window_rate"][-1] == means["window_rate"][0]
    assert trace["cwnd"].mean() == pytest.approx(means["window"][0])
    assert trace["acked"].sum() == means["acked"][0]
    assert trace["time"][-1] == pytest.approx(100 * 0.0249)


def test_the_means_of_the_initial_window_are_sums_over_sizes() -> None:
    sizes = np.arange(1, 101)
    shares = np.exp(-sizes / 10)
    shares /= shares.sum()
    delivered = (1 - 0.98**sizes) * 0.98 / 0.02
    windows = np.array([1.0, 2.0, 4.0, 10.0, 32.0])
    found = model.initial_window(window=windows, loss="2 %")
    assert found.rounds == pytest.approx((shares * np.log2(delivered / windows[:, None] + 1)).sum(axis=1), rel=1e-12)
    assert found.loss_window == pytest.approx((shares * (delivered + windows[:, None]) / 2).sum(axis=1), rel=1e-12)
    printed = model.initial_window(window=windows, loss="2 %", start="one").loss_window
    assert printed == pytest.approx(np.full(5, found.loss_window[0]))  # type: ignore[index]
    assert np.all(found.whole_rounds > found.rounds)
    assert model.initial_window().printed_sum == pytest.approx(1.0508382122)


def test_a_population_ends_like_its_trace() -> None:
    windows = [2, 8, 32.5]
    trace = model.population_trace(windows=windows, horizon=200, start="largest")
    assert trace.columns == ["time", "mean_window", "mean_loss", "rounds", "share_2", "share_8", "share_32.5"]
    shares = trace.select(polars.col("^share_.*$")).to_numpy()
    assert shares.shape == (2001, 3)
    assert shares[0] == pytest.approx([0.005, 0.005, 0.99])
    assert shares.sum(axis=1) == pytest.approx(np.ones(2001))
    assert trace["mean_window"].to_numpy() == pytest.approx(shares @ np.array(windows))
    found = model.population(windows=windows, horizon=200, start="largest")
    assert found.mean_window == pytest.approx(trace["mean_window"][-1], abs=1e-4)
    assert found.rounds == pytest.approx(trace["rounds"][-1], abs=1e-4)
    assert found.largest_share == pytest.approx(shares[-1].max(), abs=1e-4)
    assert (found.stable, found.price_of_anarchy >= 1) == (1, True)


def test_lists_are_one_value() -> None:
    settings = {"windows": [4, 16], "flows": [2, 8]}
    table = evaluate.table("population", settings)
    assert table["windows"].to_list() == [[4, 16]] * 2
    found = model.population(windows="[4, 16]", flows=[2, 8])
    assert table["mean_window"].to_list() == list(found.mean_window)  # type: ignore[arg-type]


def test_arq_is_as_efficient_as_its_closed_form() -> None:
    for scheme in ("stop_and_wait", "go_back_n", "selective_repeat"):
        table = model.arq(scheme=scheme, loss="10 %", a=2, window=7, slots=20_000, seed=range(1, 21))
        values = table["efficiency"].to_numpy()
        exact = getattr(model.sliding_window(loss="10 %", a=2, window=7), scheme)
        assert abs(values.mean() - exact) < 5 * values.std(ddof=1) / math.sqrt(20) + 1e-3


# the command


def test_model_lists(cli: Cli) -> None:
    done = cli("model")
    assert done.returncode == 0, done.stderr
    assert [line.split()[0] for line in done.stdout.split("\n")[3:] if line.strip()] == list(registry.models())
    assert [entry["name"] for entry in json.loads(cli("model", "--json").stdout)] == list(registry.models())


@pytest.mark.parametrize("name", [*CLOSED, *SIMULATED])
def test_every_model_computes(cli: Cli, name: str) -> None:
    done = cli("model", name)
    assert done.returncode == 0, done.stderr
    assert all(output.name in done.stdout for output in registry.find(name).outputs)


def test_model_prints_json_in_si_units(cli: Cli) -> None:
    done = cli("model", "mathis", "--param", "loss=1%,4%", "--param", "rtt=20 ms", "--json")
    rows = json.loads(done.stdout)["rows"]
    assert [row["loss"] for row in rows] == [0.01, 0.04]
    assert [row["rtt"] for row in rows] == [0.02, 0.02]
    assert rows[0]["throughput"] == pytest.approx(2 * rows[1]["throughput"])
    lossless = json.loads(cli("model", "mathis", "--param", "loss=0 %", "--json").stdout)
    assert lossless["rows"][0]["throughput"] is None
    assert "∞" in cli("model", "mathis", "--param", "loss=0 %").stdout


def test_the_command_takes_lists(cli: Cli) -> None:
    done = cli("model", "population", "--param", "windows=[4, 16]", "--param", "flows=1,12", "--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["rows"]
    assert [row["windows"] for row in rows] == [[4, 16], [4, 16]]
    assert [row["mean_window"] for row in rows] == pytest.approx([16, 4], abs=0.01)
    assert cli("model", "population", "--param", "windows=[4, 16]").returncode == 0


def test_a_range_has_equal_ratios(cli: Cli) -> None:
    done = cli("model", "mathis", "--param", "loss=0.1%..10%:3", "--json")
    assert [row["loss"] for row in json.loads(done.stdout)["rows"]] == pytest.approx([0.001, 0.01, 0.1])
    done = cli("model", "mathis", "--param", "loss=0.1%..10%", "--json")
    assert len(json.loads(done.stdout)["rows"]) == 25
    done = cli("model", "bdp", "--param", "buffer=0 packets..100 packets:5", "--json")
    assert [row["buffer"] for row in json.loads(done.stdout)["rows"]] == [0, 25, 50, 75, 100]
    done = cli("model", "rounds", "--param", "seed=1..4", "--param", "rounds=50", "--json")
    assert [row["seed"] for row in json.loads(done.stdout)["rows"]] == [1, 2, 3, 4]


def test_words_make_curves_and_tables(cli: Cli, tmp_path: Path) -> None:
    words, loss = "law=reno,cubic,highspeed", "loss=0.001%..1%:7"
    done = cli("model", "response", "--param", words, "--param", loss, "--output", "window", "--plot", "w.svg")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("cubic") == 7
    assert done.stdout.index("reno") < done.stdout.index("cubic") < done.stdout.index("highspeed")
    drawn = (tmp_path / "w.svg").read_text()
    assert drawn.count(">window, law ") == 3
    for ending in ("png", "pdf"):
        assert cli("model", "rbt", "--param", "loss=0.1%..2%:5", "--plot", f"r.{ending}").returncode == 0
        assert (tmp_path / f"r.{ending}").stat().st_size > 1000


def test_truth_values_are_words(cli: Cli) -> None:
    done = cli("model", "rounds", "--param", "capped=true,false", "--param", "rounds=9", "--output", "window")
    assert [line.split()[0] for line in done.stdout.splitlines()[-3:-1]] == ["true", "false"]


def test_seeds_are_averaged_in_a_plot(cli: Cli, tmp_path: Path) -> None:
    arguments = ["--param", "seed=1..5", "--param", "loss=1%,10%", "--output", "window_rate", "--plot", "s.svg"]
    done = cli("model", "rounds", "--param", "response=restart,threshold", *arguments)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "s.svg").read_text().count(">window_rate, response ") == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["matis"], "there is no model 'matis'; did you mean 'mathis'?"),
        (["mathis", "--param", "los=1%"], 'no parameter "los"; did you mean "loss"?'),
        (["mathis", "--param", "loss"], "expected KEY=VALUE, as in loss='1 %'"),
        (["mathis", "--param", "loss=0.01"], 'a probability needs a unit: is it "1 %" or "0.01 %"?'),
        (["mathis", "--param", "loss=1%", "--param", "loss=2%"], "--param loss is given twice"),
        (["mathis", "--param", "loss=10%..1%"], "with LOW below HIGH"),
        (["mathis", "--param", "loss=1%..10%:x"], "with 2 to 1,000,000 as COUNT"),
        (["mathis", "--param", "loss=1..10%"], 'did you mean "1 %"?'),
        (["response", "--param", "law=reno..cubic"], "of numbers"),
        (["rounds", "--param", "seed=1..100000000"], "with at most 1,000,000 numbers"),
        (["population", "--param", "windows=2,4"], 'must be a list of numbers as in "[2, 4, 8]", but is "2,4"'),
        (["population", "--param", "windows=[4,2]"], "population: windows: must be 1 to 32 numbers in rising order"),
        (
            ["mathis", "--output", "thruput"],
            "mathis has no such output; did you mean 'throughput'? (known: throughput, window",
        ),
        (["response", "--param", "loss=1%..9%:2000", "--param", "rtt=1ms..9ms:1000"], "2,000,000 combinations (loss"),
        (["rbt", "--param", "loss=3%..5%:5", "--output", "gain", "--plot", "x.png"], "gain is undefined or infinite"),
        (
            ["mathis", "--param", "loss=1%,2%", "--plot", "no/x.png"],
            "cannot write here: there is no directory no",
        ),
        (
            ["mathis", "--plot", "x.png"],
            "no parameter has a range to draw over; give one, as in --param loss=LOW..HIGH",
        ),
        (["mathis", "--param", "loss=1%,2%", "--plot", "x.gif"], "unknown format 'gif'"),
        (["mathis", "--x", "loss"], "--x: only with --over"),
        (["--over", "out"], "name a model before its options (known: mathis, pftk"),
        (["--param", "loss=1%"], "name a model before its options"),
        (["pftk", "--param", "rwnd=auto,10 segments"], "pftk: rwnd: auto cannot be one of several values"),
        (["mathis", "--over", "nowhere"], "nowhere: no result of ackclock here"),
        (
            ["icw", "--plot", "x.png"],
            "icw is a paper: name one of its models to draw or compare it (initial_window, popul",
        ),
        (
            ["icw", "--param", "flow=2"],
            "--param flow: none of initial_window and population has this parameter; did you mean 'flows'",
        ),
        (
            ["icw", "--output", "round"],
            "--output round: none of initial_window and population has this output; did you mean 'rou",
        ),
    ],
)
def test_bad_input_is_one_message(cli: Cli, tmp_path: Path, arguments: list[str], message: str) -> None:
    done = cli("model", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob("*.png"))


def test_a_papers_name_computes_its_models(cli: Cli, tmp_path: Path) -> None:
    words = ("--param", "mu=5", "--param", "windows=[4]", "--param", "window=1 segment,2 segments")
    icw = json.loads(cli("model", "icw", *words, "--json").stdout)
    assert [found["model"] for found in icw] == ["initial_window", "population"]
    alone = json.loads(cli("model", "initial_window", *words[:2], *words[4:], "--json").stdout)
    assert icw[0] == alone
    assert len(alone["rows"]) == 2
    assert icw[1]["rows"][0]["mean_window"] == 4
    shown = cli("model", "icw", "--output", "stable").stdout
    assert "population: initial windows that survive" in shown
    assert "initial_window:" not in shown, "it has no such output"
    # A paper in the working directory: the models that its paper.toml evaluates. Names of models have precedence.
    folder = tmp_path / "papers" / "mine"
    folder.mkdir(parents=True)
    (folder / "paper.toml").write_text(
        'title = "Mine"\nreference = "nobody"\nlabels = ["a"]\n[[model]]\nname = "bdp"\n'
    )
    mine = json.loads(cli("model", "mine", "--json").stdout)
    assert [found["model"] for found in mine] == ["bdp"]
    assert json.loads(cli("model", "rbt", "--json").stdout)["model"] == "rbt"


# comparison with measurements


def test_theory_through_measured_points(cli: Cli, lossy: Path, tmp_path: Path) -> None:
    done = cli("model", "mathis", "--over", lossy, "--param", "rtt=80 ms", "--json", "--plot", "over.svg")
    assert done.returncode == 0, done.stderr
    compared = json.loads(done.stdout)
    assert (compared["x"], compared["y"]) == ("topology.bottleneck.loss", "goodput_bps")
    flows = ackclock.open(lossy).flows.collect()
    for row, loss in zip(compared["rows"], ("0.3 %", "1 %"), strict=True):
        own = flows.filter(flows["topology.bottleneck.loss"] == loss)["goodput_bps"]
        assert row["runs"] == 4
        assert row["mean"] == pytest.approx(own.mean())
        assert row["low"] < row["mean"] < row["high"]
        assert row["theory"] == model.mathis(loss=loss, rtt=0.08).throughput
        assert row["ratio"] == pytest.approx(row["mean"] / row["theory"])
        # With SACK and rare timeouts, the law holds within a third.
        assert 0.67 < row["ratio"] < 1.5
    drawn = (tmp_path / "over.svg").read_text()
    assert "mathis: throughput" in drawn
    assert "measured" in drawn
    table = cli("model", "mathis", "--over", lossy, "--param", "rtt=80 ms").stdout
    assert "measured/theory" in table


def test_several_lines_and_columns_of_choice(cli: Cli, lossy: Path) -> None:
    words = ["--param", "law=reno,cubic", "--output", "window", "--y", "cwnd_max", "--x", "loss"]
    done = cli("model", "response", "--over", lossy, *words, "--json")
    assert done.returncode == 0, done.stderr
    assert [row["law"] for row in json.loads(done.stdout)["rows"]] == ["reno", "cubic"] * 2
    done = cli("model", "mathis", "--over", lossy, "--x", "rtt=min_rtt", "--param", "loss=1%", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rows"][0]["rtt"] == pytest.approx(0.08, rel=0.01)


def test_labels_with_the_same_ending_stay_distinct(cli: Cli, lossy: Path, tmp_path: Path) -> None:
    sweep = (
        '[[flow]]\n[[flow]]\n[sweep]\n"flow.0.avoidance" = ["reno", "cubic"]\n"flow.1.avoidance" = ["reno", "veno"]\n'
    )
    (tmp_path / "two.toml").write_text('duration = "1 s"\n' + sweep)
    assert cli("run", "two.toml", "--out", "two").returncode == 0
    done = cli("model", "bdp", "--over", "two", "--x", "buffer=queue_packets", "--y", "goodput_bps", "--json")
    rows = json.loads(done.stdout)["rows"]
    pairs = {(row["flow.0.avoidance"], row["flow.1.avoidance"]) for row in rows}
    assert pairs == {(one, other) for one in ("reno", "cubic") for other in ("reno", "veno")}
    # A label may have the name of a parameter that varies.
    varied = ["--x", "rtt=min_rtt", "--param", "loss=1%,2%"]
    rows = json.loads(cli("model", "mathis", "--over", lossy, *varied, "--json").stdout)["rows"]
    assert {row["topology.bottleneck.loss"] for row in rows} == {"0.3 %", "1 %"}
    assert {row["loss"] for row in rows} == {0.01, 0.02}
    assert "rtt (s)" in cli("model", "mathis", "--over", lossy, "--param", "rtt=80 ms,90 ms").stdout


def test_a_single_run_has_no_interval(cli: Cli, first: Path, tmp_path: Path) -> None:
    assert cli("run", first, "--out", "one").returncode == 0
    done = cli("model", "bdp", "--over", "one", "--x", "buffer=queue_packets", "--y", "goodput_bps", "--json")
    (row,) = json.loads(done.stdout)["rows"]
    assert (row["runs"], row["low"], row["high"], row["buffer"]) == (1, None, None, 20)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mathis", "--x", "los"], "x=los: there is no label or column 'los'; did you mean 'loss'? (known: topology"),
        (["mathis", "--x", "lss=seed"], "mathis has no parameter 'lss'; did you mean 'loss'?"),
        (["mathis", "--y", "goodputs"], "y=goodputs: there is no column 'goodputs'; did you mean 'goodput_bps'?"),
        (["mathis", "--y", "control"], "y=control: the column holds no numbers"),
        (
            ["mathis", "--y", "completion_time", "--plot", "x.png"],
            "y=completion_time: no run in",
        ),
        (["mathis", "--x", "rtt=loss"], "'0.3 %' is not a valid rtt"),
        (["mathis", "--output", "window"], "y is needed: no measured column is the default"),
        (["mathis", "--param", "loss=1%"], "--param loss: its values come from topology.bottleneck.loss of"),
        (["bdp", "--y", "cwnd_max"], "x is needed: name the label that holds the model's buffer"),
        (["rounds", "--param", "seed=1,2"], "give one seed with --over"),
    ],
)
def test_mistakes_in_comparing(cli: Cli, lossy: Path, tmp_path: Path, arguments: list[str], message: str) -> None:
    done = cli("model", *arguments, "--over", lossy)
    assert not list(tmp_path.glob("*.png"))
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_importing_models_loads_no_heavy_libraries() -> None:
    import subprocess
    import sys

    code = "import sys, ackclock.model; print([m for m in ('polars', 'numpy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_core_refuses_invalid_inputs() -> None:
    with pytest.raises(ValueError, match="has 2 values for 3 points"):
        _core.evaluate("mathis", [("loss", np.array([0.1, 0.2]).tobytes())], 3, 1)
    assert ackclock.model is model


# comparison with the same flows in the simulator


@pytest.mark.parametrize("profile", ["ns2", "modern"])
@pytest.mark.parametrize("window", [1, 4, 32])
def test_short_flows_take_the_rounds_of_the_model(profile: str, window: int) -> None:
    # A size from an exponential distribution, rounded up, has p(s) ∝ e^(−s/μ); this θ truncates nothing.
    path = {
        "kind": "chain",
        "access": {"rate": "1 Tbit/s", "delay": "10 ms"},
        "bottleneck": {"rate": "1 Tbit/s", "delay": "30 ms", "queue": "unlimited", "loss": "1 %"},
    }
    sizes = {"kind": "exponential", "mean": "10 packets"}
    arrivals = {"rate": "200 per s", "until": "20 s", "size": sizes}
    flow = {"name": "a", "profile": profile, "initial_window": f"{window} segments", "arrivals": arrivals}
    result = ackclock.run(
        ackclock.Scenario(duration="100 s", topology=path, flow=[flow]), record=derived.DERIVATIONS["first_loss"].traces
    )
    flows = [{"flow": row.pop("name"), **row} for row in frame(result.flows).to_dicts()]
    derived.first_loss(flows, result)
    whole = model.initial_window(window=window, theta=1000, loss="1 %", mu=10)
    for column, output in zip(derived.FIRST[:3], ("delivered", "whole_rounds", "whole_window"), strict=True):
        sample = [row[column] for row in flows if row[column] is not None]
        assert len(sample) > 3500
        error = statistics.stdev(sample) / math.sqrt(len(sample))
        # Flows are independent: one sample in 16 000 lies beyond four standard errors.
        assert statistics.mean(sample) == pytest.approx(float(getattr(whole, output)), abs=4 * error)
        printed = {"whole_rounds": "rounds", "whole_window": "loss_window"}.get(output)
        if printed:
            assert statistics.mean(sample) - float(getattr(whole, printed)) > 4 * error, "the paper's means are too low"
