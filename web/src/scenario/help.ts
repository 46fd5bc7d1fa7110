// What the schema says about a place in a scenario: the text of hovers and of completion.

import type { Describe } from "./describe.ts";
import { describeParameter, explained } from "./menus.ts";
import {
  forms,
  isFlag,
  itemsOf,
  kinds,
  quantityWords,
  type Schema,
  schemaAt,
  units,
  words,
  written,
} from "./schema.ts";
import type { Path, Table } from "./toml.ts";

/** The schema at a path, also of a key that `[sweep]` names in quotes, such as "flow.slow_start". */
export function schemaFor(schema: Schema, path: Path, values: Table): Schema | undefined {
  if (path[0] !== "sweep") return schemaAt(schema, path, values);
  const at = path.findLastIndex(
    (step, index) => index > 0 && typeof step === "string" && (step.includes(".") || step in (schema.properties ?? {})),
  );
  if (at < 0) return schemaAt(schema, path, values);
  const rest = path.slice(at + 1);
  const target = schemaAt(schema, String(path[at]).split(".").map(step), values);
  // A list of values, or the table of a range.
  const inside = typeof rest[0] === "number" ? rest.slice(1) : rest;
  if (!target || inside.length === 0) return target;
  return schemaAt(target, inside) ?? (["from", "to"].includes(String(inside[0])) ? target : undefined);
}

const step = (text: string): string | number => (/^\d+$/.test(text) ? Number(text) : text);

/** A line about the values that a key can have. */
export function values(schema: Schema): string {
  const list = itemsOf(schema);
  if (list?.properties) return "table or list of tables";
  if (list) return `list of ${values(list)}`;
  const valid = units(schema);
  const parts: string[] = [];
  const names = kinds(schema);
  if (names.length > 0)
    parts.push(
      words(schema).length > 0
        ? "name, or table with kind and parameters"
        : `table of kind ${names.map((kind) => kind.name).join(", ")}`,
    );
  else if (words(schema).length > 0) parts.push(words(schema).map(written).join(", "));
  if (valid.length > 0)
    parts.push(
      `number with ${valid.length > 6 ? `a unit such as ${valid.slice(0, 6).join(", ")}` : `unit ${valid.join(", ")}`}`,
    );
  parts.push(...quantityWords(schema).map(written));
  if (isFlag(schema)) parts.push("true or false");
  const number = forms(schema).find((form) => form.type === "integer" || form.type === "number");
  if (number) parts.push(range(number));
  if (parts.length === 0) parts.push(forms(schema).some((form) => form.properties) ? "table" : "text");
  return parts.join("; ");
}

function range({ type, minimum, maximum }: Schema): string {
  const noun = type === "integer" ? "whole number" : "number";
  return minimum === undefined || maximum === undefined ? noun : `${noun} from ${minimum} to ${maximum}`;
}

/** Everything about a key: its meaning, values and default, as paragraphs. */
export function about(schema: Schema): string[] {
  const texts = [schema.description ?? "", `Value: ${values(schema)}`];
  if (schema.default !== undefined && JSON.stringify(schema.default) !== "{}")
    texts.push(`Default: ${written(schema.default)}`);
  return texts.filter((text) => text !== "");
}

/** What a word means as the value of a key: the summary of a part or preset, or what the key's text says of it. */
export function meaning(describe: Describe, schema: Schema, key: string, word: string): string {
  const part = describe.parts[key]?.find((known) => known.name === word);
  if (part) return part.summary;
  if (key === "host") return describe.hosts.find((known) => known.name === word)?.summary ?? "";
  const preset = key === "preset" || key === "path" ? describe.links.find((known) => known.name === word) : undefined;
  if (preset) return preset.summary;
  return kinds(schema).find((kind) => kind.name === word)?.summary ?? explained(schema, word);
}

/** A value to begin with: the default, an example, or the first word. */
export function firstValue(name: string, schema: Schema): string {
  const parameter = describeParameter(name, schema);
  const example = schema.default ?? schema.examples?.[0];
  if (example !== undefined && JSON.stringify(example) !== "{}") return written(example);
  if (parameter?.kind === "quantity") return `"1 ${parameter.unit}"`;
  if (words(schema).length > 0) return written(words(schema)[0]);
  if (itemsOf(schema)) return "[]";
  if (isFlag(schema)) return "true";
  if (parameter === null) return "{}";
  return parameter.kind === "text" ? '""' : String(parameter.bounds?.[0] ?? 1);
}
