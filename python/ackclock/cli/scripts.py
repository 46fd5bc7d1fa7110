"""The command `script`: runs scripts, prints what differs, and writes traces and the file for a service."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path, PurePosixPath

from ackclock import _core
from ackclock.cli import output
from ackclock.cli.errors import BAD_INPUT
from ackclock.experiments import budget
from ackclock.files import storage, targets
from ackclock.formatting.numbers import counted
from ackclock.packetdrill.junit import xml
from ackclock.packetdrill.running import VERDICTS, Result, Script, Settings, find, run_scripts

SUFFIXES = (".pcapng", ".qlog")


def script_command(
    files: Sequence[Path],
    settings: Settings,
    *,
    allow_unsupported: bool,
    trace: Path | None,
    junit: Path | None,
    jobs: int | None,
    json_output: bool,
    force: bool,
) -> int:
    """Run scripts, print and write the results, and return the exit code."""
    # An empty script checks the settings before any file is written.
    _core.run_script(
        "0 close(3) = 0\n",
        "",
        settings.host,
        defines=list(settings.defines),
        tolerance=settings.tolerance,
        ip_version=settings.ip_version,
    )
    scripts = find(files)
    inputs = [script.path for script in scripts]
    if json_output and junit is not None and targets.is_stdout(junit):
        raise ValueError("--json and a file on standard output exclude each other")
    traces = {} if trace is None else _places(scripts, trace)
    written = [path for paths in traces.values() for path in paths]
    for folder in dict.fromkeys(path.parent for path in written):
        storage.check_folder(folder)
    there = [path for path in written if path.parent.is_dir()]
    targets.check(*([] if junit is None else [junit]), *there, inputs=inputs, force=force)
    with output.progress("scripts") as progress:
        results = run_scripts(
            scripts, settings, jobs=budget.threads(jobs), finished=lambda done: progress(done, len(scripts))
        )
    for result in results:
        contents = (result.outcome.pcapng(), result.outcome.qlog().encode())
        for path, data in zip(traces.get(result.script.path, ()), contents, strict=False):
            path.parent.mkdir(parents=True, exist_ok=True)
            targets.write(path, data)
    if junit is not None:
        targets.write(junit, xml(results, settings.host, datetime.now(timezone.utc)))
    if json_output:
        output.data([_row(result) for result in results])
    else:
        with output.aside(junit is not None and targets.is_stdout(junit)):
            _show(results)
    verdicts = {result.outcome.verdict for result in results}
    if "error" in verdicts:
        return BAD_INPUT
    return int("failed" in verdicts or ("unsupported" in verdicts and not allow_unsupported))


def _places(scripts: Sequence[Script], directory: Path) -> dict[Path, list[Path]]:
    """Return the trace files of each script.

    Raises
    ------
    ValueError
        If two scripts have the same name.
    """
    places: dict[Path, list[Path]] = {}
    taken: dict[str, Path] = {}
    for script in scripts:
        stem = str(PurePosixPath(script.name).with_suffix(""))
        if stem in taken and taken[stem] != script.path:
            raise ValueError(
                f"--trace: {taken[stem]} and {script.path} would write the same files; name their directory"
            )
        taken[stem] = script.path
        places[script.path] = [directory / f"{stem}{suffix}" for suffix in SUFFIXES]
    return places


def _show(results: Sequence[Result]) -> None:
    """Print what differs, script by script, and the number of each verdict."""
    for result in results:
        for line in result.outcome.printed:
            print(f"{result.script.path}: {line}")
        for warning in result.outcome.warnings:
            output.warning(f"{result.script.path}: {warning}")
        if result.outcome.verdict != "passed":
            print(result.outcome.message)
    counts = {word: sum(result.outcome.verdict == word for result in results) for word in VERDICTS}
    parts = [f"{count} {word}" for word, count in counts.items() if count]
    print(f"{counted(len(results), 'script')}: {', '.join(parts)}")


def _row(result: Result) -> dict[str, object]:
    outcome = result.outcome
    return {
        "script": str(result.script.path),
        "verdict": outcome.verdict,
        "line": outcome.line or None,
        "reason": outcome.reason or None,
        "packets": outcome.packets,
        "duration_s": outcome.duration,
        "printed": outcome.printed,
        "warnings": outcome.warnings,
    }
