"""The function that tunes: search, judgement, and what is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ackclock.experiments.engines.engine import Engine
from ackclock.experiments.store import Store
from ackclock.files import storage
from ackclock.tuning import results
from ackclock.tuning.judging import judge
from ackclock.tuning.outcome import Tuned
from ackclock.tuning.report import report
from ackclock.tuning.runs import Named, Runs
from ackclock.tuning.schema import Tuning
from ackclock.tuning.search import Search, importances, optuna_module

TRIALS = 60
Progress = Callable[[int, int], None]


def tune(
    tuning: Tuning,
    *,
    trials: int = TRIALS,
    seed: int = 0,
    jobs: int | None = None,
    engine: Engine | None = None,
    out: Path | None = None,
    progress: Progress | None = None,
    note: Callable[[str], None] | None = None,
) -> Tuned:
    """Search, judge the best parameters on held-out runs, and write the result.

    Parameters
    ----------
    tuning
        The file.
    trials
        Number of trials.
    seed
        Seed of the sampler.
    jobs
        Number of threads; None: one for each processor. The result does not depend on it.
    out
        The folder to write to; the same call continues an interrupted one there.
    progress
        Called after each batch with the numbers of finished trials and of all trials.
    note
        Called with a message about an earlier search in the folder.

    Raises
    ------
    ValueError
        If the parameters are wrong, a measure has no value, or Optuna is not installed.
    OSError
        If the folder cannot be written to.
    Stopped
        After Ctrl-C; finished runs are stored.
    """
    optuna = optuna_module()
    entries: dict[str, Any] = {"trials": trials, "seed": seed, "optuna": optuna.__version__}
    if out is not None:
        storage.check_free(out, results.KIND)
    # The folder is made when nothing can be wrong any more: after the runs of the reference, which are written then.
    store = Store(out)
    named = Named(store)
    runs = Runs(tuning, named, jobs, engine)
    search = Search(tuning, runs, seed)
    try:
        search.measure_reference()
    except KeyboardInterrupt:
        raise Stopped([None] * trials, "nothing is stored yet") from None
    said = "" if out is None else results.earlier(out, tuning, entries)
    with store.opened(results.KIND, results.manifest(tuning, entries), results.WRITTEN):
        if out is not None:
            storage.write_text(out / "tuning.toml", tuning.text)
        if said and note is not None:
            note(said)
        try:
            found = search.run(trials, progress)
            verdict = judge(tuning, runs, found.reference, search.best())
        except KeyboardInterrupt:
            if out is not None:
                results.write(out, tuning, search.reference, search.trials, None)
            advice = (
                "run the same command to continue"
                if out is not None
                else "with a folder for its results, a tuning continues"
            )
            done: list[object] = [*search.trials, *([None] * (trials - len(search.trials)))]
            raise Stopped(done, advice) from None
        whole = Tuned(tuning, found, verdict, importances(found.study), (named.new, len(named)), said)
        if out is not None:
            results.write(out, tuning, found.reference, found.trials, verdict)
            fragment = results.fragment(tuning, verdict.best, whole.answer) if verdict.best.number else ""
            if fragment:
                storage.write_text(out / "best.toml", fragment)
            storage.write_text(out / "report.html", report(whole, fragment))
            store.finish(**{**whole.to_dict(), "trials": trials})
        return whole


class Stopped(KeyboardInterrupt):
    """Ctrl-C stopped a tuning.

    Parameters
    ----------
    trials
        The finished trials; None for an unfinished one.
    advice
        How to go on.
    """

    def __init__(self, trials: list[object], advice: str) -> None:
        done = sum(trial is not None for trial in trials)
        super().__init__(f"interrupted: {done} of {len(trials)} trials are finished; {advice}")
