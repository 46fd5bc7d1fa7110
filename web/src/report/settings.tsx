// The fields of "Run this again with …": the axes of a scenario in short form, and any further key.
import type { JSX } from "preact";
import { Labelled, type Option, Select } from "../controls.tsx";
import type { CheckAnswer, Describe } from "../engine/protocol.ts";
import { parse } from "../playground/quantity.ts";
import { flowsOf } from "../scenario/state.ts";
import { isTable, type Table, type Value, valueAt } from "../scenario/toml.ts";

export type Settings = [key: string, value: string][];

/** What a cell has; the fields show it. */
export interface Given extends Pick<CheckAnswer, "values" | "scenario"> {
  /** Round-trip time without queues, in seconds. */
  rtt: number | null;
}

/** A field: its label, what the cell has, and the settings of what was typed. */
interface Field {
  label: string;
  hint: string;
  /** The axis whose parts can be chosen; without it, a value is typed. */
  axis?: string;
  given(cell: Given): string;
  settings(value: string, cell: Given): Settings;
}

const links = ({ values }: Given): Table[] =>
  ((valueAt(values, ["topology", "link"]) ?? []) as Value[]).filter(isTable);
const text = (value: Value | undefined): string => (value === undefined || isTable(value) ? "" : String(value));
const milliseconds = (seconds: number): string => `${Number((seconds * 1e3).toPrecision(4))} ms`;

/** Places of the slowest link of the first flow and of the one in the other direction, if they exist. */
function bottleneck(cell: Given): number[] {
  const all = links(cell);
  const at = cell.scenario.links.findIndex(({ name }) => name === cell.scenario.bottleneck);
  const back = all.findIndex(({ from, to }) => from === all[at]?.["to"] && to === all[at]?.["from"]);
  return [at, back].filter((place) => place >= 0);
}

/** A key of the slowest link; of a part there, a parameter. */
function ofLink(label: string, hint: string, key: string, parameter?: string): Field {
  const part = (cell: Given): Value | undefined => links(cell)[bottleneck(cell)[0] ?? -1]?.[key];
  const within = (cell: Given): Value | undefined => valueAt(part(cell), [parameter ?? ""]);
  return {
    label,
    hint,
    given: (cell) => text(within(cell) ?? valueAt(part(cell), ["kind"]) ?? part(cell)),
    settings: (value, cell) =>
      bottleneck(cell)
        .slice(0, parameter ? 1 : 2)
        .map((at) => [`topology.link.${at}.${key}${within(cell) === undefined ? "" : `.${parameter}`}`, value]),
  };
}

/** A part of the flows; a whole control has none. */
function ofFlows(label: string, axis: string): Field {
  const parts = ({ values }: Given) =>
    flowsOf(values).flatMap((flow, at) => (isTable(flow) && axis in flow ? [{ at, part: flow[axis] }] : []));
  return {
    label,
    hint: "of every flow that is composed of parts",
    axis,
    given: (cell) => {
      const names = new Set(parts(cell).map(({ part }) => text(valueAt(part, ["kind"]) ?? part)));
      return names.size > 1 ? "several" : ([...names][0] ?? "none");
    },
    settings: (value, cell) => parts(cell).map(({ at }) => [`flow.${at}.${axis}`, value]),
  };
}

const FIELDS: Field[] = [
  {
    label: "Seed",
    hint: "a whole number",
    given: ({ values }) => text(values["seed"]),
    settings: (value) => [["seed", value]],
  },
  ofLink("Rate", "of the slowest link, both ways, such as 5 Mbit/s", "rate"),
  {
    label: "RTT",
    hint: "round-trip time without queues, such as 40 ms; the slowest link's delay changes",
    given: ({ rtt }) => (rtt === null ? "" : milliseconds(rtt)),
    settings: (value, cell) => {
      const wanted = parse(value, ["time"])?.value;
      const { rtt, scenario } = cell;
      if (wanted === undefined || rtt === null) throw new Error(`RTT: "${value}" is no time such as "40 ms"`);
      const places = bottleneck(cell);
      const least = places.reduce((total, at) => total - scenario.links[at]!.delay, rtt);
      return places.map((at) => {
        const delay = scenario.links[at]!.delay + (wanted - rtt) / places.length;
        if (delay < 0) throw new Error(`RTT: the other links alone take ${milliseconds(least)}`);
        return [`topology.link.${at}.delay`, `${Math.round(delay * 1e9)} ns`];
      });
    },
  },
  ofLink("Buffer", "limit of the slowest link's queue, such as 20 packets", "queue", "limit"),
  ofLink("Loss", "random loss on the slowest link, such as 1 %", "loss", "rate"),
  ofFlows("Initial window", "initial_window"),
  ofFlows("Slow start", "slow_start"),
  ofFlows("Avoidance", "avoidance"),
  ofFlows("Loss response", "loss_response"),
];

const PLAIN = { spellcheck: false, autocomplete: "off" } as const;

/** The fields of a form that `settingsOf` reads; they show what a cell has, once it is known. */
export function SettingFields({ describe, given }: { describe: Describe; given: Given | undefined }): JSX.Element {
  const fields = FIELDS.map(({ label, hint: title, axis, ...field }) => {
    const has = given && field.given(given);
    const stored = has === undefined ? "as stored" : has === "none" ? has : `${has} (stored)`;
    const options: Option[] = [["", stored], ...(describe.parts[axis ?? ""] ?? []).map(({ name }) => name)];
    const common = { title, name: label };
    const menu = <Select {...common} options={options} disabled={has === "none"} />;
    const control = axis ? menu : <input type="text" {...PLAIN} {...common} placeholder={has ?? ""} />;
    return <Labelled label={label} children={control} />;
  });
  return (
    <>
      {fields}
      <Labelled label="Other keys, one in each line" class="again-other">
        <textarea name="other" rows={1} {...PLAIN} placeholder="flow.rwnd = 20 packets" />
      </Labelled>
    </>
  );
}

/** The settings of what was typed, and what they say; throws an error with one sentence about a value that makes no sense. */
export function settingsOf(form: FormData, cell: Given): { settings: Settings; said: string } {
  const value = (name: string) => String(form.get(name) ?? "").trim();
  const typed = FIELDS.map((field) => ({ field, value: value(field.label) })).filter(({ value }) => value);
  const lines = value("other")
    .split(/\s*\n\s*/)
    .filter(Boolean);
  const words = typed.map(({ field: { label }, value }) => `${label === "RTT" ? label : label.toLowerCase()} ${value}`);
  return {
    settings: [...typed.flatMap(({ field, value }) => field.settings(value, cell)), ...lines.map(settingOf)],
    said: [...words, ...lines].join(", "),
  };
}

function settingOf(line: string): [key: string, value: string] {
  const [, key, value] = /^\s*([^=]+?)\s*=\s*(.+?)\s*$/.exec(line) ?? [];
  if (!key || !value) throw new Error(`${line}: this is no setting such as "flow.rwnd = 20 packets"`);
  return [key, value];
}
