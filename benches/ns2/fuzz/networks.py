"""Random networks: a chain of three links with one flow, or a dumbbell with 2 to 16 flows.

The class of a network names its content: see `Network.kind`.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

from queues import Queue, queue

AGENTS = ["Tahoe", "Reno", "Newreno", "Sack1", "Vegas"]
# The classes, whose agreements are counted separately.
KINDS = [
    f"{shape}, {content}"
    for shape in ("chain", "dumbbell")
    for content in ("no Vegas, no ECN", "ECN, no Vegas", "with Vegas", "all Vegas")
]


@dataclass
class Link:
    """A link in one direction; `delay` in nanoseconds; without `queue` the link never drops."""

    ends: tuple[int, int]
    rate: int
    delay: int
    queue: Queue | None = None
    loss: Loss | None = None


@dataclass
class Loss:
    """Random losses; seed 0 selects the next stream of the default generator's seed."""

    rate: float
    position: str
    seed: int


@dataclass
class Flow:
    """A flow; `start` in nanoseconds, `size` in packets."""

    ends: tuple[int, int]
    agent: str
    start: int
    size: int | None
    delayed_ack: int | None
    ecn: bool
    packet_size: int
    rwnd: int
    initial_window: int | None
    max_ssthresh: int
    limited_transmit: bool
    min_rto: float
    initial_rto: float
    tick: float
    vegas: tuple[int, int, int]

    @property
    def draws(self) -> int:
        """Number of random numbers that ns-2 draws when it creates the agent."""
        return 2 if self.agent == "Vegas" else 1


@dataclass
class Network:
    """A network; `bottleneck` is the index of the watched link, `end` is in nanoseconds."""

    shape: str
    seed: int
    end: int
    nodes: int
    links: list[Link]
    flows: list[Flow]
    bottleneck: int

    @property
    def kind(self) -> str:
        """The network's class, one of `KINDS`."""
        vegas = [flow.agent == "Vegas" for flow in self.flows]
        if all(vegas):
            content = "all Vegas"
        elif any(vegas):
            content = "with Vegas"
        else:
            content = "ECN, no Vegas" if any(flow.ecn for flow in self.flows) else "no Vegas, no ECN"
        return f"{self.shape}, {content}"


def make(seed: int, number: int) -> Network:
    """Make network `number` of the sequence of a seed."""
    draw = random.Random(f"{seed}/{number}")
    return _chain(draw) if draw.random() < 0.45 else _dumbbell(draw)


def _chain(draw: random.Random) -> Network:
    bottleneck = _rate(draw, 2e5, 3e7)
    rates = [_faster(draw, bottleneck), bottleneck, _faster(draw, bottleneck)]
    links = []
    for index, rate in enumerate(rates):
        delay = _delay(draw, 1e-3, 0.12)
        links += [Link((index, index + 1), rate, delay), Link((index + 1, index), rate, delay)]
    agent = draw.choice(AGENTS)
    ecn = agent != "Vegas" and draw.random() < 0.2
    flow = _flow(draw, (0, 3), agent, ecn=ecn)
    if draw.random() < 0.5:
        flow.start = 0
    links[2].queue = queue(draw, 1, marks=ecn)
    if draw.random() < 0.6:
        links[2].loss = _loss(draw)
    return Network("chain", _seed(draw), _end(draw, bottleneck), 4, links, [flow], 2)


def _dumbbell(draw: random.Random) -> Network:
    bottleneck = _rate(draw, 5e5, 2e7)
    delay = _delay(draw, 1e-3, 0.06)
    links = [Link((0, 1), bottleneck, delay), Link((1, 0), bottleneck, delay)]
    pairs = draw.choice([2, 2, 3, 4, 6, 8, 12, 16])
    alike = draw.random() < 0.4
    access: list[tuple[int, int]] = []
    for pair in range(pairs):
        if not (alike and access):
            access = [(_faster(draw, bottleneck), _delay(draw, 1e-3, 0.05)) for _ in range(2)]
        for (near, far), (rate, span) in zip(((2 * pair + 2, 0), (1, 2 * pair + 3)), access, strict=True):
            links += [Link((near, far), rate, span), Link((far, near), rate, span)]
    ecn = draw.random() < 0.3
    mixed = draw.random() < 0.6
    pool = AGENTS if draw.random() < 0.4 else AGENTS[:4]
    single = draw.choice(AGENTS)
    flows = []
    for pair in range(pairs):
        agent = draw.choice(pool) if mixed else single
        flows.append(_flow(draw, (2 * pair + 2, 2 * pair + 3), agent, ecn=ecn and agent != "Vegas"))
    if draw.random() < 0.7:
        for flow in flows:
            flow.packet_size = 1000
    links[0].queue = queue(draw, pairs, marks=ecn or draw.random() < 0.1)
    if draw.random() < 0.15:
        links[0].loss = _loss(draw)
    return Network("dumbbell", _seed(draw), _end(draw, bottleneck), 2 + 2 * pairs, links, flows, 0)


def _flow(draw: random.Random, ends: tuple[int, int], agent: str, *, ecn: bool) -> Flow:
    """Draw a flow, mostly with usual settings."""

    def often(usual: float, *others: float, share: float = 0.8) -> float:
        return usual if draw.random() < share else draw.choice(others)

    size = None if draw.random() < 0.8 else draw.choice([1, 5, 20, 100, 500])
    return Flow(
        ends,
        agent,
        start=draw.randrange(10**9),
        size=size,
        delayed_ack=int(draw.choice([0.04, 0.1, 0.1, 0.2, 0.5]) * 1e9) if draw.random() < 0.3 else None,
        ecn=ecn,
        packet_size=int(often(1000, 500, 536, 1460, share=0.6)),
        rwnd=draw.choice([4, 8, 13, 20, 32, 64, 100, 333, 1000, 1000, 1000, 10000]),
        initial_window=None if draw.random() < 0.4 else draw.choice([1, 1, 2, 3, 4, 10, 15, 20]),
        max_ssthresh=draw.choice([10, 20, 33, 50, 100]) if draw.random() < 0.25 else 0,
        limited_transmit=draw.random() < 0.8,
        min_rto=often(0.2, 0.5, 1.0),
        initial_rto=often(3.0, 1.0, 6.0),
        tick=often(0.01, 0.1, 0.5),
        vegas=draw.choice([(1, 3, 1), (1, 3, 1), (2, 4, 1), (2, 2, 2), (4, 8, 2)]),
    )


def _seed(draw: random.Random) -> int:
    return draw.choice([1, draw.randrange(1, 20), draw.randrange(10**6, 10**8)])


def _rate(draw: random.Random, low: float, high: float) -> int:
    rate = math.exp(draw.uniform(math.log(low), math.log(high)))
    # Some rates are round, so event times coincide.
    return round(rate / 1e5) * 10**5 if rate > 1e6 and draw.random() < 0.1 else round(rate)


def _faster(draw: random.Random, rate: int) -> int:
    return round(rate * draw.choice([1.5, 2, 4, 5, 10, draw.uniform(1.1, 20), draw.uniform(1.1, 20)]))


def _delay(draw: random.Random, low: float, high: float) -> int:
    delay = math.exp(draw.uniform(math.log(low), math.log(high)))
    return max(1, round(delay * 1e3)) * 10**6 if draw.random() < 0.1 else round(delay * 1e9)


def _end(draw: random.Random, rate: int) -> int:
    # Limits the packets so that ns-2 needs a second or two.
    longest = min(60.0, 25_000 * 8000 / rate)
    return round(draw.uniform(min(3.0, longest), longest)) * 10**9


def _loss(draw: random.Random) -> Loss:
    rate = draw.choice([0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1])
    return Loss(rate, draw.choice(["after", "after", "before"]), draw.choice([0, draw.randrange(10**3, 10**7)]))
