"""A comparison in words and as a table of texts: who wins where, by how much, how sure, and at whose cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import itemgetter

from ackclock.comparisons.judging import METRICS, Contrast, Judged, Metric, Verdict, speed, speeds
from ackclock.comparisons.places import OWN, Place
from ackclock.statistics.intervals import Interval
from ackclock.texts.numbers import number

LEFT = 2
"""Columns of the table that hold words."""
HARM = {
    "better": "less than {}",
    "worse": "more than {}",
    "same": "as much as {}",
    "unclear": "which may be as much as {}",
}
"""Harm to the reference against the harm that the reference does to itself."""
MOST_NAMED = 8
COSTS = ("sojourn_p95", "resent", "exit_time_lost")


def answer(judged: Judged) -> list[str]:
    """Return the answer: for several places who wins where, otherwise a sentence for each contender."""
    others = range(1, len(judged.names))
    if len(judged.places) == 1:
        return list(dict.fromkeys(sentence(judged, judged.places[0], index) for index in others))
    return [winners(judged), *(_overall(judged, index) for index in others)]


def winners(judged: Judged) -> str:
    """Return who is fastest on which places."""
    found: dict[str, list[str]] = {}
    empty = [place for place in judged.places if judged.empty(place)]
    for place in judged.places:
        if place in empty:
            continue
        best, sure = judged.best(place)
        found.setdefault(judged.names[best] if sure else "", []).append(place.name)
    said = [f"{name} is the fastest on {_places(found[name])}" for name in judged.names if name in found]
    if "" in found:
        said.append(f"no algorithm is clearly the fastest on {_places(found[''])}")
    return f"Of {len(judged.places)} paths: {'; '.join([*said, *(_nothing(judged, place) for place in empty)])}."


def _nothing(judged: Judged, place: Place) -> str:
    """Say that there is nothing to compare on a place."""
    where = "" if place.name == OWN else f" on {place.name}"
    what = "no transfer finished" if judged.primary(place) == "completion" else "nothing was delivered"
    return f"{what}{where}: the run is too short to compare"


def sentence(judged: Judged, place: Place, index: int) -> str:
    """Compare a contender with the reference on a place, in one sentence."""
    name, base, metric = judged.names[index], judged.names[0], METRICS[judged.primary(place)]
    where = "" if place.name == OWN else f" on {place.name}"
    if judged.empty(place):
        return f"{_nothing(judged, place)}."
    found = judged.against(place, index, metric.key)
    if found is None:
        return f"{name} has no value to compare with {base}{where}."
    over = f"over {judged.counted(place)}"
    if found.verdict == "same":
        said = f"{name} and {base} make no difference{where} (within ±{100 * judged.margin:g} %): "
        said += f"speed of {name} {_against(found, metric)} {over}"
    elif found.verdict == "unclear":
        said = f"It is unclear whether {name} or {base} is faster{where}: speed of {name} "
        said += f"{_against(found, metric)} {over}"
    else:
        ratio = speeds(found.found, metric)
        said = f"{name} {_change(ratio.mean)} {base}{where}{_interval(ratio)} {over}"
    if place.population:
        won, equal, count = judged.won(place, index)
        said += f"; faster on {won} of {count}{f', equal on {equal}' if equal else ''}{_extremes(judged, place, index)}"
    return f"{said}; {_harm(judged, place, index)}."


def _extremes(judged: Judged, place: Place, index: int) -> str:
    """Name the paths of a population on which a contender does best and worst against the reference."""
    metric = METRICS[judged.primary(place)]
    ordered = sorted(((name, speed(ratio, metric)) for name, ratio in judged.relative(place, index)), key=itemgetter(1))
    if len(ordered) < 2:
        return ""
    (worst, least), (best, most) = ordered[0], ordered[-1]
    return _signed(f", from {100 * (least - 1):+.0f} % ({worst}) to {100 * (most - 1):+.0f} % ({best})")


def _change(ratio: float) -> str:
    """Return a ratio of speeds as a sentence's verb: the difference in percent, or the multiple."""
    if not math.isfinite(ratio):
        return "is infinitely faster than"
    if ratio >= 3:
        return f"is {number(ratio, 3)} times as fast as"
    return f"is {number(abs(ratio - 1) * 100, 2)} % {'faster' if ratio >= 1 else 'slower'} than"


def _interval(found: Interval) -> str:
    if not (math.isfinite(found.low) and math.isfinite(found.high)):
        return ""
    ends = [found.low, found.high]
    if found.mean < 3:
        sign = 1 if found.mean >= 1 else -1
        ends = sorted(sign * 100 * (end - 1) for end in ends)
    low, high = (_signed(number(end, 3 if found.mean >= 3 else 2)) for end in ends)
    return f", 95 % interval [{low}, {high}]"


def _harm(judged: Judged, place: Place, index: int) -> str:
    base, metric = judged.names[0], "harm_goodput"
    if not judged.outcome.plan.harm:
        return f"harm to {base} was not measured"
    own, theirs = judged.mean(place, 0, metric), judged.mean(place, index, metric)
    found = judged.against(place, index, metric)
    if own is None or theirs is None or found is None:
        return f"harm to {base} is not known"
    itself = HARM[found.verdict].format(f"{base}'s own {_decimals(own.mean)}")
    return f"harm to {base} {_decimals(theirs.mean)}, {itself}"


def _overall(judged: Judged, index: int) -> str:
    """Count the places on which a contender is better, worse, the same, or unclear, and does more harm."""
    name, base = judged.names[index], judged.names[0]
    found: dict[Verdict, list[str]] = {"better": [], "worse": [], "same": [], "unclear": []}
    more = []
    for place in judged.places:
        if speed := judged.against(place, index, judged.primary(place)):
            found[speed.verdict].append(place.name)
        if (harm := judged.against(place, index, "harm_goodput")) and harm.verdict == "worse":
            more.append(place.name)
    same = f"no difference (within ±{100 * judged.margin:g} %)"
    words = {"better": "faster", "worse": "slower", "same": same, "unclear": "unclear"}
    said = [f"{words[verdict]} on {_places(places)}" for verdict, places in found.items() if places]
    if not judged.outcome.plan.harm:
        return f"{name} against {base}: {', '.join(said) or 'nothing to compare'}."
    cost = f"It harms {base} more than {base} harms itself on {_places(more)}"
    if not more:
        cost = f"It is not shown to harm {base} more than {base} harms itself"
    return f"{name} against {base}: {', '.join(said) or 'nothing to compare'}. {cost}."


def _places(names: Sequence[str]) -> str:
    return f"{len(names)} ({', '.join(names)})" if len(names) <= MOST_NAMED else str(len(names))


def table(judged: Judged) -> tuple[list[str], list[list[str]]]:
    """Return the titles and rows of the table: one row for each place and contender; the best has a star."""
    base = judged.names[0]
    known = {metric.key for metric in METRICS.values() if _any(judged, metric.key)}
    columns = ["path", "algorithm", "speed", f"faster than {base}", "verdict"]
    columns += [METRICS[key].title for key in COSTS if key in known]
    harms = [key for key in ("harm_goodput", "harm_rtt") if key in known]
    columns += [METRICS[key].title for key in harms]
    rows = []
    for place in judged.places:
        best, sure = judged.best(place)
        for index, name in enumerate(judged.names):
            metric = METRICS[judged.primary(place)]
            mean, found = judged.mean(place, index, metric.key), judged.against(place, index, metric.key)
            star = " *" if index == best and sure else ""
            row = [place.name, f"{name}{star}", _value(mean, metric, unit=True)]
            row += [_against(found, metric), found.verdict if found else "–"]
            row += [_value(judged.mean(place, index, key), METRICS[key]) for key in COSTS if key in known]
            row += [_harm_cell(judged, place, index, key) for key in harms]
            rows.append(row)
    return columns, rows


def notes(judged: Judged) -> list[str]:
    """Name transfers that did not finish: their completion times are too short."""
    found = []
    for place in judged.places:
        for index, name in enumerate(judged.names):
            counts = [row["unfinished"] or 0.0 for row in judged.values[place.name, index]]
            if sum(counts):
                mean = number(sum(counts) / len(counts), 2)
                found.append(f"{name} on {place.name}: {mean} unfinished transfers a run count until its end")
    return found


def legend(judged: Judged) -> str:
    """Explain the signs of the table."""
    base = judged.names[0]
    times = any(judged.primary(place) == "completion" for place in judged.places)
    said = "Speed is the geometric mean over the paths of a population. " if _populations(judged) else ""
    said += "A transfer in half the time is twice as fast, +100 %. " if times else ""
    return (
        f"{said}A star marks an algorithm that is shown to be faster than every other on its path. Harm is that to one "
        f'flow of {base}: "more", "less" or the "same" as {base} does to itself ("own"); "?" if that is unclear.'
    )


def _populations(judged: Judged) -> bool:
    return any(place.population for place in judged.places)


def method(judged: Judged) -> str:
    """Say how differences are judged."""
    return (
        "All algorithms run on the same paths with the same seeds, and are compared pair by pair: with paired t tests, "
        'adjusted by Holm over all tests of this report, at 5 %. "Same" means that two one-sided tests, adjusted '
        f"likewise, show a difference below {100 * judged.margin:g} %, or below {judged.margin:g} for harm. Intervals "
        "cover 95 %: Fieller's for a ratio, Student's for a mean, a difference, and the mean logarithm of the ratios "
        "over a population of paths."
    )


def harm_method(judged: Judged) -> str:
    """Say how harm is measured."""
    base = judged.names[0]
    return (
        f"Harm is the share of its solo performance that a flow of {base} loses beside the flows under test (Ware et "
        "al., HotNets 2019): (x − y)/x for goodput and (y − x)/y for the 95th percentile of the round-trip time (RTT), "
        "where x is the value alone on the path, y that in competition. Start-up lost is the column exit_time_lost of "
        "one flow alone: its delay behind an oracle that leaves slow start at the bandwidth-delay product."
    )


def _any(judged: Judged, metric: str) -> bool:
    return any(row[metric] is not None for rows in judged.values.values() for row in rows)


def _value(found: Interval | None, metric: Metric, *, unit: bool = False) -> str:
    if found is None:
        return "–"
    name = metric.title.partition("(")[2].rstrip(")")
    # Times are sums of doubles, so equal times differ in their last digits.
    value = round(found.mean * metric.scale, 6) or 0.0
    return _signed(f"{number(value, 3)} {name if unit else ''}".rstrip())


def _against(found: Contrast | None, metric: Metric) -> str:
    """Return how much faster a contender is, in percent with the interval, or as a multiple."""
    if found is None:
        return "–"
    ratio = speeds(found.found, metric)
    ends = [ratio.mean, ratio.low, ratio.high]
    if ratio.mean >= 3:
        texts = [f"×{number(end, 3)}" if math.isfinite(end) else "∞" for end in ends]
    else:
        texts = [f"{(end - 1) * 100:+.1f}" if math.isfinite(end) else "∞" for end in ends]
    unit = " %" if ratio.mean < 3 else ""
    interval = f" [{texts[1]}, {texts[2]}]" if found.found.finite else ""
    return _signed(f"{texts[0]}{unit}{interval}")


def _harm_cell(judged: Judged, place: Place, index: int, key: str) -> str:
    mean, found = judged.mean(place, index, key), judged.against(place, index, key)
    if mean is None:
        return "–"
    words = {"better": "less", "worse": "more", "same": "same", "unclear": "?"}
    end = "own" if index == 0 else words[found.verdict] if found else ""
    return f"{_decimals(mean.mean)} {end}".rstrip()


def _decimals(value: float) -> str:
    return _signed(f"{round(value, 2) or 0.0:.2f}")


def _signed(text: str) -> str:
    return text.replace("-", "−")
