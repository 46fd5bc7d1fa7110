"""`ackclock report` on every kind of folder, and the contents of the reports of runs and sweeps."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import polars
import pytest

from ackclock.files import storage
from ackclock.formatting.numbers import number
from ackclock.formatting.units import positions
from ackclock.formatting.warnings import CLAUSES
from ackclock.reports import Table, sweeps
from ackclock.reports.points import Points

from .conftest import FIRST, Cli


def opening(html: str) -> str:
    """Return the text of the answer."""
    return re.sub(r"<[^>]+>", "", html[html.index('id="answer"') : html.index("<figure")])


def test_the_report_of_a_run_says_what_the_flow_got(first: Path, tmp_path: Path, cli: Cli) -> None:
    out = tmp_path / "out"
    assert cli("run", first, "--out", out, "--record", "cwnd", "--record", "queue").returncode == 0
    done = cli("report", out)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(out / "report.html")
    html = (out / "report.html").read_text()
    goodput = polars.read_parquet(out / "flows.parquet")["goodput_bps"][0]
    assert f"The flow a got a goodput of {number(goodput / 1e6, 3)} Mbit/s" in opening(html)
    assert 'id="cwnd"' in html
    assert 'id="queue"' in html
    assert "limit = &#34;20 packets&#34;" in html, "the scenario is in the report"


def test_warnings_of_a_run_are_in_its_answer(tmp_path: Path, cli: Cli) -> None:
    file = tmp_path / "small.toml"
    file.write_text(FIRST.replace('recovery = "sack"', 'size = "2 packets"'))
    assert cli("run", file, "--out", tmp_path / "out").returncode == 0
    warnings = json.loads((tmp_path / "out" / "manifest.json").read_text())["warnings"]
    assert warnings
    assert cli("report", tmp_path / "out").returncode == 0
    answer = opening((tmp_path / "out" / "report.html").read_text())
    assert all(f"Warning: {warning['text'][:20]}" in answer for warning in warnings)


def test_a_new_run_removes_the_report_of_the_earlier_one_but_no_file_of_the_user(
    first: Path, tmp_path: Path, cli: Cli
) -> None:
    out = tmp_path / "out"
    for _ in range(2):
        assert cli("run", first, "--out", out).returncode == 0
        assert not (out / "report.html").exists()
        assert cli("report", out).returncode == 0
    (out / "report.html").write_text("my own")
    refused = cli("report", out)
    assert refused.returncode == 2
    assert "was not written by ackclock" in refused.stderr
    assert cli("run", first, "--out", out).returncode == 0
    assert (out / "report.html").read_text() == "my own"
    assert cli("report", out, "--force").returncode == 0
    assert storage.is_report(out / "report.html")


@pytest.mark.parametrize("command", ["run", "sweep"])
def test_the_report_of_a_sweep_names_the_best_point(sweep: Path, tmp_path: Path, cli: Cli, command: str) -> None:
    out = tmp_path / "out"
    assert cli(command, sweep, "--out", out).returncode == 0
    done = cli("report", out, "--out", tmp_path / "named.html")
    assert done.returncode == 0, done.stderr
    answer = opening((tmp_path / "named.html").read_text())
    table = polars.concat([polars.read_parquet(file) for file in (out / "runs").glob("*.parquet")])
    best = table.sort("goodput_bps", descending=True).row(0, named=True)
    where = f"limit {best['topology.bottleneck.queue.limit']}, algorithm {best['algorithm']}"
    assert f"The highest mean, {number(best['goodput_bps'] / 1e6, 3)} Mbit/s, is at {where}." in answer


def test_means_have_students_intervals_and_failed_runs_are_apart() -> None:
    runs = polars.DataFrame(
        {
            "size": ["1 kB"] * 3 + ["2 kB"] * 2,
            "seed": [1, 2, 3, 1, 2],
            "error": [None, None, None, None, "too many events"],
            "goodput_bps": [1e6, 2e6, 3e6, 5e6, None],
        }
    )
    points = Points(runs, ["size"])
    assert points.lead is not None
    means = points.means(["size"], points.lead).to_dicts()
    # The 97.5 % quantile of Student's t with two degrees of freedom is 4.3027.
    half = pytest.approx(4.3027 / 3**0.5, rel=1e-4)
    assert means[0]["mean"] == 2.0
    assert means[0]["high"] - means[0]["mean"] == half
    assert (means[1]["mean"], means[1]["low"]) == (5.0, None)
    assert points.failed.height == 1
    assert [effect.label for effect in points.effects(points.lead)] == ["size"]


def test_the_label_with_the_largest_effect_comes_first() -> None:
    rows = [
        {"big": big, "small": small, "seed": 1, "goodput_bps": 1e6 * int(big) + 1e4 * int(small)}
        for big in "123"
        for small in "12"
    ]
    points = Points(polars.DataFrame(rows), ["big", "small"])
    assert points.lead is not None
    first, second = points.effects(points.lead)
    assert (first.label, first.lowest[0], first.highest[0], second.label) == ("big", "1", "3", "small")
    axes = points.axes(points.lead)
    assert axes is not None
    assert (axes.x, axes.series, axes.panel) == ("big", "small", "")


def test_many_values_of_a_label_become_an_axis_of_numbers() -> None:
    assert positions(["5 ms", "1 BDP"]) is None
    rows = [{"rate": f"{rate} Mbit/s", "seed": 1, "goodput_bps": 1e6 * rate} for rate in range(1, 101)]
    points = Points(polars.DataFrame(rows), ["rate"])
    assert points.lead is not None
    axes = points.axes(points.lead)
    assert axes is not None
    assert axes.numeric
    series = sweeps._figure(points, axes, points.lead, 1000).panels[0].series[0]
    assert list(series.x) == [float(rate) for rate in range(1, 101)]


def sampled(count: int = 16) -> Points:
    """A sample: every value occurs once; the goodput follows the rate, and the delay is unrelated."""
    rows = [
        {"rate": f"{2**place} kbit/s", "delay": f"{7 * place % count + 1} ms", "seed": 1, "goodput_bps": 800 * 2**place}
        for place in range(count)
    ]  # fmt: skip
    rows[0]["goodput_bps"], rows[3]["goodput_bps"] = rows[3]["goodput_bps"], rows[0]["goodput_bps"]
    return Points(polars.DataFrame(rows), ["rate", "delay"])


def test_a_sample_has_rank_correlations_and_a_numeric_axis() -> None:
    points = sampled()
    measure = points.lead
    assert measure is not None
    assert [group.labels for group in points.groups] == [("rate", "delay")]
    assert points.effects(measure) == []
    (label, rho), (other, _) = points.correlations(points.groups[0], measure)
    # Ranks 1 and 4 are exchanged: ρ = 1 - 6 · (3² + 3²) / (16 · 255).
    assert (label, other) == ("rate", "delay")
    assert rho.mean == pytest.approx(1 - 6 * 18 / (16 * 255))
    answer = sweeps._answer(points, measure)
    assert answer[0].startswith("In this sample, the goodput rises most with rate (Spearman's ρ = 0.97 [0.9")
    assert "averaged" not in " ".join(map(str, answer))
    axes = points.axes(measure)
    assert axes is not None
    panel = sweeps._figure(points, axes, measure, 1000).panels[0]
    assert (panel.x.title, panel.x.log, panel.x.names) == ("rate (kbit/s)", True, [])
    assert panel.x.limits is not None
    assert panel.x.limits[0] < 1
    assert panel.x.limits[1] > 2**15
    assert [(each.style, len(list(each.x))) for each in panel.series] == [("points", 16)]


def test_zipped_labels_are_one_axis_whose_effects_are_not_separated() -> None:
    zipped = [("2 Mbit/s", "40 ms", 1e6), ("8 Mbit/s", "15 ms", 2e6), ("30 Mbit/s", "5 ms", 3e6)]
    rows = [
        {"rate": rate, "delay": delay, "control": control, "seed": 1, "goodput_bps": goodput + 1e5 * (control == "b")}
        for rate, delay, goodput in zipped
        for control in "ab"
    ]
    points = Points(polars.DataFrame(rows), ["rate", "delay", "control"])
    measure = points.lead
    assert measure is not None
    answer = sweeps._answer(points, measure)
    assert answer[0].startswith("Of the 2 axes, rate (with delay) changes the goodput most: from 1.05 Mbit/s")
    assert answer[1] == "The labels rate and delay vary together; their effects cannot be separated."
    axes = points.axes(measure)
    assert axes is not None
    assert (axes.x, axes.series, axes.panel) == ("rate", "control", "")
    # Many zipped values are no sample: the labels rise together.
    rows = [{"rate": f"{n} Mbit/s", "delay": f"{n} ms", "seed": 1, "goodput_bps": 1e6 * n} for n in range(1, 31)]
    points = Points(polars.DataFrame(rows), ["rate", "delay"])
    assert points.correlations(points.groups[0], measure) == []


def test_a_population_has_the_names_of_its_paths_on_the_axis() -> None:
    rows = [
        {"rate": rate, "paths": name, "control": control, "seed": 1, "goodput_bps": 1e6 * place}
        for place, (rate, name) in enumerate([("16 Mbit/s", "DSL"), ("16 Mbit/s", "4G"), ("250 Mbit/s", "cable")], 1)
        for control in "ab"
    ]
    points = Points(polars.DataFrame(rows), ["rate", "paths", "control"])
    measure = points.lead
    assert measure is not None
    axes = points.axes(measure)
    assert axes is not None
    assert (axes.x, axes.series, axes.panel, axes.numeric) == ("paths", "control", "", False)
    panel = sweeps._figure(points, axes, measure, 1000).panels[0]
    assert list(panel.x.names) == ["DSL", "4G", "cable"]
    assert {each.style for each in panel.series} == {"points"}
    assert "is at paths cable, control a." in " ".join(map(str, sweeps._answer(points, measure)))


def test_panels_of_a_measure_share_their_range() -> None:
    rows = [
        {"a": a, "b": b, "c": c, "seed": 1, "goodput_bps": 1e6 * int(a) * int(b) * int(c)}
        for a in "1234" for b in "123" for c in "12"
    ]  # fmt: skip
    points = Points(polars.DataFrame(rows), ["a", "b", "c"])
    assert points.lead is not None
    axes = points.axes(points.lead)
    assert axes is not None
    panels = sweeps._figure(points, axes, points.lead, 1000).panels
    assert len(panels) == 2
    assert [panel.y.limits for panel in panels] == [pytest.approx((0, 1.05 * 24))] * 2


def failing() -> Points:
    runs = {
        "rate": ["1 Mbit/s"] * 2 + ["9 Mbit/s"] * 2,
        "seed": [1, 2, 1, 2],
        "error": [None, None, "stopped at 1.25 s of 3 s", "stopped at 1.5 s of 3 s"],
        "goodput_bps": [1e6, 1e6, None, None],
        "warnings": ["", "rwnd_limited, not_started", None, None],
    }
    return Points(polars.DataFrame(runs), ["rate"])


def test_points_whose_runs_all_failed_stay_in_the_report() -> None:
    points = failing()
    assert points.labels == ["rate"]
    assert points.lead is not None
    table = sweeps._table(points, points.lead)
    assert [column.name for column in table.columns[:3]] == ["rate", "runs", "failed"]
    assert [list(row[:4]) for row in table.rows] == [["1 Mbit/s", 2, 0, 1.0], ["9 Mbit/s", 0, 2, None]]
    answer = sweeps._answer(points, points.lead)
    assert "2 of 4 runs ended with an error, first at rate 9 Mbit/s, seed 1." in answer
    assert "No run finished at rate 9 Mbit/s." in answer


def test_errors_that_differ_in_numbers_are_one_kind() -> None:
    errors = sweeps._failures(failing())[0].items[0]
    assert isinstance(errors, Table)
    assert [(row[0].text, *row[1:]) for row in errors.rows] == [
        ("stopped at 1.25 s of 3 s", 2, "rate 9 Mbit/s, seed 1")
    ]


def test_warnings_of_runs_are_in_the_answer_of_a_sweep() -> None:
    points = failing()
    assert points.lead is not None
    answer = sweeps._answer(points, points.lead)
    assert "The receive window limited flows in 1 of 2 runs (rwnd_limited), first at rate 1 Mbit/s." in answer


def test_every_warning_of_the_engine_has_a_clause() -> None:
    source = (Path(__file__).parents[2] / "docs/concepts/metrics.md").read_text(encoding="utf-8")
    table = source[: source.index("In a run that is not quiet")].rpartition("\n\n|")[2]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == list(CLAUSES)


def test_a_dataset_reports_errors_and_its_state(sweep: Path, tmp_path: Path, cli: Cli) -> None:
    out = tmp_path / "out"
    assert cli("sweep", sweep, "--out", out, "--max-events", "2000").returncode in (0, 1)
    done = cli("report", out)
    assert done.returncode == 0, done.stderr
    html = (out / "report.html").read_text()
    assert "ended with an error" in html
    assert 'id="errors"' in html


def test_the_report_of_a_matrix_is_built_again_without_runs(tmp_path: Path, cli: Cli) -> None:
    out = tmp_path / "out"
    arguments = ["--avoidance", "reno,cubic", "--slow-start", "standard", "--loss-response", "halve",
                 "--recovery", "sack", "--paths", "clean", "--seeds", "2", "--duration", "2 s"]  # fmt: skip
    assert cli("matrix", *arguments, "--out", out, "--sort", "goodput_bps").returncode == 0
    before = (out / "report.html").read_bytes()
    (out / "report.html").unlink()
    done = cli("report", out)
    assert done.returncode == 0, done.stderr
    assert (out / "report.html").read_bytes() == before
    (out / "report.json").unlink()
    refused = cli("report", out)
    assert refused.returncode == 2
    assert "no complete comparison here" in refused.stderr
    assert (out / "report.html").read_bytes() == before


def test_folders_without_a_report_are_refused(first: Path, tmp_path: Path, cli: Cli) -> None:
    for folder, message in (
        (tmp_path / "nothing", "no such directory"),
        (tmp_path, "no result of ackclock here"),
    ):
        done = cli("report", folder)
        assert done.returncode == 2
        assert message in done.stderr
    other = tmp_path / "other"
    other.mkdir()
    storage.write_manifest(other, "strange", {})
    done = cli("report", other)
    assert done.returncode == 2
    assert "kind 'strange'" in done.stderr
    storage.write_manifest(other, "tuning", {})
    done = cli("report", other)
    assert done.returncode == 2
    assert f"ackclock tune FILE --out {other}" in done.stderr
    assert cli("run", first, "--out", tmp_path / "out").returncode == 0
    (tmp_path / "notes.html").write_text("mine")
    done = cli("report", tmp_path / "out", "--out", tmp_path / "notes.html")
    assert done.returncode == 2
    assert (tmp_path / "notes.html").read_text() == "mine"
    shutil.rmtree(tmp_path / "out" / "flows.parquet", ignore_errors=True)
    (tmp_path / "out" / "flows.parquet").unlink()
    done = cli("report", tmp_path / "out")
    assert done.returncode == 2
    assert "flows.parquet" in done.stderr
    assert "Traceback" not in done.stderr
