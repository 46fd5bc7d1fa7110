"""The live plot of notebooks: its arguments, its traits, and its front end in a browser with either engine."""

from __future__ import annotations

import builtins
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ackclock
from ackclock import Scenario
from ackclock.files.built import PAGE
from ackclock.playground import options

from .browser import launched, needed
from .conftest import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

pytest.importorskip("anywidget", reason="the widget needs anywidget: pip install 'ackclock[notebook]'")
built = pytest.mark.skipif(not (PAGE / "widget.js").is_file(), reason="the page was not built: make page")

TWO: dict[str, Any] = {
    "duration": "5 s",
    "topology": {"kind": "dumbbell", "bottleneck": {"rate": "10 Mbit/s", "delay": "20 ms", "queue": "50 packets"}},
    "flow": [{"name": "reno"}, {"name": "cubic", "avoidance": "cubic", "rwnd": "200 packets"}],
}


def two(**more: Any) -> Scenario:
    return Scenario("two", **{**TWO, **more})


# The text of a scenario


@pytest.mark.parametrize("file", sorted((ROOT / "scenarios").glob("*.toml")), ids=lambda path: path.stem)
def test_the_text_is_the_same_scenario_without_its_sweep(file: Path) -> None:
    scenario = ackclock.load(file)
    text = options.text_of(scenario)
    assert "sweep" not in tomllib.loads(text)
    made = Scenario.from_core(ackclock._core.Scenario.from_toml(text, "any"))
    assert (made.hash, made.name) == (scenario.hash, scenario.name)


def test_the_text_has_one_key_a_line() -> None:
    text = options.text_of(
        two(topology={"bottleneck": {"rate": "1 Mbit/s"}}, flow=[{"name": 'a"b\n'}], record=["cwnd"])
    )
    assert text == (
        'name = "two"\nduration = "5 s"\nrecord = ["cwnd"]\n\n'
        '[topology]\nbottleneck = { rate = "1 Mbit/s" }\n\n'
        '[[flow]]\nname = "a\\"b\\n"\n'
    )


# Arguments


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sliders": ["rtd"]}, "'rtd' needs its ends"),
        ({"sliders": "rate"}, r"expected a list, as \['rate'\]"),
        ({"sliders": {"flow.rwnd": "10 packets"}}, r"expected the ends \(low, high\)"),
        ({"sliders": {"flow.rwn": ("1 packets", "2 packets")}}, 'did you mean "rwnd"'),
        ({"sliders": {"rate": ("1 ms", "2 ms")}}, "rate"),
        ({"sliders": {"rate": ("2 Mbit/s", "1 Mbit/s")}}, "must be below the second"),
        ({"sliders": {"buffer": ("10 packets", "1 BDP")}}, "same kind of unit"),
        ({"charts": ["cwn"]}, "did you mean 'cwnd'"),
        ({"charts": []}, "name at least one"),
        ({"menus": ["flow.avoidence"]}, "did you mean 'flow.avoidance'"),
        ({"height": 3}, "60 to 2000 pixels"),
        ({"engine": "wasm"}, "known: auto, kernel"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ackclock.widget(two(), **arguments)


def test_only_scenarios_are_shown() -> None:
    with pytest.raises(TypeError, match="reads a file"):
        ackclock.widget("two.toml")  # type: ignore[arg-type]


def test_a_control_in_python_is_refused() -> None:
    class Gentle(ackclock.CongestionControl):
        """A control."""

    with pytest.raises(ackclock.ScenarioError, match=r"'own' has a control in Python.*use ackclock\.run"):
        ackclock.widget(two(flow=[{"name": "own", "congestion_control": Gentle}]))


def test_without_anywidget_the_message_has_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def lacking(name: str, *rest: Any, **more: Any) -> Any:
        if name == "ackclock.playground.notebook":
            raise ModuleNotFoundError("No module named 'anywidget'", name="anywidget")
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", lacking)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'ackclock\[notebook\]'"):
        ackclock.widget(two())


def test_without_the_page_the_message_has_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from ackclock.playground import notebook as live

    monkeypatch.setattr(live, "PAGE", tmp_path)
    with pytest.raises(FileNotFoundError, match="make page"):
        ackclock.widget(two())


# Traits and messages


@built
def test_the_notebook_goes_on_with_what_the_plot_shows() -> None:
    live = ackclock.widget(two())
    assert live.scenario == two()
    seen: list[str] = []
    live.observe(lambda change: seen.append(change.new), "text")
    live.text = live.text.replace("10 Mbit/s", "4 Mbit/s")
    assert len(seen) == 1
    assert live.scenario == two().set({"topology.bottleneck.rate": "4 Mbit/s"})
    result = live.result(record=["cwnd"])
    assert result == ackclock.run(live.scenario, record=["cwnd"])
    live.scenario = two(seed=7)
    assert live.scenario.seed == 7
    with pytest.raises(ackclock.ScenarioError):
        live.text = 'duration = "5"'
    assert live.scenario.seed == 7
    assert repr(live) == "<Widget of <Scenario 'two': 5 s, seed 7, 2 flows>>"


@built
def test_the_kernel_answers_with_frames_and_with_the_engine() -> None:
    live = ackclock.widget(two())
    sent: list[tuple[Any, Any]] = []
    live.send = lambda content, buffers=None: sent.append((content, buffers))
    live._answer(live, {"kind": "engine"}, [])
    live._answer(live, {"kind": "request", "id": "a 1", "request": {"do": "check", "text": live.text}}, [])
    live._answer(live, {"kind": "request", "id": "a 2", "request": {"do": "check", "text": "x"}}, [])
    live._answer(live, {"kind": "other"}, [])
    (engine, _), (first, (frame,)), (second, (refused,)) = sent
    assert engine["kind"] == "engine"
    assert (first, second) == ({"kind": "frame", "id": "a 1"}, {"kind": "frame", "id": "a 2"})
    header = json.loads(frame[4 : 4 + int.from_bytes(frame[:4], "little")])
    assert header["hash"] == two().hash
    assert b'"error"' in refused


# The front end


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched() as browser:
        yield browser


def engines() -> list[Any]:
    from ackclock.playground.notebook import packed_engine

    lacking = packed_engine() is None
    skipped = pytest.mark.skipif(lacking, reason="the engine was not built as WebAssembly: make web")
    return [pytest.param("wasm", marks=skipped), "kernel"]


@built
@needed
@pytest.mark.parametrize("kind", engines())
def test_a_slider_changes_the_curves(browser: Any, kind: str) -> None:
    from .widgets import Shown

    live = ackclock.widget(two())
    shown = Shown(browser, live, kind)
    first = shown.wait_for_run()
    assert first == live.result().trace_hash
    assert shown.page.locator(".ackclock-widget").get_attribute("data-engine") == kind
    before = shown.picture(0)
    slider = shown.page.get_by_role("slider", name="Bottleneck rate")
    slider.focus()
    for _ in range(3):
        slider.press("PageDown")
    second = shown.wait_for_run(first)
    assert shown.picture(0) != before
    live.text = shown.trait("text")
    assert live.scenario != two()
    # Each press ran; the newest run is that of the newest text.
    shown.page.wait_for_function(
        "(hash) => window.model.get('finished').trace_hash === hash", arg=live.result().trace_hash, timeout=60_000
    )
    assert second != first
    assert ("advance" in shown.asked) == (kind == "kernel")
    assert (shown.errors, shown.foreign) == ([], [])


@built
@needed
def test_a_change_in_python_changes_the_plot(browser: Any) -> None:
    from .widgets import Shown

    live = ackclock.widget(two())
    shown = Shown(browser, live, "kernel")
    first = shown.wait_for_run()
    live.scenario = two(seed=2, topology={"kind": "dumbbell", "bottleneck": {"rate": "3 Mbit/s"}})
    shown.page.evaluate("(text) => window.model.fromKernel('text', text)", live.text)
    assert shown.wait_for_run(first) == live.result().trace_hash
    assert shown.page.get_by_role("textbox", name="Bottleneck rate, exact value").input_value() == "3 Mbit/s"
    shown.page.get_by_role("button", name="Reset").click()
    shown.page.wait_for_function("(hash) => window.model.get('finished').trace_hash === hash", arg=first)
    assert shown.errors == []


@built
@needed
def test_runs_are_overlaid(browser: Any) -> None:
    from .widgets import Shown

    shown = Shown(browser, ackclock.widget(two(flow=[{"name": "only"}])), "kernel")
    first = shown.wait_for_run()
    shown.page.get_by_role("button", name="Keep this run").click()
    field = shown.page.get_by_role("textbox", name="Buffer, exact value")
    field.fill("10 packets")
    field.press("Enter")
    shown.wait_for_run(first)
    assert shown.page.get_by_role("textbox", name="Name of the kept run").count() == 1
    assert shown.page.locator(".panel").first.locator(".entry").count() > 2
    assert shown.errors == []


@built
@needed
def test_sliders_of_any_key_with_their_ends(browser: Any) -> None:
    from .widgets import Shown

    sliders = {
        "rate": ("1 Mbit/s", "20 Mbit/s"),
        "buffer": ("0.5 BDP", "4 BDP"),
        "flow.1.rwnd": ("10 packets", "1000 packets"),
        "seed": (1, 9),
    }
    live = ackclock.widget(two(), sliders=sliders, charts=["cwnd"], height=90)
    shown = Shown(browser, live, "kernel")
    first = shown.wait_for_run()
    assert [box.get_attribute("aria-label") for box in shown.page.locator(".knob input.quantity").all()] == [
        f"{name}, exact value" for name in ("Bottleneck rate", "Buffer", "flow.1.rwnd", "seed")
    ]
    assert shown.page.get_by_role("slider", name="Buffer").is_disabled()
    assert shown.page.get_by_text("and the ends of this slider are as “4 BDP”").count() == 1
    assert shown.page.get_by_role("textbox", name="flow.1.rwnd, exact value").input_value() == "200 packets"
    assert shown.page.locator("canvas:visible").count() == 1
    shown.page.get_by_role("slider", name="Bottleneck rate").press("End")
    second = shown.wait_for_run(first)
    assert tomllib.loads(shown.trait("text"))["topology"]["bottleneck"]["rate"] == "20 Mbit/s"
    shown.page.get_by_role("slider", name="seed").press("End")
    shown.page.get_by_role("slider", name="flow.1.rwnd").press("Home")
    shown.wait_for_run(second)
    shown.page.wait_for_function("() => window.model.get('text').includes('\"10 packets\"')")
    document = tomllib.loads(shown.trait("text"))
    assert document["seed"] == 9
    assert [flow.get("rwnd") for flow in document["flow"]] == [None, "10 packets"]
    assert shown.errors == []


@built
@needed
def test_menus_choose_parts(browser: Any) -> None:
    from .widgets import Shown

    live = ackclock.widget(two(), menus=["flow.slow_start", "topology.bottleneck.queue"], sliders=[])
    shown = Shown(browser, live, "kernel")
    first = shown.wait_for_run()
    assert shown.page.locator(".menus select").count() == 2
    shown.page.get_by_role("button", name="cubic", exact=True).first.click()
    shown.page.get_by_role("combobox", name="Slow start").select_option("limited")
    second = shown.wait_for_run(first)
    document = tomllib.loads(shown.trait("text"))
    assert [flow.get("slow_start") for flow in document["flow"]] == [None, "limited"]
    shown.page.get_by_role("combobox", name="Discipline").select_option("codel")
    shown.wait_for_run(second)
    live.text = shown.trait("text")
    assert live.scenario.set({"seed": 1}).to_toml().count('kind = "codel"') == 1
    none = Shown(browser, ackclock.widget(two(), menus=[]), "kernel")
    none.wait_for_run()
    assert none.page.locator(".menus").is_hidden()
    assert shown.errors + none.errors == []


@built
@needed
@pytest.mark.parametrize(("back", "theme"), [("white", "light"), ("#111", "dark"), ("rgb(17, 17, 17)", "dark")])
def test_the_theme_is_that_of_the_notebook(browser: Any, back: str, theme: str) -> None:
    from .widgets import Shown

    shown = Shown(browser, ackclock.widget(two()), "kernel", back=back)
    shown.wait_for_run()
    host = shown.page.locator(".ackclock-widget")
    assert host.get_attribute("data-theme") == theme
    ink = host.evaluate("(it) => getComputedStyle(it).color")
    red = int(ink.removeprefix("rgb(").split(",")[0])
    assert (red > 128) == (theme == "dark")
    shown.page.evaluate("document.body.style.background = 'black'")
    shown.page.wait_for_function("() => document.querySelector('.ackclock-widget').dataset.theme === 'dark'")


@built
@needed
def test_a_name_in_a_scenario_is_text(browser: Any) -> None:
    from .widgets import Shown

    name = "<img src=x onerror=alert(1)>"
    shown = Shown(browser, ackclock.widget(two(flow=[{"name": name}, {"name": "b"}])), "kernel")
    shown.wait_for_run()
    assert shown.page.get_by_text(name).count() > 0
    assert shown.page.locator(".ackclock-widget img").count() == 0
    assert (shown.errors, shown.foreign) == ([], [])


@built
@needed
def test_a_removed_view_asks_no_more(browser: Any) -> None:
    from .widgets import Shown

    shown = Shown(browser, ackclock.widget(two()), "kernel")
    first = shown.wait_for_run()
    shown.page.evaluate("window.end()")
    asked = len(shown.asked)
    shown.page.evaluate("(text) => window.model.fromKernel('text', text)", options.text_of(two(seed=5)))
    shown.page.wait_for_timeout(300)
    assert len(shown.asked) == asked
    assert shown.trait("finished")["trace_hash"] == first
    assert shown.errors == []


@built
@needed
def test_it_fits_a_narrow_cell(browser: Any) -> None:
    from .widgets import Shown

    shown = Shown(browser, ackclock.widget(two()), "kernel", width=400)
    shown.wait_for_run()
    assert shown.page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
