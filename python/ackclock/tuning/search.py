"""The search: batches of trials by TPE, seed by seed, ended early by a paired race.

A batch has a constant number of trials, and every batch has a sampler with a seed of its own. So the trials depend on
the file, the seed and their number alone: not on threads, nor on interruptions. To continue, the search is repeated
from its beginning; stored runs cost nothing.

The race compares a trial with the best finished one on the same paths and seeds (common random numbers). It ends the
trial if Student's paired interval of the difference lies on the worse side. Rules that compare medians of trials, as
Optuna's pruners do, ignore that the trials share their paths and seeds.

References
----------
S. Watanabe, *Tree-structured Parzen estimator*, arXiv:2304.11127 (2023). M. Birattari, T. Stützle, L. Paquete and K.
Varrentrapp, *A racing algorithm for configuring metaheuristics*, GECCO 2002.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ackclock import _core, extras
from ackclock.statistics.intervals import student_t
from ackclock.tuning import scores
from ackclock.tuning.runs import Cells, Runs
from ackclock.tuning.schema import Setting, Tuning
from ackclock.tuning.space import Raw, Space

if TYPE_CHECKING:
    import optuna

BATCH = 4
STEPS = 4
"""Steps into which the seeds of training are divided."""
LEAST_PAIRS = 4
"""Pairs before a race can end a trial."""
CONFIDENCE = 0.99
COMPLETE, PRUNED, FAILED = "complete", "pruned", "failed"
Progress = Callable[[int, int], None]


@dataclass
class Trial:
    """Measured parameters.

    Attributes
    ----------
    number : int
        Its number, from 1; 0 is the reference.
    values : dict
        Texts of the parameters' values; None for one that the frozen scenario does not have.
    settings : dict
        Settings of the scenario.
    state : {"complete", "pruned", "failed"}
        Whether it ran on all seeds, was ended by the race, or has no valid scenario or no value.
    cells : dict
        Measures by path and seed.
    value : float or None
        The objective.
    violations : dict
        Distance beyond the bound of each constraint; above 0 if it does not hold.
    error : str
        Why it failed.
    """

    number: int
    values: dict[str, str | None]
    settings: dict[str, str]
    state: str = COMPLETE
    cells: Cells = field(default_factory=dict)
    value: float | None = None
    violations: dict[str, float] = field(default_factory=dict)
    error: str = ""

    @property
    def feasible(self) -> bool:
        """Whether all constraints hold."""
        return all(beyond <= 0 for beyond in self.violations.values())


@dataclass
class Found:
    """The result of a search.

    Attributes
    ----------
    reference : Trial
        The scenario's own parameters.
    trials : list of Trial
        The trials, by their numbers.
    study : optuna.Study
        Optuna's record of them.
    """

    reference: Trial
    trials: list[Trial]
    study: optuna.Study


def optuna_module() -> Any:  # noqa: ANN401 - a module
    """Import Optuna.

    Raises
    ------
    MissingError
        If it is not installed.
    """
    with extras.needed("tune", "tuning"):
        import optuna
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def measure(runs: Runs, setting: Setting, trials: list[Trial], seeds: tuple[int, ...]) -> None:
    """Measure trials on all paths of a setting with these seeds; a trial without a valid scenario fails."""
    for trial in trials:
        _plan(runs, setting, trial, seeds)
    runs.execute()
    for trial in trials:
        if trial.state != FAILED:
            trial.cells |= {
                (place, seed): runs.measures(path, trial.settings, seed)
                for place, path in enumerate(setting.paths)
                for seed in seeds
            }


def _plan(runs: Runs, setting: Setting, trial: Trial, seeds: tuple[int, ...]) -> None:
    try:
        for path in setting.paths:
            runs.plan(path, trial.settings, seeds)
    except _core.ScenarioError as error:
        trial.state, trial.error = FAILED, str(error)


def assess(tuning: Tuning, trial: Trial, reference: Trial) -> None:
    """Compute objective and constraints of a trial from its cells so far.

    Raises
    ------
    MissingError
        If a measure has no value.
    """
    values = scores.objective(tuning.goal, trial.cells, reference.cells)
    trial.value = scores.over_paths(values, tuning.goal.over, tuning.goal.sign)
    trial.violations = scores.violations(tuning, trial.cells, reference.cells)


class Search:
    """A search.

    Parameters
    ----------
    tuning
        The tuning.
    runs
        Executes its points.
    seed
        The seed of the sampler.
    """

    def __init__(self, tuning: Tuning, runs: Runs, seed: int) -> None:
        self._tuning, self._runs, self._seed = tuning, runs, seed
        self._optuna = optuna_module()
        self._space = Space(tuning)
        self.reference = Trial(0, self._space.reference(), {})
        self.trials: list[Trial] = []
        direction = "maximize" if tuning.goal.sign > 0 else "minimize"
        self._study = self._optuna.create_study(direction=direction, sampler=self._sampler(0))

    def _sampler(self, batch: int) -> Any:  # noqa: ANN401 - Optuna is optional
        return self._optuna.samplers.TPESampler(seed=(self._seed * 1_000_003 + batch) % 2**32, constant_liar=True)

    def measure_reference(self) -> None:
        """Measure the scenario's own parameters, which shows whether every measure has a value.

        Raises
        ------
        ValueError
            If the reference has no value.
        """
        tuning = self._tuning
        measure(self._runs, tuning.training, [self.reference], tuning.training.seeds)
        try:
            if self.reference.error:
                raise ValueError(self.reference.error)
            assess(tuning, self.reference, self.reference)
        except scores.MissingError as error:
            raise ValueError(
                f"{tuning.file}: {error} for the scenario's own parameters; "
                "completion times need flows with a size, transfers or pages, jain two flows without a size, and "
                "bitrate, stalls and frame delays a player or frames"
            ) from None

    def run(self, trials: int, progress: Progress | None = None) -> Found:
        """Measure this many trials; `measure_reference` comes first.

        Raises
        ------
        Interrupted
            After Ctrl-C; ``self.trials`` has the finished trials.
        """
        self._add_reference()
        distributions = self._space.distributions()
        while len(self.trials) < trials:
            self._study.sampler = self._sampler(len(self.trials) // BATCH + 1)
            asked = [self._study.ask(distributions) for _ in range(min(BATCH, trials - len(self.trials)))]
            batch = [self._trial(len(self.trials) + place, each.params) for place, each in enumerate(asked, start=1)]
            self._race(batch)
            for trial, each in zip(batch, asked, strict=True):
                self._tell(trial, each)
            self.trials += batch
            if progress is not None:
                progress(len(self.trials), trials)
        return Found(self.reference, self.trials, self._study)

    def _add_reference(self) -> None:
        """Give the sampler the reference, if it is in the space."""
        raw = self._space.raw(self.reference.values)
        if raw is not None:
            create = self._optuna.trial.create_trial
            self._study.add_trial(
                create(
                    params=raw, distributions=self._space.distributions(), value=self.reference.value,
                    constraints=self.reference.violations,
                )
            )  # fmt: skip

    def _trial(self, number: int, raw: Raw) -> Trial:
        values = self._space.values(raw)
        return Trial(number, dict(values), self._space.settings(values))

    def best(self) -> Trial:
        """Return the best complete trial that keeps all constraints; the reference counts, also if it breaks some."""
        known = [trial for trial in self.trials if trial.state == COMPLETE and trial.feasible]
        if self.reference.feasible or not known:
            known.insert(0, self.reference)
        return max(known, key=lambda trial: (trial.value or 0.0) * self._tuning.goal.sign)

    def _race(self, batch: list[Trial]) -> None:
        seeds, best = self._tuning.training.seeds, self.best()
        step = max(1, math.ceil(len(seeds) / STEPS))
        running = batch
        for first in range(0, len(seeds), step):
            measure(self._runs, self._tuning.training, running, seeds[first : first + step])
            for trial in running:
                if trial.state != FAILED:
                    self._assess(trial)
            running = [trial for trial in running if trial.state != FAILED]
            if first + step < len(seeds):
                for trial in running:
                    if self._worse(trial, best):
                        trial.state = PRUNED
                running = [trial for trial in running if trial.state == COMPLETE]

    def _assess(self, trial: Trial) -> None:
        try:
            assess(self._tuning, trial, self.reference)
        except scores.MissingError as error:
            trial.state, trial.error = FAILED, str(error)

    def _worse(self, trial: Trial, best: Trial) -> bool:
        """Whether a trial is shown to be worse than the best finished one on the cells that it has."""
        goal, reference = self._tuning.goal, self.reference.cells
        if not best.feasible:
            return False
        of = scores.objective(goal, trial.cells, reference)
        to = scores.objective(goal, {cell: best.cells[cell] for cell in trial.cells}, reference)
        if goal.over == "mean":
            paths = dict.fromkeys(path for path, _ in of)
            differences = [[of[cell] - to[cell] for cell in of if cell[0] == path] for path in paths]
        else:
            ends = zip(scores.units(goal, of, "seeds"), scores.units(goal, to, "seeds"), strict=True)
            differences = [[one - other for one, other in ends]]
        low, high = within_paths(differences)
        return high < 0 if goal.sign > 0 else low > 0

    def _tell(self, trial: Trial, asked: Any) -> None:  # noqa: ANN401 - Optuna is optional
        states = self._optuna.trial.TrialState
        if trial.state == FAILED:
            self._study.tell(asked, state=states.FAIL)
            return
        for name, beyond in trial.violations.items():
            asked.set_constraint(name, beyond)
        if trial.state == PRUNED:
            asked.report(trial.value, step=len({seed for _, seed in trial.cells}))
            self._study.tell(asked, state=states.PRUNED)
        else:
            self._study.tell(asked, trial.value)


def within_paths(differences: Sequence[Sequence[float]], confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Student's interval of a mean difference on these paths, from the scatter of the seeds on each.

    All trials train on the same paths, so differences between paths are no uncertainty (paths are blocks).

    Parameters
    ----------
    differences
        Paired differences by seed, a list for each path, all of the same length.
    confidence
        Probability that the interval covers the difference over all seeds.

    Returns
    -------
    (float, float)
        Ends of the interval; infinite with fewer than four pairs or a single seed, or without any scatter.

    References
    ----------
    G. Box, J. Hunter and W. Hunter, *Statistics for experimenters*, 2nd ed. (2005), §4.2 (blocks).
    """
    count = sum(map(len, differences))
    freedom = count - len(differences)
    means = [scores.mean(own) for own in differences]
    squares = math.fsum((value - mean) ** 2 for own, mean in zip(differences, means, strict=True) for value in own)
    if count < LEAST_PAIRS or freedom < 1 or squares <= 0:
        return -math.inf, math.inf
    half = student_t((1 + confidence) / 2, freedom) * math.sqrt(squares / freedom / count)
    middle = scores.mean(means)
    return middle - half, middle + half


def importances(study: optuna.Study) -> dict[str, float]:
    """Return the importance of each parameter for good trials, which add up to 1; empty if there is nothing to rank.

    References
    ----------
    S. Watanabe, A. Bansal and F. Hutter, *PED-ANOVA: efficiently quantifying hyperparameter importance in arbitrary
    subspaces*, IJCAI 2023.
    """
    optuna = optuna_module()
    complete = study.get_trials(states=(optuna.trial.TrialState.COMPLETE,))
    if len({trial.value for trial in complete}) < 2:
        return {}
    evaluator = optuna.importance.PedAnovaImportanceEvaluator()
    found = optuna.importance.get_param_importances(study, evaluator=evaluator)
    return {name: float(value) for name, value in found.items()}
