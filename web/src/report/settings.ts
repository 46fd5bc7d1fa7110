// The fields of "Run this again with …": the axes of a scenario in short form, and any further key.
import { h } from "../dom.ts";
import type { Describe, ScenarioInfo } from "../engine/protocol.ts";
import { parse } from "../playground/quantity.ts";
import { type Frozen, plain, within } from "./frozen.ts";

export type Settings = [key: string, value: string][];

/** What a cell has; the fields show it. */
export interface Given {
  frozen: Frozen;
  info: ScenarioInfo;
  /** Round-trip time without queues, in seconds. */
  rtt: number | null;
}

/** A field: its label, what the cell has, and the settings of what was typed. */
interface Field {
  label: string;
  hint: string;
  /** The values that can be chosen; without them, it is typed. */
  choices?: (describe: Describe) => string[];
  given(cell: Given): string;
  settings(value: string, cell: Given): Settings;
}

/** Position of the slowest link of the first flow, and of the link in the other direction (-1 if there is none). */
function bottleneck({ frozen, info }: Given): [link: number, back: number] {
  const at = info.links.findIndex((link) => link.name === String(info.bottleneck));
  const link = frozen.links[at];
  const back = frozen.links.findIndex((other) => link && other["from"] === link["to"] && other["to"] === link["from"]);
  return [at, back];
}

const written = (cell: Given, key: string) => cell.frozen.links[bottleneck(cell)[0]]?.[key];
const linkKey = (at: number, key: string) => `topology.link.${at}.${key}`;
const quoted = (text: string) => JSON.stringify(text);

const ofFlows = (axis: string, label: string): Field => ({
  label,
  hint: "of every flow that is composed of parts",
  choices: (describe) => (describe.parts[axis] ?? []).map((part) => part.name),
  given: ({ frozen }) => {
    const names = new Set(frozen.flows.filter((flow) => axis in flow).map((flow) => within(flow[axis], "kind") ?? ""));
    return names.size > 1 ? "several" : ([...names][0] ?? "none");
  },
  // A whole control has no parts.
  settings: (value, { frozen }) =>
    frozen.flows.flatMap((flow, at): Settings => (axis in flow ? [[`flow.${at}.${axis}`, value]] : [])),
});

const FIELDS: Field[] = [
  {
    label: "Seed",
    hint: "a whole number",
    given: ({ frozen }) => frozen.top["seed"] ?? "",
    settings: (value) => [["seed", value]],
  },
  {
    label: "Rate",
    hint: "of the slowest link, both ways, such as 5 Mbit/s",
    given: (cell) => plain(written(cell, "rate")),
    settings: (value, cell) =>
      bottleneck(cell)
        .filter((at) => at >= 0)
        .map((at) => [linkKey(at, "rate"), value]),
  },
  {
    label: "RTT",
    hint: "round-trip time without queues, such as 40 ms; the slowest link's delay changes",
    given: ({ rtt }) => (rtt === null ? "" : `${Number((rtt * 1e3).toPrecision(4))} ms`),
    settings: (value, cell) => {
      const wanted = parse(value, ["time"])?.value;
      const links = bottleneck(cell).filter((at) => at >= 0);
      if (wanted === undefined || cell.rtt === null)
        throw new Error(`RTT: ${quoted(value)} is no time such as "40 ms"`);
      return links.map((at) => {
        const delay = cell.info.links[at]!.delay + (wanted - cell.rtt!) / links.length;
        if (delay < 0) {
          const least = cell.rtt! - links.reduce((total, link) => total + cell.info.links[link]!.delay, 0);
          throw new Error(`RTT: the other links alone take ${Number((least * 1e3).toPrecision(4))} ms`);
        }
        return [linkKey(at, "delay"), `${Math.round(delay * 1e9)} ns`];
      });
    },
  },
  {
    label: "Buffer",
    hint: "limit of the slowest link's queue, such as 20 packets",
    given: (cell) => within(written(cell, "queue"), "limit") ?? plain(written(cell, "queue")),
    settings: (value, cell) => {
      const [at] = bottleneck(cell);
      if (at < 0) return [];
      const has = within(written(cell, "queue"), "limit") !== undefined;
      return has
        ? [[linkKey(at, "queue.limit"), value]]
        : [[linkKey(at, "queue"), `{ kind = "droptail", limit = ${quoted(value)} }`]];
    },
  },
  {
    label: "Loss",
    hint: "random loss on the slowest link, such as 1 %",
    given: (cell) => {
      const loss = written(cell, "loss");
      return within(loss, "rate") ?? within(loss, "kind") ?? "";
    },
    settings: (value, cell) => {
      const [at] = bottleneck(cell);
      const share = /^\s*([\d.]+)\s*%\s*$/.exec(value)?.[1];
      if (share === undefined) throw new Error(`Loss: ${quoted(value)} is no percentage such as "1 %"`);
      return at < 0 ? [] : [[linkKey(at, "loss"), `{ kind = "bernoulli", rate = ${quoted(`${share} %`)} }`]];
    },
  },
  ofFlows("initial_window", "Initial window"),
  ofFlows("slow_start", "Slow start"),
  ofFlows("avoidance", "Avoidance"),
  ofFlows("loss_response", "Loss response"),
];

/** The form. `read` throws an error with one sentence about a value that makes no sense. */
export interface Form {
  element: HTMLElement;
  show(cell: Given): void;
  read(): { settings: Settings; said: string };
  reset(): void;
}

let forms = 0;

/** Makes the form. */
export function settingsForm(describe: Describe): Form {
  const id = `again-${forms++}`;
  let cell: Given | undefined;
  const inputs = FIELDS.map((field) => {
    if (!field.choices) return h("input", { type: "text", spellcheck: false, autocomplete: "off" });
    const options = field.choices(describe).map((name) => h("option", { value: name }, name));
    return h("select", {}, h("option", { value: "" }, "as stored"), options);
  });
  const fields = FIELDS.map((field, at) => {
    inputs[at]!.title = field.hint;
    return h("label", {}, h("span", {}, field.label), inputs[at]!);
  });
  const keys = h("datalist", { id: `${id}-keys` });
  const rows = h("div", { class: "again-rows" });
  const addRow = () => {
    const key = h("input", { type: "text", spellcheck: false, placeholder: "key", "aria-label": "Key" });
    key.setAttribute("list", keys.id);
    const value = h("input", { type: "text", spellcheck: false, placeholder: "value", "aria-label": "Value" });
    rows.append(h("div", { class: "again-row" }, key, h("span", {}, "="), value));
  };
  addRow();
  const more = h("button", { type: "button", class: "again-more", on: { click: addRow } }, "Another key");
  const element = h("div", {}, h("div", { class: "again-fields" }, fields), keys, rows, more);
  return {
    element,
    show(given) {
      cell = given;
      inputs.forEach((input, at) => {
        const has = FIELDS[at]!.given(given);
        if (input instanceof HTMLInputElement) input.placeholder = has;
        else {
          input.options[0]!.textContent = has === "none" ? "none" : `${has || "as stored"} (stored)`;
          input.disabled = has === "none";
        }
      });
      keys.replaceChildren(...keysOf(describe, given).map((key) => h("option", { value: key })));
    },
    read() {
      const settings: Settings = [];
      const said: string[] = [];
      inputs.forEach((input, at) => {
        const value = input.value.trim();
        if (!value || !cell) return;
        settings.push(...FIELDS[at]!.settings(value, cell));
        said.push(`${FIELDS[at]!.label.toLowerCase().replace("rtt", "RTT")} ${value}`);
      });
      for (const row of rows.children) {
        const [key, value] = [...row.querySelectorAll("input")].map((input) => input.value.trim());
        if (!key && !value) continue;
        if (!key || !value) throw new Error(key ? `${key}: a value is missing` : `${value}: its key is missing`);
        settings.push([key, value]);
        said.push(`${key} = ${value}`);
      }
      return { settings, said: said.join(", ") };
    },
    reset() {
      for (const input of inputs) input.value = "";
      rows.replaceChildren();
      addRow();
    },
  };
}

/** Keys of the scenario, and those that its flows can have. */
function keysOf(describe: Describe, { frozen }: Given): string[] {
  const tables = (name: string, written: { [key: string]: string }[]) =>
    written.flatMap((table, at) => Object.keys(table).map((key) => `${name}.${at}.${key}`));
  const parameters = ["initial_window", "slow_start", "avoidance", "loss_response"].flatMap((axis) =>
    (describe.parts[axis] ?? [])
      .filter((part) => frozen.flows.some((own) => within(own[axis], "kind") === part.name))
      .flatMap((part) => ((part["params"] ?? []) as { name: string }[]).map(({ name }) => `flow.${axis}.${name}`)),
  );
  const all = [...Object.keys(frozen.top), ...parameters, ...tables("flow", frozen.flows)];
  return [...new Set([...all, ...tables("topology.link", frozen.links)])].filter((key) => key !== "name");
}
