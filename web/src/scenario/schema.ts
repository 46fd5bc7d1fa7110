// Questions to the JSON Schema of scenario files: which tables, keys and values are possible at a path, and what they mean.

import { isTable, type Path, type Value } from "./toml.ts";

/** The part of JSON Schema that describes scenarios. */
export interface Schema {
  /** Another schema, by its place in the definitions of the whole. */
  $ref?: string;
  $defs?: Record<string, Schema>;
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  minItems?: number;
  oneOf?: Schema[];
  anyOf?: Schema[];
  enum?: (string | number)[];
  const?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  description?: string;
  default?: unknown;
  examples?: unknown[];
}

/** A kind of table or part: the value of its `kind`, and its table. */
export interface Kind {
  name: string;
  summary: string;
  /** Whether it applies if the table has no `kind`. */
  usual: boolean;
  table: Schema;
}

/** The schemas to which others refer. They are not in the tree, because a part can be inside itself. */
const targets = new WeakMap<Schema, Schema>();

/** Finds what every reference in `root` refers to. */
export function link(root: Schema): void {
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    const schema = value as Schema;
    const target = root.$defs?.[schema.$ref?.split("/").at(-1) ?? ""];
    if (target) targets.set(schema, target);
    for (const inside of Object.values(value)) visit(inside);
  };
  visit(root);
}

/** The alternatives of a value. */
export function forms(schema: Schema): Schema[] {
  const target = targets.get(schema);
  if (target) return forms(target);
  const alternatives = schema.oneOf ?? schema.anyOf;
  return alternatives ? alternatives.flatMap(forms) : [schema];
}

/** The tables that a value can be; those of a list of tables are not among them. */
const tables = (schema: Schema): Schema[] =>
  forms(schema).filter((form) => form.properties !== undefined || typeof form.additionalProperties === "object");

/** The kinds of a table, or of a part of the registry. */
export function kinds(schema: Schema): Kind[] {
  return tables(schema).flatMap((table) => {
    const name = table.properties?.["kind"]?.const;
    if (name === undefined) return [];
    return [{ name, summary: table.description ?? "", usual: !table.required?.includes("kind"), table }];
  });
}

/** The words that a value can be. */
export const words = (schema: Schema): (string | number)[] =>
  forms(schema).flatMap((form) => form.enum ?? (form.const === undefined ? [] : [form.const]));

/** The units of the quantities that a value can be; empty for a value without a unit. */
export function units(schema: Schema): string[] {
  const patterns = forms(schema).flatMap((form) => form.pattern ?? []);
  return patterns.flatMap((pattern) => /\\s\*\(([^()]+)\)\\s\*/.exec(pattern)?.[1]?.split("|") ?? []);
}

/** The words beside numbers in the patterns of quantities, such as `unlimited`. */
export const quantityWords = (schema: Schema): string[] =>
  forms(schema).flatMap((form) => /\)\\s\*\|([\w|]+)\)\$$/.exec(form.pattern ?? "")?.[1]?.split("|") ?? []);

/** Whether a value can be `true` or `false`. */
export const isFlag = (schema: Schema): boolean => forms(schema).some((form) => form.type === "boolean");

/** The items of a list. */
export const itemsOf = (schema: Schema): Schema | undefined => forms(schema).find((form) => form.items)?.items;

/** The table that `value` is: that of its `kind`, the usual one without `kind`. */
export function tableOf(schema: Schema, value?: Value): Schema | undefined {
  const all = tables(schema);
  const named = kinds(schema);
  if (named.length === 0) return all[0];
  const kind = isTable(value) ? value["kind"] : undefined;
  if (kind === undefined) return named.find((known) => known.usual)?.table ?? named[0]?.table;
  return named.find((known) => known.name === kind)?.table;
}

/**
 * The schema at `path`, for the kinds of tables that `value` has.
 * A single table where a list of tables may stand is its item; a path may name it with or without the index 0.
 */
export function schemaAt(root: Schema, path: Path, value?: Value): Schema | undefined {
  let schema: Schema | undefined = root;
  let inside = value;
  for (const step of path) {
    if (schema === undefined) return undefined;
    const items: Schema | undefined = itemsOf(schema);
    if (typeof step === "number" && items) {
      schema = items;
      if (Array.isArray(inside)) inside = inside[step];
      continue;
    }
    const table: Schema | undefined = tableOf(schema, inside);
    const more = table?.additionalProperties;
    const properties: Record<string, Schema> = table?.properties ?? {};
    schema = Object.hasOwn(properties, step) ? properties[step] : typeof more === "object" ? more : undefined;
    inside = isTable(inside) && Object.hasOwn(inside, step) ? inside[step] : undefined;
  }
  return schema;
}

/** The keys of the table at `path`, with their schemas. */
export function keysAt(root: Schema, path: Path, value?: Value): Record<string, Schema> {
  const schema = schemaAt(root, path, value);
  if (!schema) return {};
  let inside = value;
  for (const step of path) {
    if (Array.isArray(inside) && typeof step === "number") inside = inside[step];
    else if (isTable(inside)) inside = Object.hasOwn(inside, step) ? inside[step] : undefined;
    // A single table stands for a list: the index 0 is the table itself.
  }
  const known = tableOf(schema, inside) ?? (itemsOf(schema) && tableOf(itemsOf(schema) as Schema, inside));
  return known?.properties ?? {};
}

/** The default as the file would write it. */
export function written(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(written).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).map(
      ([key, item]) => `${/^[\w-]+$/.test(key) ? key : quoted(key)} = ${written(item)}`,
    );
    return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`;
  }
  if (typeof value === "string") return quoted(value);
  if (typeof value === "number" && !Number.isFinite(value))
    return Number.isNaN(value) ? "nan" : value < 0 ? "-inf" : "inf";
  return String(value);
}

/** A text as a basic string of TOML, which has the escapes of JSON and more. */
const quoted = (text: string): string => JSON.stringify(text).replaceAll("\u007f", "\\u007f");
