"""A picture of a topology: nodes in columns from the senders to the receivers, and the links between them."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

MOST_NODES = 26
COLUMN, ROW = 110, 30
MARGIN_X, MARGIN_Y = 34, 20
RADIUS = 11
"""Of a node's circle."""


@dataclass(frozen=True)
class Line:
    """A link in the picture.

    Attributes
    ----------
    ends : (str, str)
        Its nodes.
    text : str
        Rate, delay and queue, shown under the pointer.
    bottleneck : bool
        Whether it is the bottleneck, which is drawn thick with its text.
    """

    ends: tuple[str, str]
    text: str
    bottleneck: bool = False


@dataclass(frozen=True)
class Picture:
    """A topology.

    Attributes
    ----------
    nodes : sequence of str
        Names of the nodes.
    lines : sequence of Line
        The links, one for both directions.
    routes : sequence of (str, str)
        First and last node of each flow.
    """

    nodes: Sequence[str]
    lines: Sequence[Line]
    routes: Sequence[tuple[str, str]]

    @property
    def drawn(self) -> bool:
        """Whether there are few enough nodes for a picture."""
        return 2 <= len(self.nodes) <= MOST_NODES

    @cached_property
    def columns(self) -> dict[str, int]:
        """The column of each node, from 0.

        Hosts are beside their router: senders left, receivers right. Routers follow from the first sender on.
        """
        near: dict[str, list[str]] = {node: [] for node in self.nodes}
        for line in self.lines:
            a, b = line.ends
            near[a].append(b)
            near[b].append(a)
        hosts = {node for node, others in near.items() if len(set(others)) == 1}
        if len(hosts) == len(self.nodes):
            hosts = {last for _, last in self.routes[:1]}
        start = self.routes[0][0] if self.routes else self.nodes[0]
        distance = _distances(near, start)
        senders = {first for first, _ in self.routes}
        found = {node: distance.get(node, 0) for node in self.nodes if node not in hosts}
        for host in hosts:
            found[host] = found.get(near[host][0], 0) + (-1 if host in senders else 1)
        least = min(found.values())
        return {node: found[node] - least for node in self.nodes}

    @cached_property
    def places(self) -> dict[str, tuple[int, int]]:
        """The place of each node; the nodes of a column are below each other, around the middle."""
        members: dict[int, list[str]] = {}
        for node, column in self.columns.items():
            members.setdefault(column, []).append(node)
        middle = (self.height - MARGIN_Y) / 2 if any(line.bottleneck for line in self.lines) else self.height / 2
        return {
            node: (MARGIN_X + COLUMN * column, round(middle + ROW * (index - (len(nodes) - 1) / 2)))
            for column, nodes in members.items()
            for index, node in enumerate(nodes)
        }

    def ends(self, line: Line) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return where a link begins and ends: at the circles of its nodes."""
        (x, y), (to_x, to_y) = (self.places[node] for node in line.ends)
        length = math.hypot(to_x - x, to_y - y) or 1.0
        dx, dy = RADIUS * (to_x - x) / length, RADIUS * (to_y - y) / length
        return (round(x + dx, 1), round(y + dy, 1)), (round(to_x - dx, 1), round(to_y - dy, 1))

    @property
    def width(self) -> int:
        """Its width."""
        return 2 * MARGIN_X + COLUMN * max(self.columns.values())

    @cached_property
    def height(self) -> int:
        """Its height."""
        counts = list(self.columns.values())
        return 2 * MARGIN_Y + ROW * (max(map(counts.count, counts)) - 1) + MARGIN_Y


def _distances(near: Mapping[str, Sequence[str]], start: str) -> dict[str, int]:
    found = {start: 0}
    waiting = deque([start])
    while waiting:
        node = waiting.popleft()
        for other in near[node]:
            if other not in found:
                found[other] = found[node] + 1
                waiting.append(other)
    return found
