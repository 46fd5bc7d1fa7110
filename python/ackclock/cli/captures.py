"""Captures of the command `run`: where packets are captured, and into which files they go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ackclock import storage
from ackclock.cli import output
from ackclock.result import Result
from ackclock.scenario import Scenario


@dataclass(frozen=True)
class Captures:
    """What `--pcap` and its companions ask for.

    Parameters
    ----------
    file
        The file of a single run; the files of a sweep have the names of its runs in addition.
    places
        Links and hosts; none: the bottleneck of each scenario.
    snaplen
        Most bytes to store of each packet; None: its headers.
    """

    file: Path
    places: Sequence[str]
    snaplen: int | None

    @classmethod
    def wanted(cls, file: Path | None, places: Sequence[str], snaplen: int | None) -> Captures | None:
        """Read the options; None: no capture.

        Raises
        ------
        ValueError
            If there is no file for what is to be captured.
        OSError
            If the file cannot be there.
        """
        if file is None:
            if places or snaplen is not None:
                option = "--pcap-at" if places else "--pcap-snaplen"
                raise ValueError(f"{option}: nothing is captured without --pcap FILE")
            return None
        storage.check_file(file)
        return cls(file, places, snaplen)

    def places_of(self, scenario: Scenario) -> Sequence[str]:
        """Give the links and hosts to capture in a run of `scenario`."""
        return self.places or [scenario.bottleneck]

    def write(self, result: Result, run: str | None = None) -> None:
        """Write the capture of a run, or of the run of a sweep with this name."""
        file = self.file if run is None else self.file.with_name(f"{self.file.stem}-{run}{self.file.suffix}")
        result.write_pcap(file, snaplen=self.snaplen)
        if run is None:
            output.note(f"packets at {', '.join(result.captured)} written to {file}")
