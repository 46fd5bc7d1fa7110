"""The page of all papers: each idea, what it claimed, what was found, and what it would do on hosts of today."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ackclock.files import storage
from ackclock.formatting import numbers
from ackclock.judging.tolerances import SAME
from ackclock.literature import sentences
from ackclock.literature.library import Paper
from ackclock.literature.report import Report
from ackclock.literature.sentences import Outcome
from ackclock.literature.today import HOST, QUESTIONS, Effect
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
MARKS = {"better": "better", "worse": "worse"}


@dataclass(frozen=True)
class Reproduced:
    """A paper with its written report."""

    paper: Paper
    report: Report

    @property
    def counts(self) -> Counter[Outcome]:
        """Number of the paper's sentences by outcome, each in its main reading."""
        return sentences.counts(sentences.of_paper(self.report.judgements))

    @property
    def link(self) -> str:
        """The paper's report, relative to the page."""
        return f"{self.paper.name}/{self.report.html.name}"


def write(done: Sequence[Reproduced], effects: Mapping[str, Sequence[Effect]], directory: Path, *, quick: bool) -> None:
    """Write the page."""
    storage.write_text(directory / PAGE, _page(done, effects, quick=quick))


def _page(done: Sequence[Reproduced], effects: Mapping[str, Sequence[Effect]], *, quick: bool) -> str:
    sections = [
        Section(f"Each idea on {HOST}", [*_today(done, effects)], folded=False, anchor="today"),
        *(_section(item, effects.get(item.paper.name, ())) for item in done),
    ]
    about = f"{numbers.counted(len(done), 'paper')} reproduced{', quick: a subset of each plan' if quick else ''}"
    return page(
        "Five ideas for TCP, and what is left of them" if len(done) == 5 else "Papers reproduced",
        Answer(_answer(done, effects), _lead(done)), sections, about=about,
    )  # fmt: skip


def _answer(done: Sequence[Reproduced], effects: Mapping[str, Sequence[Effect]]) -> list[Sentence]:
    total: Counter[Outcome] = sum((item.counts for item in done), Counter())
    all_of_them, papers = numbers.counted(total.total(), "sentence"), numbers.counted(len(done), "paper")
    said: list[Sentence] = [f"Of {all_of_them} in {papers}, {sentences.words(total)}."]
    if effects:
        better = [name for name, own in effects.items() if _gains(own)]
        names = {item.paper.name: item.paper.title for item in done}
        gain = f"{len(better)} of {numbers.counted(len(effects), 'idea')} {'gains' if len(better) == 1 else 'gain'}"
        whose = f": {'; '.join(names[name] for name in better)}" if better else ""
        said.append(f"On {HOST}, {gain} in some comparison without a loss in another{whose}.")
    return said


def _gains(effects: Sequence[Effect]) -> bool:
    """Whether an idea is better in some comparison, and worse in none."""
    verdicts = [effect.verdict for effect in effects]
    return "better" in verdicts and "worse" not in verdicts


def _lead(done: Sequence[Reproduced]) -> Figure:
    names = [item.paper.name for item in done]
    series = [Series(way, names, [item.counts[way] for item in done], "bars") for way in sentences.OUTCOMES]
    panel = Panel(series, x=Axis("paper", names=names), y=Axis("sentences"))
    return Figure("Outcomes of each paper's sentences, in their main reading", [panel], "verdicts")


def _today(done: Sequence[Reproduced], effects: Mapping[str, Sequence[Effect]]) -> list[Item]:
    if not effects:
        return [Text("No paper names parts for hosts of today.")]
    names = [item.paper.name for item in done if item.paper.name in effects]
    panels = []
    for place, question in enumerate(QUESTIONS):
        own = [effects[name][place].ratio for name in names]
        low, high = ([_or_mean(getattr(each, end), each) for each in own] for end in ("low", "high"))
        means = [each.mean for each in own]
        series = Series("idea over the host as it is", names, means, "points", low, high, [_text(each) for each in own])
        axis = Axis(f"ratio ({'more' if question.better > 0 else 'less'} is better)")
        panels.append(Panel([series], title=question.title, x=Axis(names=names), y=axis, references=[1.0]))
    columns = [Column("idea"), *(Column(question.title, "number") for question in QUESTIONS)]
    rows = [
        [name, *(Cell(_text(it.ratio), it.ratio.mean, MARKS.get(it.verdict, "")) for it in effects[name])]
        for name in names
    ]
    note = (
        "Ratios of means with 95 % intervals over seeds (Fieller's); a dashed line marks no change. Better and worse: "
        f"by more than {SAME.text}, after Holm's correction for all ideas."
    )
    text = (
        f"The parts of each idea replace those of one flow of {HOST}, which has CUBIC, RACK-TLP and an initial window "
        "of ten segments. The line has 50 Mbit/s, a round-trip time drawn between 20 and 100 ms, and a queue of one "
        "bandwidth-delay product."
    )
    figure = Figure(f"Each idea against {HOST} as it is", panels, "ratios", numbers=Table(columns, rows), note=note)
    return [Text(text), figure]


def _or_mean(end: float, whole: Interval) -> float:
    return end if math.isfinite(end) else whole.mean


def _text(value: Interval) -> str:
    if not math.isfinite(value.mean):
        return "–"
    mean, low, high = rounded(value)
    return f"×{mean} [{low}, {high}]"


def _section(item: Reproduced, effects: Sequence[Effect]) -> Section:
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
    if effects:
        said: list[str | Part] = [Part(f"On {HOST}. ", mark="strong")]
        for place, it in enumerate(effects):
            text = f"{it.question.title} {_text(it.ratio)}: "
            said += ["; " if place else "", text[:1].upper() + text[1:] if not place else text]
            said.append(Part(it.verdict, mark=MARKS.get(it.verdict, "")))
        bullets.append([*said, "."])
    bullets.append([f"All sentences ({counted}), figures and causes: ", Part("the report", item.link), "."])
    return Section(
        item.paper.title, [Text(item.paper.reference), Bullets(bullets)], folded=False, anchor=item.paper.name
    )
