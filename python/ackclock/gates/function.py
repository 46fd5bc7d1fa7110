"""The function `ackclock.gate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ackclock.arguments import Changes, File, Share, Switch, Text, Words, checked
from ackclock.files import checks, targets
from ackclock.statistics.families import CORRECTIONS

if TYPE_CHECKING:
    from ackclock.gates.comparing import Outcome


@checked
def gate(
    result: File,
    against: File,
    *,
    tolerance: Changes = (),
    measures: Words = (),
    significance: Share = 0.05,
    correction: Text = "holm",
    strict: Switch = False,
    junit: File | None = None,
    markdown: File | None = None,
    force: Switch = False,
) -> Outcome:
    """Compare a stored result with a baseline: what became worse, beyond tolerance and noise.

    Parameters
    ----------
    result, against
        Folders of ``run`` or ``sweep``: the new result, and the baseline.
    tolerance
        Changes that do not matter, such as ``"2%"`` for every measure, or ``"goodput_bps=2%"`` and ``"drops=5"``; by
        default 1 %.
    measures
        Names of measures; by default all that have a better direction.
    significance
        Largest probability of a false alarm over all measures and points together.
    correction
        ``holm``, or ``bh`` (Benjamini and Hochberg), which limits the share of false alarms among all alarms.
    strict
        Whether improvements fail, too.
    junit, markdown
        Files to write: JUnit XML for a service, and Markdown for a comment.
    force
        Whether to replace files that exist.

    Returns
    -------
    Outcome
        Every change, and whether the gate has ``passed``.

    Raises
    ------
    ValueError
        If a measure, a tolerance or another value is wrong, or there is nothing to compare.
    OSError
        If a folder has no result, or a file cannot be written.
    """
    # These modules import polars, which takes longer to load than the rest of the package.
    from datetime import datetime, timezone

    from ackclock.gates.comparing import compare
    from ackclock.gates.junit import xml
    from ackclock.gates.markdown import markdown as as_markdown
    from ackclock.gates.measures import selected, tolerances
    from ackclock.gates.sides import open_side

    checks.words("--correction", "correction", [correction], CORRECTIONS)
    targets.check(*(Path(file) for file in (junit, markdown) if file is not None), force=force)
    baseline, new = open_side(Path(against)), open_side(Path(result))
    known = [name for name in baseline.measures if name in new.measures]
    outcome = compare(
        new,
        baseline,
        selected([measures] if isinstance(measures, str) else measures, known),
        tolerances([tolerance] if isinstance(tolerance, str) else tolerance, known),
        significance=significance,
        correction=correction,  # type: ignore[arg-type]
        strict=strict,
    )
    if junit is not None:
        targets.write(Path(junit), xml(outcome, datetime.now(timezone.utc)))
    if markdown is not None:
        targets.write(Path(markdown), as_markdown(outcome).encode())
    return outcome
