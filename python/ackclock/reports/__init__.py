"""Reports: one look for runs, sweeps, comparisons, matrices and papers.

`page` makes one HTML file from an `Answer` and `Section` objects. These contain `Figure`, `Table`, `Text`, `Bullets`
and `Verbatim`. A figure consists of `Panel` objects with `Series` or a `Heatmap`, whose `Axis` objects name quantities
and units. A table has typed `Column` objects; a `Cell` has a text that differs from its value, a mark or a link.

    from ackclock.reports import Answer, Axis, Cell, Column, Figure, Panel, Section, Series, Table, page

    bars = Series("goodput", ["a", "b"], [8.1, 1.9], "bars", low=[8.0, 1.8], high=[8.2, 2.0])
    lead = Figure("Goodput of each flow", [Panel([bars], x=Axis(names=["a", "b"]), y=Axis("goodput (Mbit/s)"))])
    columns = [Column("flow"), Column("goodput", "number", "Mbit/s")]
    table = Table(columns, [["a", 8.1], ["b", Cell("1.9", 1.9, mark="worse")]])
    html = page("Two flows", Answer("Flow a gets four times the goodput of b.", lead), [Section("Flows", [table])])
"""

from ackclock.drawing.figure import Axis, Figure, Heatmap, Panel, Series, from_lines
from ackclock.reports.grids import Cell, Column, Table
from ackclock.reports.pages import Answer, Bullets, Part, Section, Text, Verbatim, page

__all__ = [
    "Answer",
    "Axis",
    "Bullets",
    "Cell",
    "Column",
    "Figure",
    "Heatmap",
    "Panel",
    "Part",
    "Section",
    "Series",
    "Table",
    "Text",
    "Verbatim",
    "from_lines",
    "page",
]
