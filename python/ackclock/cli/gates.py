"""The command `gate`: reads two results, prints what moved, and writes the files for a service."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path

from ackclock.cli import output
from ackclock.files import checks, targets
from ackclock.gates.comparing import Change, Outcome, compare, name_of
from ackclock.gates.junit import xml
from ackclock.gates.markdown import markdown as as_markdown
from ackclock.gates.measures import selected, tolerances
from ackclock.gates.sides import open_side
from ackclock.gates.texts import COLUMNS, cells, headline, rule, sameness
from ackclock.statistics.families import CORRECTIONS
from ackclock.texts.numbers import counted

MOST = 20  # rows of the table


def gate_command(
    directory: Path,
    against: Path,
    tolerance: Sequence[str],
    measures: Sequence[str],
    *,
    significance: float,
    correction: str,
    strict: bool,
    junit: Path | None,
    markdown: Path | None,
    json_output: bool,
    force: bool,
) -> bool:
    """Compare two results, print and write the outcome, and return whether the gate passes."""
    checks.words("--correction", "correction", [correction], CORRECTIONS)
    if not 0 < significance < 1:
        raise ValueError(f"--significance {significance:g}: must be above 0 and below 1, such as 0.05")
    files = [path for path in (junit, markdown) if path is not None]
    if json_output and any(map(targets.is_stdout, files)):
        raise ValueError("--json and a file on standard output exclude each other")
    targets.check(*files, force=force)
    baseline, new = open_side(against), open_side(directory)
    known = [name for name in baseline.measures if name in new.measures]
    outcome = compare(
        new,
        baseline,
        selected(measures, known),
        tolerances(tolerance, known),
        significance=significance,
        correction=correction,  # type: ignore[arg-type]
        strict=strict,
    )
    if junit is not None:
        targets.write(junit, xml(outcome, datetime.now(timezone.utc)))
    if markdown is not None:
        targets.write(markdown, as_markdown(outcome).encode())
    if json_output:
        output.data(outcome.to_dict())
    else:
        with output.aside(any(map(targets.is_stdout, files))):
            _show(outcome)
    return outcome.passed


def _show(outcome: Outcome) -> None:
    """Print the changes beyond noise, the worst first, and the answer."""
    for gap in outcome.gaps[:MOST]:
        output.error(f"{name_of(gap.point)}: {gap.text}")
    if len(outcome.gaps) > MOST:
        output.note(f"{len(outcome.gaps) - MOST:,} more points have missing or failed runs")
    if outcome.shown:
        output.table(COLUMNS, [_row(change) for change in outcome.shown[:MOST]], left=3)
    if len(outcome.shown) > MOST:
        output.note(f"{len(outcome.shown) - MOST:,} more changes; --json, --junit and --markdown list them")
    if outcome.extra:
        names = "; ".join(map(name_of, outcome.extra[:3])) + ("; …" if len(outcome.extra) > 3 else "")
        output.note(f"{counted(len(outcome.extra), 'point')} not in the baseline: {names}")
    for note in outcome.notes:
        output.warning(note)
    print(headline(outcome))
    print(sameness(outcome))
    print(rule(outcome))


def _row(change: Change) -> list[str]:
    verdict, *rest = cells(change)
    return [verdict, name_of(change.point), *rest]
