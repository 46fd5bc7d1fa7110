"""What the command `tune` prints."""

from __future__ import annotations

from ackclock.cli import output
from ackclock.tuning import outcome
from ackclock.tuning.outcome import Tuned


def show(tuned: Tuned, *, json_output: bool) -> None:
    """Print the answer and the tables, or JSON."""
    if json_output:
        output.data(tuned.to_dict())
        return
    output.say(tuned.answer)
    print()
    output.table(outcome.PARAMETERS, tuned.parameters(), less=("importance",))
    output.table(outcome.MEASURED, tuned.measures(), left=2, less=("training: default", "training: best"))
    tuning = tuned.tuning
    if len(tuning.held_out.paths) > 1 and tuned.verdict.best.number:
        output.table(outcome.PATHS, tuned.paths(), title=tuning.goal.measure)
