"""Sentences of a paper: parts, readings and outcomes."""

from __future__ import annotations

from typing import Any

import pytest
import tomllib

from ackclock.literature import library
from ackclock.literature.claims import ClaimError, parse_claims
from ackclock.literature.sentences import counts, in_any_reading, sentences, words
from ackclock.literature.verdicts import judge_all

LABELS = {"queue": ["5", "50"], "algorithm": ["1", "2", "3"]}
CLAIMS = """\
metrics = ["goodput", "start"]
names = { start = "first 10 s" }

[[claim]]
id = "two-leads-5"
text = "two leads with short and long queues"
source = "§1"
kind = "order"
axis = "algorithm"
where = { queue = "5" }
expected = [["2"], ["1"]]

[[claim]]
id = "two-leads-50"
kind = "order"
axis = "algorithm"
where = { queue = "50" }
expected = [["2"], ["1"]]

[[claim]]
id = "two-leads-three"
reading = "three for two"
kind = "order"
axis = "algorithm"
where = { queue = "50" }
expected = [["3"], ["1"]]
metrics = ["goodput"]
"""


def judged(means: dict[tuple[str, str], tuple[float, float]], claims: str = CLAIMS) -> Any:
    """Return the judgements for means by queue and algorithm: over the whole run, and of its start."""
    rows = [
        {"queue": queue, "algorithm": algorithm, "sampling": "seed", "unit": unit}
        | {"goodput": whole + 0.01 * unit * (1 + int(algorithm)), "start": start + 0.01 * unit * (1 + int(algorithm))}
        for (queue, algorithm), (whole, start) in means.items()
        for unit in range(10)
    ]
    found = parse_claims(tomllib.loads(claims), LABELS, ["goodput", "start"])
    return judge_all(found, rows, list(LABELS))


EVEN = {(queue, algorithm): (100.0, 100.0) for queue in ("5", "50") for algorithm in ("1", "2", "3")}


@pytest.mark.parametrize(
    ("changed", "outcome", "others"),
    [
        ({("5", "2"): (150, 150), ("50", "2"): (150, 150)}, "reproduced", ["reproduced", "no difference"]),
        ({("5", "2"): (150, 100)}, "no difference", ["no difference", "no difference"]),
        ({("5", "2"): (50, 150), ("50", "2"): (150, 150)}, "reversed", ["reproduced", "no difference"]),
        ({("50", "3"): (150, 100)}, "no difference", ["no difference", "reproduced"]),
    ],
)
def test_a_sentence_needs_all_its_parts_in_each_reading(changed: Any, outcome: str, others: list[str]) -> None:
    (found,) = sentences(judged(EVEN | changed))
    assert (found.name, found.source, found.outcome) == ("two-leads-5", "§1", outcome)
    assert found.others == dict(zip(["first 10 s", "three for two"], others, strict=True))
    assert in_any_reading([found]) == ("reproduced" in (outcome, *others))
    assert words(counts([found])).startswith("1 ")


@pytest.mark.parametrize(
    ("ratio", "outcome"),
    [(1.5, "reproduced"), (1.2, "differs"), (1.0, "no difference"), (0.8, "reversed"), (2.0, "differs")],
)
def test_a_stated_gain_can_be_smaller_absent_or_a_loss(ratio: float, outcome: str) -> None:
    claims = """\
metrics = ["goodput"]

[[claim]]
id = "gain"
text = "a gain of 50 %"
source = "§2"
kind = "bound"
axis = "algorithm"
where = { queue = "5" }
of = "2"
to = "1"
about = 1.5
"""
    (found,) = sentences(judged(EVEN | {("5", "2"): (100 * ratio, 100)}, claims))
    assert found.outcome == outcome


def test_a_missing_part_leaves_a_sentence_open() -> None:
    there = {key: value for key, value in EVEN.items() if key[0] == "5"} | {("5", "2"): (150.0, 150.0)}
    (found,) = sentences(judged(there))
    assert found.outcome == "cannot tell"
    assert found.others["three for two"] == "not run"


def test_the_first_claim_needs_its_words() -> None:
    document = tomllib.loads(CLAIMS)
    del document["claim"][0]["text"]
    with pytest.raises(ClaimError, match="claim two-leads-5: text is missing"):
        parse_claims(document, LABELS, ["goodput", "start"])


@pytest.mark.parametrize("name", library.names())
def test_every_sentence_of_a_paper_has_a_main_reading(name: str) -> None:
    claims: list[dict[str, Any]] = library.find(name).claims["claim"]
    readings: dict[str, set[str]] = {}
    text = ""
    for claim in claims:
        text = " ".join(claim.get("text", text).split())
        readings.setdefault(text, set()).add(claim.get("reading", ""))
    assert [text for text, found in readings.items() if "" not in found] == []
