"""The command `run`: runs a scenario or a sweep, prints its results, and writes them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import ackclock
from ackclock.cli import output
from ackclock.cli.captures import Captures, Logs
from ackclock.cli.options import key_and_value
from ackclock.experiments.world import World
from ackclock.formatting.notices import Warnings
from ackclock.formatting.numbers import counted
from ackclock.metrics.completion import STATISTICS
from ackclock.results import Result, overview, rows
from ackclock.scenario import Scenario, load

if TYPE_CHECKING:
    from ackclock.cli.sweeps import Sweep
    from ackclock.sweeps.work import Limits

# Summaries of completion times are shown from this number of flows on; fewer flows say more one by one.
MANY_FLOWS = 10


def run_command(
    file: Path,
    settings: Sequence[str],
    *,
    world: World,
    control: str | None,
    seed: int | None,
    out: Path | None,
    json_output: bool,
    record: Sequence[str] | None,
    captures: Captures | None,
    logs: Logs | None = None,
    limits: Limits | None = None,
) -> Sweep | None:
    """Run a scenario in a world, print tables or JSON, and write results; return a sweep, which is still to run.

    A scenario that cannot run there is refused before the first run.
    """
    for name in record or ():
        if "," in name or not name.strip():
            raise ValueError(f"--record {name!r}: expected the name of one trace; for several, repeat --record")
    changed = settings_of(settings, seed)
    scenario = load(file, changed)
    if control is not None:
        from ackclock.comparisons import contenders, replacing  # what other runs do without

        scenario = replacing.replaced(scenario, contenders.resolve(control))
    variants = scenario.variants()
    if reasons := [reason for _, variant in variants if (reason := world.refusal(variant))]:
        # Some reasons begin with their place in the file.
        raise ValueError(reasons[0] if reasons[0].startswith(f"{file}:") else f"{file}: {reasons[0]}")
    given = scenario if changed or control is not None else file
    made = None
    if variants[0][0]:
        from ackclock.cli.sweeps import Sweep  # what a single run does without

        made = Sweep(scenario, given, variants, world, record, captures, logs, limits, out, json_output)
    names = made.names if made else [None]
    runs = {name: variant for name, (_, variant) in zip(names, variants, strict=True)}
    wanted = [each for each in (captures, logs) if each is not None]
    for each in wanted:
        each.check([file, *scenario.core.files], runs, out=out, json_output=json_output)
    if all(each.to_stdout for each in wanted) and len(wanted) > 1:
        raise ValueError("--pcap and --qlog both name standard output; name a file for one")
    if made is None:
        if limits:
            raise ValueError(f"{file}: has no [sweep], whose runs --max-events and --max-memory limit")
        _run(variants[0][1], world, out, json_output=json_output, record=record, captures=captures, logs=logs)
    return made


def _run(
    scenario: Scenario,
    world: World,
    out: Path | None,
    *,
    json_output: bool,
    record: Sequence[str] | None,
    captures: Captures | None,
    logs: Logs | None,
) -> None:
    """Run a single scenario."""
    places = captures.places_of(scenario) if captures else ()
    if logs is not None:
        record = logs.record(record, scenario)
    result = ackclock.run(scenario, record=record, capture=places, on=world, out=out)
    if captures is not None:
        captures.write(result)
    if logs is not None:
        logs.write(result)
    if json_output:
        print(result.summary_json)
    else:
        with output.aside(any(each is not None and each.to_stdout for each in (captures, logs))):
            _show(result)
    if out is not None:
        output.note(f"written to {out}")


def settings_of(texts: Sequence[str], seed: int | None) -> dict[str, str]:
    """Read the options `--set KEY=VALUE` and `--seed`."""
    changed: dict[str, str] = {}
    for text in [*texts, *([] if seed is None else [f"seed={seed}"])]:
        key, value = key_and_value(text, "--set", "flow.rwnd='20 packets'")
        if key in changed:
            raise ValueError(f"{key} is set twice: to {changed[key]} and to {value}")
        changed[key] = value
    return changed


def _show(result: Result) -> None:
    flows = [[row[column] for column in overview.FLOW_COLUMNS.values()] for row in rows(result.flows, output.MOST_ROWS)]
    output.table(list(overview.FLOW_COLUMNS), flows, less=overview.LESS)
    used = [row for row in rows(result.links) if row["arrivals"]]
    links = overview.limited(used)
    shown = links[: output.MOST_ROWS]
    columns = overview.link_columns(shown)
    output.table(list(columns), overview.link_rows(shown, columns), left=2, less=overview.LESS)
    if len(links) < len(used):
        output.note(f"{counted(len(used) - len(links), 'link')} with unlimited queues: only in --json and --out")
    _show_completion(result)
    _show_pages(result)
    _show_media(result)
    warnings = Warnings()
    warnings.add(0, result.warnings)
    for line in warnings.lines():
        output.warning(line)
    if max(len(result.flows), len(links)) > output.MOST_ROWS:
        flows_and_links = f"{counted(len(result.flows), 'flow')} and {counted(len(links), 'link')}"
        output.note(f"only the first {output.MOST_ROWS} of {flows_and_links} are shown")
    output.note(f"{result.name}: seed {result.scenario.seed}, {result.took}")


def _show_completion(result: Result) -> None:
    # A summary needs polars, whose import takes longer than a small run.
    if len(result.flows) < MANY_FLOWS:
        return
    found = rows(result.completion())
    if found[0]["flows"] < MANY_FLOWS:
        return
    titles = ["size (packets)", "flows", "unfinished", *(f"{name} (s)" for name in STATISTICS)]
    output.table(titles, [list(row.values()) for row in found], title="completion times")


def _show_pages(result: Result) -> None:
    if len(result.pages):
        found = rows(result.page_loads())
        titles = ["application", "pages", "unfinished", *(f"{name} (s)" for name in STATISTICS)]
        output.table(titles, [list(row.values()) for row in found], title="page load times")


def _show_media(result: Result) -> None:
    if len(result.media):
        shown = [[row[column] for column in overview.MEDIA_COLUMNS.values()] for row in rows(result.media)]
        output.table(list(overview.MEDIA_COLUMNS), shown, title="media")
