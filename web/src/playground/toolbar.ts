// Above the charts: run and stop, the times shown, and which charts, flows and link are shown.
import { colour } from "../charts/colours.ts";
import { CHARTS, onlyRun } from "../charts/curves.ts";
import { shown } from "../charts/panel.ts";
import { fill, h } from "../dom.ts";
import { FLOWS_SHOWN, type Lab, type State } from "./lab.ts";

/** Flows that have a button of their own; of more, the reader names one. */
const MOST_BUTTONS = 12;

/** Flows that a chart draws at once, as many as there are colours. */
const MOST_FLOWS = 9;

/** Mounts the bar. */
export function mountToolbar(place: HTMLElement, lab: Lab): void {
  const start = h("button", { class: "primary", on: { click: () => (lab.get().running ? lab.stop() : lab.run()) } });
  const keep = h(
    "button",
    {
      title: "Leave this run's curves in the charts, and compare the next runs with it",
      on: { click: () => lab.keep() },
    },
    "Keep this run",
  );
  const progress = h("progress", { max: 1, "aria-label": "Progress of the run" });
  const status = h("span", { class: "soft status" });
  const choices = h("div", { class: "choices" });
  const times = timeFields(lab);
  fill(place, h("div", { class: "bar" }, start, keep, status, progress, times.element), choices);

  let drawn = "";
  const show = (state: State) => {
    start.textContent = state.running ? "Stop" : "Run";
    keep.disabled = !state.current?.summary || state.kept.includes(state.current);
    progress.value = state.progress;
    progress.classList.toggle("idle", !state.running);
    if (status.textContent !== state.status) status.textContent = state.status;
    times.show(state);
    const scenario = state.current?.recording.scenario;
    const wanted = JSON.stringify([
      state.visible,
      state.choice,
      scenario?.flows,
      scenario?.links.map(({ name }) => name),
      lab.labels(),
    ]);
    if (wanted === drawn) return;
    drawn = wanted;
    fill(choices, ...choicesOf(lab, state));
  };
  lab.subscribe(show);
  show(lab.get());
}

function choicesOf(lab: Lab, state: State): HTMLElement[] {
  const { visible, choice, current } = state;
  const flows = current?.recording.scenario.flows ?? [];
  const links = current?.recording.scenario.links ?? [];
  const charts = h(
    "div",
    { class: "toggles", role: "group", "aria-label": "Charts shown" },
    CHARTS.map(({ id, short }) =>
      toggle(short, visible.includes(id), () => {
        const next = visible.includes(id) ? visible.filter((other) => other !== id) : [...visible, id];
        lab.set({ visible: next.length > 0 ? next : visible });
      }),
    ),
  );
  const found: HTMLElement[] = [charts];
  if (flows.length > 1 && flows.length <= MOST_BUTTONS) {
    const pick = (name: string) => {
      const next = choice.flows.includes(name)
        ? choice.flows.filter((other) => other !== name)
        : [...choice.flows, name];
      // In the order of the scenario, so that a flow keeps its colour when others come back.
      const ordered = flows.filter((flow) => next.includes(flow)).slice(0, MOST_FLOWS);
      if (ordered.length > 0) lab.set({ choice: { ...choice, flows: ordered } });
    };
    found.push(
      h(
        "div",
        { class: "toggles", role: "group", "aria-label": "Flows shown" },
        flows.map((name) => {
          const place = choice.flows.indexOf(name);
          return toggle(
            name,
            place >= 0,
            () => pick(name),
            place >= 0 && choice.flows.length > 1 ? colour(place) : undefined,
          );
        }),
      ),
    );
  } else if (flows.length > MOST_BUTTONS) {
    const first = flows.slice(0, FLOWS_SHOWN);
    const one = choice.flows.length === 1 ? flows.indexOf(choice.flows[0]!) : -1;
    found.push(
      select("Flow", [`The first ${first.length}`, ...flows], one + 1, (index) =>
        lab.set({ choice: { ...choice, flows: index === 0 ? first : [flows[index - 1]!] } }),
      ),
    );
  }
  const labels = lab.labels();
  const only = onlyRun(choice, labels);
  if (only !== undefined)
    found.push(select("Run shown", labels, only, (index) => lab.set({ choice: { ...choice, run: index } })));
  if (links.length > 1) {
    const names = links.map(({ name }) => name);
    found.push(
      select("Queue at", names, names.indexOf(choice.link), (index) =>
        lab.set({ choice: { ...choice, link: names[index]! } }),
      ),
    );
  }
  return found;
}

function toggle(text: string, pressed: boolean, click: () => void, tint?: string): HTMLElement {
  const swatch = h("span", { class: "swatch" });
  if (tint) swatch.style.background = tint;
  return h("button", { class: "toggle", "aria-pressed": pressed, on: { click } }, tint && swatch, text);
}

function select(label: string, names: string[], chosen: number, pick: (index: number) => void): HTMLElement {
  const element = h(
    "select",
    { on: { change: () => pick(element.selectedIndex) } },
    names.map((name) => h("option", {}, name)),
  );
  element.selectedIndex = chosen;
  return h("label", { class: "choice" }, label, element);
}

/** Two fields with the times that the charts show, and a button that shows all. */
function timeFields(lab: Lab): { element: HTMLElement; show(state: State): void } {
  const from = h("input", { type: "text", inputMode: "decimal", class: "time", "aria-label": "Charts from, seconds" });
  const to = h("input", { type: "text", inputMode: "decimal", class: "time", "aria-label": "Charts to, seconds" });
  const whole = h("button", { class: "quiet", on: { click: () => lab.set({ zoom: undefined }) } }, "Whole run");
  const read = () => {
    const duration = lab.get().current?.recording.scenario.duration ?? 0;
    const [low, high] = [Number(from.value.replace(",", ".")), Number(to.value.replace(",", "."))];
    const fits = low >= 0 && high > low && low < duration;
    lab.set({ zoom: fits && (low > 0 || high < duration) ? [low, Math.min(high, duration)] : undefined });
    show(lab.get());
  };
  from.addEventListener("change", read);
  to.addEventListener("change", read);
  function show({ zoom, current }: State): void {
    const duration = current?.recording.scenario.duration ?? 0;
    const [low, high] = zoom ?? [0, duration];
    if (!from.matches(":focus")) from.value = shown(low);
    if (!to.matches(":focus")) to.value = shown(high);
    whole.hidden = !zoom;
  }
  return {
    element: h("div", { class: "times", role: "group", "aria-label": "Times shown" }, from, "–", to, "s", whole),
    show,
  };
}
