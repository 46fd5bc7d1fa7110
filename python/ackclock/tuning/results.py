"""A tuning on disk: manifest, tables, the tuned keys as TOML, and the figure."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars

from ackclock.drawing.files import store
from ackclock.experiments import sources
from ackclock.files import storage
from ackclock.tuning.figures import figure
from ackclock.tuning.judging import Verdict
from ackclock.tuning.schema import Tuning
from ackclock.tuning.search import Trial

KIND = "tuning"
WRITTEN = ("trials.parquet", "runs.parquet", "best.toml", "figures", "report.html")


def digest(tuning: Tuning) -> str:
    """Return a hash of the file and of all scenarios."""
    paths = [path.scenario.hash for setting in (tuning.training, tuning.held_out) for path in setting.paths]
    return sources.digest(hashlib.sha256(tuning.text.encode()).hexdigest(), paths, length=20)


def manifest(tuning: Tuning, entries: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the manifest says of a tuning."""
    return {"file": tuning.file.name, "digest": digest(tuning), **entries}


def earlier(directory: Path, tuning: Tuning, entries: Mapping[str, Any]) -> str:
    """Return a message about an earlier search in a folder that does not continue; empty without one."""
    try:
        found = storage.read_manifest(directory, KIND)
    except (FileNotFoundError, json.JSONDecodeError):
        return ""
    if found.get("digest") != digest(tuning):
        return f"{tuning.file} or its scenario has changed: the search starts anew; stored runs that still fit are used"
    if found.get("optuna") != entries.get("optuna"):
        return f"Optuna was {found.get('optuna')} before: the search starts anew, and its trials may differ"
    if found.get("seed") != entries.get("seed"):
        return "the seed has changed: the search starts anew; stored runs that still fit are used"
    return ""


def trials_table(tuning: Tuning, reference: Trial, trials: Sequence[Trial]) -> polars.DataFrame:
    """Return a row for each trial; trial 0 is the reference."""
    rows = [
        {
            "trial": trial.number,
            "state": trial.state,
            "objective": trial.value,
            "feasible": trial.value is not None and trial.feasible,
            "seeds": len({seed for _, seed in trial.cells}),
            **{parameter.name: trial.values.get(parameter.name) for parameter in tuning.parameters},
            **{f"{name} beyond": trial.violations.get(name) for name in _constrained(tuning)},
            "error": trial.error or None,
        }
        for trial in (reference, *trials)
    ]
    texts = [*(parameter.name for parameter in tuning.parameters), "error"]
    numbers = ["objective", *(f"{name} beyond" for name in _constrained(tuning))]
    schema = {**dict.fromkeys(texts, polars.String), **dict.fromkeys(numbers, polars.Float64)}
    return polars.DataFrame(rows, schema_overrides=schema, infer_schema_length=None)


def _constrained(tuning: Tuning) -> list[str]:
    return [each.measure for each in tuning.constraints]


def runs_table(tuning: Tuning, reference: Trial, trials: Sequence[Trial], verdict: Verdict | None) -> polars.DataFrame:
    """Return a row with all measures for each run of a trial; ``held_out`` says which did not train."""
    sets = [(False, trial.number, tuning.training, trial.cells) for trial in (reference, *trials)]
    if verdict is not None:
        numbers = dict.fromkeys((0, verdict.best.number))
        sets += [(True, number, tuning.held_out, cells) for number, cells in zip(numbers, verdict.cells, strict=False)]
    rows = [
        {"held_out": held_out, "trial": number, "path": setting.paths[path].name, "seed": seed, **values}
        for held_out, number, setting, cells in sets
        for (path, seed), values in cells.items()
    ]
    return polars.DataFrame(rows, infer_schema_length=None)


def fragment(tuning: Tuning, best: Trial, answer: str) -> str:
    """Return the tuned keys as TOML, to paste into a scenario: of a part, all parameters."""
    lines = [f"# {line}" for line in answer.splitlines()]
    settings = {key: best.values[each.name] or "" for each in tuning.parameters for key in each.keys}
    given = " ".join(f"--set {key}='{value}'" for key, value in settings.items())
    lines += ["# The same on the command line:", f"# ackclock run {tuning.scenario.name} {given}"]
    tuned = tuning.training.paths[0].scenario.set(best.settings).to_toml()
    flows = tuned.split("[[flow]]\n")[1:]
    tables: dict[str, list[str]] = {}
    for key, value in settings.items():
        table, own, index = _place(key)
        # A line of the frozen flow holds the whole part, also if the key is one number of a list.
        name = own.split(".")[0]
        frozen = [] if index is None else [line for line in flows[index].splitlines() if line.startswith(f"{name} = ")]
        for line in frozen or [f"{own} = {_literal(value)}"]:
            if line not in tables.setdefault(table, []):
                tables[table].append(line)
    for table, entries in tables.items():
        lines += ["", *([table] if table else []), *entries]
    return "\n".join(lines) + "\n"


def _place(key: str) -> tuple[str, str, int | None]:
    """Return the header of a key's table, the key in it, and the flow that has it."""
    words = key.split(".")
    if words[0] == "flow" and len(words) > 1:
        if words[1].isdecimal():
            header = f"[[flow]]  # flow {words[1]} of the scenario, counted from 0"
            return header, ".".join(words[2:]), int(words[1])
        return "[flow]", ".".join(words[1:]), 0
    table = ".".join(words[:-1])
    return f"[{table}]" if table else "", words[-1], None


def _literal(text: str) -> str:
    """Return the text of a value as TOML: numbers and truth values bare, all else in quotes."""
    return text if re.fullmatch(r"-?[\d.]+(e[-+]?\d+)?|true|false", text) else json.dumps(text, ensure_ascii=False)


def write(
    directory: Path, tuning: Tuning, reference: Trial, trials: Sequence[Trial], verdict: Verdict | None
) -> None:  # fmt: skip
    """Write the tables, and, with a verdict, the figure."""
    storage.write_parquet(directory / "trials.parquet", trials_table(tuning, reference, trials))
    storage.write_parquet(directory / "runs.parquet", runs_table(tuning, reference, trials, verdict))
    if verdict is not None:
        folder = directory / "figures"
        folder.mkdir(exist_ok=True)
        store(figure(tuning, reference, trials, verdict.best), folder / "search.png")
