"""Populations drawn from quantiles, suites, and presets of links as places of a comparison."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

import ackclock
from ackclock import _core
from ackclock.comparisons import places, planning
from ackclock.files import populations
from ackclock.scenario import load

ONE = 'duration = "5 s"\n[topology]\naccess = { rate = "10 Gbit/s", delay = "0 s" }\n[flow]\nsize = "20 kB"\n'


def cells(column: tuple[str, str, bytes]) -> list[str]:
    """Return the cells of a column."""
    _, text, lengths = column
    found, at = [], 0
    for place in range(0, len(lengths), 4):
        end = at + int.from_bytes(lengths[place : place + 4], "little")
        found.append(text.encode()[at:end].decode())
        at = end
    return found


def own(tmp_path: Path, quantity: str) -> Path:
    """Write a population with one quantity."""
    file = tmp_path / "own.toml"
    file.write_text(f"# Own paths.\n[[quantity]]\n{quantity}\n")
    return file


@pytest.mark.parametrize("name", populations.names())
def test_a_share_of_the_paths_is_below_each_published_quantile(name: str) -> None:
    count = 4000
    drawn = populations.columns(name, count, seed=7)
    for quantity, column in zip(populations.read(name), drawn[1:], strict=True):
        values = [float(cell) / quantity.times for cell in cells(column)]
        inner = [pair for pair in quantity.quantiles if 0 < pair[0] < quantity.quantiles[-1][0]]
        assert inner or quantity.name == "buffer"
        for percent, value in inner:
            # Four significant digits of the cells; four standard deviations of the share.
            below = sum(each <= value * 1.001 for each in values) / count
            spread = 4 * math.sqrt(percent / 100 * (1 - percent / 100) / count)
            assert abs(below - percent / 100) < spread + 0.002, (quantity.name, percent)
        assert min(values) >= quantity.quantiles[0][1] * 0.999
        assert max(values) <= quantity.quantiles[-1][1] * 1.001


def test_the_buffer_is_log_uniform() -> None:
    column = populations.columns("us", 4000, seed=3)[4]
    assert column[0] == "topology.bottleneck.queue.limit (BDP)"
    logs = sorted(math.log(float(cell)) for cell in cells(column))
    low, high = math.log(0.2), math.log(5)
    ideal = [low + (high - low) * (index + 0.5) / len(logs) for index in range(len(logs))]
    # The distance of Kolmogorov and Smirnov, above whose bound one sample in a million lies.
    distance = max(abs(one - other) for one, other in zip(logs, ideal, strict=True)) / (high - low)
    assert distance < 2.7 / math.sqrt(len(logs))


def test_a_path_depends_on_its_number_and_the_seed_only() -> None:
    small, large = (populations.columns("us", count, seed=1) for count in (5, 50))
    assert [cells(column) for column in small] == [cells(column)[:5] for column in large]
    assert cells(populations.columns("us", 5, seed=2)[1]) != cells(small[1])
    # Equal ranks in all populations: who is faster in one is faster in the other.
    rates = [[float(cell) for cell in cells(populations.columns(name, 50, seed=1)[1])] for name in ("us", "in")]
    orders = [sorted(range(50), key=row.__getitem__) for row in rates]
    assert orders[0] == orders[1]
    # A fast line is fast in both directions, but the round trip does not follow.
    down, up, delay = ([float(cell) for cell in cells(large[index])] for index in (1, 2, 3))
    assert (
        sorted(range(50), key=down.__getitem__)
        == sorted(range(50), key=up.__getitem__)
        != sorted(range(50), key=delay.__getitem__)
    )
    assert [column[0] for column in small] == [
        "label",
        "topology.bottleneck.rate (Mbit/s)",
        "topology.bottleneck.reverse.rate (Mbit/s)",
        "topology.bottleneck.delay (ms)",
        "topology.bottleneck.queue.limit (BDP)",
    ]


def test_values_between_quantiles_and_beyond_them(tmp_path: Path) -> None:
    text = 'name = "rate"\nkey = "topology.bottleneck.rate"\nunit = "Mbit/s"\nsource = "a test"\n'
    file = own(tmp_path, f"{text}quantiles = [[10, 1], [90, 100]]")
    quantity = populations.read(str(file))[0]
    assert [quantity.at(percent) for percent in (0, 10, 50, 90, 100)] == pytest.approx([1, 1, 10, 100, 100])
    file = own(tmp_path, f'{text}scale = "linear"\nquantiles = [[10, 0], [90, 100]]')
    assert populations.read(str(file))[0].at(50) == 50


@pytest.mark.parametrize(
    ("quantity", "message"),
    [
        ("", "name is missing"),
        ("quantiles = [[10, 3], [5, 4]]", "quantiles must be a list of [percent, value] whose percents rise"),
        ("quantiles = [[10, 3], [50, 2]]", "the values of quantiles must not fall"),
        ("quantiles = [[10, 0], [50, 2]]", 'the values of quantiles must be above 0, or scale must be "linear"'),
        ('quantiles = [[10, 1]]\nunti = "ms"', "there is no key 'unti', did you mean 'unit'?"),
    ],
)
def test_wrong_populations(tmp_path: Path, quantity: str, message: str) -> None:
    usual = 'name = "rate"\nkey = "topology.bottleneck.rate"\nunit = "Mbit/s"\nsource = "a test"\n' if quantity else ""
    with pytest.raises(ValueError) as caught:
        populations.read(str(own(tmp_path, usual + quantity)))
    assert message.partition(", did")[0] in str(caught.value)


def test_a_scenario_draws_its_paths(tmp_path: Path) -> None:
    file = tmp_path / "t.toml"
    file.write_text(f'{ONE}[sweep]\npaths = {{ population = "us", count = 3, seed = 4 }}\n')
    points = load(file).sweep_points()
    assert len(points) == 3
    assert [labels["paths"] for labels, _ in points] == cells(populations.columns("us", 3, 4)[0])
    (tmp_path / "homes.toml").write_text((populations.FOLDER / "us.toml").read_text())
    file.write_text(file.read_text().replace('"us"', '"homes.toml"'))
    assert [scenario.hash for _, scenario in load(file).sweep_points()] == [scenario.hash for _, scenario in points]
    file.write_text(file.read_text().replace('"homes.toml"', '"uss"'))
    with pytest.raises(ackclock.ScenarioError, match="unknown population 'uss'; did you mean 'us'"):
        load(file).sweep_points()


SIZES = {"interop": 4, "msquic_wan": 108, "tcpeval": 5, "rfc8867": 4, "l4s_grid": 90}


def test_every_suite_is_known() -> None:
    assert {name for name, _ in places.suites()} == set(SIZES)


@pytest.mark.parametrize("name", SIZES)
def test_every_path_of_a_suite_is_a_scenario(name: str) -> None:
    (place,) = places.find([f"suite:{name}"])
    assert (len(place.paths), place.rows, place.population) == (SIZES[name], SIZES[name], True)
    assert place.summary
    assert all(path.tested for path in place.paths)


def test_presets_are_places() -> None:
    names = [link["name"] for link in json.loads(_core.links())]
    assert not set(names) & {place.name for place in places.shipped()}
    found = places.find(names)
    assert [place.name for place in found] == names
    assert not any(place.population for place in found)
    varied = {place.name: place.paths[0].constant for place in found}
    assert varied["geo"]
    assert not varied["leo"], "its rate is a schedule, which is not varied"
    plan = planning.Plan([], places.find(["leo", "geo"]))
    assert [unit.drawn for place in plan.places for unit in plan.units(place, 1, 2)] == [False, True]


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("suite:interopp", "unknown suite 'interopp'; did you mean 'interop'?"),
        ("population:uss", "unknown population 'uss'; did you mean 'us'?"),
        ("population:us:many", "population:us:many: expected population:NAME:COUNT:SEED, as in population:us:500:1"),
        ("population:us:5:1:2", "expected population:NAME:COUNT:SEED"),
        ("goe", "unknown path 'goe'; did you mean 'geo'?"),
    ],
)
def test_wrong_places(word: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        places.find([word])
    assert message in str(caught.value)


def test_a_comparison_over_a_population_and_a_suite() -> None:
    found = ackclock.compare(
        "reno", "cubic", paths=["population:us:4:2", "suite:interop", "leo"], size="20 kB", harm=False, seeds=1
    )
    again = ackclock.compare(
        "reno", "cubic", paths=["population:us:4:2", "suite:interop", "leo"], size="20 kB", harm=False, seeds=1
    )
    assert found.runs.equals(again.runs)
