"""`Result.summary` agrees with the tables, and a sweep stores only what was requested."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import jsonschema
import polars
import pytest

import ackclock
from ackclock import _core

from .conftest import ROOT, SWEEP, Cli

SCHEMA = jsonschema.Draft202012Validator(json.loads(_core.summary_schema()))
SCENARIOS = sorted((ROOT / "scenarios").glob("*.toml")) + sorted(
    (ROOT / "python" / "ackclock" / "paths").glob("*.toml")
)
EXITS = ("reason", "time", "cwnd", "ratio")


def plain(table: Any) -> list[dict[str, Any]]:
    """Return rows with None for values that JSON cannot hold."""
    finite = [polars.when(polars.col(polars.Float64).is_finite()).then(polars.col(polars.Float64))]
    return polars.DataFrame(table).with_columns(finite).to_dicts()


def statistics(times: list[float | None]) -> dict[str, Any]:
    done = sorted(time for time in times if time is not None)

    def quantile(share: float) -> float:
        rank = share * (len(done) - 1)
        below, above = done[math.floor(rank)], done[math.ceil(rank)]
        return below + (rank - math.floor(rank)) * (above - below)

    names = {"median": 0.5, "p95": 0.95, "p99": 0.99}
    known = (
        {"mean": math.fsum(done) / len(done), **{name: quantile(share) for name, share in names.items()}}
        if done
        else {}
    )
    return {"unfinished": len(times) - len(done), **{name: known.get(name) for name in ("mean", *names)}}


def by_size(rows: list[dict[str, Any]], size: str, label: str, starts: list[int]) -> list[dict[str, Any]]:
    classes = [("all", 0, math.inf)]
    for low, end in zip(starts, [*starts[1:], None], strict=True):
        classes.append((f"{low:,} to {end - 1:,}" if end else f"{low:,} and more", low, end or math.inf))
    sized = [row for row in rows if row[size] is not None]
    found = [(name, [row["completion_time"] for row in sized if low <= row[size] < end]) for name, low, end in classes]
    return [{label: name, "flows": len(times), **statistics(times)} for name, times in found if times or name == "all"]


def expected(result: ackclock.Result) -> dict[str, Any]:
    flows, transfers, pages = plain(result.flows), plain(result.transfers), plain(result.pages)
    shown = []
    for row in flows:
        exits = {key: row.pop(f"slow_start_exit_{key}") for key in EXITS}
        shown.append({**row, "slow_start_exit": exits if exits["reason"] is not None else None})
    loads = {page["application"]: [row for row in pages if row["application"] == page["application"]] for page in pages}
    return {
        "scenario": result.name,
        "seed": result.scenario.seed,
        "hash": result.scenario.hash,
        "flows": shown,
        "links": plain(result.links),
        "completion": by_size(flows, "size_packets", "packets", [1, 10, 100, 1000, 10_000]),
        "transfers": by_size(transfers, "bytes", "bytes", [1, 10_000, 100_000, 1_000_000, 10_000_000]),
        "pages": [
            {"application": name, "pages": len(rows), **statistics([row["load_time"] for row in rows])}
            for name, rows in loads.items()
        ],
        "media": plain(result.media),
        "warnings": result.warnings,
        "events": result.events,
        "cpu_seconds": result.cpu_seconds,
    }


def keys(value: Any) -> Any:
    """Return the order of the keys, which equality of dictionaries ignores."""
    if isinstance(value, dict):
        return [(key, keys(item)) for key, item in value.items()]
    return [keys(item) for item in value] if isinstance(value, list) else None


def close(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(close(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(close, one, other))
    if isinstance(one, float):
        return isinstance(other, float) and math.isclose(one, other, rel_tol=1e-12)
    return type(one) is type(other) and one == other


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_a_summary_agrees_with_the_tables(path: Path) -> None:
    scenario = ackclock.load(path).variants()[0][1]
    result = ackclock.run(scenario.set({"duration": f"{min(scenario.duration, 4):g} s"}), record=[])
    made, wanted = result.summary, expected(result)
    assert keys(made) == keys(wanted)
    assert close(made, wanted)
    SCHEMA.validate(made)


def test_bursts_and_requests_are_summed_up() -> None:
    page = ackclock.load(ROOT / "scenarios" / "page.toml").variants()[0][1]
    result = ackclock.run(page, record=[])
    assert close(result.summary, expected(result))
    assert result.summary["pages"][0]["mean"] > 0, "a page was loaded"
    assert polars.DataFrame(result.page_loads()).to_dicts() == result.summary["pages"]


def test_the_commands_json_is_the_summary(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "sweep.toml").write_text(SWEEP)
    printed = cli("run", "sweep.toml", "--json").stdout
    whole = json.loads(printed)
    assert list(whole) == ["state", "planned", "runs"]
    # Python formats some exponents differently.
    number = re.compile(r"-?\d[-+.e\d]*")
    assert number.sub("0", printed) == number.sub("0", json.dumps(whole, indent=2, ensure_ascii=False)) + "\n"
    for (labels, variant), run in zip(ackclock.load(tmp_path / "sweep.toml").variants(), whole["runs"], strict=True):
        summary = ackclock.run(variant).summary
        run.pop("cpu_seconds"), summary.pop("cpu_seconds")
        assert run == {"labels": labels, **summary}
        assert keys(run) == keys({"labels": labels, **summary})


def test_the_schema_of_a_summary_has_every_key_and_no_other(cli: Cli) -> None:
    schema = json.loads(cli("schema", "summary").stdout)
    assert schema == SCHEMA.schema
    jsonschema.Draft202012Validator.check_schema(schema)
    scenario = ackclock.Scenario(duration="0.1 s", flow=[{}])
    summary = ackclock.run(scenario).summary
    assert summary["warnings"], "a short run has a warning"
    SCHEMA.validate(summary)
    del summary["cpu_seconds"]
    SCHEMA.validate(summary)
    for place in (summary, summary["flows"][0], summary["links"][0], summary["warnings"][0]):
        before = dict(place)
        place["surplus"] = 1
        assert not SCHEMA.is_valid(summary)
        place.clear()
        assert not SCHEMA.is_valid(summary)
        place.update(before)
    summary["warnings"] = [summary["warnings"][0]["text"]]
    assert not SCHEMA.is_valid(summary)


def test_a_sweep_without_traces_writes_no_file_per_run(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "sweep.toml").write_text(SWEEP)
    done = cli("run", "sweep.toml", "--out", "o")
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (tmp_path / "o").iterdir()) == [
        "flows", "links", "lock", "manifest.json", "runs", "sweep.toml",
    ]  # fmt: skip
    stored = ackclock.datasets.runs(tmp_path / "o")
    variants = ackclock.load(tmp_path / "sweep.toml").variants()
    assert [result.manifest["labels"] for result in stored] == [labels for labels, _ in variants]
    for (_, variant), result in zip(variants, stored, strict=True):
        fresh = ackclock.run(variant)
        assert result.flows.equals(polars.DataFrame(fresh.flows))
        assert result.links.equals(polars.DataFrame(fresh.links))
        assert result.manifest["hash"] == fresh.scenario.hash
        assert result.to_toml() == variant.to_toml()
        assert result.traces == []
        with pytest.raises(KeyError, match="was not recorded"):
            result.trace("cwnd")
        with pytest.raises(KeyError, match="no application had pages"):
            _ = result.pages


def test_a_run_with_traces_has_its_folder(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "sweep.toml").write_text(SWEEP)
    assert cli("run", "sweep.toml", "--out", "o", "--record", "cwnd").returncode == 0
    stored = ackclock.datasets.runs(tmp_path / "o")
    for (_, variant), result in zip(ackclock.load(tmp_path / "sweep.toml").variants(), stored, strict=True):
        assert (result.directory / "trace-cwnd.parquet").is_file()
        assert result.to_toml() == variant.to_toml()


def test_every_run_of_a_sweep_is_joined_in_order(cli: Cli, tmp_path: Path) -> None:
    axes = 'seed = { from = 1, to = 450 }\n"topology.bottleneck.delay" = ["1 ms", "2 ms"]\n'
    (tmp_path / "many.toml").write_text(f'duration = "100 ms"\n[flow]\n[sweep]\n{axes}')
    done = cli("run", "many.toml", "--out", "o", "--jobs", "3")
    assert done.returncode == 0, done.stderr
    assert "only the first 200 of 900 rows are shown" in done.stderr
    shown = [line.split() for line in done.stdout.split("\n\n")[0].splitlines() if line.strip()[:1].isdigit()]
    assert [line[0] for line in shown[:6]] == ["1", "1", "2", "2", "3", "3"]
    assert len(shown) == 400, "200 of each table"
    flows = ackclock.open(tmp_path / "o").flows.sort("point", "seed").collect()
    assert flows["seed"].to_list() == [*range(1, 451)] * 2
    assert flows.columns[:2] == ["point", "topology.bottleneck.delay"]
