"""Captures of the command `run`: the places where packets are captured, and their files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ackclock.cli import output
from ackclock.files import targets

if TYPE_CHECKING:
    from ackclock.linux import Emulated
    from ackclock.results import Result
    from ackclock.scenario import Scenario

SUFFIXES = (".pcapng", ".pcap")


@dataclass(frozen=True)
class Captures:
    """The options `--pcap`, `--pcap-at` and `--pcap-snaplen`.

    Parameters
    ----------
    file
        The file of a single run; ``-`` is standard output. A sweep adds the names of its runs.
    places
        Links and hosts; if empty, the bottleneck of each scenario.
    snaplen
        Largest number of bytes to store of each packet; None: only its headers.
    force
        Whether to replace files of other programs.
    """

    file: Path
    places: Sequence[str]
    snaplen: int | None
    force: bool = False

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
            given = (
                ("--pcap-at", places, "captured"),
                ("--pcap-snaplen", snaplen, "captured"),
                ("--force", force, "replaced"),
            )
            for option, value, what in given:
                if value:
                    raise ValueError(f"{option}: nothing is {what} without --pcap FILE")
            return None
        return cls(file, places, snaplen, force)

    @property
    def to_stdout(self) -> bool:
        """Whether packets go to standard output, which then cannot hold tables."""
        return targets.is_stdout(self.file)

    def check(self, inputs: Sequence[Path], runs: Sequence[str | None], *, out: Path | None, json_output: bool) -> None:
        """Refuse files that must not be replaced, before the first run.

        Parameters
        ----------
        inputs
            Files that the command reads.
        runs
            Names of the runs of a sweep; without a sweep, one None.
        out
            The directory of the results, if they are written.
        json_output
            Whether JSON goes to standard output.

        Raises
        ------
        OSError
            If a file cannot be written, or must not be replaced.
        ValueError
            If all runs of a sweep would share one pipe or device, packets and JSON would share standard output, or the
            file's name is that of another format.
        """
        if self.to_stdout and json_output:
            raise ValueError(f"--pcap {self.file}: --json is written to standard output, too; name a file")
        if out is not None and out.absolute() == self.file.absolute():
            raise ValueError(f"--pcap {self.file}: is the directory of --out; name another file")
        if targets.is_stream(self.file) and list(runs) != [None]:
            raise ValueError(f"--pcap {self.file}: a sweep writes one file per run; name a file")
        targets.check(*map(self.file_of, runs), inputs=inputs, force=self.force)
        if not targets.is_stream(self.file) and self.file.suffix not in SUFFIXES:
            raise ValueError(
                f"--pcap {self.file}: packets are written as pcapng; name a file that ends in {SUFFIXES[0]}"
            )

    def file_of(self, run: str | None) -> Path:
        """Return the file of a single run, or of the run of a sweep with this name."""
        return self.file if run is None else self.file.with_name(f"{self.file.stem}-{run}{self.file.suffix}")

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
