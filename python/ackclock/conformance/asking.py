"""Whom a clause asks: the control under test in a world, as the point of an experiment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from ackclock.comparisons.contenders import Contender, resolve
from ackclock.conformance.measuring import Seen
from ackclock.conformance.suites import TESTED, Clause, Suite, flows, merged
from ackclock.experiments.plan import Point
from ackclock.experiments.world import World
from ackclock.files import toml
from ackclock.freeze import Frozen
from ackclock.linux import running, stacks, store, worlds
from ackclock.results.coverage import TRACE, named_states
from ackclock.scenario import Scenario

PACKET = "1448 B"
"""The data of a segment of the flow under test, unless the clause names another."""
HOST_KEYS = ("host", "modern")
"""The keys of a flow that a kernel's own host does not have."""
DATAGRAMS = "cbr"
"""The application that sends datagrams, without a host."""
NOBODY = Contender("", {})


@dataclass(frozen=True)
class Asked:
    """A clause that is asked in a world.

    Attributes
    ----------
    clause : Clause
        The clause.
    world : World
        The world.
    implementation : str
        Who is asked, for readers.
    own : bool
        Whether that is what the suite is about, and no control that the user chose.
    point : Point or None
        The run; None for a script, or if the clause cannot be asked.
    refusal : str
        Why it cannot be asked; empty if it can.
    """

    clause: Clause
    world: World
    implementation: str
    own: bool
    point: Point[dict[str, Any]] | None = None
    refusal: str = ""

    @property
    def covers(self) -> bool:
        """Whether its run counts the states of controls."""
        return self.point is not None and isinstance(self.point.measurement, Seen) and self.point.measurement.covers

    @property
    def name(self) -> str:
        """The clause's name with that of its suite."""
        return f"{self.clause.suite} {self.clause.id}"


def questions(
    suites: Sequence[Suite], control: str | type | None, names: Sequence[str], *, coverage: bool = False
) -> list[Asked]:
    """Return the questions of all clauses in worlds.

    Parameters
    ----------
    suites
        The suites.
    control
        The contender to ask, as in `compare`; None: what the suite is about. In a kernel the first decides from outside
        the kernel, and the second is the kernel's own control.
    names
        The names of the worlds.
    coverage
        Whether to count the states of controls, which the simulation alone shows.

    Raises
    ------
    ValueError
        If there is no such contender or world, or a scenario is wrong.
    """
    # A world's identity has the hash of its kernel.
    find, built = cache(worlds.find), cache(store.find)
    return [
        _covering(made) if coverage else made
        for suite in suites
        for clause in suite.clauses
        for name in names
        for made in [_asked(suite, clause, control, name, find, built)]
    ]


def _covering(asked: Asked) -> Asked:
    """Return the question whose run counts the states of controls too, if any has names for them."""
    point = asked.point
    if point is None or not isinstance(point.measurement, Seen) or asked.world.name != worlds.SIMULATION:
        return asked
    document = Frozen(point.scenario).document
    if not any(map(named_states, document["flow"])):
        return asked
    scenario = Scenario(**{**document, "record": sorted({*point.scenario.record, TRACE})})
    return replace(asked, point=replace(point, scenario=scenario, measurement=replace(point.measurement, covers=True)))


def _asked(
    suite: Suite,
    clause: Clause,
    control: str | type | None,
    world: str,
    find: Callable[..., World],
    built: Callable[[str], store.Built],
) -> Asked:
    kernel = world.partition(":")[0] == store.WORLD
    # A script, or a clause about hosts and queues, does not ask the user's control.
    if clause.scenario is None or not clause.control:
        control = None
    contender = resolve(control or clause.control) if clause.control else NOBODY
    inside = kernel and control is None and bool(clause.kernel) and bool(clause.control)
    found = find(world, outside=kernel and not inside and bool(clause.control))
    stack = world in stacks.NAMES
    title = f"Linux {found.release}" if kernel else world if stack else ""
    disciplined = kernel and bool(clause.discipline)
    own = clause.kernel if inside else clause.discipline.partition(" ")[0] if disciplined else ""
    made = Asked(clause, found, _who(own, contender.name, title), control is None)
    if suite.without_kernel and kernel:
        return replace(made, refusal=suite.without_kernel)
    if world.partition(":")[0] not in clause.only:
        return replace(made, refusal=f"can be seen only in {_worlds(clause.only)}")
    if clause.scenario is None:
        return made
    if inside or disciplined:
        found = replace(
            found,
            runner=partial(running.run_virtual, kernel=built(world), only_named=True),
            identity=f"{found.identity} named",
        )
    if inside:
        chosen = {"version": built(world).version, "control": clause.kernel}
        settings: dict[str, Any] = {"profile": "kernel", "packet_size": PACKET, "kernel": chosen}
    else:
        settings = {
            "host": "linux", "packet_size": PACKET,
            **{key: _value(value) for key, value in contender.settings.items()},
        }  # fmt: skip
    scenario = _scenario(_disciplined(clause) if disciplined else clause, settings, HOST_KEYS if inside else ())
    if (stack or (kernel and not (inside or disciplined))) and (reason := found.refusal(scenario)):
        return replace(made, refusal=reason)
    point = Point(scenario, Seen(clause.seen, clause.place), world=found)
    return replace(made, world=found, point=point)


def _value(value: object) -> object:
    """Return the value of a contender as in a document: a text such as ``{ kind = "abe" }`` is a table."""
    if not isinstance(value, str):
        return value
    try:
        return toml.own(f"value = {value}")["value"]
    except ValueError:
        return value


def _who(own: str, contender: str, title: str) -> str:
    """Return the name of an implementation: the kernel's own, a contender on a kernel, or what stands alone."""
    if own:
        return f"{own} of {title}"
    return f"{contender} on {title}" if contender and title else contender or title or "Ackclock"


def _disciplined(clause: Clause) -> Clause:
    """Return a clause in whose chain Linux' own discipline stands wherever a link has a table as queue."""
    assert clause.scenario is not None
    own = {"kind": "qdisc", "command": clause.discipline}
    links = clause.scenario["topology"]["links"]
    links = [{**link, "queue": own} if isinstance(link.get("queue"), Mapping) else link for link in links]
    return replace(clause, scenario=merged(clause.scenario, {"topology": {"links": links}}))


def _scenario(clause: Clause, settings: Mapping[str, Any], without: Sequence[str]) -> Scenario:
    """Return the scenario of a clause with these settings of the flow under test.

    What the clause says of the flow holds, without the keys that its host does not have. Datagrams have no settings.
    """
    assert clause.scenario is not None
    found = []
    for flow in flows(clause.scenario):
        kept = {key: value for key, value in flow.items() if key not in without}
        under_test = flow.get("name") == TESTED and flow.get("application", {}).get("kind") != DATAGRAMS
        # Hosts of a profile of their own are none of Linux.
        usual = {key: value for key, value in settings.items() if not (key == "host" and "profile" in kept)}
        found.append({**usual, **kept} if under_test else flow)
    return Scenario(clause.place, **{**clause.scenario, "flow": found})


def _worlds(names: Sequence[str]) -> str:
    *others, last = names
    return f"the worlds {', '.join(others)} and {last}" if others else f"the world {last}"
