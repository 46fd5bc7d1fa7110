"""Writes the reference pages and ackclock/model.py from the program; --check lists the pages that are out of date.

usage: python docs/generate.py [--check]
"""

from __future__ import annotations

import difflib
import inspect
import json
import re
import sys
import typing
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import conformance
import fieldmap
import kernelcomparison
import modelpages
import published
import typer
import validation
import worlds
from typer.models import OptionInfo

from ackclock import _core, columns
from ackclock.cli.app import COMMANDS, GROUPS
from ackclock.metrics import registry

Json = dict[str, Any]
FOLDER = Path(__file__).resolve().parent / "reference"
MODULE = Path(__file__).resolve().parents[1] / "python" / "ackclock" / "model.py"
MADE = "<!-- Made by docs/generate.py; change the program, not this page. -->"
# Names of the quantities with these first and last units.
QUANTITIES = {
    "ns … h": "a time",
    "bit/s … Tbit/s": "a rate",
    "B … GiB": "a size",
    "packets … segment": "packets",
    "B … segment": "an amount",
    "B … BDP": "a queue limit",
    "% … %": "a share",
    "per s … per s": "a frequency",
}
NUMBER = r"\s*\+?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?\s*"


def main() -> int:
    """Write or check every page; returns the exit code."""
    known, check = {"--check"}, "--check" in sys.argv[1:]
    if unknown := [word for word in sys.argv[1:] if word not in known]:
        print(f"unknown argument {unknown[0]}; usage: python docs/generate.py [--check]", file=sys.stderr)
        return 2
    pages = {FOLDER / name: f"{MADE}\n\n{make().strip()}\n" for name, make in PAGES.items()}
    pages[MODULE] = modelpages.source()
    pages[fieldmap.PAGE] = f"{MADE}\n\n{fieldmap.page().strip()}\n"
    pages[published.PAGE] = f"{MADE}\n\n{published.page().strip()}\n"
    pages[worlds.PAGE] = f"{MADE}\n\n{worlds.page().strip()}\n"
    pages[validation.PAGE] = kernelcomparison.filled(validation.page())
    stale = {path.name for path in FOLDER.glob("*.md")} - PAGES.keys()
    differing = [path for path, text in pages.items() if not _same(path, text, show=check)]
    if check:
        for name in sorted(stale):
            print(f"docs/reference/{name}: no page of that name is made any more", file=sys.stderr)
        if differing or stale:
            print("reference pages are out of date; run: python docs/generate.py", file=sys.stderr)
        return 1 if differing or stale else 0
    FOLDER.mkdir(exist_ok=True)
    for name in stale:
        (FOLDER / name).unlink()
    for path in differing:
        path.write_text(pages[path], encoding="utf-8")
    print(f"{len(pages)} pages, {len(differing)} of them changed")
    return 0


def _same(path: Path, text: str, *, show: bool) -> bool:
    there = path.read_text(encoding="utf-8") if path.exists() else ""
    if there == text:
        return True
    if show:
        name = path.relative_to(FOLDER.parents[1]).as_posix()
        difference = difflib.unified_diff(
            there.splitlines(), text.splitlines(), f"{name} as committed", f"{name} as made now", lineterm="", n=1
        )
        print("\n".join([f"{name} is out of date:", *list(difference)[:40]]), file=sys.stderr)
    return False


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Give the lines of a Markdown table; | in a cell is escaped."""
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |"


def code(value: object) -> str:
    """Write a value as code, a text as it stands in TOML."""
    return f"`{json.dumps(value, ensure_ascii=False)}`"


def words(values: Sequence[object]) -> str:
    """List texts as code; a number that only repeats a text is left out."""
    texts = [value for value in values if isinstance(value, str) or str(value) not in values]
    return ", ".join(code(value) for value in texts)


# parts.md


def parts() -> str:
    """Make the page of all parts, each with its parameters and the header of its file."""
    axes: dict[str, list[Json]] = json.loads(_core.registry())
    lines = [
        "# Parts",
        "",
        "Each axis of a scenario takes one of these parts. `ackclock list AXIS` prints them, and the",
        "[keys of a scenario file](scenario.md) name the axes.",
        "",
        *(f"- [`{axis}`](#{axis}): {', '.join(part['name'] for part in found)}" for axis, found in axes.items()),
    ]
    for axis, found in axes.items():
        lines += ["", f"## {axis}"]
        for part in found:
            lines += ["", f"### {axis}: {part['name']}", "", *_part(part)]
    return "\n".join(lines)


def _part(part: Json) -> Iterator[str]:
    # The header's headings are below that of the part here.
    yield from re.sub(r"^## (.*)$", r"\n**\1.**", part["header"], flags=re.MULTILINE).split("\n")
    if part["params"]:
        yield ""
        rows = [[f"`{p['name']}`", _kind(p), code(p["default"]), _bounds(p), p["doc"]] for p in part["params"]]
        yield from table(["parameter", "value", "default", "bounds", "meaning"], rows)
    if part["quantities"]:
        yield ""
        rows = [[f"`{q['name']}`", q["unit"], q["doc"]] for q in part["quantities"]]
        yield from table(["quantity in traces", "unit", "meaning"], rows)


def _kind(param: Json) -> str:
    if param["words"]:
        return words(param["words"])
    if "axis" in param:
        return f"a part of [`{param['axis']}`](#{param['axis']})"
    if param["kind"] == "parts":
        return f"a list of parts of [`{param['of']}`](#{param['of']}), or one alone"
    if "of" in param:
        return f"list of [time, {param['of']}], as in {code(param['default'])}"
    return f"{param['kind']}, as in {code(param['default'])}" if param["unit"] else str(param["kind"])


def _bounds(param: Json) -> str:
    if param["bounds"] is None:
        return "–"
    low, high = param["bounds"]
    return f"{low:g} to {high:g}"


# scenario.md


def scenario() -> str:
    """Make the page of all keys of a scenario file, from its JSON Schema."""
    return "\n".join(_Keys().page(json.loads(_core.schema())))


ELSEWHERE = {
    "sweep": "a table, see [sweeps](../guides/sweeps.md#axes)",
    "host": "[a preset](hosts.md) as a name, or as a table with `kind` and `version`",
    "preset": "[a preset](links.md)",
    "path": "[a preset](links.md)",
}
"""Values that other pages explain, by key."""


class _Keys:
    """Renders the tables of the schema, each once."""

    def __init__(self) -> None:
        self._axes: Json = json.loads(_core.registry())
        self._seen: dict[str, str] = {}
        self._waiting: list[tuple[str, str, Json]] = []

    def page(self, schema: Json) -> Iterator[str]:
        yield "# Keys of a scenario file"
        yield ""
        yield "A scenario file is TOML. Unknown keys are errors. `ackclock schema` prints the same as a JSON Schema."
        yield from ["", "## Quantities", ""]
        yield 'A quantity is a text with a number and a unit, such as `"10 ms"`. The prefixes k, M, G are 10³, 10⁶,'
        yield "10⁹; Ki, Mi, Gi are 2¹⁰, 2²⁰, 2³⁰."
        yield ""
        found = {quantity(p).split(" or ")[0]: units(p)[0] for p in patterns(schema)}
        rows = [
            [noun.split("]")[0].lstrip("["), ", ".join(f"`{unit}`" for unit in names)] for noun, names in found.items()
        ]
        yield from table(["quantity", "units"], rows)
        self._waiting.append(("The file", "", schema))
        while self._waiting:
            title, about, entry = self._waiting.pop(0)
            yield from ["", f"## {title}", ""]
            if about:
                yield from [about, ""]
            yield from self._table(title, entry)

    def _table(self, title: str, entry: Json) -> Iterator[str]:
        required = entry.get("required", [])
        rows = []
        path = "" if title == "The file" else title
        for name, value in entry["properties"].items():
            if name == "kind":
                continue
            default = code(value["default"]) if "default" in value else "required" if name in required else "–"
            rows.append([f"`{name}`", self._type(path, name, value), default, value.get("description", "")])
        yield from table(["key", "value", "default", "meaning"], rows)

    def _type(self, path: str, name: str, value: Json) -> str:
        if name in ELSEWHERE:
            return ELSEWHERE[name]
        if "anyOf" in value:
            return f"{self._alternatives(path, name, value['anyOf'][0])}; or a list of them"
        if "oneOf" in value:
            return self._alternatives(path, name, value)
        if "enum" in value:
            return words(value["enum"])
        if "pattern" in value:
            return quantity(value["pattern"])
        if value.get("type") == "integer":
            return f"whole number, {value['minimum']} to {value['maximum']}"
        if value.get("type") == "array":
            return f"list of {self._type(path, name, value['items'])}"
        if value.get("type") == "object" and "properties" not in value:
            return "a table of names, each with a whole number, `true`, `false` or a text"
        if value.get("type") == "object":
            return self._link(_joined(path, name), "", value)
        return {"string": "text", "boolean": "`true` or `false`", "number": "number"}[value["type"]]

    def _alternatives(self, path: str, name: str, value: Json) -> str:
        if name in self._axes:
            return self._part(name, value)
        return self._choice(path, name, value["oneOf"])

    def _choice(self, path: str, name: str, forms: Sequence[Json]) -> str:
        place = _joined(path, name)
        kinds = [form for form in forms if "const" in form.get("properties", {}).get("kind", {})]
        if kinds:
            shown = []
            for form in kinds:
                kind = form["properties"]["kind"]["const"]
                link = self._link(f"{place}, kind {kind}", form.get("description", ""), form)
                shown.append(link + ("" if "kind" in form.get("required", []) else " (default `kind`)"))
            # A single quantity can replace a distribution.
            shown = [quantity(form["pattern"]) for form in forms if "pattern" in form] + shown
            return "; ".join(shown)
        shown = ["`true`, `false`" for form in forms if form.get("type") == "boolean"]
        shown += [words(form["enum"]) for form in forms if "enum" in form]
        shown += [code(form["const"]) for form in forms if "const" in form]
        shown += [self._link(place, "", form) for form in forms if form.get("type") == "object"]
        several = any(form.get("type") == "array" for form in forms)
        return " or ".join(shown) + (", one or a list of them" if several else "")

    def _part(self, axis: str, value: Json) -> str:
        names = {part["name"] for part in self._axes[axis]}
        others = [word for form in value["oneOf"] for word in form.get("enum", []) if word not in names]
        forms = [f"[a part](parts.md#{axis}) as a name, or as a table with `kind` and parameters"]
        forms += [quantity(form["pattern"]) for form in value["oneOf"] if "pattern" in form]
        forms += [code(word) for word in others]
        text = "; ".join(forms)
        first = next(form for form in value["oneOf"] if form.get("type") == "object")
        parameters = {p["name"] for part in self._axes[axis] for p in part["params"]}
        extra = {key: entry for key, entry in first["properties"].items() if key not in {"kind", *parameters}}
        if extra:
            title = f"Further keys of a {axis} table"
            text += f"; with {self._link(title, '', {'properties': extra})}"
        return text

    def _link(self, title: str, about: str, entry: Json) -> str:
        # Equal tables appear once, under the name of the first.
        text = json.dumps([entry.get("properties"), entry.get("required")], sort_keys=True)
        if text not in self._seen:
            self._seen[text] = title
            self._waiting.append((title, about, entry))
        title = self._seen[text]
        return f"[{title[0].lower() + title[1:]}](#{_anchor(title)})"


def _joined(path: str, name: str) -> str:
    return f"{path.split(', kind')[0]}.{name}" if path else name


def _anchor(title: str) -> str:
    return re.sub(r"[^a-z0-9 _-]", "", title.lower()).replace(" ", "-")


def units(pattern: str) -> tuple[list[str], list[str]]:
    """Give the units of a quantity's pattern in the schema, and its words that replace a number."""
    body = pattern.removeprefix("^(").removesuffix(")$")
    found = re.fullmatch(r"\((.*?)\)\\s\*(.*)", body.removeprefix(NUMBER))
    if not body.startswith(NUMBER) or found is None:
        raise ValueError(f"not the pattern of a quantity: {pattern}")
    return found[1].split("|"), [word for word in found[2].split("|") if word]


def quantity(pattern: str) -> str:
    """Name the quantity that a pattern of the schema takes."""
    with_units, others = units(pattern)
    noun = QUANTITIES.get(with_units[0] + " … " + with_units[-1])
    shown = f"[{noun}](#quantities)" if noun else "a number with " + ", ".join(f"`{unit}`" for unit in with_units)
    return shown + "".join(f" or {code(word)}" for word in others)


def patterns(schema: object) -> Iterator[str]:
    """Give every pattern in the schema."""
    if isinstance(schema, dict):
        if isinstance(schema.get("pattern"), str):
            yield schema["pattern"]
        for value in schema.values():
            yield from patterns(value)
    if isinstance(schema, list):
        for value in schema:
            yield from patterns(value)


# hosts.md, links.md


def hosts() -> str:
    """Make the page of the presets of end hosts, each with its settings and their sources."""
    found: list[Json] = json.loads(_core.hosts())
    lines = [
        "# Presets of end hosts",
        "",
        'A flow with `host = "NAME"` has the end hosts of a system as shipped; its own keys override the preset',
        "([rules](../concepts/host-modern.md#presets)). `ackclock list hosts` prints the names.",
        "",
        "A system with a table of versions is the newest of them. The host",
        '`{ kind = "NAME", version = "VERSION" }` is another one: it has the values of every row whose version is',
        "later than its own. If several rows have a setting, the last one counts.",
        "",
        *(f"- [`{host['name']}`](#{host['name']}): {host['summary']}" for host in found),
    ]
    for host in found:
        lines += preset(host)
        if host["versions"] is not None:
            oldest, newest = host["versions"]
            lines += ["", f"Versions from {oldest} to {newest}:", ""]
            rows = [
                [change["before"], f"`{entry['name']}`", f"`{entry['value']}`", entry["source"]]
                for change in host["changes"]
                for entry in change["settings"]
            ]
            lines += table(["before", "setting", "value", "source"], rows)
    return "\n".join(lines)


def links() -> str:
    """Make the page of the presets of links, each with its settings and their sources."""
    found: list[Json] = json.loads(_core.links())
    lines = [
        "# Presets of links",
        "",
        'A link with `preset = "NAME"` has the rate, delay, queue and losses of a kind of access in both directions;',
        'its own keys override the preset. A topology with `path = "NAME"` is such a bottleneck, and its access links',
        "neither limit nor delay ([guide](../guides/links.md#presets-populations-and-suites)). The names are those of",
        "`ackclock list links`.",
        "",
        *(f"- [`{link['name']}`](#{link['name']}): {link['summary']}" for link in found),
    ]
    for link in found:
        lines += preset(link)
    return "\n".join(lines)


def preset(found: Json) -> list[str]:
    """Make the section of a preset, with its settings and their sources."""
    rows = [[f"`{entry['name']}`", f"`{entry['value']}`", entry["source"]] for entry in found["settings"]]
    about = ["", f"## {found['name']}", "", found["summary"], "", found["notes"], ""]
    return [*about, *table(["setting", "value", "source"], rows)]


# cli.md


def cli() -> str:
    """Make the page of all commands, from their declarations."""
    commands = dict(COMMANDS)
    for group, made in GROUPS.items():
        commands |= {f"{group} {name}": callback for name, callback in _commands(made).items()}
    lines = [
        "# Command line",
        "",
        "`ackclock COMMAND …`, or `python -m ackclock COMMAND …`. Tables and data go to standard output, messages and",
        "progress to standard error.",
        "",
        *table(
            ["exit code", "meaning"],
            [
                ["0", "success"],
                ["2", "an error that the user can fix, such as bad input or a full disk"],
                ["1", "any other failure"],
                ["130", "stopped by Ctrl-C, or at the end of `--budget`"],
            ],
        ),
    ]
    for name, callback in commands.items():
        options, arguments = _options(callback)
        usage = " ".join(["ackclock", name, *(["[OPTIONS]"] if options else []), *(word for word, _ in arguments)])
        lines += ["", f"## ackclock {name}", "", _first_paragraph(callback), "", f"    {usage}"]
        if arguments or options:
            rows = [[f"`{word}`", doc] for word, doc in arguments + options]
            lines += ["", *table(["argument or option", "meaning"], rows)]
    return "\n".join(lines)


def _commands(group: typer.Typer) -> dict[str, Callable[..., Any]]:
    callbacks = [(command.name, command.callback) for command in group.registered_commands]
    return {name or callback.__name__: callback for name, callback in callbacks if callback is not None}


def _first_paragraph(callback: Callable[..., Any]) -> str:
    return inspect.cleandoc(callback.__doc__ or "").split("\n\n")[0]


def _options(callback: Callable[..., Any]) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Give options and arguments of a command, each with its help."""
    options, arguments = [], []
    hints = typing.get_type_hints(callback, include_extras=True)
    for name, parameter in inspect.signature(callback).parameters.items():
        kind, info = typing.get_args(hints[name])
        doc = info.help or ""
        if parameter.default not in (None, False, inspect.Parameter.empty):
            doc += f" Default: {getattr(parameter.default, 'value', parameter.default)}."
        if not isinstance(info, OptionInfo):
            optional = parameter.default is not inspect.Parameter.empty
            word = info.metavar or name.upper()
            arguments.append((f"[{word}]" if optional and not word.startswith("[") else word, doc))
            continue
        # In an annotation the first declaration lands in `default`.
        declared = [*([info.default] if isinstance(info.default, str) else []), *(info.param_decls or ())]
        flags = ", ".join(declared or [f"--{name.replace('_', '-')}"])
        value = "" if kind is bool else f" {info.metavar or _value(kind)}"
        options.append((flags + value, doc))
    return options, arguments


def _value(kind: object) -> str:
    inner = next((part for part in typing.get_args(kind) if part is not type(None)), kind)
    inner = next(iter(typing.get_args(inner)), inner)
    return {int: "NUMBER", Path: "PATH"}.get(inner, "WORD")  # type: ignore[call-overload, no-any-return]


# tables.md


def tables() -> str:
    """Make the page of all tables, as the engine declares them."""
    lines = [
        "# Tables of a result",
        "",
        "`ackclock.columns.of(TABLE)` returns these declarations in Python; [metrics](../concepts/metrics.md) explains",
        "the plots of these columns.",
        "",
        "- Times are in seconds since the start of the run, unless the column says otherwise.",
        "- A *segment* is the data of one packet. A packet of an `ns2` host has 40 bytes of headers besides.",
        "- An empty cell (null) means that the value does not exist. Null and infinite values are `null` in JSON.",
    ]
    for name, found in columns.tables().items():
        recorded = f' Recorded with `record = ["{found.trace}"]`.' if found.trace else ""
        lines += ["", f"## {name}", "", f"A row for {found.row}.{recorded}", ""]
        rows = [[f"`{it.name}`", it.unit, it.kind, it.meaning] for it in found.columns]
        lines += table(["column", "unit", "values", "meaning"], rows)
    return "\n".join(lines)


# measures.md


def measures() -> str:
    """Make the page of all measures."""
    lines = [
        "# Measures",
        "",
        "Every number that Ackclock reports of a run has one name and one definition: in tables and SQL, in claims",
        "of papers, objectives of tunings, comparisons, gates, reports and Python. `ackclock.measures()` returns",
        "this list as a table, and `ackclock list measures` prints it.",
        "",
        "- A measure belongs to a **flow**, to a **link**, to an **application**, to the whole **run**, or to a",
        "  **group** of flows: those under test. A flow is under test if its name begins with `tested`; in a tuning,",
        "  if it fits the key `flows`. In a comparison, all flows are under test if no name begins so.",
        "- **Better** says whether more or less is better; a measure without an entry has no better direction.",
        "- A difference up to the **tolerance** makes no difference, unless the question has another tolerance:",
        "  a share of the reference, or a difference in the measure's unit.",
        "- The bottleneck is the slowest link on the path of the first flow's data.",
        "",
    ]
    rows = [
        [f"`{it.name}`", it.unit, it.better, ", ".join(it.scope), it.tolerance.text, it.definition]
        for it in registry.MEASURES.values()
    ]
    lines += table(["measure", "unit", "better", "of", "tolerance", "definition"], rows)
    return "\n".join(lines)


# limits.md


def limits() -> str:
    """Make the page of the limits of files, messages and runs."""
    rows = [[f"`{it['name']}`", _most(it), it["doc"]] for it in json.loads(_core.limits())]
    return "\n".join([
        "# Limits",
        "",
        "A file above its limit is refused before it is read, with a message that names the file, its size and the",
        "limit; the exit code is 2. Before a run, Ackclock also estimates the memory that the scenario needs, and",
        "refuses it if that much is not free.",
        "",
        *table(["limit", "at most", "applies to"], rows),
        "",
        "A value in memory takes up to some hundred times its text. So Ackclock counts the values of a text before it",
        "reads it. A text is refused if it would take more than `memory`, and more than `memory_times` its size.",
        "The message names the line at which that much is reached. A list has room for about 100,000 values. A file of",
        "equal tables such as `[[flow]]` is read table by table, and passes. A right scenario takes more than its text",
        "when it is built: about 12 kB for each table of flows.",
    ])  # fmt: skip


def _most(limit: Json) -> str:
    if limit["unit"] == "B":
        return f"{limit['most'] / 1e6:,g} MB"
    return f"{limit['most']:,} {limit['unit']}".strip()


PAGES: dict[str, Callable[[], str]] = {
    "parts.md": parts, "models.md": modelpages.page, "scenario.md": scenario, "hosts.md": hosts, "links.md": links,
    "cli.md": cli, "tables.md": tables, "measures.md": measures, "limits.md": limits,
    "clauses.md": conformance.page,
}  # fmt: skip

if __name__ == "__main__":
    sys.exit(main())
