"""The page of all papers: each idea, what it claimed, what was found, and what it would do on hosts of today."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ackclock.files import storage
from ackclock.formatting import numbers
from ackclock.literature import sentences, today
from ackclock.literature.library import Paper
from ackclock.literature.report import Report
from ackclock.literature.sentences import Outcome
from ackclock.literature.today import QUESTIONS, TESTED, Compared, Effect
from ackclock.reports import (
    Answer,
    Axis,
    Bullets,
    Cell,
    Column,
    Figure,
    Panel,
    Part,
    Section,
    Series,
    Table,
    Text,
    page,
)
from ackclock.reports.pages import Item, Sentence
from ackclock.statistics.intervals import Interval, rounded

KIND = "papers"
PAGE = "report.html"
TODAY = "hosts of today"
MARKS = {"better": "better", "worse": "worse"}
SAID = {"never acts": "the rule never acts", "no result": "a run has no value"}


@dataclass(frozen=True)
class Reproduced:
    """A paper with its written report."""

    paper: Paper
    report: Report

    @property
    def counts(self) -> Counter[Outcome]:
        """Number of the paper's sentences by outcome, each in its main reading."""
        return self.report.counts

    @property
    def link(self) -> str:
        """The paper's report, relative to the page."""
        return f"{self.paper.name}/{self.report.html.name}"


Effects = Mapping[str, Sequence[Compared]]
"""What each world shows of each paper's idea, by the paper's name."""


def write(done: Sequence[Reproduced], effects: Effects, directory: Path, *, quick: bool) -> None:
    """Write the page."""
    storage.write_text(directory / PAGE, _page(done, effects, quick=quick))


def _page(done: Sequence[Reproduced], effects: Effects, *, quick: bool) -> str:
    sections = [
        Section(f"Each idea on {TODAY}", [*_today(done, effects, quick=quick)], folded=False, anchor="today"),
        *(_section(item, effects.get(item.paper.name, ())) for item in done),
    ]
    about = f"{numbers.counted(len(done), 'paper')} reproduced{', quick: a subset of each plan' if quick else ''}"
    return page(
        "Five ideas for TCP, and what is left of them" if len(done) == 5 else "Papers reproduced",
        Answer(_answer(done, effects), _lead(done)), sections, about=about,
    )  # fmt: skip


def _answer(done: Sequence[Reproduced], effects: Effects) -> list[Sentence]:
    total: Counter[Outcome] = sum((item.counts for item in done), Counter())
    all_of_them, papers = numbers.counted(total.total(), "sentence"), numbers.counted(len(done), "paper")
    said: list[Sentence] = [f"Of {all_of_them} in {papers}, {sentences.words(total)}."]
    worlds = list(dict.fromkeys(today.how(each.world) for own in effects.values() for each in own))
    for way in worlds:
        there = {name: each for name, own in effects.items() for each in own if today.how(each.world) == way}
        better = [name for name, each in there.items() if _gains(each.host)]
        gain = f"{len(better)} of {numbers.counted(len(there), 'idea')} {'gains' if len(better) == 1 else 'gain'}"
        whose = f": {', '.join(better)}" if better else ""
        said.append(f"On {TODAY} ({way}), {gain} in some comparison with a loss excluded in all others{whose}.")
        control = {item.paper.name: _control(item.paper) for item in done}
        for name, each in there.items():
            largest = max(
                (place for place, it in enumerate(each.host) if it.verdict == "better" and it.question.flow == TESTED),
                key=lambda place: abs(math.log(each.host[place].ratio.mean)),
                default=None,
            )
            if largest is not None and (found := whose_gain(name, control[name], each, largest)):
                said.append(f"{found[:1].upper()}{found[1:]}.")
    return said


def _gains(effects: Sequence[Effect]) -> bool:
    """Whether an idea is better in some comparison, and in no other is a loss shown or possible."""
    verdicts = {effect.verdict for effect in effects}
    return "better" in verdicts and verdicts <= {"better", "no difference", "never acts"}


def _control(paper: Paper) -> str:
    """Return the words for a paper's control; empty if the host as it is is the control."""
    return paper.contents.summary.control_name if paper.contents.summary is not None else ""


def whose_gain(name: str, control: str, compared: Compared, place: int) -> str:
    """Say whose a gain or loss is, the idea's or its control's, from what the judge finds of both.

    Parameters
    ----------
    name
        The idea.
    control
        The words for its control; empty if the host as it is is the control.
    compared
        The idea in one world.
    place
        The index of the question.

    Returns
    -------
    str
        A clause without its full stop; empty if the idea has neither a gain nor a loss there, or no control.
    """
    own = compared.host[place]
    if not own.decided or not control or not compared.control:
        return ""
    beside, alone = compared.control[place], compared.alone[place]
    noun = "gain" if own.verdict == "better" else "loss"
    both, way = f"{_factor(own)} against {_factor(alone)}", today.how(compared.world)
    title, whose = own.question.title, f"{name}'s {noun}"
    if beside.verdict == "never acts" or beside.verdict == "no difference":
        return f"{title}: {whose} is that of {control} ({both}, {way})"
    if not beside.decided:
        return f"{title}: the runs cannot tell whether {whose} is its own ({both} for {control}, {way})"
    if beside.verdict != own.verdict:
        return f"{title}: {whose} is smaller than that of {control} ({both}, {way})"
    if alone.verdict == own.verdict:
        return f"{title}: {whose} exceeds that of {control} ({both}, {way})"
    return f"{title}: {whose} is its own ({both} for {control}, {way})"


def _factor(effect: Effect) -> str:
    return "no value" if math.isnan(effect.ratio.mean) else f"×{rounded(effect.ratio)[0]}"


def _lead(done: Sequence[Reproduced]) -> Figure:
    names = [item.paper.name for item in done]
    series = [Series(way, names, [item.counts[way] for item in done], "bars") for way in sentences.OUTCOMES]
    panel = Panel(series, x=Axis("paper", names=names), y=Axis("sentences"))
    return Figure("Outcomes of each paper's sentences, in their main reading", [panel], "verdicts")


def _today(done: Sequence[Reproduced], effects: Effects, *, quick: bool) -> list[Item]:
    if not effects:
        return [Text(f"No paper names parts for {TODAY}.")]
    papers = {item.paper.name: item.paper for item in done if item.paper.name in effects}
    panels = [_panel(place, list(papers), effects) for place in range(len(QUESTIONS))]
    columns = [Column(name) for name in ("idea", "over", "numbers")]
    columns += [Column(question.title, "number") for question in QUESTIONS]
    worlds = [each.world for each in next(iter(effects.values()))]
    counts = ", ".join(f"{len(today.seeds(world, quick=quick))} {today.how(world)}" for world in worlds)
    preview = "; a quick page has fewer, so that a verdict may be another with all" if quick else ""
    note = (
        f"Ratios of means with 95 % intervals over seeds (Fieller's; {counts}{preview}); a dashed line marks no "
        f"change. Better and worse: by more than {today.TOLERANCE.text}, after Holm's correction for all comparisons "
        "of a world; no difference: the whole interval is within it; the runs cannot tell otherwise. Where the values "
        "of every pair are equal, the rule never acts."
    )
    text = (
        "The parts of each idea replace those of one flow of the host preset linux, which has CUBIC, RACK-TLP and an "
        "initial window of ten segments. Its control has everything of the idea but its rule. The line has 50 Mbit/s, "
        "a round-trip time drawn between 20 and 100 ms, and a queue of one bandwidth-delay product, or of a quarter of "
        "it if it is short."
    )
    rows = [row for name, paper in papers.items() for row in _rows(name, _control(paper), effects[name])]
    figure = Figure(f"Each idea on {TODAY}", panels, "ratios", numbers=Table(columns, rows), note=note)
    refused = [
        f"{name} cannot run on {each.world.title}: {each.refused}."
        for name, own in effects.items()
        for each in own
        if each.refused
    ]
    return [Text(text), *([Bullets(refused)] if refused else []), figure]


def _panel(place: int, names: Sequence[str], effects: Effects) -> Panel:
    """Return the panel of a question: in each world, the ideas over the host as it is and over their controls."""
    question, shown = QUESTIONS[place], []
    for index, first in enumerate(effects[names[0]]):
        for over, words in (("host", "the host as it is"), ("control", "its control")):
            own = {name: getattr(effects[name][index], over) for name in names}
            there = [name for name in names if own[name] and math.isfinite(own[name][place].ratio.mean)]
            ratios = [own[name][place].ratio for name in there]
            low, high = ([_or_mean(getattr(each, end), each) for each in ratios] for end in ("low", "high"))
            if there:
                texts, means = [_text(each) for each in ratios], [each.mean for each in ratios]
                title = f"over {words}, {today.how(first.world)}"
                shown.append(Series(title, there, means, "points", low, high, texts))
    axis = Axis(f"ratio ({'more' if question.better > 0 else 'less'} is better)")
    return Panel(shown, title=question.title, x=Axis(names=names), y=axis, references=[1.0])


def _rows(name: str, control: str, compared: Sequence[Compared]) -> list[list[str | Cell]]:
    """Return the rows of an idea: over the host and over its control, and those of the control, in each world."""
    made: list[list[str | Cell]] = []
    for who, over, words in (
        (name, "host", "the host as it is"), (name, "control", control), (control, "alone", "the host as it is"),
    ):  # fmt: skip
        for each in compared:
            if own := getattr(each, over):
                cells = [Cell(_shown(it), it.ratio.mean, MARKS.get(it.verdict, "")) for it in own]
                made.append([who, words, today.how(each.world), *cells])
    return made


def _shown(effect: Effect) -> str:
    """Return a ratio, or that the rule never acts."""
    return SAID.get(effect.verdict, _text(effect.ratio))


def _or_mean(end: float, whole: Interval) -> float:
    return end if math.isfinite(end) else whole.mean


def _text(value: Interval) -> str:
    if not math.isfinite(value.mean):
        return "–"
    mean, low, high = rounded(value)
    return f"×{mean} [{low}, {high}]"


def _section(item: Reproduced, effects: Sequence[Compared]) -> Section:
    summary = item.paper.contents.summary
    found: list[str | Part] = [Part("Found. ", mark="strong")]
    # The last sentence of an answer counts the paper's sentences, as the figure above does.
    for sentence in item.report.answer.sentences[:-1] or item.report.answer.sentences:
        found += [Part(part.text, f"{item.link}#{part.claim}" if part.claim else "", part.mark) for part in sentence]
        found.append(" ")
    counted = sentences.words(item.counts)
    bullets: list[Sentence] = []
    if summary is not None:
        bullets += [[Part("Idea. ", mark="strong"), summary.idea], [Part("Claim. ", mark="strong"), summary.claim]]
    bullets.append(found)
    for each in effects:
        bullets.append(_on(each))
        whose = [whose_gain(item.paper.name, _control(item.paper), each, place) for place in range(len(each.host))]
        if own := "; ".join(filter(None, whose)):
            bullets.append([Part("Whose. ", mark="strong"), f"{own[:1].upper()}{own[1:]}."])
    if effects and not _control(item.paper):
        bullets.append(
            [Part("Control. ", mark="strong"), "The host as it is: without its rule, nothing is left of the idea."]
        )
    bullets.append([f"All sentences ({counted}), figures and causes: ", Part("the report", item.link), "."])
    return Section(
        item.paper.title, [Text(item.paper.reference), Bullets(bullets)], folded=False, anchor=item.paper.name
    )


def _on(compared: Compared) -> Sentence:
    """Say what an idea does in one world, over the host as it is."""
    said: list[str | Part] = [Part(f"On {TODAY}, {today.how(compared.world)}. ", mark="strong")]
    if compared.refused:
        return [*said, f"It cannot run: {compared.refused}."]
    for place, it in enumerate(compared.host):
        text = f"{it.question.title}{'' if it.verdict in SAID else f' {_text(it.ratio)}'}: "
        said += ["; " if place else "", text if place else text[:1].upper() + text[1:]]
        said.append(Part(SAID.get(it.verdict, it.verdict), mark=MARKS.get(it.verdict, "")))
    return [*said, "."]
