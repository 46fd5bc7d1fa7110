"""The parts of a paper's report on other worlds: verdicts beside those of simulations, and how the runs were made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ackclock.experiments.world import World
from ackclock.formatting.names import in_file
from ackclock.formatting.numbers import counted, in_words, number
from ackclock.linux import hosts, stacks
from ackclock.literature import answers
from ackclock.literature.verdicts import Judgement
from ackclock.literature.worlds import judging
from ackclock.literature.worlds.choosing import Choice
from ackclock.literature.worlds.runs import Elsewhere
from ackclock.reports import Cell, Column, Table, units

DECIDED = ("holds", "does not hold")
RUN = (*DECIDED, "cannot tell")
KERNEL = (
    (
        "Verdicts differ for two reasons: other hosts, or what a simulation leaves out. The column “Linux, simulated” "
        "separates them: it has the kernel's scenarios, hosts and repetitions."
    ),
    "Each run on the kernel is divided by the simulation of the same scenario with hosts of Linux.",
    "Linux's",
)
STACK = (
    "The column “TCP, simulated” has the paper's hosts, with the scenarios and repetitions of the stack.",
    "Each run is divided by the simulation of the same scenario with the paper's hosts.",
    "those of a QUIC stack",
)
"""What a section says of the column of simulations, of the ratios, and of the hosts."""


def anchor(world: World) -> str:
    """Return the name of a world's section in links."""
    return f"world-{in_file(world.name)}"


def agreement(world: World, judgements: Sequence[Judgement]) -> tuple[int, int]:
    """Count the verdicts in a world that agree with the simulation, and all that are decided on both sides."""
    pairs = [(item.worlds[world.name].verdict, item.verdict) for item in judgements if world.name in item.worlds]
    decided = [here == there for here, there in pairs if here in DECIDED and there in DECIDED]
    return sum(decided), len(decided)


def sentence(world: World, judgements: Sequence[Judgement]) -> list[answers.Part]:
    """Say how many verdicts in a world agree with the simulation; the numbers link to the section."""
    same, count = agreement(world, judgements)
    numbers = answers.Part(f"{same} of {counted(count, 'decided verdict')}", anchor(world))
    ending = f" {'agrees' if same == 1 else 'agree'} with the simulation."
    return [answers.Part(f"On {world.title}, "), numbers, answers.Part(ending)]


def context(found: Elsewhere, judgements: Sequence[Judgement]) -> dict[str, Any]:
    """Return the values of a world's section in the report.

    Parameters
    ----------
    found
        The results of the runs.
    judgements
        The judgements of all readings, with those in the world.
    """
    world = found.choice.world
    given = {run.given.hash: run.given for run in found.choice.runs}
    replaced = stacks.replaced if world.name in stacks.NAMES else hosts.replaced
    settings = dict.fromkeys(it for scenario in given.values() for it in replaced(scenario))
    beside, divided, whose = KERNEL if world.release else STACK
    return {
        "name": world.name,
        "title": world.title,
        "anchor": anchor(world),
        "sentence": "".join(part.text for part in sentence(world, judgements)),
        "made": _made(found),
        "verdicts": _verdicts(world, judgements),
        "ratios": _ratios(found),
        "not_run": _not_run(found),
        "warnings": list(dict.fromkeys(str(row["warnings"]) for row in found.rows if row.get("warnings"))),
        "beside": beside,
        "divided": divided,
        "whose": whose,
        "hosts": Table(
            [Column("setting"), Column("the paper's hosts"), Column(f"hosts in {world.name}")],
            [[it.setting, it.given, it.there] for it in settings],
        ),
    }


def readings(item: Judgement) -> dict[str, dict[str, Any]]:
    """Return the verdicts of a reading in other worlds for the table of claims, by the names of the worlds."""
    return {
        name: {
            "verdict": own.verdict,
            "why": own.why,
            "slug": _slug(own.verdict),
            "reasons": [*own.reasons, *([own.evidence.text] if own.evidence else [])],
            "ranking": answers.ranking(own),
        }
        for name, own in item.worlds.items()
    }


def _made(found: Elsewhere) -> str:
    choice = found.choice
    runs = f"{counted(found.count, 'run')} on {choice.world.title}"
    missing = f" {counted(len(found.missing), 'run')} had no result." if found.missing else ""
    if choice.world.virtual or choice.budget is None:
        return f"{runs}, {_each(choice)} of each cell.{missing}"
    late = f"The latest 1 % of packets left the emulator at least {number(1000 * judging.latest(found), 2)} ms late"
    again = sum(int(row["attempts"]) > 1 for row in found.rows)
    repeated = f"{counted(again, 'run')} {'was' if again == 1 else 'were'} repeated because of late packets"
    time = f"about {in_words(choice.seconds)} of real time, of a budget of {in_words(choice.budget)}"
    return f"{runs}, one at a time, {_each(choice)} of each cell: {time}. {late} in the worst run; {repeated}.{missing}"


def _each(choice: Choice) -> str:
    """Return how often cells are repeated."""
    counts = sorted(set(Counter(run.cell for run in choice.runs).values()))
    return " to ".join(map(str, dict.fromkeys((*counts[:1], *counts[-1:]))))


def _verdicts(world: World, judgements: Sequence[Judgement]) -> Table:
    columns = [
        Column("claim"), Column("reading"),
        Column("simulation", meaning="the paper's hosts, simulated, with all repetitions of the plan"),
        _beside(world),
        Column(world.name), Column("reason"),
    ]  # fmt: skip
    rows = []
    for item in judgements:
        own = item.worlds.get(world.name)
        if own is not None and own.verdict in RUN:
            rows.append([
                Cell(item.claim.id, target=item.claim.id), units.name(item.metric), _verdict(item),
                _verdict(own.simulated) if own.simulated else None, _verdict(own), "; ".join(own.reasons[:1]),
            ])  # fmt: skip
    return Table(columns, rows)


def _beside(world: World) -> Column:
    if world.release:
        return Column("Linux, simulated", meaning="hosts of Linux, simulated, with the repetitions of the kernel")
    return Column("TCP, simulated", meaning=f"the paper's hosts, simulated, with the repetitions of {world.name}")


def _ratios(found: Elsewhere) -> Table:
    columns = [Column("reading"), *(Column(name, "number") for name in ("runs", "median", "smallest", "largest"))]
    rows = [[units.name(it.metric), it.count, it.median, it.low, it.high] for it in judging.agreements(found)]
    return Table(columns, rows)


def _not_run(found: Elsewhere) -> list[str]:
    """Count the readings that were not run, by reason."""
    budget = found.choice.budget
    beyond = [reading for reading in found.choice.readings if reading.cost]
    others = Counter(reading.reason for reading in found.choice.readings if reading.reason and not reading.cost)
    said = []
    if beyond and budget is not None:
        least = in_words(min(reading.cost for reading in beyond))
        said.append(f"{len(beyond)}: beyond the budget of {in_words(budget)}; the next one needs {least} more")
    return [*said, *(f"{count}: {reason}" for reason, count in others.most_common())]


def _verdict(judgement: Judgement) -> Cell:
    return Cell(judgement.verdict, mark=_slug(judgement.verdict))


def _slug(verdict: str) -> str:
    return verdict.replace(" ", "-")
