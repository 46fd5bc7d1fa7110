"""Panels of curves over time: one for each cell of a paper, together on sheets.

A sheet has the panels of one kind whose labels are equal except for two: that of the panel, and that of its lines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ackclock.drawing.figure import Axis, Figure, Panel, from_lines
from ackclock.drawing.overtime import TIME
from ackclock.formatting.names import in_file
from ackclock.literature import notes
from ackclock.literature.contents import Figures, leaves, matches
from ackclock.literature.reproduction import Outcome

AXIS_LABELS = {"cwnd": "cwnd (segments)", "start": "cwnd (segments)", "throughput": "throughput (Mbit/s)"}
KIND_TITLES = {"start": "cwnd at the start"}


@dataclass(frozen=True)
class Sheet:
    """A sheet of panels: the panels of one kind, with all labels fixed except two.

    Attributes
    ----------
    where : dict
        The fixed labels.
    kind : str
        ``cwnd`` or ``throughput``.
    panels : list of (int or None, str)
        Figure number in the paper, and value of the panel's label, for each panel.
    """

    where: Mapping[str, str]
    kind: str
    panels: Sequence[tuple[int | None, str]]

    @property
    def name(self) -> str:
        """Name of its file without extension."""
        words = [f"{label}{value}" for label, value in self.where.items()]
        return in_file("-".join(["sheet", *words, self.kind]).replace(" ", "").replace("%", ""))

    @property
    def group(self) -> str:
        """Its group: the report folds sheets with equal labels together."""
        return ", ".join(f"{label} {value}" for label, value in self.where.items())

    @property
    def title(self) -> str:
        """Its title."""
        return ", ".join(filter(None, [KIND_TITLES.get(self.kind, self.kind), self.group]))


Drawn = tuple[Sheet, Path, Figure]
"""A sheet, the place of its file, and its figure."""


def sheets(figures: Figures, cells: Sequence[Mapping[str, str]]) -> list[Sheet]:
    """Arrange the panels of the given cells on sheets, in the order of the cells."""
    numbers = figures.numbers
    laid: dict[tuple[str, ...], dict[str, None]] = {}
    for labels in cells:
        if not leaves(figures.only, labels):
            continue
        fixed = tuple(labels[label] for label in figures.sheet)
        laid.setdefault(fixed, {})[labels[figures.panel]] = None
    made = []
    for values, panels in laid.items():
        where = dict(zip(figures.sheet, values, strict=True))
        for kind in figures.kinds:
            keys = [tuple(sorted({**where, figures.panel: panel, "kind": kind}.items())) for panel in panels]
            made.append(
                Sheet(where, kind, [(numbers.get(key), panel) for key, panel in zip(keys, panels, strict=True)])
            )
    return made


def pictures(outcome: Outcome, figures: Figures, folder: Path) -> tuple[list[Drawn], list[tuple[Figure, Path]]]:
    """Return the sheets, and each of their panels as a figure of its own."""
    cells = [dict(zip(outcome.plan.paper.labels, key, strict=True)) for key in outcome.lines]
    drawn, panels = [], []
    for sheet in sheets(figures, cells):
        grid = [panel_of(outcome, figures, sheet, (figure, value)) for figure, value in sheet.panels]
        for (figure, value), panel in zip(sheet.panels, grid, strict=True):
            name = f"figure-{figure:03}" if figure is not None else in_file(f"{sheet.name}-{figures.panel}{value}")
            panels.append((Figure("", [panel]), folder / f"{name}.png"))
        path = folder / f"{sheet.name}.png"
        values = {value for _, value in sheet.panels}
        shown = [
            cell
            for cell in cells
            if matches(cell, sheet.where) and cell[figures.panel] in values and leaves(figures.only, cell)
        ]
        own = [tuple(cell.values()) for cell in shown]
        lines = {tuple(figures.line_of(cell).values()) for cell in shown}
        note = notes.of_curves(outcome, own, lines=lines - set(own))
        drawn.append((sheet, path, Figure(sheet.title, grid, sheet.name, note=note)))
    return drawn, panels


def panel_of(outcome: Outcome, figures: Figures, sheet: Sheet, panel: tuple[int | None, str]) -> Panel:
    """Return a panel of a sheet, given by its number in the paper and the value of its label."""
    number, value = panel
    labels, lines = outcome.plan.paper.labels, []
    for key, drawn in outcome.lines.items():
        cell = dict(zip(labels, key, strict=True))
        if sheet.kind in drawn and matches(cell, {**sheet.where, figures.panel: value}):
            label = figures.overlay_title.format(cell[figures.overlay])
            line = replace(drawn[sheet.kind], label=label, thin=None)
            # The other cell has no curves if a quick run omits it.
            other = outcome.lines.get(tuple(figures.line_of(cell).values()), {}).get(sheet.kind)
            lines.append(line if other is None else replace(line, y=other.y))
    head = f"Figure {number}: " if number is not None else ""
    title = head + ", ".join([figures.panel_title.format(value), *_short(sheet.where)])
    return Panel(from_lines(lines), title=title, x=TIME, y=Axis(AXIS_LABELS.get(sheet.kind, sheet.kind)))


def _short(where: Mapping[str, str]) -> list[str]:
    """Format labels for the title of a panel; a bare number gets the name of its label."""
    return [value if value[:1].isalpha() else f"{label} {value}" for label, value in where.items()]
