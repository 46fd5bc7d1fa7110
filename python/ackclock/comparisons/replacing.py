"""A scenario of the user whose flows under test have the settings of a contender in place of their own."""

from __future__ import annotations

from collections.abc import Mapping

from ackclock import _core
from ackclock.comparisons.contenders import HOST, WORKLOAD, Contender
from ackclock.comparisons.parts import PARTS, REPLACED, WHOLE
from ackclock.files import toml
from ackclock.metrics.groups import under_test
from ackclock.scenario import Scenario, in_toml, key_of, word_of


def replaced(scenario: Scenario, contender: Contender) -> Scenario:
    """Return the scenario with the contender's settings; its ``[sweep]`` stays.

    What the settings replace goes: the parts behind a whole control, a whole control behind parts, and everything but
    the workload behind another host.

    Raises
    ------
    ScenarioError
        If the flows cannot have these settings.
    """
    settings = contender.settings
    text, file, _ = scenario.core.state()
    classes = {key: value for key, value in settings.items() if isinstance(value, type)}
    if classes and not scenario.core.sweep:
        # A class is for one flow, and the flows of a sweep keep the places that it names.
        text = scenario.expanded()
    document = toml.own(text)
    flows = document.get("flow", [{}])
    flows = [flows] if isinstance(flows, dict) else flows
    tested = under_test(str(flow.get("name", "")) for flow in flows)
    places = [index for index, flow in enumerate(flows) if str(flow.get("name", "")) in tested]
    controls = dict(scenario.controls)
    for index in places:
        flows[index] = {key: value for key, value in flows[index].items() if _stays(key, contender)}
        controls.pop(index, None)
        for made in classes.values():
            if flows[index].get("count", 1) != 1:
                raise _core.ScenarioError(
                    f"{file}: flow.{index}.count: with [sweep], a flow with a control in Python must be one flow;"
                    " list each flow"
                )
            flows[index][WHOLE] = word_of(key_of(made))
            controls[index] = made
    core = _core.Scenario.restore(_written({**document, "flow": flows}), file, bool(controls))
    plain = {key: value for key, value in settings.items() if key not in classes}
    return Scenario.from_core(core, controls).set(
        {f"flow.{index}.{key}": value for index in places for key, value in plain.items()}
    )


def _written(document: Mapping[str, object]) -> str:
    return "".join(f"{in_toml(key)} = {in_toml(value)}\n" for key, value in document.items())


def _stays(key: str, contender: Contender) -> bool:
    """Whether a key of a flow stays beside the settings of a contender."""
    settings = contender.settings
    if HOST in settings or settings.get("profile") == "modern":
        return key in (*WORKLOAD, "packet_size")
    if WHOLE in settings:
        return key not in (WHOLE, *REPLACED)
    return key not in settings and (key != WHOLE or not any(part in settings for part in PARTS))
