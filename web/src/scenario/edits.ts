// The edits of a scenario's text that make a choice. The engine's `edit` applies them and keeps comments and layout.

import type { Describe } from "./describe.ts";
import { fileKey, flowKey } from "./keys.ts";
import { type Menu, type Option, sharedKeys } from "./menus.ts";
import { kinds, type Schema, schemaAt, written } from "./schema.ts";
import { decode, flowsOf, type MenuState, place, profileOf, shorthand, wholeControl } from "./state.ts";
import { dotted, isTable, type Path, type Table, type Value, valueAt } from "./toml.ts";

/** A key's path and its value as TOML; `null` removes the key. */
export type Edit = [path: string, literal: string | null];

const edit = (path: Path, value: unknown): Edit => [dotted(path), value === undefined ? null : written(value)];

/** The edits that choose the option `name` of `menu` for the flow or link `index`; `null` returns to the default. */
export function choose(menu: Menu, name: string | null, describe: Describe, values: Table, index = 0): Edit[] {
  const path = place(menu.path, values, index);
  const option = menu.options.find((known) => known.name === name);
  const freed = freedBy(menu, name, describe, values, index);
  if (!option) return [...freed, edit(path, undefined)];
  if (menu.form === "flag") return [...freed, edit(path, option.name === "true")];
  if (menu.form === "word") return [...freed, edit(path, option.name)];
  if (menu.form === "part")
    return [...freed, edit(path, part(menu, option, describe, valueAt(values, path), path, values))];
  return [...freed, ...tableOfKind(menu, option, describe, values, path)];
}

/** A part as its name or, if keys of the part before it remain valid, as a table. */
function part(
  menu: Menu,
  option: Option,
  describe: Describe,
  before: Value | undefined,
  path: Path,
  values: Table,
): unknown {
  if (menu.axis && option.name === describe.relations.axes[menu.axis]?.none) return option.name;
  const schema = schemaAt(describe.schema, path, values);
  const { option: current, given } = decode(menu, before, describe);
  const short = shorthand(menu, describe)?.parameter;
  const kept = Object.entries(given).filter(([key, value]) => {
    if (schema && menu.axis && sharedKeys(schema).includes(key)) return true;
    const [old, next] = [current, option].map((part) => part?.parameters.find((parameter) => parameter.name === key));
    // A queue's limit is the same thing in every discipline; other parameters of the same name can mean something else.
    // A delay of 0 leaves a model nothing to vary around.
    const room = !(typeof value === "string" && Number.parseFloat(value) === 0);
    return key === short && room && old?.kind === next?.kind && String(old?.units) === String(next?.units);
  });
  return kept.length === 0 ? option.name : { kind: option.name, ...Object.fromEntries(kept) };
}

/** Changes the kind of a table: keys that the new kind lacks go, and required keys get the example of the schema. */
function tableOfKind(menu: Menu, option: Option, describe: Describe, values: Table, path: Path): Edit[] {
  const schema = schemaAt(describe.schema, path, values);
  const before = valueAt(values, path);
  const { option: current, given } = decode(menu, before, describe);
  const table = schema && kinds(schema).find((kind) => kind.name === option.name)?.table;
  if (!schema || !table) return [edit(path, { kind: option.name })];
  const old = current && kinds(schema).find((kind) => kind.name === current.name)?.table;
  const same = (key: string) => JSON.stringify(old?.properties?.[key]) === JSON.stringify(table.properties?.[key]);
  const missing = Object.entries(examples(table)).filter(([key]) => !(Object.hasOwn(given, key) && same(key)));
  if (!isTable(before)) {
    const kept = Object.entries(given).filter(([key]) => same(key));
    return [edit(path, { kind: option.name, ...Object.fromEntries([...kept, ...missing]) })];
  }
  const gone = Object.keys(given).filter((key) => !same(key) && !missing.some(([name]) => name === key));
  return [
    edit([...path, "kind"], option.name),
    ...gone.map((key) => edit([...path, key], undefined)),
    ...missing.map(([key, value]) => edit([...path, key], value)),
  ];
}

/** Values for the required keys of a table. */
function examples(table: Schema): Record<string, unknown> {
  const required = (table.required ?? []).filter((key) => key !== "kind");
  const found = required.map((key) => [key, table.properties?.[key]?.examples?.[0]] as const);
  return Object.fromEntries(found.filter(([, example]) => example !== undefined));
}

/** Removes the keys of a flow with which the choice cannot be combined. */
function freedBy(menu: Menu, name: string | null, describe: Describe, values: Table, index: number): Edit[] {
  if (menu.path[0] !== fileKey("flow") || name === null) return [];
  const flow = flowsOf(values)[index];
  if (!isTable(flow)) return [];
  const base = place([fileKey("flow"), null], values, index);
  const key = menu.path[2] ?? "";
  const { profiles, replaced, axes } = describe.relations;
  const gone = new Set<string>();
  if (key === flowKey("congestion_control") && name !== axes[key]?.none) for (const axis of replaced) gone.add(axis);
  if (replaced.includes(key) && wholeControl(flow, describe)) gone.add(flowKey("congestion_control"));
  const profile = key === flowKey("host") ? "modern" : key === flowKey("profile") ? name : null;
  if (profile) {
    for (const [owner, keys] of Object.entries(profiles))
      if (owner !== profile) for (const other of keys) gone.add(other);
    if (key === flowKey("host") && profileOf(flow) !== profile) gone.add(flowKey("profile"));
  }
  return [...gone]
    .filter((other) => other !== key && Object.hasOwn(flow, other))
    .map((other) => edit([...base, other], undefined));
}

/** The edits that set a parameter of the option in force, `null` to its default. `value` is as in the file: "10 ms", 3, true, a list. */
export function setParameter(
  menu: Menu,
  state: MenuState,
  name: string,
  value: unknown,
  describe: Describe,
  values: Table,
): Edit[] {
  const { path, option } = state;
  const before = valueAt(values, path);
  if (isTable(before)) return [edit([...path, name], value ?? undefined)];
  if (!option) return [];
  const short = shorthand(menu, describe);
  if (short?.part === option.name && short.parameter === name && value !== null) return [edit(path, value)];
  const { given } = before === undefined ? { given: parametersOf(state) } : decode(menu, before, describe);
  const rest = Object.fromEntries(Object.entries(given).filter(([key]) => key !== name));
  const table = { kind: option.name, ...rest, ...(value === null ? {} : { [name]: value }) };
  return [edit(path, Object.keys(table).length === 1 && menu.form === "part" ? option.name : table)];
}

/** The parameters that a default has beyond those of its part, such as the limit of "50 packets". */
const parametersOf = (state: MenuState): Record<string, unknown> =>
  Object.fromEntries(
    state.parameters
      .filter(({ parameter, value }) => JSON.stringify(value) !== JSON.stringify(parameter.default))
      .map(({ parameter, value }) => [parameter.name, value]),
  );
