// The menus: hosts and algorithms of a flow, and the queue. Their options come from the engine's registry.
import { fill, h } from "../dom.ts";
import {
  choose,
  type Menu,
  type MenuState,
  options,
  type Parameter,
  setParameter,
  stateOf,
} from "../scenario/options.ts";
import { flowsOf } from "../scenario/state.ts";
import { isTable, read, type Table, type Value } from "../scenario/toml.ts";
import type { Lab, State } from "./lab.ts";

/** Keys with a menu, in this order. All others are in the text, where the editor completes them. */
const OF_FLOW = [
  "host",
  "congestion_control",
  "initial_window",
  "slow_start",
  "avoidance",
  "loss_response",
  "recovery",
  "ecn",
].map((key) => `flow.${key}`);
const OF_QUEUE = ["topology.bottleneck.queue"];

/** Titles that the key's name does not give. */
const TITLES: { [id: string]: string } = { "flow.ecn": "ECN", "topology.bottleneck.queue": "Discipline" };

/** Mounts the menus. */
export function mountMenus(place: HTMLElement, lab: Lab): void {
  const all = options(lab.describe);
  const flow = OF_FLOW.flatMap((id) => all.find((menu) => menu.id === id) ?? []);
  const queue = OF_QUEUE.flatMap((id) => all.find((menu) => menu.id === id) ?? []);
  const rows = new Map<string, MenuRow>();
  const tabs = h("div", { class: "toggles", role: "group", "aria-label": "Flow that the menus change" });
  const about = h("p", { class: "soft small" });
  const rowOf = (menu: Menu) => {
    let row = rows.get(menu.id);
    if (!row) {
      row = menuRow(menu, lab, () => (menu.path[0] === "flow" ? chosen : 0));
      rows.set(menu.id, row);
    }
    return row;
  };
  let chosen = 0;
  fill(
    place,
    h("h2", {}, "Queue"),
    queue.map((menu) => rowOf(menu).element),
    h("h2", {}, "Flow"),
    tabs,
    about,
    flow.map((menu) => rowOf(menu).element),
  );

  function show(state: State): void {
    if (!state.checked) return;
    const { values, frozen } = state.checked;
    const flows = flowsOf(values);
    chosen = Math.min(chosen, flows.length - 1);
    tabs.hidden = flows.length < 2;
    fill(
      tabs,
      flows.map((table, index) =>
        h(
          "button",
          {
            class: "toggle",
            "aria-pressed": index === chosen,
            on: {
              click() {
                chosen = index;
                show(lab.get());
              },
            },
          },
          nameOf(table, index),
        ),
      ),
    );
    about.textContent =
      flows.length === 1 && isTable(flows[0]) && flows[0]["count"] ? `${flows[0]["count"]} equal flows` : "";
    about.hidden = about.textContent === "";
    const reading = { values, frozen: read(frozen).values };
    for (const menu of [...queue, ...flow]) {
      rowOf(menu).show(stateOf(menu, lab.describe, reading, menu.path[0] === "flow" ? chosen : 0), values);
    }
  }
  lab.subscribe((state, before) => {
    if (state.checked !== before.checked) show(state);
  });
  show(lab.get());
}

function nameOf(flow: Value, index: number): string {
  return isTable(flow) && typeof flow["name"] === "string" ? flow["name"] : `flow${index}`;
}

interface MenuRow {
  element: HTMLElement;
  show(state: MenuState | null, values: Table): void;
}

function menuRow(menu: Menu, lab: Lab, index: () => number): MenuRow {
  const select = h(
    "select",
    {},
    menu.options.map((option) => h("option", { value: option.name, title: option.summary }, option.title)),
  );
  const name = TITLES[menu.id] ?? menu.title;
  const unset = h("option", { value: "" });
  const reason = h("p", { class: "reason" });
  const fields = h("div", { class: "parameters" });
  const about = h("p", { class: "soft small" });
  const details = h(
    "div",
    { class: "details", id: `settings-${menu.id.replaceAll(".", "-")}`, hidden: true },
    about,
    fields,
  );
  const more = h(
    "button",
    {
      class: "more",
      "aria-controls": details.id,
      "aria-expanded": false,
      on: {
        click() {
          details.hidden = !details.hidden;
          more.setAttribute("aria-expanded", String(!details.hidden));
        },
      },
    },
    "⋯",
  );
  const element = h("div", { class: "menu" }, h("label", {}, h("span", {}, name), select), more, reason, details);
  let now: MenuState | null = null;
  let document_: Table = {};
  let drawn = "";

  select.addEventListener("change", () =>
    lab.edit(choose(menu, select.value || null, lab.describe, document_, index())),
  );

  function set(parameter: Parameter, value: unknown): void {
    if (now) lab.edit(setParameter(menu, now, parameter.name, value, lab.describe, document_));
  }

  return {
    element,
    show(state, values) {
      now = state;
      document_ = values;
      element.hidden = state === null;
      if (!state) return;
      // Without the key there is nothing to choose back to, unless the menu has no default.
      unset.textContent = state.option || !state.written ? "Not set" : "As in the text";
      if (state.option && menu.default !== undefined) unset.remove();
      else select.prepend(unset);
      select.value = state.option?.name ?? "";
      select.disabled = state.unused !== null;
      select.title = state.option?.summary ?? menu.summary;
      reason.textContent = state.unused ? `Without effect: ${state.unused}.` : "";
      const { option } = state;
      const settings = option !== null && option.parameters.length > 0;
      more.disabled = state.unused !== null || !option || (!settings && option.summary === "");
      more.title = settings ? `Settings of ${option.title}` : `About ${option?.title ?? name}`;
      more.setAttribute("aria-label", more.title);
      more.classList.toggle("settings", settings);
      if (more.disabled) details.hidden = true;
      about.textContent = option ? [sentence(option.summary), option.reference].filter(Boolean).join(" ") : "";
      const wanted = JSON.stringify([
        option?.name,
        state.parameters.map(({ value, written }) => [value, written]),
        index(),
      ]);
      if (wanted === drawn || fields.querySelector(":focus")) return;
      drawn = wanted;
      fill(
        fields,
        state.parameters.map(({ parameter, value, written }) =>
          parameterRow(parameter, value, written, (next) => set(parameter, next)),
        ),
      );
    },
  };
}

function sentence(text: string): string {
  return text && `${text.charAt(0).toUpperCase()}${text.slice(1)}.`.replace(/\.\.$/, ".");
}

/** A field for a parameter; an empty text returns to the default. */
function parameterRow(
  parameter: Parameter,
  value: unknown,
  written: boolean,
  set: (value: unknown) => void,
): HTMLElement {
  const { name, doc, kind, unit, words } = parameter;
  const label = name.replaceAll("_", " ");
  const help = `${sentence(doc)}${parameter.default === undefined ? "" : ` Default: ${parameter.default}.`}`;
  if (kind === "flag") {
    const box = h("input", { type: "checkbox", checked: value === true, on: { change: () => set(box.checked) } });
    return h("label", { class: "parameter", title: help }, h("span", {}, label), box);
  }
  if (kind === "word") {
    const menu = h(
      "select",
      { on: { change: () => set(words.find((word) => String(word) === menu.value)) } },
      words.map((word) => h("option", { value: String(word) }, String(word).replaceAll("_", " "))),
    );
    menu.value = String(value);
    return h("label", { class: "parameter", title: help }, h("span", {}, label), menu);
  }
  const field = h("input", {
    type: "text",
    value: value === undefined ? "" : kind === "list" ? JSON.stringify(value) : String(value),
    placeholder: parameter.default === undefined ? "" : String(parameter.default),
    autocomplete: "off",
    spellcheck: false,
    class: written ? "quantity" : "quantity soft",
    on: {
      change() {
        const text = field.value.trim();
        const bare = Number(text);
        if (text === "") set(null);
        else if (kind === "number" || kind === "integer") set(Number.isFinite(bare) ? bare : text);
        else if (kind === "list") set(read(`value = ${text}`).values["value"] ?? text);
        else if (kind === "quantity" && Number.isFinite(bare) && unit) set(`${text} ${unit}`);
        else set(text);
      },
    },
  });
  return h("label", { class: "parameter", title: help }, h("span", {}, label), field);
}
