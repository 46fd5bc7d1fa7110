"""The contents of a `paper.toml` as frozen data classes; `schema` checks and reads the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ackclock.experiments.repetitions import Rule

Texts = tuple[str, ...]
Labels = Mapping[str, str]
Choices = Mapping[str, Sequence[str]]
ChartKind = Literal["lines", "bars", "map", "best", "time", "internals", "rounds"]


@dataclass(frozen=True)
class Experiment:
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

    file: str
    labels: Labels = field(default_factory=dict)
    only: Choices = field(default_factory=dict)
    relabel: Labels = field(default_factory=dict)


@dataclass(frozen=True)
class ModelExperiment:
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

    name: str
    labels: Labels = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    sweep: Mapping[str, Any] = field(default_factory=dict)
    columns: Labels = field(default_factory=dict)


@dataclass(frozen=True)
class Repeat:
    """A ``[[repeat]]``: the rule of repetition for some cells, and the measures of their runs.

    Attributes
    ----------
    rule : Rule
        The rule of repetition.
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

    rule: Rule
    where: Labels = field(default_factory=dict)
    seeds_by: Texts = ()
    spans: Mapping[str, Sequence[float]] = field(default_factory=dict)
    cwnd: Mapping[str, Sequence[float]] = field(default_factory=dict)
    derived: Texts = ()


@dataclass(frozen=True)
class Quick:
    """``[quick]``: the largest number of repetitions by sampling, and selected values by label."""

    counts: Mapping[str, int] = field(default_factory=dict)
    only: Choices = field(default_factory=dict)


@dataclass(frozen=True)
class Block:
    """A block of the paper's figures: the number of the first figure, and the labels of all."""

    first: int
    where: Labels


@dataclass(frozen=True)
class Figures:
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
    blocks : tuple of Block
        Blocks of figures; each has the figures of `order`.
    keys : tuple of str
        Labels of the figures in a block.
    order : tuple
        Values of `keys` for each figure of a block.
    """

    sheet: Texts
    panel: str
    panel_title: str
    overlay: str
    overlay_title: str
    shown: Texts
    only: Choices = field(default_factory=dict)
    bin: float | None = None
    start: float | None = None
    blocks: tuple[Block, ...] = ()
    keys: Texts = ()
    order: tuple[Texts, ...] = ()

    @property
    def kinds(self) -> list[str]:
        """All kinds of plot: `shown`, then ``start`` if the start is drawn."""
        return [*self.shown, *(["start"] if self.start is not None else [])]

    @property
    def numbers(self) -> dict[tuple[tuple[str, str], ...], int]:
        """The figure number of every panel in the paper, by its sorted labels and ``kind``."""
        numbers = {}
        for block in self.blocks:
            for index, values in enumerate(self.order):
                labels = {**block.where, **dict(zip(self.keys, values, strict=True))}
                numbers[tuple(sorted(labels.items()))] = block.first + index
        return numbers


@dataclass(frozen=True)
class Printed:
    """A printed value of a chart: the position on the axis, the number, and its series or ""."""

    x: str
    value: float
    series: str = ""


@dataclass(frozen=True)
class Chart:
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
    over : str or None
        The value of `series` that is the reference of the others.
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

    kind: ChartKind
    title: str
    where: Labels = field(default_factory=dict)
    only: Choices = field(default_factory=dict)
    figure: int | None = None
    x: str = ""
    y: str = ""
    panel: str | None = None
    series: str | None = None
    metric: str = ""
    scale: float | None = None
    axis: str | None = None
    group: str = ""
    ratio: Mapping[str, Sequence[str]] = field(default_factory=dict)
    over: str | None = None
    printed: tuple[Printed, ...] = ()
    flow: str | None = None
    to: str | None = None
    equals: float | None = None
    bounds: tuple[float, float] | None = None
    mark: Labels = field(default_factory=dict)
    sense: Literal["lowest", "highest"] | None = None
    within: float = 0.0
    trace: Literal["cwnd", "throughput"] | None = None
    traces: Texts = ()
    bin: float | None = None
    names: Texts = ()

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
class Answer:
    """``[answer]``: three sentences, the causes, and the leading figure; braces stand for measured values."""

    sentences: Texts
    causes: Texts = ()
    figure: int | None = None
    chart: str | None = None

    def leads(self, chart: Chart) -> bool:
        """Whether a chart is the leading figure."""
        return chart.title == self.chart if self.figure is None else chart.figure == self.figure


@dataclass(frozen=True)
class Summary:
    """``[summary]``: the paper on the page of all papers.

    Attributes
    ----------
    idea, claim : str
        What it proposes, and what it claims, in a sentence each.
    today : dict
        Keys of a flow that give a host of today the idea; see `today`.
    """

    idea: str
    claim: str
    today: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Contents:
    """The contents of a ``paper.toml``; `flows` is the label of flows, if the paper compares the flows of a run."""

    title: str = ""
    reference: str = ""
    labels: Texts = ()
    flows: str | None = None
    defaults: Labels = field(default_factory=dict)
    experiments: tuple[Experiment, ...] = ()
    models: tuple[ModelExperiment, ...] = ()
    repeats: tuple[Repeat, ...] = ()
    quick: Quick = Quick()
    figures: Figures | None = None
    charts: tuple[Chart, ...] = ()
    answer: Answer | None = None
    summary: Summary | None = None


def matches(labels: Mapping[str, Any], where: Labels) -> bool:
    """Whether labels have the values of `where`."""
    return all(labels[label] == value for label, value in where.items())


def leaves(only: Choices, labels: Mapping[str, Any]) -> bool:
    """Whether `only` selects a cell or row with these labels."""
    return all(labels[label] in kept for label, kept in only.items() if label in labels)
