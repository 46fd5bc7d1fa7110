"""The commands of the command line."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, NoReturn, Optional

import typer

from ackclock import _core

app = typer.Typer(
    name="ackclock",
    help="A laboratory for TCP start-up and congestion control.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

INTERRUPTED = 130
BAD_INPUT = 2

JobsOption = Annotated[
    Optional[int],
    typer.Option(
        "--jobs", "-j", min=1, help="Runs at once; by default one per processor. Results do not depend on it."
    ),
]
ForceOption = Annotated[
    bool, typer.Option("--force", help="Replace files that are there, also those of other programs.")
]
OutOption = Annotated[Optional[Path], typer.Option("--out", "-o", help="Directory to write to.")]


def main() -> None:
    """Run the command line.

    Exits with 0; with 2 for what the user can mend (bad input, a full disk); with 1 for other failures, as when the
    reader of the output is gone; with 130 after Ctrl-C.
    """
    _open_streams()
    try:
        code = _run()
        sys.stdout.flush()
    except KeyboardInterrupt:
        _fail("interrupted", INTERRUPTED)
    except OSError as error:
        # Stop quietly, also when Python flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):  # the reader of our output has gone, as `head` does
            raise SystemExit(1) from None
        _fail(f"cannot write to standard output: {error.strerror or error}", BAD_INPUT)
    raise SystemExit(code)


def _open_streams() -> None:
    """Replace streams that were closed before we began, as by ``>&-``."""
    # Python has no stream for a closed one, whatever its type says.
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 - for the whole run


def _run() -> int:
    try:
        return int(app(standalone_mode=False) or 0)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 1
    except Exception as error:
        # What typer raises for bad options and commands; it has no public name for it.
        show, told = getattr(error, "format_message", None), getattr(error, "exit_code", None)
        if show is None or not isinstance(told, int):
            raise
        message = str(show()).strip().rstrip(".")
        if type(error).__name__ == "NoArgsIsHelpError":
            typer.echo(message, err=True)
            return told
        from ackclock.cli import output

        output.error(message[:1].lower() + message[1:])
        return told


@contextlib.contextmanager
def plain_errors() -> Iterator[None]:
    """Turn what a user can mend into one message and an exit code."""
    try:
        yield
    except KeyboardInterrupt as error:
        _fail(str(error) or "interrupted", INTERRUPTED)
    except OSError as error:
        if error.errno is not None and error.filename is None:
            raise  # of a stream; files have names
        text = f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error)
        _fail(text, BAD_INPUT)
    except ValueError as error:
        _fail(str(error), BAD_INPUT)
    except MemoryError:
        _fail("there is not enough memory for this", BAD_INPUT)
    except KeyError as error:
        _fail(str(error.args[0]) if error.args else str(error), BAD_INPUT)


def _fail(message: str, code: int) -> NoReturn:
    from ackclock.cli.output import error

    error(message)
    raise SystemExit(code)


def _version(show: bool) -> None:
    if show:
        typer.echo(f"ackclock {_core.__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Simulate TCP's start-up and congestion control, and judge claims about them."""


@app.command()
def run(
    file: Annotated[Path, typer.Argument(help="Scenario file (TOML).")],
    settings: Annotated[
        Optional[list[str]],
        typer.Option("--set", metavar="KEY=VALUE", help="Change a value, as in flow.rwnd='20 packets'; repeatable."),
    ] = None,
    seed: Annotated[Optional[int], typer.Option(min=0, help="Seed instead of the file's.")] = None,
    out: OutOption = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
    record: Annotated[
        Optional[list[str]],
        typer.Option(metavar="NAME", help="Trace to record instead of the file's: cwnd, delivered, …; repeatable."),
    ] = None,
    jobs: JobsOption = None,
    pcap: Annotated[
        Optional[Path],
        typer.Option(
            metavar="FILE",
            help="Capture packets into this pcapng file, - for standard output; of a sweep one file per run.",
        ),
    ] = None,
    pcap_at: Annotated[
        Optional[list[str]],
        typer.Option(metavar="PLACE", help="Link or host to capture at, instead of the bottleneck; repeatable."),
    ] = None,
    pcap_snaplen: Annotated[
        Optional[int],
        typer.Option(min=1, max=65535, metavar="BYTES", help="Store so much of each packet instead of its headers."),
    ] = None,
    force: ForceOption = False,
) -> None:
    """Run a scenario, or every variant of its [sweep]."""
    with plain_errors():
        from ackclock.cli.captures import Captures
        from ackclock.cli.runs import run_command

        captures = Captures.wanted(pcap, pcap_at or [], pcap_snaplen, force=force)
        run_command(
            file, settings or [], seed=seed, out=out, json_output=json, record=record, jobs=jobs, captures=captures
        )


@app.command()
def paper(
    name: Annotated[str, typer.Argument(help="A paper; see `ackclock list papers`.")],
    quick: Annotated[bool, typer.Option("--quick", help="Fewer seeds, start times and variants.")] = False,
    out: OutOption = None,
    jobs: JobsOption = None,
) -> None:
    """Run a paper's experiments, draw its figures, and judge its claims."""
    with plain_errors():
        from ackclock.cli.papers import paper_command

        paper_command(name, quick=quick, out=out, jobs=jobs)


def _part_option(axis: str) -> object:
    return typer.Option(metavar="PARTS", help=f"Parts on the axis {axis}, separated by commas; by default all.")


@app.command()
def matrix(
    slow_start: Annotated[Optional[list[str]], _part_option("slow_start")] = None,
    avoidance: Annotated[Optional[list[str]], _part_option("avoidance")] = None,
    loss_response: Annotated[Optional[list[str]], _part_option("loss_response")] = None,
    recovery: Annotated[Optional[list[str]], _part_option("recovery")] = None,
    congestion_control: Annotated[
        Optional[list[str]],
        typer.Option(
            metavar="CONTROLS",
            help="Whole controls (bbr), separated by commas; by default all, unless parts are named.",
        ),
    ] = None,
    path: Annotated[
        Optional[list[str]],
        typer.Option(metavar="PATHS", help="Names of paths, or files, separated by commas; see `ackclock list paths`."),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Every combination is run with the seeds from 1 to this.")] = 3,
    duration: Annotated[
        Optional[str],
        typer.Option(metavar="TIME", help="Duration of every run instead of the path's, as in '10 s'."),
    ] = None,
    baseline: Annotated[
        Optional[list[str]],
        typer.Option(
            metavar="AXIS=PART",
            help="What the others are compared with, as in avoidance=cubic; repeatable; "
            "on the other axes a scenario's defaults.",
        ),
    ] = None,
    sort: Annotated[
        Optional[str],
        typer.Option(
            metavar="METRIC",
            help="Rank by goodput_bps, completion_s, loss_rate, queue_delay_s, jain or taken; "
            "by default by completion_s where flows end, else by goodput_bps.",
        ),
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="How many of the best of a large matrix are shown.")] = 3,
    out: OutOption = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
    jobs: JobsOption = None,
) -> None:
    """Cross every slow start, avoidance, loss response and recovery on paths that disagree."""
    with plain_errors():
        from ackclock.cli.matrix import matrix_command

        parts = {
            "slow_start": slow_start,
            "avoidance": avoidance,
            "loss_response": loss_response,
            "recovery": recovery,
            "congestion_control": congestion_control,
        }
        matrix_command(
            parts, path or [], seeds=seeds, duration=duration, baseline=baseline or [], sort=sort, top=top, out=out,
            json_output=json, jobs=jobs,
        )  # fmt: skip


@app.command()
def plot(
    directory: Annotated[Path, typer.Argument(help="What `ackclock run --out` wrote.")],
    format: Annotated[str, typer.Option(help="png, svg or pdf.")] = "png",  # noqa: A002
    kind: Annotated[
        Optional[list[str]],
        typer.Option(
            help="Over time: cwnd, throughput, rtt, queue, sojourn, probability, queues, sequence or internals. "
            "Over labels: points, cdf or box. Repeatable; by default all that the traces allow, and points with --x."
        ),
    ] = None,
    x: Annotated[
        Optional[str],
        typer.Option("--x", metavar="LABEL", help="Over labels: the label of the sweep along the axis, as in limit."),
    ] = None,
    y: Annotated[
        Optional[str],
        typer.Option(
            "--y",
            metavar="COLUMN",
            help="Over labels: what is drawn, of flows, links, pages or transfers; by default goodput_bps, and with "
            "cdf and box load or completion times.",
        ),
    ] = None,
    by: Annotated[
        Optional[list[str]],
        typer.Option("--by", metavar="LABEL", help="Over labels: one line for each value of this label; repeatable."),
    ] = None,
    only: Annotated[
        Optional[list[str]],
        typer.Option(metavar="LABEL=VALUE", help="Only runs of a sweep with this value of a label; repeatable."),
    ] = None,
    link: Annotated[
        Optional[str],
        typer.Option(metavar="NAME", help="Only this link, as in 'n1>n2', where links are shown; queues shows one."),
    ] = None,
    name: Annotated[
        Optional[list[str]],
        typer.Option(metavar="NAME", help="Only these quantities, as bwe, where internals are shown; repeatable."),
    ] = None,
    out: OutOption = None,
    force: ForceOption = False,
) -> None:
    """Plot traces, the variants of a sweep overlaid; or, with --x, --y or --by, results over the labels of a sweep."""
    with plain_errors():
        from ackclock.cli.plots import plot_command

        plot_command(
            directory, image_format=format, kinds=kind, only=only or [], link=link, names=name or [], out=out,
            x=x, y=y, by=by or [], force=force,
        )  # fmt: skip


@app.command()
def model(
    name: Annotated[
        Optional[str], typer.Argument(help="A model, or a paper for all of its; without one all are listed.")
    ] = None,
    param: Annotated[
        Optional[list[str]],
        typer.Option(
            metavar="KEY=VALUE",
            help="A parameter: a value, as in rtt='20 ms'; several, as in b=1,2; or a range, as in loss=0.1%..10% or "
            "loss=0.1%..10%:50 for 50 values; repeatable.",
        ),
    ] = None,
    output: Annotated[
        Optional[list[str]],
        typer.Option(metavar="NAME", help="Only this output; repeatable. With --over the first rate, unless named."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON in SI units instead of tables.")] = False,
    plot: Annotated[
        Optional[Path],
        typer.Option(
            metavar="FILE",
            help="Draw the outputs over the parameter that has a range: png, svg or pdf; - for standard output (png).",
        ),
    ] = None,
    over: Annotated[
        Optional[Path],
        typer.Option(metavar="DIRECTORY", help="Compare with what `ackclock run --out` wrote, and draw with --plot."),
    ] = None,
    x: Annotated[
        Optional[str],
        typer.Option(
            "--x",
            metavar="[PARAM=]COLUMN",
            help="With --over: the label or column of x, and the parameter that it is; by default what fits.",
        ),
    ] = None,
    y: Annotated[
        Optional[str],
        typer.Option("--y", metavar="COLUMN", help="With --over: the measured column; by default goodput_bps."),
    ] = None,
    force: ForceOption = False,
) -> None:
    """Compute an analytic model, over a range of a parameter or through measured points; without a name list them."""
    with plain_errors():
        from ackclock.cli.models import model_command

        model_command(
            name, param or [], outputs=output or [], json_output=json, plot=plot, over=over, x=x, y=y, force=force
        )


@app.command("list")
def list_(
    axis: Annotated[Optional[str], typer.Argument(help="An axis, or papers.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """List what a scenario may use: slow starts, queues, loss models, …, and the papers."""
    with plain_errors():
        from ackclock.cli.listing import list_command

        list_command(axis, json_output=json)


@app.command()
def check(
    file: Annotated[Path, typer.Argument(help="Scenario file (TOML).")],
) -> None:
    """Check a scenario file without running it."""
    with plain_errors():
        from ackclock.cli.runs import check_command

        check_command(file)


@app.command()
def schema() -> None:
    """Print the JSON Schema of scenario files."""
    with plain_errors():
        typer.echo(_core.schema())
