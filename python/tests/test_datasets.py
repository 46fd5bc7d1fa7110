"""Datasets: batches that are complete or absent, continued and changed sweeps, readers while a writer works."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import duckdb
import pandas
import polars
import pytest

import ackclock
from ackclock.datasets import Dataset, LockedError, Writer, layout
from ackclock.files import storage

from . import synthetic
from .synthetic import LABEL, check_batches, check_readers, files, kill, plan, rows, runs, start, sweep, tables


def test_a_dataset_has_the_rows_that_were_added(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    sweep(folder, range(12))
    dataset = ackclock.open(folder)
    assert dataset.complete
    assert dataset.labels == [LABEL]
    assert dataset.scenario is not None
    assert len(dataset.scenario.sweep_points()) == 2
    stored = dataset.runs.collect()
    columns = ["point", LABEL, "world", "seed", "hash", "run", "version", "error", "goodput_bps", "queue_max"]
    assert stored.columns == [*columns, f"{LABEL} (ms)"]
    assert stored["point"].to_list() == list(range(12))
    assert stored["point"].dtype == stored["seed"].dtype == polars.UInt64
    assert set(stored["version"]) == {ackclock.__version__}
    assert stored.filter(polars.col("error").is_not_null())["point"].to_list() == [7]
    flows = dataset.flows.collect()
    assert flows.columns == ["point", LABEL, f"{LABEL} (ms)", "seed", "run", "name", "sent_packets"]
    # The equal points 8 and 9 share the rows of one run; the failed run has none.
    assert flows.height == 11 * synthetic.FLOWS
    assert (
        flows.filter(polars.col("point") == 9)
        .drop("point")
        .equals(flows.filter(polars.col("point") == 8).drop("point"))
    )
    assert dataset.transfers.collect().height == 0
    assert "completion_time" in dataset.transfers.collect_schema()
    check_batches(folder)


def test_nothing_is_added_twice(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    sweep(first, range(10))
    with synthetic.writer(second) as writer:
        for points in (range(6), range(3, 10), range(10)):
            table = runs(points)
            writer.add(table, tables(table))
            writer.add(table, tables(table))
            writer.flush()
        writer.finish()
    assert rows(first) == rows(second)
    check_batches(second)


def test_a_changed_plan_relabels_moves_and_uses_again(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    sweep(folder, range(20))
    flows = rows(folder)["flows"]
    # Ten points stay under other numbers and another label, ten go, ten are new.
    changes, ran = sweep(folder, range(10, 30), label="delay", shift=5)
    assert (changes.kept, changes.relabelled, changes.moved, ran) == (0, 10, 10, 10)
    dataset = ackclock.open(folder)
    assert dataset.labels == ["delay"]
    assert dataset.runs.collect()["point"].to_list() == list(range(15, 35))
    earlier = polars.concat([polars.read_parquet(path) for path in (folder / "earlier" / "1").iterdir()])
    assert sorted(earlier["point"]) == list(range(10))
    # Their rows of flows are no longer beside those of present runs.
    assert layout.batches(folder / "flows").keys() == layout.batches(folder / "runs").keys()
    assert layout.batches(folder / "earlier" / "flows").keys() == {1, 2}
    check_batches(folder)
    # Back to the first plan: only the failed run among the ten that went runs again.
    changes, ran = sweep(folder, range(20))
    assert (changes.kept, changes.relabelled, changes.moved, ran) == (0, 19, 10, 1)
    assert rows(folder)["flows"] == flows
    check_batches(folder)


def test_rows_without_runs_are_removed(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    sweep(folder, range(10))
    for name in ("flows", "pages"):
        shutil.copy(folder / name / "000001.parquet", folder / name / "000003.parquet")
    # A batch without pages takes the number.
    sweep(folder, [*range(10), 11])
    assert layout.batches(folder / "flows").keys() == {1, 2, 3}
    assert layout.batches(folder / "pages").keys() == {1, 2}
    check_batches(folder)
    check_readers(folder)


def test_an_unchanged_plan_changes_no_file(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    sweep(folder, range(20))
    before = {name: (folder / name).stat().st_mtime_ns for name in files(folder) if name.endswith(".parquet")}
    changes, ran = sweep(folder, range(20))
    assert (changes.kept, changes.relabelled, changes.moved, ran) == (20, 0, 0, 0)
    assert before == {name: (folder / name).stat().st_mtime_ns for name in files(folder) if name.endswith(".parquet")}


def test_another_program_runs_everything_again_and_may_have_other_columns(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    sweep(folder, range(10))
    with synthetic.writer(folder) as writer:
        changes = writer.relabel(plan(range(10), program="q"))
        assert (changes.kept, changes.relabelled, changes.moved) == (0, 0, 10)
        table = runs(range(10), program="q").with_columns(polars.lit(0.5).alias("jain"))
        more = {name: rest.with_columns(polars.lit(1).alias("new")) for name, rest in tables(table).items()}
        writer.add(table, more)
        writer.finish()
    dataset = ackclock.open(folder)
    assert dataset.runs.collect()["jain"].to_list() == [0.5] * 10
    # Readers without Ackclock see rows of one form only.
    assert polars.read_parquet(folder / "flows" / "*.parquet")["new"].sum() == 8 * synthetic.FLOWS
    check_batches(folder)


def test_failed_runs_can_be_repeated(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    sweep(folder, range(10))
    with synthetic.writer(folder) as writer:
        assert writer.relabel(plan(range(10))).kept == 10
        assert writer.relabel(plan(range(10)), retry=True).kept == 9
        assert 7 not in writer.stored()["point"].to_list()
        table = runs([7]).with_columns(polars.lit(None, polars.String).alias("error"))
        writer.add(table, tables(table))
        writer.finish()
    dataset = ackclock.open(folder)
    assert dataset.runs.collect()["error"].null_count() == 10
    assert dataset.flows.filter(polars.col("point") == 7).collect().height == synthetic.FLOWS
    assert sweep(folder, range(10))[1] == 0
    check_batches(folder)


def test_a_second_writer_is_refused_and_readers_are_not(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    process = start(folder, 0, 100_000, pause=0.01)
    try:
        while not layout.batches(folder / "runs"):
            time.sleep(0.01)
        before = files(folder)
        with pytest.raises(LockedError, match=rf"out: process {process.pid} on .* writes to it; wait for its end"):
            synthetic.writer(folder)
        assert before <= files(folder)
        assert Dataset(folder).runs.collect().height > 0
        assert Dataset(folder).manifest["state"] == "running"
        assert not Dataset(folder).complete
    finally:
        kill(process)
    # The lock of a killed process does not stay.
    with synthetic.writer(folder):
        pass
    assert Dataset(folder).manifest["state"] == "interrupted"


def test_other_programs_read_while_a_writer_works(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    process = start(folder, 0, 100_000, pause=0.001)
    pattern = str(folder / "runs" / "*.parquet")
    heights = []
    try:
        while not layout.batches(folder / "runs"):
            time.sleep(0.01)
        while len(set(heights)) < 12:
            heights.append(polars.scan_parquet(pattern).select(polars.len()).collect().item())
            heights.append(duckdb.sql(f"SELECT count(*) FROM '{pattern}'").fetchall()[0][0])
            heights.append(len(pandas.read_parquet(folder / "runs")))
            dataset = Dataset(folder)
            flows, listed = dataset.flows.collect(), dataset.runs.collect()
            heights.append(listed.height)
            # A run that is seen has all its rows.
            assert flows.group_by("point").len()["len"].unique().to_list() == [synthetic.FLOWS]
            assert flows.join(listed, on="run", how="anti").height == 0
        assert process.poll() is None
    finally:
        kill(process)
    assert heights == sorted(heights)
    assert all(height % 5 == 0 for height in heights), "half a batch was seen"


def test_an_error_in_the_block_stores_what_is_finished(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt), synthetic.writer(folder) as writer:
        writer.add(runs(range(3)), tables(runs(range(3))))
        raise KeyboardInterrupt
    dataset = Dataset(folder)
    assert dataset.manifest["state"] == "interrupted"
    assert dataset.runs.collect()["point"].to_list() == [0, 1, 2]


def test_a_batch_that_was_interrupted_after_its_commit_is_not_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "out"
    original = storage.write_parquet

    def interrupted(path: Path, table: polars.DataFrame) -> None:
        original(path, table)
        if path.parent.name == "runs":
            raise KeyboardInterrupt

    with synthetic.writer(folder) as writer:
        writer.add(runs(range(3)), tables(runs(range(3))))
        with monkeypatch.context() as patched:
            patched.setattr(storage, "write_parquet", interrupted)
            with pytest.raises(KeyboardInterrupt):
                writer.flush()
        writer.add(runs(range(3, 6)), tables(runs(range(3, 6))))
        writer.finish()
    assert Dataset(folder).runs.collect()["point"].to_list() == list(range(6))
    check_batches(folder)


def test_a_full_disk_is_reported_and_keeps_the_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "out"
    sweep(folder, range(10))

    def full(path: Path, table: polars.DataFrame) -> None:
        raise OSError(28, "No space left on device", str(path))

    with monkeypatch.context() as patched:
        patched.setattr(storage, "write_parquet", full)
        with pytest.raises(OSError, match="No space left"), synthetic.writer(folder) as writer:
            writer.add(runs([20]), tables(runs([20])))
            writer.flush()
    assert Dataset(folder).runs.collect().height == 10
    sweep(folder, [*range(10), 20])
    assert Dataset(folder).runs.collect().height == 11


@pytest.mark.parametrize(
    "content", [{"notes.txt": "mine"}, {"manifest.json": "{}"}, {"lock": "mine"}, {"manifest.json": '{"program": "x"}'}]
)
def test_a_folder_of_the_user_is_refused(tmp_path: Path, content: dict[str, str]) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    for name, text in content.items():
        (folder / name).write_text(text)
    with pytest.raises(FileExistsError, match="was not written by ackclock; choose another"):
        synthetic.writer(folder)
    assert {path.name: path.read_text() for path in folder.iterdir()} == content


def test_a_file_and_another_result_are_refused(tmp_path: Path, scenario: ackclock.Scenario) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    with pytest.raises(FileExistsError, match="was not written by ackclock"):
        synthetic.writer(file)
    result = tmp_path / "run"
    ackclock.run(scenario).write(result)
    before = files(result)
    with pytest.raises(FileExistsError, match="results of `ackclock run`; choose another"):
        synthetic.writer(result)
    assert files(result) == before
    assert isinstance(ackclock.open(result), ackclock.StoredResult)
    with pytest.raises(FileNotFoundError, match=r"holds results of `ackclock run`, and no dataset"):
        Dataset(result)
    with pytest.raises(FileNotFoundError, match="no result of ackclock here"):
        ackclock.open(tmp_path)


def test_files_of_the_user_in_a_dataset_stay(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    sweep(folder, range(10))
    mine = {"notes.txt", "runs/notes.txt", "flows/mine.parquet", "earlier.txt"}
    for name in mine:
        (folder / name).write_text("mine")
    sweep(folder, range(5, 15), label="delay")
    sweep(folder, range(12))
    assert mine <= files(folder)
    assert all((folder / name).read_text() == "mine" for name in mine)


def test_other_commands_refuse_a_dataset(tmp_path: Path, scenario: ackclock.Scenario) -> None:
    folder = tmp_path / "out"
    sweep(folder, range(3))
    before = files(folder)
    with pytest.raises(FileExistsError, match="results of `ackclock sweep`; choose another"):
        ackclock.run(scenario).write(folder)
    assert files(folder) == before


def test_a_damaged_batch_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    sweep(folder, range(10))
    damaged = folder / "runs" / "000002.parquet"
    damaged.write_bytes(damaged.read_bytes()[:100])
    with pytest.raises(
        OSError, match=r"000002.parquet: damaged: not a readable Parquet file: .*; delete .*000002.parquet and run"
    ):
        synthetic.writer(folder)
    damaged.unlink()
    assert sweep(folder, range(10))[1] == 5
    assert Dataset(folder).runs.collect().height == 10
    check_batches(folder)


def test_a_dataset_of_a_later_format_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    sweep(folder, range(3))
    manifest = json.loads((folder / "manifest.json").read_text())
    text = json.dumps({**manifest, "format": 3, "version": "9.0"})
    (folder / "manifest.json").write_text(text)
    for attempt in (Dataset, synthetic.writer):
        with pytest.raises(
            ValueError, match=r"version 9.0 of ackclock wrote this dataset in format 3; this version, .*, reads"
        ):
            attempt(folder)
    assert (folder / "manifest.json").read_text() == text


def test_a_label_that_is_also_a_column_has_a_prefix(tmp_path: Path) -> None:
    labels = ["seed", "algorithm", "goodput_bps", "queue_max"]
    with Writer(tmp_path / "out", manifest={"scenario": "x"}, labels=labels) as writer:
        assert writer.label_columns == ["label.seed", "algorithm", "label.goodput_bps", "label.queue_max"]
    dataset = ackclock.open(tmp_path / "out")
    assert dataset.labels == writer.label_columns
    assert dataset.scenario is None
    assert dataset.runs.collect().height == 0
    assert "goodput_bps" in dataset.runs.collect_schema()


def test_wrong_tables_are_refused(tmp_path: Path) -> None:
    with synthetic.writer(tmp_path / "out") as writer:
        good = runs(range(3))
        with pytest.raises(ValueError, match="runs: columns are missing: hash, run"):
            writer.add(good.drop("hash", "run"), {})
        with pytest.raises(ValueError, match="there is no table 'flow'"):
            writer.add(good, {"flow": good})
        with pytest.raises(ValueError, match="flows: the column 'run' is missing"):
            writer.add(runs([4]), {"flows": polars.DataFrame({"name": ["a"]})})
        writer.add(runs([5]), tables(runs([5])))
        with pytest.raises(ValueError, match="runs: columns differ from those of the stored rows: queue_max"):
            writer.add(runs([6]).drop("queue_max"), {})
        with pytest.raises(ValueError, match="the plan has a point and seed twice"):
            writer.relabel(polars.concat([plan([1]), plan([1])]))


def test_runs_that_come_one_by_one_are_joined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ackclock.datasets.batch.JOINED", 4)
    monkeypatch.setattr("ackclock.datasets.writer.LEAST_SECONDS", 3600.0)
    monkeypatch.setattr("ackclock.datasets.writer.MOST_SECONDS", 3600.0)
    one, many = tmp_path / "one", tmp_path / "many"
    sweep(one, range(30))
    with synthetic.writer(many) as writer:
        for point in range(30):
            writer.add(runs([point]), tables(runs([point])))
        writer.finish()
    assert rows(many) == rows(one)
    assert set(layout.batches(many / "runs")) == {1}
    check_batches(many)


def test_memory_is_bounded_by_the_size_of_a_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ackclock.datasets.writer.MOST_BYTES", 2_000)
    with synthetic.writer(tmp_path / "out") as writer:
        for first in range(0, 200, 5):
            table = runs(range(first, first + 5))
            writer.add(table, tables(table))
            assert writer._buffer.size < 2_000
        assert len(layout.batches(tmp_path / "out" / "runs")) > 5
    assert Dataset(tmp_path / "out").runs.collect().height == 200


def test_batches_grow_with_the_time_of_the_sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    with synthetic.writer(tmp_path / "out") as writer:
        counts = []
        for point in range(400):
            now[0] = point * 0.5
            writer.add(runs([point]), tables(runs([point])))
            counts.append(len(layout.batches(tmp_path / "out" / "runs")))
        # Each second at first; after 100 s every 2 s or more.
        assert counts[20] == 10
        assert counts[399] - counts[200] < 50
        assert Dataset(tmp_path / "out").runs.collect().height > 390


def test_a_wrong_scenario_without_a_hash_stays(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    hidden = polars.lit(None, polars.String).alias("hash")
    wrong = runs([7]).with_columns(hidden)
    wanted = polars.concat([plan([7]).with_columns(hidden), plan(range(3))])
    with synthetic.writer(folder) as writer:
        writer.add(wrong, {})
        writer.add(runs(range(3)), tables(runs(range(3))))
    before = (folder / "runs" / "000001.parquet").stat().st_mtime_ns
    with synthetic.writer(folder) as writer:
        changes = writer.relabel(wanted)
        assert (changes.kept, changes.relabelled, changes.moved) == (4, 0, 0)
    assert (folder / "runs" / "000001.parquet").stat().st_mtime_ns == before
