"""Results of large sweeps: a folder of Parquet files that grows while the sweep runs."""

from ackclock.datasets.dataset import Dataset, open  # noqa: A004 - called as ackclock.open
from ackclock.datasets.locking import LockedError
from ackclock.datasets.relabelling import Changes
from ackclock.datasets.writer import Writer

__all__ = ["Changes", "Dataset", "LockedError", "Writer", "open"]
