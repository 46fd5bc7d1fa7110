// The playground: puts the parts of the page together.
import { Charts } from "../charts/group.ts";
import { fill, h } from "../dom.ts";
import { lessons } from "ackclock:lessons";
import { mountEditor } from "../editor/editor.ts";
import { connect, served } from "../engine/connect.ts";
import type { Problem } from "../engine/protocol.ts";
import { mountShare } from "../share/controls.ts";
import { decode } from "../share/share.ts";
import { mountLessons } from "../lessons/view.ts";
import { mountPackets } from "../packets/view.ts";
import { mountBasics } from "./basics.ts";
import { withFlow } from "./flows.ts";
import { mountKept } from "./keptruns.tsx";
import { knobs, limited } from "./knobs.ts";
import { makeLab, type Run, type State } from "./lab.ts";
import { mountMenus, PLAYGROUND } from "./menus.tsx";
import { mountNumbers } from "./numbers.ts";
import { mountSliders, type Sliders } from "./sliders.ts";
import START from "./start.toml";
import { mountToolbar } from "./toolbar.ts";
import { viewOf } from "./view.ts";

/** The places of the page, in the order in which a reader of a narrow screen meets them. */
function layout() {
  const places = {
    sliders: h("section", { class: "card sliders", "aria-label": "Path" }),
    toolbar: h("section", { class: "toolbar", "aria-label": "Run and view" }),
    error: h("div", { class: "error", role: "alert", hidden: true }),
    charts: h("section", { class: "charts-place", "aria-label": "Curves" }),
    lesson: h("section", { class: "card lesson", "aria-label": "Lesson" }),
    kept: h("section", { class: "card kept-place", "aria-label": "Kept runs" }),
    menus: h("section", { class: "card menus", "aria-label": "Flows and queue" }),
    editor: h("section", { class: "card editor", "aria-label": "Scenario" }),
    numbers: h("section", { class: "card numbers", "aria-label": "Key numbers" }),
    packets: h("section", { class: "card packets", "aria-label": "Packets" }),
    lessons: h("nav", { class: "lessons", "aria-label": "Lessons" }),
    share: h("div", { class: "share" }),
  };
  const header = h(
    "header",
    {},
    h("h1", {}, h("img", { src: "icon.svg", alt: "", width: 26, height: 26 }), "Ackclock playground"),
    places.lessons,
    places.share,
  );
  const left = h("div", { class: "left" }, places.lesson, places.sliders, places.menus, places.editor);
  const right = h(
    "div",
    { class: "right" },
    places.toolbar,
    places.error,
    places.charts,
    places.kept,
    places.numbers,
    places.packets,
  );
  return { places, header, main: h("main", { class: "layout" }, left, right) };
}

/** What the page says if it has no engine. */
function noEngine(page: HTMLElement): void {
  fill(
    page,
    h(
      "main",
      { class: "missing" },
      h("h1", {}, "Ackclock playground"),
      h("p", {}, "This page has no engine: the file engine.js was not built, and no server answers for it."),
      h(
        "p",
        {},
        "Build it with ",
        h("code", {}, "make web"),
        ", or open the playground with ",
        h("code", {}, "ackclock serve"),
        ".",
      ),
    ),
  );
}

/** All that is wrong, in one place; a problem of the text leads to its line. */
function showError(place: HTMLElement, { error, problems }: State, show: (problem: Problem) => void): void {
  place.hidden = error === "";
  fill(
    place,
    problems.length > 0
      ? problems.map((problem) =>
          h(
            "p",
            {},
            problem.line !== null && [
              h("button", { class: "quiet", on: { click: () => show(problem) } }, `Line ${problem.line}`),
              " ",
            ],
            problem.key && h("code", {}, problem.key),
            problem.key ? ": " : "",
            problem.message,
          ),
        )
      : h("pre", {}, error),
  );
}

/** The times whose packets a reader wants first: the first loss, from a round trip before it to the reaction two round trips later. */
function aroundFirstLoss({ recording, summary }: Run): [from: number, to: number] {
  const { duration } = recording.scenario;
  const { firstLoss } = recording;
  if (firstLoss === undefined || !summary) return [0, Math.min(1, duration)];
  const rtt = Math.max(...summary.flows.map(({ path_rtt }) => path_rtt));
  return [Math.max(0, firstLoss - rtt), Math.min(duration, firstLoss + 2 * rtt)];
}

async function start(page: HTMLElement): Promise<void> {
  const server = served();
  const makeEngine = connect(server);
  if (!makeEngine) return noEngine(page);
  const { places, header, main } = layout();
  fill(page, header, main);
  const link = await decode(location.hash);
  const narrow = matchMedia("(max-width: 60rem)").matches;
  const lab = await makeLab(
    makeEngine,
    link && "state" in link ? link.state.text : (server?.text ?? START),
    narrow ? ["cwnd", "queue", "throughput"] : ["cwnd", "queue", "throughput", "delay"],
  );

  // A phone shows two charts and the text about them at once.
  const phone = matchMedia("(max-width: 40rem)");
  const charts = new Charts((zoom) => lab.set({ zoom }));
  const fit = () => {
    charts.height = phone.matches ? 110 : undefined;
  };
  phone.addEventListener("change", fit);
  fit();
  fill(places.charts, charts.element);
  const knobPlace = h("div", { class: "knobs" });
  const basicsPlace = h("div", { class: "basics" });
  fill(places.sliders, knobPlace, basicsPlace);
  const sliders = mountSliders(knobPlace, (edits) => lab.edit(edits));
  let ofLesson: Sliders[] = [];
  const basics = mountBasics(basicsPlace, (edits) => lab.edit(edits));
  const menus = mountMenus(
    places.menus,
    lab.describe,
    PLAYGROUND,
    (edits) => lab.edit(edits),
    () => {
      const { checked } = lab.get();
      if (checked) lab.setText(withFlow(checked.text, checked.values));
    },
  );
  mountToolbar(places.toolbar, lab);
  mountKept(places.kept, lab);
  mountNumbers(places.numbers, lab);

  const box = h("div", { class: "editor-box" });
  const sweep = h(
    "p",
    { class: "soft small", hidden: true },
    "This page leaves out the values of [sweep]. ",
    h("code", {}, "ackclock sweep"),
    " runs them all.",
  );
  fill(places.editor, h("h2", {}, "Scenario"), sweep, box);
  const editor = mountEditor(box, {
    text: lab.get().text,
    onChange: (text) => lab.setText(text, true),
    describe: lab.describe,
  });
  const showProblem = (problem: Problem) => {
    places.editor.scrollIntoView({ block: "nearest" });
    editor.show(problem);
  };

  const chosen = ({ current, text, zoom }: State) => {
    const [from, to] = zoom ?? (current ? aroundFirstLoss(current) : [0, 1]);
    return { text, from, to };
  };
  const packets = mountPackets(places.packets, lab.engine, chosen(lab.get()));

  const hasLimit = limited(lab.describe);
  const show = (state: State, before?: State) => {
    if (state.checked && state.checked !== before?.checked) {
      const known = knobs(state.checked.values, hasLimit);
      for (const each of [sliders, ...ofLesson]) each.show(known);
      basics.show(state.checked.scenario);
      menus.show(state.checked);
      sweep.hidden = state.checked.values["sweep"] === undefined;
    }
    if (state.text !== before?.text) editor.setText(state.text);
    packets.show(chosen(state));
    if (state.problems !== before?.problems) editor.setProblems(state.problems);
    if (state.error !== before?.error || state.problems !== before?.problems)
      showError(places.error, state, showProblem);
    places.charts.hidden = places.numbers.hidden = !state.current;
    const view = viewOf(lab);
    if (view) charts.show(view);
  };
  lab.subscribe(show);
  show(lab.get());
  mountShare(places.share, lab, makeEngine, link);
  mountLessons(places.lessons, places.lesson, lessons, lab, () => {
    ofLesson = [];
    return (ids) => {
      const place = h("div", { class: "knobs within" });
      const made = mountSliders(place, (edits) => lab.edit(edits), ids);
      const { checked } = lab.get();
      if (checked) made.show(knobs(checked.values, hasLimit));
      ofLesson.push(made);
      return place;
    };
  });
}

const page = document.getElementById("page")!;
start(page).catch((error: unknown) => {
  fill(
    page,
    h(
      "main",
      { class: "missing" },
      h("h1", {}, "Ackclock playground"),
      h("p", { class: "error", role: "alert" }, error instanceof Error ? error.message : String(error)),
    ),
  );
});
