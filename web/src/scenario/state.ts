// The value that a scenario has for a menu, in whichever of its several forms the file writes it.

import type { Describe } from "./describe.ts";
import { fileKey, flowKey } from "./keys.ts";
import type { Menu, Option, Parameter, Pattern } from "./menus.ts";
import { schemaAt } from "./schema.ts";
import { isTable, type Path, type Table, type Value, valueAt } from "./toml.ts";

/** What a menu shows. */
export interface MenuState {
  /** Where the document has the key, or would have it. */
  path: Path;
  /** The option in force, and `null` if no option is (then `check` reports why). */
  option: Option | null;
  /** Whether the file sets it; otherwise it is a default, also that of a preset of hosts. */
  written: boolean;
  /** Values of the option's parameters as in the file or, `written` false, their defaults. */
  parameters: { parameter: Parameter; value: unknown; written: boolean }[];
  /** Why the key has no effect here; `null` if it has. */
  unused: string | null;
}

/** What a document says: its values as written, and with every default (the TOML `frozen` of `check`, read), if it is sound. */
export interface Reading {
  values: Table;
  frozen: Table | null;
}

/** The path of `pattern` in a document: with `index` where it has a list of tables, without an index where it has a single table. */
export function place(pattern: Pattern, values: Table, index: number): Path {
  const path: Path = [];
  for (const step of pattern) {
    if (step !== null) path.push(step);
    else if (Array.isArray(valueAt(values, path))) path.push(index);
  }
  return path;
}

/** The option and the parameters that `value` stands for, as the keys of a table. */
export function decode(
  menu: Menu,
  value: unknown,
  describe: Describe,
): { option: Option | null; given: Record<string, unknown> } {
  const named = (name: unknown): Option | null => menu.options.find((option) => option.name === String(name)) ?? null;
  if (isTable(value as Value)) {
    const { kind, ...given } = value as Table;
    return { option: named(kind ?? usual(menu, describe)), given };
  }
  const option = named(typeof value === "string" ? value.trim() : value);
  if (option || typeof value !== "string") return { option, given: {} };
  const short = shorthand(menu, describe);
  if (!short || !/^[\d.+-]/.test(value.trim())) return { option: null, given: {} };
  return { option: named(short.part), given: { [short.parameter]: value } };
}

/** The part and the parameter that a quantity alone stands for. */
export function shorthand(menu: Menu, describe: Describe): { part: string; parameter: string } | null {
  if (menu.axis) return describe.relations.axes[menu.axis]?.shorthand ?? null;
  if (menu.form !== "table") return null;
  const fixed = menu.options.find((option) => option.name === describe.relations.drawn);
  const mean = fixed?.parameters[0];
  return fixed && mean ? { part: fixed.name, parameter: mean.name } : null;
}

/** The kind of a table that does not name its own. */
function usual(menu: Menu, describe: Describe): string | undefined {
  if (menu.axis) return describe.relations.axes[menu.axis]?.usual;
  return menu.usual ?? undefined;
}

/** The state of `menu` for the flow or link `index`, or `null` if the document has no place for its key. */
export function stateOf(menu: Menu, describe: Describe, reading: Reading, index = 0): MenuState | null {
  const { values } = reading;
  const path = place(menu.path, values, index);
  if (!hasPlace(path, describe, values)) return null;
  const value = valueAt(values, path);
  const written = value !== undefined;
  const { option, given } = decode(menu, written ? value : fallback(menu, reading, index), describe);
  const parameters = parametersIn(option, given).map((state) => ({ ...state, written: written && state.written }));
  return { path, option, written, parameters, unused: unusedBecause(path, reading, index, describe) };
}

/** The values of an option's parameters: those `given`, otherwise the defaults. */
export function parametersIn(option: Option | null, given: Record<string, unknown>): MenuState["parameters"] {
  return (option?.parameters ?? []).map((parameter) => {
    const written = Object.hasOwn(given, parameter.name);
    return { parameter, value: written ? given[parameter.name] : parameter.default, written };
  });
}

/** Whether a document can have the key at `path` as it is: every table above is written, or exists by default. */
function hasPlace(path: Path, describe: Describe, values: Table): boolean {
  const above = path.map((_, count) => path.slice(0, count)).slice(1);
  const exists = (at: Path) =>
    valueAt(values, at) !== undefined || schemaAt(describe.schema, at, values)?.default !== undefined;
  const listed = path[0] === fileKey("topology") && describe.relations.listed.includes(String(path[1]));
  if (listed && valueAt(values, ["topology", "links"]) !== undefined) return false;
  return schemaAt(describe.schema, path, values) !== undefined && above.every(exists);
}

/** The value of a key that the file does not set: of a flow that in the frozen scenario, otherwise the default of the schema. */
function fallback(menu: Menu, reading: Reading, index: number): unknown {
  if (menu.path[0] === fileKey("flow")) {
    const flow = frozenFlow(reading, index);
    const rest = menu.path.slice(1).filter((step) => step !== null);
    const value = flow && valueAt(flow, rest);
    if (value !== undefined) return value;
  }
  // A table with its defaults is of the usual kind.
  return menu.default;
}

/** The first frozen flow of the table `index` of the document; `undefined` if their numbers cannot be matched. */
function frozenFlow({ values, frozen }: Reading, index: number): Value | undefined {
  const tables = flowsOf(values);
  const flows = frozen?.[fileKey("flow")];
  if (!Array.isArray(flows)) return undefined;
  const before = tables.slice(0, index);
  const simple = (flow: Value) => isTable(flow) && !(flowKey("arrivals") in flow) && !(flowKey("application") in flow);
  if (!before.every(simple)) return tables.length === 1 ? flows[0] : undefined;
  const start = before.reduce((sum: number, flow) => sum + Number((isTable(flow) && flow[flowKey("count")]) || 1), 0);
  return flows[start];
}

/** The tables of the document's flows. */
export function flowsOf(values: Table): Value[] {
  const flow = values[fileKey("flow")];
  return Array.isArray(flow) ? flow : flow === undefined ? [] : [flow];
}

/** The profile of hosts that a flow has. */
export function profileOf(flow: Value | undefined): string {
  if (!isTable(flow)) return "";
  const profile = flow[flowKey("profile")];
  if (typeof profile === "string") return profile.trim();
  if (isTable(profile) && typeof profile["kind"] === "string") return profile["kind"];
  return flow[flowKey("host")] === undefined ? "" : "modern";
}

/** Whether a flow has a whole congestion control: its name, or `null`. */
export function wholeControl(flow: Value | undefined, describe: Describe): string | null {
  const axis = describe.relations.axes[flowKey("congestion_control")];
  const value = isTable(flow) ? flow[flowKey("congestion_control")] : undefined;
  if (value === undefined || value === axis?.none) return null;
  return typeof value === "string" ? value.trim() : String((isTable(value) && value["kind"]) || axis?.usual);
}

function unusedBecause(path: Path, { values }: Reading, index: number, describe: Describe): string | null {
  if (path[0] !== fileKey("flow")) return null;
  const flow = flowsOf(values)[index];
  const key = path.slice(1).find((step) => typeof step === "string") ?? "";
  const whole = wholeControl(flow, describe);
  if (whole && describe.relations.replaced.includes(String(key))) return `${whole} replaces it`;
  const profile = profileOf(flow) || String(schemaDefault(describe, flowKey("profile")));
  for (const [owner, keys] of Object.entries(describe.relations.profiles)) {
    // Choosing a preset also chooses its profile.
    if (owner !== profile && keys.includes(String(key)) && key !== flowKey("host"))
      return `only hosts of profile ${owner} have it`;
  }
  if (path.at(-1) === "multiplexed" && !describe.relations.streams.includes(profile))
    return `a connection of ${profile} has one stream`;
  return null;
}

function schemaDefault(describe: Describe, key: string): unknown {
  return schemaAt(describe.schema, ["flow", key])?.default;
}
