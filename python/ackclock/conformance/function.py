"""The function `ackclock.conform`."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from ackclock.arguments import Count, File, Progress, Switch, Time, Words, checked
from ackclock.experiments.engines.engine import AnEngine
from ackclock.experiments.experiment import Experiment
from ackclock.files import targets

if TYPE_CHECKING:
    from ackclock.conformance.result import Conformance

log = logging.getLogger(__name__)


@checked
def conform(
    suites: Words,
    *,
    control: str | type | None = None,
    on: Words = "simulation",
    coverage: Switch = False,
    junit: File | None = None,
    markdown: File | None = None,
    force: Switch = False,
    out: File | None = None,
    jobs: Count | None = None,
    engine: AnEngine | None = None,
    budget: Time | None = None,
    progress: Progress | None = None,
) -> Conformance:
    """Ask whether a control, a host or a queue does what a document says, clause by clause.

    Parameters
    ----------
    suites
        Names of suites, such as ``rfc9438``; ``all``; or files of suites, which end in ``.toml``.
    control
        The control to ask, in place of what the suites are about: a contender as in `compare`, or a class. Clauses
        about hosts and queues stay as they are.
    on
        Worlds: ``simulation``, and ``linux`` for a kernel in virtual time (``linux:7.2`` names its version), which asks
        the kernel's own control, or the named one from outside the kernel.
    coverage
        Whether to count the states that controls enter in the simulation, and the transitions between them.
    junit, markdown
        Files to write: JUnit XML for a service, and a table of the clauses in Markdown.
    force
        Whether to replace files that exist.
    out
        Folder for the measurements, the table ``clauses.csv``, and scenario, packets and figure of each clause that
        fails; the same call continues an interrupted one there.
    jobs
        Number of parallel runs; the result does not depend on it.
    engine
        Where the runs take place, such as `ackclock.Ray`; by default on `jobs` threads of this process.
    budget
        Real time for the runs: seconds, or a text such as ``"20 min"``. No run begins later; the same call continues.
    progress
        A function called after each run with the numbers of finished runs and of all runs.

    Returns
    -------
    Conformance
        The verdicts, and whether all clauses have ``passed``.

    Raises
    ------
    ValueError
        If a suite, a control or a world does not exist, or a file is no suite.
    OSError
        If a file cannot be read or written, or this computer cannot run a world.
    Interrupted
        After Ctrl-C, or at the end of the budget; with `out`, finished runs are stored.
    """
    # These modules import polars, which takes longer to load than the rest of the package.
    from datetime import datetime, timezone

    from ackclock.conformance import asking, judging, writing
    from ackclock.conformance import suites as known

    words = [word.strip() for each in ([suites] if isinstance(suites, str) else suites) for word in each.split(",")]
    own = [Path(word) for word in words if word.endswith(known.SUFFIX)]
    targets.check(*(Path(file) for file in (junit, markdown) if file is not None), inputs=own, force=force)
    found = [known.find(name) for name in (known.names() if words == ["all"] else words)]
    places = [word.strip() for each in ([on] if isinstance(on, str) else on) for word in each.split(",")]
    asked = asking.questions(found, control, places, coverage=coverage)
    experiment = Experiment(out, jobs=jobs, engine=engine, budget=budget, progress=progress)
    with experiment.opened(writing.KIND, writing.manifest(asked), writing.WRITTEN):
        try:
            experiment.run(each.point for each in asked if each.point is not None)
        finally:
            experiment.say_what_ran()
        outcome = judging.judged(asked, experiment)
        if experiment.out is not None:
            written = writing.write(experiment.out, outcome)
            experiment.finish()
            log.info("written to %s: %s", experiment.out, ", ".join(written))
    if junit is not None:
        targets.write(Path(junit), writing.xml(outcome, datetime.now(timezone.utc)))
    if markdown is not None:
        targets.write(Path(markdown), writing.markdown(outcome).encode())
    return outcome
