// Menus made from the schema and the registry: every key of a scenario whose value is one of a few. No option is listed by hand.

import type { Describe, Part, PartParameter } from "./describe.ts";
import { fileKey, flowKey } from "./keys.ts";
import { forms, isFlag, itemsOf, kinds, type Schema, tableOf, units, words } from "./schema.ts";

/** A value of an option that is not itself a choice: a quantity, a number, a word, a truth value, or a list. */
export interface Parameter {
  name: string;
  /** What it means, as help text. */
  doc: string;
  kind: "quantity" | "number" | "integer" | "word" | "flag" | "list" | "text" | "part";
  /** The unit in which `bounds` are and which a new value gets; `null` without a unit. */
  unit: string | null;
  /** Every valid unit. */
  units: string[];
  bounds: [number, number] | null;
  /** The words that it can be; beside a quantity or number for example "auto". */
  words: (string | number)[];
  /** `undefined` if it must be given or its default depends on other keys, which `doc` then says. */
  default: unknown;
  /** The menu of a part inside the part. It is made when asked for, because a part can be inside itself. */
  inside?: () => Menu | null;
}

/** An option of a menu. */
export interface Option {
  /** The word that the file has; "true" and "false" for truth values. */
  name: string;
  title: string;
  summary: string;
  reference: string | null;
  parameters: Parameter[];
}

/** The place of a key; `null` is the index in a list of tables. */
export type Pattern = (string | null)[];

/** The options of a key. */
export interface Menu {
  /** The pattern of its path, as in "flow.slow_start": without indices. */
  id: string;
  path: Pattern;
  title: string;
  summary: string;
  options: Option[];
  /** Value without the key, if that does not depend on other keys. */
  default: unknown;
  /** The axis of the registry, for a menu of parts. */
  axis: string | null;
  /** The kind of a table that does not name its own; `null` without such tables. */
  usual: string | null;
  /** Whether a value is a bare word or truth value, a part (a word or a table), or a table. */
  form: "word" | "flag" | "part" | "table";
  /** Whether a value can be a list of parts. */
  listed: boolean;
}

/** Abbreviations in names of keys and words. */
const ABBREVIATIONS = /\b(acks?|cbr|ecn|fin|frto|prr|rack|rto|rtt|sack|srtt|syn|tlp|tso)\b/g;

/** A key's name as a title: "slow_start" is "Slow start". */
export function titled(name: string): string {
  const upper = (word: string) => (word === "acks" ? "ACKs" : word.toUpperCase());
  const text = name.replaceAll("_", " ").replaceAll("-", " ").replace(ABBREVIATIONS, upper);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The title of a part: what its header says before the colon. */
function titleOf(part: Part): string {
  const line = part.header.split("\n")[0] ?? "";
  return line.split(/[:,(]/)[0]?.replaceAll("`", "").replace(/\.$/, "").trim() || titled(part.name);
}

/** The word for a value that the part computes, or does without. */
const AUTO = "auto";

/** Every menu, in the order of the schema. */
export function options(describe: Describe): Menu[] {
  const menus = new Map<string, Menu>();
  const visit = (schema: Schema, path: Pattern): void => {
    const name = path.findLast((step) => step !== null) ?? "";
    const made = path.length > 0 && path[path.length - 1] !== null ? menu(schema, path, name, describe) : null;
    const id = path.filter((step) => step !== null).join(".");
    if (made && !menus.has(id)) menus.set(id, made);
    // The tables of parts hold parameters only.
    if (made && made.form !== "table") return;
    for (const form of forms(schema)) {
      if (form.items?.properties) visit(form.items, [...path, null]);
      for (const [key, property] of Object.entries(form.properties ?? {})) visit(property, [...path.slice(), key]);
    }
  };
  for (const [key, property] of Object.entries(describe.schema.properties ?? {})) {
    if (key === fileKey("sweep")) continue;
    const items = itemsOf(property);
    if (items?.properties) visit(items, [key, null]);
    else visit(property, [key]);
  }
  return [...menus.values()];
}

function menu(schema: Schema, path: Pattern, name: string, describe: Describe): Menu | null {
  const axis = Object.hasOwn(describe.relations.axes, name) && kinds(schema).length > 0 ? name : null;
  const found = axis ? partOptions(schema, axis, describe) : plainOptions(schema, name, describe);
  if (found.length < 2) return null;
  const tables = kinds(schema);
  return {
    id: path.filter((step) => step !== null).join("."),
    path,
    title: titled(name),
    summary: schema.description ?? "",
    options: found,
    default: schema.default,
    axis,
    usual: tables.find((kind) => kind.usual)?.name ?? null,
    form: axis || name === flowKey("host") ? "part" : tables.length > 0 ? "table" : isFlag(schema) ? "flag" : "word",
    listed: axis !== null && itemsOf(schema) !== undefined,
  };
}

/** The parts of an axis, and the word for none. Words for objects of Python are neither. */
function partOptions(schema: Schema, axis: string, describe: Describe): Option[] {
  const parts = describe.parts[axis] ?? [];
  const tables = kinds(schema);
  const none = describe.relations.axes[axis]?.none;
  const shared = sharedKeys(schema);
  const found = words(schema).flatMap((word): Option[] => {
    const part = parts.find((known) => known.name === word);
    const table = tables.find((known) => known.name === word)?.table;
    if (!part || !table) return [];
    const { name, summary, reference } = part;
    const found = parameters(table, part.params, shared, describe);
    return [{ name, title: titleOf(part), summary, reference, parameters: found }];
  });
  const word = [none, AUTO].find((known) => known && words(schema).includes(known));
  if (!word) return found;
  return [
    { name: word, title: titled(word), summary: explained(schema, word), reference: null, parameters: [] },
    ...found,
  ];
}

function plainOptions(schema: Schema, name: string, describe: Describe): Option[] {
  const bare = { reference: null, parameters: [] };
  if (name === flowKey("host")) return hostOptions(schema, describe);
  const named = kinds(schema);
  if (named.length > 0) {
    return named.map((kind) => ({
      name: kind.name,
      title: titled(kind.name),
      summary: kind.summary,
      reference: null,
      parameters: parameters(kind.table, [], [], describe),
    }));
  }
  if (isFlag(schema))
    return [true, false].map((value) => ({ ...bare, name: String(value), title: value ? "Yes" : "No", summary: "" }));
  // Words beside numbers are values of a quantity, not of a menu.
  if (units(schema).length > 0 || forms(schema).some((form) => form.items !== undefined)) return [];
  return words(schema).map((word) => ({
    ...bare,
    name: String(word),
    title: titled(String(word)),
    summary: explained(schema, String(word)),
  }));
}

function hostOptions(schema: Schema, describe: Describe): Option[] {
  const table = forms(schema).find((form) => form.properties);
  return words(schema).map((word) => {
    const host = describe.hosts.find((known) => known.name === word);
    const all = table && host?.versions ? parameters(table, [], [], describe) : [];
    const [oldest, newest] = host?.versions ?? [];
    const doc = `Version of the system, from ${oldest} to ${newest}.`;
    return {
      name: String(word),
      title: host?.summary.split(/[:,(]/)[0]?.trim() || titled(String(word)),
      summary: host?.summary ?? "",
      reference: null,
      parameters: all.map((parameter) => ({ ...parameter, doc, default: newest })),
    };
  });
}

/** What a key's text says of one of its words: the texts have the form "word: meaning. other: meaning." */
export function explained(schema: Schema, word: string): string {
  const text = schema.description ?? "";
  const all = words(schema).map(String).join("|");
  const start = text.search(new RegExp(`(^|[.,] )${word}: `));
  if (start < 0) return "";
  const begin = text.indexOf(`${word}: `, start) + word.length + 2;
  const length = text.slice(begin).search(new RegExp(`\\. (${all})( and (${all}))*: `));
  const end = length < 0 ? text.length : begin + length + 1;
  const meaning = text.slice(begin, end);
  return meaning.charAt(0).toUpperCase() + meaning.slice(1);
}

/** Keys that every kind of a table has, such as those of a queue's random generator. */
export function sharedKeys(schema: Schema): string[] {
  const tables = kinds(schema).map((kind) => Object.entries(kind.table.properties ?? {}));
  if (tables.length < 2) return [];
  const [first = [], ...others] = tables;
  const same = ([key, value]: [string, Schema]) =>
    others.every((other) =>
      other.some(([name, schema]) => name === key && JSON.stringify(schema) === JSON.stringify(value)),
    );
  return first.filter(same).map(([key]) => key);
}

/** The parameters in a table: those of the registry first, then keys that all kinds share. Other tables inside it are menus of their own. */
function parameters(table: Schema, registry: PartParameter[], shared: string[], describe: Describe): Parameter[] {
  return Object.entries(table.properties ?? {}).flatMap(([name, schema]): Parameter[] => {
    if (name === "kind" || (registry.length > 0 && shared.includes(name))) return [];
    const declared = registry.find((known) => known.name === name);
    if (declared?.axis) {
      const inside = () => menu(schema, [name], name, describe);
      const { doc } = declared;
      return [
        {
          name,
          doc,
          kind: "part",
          unit: null,
          units: [],
          bounds: null,
          words: words(schema),
          default: schema.default,
          inside,
        },
      ];
    }
    const parameter = describeParameter(name, schema, declared);
    return parameter ? [parameter] : [];
  });
}

/** A key as a parameter; `null` if it is a table, or a list of tables. */
export function describeParameter(name: string, schema: Schema, declared?: PartParameter): Parameter | null {
  const all = forms(schema);
  const valid = units(schema);
  const number = all.find((form) => form.type === "number" || form.type === "integer");
  const list = itemsOf(schema);
  if (list?.properties || tableOf(schema) !== undefined) return null;
  const scale = number ?? list;
  const bounds =
    declared?.bounds ??
    (scale?.minimum !== undefined && scale.maximum !== undefined ? [scale.minimum, scale.maximum] : null);
  const known = schema.default ?? schema.examples?.[0];
  const written = typeof known === "string" ? known.split(" ").slice(1).join(" ") : "";
  return {
    name,
    doc: declared?.doc ?? schema.description ?? "",
    kind: kindOf(schema, number?.type),
    unit: declared?.unit ?? (valid.includes(written) ? written : (valid[0] ?? null)),
    units: valid,
    bounds: bounds as [number, number] | null,
    words: words(schema),
    default: schema.default,
  };
}

function kindOf(schema: Schema, number: string | string[] | undefined): Parameter["kind"] {
  if (itemsOf(schema)) return "list";
  if (units(schema).length > 0) return "quantity";
  if (number === "number" || number === "integer") return number;
  if (isFlag(schema)) return "flag";
  return words(schema).length > 0 ? "word" : "text";
}
