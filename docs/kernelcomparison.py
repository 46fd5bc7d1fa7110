"""Fills the sections of docs/validation.md that `ackclock kernel compare` made; docs/generate.py writes them.

usage: python docs/kernelcomparison.py [DIRECTORY]

It prints the sections. With a directory it first takes the measurements of that comparison, in either world:

    ackclock kernel compare docs/validation/scenarios/*.toml --out out/validation
    ackclock kernel compare docs/validation/scenarios/*.toml --on linux:7.2 --out out/validation
    python docs/kernelcomparison.py out/validation && python docs/generate.py

docs/validation/kernel.csv has a row for each flow of each repetition on a machine's kernel, virtual.csv on one in
virtual time. The simulations run anew, so the sections show what the current program predicts. packets.csv has a row
for each scenario of `benches/linux/packets/walk.py --table`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import polars

from ackclock.kernels import comparing, judging, report, words, worlds
from ackclock.kernels.comparing import Outcome
from ackclock.kernels.judging import Difference, Pairs
from ackclock.kernels.measuring import MEASURES

FOLDER = Path(__file__).resolve().parent / "validation"
MEASURED = {"machine": FOLDER / "kernel.csv", "linux": FOLDER / "virtual.csv"}
"""The measurements of each world."""
PACKETS = FOLDER / "packets.csv"
"""Scenarios that were compared packet by packet."""
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
    comparing.simulate(outcome)
    pairs = outcome.pairs()
    return outcome, tuple(pairs), tuple(each for one in pairs for each in judging.differences(one))


def _read(file: Path) -> polars.DataFrame:
    return polars.read_csv(file, infer_schema_length=None, schema_overrides={"release": polars.String})


def take(directory: Path) -> None:
    """Take the measurements of a comparison on disk; of the kernel's release only the version."""
    version = polars.col("release").str.extract(r"^(\d+\.\d+)", 1)
    rows = _read(directory / report.KERNEL_FILE).with_columns(version)
    rows.write_csv(MEASURED[str(rows["world"][0]).partition(":")[0]])


def section(name: str) -> str:
    """Make the section of a world."""
    outcome, pairs, found = compared(name)
    said = [*words.answer(outcome, pairs, found), *words.lateness(outcome, pairs)]
    lines = [line for text in said for line in (text, "")]
    lines += [*_table(["measure", "comparisons", "within", "unclear", "differs", "median", "largest"], _sums(found))]
    lines += ["", "### Larger differences", ""]
    lines += [f"- {_plain(text)}" for text in words.larger(found)] or ["None."]
    lines += ["", "### Data delivered and completion times", ""]
    lines.append("The largest differences come first. The interval is Student's, over the repetitions.")
    primary = [words.row(each) for each in judging.ranked(found) if each.measure.primary]
    lines += ["", *_table(words.COLUMNS, primary, left=words.LEFT)]
    if outcome.refused:
        lines += ["", "### Not measured", "", *(f"- {text}" for text in report.refusals(outcome))]
    return "\n".join(lines)


def _plain(text: str) -> str:
    """Return a text without the name of this page."""
    return text.replace(" (docs/validation.md)", "").replace("docs/", "")


def _sums(found: Sequence[Difference]) -> Iterator[list[str]]:
    for measure in MEASURES.values():
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


def filled(page: str) -> str:
    """Return docs/validation.md with new sections."""
    make = {"packets": packets}
    return FRAME.sub(lambda frame: f"{frame[1]}\n{make.get(frame[2], lambda: section(frame[2]))()}\n\n{frame[3]}", page)


def main() -> int:
    """Take measurements if a directory is named, and print the sections; returns the exit code."""
    for directory in sys.argv[1:2]:
        take(Path(directory))
    print("\n\n".join([*map(section, MEASURED), packets()]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
