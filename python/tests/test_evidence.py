"""P-values, effect sizes and corrections of verdicts: they agree with the rules, and hold what they promise."""

from __future__ import annotations

import json
import random
from collections.abc import Collection
from dataclasses import replace
from typing import Any

import pytest

from ackclock.judging.evidence import Evidence, combine, corrected, summary, survival
from ackclock.judging.limits import Chances
from ackclock.literature.claims import Claim
from ackclock.literature.verdicts import judge, judge_all
from ackclock.statistics.intervals import interval
from ackclock.statistics.ratios import ratio
from ackclock.statistics.tails import of_mean, of_ratio

LABELS = ["queue", "algorithm"]
TOLERANCE = 0.01


def claim(**keys: Any) -> Claim:
    settings = {"id": "c", "text": "t", "source": "§", "kind": "order", "axis": "algorithm", "where": {},
                "metrics": ("goodput",), "tolerance": TOLERANCE, **keys}  # fmt: skip
    return Claim(**settings)


CLAIMS = [
    claim(expected=(("1",), ("2",))),
    claim(expected=(("1", "2"),)),
    claim(expected=(("1",), ("2",)), quantifier="any"),
    claim(expected=(("1", "2"),), quantifier="most"),
    claim(kind="best", of="1", sense="lowest"),
    claim(kind="best", of="1", sense="highest", quantifier="most"),
    claim(kind="bound", of="1", to="2", low=0.98, high=1.03),
    claim(kind="bound", of="1", to="2", high=1.0, quantifier="any"),
    claim(kind="bound", of="2", low=99.0),
    claim(kind="bound", of="2", low=97.0, high=103.0, quantifier="most"),
]


def sample(rng: random.Random, means: dict[str, float], cells: Collection[str], count: int, spread: float) -> list[Any]:
    """Draw runs whose seeds share half of the scatter."""
    rows = []
    for cell in cells:
        for unit in range(count):
            common = rng.gauss(0, spread)
            rows += [
                {"queue": cell, "algorithm": name, "sampling": "seed", "unit": unit,
                 "goodput": max(0.0, mean + common + rng.gauss(0, spread))}
                for name, mean in means.items()
            ]  # fmt: skip
    return rows


@pytest.mark.parametrize("number", range(len(CLAIMS)))
def test_a_claim_is_decided_exactly_if_its_p_value_is_small(number: int) -> None:
    rng = random.Random(number)
    decided = 0
    for _ in range(60):
        means = {name: 100 + rng.choice([0, 0.5, 1, 2, 5]) * rng.choice([-1, 1]) for name in ("1", "2", "3")}
        rows = sample(rng, means, ["5", "50", "500"][: rng.randint(1, 3)], rng.randint(3, 12), rng.choice([0.2, 1, 4]))
        own = CLAIMS[number]
        found = judge(own, "goodput", rows, LABELS).evidence
        assert found is not None
        for confidence in (0.5, 0.8, 0.95, 0.999):
            verdict = judge(own, "goodput", rows, LABELS, confidence).verdict
            assert (verdict != "cannot tell") == (found.p_value < 1 - confidence), (verdict, confidence, found)
            decided += verdict != "cannot tell"
    assert 20 < decided < 220


def test_the_tests_belong_to_the_intervals() -> None:
    rng = random.Random(1)
    of, to = [rng.gauss(10, 1) for _ in range(12)], [rng.gauss(8, 1) for _ in range(12)]
    found = ratio(of, to, "seed", 0.9)
    assert of_ratio(of, to, found.low).above == pytest.approx(0.05)
    assert of_ratio(of, to, found.high).below == pytest.approx(0.05)
    mean = interval(of, "seed", 0.9)
    assert of_mean(of, mean.low).above == pytest.approx(0.05)
    assert of_mean(of, mean.high).below == pytest.approx(0.05)
    shares = [min(0.99, max(0.01, rng.gauss(0.9, 0.05))) for _ in range(12)]
    bounded = interval(shares, "seed", 0.9, (0.0, 1.0))
    assert of_mean(shares, bounded.low, (0.0, 1.0)).above == pytest.approx(0.05)
    assert of_mean(shares, bounded.high, (0.0, 1.0)).below == pytest.approx(0.05)
    assert of_mean(shares, 0.0, (0.0, 1.0)).above == 0
    assert of_mean(shares, 1.0, (0.0, 1.0)).below == 0
    with pytest.raises(ValueError, match="scatter"):
        of_mean([1.0, 1.0], 0.0)
    with pytest.raises(ValueError, match="two pairs or more"):
        of_ratio([1.0], [1.0], 1.0)


def test_pairs_without_scatter_are_certain() -> None:
    of, to = [2.0, 4.0, 6.0], [1.0, 2.0, 3.0]
    assert of_ratio(of, to, 2.0).above == of_ratio(of, to, 2.0).below == 1
    assert of_ratio([3.0, 5.0, 7.0], of, 0.0).above < 0.05
    assert of_ratio([1.1, 1.3, 1.7], [0.1, 0.3, 0.7], 1.0).above == 0


def test_a_range_has_no_p_value() -> None:
    rows = sample(random.Random(2), {"1": 120, "2": 100}, ["5"], 10, 1.0)
    deterministic = [{**row, "sampling": "path"} for row in rows]
    found = judge(CLAIMS[0], "goodput", deterministic, LABELS)
    assert found.verdict == "holds"
    assert found.evidence is None
    assert judge(CLAIMS[0], "goodput", [], LABELS).evidence is None


def test_equal_runs_have_no_effect_size() -> None:
    rows = [{**row, "goodput": row["unit"] + 100.0} for row in sample(random.Random(2), {"1": 1, "2": 1}, ["5"], 10, 1)]
    found = judge(CLAIMS[1], "goodput", rows, LABELS)
    assert found.verdict == "holds"
    assert found.evidence is not None
    assert found.evidence.effect is None
    assert "effect" not in found.evidence.text


def test_the_effect_size_is_that_of_the_deciding_comparison() -> None:
    rng = random.Random(3)
    rows = sample(rng, {"1": 110, "2": 100}, ["5", "50"], 12, 1.0)
    weak = [
        {**row, "goodput": row["goodput"] - (5 if row["queue"] == "50" and row["algorithm"] == "1" else 0)}
        for row in rows
    ]
    found = judge(CLAIMS[0], "goodput", weak, LABELS)
    effects = {item.where["queue"]: item.chances.effect for item in found.comparisons if item.chances}
    assert found.verdict == "holds"
    assert found.evidence is not None
    assert found.evidence.effect == effects["50"] < effects["5"]


def test_cells_are_combined_as_their_verdicts() -> None:
    cells = [[Chances(0.001, 1.0), Chances(0.004, 0.9)], [Chances(0.9, 0.002)], [Chances(0.01, 0.8)]]
    assert combine(cells, 3).p_value == pytest.approx(2 * 4 * 0.002)
    assert combine(cells, 2).p_value == pytest.approx(2 * 4 * 0.01)
    assert combine(cells, 1).p_value == pytest.approx(2 * 4 * 0.004)


def test_the_family_is_all_claims_with_a_p_value() -> None:
    made = corrected([Evidence(0.01), None, Evidence(0.04), Evidence(0.03)])
    assert made[1] is None
    assert [item and item.holm for item in made] == pytest.approx([0.03, None, 0.06, 0.06])
    assert [item and item.bh for item in made] == pytest.approx([0.03, None, 0.04, 0.04])
    assert [item is not None and item.survives for item in made] == [True, False, False, False]
    assert made[0] is not None
    assert made[2] is not None
    assert made[0].text == "p = 0.01; survives the correction for 3 claims (Holm = 0.03, BH = 0.03)"
    assert made[2].text == "p = 0.04; does not survive the correction for 3 claims (Holm = 0.06, BH = 0.04)"
    assert Evidence(0.3, -0.5, 0.6, 0.3, 2).text == "p = 0.3, effect size g = −0.5"
    assert corrected([]) == []
    assert list(map(survival, made)) == ["survives", None, "does not survive", "does not survive"]
    assert summary(made) == (
        "3 of 3 verdicts over seeds are decided; 1 survive Holm's correction for all of them, "
        "3 that of Benjamini and Hochberg"
    )
    assert summary([None]) == ""


def test_judgements_in_json_state_their_evidence() -> None:
    rows = sample(random.Random(4), {"1": 120, "2": 100}, ["5"], 10, 1.0)
    claims = [replace(CLAIMS[0], id=name) for name in ("a", "b")]
    document = [judgement.to_dict() for judgement in judge_all(claims, rows, LABELS)]
    found = json.loads(json.dumps(document))[0]["evidence"]
    assert found["family"] == 2
    assert found["holm"] == pytest.approx(2 * found["p_value"])
    assert found["survives"] is True


@pytest.mark.long
def test_holm_holds_the_chance_of_a_wrong_verdict_in_a_paper() -> None:
    # A is exactly the tolerance above B, so that runs cannot tell; either verdict is an error.
    rng = random.Random(5)
    claims = [claim(id=str(index), expected=(("1",), ("2",)), where={"queue": str(index)}) for index in range(8)]
    cells = [str(index) for index in range(8)]
    alone = corrected_ones = 0
    papers = 400
    for _ in range(papers):
        rows = sample(rng, {"1": 100 * (1 + TOLERANCE), "2": 100}, cells, 8, 1.0)
        judged = judge_all(claims, rows, LABELS)
        alone += any(item.verdict != "cannot tell" for item in judged)
        corrected_ones += any(item.evidence is not None and item.evidence.survives for item in judged)
    # 1 − 0.95⁸ = 34 % without correction; 5 % with it, within three standard deviations of 400 trials.
    assert 0.34 - 0.07 < alone / papers < 0.34 + 0.07
    assert corrected_ones / papers <= 0.05 + 0.033
