"""A comparison in words and as tables of texts: who wins where, by how much, how sure, and at whose cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter

from ackclock.comparisons.judging import COSTS, HARM, METRICS, Judged
from ackclock.comparisons.places import OWN, Place
from ackclock.formatting.numbers import number
from ackclock.judging import words
from ackclock.judging.effects import Finding, Verdict
from ackclock.metrics.metric import Metric
from ackclock.statistics.intervals import Interval

LEFT = 2
"""Columns of the table that hold words."""
MOST_NAMED = 8
HARMS: dict[Verdict, str] = {"better": "less", "worse": "more", "same": "the same", "unclear": "difference unclear"}
"""Harm to the reference against the harm that the reference does to itself."""
SHORT: dict[str, str] = {"better": "less", "worse": "more", "same": "same", "unclear": "?"}
WON = {
    "resent": ("resends less", "resends more"),
    "sojourn_p95": ("has a shorter queue", "has a longer queue"),
    "exit_time_lost": ("loses less time in start-up", "loses more time in start-up"),
}
"""Costs in words: of a better and of a worse contender."""
WINS = ("path", "speed", "resent", "queue", "start-up", "harm")
"""Headings of the table of winners."""


WON_IN = (
    'A cell names the algorithms that are better than another and worse than none. "Equal": no difference that '
    'matters. "Open": no winner is shown.'
)


@dataclass(frozen=True)
class Shown:
    """A table of texts.

    Attributes
    ----------
    title : str
        Its heading.
    columns, rows : sequence
        Titles and cells.
    left : int
        Number of first columns that hold words.
    less : sequence of str
        The columns that a narrow terminal leaves out, the least important first.
    note : str
        What its signs mean, for a page.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int
    less: Sequence[str] = ()
    note: str = ""


def tables(judged: Judged) -> list[Shown]:
    """Return the tables of a comparison: who wins in what, and a row for each path and contender."""
    titles, won = wins(judged)
    columns, rows = table(judged)
    less = columns[: columns.index("verdict") : -1]
    return [
        Shown("who wins in what", titles, won, len(titles), note=WON_IN),
        Shown("path by path", columns, rows, LEFT, less, legend(judged)),
    ]


def answer(judged: Judged) -> list[str]:
    """Return the answer in short paragraphs: who wins where, then one for each contender."""
    others = range(1, len(judged.names))
    if len(judged.places) == 1:
        said = list(dict.fromkeys(sentence(judged, judged.places[0], index) for index in others))
        said = [*_winner(judged, judged.places[0]), *said]
    else:
        said = [winners(judged), *(_overall(judged, index) for index in others)]
    return [*said, *few(judged)]


def few(judged: Judged) -> list[str]:
    """Name the places with so few pairs that they show little."""
    found: dict[str, list[str]] = {}
    for place in judged.places:
        count = len(judged.values[place.name, 0])
        if text := words.few(count, "path" if place.population else "drawn path"):
            found.setdefault(text, []).append(place.name)
    where = {text: "" if len(judged.places) == 1 else f"On {_places(names)}, " for text, names in found.items()}
    return [f"{where[text]}{text}." for text in found]


def _winner(judged: Judged, place: Place) -> list[str]:
    """Return who wins on a place; nothing for two contenders, whose sentence says it, and without a value."""
    if len(judged.names) < 3 or judged.empty(place):
        return []
    where, best = "" if place.name == OWN else f" on {place.name}", judged.winner(place)
    if best is None:
        return [f"No algorithm wins{where}."]
    return [f"{judged.names[best]} wins {_by(judged, place, best)}{where}."]


def _by(judged: Judged, place: Place, best: int) -> str:
    return "by speed" if judged.fastest(place, best) else "by costs at about the same speed"


def winners(judged: Judged) -> str:
    """Return who wins on which places: by speed, or by costs at about the same speed."""
    found: dict[int, dict[str, list[str]]] = {}
    none, empty = [], []
    for place in judged.places:
        best = judged.winner(place)
        if judged.empty(place):
            empty.append(_nothing(judged, place))
        elif best is None:
            none.append(place.name)
        else:
            found.setdefault(best, {}).setdefault(_by(judged, place, best), []).append(place.name)
    said = []
    for best, ways in sorted(found.items()):
        text = " and ".join(f"{how} on {_places(ways[how])}" for how in sorted(ways, reverse=True))
        said.append(f"{judged.names[best]} wins {text}")
    if none:
        said.append(f"no algorithm wins on {_places(none)}")
    # A path in two worlds is two cases.
    noun = "paths" if len({place.world.name for place in judged.places}) == 1 else "cases"
    return f"Of {len(judged.places)} {noun}: {'; '.join([*said, *empty])}."


def _nothing(judged: Judged, place: Place) -> str:
    """Say that there is nothing to compare on a place."""
    where = "" if place.name == OWN else f" on {place.name}"
    what = "no transfer finished" if judged.primary(place) == "completion" else "nothing was delivered"
    return f"{what}{where}: the run is too short to compare"


def sentence(judged: Judged, place: Place, index: int) -> str:
    """Compare a contender with the reference on a place: speed, costs and harm, in a sentence each."""
    name, base, metric = judged.names[index], judged.names[0], METRICS[judged.primary(place)]
    where = "" if place.name == OWN else f" on {place.name}"
    if judged.empty(place):
        return f"{_nothing(judged, place)}."
    found = judged.against(place, index, metric.key)
    if found is None:
        return f"{name} has no value to compare with {base}{where}."
    said = _speed(judged, place, index, found)
    if place.population:
        won, equal, count = judged.won(place, index)
        said += f"; faster on {won} of {count}{f', equal on {equal}' if equal else ''}{_extremes(judged, place, index)}"
    return " ".join(f"{each}." for each in (said, _costs(judged, place, index), _harm(judged, place, index)) if each)


def _speed(judged: Judged, place: Place, index: int, found: Finding) -> str:
    name, base = judged.names[index], judged.names[0]
    where = "" if place.name == OWN else f" on {place.name}"
    over, margin = f"over {judged.counted(place)}", f"±{100 * judged.margin:g} %"
    if found.verdict == "same":
        return (
            f"{name} and {base} are about equally fast{where}: speed of {name} {effect(found)} {over}, within {margin}"
        )
    shown = f"{name} {_change(found.estimate.mean)} {base}{where}{_interval(found.estimate)} {over}"
    if found.verdict != "unclear":
        return shown
    if found.differs:
        return f"{shown}; this may be too little to matter ({margin})"
    said = f"It is open whether {name} or {base} is faster{where}: speed of {name} {effect(found)} {over}"
    if found.estimate.known and found.estimate.apart(1.0, 1.0):
        # Only the correction for all tests keeps it from being shown.
        said += f", which can be chance among {len(judged.contrasts)} comparisons"
    return said


def _costs(judged: Judged, place: Place, index: int) -> str:
    """Say which costs of a contender differ from those of the reference; at the same speed, they decide."""
    name, base = judged.names[index], judged.names[0]
    found = {key: finding for key in COSTS if (finding := judged.against(place, index, key))}
    shown = [_cost(judged, place, index, key) for key, each in found.items() if each.verdict in ("better", "worse")]
    listed = " and ".join(filter(None, (", ".join(shown[:-1]), *shown[-1:])))
    if judged.verdict(place, judged.primary(place), index, 0) != "same":
        return f"It {listed}" if shown else ""
    costs = judged.costs(place, index, 0)
    if costs == "better":
        return f"{name} wins by its costs: it {listed}"
    if costs == "worse":
        return f"{base} wins by its costs: {name} {listed}"
    if shown:
        return f"Neither wins by its costs: {name} {listed}"
    return "They cost the same" if costs == "same" else "No difference of costs is shown"


def _cost(judged: Judged, place: Place, index: int, key: str) -> str:
    """Return a cost against that of the reference, such as "resends 38 % less (1.2 % instead of 1.9 %)"."""
    own, theirs = (mean.mean if (mean := judged.mean(place, at, key)) else 0.0 for at in (index, 0))
    better, scale = own < theirs, METRICS[key].scale
    both = [number(value * scale, 3).replace("-", "−") for value in (own, theirs)]
    if key == "resent":
        size = f"{words.share((own - theirs) / theirs)} {'less' if better else 'more'} " if theirs else ""
        return f"resends {size}({both[0]} % instead of {both[1]} %)"
    size = f"{number(abs(own - theirs) * scale, 2)} ms"
    if key == "sojourn_p95":
        return f"keeps the queue {size} {'shorter' if better else 'longer'} ({both[0]} instead of {both[1]} ms)"
    return f"loses {size} {'less' if better else 'more'} in start-up ({both[0]} instead of {both[1]} ms)"


def _extremes(judged: Judged, place: Place, index: int) -> str:
    """Name the paths of a population on which a contender does best and worst against the reference."""
    ordered = sorted(judged.relative(place, index), key=itemgetter(1))
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
        return f"Harm to {base} was not measured"
    own, theirs = judged.mean(place, 0, metric), judged.mean(place, index, metric)
    found = judged.against(place, index, metric)
    if own is None or theirs is None or found is None:
        return f"Harm to {base} is not known"
    return f"Harm to {base}: {_decimals(theirs.mean)} ({base}'s own: {_decimals(own.mean)}; {HARMS[found.verdict]})"


def _overall(judged: Judged, index: int) -> str:
    """Count the places on which a contender is faster or slower, differs in its costs, and does more harm."""
    name, base = judged.names[index], judged.names[0]
    found: dict[Verdict, list[str]] = {"better": [], "worse": [], "same": [], "unclear": []}
    costs: dict[str, list[str]] = {}
    more = []
    for place in judged.places:
        if speed := judged.against(place, index, judged.primary(place)):
            found[speed.verdict].append(place.name)
        for key in COSTS if speed and speed.verdict == "same" else ():
            if (verdict := judged.verdict(place, key, index, 0)) in ("better", "worse"):
                costs.setdefault(WON[key][verdict == "worse"], []).append(place.name)
        if (harm := judged.against(place, index, "harm_goodput")) and harm.verdict == "worse":
            more.append(place.name)
    same = f"about as fast (±{100 * judged.margin:g} %)"
    names = {"better": "faster", "worse": "slower", "same": same, "unclear": "unclear"}
    said = [f"{names[verdict]} on {_places(places)}" for verdict, places in found.items() if places]
    text = f"{name} against {base}: {', '.join(said) or 'nothing to compare'}."
    if costs:
        text += f" At the same speed, it {', '.join(f'{what} on {_places(where)}' for what, where in costs.items())}."
    if not judged.outcome.plan.harm:
        return text
    if more:
        return f"{text} It harms {base} more than {base} harms itself on {_places(more)}."
    return f"{text} No evidence of more harm than {base} does to itself."


def wins(judged: Judged) -> tuple[list[str], list[list[str]]]:
    """Return the table "who wins in what": titles, and a row for each place.

    A cell names the contenders that are better than another and worse than none. All are "equal" if every pair is the
    same; otherwise, "open". Harm is that to the reference against its own.
    """
    rows = []
    for place in judged.places:
        if not judged.empty(place):
            keys = (judged.primary(place), *COSTS)
            rows.append([place.name, *(_leaders(judged, place, key) for key in keys), _harmless(judged, place)])
    return list(WINS), rows


def _leaders(judged: Judged, place: Place, metric: str) -> str:
    names = [judged.names[index] for index in judged.leaders(place, metric)]
    if names:
        return " = ".join(names)
    two = [found.verdict for key, found in judged.contrasts.items() if key[:2] == (place.name, metric)]
    if not two:
        return "–"
    return "equal" if set(two) == {"same"} else "open"


def _harmless(judged: Judged, place: Place) -> str:
    found = {
        index: each for index in range(1, len(judged.names)) if (each := judged.against(place, index, "harm_goodput"))
    }
    if not found:
        return "–"
    said = [
        f"{judged.names[index]} {SHORT[each.verdict]}"
        for index, each in found.items()
        if each.verdict in ("better", "worse")
    ]
    return ", ".join(said) or ("equal" if all(each.verdict == "same" for each in found.values()) else "open")


def _places(names: Sequence[str]) -> str:
    return f"{len(names)} ({', '.join(names)})" if len(names) <= MOST_NAMED else str(len(names))


def table(judged: Judged) -> tuple[list[str], list[list[str]]]:
    """Return the titles and rows of the table: one row for each place and contender; the best has a star."""
    base = judged.names[0]
    known = {metric.key for metric in METRICS.values() if _any(judged, metric.key)}
    columns = ["path", "algorithm", "speed", f"faster than {base}", "verdict"]
    columns += [METRICS[key].title for key in COSTS if key in known]
    harms = [key for key in HARM if key in known]
    columns += [METRICS[key].title for key in harms]
    rows = []
    for place in judged.places:
        best = judged.winner(place)
        for index, name in enumerate(judged.names):
            metric = METRICS[judged.primary(place)]
            mean, found = judged.mean(place, index, metric.key), judged.against(place, index, metric.key)
            star = " *" if index == best else ""
            row = [place.name, f"{name}{star}", _value(mean, metric, unit=True)]
            row += [effect(found), found.verdict if found else "–"]
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
        f"{said}A star marks the winner of a path: faster than every other, or about as fast and better by its costs. "
        f'Harm is that to one flow of {base}: "more", "less" or the "same" as {base} does to itself ("own"); "?" if '
        "that is unclear."
    )


def sensitive(judged: Judged) -> list[str]:
    """Name the verdicts on speed that change at half or at double the tolerance."""
    found = []
    for place in judged.places:
        for index in range(1, len(judged.names)):
            finding = judged.against(place, index, judged.primary(place))
            if finding and (text := words.sensitivity(finding)):
                found.append(f"{judged.names[index]} on {place.name}: {finding.verdict}, but {text}")
    return found


def _populations(judged: Judged) -> bool:
    return any(place.population for place in judged.places)


def method(judged: Judged) -> str:
    """Say how differences are judged."""
    return (
        'All algorithms run on the same paths with the same seeds, and are compared pair by pair. "Better" and "worse" '
        "need a difference that a paired t test shows at 5 %, adjusted by Holm over all tests of this report, and an "
        f"estimate beyond the tolerance: {100 * judged.margin:g} % of the speed, {judged.margin:g} of harm, and of the "
        "costs 5 %, but at least 0.1 % of the packets, 1 ms of the queue and 10 ms of start-up. "
        '"Same" means that the whole interval lies within the tolerance, by two one-sided tests, adjusted likewise. '
        "Intervals cover 95 %: Fieller's for a ratio, Student's for a mean, a difference, and the mean logarithm of "
        "the ratios over a population of paths."
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


def effect(found: Finding | None) -> str:
    """Return how much faster a contender is, in percent with the interval, or as a multiple."""
    if found is None:
        return "–"
    ratio = found.estimate
    ends = [ratio.mean, ratio.low, ratio.high]
    if ratio.mean >= 3:
        texts = [f"×{number(end, 3)}" if math.isfinite(end) else "∞" for end in ends]
    else:
        texts = [_percent(end - 1) for end in ends]
    unit = " %" if ratio.mean < 3 else ""
    interval = f" [{texts[1]}, {texts[2]}]" if ratio.finite else ""
    return _signed(f"{texts[0]}{unit}{interval}")


def _percent(share: float) -> str:
    """Return a share in percent; an end beside 0 keeps a digit, so that it does not look like 0."""
    if not math.isfinite(share):
        return "∞"
    value = 100 * share
    return f"{value:+.1f}" if abs(value) >= 0.05 or abs(value) < 1e-7 else f"{value:+.1g}"


def _harm_cell(judged: Judged, place: Place, index: int, key: str) -> str:
    mean, found = judged.mean(place, index, key), judged.against(place, index, key)
    if mean is None:
        return "–"
    end = "own" if index == 0 else SHORT[found.verdict] if found else ""
    return f"{_decimals(mean.mean)} {end}".rstrip()


def _decimals(value: float) -> str:
    return _signed(f"{round(value, 2) or 0.0:.2f}")


def _signed(text: str) -> str:
    return text.replace("-", "−")
