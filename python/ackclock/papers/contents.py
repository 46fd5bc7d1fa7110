"""The contents of a `paper.toml` as frozen data classes; `schema` checks the file and reads it."""

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
    """An ``[[experiment]]``: a scenario file, whose variants are cells.

    Attributes
    ----------
    file : str
        Its name in the paper's folder.
    labels : dict
        Labels of all its variants.
    only : dict
        For some labels the values that are kept.
    relabel : dict
        Labels that its cells have in place of their own.
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
        The model's.
    labels : dict
        Labels of all its points.
    parameters : dict
        Parameters of all its points.
    sweep : dict
        Axes by their labels: a list of values of the parameter with the label's name, or by value the parameters set.
    columns : dict
        Outputs by the further columns in which they stand.
    """

    name: str
    labels: Labels = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    sweep: Mapping[str, Any] = field(default_factory=dict)
    columns: Labels = field(default_factory=dict)


@dataclass(frozen=True)
class Repeat:
    """A ``[[repeat]]``: how cells are repeated, and what is measured of their runs.

    Attributes
    ----------
    rule : Rule
        How each cell is repeated.
    where : dict
        Labels of its cells.
    seeds_by : tuple of str
        Labels by which cells have seeds of their own.
    spans : dict
        Spans of time in seconds, by the column that tells how many bytes arrived in them.
    cwnd : dict
        Spans of time in seconds, by the column that tells the mean of cwnd over them.
    derived : tuple of str
        Names of measures, see `deriving`.
    """

    rule: Rule
    where: Labels = field(default_factory=dict)
    seeds_by: Texts = ()
    spans: Mapping[str, Sequence[float]] = field(default_factory=dict)
    cwnd: Mapping[str, Sequence[float]] = field(default_factory=dict)
    derived: Texts = ()


@dataclass(frozen=True)
class Quick:
    """``[quick]``: at most so many repetitions by their sampling, and for some labels the values that are run."""

    counts: Mapping[str, int] = field(default_factory=dict)
    only: Choices = field(default_factory=dict)


@dataclass(frozen=True)
class Block:
    """A block of the paper's figures: the number of its first, and the labels of all."""

    first: int
    where: Labels


@dataclass(frozen=True)
class Figures:
    """``[figures]``: sheets of panels, each panel one of the paper's figures.

    Attributes
    ----------
    sheet, panel, overlay : tuple of str, str, str
        Labels that tell sheets apart, the panels of a sheet, and the curves of a panel.
    panel_title, overlay_title : str
        What panels and curves are called, with {} for the value.
    shown : tuple of str
        Kinds of plot: ``cwnd``, ``throughput``.
    only : dict
        For some labels the values that are drawn.
    bin, start : float or None
        Bins of throughput and the end of the start, in seconds; with `start` there are also plots of the start.
    blocks : tuple of Block
        Blocks of figures; those of each stand in the order of `order`.
    keys : tuple of str
        Labels by which the figures of a block are ordered.
    order : tuple
        Their values, figure by figure.
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
        """All kinds of plot: `shown`, and ``start`` if the first seconds are drawn."""
        return [*self.shown, *(["start"] if self.start is not None else [])]

    @property
    def numbers(self) -> dict[tuple[tuple[str, str], ...], int]:
        """The paper's figure number of every panel, by its sorted labels and ``kind``."""
        numbers = {}
        for block in self.blocks:
            for index, values in enumerate(self.order):
                labels = {**block.where, **dict(zip(self.keys, values, strict=True))}
                numbers[tuple(sorted(labels.items()))] = block.first + index
        return numbers


@dataclass(frozen=True)
class Printed:
    """A value that the paper prints in a chart: where on the axis, the number, and its series or ""."""

    x: str
    value: float
    series: str = ""


@dataclass(frozen=True)
class Chart:
    """A ``[[chart]]``: a figure of measured values.

    Attributes
    ----------
    kind : str
        What is drawn.
    title : str
        What it shows.
    where : dict
        Labels of its cells.
    only : dict
        For some labels the values that it takes.
    figure : int or None
        The paper's figure.
    x, y, panel, series : str or None
        Labels on the axes, of the panels, and of the series.
    metric : str
        The column that it shows, of all kinds but curves.
    scale : float or None
        Factor to the unit of its axis.
    axis : str or None
        Title of the axis of values.
    group : str
        The figures that it is folded with.
    ratio : dict
        A label with two of its values, whose ratio is drawn.
    over : str or None
        The value of `series` to which the others are compared.
    printed : tuple of Printed
        Values that the paper prints.
    flow, to : str or None
        The flow that is drawn, and the one to which it is compared.
    equals : float or None
        What is drawn is how often the metric has this value.
    bounds : tuple of float, or None
        Values of a map that are framed.
    mark : dict
        Labels of a cell of a map that is marked.
    sense : {"lowest", "highest"} or None
        Which mean is best.
    within : float
        Share of the best mean within which another value is as good.
    trace : {"cwnd", "throughput"} or None
        The curve over time.
    traces : tuple of str
        The quantities over a model's rounds.
    bin : float or None
        Bins of throughput, in seconds.
    names : tuple of str
        The internals of a control.
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
        """What values are multiplied by."""
        return 1 if self.scale is None else self.scale

    @property
    def heading(self) -> str:
        """Its title with the paper's number."""
        return self.title if self.figure is None else f"Figure {self.figure}: {self.title}"

    def takes(self, labels: Mapping[str, Any]) -> bool:
        """Whether it takes a cell or row of these labels."""
        return matches(labels, self.where) and leaves(self.only, labels)


@dataclass(frozen=True)
class Answer:
    """``[answer]``: three sentences and the causes, with braces for what is measured; the leading figure."""

    sentences: Texts
    causes: Texts = ()
    figure: int | None = None
    chart: str | None = None

    def leads(self, chart: Chart) -> bool:
        """Whether a chart is the leading figure."""
        return chart.title == self.chart if self.figure is None else chart.figure == self.figure


@dataclass(frozen=True)
class Contents:
    """All of a ``paper.toml``; `flows` is the label that names the flows of a run, if the paper compares those."""

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


def matches(labels: Mapping[str, Any], where: Labels) -> bool:
    """Whether labels have the values that `where` asks for."""
    return all(labels[label] == value for label, value in where.items())


def leaves(only: Choices, labels: Mapping[str, Any]) -> bool:
    """Whether `only` leaves a cell or row of these labels."""
    return all(labels[label] in kept for label, kept in only.items() if label in labels)
