"""The command `plot`."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ackclock import plot
from ackclock.cli import output
from ackclock.cli.options import key_and_value
from ackclock.cli.resultplots import plot_results
from ackclock.datasets import runs
from ackclock.drawing import results as resultplots
from ackclock.drawing.curves import lacking
from ackclock.files import storage, targets
from ackclock.result import StoredResult, frame
from ackclock.texts.labels import find

MOST_CURVES = 12


@dataclass(frozen=True)
class Images:
    """The images to write.

    Attributes
    ----------
    results : Path
        Directory of the results, whose files no plot may replace.
    folder : Path
        Directory to write to.
    ending : str
        Image format.
    force : bool
        Whether to replace files of other programs.
    """

    results: Path
    folder: Path
    ending: str
    force: bool

    def path(self, name: str) -> Path:
        """Return the file of an image, whose folder then exists.

        Raises
        ------
        OSError
            If the file cannot be written, or must not be replaced.
        """
        storage.check_folder(self.folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{name}.{self.ending}"
        own = (
            file for each in ("*", "*/*") for file in self.results.glob(each) if storage.OWN_FILES.fullmatch(file.name)
        )
        targets.check(path, inputs=own, force=self.force)
        return path


def plot_command(
    directory: Path,
    *,
    image_format: str,
    kinds: Sequence[str] | None,
    only: Sequence[str],
    link: str | None,
    names: Sequence[str],
    out: Path | None,
    x: str | None = None,
    y: str | None = None,
    by: Sequence[str] = (),
    force: bool = False,
) -> None:
    """Plot a stored run or sweep."""
    if image_format not in plot.FORMATS:
        raise ValueError(f"unknown format {image_format!r}; known: {', '.join(plot.FORMATS)}")
    if unknown := sorted(set(kinds or ()) - plot.KINDS.keys() - set(resultplots.KINDS)):
        raise ValueError(f"unknown kind {unknown[0]!r}; known: {', '.join((*plot.KINDS, *resultplots.KINDS))}")
    over_labels = [kind for kind in kinds or () if kind in resultplots.KINDS]
    over_time = [kind for kind in kinds or () if kind in plot.KINDS]
    results = _choose(_read(directory), only)
    images = Images(directory, out or directory, image_format, force)
    if not (over_labels or by) and x is None and y is None:
        _plot_traces(results, over_time, link, names, images)
        return
    if over_time or names:
        wrong = f"--kind {over_time[0]}" if over_time else f"--name {names[0]}"
        raise ValueError(f"{wrong} is drawn over time; --x, --y and --by draw over labels: use one or the other")
    plot_results(results, kinds=over_labels or ["points"], x=x, y=y, by=by, link=link, file=images.path)


def _plot_traces(
    results: list[StoredResult], kinds: Sequence[str], link: str | None, names: Sequence[str], images: Images
) -> None:
    """Plot recorded traces over time."""
    possible = _possible(results, kinds, images.results)
    shown = {plot.KINDS[kind].shows for kind in kinds or possible}
    if link is not None and not shown & {"links", "link"}:
        raise ValueError(f"--link {link}: none of {', '.join(kinds or possible) or 'the plots'} shows links")
    if names and "names" not in shown:
        raise ValueError(f"--name {names[0]}: none of {', '.join(kinds or possible) or 'the plots'} shows internals")
    if not possible:
        raise ValueError(
            f"{images.results}: there are no traces to plot; run again with --record cwnd --record delivered"
        )
    paths = {kind: images.path(kind) for kind in kinds or possible}  # checked before the first plot
    chosen: dict[int, Mapping[str, StoredResult]] = {}
    for kind, path in paths.items():
        draw, shows = plot.KINDS[kind].draw, plot.KINDS[kind].shows
        curves = _curves(results[0], shows, link)
        if curves not in chosen:
            chosen[curves] = _labelled(_few(results, curves))
        options: dict[str, object] = {"names": names or None} if shows == "names" else {"link": link}
        plot.save(draw(chosen[curves], **({} if shows == "flows" else options)), path)
        output.place(path)


def _possible(results: list[StoredResult], kinds: Sequence[str] | None, directory: Path) -> list[str]:
    """Return the kinds of plots with something to draw; refuse any other of `kinds`."""
    lacks = {name: lacking(results, name, kind.traces) for name, kind in plot.KINDS.items()}
    if messages := [lacks[kind] for kind in kinds or () if lacks[kind] is not None]:
        raise ValueError(f"{directory}: {messages[0]}")
    for kind in kinds or ():
        if plot.KINDS[kind].shows == "flows" and not _any(results, kind):
            raise ValueError(f"{directory}: no flow has data for {kind}: datagrams have no window and no ACKs")
    return [
        kind for kind, message in lacks.items() if message is None and (kind in (kinds or ()) or _any(results, kind))
    ]


def _read(directory: Path) -> list[StoredResult]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        results = runs(directory)
    for warning in caught:
        output.note(str(warning.message))
    return results


def _choose(results: list[StoredResult], only: Sequence[str]) -> list[StoredResult]:
    """Return the runs whose labels have the values that the user names."""
    for text in only:
        word, wanted = key_and_value(text, "--only", "algorithm=staged")
        label = find(f"--only {text}", "label", word, results[0].labels)
        values = list(dict.fromkeys(result.labels[label] for result in results))
        results = [result for result in results if result.labels[label] == wanted]
        if not results:
            raise ValueError(f"--only {text}: no run has this value; known: {', '.join(values[:20])}")
    return results


def _any(results: Sequence[StoredResult], kind: str) -> bool:
    """Whether there is something to draw: most controls have no internals, and datagrams have no window."""
    shown = plot.KINDS[kind]
    return shown.shows not in ("names", "flows") or any(len(frame(result.trace(shown.traces[0]))) for result in results)


def _curves(result: StoredResult, shows: str, link: str | None) -> int:
    """Return the number of curves of one run."""
    if shows in ("flows", "names"):
        return len(result.flows)
    return 1 if shows == "link" or link is not None else len(plot.used_queues(result))


def _few(results: list[StoredResult], curves: int) -> list[StoredResult]:
    """Return evenly chosen runs, so few that a plot with this number of curves for each stays legible."""
    most = max(1, MOST_CURVES // max(1, curves))
    if len(results) <= most:
        return results
    places = [round(index * (len(results) - 1) / max(1, most - 1)) for index in range(most)]
    label = next(iter(results[0].labels), "LABEL")
    output.note(f"{most} of {len(results)} runs are drawn; choose others with --only, as in --only {label}=VALUE")
    return [results[place] for place in places]


def _labelled(results: Sequence[StoredResult]) -> dict[str, StoredResult]:
    if len({result.name for result in results}) == len(results):
        return {result.name: result for result in results}
    return {f"{index + 1} {result.name}": result for index, result in enumerate(results)}
