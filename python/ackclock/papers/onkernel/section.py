"""The part of a paper's report on the kernel: its verdicts beside those of simulations, and how the runs were made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ackclock.papers import answers
from ackclock.papers.onkernel import hosts, judging
from ackclock.papers.onkernel.choosing import REPETITIONS
from ackclock.papers.onkernel.runs import OnMachine
from ackclock.papers.verdicts import Judgement
from ackclock.reports import Cell, Column, Table, units
from ackclock.texts.numbers import counted, in_words, number

ANCHOR = "kernel"
"""The name of the section in links."""
DECIDED = ("holds", "does not hold")
RUN = (*DECIDED, "cannot tell")


def manifest(found: OnMachine) -> dict[str, Any]:
    """Return what the manifest says of the runs: kernel, budget, numbers of runs, and refusals by scenario."""
    choice = found.choice
    return {
        "release": choice.release,
        "budget_s": choice.budget,
        "runs": found.count,
        "tainted": len(found.missing),
        "refused": dict(choice.refused),
    }


def agreement(judgements: Sequence[Judgement]) -> tuple[int, int]:
    """Count the verdicts on the kernel that agree with the simulation, and all that are decided on both sides."""
    pairs = [(item.kernel.verdict, item.verdict) for item in judgements if item.kernel]
    decided = [here == there for here, there in pairs if here in DECIDED and there in DECIDED]
    return sum(decided), len(decided)


def sentence(release: str, judgements: Sequence[Judgement]) -> list[answers.Part]:
    """Say how many verdicts on the kernel agree with the simulation; the numbers link to the section."""
    same, count = agreement(judgements)
    numbers = answers.Part(f"{same} of {counted(count, 'decided verdict')}", ANCHOR)
    ending = f" {'agrees' if same == 1 else 'agree'} with the simulation."
    return [answers.Part(f"On the kernel's TCP (Linux {release}), "), numbers, answers.Part(ending)]


def context(found: OnMachine, judgements: Sequence[Judgement]) -> dict[str, Any]:
    """Return the values of the report's section.

    Parameters
    ----------
    found
        The results of the runs.
    judgements
        The judgements of all readings, with those on the kernel.
    """
    ran = [item for item in judgements if item.kernel is not None and item.kernel.verdict in RUN]
    given = {run.given.hash: run.given for run in found.choice.runs}
    replaced = dict.fromkeys(it for scenario in given.values() for it in hosts.replaced(scenario))
    return {
        "sentence": "".join(part.text for part in sentence(found.choice.release, judgements)),
        "made": _made(found),
        "verdicts": _verdicts(ran),
        "ratios": _ratios(found),
        "not_run": _not_run(found),
        "warnings": list(dict.fromkeys(str(row["warnings"]) for row in found.rows if row["warnings"])),
        "hosts": Table(
            [Column("setting"), Column("the paper's hosts"), Column("hosts on the kernel")],
            [[it.setting, it.paper, it.kernel] for it in replaced],
        ),
    }


def reading(item: Judgement) -> Mapping[str, Any] | None:
    """Return the verdict of a reading on the kernel for the table of claims; None without one."""
    if item.kernel is None:
        return None
    return {
        "verdict": item.kernel.verdict,
        "why": item.kernel.why,
        "slug": _slug(item.kernel.verdict),
        "reasons": [*item.kernel.reasons, *([item.kernel.evidence.text] if item.kernel.evidence else [])],
        "ranking": answers.ranking(item.kernel),
    }


def _made(found: OnMachine) -> str:
    choice = found.choice
    runs = f"{counted(found.count, 'run')} on Linux {choice.release}, one at a time, {REPETITIONS} of each cell"
    late = f"The latest 1 % of packets left the emulator at least {number(1000 * judging.latest(found), 2)} ms late"
    again = sum(int(row["attempts"]) > 1 for row in found.rows)
    repeated = f"{counted(again, 'run')} {'was' if again == 1 else 'were'} repeated because of late packets"
    missing = f", and {len(found.missing)} have no result" if found.missing else ""
    time = f"about {in_words(choice.seconds)} of real time, of a budget of {in_words(choice.budget)}"
    return f"{runs}: {time}. {late} in the worst run; {repeated}{missing}."


def _verdicts(ran: Sequence[Judgement]) -> Table:
    columns = [
        Column("claim"), Column("reading"),
        Column("simulation", meaning="the paper's hosts, simulated, with all repetitions of the plan"),
        Column("Linux, simulated", meaning="hosts of Linux, simulated, with the repetitions of the kernel"),
        Column("kernel"), Column("reason"),
    ]  # fmt: skip
    rows = []
    for item in ran:
        assert item.kernel is not None
        simulated = item.kernel.simulated
        rows.append([
            Cell(item.claim.id, target=item.claim.id), units.name(item.metric), _verdict(item),
            _verdict(simulated) if simulated else None, _verdict(item.kernel), "; ".join(item.kernel.reasons[:1]),
        ])  # fmt: skip
    return Table(columns, rows)


def _ratios(found: OnMachine) -> Table:
    columns = [Column("reading"), *(Column(name, "number") for name in ("runs", "median", "smallest", "largest"))]
    rows = [[units.name(it.metric), it.count, it.median, it.low, it.high] for it in judging.agreements(found)]
    return Table(columns, rows)


def _not_run(found: OnMachine) -> list[str]:
    """Count the readings that were not run, by reason."""
    beyond = [reading for reading in found.choice.readings if reading.cost]
    others = Counter(reading.reason for reading in found.choice.readings if reading.reason and not reading.cost)
    said = []
    if beyond:
        least = min(reading.cost for reading in beyond)
        budget = in_words(found.choice.budget)
        said.append(f"{len(beyond)}: beyond the budget of {budget}; the next one needs {in_words(least)} more")
    return [*said, *(f"{count}: {reason}" for reason, count in others.most_common())]


def _verdict(judgement: Judgement) -> Cell:
    return Cell(judgement.verdict, mark=_slug(judgement.verdict))


def _slug(verdict: str) -> str:
    return verdict.replace(" ", "-")
