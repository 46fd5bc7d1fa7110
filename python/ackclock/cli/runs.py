"""The commands `run`, `check` and `plot`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock import _core, storage
from ackclock.cli import output
from ackclock.numbers import number
from ackclock.result import Result, rows
from ackclock.running import Interrupted, run_many
from ackclock.scenario import Scenario, load

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ackclock.result import StoredResult

Variant = tuple[dict[str, str], Scenario]

MOST_ROWS = 200  # of a table of one run that are worth printing

FLOW_COLUMNS = {
    "flow": "name", "goodput (bit/s)": "goodput_bps", "sent": "sent_packets", "resent": "retransmitted_packets",
    "timeouts": "timeouts", "cwnd max": "cwnd_max", "slow start exit": "slow_start_exit_reason",
    "at (s)": "slow_start_exit_time", "cwnd": "slow_start_exit_cwnd",
}  # fmt: skip
LINK_COLUMNS = {
    "link": "name", "rate (bit/s)": "rate_bps", "utilisation": "utilisation", "drops": "drops", "losses": "losses",
    "queue mean": "queue_mean", "queue max": "queue_max",
}  # fmt: skip


def run_command(
    file: Path,
    settings: Sequence[str],
    *,
    seed: int | None,
    out: Path | None,
    json_output: bool,
    record: Sequence[str] | None,
    jobs: int | None,
) -> None:
    """Run a scenario or its sweep, print tables or JSON, and write results."""
    changed = dict(_key_and_value(text) for text in settings)
    if seed is not None:
        changed["seed"] = str(seed)
    scenario = load(file, changed)
    variants = scenario.variants()
    swept = bool(variants[0][0])
    if out is not None:
        storage.check_free(out, "sweep" if swept else "run")
    try:
        with output.progress("runs", len(variants)) as progress:
            results: list[Result | None] = list(
                run_many([variant for _, variant in variants], record=record, jobs=jobs, progress=progress)
            )
    except Interrupted as interrupted:
        results = interrupted.results
        if not swept or not any(results):
            raise
        _finish(variants, results, out, json_output=json_output)
        raise
    _finish(variants, results, out, json_output=json_output)


def _finish(
    variants: Sequence[Variant], results: Sequence[Result | None], out: Path | None, *, json_output: bool
) -> None:
    swept = bool(variants[0][0])
    _show(variants, results, swept, json_output=json_output)
    if out is not None:
        _write(out, variants, results, swept)
        output.note(f"written to {out}")


def check_command(file: Path) -> None:
    """Check a scenario and say what it would run."""
    scenario = load(file)
    variants = scenario.variants()
    runs = f", {len(variants)} variants" if len(variants) > 1 else ""
    output.note(
        f"{file}: {_count(len(scenario.flows), 'flow')}, {_count(len(scenario.links), 'link')}, "
        f"{scenario.duration:g} s{runs}: good"
    )


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def plot_command(directory: Path, *, image_format: str, kinds: Sequence[str] | None, out: Path | None) -> None:
    """Plot a stored result or sweep."""
    from ackclock import plot
    from ackclock.result import read

    if image_format not in plot.FORMATS:
        raise ValueError(f"unknown format {image_format!r}; known: {', '.join(plot.FORMATS)}")
    if unknown := sorted(set(kinds or ()) - plot.KINDS.keys()):
        raise ValueError(f"unknown kind {unknown[0]!r}; known: {', '.join(plot.KINDS)}")
    results = read(directory)
    possible = [kind for kind, (trace, _) in plot.KINDS.items() if all(trace in result.traces for result in results)]
    if missing := [kind for kind in kinds or () if kind not in possible]:
        trace = plot.KINDS[missing[0]][0]
        raise ValueError(f"{directory}: no trace {trace!r}, which {missing[0]} needs; run again with --record {trace}")
    if not possible:
        raise ValueError(f"{directory}: no traces to plot; run again with --record cwnd --record delivered")
    target = out or directory
    target.mkdir(parents=True, exist_ok=True)
    for kind in kinds or possible:
        path = target / f"{kind}.{image_format}"
        plot.save(_draw(kind, results), path)
        print(path)


def _draw(kind: str, results: Sequence[StoredResult]) -> Figure:
    from ackclock import plot

    labelled = {
        f"{index + 1} {result.name}" if len(results) > 1 else result.name: result
        for index, result in enumerate(results)
    }
    if len({result.name for result in results}) == len(results):
        labelled = {result.name: result for result in results}
    return plot.KINDS[kind][1](labelled)


def _key_and_value(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise ValueError(f"--set {text}: expected KEY=VALUE, as in flow.rwnd='20 packets'")
    return key.strip(), value.strip()


def _show(variants: Sequence[Variant], results: Sequence[Result | None], swept: bool, *, json_output: bool) -> None:
    finished = [(labels, result) for (labels, _), result in zip(variants, results, strict=True) if result is not None]
    if json_output:
        runs: list[dict[str, Any]] = [{"labels": labels, **result.summary} for labels, result in finished]
        if swept:
            output.data({"runs": runs})
        else:
            runs[0].pop("labels")
            output.data(runs[0])
    elif swept:
        _show_sweep(finished)
    else:
        _show_run(finished[0][1])


def _show_run(result: Result) -> None:
    flows = [[row[column] for column in FLOW_COLUMNS.values()] for row in rows(result.flows, MOST_ROWS)]
    output.table(list(FLOW_COLUMNS), flows)
    links = [
        [row[column] for column in LINK_COLUMNS.values()] for row in rows(result.links, MOST_ROWS) if row["arrivals"]
    ]
    output.table(list(LINK_COLUMNS), links)
    if max(len(result.flows), len(result.links)) > MOST_ROWS:
        output.note(
            f"only the first {MOST_ROWS} of {len(result.flows):,} flows and {len(result.links):,} links are shown"
        )
    output.note(
        f"{result.name}: seed {result.scenario.seed}, {result.events:,} events in {number(result.cpu_seconds, 2)} s"
    )


def _show_sweep(finished: Sequence[tuple[dict[str, str], Result]]) -> None:
    labels = list(finished[0][0])
    lines = [
        [*values.values(), *(row[column] for column in FLOW_COLUMNS.values())]
        for values, result in finished
        for row in rows(result.flows)
    ]
    short = [label.rsplit(".", 1)[-1] if label.count(".") else label for label in labels]
    unique = short if len(set(short)) == len(short) else labels
    output.table([*unique, *FLOW_COLUMNS], lines, left=len(labels) + 1)


def _write(out: Path, variants: Sequence[Variant], results: Sequence[Result | None], swept: bool) -> None:
    done = [(labels, result) for (labels, _), result in zip(variants, results, strict=True) if result is not None]
    if not swept:
        done[0][1].write(out)
        return
    with storage.replacing(out, kind="sweep") as folder:
        digits = len(str(len(done)))
        names = []
        for index, (labels, result) in enumerate(done):
            words = "-".join(re.sub(r"[^A-Za-z0-9.]+", "_", value).strip("_") for value in labels.values())
            names.append(f"{index + 1:0{digits}}-{words}"[:120])
            result.write(folder / names[-1], labels)
        storage.write_manifest(folder, "sweep", {"scenario": done[0][1].name, "core": _core.__version__, "runs": names})
