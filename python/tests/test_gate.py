"""The gate: what passes, what fails, and how often by chance."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import polars
import pytest
import xmlschema
import yaml

from ackclock.cli.app import COMMANDS
from ackclock.datasets import Writer
from ackclock.gates import sides
from ackclock.gates.comparing import Correction, Outcome, compare
from ackclock.gates.junit import xml
from ackclock.gates.markdown import LIMIT, markdown
from ackclock.gates.measures import selected, tolerances
from ackclock.gates.sides import Run, Side
from ackclock.gates.texts import headline
from ackclock.metrics.registry import MEASURES as DECLARED
from ackclock.metrics.registry import Measure, of

from .conftest import FIRST, ROOT, Cli

MEASURES = [DECLARED[name] for name in ("goodput_bps", "jain", "queue_mean", "timeouts")]
GUIDE = ROOT / "docs" / "guides"

# The rules of the format: see the schema of Windy Road for Ant's task, which Jenkins, GitLab and GitHub's actions read.
SCHEMA = """\
<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:complexType name="problem"><xs:simpleContent><xs:extension base="xs:string">
    <xs:attribute name="type" type="xs:string" use="required"/><xs:attribute name="message" type="xs:string"/>
  </xs:extension></xs:simpleContent></xs:complexType>
  <xs:simpleType name="name"><xs:restriction base="xs:token"><xs:minLength value="1"/></xs:restriction></xs:simpleType>
  <xs:simpleType name="time"><xs:restriction base="xs:dateTime">
    <xs:pattern value="\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d"/></xs:restriction></xs:simpleType>
  <xs:element name="testsuites"><xs:complexType><xs:sequence>
    <xs:element name="testsuite" minOccurs="0" maxOccurs="unbounded"><xs:complexType>
      <xs:sequence>
        <xs:element name="properties"><xs:complexType><xs:sequence>
          <xs:element name="property" minOccurs="0" maxOccurs="unbounded"><xs:complexType>
            <xs:attribute name="name" type="name" use="required"/>
            <xs:attribute name="value" type="xs:string" use="required"/>
          </xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>
        <xs:element name="testcase" minOccurs="0" maxOccurs="unbounded"><xs:complexType>
          <xs:choice minOccurs="0">
            <xs:element name="error" type="problem"/><xs:element name="failure" type="problem"/>
          </xs:choice>
          <xs:attribute name="name" type="xs:token" use="required"/>
          <xs:attribute name="classname" type="xs:token" use="required"/>
          <xs:attribute name="time" type="xs:decimal" use="required"/></xs:complexType></xs:element>
        <xs:element name="system-out" type="xs:string"/><xs:element name="system-err" type="xs:string"/>
      </xs:sequence>
      <xs:attribute name="name" type="name" use="required"/>
      <xs:attribute name="package" type="xs:token" use="required"/>
      <xs:attribute name="id" type="xs:int" use="required"/>
      <xs:attribute name="timestamp" type="time" use="required"/>
      <xs:attribute name="hostname" type="name" use="required"/>
      <xs:attribute name="tests" type="xs:int" use="required"/>
      <xs:attribute name="failures" type="xs:int" use="required"/>
      <xs:attribute name="errors" type="xs:int" use="required"/>
      <xs:attribute name="time" type="xs:decimal" use="required"/></xs:complexType></xs:element>
  </xs:sequence></xs:complexType></xs:element>
</xs:schema>
"""


def side(points: Mapping[str, Sequence[Mapping[str, float] | str]], result: str = "") -> Side:
    """Make a result: for each point, the measures of its seeds, or the error of a run."""
    made = {
        (("rate", name),): {
            (str(seed),): Run("scenario", f"{result}{name}{seed}", run, {})
            if isinstance(run, str)
            else Run("scenario", f"{result}{name}{seed}", "", run)
            for seed, run in enumerate(runs)
        }
        for name, runs in points.items()
    }
    return Side(Path(result or "baseline"), made, tuple(DECLARED))


def judged(
    new: Mapping[str, Sequence[Mapping[str, float] | str]],
    baseline: Mapping[str, Sequence[Mapping[str, float] | str]],
    *texts: str,
    measures: Sequence[Measure] = MEASURES,
    strict: bool = False,
    correction: Correction = "holm",
) -> Outcome:
    return compare(
        side(new, "new"), side(baseline), measures, tolerances(texts, DECLARED), strict=strict, correction=correction
    )


def goodput(*values: float) -> list[dict[str, float]]:
    return [{"goodput_bps": value} for value in values]


def verdicts(outcome: Outcome) -> list[str]:
    return [change.verdict for change in outcome.changes]


NOISY = (100.0, 104.0, 97.0, 101.0, 99.0, 103.0)


def test_a_loss_beyond_noise_fails_and_a_gain_does_not() -> None:
    less = goodput(*(0.9 * value + index % 2 for index, value in enumerate(NOISY)))
    assert verdicts(judged({"a": less}, {"a": goodput(*NOISY)})) == ["worse"]
    gain = judged({"a": goodput(*NOISY)}, {"a": less})
    assert verdicts(gain) == ["better"]
    assert gain.passed
    assert not judged({"a": goodput(*NOISY)}, {"a": less}, strict=True).passed


def test_the_better_direction_is_that_of_the_measure() -> None:
    more = [{"queue_mean": 1.2 * value + index % 2} for index, value in enumerate(NOISY)]
    assert verdicts(judged({"a": more}, {"a": [{"queue_mean": value} for value in NOISY]})) == ["worse"]
    sent = [DECLARED["sent_packets"]]
    fresh = {"a": [{"sent_packets": 2 * value} for value in NOISY]}
    assert verdicts(judged(fresh, {"a": [{"sent_packets": value} for value in NOISY]}, measures=sent)) == ["changed"]


def test_significance_alone_and_size_alone_do_not_fail() -> None:
    tiny = goodput(*(value * 1.001 + 0.001 * (index % 2) for index, value in enumerate(NOISY)))
    found = judged({"a": goodput(*NOISY)}, {"a": tiny})
    assert found.changes[0].adjusted is not None
    assert found.changes[0].adjusted < 1e-6
    assert verdicts(found) == ["tolerated"]
    large = goodput(80.0, 130.0, 60.0, 101.0, 99.0, 90.0)
    assert verdicts(judged({"a": large}, {"a": goodput(*NOISY)})) == ["noise"]


def test_seeds_are_paired() -> None:
    # The scatter of the runs hides the change; the scatter of the pairs does not.
    values = (10.0, 200.0, 90.0, 400.0, 50.0, 120.0)
    fresh = goodput(*(value - 5 - index % 2 for index, value in enumerate(values)))
    assert verdicts(judged({"a": fresh}, {"a": goodput(*values)})) == ["worse"]
    assert verdicts(judged({"a": [*fresh[1:], fresh[0]]}, {"a": goodput(*values)})) == ["noise"]


def test_one_run_has_no_noise() -> None:
    assert verdicts(judged({"a": goodput(99.5)}, {"a": goodput(100.0)})) == ["tolerated"]
    found = judged({"a": goodput(98.5)}, {"a": goodput(100.0)})
    assert verdicts(found) == ["worse"]
    assert any("one pair of runs" in note for note in found.notes)
    assert verdicts(judged({"a": goodput(98.5)}, {"a": goodput(100.0)}, "2%")) == ["tolerated"]


def test_seeds_without_effect_count_as_one_run() -> None:
    assert verdicts(judged({"a": goodput(95.0, 95.0, 95.0)}, {"a": goodput(100.0, 100.0, 100.0)})) == ["worse"]


def test_equal_differences_of_a_few_noisy_runs_prove_nothing() -> None:
    def runs(timeouts: float) -> list[dict[str, float]]:
        return [{"timeouts": timeouts, "goodput_bps": value} for value in (100.0, 101.0)]

    found = judged({"a": runs(1)}, {"a": runs(0)})
    assert found.changes[0].measure.name == "timeouts"
    assert found.changes[0].p_value == 0.125
    assert any("two pairs of runs, which are few" in note for note in found.notes)
    assert found.changes[0].verdict == "noise"
    assert found.changes[0].relative == float("inf")


def beside_noise(name: str, *values: float) -> list[dict[str, float]]:
    """Make runs of one measure while another one varies."""
    return [{name: value, "goodput_bps": noise} for value, noise in zip(values, NOISY, strict=False)]


def test_a_measure_without_scatter_has_no_noise_although_others_vary() -> None:
    measures = [DECLARED["goodput_bps"], DECLARED["queue_max"]]
    base, fresh = beside_noise("queue_max", *[50.0] * 5), beside_noise("queue_max", *[100.0] * 5)
    found = judged({"a": fresh}, {"a": base}, measures=measures)
    change = found.changes[0]
    assert (change.measure.name, change.verdict, change.p_value) == ("queue_max", "worse", None)
    assert not found.passed
    assert verdicts(judged({"a": fresh}, {"a": base}, "queue_max=60", measures=measures))[0] == "tolerated"
    few = judged({"a": fresh[:2]}, {"a": base[:2]}, measures=measures)
    assert (few.changes[0].verdict, few.passed) == ("noise", True)
    # The chance of two constants is corrected as any other p-value.
    three = judged({"a": fresh[:3]}, {"a": base[:3]}, measures=measures).changes[0]
    assert (three.verdict, three.p_value, three.adjusted) == ("worse", 2**-5, 2**-5)
    many = {str(index): beside_noise("queue_max", *[50.0 + index] * 3) for index in range(4)}
    lower = {name: [{**run, "queue_max": run["queue_max"] - 30} for run in runs] for name, runs in many.items()}
    assert set(verdicts(judged(many, lower, measures=measures))) == {"noise", "unchanged"}
    assert any("fewer than 5 pairs of runs; use 5 seeds or more" in note for note in few.notes)


def test_equal_differences_of_a_scattering_measure_take_the_sign_test() -> None:
    base, fresh = beside_noise("queue_mean", 5, 6, 7, 8, 9), beside_noise("queue_mean", 6, 7, 8, 9, 10)
    change = judged({"a": fresh}, {"a": base}).changes[0]
    assert (change.measure.name, change.verdict, change.p_value) == ("queue_mean", "noise", 0.0625)


def test_many_comparisons_need_more_evidence() -> None:
    shifted = goodput(*(value - 1.2 + (-2.0, 1.0)[index % 2] for index, value in enumerate(NOISY)))
    alone = judged({"a": shifted}, {"a": goodput(*NOISY)})
    others = {str(index): goodput(*(value + (1, -1)[(place + index) % 2] * (1 + index / 100)
                                    for place, value in enumerate(NOISY))) for index in range(10)}  # fmt: skip
    base = {"a": goodput(*NOISY), **dict.fromkeys(others, goodput(*NOISY))}
    among = judged({"a": shifted, **others}, base)
    first = next(change for change in among.changes if change.point == (("rate", "a"),))
    assert alone.changes[0].adjusted == alone.changes[0].p_value == first.p_value
    assert first.adjusted == pytest.approx(11 * first.p_value)
    assert judged({"a": shifted, **others}, base, correction="bh").changes[0].adjusted <= first.adjusted


def test_verdicts_are_shown_at_half_and_at_double_the_tolerance() -> None:
    less = goodput(*(value - 1.5 + 0.1 * (index % 2) for index, value in enumerate(NOISY)))
    found = judged({"a": less}, {"a": goodput(*NOISY)})
    (change,) = found.changes
    assert (change.verdict, dict(change.at)) == ("worse", {0.5: "worse", 2.0: "tolerated"})
    (said,) = found.to_dict()["changes"]
    assert (said["at_half"], said["at_double"]) == ("worse", "tolerated")


def test_tolerances_are_shares_or_values() -> None:
    base, fresh = {"a": [{"queue_mean": 2.0}]}, {"a": [{"queue_mean": 2.4}]}
    assert verdicts(judged(fresh, base)) == ["worse"]
    assert verdicts(judged(fresh, base, "queue_mean=25%")) == ["tolerated"]
    assert verdicts(judged(fresh, base, "queue_mean=0.5")) == ["tolerated"]
    assert verdicts(judged(fresh, base, "queue_mean=0.3 packets")) == ["worse"]
    assert tolerances(["sojourn_mean=2 ms"], DECLARED).of("sojourn_mean").value == pytest.approx(0.002)
    assert tolerances(["3 %", "jain=0"], DECLARED).of("drops").value == pytest.approx(0.03)
    zero = judged({"a": [{"jain": 0.999}]}, {"a": [{"jain": 1.0}]}, "jain=0")
    assert verdicts(zero) == ["worse"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("godput_bps=2%", "did you mean 'goodput_bps'?"),
        ("goodput_bps=two", "expected a share, as in goodput_bps=2%"),
        ("goodput_bps=-1%", "expected a share"),
        ("5", "needs its measure"),
        ("drops=5 ms", "has the unit packets, not 'ms'"),
        ("=2%", "there is no measure ''"),
        ("1e999%", "too large"),
    ],
)
def test_wrong_tolerances_are_explained(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        tolerances([text], DECLARED)
    assert str(caught.value).startswith(f"tolerance {text}")


def test_a_tolerance_is_set_once() -> None:
    for twice in (["1%", "2%"], ["jain=1%", "jain=2%"]):
        with pytest.raises(ValueError, match="set twice"):
            tolerances(twice, DECLARED)


def test_measures_are_selected_by_name() -> None:
    assert [each.name for each in selected([], ["sent_packets", "jain", "mine"])] == ["jain"]
    assert [each.name for each in selected(["mine,jain", "mine"], ["jain", "mine"])] == ["mine", "jain"]
    assert of("mine").better == ""
    with pytest.raises(ValueError, match="did you mean 'jain'"):
        selected(["jian"], ["jain"])
    with pytest.raises(ValueError, match="name measures"):
        selected([], ["mine"])


def test_missing_and_failed_runs_fail() -> None:
    base = {"a": goodput(*NOISY), "b": goodput(*NOISY)}
    found = judged({"a": goodput(*NOISY), "new": goodput(1.0)}, base)
    assert not found.passed
    assert [gap.text for gap in found.gaps] == ["every run missing"]
    assert found.extra == [(("rate", "new"),)]
    assert [gap.text for gap in judged({**base, "b": goodput(*NOISY[:4])}, base).gaps] == ["2 of 6 runs missing"]
    failed = judged({**base, "b": [*goodput(*NOISY[:5]), "more than 100 events"]}, base)
    assert [gap.text for gap in failed.gaps] == ["1 of 6 runs failed: more than 100 events"]
    # A run that failed before cannot become worse.
    assert judged(base, {**base, "b": [*goodput(*NOISY[:5]), "more than 100 events"]}).passed


def test_nothing_to_compare_does_not_pass() -> None:
    found = judged({}, {})
    assert not found.passed
    assert headline(found) == "The gate fails: there is no pair of runs to compare."
    measures = [DECLARED["completion_mean"]]
    none = judged({"a": goodput(1.0)}, {"a": goodput(1.0)}, measures=measures)
    assert headline(none) == "The gate passes: no measure has a value."


def test_results_without_a_common_point_are_different_experiments() -> None:
    with pytest.raises(ValueError, match=r"new and baseline have no point in common \(rate=10 ms against rate=20 ms\)"):
        judged({"10 ms": goodput(1.0)}, {"20 ms": goodput(1.0)})


def test_a_lost_value_fails_and_a_new_one_does_not() -> None:
    timed = [{"goodput_bps": 100.0, "completion_mean": 2.0}, {"goodput_bps": 101.0, "completion_mean": 2.1}]
    untimed = [timed[0], {"goodput_bps": 101.0}]
    measures = [DECLARED["completion_mean"]]
    lost = judged({"a": untimed}, {"a": timed}, measures=measures)
    assert verdicts(lost) == ["lost"]
    assert not lost.passed
    none = [{"goodput_bps": 100.0}, {"goodput_bps": 101.0}]
    appeared = judged({"a": timed}, {"a": none}, measures=measures)
    assert verdicts(appeared) == ["appeared"]
    assert appeared.passed
    assert not judged({"a": none}, {"a": none}, measures=measures).changes


def test_the_worst_change_is_first() -> None:
    base = {"a": goodput(100.0), "b": goodput(100.0), "c": goodput(100.0)}
    found = judged({"a": goodput(90.0), "b": goodput(150.0), "c": goodput(50.0)}, base)
    assert [change.point[0][1] for change in found.changes] == ["c", "a", "b"]


def test_identical_results_are_counted() -> None:
    base = side({"a": goodput(*NOISY)})
    found = compare(base, base, MEASURES, tolerances([], DECLARED))
    assert (found.pairs, found.identical, found.equal) == (6, 6, 0)
    found = judged({"a": goodput(*NOISY)}, {"a": goodput(*NOISY)})
    assert (found.pairs, found.identical, found.equal) == (6, 0, 6)


def test_start_times_are_repetitions() -> None:
    table = polars.DataFrame(
        {"point": [0, 1, 2], "start_offset": ["0 ms", "5 ms", "9 ms"], "rate": ["1 Mbit/s"] * 3, "seed": [1, 1, 1],
         "hash": ["a", "b", "c"], "run": ["a", "b", "c"], "error": [None, None, "too many events"],
         "goodput_bps": [1.0, 2.0, None], "jain": [1.0, float("nan"), None], "cpu_s": [0.1, 0.1, 0.1]}
    )  # fmt: skip
    found = sides.of_table(Path("x"), table, ["start_offset", "rate"])
    runs = found.points[(("rate", "1 Mbit/s"),)]
    assert list(runs) == [("1", "0 ms"), ("1", "5 ms"), ("1", "9 ms")]
    assert runs["1", "5 ms"].values == {"goodput_bps": 2.0}
    assert runs["1", "9 ms"].error == "too many events"
    assert found.measures == ("goodput_bps", "jain")


def test_a_dataset_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "sweep"
    with Writer(folder, manifest={"scenario": "web", "planned": 3}, labels=["flow.rate"]) as writer:
        label = writer.label_columns[0]
        whole = {"point": polars.UInt64, "seed": polars.UInt64}
        columns = {"point": [0, 0, 1], label: ["1", "1", "2"], "seed": [1, 2, 1]}
        names = {key: ["a", "b", "c"] for key in ("hash", "run")}
        plan = polars.DataFrame({**columns, **names}, schema_overrides=whole)
        writer.relabel(plan)
        error = polars.Series([None, None, "more than 100 events"], dtype=polars.String)
        writer.add(plan.with_columns(error=error, jain=polars.Series([0.9, 0.8, None])), {})
        writer.finish("interrupted")
    found = sides.open_side(folder)
    assert found.notes == (f"{folder}: the sweep is interrupted; 3 of 3 runs are stored",)
    assert found.points[(("flow.rate", "1"),)]["2",] == Run("b", "b", "", {"jain": 0.8})
    assert found.points[(("flow.rate", "2"),)]["1",].error == "more than 100 events"
    same = compare(found, found, [DECLARED["jain"]], tolerances([], DECLARED))
    assert (same.pairs, same.identical, same.passed) == (2, 2, True)


# ---- by chance, and by cause


def simulated(rng: np.random.Generator, seeds: int, factor: float, scatter: float = 0.1, points: int = 5) -> Outcome:
    """Compare two simulated results whose seeds share half of the variance; one mean differs by a factor.

    Goodput is normal, the queue skewed (log-normal), and timeouts are counts (Poisson).
    """
    shape = (points, 4, seeds)
    common = rng.standard_normal(shape)
    made = []
    for change in (1.0, factor):
        noise = (common + rng.standard_normal(shape)) / np.sqrt(2)
        values = 100 * (1 + scatter * noise)
        values[:, 2] = 100 * np.exp(3 * scatter * noise[:, 2])
        values[:, 3] = rng.poisson(1.0, (points, seeds))
        values[0, 0] *= change
        made.append(values)

    def runs(values: np.ndarray) -> dict[str, list[dict[str, float]]]:
        names = [each.name for each in MEASURES]
        return {
            str(point): [dict(zip(names, map(float, own[:, seed]), strict=True)) for seed in range(seeds)]
            for point, own in enumerate(values)
        }

    return judged(runs(made[1]), runs(made[0]), "0%")


@pytest.mark.long
@pytest.mark.parametrize("seeds", [3, 10])
def test_at_most_one_comparison_in_twenty_fails_by_chance(seeds: int) -> None:
    rng = np.random.default_rng(14)
    outcomes = [simulated(rng, seeds, 1.0) for _ in range(1000)]
    failed = sum(not outcome.passed for outcome in outcomes)
    alarms = sum(bool(outcome.shown) for outcome in outcomes)
    # Holm holds the chance of any alarm at 5 %. Only a change for the worse fails, so about half of them do.
    assert failed <= 50
    assert alarms <= 50 + 3 * 7


@pytest.mark.long
@pytest.mark.parametrize("seeds", [3, 5, 10])
def test_small_counts_that_are_constant_by_chance_rarely_fail(seeds: int) -> None:
    # A mean of 0.5 makes two different constants, 0 and 1, likeliest.
    rng = np.random.default_rng(9)
    names = ("drops", "timeouts", "retransmitted_packets", "dropped_packets")

    def counts() -> dict[str, list[dict[str, float]]]:
        drawn = rng.poisson(0.5, (5, 4, seeds)).astype(float)
        return {
            str(point): [
                {**dict(zip(names, own[:, seed], strict=True)), "goodput_bps": float(seed)} for seed in range(seeds)
            ]
            for point, own in enumerate(drawn)
        }

    measures = [DECLARED[name] for name in names]
    outcomes = [judged(counts(), counts(), "0%", measures=measures) for _ in range(1000)]
    assert sum(not outcome.passed for outcome in outcomes) <= 50


def test_a_change_of_ten_percent_is_found() -> None:
    rng = np.random.default_rng(14)
    outcomes = [simulated(rng, 10, 0.9, scatter=0.05) for _ in range(100)]
    found = [any(change.point == (("rate", "0"),) for change in outcome.failing) for outcome in outcomes]
    assert sum(found) >= 95


# ---- files


def hostile() -> Outcome:
    bad = "</x>|<script>`@user` #1 ]]> \x00\x1b[31m\n[a](http://b) **c** & \ud800"
    return judged(
        {bad: goodput(50.0), "d": goodput(1.0)}, {bad: goodput(100.0), "gone": goodput(1.0), "d": goodput(1.0)}
    )


def test_the_junit_file_follows_the_schema() -> None:
    schema = xmlschema.XMLSchema(SCHEMA)
    for outcome in (hostile(), judged({"a": goodput(1.0)}, {"a": goodput(1.0)}), judged({}, {})):
        text = xml(outcome, datetime(2026, 1, 2, 3, 4, 5))
        schema.validate(text.decode())
        root = ElementTree.fromstring(text)
        cases = root.findall("testsuite/testcase")
        assert sum(int(suite.attrib["tests"]) for suite in root.findall("testsuite")) == len(cases)
        assert len(root.findall(".//failure")) == len(outcome.failing)
        assert len(root.findall(".//error")) == len(outcome.gaps)
    with pytest.raises(xmlschema.XMLSchemaValidationError):
        schema.validate(xml(hostile(), datetime(2026, 1, 2)).decode().replace(' hostname="localhost"', ""))


def test_markdown_shows_names_as_text() -> None:
    text = markdown(hostile())
    assert "<script>" not in text
    assert "@user" not in text
    assert "[a](" not in text
    assert "http://" not in text
    row = next(line for line in text.splitlines() if line.startswith("| worse"))
    assert len(re.findall(r"(?<!\\)\|", row)) == 9


def test_markdown_fits_a_comment_on_github() -> None:
    base = {f"{index} " + "x" * 60: goodput(100.0) for index in range(3000)}
    gone = {f"gone {index}": goodput(100.0) for index in range(3000)}
    extra = {f"extra {index} " + "x" * 60: goodput(100.0) for index in range(3000)}
    new = {name: goodput(100.0 - 2 - index % 90) for index, name in enumerate(base)}
    for fresh, old in ((new, base), (base, {**base, **gone}), ({**base, **extra}, base), (base, new)):
        text = markdown(judged({**fresh}, {**old}))
        assert len(text) <= LIMIT
        assert len(text) > LIMIT - 4000 or len(old) > len(fresh)
        assert text.count("<details>") == text.count("</details>")
        assert " more " in text
        assert text.rstrip().endswith("</sub>")
    changes = re.findall(r"−([\d.]+) %", markdown(judged(new, base)))
    assert changes == sorted(changes, key=float, reverse=True)


# ---- the command


@pytest.fixture
def lossy(tmp_path: Path, cli: Cli) -> Path:
    path = tmp_path / "lossy.toml"
    lossless = 'limit = "20 packets" }'
    assert lossless in FIRST
    loss = f'{lossless}, loss = {{ kind = "bernoulli", rate = "1 %" }}'
    path.write_text(FIRST.replace(lossless, loss) + '\n[sweep]\n"topology.bottleneck.rate" = ["1 Mbit/s", "2 Mbit/s"]\n'
                    "seed = { from = 1, to = 6 }\n")  # fmt: skip
    assert cli("run", str(path), "--out", str(tmp_path / "base")).returncode == 0
    return path


def test_the_command_compares_stored_sweeps(lossy: Path, tmp_path: Path, cli: Cli) -> None:
    base, slow, part = (str(tmp_path / name) for name in ("base", "slow", "part"))
    same = cli("gate", base, "--against", base)
    assert same.returncode == 0, same.stderr
    assert "All 12 pairs of runs are identical." in same.stdout
    assert cli("run", str(lossy), "--set", "flow.rwnd='2 packets'", "--out", slow).returncode == 0
    report, comment = tmp_path / "gate.xml", tmp_path / "gate.md"
    for _ in range(2):  # the second time replaces the files
        found = cli("gate", slow, "--against", base, "--junit", str(report), "--markdown", str(comment))
        assert found.returncode == 1, found.stderr
    assert re.search(r"worse +rate 2 Mbit/s +goodput_bps", found.stdout)
    assert "the scenarios of 12 of 12 pairs of runs differ" in found.stderr
    xmlschema.XMLSchema(SCHEMA).validate(report.read_text())
    assert comment.read_text().startswith("<!-- ackclock gate -->\n### ❌")
    document = json.loads(cli("gate", slow, "--against", base, "--measures", "goodput_bps", "--json").stdout)
    assert [change["measure"] for change in document["changes"]] == ["goodput_bps"] * 2
    assert all(change["p_value"] < 0.05 and change["fails"] for change in document["changes"])
    # Fewer points, and a seed of each point less.
    lossy.write_text(lossy.read_text().replace(', "2 Mbit/s"', "").replace("to = 6", "to = 5"))
    assert cli("run", str(lossy), "--out", part).returncode == 0
    missing = cli("gate", part, "--against", base)
    assert missing.returncode == 1
    assert "rate 2 Mbit/s: every run missing" in missing.stderr
    assert "1 of 6 runs missing" in missing.stderr
    extra = cli("gate", base, "--against", part)
    assert extra.returncode == 0
    assert "1 point not in the baseline: rate 2 Mbit/s" in extra.stderr


def test_a_result_whose_runs_all_failed_is_bad_input(lossy: Path, tmp_path: Path, cli: Cli) -> None:
    lossy.write_text(lossy.read_text().replace("to = 6", "to = 2"))
    assert cli("sweep", str(lossy), "--max-events", "10", "--out", "failed").returncode == 2
    for arguments in (("base", "--against", "failed"), ("failed", "--against", "base")):
        found = cli("gate", *arguments)
        assert found.returncode == 2, found.stdout
        assert "failed: every run failed, so there is nothing to compare: " in found.stderr
        assert "Traceback" not in found.stderr
        assert found.stdout == ""


def test_a_dataset_and_stored_runs_of_the_same_points_agree(lossy: Path, tmp_path: Path, cli: Cli) -> None:
    lossy.write_text(lossy.read_text().replace("seed = { from = 1, to = 6 }\n", ""))
    data = str(tmp_path / "data")
    done = cli("sweep", str(lossy), "--seeds", "6", "--out", data)
    assert done.returncode == 0, done.stderr
    found = cli("gate", data, "--against", str(tmp_path / "base"), "--tolerance", "0.0000001%", "--strict")
    assert found.returncode == 0, found.stdout + found.stderr
    stored, swept = (sides.open_side(tmp_path / name) for name in ("base", "data"))
    assert stored.points.keys() == swept.points.keys()
    for point, runs in stored.points.items():
        assert runs.keys() == swept.points[point].keys()
        for key, run in runs.items():
            other = swept.points[point][key]
            assert run.scenario == other.scenario
            assert run.values == pytest.approx(dict(other.values), rel=1e-12)
    assert {*stored.measures} == {*swept.measures}


def test_the_measures_of_a_stored_run_are_those_of_its_tables(first: Path, tmp_path: Path, cli: Cli) -> None:
    out = tmp_path / "out"
    found = json.loads(cli("run", str(first), "--json", "--out", str(out)).stdout)
    (runs,) = sides.open_side(out).points.values()
    ((key, run),) = runs.items()
    assert key == (str(found["seed"]),)
    flow, link = found["flows"][0], next(link for link in found["links"] if link["name"] == "n1>n2")
    assert run.values["goodput_bps"] == flow["goodput_bps"]
    assert run.values["timeouts"] == flow["timeouts"]
    assert run.values["queue_mean"] == link["queue_mean"] > 0
    assert run.values["drops"] == link["drops"] > 0
    assert run.values["jain"] == 1
    assert "completion_mean" not in run.values


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--against", "nowhere"], "nowhere: no result of ackclock here"),
        (["--against", "paper"], "paper: holds a result of the kind 'paper'; the gate compares"),
        (["--against", "out", "--measures", "godput_bps"], "did you mean 'goodput_bps'?"),
        (["--against", "out", "--tolerance", "goodput_bps"], "expected a share"),
        (["--against", "out", "--correction", "bonferroni"], "unknown correction 'bonferroni'"),
        (["--against", "out", "--significance", "1.5"], "significance: must be a share above 0 % and below 100 %"),
        (["--against", "out", "--junit", "mine.xml"], "mine.xml: exists and was not written by ackclock"),
        (["--against", "out", "--json", "--markdown", "-"], "exclude each other"),
        (["--against", "out", "--junit", "x", "--markdown", "x"], "names the same file"),
        ([], "missing option '--against'"),
    ],
)
def test_bad_input_is_one_message(
    arguments: list[str], message: str, first: Path, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli("run", str(first), "--out", "out").returncode == 0
    (tmp_path / "paper").mkdir()
    (tmp_path / "paper" / "manifest.json").write_text('{"program": "ackclock", "kind": "paper"}')
    (tmp_path / "mine.xml").write_text("<mine/>")
    found = cli("gate", "out", *arguments)
    assert found.returncode == 2
    assert message in found.stderr
    assert "Traceback" not in found.stderr
    assert (tmp_path / "mine.xml").read_text() == "<mine/>"


# ---- the example workflow


def test_the_example_workflow_is_valid() -> None:
    text = (GUIDE / "gate.yml").read_text()
    document = yaml.safe_load(text)
    # YAML 1.1 reads the key `on` as true.
    assert set(document[True]) == {"pull_request", "push"}
    steps = [step for job in document["jobs"].values() for step in job["steps"]]
    assert all(("uses" in step) != ("run" in step) for step in steps)
    assert all(re.fullmatch(r"[\w./-]+@v\d+", step["uses"]) for step in steps if "uses" in step)
    words = [line.split() for step in steps for line in step.get("run", "").splitlines() if line.strip()]
    commands = {line[1] for line in words if line[0] == "ackclock"}
    assert commands == {"sweep", "gate"} <= COMMANDS.keys()
    gate = next(line for line in words if line[:2] == ["ackclock", "gate"])
    assert {"--against", "--junit", "--markdown"} <= set(gate)
