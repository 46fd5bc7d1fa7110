"""Cards: how a notebook shows scenarios, results, sweeps and comparisons, as HTML without scripts.

A `Card` has a title, facts, and blocks: `Text`, `Table`, `Charts`, `Picture` and `Source`. All texts are escaped. Long
tables are cut. Colours follow the notebook's theme.

>>> html = Card("Result", "two flows", ["10 s"], [Table(["flow", "goodput"], [["a", 8.1], ["<b>", None]])]).html()
>>> "&lt;b&gt;" in html, "<b>" in html
(True, False)
"""

from ackclock.notebooks.card import Block, Card, Cell, Charts, Source, Table, Text
from ackclock.notebooks.pictures import Line, Picture

__all__ = ["Block", "Card", "Cell", "Charts", "Line", "Picture", "Source", "Table", "Text"]
