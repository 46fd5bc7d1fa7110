"""Captures of the command `run`: where packets are captured, and into which files they go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ackclock.cli import output
from ackclock.files import targets
from ackclock.result import Result
from ackclock.scenario import Scenario


@dataclass(frozen=True)
class Captures:
    """What `--pcap` and its companions ask for.

    Parameters
    ----------
    file
        The file of a single run, ``-`` for standard output; the files of a sweep have the names of its runs in
        addition.
    places
        Links and hosts; none: the bottleneck of each scenario.
    snaplen
        Most bytes to store of each packet; None: its headers.
    force
        Whether files of other programs are replaced.
    """

    file: Path
    places: Sequence[str]
    snaplen: int | None
    force: bool = False

    @classmethod
    def wanted(
        cls, file: Path | None, places: Sequence[str], snaplen: int | None, *, force: bool = False
    ) -> Captures | None:
        """Read the options; None: no capture.

        Raises
        ------
        ValueError
            If there is no file for what is to be captured.
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
        """Whether the packets go to standard output, which has then no room for tables."""
        return targets.is_stdout(self.file)

    def check(self, inputs: Sequence[Path], runs: Sequence[str | None], *, json_output: bool) -> None:
        """Refuse files that may not be replaced, before anything is run.

        Parameters
        ----------
        inputs
            What the command reads.
        runs
            Names of the runs of a sweep; a single None without one.
        json_output
            Whether JSON goes to standard output.

        Raises
        ------
        OSError
            If a file cannot be written, or may not be replaced.
        ValueError
            If all runs of a sweep would go into one pipe or device, or packets and JSON to standard output.
        """
        if self.to_stdout and json_output:
            raise ValueError(f"--pcap {self.file}: --json is written to standard output, too; name a file")
        single = self.to_stdout or (self.file.exists() and not self.file.is_file())
        if single and list(runs) != [None]:
            raise ValueError(f"--pcap {self.file}: a sweep has one file per run; name a file")
        for run in runs:
            targets.check(self.file_of(run), inputs=inputs, force=self.force)

    def file_of(self, run: str | None) -> Path:
        """Name the file of a run, or of the run of a sweep with this name."""
        return self.file if run is None else self.file.with_name(f"{self.file.stem}-{run}{self.file.suffix}")

    def places_of(self, scenario: Scenario) -> Sequence[str]:
        """Give the links and hosts to capture in a run of `scenario`."""
        return self.places or [scenario.bottleneck]

    def write(self, result: Result, run: str | None = None) -> None:
        """Write the capture of a run, or of the run of a sweep with this name."""
        result.write_pcap(self.file_of(run), snaplen=self.snaplen)
        if run is None:
            where = "standard output" if self.to_stdout else self.file
            output.note(f"packets at {', '.join(result.captured)} written to {where}")
