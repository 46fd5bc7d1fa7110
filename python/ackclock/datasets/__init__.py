"""Results of large sweeps: a folder of Parquet files that grows while the sweep runs."""

from ackclock.datasets.dataset import Dataset
from ackclock.datasets.opening import open, runs  # noqa: A004 - called as ackclock.open
from ackclock.datasets.relabelling import Changes
from ackclock.datasets.writer import Writer
from ackclock.files.locking import LockedError

__all__ = ["Changes", "Dataset", "LockedError", "Writer", "open", "runs"]
