"""Results read from disk."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ackclock import _core
from ackclock.arrow import rows
from ackclock.columns import checking, documented
from ackclock.files import reading, storage
from ackclock.formatting.labels import last_part
from ackclock.metrics.completion import BYTE_CLASSES, completion
from ackclock.scenario import Scenario
from ackclock.summaries import Summaries

if TYPE_CHECKING:
    import polars

EXIT = "slow_start_exit_"
"""Beginning of the columns that are one object in a summary; it is null if the first of them is."""


def _flow_summary(row: dict[str, Any]) -> dict[str, Any]:
    left = {key: value for key, value in row.items() if not key.startswith(EXIT)}
    exits = {key.removeprefix(EXIT): value for key, value in row.items() if key.startswith(EXIT)}
    left[EXIT.rstrip("_")] = exits if exits.get("reason") is not None else None
    return left


def _no_transfers() -> polars.DataFrame:
    import polars

    return polars.DataFrame(schema={"bytes": polars.UInt64, "completion_time": polars.Float64})


class Place(Protocol):
    """Where a stored run is: in a folder of its own, or in the tables of a dataset."""

    @property
    def manifest(self) -> Mapping[str, Any]:
        """The entries of its manifest."""
        ...

    @property
    def duration(self) -> float:
        """End of the run, in seconds."""
        ...

    def has(self, table: str) -> bool:
        """Whether it has rows in a table."""
        ...

    def table(self, name: str) -> polars.DataFrame:
        """Return a table, such as ``flows`` or ``trace-cwnd``."""
        ...

    def toml(self) -> str:
        """Return its scenario with every default."""
        ...


class Folder:
    """A run in a folder of its own, which `Result.write` made.

    Parameters
    ----------
    directory
        The folder.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.manifest = storage.read_manifest(directory, "run")

    @property
    def duration(self) -> float:
        """End of the run, in seconds."""
        return float(self.manifest["duration"])

    def has(self, table: str) -> bool:
        """Whether it has rows in a table."""
        return (self.directory / f"{table}.parquet").exists()

    def table(self, name: str) -> polars.DataFrame:
        """Return a table, such as ``flows`` or ``trace-cwnd``."""
        return reading.read_parquet(self.directory / f"{name}.parquet", checking(name.replace("trace-", "trace ")))

    def toml(self) -> str:
        """Return its scenario with every default."""
        return reading.read_text(self.directory / "scenario.toml")


class StoredResult(Summaries):
    """A result read back from the directory that `Result.write` made, or from a dataset.

    Its tables are frames of polars.

    Parameters
    ----------
    directory
        The directory of the run.
    place
        Where its tables are; None: in the directory.
    """

    __slots__ = ("_place", "directory")

    def __init__(self, directory: Path, place: Place | None = None) -> None:
        self.directory = directory
        self._place = place or Folder(directory)

    @property
    def manifest(self) -> Mapping[str, Any]:
        """Entries of its manifest: scenario, labels, seed, hashes, traces, warnings, and how it was made."""
        return self._place.manifest

    @property
    def name(self) -> str:
        """Name of the scenario, with the labels of its variant."""
        labels = " ".join(self.manifest["labels"].values())
        return labels or str(self.manifest["scenario"])

    def __repr__(self) -> str:
        return f"<StoredResult {self.name!r} in {str(self.directory)!r}: traces: {', '.join(self.traces) or 'none'}>"

    def _repr_html_(self) -> str:
        """Return its card for a notebook, as of `Result`."""
        from ackclock.results.overview import card

        labels = [f"{last_part(name)} {value}" for name, value in self.labels.items()]
        known = [f"seed {self.manifest['seed']}", f"hash {self.manifest['trace_hash'][:12]}"]
        return card(self, [*labels, *known, str(self.directory)]).html()

    @property
    def labels(self) -> dict[str, str]:
        """Labels of the variant of a sweep: values by the names of the axes; empty without a sweep."""
        return dict(self.manifest["labels"])

    @property
    def scenario(self) -> Scenario:
        """The scenario that was run, with all defaults.

        Raises
        ------
        ScenarioError
            If it has a congestion control in Python, which no file can hold.
        """
        file = self.directory / "scenario.toml"
        if self.manifest["python_controls"]:
            raise _core.ScenarioError(f"{file}: has a congestion control in Python, which no file can hold")
        return Scenario.from_core(_core.Scenario.from_toml(self.to_toml(), str(file), []))

    @property
    def summary(self) -> dict[str, Any]:
        """Same as `Result.summary`, without ``events`` and ``cpu_seconds``, and with the labels."""
        # Present only if it has rows.
        transfers, pages = (self._place.has(name) for name in ("transfers", "pages"))
        return {
            "scenario": str(self.manifest["scenario"]),
            "labels": self.labels,
            "seed": self.manifest["seed"],
            "hash": self.manifest["hash"],
            "flows": [_flow_summary(row) for row in rows(self.flows)],
            "links": rows(self.links),
            "completion": rows(self.completion()),
            "transfers": rows(
                self.transfer_times() if transfers else completion(_no_transfers(), BYTE_CLASSES, size="bytes")
            ),
            "pages": rows(self.page_loads()) if pages else [],
            "media": rows(self.media) if self.has_media else [],
            "warnings": self.warnings,
        }

    @property
    def warnings(self) -> list[dict[str, Any]]:
        """Same as `Result.warnings`; of a run in the tables of a dataset, only the names."""
        return list(self.manifest["warnings"])

    @property
    def bottleneck(self) -> str:
        """Name of the slowest link on the path of the first flow's data; empty without one."""
        place = str(self.directory / "scenario.toml")
        return _core.Scenario.restore(self.to_toml(), place, bool(self.manifest["python_controls"])).bottleneck

    @property
    def duration(self) -> float:
        """End of the run, in seconds."""
        return self._place.duration

    @property
    def traces(self) -> list[str]:
        """Names of the recorded traces."""
        return list(self.manifest["traces"])

    @property
    @documented("flows")
    def flows(self) -> polars.DataFrame:
        """One row per flow."""
        return self._read("flows")

    @property
    @documented("links")
    def links(self) -> polars.DataFrame:
        """One row per link and direction."""
        return self._read("links")

    def trace(self, name: str) -> polars.DataFrame:
        """Return a recorded trace.

        Raises
        ------
        KeyError
            If the trace was not recorded.
        """
        if name not in self.traces:
            raise KeyError(f"trace {name!r} was not recorded; recorded: {', '.join(self.traces) or 'none'}")
        return self._read(f"trace-{name}")

    @property
    @documented("transfers")
    def transfers(self) -> polars.DataFrame:
        """One row per transfer of an application.

        Raises
        ------
        KeyError
            If no application had transfers.
        """
        return self._read_applications("transfers")

    @property
    def has_pages(self) -> bool:
        """Whether an application loaded pages."""
        return self._place.has("pages")

    @property
    @documented("pages")
    def pages(self) -> polars.DataFrame:
        """One row per page or exchange.

        Raises
        ------
        KeyError
            If no application loaded pages.
        """
        return self._read_applications("pages")

    @property
    def has_media(self) -> bool:
        """Whether an application played a video or sent frames."""
        return self._place.has("media")

    @property
    @documented("media")
    def media(self) -> polars.DataFrame:
        """One row per player of a video, and per source of frames.

        Raises
        ------
        KeyError
            If no application had media.
        """
        return self._read_applications("media")

    def to_toml(self) -> str:
        """Return the scenario as a file with every default filled in."""
        return self._place.toml()

    def _document(self) -> str:
        return self.to_toml()

    def _read_applications(self, name: str) -> polars.DataFrame:
        if not self._place.has(name):
            raise KeyError(f"{self.directory}: no application had {name}")
        return self._read(name)

    def _read(self, name: str) -> polars.DataFrame:
        return self._place.table(name)
