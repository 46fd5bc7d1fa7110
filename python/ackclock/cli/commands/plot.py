"""The command `plot`."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Optional

import typer

from ackclock.cli import output
from ackclock.cli.errors import plain_errors
from ackclock.cli.options import Force, Out


def plot(
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="SOURCE...",
            help="Directory that a command wrote with --out, a report, or a scenario file, whose path is drawn; or logs"
            " of connections (qlog), which are drawn together.",
        ),
    ],
    format: Annotated[str, typer.Option(metavar="FORMAT", help="Image format: png, svg or pdf.")] = "png",  # noqa: A002
    kind: Annotated[
        Optional[list[str]],
        typer.Option(
            metavar="KIND",
            help="Over labels: lines, cdf, box, heatmap or paired. Over time: curves, cwnd, throughput, rtt, queue, "
            "sojourn, probability, queues, sequence or internals. Of logs: curves, cwnd, rtt, pacing or sequence. Of a "
            "report: the name of a figure. Repeatable.",
        ),
    ] = None,
    x: Annotated[
        Optional[str],
        typer.Option("--x", metavar="LABEL", help="Over labels: the label on the axis, such as limit."),
    ] = None,
    y: Annotated[
        Optional[str],
        typer.Option(
            "--y",
            metavar="COLUMN",
            help="Over labels: the column to draw. By default goodput_bps; with cdf and box, load or completion times.",
        ),
    ] = None,
    by: Annotated[
        Optional[list[str]],
        typer.Option(
            "--by",
            metavar="LABEL",
            help="Over labels: draw a series for each value of this label; the rows of a heat map; what paired "
            "differences compare. Repeatable.",
        ),
    ] = None,
    only: Annotated[
        Optional[list[str]],
        typer.Option(metavar="LABEL=VALUE", help="Draw only runs with this value of a label; repeatable."),
    ] = None,
    link: Annotated[
        Optional[str],
        typer.Option(metavar="NAME", help="Draw only this link, such as 'n1>n2', in plots that show links."),
    ] = None,
    name: Annotated[
        Optional[list[str]],
        typer.Option(metavar="NAME", help="Draw only this quantity, such as bwe, in plots of internals; repeatable."),
    ] = None,
    bin: Annotated[  # noqa: A002
        Optional[float],
        typer.Option(metavar="SECONDS", help="Width of the bins of rates and queues; by default 1/100 of the run."),
    ] = None,
    unit: Annotated[Optional[str], typer.Option(metavar="UNIT", help="Length of queues in packets or bytes.")] = None,
    width: Annotated[Optional[str], typer.Option(metavar="LENGTH", help="Width, such as 3.3in or 84mm.")] = None,
    height: Annotated[Optional[str], typer.Option(metavar="LENGTH", help="Height; by default, it fits.")] = None,
    font_size: Annotated[Optional[float], typer.Option(metavar="POINTS", help="Size of labels, such as 8.")] = None,
    style: Annotated[
        Optional[str], typer.Option(metavar="NAME", help="A style of matplotlib, such as grayscale, or its file.")
    ] = None,
    title: Annotated[Optional[str], typer.Option(metavar="TEXT", help="Title; '' draws none.")] = None,
    out: Out = None,
    force: Force = False,
) -> None:
    """Draw runs, sweeps, figures of a report, a path, or logs.

    By default, a run or sweep shows the curves for which traces were recorded, a sweep without traces its most
    important measure, and a comparison, matrix, tuning or paper the figures of its report. Of a scenario, the figure
    shows rate, delay and losses of the bottleneck in both directions, from its models and without flows. Of logs, it
    shows window, data in flight, losses and recoveries, round-trip time, pacing rate and data sent of every connection.
    """
    with plain_errors():
        from ackclock.drawing import files
        from ackclock.drawing.look import Look, length
        from ackclock.files import checks, storage, targets
        from ackclock.plotting.sources import Choice, figures

        checks.words("--format", "format", [format], files.FORMATS)
        wide = None if width is None else length(width, "--width")
        high = None if height is None else length(height, "--height")
        look = Look(wide, high, font_size, style or "", title)
        with _noted():
            choice = Choice(x, y, by or (), only or (), link, name or (), bin, unit)  # type: ignore[arg-type]
            plots = figures(sources if len(sources) > 1 else sources[0], kind or (), choice)
        directory = sources[0]
        folder = out or (directory if directory.is_dir() else directory.parent)
        storage.check_folder(folder)
        folder.mkdir(parents=True, exist_ok=True)
        own = [file for each in ("*", "*/*") for file in directory.glob(each) if storage.OWN_FILES.fullmatch(file.name)]
        own += sources if len(sources) > 1 else []
        paths = [folder / f"{each.name}.{format}" for each in plots]
        for path in paths:  # before the first is drawn
            targets.check(path, inputs=own, force=force)
        for each, path in zip(plots, paths, strict=True):
            files.save(each.figure, path, look)
            output.place(path)
            for note in each.notes:
                output.note(note)


@contextmanager
def _noted() -> Iterator[None]:
    """Print warnings, such as of an interrupted sweep, as notes."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        output.note(str(warning.message))
