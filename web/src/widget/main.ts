// The widget of `ackclock.widget`: the playground's sliders, menus and charts on one scenario of a notebook.
import { setDark } from "../charts/colours.ts";
import type { Chart, Drawn } from "../charts/curves.ts";
import { Charts } from "../charts/group.ts";
import { fill, h } from "../dom.ts";
import { limited } from "../playground/knobs.ts";
import { mountKept } from "../playground/keptruns.tsx";
import { makeLab, type Lab, type State } from "../playground/lab.ts";
import { type MenuGroup, mountMenus } from "../playground/menus.tsx";
import { mountNumbers } from "../playground/numbers.ts";
import { mountSliders } from "../playground/sliders.ts";
import { mountToolbar } from "../playground/toolbar.ts";
import { engines } from "./kernel.ts";
import type { Model } from "./model.ts";
import { sliders } from "./sliders.ts";
import { isDark, onTheme } from "./theme.ts";

/** The page's style for a shadow root, put here by the build. */
declare const WIDGET_STYLE: string;

const BUSY =
  "The kernel does not answer. The widget begins when no cell runs; in a saved notebook, run its cell again.";

/** Draws a view; anywidget calls it for each. Returns a function that removes it. */
async function render({ model, el }: { model: Model; el: HTMLElement }): Promise<() => void> {
  const host = h("div", { class: "ackclock-widget" });
  const root = host.attachShadow({ mode: "open" });
  const view = h("div", { class: "widget" });
  root.append(h("style", {}, WIDGET_STYLE), view);
  el.append(host);
  const theme = () => {
    const next = isDark(host) ? "dark" : "light";
    if (host.dataset["theme"] === next) return;
    host.dataset["theme"] = next;
    setDark(next === "dark");
  };
  const ends = [onTheme(host, theme)];
  fill(view, h("p", { class: "soft" }, "Waiting for the kernel …"));
  try {
    const makeEngine = await engines(model, () => fill(view, h("p", { class: "soft" }, BUSY)));
    const made: ReturnType<typeof makeEngine>[] = [];
    const lab = await makeLab(
      () => {
        const engine = makeEngine();
        made.push(engine);
        return engine;
      },
      model.get("text"),
      model.get("_options").charts as Chart["id"][],
    );
    ends.push(mount(view, lab, model), () => {
      lab.stop();
      for (const engine of made) engine.close();
    });
    host.dataset["engine"] = lab.engine.kind;
  } catch (error) {
    fill(view, h("p", { class: "error", role: "alert" }, error instanceof Error ? error.message : String(error)));
  }
  return () => {
    for (const end of ends) end();
  };
}

let views = 0;

/** Puts the parts together, and connects them with the traits. Returns a function that ends the connection. */
function mount(view: HTMLElement, lab: Lab, model: Model): () => void {
  const { sliders: wanted, menus: ids, height } = model.get("_options");
  const places = {
    sliders: h("section", { class: "card sliders knobs", "aria-label": "Path" }),
    menus: h("section", { class: "card menus", "aria-label": "Flows and queue", hidden: ids.length === 0 }),
    toolbar: h("section", { class: "toolbar", "aria-label": "Run and view" }),
    error: h("div", { class: "error", role: "alert", hidden: true }),
    kept: h("section", { class: "card kept-place", "aria-label": "Kept runs" }),
    numbers: h("section", { class: "card numbers", "aria-label": "Key numbers" }),
  };
  const charts = new Charts((zoom) => lab.set({ zoom }), `ackclock-widget-${++views}`, height ?? undefined);
  const reset = h("button", { class: "quiet", on: { click: () => lab.setText(model.get("_first")) } }, "Reset");
  const where = lab.engine.kind === "wasm" ? "Runs in this browser." : "Runs in the kernel.";
  fill(
    view,
    h("div", {}, places.sliders, places.menus, h("p", { class: "soft engine" }, where, " ", reset)),
    h("div", {}, places.toolbar, places.error, charts.element, places.kept, places.numbers),
  );
  const knobs = mountSliders(places.sliders, (edits) => lab.edit(edits));
  const menus = mountMenus(places.menus, lab.describe, groups(ids), (edits) => lab.edit(edits));
  mountToolbar(places.toolbar, lab);
  mountKept(places.kept, lab);
  mountNumbers(places.numbers, lab);

  const hasLimit = limited(lab.describe);
  const show = (state: State, before?: State) => {
    const { checked, current, kept, choice, visible, zoom } = state;
    if (checked && checked !== before?.checked) {
      knobs.show(sliders(wanted, checked.values, hasLimit));
      menus.show(checked);
      reset.disabled = checked.text === model.get("_first");
      if (checked.text !== model.get("text")) {
        model.set("text", checked.text);
        model.save_changes();
      }
    }
    if (state.error !== before?.error) {
      places.error.hidden = state.error === "";
      fill(places.error, state.error && h("pre", {}, state.error));
    }
    if (current?.summary && current !== before?.current) {
      model.set("finished", { hash: current.summary.hash, trace_hash: current.digest! });
      model.save_changes();
    }
    if (current) {
      const labels = lab.labels();
      const runs: Drawn[] = [current, ...kept].map(({ recording }, index) => ({ recording, label: labels[index]! }));
      charts.show({ runs, choice, visible, zoom });
    }
  };
  const end = lab.subscribe(show);
  show(lab.get());
  const onText = () => {
    if (model.get("text") !== lab.get().checked?.text) lab.setText(model.get("text"));
  };
  model.on("change:text", onText);
  return () => {
    end();
    model.off("change:text", onText);
  };
}

/** Menus by their headings. */
function groups(ids: string[]): MenuGroup[] {
  const [queue, flow] = [false, true].map((ofFlow) => ids.filter((id) => id.startsWith("flow.") === ofFlow));
  return [
    { title: "Queue", ids: queue! },
    { title: "Flow", ids: flow! },
  ].filter(({ ids }) => ids.length > 0);
}

export default { render };
