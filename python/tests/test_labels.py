"""Labels as users write them."""

from __future__ import annotations

import pytest

from ackclock.formatting.labels import find, last_part

LABELS = ["flow.0.avoidance", "flow.1.avoidance", "topology.bottleneck.delay", "seed"]


def test_a_label_is_found_by_its_path_or_its_last_part() -> None:
    assert find("--x", "label", "delay", LABELS) == "topology.bottleneck.delay"
    assert find("--x", "label", "flow.0.avoidance", LABELS) == "flow.0.avoidance"
    assert find("--x", "label", "seed", [*LABELS, "flow.seed"]) == "seed", "the whole name has precedence"
    assert last_part("seed") == "seed"


@pytest.mark.parametrize(
    ("word", "names", "message"),
    [
        ("avoidance", LABELS, "more than one label ends in 'avoidance': flow.0.avoidance, flow.1.avoidance"),
        ("dealy", LABELS, "there is no label 'dealy'; did you mean 'delay'? (known: flow.0.avoidance, "),
        ("x", [], "there is no label 'x' (known: none)"),
    ],
)
def test_a_label_that_is_not_unique_is_refused(word: str, names: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=r"^--x: ") as caught:
        find("--x", "label", word, names)
    assert message in str(caught.value)
