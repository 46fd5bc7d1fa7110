"""A comparison of simulation and kernel in words, and as a table of texts."""

from __future__ import annotations

from collections.abc import Sequence

from ackclock.formatting.numbers import counted, number
from ackclock.judging import tolerances
from ackclock.judging import words as judged
from ackclock.judging.words import percent
from ackclock.linux import judging
from ackclock.linux.comparing import NEARBY, Outcome
from ackclock.linux.facts import UNFOLLOWED
from ackclock.linux.judging import Difference, Pairs, Summary, Verdict, ranked, summary
from ackclock.linux.measuring import COMPARED
from ackclock.statistics.intervals import student_t

COLUMNS = ("scenario", "flow", "measure", "kernel", "own range", "simulation", "difference", "verdict", "95 % interval")
LEFT = 3
"""Columns of the table that hold words."""
LESS = ("95 % interval", "own range", "simulation", "kernel")
"""Columns that a narrow terminal leaves out, the least important first."""
VERDICTS: dict[Verdict, str] = {"within": "within", "unclear": "unclear", "differs": "differs"}
MOST_NAMED = 6


def value(each: Difference, found: float) -> str:
    """Return a value of a measure in the unit of the page."""
    return f"{found * each.measure.scale:,.{each.measure.digits}f}"


def row(each: Difference) -> list[str]:
    """Return the row of a difference, see `COLUMNS`."""
    relative, (low, high) = each.relative, (min(each.kernel), max(each.kernel))
    own = "–" if len(each.kernel) == 1 else f"{value(each, low)} … {value(each, high)}"
    ends = f"{percent(relative.low)} … {percent(relative.high)}" if relative.finite else "–"
    flow = (each.flow or "all") if each.several else "–"
    return [
        *(each.scenario, flow, f"{each.measure.title} ({each.measure.unit})"),
        *(value(each, each.kernel_mean), own, value(each, each.simulated_mean)),
        *(f"{percent(relative.mean)} %", VERDICTS[each.verdict], ends),
    ]


def place(each: Difference) -> str:
    """Name a difference: scenario, flow and measure."""
    flow = f", flow {each.flow}" if each.several and each.flow else ""
    return f"{each.scenario}{flow}: {each.measure.title}"


def known(each: Difference) -> str:
    """Return what is known of a difference."""
    return "; ".join(f"{rule.name}: {rule.says} ({rule.source})" for rule in each.known) or "no rule explains it"


def answer(outcome: Outcome, pairs: Sequence[Pairs], found: Sequence[Difference]) -> list[str]:
    """Return the answer: how far the simulation is from the kernel, and where it differs."""
    if not pairs:
        return ["No scenario ran on the kernel."]
    said = [_lead(outcome, pairs, summary([each for each in found if each.measure.primary]), found)]
    if text := judged.few(outcome.count, "repetition"):
        said.append(f"{text}.")
    others = [each for each in found if not each.measure.primary]
    if others:
        total = summary(others)
        said.append(
            f"Of {counted(total.count, 'comparison')} of windows, drops, retransmissions and waiting times, "
            f"{total.within} are within their tolerance, {total.unclear} are unclear, and {_differ(total)}."
        )
    return said


def _lead(outcome: Outcome, pairs: Sequence[Pairs], total: Summary, found: Sequence[Difference]) -> str:
    tolerance = next(each.measure.tolerance for each in found if each.measure.primary)
    differing = f", {_differ(total)}" if total.differing else ""
    infinite = f" ({total.infinite} of infinite size, since the kernel's mean is 0, left out)" if total.infinite else ""
    each = "each" if all(len(one.kernel) == outcome.count for one in pairs) else "each at most"
    return (
        f"{counted(len(pairs), 'scenario')} on {outcome.world.title}, {counted(outcome.count, 'repetition')} "
        f"{each}: simulated data delivered and completion times differ from the kernel's by "
        f"{100 * total.median:.2f} % in the median and {100 * total.largest:.2f} % at most{infinite}. Of "
        f"{counted(total.count, 'comparison')}, {total.within} are within {tolerance.text}, {total.unclear} are "
        f"unclear{differing}."
    )


def _differ(total: Summary) -> str:
    count = total.differing
    ruled = f" (a known rule applies to {count - total.unexplained})" if count else ""
    return f"{count} {'differs' if count == 1 else 'differ'}{ruled}"


def larger(found: Sequence[Difference]) -> list[str]:
    """Return a sentence for everything that differs, the largest first."""
    return [
        f"{place(each)}: {percent(each.relative.mean)} % ({value(each, each.kernel_mean)} → "
        f"{value(each, each.simulated_mean)}{_alike(each)} {each.measure.unit}); {known(each)}."
        for each in ranked(found)
        if each.verdict == "differs"
    ]


def _alike(each: Difference) -> str:
    """Return the range of simulations alike, if a rule is about it."""
    if each.nearby is None or not any("nearby" in rule.when for rule in each.known):
        return ""
    low, high = each.nearby
    return f", alike {value(each, low)} … {value(each, high)},"


def method(outcome: Outcome) -> list[str]:
    """Say how the differences are judged."""
    world, count = outcome.world, outcome.count
    tick = f"a tick of {number(world.tick / 1e6, 3)} ms"
    phases = f" In virtual time, the seed also moves the start of the run within {tick} of the kernel."
    pairing = (
        f"Every scenario runs {counted(count, 'time')} on the kernel. A repetition has a seed of its own, and is "
        "paired with the simulation of the same seed: random losses thus hit the same packets on both sides. A "
        f"scenario without random events has the same simulation in every pair.{phases if world.virtual else ''}"
    )
    over = "seeds and starts within a tick, of this kernel" if world.virtual else "this machine and kernel"
    width = (
        f" With {count} repetitions it extends {student_t(0.975, count - 1) / count**0.5:.1f} standard deviations to "
        "each side."
    )
    intervals = (
        "The difference is simulation minus kernel, over the kernel's mean. Its interval is Student's 95 % interval "
        f"over the repetitions: of {over} only.{width if count > 1 else ''}"
    )
    own = ", ".join(f"{each.tolerance.text} of {each.title}" for each in COMPARED.values() if not each.primary)
    rules = (
        f'"Within": the means differ by no more than the tolerance: {tolerances.SAME.text} of data delivered and '
        f"completion times unless --tolerance says otherwise; {own}, in the unit of a run. "
        '"Differs": they differ by more, and the interval excludes 0; or each side has one value in all of three or '
        'more repetitions. "Unclear": they differ by more, but this can be chance.'
    )
    longer = f" The first link of every flow is longer by up to {world.longer / 1e6:g} ms." if world.longer else ""
    causes = (
        f"The simulations of all repetitions run again {NEARBY} times: flows start within {tick}, later flows also up "
        f"to 4.5 ms earlier or later than that, but not before 0 s.{longer} Each of the {NEARBY} gives a mean over the "
        "repetitions. A cause is named only if all conditions of its rule hold; they read these means and other "
        "measured facts."
    )
    return [pairing, intervals, rules, causes]


def settings(pairs: Sequence[Pairs]) -> dict[str, list[str]]:
    """Return the names of the scenarios by the text on a setting that the kernel does not follow."""
    found: dict[str, list[str]] = {}
    for each in pairs:
        for text in dict.fromkeys(text for run in each.kernel for text in run.facts.get(UNFOLLOWED, ())):
            found.setdefault(text, []).append(each.name)
    return found


def unfollowed(pairs: Sequence[Pairs]) -> list[str]:
    """Return each setting that the kernel does not follow, with the scenarios that have it."""
    return [f"{text} ({_scenarios(names)})" for text, names in settings(pairs).items()]


def _scenarios(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= MOST_NAMED else counted(len(names), "scenario")


def lateness(outcome: Outcome, pairs: Sequence[Pairs]) -> list[str]:
    """Say how late the emulator was, and how many attempts it disturbed; nothing in virtual time."""
    if outcome.world.virtual or not pairs:
        return []
    late = judging.lateness(pairs)
    said = (
        f"The emulator released packets {1e3 * late.p50:.2f} ms late in the median and {1e3 * late.p99:.2f} ms at the "
        f"99th percentile (medians over the runs), {1e3 * late.latest:.1f} ms at most. The repetitions took "
        f"{counted(late.further, 'further attempt')}."
    )
    return [said]
