"""Results of runs: `Result` in memory, `StoredResult` on disk."""

from ackclock.arrow import ArrowTable, frame, rows
from ackclock.results.run import Result
from ackclock.results.stored import StoredResult
from ackclock.summaries import AnyResult, Summaries

__all__ = ["AnyResult", "ArrowTable", "Result", "StoredResult", "Summaries", "frame", "rows"]
