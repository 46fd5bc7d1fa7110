"""The same packets at a simulated queue and at a queue discipline of Linux."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ackclock import _core
from ackclock.experiments.execute import map_threads
from ackclock.linux import store
from ackclock.scenario import Scenario

SIMULATION = "simulation"
LEAST, MOST = 28, 65_535
"""Sizes of packets: headers of IPv4 and UDP, and the largest packet of IPv4."""
LATEST = 2**63 - 1


class Packet(NamedTuple):
    """A packet that a sender sends.

    Attributes
    ----------
    at : int
        When it is sent, in nanoseconds.
    flow : int
        Index of its flow, from whose sender to whose receiver it goes.
    size : int
        Size in bytes, with all headers.
    ecn : int
        Its ECN field (RFC 3168, section 5): 0 is Not-ECT, 1 is ECT(1), 2 is ECT(0), 3 is CE.
    """

    at: int
    flow: int
    size: int
    ecn: int = 0


class Arrival(NamedTuple):
    """The arrival of a packet at its receiver.

    Attributes
    ----------
    at : float
        Time in seconds.
    ecn : int
        Its ECN field, as in `Packet`.
    """

    at: float
    ecn: int


def replay(scenario: Scenario, packets: Iterable[Packet], *, on: str = SIMULATION) -> list[Arrival | None]:
    """Send packets over the links of a scenario, and return what arrives.

    Whatever the flows of the scenario would send does not take place: only their ends count. The same packets thus meet
    a simulated discipline in one scenario and Linux' own (``queue = { kind = "qdisc", … }``) in another.

    Parameters
    ----------
    scenario
        The scenario. Its duration must cover the last arrival.
    packets
        The packets, in the order of their times.
    on
        ``simulation``, or a kernel in virtual time as in `store.find`, which the queues of the kind ``qdisc`` need.

    Returns
    -------
    list of Arrival or None
        For each packet its arrival; None if it was lost or is still on its way at the end.

    Raises
    ------
    ValueError
        If a packet has no flow or the times are not in order, a queue does not exist, or there is no such kernel.
    """
    if on == SIMULATION:
        kernel = None
    else:
        found = store.find(on)
        kernel = (found.path, found.hz)
    sent, cancel = [_checked(index, packet) for index, packet in enumerate(packets)], _core.Cancel()
    arrivals = map_threads(lambda each: _core.replay(each.core, sent, kernel, cancel), [scenario], cancel, jobs=1)[0]
    return [None if arrival is None else Arrival(*arrival) for arrival in arrivals]


def _checked(index: int, packet: Packet) -> tuple[int, int, int, int]:
    """Return a packet whose numbers can be those of one."""
    found = Packet(*packet)
    bounds = {"at": (0, LATEST), "flow": (0, LATEST), "size": (LEAST, MOST), "ecn": (0, 3)}
    for name, (low, high) in bounds.items():
        value = getattr(found, name)
        if not isinstance(value, int) or not low <= value <= high:
            raise ValueError(f"packet {index}: {name} must be a whole number from {low} to {high}, but is {value!r}")
    return found.at, found.flow, found.size, found.ecn
