"""The contents of a `paper.toml` as frozen data classes, which declare its keys; `schema` reads the file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ackclock.experiments.draws import Jitter
from ackclock.experiments.pathtables import Values
from ackclock.experiments.repetitions import Rule, Sampling
from ackclock.files.schema import (
    STRICT,
    Amount,
    Choices,
    Count,
    Finite,
    Number,
    Of,
    Positive,
    Settings,
    Switch,
    Table,
    Text,
    Texts,
    TextTable,
    Word,
    Words,
    test,
)
from ackclock.metrics.flows import DERIVATIONS

Labels = Mapping[str, str]
MOST_REPETITIONS = 10_000
Seeds = Annotated[int, STRICT, Field(ge=1, le=100), Words("a whole number from 1 to 100")]
Repetitions = Annotated[
    int, STRICT, Field(ge=1, le=MOST_REPETITIONS), Words(f"a whole number from 1 to {MOST_REPETITIONS:,}")
]
Time = Annotated[
    str, STRICT, Field(pattern=r"^\s*\d+(\.\d+)?\s+(ns|us|µs|ms|s)\s*$"), Words('a time with its unit, such as "60 ms"')
]
Percentage = Annotated[
    str, STRICT, Field(pattern=r"^\d{1,2}(\.\d+)?\s*%$"), Words('a percentage below 100 %, such as "2 %"')
]
Pair = Annotated[tuple[Finite, Finite], test(lambda ends: ends[0] < ends[1])]
Spans = Annotated[
    dict[str, Annotated[Pair, test(lambda ends: ends[0] >= 0)]],
    Words("a table of spans in seconds, such as { delivered_start = [0, 50] }"),
]
Title = Annotated[
    str,
    STRICT,
    test(lambda title: "{}" in title and not re.search("[{}]", title.replace("{}", ""))),
    Words('a text with {} for the value, such as "IFQ {}"'),
]
Ratio = Annotated[
    dict[str, tuple[Word, Word]],
    test(lambda ratio: len(ratio) <= 1),
    Words('a label with two of its values, such as { response = ["RBT", "standard"] }'),
]
Axes = Annotated[
    dict[str, Texts | dict[str, dict[str, Word | bool | Amount]]],
    test(lambda axes: all(axes.values())),
    Words('a table of axes, such as { loss = ["1 %", "2 %"], response = { RBT = { response = "threshold" } } }'),
]
Bounds = Annotated[Pair, Words("a list of two numbers, the smaller first")]
VALUES = ("lines", "bars", "map", "best")
"""The kinds of chart that draw a metric over the values of a label."""
MEASURED = (*VALUES, "front")
"""The kinds of chart that draw a metric."""
Kinds = Annotated[tuple[Literal["cwnd", "throughput"], ...], Words("a list of cwnd, throughput")]
Derived = Annotated[
    tuple[Annotated[Word, test(DERIVATIONS.__contains__)], ...],
    Words(f"a list of {', '.join(DERIVATIONS)}"),
]


@dataclass(frozen=True)
class Experiment(Table):
    """An ``[[experiment]]``: a scenario file; its variants are cells.

    Attributes
    ----------
    file : str
        Its name in the paper's folder.
    labels : dict
        Labels of all its variants.
    only : dict
        Selected values by label.
    relabel : dict
        Labels that replace those of its cells.
    """

    file: Text
    labels: TextTable = field(default_factory=dict)
    only: Choices = field(default_factory=dict)
    relabel: TextTable = field(default_factory=dict)


@dataclass(frozen=True)
class ModelExperiment(Table):
    """A ``[[model]]``: an analytic model, evaluated at the points of its sweep.

    Attributes
    ----------
    name : str
        Name of the model.
    labels : dict
        Labels of all its points.
    parameters : dict
        Parameters of all its points.
    sweep : dict
        Axes by label: a list of values for the parameter of that name, or a table of values with their parameters.
    columns : dict
        Additional columns: outputs by column name.
    """

    name: Text
    labels: TextTable = field(default_factory=dict)
    parameters: Settings = field(default_factory=dict)
    sweep: Axes = field(default_factory=dict)
    columns: TextTable = field(default_factory=dict)


@dataclass(frozen=True)
class Deviations(Table):
    """The keys of ``jitter`` as written."""

    rate: Percentage | None = None
    delay: Time | None = None


@dataclass(frozen=True)
class Repeat(Table):
    """A ``[[repeat]]``: the rule of repetition for some cells, and the measures of their runs.

    Attributes
    ----------
    sampling, count, spread, jitter, exact, common, seeds
        The rule of repetition, see `Rule`.
    table : str
        Of a population: the file of its paths in the paper's folder, see `pathtables.read`.
    where : dict
        Labels of the cells.
    seeds_by : tuple of str
        Labels that give cells their own seeds.
    spans : dict
        Spans of time in seconds, by the column of the bytes that arrived in them.
    cwnd : dict
        Spans of time in seconds, by the column of the mean cwnd in them.
    derived : tuple of str
        Names of derivations, see `metrics.flows`.
    """

    KIND: ClassVar = ("sampling", "{key} belongs to sampling = {kinds}, not {own}")

    sampling: Sampling
    count: Repetitions
    spread: Annotated[Time, Of(("path", "offset"), needed=("path", "offset"))] = ""
    jitter: Annotated[Deviations | None, Of(("seed", "path"))] = None
    exact: Annotated[Repetitions, Of(("seed", "path"))] = 0
    common: Annotated[Repetitions, Of(("seed",))] = 0
    table: Annotated[Text, Of(("population",), needed=("population",))] = ""
    seeds: Annotated[Seeds, Of(("population",))] = 1
    where: TextTable = field(default_factory=dict)
    seeds_by: Annotated[Texts, Of(("seed",))] = ()
    spans: Spans = field(default_factory=dict)
    cwnd: Spans = field(default_factory=dict)
    derived: Derived = ()

    @property
    def runs(self) -> int:
        """Number of runs of a cell."""
        return self.count * self.seeds + self.exact + self.common

    def rule(self, paths: Values = ()) -> Rule:
        """Return the rule of repetition of a cell; `paths` is the population, if it is over one."""
        drawn = None
        if self.jitter is not None:
            drawn = Jitter.read({key: value for key, value in vars(self.jitter).items() if value is not None})
        return Rule(self.sampling, self.count, self.spread, drawn, self.exact, self.common, paths, self.seeds)


@dataclass(frozen=True)
class Counts(Table):
    """The keys of ``quick.counts``."""

    seed: Count | None = None
    path: Count | None = None
    offset: Count | None = None
    population: Count | None = None


@dataclass(frozen=True)
class Quick(Table):
    """``[quick]``: the largest number of repetitions by sampling, and selected values by label."""

    counts: Counts = Counts()
    only: Choices = field(default_factory=dict)

    @property
    def most(self) -> dict[str, int]:
        """The largest number of repetitions by sampling; one without a limit is missing."""
        return {sampling: count for sampling, count in vars(self.counts).items() if count is not None}


@dataclass(frozen=True)
class Block(Table):
    """A block of the paper's figures: the number of the first figure, and the labels of all."""

    first: Count
    where: TextTable


@dataclass(frozen=True)
class Order(Table):
    """The order of the figures in a block: labels, and their values for each figure."""

    keys: Texts
    values: Annotated[tuple[tuple[Word, ...], ...], Words("a list of lists of texts")]


@dataclass(frozen=True)
class Figures(Table):
    """``[figures]``: sheets of panels; each panel is a figure of the paper.

    Attributes
    ----------
    sheet, panel, overlay : tuple of str, str, str
        Labels of sheets, of the panels of a sheet, and of the curves of a panel.
    panel_title, overlay_title : str
        Titles of panels and curves; {} stands for the value.
    shown : tuple of str
        Kinds of plot: ``cwnd``, ``throughput``.
    only : dict
        Selected values by label.
    bin, start : float or None
        Bin width of throughput, and end of the plots of the start, in seconds; None: no such plots.
    single : dict
        A label and two of its values: in panels of the first, the line is the first run of the second in place of the
        median, beside the band of the first.
    blocks : tuple of Block
        Blocks of figures; each has the figures of `order`.
    order : Order or None
        The figures of a block.
    """

    sheet: Texts
    panel: Text
    panel_title: Title
    overlay: Text
    overlay_title: Title
    shown: Annotated[Kinds, Field(validation_alias="kinds")]
    only: Choices = field(default_factory=dict)
    bin: Positive | None = None
    start: Positive | None = None
    single: Ratio = field(default_factory=dict)
    blocks: Annotated[tuple[Block, ...], Field(validation_alias="block")] = ()
    order: Order | None = None

    def line_of(self, labels: Labels) -> dict[str, str]:
        """Return the labels of the cell whose curve is the line for a drawn cell."""
        lines = {label: line for label, (of, line) in self.single.items() if labels[label] == of}
        return {**labels, **lines}

    def draws(self, labels: Labels) -> bool:
        """Whether curves of a cell are drawn: as a band, or as its line alone."""
        bands = {label: of for label, (of, line) in self.single.items() if labels[label] == line}
        return leaves(self.only, {**labels, **bands})

    def is_single(self, labels: Labels) -> bool:
        """Whether a single run of a cell is drawn."""
        return any(labels[label] == line for label, (_, line) in self.single.items())

    @property
    def kinds(self) -> list[str]:
        """All kinds of plot: `shown`, then ``start`` if the start is drawn."""
        return [*self.shown, *(["start"] if self.start is not None else [])]

    @property
    def numbers(self) -> dict[tuple[tuple[str, str], ...], int]:
        """The figure number of every panel in the paper, by its sorted labels and ``kind``."""
        numbers: dict[tuple[tuple[str, str], ...], int] = {}
        if self.order is None:
            return numbers
        for block in self.blocks:
            for index, values in enumerate(self.order.values):
                labels = {**block.where, **dict(zip(self.order.keys, values, strict=True))}
                numbers[tuple(sorted(labels.items()))] = block.first + index
        return numbers


@dataclass(frozen=True)
class Printed(Table):
    """A printed value of a chart: the position on the axis, the number, and its series or ""."""

    x: Text
    value: Number
    series: Text = ""


@dataclass(frozen=True)
class Chart(Table):
    """A ``[[chart]]``: a figure of measured values.

    Attributes
    ----------
    kind : str
        Kind of the chart.
    title : str
        Its title.
    where : dict
        Labels of its cells.
    only : dict
        Selected values by label.
    figure : int or None
        Its figure number in the paper.
    x, y, panel, series : str or None
        Labels on the axes, of the panels, and of the series.
    metric : str
        The drawn column; empty for curves.
    scale : float or None
        Factor to the unit of its axis.
    axis : str or None
        Title of the axis of values.
    group : str
        The group that the report folds.
    ratio : dict
        A label and two of its values; the chart draws their ratio.
    cost : str
        Of a ``front``: the column of the other axis, drawn as the mean difference from `over`; `metric` is drawn as the
        ratio of geometric means.
    over : str or None
        The value of `series` that is the reference of the others.
    geometric : bool
        Whether a ratio is that of geometric means, in which each path of a population counts alike.
    printed : tuple of Printed
        Printed values of the paper.
    flow, to : str or None
        The drawn flow, and its reference.
    equals : float or None
        A value of the metric; the chart draws the share of runs that have it.
    bounds : tuple of float, or None
        Range of values that a map frames.
    mark : dict
        Labels of the marked cell of a map.
    sense : {"lowest", "highest"} or None
        Whether the lowest or the highest mean is best.
    within : float
        Largest relative distance from the best mean at which a value counts as equally good.
    trace : {"cwnd", "throughput"} or None
        The curve over time.
    traces : tuple of str
        Quantities that are drawn over the rounds of a model.
    bin : float or None
        Bin width of throughput, in seconds.
    names : tuple of str
        Internals of a congestion control.
    """

    KIND: ClassVar = ("kind", "{key} belongs to charts of the kind {kinds}, not {own}")

    kind: Literal["lines", "bars", "map", "best", "front", "time", "internals", "rounds"]
    title: Text
    where: TextTable
    only: Choices = field(default_factory=dict)
    figure: Count | None = None
    x: Annotated[Text, Of(VALUES, needed=VALUES)] = ""
    y: Annotated[Text, Of(("map", "best"), needed=("map", "best"))] = ""
    panel: Annotated[Text | None, Of(VALUES)] = None
    series: Annotated[Text | None, Of(("lines", "bars", "best", "front", "time"), needed=("best", "front"))] = None
    metric: Annotated[Text, Of(MEASURED, needed=MEASURED)] = ""
    cost: Annotated[Text, Of(("front",), needed=("front",))] = ""
    scale: Annotated[Positive | None, Of(("lines", "bars", "map"))] = None
    axis: Annotated[Text | None, Of(("lines", "bars", "map", "front"))] = None
    group: Text = ""
    ratio: Annotated[Ratio, Of(("lines", "bars"))] = field(default_factory=dict)
    over: Annotated[Text | None, Of(("lines", "bars", "best", "front"), needed=("front",))] = None
    geometric: Annotated[Switch, Of(("lines", "bars"))] = False
    printed: Annotated[tuple[Printed, ...], Of(("lines", "bars"))] = ()
    flow: Annotated[Text | None, Of(("map", "time", "internals"), needed=("map", "internals"))] = None
    to: Annotated[Text | None, Of(("map",))] = None
    equals: Annotated[Number | None, Of(("map",))] = None
    bounds: Annotated[Bounds | None, Of(("map",))] = None
    mark: Annotated[TextTable, Of(("map",))] = field(default_factory=dict)
    sense: Annotated[Literal["lowest", "highest"] | None, Of(("best",), needed=("best",))] = None
    within: Annotated[Positive, Of(("best",))] = 0.0
    trace: Annotated[Literal["cwnd", "throughput"] | None, Of(("time",), needed=("time",))] = None
    traces: Annotated[Texts, Of(("rounds",), needed=("rounds",))] = ()
    bin: Annotated[Positive | None, Of(("time",))] = None
    names: Annotated[Texts, Of(("internals",), needed=("internals",))] = ()

    @property
    def factor(self) -> float:
        """Factor of all values."""
        return 1 if self.scale is None else self.scale

    @property
    def heading(self) -> str:
        """Its title with the figure number."""
        return self.title if self.figure is None else f"Figure {self.figure}: {self.title}"

    def takes(self, labels: Mapping[str, Any]) -> bool:
        """Whether the chart contains a cell or row with these labels."""
        return matches(labels, self.where) and leaves(self.only, labels)


@dataclass(frozen=True)
class Cause(Table):
    """An ``[[answer.cause]]``: why sentences of the paper are not reproduced, and the experiment that shows it.

    Attributes
    ----------
    text : str
        The cause; braces stand for measured values.
    explains : tuple of str
        Claims of the sentences that it explains.
    effect, switched_off : str
        A claim that the effect is there with the cause, and one that it is gone with the cause switched off. The cause
        is shown if both hold; "" for a cause that follows from a formula or the text alone.
    """

    text: Text
    explains: Texts = ()
    effect: Text = ""
    switched_off: Text = ""


@dataclass(frozen=True)
class Answer(Table):
    """``[answer]``: three sentences, the causes, and the leading figure; braces stand for measured values."""

    sentences: Annotated[tuple[Word, Word, Word], Words("a list of three texts")]
    causes: Annotated[tuple[Cause, ...], Field(validation_alias="cause")] = ()
    figure: Count | None = None
    chart: Text | None = None

    def leads(self, chart: Chart) -> bool:
        """Whether a chart is the leading figure."""
        return chart.title == self.chart if self.figure is None else chart.figure == self.figure


@dataclass(frozen=True)
class Summary(Table):
    """``[summary]``: the paper on the page of all papers.

    Attributes
    ----------
    idea, claim : str
        What it proposes, and what it claims, in a sentence each.
    today : dict
        Keys of a flow that give a host of today the idea; see `today`.
    control : dict
        Keys that give it everything of the idea but its rule; empty if the host as it is is the control.
    control_name : str
        A few words for the control, such as "halving alone".
    """

    idea: Text
    claim: Text
    today: dict[str, Any] = field(default_factory=dict)
    control: dict[str, Any] = field(default_factory=dict)
    control_name: Text = ""


@dataclass(frozen=True)
class Contents(Table):
    """The contents of a ``paper.toml``.

    Attributes
    ----------
    title, reference : str
        Its title, and the publication.
    doi, url : str or None
        The publication's DOI, or else a lasting address.
    labels : tuple of str
        Labels of its cells.
    flows : str or None
        The label of flows, if the paper compares the flows of a run.
    meaning : dict
        What the labels, values and names in figures mean; the report explains them once.
    """

    title: Text
    reference: Text
    labels: Texts
    doi: Annotated[
        str | None, STRICT, Field(pattern=r"^10\.\d{4,9}/\S+$"), Words('a DOI, such as "10.1145/52324.52356"')
    ] = None
    url: Annotated[
        str | None, STRICT, Field(pattern=r"^https?://\S+$"), Words("an address that begins with https://")
    ] = None
    flows: Text | None = None
    meaning: TextTable = field(default_factory=dict)
    defaults: TextTable = field(default_factory=dict)
    experiments: Annotated[tuple[Experiment, ...], Field(validation_alias="experiment")] = ()
    models: Annotated[tuple[ModelExperiment, ...], Field(validation_alias="model")] = ()
    repeats: Annotated[tuple[Repeat, ...], Field(validation_alias="repeat")] = ()
    quick: Quick = Quick()
    figures: Figures | None = None
    charts: Annotated[tuple[Chart, ...], Field(validation_alias="chart")] = ()
    answer: Answer | None = None
    summary: Summary | None = None


def matches(labels: Mapping[str, Any], where: Labels) -> bool:
    """Whether labels have the values of `where`."""
    return all(labels[label] == value for label, value in where.items())


def leaves(only: Mapping[str, Sequence[str]], labels: Mapping[str, Any]) -> bool:
    """Whether `only` selects a cell or row with these labels."""
    return all(labels[label] in kept for label, kept in only.items() if label in labels)
