// The menus: hosts and algorithms of a flow, and the queue. Their options come from the engine's registry.
import { fill, h } from "../dom.ts";
import type { CheckAnswer, Describe, Edit } from "../engine/protocol.ts";
import {
  choose,
  type Menu,
  type MenuState,
  options,
  type Parameter,
  setParameter,
  stateOf,
} from "../scenario/options.ts";
import { decode, flowsOf, parametersIn } from "../scenario/state.ts";
import { isTable, read, type Table, type Value } from "../scenario/toml.ts";

/** Menus under a heading, by the ids that `options` gives. */
export interface MenuGroup {
  title: string;
  ids: string[];
}

/** Keys with a menu in the playground. All others are in the text, where the editor completes them. */
export const PLAYGROUND: MenuGroup[] = [
  { title: "Queue", ids: ["topology.bottleneck.queue"] },
  {
    title: "Flow",
    ids: [
      "host",
      "congestion_control",
      "initial_window",
      "slow_start",
      "avoidance",
      "loss_response",
      "recovery",
      "ecn",
    ].map((key) => `flow.${key}`),
  },
];

/** Flows that have a button of their own; more are in a list. */
const MOST_BUTTONS = 12;

/** Titles that the key's name does not give. */
const TITLES: { [id: string]: string } = { "flow.ecn": "ECN", "topology.bottleneck.queue": "Discipline" };

/** What the menus read: the document, and the TOML with every default, both from `check`. */
export type Checked = Pick<CheckAnswer, "values" | "frozen">;

/** Mounts menus. `onEdit` gets the edits of the scenario that a choice means; with `onAdd`, flows can be added and removed. */
export function mountMenus(
  place: HTMLElement,
  describe: Describe,
  groups: MenuGroup[],
  onEdit: (edits: Edit[]) => void,
  onAdd?: () => void,
): { show(checked: Checked): void } {
  const all = options(describe);
  const tabs = h("div", { class: "toggles", role: "group", "aria-label": "Flow that the menus change" });
  const about = h("p", { class: "soft small" });
  let chosen = 0;
  const rows: { menu: Menu; row: MenuRow }[] = [];
  const headings: { heading: HTMLElement; rows: MenuRow[] }[] = [];
  fill(
    place,
    groups.flatMap(({ title, ids }) => {
      const made = ids.flatMap((id) => {
        const menu = all.find((known) => known.id === id);
        return menu ? { menu, row: menuRow(menu, describe, onEdit, () => (menu.path[0] === "flow" ? chosen : 0)) } : [];
      });
      rows.push(...made);
      const ofFlows = made.some(({ menu }) => menu.path[0] === "flow");
      const heading = h("h2", {}, title);
      headings.push({ heading, rows: made.map(({ row }) => row) });
      return [heading, ...(ofFlows ? [tabs, about] : []), ...made.map(({ row }) => row.element)];
    }),
  );

  function show({ values, frozen }: Checked): void {
    const flows = flowsOf(values);
    chosen = Math.max(0, Math.min(chosen, flows.length - 1));
    tabs.hidden = flows.length < 2 && !onAdd;
    const focused = tabs.querySelector(":focus") !== null;
    const names = flows.map(nameOf);
    const turn = (index: number) => {
      chosen = index;
      show({ values, frozen });
    };
    const list = h(
      "select",
      { "aria-label": "Flow", on: { change: () => turn(list.selectedIndex) } },
      names.map((name) => h("option", {}, name)),
    );
    list.selectedIndex = chosen;
    const listed = flows.length > MOST_BUTTONS;
    fill(
      tabs,
      listed
        ? list
        : names.map((name, index) =>
            h("button", { class: "toggle", "aria-pressed": index === chosen, on: { click: () => turn(index) } }, name),
          ),
      onAdd &&
        h("button", { class: "toggle", title: "Add a flow", "aria-label": "Add a flow", on: { click: onAdd } }, "+"),
      onAdd &&
        flows.length > 1 &&
        h(
          "button",
          {
            class: "toggle",
            title: "Remove this flow",
            "aria-label": `Remove ${nameOf(flows[chosen]!, chosen)}`,
            on: { click: () => onEdit([[`flow.${chosen}`, null]]) },
          },
          "−",
        ),
    );
    if (focused) (tabs.children[listed ? 0 : chosen] as HTMLElement | undefined)?.focus();
    const flow = flows[chosen];
    const count = isTable(flow) ? flow["count"] : undefined;
    about.textContent = count ? `${count} equal flows` : "";
    about.hidden = !count;
    const reading = { values, frozen: read(frozen).values };
    for (const { menu, row } of rows) {
      row.show(stateOf(menu, describe, reading, menu.path[0] === "flow" ? chosen : 0), values);
    }
    for (const { heading, rows } of headings) heading.hidden = rows.every(({ element }) => element.hidden);
  }
  return { show };
}

function nameOf(flow: Value, index: number): string {
  return isTable(flow) && typeof flow["name"] === "string" ? flow["name"] : `flow${index}`;
}

interface MenuRow {
  element: HTMLElement;
  show(state: MenuState | null, values: Table): void;
}

let made = 0;

function menuRow(menu: Menu, describe: Describe, onEdit: (edits: Edit[]) => void, index: () => number): MenuRow {
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
  const details = h("div", { class: "details", id: `settings-${++made}`, hidden: true }, about, fields);
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

  select.addEventListener("change", () => onEdit(choose(menu, select.value || null, describe, document_, index())));

  function set(parameter: Parameter, value: unknown): void {
    if (now) onEdit(setParameter(menu, now, parameter.name, value, describe, document_));
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
          parameterRow(parameter, value, written, (next) => set(parameter, next), describe),
        ),
      );
    },
  };
}

function sentence(text: string): string {
  return text && `${text.charAt(0).toUpperCase()}${text.slice(1)}.`.replace(/\.\.$/, ".");
}

/** The menu of a part inside a part, with the fields of its own parameters. */
function partRows(
  menu: Menu,
  doc: string,
  value: unknown,
  set: (value: unknown) => void,
  describe: Describe,
): HTMLElement {
  const { option, given } = decode(menu, value, describe);
  const select = h(
    "select",
    { on: { change: () => set(select.value) } },
    menu.options.map((known) => h("option", { value: known.name, title: known.summary }, known.title)),
  );
  select.value = option?.name ?? "";
  const rows = parametersIn(option, given).map(({ parameter, value, written }) =>
    parameterRow(
      parameter,
      value,
      written,
      (next) => {
        const { [parameter.name]: _, ...rest } = given;
        set({ kind: option?.name, ...rest, ...(next === null ? {} : { [parameter.name]: next }) });
      },
      describe,
    ),
  );
  const label = h("label", { class: "parameter", title: sentence(doc) }, h("span", {}, menu.title), select);
  return h("div", { class: "inside" }, label, ...rows);
}

/** A field for a parameter; an empty text returns to the default. */
function parameterRow(
  parameter: Parameter,
  value: unknown,
  written: boolean,
  set: (value: unknown) => void,
  describe: Describe,
): HTMLElement {
  const { name, doc, kind, unit, words } = parameter;
  const menu = parameter.inside?.();
  if (menu) return partRows(menu, doc, value, set, describe);
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
