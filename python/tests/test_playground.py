"""The playground in a browser: with each engine, by mouse and by keyboard, from a server and from the disk."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import polars
import pytest
from polars.testing import assert_frame_equal

import ackclock
from ackclock.playground.page import Setup
from ackclock.playground.site import export

from . import browser as browsers
from .conftest import Cli
from .playground import AXE, SHORT, TEXT, Playground, built, field, stored
from .serving import serving

pytestmark = browsers.needed
needs_engine = "the engine as WebAssembly was not built: make web"

Open = Callable[..., Playground]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browsers.launched() as launched:
        yield launched


@pytest.fixture(scope="module", params=["wasm", "native"])
def server(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a page with each engine."""
    page = built()
    if request.param == "wasm" and not page.has_engine:
        pytest.skip(needs_engine)
    with serving(Setup(request.param, name="short.toml", text=SHORT), page) as started:
        yield started.url


@pytest.fixture(scope="module")
def any_server() -> Iterator[str]:
    """The address of a page with one engine, for tests that do not depend on it."""
    with serving(Setup("native", name="short.toml", text=SHORT), built()) as started:
        yield started.url


@pytest.fixture
def opened(chromium: Any) -> Iterator[Open]:
    """Return a function that opens a page; at the end, nothing may have gone wrong in any."""
    pages: list[Playground] = []

    def open_page(url: str, width: int = 1280, scheme: str = "light") -> Playground:
        pages.append(Playground(chromium, url, width, scheme))
        return pages[-1]

    yield open_page
    for page in pages:
        if not page.page.is_closed():
            page.close()


def test_a_slider_and_a_menu_change_the_curves(opened: Open, server: str) -> None:
    playground = opened(server)
    page = playground.page
    numbers = playground.finished()
    assert numbers.splitlines()[1].startswith("a\t")
    window = playground.drawn("Congestion window")
    # A slider, by the keyboard.
    page.get_by_role("slider", name="Bottleneck rate").focus()
    page.keyboard.press("PageDown")
    slower = playground.finished(numbers)
    assert float(slower.split("\t")[8]) < float(numbers.split("\t")[8])
    assert playground.drawn("Congestion window") != window
    # An exact value.
    rate = page.get_by_role("textbox", name=field("Bottleneck rate"))
    rate.fill("4 Mbit/s")
    rate.press("Enter")
    assert playground.finished(slower) == numbers
    # A part.
    page.get_by_role("combobox", name="Slow start").select_option("staged")
    assert playground.finished(numbers) != slower


def test_a_fault_is_shown_at_its_line(opened: Open, server: str) -> None:
    playground = opened(server)
    page = playground.page
    numbers = playground.finished()
    playground.type(SHORT.replace('name = "a"', 'slow_strat = "staged"'))
    alert = page.get_by_role("alert")
    alert.get_by_text("slow_start").wait_for()
    marked = page.locator(".cm-line", has=page.locator(".cm-lintRange-error"))
    assert marked.all_inner_texts() == ['slow_strat = "staged" # the only flow']
    alert.get_by_role("button", name="Line 9").click()
    assert page.get_by_role("textbox", name="Scenario").evaluate("(each) => each.matches(':focus')")
    # The sliders and the curves stay those of the last text without faults; the next one runs.
    playground.type(SHORT.replace('name = "a"', 'slow_start = "limited"'))
    alert.wait_for(state="hidden")
    assert playground.finished(numbers) != numbers
    assert page.locator(".cm-lintRange-error").count() == 0


def test_the_editor_suggests_what_can_stand_at_the_cursor(opened: Open, any_server: str) -> None:
    playground = opened(any_server)
    page = playground.page
    numbers = playground.finished()
    page.get_by_role("textbox", name="Scenario").focus()
    page.keyboard.press("Control+End")
    page.keyboard.type("slow_s")
    page.get_by_role("option", name="slow_start").wait_for()
    # A list takes no key in its first moment, so that it does not swallow one that was meant for the text.
    page.wait_for_timeout(200)
    page.keyboard.press("Enter")
    assert playground.text().endswith('slow_start = "standard"')
    page.keyboard.type("stag")
    page.get_by_role("option", name='"staged"').wait_for()
    page.wait_for_timeout(200)
    page.get_by_text("growth by zones").wait_for()
    page.keyboard.press("Enter")
    assert playground.text().endswith('slow_start = "staged"')
    page.locator("main .error").wait_for(state="hidden")
    assert playground.finished(numbers) != numbers


def test_the_text_and_the_controls_are_one(opened: Open, any_server: str) -> None:
    playground = opened(any_server)
    page = playground.page
    numbers = playground.finished()
    page.get_by_role("combobox", name="Slow start").select_option("staged")
    playground.finished(numbers)
    text = playground.text()
    assert 'slow_start = "staged"' in text
    assert 'name = "a" # the only flow' in text, "comments stay"
    playground.type(text.replace('"4 Mbit/s"', '"8 Mbit/s"'))
    rate = page.get_by_role("textbox", name=field("Bottleneck rate"))
    page.wait_for_function("(each) => each.value === '8 Mbit/s'", arg=rate.element_handle())
    assert page.get_by_role("combobox", name="Slow start").input_value() == "staged"


def test_the_arrow_keys_move_a_slider_at_every_press(opened: Open, any_server: str) -> None:
    playground = opened(any_server)
    page = playground.page
    playground.finished()
    slider = page.get_by_role("slider", name="Bottleneck rate")
    rate = page.get_by_role("textbox", name=field("Bottleneck rate"))
    slider.focus()
    for key, wanted in (("ArrowRight", "4.1"), ("ArrowUp", "4.2"), ("ArrowLeft", "4.1"), ("ArrowDown", "4")):
        page.keyboard.press(key)
        page.wait_for_function(f"(wanted) => ({TEXT})().includes(wanted)", arg=f'rate = "{wanted} Mbit/s"')
        page.wait_for_function(
            "([each, wanted]) => each.value === wanted", arg=[rate.element_handle(), f"{wanted} Mbit/s"]
        )
        assert slider.get_attribute("aria-valuetext") == f"{wanted} Mbit/s"


def test_faults_without_a_line_are_shown_beside_those_with_one(opened: Open, any_server: str) -> None:
    playground = opened(any_server)
    playground.finished()
    playground.type("speed = 1\n")
    alert = playground.page.get_by_role("alert")
    alert.get_by_text("speed").first.wait_for()
    assert "duration: is missing" in alert.inner_text()
    assert "scenario.toml" not in alert.inner_text(), "the page knows no file"
    assert alert.get_by_role("button").all_inner_texts() == ["Line 1"]
    assert playground.page.locator(".cm-lintRange-error").first.inner_text() == "speed"


def test_a_warning_is_shown_in_its_words(opened: Open, any_server: str, tmp_path: Path) -> None:
    playground = opened(any_server)
    numbers = playground.finished()
    text = SHORT.replace("4 s", "0.1 s")
    playground.type(text)
    playground.finished(numbers)
    (tmp_path / "short.toml").write_text(text)
    (warning,) = ackclock.run(ackclock.load(tmp_path / "short.toml")).summary["warnings"]
    assert playground.page.locator(".numbers .warning").all_inner_texts() == [warning["text"]]


def test_many_flows_are_in_lists(opened: Open, any_server: str) -> None:
    playground = opened(any_server)
    page = playground.page
    numbers = playground.finished()
    names = [f"flow {number}" for number in range(13)]
    one = '[[flow]]\nname = "a" # the only flow\n'
    playground.type(SHORT.replace(one, "".join(f'[[flow]]\nname = "{name}"\n' for name in names)))
    playground.finished(numbers)
    shown = page.get_by_role("region", name="Run and view").get_by_role("combobox", name="Flow")
    assert shown.locator("option:checked").inner_text() == "The first 4"
    legend = page.get_by_role("figure", name="Round-trip time").locator(".entry")
    for choice, flows in (("flow 9", ["flow 9"]), ("The first 4", names[:4])):
        shown.select_option(choice)
        legend.nth(len(flows) - 1).wait_for()
        legend.nth(len(flows)).wait_for(state="detached")
        assert [text.strip() for text in legend.all_inner_texts()] == flows
    changed = page.get_by_role("region", name="Flows and queue").get_by_role("combobox", name="Flow", exact=True)
    assert changed.locator("option").all_inner_texts() == names
    changed.select_option("flow 12")
    assert page.get_by_role("button", name="Remove flow 12").is_visible()


def test_listed_links_have_no_empty_menus(opened: Open, any_server: str) -> None:
    playground = opened(any_server)
    page = playground.page
    numbers = playground.finished()
    links = 'topology = { kind = "chain", links = [{ rate = "4 Mbit/s", delay = "10 ms", queue = "9 packets" }] }'
    playground.type(f'duration = "2 s"\n{links}\n[flow]\n')
    listed = playground.finished(numbers)
    page.get_by_role("slider", name="Buffer").press("Home")
    numbers = playground.finished(listed)
    assert 'queue = "2 packets"' in playground.text(), "the slider changes the listed link"
    fork = 'node = ["a", "b", "c"]\nlink = [{ from = "a", to = "b" }, { from = "a", to = "c" }]'
    flow = '[flow]\nfrom = "a"\nto = "b"'
    playground.type(f'duration = "2 s"\n[topology]\nkind = "explicit"\n{fork}\n{flow}\n[sweep]\nseed = [1, 2]\n')
    playground.finished(numbers)
    reasons = page.get_by_role("region", name="Path").locator(".reason")
    assert len(set(reasons.all_inner_texts())) == 1
    assert [reason.bounding_box()["height"] > 2 for reason in reasons.all()] == [True, False, False, False]
    assert not page.get_by_role("heading", name="Queue", exact=True).is_visible()
    page.get_by_text("leaves out the values of [sweep]").wait_for()


def test_a_path_that_varies_has_charts_and_a_list_of_delays_has_menus(opened: Open, any_server: str) -> None:
    playground = opened(any_server)
    page = playground.page
    numbers = playground.finished()
    titles = [f"{quantity} of the path over time" for quantity in ("Rate", "Delay", "Losses")]
    charts = [page.get_by_role("img", name=title) for title in titles]
    assert not any(chart.is_visible() for chart in charts), "a path of constants has none"
    delays = '["10 ms", { kind = "jitter", delay = "5 ms", jitter = "2 ms" }]'
    playground.type(f'duration = "2 s"\n[topology.bottleneck]\nrate = "4 Mbit/s"\ndelay = {delays}\n[flow]\n')
    numbers = playground.finished(numbers)
    assert [chart.is_visible() for chart in charts] == [False, True, False]
    legend = page.get_by_role("figure", name="Delay of the path").locator(".entry")
    assert [text.strip() for text in legend.all_inner_texts()] == ["n1>n2", "least", "largest", "n2>n1"]
    before = playground.drawn("Delay of the path")
    page.get_by_role("button", name="Settings of Jitter").click()
    jitter = page.get_by_role("textbox", name="jitter", exact=True)
    jitter.fill("4 ms")
    jitter.press("Enter")
    numbers = playground.finished(numbers)
    assert 'jitter = "4 ms"' in playground.text() and playground.drawn("Delay of the path") != before
    page.get_by_role("button", name="Remove delay 2").click()
    playground.finished(numbers)
    assert 'delay = ["10 ms"]' in playground.text()
    assert not playground.faults()


def test_a_scenario_is_never_part_of_the_page(opened: Open) -> None:
    mark = "<img src=x onerror='window.hacked = true'><script>window.hacked = true</script>"
    text = SHORT.replace('name = "short"', f'name = "{mark}"').replace('name = "a"', f'name = "{mark}"')
    with serving(Setup("native", name=mark, text=text), built()) as started:
        playground = opened(started.url)
        assert "onerror" in playground.finished(), "the name is shown as text"
        playground.page.get_by_role("button", name="Keep this run").click()
        playground.type(text.replace('duration = "4 s"', 'duration = "<img src=x onerror=alert(1)>"'))
        playground.page.get_by_role("alert").get_by_text("onerror").wait_for()
        assert playground.page.evaluate("window.hacked") is None
        assert playground.page.locator("img[src=x]").count() == 0
        playground.close()


def test_a_kept_run_stays_in_the_charts(opened: Open, any_server: str) -> None:
    playground = opened(any_server)
    page = playground.page
    numbers = playground.finished()
    page.get_by_role("button", name="Keep this run").click()
    twice = playground.finished(numbers)
    page.get_by_role("slider", name="Buffer").focus()
    page.keyboard.press("PageUp")
    both = playground.finished(twice)
    rows = both.splitlines()[1:]
    assert len(rows) == 2, "the flow of each run"
    assert numbers.splitlines()[1] in rows[1], "the kept run has the same numbers"
    page.get_by_role("textbox", name="Name of the kept run").fill("short buffer")
    page.keyboard.press("Enter")
    assert "short buffer" in playground.finished(both)
    page.get_by_role("button", name="Remove").click()
    assert len(playground.finished().splitlines()) == 2


def test_a_kept_run_can_be_removed_while_another_runs(opened: Open, any_server: str) -> None:
    playground = opened(any_server)
    page = playground.page
    playground.finished()
    page.get_by_role("button", name="Keep this run").click()
    page.get_by_role("textbox", name="Name of the kept run").fill("kept")
    page.keyboard.press("Enter")
    remove = page.get_by_role("button", name="Remove kept")
    playground.type(SHORT.replace('"4 s"', '"4 h"'))
    page.wait_for_function("() => document.querySelector('progress:not(.idle)')?.value > 0")
    button = remove.element_handle()
    value = page.locator("progress").evaluate("(each) => each.value")
    page.wait_for_function("(before) => document.querySelector('progress').value > before", arg=value)
    assert button.evaluate("(each) => each.isConnected"), "a press and its release reach the same button"
    remove.click()
    remove.wait_for(state="hidden")
    page.get_by_role("button", name="Stop", exact=True).click()
    page.get_by_text("Stopped at").wait_for()


def test_a_link_holds_all_that_the_page_shows(opened: Open, any_server: str) -> None:
    playground = opened(any_server)
    page = playground.page
    numbers = playground.finished()
    page.get_by_role("button", name="Keep this run").click()
    twice = playground.finished(numbers)
    page.get_by_role("combobox", name="Slow start").select_option("staged")
    both = playground.finished(twice)
    page.get_by_role("button", name="Copy link").click()
    page.get_by_text("Link copied.").wait_for()
    link = page.evaluate("navigator.clipboard.readText()")
    assert link.startswith(f"{any_server}#s=")
    other = opened(link)
    # The kept run comes last.
    other.page.wait_for_function("(both) => document.querySelector('.numbers table')?.innerText === both", arg=both)
    assert other.text() == playground.text()
    damaged = opened(link[:-9])
    damaged.page.get_by_role("alert").get_by_text("The link is damaged").wait_for()
    assert damaged.finished() == numbers, "the page opens with its own scenario"


def test_the_exports_are_those_of_the_command_line(opened: Open, server: str, cli: Cli, tmp_path: Path) -> None:
    playground = opened(server)
    page = playground.page
    playground.finished()
    page.get_by_role("button", name="Export").click()
    dialog = page.get_by_role("dialog", name="Export")
    file = stored(dialog, "Scenario", tmp_path / "short.toml")
    assert file.read_text() == playground.text() == SHORT
    frozen = stored(dialog, "Scenario with every default", tmp_path / "frozen.toml").read_text()
    done = cli("run", file, "--record", "cwnd", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert ackclock.load(tmp_path / "frozen.toml").hash == ackclock.load(file).hash
    assert frozen.count("\n") > SHORT.count("\n")
    dialog.get_by_role("combobox", name="Trace").select_option("cwnd")
    csv = polars.read_csv(stored(dialog, "CSV", tmp_path / "cwnd.csv"))
    run = ackclock.open(tmp_path / "out")
    trace = polars.DataFrame(run.trace("cwnd"))
    assert csv.columns == trace.columns
    assert_frame_equal(csv, trace.cast(dict(zip(csv.columns, csv.dtypes, strict=True))), check_exact=True)
    # The command repeats the run.
    command = dialog.get_by_label("Command").inner_text()
    shell = f'ackclock() {{ {sys.executable} -m ackclock "$@"; }}\n{command}'
    repeated = subprocess.run(["bash", "-c", shell], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert repeated.returncode == 0, repeated.stderr
    assert repeated.stdout == cli("run", file).stdout
    # The pictures.
    assert stored(dialog, "PNG", tmp_path / "charts.png").read_bytes().startswith(b"\x89PNG")
    picture = ElementTree.parse(stored(dialog, "SVG", tmp_path / "charts.svg"))
    assert "Congestion window" in "".join(picture.getroot().itertext())
    dialog.get_by_role("button", name="Close").click()
    dialog.wait_for(state="hidden")


def test_the_packets_of_a_chosen_time(opened: Open, server: str) -> None:
    playground = opened(server)
    page = playground.page
    playground.finished()
    packets = page.get_by_role("region", name="Packets")
    packets.get_by_label("From, in seconds").fill("0.2")
    packets.get_by_label("To, in seconds").fill("0.3")
    packets.get_by_role("button", name="Show packets").click()
    diagram = packets.locator(".diagram canvas")
    diagram.wait_for()
    before = diagram.evaluate("(each) => each.toDataURL()")
    diagram.scroll_into_view_if_needed()
    packets.get_by_role("button", name="Animation").click()
    animation = packets.locator(".animation canvas")
    animation.wait_for()
    start = animation.evaluate("(each) => each.toDataURL()")
    time = packets.get_by_role("slider", name="Time")
    time.focus()
    for _ in range(3):
        page.keyboard.press("PageUp")
    assert animation.evaluate("(each) => each.toDataURL()") != start
    packets.get_by_role("button", name="Diagram").click()
    # Packets of another scenario look different.
    packets.get_by_label("From, in seconds").fill("2")
    packets.get_by_label("To, in seconds").fill("2.1")
    packets.get_by_role("button", name="Show packets").click()
    page.wait_for_function("([each, before]) => each.toDataURL() !== before", arg=[diagram.element_handle(), before])
    packets.get_by_label("To, in seconds").fill("1")
    packets.get_by_role("button", name="Show packets").click()
    packets.get_by_text("to: 1 is not after").wait_for()


def test_a_lesson_runs_and_has_an_answer(opened: Open, any_server: str) -> None:
    playground = opened(any_server)
    page = playground.page
    numbers = playground.finished()
    lessons = page.get_by_role("combobox", name="Lessons")
    names = [each for each in lessons.locator("option").all_inner_texts() if each[0].isdigit()]
    assert len(names) >= 10
    titles = [name.split(". ")[1] for name in names]
    lessons.select_option(names[0])
    page.get_by_role("heading", name=titles[0], exact=True).wait_for()
    first = playground.finished(numbers)
    answer = page.locator("#lesson-answer")
    assert not answer.is_visible()
    page.get_by_role("button", name="Show the answer").click()
    assert len(answer.inner_text()) > 40
    page.get_by_role("button", name="Next").click()
    page.get_by_role("heading", name=titles[1], exact=True).wait_for()
    playground.finished(first)
    # A lesson has an address, and the way back leads to the one before.
    other = opened(page.url)
    other.page.get_by_role("heading", name=titles[1], exact=True).wait_for()
    page.go_back()
    page.get_by_role("heading", name=titles[0], exact=True).wait_for()


def test_the_lessons_sentences_end_at_their_words(opened: Open, any_server: str) -> None:
    page = opened(f"{any_server}#lesson=slow-start").page
    again = page.get_by_role("button", name="show the lesson's runs again")
    again.wait_for()
    gap = again.evaluate("""(each) => {
      const range = document.createRange();
      const ends = [each.firstChild, each.nextSibling].map((text) => {
        range.selectNodeContents(text);
        return range.getClientRects()[0];
      });
      return ends[1].left - ends[0].right;
    }""")
    assert gap < 2


def test_an_address_of_no_lesson_says_so(opened: Open, any_server: str) -> None:
    mark = "<b id=bold>none</b>"
    page = opened(f"{any_server}#lesson={mark}").page
    page.get_by_role("alert").get_by_text(f"There is no lesson “{mark}”").wait_for()
    assert page.locator("#bold").count() == 0
    page.get_by_role("combobox", name="Lessons").select_option(index=1)
    page.get_by_text("There is no lesson").wait_for(state="hidden")


FOCUSED = """() => {
  let each = document.activeElement;
  while (each.shadowRoot?.activeElement) each = each.shadowRoot.activeElement;
  const marked = (element) => {
    const style = getComputedStyle(element);
    return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0 || style.boxShadow !== "none";
  };
  const around = [each, each.parentElement, each.closest(".cm-editor"), each.closest("label")];
  const name = each.getAttribute("aria-label") || each.labels?.[0]?.innerText || each.innerText || "";
  return [each.tagName.toLowerCase(), name.split("\\n")[0].trim(), around.some((one) => one && marked(one))];
}"""
"""Tag and name of the element with the focus, and whether a reader sees that it has it."""


def test_the_keyboard_reaches_everything(opened: Open, any_server: str) -> None:
    playground = opened(any_server)
    page = playground.page
    numbers = playground.finished()
    walked: list[tuple[str, str]] = []
    for _ in range(200):
        page.keyboard.press("Tab")
        tag, name, seen = page.evaluate(FOCUSED)
        if tag == "body":
            break
        if not seen:  # the editor marks its focus a moment later
            page.wait_for_function(f"() => ({FOCUSED})()[2]", timeout=2000)
        walked.append((tag, name))
    else:
        raise AssertionError(f"the focus never leaves the page: {walked[-3:]}")
    wanted = [
        ("input", "Bottleneck rate"), ("select", "Slow start"), ("div", "Scenario"), ("button", "Run"),
        ("button", "Keep this run"), ("button", "Window"), ("input", "Charts from, seconds"),
    ]  # fmt: skip
    assert [each for each in wanted if each not in walked] == []
    assert any(name.startswith("Charts.") for _, name in walked)
    # The charts say their values, and the keys of a run work from anywhere.
    charts = page.get_by_role("group", name="Charts.")
    charts.focus()
    page.keyboard.press("ArrowRight")
    charts.get_by_role("status").last.get_by_text("segments").wait_for()
    page.keyboard.press("+")
    page.get_by_role("button", name="Whole run").wait_for()
    page.keyboard.press("0")
    page.get_by_role("button", name="Whole run").wait_for(state="hidden")
    page.get_by_role("combobox", name="Slow start").focus()
    page.keyboard.type("Staged")
    assert playground.finished(numbers) != numbers


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_accessible(opened: Open, any_server: str, scheme: str) -> None:
    if not AXE.exists():
        pytest.skip("axe-core is not installed: `npm ci` in web/")
    playground = opened(any_server, scheme=scheme)
    playground.finished()
    assert playground.faults() == []


def test_the_dark_page_is_dark(opened: Open, any_server: str) -> None:
    dark, light = (opened(any_server, scheme=scheme) for scheme in ("dark", "light"))
    shade = "getComputedStyle(document.body).backgroundColor.match(/[0-9.]+/g).slice(0, 3).map(Number)"
    assert max(dark.page.evaluate(shade)) < 60
    assert min(light.page.evaluate(shade)) > 200


def test_a_narrow_page_does_not_scroll_sideways(opened: Open, any_server: str) -> None:
    playground = opened(any_server, width=400)
    numbers = playground.finished()
    assert playground.overflow <= 0
    long = "a_name_without_any_space_" * 4
    playground.type(SHORT.replace('name = "a"', f'name = "{long}"'))
    playground.finished(numbers)
    playground.page.get_by_role("figure", name="Congestion window").get_by_text(long).first.wait_for()
    playground.page.get_by_role("button", name="Show packets").click()
    playground.page.locator(".diagram canvas").wait_for()
    assert playground.overflow <= 0


def test_the_exported_page_runs_from_the_disk(opened: Open, tmp_path: Path) -> None:
    page = built()
    if not page.has_engine:
        pytest.skip(needs_engine)
    export(page, Setup("wasm", name="short.toml", text=SHORT), tmp_path / "site")
    playground = opened((tmp_path / "site" / "index.html").as_uri())
    assert "a\t" in playground.finished()


def test_a_page_without_an_engine_says_so(opened: Open, tmp_path: Path) -> None:
    page = built()
    bare = dataclasses.replace(page, files={**page.files, "engine.js": b"// nothing\n"})
    for name, data in bare.files.items():
        (tmp_path / name).write_bytes(data)
    playground = opened((tmp_path / "index.html").as_uri())
    playground.page.get_by_text("ackclock serve").wait_for()
