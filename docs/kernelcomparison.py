"""Fills the sections of docs/validation.md that `ackclock kernel compare` made; docs/generate.py writes them.

usage: python docs/kernelcomparison.py [DIRECTORY]

It prints the sections, with every data delivered and completion time; the page has those that differ by 1 % or more.
With a directory it first takes the measurements of that comparison, in either world:

    ackclock kernel compare docs/validation/scenarios/*.toml --out out/validation
    ackclock kernel compare docs/validation/scenarios/*.toml --on linux:7.2 --out out/validation
    python docs/kernelcomparison.py out/validation && python docs/generate.py

docs/validation/kernel.csv has a row for each flow of each repetition on a machine's kernel, virtual.csv on one in
virtual time. The simulations run anew, so the sections show what the current program predicts. packets.csv has a row
for each scenario of `benches/linux/packets/walk.py --table`, and controls.csv one for each control of
`python -m python.tests.control_walks`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import polars

from ackclock.linux import comparing, judging, report, words, worlds
from ackclock.linux.comparing import Outcome
from ackclock.linux.judging import Difference, Pairs
from ackclock.linux.measuring import COMPARED

FOLDER = Path(__file__).resolve().parent / "validation"
MEASURED = {"machine": FOLDER / "kernel.csv", "linux": FOLDER / "virtual.csv"}
"""The measurements of each world."""
PACKETS = FOLDER / "packets.csv"
"""Scenarios that were compared packet by packet."""
CONTROLS = FOLDER / "controls.csv"
"""Controls that were compared on random paths."""
FRAME = re.compile(
    r"(<!-- comparison (\w+): made by docs/kernelcomparison\.py -->\n).*?(<!-- end of comparison -->)", re.DOTALL
)


@cache
def compared(name: str = "machine") -> tuple[Outcome, tuple[Pairs, ...], tuple[Difference, ...]]:
    """Return the stored runs of a world, their simulations, and the differences."""
    stored = _read(MEASURED[name])
    release = str(stored["release"][0])
    cases = comparing.cases(sorted((FOLDER / "scenarios").glob("*.toml")))
    world = replace(worlds.machine(), name=name, release=release, identity=release)
    if name == "linux":
        world = replace(world, virtual=True, longer=0)
    outcome = Outcome(cases, world, int(stored["repetition"].max()))  # type: ignore[arg-type]
    report.take_rows(outcome, stored)
    outcome.run()
    pairs = outcome.pairs()
    return outcome, tuple(pairs), tuple(each for one in pairs for each in judging.differences(one))


def _read(file: Path) -> polars.DataFrame:
    return polars.read_csv(file, infer_schema_length=None, schema_overrides={"release": polars.String})


def take(directory: Path) -> None:
    """Take the measurements of a comparison on disk; of the kernel's release only the version."""
    version = polars.col("release").str.extract(r"^(\d+\.\d+)", 1)
    rows = _read(directory / report.KERNEL_FILE).with_columns(version)
    rows.write_csv(MEASURED[str(rows["world"][0]).partition(":")[0]])


def section(name: str, least: float = 0.0) -> str:
    """Make the section of a world, with the data delivered and the completion times that differ by `least` or more."""
    outcome, pairs, found = compared(name)
    said = [*words.answer(outcome, pairs, found), *words.lateness(outcome, pairs)]
    lines = [line for text in said for line in (text, "")]
    lines += [*_table(["measure", "comparisons", "within", "unclear", "differs", "median", "largest"], _sums(found))]
    differing = [each for each in judging.ranked(found) if each.verdict == "differs"]
    if rules := list(_rules(differing)):
        lines += ["", "The known rules, and how many of the differences meet their conditions; some meet two:", ""]
        lines += _table(["rule", "meaning", "differences"], rules, left=2)
    if unknown := words.larger([each for each in differing if not each.known]):
        lines += ["", "No rule explains these differences:", "", *(f"- {_short(text)}" for text in unknown)]
    primary = [each for each in judging.ranked(found) if each.measure.primary]
    shown = [each for each in primary if abs(each.relative.mean) >= least]
    share = f"the {len(shown)} of {len(primary)} that differ by {100 * least:g} % or more" if least else "all"
    lines += ["", f"Data delivered and completion times, {share}; the interval is Student's, over the repetitions:"]
    lines += ["", *_table(words.COLUMNS, map(words.row, shown), left=words.LEFT)]
    if outcome.refused:
        lines += ["", "Not measured:", "", *(f"- {text}" for text in report.refusals(outcome))]
    return "\n".join(lines)


def _rules(differing: Sequence[Difference]) -> Iterator[list[str]]:
    """Give a row for each rule: its name, how many differences meet it, and what it says."""
    rules = {rule.name: rule for each in differing for rule in each.known}
    for rule in rules.values():
        yield [rule.name, rule.says, str(sum(rule in each.known for each in differing))]


def _short(text: str) -> str:
    """Return a sentence on a difference without the words that the heading has."""
    return text.replace("; no rule explains it.", "")


def _sums(found: Sequence[Difference]) -> Iterator[list[str]]:
    for measure in COMPARED.values():
        own = [each for each in found if each.measure.key == measure.key]
        if own:
            total = judging.summary(own)
            counts = (total.count, total.within, total.unclear, total.differing)
            yield [
                f"{measure.title} ({measure.unit})", *map(str, counts),
                f"{100 * total.median:.2f} %",
                f"{100 * total.largest:.1f} %" + (f" (without {total.infinite} of 0)" if total.infinite else ""),
            ]  # fmt: skip


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * left + "---:|" * (len(head) - left)
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def packets() -> str:
    """Make the section on packets."""
    rows = polars.read_csv(PACKETS, schema_overrides=dict.fromkeys(("first_difference", "first_state"), polars.String))
    same, close = polars.col("first_difference").is_null(), polars.col("close") == 1
    states = same & polars.col("first_state").is_null()
    counts = [
        polars.len(),
        *(what.sum().alias(name) for name, what in (("same", same), ("states", states), ("near", close))),
    ]
    each = rows.group_by("class", maintain_order=True).agg(*counts)
    one = rows.filter(polars.col("flows") == 1).select(polars.lit("all with one flow").alias("class"), *counts)
    classes = (
        [row["class"], *(str(row[name]) for name in ("len", "same", "states", "near"))]
        for row in polars.concat([each, one]).to_dicts()
    )
    causes = (
        rows.filter(~same)["first_difference"]
        .value_counts(name="count")
        .sort("count", "first_difference", descending=[True, False])
    )
    late = rows.filter(same)["latest_us"].max()
    lines = [*_table(["class", "scenarios", "same to the end", "states as well", "results close"], classes), ""]
    lines += [f"Times of the same packets differ by at most {late} µs. What differs first in the others:", ""]
    lines += _table(
        ["first difference", "scenarios"], ([row["first_difference"], str(row["count"])] for row in causes.to_dicts())
    )
    return "\n".join(lines)


def controls() -> str:
    """Make the section on congestion controls."""
    rows = polars.read_csv(CONTROLS, schema_overrides={"note": polars.String}).to_dicts()
    head = ["control", "paths", "agree", "data: median", "worst", "losses: median", "worst", "same packets", "shares"]
    numbers = ("delivered_median", "delivered_worst", "drops_median", "drops_worst")
    lines = [f"Relative differences to {', '.join(sorted({row['peer'] for row in rows}))}:", ""]
    lines += _table(
        head,
        (
            [
                f"`{row['control']}`", str(row["paths"]), f"{100 * row['agree']:.0f} %",
                *(f"{100 * row[name]:.2f} %" for name in numbers),
                str(row["identical"]), f"{row['pairs_agree']} of {row['pairs']}",
            ]
            for row in rows
        ),
    )  # fmt: skip
    if notes := [f"- `{row['control']}`: {row['note']}" for row in rows if row["note"]]:
        lines += ["", "What is known to differ:", "", *notes]
    return "\n".join(lines)


def overview(page: str) -> str:
    """Make the table of all measurements; `page` has the other sections."""
    lines = []
    for name, kernel in (("linux", "in virtual time"), ("machine", "in real time")):
        outcome, pairs, found = compared(name)
        total = judging.summary([each for each in found if each.measure.primary])
        result = f"data delivered and completion times differ by {100 * total.median:.2f} % in the median"
        link = f"[{kernel}](#{kernel.replace(' ', '-')})"
        lines.append([link, f"{len(pairs)} scenarios, Linux {outcome.world.release}", result])
    rows = polars.read_csv(PACKETS, schema_overrides={"first_difference": polars.String})
    first = rows.filter(polars.col("flows") == 1)["first_difference"]
    result = f"{100 * first.null_count() / len(first):.0f} % send the kernel's packets to the end"
    size = f"{len(first)} random scenarios of one flow, Linux 7.2"
    lines.insert(1, ["[packet by packet](#packet-by-packet)", size, result])
    within, scenarios = re.findall(r"^(\d+ of \d+ comparisons) in (\d+) scenarios", page, re.MULTILINE)[0]
    link = "[with a test emulator](#with-a-test-emulator)"
    lines.append([link, f"{scenarios} scenarios, Linux 6.18", f"{within} are within their tolerance"])
    return "\n".join(_table(["measurements", "size", "result"], lines, left=3))


def filled(page: str) -> str:
    """Return docs/validation.md with new sections."""

    def made(frame: re.Match[str]) -> str:
        match frame[2]:
            case "packets":
                text = packets()
            case "controls":
                text = controls()
            case "overview":
                text = overview(page)
            case world:
                text = section(world, least=0.01)
        return f"{frame[1]}\n{text}\n\n{frame[3]}"

    return FRAME.sub(made, page)


def main() -> int:
    """Take measurements if a directory is named, and print the sections; returns the exit code."""
    for directory in sys.argv[1:2]:
        take(Path(directory))
    print("\n\n".join([*map(section, MEASURED), packets(), controls()]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
