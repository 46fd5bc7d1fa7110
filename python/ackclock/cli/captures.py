"""What the command `run` writes of each run beside its tables: packets, and the logs of senders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from ackclock import qlogs
from ackclock.cli import output
from ackclock.files import checks, targets

if TYPE_CHECKING:
    from ackclock.linux import Emulated
    from ackclock.results import Result, StoredResult
    from ackclock.scenario import Scenario


@dataclass(frozen=True, kw_only=True)
class RunFile:
    """A file that the user wants of each run.

    Parameters
    ----------
    file
        The file of a single run; ``-`` is standard output. A sweep adds the names of its runs.
    force
        Whether to replace files of other programs.
    """

    option: ClassVar[str]
    form: ClassVar[str]
    """What is written, for messages."""
    suffixes: ClassVar[Sequence[str]]

    file: Path
    force: bool = False

    @property
    def to_stdout(self) -> bool:
        """Whether it is standard output, which then cannot hold tables."""
        return targets.is_stdout(self.file)

    def check(
        self, inputs: Sequence[Path], runs: Mapping[str | None, Scenario], *, out: Path | None, json_output: bool
    ) -> None:
        """Refuse files that must not be replaced, before the first run.

        Parameters
        ----------
        inputs
            Files that the command reads.
        runs
            The scenarios of a sweep by the names of the runs; without a sweep, one of the name None.
        out
            The directory of the results, if they are written.
        json_output
            Whether JSON goes to standard output.

        Raises
        ------
        OSError
            If a file cannot be written, or must not be replaced.
        ValueError
            If all runs of a sweep would share one pipe or device, the file and JSON would share standard output, or the
            file's name is that of another format.
        """
        if self.to_stdout and json_output:
            raise ValueError(f"{self.option} {self.file}: --json is written to standard output, too; name a file")
        if out is not None and out.absolute() == self.file.absolute():
            raise ValueError(f"{self.option} {self.file}: is the directory of --out; name another file")
        if targets.is_stream(self.file) and list(runs) != [None]:
            raise ValueError(f"{self.option} {self.file}: a sweep writes one file per run; name a file")
        files = [file for run, scenario in runs.items() for file in self.files_of(run, scenario)]
        targets.check(*files, inputs=inputs, force=self.force)
        if not targets.is_stream(self.file) and self.file.suffix not in self.suffixes:
            raise ValueError(
                f"{self.option} {self.file}: {self.form}; name a file that ends in {' or '.join(self.offered)}"
            )

    @property
    def offered(self) -> Sequence[str]:
        """Endings that a message proposes."""
        return self.suffixes

    def file_of(self, run: str | None) -> Path:
        """Return the file of a single run, or of the run of a sweep with this name."""
        return self.file if run is None else self.file.with_name(f"{self.file.stem}-{run}{self.file.suffix}")

    def files_of(self, run: str | None, scenario: Scenario) -> Sequence[Path]:  # noqa: ARG002 - of logs
        """Return the files of a run."""
        return [self.file_of(run)]


@dataclass(frozen=True, kw_only=True)
class Captures(RunFile):
    """The options `--pcap`, `--pcap-at` and `--pcap-snaplen`.

    Parameters
    ----------
    places
        Links and hosts; if empty, the bottleneck of each scenario.
    snaplen
        Largest number of bytes to store of each packet; None: only its headers.
    """

    option = "--pcap"
    form = "packets are written as pcapng"
    suffixes = (".pcapng", ".pcap")

    places: Sequence[str]
    snaplen: int | None

    @classmethod
    def wanted(
        cls, file: Path | None, places: Sequence[str], snaplen: int | None, *, force: bool = False
    ) -> Captures | None:
        """Read the options; None: capture nothing.

        Raises
        ------
        ValueError
            If an option needs a file and none is named.
        """
        if file is None:
            for option, value in (("--pcap-at", places), ("--pcap-snaplen", snaplen)):
                if value:
                    raise ValueError(f"{option}: nothing is captured without --pcap FILE")
            return None
        return cls(file=file, places=places, snaplen=snaplen, force=force)

    @property
    def offered(self) -> Sequence[str]:
        """The ending of the format, and not that of its predecessor."""
        return self.suffixes[:1]

    def places_of(self, scenario: Scenario) -> Sequence[str]:
        """Return the links and hosts at which to capture a run of `scenario`."""
        return self.places or [scenario.bottleneck]

    def write(self, result: Result | Emulated) -> None:
        """Write the capture of a single run."""
        result.write_pcap(self.file, snaplen=self.snaplen)
        where = "standard output" if self.to_stdout else self.file
        output.note(f"packets at {', '.join(result.captured)} written to {where}")

    def copy(self, stored: Path, run: str) -> None:
        """Write the stored capture of the run of a sweep with this name."""
        targets.write(self.file_of(run), stored.read_bytes())


@dataclass(frozen=True, kw_only=True)
class Logs(RunFile):
    """The options `--qlog` and `--qlog-dialect`.

    Parameters
    ----------
    dialect
        The version of the format.
    """

    option = "--qlog"
    form = "logs are written as qlog"
    suffixes = qlogs.SUFFIXES

    dialect: str

    @classmethod
    def wanted(cls, file: Path | None, dialect: str | None, *, force: bool = False) -> Logs | None:
        """Read the options; None: write no logs.

        Raises
        ------
        ValueError
            If a dialect is named and no file, or it is unknown.
        """
        if dialect is not None:
            checks.words("--qlog-dialect", "dialect of qlog", [dialect], qlogs.DIALECTS)
        if file is None:
            if dialect is not None:
                raise ValueError("--qlog-dialect: nothing is logged without --qlog FILE")
            return None
        return cls(file=file, dialect=dialect or qlogs.DIALECTS[0], force=force)

    def files_of(self, run: str | None, scenario: Scenario) -> Sequence[Path]:
        """Return the files of a run: one, or one for each flow."""
        return qlogs.files(self.file_of(run), scenario.flows)

    @staticmethod
    def record(record: Sequence[str] | None, scenario: Scenario) -> list[str]:
        """Return the traces to record: those that the user wants, and those of the log."""
        return list(dict.fromkeys([*(scenario.record if record is None else record), *qlogs.TRACES]))

    def write(self, result: Result | StoredResult, run: str | None = None) -> None:
        """Write the log of a single run, or of the run of a sweep with this name."""
        files = result.write_qlog(self.file_of(run), dialect=self.dialect)
        if run is None:
            where = "standard output" if self.to_stdout else ", ".join(map(str, files[:5]))
            more = f" and {len(files) - 5} more" if len(files) > 5 else ""
            output.note(f"log written to {where}{more}")


def wanted(*files: RunFile | None, force: bool) -> None:
    """Refuse `--force` without a file that it could replace.

    Raises
    ------
    ValueError
        If none is wanted.
    """
    if force and not any(files):
        raise ValueError("--force: nothing is replaced without --pcap FILE or --qlog FILE")
