"""Results of runs, in memory and on disk."""

from __future__ import annotations

import json
import pickle
import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ackclock import _core
from ackclock.columns import documented, tables
from ackclock.completion import BYTE_CLASSES, CLASSES, completion, page_loads
from ackclock.files import storage, targets
from ackclock.files.pickled import PickledRun, PickledTable
from ackclock.files.sweeps import Reader
from ackclock.scenario import Scenario
from ackclock.texts.numbers import counted, finite

if TYPE_CHECKING:
    import polars
EXIT = "slow_start_exit_"
"""What the columns begin with that are one object in a summary; it is null if the first of them is."""


class ArrowTable(Protocol):
    """Anything that hands over an Arrow table by the PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Give the Arrow C stream."""
        ...


class AnyResult(Protocol):
    """A result, fresh or read from disk: what plots need."""

    @property
    def name(self) -> str:
        """Name of the scenario."""
        ...

    @property
    def duration(self) -> float:
        """End of the run, in seconds."""
        ...

    @property
    def traces(self) -> list[str]:
        """Names of the recorded traces."""
        ...

    @property
    def flows(self) -> ArrowTable:
        """One row per flow."""
        ...

    @property
    def links(self) -> ArrowTable:
        """One row per link."""
        ...

    def trace(self, name: str) -> ArrowTable:
        """Give a recorded trace."""
        ...


def frame(table: ArrowTable) -> polars.DataFrame:
    """Read an Arrow table as a polars frame, without a copy where polars allows it."""
    import polars

    return polars.DataFrame(table)


def rows(table: ArrowTable, most: int | None = None) -> list[dict[str, Any]]:
    """Read the rows of an Arrow table, or the first so many, as dictionaries.

    NaN and infinities are None, as JSON has neither.
    """
    if isinstance(table, _core.Table):
        return table.rows(most)
    read = frame(table) if most is None else frame(table).head(most)
    return [finite(row) for row in read.iter_rows(named=True)]


class Summaries(ABC):
    """What is summed up of the tables of a result, fresh or read from disk."""

    __slots__ = ()

    @property
    @abstractmethod
    def flows(self) -> ArrowTable:
        """One row per flow."""

    @property
    @abstractmethod
    def transfers(self) -> ArrowTable:
        """One row per transfer of an application."""

    @property
    @abstractmethod
    def pages(self) -> ArrowTable:
        """One row per page or exchange."""

    def completion(self, classes: Sequence[int] = CLASSES) -> polars.DataFrame:
        """Sum up the completion times of the flows that have a size: `ackclock.completion.completion`."""
        return completion(frame(self.flows), classes)

    def transfer_times(self, classes: Sequence[int] = BYTE_CLASSES) -> polars.DataFrame:
        """Sum up the completion times of transfers by their bytes: `ackclock.completion.completion`."""
        return completion(frame(self.transfers), classes, size="bytes")

    def page_loads(self) -> polars.DataFrame:
        """Sum up the load times of pages: `ackclock.completion.page_loads`."""
        return page_loads(frame(self.pages))


class Result(Summaries):
    """What a run produced.

    Tables are Arrow tables of the compiled core; ``polars.DataFrame(result.flows)`` and
    ``pyarrow.table(result.flows)`` read them.
    """

    __slots__ = ("_core", "scenario")

    def __init__(self, scenario: Scenario, core: _core.RunResult | PickledRun) -> None:
        self.scenario = scenario
        self._core = core

    @property
    def name(self) -> str:
        """Name of the scenario."""
        return self.scenario.name

    @property
    def duration(self) -> float:
        """End of the run, in seconds."""
        return self.scenario.duration

    @property
    @documented("flows")
    def flows(self) -> _core.Table | PickledTable:
        """One row per flow."""
        return self._core.flows

    @property
    @documented("links")
    def links(self) -> _core.Table | PickledTable:
        """One row per link and direction."""
        return self._core.links

    @property
    @documented("transfers")
    def transfers(self) -> _core.Table | PickledTable:
        """One row per transfer of an application: a response or a burst."""
        return self._core.transfers

    @property
    @documented("pages")
    def pages(self) -> _core.Table | PickledTable:
        """One row per page that a client began to load, or per exchange."""
        return self._core.pages

    @property
    def traces(self) -> list[str]:
        """Names of the recorded traces."""
        return self._core.traces

    @property
    def events(self) -> int:
        """Events processed."""
        return self._core.events

    @property
    def cpu_seconds(self) -> float:
        """Processor time of the run, in seconds."""
        return self._core.cpu_seconds

    @property
    def trace_hash(self) -> str:
        """Hash over everything that happened: equal for equal runs."""
        return self._core.trace_hash

    @documented(*(name for name, table in tables().items() if table.trace))
    def trace(self, name: str) -> _core.Table | PickledTable:
        """Give a recorded trace.

        Parameters
        ----------
        name
            One of `traces`.

        Raises
        ------
        KeyError
            If it was not recorded.
        """
        if name not in self._core.traces:
            raise KeyError(f"trace {name!r} was not recorded; recorded: {', '.join(self._core.traces) or 'none'}")
        return self._core.trace(name)

    @property
    def captured(self) -> list[str]:
        """Names of the links and hosts at which packets were captured."""
        return list(self._core.captured)

    def write_pcap(
        self, path: str | Path, *, at: str | Sequence[str] | None = None, snaplen: int | None = None
    ) -> Path:
        """Write the captured packets as a file in the format pcapng, with one interface for each place.

        Parameters
        ----------
        path
            Where to; a regular file is replaced at once, a pipe or device is written to, ``-`` is standard output.
        at
            One or some of `captured`; all of them by default.
        snaplen
            Most bytes to store of each packet, whose data are zeros; by default its headers alone.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        KeyError
            If nothing was captured there.
        OSError
            If nothing can be written there.
        """
        chosen = [at] if isinstance(at, str) else None if at is None else list(at)
        for place in chosen or ():
            if place not in self.captured:
                there = ", ".join(self.captured) or "none"
                raise KeyError(f"no packets were captured at {place!r}; captured: {there}")
        if snaplen is not None and not 0 < snaplen < 2**31:
            raise ValueError(f"snaplen: {snaplen} is no number of bytes from 1 to {2**31 - 1}")
        if isinstance(self._core, PickledRun) or not self.captured:
            raise KeyError("no packets were captured; name links or hosts in `capture`")
        path = Path(path)
        targets.write(path, self._core.pcapng(chosen, snaplen))
        return path

    @property
    def summary(self) -> dict[str, Any]:
        """The whole result but its traces, as `ackclock run --json` prints it."""
        whole: dict[str, Any] = json.loads(self.summary_json)
        return whole

    @property
    def summary_json(self) -> str:
        """What `summary` gives, as JSON indented by two spaces; computed without holding up other threads."""
        return self._core.summary(CLASSES, BYTE_CLASSES)

    def write(self, directory: str | Path, labels: dict[str, str] | None = None) -> Path:
        """Write tables, traces and the scenario with all defaults into a directory.

        The directory appears at once, complete: everything is written beside it and then renamed.

        Parameters
        ----------
        directory
            Where to; of an earlier result there, only files that are not ackclock's are kept.
        labels
            Noted in the manifest: which variant of a sweep it is.

        Returns
        -------
        Path
            The directory.

        Raises
        ------
        FileExistsError
            If something other than an earlier result is there.
        """
        directory = Path(directory)
        with storage.replacing(directory, kind="run") as folder:
            self.write_files(folder, labels)
        return directory

    def write_files(self, folder: Path, labels: dict[str, str] | None = None) -> None:
        """Write what `write` does into a folder that is there."""
        storage.write_text(folder / "scenario.toml", self.scenario.to_toml())
        for name, table in self.tables.items():
            storage.write_parquet(folder / f"{name}.parquet", table)
        for name in self.traces:
            storage.write_parquet(folder / f"trace-{name}.parquet", frame(self.trace(name)))
        storage.write_manifest(folder, "run", self.manifest(labels))

    @property
    def tables(self) -> dict[str, polars.DataFrame]:
        """Every table but the traces: ``flows``, ``links``, and ``transfers`` and ``pages`` if they have any rows."""
        applications = {"transfers": self.transfers, "pages": self.pages}
        filled = {name: table for name, table in applications.items() if len(table)}
        return {name: frame(table) for name, table in {"flows": self.flows, "links": self.links, **filled}.items()}

    def manifest(self, labels: dict[str, str] | None = None) -> dict[str, Any]:
        """Describe the run: its scenario, its labels in a sweep, its traces and its hash."""
        return {
            "scenario": self.name,
            "labels": labels or {},
            "duration": self.duration,
            "seed": self.scenario.seed,
            "hash": self.scenario.hash,
            "traces": self.traces,
            "trace_hash": self.trace_hash,
            "python_controls": bool(self.scenario.controls),
        }

    def __repr__(self) -> str:
        flows = counted(len(self.flows), "flow")
        return f"<Result of {self.name!r}: {flows}, traces: {', '.join(self.traces) or 'none'}>"

    def __eq__(self, other: object) -> bool:
        """Whether the same happened in runs of equal scenarios, and the same traces were recorded."""
        return self._content == other._content if isinstance(other, Result) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.trace_hash)

    @property
    def _content(self) -> tuple[object, ...]:
        return self.scenario, self.trace_hash, self.traces, self.captured

    def __copy__(self) -> Result:
        return self

    def __deepcopy__(self, memo: object) -> Result:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle it with its tables.

        Raises
        ------
        PicklingError
            If packets were captured: they would be lost.
        """
        if self.captured:
            raise pickle.PicklingError("a result with captured packets cannot be pickled; write them with write_pcap")
        return Result, (self.scenario, PickledRun.of(self._core, CLASSES, BYTE_CLASSES))


def _flow_summary(row: dict[str, Any]) -> dict[str, Any]:
    left = {key: value for key, value in row.items() if not key.startswith(EXIT)}
    exits = {key.removeprefix(EXIT): value for key, value in row.items() if key.startswith(EXIT)}
    left[EXIT.rstrip("_")] = exits if exits.get("reason") is not None else None
    return left


def _no_transfers() -> polars.DataFrame:
    import polars

    return polars.DataFrame(schema={"bytes": polars.UInt64, "completion_time": polars.Float64})


class StoredResult(Summaries):
    """A result read back from the directory that `Result.write` made, or from the tables of a sweep.

    Parameters
    ----------
    directory
        That of the run; one in a sweep that recorded no traces has none.
    sweep
        The sweep whose tables have its rows.
    """

    __slots__ = ("_sweep", "directory", "manifest")

    def __init__(self, directory: Path, sweep: Reader | None = None) -> None:
        self.directory = directory
        self._sweep = sweep
        self.manifest: dict[str, Any]
        if sweep is None:
            self.manifest = storage.read_manifest(directory, "run")
        else:
            self.manifest = sweep.lines[directory.name]["manifest"]

    @property
    def name(self) -> str:
        """Name of the scenario, with the labels of its variant."""
        labels = " ".join(self.manifest["labels"].values())
        return labels or str(self.manifest["scenario"])

    @property
    def labels(self) -> dict[str, str]:
        """Which variant of a sweep it is: values by the names of the axes; empty without a sweep."""
        return dict(self.manifest["labels"])

    @property
    def scenario(self) -> Scenario:
        """The scenario that was run, with all defaults.

        Raises
        ------
        ScenarioError
            If it has a congestion control in Python, which no file holds.
        """
        file = self.directory / "scenario.toml"
        if self.manifest["python_controls"]:
            raise _core.ScenarioError(f"{file}: has a congestion control in Python, which no file holds")
        return Scenario.from_core(_core.Scenario.from_toml(self.to_toml(), str(file), []))

    @property
    def summary(self) -> dict[str, Any]:
        """What `Result.summary` gives, but ``events`` and ``cpu_seconds``, and with the labels."""
        # Written only if there was any.
        transfers, pages = (self._has(name) for name in ("transfers", "pages"))
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
        }

    @property
    def duration(self) -> float:
        """End of the run, in seconds."""
        return float(self.manifest["duration"])

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
        """Give a recorded trace.

        Raises
        ------
        KeyError
            If it was not recorded.
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
            If there were none.
        """
        return self._read_applications("transfers")

    @property
    @documented("pages")
    def pages(self) -> polars.DataFrame:
        """One row per page or exchange.

        Raises
        ------
        KeyError
            If there were none.
        """
        return self._read_applications("pages")

    def to_toml(self) -> str:
        """Give the scenario as a file with every default filled in."""
        if self._sweep is not None:
            return str(self._sweep.lines[self.directory.name]["scenario"])
        return (self.directory / "scenario.toml").read_text(encoding="utf-8")

    def _read_applications(self, name: str) -> polars.DataFrame:
        if not self._has(name):
            raise KeyError(f"{self.directory}: no application had {name}")
        return self._read(name)

    def _has(self, name: str) -> bool:
        if self._sweep is not None:
            return self._sweep.has(name) and self._read(name).height > 0
        return (self.directory / f"{name}.parquet").exists()

    def _read(self, name: str) -> polars.DataFrame:
        if self._sweep is not None:
            return self._sweep.table(name, self.manifest["labels"])
        return storage.read_parquet(self.directory / f"{name}.parquet")


def read(directory: str | Path) -> list[StoredResult]:
    """Read what ``ackclock run --out`` wrote: one result, or one for each variant of a sweep in its order.

    Warns if the sweep was interrupted and runs are missing.

    Parameters
    ----------
    directory
        The directory given to ``--out`` or `Result.write`.

    Raises
    ------
    FileNotFoundError
        If it holds no result.
    """
    directory = Path(directory)
    manifest = json.loads(storage.manifest_text(directory))
    if manifest.get("kind") == "sweep":
        if manifest.get("state") == "interrupted":
            text = f"{directory}: interrupted; {len(manifest['runs'])} of {manifest['planned']} runs are there"
            warnings.warn(text, stacklevel=2)
        sweep = Reader(directory)
        return [StoredResult(directory / name, sweep if name in sweep.lines else None) for name in manifest["runs"]]
    return [StoredResult(directory)]
