"""Comparisons, families of claims, long series and stopping rules: known answers, and coverage by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special, stats

from ackclock.judging.limits import chances
from ackclock.judging.samples import Sample
from ackclock.statistics.bootstrap import bootstrap
from ackclock.statistics.distributions import (
    chi_square_quantile,
    chi_square_tail,
    f_tail,
    student_quantile,
    student_tail,
)
from ackclock.statistics.families import benjamini_hochberg, holm
from ackclock.statistics.intervals import interval
from ackclock.statistics.pairs import compare, runs_for
from ackclock.statistics.ranks import spearman
from ackclock.statistics.sequential import Stopping
from ackclock.statistics.series import batch_means, warm_up

TRIALS = 10_000
# Additional hours of sleep with two drugs: Student, The probable error of a mean (1908), section IX.
FIRST = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
SECOND = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]


def covers(low: float, high: float, truth: float) -> bool:
    return low <= truth <= high


def test_students_sleep_data() -> None:
    found = compare(FIRST, SECOND)
    assert (found.difference.mean, found.difference.low, found.difference.high) == pytest.approx(
        (-1.58, -2.4598858, -0.7001142)
    )
    assert found.p_value == pytest.approx(0.00283289)
    cohen = -1.58 / np.std(np.subtract(FIRST, SECOND), ddof=1)
    assert found.effect == pytest.approx(cohen * (1 - 3 / (4 * 9 - 1)), rel=2e-3), "Hedges' approximation"
    assert found.superiority == pytest.approx(0.05), "one tie of ten"
    both = np.var(FIRST, ddof=1) + np.var(SECOND, ddof=1)
    assert found.reduction == pytest.approx(np.var(np.subtract(FIRST, SECOND), ddof=1) / both)
    assert found.reduction is not None and found.reduction < 0.22, "pairing saves four fifths of the runs"


def test_a_comparison_that_runs_cannot_make() -> None:
    same = compare([2.0, 3.0, 4.0], [1.0, 2.0, 3.0])
    assert not same.difference.known and same.p_value is None and same.effect is None
    assert same.superiority == 1.0 and same.reduction == 0.0
    assert compare([1.0], [2.0]).reduction is None
    with pytest.raises(ValueError, match="needs pairs; there are 1 and 2 values"):
        compare([1.0], [1.0, 2.0])


@pytest.mark.long
def test_a_comparison_covers_the_difference() -> None:
    rng = np.random.default_rng(1)
    common = rng.normal(0, 3, (TRIALS, 8))
    of, to = common + rng.normal(1, 1, (TRIALS, 8)), common + rng.normal(0, 1, (TRIALS, 8))
    hits = 0
    for a, b in zip(of.tolist(), to.tolist(), strict=True):
        found = compare(a, b).difference
        hits += covers(found.low, found.high, 1.0)
    assert hits / TRIALS == pytest.approx(0.95, abs=0.007)


def test_two_one_sided_tests_show_an_equivalence() -> None:
    for margin in (0.5, 1.0, 2.0, 2.5):
        found = chances(Sample(FIRST, SECOND), -margin, margin)
        sides = [
            stats.ttest_1samp(np.subtract(FIRST, SECOND), -margin, alternative="greater").pvalue,
            stats.ttest_1samp(np.subtract(FIRST, SECOND), margin, alternative="less").pvalue,
        ]
        assert found.holds == pytest.approx(max(sides))
        assert found.fails == pytest.approx(min(1 - side for side in sides))


def test_holm_and_benjamini_hochberg() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert benjamini_hochberg([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.02, 0.04, 0.04, 0.02])
    assert holm([]) == [] == benjamini_hochberg([])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    rng = np.random.default_rng(3)
    for count in (1, 2, 7, 40):
        values = (rng.random(count) ** 2).tolist()
        assert benjamini_hochberg(values) == pytest.approx(stats.false_discovery_control(values).tolist())
        assert all(a >= b for a, b in zip(holm(values), benjamini_hochberg(values), strict=True))
    with pytest.raises(ValueError, match=r"1\.5 is no probability"):
        holm([0.5, 1.5])


@pytest.mark.long
def test_families_keep_their_promises() -> None:
    """Of ten claims six are true; the others have an effect that one test finds in about 60 % of the trials."""
    rng = np.random.default_rng(4)
    false_family, false_share = 0, 0.0
    for _ in range(2000):
        statistics = rng.normal(size=10)
        statistics[6:] += 2.2
        p_values = (2 * stats.norm.sf(np.abs(statistics))).tolist()
        rejected = [value <= 0.05 for value in holm(p_values)]
        false_family += any(rejected[:6])
        found = [value <= 0.05 for value in benjamini_hochberg(p_values)]
        false_share += sum(found[:6]) / max(1, sum(found))
    assert false_family / 2000 < 0.05
    assert false_share / 2000 < 0.05
    assert false_share / 2000 > 0.02, "six tenths of 5 % are expected"


@pytest.mark.long
def test_the_bootstrap_covers_a_median() -> None:
    rng = np.random.default_rng(5)
    draws = rng.exponential(size=(1000, 40)).tolist()
    found = [bootstrap(sample, np.median, resamples=499, seed=index) for index, sample in enumerate(draws)]
    hits = sum(covers(each.low, each.high, math.log(2)) for each in found)
    assert hits / 1000 == pytest.approx(0.95, abs=0.03)


def test_the_bootstrap_of_a_mean_is_near_students_interval() -> None:
    rng = np.random.default_rng(6)
    sample = rng.normal(10, 2, 100).tolist()
    found, student = bootstrap(sample), interval(sample, "seed")
    assert (found.mean, found.low, found.high) == pytest.approx((student.mean, student.low, student.high), rel=0.01)
    assert bootstrap(sample) == found, "the same seed gives the same interval"
    assert bootstrap([3.0, 3.0]).note.startswith("all 2 runs have the value 3")
    assert bootstrap([3.0]).note == "a single run does not show the spread of other runs"
    with pytest.raises(ValueError, match="empty"):
        bootstrap([])


def test_the_warm_up_is_cut() -> None:
    rng = np.random.default_rng(7)
    noise = rng.normal(0, 1, 1000)
    step = np.where(np.arange(1000) < 100, 10.0, 0.0)
    assert warm_up((step + noise).tolist()).cut == 100
    slow = warm_up((20 * np.exp(-np.arange(1000) / 50) + noise).tolist())
    assert slow.found and 100 <= slow.cut <= 350
    flat = warm_up(noise.tolist())
    assert flat.found
    assert not warm_up((np.arange(1000) + noise).tolist()).found, "a trend has no end"
    with pytest.raises(ValueError, match="10 values are needed to find a warm-up; there are 9"):
        warm_up([1.0] * 9)


def autoregressive(rng: np.random.Generator, trials: int, length: int, memory: float) -> np.ndarray:
    """First-order autoregressive series of mean 5 and variance 1, stationary from the start."""
    shocks = rng.normal(0, math.sqrt(1 - memory**2), (length, trials))
    values = np.empty((length, trials))
    values[0] = rng.normal(0, 1, trials)
    for at in range(1, length):
        values[at] = memory * values[at - 1] + shocks[at]
    return 5 + values.T


@pytest.mark.long
def test_batch_means_cover_the_mean_of_a_correlated_series() -> None:
    rng = np.random.default_rng(8)
    series = autoregressive(rng, 2000, 2000, 0.8)
    found = [batch_means(row.tolist()) for row in series]
    known = [each for each in found if each.known]
    assert len(known) / 2000 > 0.85
    assert sum(covers(each.low, each.high, 5) for each in known) / len(known) == pytest.approx(0.95, abs=0.015)
    naive = [interval(row.tolist(), "seed") for row in series]
    assert sum(covers(each.low, each.high, 5) for each in naive) / 2000 < 0.6, "the values are not independent"


def test_batches_that_are_too_short_are_noticed() -> None:
    rng = np.random.default_rng(9)
    found = [batch_means(row.tolist()) for row in autoregressive(rng, 500, 400, 0.97)]
    assert sum(not each.known for each in found) / 500 > 0.8
    assert "still correlated" in next(each.note for each in found if not each.known)
    with pytest.raises(ValueError, match="30 values do not make 20 batches"):
        batch_means([1.0] * 30)


@pytest.mark.long
def test_runs_stop_when_the_interval_is_narrow() -> None:
    rng = np.random.default_rng(10)
    rule = Stopping(half_width=0.3, at_least=10, at_most=500)
    hits, sizes = 0, []
    for _ in range(2000):
        draws = rng.normal(2, 1, 500)
        sample = draws[:10].tolist()
        while not rule.is_over(sample):
            sample.append(float(draws[len(sample)]))
        sizes.append(len(sample))
        assert rule.is_narrow(sample)
        hits += covers(rule.found(sample).low, rule.found(sample).high, 2)
    # As many as (1.96/0.3)² and a little less often right than 95 %.
    assert np.mean(sizes) == pytest.approx(43, abs=4)
    assert 0.92 < hits / 2000 < 0.95


def test_a_stopping_rule_has_bounds() -> None:
    rule = Stopping(half_width=0.1, relative=True, at_least=3, at_most=5)
    assert not rule.is_over([1.0, 5.0]) and not rule.is_over([1.0, 5.0, 9.0, 2.0])
    assert rule.is_over([1.0, 5.0, 9.0, 2.0, 7.0]) and not rule.is_narrow([1.0, 5.0, 9.0, 2.0, 7.0])
    assert rule.is_narrow([10.0, 10.1, 9.9])
    assert not rule.is_narrow([10.0, 10.0, 10.0]), "equal runs say nothing of others"
    with pytest.raises(ValueError, match="half_width must be above 0"):
        Stopping(half_width=0)
    with pytest.raises(ValueError, match="at_least must be 2 or more"):
        Stopping(half_width=1, at_least=1)


def test_the_number_of_runs_that_an_interval_needs() -> None:
    rng = np.random.default_rng(11)
    sample = rng.normal(0, 1, 200).tolist()
    deviation = float(np.std(sample, ddof=1))
    assert runs_for(sample, 0.1) >= 200
    assert runs_for(sample, 0.1) == pytest.approx((1.96 * deviation / 0.1) ** 2, rel=0.03)
    assert runs_for(sample, 10.0) == 200
    with pytest.raises(ValueError, match="two values or more"):
        runs_for([1.0], 1.0)


@pytest.mark.long
def test_steps_end_when_the_interval_is_narrow() -> None:
    rng = np.random.default_rng(7)
    rule = Stopping(half_width=0.3, at_least=10, at_most=500)
    covered, looks, counts = 0, 0, []
    trials = 2000
    for _ in range(trials):
        values: list[float] = []
        while step := rule.more(values):
            values += rng.normal(5, 1, step).tolist()
            looks += 1
        found = rule.found(values)
        assert (found.high - found.low) / 2 <= 0.3
        covered += covers(found.low, found.high, 5)
        counts.append(len(values))
    assert 0.93 < covered / trials < 0.97
    assert looks / trials < 6, "not a look at every run"
    assert 40 < np.mean(counts) < 55, "(1.96 / 0.3)² = 43 runs"


def test_steps_never_exceed_the_most_runs() -> None:
    rule = Stopping(half_width=0.01, relative=True, at_least=4, at_most=11)
    sizes, values = [], []
    while step := rule.more(values):
        sizes.append(step)
        values += [1.0, 2.0, 3.0, 4.0, 5.0, 6.0][:step]
    assert sizes == [4, 2, 3, 2]
    assert rule.more([2.0] * 4) == 2, "equal runs show no scatter"
    assert rule.more([-1.0, 1.0, -1.0, 1.0]) == 2, "a share of 0 is never reached"
    assert rule.more([100.0, 100.1, 99.9, 100.0]) == 0


# Distributions, against those of SciPy


FREEDOMS = (1, 2, 3, 9, 29, 999, 9999)


@pytest.mark.parametrize("freedom", FREEDOMS)
def test_students_t(freedom: int) -> None:
    for statistic in (0.0, 1e-3, 0.3, 1.0, 2.2, 5.0, 40.0, 1e4):
        for value in (statistic, -statistic):
            assert student_tail(freedom, value) == pytest.approx(float(special.stdtr(freedom, -value)), rel=1e-10)
    for probability in (0.6, 0.9, 0.975, 0.995, 0.99999999):
        assert student_quantile(freedom, probability) == pytest.approx(
            float(special.stdtrit(freedom, probability)), rel=1e-9
        )
    # Near the middle, the density is as good as constant: 1e-9 / π of a tail for one degree of freedom.
    assert 0.5 - student_tail(1, 1e-9) == pytest.approx(1e-9 / math.pi, rel=1e-6)
    assert (student_tail(freedom, math.inf), student_tail(freedom, -math.inf)) == (0.0, 1.0)


@pytest.mark.parametrize("freedom", FREEDOMS[:5])
def test_chi_square_and_f(freedom: int) -> None:
    for statistic in (0.0, 1e-6, 0.5, 1.0, 5.0, 50.0, 1000.0):
        expected = float(special.chdtrc(freedom, statistic))
        assert chi_square_tail(freedom, statistic) == pytest.approx(expected, rel=1e-12)
        for below in (1, 5, 90):
            expected = float(special.fdtrc(freedom, below, statistic))
            assert f_tail(freedom, below, statistic) == pytest.approx(expected, rel=1e-12)
    for tail in (1e-300, 1e-20, 0.01, 0.5, 0.999, 1.0):
        assert chi_square_quantile(freedom, tail) == pytest.approx(
            float(special.chdtri(freedom, tail)), rel=1e-9, abs=1e-12
        )
    assert math.isfinite(chi_square_quantile(freedom, math.ulp(0.0)))


def test_ranks_and_false_discoveries() -> None:
    rng = np.random.default_rng(4)
    for _ in range(20):
        x, y = rng.integers(0, 6, 12).tolist(), rng.integers(0, 6, 12).tolist()
        assert spearman(x, y).mean == pytest.approx(float(stats.spearmanr(x, y).statistic))
        p_values = rng.uniform(size=9).round(1).tolist()
        assert benjamini_hochberg(p_values) == pytest.approx(stats.false_discovery_control(p_values).tolist())
    assert benjamini_hochberg([]) == []
