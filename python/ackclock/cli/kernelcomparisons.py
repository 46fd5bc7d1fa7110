"""What the command `kernel compare` prints."""

from __future__ import annotations

from ackclock.cli import output
from ackclock.formatting.numbers import counted, finite
from ackclock.linux import judging, words
from ackclock.linux.result import Comparison


def show(found: Comparison, *, json_output: bool) -> None:
    """Print the answer, the table of differences, and a sentence for each that is too large; or JSON."""
    if json_output:
        output.data(finite(found.to_dict()))
        return
    for text in [*found.answer, *words.lateness(found.outcome, found.pairs)]:
        output.say(text)
    every = judging.ranked(found.differences)
    shown = [each for each in every if each.measure.primary or each.verdict != "within"]
    output.table(words.COLUMNS, [words.row(each) for each in shown], left=words.LEFT, less=words.LESS)
    for text in words.unfollowed(found.pairs):
        output.warning(text)
    if len(shown) < len(every):
        output.note(f"{counted(len(every) - len(shown), 'other measure')} within their tolerance")
    for text in found.larger:
        output.say(text)
