"""The command `plot`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from ackclock.cli.errors import plain_errors
from ackclock.cli.options import Force, Out


def plot(
    directory: Annotated[Path, typer.Argument(help="Directory written by `ackclock run --out`.")],
    format: Annotated[str, typer.Option(metavar="FORMAT", help="Image format: png, svg or pdf.")] = "png",  # noqa: A002
    kind: Annotated[
        Optional[list[str]],
        typer.Option(
            metavar="KIND",
            help="Over time: cwnd, throughput, rtt, queue, sojourn, probability, queues, sequence or internals. "
            "Over labels: points, cdf or box. Repeatable. By default all for which traces were recorded; with --x, "
            "points.",
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
            help="Over labels: the column to draw, of flows, links, pages or transfers. By default goodput_bps; with "
            "cdf and box, load or completion times.",
        ),
    ] = None,
    by: Annotated[
        Optional[list[str]],
        typer.Option(
            "--by", metavar="LABEL", help="Over labels: draw a line for each value of this label; repeatable."
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
    out: Out = None,
    force: Force = False,
) -> None:
    """Plot traces over time, or results over the labels of a sweep.

    Plots over time overlay the variants of a sweep. With --x, --y or --by, plots show results over labels.
    """
    with plain_errors():
        from ackclock.cli.plots import plot_command

        plot_command(
            directory, image_format=format, kinds=kind, only=only or [], link=link, names=name or [], out=out,
            x=x, y=y, by=by or [], force=force,
        )  # fmt: skip
