"""The function `ackclock.tune`: search, judgement, and what is written."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock.arguments import Count, File, Progress, Seed, Time, checked
from ackclock.experiments.engines.engine import AnEngine
from ackclock.experiments.execute import Interrupted
from ackclock.experiments.experiment import Experiment
from ackclock.files import storage

if TYPE_CHECKING:
    from ackclock.tuning.outcome import Tuned

TRIALS = 60
log = logging.getLogger(__name__)


@checked
def tune(
    file: File,
    *,
    trials: Count = TRIALS,
    seed: Seed = 0,
    out: File | None = None,
    jobs: Count | None = None,
    engine: AnEngine | None = None,
    budget: Time | None = None,
    progress: Progress | None = None,
) -> Tuned:
    """Search for better parameters of an algorithm, and judge the best on runs that the search did not use.

    Parameters
    ----------
    file
        File of the tuning (TOML): scenario, parameters, objective, constraints.
    trials
        Number of trials. The first ones do not change with this number.
    seed
        Seed of the search; the seeds of runs are in the file.
    out
        Folder for the measurements, the report and its tables; the same call continues an interrupted search there.
    jobs
        Number of parallel runs; the result does not depend on it.
    engine
        Where the runs take place, such as `ackclock.Ray`; by default on `jobs` threads of this process.
    budget
        Real time for the runs: seconds, or a text such as ``"20 min"``. No run begins later; the same call continues.
    progress
        Called after each batch with the numbers of finished trials and of all trials.

    Raises
    ------
    ValueError
        If the file is wrong, a measure has no value, or Optuna is not installed.
    OSError
        If a file cannot be read, or the folder cannot be written to.
    Interrupted
        After Ctrl-C; finished runs are stored.
    """
    # These modules import polars and matplotlib, which take longer to load than the rest of the package.
    from ackclock.tuning import results, schema
    from ackclock.tuning.judging import judge
    from ackclock.tuning.outcome import Tuned
    from ackclock.tuning.report import report
    from ackclock.tuning.runs import Runs
    from ackclock.tuning.search import Search, importances, optuna_module

    tuning = schema.read(Path(file))
    entries: dict[str, Any] = {"trials": trials, "seed": seed, "optuna": optuna_module().__version__}
    experiment = Experiment(out, jobs=jobs, engine=engine, budget=budget)
    folder = experiment.out
    if folder is not None:
        storage.check_free(folder, results.KIND)
    runs = Runs(tuning, experiment)
    search = Search(tuning, runs, seed)
    # The folder is made when nothing can be wrong any more: after the runs of the reference, which are written then.
    try:
        search.measure_reference()
    except Interrupted as stopped:
        raise Interrupted([None] * trials, noun="trial", advice="nothing is stored yet", why=stopped.why) from None
    said = "" if folder is None else results.earlier(folder, tuning, entries)
    with experiment.opened(results.KIND, results.manifest(tuning, entries), results.WRITTEN):
        if folder is not None:
            storage.write_text(folder / "tuning.toml", tuning.text)
        if said:
            log.info(said)
        try:
            found = search.run(trials, progress)
            verdict = judge(tuning, runs, found.reference, search.best())
        except KeyboardInterrupt as stopped:
            if folder is not None:
                results.write(folder, tuning, search.reference, search.trials, None)
            done: list[object] = [*search.trials, *([None] * (trials - len(search.trials)))]
            why = getattr(stopped, "why", "interrupted")
            raise Interrupted(done, noun="trial", advice=experiment.advice, why=why) from None
        whole = Tuned(
            tuning, found, verdict, importances(found.study), (experiment.new, experiment.new + experiment.reused), said
        )
        ended = ", ".join(f"{count} {state}" for state, count in whole.counts.items() if count)
        log.info("%s", ended)
        experiment.say_what_ran()
        if folder is not None:
            results.write(folder, tuning, found.reference, found.trials, verdict)
            fragment = results.fragment(tuning, verdict.best, whole.answer) if verdict.best.number else ""
            if fragment:
                storage.write_text(folder / "best.toml", fragment)
            storage.write_text(folder / "report.html", report(whole, fragment))
            experiment.finish(**{**whole.to_dict(), "trials": trials})
            best = "best.toml, " if fragment else ""
            log.info("written to %s: report.html, %strials.parquet, runs.parquet, figures", folder, best)
        return whole
