"""The result of a run in memory."""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock import _core
from ackclock.arrow import frame
from ackclock.columns import documented, tables
from ackclock.files import storage, targets
from ackclock.files.pickled import PickledRun, PickledTable
from ackclock.formatting.numbers import counted, number
from ackclock.metrics.completion import BYTE_CLASSES, CLASSES
from ackclock.scenario import Scenario
from ackclock.summaries import Summaries

if TYPE_CHECKING:
    import polars


class Result(Summaries):
    """The result of a run.

    Tables are Arrow tables of the compiled core: read them with ``polars.DataFrame(result.flows)`` or
    ``pyarrow.table(result.flows)``.
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
        """One row per transfer of an application: a response, a burst, a segment or a frame."""
        return self._core.transfers

    @property
    @documented("pages")
    def pages(self) -> _core.Table | PickledTable:
        """One row per page whose load began, or per exchange."""
        return self._core.pages

    @property
    @documented("media")
    def media(self) -> _core.Table | PickledTable:
        """One row per player of a video, and per source of frames."""
        return self._core.media

    @property
    def traces(self) -> list[str]:
        """Names of the recorded traces."""
        return self._core.traces

    @property
    def warnings(self) -> list[dict[str, Any]]:
        """Signs that the run says little about congestion control; empty if there are none.

        Each has a stable ``name``, the names of its ``flows``, and a ``text``: one sentence with numbers and a remedy.
        """
        return [{"name": name, "flows": flows, "text": text} for name, flows, text in self._core.warnings]

    @property
    def events(self) -> int:
        """Number of events processed."""
        return self._core.events

    @property
    def cpu_seconds(self) -> float:
        """Processor time of the run, in seconds."""
        return self._core.cpu_seconds

    @property
    def took(self) -> str:
        """Events and processor time of the run, in words."""
        return f"{self.events:,} events in {number(self.cpu_seconds, 2)} s"

    @property
    def trace_hash(self) -> str:
        """Hash of all events of the run: equal for equal runs."""
        return self._core.trace_hash

    @documented(*(name for name, table in tables().items() if table.trace))
    def trace(self, name: str) -> _core.Table | PickledTable:
        """Return a recorded trace.

        Parameters
        ----------
        name
            One of `traces`.

        Raises
        ------
        KeyError
            If the trace was not recorded.
        """
        if name not in self._core.traces:
            raise KeyError(f"trace {name!r} was not recorded; recorded: {', '.join(self._core.traces) or 'none'}")
        return self._core.trace(name)

    @property
    def captured(self) -> list[str]:
        """Names of the links and hosts at which packets were captured."""
        return list(self._core.captured)

    @property
    @documented("packets")
    def packets(self) -> _core.Table | PickledTable:
        """One row per captured TCP packet of IPv4, at each place, in the order of time.

        Raises
        ------
        KeyError
            If nothing was captured.
        """
        if isinstance(self._core, PickledRun):
            raise KeyError("no packets were captured; name links or hosts in `capture`")
        return self._core.packets

    def write_pcap(
        self, path: str | Path, *, at: str | Sequence[str] | None = None, snaplen: int | None = None
    ) -> Path:
        """Write the captured packets as a pcapng file, with one interface for each place.

        Parameters
        ----------
        path
            The file. A regular file is replaced atomically; a pipe or device is written to; ``-`` is standard output.
        at
            One or more of `captured`; by default all.
        snaplen
            Largest number of bytes to store of each packet; data are zeros. By default only the headers are stored.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        KeyError
            If nothing was captured at a place.
        OSError
            If the file cannot be written.
        """
        chosen = [at] if isinstance(at, str) else None if at is None else list(at)
        for place in chosen or ():
            if place not in self.captured:
                there = ", ".join(self.captured) or "none"
                raise KeyError(f"no packets were captured at {place!r}; captured: {there}")
        if snaplen is not None and not 0 < snaplen < 2**31:
            raise ValueError(f"snaplen: must be 1 to {2**31 - 1} bytes, but is {snaplen}")
        path = Path(path)
        targets.write(path, self.pcapng(chosen, snaplen=snaplen))
        return path

    def pcapng(self, at: Sequence[str] | None = None, *, snaplen: int | None = None) -> bytes:
        """Return the file of `write_pcap`; parameters are as there.

        Raises
        ------
        KeyError
            If nothing was captured.
        """
        if isinstance(self._core, PickledRun) or not self.captured:
            raise KeyError("no packets were captured; name links or hosts in `capture`")
        return self._core.pcapng(None if at is None else list(at), snaplen)

    def _document(self) -> str:
        return self.scenario.to_toml()

    @property
    def summary(self) -> dict[str, Any]:
        """The whole result without its traces, as `ackclock run --json` prints it."""
        whole: dict[str, Any] = json.loads(self.summary_json)
        return whole

    @property
    def summary_json(self) -> str:
        """The `summary` as JSON, indented by two spaces; other threads run while it is computed."""
        return self._core.summary(CLASSES, BYTE_CLASSES)

    def write(self, directory: str | Path, labels: dict[str, str] | None = None) -> Path:
        """Write tables, traces and the scenario with all defaults into a directory.

        The directory appears atomically: files are written next to it, and then moved.

        Parameters
        ----------
        directory
            The directory. An earlier result in it is replaced; files of other programs stay.
        labels
            Labels of the variant of a sweep, for the manifest.

        Returns
        -------
        Path
            The directory.

        Raises
        ------
        FileExistsError
            If the directory holds anything other than an earlier result.
        """
        directory = Path(directory)
        with storage.replacing(directory, kind="run") as folder:
            self.write_files(folder, labels)
        return directory

    def write_files(self, folder: Path, labels: dict[str, str] | None = None) -> None:
        """Write the files of `write` into an existing folder."""
        for name, data in self.files(labels).items():
            storage.write_bytes(folder / name, data)

    def files(self, labels: dict[str, str] | None = None) -> dict[str, bytes]:
        """Return the files of `write` by their names; the manifest is the last."""
        tables = self.tables | {f"trace-{name}": frame(self.trace(name)) for name in self.traces}
        return {
            "scenario.toml": self.scenario.to_toml().encode(),
            **{f"{name}.parquet": storage.parquet(table) for name, table in tables.items()},
            storage.MANIFEST: storage.manifest("run", self.manifest(labels)),
        }

    @property
    def tables(self) -> dict[str, polars.DataFrame]:
        """All tables except traces: ``flows``, ``links``, and those of applications that have rows."""
        applications = {"transfers": self.transfers, "pages": self.pages, "media": self.media}
        filled = {name: table for name, table in applications.items() if len(table)}
        return {name: frame(table) for name, table in {"flows": self.flows, "links": self.links, **filled}.items()}

    def manifest(self, labels: dict[str, str] | None = None) -> dict[str, Any]:
        """Describe the run: its scenario, its labels in a sweep, its traces, its hash and its warnings."""
        return {
            "scenario": self.name,
            "labels": labels or {},
            "duration": self.duration,
            "seed": self.scenario.seed,
            "hash": self.scenario.hash,
            "traces": self.traces,
            "trace_hash": self.trace_hash,
            "warnings": self.warnings,
            "python_controls": bool(self.scenario.controls),
        }

    def __repr__(self) -> str:
        flows = counted(len(self.flows), "flow")
        return f"<Result of {self.name!r}: {flows}, traces: {', '.join(self.traces) or 'none'}>"

    def _repr_html_(self) -> str:
        """Return its card for a notebook: warnings, curves, flows and links."""
        from ackclock.results.overview import card

        return card(self, [f"seed {self.scenario.seed}", self.took, f"hash {self.trace_hash[:12]}"]).html()

    def __eq__(self, other: object) -> bool:
        """Whether scenarios, events and recorded traces are equal."""
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
        """Pickle the result with its tables.

        Raises
        ------
        PicklingError
            If packets were captured, since they would be lost.
        """
        if self.captured:
            raise pickle.PicklingError("a result with captured packets cannot be pickled; write them with write_pcap")
        return Result, (self.scenario, PickledRun.of(self._core, CLASSES, BYTE_CLASSES))
